"""Compiled code is found again at the next start, and never when something it calls has changed."""

import os
import subprocess
import sys
import threading

import numba
import numpy as np
import pytest

from pareto_nrpa.engine.jit.kernels import (
    fingerprint,
    with_globals,
)
from pareto_nrpa.errors import ProblemError

_PROGRAM = """
import enum
from typing import NamedTuple
import numpy as np
from pareto_nrpa import CompiledProblem, ParetoNRPA, kernel

class Data(NamedTuple):
    costs: np.ndarray

class State(NamedTuple):
    numbers: np.ndarray

class Factor(enum.IntEnum):
    OF_MOVES = FACTOR

@kernel
def initial_state(data):
    return State(np.zeros(2, np.int64))

@kernel
def legal_moves(data, state, out):
    if state.numbers[0] == data.costs.shape[0]:
        return 0
    out[0] = 0
    out[1] = 1
    return 2

@kernel
def play(data, state, move):
    state.numbers[0] += 1
    state.numbers[1] += move * Factor.OF_MOVES

@kernel
def move_code(data, state, move):
    return 2 * state.numbers[0] + move

@kernel
def evaluate(data, state, out):
    out[0] = state.numbers[1]
    out[1] = -state.numbers[1] * 0.5
    return 0

words = dict(initial_state=initial_state, legal_moves=legal_moves, play=play, move_code=move_code, evaluate=evaluate)
problem = CompiledProblem(Data(np.ones(5)), **words, n_objectives=2, n_codes=10, max_moves=5, max_legal=2)
search = ParetoNRPA(level=2).start(problem, seed=1, budget=50)
print(search.is_compiled)
search.advance(50)
print([sum(entry.pointer.stats.cache_misses.values()) for entry in search.player.entries])
print(search.front().objectives.max())
"""


needs_jit = pytest.mark.skipif(
    bool(os.environ.get("NUMBA_DISABLE_JIT")), reason="there is nothing to cache with JIT switched off"
)


def run(tmp_path, factor="1", **environment):
    """Run the program, whose kernels use a number and an enum; returns what it says and its warnings."""
    script = tmp_path / "mine.py"
    script.write_text(_PROGRAM.replace("FACTOR", factor))
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path / "cache"), **environment}
    done = subprocess.run([sys.executable, script], capture_output=True, text=True, env=environment)
    assert done.returncode == 0, done.stderr
    return done.stdout.split("\n")[:3], done.stderr


@pytest.fixture(scope="module")
def compiled(tmp_path_factory):
    """A folder in which the program was run once, and with it a cache."""
    folder = tmp_path_factory.mktemp("compiled")
    assert run(folder) == (["False", "[1, 1, 1, 1]", "4.0"], "")
    return folder


@needs_jit
@pytest.mark.slow  # compiles for a script of its own
def test_the_second_start_of_a_user_s_script_compiles_nothing_and_a_changed_kernel_is_noticed(compiled):
    assert run(compiled)[0] == ["True", "[0, 0, 0, 0]", "4.0"]
    assert run(compiled, "3")[0] == ["False", "[1, 0, 0, 0]", "12.0"]


@needs_jit
@pytest.mark.slow
@pytest.mark.parametrize(("files", "damage"), [("*advance_*.nbi", b""), ("*advance_*.nbc", b"half")])
def test_damaged_machine_code_is_made_anew(compiled, files, damage):
    (damaged,) = (compiled / "cache").rglob(files)
    whole = damaged.read_bytes()
    damaged.write_bytes(damage and whole[: len(whole) // 2])
    assert run(compiled)[0][1:] == ["[0, 0, 1, 0]", "4.0"]
    assert run(compiled)[0] == ["True", "[0, 0, 0, 0]", "4.0"]


_KERNELS = """
import numba.core.caching as caching
from pareto_nrpa.engine.jit.kernels import engine_kernel, stored

@engine_kernel
def twice(x):
    return 2 * x

@engine_kernel
def thrice(x):
    return 3 * x

def fails(*arguments):
    raise OSError(28, "No space left on device")

if {full}:
    caching.IndexDataCacheFile.save = fails
print(stored(twice)(4), stored(thrice)(4))
"""
_NOWHERE = {"NUMBA_CACHE_DIR": "/dev/null/nowhere", "NUMBA_CACHE_LOCATOR_CLASSES": "UserProvidedCacheLocator"}


_choosing = pytest.mark.skipif(
    not hasattr(numba.config, "CACHE_LOCATOR_CLASSES"), reason="this Numba always finds a place beside the source"
)


@needs_jit
@pytest.mark.parametrize(
    ("full", "environment"),
    [
        pytest.param(True, {}, id="full", marks=pytest.mark.slow),
        pytest.param(False, _NOWHERE, id="read only", marks=_choosing),
    ],
)
def test_without_a_place_for_it_machine_code_is_not_kept_and_a_sentence_says_so(tmp_path, full, environment):
    script = tmp_path / "mine.py"
    script.write_text(_KERNELS.replace("{full}", str(full)))
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path / "cache"), **environment}
    done = subprocess.run([sys.executable, script], capture_output=True, text=True, env=environment)
    assert done.stdout == "8 12\n", done.stderr
    assert done.stderr.count("compiled code is not cached, and each start compiles again") == 1
    assert "set NUMBA_CACHE_DIR to a writable folder" in done.stderr


def _returns(value):
    def function():
        return value

    return function


def _with_default(value):
    def function(x=value):
        return x

    return function


def _two(a, b):
    def function():
        return first, second  # noqa: F821 - bound below

    return with_globals(function, first=a, second=b)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (_returns(np.int64(1)), _returns(np.int64(7))),
        (_returns(np.zeros(4)), _returns(np.zeros((2, 2)))),
        (_with_default(1), _with_default(2)),
        (_two(1, 23), _two(12, 3)),
        (_returns({"a": 1}), _returns({"a": 2})),
        (_two(_returns(1), _returns(2)), _two(_returns(2), _returns(1))),
    ],
    ids=["scalar", "shape", "default", "separators", "dict", "callee"],
)
def test_what_differs_in_any_way_has_another_fingerprint(one, other):
    assert fingerprint(one) == fingerprint(one)
    assert fingerprint(one) != fingerprint(other)


def test_what_a_kernel_uses_must_show_what_it_holds():
    with pytest.raises(ProblemError, match=r"kernels may use .* cannot be checked for a change: .*value is a .*lock"):
        fingerprint(_returns(threading.Lock()))
