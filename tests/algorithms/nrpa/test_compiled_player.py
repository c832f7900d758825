"""Mistakes in kernels become sentences."""

from typing import NamedTuple

import numpy as np
import pytest

from pareto_nrpa import CompiledProblem, MaxEvaluations, ParetoNRPA, kernel, solve
from pareto_nrpa.errors import ProblemError
from pareto_nrpa.routing import generate_tsptw

from ...helpers.problems import Knapsack


class Data(NamedTuple):
    size: np.ndarray


class State(NamedTuple):
    depth: np.ndarray


@kernel
def initial_state(data):
    return State(np.zeros(1, np.int64))


@kernel
def legal_moves(data, state, out):
    if state.depth[0] == 3:
        return 0
    for i in range(data.size[0]):
        out[i] = i
    return data.size[0]


@kernel
def play(data, state, move):
    state.depth[0] += 1


@kernel
def move_code(data, state, move):
    return state.depth[0] * 10 + move


@kernel
def evaluate(data, state, out):
    out[0] = 1.0
    return 0


@kernel
def raises(data, state, out):
    if out.size > 0:
        raise ValueError("boom")
    return 0


@kernel
def one_too_many(data, state, out):
    for k in range(out.size + 1):
        out[k] = 1.0
    return 0


@kernel
def none_at_all(data, state, out):
    return 0


@kernel
def does_not_compile(data, state, out):
    return state.no_such_field[0]


def problem(size=4, **others):
    words = {f: globals()[f] for f in ("initial_state", "legal_moves", "play", "move_code", "evaluate")}
    sizes = {"n_objectives": 1, "n_codes": 40, "max_moves": 3, "max_legal": 4, "name": "toy"}
    return CompiledProblem(Data(np.array([size])), **{**words, **sizes, **others})


compiles = pytest.mark.slow  # each evaluation of its own is machine code of its own


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"size": 30}, "gave more moves at depth 0 of toy than max_legal or max_candidates allow"),
        ({"size": -1}, "gave more moves"),
        ({"size": 0}, "gave no move at the start of toy"),
        ({"n_codes": 12}, r"gave a code outside 0..n_codes-1 at depth 1 of toy"),
        ({"max_moves": 2}, "toy was not complete after 2 moves"),
        ({"evaluate": does_not_compile}, r"evaluate\(\) of toy does not compile, \w+.py line \d+: .*no_such_field"),
        pytest.param({"evaluate": raises}, "a kernel of toy raised ValueError: boom", marks=compiles),
        pytest.param({"evaluate": one_too_many}, "filled in more objectives than its n_objectives=1", marks=compiles),
        pytest.param({"evaluate": none_at_all}, "gave an objective that is NaN or infinite in toy", marks=compiles),
    ],
    ids=lambda value: "" if isinstance(value, str) else getattr(next(iter(value.values())), "__name__", str(value)),
)
def test_a_kernel_that_breaks_its_promise_is_named(arguments, message):
    with pytest.raises(ProblemError, match=message):
        solve(problem(**arguments), ParetoNRPA(level=1), stop=MaxEvaluations(10))


@pytest.mark.parametrize("toy", [generate_tsptw(8), Knapsack()], ids=["compiled", "plain"])
def test_weights_that_overflow_are_attributed_to_alpha(toy):
    with pytest.raises(ProblemError, match=r"reduce alpha=1e\+308"):
        solve(toy, ParetoNRPA(level=2, alpha=1e308), stop=MaxEvaluations(3000))


def test_a_function_without_its_decorator_is_refused_when_the_problem_is_built():
    with pytest.raises(ProblemError, match="play is not a kernel; put @kernel before its definition"):
        problem(play=lambda data, state, move: None)
