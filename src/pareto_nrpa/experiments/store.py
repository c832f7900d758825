"""Finished runs, one JSON file each, in a folder that any number of plans share."""

from __future__ import annotations

import json
import logging
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ..exceptions import ParetoNRPAError
from ..files import write_atomically

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from numpy.typing import NDArray

    from .plan import Run

logger = logging.getLogger(__name__)

_FORMAT = "pareto-nrpa run 1"
_MARKER = "runs-format.txt"


@dataclass(frozen=True, eq=False)
class Record:
    """A run that is over, finished or failed."""

    run: dict[str, Any]
    fingerprint: str  # of the problem's data
    error: str  # empty if it finished
    evaluations: int
    cpu_seconds: float
    wall_seconds: float
    objectives: NDArray[np.float64]  # [n, m], minimised
    violations: float  # of all solutions of the front; NaN if there are none
    solutions: list[list[Any]]
    policies: list[int]
    log: NDArray[np.float64]  # [k, 2 + m]: evaluation, violations, minimised objectives, thinned
    versions: dict[str, str]
    unique_evaluations: int | None = None  # None if they were not counted

    @property
    def feasible(self) -> NDArray[np.float64]:
        """The objectives of the feasible solutions: all of the front or none."""
        return self.objectives if self.violations == 0 else self.objectives[:0]

    def to_dict(self) -> dict[str, Any]:
        """Return the record as plain values."""
        return {
            "format": _FORMAT,
            "run": self.run,
            "fingerprint": self.fingerprint,
            "error": self.error,
            "evaluations": self.evaluations,
            "cpu_seconds": round(self.cpu_seconds, 3),
            "wall_seconds": round(self.wall_seconds, 3),
            "n_objectives": self.log.shape[1] - 2,
            "objectives": self.objectives.tolist(),
            "violations": self.violations if np.isfinite(self.violations) else None,
            "solutions": self.solutions,
            "policies": self.policies,
            "log": [[int(row[0]), *(float(f"{x:.9g}") for x in row[1:])] for row in self.log.tolist()],
            "versions": self.versions,
            "unique_evaluations": self.unique_evaluations,
        }

    @classmethod
    def from_dict(cls, content: dict[str, Any]) -> Record:
        """Return a record from plain values."""
        if content["format"] != _FORMAT:
            raise ValueError("unknown format")
        m = int(content["n_objectives"])
        return cls(
            run=content["run"],
            fingerprint=content["fingerprint"],
            error=content["error"],
            evaluations=int(content["evaluations"]),
            cpu_seconds=float(content["cpu_seconds"]),
            wall_seconds=float(content["wall_seconds"]),
            objectives=np.asarray(content["objectives"], dtype=float).reshape(-1, m),
            violations=float("nan") if content["violations"] is None else float(content["violations"]),
            solutions=content["solutions"],
            policies=content["policies"],
            log=np.asarray(content["log"], dtype=float).reshape(-1, 2 + m),
            versions=content["versions"],
            unique_evaluations=content.get("unique_evaluations"),
        )


class Store:
    """A folder of records."""

    def __init__(self, folder: str | Path) -> None:
        self.folder = Path(folder)
        self._check_format()

    def _check_format(self) -> None:
        marker = self.folder / _MARKER
        try:
            found = marker.read_text(encoding="utf-8").strip() if marker.exists() else _FORMAT
        except (OSError, UnicodeDecodeError) as error:
            raise ParetoNRPAError(f"cannot read {marker}: {error}.") from error
        if found != _FORMAT:
            raise ParetoNRPAError(
                f"{self.folder} holds runs of another version ({found[:60]!r} instead of {_FORMAT!r}); "
                "name another folder with --results."
            )

    def path(self, run: Run) -> Path:
        """Return where a run is, or would be."""
        return self.folder / "runs" / run.problem.replace(":", "-").replace("/", "-")[-60:] / f"{run.key}.json"

    def get(self, run: Run) -> Record | None:
        """Return the record of a run, or None if there is none that can be read."""
        path = self.path(run)
        try:
            record = Record.from_dict(json.loads(path.read_text(encoding="utf-8")))
            if record.run != json.loads(json.dumps(run.to_dict())):
                raise ValueError("another run")
        except FileNotFoundError:
            return None
        except (OSError, ValueError, KeyError, TypeError, AttributeError):
            logger.warning("%s is damaged; the run counts as not made", path)
            return None
        return record

    def put(self, run: Run, record: Record) -> Path:
        """Write a record."""
        marker = self.folder / _MARKER
        if not marker.exists():
            write_atomically(marker, lambda file: _write(file, _FORMAT))
        text = json.dumps(record.to_dict(), separators=(",", ":"))
        return write_atomically(self.path(run), lambda file: _write(file, text))

    def missing(
        self, runs: Iterable[Run], *, retry_failed: bool = False, fingerprints: Mapping[str, str] | None = None
    ) -> Iterator[Run]:
        """Yield the runs that are still to be made."""
        for run in runs:
            record = self.get(run)
            self.check_data(record, run.problem, (fingerprints or {}).get(run.problem))
            if record is None or (record.error and retry_failed):
                yield run

    def check_data(self, record: Record | None, problem: str, fingerprint: str | None) -> None:
        """Raise if a run was made on other data than the problem has now."""
        if record is not None and not record.error and fingerprint is not None and record.fingerprint != fingerprint:
            raise ParetoNRPAError(
                f"{self.folder} holds runs on other data of the name {problem}; name another folder with --results."
            )


def _write(file: Any, text: str) -> None:
    file.write(text.encode() + b"\n")
