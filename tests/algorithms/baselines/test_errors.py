"""What goes wrong is said in a sentence, and what was found before is kept."""

from dataclasses import replace
from typing import NamedTuple

import numpy as np
import pytest

from pareto_nrpa import CompiledProblem, MaxEvaluations, ParetoNRPA, kernel, solve
from pareto_nrpa.algorithms.registry import NAMES, algorithm
from pareto_nrpa.errors import ProblemError
from pareto_nrpa.problem.genotype import Choices
from pareto_nrpa.routing import generate_tsptw

from ...golden.problems import cells
from ...helpers.command_line import python
from ...helpers.problems import EVOLUTIONARY, Bits, Knapsack, Word, small
from ...problem.test_check import evaluate_nan, evaluate_three_objectives

every_algorithm = pytest.mark.parametrize("name", NAMES)
whole_solutions = ("pls", *EVOLUTIONARY)
FAILS_AT = 60


@pytest.mark.parametrize("name", whole_solutions)
@pytest.mark.parametrize("problem", [Knapsack(), Word()], ids=["knapsack", "word"])
def test_an_algorithm_that_changes_whole_solutions_needs_to_know_what_they_are(name, problem):
    kind = type(problem).__name__
    with pytest.raises(ProblemError, match=f"^{name} .* requires the genotype of {kind}; set it to"):
        solve(problem, algorithm(name), stop=MaxEvaluations(10))


@pytest.mark.parametrize(("name", "called"), [("moea-d", "MOEA/D"), ("sms-emoa", "SMS-EMOA"), ("nsga-iii", "NSGA-III")])
def test_some_algorithms_need_two_objectives(name, called):
    with pytest.raises(ProblemError, match=f"^{called} needs at least two objectives, tsptw:n=8,seed=0"):
        solve(generate_tsptw(8, n_objectives=1), algorithm(name), stop=MaxEvaluations(10))


@pytest.mark.parametrize("name", [name for name in NAMES if name not in ("moea-d", "sms-emoa", "nsga-iii")])
def test_all_others_do_with_one(name):
    class Loss(Bits):
        n_objectives = 1

        def __init__(self):
            super().__init__(5)

        def evaluate(self, state):
            return super().evaluate(state)[1]

    front = solve(Loss(), small(name), stop=MaxEvaluations(300), seed=1).front
    assert front.objectives.tolist() == [[0.0]]


@pytest.mark.slow
def test_without_pymoo_three_algorithms_say_how_to_get_it_and_others_work():
    program = (
        "import sys; sys.modules['pymoo'] = None\n"
        "from pareto_nrpa import MaxEvaluations, solve\n"
        "from tests.helpers.problems import EVOLUTIONARY, Bits, small\n"
        "for name in (*EVOLUTIONARY, 'random', 'pareto-nrpa'):\n"
        "    try: print(name, solve(Bits(), small(name), stop=MaxEvaluations(5)).evaluations)\n"
        "    except ImportError as error: print(name, error)\n"
    )
    said = dict(line.split(" ", 1) for line in python(program)[0].splitlines())
    missing = 'needs pymoo; install it with: pip install "pareto-nrpa[baselines]".'
    assert {name for name, what in said.items() if what.endswith(missing)} == set(EVOLUTIONARY)
    assert {name for name, what in said.items() if what == "5"} == {"random", "pareto-nrpa"}


class Failing(Bits):
    """A knapsack whose evaluation goes wrong at some call."""

    def __init__(self, how, at=FAILS_AT):
        super().__init__()
        self.how, self.at, self.n = how, at, 0

    def evaluate(self, state):
        self.n += 1
        return self.how(state) if self.n >= self.at else super().evaluate(state)


def _raise(state):
    raise RuntimeError("disk on fire")


@every_algorithm
@pytest.mark.parametrize(
    ("how", "message"),
    [
        (_raise, r"evaluate\(\) of Failing raised RuntimeError: disk on fire"),
        (lambda state: (1.0, float("nan")), "NaN or infinite in Failing"),
        (lambda state: (1.0, 2.0, 3.0), r"must return 2 objectives \(n_objectives\), got 3"),
        (lambda state: "12", "must return 2 objectives, got '12'"),
    ],
    ids=["raises", "nan", "three", "text"],
)
def test_an_evaluation_that_fails_is_named_and_the_front_before_it_is_kept(name, how, message):
    with pytest.raises(ProblemError, match=message) as caught:
        solve(Failing(how), small(name), stop=MaxEvaluations(200), seed=1)
    result = caught.value.result
    assert 0 < result.evaluations < FAILS_AT
    assert result.stopped_by == "an error"
    assert caught.value.__notes__ == ["The best front found so far is the attribute result of this error."]
    for solution, objectives in zip(result.front.solutions, result.front.objectives.tolist(), strict=True):
        assert list(Bits().evaluate(tuple(solution))) == objectives


@every_algorithm
@pytest.mark.parametrize(
    ("words", "message"),
    [
        ({"legal_moves": lambda self, state: (0, 1), "max_moves": 50}, "Odd was not complete after 50 moves"),
        ({"legal_moves": lambda self, state: ()}, r"^legal_moves\(\) gave no move at the start of Odd"),
        ({"legal_moves": lambda self, state: 1 / 0}, "Odd raised ZeroDivisionError"),
        ({"play": lambda self, state, move: 1 / 0}, "Odd raised ZeroDivisionError"),
        ({"bias": lambda self, state, move: float("nan")}, r"bias\(\) gave NaN or infinity in Odd"),
    ],
    ids=["endless", "no move", "legal_moves", "play", "bias"],
)
def test_a_promise_broken_by_a_plain_problem_is_named(name, words, message):
    with pytest.raises(ProblemError, match=message):
        solve(type("Odd", (Bits,), words)(), small(name, bias=1.0), stop=MaxEvaluations(100))


class Trouble(NamedTuple):
    """How a compiled problem goes wrong, and how often it was evaluated."""

    calls: np.ndarray  # [1] int64
    how: np.ndarray  # [2] int64: what goes wrong, at which evaluation


class Bitstring(NamedTuple):
    depth: np.ndarray  # [1] int64
    bits: np.ndarray  # [6] int64


FINE, NAN, RAISES, ENDLESS, TOO_MANY, NEGATIVE, NONE = range(7)


@kernel
def initial_state(data):
    return Bitstring(np.zeros(1, np.int64), np.zeros(6, np.int64))


@kernel
def legal_moves(data, state, out):
    if data.how[0] == NONE or (state.depth[0] >= 6 and data.how[0] != ENDLESS):
        return 0
    out[0] = 0
    out[1] = 1
    if data.how[0] == TOO_MANY:
        out[2] = 2
        return 3
    if data.how[0] == NEGATIVE:
        return -1
    return 2


@kernel
def play(data, state, move):
    if state.depth[0] < 6:
        state.bits[state.depth[0]] = move
    state.depth[0] += 1


@kernel
def move_code(data, state, move):
    return 2 * min(state.depth[0], 5) + move


@kernel
def evaluate(data, state, out):
    data.calls[0] += 1
    out[0] = 0.0
    out[1] = 0.0
    for k in range(6):
        out[0] += (k + 1) * state.bits[k]
        out[1] += (k * k + 1) * (1 - state.bits[k])
    if data.calls[0] >= data.how[1]:
        if data.how[0] == RAISES:
            raise ValueError("boom")
        if data.how[0] == NAN:
            out[1] = np.nan
    return 0


def compiled(how, at=FAILS_AT):
    words = {f: globals()[f] for f in ("initial_state", "legal_moves", "play", "move_code", "evaluate")}
    return CompiledProblem(
        Trouble(np.zeros(1, np.int64), np.array([how, at])),
        **words,
        n_objectives=2,
        n_codes=12,
        max_moves=6,
        max_legal=2,
        genotype=Choices([(0, 1)] * 6),
        name="toy",
    )


# Every algorithm but the first compiles its own loops for this problem.
OTHERS = ("nsga-ii", "nrpa", "pls", "pareto-mcts", "nmcs", "moea-d")
every_engine = pytest.mark.parametrize("name", ["random", *(pytest.param(n, marks=pytest.mark.slow) for n in OTHERS)])


@every_engine
@pytest.mark.parametrize(
    ("how", "message"),
    [(NAN, "objective that is NaN or infinite in toy"), (RAISES, "a kernel of toy raised ValueError: boom")],
    ids=["nan", "raises"],
)
def test_a_compiled_evaluation_that_fails_is_named_and_the_front_before_it_is_kept(name, how, message):
    with pytest.raises(ProblemError, match=message) as caught:
        solve(compiled(how), small(name), stop=MaxEvaluations(200), seed=1)
    result = caught.value.result
    assert 0 < result.evaluations < FAILS_AT
    assert len(result.front) > 0
    for solution, objectives in zip(result.front.solutions, result.front.objectives.tolist(), strict=True):
        assert compiled(FINE).replay(solution)[0].tolist() == objectives


@every_engine
@pytest.mark.parametrize(
    ("how", "message"),
    [
        (ENDLESS, "toy was not complete after 6 moves"),
        (TOO_MANY, "gave more moves at depth 0 of toy than max_legal"),
        (NEGATIVE, "gave more moves at depth 0 of toy"),
        (NONE, "gave no move at the start of toy"),
    ],
    ids=["endless", "too many", "negative", "none"],
)
def test_a_promise_broken_by_a_compiled_problem_is_named(name, how, message):
    with pytest.raises(ProblemError, match=message):
        solve(compiled(how), small(name), stop=MaxEvaluations(10))


# --- mistakes in kernels, named by a search that begins


@kernel
def does_not_compile(data, state, out):
    return state.no_such_field[0]


compiles = pytest.mark.slow  # each evaluation of its own is machine code of its own


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"n_codes": 12}, r"gave a code outside 0..n_codes-1 at depth 2 of cells"),
        ({"max_moves": 2, "genotype": None}, "cells was not complete after 2 moves"),
        ({"evaluate": does_not_compile}, r"evaluate\(\) of cells does not compile, \w+.py line \d+: .*no_such_field"),
        pytest.param(
            {"evaluate": evaluate_three_objectives}, "filled in more objectives than its n_objectives=2", marks=compiles
        ),
        pytest.param({"evaluate": evaluate_nan}, "gave an objective that is NaN or infinite in cells", marks=compiles),
    ],
    ids=["code", "moves", "does not compile", "too many", "none"],
)
def test_a_kernel_that_breaks_its_promise_is_named(changes, message):
    with pytest.raises(ProblemError, match=message):
        solve(replace(cells(), **changes), ParetoNRPA(level=1), stop=MaxEvaluations(10))


def test_a_function_without_its_decorator_is_refused_when_the_problem_is_built():
    with pytest.raises(ProblemError, match="play is not a kernel; put @kernel before its definition"):
        replace(cells(), play=lambda data, state, move: None)


@pytest.mark.parametrize("problem", [generate_tsptw(8), Knapsack()], ids=["compiled", "plain"])
def test_weights_that_overflow_are_attributed_to_alpha(problem):
    with pytest.raises(ProblemError, match=r"reduce alpha=1e\+308"):
        solve(problem, ParetoNRPA(level=2, alpha=1e308), stop=MaxEvaluations(3000))
