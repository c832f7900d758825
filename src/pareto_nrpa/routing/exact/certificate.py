"""What a proof leaves behind: a frozen value that says what is proved, saves and loads as JSON."""

from __future__ import annotations

import json
import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from ..._util.files import write_atomically
from ...errors import ParetoNRPAError
from .fields import INFEASIBLE, OPEN, PROVED, READERS, of_one_width, shortened

if TYPE_CHECKING:
    import os
    from pathlib import Path

    import numpy as np
    import pandas as pd
    from numpy.typing import NDArray

_FORMAT = "pareto-nrpa certificate 1"
_LONGEST_FILE = 100_000_000  # bytes


class CertificateError(ParetoNRPAError):
    """A certificate cannot be read, or what it says is not so."""


@dataclass(frozen=True, eq=False, repr=False)
class Certificate:
    """The efficient tours of an instance, and how far it is proved that there are no others."""

    instance: str
    fingerprint: str  # of the instance's data
    status: str  # PROVED, INFEASIBLE or OPEN
    stopped_by: str  # what ended a proof that is not finished
    objectives: NDArray[np.float64]  # [k, m], sorted; all efficient vectors if the status is PROVED
    solutions: list[list[int]]  # a tour for each: the cities after the depot
    open_boxes: NDArray[np.float64]  # [b, 2, m]: from, to; a better tour can be nowhere else
    lower_bounds: NDArray[np.float64]  # [l, m]: every feasible tour is as bad as one of these in all objectives
    gap: float  # share of the hypervolume under the lower bounds that the front does not have
    labels: int
    cpu_seconds: float
    wall_seconds: float
    stage: int = 1  # of the proof when it ended; one that goes on begins there
    versions: dict[str, str] = field(default_factory=dict)

    def __repr__(self) -> str:
        return f"<Certificate {self.instance}: {self.status}, {len(self.solutions)} tour(s)>"

    @property
    def proved(self) -> bool:
        """Whether nothing is left open."""
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
            "open_boxes": [
                {"from": [_finite(x) for x in box[0]], "to": [_finite(x) for x in box[1]]}
                for box in self.open_boxes.tolist()
            ],
            "lower_bounds": self.lower_bounds.tolist(),
            "gap": self.gap,
            "labels": self.labels,
            "cpu_seconds": self.cpu_seconds,
            "wall_seconds": self.wall_seconds,
            "stage": self.stage,
            "versions": self.versions,
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

    def save(self, path: str | os.PathLike[str]) -> Path:
        """Write the certificate as JSON and return the path."""
        text = json.dumps(self.to_dict(), allow_nan=False)
        return write_atomically(path, lambda file: _write(file, text))

    def check_consistency(self) -> None:
        """Raise if what is said in one place contradicts what is said in another."""
        if self.status == INFEASIBLE and self.solutions:
            raise CertificateError("the certificate says that no tour is feasible, and has tours.")
        if self.status == PROVED and not self.solutions:
            raise CertificateError("the certificate says that it has all efficient tours, and has none.")
        if self.proved and (len(self.open_boxes) or self.gap or self.stopped_by):
            raise CertificateError("the certificate says that nothing is open, and has open boxes, a gap or a stop.")
        if not self.proved and not self.stopped_by:
            raise CertificateError("the certificate says that it is not finished, and not what stopped it.")

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Certificate:
        """Read a certificate; whether it tells the truth is for `check_certificate` to say."""
        try:
            with open(path, "rb") as file:
                text = file.read(_LONGEST_FILE + 1)
        except OSError as error:
            raise CertificateError(f"cannot read the certificate {path}: {error.strerror or error}.") from error
        if len(text) > _LONGEST_FILE:
            raise CertificateError(f"{path} is not a certificate: it has more than {_LONGEST_FILE:,} bytes.")
        return cls.from_json(text, path)

    @classmethod
    def from_json(cls, text: bytes, path: str | os.PathLike[str]) -> Certificate:
        """Return the certificate in a text that was read from a file."""
        try:
            content = json.loads(text)
        except (ValueError, RecursionError) as error:
            raise CertificateError(f"{path} is not a certificate: it is not JSON, or is cut off.") from error
        if not isinstance(content, dict) or content.get("format") != _FORMAT:
            raise CertificateError(f"{path} is not a certificate: its format is not {_FORMAT!r}.")
        certificate = cls(**_read(path, {"stage": 1, **content}))  # earlier ones have no stage
        certificate.check_consistency()
        if content.get("proved", certificate.proved) is not certificate.proved:
            raise CertificateError(
                f"the certificate {path} is damaged: its status is {certificate.status!r}, which 'proved' contradicts."
            )
        return certificate


def _read(path: str | os.PathLike[str], content: dict[str, Any]) -> dict[str, Any]:
    """Return all values of a certificate, or say which one is missing or wrong."""
    values = {}
    for name, read in READERS.items():
        if name not in content:
            raise CertificateError(f"the certificate {path} is damaged: {name!r} is missing.")
        try:
            values[name] = read(content[name])
        except (KeyError, OverflowError, TypeError, ValueError) as error:
            raise CertificateError(
                f"the certificate {path} is damaged: {name!r} is not what it should be, got {shortened(content[name])}."
            ) from error
    try:
        return of_one_width(values)
    except ValueError as error:
        raise CertificateError(
            f"the certificate {path} is damaged: its objectives, bounds and tours do not fit together."
        ) from error


def _finite(value: float) -> float | None:
    return value if math.isfinite(value) else None


def _write(file: Any, text: str) -> None:
    file.write(text.encode())
