"""Pareto-NRPA as an algorithm of pymoo, and problems of pymoo for `solve`.

from pymoo.optimize import minimize
from pareto_nrpa.integrations.pymoo import ParetoNRPAForPymoo
res = minimize(problem, ParetoNRPAForPymoo(), ("n_eval", 5_000), seed=1)
"""

from __future__ import annotations

import copy
import inspect
import math
import warnings
from collections import Counter
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

try:
    from pymoo.core.algorithm import Algorithm
    from pymoo.core.initialization import Initialization
    from pymoo.core.population import Population
    from pymoo.core.problem import Problem as PymooProblem
    from pymoo.core.variable import Binary, Choice, Integer
    from pymoo.util.optimum import filter_optimum
except ImportError as error:
    message = 'pareto_nrpa.integrations.pymoo needs pymoo; install it with: pip install "pareto-nrpa[pymoo]".'
    raise ImportError(message) from error

from .._util.checks import check_choice, check_whole, did_you_mean, shown
from ..algorithms.nrpa import params
from ..algorithms.polished import params as polish
from ..errors import ParetoNRPAError, ProblemError
from ..problem.base import AnyProblem, CompiledProblem, Problem, problem_name
from ..problem.builders import ChoicesProblem, PermutationProblem

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from ..algorithms.nrpa.search import AskTellSearch, Candidate

KINDS = ("binary", "integer", "permutation")
_EQUAL = 1e-4  # tolerance of equality constraints in pymoo
# Tries for a new candidate in place of a repeated one; and the number of failures in a row after which solutions count
# as exhausted, where their number is unknown.
_MOST_REPEATS, _MOST_IN_VAIN = 100, 3
_CANDIDATE = "candidate of Pareto-NRPA"


@dataclass(frozen=True)
class _Coding:
    """How solutions of pymoo are built, and the conversions."""

    problem: AnyProblem
    to_x: Callable[[list[Any]], Any]
    to_moves: Callable[[Any], list[Any]]


@dataclass(frozen=True)
class _Space:
    """The solutions of a problem of pymoo: the builder of a `Problem`, and the conversions."""

    build: Callable[..., Problem]
    to_x: Callable[[list[Any]], Any]
    to_moves: Callable[[Any], list[Any]]

    def coding(self, function: Callable[[list[Any]], Any], **declared: Any) -> _Coding:
        return _Coding(self.build(function, **declared), self.to_x, self.to_moves)


def _space(problem: Any, kind: str | None) -> _Space:
    """Return how to build solutions of a problem of pymoo: by its variables, or else by `kind`."""
    variables = getattr(problem, "vars", None)
    if variables is not None:
        names = tuple(variables)
        choices: list[Sequence[Any]] = [_options(name, variables[name]) for name in names]
        return _Space(
            partial(Problem.from_choices, choices=choices), partial(_to_named, names), partial(_from_named, names)
        )
    if kind is None:
        kind = {bool: "binary", int: "integer"}.get(problem.vtype)
        if kind is None:
            raise ProblemError(
                f"{_name(problem)} does not declare the type of its variables, or declares real numbers; give "
                f"kind={' or '.join(map(repr, KINDS))}."
            )
    check_choice("kind", kind, KINDS)
    if kind == "permutation":
        return _Space(partial(Problem.from_permutation, items=range(problem.n_var)), np.array, _from_order)
    if kind == "binary":
        return _Space(partial(Problem.from_choices, choices=[(False, True)] * problem.n_var), _to_bits, _from_bits)
    if problem.xl is None or problem.xu is None:
        raise ProblemError(f"{_name(problem)} must have bounds xl and xu, as its variables are whole numbers.")
    ranges = [range(int(np.ceil(low)), int(high) + 1) for low, high in zip(problem.xl, problem.xu, strict=True)]
    return _Space(partial(Problem.from_choices, choices=ranges), np.array, _from_numbers)


# Module-level functions, as local ones cannot be pickled.


def _to_named(names: Sequence[str], moves: list[Any]) -> dict[str, Any]:
    return dict(zip(names, moves, strict=True))


def _from_named(names: Sequence[str], x: dict[str, Any]) -> list[Any]:
    return [x[name] for name in names]


def _from_order(x: Any) -> list[Any]:
    return [int(value) for value in x]


def _to_bits(moves: list[Any]) -> Any:
    return np.array(moves, dtype=bool)


def _from_bits(x: Any) -> list[Any]:
    return [bool(value) for value in x]


def _from_numbers(x: Any) -> list[Any]:
    return [round(float(value)) for value in x]


def _options(name: str, variable: Any) -> Sequence[Any]:
    if isinstance(variable, Binary):
        return (False, True)
    if isinstance(variable, Choice):
        return tuple(variable.options)
    if isinstance(variable, Integer):
        return range(variable.lb, variable.ub + 1)
    raise ProblemError(
        f"variable {name!r} is {type(variable).__name__}; Pareto-NRPA takes Binary, Integer and Choice. Round it, or "
        "search with pareto_nrpa.integrations.optuna, which takes real numbers."
    )


def _name(problem: Any) -> str:
    return str(problem.name())


def from_pymoo(problem: Any, *, kind: str | None = None) -> Problem:
    """Return a problem of pymoo as a `Problem`, for all algorithms of `solve`.

    Parameters
    ----------
    problem
        A problem with Binary, Integer and Choice variables, or an array of bits, whole numbers or an order.
    kind
        "binary", "integer" or "permutation", where `vtype` of the problem is not set.
    """
    if not isinstance(problem, PymooProblem):
        raise ProblemError(
            f"problem must be a problem of pymoo, made as in get_problem('zdt5') or MyProblem(), got {shown(problem)}."
        )
    constrained = problem.n_ieq_constr + problem.n_eq_constr > 0
    declared = {"n_objectives": problem.n_obj, "constrained": constrained, "name": _name(problem)}
    space = _space(problem, kind)
    return space.build(_Evaluation(problem, space.to_x, constrained), **declared)


@dataclass(frozen=True)
class _Evaluation:
    """Evaluates moves with a problem of pymoo."""

    problem: Any
    to_x: Callable[[list[Any]], Any]
    constrained: bool

    def __call__(self, moves: list[Any]) -> Any:
        out = self.problem.evaluate(np.array([self.to_x(moves)]), return_as_dictionary=True)
        objectives = out["F"][0].tolist()
        return (objectives, _violations(out)) if self.constrained else objectives


def _violations(out: dict[str, Any]) -> float:
    below = np.maximum(np.asarray(out["G"][0], dtype=float), 0.0).sum() if out.get("G") is not None else 0.0
    beside = np.abs(np.asarray(out["H"][0], dtype=float)) if out.get("H") is not None else np.zeros(0)
    return float(below + beside[beside > _EQUAL].sum())


def _not_here(moves: list[Any]) -> Any:
    raise AssertionError("pymoo evaluates")


class ParetoNRPAForPymoo(Algorithm):  # type: ignore[misc]  # pymoo has no types
    """Pareto-NRPA for `minimize` of pymoo: binary, integer, categorical and mixed variables, permutations, constraints.

    Parameters
    ----------
    batch
        Number of solutions sampled before the policies learn from them: a generation of pymoo.
    sampling
        Solutions to begin with, as in other algorithms: an array, a population, or a sampling. The highest level learns
        from them.
    kind
        "binary", "integer" or "permutation", where `vtype` of the problem is not set.
    construction
        A `Problem` that defines how solutions are built: legal moves, codes and bias. pymoo evaluates.
    to_x, to_moves
        With a construction: functions that turn its moves into a solution of pymoo (by default an array), and back, for
        `sampling`.
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
        _check_sampling(sampling)
        _check_construction(construction, to_x, to_moves)
        self._check_names(parameters)
        ours = {name: parameters.pop(name) for name in self._kind.__dataclass_fields__ if name in parameters}
        self.parameters = self._kind(**ours)
        super().__init__(**parameters)
        self.batch, self.sampling, self.kind = batch, sampling, kind
        self._construction = None if construction is None else _Coding(construction, to_x, to_moves)
        self.search: AskTellSearch | None = None

    def _check_names(self, parameters: dict[str, Any]) -> None:
        """Raise for an unknown parameter, which pymoo would ignore."""
        found = inspect.signature(ParetoNRPAForPymoo.__init__).parameters.values()
        here = [what.name for what in found if what.kind == what.KEYWORD_ONLY]
        ours = [*here, *self._kind.__dataclass_fields__]
        known = [*ours, *_names_of_pymoo()]
        for name in parameters:
            if name not in known:
                raise ParetoNRPAError(
                    f"{type(self).__name__} has no parameter {shown(name)}{did_you_mean(name, known)}; it takes: "
                    f"{', '.join(ours)}, and what all algorithms of pymoo take."
                )

    def _setup(self, problem: Any, **kwargs: Any) -> None:
        m = problem.n_obj
        given = self._construction
        self._coding = (
            _space(problem, self.kind).coding(_not_here, n_objectives=m)
            if given is None
            else replace(given, problem=_minimised(given.problem, m))
        )
        self._n_solutions, self._n_in_vain = _n_solutions(self._coding.problem), 0
        generator = getattr(self, "random_state", None)  # pymoo before 0.6.2 has a seed alone
        seed = int(self.seed if generator is None else generator.integers(2**31))
        self.search = self.parameters.start(self._coding.problem, seed=seed, budget=self._budget())
        self.search.count_unique()

    def _budget(self) -> int | None:
        """Return the number of evaluations that the termination allows, if it is known."""
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
            asked.append(self._next(asked))
        solutions = np.empty(len(asked), dtype=object)
        for i, candidate in enumerate(asked):
            solutions[i] = self._coding.to_x(candidate.solution)
        same_shape = not isinstance(solutions[0], dict) and len({np.shape(x) for x in solutions}) == 1
        population = Population.new("X", np.stack(list(solutions)) if same_shape else solutions)
        for individual, candidate in zip(population, asked, strict=True):
            individual.set(_CANDIDATE, candidate)
        return population

    def _next(self, asked: list[Candidate]) -> Candidate:
        """Return a new candidate if there is one; repeated ones are told their known objectives."""
        assert self.search is not None
        solutions = [candidate.solution for candidate in asked]
        for _ in range(self._n_repeats(asked)):
            (candidate,) = self.search.ask()
            if candidate.known is not None:
                objectives, violations = candidate.known
                self.search.tell([candidate], objectives[None], [violations])
            elif candidate.solution in solutions:
                self.search.drop([candidate])
            else:
                self._n_in_vain = 0
                return candidate
        self._n_in_vain += 1
        return self.search.ask()[0]

    def _n_repeats(self, asked: list[Candidate]) -> int:
        """Return the number of tries for a new candidate: 0 if all solutions are evaluated or asked for."""
        assert self.search is not None
        if self._n_solutions is None:
            return _MOST_REPEATS if self._n_in_vain < _MOST_IN_VAIN else 1
        n_left = self._n_solutions - (self.search.unique_evaluations or 0)
        if n_left > len(asked):
            return _MOST_REPEATS
        awaited = {tuple(candidate.solution) for candidate in asked if candidate.known is None}
        return _MOST_REPEATS if n_left > len(awaited) else 0

    def _initialize_advance(self, infills: Any = None, **kwargs: Any) -> None:
        self.pop = Population.empty()
        self._advance(infills=infills)

    def _advance(self, infills: Any = None, **kwargs: Any) -> None:
        assert self.search is not None
        for individual in infills:
            candidate = individual.get(_CANDIDATE)
            objectives, violations = np.asarray(individual.F, dtype=float), float(np.sum(individual.CV))
            is_finite = np.isfinite(objectives).all() and np.isfinite(violations)
            if candidate not in self.search.pending:  # from `sampling`, or added by the caller
                if is_finite:
                    self.search.add(self._coding.to_moves(individual.X), objectives, violations)
            elif is_finite:
                self.search.tell([candidate], objectives[None], [violations])
            else:
                self.search.drop([candidate])
        self.pop = Population.merge(self.pop if self.opt is None else self.opt, infills[_are_new(infills)])

    def _set_optimum(self) -> None:
        self.opt = filter_optimum(self.pop, least_infeasible=True)


class PolishedNRPAForPymoo(ParetoNRPAForPymoo):
    """Polished NRPA for `minimize` of pymoo: Pareto-NRPA combined with local search.

    It takes what `ParetoNRPAForPymoo` takes, with the parameters of `pareto_nrpa.PolishedNRPA`.
    """

    _kind = polish.PolishedNRPA


def _check_sampling(sampling: Any) -> None:
    """Raise for a `sampling` that pymoo does not accept."""
    is_known = sampling is None or isinstance(sampling, np.ndarray | Population)
    if not is_known and (isinstance(sampling, type) or not callable(sampling)):
        raise ParetoNRPAError(
            "sampling must be an array, a population or a sampling of pymoo such as BinaryRandomSampling(), got "
            f"{shown(sampling)}; np.array(...) makes an array of lists."
        )


def _check_construction(construction: Any, to_x: Any, to_moves: Any) -> None:
    """Raise unless a construction is a problem and its conversions are functions."""
    if construction is not None and not isinstance(construction, AnyProblem):
        raise ProblemError(
            f"construction must be a Problem or a CompiledProblem, got {shown(construction)}; leave it out, and "
            "solutions are built by the variables of the problem."
        )
    for name, function in {"to_x": to_x, "to_moves": to_moves}.items():
        if not callable(function):
            raise ProblemError(
                f"{name} must be a function, got {shown(function)}; leave it out if solutions are arrays."
            )


def _names_of_pymoo() -> list[str]:
    """Return the names of the parameters of pymoo's algorithms, and `progress`, which their setup takes."""
    found = inspect.signature(Algorithm.__init__).parameters.values()
    return [what.name for what in found if what.name != "self" and what.kind != what.VAR_KEYWORD] + ["progress"]


def _n_solutions(problem: AnyProblem) -> int | None:
    """Return the number of solutions; None where it depends on legal moves."""
    moves: Any = getattr(problem.genotype, "moves", ())
    if type(problem) is ChoicesProblem:
        return math.prod(map(len, moves))
    if type(problem) is not PermutationProblem:
        return None
    return math.factorial(len(moves)) // math.prod(map(math.factorial, Counter(moves).values()))


def _are_new(infills: Any) -> list[int]:
    """Return the positions of solutions that were not evaluated before."""
    candidates = [individual.get(_CANDIDATE) for individual in infills]
    return [i for i, candidate in enumerate(candidates) if candidate is None or candidate.known is None]


def _minimised(problem: AnyProblem, n_objectives: int) -> AnyProblem:
    """Return a construction with the objectives of pymoo, which are all minimised."""
    if isinstance(problem, CompiledProblem):
        if problem.n_objectives != n_objectives:
            raise ProblemError(
                f"construction must have as many objectives as the problem ({n_objectives}), got "
                f"{problem.n_objectives} of {problem_name(problem)}."
            )
        return replace(
            problem, maximise=False, segments=None
        )  # segments would judge other objectives than pymoo evaluates
    twin = copy.copy(problem)
    twin.n_objectives, twin.maximise, twin.reference_point, twin.objective_names = n_objectives, False, None, None
    return twin


_RENAMED = {"ParetoNRPA": ParetoNRPAForPymoo, "PolishedNRPA": PolishedNRPAForPymoo}


def __getattr__(name: str) -> Any:
    """Return a class by its earlier name, for one release."""
    if name not in _RENAMED:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    new = _RENAMED[name]
    words = f"{__name__}.{name} is deprecated and will be removed in the next release; use {new.__name__} instead."
    warnings.warn(words, DeprecationWarning, stacklevel=2)
    return new
