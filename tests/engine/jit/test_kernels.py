"""Compiled code is found again at the next start, and never when something it calls has changed."""

import enum
import gc
import os
import subprocess
import sys
import threading
import types
from typing import NamedTuple

import numba
import numpy as np
import pytest

from pareto_nrpa.engine.jit import kernels as _jit
from pareto_nrpa.engine.jit.kernels import (
    compile_alone,
    compile_entry,
    engine_kernel,
    fingerprint,
    kernel,
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
@pytest.mark.parametrize("damage", [b"", b"half"], ids=["empty", "cut off"])
@pytest.mark.parametrize("files", ["*advance_*.nbi", "*advance_*.nbc"])
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


@pytest.mark.long_but("read only")
@needs_jit
@pytest.mark.parametrize(
    ("full", "environment"),
    [pytest.param(True, {}, id="full"), pytest.param(False, _NOWHERE, id="read only", marks=_choosing)],
)
def test_without_a_place_for_it_machine_code_is_not_kept_and_a_sentence_says_so(tmp_path, full, environment):
    script = tmp_path / "mine.py"
    script.write_text(_KERNELS.replace("{full}", str(full)))
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path / "cache"), **environment}
    done = subprocess.run([sys.executable, script], capture_output=True, text=True, env=environment)
    assert done.stdout == "8 12\n", done.stderr
    assert done.stderr.count("compiled code is not cached, and each start compiles again") == 1
    assert "set NUMBA_CACHE_DIR to a writable folder" in done.stderr


@needs_jit
@pytest.mark.slow
def test_a_numba_without_the_options_that_we_count_on_gives_the_same_results(tmp_path):
    assert run(tmp_path, PARETO_NRPA_PLAIN_NUMBA="1")[0][2] == "4.0"


def test_a_fingerprint_covers_everything_within_reach():
    @kernel
    def inner(x):
        return x + 1

    @kernel
    def other(x):
        return x + 2

    def outer(x):
        return callee(x) * factor  # noqa: F821 - bound below

    one = fingerprint(with_globals(outer, callee=inner, factor=2))
    assert one == fingerprint(with_globals(outer, callee=inner, factor=2))
    assert one != fingerprint(with_globals(outer, callee=other, factor=2))
    assert one != fingerprint(with_globals(outer, callee=inner, factor=3))


class _Short(enum.IntEnum):
    CITY = 3


class _Long(enum.IntEnum):
    CITY = 50


_Long.__qualname__ = _Short.__qualname__


class _Small(NamedTuple):
    size: int = 1


class _Large(NamedTuple):
    size: int = 2


_Large.__qualname__ = _Small.__qualname__


class _Reach:
    far = 1


class _Reaching:
    far = 2


_Reaching.__qualname__ = _Reach.__qualname__


def _with_keyword(value):
    def function(*, x=value):
        return x

    return function


def _returns(value):
    def function():
        return value

    return function


def _with_default(value):
    def function(x=value):
        return x

    return function


def _module(**content):
    module = types.ModuleType("helpers")
    vars(module).update(content)
    return module


def _uses_module(module):
    def function():
        return helpers.factor  # noqa: F821 - bound below

    return with_globals(function, helpers=module)


def _two(a, b):
    def function():
        return first, second  # noqa: F821 - bound below

    return with_globals(function, first=a, second=b)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (_returns(np.int64(1)), _returns(np.int64(7))),
        (_returns(np.zeros(4)), _returns(np.zeros((2, 2)))),
        (_returns((np.arange(5000),)), _returns((np.arange(5000) * (np.arange(5000) != 2500),))),
        (_with_default(1), _with_default(2)),
        (_uses_module(_module(factor=1)), _uses_module(_module(factor=2))),
        (_two(1, 23), _two(12, 3)),
        (_returns(_Short), _returns(_Long)),
        (_returns(_Short.CITY), _returns(_Long.CITY)),
        (_returns(_Small), _returns(_Large)),
        (_returns(_Reach), _returns(_Reaching)),
        (_with_keyword(1), _with_keyword(2)),
        (_returns({"a": 1}), _returns({"a": 2})),
        (_returns({"a", "b"}), _returns({"a", "c"})),
        (_returns(numba.types.int64), _returns(numba.types.int32)),
        (_two(_returns(1), _returns(2)), _two(_returns(2), _returns(1))),
    ],
    ids=[
        "scalar",
        "shape",
        "array",
        "default",
        "module",
        "separators",
        "enum",
        "member",
        "fields",
        "class",
        "keyword",
        "dict",
        "set",
        "type",
        "order",
    ],
)
def test_what_differs_in_any_way_has_another_fingerprint(one, other):
    assert fingerprint(one) == fingerprint(one)
    assert fingerprint(one) != fingerprint(other)


def test_what_a_kernel_uses_must_show_what_it_holds():
    with pytest.raises(ProblemError, match=r"kernels may use .* cannot be checked for a change: .*value is a .*lock"):
        fingerprint(_returns(threading.Lock()))


_THREADS = """
import threading
from pareto_nrpa import ParetoNRPA
from pareto_nrpa.routing import generate_tsptw
errors = []
def start():
    try:
        ParetoNRPA().start(generate_tsptw(6)).advance(10)
    except Exception as error:
        errors.append(repr(error))
threads = [threading.Thread(target=start) for _ in range(4)]
[thread.start() for thread in threads]
[thread.join() for thread in threads]
print(errors)
"""


def test_threads_may_start_searches_at_the_same_moment():
    done = subprocess.run([sys.executable, "-c", _THREADS], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


@engine_kernel
def factorial(n):
    """Call itself."""
    return 1 if n <= 1 else n * factorial(n - 1)


def factorial_of(n):
    return factorial(n)


@needs_jit
def test_a_kernel_within_an_entry_may_call_itself():
    entry = compile_entry(factorial_of, numba.int64(numba.int64))
    entry.compile()
    assert entry.call(10) == 3_628_800


_CIRCLE = """
import numba
from pareto_nrpa.engine.jit.kernels import compile_entry, engine_kernel

@engine_kernel
def is_even(n):
    return True if n == 0 else is_odd(n - 1)

@engine_kernel
def is_odd(n):
    return False if n == 0 else is_even(n - 1)

def entry(n):
    return is_even(n)

made = compile_entry(entry, numba.boolean(numba.int64))
made.compile()
print(made.call(10))
"""


@pytest.mark.long
@needs_jit
def test_kernels_may_call_each_other_in_the_next_process_too(tmp_path):
    script = tmp_path / "mine.py"
    script.write_text(_CIRCLE)
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path / "cache")}
    for _ in range(2):  # machine code of the first would end the second
        done = subprocess.run([sys.executable, script], capture_output=True, text=True, env=environment)
        assert (done.returncode, done.stdout) == (0, "True\n"), done.stderr


@engine_kernel
def _doubled(number):
    return number + number


@engine_kernel
def _no_such_field(number):
    return number.no_such_field


@pytest.fixture
def usual_threshold():
    """The thresholds of the garbage collector, set back afterwards."""
    before = gc.get_threshold()
    yield before
    gc.set_threshold(*before)


@needs_jit
def test_a_kernel_is_tried_once_for_each_type():
    kinds = numba.int64, numba.float64, numba.int64
    assert [compile_alone(_doubled, (kind,)) for kind in kinds] == list(kinds)


@needs_jit
@pytest.mark.parametrize("threshold", [(700, 10, 10), (0, 10, 10), (1_000_000, 3, 3)])
def test_garbage_is_looked_for_as_before_when_all_is_compiled_or_nothing_can_be(usual_threshold, threshold):
    gc.set_threshold(*threshold)
    compile_alone(_doubled, (numba.int32,))
    assert gc.get_threshold() == threshold
    with pytest.raises(numba.TypingError):
        compile_alone(_no_such_field, (numba.int64,))
    assert gc.get_threshold() == threshold


@needs_jit
def test_garbage_is_looked_for_seldom_meanwhile_and_never_more_often_than_before(usual_threshold):
    for threshold, least in ((700, 10_000), (0, 0), (1_000_000, 1_000_000)):
        gc.set_threshold(threshold, 10, 10)
        with _jit._seldom_collected():
            assert gc.get_threshold()[0] >= least
            assert (gc.get_threshold()[0] == 0) == (threshold == 0)
