"""The base class of all algorithms, without compiled code."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import asdict, field, fields
from typing import TYPE_CHECKING, Any, ClassVar

from .._util.checks import check_number, check_positive, check_whole

if TYPE_CHECKING:
    import os
    from collections.abc import Callable

    from ..problem.base import AnyProblem
    from .search import Search

_PLAIN: dict[Any, type] = {check_whole: int, check_positive: float, check_number: float}


def parameter(default: Any, check: Callable[..., None], *limits: Any, **options: Any) -> Any:
    """Return the field of a parameter that `check(name, value, *limits)` must accept; None only where that is usual."""
    return field(default=default, metadata={"check": check, "limits": limits}, **options)


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

    def __post_init__(self) -> None:
        for one in fields(self):  # type: ignore[arg-type]  # every algorithm with parameters is a dataclass
            value, check = getattr(self, one.name), one.metadata.get("check")
            if check is not None and not (value is None and one.default is None):
                check(one.name, value, *one.metadata["limits"])
                object.__setattr__(self, one.name, _PLAIN.get(check, lambda same: same)(value))

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
