"""Two processes compile what one needs: whatever happens to the second, the first has all and leaves none behind."""

import os
import signal
import subprocess
import sys

import pytest

from ...helpers.command_line import is_running, wait_until

pytestmark = [
    pytest.mark.skipif(sys.platform != "linux", reason="elsewhere one process compiles alone"),
    pytest.mark.skipif(bool(os.environ.get("NUMBA_DISABLE_JIT")), reason="there is nothing to compile with JIT off"),
]

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


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM])
def test_the_copy_ends_with_its_parent(number, tmp_path):
    with start(_WAITING, tmp_path, stderr=subprocess.DEVNULL) as process:
        copy = int(process.stdout.readline())
        process.send_signal(number)
        process.wait(timeout=60)
    wait_until(lambda: not is_running(copy))
