"""Flags of Numba are compared quickly, and no otherwise than Numba compares them."""

import itertools

from numba.core.compiler import Flags
from numba.core.targetconfig import TargetConfig

from pareto_nrpa.engine.jit import flags as _flags


def flags(**values):
    made = Flags()
    for name, value in values.items():
        setattr(made, name, value)
    return made


SOME = [
    flags(),
    flags(nrt=False),  # its default
    flags(nrt=True),
    flags(nrt=True, forceinline=False),
    flags(forceinline=True),
    flags(fastmath={"contract"}),
    flags(fastmath={"contract"}, nrt=False),
    flags(fastmath=True),
    flags(error_model="numpy"),
]


def test_quick_comparisons_are_numba_s():
    assert _flags.IS_POSSIBLE
    pairs = list(itertools.product(SOME, repeat=2))
    expected = [(one == other, hash(one)) for one, other in pairs]
    with _flags.quick_flags():
        assert [(one == other, hash(one)) for one, other in pairs] == expected
        assert SOME[0] != "flags"
    assert {same for same, _ in expected} == {True, False}
    assert expected[1][0]  # what was set to its default equals what was not set


def test_afterwards_numba_compares_as_before():
    before = TargetConfig.__eq__, TargetConfig.__hash__
    try:
        with _flags.quick_flags():
            assert TargetConfig.__eq__ is not before[0]
            raise KeyError
    except KeyError:
        assert (TargetConfig.__eq__, TargetConfig.__hash__) == before
