"""What all baselines have in common while they run: an archive, a generator, slices of evaluations."""

from __future__ import annotations

import json
from abc import ABC, abstractmethod
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import numpy as np

from ..archive_view import ArchiveView
from ..exceptions import CheckpointError
from ..files import write_atomically
from ..kernels.bundles import Archive
from ..problem import AnyProblem, CompiledProblem, check_declarations, objective_signs, problem_fingerprint
from .players import Player, check_status, new_player

if TYPE_CHECKING:
    import os
    from collections.abc import Callable, Sequence
    from typing import BinaryIO

    from numpy.typing import NDArray

    from ..solver import Search

_FORMAT = "pareto-nrpa replay 1"
_FIELDS = {"algorithm", "parameters", "problem", "seed", "budget", "evaluations", "wall_seconds", "cpu_seconds"}
_SLICE = 1_000


class Baseline(ABC):
    """The parameters of a baseline, which can start a search or repeat one up to where it was saved."""

    name: str
    bias: float
    pruning: bool

    @abstractmethod
    def start(self, problem: AnyProblem, *, seed: int = 0, budget: int | None = None) -> Search:
        """Return a search at its very beginning."""

    def resume(self, problem: AnyProblem, path: str | os.PathLike[str]) -> Search:
        """Return the search of a checkpoint: as it is repeatable, the same evaluations are made once more."""
        saved = _read(path)
        expected = {"algorithm": self.name, "parameters": self.to_dict(), "problem": problem_fingerprint(problem)}
        for part, value in expected.items():
            if saved[part] != json.loads(_to_json(value)):
                raise CheckpointError(f"the checkpoint {path} is of another {part}; name another file.")
        search = self.start(problem, seed=saved["seed"], budget=saved["budget"])
        if saved.get("counts_unique"):
            search.count_unique()
        if saved.get("max_archive"):
            search.limit_archive(saved["max_archive"])
        search.advance(saved["evaluations"])
        search.wall_seconds, search.cpu_seconds = saved["wall_seconds"], saved["cpu_seconds"]
        return search

    def to_dict(self) -> dict[str, Any]:
        """Return the parameters as plain values."""
        return asdict(self)  # type: ignore[call-overload, no-any-return]


def _to_json(value: Any) -> str:
    return json.dumps(value, default=lambda number: number.item())  # NumPy's numbers


def _read(path: str | os.PathLike[str]) -> dict[str, Any]:
    try:
        with open(path, encoding="utf-8") as file:
            saved = json.load(file)
        if saved["format"] != _FORMAT or not saved.keys() >= _FIELDS:
            raise ValueError("unknown format")
    except OSError as error:
        raise CheckpointError(f"cannot read the checkpoint {path}: {error.strerror or error}.") from error
    except (ValueError, KeyError, TypeError) as error:
        raise CheckpointError(f"{path} is not a checkpoint of this algorithm, or is damaged.") from error
    return dict(saved)


class BaselineSearch(ArchiveView):
    """A baseline at work on one problem."""

    def __init__(self, problem: AnyProblem, baseline: Baseline, *, seed: int, budget: int | None) -> None:
        check_declarations(problem)
        self.problem, self.baseline, self.seed, self.budget = problem, baseline, seed, budget
        self.wall_seconds = 0.0
        self.cpu_seconds = 0.0
        self.rng = np.random.default_rng(seed)
        self.player: Player = new_player(problem, self.rng, baseline.bias, baseline.pruning)
        self._signs = objective_signs(problem)

    @abstractmethod
    def step(self, n: int) -> int:
        """Make up to n evaluations, at least one unless room is needed; returns how many."""

    def advance(self, n: int) -> None:
        """Make n evaluations."""
        done = 0
        while done < n:
            done += self.step(n - done)
            check_status(self.player)

    def _archived(self) -> tuple[Archive, NDArray[np.int64], Callable[[Sequence[int]], list[Any]]]:
        return self.player.arena.archive, self.player.arena.counters, self.player.solution

    def count_unique(self) -> None:
        """Count every solution once, from the start on."""
        self.player.count_unique()

    def limit_archive(self, size: int) -> None:
        """Let the archive never hold more than so many solutions, from the start on."""
        self.player.limit_archive(size)

    @property
    def slice_size(self) -> int:
        """A number of evaluations after which to look up."""
        return _SLICE if isinstance(self.problem, CompiledProblem) else 1

    def parameters(self) -> dict[str, Any]:
        """Return the parameters."""
        return self.baseline.to_dict()

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write down what it takes to come here again."""
        save_replay(self, self.baseline, self.problem, self.budget, path)


def save_replay(
    search: Search, baseline: Baseline, problem: AnyProblem, budget: int | None, path: str | os.PathLike[str]
) -> None:
    """Write down what it takes to repeat a search up to here."""
    content = {
        "format": _FORMAT,
        "algorithm": baseline.name,
        "parameters": baseline.to_dict(),
        "problem": problem_fingerprint(problem),
        "seed": search.seed,
        "budget": budget,
        "evaluations": search.evaluations,
        "counts_unique": search.unique_evaluations is not None,
        "max_archive": search.max_archive,
        "wall_seconds": search.wall_seconds,
        "cpu_seconds": search.cpu_seconds,
    }

    def write(file: BinaryIO) -> None:
        file.write(_to_json(content).encode())

    write_atomically(path, write)
