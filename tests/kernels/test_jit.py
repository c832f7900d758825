"""Compiled code is found again at the next start, and never when something it calls has changed."""

import os
import subprocess
import sys
import types

import numpy as np
import pytest

from pareto_nrpa import ParetoNRPA, generate_tsptw
from pareto_nrpa.kernels import recording
from pareto_nrpa.kernels._jit import fingerprint, kernel, python_function, with_globals

_PROGRAM = """
from typing import NamedTuple
import numpy as np
from pareto_nrpa import CompiledProblem, ParetoNRPA, kernel

class Data(NamedTuple):
    costs: np.ndarray

class State(NamedTuple):
    numbers: np.ndarray

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
    state.numbers[1] += move * FACTOR

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


@pytest.mark.slow
@pytest.mark.skipif(bool(os.environ.get("NUMBA_DISABLE_JIT")), reason="there is nothing to cache with JIT switched off")
def test_the_second_start_of_a_user_s_script_compiles_nothing_and_a_changed_kernel_is_noticed(tmp_path):
    def run(factor):
        script = tmp_path / "mine.py"
        script.write_text(_PROGRAM.replace("FACTOR", factor))
        environment = {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path / "cache")}
        done = subprocess.run([sys.executable, script], capture_output=True, text=True, env=environment)
        assert done.returncode == 0, done.stderr
        return done.stdout.split("\n")[:3]

    assert run("1") == ["False", "[1, 1, 1]", "4.0"]
    assert run("1") == ["True", "[0, 0, 0]", "4.0"]
    assert run("3") == ["False", "[1, 0, 0]", "12.0"]


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
        (_two(_returns(1), _returns(2)), _two(_returns(2), _returns(1))),
    ],
    ids=["numpy scalar", "shape", "long array", "default", "module", "separators", "order"],
)
def test_what_differs_in_any_way_has_another_fingerprint(one, other):
    assert fingerprint(one) == fingerprint(one)
    assert fingerprint(one) != fingerprint(other)


def test_flattening_a_machine_and_back_loses_nothing():
    search = ParetoNRPA().start(generate_tsptw(5))
    again = python_function(recording._unflatten)(recording.flatten(search.machine))
    assert all(a is b for a, b in zip(recording.flatten(search.machine), recording.flatten(again), strict=True))
    assert again.pool.codes is search.machine.pool.codes
    assert again.selection.kept is search.machine.selection.kept


_THREADS = """
import threading
from pareto_nrpa import ParetoNRPA, generate_tsptw
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
