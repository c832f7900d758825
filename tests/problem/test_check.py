"""`check_problem` passes good problems, and names the first promise that a bad one breaks."""

import os
from dataclasses import replace

import numpy as np
import pytest

from pareto_nrpa import MaxEvaluations, check_problem, kernel, solve
from pareto_nrpa.errors import ProblemError
from pareto_nrpa.routing import generate_tsp

from ..golden.problems import cells
from ..helpers.problems import Knapsack


class Bits(Knapsack):
    """Good: three bits. Each broken problem below changes one method of it."""

    def __init__(self):
        super().__init__(3)


def test_a_good_plain_problem_passes():
    assert check_problem(Bits()) is None


class EmptyStart(Bits):
    def legal_moves(self, state):
        return ()


class Repeats(Bits):
    def legal_moves(self, state):
        return (1, 0, 1) if len(state) == 2 else super().legal_moves(state)


class Endless(Bits):
    max_moves = 50

    def legal_moves(self, state):
        return 0, 1


class UnhashableMoves(Bits):
    def legal_moves(self, state):
        return [[0], [1]] if len(state) < 3 else []


class Mutates(Bits):
    def initial_state(self):
        return []

    def play(self, state, move):
        state.append(move)
        return state


class UnhashableCode(Bits):
    def move_code(self, state, move):
        return [len(state), move]


class Evaluates(Bits):
    def __init__(self, value):
        super().__init__()
        self.value = value

    def evaluate(self, state):
        return self.value


class ConstrainedEvaluates(Evaluates):
    constrained = True


class Raises(Bits):
    def evaluate(self, state):
        return 1 / 0, 0


class Biased(Bits):
    def __init__(self, value):
        super().__init__()
        self.value = value

    def bias(self, state, move):
        return self.value


class NoObjectives(Bits):
    n_objectives = 0


@pytest.mark.parametrize(
    ("problem", "words"),
    [
        (EmptyStart(), r"legal_moves\(\) gave no move at the start of EmptyStart; a problem needs at least one"),
        (Repeats(), r"legal_moves\(\) returned move 1 twice at depth 2 of Repeats"),
        (Endless(), r"Endless was not complete after 50 moves; raise max_moves if its sequences are longer"),
        (UnhashableMoves(), r"legal_moves\(\) returned \[0\] at depth 0 of UnhashableMoves; moves must be hashable"),
        (Mutates(), r"play\(\) changed the state that it was given at depth \d of Mutates; return a new one"),
        (UnhashableCode(), r"move_code\(\) of move 0 at depth 0 of UnhashableCode must be hashable, got \[0, 0\]"),
        (Evaluates((1, np.nan)), r"evaluate\(\) of Evaluates gave an objective that is NaN or infinite: \[1.0, nan\]"),
        (Evaluates((1, 2, 3)), r"evaluate\(\) of Evaluates must return 2 objectives \(n_objectives\), got 3"),
        (Evaluates(1), r"evaluate\(\) of Evaluates must return 2 objectives, got 1"),
        (Evaluates("ab"), r"evaluate\(\) of Evaluates must return 2 objectives, got 'ab'"),
        (Evaluates((1, 10**400)), r"evaluate\(\) of Evaluates must return 2 objectives, got"),
        (ConstrainedEvaluates(((1, 2), -1)), r"of ConstrainedEvaluates gave -1.0 violations; 0 means feasible"),
        (ConstrainedEvaluates((1, 2, 3)), "must return \\(2 objectives, violations\\), because it is constrained, got"),
        (Raises(), r"evaluate\(\) of Raises raised ZeroDivisionError: division by zero"),
        (Biased(np.inf), r"bias\(\) of move 0 at depth 0 of Biased must be a finite number, got inf"),
        (NoObjectives(), "n_objectives of NoObjectives must be a whole number of at least 1, got 0"),
    ],
    ids=lambda value: "" if isinstance(value, str) else type(value).__name__,
)
def test_a_broken_plain_problem_is_told_apart(problem, words):
    with pytest.raises(ProblemError, match=words):
        check_problem(problem)


def compiled(**changes):
    """Return a good compiled problem, six choices out of five, with some parts of it broken."""
    return replace(cells(distinct_codes=True), **changes)


@kernel
def endless_moves(data, state, out):
    out[0], out[1] = 0, 1
    return 2


@kernel
def endless_play(data, state, move):
    state.depth[0] = min(state.depth[0] + 1, state.chosen.size - 1)


ENDLESS = {"legal_moves": endless_moves, "play": endless_play, "distinct_codes": False}


@kernel
def six_moves(data, state, out):
    for move in range(6):
        out[move] = move
    return 6


@kernel
def claims_six_moves(data, state, out):
    return 6


@kernel
def same_codes_at_every_step(data, state, move):
    return move


@kernel
def evaluate_nan(data, state, out):
    out[0], out[1] = 1.0, np.nan
    return 0


@kernel
def evaluate_three_objectives(data, state, out):
    for k in range(3):
        out[k] = 1.0
    return 0


@kernel
def evaluate_without_return(data, state, out):
    out[:] = 1.0


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        (ENDLESS, "cells was not complete after 6 moves; raise max_moves"),
        ({"legal_moves": six_moves}, r"legal_moves\(\) wrote more than max_legal=5 moves at depth 0 of cells"),
        ({"legal_moves": claims_six_moves}, "returned 6 at depth 0 of cells; expected 0 to max_legal=5"),
        ({"max_candidates": 5}, "cells has more than max_candidates=5 legal moves in one sequence"),
        ({"move_code": same_codes_at_every_step}, "at two steps of cells, which promises distinct_codes"),
        ({"evaluate": evaluate_nan}, r"evaluate\(\) of cells gave an objective that is NaN or infinite"),
        ({"evaluate": evaluate_three_objectives}, r"evaluate\(\) of cells .*2 objectives"),
        ({"evaluate": evaluate_without_return}, "must return a (number, .* line .* returns none|violation count)"),
    ],
    ids=["endless", "wrote more", "claims more", "candidates", "codes", "nan", "three objectives", "no return"],
)
def test_a_broken_compiled_problem_is_told_apart(changes, words):
    with pytest.raises(ProblemError, match=words):
        check_problem(compiled(**changes))


@kernel
def evaluate_with_text(data, state, out):
    out[:] = 1.0
    return len(f"{out.size:>5}") - 5


@pytest.mark.skipif(bool(os.environ.get("NUMBA_DISABLE_JIT")), reason="nothing is compiled with JIT switched off")
def test_a_kernel_that_runs_in_python_and_does_not_compile_is_named_with_its_line():
    line = evaluate_with_text.py_func.__code__.co_firstlineno + 3
    with pytest.raises(ProblemError, match=rf"evaluate\(\) of cells does not compile, test_check.py line {line}: "):
        check_problem(compiled(evaluate=evaluate_with_text))


@pytest.mark.parametrize("kind", [set, frozenset])
def test_a_set_of_moves_whose_order_is_another_in_each_process_is_refused(kind):
    class Words(Bits):
        moves = ("add", "swap")

        def legal_moves(self, state):
            return kind(self.moves) if len(state) < 3 else kind()

        def evaluate(self, state):
            return len(state), 1

    with pytest.raises(ProblemError, match=r"legal_moves\(\) returned a set at depth 0 of Words, .* sorted\(moves\)"):
        check_problem(Words())
    Words.moves = (0, 1)
    check_problem(Words())


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"n_codes": 0}, "n_codes must be between 1 and"),
        ({"max_moves": 0, "genotype": None}, "max_moves must be at least 1, got 0"),
        ({"n_objectives": 0}, "n_objectives of cells must be a whole number of at least 1, got 0"),
        ({"preference": (1, 2, 3)}, "preference of cells must have one entry for each of the 2 objectives, got"),
        ({"reference_point": (1,)}, "reference_point of cells must have one entry for each of the 2 objectives, got"),
    ],
    ids=str,
)
def test_bad_declarations_are_refused_when_built(changes, words):
    with pytest.raises(ProblemError, match=words):
        compiled(**changes)


SIXTY = MaxEvaluations(60, count="unique")


@pytest.mark.parametrize("wrong", [-1, 0.5, "a", True, 2**62])
def test_an_identity_that_is_no_whole_number_is_named(wrong):
    problem = Knapsack()
    problem.identity = lambda state: wrong
    searches = (lambda problem, name=name: solve(problem, name, stop=SIXTY) for name in ("pareto-nrpa", "random"))
    for look in (check_problem, *searches):
        with pytest.raises(ProblemError, match=r"identity.* of Knapsack must be a whole number"):
            look(problem)


@kernel
def evaluate_forgetfully(data, moves, out):
    """Forget the way back."""
    for k in range(out.size):
        out[k] = 0.0
    return 0


def test_an_evaluation_of_complete_moves_that_disagrees_is_found():
    problem = generate_tsp(6, seed=1)
    check_problem(problem)
    with pytest.raises(ProblemError, match=r"evaluate_solution\(\) of .* gives .* violations .* and evaluate\(\)"):
        check_problem(replace(problem, evaluate_solution=evaluate_forgetfully))


def test_an_evaluation_of_complete_moves_of_a_plain_problem_that_disagrees_is_found():
    problem = Knapsack()
    problem.evaluate_solution = lambda moves: ((0.5, 0.5), 0) if problem.constrained else (0.5, 0.5)
    with pytest.raises(ProblemError, match=r"evaluate_solution\(\) of Knapsack gives .* and evaluate\(\)"):
        check_problem(problem)


@pytest.mark.parametrize(
    ("declared", "message"),
    [
        ({"max_moves": 0}, "max_moves of Bits must be a whole number of at least 1, got 0"),
        ({"max_moves": "9"}, "max_moves of Bits must be a whole number of at least 1, got '9'"),
        ({"bias": 0.5}, "bias of Bits must be a function, got 0.5"),
        ({"describe": "three bits"}, "describe of Bits must be a function, got 'three bits'"),
    ],
)
def test_wrong_declarations_are_named_before_the_search(declared, message):
    problem = Bits()
    vars(problem).update(declared)
    for act in (lambda: check_problem(problem), lambda: solve(problem, stop=MaxEvaluations(5))):
        with pytest.raises(ProblemError, match=message):
            act()
