"""What a proof leaves behind: a frozen value that says what is proved, saves and loads as JSON."""

from __future__ import annotations

import json
import math
import operator
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ..exceptions import ParetoNRPAError
from ..files import write_atomically

if TYPE_CHECKING:
    import os

    from numpy.typing import NDArray

_FORMAT = "pareto-nrpa certificate 1"
PROVED, INFEASIBLE, OPEN = "proved complete", "proved infeasible", "not finished"


class CertificateError(ParetoNRPAError):
    """A certificate cannot be read, or what it says is not so."""


@dataclass(frozen=True, eq=False)
class Certificate:
    """The efficient tours of an instance, and how far it is proved that there are no others."""

    instance: str
    fingerprint: str  # of the instance's data
    status: str  # PROVED, INFEASIBLE or OPEN
    stopped_by: str  # what ended a proof that is not finished
    objectives: NDArray[np.float64]  # [k, m], sorted; all efficient vectors if the status is PROVED
    solutions: list[list[int]]  # a tour for each: the cities after the depot
    open_boxes: NDArray[np.float64]  # [b, 2, m]: from, to; a better tour can be nowhere else
    lower_bounds: NDArray[
        np.float64
    ]  # [l, m]: every feasible tour is at least as bad as one of these in all objectives
    gap: float  # share of the hypervolume under the lower bounds that the front does not have
    labels: int
    cpu_seconds: float
    wall_seconds: float
    stage: int = 1  # of the proof when it ended; one that goes on begins there
    versions: dict[str, str] = field(default_factory=dict)

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

    def save(self, path: str | os.PathLike[str]) -> Path:
        """Write the certificate as JSON and return the path."""
        text = json.dumps(self.to_dict(), allow_nan=False)
        return write_atomically(path, lambda file: _write(file, text))

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Certificate:
        """Read a certificate; whether it tells the truth is for `check_certificate` to say."""
        try:
            content = json.loads(Path(path).read_text(encoding="utf-8"))
        except OSError as error:
            raise CertificateError(f"cannot read the certificate {path}: {error.strerror or error}.") from error
        except (ValueError, RecursionError) as error:
            raise CertificateError(f"{path} is not a certificate: it is not JSON, or is cut off.") from error
        if not isinstance(content, dict) or content.get("format") != _FORMAT:
            raise CertificateError(f"{path} is not a certificate: its format is not {_FORMAT!r}.")
        try:
            return cls._from_dict(content)
        except KeyError as error:
            raise CertificateError(f"the certificate {path} is damaged: {error} is missing.") from error
        except (AttributeError, IndexError, OverflowError, TypeError, ValueError) as error:
            raise CertificateError(f"the certificate {path} is damaged: a value is not what it should be.") from error

    @classmethod
    def _from_dict(cls, content: dict[str, Any]) -> Certificate:
        solutions = [[operator.index(city) for city in tour] for tour in content["solutions"]]
        boxes = [[_infinite(box["from"], -math.inf), _infinite(box["to"], math.inf)] for box in content["open_boxes"]]
        vectors = [*content["objectives"], *content["lower_bounds"], *(box[0] for box in boxes)]
        width = len(vectors[0]) if vectors else 2
        numbers = [*np.ravel([*content["objectives"], *content["lower_bounds"]]), content["gap"]]
        if content["status"] not in (PROVED, INFEASIBLE, OPEN) or not np.isfinite(np.array(numbers, dtype=float)).all():
            raise ValueError
        return cls(
            instance=str(content["instance"]),
            fingerprint=str(content["fingerprint"]),
            status=str(content["status"]),
            stopped_by=str(content["stopped_by"]),
            objectives=np.array(content["objectives"], dtype=float).reshape(len(solutions), width),
            solutions=solutions,
            open_boxes=np.array(boxes, dtype=float).reshape(len(boxes), 2, width),
            lower_bounds=np.array(content["lower_bounds"], dtype=float).reshape(len(content["lower_bounds"]), width),
            gap=float(content["gap"]),
            labels=int(content["labels"]),
            cpu_seconds=float(content["cpu_seconds"]),
            wall_seconds=float(content["wall_seconds"]),
            stage=_positive(content.get("stage", 1)),
            versions={str(name): str(number) for name, number in content["versions"].items()},
        )


def _positive(value: Any) -> int:
    number = operator.index(value)
    if number < 1:
        raise ValueError
    return number


def _finite(value: float) -> float | None:
    return value if math.isfinite(value) else None


def _infinite(values: list[float | None], infinity: float) -> list[float]:
    return [infinity if value is None else float(value) for value in values]


def _write(file: Any, text: str) -> None:
    file.write(text.encode())
