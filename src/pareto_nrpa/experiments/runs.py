"""Finished runs: a line of JSON each, in journals in a folder shared by plans."""

from __future__ import annotations

import logging
from contextlib import contextmanager
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import msgspec
import numpy as np
from msgspec import Meta

from .._util.files import LineFile, whole_lines
from ..errors import ParetoNRPAError
from .plan import Run

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from numpy.typing import NDArray

logger = logging.getLogger(__name__)


class RunRecord(msgspec.Struct, frozen=True, dict=True):
    """A run that has ended, finished or failed; a line of a journal is one as JSON."""

    run: Run
    fingerprint: str = ""  # of the problem's data
    error: str = ""  # empty if the run finished
    evaluations: Annotated[int, Meta(ge=0)] = 0
    cpu_seconds: Annotated[float, Meta(ge=0)] = 0.0
    wall_seconds: Annotated[float, Meta(ge=0)] = 0.0
    objectives: list[list[float]] = []  # [n][m], minimised
    violations: float | None = None  # of all solutions of the front; None if it is empty
    solutions: msgspec.Raw = msgspec.Raw(b"[]")
    policies: list[int] = []
    log: list[list[float]] = []  # [k][2 + m]: evaluation, violations, minimised objectives, thinned
    versions: dict[str, str] = {}
    unique_evaluations: int | None = None  # None if not counted

    def __post_init__(self) -> None:
        if bool(self.error) == bool(self.log):
            raise ValueError("a run that did not fail must have a log")
        widths = {len(row) for row in self.objectives} | {len(row) - 2 for row in self.log}
        if len(widths) > 1 or len(self.policies) != len(self.objectives):
            raise ValueError("objectives, policies and log must have the same size")

    @cached_property
    def feasible(self) -> NDArray[np.float64]:
        """The objectives of the feasible solutions [n, m]: all of the front or none."""
        return _rows(self.objectives if self.violations == 0 else [], 2)

    @cached_property
    def feasible_log(self) -> NDArray[np.float64]:
        """The lines of the log with a feasible solution, without their violations [k, 1 + m]."""
        log = _rows(self.log, 4)
        return np.delete(log[log[:, 1] == 0], 1, axis=1)


def _rows(values: list[list[float]], width: int) -> NDArray[np.float64]:
    return np.array(values, dtype=float) if values else np.zeros((0, width))


class RunStore:
    """A folder of runs: it reads all journals in it, and appends to one.

    Parameters
    ----------
    journal
        The name of the journal to append to; concurrent processes have one each.
    """

    def __init__(self, folder: str | Path, journal: str = "runs") -> None:
        self.folder = Path(folder)
        self.path = self.folder / "runs" / f"{journal}.jsonl"
        self._journal: LineFile | None = None
        self._found: dict[str, tuple[Run, bytes]] = {}  # by key: the run, and its line
        for path in sorted(self.path.parent.glob("*.jsonl")):
            try:
                content = whole_lines(path.read_bytes())
            except OSError as error:
                raise ParetoNRPAError(f"cannot read {path}: {error.strerror or error}.") from error
            for number, line in enumerate(content.splitlines(), start=1):
                record = _decoded(line)
                if record is None:
                    logger.warning("line %d of %s is damaged; its run counts as missing", number, path)
                else:
                    self._found[record.run.key] = record.run, line

    @contextmanager
    def opened(self) -> Iterator[None]:
        """Open the journal for appending."""
        in_use = f"another process is writing to {self.path}; wait for it, or name another folder with --results."
        self._journal = LineFile(self.path, in_use=ParetoNRPAError(in_use))
        try:
            yield
        finally:
            self._journal.close()
            self._journal = None

    def put(self, line: bytes) -> None:
        """Append a record, as JSON in one line, to the open journal."""
        assert self._journal is not None
        self._journal.append(line)
        run = msgspec.json.decode(line, type=RunRecord).run
        self._found[run.key] = run, line

    def get(self, run: Run) -> RunRecord | None:
        """Return the record of a run, None if there is none."""
        found = self._found.get(run.key)
        return None if found is None else msgspec.json.decode(found[1], type=RunRecord)

    def runs_on(self, problem: str) -> list[Run]:
        """Return all runs on a problem."""
        return [run for run, _ in self._found.values() if run.problem == problem]

    def missing(
        self, runs: Iterable[Run], *, retry_failed: bool = False, fingerprints: Mapping[str, str] | None = None
    ) -> Iterator[Run]:
        """Yield the missing runs."""
        for run in runs:
            record = self.get(run)
            self.check_data(record, (fingerprints or {}).get(run.problem))
            if record is None or (record.error and retry_failed):
                yield run

    def check_data(self, record: RunRecord | None, fingerprint: str | None) -> None:
        """Raise if a run was made on other data than those of the problem."""
        if record is not None and not record.error and fingerprint is not None and record.fingerprint != fingerprint:
            raise ParetoNRPAError(
                f"{self.folder} holds runs of {record.run.problem} on other data or code, or with another version "
                f"of Python; name another folder with --results."
            )


def _decoded(line: bytes) -> RunRecord | None:
    """Return the record in a line, None if it is none."""
    try:
        return msgspec.json.decode(line, type=RunRecord)
    except (ValueError, RecursionError):
        return None
