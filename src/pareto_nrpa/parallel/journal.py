"""Every finished evaluation, a line of JSON each, on disk before the search hears of it."""

from __future__ import annotations

import json
import math
import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..exceptions import CheckpointError
from ..files import check_writable, unwritable
from ..nrpa.checkpoint import decode, encode
from .evaluation import Outcome

if TYPE_CHECKING:
    from typing import BinaryIO

_FORMAT = "pareto-nrpa journal 1"
_BEGINNING = json.dumps({"format": _FORMAT}).encode()[:-1]

Solution = tuple[Any, ...]


class Journal:
    """A file that only ever grows: what the search is, then what each of its evaluations came to.

    A line that was half written when the machine went down is taken off when the file is opened again. While it is
    open here, no other process can open it.
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.path = Path(path)
        check_writable(path)
        self.header: dict[str, Any] | None = None
        #: By solution, in the order in which they were finished: the outcome, and the seconds since the search began.
        self.entries: dict[Solution, tuple[Outcome, float]] = {}
        try:
            self._file: BinaryIO = open(path, "a+b", buffering=0)  # noqa: SIM115
        except OSError as error:
            raise unwritable(self.path, error) from error
        try:
            self._lock()
            self._read()
        except BaseException:
            self.close()
            raise

    def go_on(self, header: dict[str, Any], *, resume: bool, same_problem: bool) -> dict[str, Any]:
        """Begin with what the search is, or check that it is the one that began; returns the header in force."""
        ours = json.loads(json.dumps({"format": _FORMAT, **header}, default=lambda number: number.item()))
        if self.header is not None:
            if not resume:
                raise CheckpointError(f"{self.path} already exists; resume to go on from it, or name another file.")
            self._check_match(ours, same_problem)
        self._file.truncate(self._whole)
        if self.header is None:
            self._append(ours)
            self.header = ours
        return self.header

    def _check_match(self, ours: dict[str, Any], same_problem: bool) -> None:
        theirs = self.header or {}
        if theirs.get("problem") != ours["problem"] and not same_problem:
            raise CheckpointError(
                f"the checkpoint {self.path} is of another problem ({theirs.get('instance')}), or the code or data of "
                f"{ours['instance']} have changed since; name another file, or set same_problem if its results hold."
            )
        for part in ("seed", "window"):
            if theirs.get(part) != ours[part]:
                raise _mismatch(self.path, part, theirs.get(part), ours[part])
        for name, value in ours["parameters"].items():
            before = theirs.get("parameters", {}).get(name)
            if before != value:
                raise _mismatch(self.path, name, before, value)

    def append(self, solution: Solution, outcome: Outcome, elapsed: float) -> None:
        """Write down a finished evaluation; it is on disk when this returns."""
        line: dict[str, Any] = {"solution": [encode(move) for move in solution]}
        if outcome.error:
            line["error"] = outcome.error
        else:
            line |= {"objectives": outcome.objectives, "violations": outcome.violations}
        times = {"seconds": outcome.seconds, "cpu_seconds": outcome.cpu_seconds, "elapsed": elapsed}
        self._append(line | {name: round(value, 6) for name, value in times.items()})
        self.entries[solution] = (outcome, elapsed)

    def close(self) -> None:
        """Let others open the file."""
        self._file.close()

    def _append(self, line: dict[str, Any]) -> None:
        text = json.dumps(line, allow_nan=False).encode() + b"\n"
        try:
            written = self._file.write(text)
            if written != len(text):
                raise OSError("the disk is full")
            os.fsync(self._file.fileno())
        except OSError as error:
            raise unwritable(self.path, error) from error

    def _lock(self) -> None:
        try:
            import fcntl
        except ImportError:  # Windows
            return
        try:
            fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            message = f"another process is writing to the checkpoint {self.path}; wait for it, or name another file."
            raise CheckpointError(message) from error
        except OSError:  # some file systems know no locks
            return

    def _read(self) -> None:
        self._file.seek(0)
        content = self._file.read()
        self._whole = content.rfind(b"\n") + 1  # half a line has no end
        for number, line in enumerate(content[: self._whole].splitlines(), 1):
            try:
                self._take(json.loads(line))
            except (ValueError, KeyError, TypeError, AttributeError) as error:
                raise CheckpointError(
                    f"line {number} of the checkpoint {self.path} is not one of a journal of pareto-nrpa; take it out, "
                    "or name another file."
                ) from error
        if not self._whole and not content.startswith(_BEGINNING[: len(content)]):
            raise CheckpointError(f"{self.path} is not a journal of pareto-nrpa; name another file.")

    def _take(self, line: dict[str, Any]) -> None:
        if self.header is None:
            if line["format"] != _FORMAT:
                raise ValueError("unknown format")
            self.header = line
            return
        outcome = Outcome(
            tuple(map(float, line.get("objectives", ()))),
            float(line.get("violations", 0.0)),
            str(line.get("error", "")),
            float(line["seconds"]),
            float(line["cpu_seconds"]),
        )
        if not outcome.error and not (outcome.objectives and all(map(math.isfinite, outcome.objectives))):
            raise ValueError("neither objectives nor error")
        self.entries[tuple(map(decode, line["solution"]))] = (outcome, float(line["elapsed"]))


def _mismatch(path: Path, name: str, before: Any, now: Any) -> CheckpointError:
    return CheckpointError(
        f"the checkpoint {path} was made with {name}={before}, not {now}; use that, or another file."
    )
