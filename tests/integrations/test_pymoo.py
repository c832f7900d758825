"""Pareto-NRPA as an algorithm of pymoo, and problems of pymoo as ours."""

import copy
import pickle

import numpy as np
import pytest

pytest.importorskip("pymoo", reason='needs pymoo: pip install "pareto-nrpa[pymoo]"')

import pymoo
from pymoo.core.population import Population
from pymoo.core.problem import ElementwiseProblem
from pymoo.core.variable import Binary, Choice, Integer, Real
from pymoo.optimize import minimize

import pareto_nrpa
from pareto_nrpa import MaxEvaluations, Problem, solve
from pareto_nrpa.errors import ProblemError
from pareto_nrpa.integrations.pymoo import ParetoNRPAForPymoo, PolishedNRPAForPymoo, from_pymoo

from ..helpers.problems import Word

WEIGHTS, PROFITS = np.array([[3, 5, 2, 8, 4, 6, 7, 1], [4, 4, 1, 9, 6, 2, 8, 3]])


class Bits(ElementwiseProblem):
    """A knapsack: weight against lost profit, at most 20 to carry, exactly as many as the first two items say."""

    def __init__(self):
        super().__init__(n_var=8, n_obj=2, n_ieq_constr=1, n_eq_constr=1, xl=0, xu=1, vtype=bool)

    def _evaluate(self, x, out, *args, **kwargs):
        out["F"] = [WEIGHTS @ x, PROFITS @ ~x]
        out["G"] = [WEIGHTS @ x - 20]
        out["H"] = [float(x[0]) - float(x[1])]


class Mixed(ElementwiseProblem):
    def __init__(self, **more):
        variables = {"on": Binary(), "n": Integer(bounds=(-2, 5)), "colour": Choice(options=["red", "blue"]), **more}
        super().__init__(vars=variables, n_obj=2)

    def _evaluate(self, x, out, *args, **kwargs):
        out["F"] = [x["n"] + 3 * x["on"], (5 - x["n"]) + (x["colour"] == "red")]


class Order(ElementwiseProblem):
    def __init__(self):
        super().__init__(n_var=6, n_obj=2, xl=0, xu=5)

    def _evaluate(self, x, out, *args, **kwargs):
        out["F"] = [np.abs(np.diff(x)).sum(), x[0]]


class Few(ElementwiseProblem):
    """Whole numbers: 48 solutions in all."""

    def __init__(self):
        super().__init__(n_var=3, n_obj=2, xl=0, xu=[3, 3, 2], vtype=int)

    def _evaluate(self, x, out, *args, **kwargs):
        out["F"] = [x.sum(), (3 - x[0]) ** 2 + x[1] * x[2]]


class Letters(ElementwiseProblem):
    """Words of an unknown number."""

    def __init__(self):
        super().__init__(n_var=3, n_obj=2)

    def _evaluate(self, x, out, *args, **kwargs):
        out["F"] = [(x == "a").sum(), (x == "b").sum()]


class ShortWord(Word):
    length, letters = 3, "abc"


def test_bits_with_constraints():
    res = minimize(Bits(), ParetoNRPAForPymoo(level=2), ("n_eval", 220), seed=1, save_history=True)
    again = minimize(Bits(), ParetoNRPAForPymoo(level=2), ("n_eval", 220), seed=1)
    assert res.X.dtype == bool
    assert (res.G <= 0).all()
    assert (np.abs(res.H) <= 1e-4).all()
    assert np.array_equal(res.F, again.F)
    assert res.algorithm.evaluator.n_eval == 220
    every = from_pymoo(Bits())
    truth = solve(every, "pls", stop=MaxEvaluations(4_000), seed=0).front.objectives
    assert sorted(res.F.tolist()) == sorted(
        truth.tolist()
    )  # of 256 solutions, 220 evaluations find all, whatever the version of pymoo makes of a seed
    assert len(res.history) == 22
    assert len(res.history[3].opt) <= len(res.history[3].pop)
    assert res.history[3].search.evaluations >= 40 > 10


def test_orders_and_a_construction():
    for algorithm in (ParetoNRPAForPymoo(kind="permutation", level=2), PolishedNRPAForPymoo(kind="permutation")):
        plain = minimize(Order(), algorithm, ("n_eval", 400), seed=1)
        assert [5.0, 0.0] in plain.F.tolist()
    line = Problem.from_permutation(lambda order: (0, 0), range(6), maximise=True)
    built = minimize(Order(), ParetoNRPAForPymoo(construction=line, level=2), ("n_eval", 200), seed=1)
    assert [5.0, 0.0] in built.F.tolist()


def test_a_start_and_ask_and_tell():
    start = np.array([np.arange(6), np.arange(6)[::-1]])
    res = minimize(Order(), ParetoNRPAForPymoo(kind="permutation", sampling=start), ("n_eval", 22), seed=1)
    assert [5.0, 0.0] in res.F.tolist()
    algorithm = ParetoNRPAForPymoo(kind="permutation", batch=3)
    algorithm.setup(Order(), termination=("n_eval", 30), seed=1)
    while algorithm.has_next():
        asked = algorithm.ask()
        algorithm.evaluator.eval(algorithm.problem, asked)
        algorithm.tell(infills=asked)
    assert algorithm.search.evaluations >= 30
    assert not algorithm.search.pending
    assert isinstance(algorithm.result().opt, Population)


@pytest.mark.parametrize(
    "twin", [copy.deepcopy, lambda value: pickle.loads(pickle.dumps(value))], ids=["copy", "pickle"]
)
@pytest.mark.parametrize(
    ("problem", "kind"), [(Bits(), None), (Mixed(), None), (Few(), None), (Order(), "permutation")]
)
def test_problems_searches_and_algorithms_are_copied_and_pickled(problem, kind, twin):
    ours = from_pymoo(problem, kind=kind)
    search = pareto_nrpa.ParetoNRPA(level=2, iterations=5).start(ours, seed=1)
    search.advance(10)
    other = twin(search)
    for one in (search, other):
        one.advance(10)
    assert np.array_equal(search.front().objectives, other.front().objectives)
    moves = search.front().solutions[0]
    assert twin(ours).evaluate(tuple(moves)) == ours.evaluate(tuple(moves))
    algorithm = minimize(problem, ParetoNRPAForPymoo(kind=kind, batch=4), ("n_gen", 2), seed=1).algorithm
    fronts = []
    for one in (algorithm, twin(algorithm)):
        one.termination.n_max_gen = 4
        one.termination.perc = 0.5
        fronts.append(one.run().F)
    assert np.array_equal(*fronts)


@pytest.mark.parametrize("kind", [ParetoNRPAForPymoo, PolishedNRPAForPymoo])
@pytest.mark.parametrize("problem", [Few(), Letters()], ids=["48 solutions", "unknown"])
def test_no_candidate_is_looked_for_when_all_solutions_were_seen(kind, problem):
    # Of a space used up, a hundred candidates were asked for in the place of each: seconds for a generation.
    construction = ShortWord() if isinstance(problem, Letters) else None
    algorithm = minimize(problem, kind(construction=construction, batch=10), ("n_eval", 60), seed=1).algorithm
    search = algorithm.search
    n_seen, n_asked = search.unique_evaluations, search.evaluations
    for _ in range(5):
        algorithm.next()
    assert search.evaluations - n_asked <= 5 * 10 * 2
    assert search.unique_evaluations == n_seen
    if construction is None:
        assert n_seen == 48
        assert len({tuple(x) for x in algorithm.opt.get("X")}) == len(algorithm.opt)


@pytest.mark.parametrize("algorithm", ["pareto-nrpa", "nsga-ii"])
def test_a_problem_of_pymoo_is_one_of_ours(algorithm):
    if algorithm == "nsga-ii" and pymoo.__version__ != "0.6.2":
        pytest.skip("our NSGA-II is that of pymoo 0.6.2: pip install pymoo==0.6.2")
    front = solve(from_pymoo(Bits()), algorithm, stop=MaxEvaluations(600), seed=1).front
    assert front.is_feasible
    assert all(Bits().evaluate(np.array([x]), return_values_of=["G"])[0] <= 0 for x in front.solutions)
    order = from_pymoo(Order(), kind="permutation")
    assert order.n_objectives == 2
    mixed = from_pymoo(Mixed())
    assert mixed.evaluate((True, 2, "red")) == [5.0, 4.0]


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: from_pymoo(Order()), "does not declare the type of its variables"),
        (lambda: from_pymoo(Mixed(rate=Real(bounds=(0, 1)))), "variable 'rate' is Real"),
        (lambda: ParetoNRPAForPymoo(kind="tree"), "kind must be"),
        (lambda: ParetoNRPAForPymoo(batch=0), "batch must be"),
        (lambda: ParetoNRPAForPymoo(foo=1), "^ParetoNRPAForPymoo has no parameter 'foo'; it takes: batch, .* level, "),
        (
            lambda: PolishedNRPAForPymoo(alhpa=1),
            r"PolishedNRPAForPymoo has no parameter 'alhpa' \(did you mean 'alpha'\?\)",
        ),
        (lambda: ParetoNRPAForPymoo(save_histroy=True), "did you mean 'save_history'"),
        (lambda: from_pymoo(Bits), "problem must be a problem of pymoo, .* got <class"),
        (lambda: ParetoNRPAForPymoo(construction=5), "construction must be a Problem or a CompiledProblem, got 5"),
        (lambda: ParetoNRPAForPymoo(to_x=5), "to_x must be a function, got 5"),
        (lambda: ParetoNRPAForPymoo(sampling=[[0, 1]]), r"sampling must be an array, .* np.array\(...\)"),
    ],
)
def test_mistakes_are_said(make, message):
    with pytest.raises((ProblemError, ValueError), match=message):
        make()
