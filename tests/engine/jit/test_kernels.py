"""Compiled code is cached, and compiled again when something it calls has changed; arrays reach it in bundles."""

import copy
import os
import pickle
import signal
import subprocess
import sys
import threading
from typing import NamedTuple

import numba
import numpy as np
import pytest
from numba import types

from pareto_nrpa.engine.jit.bundles import borrowed, bundle, keep, unpacked
from pareto_nrpa.engine.jit.kernels import compile_entry, engine_kernel, fingerprint, with_globals
from pareto_nrpa.errors import ProblemError

from ...helpers.command_line import is_running, python, wait_until

_PROGRAM = """
import enum
from dataclasses import replace
from pareto_nrpa import ParetoNRPA, kernel
from pareto_nrpa.routing import generate_tsp

class Factor(enum.IntEnum):
    OF_ALL = FACTOR

@kernel
def evaluate(data, state, out):
    out[0] = 4 * Factor.OF_ALL
    out[1] = 0.0
    return 0

problem = replace(generate_tsp(5), evaluate=evaluate, evaluate_solution=None, segments=None)
search = ParetoNRPA(level=2).start(problem, seed=1, budget=50)
print(search.is_compiled)
search.advance(50)
print([sum(entry.pointer.stats.cache_misses.values()) for entry in search.player.entries])
print(search.front().objectives.max())
"""


needs_jit = pytest.mark.skipif(
    bool(os.environ.get("NUMBA_DISABLE_JIT")), reason="there is nothing to cache with JIT switched off"
)


def run(tmp_path, factor="1"):
    """Run the program, whose kernels use a number and an enum; returns what it says and its warnings."""
    script = tmp_path / "mine.py"
    script.write_text(_PROGRAM.replace("FACTOR", factor))
    out, err = python(script, NUMBA_CACHE_DIR=str(tmp_path / "cache"))
    return out.split("\n")[:3], err


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
    out, err = python(script, **{"NUMBA_CACHE_DIR": str(tmp_path / "cache"), **environment})
    assert out == "8 12\n"
    assert err.count("compiled code is not cached, and each start compiles again") == 1
    assert "set NUMBA_CACHE_DIR to a writable folder" in err


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
    with pytest.raises(ProblemError, match=r"kernels may use .* cannot be checked for a change: .*_thread.lock"):
        fingerprint(_returns(threading.Lock()))


# --- bundles of arrays, which reach compiled code as one pointer


@bundle
class Inner(NamedTuple):
    """Inside another bundle."""

    row: np.ndarray
    count: int


@bundle
class Outer(NamedTuple):
    """Arrays of several kinds, numbers of several kinds."""

    table: np.ndarray
    inner: Inner
    masks: np.ndarray
    factor: float
    is_on: bool
    turned: np.ndarray
    every_other: np.ndarray
    pair: tuple[np.ndarray, int]


def made():
    return Outer(
        table=np.arange(6.0).reshape(2, 3),
        inner=Inner(np.arange(3), 7),
        masks=np.array([2**63], dtype=np.uint64),
        factor=2.5,
        is_on=True,
        turned=np.arange(6).reshape(2, 3).T,
        every_other=np.arange(8)[::2],
        pair=(np.array([True, False]), -3),
    )


def look(outer, out):
    """Read every field, write to one array."""
    out[0] = outer.table[1, 2] + 10 * outer.inner.row[2] + 100 * outer.inner.count
    out[1] = outer.factor if outer.is_on else 0.0
    out[2] = outer.masks[0] >> np.uint64(60)
    out[3] = 10 * outer.turned[2, 0] + outer.every_other[3]
    out[4] = outer.pair[1] if outer.pair[0][0] else 0
    out[5] = outer.table.shape[0] + 10 * outer.turned.shape[0] + outer.table.sum()
    outer.inner.row[0] = 42


def test_compiled_code_reads_and_writes_what_a_bundle_holds():
    outer, out = made(), np.zeros(6)
    compile_entry(look, types.void(numba.typeof(outer), types.float64[::1]))(outer, out)
    expected, again = np.zeros(6), made()
    look(again, expected)
    np.testing.assert_array_equal(out, expected)
    assert outer.inner.row[0] == 42


@needs_jit
@pytest.mark.parametrize("again", [lambda x: pickle.loads(pickle.dumps(x)), copy.copy, copy.deepcopy])
def test_copies_have_a_table_of_their_own(again):
    inner = made().inner
    assert inner.address > 0
    other = again(inner)
    assert "_pointer" not in vars(other)
    entry = compile_entry(fields, types.int64(numba.typeof(inner)))
    assert entry(other) == entry(inner) == 8
    assert other.address != inner.address


@needs_jit
def test_the_type_depends_on_names_and_kinds_of_the_fields_only():
    one, other = made(), made()
    assert numba.typeof(one) == numba.typeof(other)
    assert pickle.loads(pickle.dumps(numba.typeof(one))) == numba.typeof(one)
    assert numba.typeof(one._replace(factor=2)) != numba.typeof(one)
    assert numba.typeof(one._replace(table=np.zeros(3))) != numba.typeof(one)


@needs_jit
def test_what_is_neither_array_nor_number_is_refused():
    with pytest.raises(ValueError, match="a field is of type unicode_type"):
        numba.typeof(Inner("text", 1))


@engine_kernel
def _make(n):
    return Inner(np.full(n, 3), n)


def total(n):
    state = _make(n)
    view = borrowed(state)
    result = view.row.sum() + view.count
    keep(state)
    return result


def test_what_is_borrowed_lives_until_it_is_kept():
    entry = compile_entry(total, types.int64(types.int64))
    assert [entry(n) for n in (1, 10, 1000)] == [4, 40, 4000]


def fields(parts):
    """Make the plain tuple of all fields."""
    row, count = unpacked(parts)
    return row[1] + count


# --- two processes compile what one needs: whatever happens to the second, the first has all


on_linux = pytest.mark.skipif(sys.platform != "linux", reason="elsewhere one process compiles alone")

# What the copy of the process does is said by each program; it has four entries to compile, each of its own code.
_ENTRIES = """
import os, signal, sys, time
from numba import types
from pareto_nrpa.engine.jit import together as _together
from pareto_nrpa.engine.jit.kernels import compile_entry, engine_kernel

parent = os.getpid()
os.sched_getaffinity = lambda pid: {0, 1}  # also where the machine has one core

@engine_kernel
def twice(x):
    return 2 * x

def entries(offset):
    def add(x):
        return twice(x) + number
    return [compile_entry(add, types.int64(types.int64), twice=twice, number=offset + i) for i in range(4)]

def none_is_left():
    try:
        os.waitpid(-1, 0)
    except ChildProcessError:
        return True

def compile_where(work, offset, seconds=600):
    made = entries(offset)
    _together._work, _together._PATIENCE_AT_LEAST = work, seconds
    _together.compile_all(made)
    assert [entry.call(10) for entry in made] == [20 + offset + i for i in range(4)]
    assert none_is_left()
    return sum(sum(entry.pointer.stats.cache_misses.values()) for entry in made)

work = _together._work
is_copy = lambda: os.getpid() != parent
"""

_FATES = """
print("the copy does all:", compile_where(lambda *how: work(*how) if is_copy() else None, 0))
print("it dies:", compile_where(lambda *how: os.kill(os.getpid(), signal.SIGKILL) if is_copy() else work(*how), 100))
print("it fails:", compile_where(lambda *how: 1 / 0 if is_copy() else work(*how), 200))
print("it hangs:", compile_where(lambda *how: time.sleep(600) if is_copy() else None, 300, 0.1))
print("both work:", compile_where(work, 400) <= 4)
compile_where(lambda *how: print("there is nothing to do"), 400)
fork = os.fork
os.fork = lambda: os.open("/nowhere", 0)  # raises OSError, as fork does where no process is allowed
print("there is none:", compile_where(work, 600))
os.fork = fork
try:
    compile_where(lambda *how: time.sleep(600) if is_copy() else 1 / 0, 500)
except ZeroDivisionError:
    print("the parent fails:", none_is_left())
"""

_WAITING = """
def wait(*how):
    if is_copy():
        print(os.getpid(), flush=True)
    time.sleep(600)

compile_where(wait, 0)
"""


def start(program, folder, **how):
    script = folder / "mine.py"
    script.write_text(_ENTRIES + program)
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(folder / "cache"), "PARETO_NRPA_COMPILE_ALONE": "0"}
    return subprocess.Popen(
        [sys.executable, "-W", "error", script], stdout=subprocess.PIPE, text=True, env=environment, **how
    )


@on_linux
@needs_jit
@pytest.mark.slow
def test_whatever_becomes_of_the_copy_all_is_compiled_and_no_process_is_left(tmp_path):
    with start(_FATES, tmp_path, stderr=subprocess.PIPE) as process:
        out, err = process.communicate(timeout=300)
    assert (out.splitlines(), err, process.returncode) == (
        [
            "the copy does all: 0",
            "it dies: 4",
            "it fails: 4",
            "it hangs: 4",
            "both work: True",
            "there is none: 4",
            "the parent fails: True",
        ],
        "",
        0,
    )


@on_linux
@needs_jit
@pytest.mark.parametrize("name", ["SIGKILL", pytest.param("SIGTERM", marks=pytest.mark.slow)])
def test_the_copy_ends_with_its_parent(name, tmp_path):
    with start(_WAITING, tmp_path, stderr=subprocess.DEVNULL) as process:
        copy = int(process.stdout.readline())
        process.send_signal(getattr(signal, name))  # Windows does not have all
        process.wait(timeout=60)
    wait_until(lambda: not is_running(copy))
