"""The base class of all algorithms; loads no compiled code."""

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
        What results and the command line call it.
    revision
        Raised where the same seed leads to other results: experiments then repeat their runs.
    can_be_asked
        Whether its searches are `AskTellSearch`es, for expensive evaluations and cooperating searches.
    """

    name: ClassVar[str]
    revision: ClassVar[int] = 1
    can_be_asked: ClassVar[bool] = False

    @abstractmethod
    def start(self, problem: AnyProblem, *, seed: int = 0, budget: int | None = None) -> Search:
        """Return a search over `problem` that has made no evaluation yet."""

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
    """Return what a checkpoint of one search must say of itself."""
    from ..problem.base import problem_fingerprint, problem_name

    return {
        "searches": 1,
        "algorithm": algorithm.name,
        "parameters": algorithm.to_dict(),
        "problem": problem_fingerprint(problem),
        "instance": problem_name(problem),
    }
