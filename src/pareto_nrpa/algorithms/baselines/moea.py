"""NSGA-II, SMS-EMOA and MOEA/D of pymoo, on whole solutions.

Constraints are the paper's penalty of 10^6 per violation on every objective, for all three: pymoo's MOEA/D takes no
constraints, and with its own constraint handling NSGA-II and SMS-EMOA do worse on tours with time windows.
"""

from __future__ import annotations

import re
from abc import abstractmethod
from dataclasses import dataclass
from importlib import import_module
from typing import Any, ClassVar

import numpy as np

from ..._util.checks import check_whole
from ...engine.arrays import PENALTY
from ...engine.evaluation import evaluate_rows
from ...engine.jit.kernels import with_globals
from ...errors import ProblemError
from ...problem.base import AnyProblem, problem_name
from ...problem.genotype import Choices, Genotype, Permutation, encoded
from ..algorithm import parameter
from .base import Baseline, BaselineSearch, WholeSolutionSearch
from .evolution import MOEADSubproblems, boundary_intersection, evolve, tchebycheff
from .generations import Generations, LeastContribution, RankAndCrowding
from .variation import vary_choices, vary_permutations
from .weights import most_partitions


@dataclass(frozen=True)
class Evolutionary(Baseline):
    """Base class of the algorithms of pymoo."""

    @abstractmethod
    def first_size(self, problem: AnyProblem) -> int:
        """Return the size of the first population."""

    @abstractmethod
    def algorithm(self, problem: AnyProblem, sampling: Any) -> Any:
        """Return pymoo's algorithm, which draws the first population and defines the defaults."""


@dataclass(frozen=True)
class WithOffspring(Evolutionary):
    """Sizes of population and offspring, shared by NSGA-II and NSGA-III."""

    population: int = parameter(250, check_whole, 2)
    offspring: int = parameter(25, check_whole, 1)

    def first_size(self, problem: AnyProblem) -> int:
        """Return the size of the first population."""
        return self.population


@dataclass(frozen=True)
class NSGA2(WithOffspring):
    """NSGA-II (Deb et al. 2002) as in pymoo, with the paper's sizes.

    Parameters
    ----------
    population
        Size of the population.
    offspring
        New solutions per generation.
    bias
        Factor on the problem's bias when the first population is sampled; 0: pymoo's own uniform sampling.
    pruning
        Whether the sampling uses the problem's pruning, as Pareto-NRPA does. The MOEAs of the paper did not, judging by
        its figures.
    """

    name = "nsga-ii"

    def algorithm(self, problem: AnyProblem, sampling: Any) -> Any:
        """Return pymoo's algorithm."""
        from pymoo.algorithms.moo.nsga2 import NSGA2

        return NSGA2(pop_size=self.population, n_offsprings=self.offspring, sampling=sampling)

    def start(self, problem: AnyProblem, *, seed: int = 0, budget: int | None = None) -> BaselineSearch:
        """Return a new search."""
        return GenerationSearch(RankAndCrowding, problem, self, seed=seed, budget=budget)


@dataclass(frozen=True)
class SMSEMOA(Evolutionary):
    """SMS-EMOA (Beume et al. 2007) as in pymoo, with the paper's population.

    Parameters
    ----------
    population
        Size of the population, and new solutions per generation (pymoo's default).
    bias, pruning
        As in `NSGA2`.
    """

    population: int = parameter(250, check_whole, 2)

    name = "sms-emoa"

    def first_size(self, problem: AnyProblem) -> int:
        """Return the size of the first population."""
        return self.population

    def algorithm(self, problem: AnyProblem, sampling: Any) -> Any:
        """Return pymoo's algorithm."""
        from pymoo.algorithms.moo.sms import SMSEMOA

        return SMSEMOA(pop_size=self.population, sampling=sampling)

    def start(self, problem: AnyProblem, *, seed: int = 0, budget: int | None = None) -> BaselineSearch:
        """Return a new search."""
        check_several_objectives(problem, "SMS-EMOA")
        return GenerationSearch(LeastContribution, problem, self, seed=seed, budget=budget)


@dataclass(frozen=True)
class MOEAD(Evolutionary):
    """MOEA/D (Zhang & Li 2007) as in pymoo, with the paper's number of subproblems.

    Parameters
    ----------
    subproblems
        Number of subproblems with two objectives; with more objectives approximate (Das-Dennis directions).
    neighbours
        Number of neighbours that a subproblem mates and competes with.
    bias, pruning
        As in `NSGA2`.
    """

    subproblems: int = parameter(200, check_whole, 2)
    neighbours: int = parameter(20, check_whole, 2)

    name = "moea-d"

    def first_size(self, problem: AnyProblem) -> int:
        """Return the size of the first population."""
        return len(directions(problem.n_objectives, self.subproblems))

    def algorithm(self, problem: AnyProblem, sampling: Any) -> Any:
        """Return pymoo's algorithm."""
        from pymoo.algorithms.moo.moead import MOEAD

        spread = directions(problem.n_objectives, self.subproblems)
        return MOEAD(spread, n_neighbors=self.neighbours, sampling=sampling)

    def start(self, problem: AnyProblem, *, seed: int = 0, budget: int | None = None) -> BaselineSearch:
        """Return a new search."""
        check_several_objectives(problem, "MOEA/D")
        return _SubproblemSearch(problem, self, seed=seed, budget=budget)


def check_several_objectives(problem: AnyProblem, algorithm: str) -> None:
    """Raise if there is one objective only."""
    if problem.n_objectives < 2:
        raise ProblemError(f"{algorithm} needs at least two objectives, {problem_name(problem)} has one.")


def directions(m: int, n: int) -> Any:
    """Return about n evenly spread weight vectors."""
    from pymoo.util.ref_dirs import get_reference_directions

    return get_reference_directions("das-dennis", m, n_partitions=most_partitions(m, n))


def _check_pymoo() -> None:
    """Import pymoo before the search begins, as its import takes seconds."""
    try:
        for module in (*(f"algorithms.moo.{name}" for name in ("nsga2", "nsga3", "sms", "moead")), "util.ref_dirs"):
            import_module(f"pymoo.{module}")
    except ImportError as error:
        message = 'this algorithm needs pymoo; install it with: pip install "pareto-nrpa[baselines]".'
        raise ImportError(message) from error
    found = import_module("pymoo").__version__
    if [int(part) for part in re.findall(r"\d+", found)] < [0, 6, 2]:  # which the extra `pymoo` does not require
        way_out = 'install it with: pip install "pareto-nrpa[baselines]".'
        raise ImportError(f"this algorithm needs pymoo 0.6.2, got {found}; {way_out}")


class _Search(WholeSolutionSearch):
    """Evaluates the first population drawn by pymoo, row by row as the budget allows."""

    STATE: ClassVar[dict[str, Any]] = {
        "_is_new": "bool",
        "_rows": "i8 [rows, =] < moves",
        "_scores": "f8 [rows, =]",
        "_next": "int < rows+1",
    }
    baseline: Evolutionary

    def __init__(self, problem: AnyProblem, baseline: Evolutionary, **where: Any) -> None:
        super().__init__(problem, baseline, **where)
        _check_pymoo()
        self._moves, self._sizes = _move_table(self.genotype, self.player.numbers)
        width = len(self._sizes)
        self._evaluate = self.player.loop(evaluate_rows, np.zeros((1, width), np.int64), np.zeros((1, 1)), 0)
        self._vary = vary_permutations if isinstance(self.genotype, Permutation) else vary_choices
        self._is_new = True
        self._rows = np.zeros((0, width), dtype=np.int64)
        self._scores = np.zeros((0, 1 + problem.n_objectives))
        self._next = 0

    def step(self, n: int) -> int:
        if self._is_new:
            self._begin(self._pymoo())
            self._is_new = False
        if self._next == len(self._rows):
            self._ask()
        begin = self._next
        self._next = self._evaluate(self._rows, self._scores, begin, min(begin + n, len(self._rows)))
        if self._next == len(self._rows):
            self._tell(self._scores[:, 1:] + PENALTY * self._scores[:, :1])
        return self._next - begin

    def restored(self) -> None:
        """Check the restored state."""
        self.check_solutions(self._rows)
        for genes in self._populations():
            self.check_solutions(self._moves[np.arange(len(self._sizes)), genes])

    @abstractmethod
    def _populations(self) -> list[Any]:
        """Return all tables of genes."""

    @abstractmethod
    def _begin(self, algorithm: Any) -> None:
        """Continue from pymoo after its setup."""

    @abstractmethod
    def _ask(self) -> None:
        """Return the solutions to evaluate next."""

    @abstractmethod
    def _tell(self, objectives: Any) -> None:
        """Receive the (penalised) objectives of these solutions."""

    def _show(self, genes: Any) -> None:
        """Make these solutions the next to evaluate."""
        self._rows = np.ascontiguousarray(self._moves[np.arange(genes.shape[1]), genes])
        self._scores = np.zeros((len(genes), self._scores.shape[1]))
        self._next = 0

    def _pymoo(self) -> Any:
        from pymoo.core.problem import Problem
        from pymoo.core.termination import NoTermination

        problem = Problem(n_var=len(self._sizes), n_obj=self.problem.n_objectives, xl=0, xu=self._sizes - 1, vtype=int)
        algorithm = self.baseline.algorithm(self.problem, self._sampling())
        algorithm.setup(problem, termination=NoTermination(), seed=self.seed, verbose=False)
        return algorithm

    def _sampling(self) -> Any:
        """Return the first population: playouts of this problem, or pymoo's sampling without a bias."""
        from pymoo.operators.sampling.rnd import IntegerRandomSampling, PermutationRandomSampling

        if self.baseline.bias == 0:
            uniform = PermutationRandomSampling if isinstance(self.genotype, Permutation) else IntegerRandomSampling
            return uniform()
        size = self.baseline.first_size(self.problem)
        return np.array([encoded(self.problem, self.player.sample(self.rng)) for _ in range(size)])


def _first_genes(algorithm: Any) -> Any:
    return np.ascontiguousarray(algorithm.ask().get("X"), dtype=np.int64)


def _move_table(genotype: Genotype, numbers: Any) -> tuple[Any, Any]:
    """Return the numbers of the moves of the genes at each place [width, most choices], and their counts."""
    moves = genotype.moves
    steps = [numbers(step) for step in moves] if isinstance(genotype, Choices) else [numbers(moves)] * len(moves)
    sizes = np.array([len(step) for step in steps])
    table = np.zeros((len(steps), sizes.max()), dtype=np.int64)
    for row, step in zip(table, steps, strict=True):
        row[: len(step)] = step
    return table, sizes


class GenerationSearch(_Search):
    """NSGA-II, SMS-EMOA and NSGA-III: children are evaluated one generation after the other."""

    STATE: ClassVar[dict[str, Any]] = {"generations": "component"}

    def __init__(self, kind: type[Generations], problem: AnyProblem, baseline: Any, **where: Any) -> None:
        super().__init__(problem, baseline, **where)
        offspring = getattr(baseline, "offspring", baseline.population)
        self.generations = kind(problem.n_objectives, self._sizes, self._vary, baseline.population, offspring)
        self.player.entries += self.generations.entries

    def _populations(self) -> list[Any]:
        return [self.generations.genes, self.generations.waiting]

    def _begin(self, algorithm: Any) -> None:
        self.generations.begin(_first_genes(algorithm), algorithm.random_state)

    def _ask(self) -> None:
        self._show(self.generations.children())

    def _tell(self, objectives: Any) -> None:
        self.generations.tell(objectives)


class _SubproblemSearch(_Search):
    """MOEA/D: every child is evaluated before the next is created, in one compiled loop."""

    STATE: ClassVar[dict[str, Any]] = {"subproblems": MOEADSubproblems, "_draws": "rng", "_has_begun": "bool"}
    baseline: MOEAD

    def __init__(self, problem: AnyProblem, baseline: MOEAD, **where: Any) -> None:
        super().__init__(problem, baseline, **where)
        self.subproblems = _no_subproblems(problem, baseline, self._moves, self._sizes)
        self._draws = np.random.default_rng(0)
        scalarise = tchebycheff if problem.n_objectives == 2 else boundary_intersection
        bound = with_globals(evolve, vary=self._vary, scalarise=scalarise)
        self._evolve = self.player.loop(bound, self._draws, self.subproblems)
        self._has_begun = False

    def step(self, n: int) -> int:
        if self._has_begun:
            return self._evolve(self._draws, self.subproblems, n)
        return super().step(n)

    def _populations(self) -> list[Any]:
        return [] if self._is_new else [self.subproblems.genes]

    def _begin(self, algorithm: Any) -> None:
        found = self.subproblems
        found.genes[:] = _first_genes(algorithm)
        found.weights[:] = algorithm.ref_dirs
        found.lengths[:] = np.linalg.norm(algorithm.ref_dirs, axis=1)
        found.neighbours[:] = algorithm.neighbors
        self._draws = algorithm.random_state

    def _ask(self) -> None:
        self._show(self.subproblems.genes)

    def _tell(self, objectives: Any) -> None:
        self.subproblems.objectives[:] = objectives
        self.subproblems.ideal[:] = objectives.min(axis=0)
        self._has_begun = True


def _no_subproblems(problem: AnyProblem, baseline: MOEAD, moves: Any, sizes: Any) -> MOEADSubproblems:
    """Return the empty arrays of MOEA/D."""
    n, m = baseline.first_size(problem), problem.n_objectives
    return MOEADSubproblems(
        genes=np.zeros((n, len(sizes)), dtype=np.int64),
        objectives=np.zeros((n, m)),
        ideal=np.zeros(m),
        weights=np.zeros((n, m)),
        lengths=np.zeros(n),
        neighbours=np.zeros((n, min(n, baseline.neighbours)), dtype=np.int64),
        order=np.zeros(n, dtype=np.int64),
        turn=np.array([n]),
        moves=moves,
        sizes=sizes,
        parents=np.zeros((2, 1, len(sizes)), dtype=np.int64),
        children=np.zeros((2, len(sizes)), dtype=np.int64),
        values=np.zeros(m),
        mixed=np.zeros(n, dtype=np.int64),
        marks=np.zeros(2 + len(sizes), dtype=np.bool_),
    )
