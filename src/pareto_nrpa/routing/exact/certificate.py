"""Certificates: the result of a proof as a frozen value, and its file of JSON."""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Annotated, Any, Literal

import msgspec
import numpy as np
from msgspec import Meta, Struct
from msgspec.structs import asdict as structs_as_dict

from ..._util import structs
from ..._util.files import read_bytes
from ...errors import ParetoNRPAError

if TYPE_CHECKING:
    import os
    from pathlib import Path

    import pandas as pd
    from numpy.typing import NDArray

PROVED, INFEASIBLE, OPEN = "proved complete", "proved infeasible", "not finished"
_FORMAT = "pareto-nrpa certificate 1"
_LONGEST_FILE = 100_000_000  # bytes


class CertificateError(ParetoNRPAError):
    """A certificate cannot be read, or a statement of it is false."""


_Text = Annotated[str, Meta(max_length=1000)]
_Count = Annotated[int, Meta(ge=0, le=10**18)]
_Seconds = Annotated[float, Meta(ge=0)]
_Vector = Annotated[list[float], Meta(min_length=1, max_length=2)]
_Corner = Annotated[list[float | None], Meta(min_length=1, max_length=2)]


class PricedSum(Struct):
    """A weighted sum of the costs, and what makes its relaxation strong; any values give valid bounds."""

    weights: _Vector
    prices: list[float]  # of each city, paid at each visit; that of city 0 is 0
    memories: list[list[_Count]]  # for each city, which ones it remembers, the most important first


class GroupSum(PricedSum):
    """A weighted sum of a closed group."""

    passes: list[_Count]  # how many cities a city remembers, in passes backward and forward in turn


class LibraryEntry(PricedSum):
    """An entry of the library of prices, with which a proof continues."""

    stage: _Count
    entry: _Count


class Group(Struct, rename={"begin": "from", "end": "to"}):
    """An interval of the first objective without other efficient tours; null stands for infinity."""

    begin: float | None
    end: float | None
    sums: list[GroupSum]

    @property
    def interval(self) -> tuple[float, float]:
        """Both ends, of which the second does not belong to it."""
        return -math.inf if self.begin is None else self.begin, math.inf if self.end is None else self.end


@dataclass(frozen=True, eq=False, repr=False)
class Certificate:
    """The efficient tours of an instance, and the state of the proof that there are no others."""

    instance: str
    fingerprint: str  # of the instance's data
    status: str  # PROVED, INFEASIBLE or OPEN
    stopped_by: str  # the reason of an unfinished end
    objectives: NDArray[np.float64]  # [k, m], sorted; all efficient vectors if the status is PROVED
    solutions: list[list[int]]  # a tour for each, without the depot
    open_boxes: NDArray[np.float64]  # [b, 2, m]: from, to; better tours can only be in these boxes
    lower_bounds: NDArray[np.float64]  # [l, m]: every feasible tour is covered by one of these points
    gap: float  # largest missing share of the hypervolume, by the lower bounds
    labels: int
    cpu_seconds: float
    wall_seconds: float
    stage: int = 1  # of the proof at its end; a continued proof begins there
    versions: dict[str, str] = field(default_factory=dict)
    groups: list[Group] = field(default_factory=list)  # closed ones; what they leave out is open
    library: list[LibraryEntry] = field(default_factory=list)

    def __repr__(self) -> str:
        return f"<Certificate {self.instance}: {self.status}, {len(self.solutions)} tour(s)>"

    @property
    def proved(self) -> bool:
        """Whether the proof is complete."""
        return self.status != OPEN

    def summary(self) -> str:
        """Return the answer in a few sentences."""
        n = len(self.solutions)
        effort = f"{self.labels:,} labels, {self.cpu_seconds:.1f} s of CPU time"
        if self.status == PROVED:
            there = "is 1 efficient objective vector" if n == 1 else f"are {n} efficient objective vectors"
            return f"{self.instance}: proved complete. There {there} and no others ({effort})."
        if self.status == INFEASIBLE:
            return f"{self.instance}: proved infeasible. No tour keeps all time windows ({effort})."
        where = "1 box is" if len(self.open_boxes) == 1 else f"{len(self.open_boxes)} boxes are"
        return (
            f"{self.instance}: not finished, stopped by {self.stopped_by} ({effort}). {n} tours are known; {where} "
            f"still open, and at most {self.gap:.2%} of the hypervolume is missing."
        )

    def to_dict(self) -> dict[str, Any]:
        """Return the certificate as plain values, ready for JSON; null stands for infinity."""
        return {
            "format": _FORMAT,
            "instance": self.instance,
            "fingerprint": self.fingerprint,
            "proved": self.proved,
            "status": self.status,
            "stopped_by": self.stopped_by,
            "objectives": self.objectives.tolist(),
            "solutions": self.solutions,
            "open_boxes": [{"from": _finite(box[0]), "to": _finite(box[1])} for box in self.open_boxes.tolist()],
            "lower_bounds": self.lower_bounds.tolist(),
            "gap": self.gap,
            "labels": self.labels,
            "cpu_seconds": self.cpu_seconds,
            "wall_seconds": self.wall_seconds,
            "stage": self.stage,
            "versions": self.versions,
            "groups": msgspec.to_builtins(self.groups),
            "library": msgspec.to_builtins(self.library),
        }

    def to_dataframe(self) -> pd.DataFrame:
        """Return the efficient tours as a pandas data frame, one row for each."""
        try:
            import pandas as pd
        except ImportError as error:
            message = 'to_dataframe() needs pandas; install it with: pip install "pareto-nrpa[dataframe]".'
            raise ImportError(message) from error
        frame = pd.DataFrame(self.objectives, columns=[f"f{k + 1}" for k in range(self.objectives.shape[1])])
        frame["solution"] = self.solutions
        return frame

    def without_groups(self) -> Certificate:
        """Return the certificate without what is needed to verify its intervals: the largest part of a file."""
        return replace(self, groups=[], library=[])

    def save(self, path: str | os.PathLike[str]) -> Path:
        """Write the certificate as JSON and return the path."""
        return structs.write(path, self.to_dict())

    def check_consistency(self) -> None:
        """Raise if statements contradict each other."""
        if self.status == INFEASIBLE and self.solutions:
            raise CertificateError("the certificate states that no tour is feasible, and has tours.")
        if self.status == PROVED and not self.solutions:
            raise CertificateError("the certificate states that it has all efficient tours, and has none.")
        if self.proved and (len(self.open_boxes) or self.gap or self.stopped_by):
            raise CertificateError("the certificate states that nothing is open, and has open boxes, a gap or a stop.")
        if not self.proved and not self.stopped_by:
            raise CertificateError("the certificate states that it is not finished, without the reason.")

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Certificate:
        """Read a certificate; `check_certificate` verifies its statements."""
        return cls.from_json(read_bytes(path, error=CertificateError, most_bytes=_LONGEST_FILE), path)

    @classmethod
    def from_json(cls, text: bytes, source: str | os.PathLike[str]) -> Certificate:
        """Return the certificate in a text that was read from a file."""
        content = structs.decode(text, _File, source=str(source), what="a certificate", error=CertificateError)
        values: dict[str, Any] = structs_as_dict(content)
        del values["format"], values["proved"]
        try:
            certificate = cls(**values | _arrays(content))
        except ValueError as error:
            raise CertificateError(f"{source} is not a certificate, or is damaged: {error}.") from error
        certificate.check_consistency()
        if content.proved is not certificate.proved:
            raise CertificateError(f"{source} is damaged: its status is {certificate.status!r}, its 'proved' is not.")
        return certificate


class _Box(Struct, rename={"begin": "from", "end": "to"}):
    """The region of better tours; null stands for infinity."""

    begin: _Corner
    end: _Corner


class _File(Struct):
    """A file of a certificate."""

    format: Literal["pareto-nrpa certificate 1"]
    instance: _Text
    fingerprint: _Text
    proved: bool
    status: Literal["proved complete", "proved infeasible", "not finished"]
    stopped_by: _Text
    objectives: list[_Vector]
    solutions: list[Annotated[list[int], Meta(min_length=1)]]
    open_boxes: list[_Box]
    lower_bounds: list[_Vector]
    gap: Annotated[float, Meta(ge=0, le=1)]
    labels: _Count
    cpu_seconds: _Seconds
    wall_seconds: _Seconds
    stage: Annotated[int, Meta(ge=1)]
    versions: dict[_Text, _Text]
    groups: list[Group] = []
    library: list[LibraryEntry] = []


def _arrays(content: _File) -> dict[str, NDArray[np.float64]]:
    """Return the vectors of a certificate as arrays of one width, or raise a reason why they cannot be."""
    boxes = [[_or_infinite(box.begin, -math.inf), _or_infinite(box.end, math.inf)] for box in content.open_boxes]
    rows = [*content.objectives, *content.lower_bounds, *(corner for box in boxes for corner in box)]
    widths = {len(row) for row in rows} or {2}
    m = widths.pop()
    n_cities = {len(tour) for tour in content.solutions}
    if widths or len(content.objectives) != len(content.solutions) or len(n_cities) > 1:
        raise ValueError("its objectives, bounds and tours do not fit together")
    for tour in content.solutions:
        if sorted(tour) != list(range(1, len(tour) + 1)):
            raise ValueError("a tour of its 'solutions' does not visit each city once")
    objectives = np.array(content.objectives, dtype=float).reshape(-1, m)
    steps = np.diff(objectives, axis=0)
    if (objectives < 0).any() or (len(steps) and not (m == 2 and (steps * [1, -1] > 0).all())):
        raise ValueError("its 'objectives' are not those of a front, sorted by the first one")
    open_boxes = np.array(boxes, dtype=float).reshape(-1, 2, m)
    if (open_boxes[:, 0] > open_boxes[:, 1]).any():
        raise ValueError("one of its 'open_boxes' ends before it begins")
    lower_bounds = np.array(content.lower_bounds, dtype=float).reshape(-1, m)
    return {"objectives": objectives, "open_boxes": open_boxes, "lower_bounds": lower_bounds}


def _finite(corner: list[float]) -> list[float | None]:
    return [x if math.isfinite(x) else None for x in corner]


def _or_infinite(corner: list[float | None], infinity: float) -> list[float]:
    return [infinity if x is None else x for x in corner]
