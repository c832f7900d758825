"""Pareto-NRPA as an algorithm of pymoo, and problems of pymoo as problems of ours.

from pymoo.optimize import minimize
from pareto_nrpa.pymoo import ParetoNRPA
res = minimize(problem, ParetoNRPA(), ("n_eval", 5_000), seed=1)
"""

from __future__ import annotations

import copy
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

try:
    from pymoo.core.algorithm import Algorithm
    from pymoo.core.initialization import Initialization
    from pymoo.core.population import Population
    from pymoo.core.variable import Binary, Choice, Integer
    from pymoo.util.optimum import filter_optimum
except ImportError as error:
    message = 'pareto_nrpa.pymoo needs pymoo; install it with: pip install "pareto-nrpa[pymoo]".'
    raise ImportError(message) from error

from .checks import check_choice, check_whole
from .exceptions import ProblemError
from .nrpa import params
from .polish import params as polish
from .problem import AnyProblem, CompiledProblem, Problem, problem_name

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from .nrpa.search import Candidate, Search

KINDS = ("binary", "integer", "permutation")
_EQUAL = 1e-4  # by how much pymoo lets equality constraints be missed
_MOST_REPEATS = 100
_CANDIDATE = "candidate of Pareto-NRPA"


@dataclass(frozen=True)
class _Coding:
    """How solutions of pymoo are built, and how one is read as the other."""

    problem: AnyProblem
    to_x: Callable[[list[Any]], Any]
    to_moves: Callable[[Any], list[Any]]


def _coding(problem: Any, kind: str | None, function: Callable[[list[Any]], Any], **declared: Any) -> _Coding:
    """Return how to build solutions of a problem of pymoo: by its variables, and `kind` where it says nothing."""
    variables = getattr(problem, "vars", None)
    if variables is not None:
        names = list(variables)
        built = Problem.from_choices(function, [_options(name, variables[name]) for name in names], **declared)
        return _Coding(built, lambda moves: dict(zip(names, moves, strict=True)), lambda x: [x[name] for name in names])
    if kind is None:
        kind = {bool: "binary", int: "integer"}.get(problem.vtype)
        if kind is None:
            raise ProblemError(
                f"{_name(problem)} does not say what its variables are, or says that they are real numbers; give "
                f"kind={' or '.join(map(repr, KINDS))}."
            )
    check_choice("kind", kind, KINDS)
    if kind == "permutation":
        built = Problem.from_permutation(function, range(problem.n_var), **declared)
        return _Coding(built, np.array, lambda x: [int(value) for value in x])
    if kind == "binary":
        built = Problem.from_choices(function, [(False, True)] * problem.n_var, **declared)
        return _Coding(built, lambda moves: np.array(moves, dtype=bool), lambda x: [bool(value) for value in x])
    if problem.xl is None or problem.xu is None:
        raise ProblemError(f"{_name(problem)} must have bounds xl and xu, as its variables are whole numbers.")
    ranges = [range(int(np.ceil(low)), int(high) + 1) for low, high in zip(problem.xl, problem.xu, strict=True)]
    return _Coding(
        Problem.from_choices(function, ranges, **declared), np.array, lambda x: [round(float(value)) for value in x]
    )


def _options(name: str, variable: Any) -> Sequence[Any]:
    if isinstance(variable, Binary):
        return (False, True)
    if isinstance(variable, Choice):
        return tuple(variable.options)
    if isinstance(variable, Integer):
        return range(variable.lb, variable.ub + 1)
    raise ProblemError(
        f"variable {name!r} is {type(variable).__name__}; Pareto-NRPA takes Binary, Integer and Choice. Round it, or "
        "search with pareto_nrpa.optuna, which takes real numbers."
    )


def _name(problem: Any) -> str:
    return str(problem.name())


def from_pymoo(problem: Any, *, kind: str | None = None) -> Problem:
    """Return a problem of pymoo as one of ours, for all algorithms of `solve`.

    Parameters
    ----------
    problem
        A problem with Binary, Integer and Choice variables, or an array of bits, whole numbers or an order.
    kind
        "binary", "integer" or "permutation" where pymoo does not say: `vtype` is not set.
    """
    constrained = problem.n_ieq_constr + problem.n_eq_constr > 0
    declared = {"n_objectives": problem.n_obj, "constrained": constrained, "name": _name(problem)}
    coding: list[_Coding] = []

    def evaluate(moves: list[Any]) -> Any:
        out = problem.evaluate(np.array([coding[0].to_x(moves)]), return_as_dictionary=True)
        objectives = out["F"][0].tolist()
        return (objectives, _violations(out)) if constrained else objectives

    coding.append(_coding(problem, kind, evaluate, **declared))
    return coding[0].problem  # type: ignore[return-value]


def _violations(out: dict[str, Any]) -> float:
    below = np.maximum(np.asarray(out["G"][0], dtype=float), 0.0).sum() if out.get("G") is not None else 0.0
    beside = np.abs(np.asarray(out["H"][0], dtype=float)) if out.get("H") is not None else np.zeros(0)
    return float(below + beside[beside > _EQUAL].sum())


def _not_here(moves: list[Any]) -> Any:
    raise AssertionError("pymoo evaluates")


class ParetoNRPA(Algorithm):  # type: ignore[misc]
    """Pareto-NRPA for `minimize` of pymoo: binary, integer, categorical and mixed variables, permutations, constraints.

    Parameters
    ----------
    batch
        How many solutions are sampled before the policies learn from them: a generation of pymoo.
    sampling
        Solutions to begin with, as in other algorithms: an array, a population, or a sampling. The highest level learns
        from them.
    kind
        "binary", "integer" or "permutation" where pymoo does not say: `vtype` is not set.
    construction
        A problem of ours that says how solutions are built, with its legal moves, codes and bias; pymoo evaluates.
    to_x, to_moves
        Where there is a construction: what turns its moves into a solution of pymoo (by default an array of them), and
        back, for `sampling`.
    parameters
        Those of `pareto_nrpa.ParetoNRPA`: level, n_policies, alpha, ... and all that algorithms of pymoo take.
    """

    _kind: Any = params.ParetoNRPA

    def __init__(
        self,
        *,
        batch: int = 10,
        sampling: Any = None,
        kind: str | None = None,
        construction: AnyProblem | None = None,
        to_x: Callable[[list[Any]], Any] = np.array,
        to_moves: Callable[[Any], list[Any]] = list,
        **parameters: Any,
    ) -> None:
        check_whole("batch", batch, 1)
        if kind is not None:
            check_choice("kind", kind, KINDS)
        ours = {name: parameters.pop(name) for name in self._kind.__dataclass_fields__ if name in parameters}
        self.parameters = self._kind(**ours)
        super().__init__(**parameters)
        self.batch, self.sampling, self.kind = batch, sampling, kind
        self._construction = None if construction is None else _Coding(construction, to_x, to_moves)
        self.search: Search | None = None

    def _setup(self, problem: Any, **kwargs: Any) -> None:
        m = problem.n_obj
        given = self._construction
        self._coding = (
            _coding(problem, self.kind, _not_here, n_objectives=m)
            if given is None
            else replace(given, problem=_minimised(given.problem, m))
        )
        generator = getattr(self, "random_state", None)  # pymoo before 0.6.2 has a seed alone
        seed = int(self.seed if generator is None else generator.integers(2**31))
        self.search = self.parameters.start(self._coding.problem, seed=seed, budget=self._budget())
        self.search.count_unique()

    def _budget(self) -> int | None:
        """Return the number of evaluations that the termination allows, where it says so."""
        evaluations = getattr(self.termination, "n_max_evals", None)
        generations = getattr(self.termination, "n_max_gen", None)
        if evaluations is None and generations is not None and np.isfinite(generations):
            evaluations = generations * self.batch
        return int(evaluations) if evaluations is not None and np.isfinite(evaluations) else None

    def _initialize_infill(self) -> Any:
        if self.sampling is None:
            return self._infill()
        generator = {"random_state": self.random_state} if hasattr(self, "random_state") else {}
        return Initialization(self.sampling).do(self.problem, self.batch, algorithm=self, **generator)

    def _infill(self) -> Any:
        asked: list[Candidate] = []
        for _ in range(self.batch):
            asked.append(self._next([candidate.solution for candidate in asked]))
        solutions = np.empty(len(asked), dtype=object)
        for i, candidate in enumerate(asked):
            solutions[i] = self._coding.to_x(candidate.solution)
        same_shape = not isinstance(solutions[0], dict) and len({np.shape(x) for x in solutions}) == 1
        population = Population.new("X", np.stack(list(solutions)) if same_shape else solutions)
        for individual, candidate in zip(population, asked, strict=True):
            individual.set(_CANDIDATE, candidate)
        return population

    def _next(self, asked: list[list[Any]]) -> Candidate:
        """Return a candidate that is new, as far as there are any; what is known of others is learned at once."""
        assert self.search is not None
        for _ in range(_MOST_REPEATS):
            (candidate,) = self.search.ask()
            if candidate.known is not None:
                objectives, violations = candidate.known
                self.search.tell([candidate], objectives[None], [violations])
            elif candidate.solution in asked:
                self.search.drop([candidate])
            else:
                return candidate
        return self.search.ask()[0]

    def _initialize_advance(self, infills: Any = None, **kwargs: Any) -> None:
        self.pop = Population.empty()
        self._advance(infills=infills)

    def _advance(self, infills: Any = None, **kwargs: Any) -> None:
        assert self.search is not None
        for individual in infills:
            candidate = individual.get(_CANDIDATE)
            objectives, violations = np.asarray(individual.F, dtype=float), float(np.sum(individual.CV))
            is_finite = np.isfinite(objectives).all() and np.isfinite(violations)
            if candidate not in self.search.pending:  # made elsewhere: a start, or a solution of the caller's own
                if is_finite:
                    self.search.add(self._coding.to_moves(individual.X), objectives, violations)
            elif is_finite:
                self.search.tell([candidate], objectives[None], [violations])
            else:
                self.search.drop([candidate])
        self.pop = Population.merge(self.pop if self.opt is None else self.opt, infills[_are_new(infills)])

    def _set_optimum(self) -> None:
        self.opt = filter_optimum(self.pop, least_infeasible=True)


class PolishedNRPA(ParetoNRPA):
    """Polished NRPA for `minimize` of pymoo: Pareto-NRPA joined by local search.

    It takes what `ParetoNRPA` takes, with the parameters of `pareto_nrpa.PolishedNRPA`.
    """

    _kind = polish.PolishedNRPA


def _are_new(infills: Any) -> list[int]:
    """Return which solutions were not evaluated before: a front has each once."""
    candidates = [individual.get(_CANDIDATE) for individual in infills]
    return [i for i, candidate in enumerate(candidates) if candidate is None or candidate.known is None]


def _minimised(problem: AnyProblem, n_objectives: int) -> AnyProblem:
    """Return a construction whose objectives are pymoo's, which are all minimised."""
    if isinstance(problem, CompiledProblem):
        if problem.n_objectives != n_objectives:
            raise ProblemError(
                f"construction must have as many objectives as the problem ({n_objectives}), got "
                f"{problem.n_objectives} of {problem_name(problem)}."
            )
        return replace(problem, maximise=False, segments=None)  # what it would judge is not what pymoo evaluates
    twin = copy.copy(problem)
    twin.n_objectives, twin.maximise, twin.reference_point, twin.objective_names = n_objectives, False, None, None
    return twin
