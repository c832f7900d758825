"""The base class of all algorithms; loads no compiled code."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import asdict
from typing import TYPE_CHECKING, Any, ClassVar

from ..errors import CheckpointError

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
        raise CheckpointError(f"a search of {self.name} cannot be resumed; leave out checkpoint and resume.")

    def to_dict(self) -> dict[str, Any]:
        """Return the parameters as plain values."""
        return asdict(self)  # type: ignore[call-overload, no-any-return]  # every algorithm is a dataclass
