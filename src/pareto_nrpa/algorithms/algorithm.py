"""The base class of all algorithms, without compiled code."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import asdict
from typing import TYPE_CHECKING, Any, ClassVar

if TYPE_CHECKING:
    import os

    from ..problem.base import AnyProblem
    from .search import Search


class Algorithm(ABC):
    """The parameters of an algorithm, which starts searches. Subclasses are frozen dataclasses.

    Attributes
    ----------
    name
        Name in results and on the command line.
    revision
        Increased when results of equal seeds change: experiments then repeat their runs.
    can_be_asked
        Whether its searches are `AskTellSearch`es, for expensive evaluations and cooperating searches.
    """

    name: ClassVar[str]
    revision: ClassVar[int] = 1
    can_be_asked: ClassVar[bool] = False

    @abstractmethod
    def start(self, problem: AnyProblem, *, seed: int = 0, budget: int | None = None) -> Search:
        """Return a new search over `problem`."""

    def resume(self, problem: AnyProblem, path: str | os.PathLike[str]) -> Search:
        """Return the search saved at `path`, which must be of this problem and these parameters."""
        from ..engine.state import load, read, restoring

        header, tree = read(path, expected_header(problem, self))
        with restoring(path):
            search = self.start(problem, seed=header["seed"], budget=header["budget"])
            load(search, tree)
            search.fingerprint.first = header["problem"][0]
        return search

    def to_dict(self) -> dict[str, Any]:
        """Return the parameters as plain values."""
        return asdict(self)  # type: ignore[call-overload, no-any-return]  # every algorithm is a dataclass


def expected_header(problem: AnyProblem, algorithm: Algorithm) -> dict[str, Any]:
    """Return the header that a checkpoint of one search must have."""
    from ..problem.base import problem_fingerprint, problem_name

    return {
        "searches": 1,
        "algorithm": algorithm.name,
        "parameters": algorithm.to_dict(),
        "problem": problem_fingerprint(problem),
        "instance": problem_name(problem),
    }
