"""Finished runs, one JSON file each, in a folder that any number of plans share."""

from __future__ import annotations

import contextlib
import json
import logging
import math
import re
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from .._util.files import write_atomically
from ..errors import ParetoNRPAError
from ..own_problem import is_own
from ..problem.base import data_fingerprint, problem_fingerprint
from .plan import Run

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from numpy.typing import NDArray

    from ..problem.base import AnyProblem

logger = logging.getLogger(__name__)

_FORMAT = "pareto-nrpa run 2"
# Formats of earlier versions, with what was wrong with them.
_OLD = {"pareto-nrpa run 1": "they do not say with which defaults and which revision of an algorithm they were made"}
_MARKER = "runs-format.txt"
_SEED = re.compile(r"-seed(\d{1,18})-")
# Whatever a file that was damaged, or made by somebody else, may lead to.
_DAMAGED = (OSError, ValueError, KeyError, TypeError, AttributeError, OverflowError, RecursionError, MemoryError)


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

    def found_by(self, evaluations: float) -> NDArray[np.float64]:
        """Return the objectives of what was feasible among the first evaluations, as far as the log has kept it."""
        return self.log[(self.log[:, 1] == 0) & (self.log[:, 0] <= evaluations), 2:]

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
        """Return a record from plain values; raises ValueError, TypeError or KeyError if they are none."""
        if content["format"] != _FORMAT:
            raise ValueError("unknown format")
        m = _whole(content["n_objectives"], least=1)
        objectives = _numbers(content["objectives"], m)
        n = len(objectives)
        log = _numbers(content["log"], 2 + m)
        if (np.diff(log[:, 0]) < 0).any() or (log[:, :2] < 0).any():
            raise ValueError("the log is not in order")
        violations, unique = content["violations"], content.get("unique_evaluations")
        return cls(
            run=dict(content["run"]),
            fingerprint=_text(content["fingerprint"]),
            error=_text(content["error"]),
            evaluations=_whole(content["evaluations"]),
            cpu_seconds=_positive(content["cpu_seconds"]),
            wall_seconds=_positive(content["wall_seconds"]),
            objectives=objectives,
            violations=float("nan") if violations is None else _positive(violations),
            solutions=[list(solution) for solution in _list(content["solutions"], n)],
            policies=[_whole(policy, least=-1) for policy in _list(content["policies"], n)],
            log=log,
            versions={_text(name): _text(number) for name, number in content["versions"].items()},
            unique_evaluations=None if unique is None else _whole(unique),
        )


def _whole(value: Any, *, least: int = 0) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or not least <= value < 2**63:
        raise ValueError(f"no count: {value!r:.40}")
    return value


def _positive(value: Any) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value < math.inf:
        raise ValueError(f"no number of at least 0: {value!r:.40}")
    return float(value)


def _text(value: Any) -> str:
    if not isinstance(value, str):
        raise ValueError(f"no text: {value!r:.40}")
    value.encode()  # half a character cannot be written on a page
    return value


def _list(value: Any, n: int) -> list[Any]:
    if not isinstance(value, list) or len(value) != n:
        raise ValueError(f"no list of {n} entries")
    return value


def _numbers(value: Any, columns: int) -> NDArray[np.float64]:
    if not isinstance(value, list):
        raise ValueError("no list of numbers")
    array = np.array(value) if value else np.zeros((0, columns))
    if array.ndim != 2 or array.shape[1] != columns or array.dtype.kind not in "if" or not np.isfinite(array).all():
        raise ValueError(f"no rows of {columns} numbers")
    return array.astype(float)


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
        if found in _OLD:
            raise ParetoNRPAError(
                f"{self.folder} holds runs of an earlier version, which are not used any more: {_OLD[found]}. "
                "Name another folder with --results, or move this one away."
            )
        if found != _FORMAT:
            raise ParetoNRPAError(
                f"{self.folder} holds runs of another version ({found[:60]!r} instead of {_FORMAT!r}); "
                "name another folder with --results."
            )

    def path(self, run: Run) -> Path:
        """Return where a run is, or would be."""
        return self._folder_of(run.problem) / f"{run.key}.json"

    def _folder_of(self, problem: str) -> Path:
        return self.folder / "runs" / problem.replace(":", "-").replace("/", "-")[-60:]

    def get(self, run: Run) -> Record | None:
        """Return the record of a run, or None if there is none that can be read."""
        path = self.path(run)
        try:
            record = Record.from_dict(json.loads(path.read_text(encoding="utf-8")))
            if record.run != json.loads(json.dumps(run.to_dict())):
                raise ValueError("another run")
        except FileNotFoundError:
            return None
        except _DAMAGED:
            logger.warning("%s is damaged; the run counts as not made", path)
            return None
        return record

    def seeds(self, problem: str) -> list[int]:
        """Return the seeds of all runs on a problem, by their files; some may be of other algorithms or budgets."""
        names = (path.name for path in self._folder_of(problem).glob("*.json"))
        return sorted({int(match[1]) for name in names if (match := _SEED.search(name))})

    def runs_on(self, problem: str) -> Iterator[Run]:
        """Yield all runs on a problem whose files can be read."""
        for path in sorted(self._folder_of(problem).glob("*.json")):
            with contextlib.suppress(*_DAMAGED):
                run = Run(**json.loads(path.read_text(encoding="utf-8"))["run"])
                if self.path(run) == path:
                    yield run

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
                f"{self.folder} holds runs on other data, or with other code or another version of Python, of the name "
                f"{problem}; name another folder with --results."
            )


def fingerprint_of(name: str, problem: AnyProblem) -> str:
    """Return what tells the problem of a run from another one of its name: data, and code where it is the user's.

    Code is bytecode, which another version of Python makes otherwise; a problem with a `version` goes by that.
    """
    return problem_fingerprint(problem) if is_own(name) else data_fingerprint(problem)


def _write(file: Any, text: str) -> None:
    file.write(text.encode() + b"\n")
