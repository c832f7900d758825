"""What `solve` asks of an algorithm and of its search; who has these methods can be solved with."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    import os

    import numpy as np
    from numpy.typing import NDArray

    from ..problem.base import AnyProblem
    from ..result.result import Front


class Search(Protocol):
    """What `solve` needs of a running search, whatever the algorithm."""

    seed: int
    wall_seconds: float  # spent so far, over all resumptions
    cpu_seconds: float

    @property
    def evaluations(self) -> int:
        """How many evaluations were made."""

    @property
    def unique_evaluations(self) -> int | None:
        """How many of them were of a solution not evaluated before; None unless they are counted."""

    @property
    def last_improvement(self) -> int:
        """The evaluation at which the archive last changed."""

    @property
    def slice_size(self) -> int:
        """A number of evaluations after which to look up; must not depend on time."""

    @property
    def is_compiled(self) -> bool:
        """Whether `compile` will be quick."""

    @property
    def max_archive(self) -> int | None:
        """The most that the archive may hold; None if there is no limit."""

    def count_unique(self) -> None:
        """Count every solution once, from the start on."""

    def limit_archive(self, size: int) -> None:
        """Let the archive never hold more than so many solutions, from the start on."""

    def compile(self) -> None:
        """Compile what is needed."""

    def advance(self, n: int) -> None:
        """Make n evaluations."""

    def front(self) -> Front:
        """Return the best of all that was evaluated."""

    def log(self) -> NDArray[np.float64]:
        """Return evaluation, violations and minimised objectives of all that ever was in the front."""

    def best(self) -> tuple[NDArray[np.float64], float]:
        """Return the minimised objectives of the front and their violations."""

    def parameters(self) -> dict[str, Any]:
        """Return the parameters as they are used."""

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write a checkpoint."""


class Algorithm(Protocol):
    """An algorithm is its parameters, and can start or resume a search."""

    name: str

    def start(self, problem: AnyProblem, *, seed: int, budget: int | None) -> Search:
        """Return a search that has made no evaluation yet."""

    def resume(self, problem: AnyProblem, path: str | os.PathLike[str]) -> Search:
        """Return the search of a checkpoint."""
