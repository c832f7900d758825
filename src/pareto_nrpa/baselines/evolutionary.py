"""NSGA-II, SMS-EMOA and MOEA/D of pymoo, on whole solutions.

Constraints are the paper's penalty of 10^6 per violation on every objective, for all three: pymoo's MOEA/D takes no
constraints, and with its own constraint handling NSGA-II and SMS-EMOA do worse on tours with time windows.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..checks import check_flag, check_number, check_whole
from ..exceptions import ProblemError
from ..genotype import Choices, Genotype, Permutation, genotype_of
from ..kernels.rollout import evaluate_rows, sample_row
from ..problem import AnyProblem, problem_name
from .players import check_status
from .search import Baseline, BaselineSearch

PENALTY = 1e6


@dataclass(frozen=True)
class _Evolutionary(Baseline):
    bias: float = 1.0
    pruning: bool = True

    def __post_init__(self) -> None:
        check_number("bias", self.bias)
        check_flag("pruning", self.pruning)

    def search(self, problem: AnyProblem, *, seed: int, budget: int | None) -> BaselineSearch:
        """Return a search at its very beginning."""
        return _Search(problem, self, seed=seed, budget=budget)

    def first_size(self, problem: AnyProblem) -> int:
        """Return the size of the first population."""
        raise NotImplementedError

    def algorithm(self, problem: AnyProblem, operators: dict[str, Any]) -> Any:
        """Return pymoo's algorithm."""
        raise NotImplementedError


@dataclass(frozen=True)
class NSGA2(_Evolutionary):
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
        Whether the sampling keeps to the moves that the problem thinks worth trying, as Pareto-NRPA does. The MOEAs of
        the paper did not, judging by its figures.
    """

    population: int = 250
    offspring: int = 25

    name = "nsga-ii"

    def __post_init__(self) -> None:
        super().__post_init__()
        check_whole("population", self.population, 2)
        check_whole("offspring", self.offspring, 1)

    def first_size(self, problem: AnyProblem) -> int:
        """Return the size of the first population."""
        return self.population

    def algorithm(self, problem: AnyProblem, operators: dict[str, Any]) -> Any:
        """Return pymoo's algorithm."""
        from pymoo.algorithms.moo.nsga2 import NSGA2

        return NSGA2(pop_size=self.population, n_offsprings=self.offspring, **operators)


@dataclass(frozen=True)
class SMSEMOA(_Evolutionary):
    """SMS-EMOA (Beume et al. 2007) as in pymoo, with the paper's population.

    Parameters
    ----------
    population
        Size of the population, and new solutions per generation (pymoo's default).
    bias, pruning
        As in `NSGA2`.
    """

    population: int = 250

    name = "sms-emoa"

    def __post_init__(self) -> None:
        super().__post_init__()
        check_whole("population", self.population, 2)

    def first_size(self, problem: AnyProblem) -> int:
        """Return the size of the first population."""
        return self.population

    def algorithm(self, problem: AnyProblem, operators: dict[str, Any]) -> Any:
        """Return pymoo's algorithm."""
        from pymoo.algorithms.moo.sms import SMSEMOA

        return SMSEMOA(pop_size=self.population, **operators)


@dataclass(frozen=True)
class MOEAD(_Evolutionary):
    """MOEA/D (Zhang & Li 2007) as in pymoo, with the paper's number of subproblems.

    Parameters
    ----------
    subproblems
        How many subproblems with two objectives; with more objectives, about as many (Das-Dennis directions).
    neighbours
        How many neighbours a subproblem mates and competes with.
    bias, pruning
        As in `NSGA2`.
    """

    subproblems: int = 200
    neighbours: int = 20

    name = "moea-d"

    def __post_init__(self) -> None:
        super().__post_init__()
        check_whole("subproblems", self.subproblems, 2)
        check_whole("neighbours", self.neighbours, 2)

    def first_size(self, problem: AnyProblem) -> int:
        """Return the size of the first population."""
        return len(_directions(problem.n_objectives, self.subproblems))

    def algorithm(self, problem: AnyProblem, operators: dict[str, Any]) -> Any:
        """Return pymoo's algorithm."""
        from pymoo.algorithms.moo.moead import MOEAD

        if problem.n_objectives < 2:
            raise ProblemError(f"MOEA/D needs at least two objectives, {problem_name(problem)} has one.")
        directions = _directions(problem.n_objectives, self.subproblems)
        return MOEAD(directions, n_neighbors=self.neighbours, **operators)


def _directions(m: int, n: int) -> Any:
    """Return about n evenly spread weight vectors."""
    from pymoo.util.ref_dirs import get_reference_directions

    partitions = 1
    while _n_directions(m, partitions + 1) <= n:
        partitions += 1
    return get_reference_directions("das-dennis", m, n_partitions=partitions)


def _n_directions(m: int, partitions: int) -> int:
    return math.comb(partitions + m - 1, m - 1)


def operators_for(genotype: Genotype) -> dict[str, Any]:
    """Return crossover and mutation: order crossover and inversion, or uniform crossover and a new choice."""
    if isinstance(genotype, Permutation):
        from pymoo.operators.crossover.ox import OrderCrossover
        from pymoo.operators.mutation.inversion import InversionMutation

        return {"crossover": OrderCrossover(), "mutation": InversionMutation()}
    from pymoo.operators.crossover.ux import UniformCrossover
    from pymoo.operators.mutation.rm import ChoiceRandomMutation

    return {"crossover": UniformCrossover(), "mutation": ChoiceRandomMutation()}


def _check_pymoo() -> None:
    try:
        import pymoo  # noqa: F401
    except ImportError as error:
        message = 'this algorithm needs pymoo; install it with: pip install "pareto-nrpa[baselines]".'
        raise ImportError(message) from error


class _Search(BaselineSearch):
    """Drives pymoo by ask and tell; what pymoo asks for is evaluated row by row, as the budget allows."""

    baseline: _Evolutionary

    def __init__(self, problem: AnyProblem, baseline: _Evolutionary, **where: Any) -> None:
        super().__init__(problem, baseline, **where)
        _check_pymoo()
        self._genotype = genotype_of(problem, baseline.name)
        width = len(self._genotype.moves)
        self._evaluate = self.player.small_entry(evaluate_rows, np.zeros((1, width), np.int64), np.zeros((1, 1)), 0, 0)
        self._sample = self.player.small_entry(sample_row, np.zeros((1, width), np.int64), 0)
        self._pymoo: Any = None
        self._asked: Any = None
        self._rows = np.zeros((0, width), dtype=np.int64)
        self._scores = np.zeros((0, 1 + problem.n_objectives))
        self._next = 0

    def step(self, n: int) -> int:
        if self._pymoo is None:
            self._pymoo = self._start()
        if self._next == len(self._rows):
            self._ask()
        begin = self._next
        self._next = self._evaluate(self._rows, self._scores, begin, min(begin + n, len(self._rows)))
        if self._next == len(self._rows):
            self._tell()
        return self._next - begin

    def _start(self) -> Any:
        from pymoo.core.termination import NoTermination

        operators = {**operators_for(self._genotype), "sampling": self._sampling()}
        algorithm = self.baseline.algorithm(self.problem, operators)
        # Generations are counted, never looked at: the stop decides.
        algorithm.setup(self._pymoo_problem(), termination=NoTermination(), seed=self.seed, verbose=False)
        return algorithm

    def _pymoo_problem(self) -> Any:
        from pymoo.core.problem import Problem

        lengths = [len(step) for step in self._genotype.moves] if isinstance(self._genotype, Choices) else None
        width = len(self._genotype.moves)
        upper = [width - 1] * width if lengths is None else [length - 1 for length in lengths]
        return Problem(n_var=width, n_obj=self.problem.n_objectives, xl=0, xu=np.array(upper), vtype=int)

    def _sampling(self) -> Any:
        """Return the first population: playouts of this problem, or pymoo's own where there is no bias."""
        from pymoo.operators.sampling.rnd import IntegerRandomSampling, PermutationRandomSampling

        if self.baseline.bias == 0:
            uniform = PermutationRandomSampling if isinstance(self._genotype, Permutation) else IntegerRandomSampling
            return uniform()
        size = self.baseline.first_size(self.problem)
        rows = np.zeros((size, len(self._genotype.moves)), dtype=np.int64)
        for i in range(size):
            self._sample(rows, i)
            check_status(self.player)
        return np.array([self._genotype.encode(self.player.solution(row.tolist())) for row in rows])

    def _ask(self) -> None:
        self._asked = self._pymoo.ask()
        if self._asked is None:
            # All that mating finds is there already, as on tiny problems: from here on it may be evaluated again.
            from pymoo.core.duplicate import NoDuplicateElimination

            self._pymoo.mating.eliminate_duplicates = NoDuplicateElimination()
            self._asked = self._pymoo.ask()
        genes = np.asarray(self._population().get("X")).astype(int)
        self._rows = np.array([self.player.numbers(self._genotype.decode(row)) for row in genes.tolist()])
        self._scores = np.zeros((len(genes), self._scores.shape[1]))
        self._next = 0

    def _population(self) -> Any:
        from pymoo.core.individual import Individual
        from pymoo.core.population import Population

        return Population.create(self._asked) if isinstance(self._asked, Individual) else self._asked

    def _tell(self) -> None:
        penalised = self._scores[:, 1:] + PENALTY * self._scores[:, :1]
        for individual, objectives in zip(self._population(), penalised, strict=True):
            individual.F = objectives
            individual.evaluated.update(("F", "G", "H"))
        self._pymoo.tell(infills=self._asked)
