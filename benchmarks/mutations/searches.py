"""Searches in the middle of all that a checkpoint can hold: on small problems, of every algorithm that saves itself."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from pareto_nrpa import (
    NSGA2,
    MaxEvaluations,
    ParetoLocalSearch,
    ParetoMCTS,
    ParetoNRPA,
    PolishedNRPA,
    Problem,
    WeightedNRPA,
    generate_tsp,
    generate_tsptw,
    read_stops,
    solve_parallel,
)
from pareto_nrpa.cooperation.team import Team
from pareto_nrpa.exceptions import CheckpointError, ParetoNRPAError
from pareto_nrpa.genotype import Choices, Permutation
from pareto_nrpa.kernels import _jit

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

# How far a search has come when it is saved, and how far one goes that was taken up again.
SAVED_AT, GOES_ON = 237, 50


class Subset(Problem):
    """Take or leave ten things: a plain problem with a bias."""

    n_objectives, max_moves = 2, 10

    def initial_state(self) -> tuple[str, ...]:
        return ()

    def legal_moves(self, state: tuple[str, ...]) -> tuple[str, ...]:
        return ("take", "leave") if len(state) < 10 else ()

    def play(self, state: tuple[str, ...], move: str) -> tuple[str, ...]:
        return (*state, move)

    def move_code(self, state: tuple[str, ...], move: str) -> tuple[int, str]:
        return len(state), move

    def bias(self, state: tuple[str, ...], move: str) -> float:
        return 0.1 * (move == "take")

    def evaluate(self, state: tuple[str, ...]) -> tuple[float, float]:
        taken = [i for i, move in enumerate(state) if move == "take"]
        return sum((3 * i) % 7 for i in taken), 50 - sum((5 * i) % 11 for i in taken)


class Chosen(Subset):
    """The same, of which it is known what solutions are made of."""

    genotype = Choices((("take", "leave"),) * 10)


class Order(Problem):
    """Put seven things in order: plain permutations."""

    n_objectives, max_moves = 2, 7
    genotype = Permutation(tuple(range(7)))

    def initial_state(self) -> tuple[int, ...]:
        return ()

    def legal_moves(self, state: tuple[int, ...]) -> list[int]:
        return [i for i in range(7) if i not in state]

    def play(self, state: tuple[int, ...], move: int) -> tuple[int, ...]:
        return (*state, move)

    def move_code(self, state: tuple[int, ...], move: int) -> tuple[int, int]:
        return state[-1] if state else -1, move

    def evaluate(self, state: tuple[int, ...]) -> tuple[float, float]:
        pairs = list(pairwise(state))
        return sum((3 * a + 5 * b) % 7 for a, b in pairs), sum((5 * a + 2 * b) % 11 for a, b in pairs)


TOURS = generate_tsptw(9, seed=1)


class Searched:
    """A problem and an algorithm: how a search of them is saved, and how it goes on."""

    def __init__(
        self,
        problem: Callable[[], Any],
        algorithm: Any,
        *,
        unique: bool = False,
        asked: int = 0,
        saved_at: int = SAVED_AT,
    ) -> None:
        self._make, self._algorithm, self._unique, self._asked = problem, algorithm, unique, asked
        self._saved_at = saved_at
        self._problem: Any = None

    def make(self, folder: Path) -> Path:
        """Save a search."""
        _fingerprints_are_remembered()
        self._problem = self._make()
        search = self._algorithm.start(self._problem, seed=5, budget=1000)
        if self._unique:
            search.count_unique()
            search.limit_archive(5)
        search.advance(self._saved_at)
        if self._asked:
            search.ask(self._asked)
        search.save(folder / "search.npz")
        return folder / "search.npz"

    def read(self, path: Path) -> None:
        """Go on from a file."""
        try:
            search = self._algorithm.resume(self._problem, path)
            pending = list(getattr(search, "pending", ()))
            if pending:
                search.tell(pending[:1], [[1.0] * self._problem.n_objectives])
                search.drop(pending[1:])
            search.advance(GOES_ON)
            search.front()
            search.save(path.with_name("next.npz"))
        except CheckpointError:
            raise
        except ParetoNRPAError as error:
            raise AssertionError(f"a checkpoint was accepted that leads to: {error}") from error


def _routes() -> Any:
    """Return deliveries with two vehicles."""
    import tempfile
    from pathlib import Path

    rows = ["name,x,y,opens,closes,service,demand", "hub,0,0,0,500,0,0"]
    rows += [f"stop {i},{3 * i % 7},{5 * i % 11},{10 * i},{200 + 30 * i},5,1" for i in range(1, 7)]
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "stops.csv"
        path.write_text("\n".join(rows))
        return read_stops(path, vehicles=2, capacity=4)


LEVEL3 = ParetoNRPA(level=3, n_policies=3)
PAPER = (
    Searched(Subset, LEVEL3),
    Searched(Subset, ParetoNRPA(level=2, limited_repetitions=3), unique=True, asked=3),
    Searched(lambda: TOURS, LEVEL3, asked=2),
    Searched(lambda: TOURS, ParetoNRPA(level=2, iterations=40, bias=0.0), unique=True),
)
SCREENED = (
    Searched(lambda: TOURS, PolishedNRPA(), asked=3),
    Searched(lambda: generate_tsp(8, seed=1, n_objectives=3), PolishedNRPA(), asked=2, saved_at=60),
    Searched(lambda: TOURS, PolishedNRPA(), unique=True),
    Searched(_routes, PolishedNRPA()),
)
PLAYED = (
    Searched(Subset, PolishedNRPA(), asked=2),
    Searched(Chosen, PolishedNRPA(), unique=True, asked=3),
    Searched(Order, PolishedNRPA(), asked=2),
    Searched(lambda: replace(TOURS, segments=None), PolishedNRPA(), asked=1),
    Searched(lambda: replace(TOURS, segments=None, genotype=None), PolishedNRPA(), unique=True),
)
BASELINES = (
    Searched(lambda: TOURS, NSGA2(population=10), saved_at=60),
    Searched(Chosen, NSGA2(population=10), saved_at=60),
    Searched(lambda: TOURS, ParetoLocalSearch(), saved_at=60),
    Searched(Subset, ParetoMCTS(), saved_at=60, unique=True),
    Searched(lambda: TOURS, WeightedNRPA(), saved_at=60),
)
# So many evaluations that each has been sent what the other found, and has not taken it in.
TEAMS = (
    Searched(lambda: TOURS, Team(PolishedNRPA(), 2, 1, None), saved_at=2_000),
    Searched(Order, Team(PolishedNRPA(), 2, 1, None), saved_at=2_000),
    Searched(Subset, Team(LEVEL3, 2, 1, None), unique=True),
)


class Journalled:
    """A search whose evaluations are in a journal."""

    def make(self, folder: Path) -> Path:
        """Make a journal of some evaluations."""
        path = folder / "search.jsonl"
        self._solve(path, MaxEvaluations(30), resume=False)
        return path

    def read(self, path: Path) -> None:
        """Go on a little further than it says."""
        self._solve(path, MaxEvaluations(40), resume=True)

    def _solve(self, path: Path, stop: MaxEvaluations, *, resume: bool) -> None:
        with ThreadPoolExecutor(1) as executor:
            solve_parallel(
                Chosen(), ParetoNRPA(level=2), stop=stop, executor=executor, lookahead=2, checkpoint=path, resume=resume
            )


_remembered: dict[Any, tuple[str, Any]] = {}
_fingerprint = _jit.fingerprint


def _fingerprints_are_remembered() -> None:
    """Take the fingerprint of the same kernels once: no code changes here, and ten thousand searches start."""

    def remembered(*functions: Any) -> str:
        key = tuple(map(_identity, functions))
        if key not in _remembered:
            _remembered[key] = _fingerprint(*functions), functions  # held, so that no address is used twice
        return _remembered[key][0]

    _jit.fingerprint = remembered  # type: ignore[assignment]


def _identity(function: Any) -> tuple[Any, ...]:
    """Return what tells a kernel from others: code, options and the names it uses; copies carry their fingerprint."""
    plain = _jit.python_function(function)
    used = ((name, plain.__globals__.get(name)) for name in plain.__code__.co_names)
    options = str(getattr(function, "targetoptions", None))
    return plain.__code__, options, tuple((name, _word(value)) for name, value in used)


def _word(value: Any) -> Any:
    return (value.py_func.__code__, value.py_func.__name__) if hasattr(value, "py_func") else id(value)
