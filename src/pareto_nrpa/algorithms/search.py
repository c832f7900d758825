"""The base class of all running searches: an archive to read, solutions to evaluate, code to compile."""

from __future__ import annotations

from abc import ABC, abstractmethod
from copy import deepcopy
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np

from .._util.checks import check_whole
from ..engine.archive import MOST_ARCHIVED, archived_rows
from ..engine.arrays import (
    EVALUATIONS,
    FOUND_AT,
    LAST_IMPROVEMENT,
    MAX_ARCHIVED,
    N_DISCARDED,
    N_LOGGED,
    N_MOVES,
    N_UNIQUE,
    POLICY,
    VIOLATIONS,
    Archive,
    Settings,
)
from ..engine.evaluation import evaluate_rows
from ..engine.player import Player, new_player
from ..engine.state import dump, load, write
from ..engine.store import new_store
from ..errors import CheckpointError, ParetoNRPAError
from ..problem.base import (
    AnyProblem,
    CompiledProblem,
    FirstFingerprint,
    check_declarations,
    objective_signs,
    paper_preference,
    problem_name,
)
from ..problem.genotype import genotype_of
from ..result.result import Front

if TYPE_CHECKING:
    import os
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from ..engine.state import Tree
    from .algorithm import Algorithm


_FIRST_MOVES = 64
_CHECKED_PLAYOUTS = 3


def player_without_policies(problem: AnyProblem, rng: np.random.Generator, bias: float) -> Player:
    """Return the player of a problem in one slot, by its bias times a factor."""
    # Whole solutions of a plain problem are written without a test of the size; other arrays grow.
    n_moves, n_legal, n_checked = _FIRST_MOVES, _FIRST_MOVES, _CHECKED_PLAYOUTS
    if isinstance(problem, CompiledProblem):
        n_moves, n_legal, n_checked = problem.max_moves, problem.max_legal or 1, 0
    elif problem.genotype is not None:
        n_moves = max(n_moves, len(problem.genotype.moves))
    preferences = paper_preference(problem)[None]
    store = new_store(preferences=preferences, slots=1, max_moves=n_moves, max_legal=n_legal, max_candidates=n_legal)
    has_bias = problem.bias is not None and bias != 0
    settings = Settings(has_bias=has_bias, bias_scale=bias, n_checked=n_checked)
    return new_player(problem, store, settings, rng, learns=False)


class Search(ABC):
    """A running search on one problem. A subclass implements `advance`.

    `evaluate` evaluates and counts complete solutions and updates the front. All objectives are minimised here.

    Attributes
    ----------
    problem, algorithm, seed
        The problem, the algorithm and the seed.
    rng
        The generator of all random numbers of the search.
    wall_seconds, cpu_seconds
        Time spent, over all resumptions.
    slice_seconds
        Least and largest duration of a call of `advance`; the stop is checked in between.
    failures
        Number of failed evaluations, if these do not end the search.
    accepts_solutions
        Whether `add` takes solutions to begin with.
    n_searches
        Number of cooperating searches.
    budget
        The number of evaluations that the search was planned for, if known.
    STATE
        The attributes of a class that make up its state, as `engine/state.py` describes them. A subclass without state
        declares an empty one; otherwise its searches cannot be saved and copied.
    """

    STATE: ClassVar[dict[str, Any]] = {
        "wall_seconds": "float",
        "cpu_seconds": "float",
        "rng": "rng",
        "player": "component",
    }

    slice_seconds: ClassVar[tuple[float, float]] = (0.01, 0.05)
    accepts_solutions: ClassVar[bool] = False
    failures: int = 0
    budget: int | None = None

    def __init__(self, problem: AnyProblem, algorithm: Algorithm, *, seed: int) -> None:
        check_declarations(problem)
        self.problem, self.algorithm, self.seed = problem, algorithm, seed
        self.fingerprint = FirstFingerprint(problem)
        self.rng = np.random.default_rng(seed)
        self.wall_seconds = self.cpu_seconds = 0.0
        self._signs = objective_signs(problem)

    @abstractmethod
    def advance(self, n: int) -> None:
        """Make n evaluations."""

    @cached_property
    def player(self) -> Player:
        """The player, with the archive of all evaluations."""
        return player_without_policies(self.problem, self.rng, 0.0)

    @cached_property
    def _evaluate_rows(self) -> Callable[..., int]:
        genotype_of(self.problem, self.algorithm.name)
        return self.player.loop(evaluate_rows, np.zeros((1, 1), dtype=np.int64), np.zeros((1, 1)), 0)

    def evaluate(self, moves: Sequence[Any]) -> tuple[NDArray[np.float64], float]:
        """Evaluate a complete solution and offer it to the archive; returns minimised objectives and violations.

        The solution must belong to the genotype of the problem.
        """
        row = np.array([self.player.numbers(moves)], dtype=np.int64)
        scores = np.zeros((1, 1 + self.problem.n_objectives))
        while self._evaluate_rows(row, scores, 0, 1) == 0:
            pass  # arrays were full and have grown
        return scores[0, 1:], float(scores[0, VIOLATIONS])

    def add(self, solution: Sequence[Any]) -> None:
        """Learn from a solution to begin with; only where `accepts_solutions`."""
        self.expect_add()

    def expect_add(self) -> None:
        """Let `compile` include `add`."""
        raise ParetoNRPAError(f"{self.algorithm.name} cannot begin with solutions.")

    @property
    def is_compiled(self) -> bool:
        """Whether all code is compiled in this process or cached on disk."""
        return all(entry.is_ready() for entry in self.player.entries)

    def compile(self) -> None:
        """Compile, or load from the cache, what `advance` needs; otherwise the first use does."""
        self.player.compile()

    @property
    def slice_size(self) -> int:
        """A number of evaluations after which the stop is checked; must not depend on time."""
        return 1

    def _archived(self) -> tuple[Archive, NDArray[np.int64], Callable[[Sequence[int]], list[Any]]]:
        """Return the archive, the counters, and the function from numbers of moves to moves."""
        return self.player.store.archive, self.player.store.counters, self.player.solution

    @property
    def evaluations(self) -> int:
        """Number of evaluations made."""
        return int(self._archived()[1][EVALUATIONS])

    @property
    def unique_evaluations(self) -> int | None:
        """Number of evaluations of new solutions; None unless counted."""
        archive, counters, _ = self._archived()
        return int(counters[N_UNIQUE]) if archive.keys.size else None

    @property
    def n_searches(self) -> int:
        """Number of cooperating searches."""
        return 1

    def count_unique(self) -> None:
        """Count every solution once, from the start on."""
        self.player.count_unique()

    @property
    def max_archive(self) -> int | None:
        """Largest size of the archive; None without a limit."""
        return int(self._archived()[1][MAX_ARCHIVED]) or None

    def limit_archive(self, size: int) -> None:
        """Let the archive never hold more than so many solutions, from the start on."""
        check_whole("max_archive", size, 2, MOST_ARCHIVED)
        self.player.limit_archive(int(size))

    @property
    def discarded(self) -> int:
        """Number of non-dominated solutions discarded by that limit."""
        return int(self._archived()[1][N_DISCARDED])

    @property
    def last_improvement(self) -> int:
        """The evaluation at which the archive last changed."""
        return int(self._archived()[1][LAST_IMPROVEMENT])

    def front(self) -> Front:
        """Return the front of all evaluations, in the problem's own sense."""
        archive, _, solution = self._archived()
        rows = archived_rows(archive)
        shared: dict[int, int] = {}  # one object for all equal numbers: a fifth of the memory of long solutions
        moves = (archive.moves[row, : archive.heads[row, N_MOVES]].tolist() for row in rows)
        return Front.sorted(
            objectives=archive.scores[rows, 1:] * self._signs,
            violations=archive.scores[rows, VIOLATIONS],
            solutions=[solution(list(map(shared.setdefault, numbers, numbers))) for numbers in moves],
            policies=archive.heads[rows, POLICY],
            found_at=archive.heads[rows, FOUND_AT],
        )

    def log(self) -> NDArray[np.float64]:
        """Return evaluation, violations and (minimised) objectives of all solutions that entered the archive."""
        archive, counters, _ = self._archived()
        return np.array(archive.log[: counters[N_LOGGED]])

    def best(self) -> tuple[NDArray[np.float64], float]:
        """Return the (minimised) objectives of the archive and their common number of violations."""
        archive, _, _ = self._archived()
        scores = archive.scores[archived_rows(archive)]
        return scores[:, 1:], float(scores[0, VIOLATIONS]) if len(scores) else float("nan")

    def parameters(self) -> dict[str, Any]:
        """Return the parameters in use."""
        return self.algorithm.to_dict()

    @property
    def state_sizes(self) -> dict[str, int | str | None]:
        """The values of the names in the forms of the state; see `engine/state.py`."""
        n_levels, n_policies, n_codes = self.player.store.weights.shape
        settings = self.player.settings
        sizes: dict[str, int | str | None] = {"M": self.problem.n_objectives, "L": n_levels, "P": n_policies}
        sizes |= {"B": "K" if settings.has_bias and self.player.learns else 1, "S": "C" if settings.bias_by_code else 1}
        if isinstance(self.problem, CompiledProblem):  # its moves are any numbers, and its sizes are constant
            sizes |= {"moves": None, "V": self.problem.max_moves, "C": n_codes}
            sizes |= {"K": self.player.store.pool.codes.shape[1]}
        return sizes

    def state_header(self) -> dict[str, Any]:
        """Return the header of a checkpoint: all that `Algorithm.resume` compares or starts from."""
        return {
            "searches": self.n_searches,
            "algorithm": self.algorithm.name,
            "parameters": self.algorithm.to_dict(),
            "problem": self.fingerprint.known_as(),
            "instance": problem_name(self.problem),
            "seed": self.seed,
            "budget": self.budget,
        }

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write a checkpoint from which `Algorithm.resume` continues to the same result."""
        write(path, self.state_header(), self.state())

    def state(self) -> Tree:
        """Return the state of the search, without copying its arrays."""
        for kind in type(self).__mro__[: type(self).__mro__.index(Search)]:
            if "STATE" not in vars(kind):
                raise CheckpointError(
                    f"a search of {self.algorithm.name} cannot be saved, as {kind.__name__} does not declare its "
                    "STATE; declare it, or leave out checkpoint."
                )
        return dump(self)

    def __reduce__(self) -> Any:
        return partial(self.algorithm.start, seed=self.seed, budget=self.budget), (self.problem,), self.state()

    def __setstate__(self, state: Any) -> None:
        load(self, state)

    def __deepcopy__(self, memo: dict[int, Any]) -> Self:
        start, problem, state = self.__reduce__()
        twin: Self = start(*problem)  # the same problem: it is constant, and kernels cannot be copied
        memo[id(self)] = twin
        twin.__setstate__(deepcopy(state, memo))
        return twin
