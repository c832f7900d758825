"""What all baselines have in common while they run: an archive, a generator, slices of evaluations."""

from __future__ import annotations

import hashlib
import json
from abc import abstractmethod
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from ..._util.checks import check_whole
from ..._util.files import write_atomically
from ...errors import CheckpointError
from ...problem.base import (
    AnyProblem,
    CompiledProblem,
    problem_fingerprint,
    problem_name,
    without_pruning,
)
from ...problem.genotype import Permutation, check_genotype, genotype_of
from ..algorithm import Algorithm
from ..search import MOST_ARCHIVED, Search
from .arena import check_status
from .compiled_player import CompiledRollouts
from .plain_player import PlainRollouts
from .rehearsal import Rehearsal, rehearse

if TYPE_CHECKING:
    import os
    from typing import BinaryIO

_FORMAT = "pareto-nrpa replay 2"
_MAX_BYTES = 1_000_000
#: No search is faster than so many evaluations a second: more of them in the time given cannot be true.
_FASTEST = 10_000_000


def _is_count(value: Any, most: int) -> bool:
    return type(value) is int and 0 <= value <= most


def _is_seconds(value: Any) -> bool:
    return type(value) in (int, float) and 0 <= value < 1e9


#: What a checkpoint holds, and what each part must be. It is repeated: a number that is too large would never end.
_FIELDS: dict[str, Callable[[Any], bool]] = {
    "format": lambda value: value == _FORMAT,
    "algorithm": lambda value: type(value) is str,
    "parameters": lambda value: type(value) is dict,
    "problem": lambda value: type(value) is list and len(value) > 0 and all(type(x) is str for x in value),
    "seed": lambda value: _is_count(value, 2**128),
    "budget": lambda value: value is None or _is_count(value, 2**62),
    "evaluations": lambda value: _is_count(value, 10**12),
    "counts_unique": lambda value: type(value) is bool,
    "max_archive": lambda value: value is None or (_is_count(value, MOST_ARCHIVED) and value >= 2),
    "wall_seconds": _is_seconds,
    "cpu_seconds": _is_seconds,
    "log": lambda value: type(value) is str,
    "sum": lambda value: type(value) is str,
}
_SLICE = 1_000
#: How many playouts a genotype is compared with before it is relied on.
_PLAYOUTS = 10


class Baseline(Algorithm):
    """The parameters of a baseline, which can start a search or repeat one up to where it was saved."""

    bias: float
    pruning: bool

    def resume(self, problem: AnyProblem, path: str | os.PathLike[str]) -> Search:
        """Return the search of a checkpoint: as it is repeatable, the same evaluations are made once more."""
        saved = _read(path)
        for part, value in {"algorithm": self.name, "parameters": self.to_dict()}.items():
            if saved[part] != json.loads(_to_json(value)):
                raise CheckpointError(f"the checkpoint {path} is of another {part}; name another file.")
        if problem_fingerprint(problem) not in saved["problem"]:
            raise CheckpointError(
                f"the checkpoint {path} is of another problem, or the code or data of {problem_name(problem)} have "
                "changed since; name another file."
            )
        search = self.start(problem, seed=saved["seed"], budget=saved["budget"])
        search.fingerprint.first = saved["problem"][0]
        if saved["counts_unique"]:
            search.count_unique()
        if saved["max_archive"]:
            search.limit_archive(saved["max_archive"])
        while search.evaluations < saved["evaluations"]:  # in slices: Ctrl-C does not reach compiled code
            search.advance(min(_SLICE, saved["evaluations"] - search.evaluations))
        if _log_digest(search) != saved["log"]:
            raise CheckpointError(
                f"repeating the search of {path} led elsewhere, as other versions of libraries, or a problem that "
                "depends on more than its moves, can make it; start again with another file."
            )
        search.wall_seconds, search.cpu_seconds = saved["wall_seconds"], saved["cpu_seconds"]
        return search


def _to_json(value: Any) -> str:
    return json.dumps(value, default=lambda number: number.item())  # NumPy's numbers


def content_sum(content: dict[str, Any]) -> str:
    """Return a hash of all that is written down, by which a changed file is noticed."""
    text = json.dumps({key: value for key, value in content.items() if key != "sum"}, sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()


def _log_digest(search: Search) -> str:
    """Return a hash of all that ever was in the front, by which a search that went another way is noticed."""
    return hashlib.sha256(np.ascontiguousarray(search.log()).tobytes()).hexdigest()[:16]


def _read(path: str | os.PathLike[str]) -> dict[str, Any]:
    try:
        with open(path, "rb") as file:
            saved = json.loads(file.read(_MAX_BYTES))
        for field, is_right in _FIELDS.items():
            if not is_right(saved[field]):
                raise ValueError(field)
        if saved["sum"] != content_sum(saved) or saved["evaluations"] > _FASTEST * (1 + saved["cpu_seconds"]):
            raise ValueError("changed contents")
    except OSError as error:
        raise CheckpointError(f"cannot read the checkpoint {path}: {error.strerror or error}.") from error
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        message = f"{path} is not a checkpoint of this algorithm, or is damaged; start again with another file."
        raise CheckpointError(message) from error
    return dict(saved)


def new_rollouts(problem: AnyProblem, rng: np.random.Generator, bias: float = 0.0) -> CompiledRollouts | PlainRollouts:
    """Return what plays a problem for a search without policies."""
    if isinstance(problem, CompiledProblem):
        return CompiledRollouts(problem, rng, bias)
    return PlainRollouts(problem, rng, bias)


class BaselineSearch(Search):
    """A baseline at work on one problem."""

    player: CompiledRollouts | PlainRollouts

    def __init__(self, problem: AnyProblem, baseline: Baseline, *, seed: int, budget: int | None) -> None:
        super().__init__(problem, baseline, seed=seed)
        self.baseline, self.budget = baseline, budget
        played = problem if baseline.pruning else without_pruning(problem)
        self.player = new_rollouts(played, self.rng, baseline.bias)

    def compile(self) -> None:
        """Compile, or load from disk, what `advance` needs."""
        super().compile()
        if not isinstance(self.problem, CompiledProblem | Rehearsal):
            is_permutation = isinstance(self.problem.genotype, Permutation)
            # Two objectives and more can be other code, but three are like five.
            rehearse(type(self.baseline), min(self.problem.n_objectives, 3), is_permutation)

    @abstractmethod
    def step(self, n: int) -> int:
        """Make up to n evaluations, at least one unless room is needed; returns how many."""

    def advance(self, n: int) -> None:
        """Make n evaluations."""
        check_whole("n", n, 0)
        self.compile()
        done = 0
        while done < n:
            done += self.step(n - done)
            check_status(self.player)

    @property
    def slice_size(self) -> int:
        """A number of evaluations after which to look up."""
        return _SLICE if isinstance(self.problem, CompiledProblem) else 1

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write down what it takes to come here again."""
        save_replay(self, self.budget, path)


class WholeSolutionSearch(BaselineSearch):
    """A baseline that changes whole solutions, and so relies on the genotype of its problem."""

    def __init__(self, problem: AnyProblem, baseline: Baseline, **where: Any) -> None:
        super().__init__(problem, baseline, **where)
        self.genotype = genotype_of(problem, baseline.name)
        self._fits = False

    def compile(self) -> None:
        """Compile what `advance` needs, and see whether the genotype fits the first playouts, and they it."""
        super().compile()
        if not self._fits:
            draws = np.random.default_rng(self.seed)  # apart, as the playouts of the search itself stay what they are
            check_genotype(self.problem, [self.player.playout(draws) for _ in range(_PLAYOUTS)], self.player.stops_at)
            self._fits = True


def save_replay(search: Search, budget: int | None, path: str | os.PathLike[str]) -> None:
    """Write down what it takes to repeat a search up to here."""
    content = {
        "format": _FORMAT,
        "algorithm": search.algorithm.name,
        "parameters": search.algorithm.to_dict(),
        "problem": search.fingerprint.known_as(),
        "seed": search.seed,
        "budget": budget,
        "evaluations": search.evaluations,
        "counts_unique": search.unique_evaluations is not None,
        "max_archive": search.max_archive,
        "wall_seconds": search.wall_seconds,
        "cpu_seconds": search.cpu_seconds,
        "log": _log_digest(search),
    }
    content = json.loads(_to_json(content))
    content["sum"] = content_sum(content)

    def write(file: BinaryIO) -> None:
        file.write(_to_json(content).encode())

    write_atomically(path, write)
