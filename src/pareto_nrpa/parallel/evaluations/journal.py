"""The journal of evaluations: a line of JSON each, on disk before the search is told."""

from __future__ import annotations

import json
import zlib
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..._util.checks import is_number, short, shown
from ..._util.files import LineFile, in_use, whole_lines
from ...engine.state import decode, encode
from ...errors import CheckpointError
from .task import Evaluation

if TYPE_CHECKING:
    import os

_FORMAT = "pareto-nrpa journal 1"
_BEGINNING = json.dumps({"format": _FORMAT}).encode()[:-1]

Solution = tuple[Any, ...]


class Journal:
    """An append-only file: settings of the search, then the outcome of each evaluation.

    Every line ends with a checksum, so that a changed one is detected. An incomplete last line is removed when the file
    is opened again. While it is open here, no other process can open it.
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.path = Path(path)
        self.header: dict[str, Any] | None = None
        #: By solution, in the order in which they were finished: the outcome, and the seconds since the search began.
        self.entries: dict[Solution, tuple[Evaluation, float]] = {}
        self._file = LineFile(path, in_use=CheckpointError(in_use(path)))
        try:
            self._read()
        except BaseException:
            self.close()
            raise

    def go_on(self, header: dict[str, Any], m: int, *, resume: bool, same_problem: bool) -> dict[str, Any]:
        """Write the settings of a search of m objectives, or compare them with the header; returns the valid header."""
        ours = json.loads(json.dumps({"format": _FORMAT, **header}, default=lambda number: number.item()))
        if self.header is not None:
            if not resume:
                raise CheckpointError(f"{self.path} already exists; resume to continue from it, or name another file.")
            self._check_match(ours, same_problem)
            for solution, (outcome, _) in self.entries.items():
                if not outcome.error and len(outcome.objectives) != m:
                    raise CheckpointError(
                        f"the journal {self.path} has {len(outcome.objectives)} objectives, not {m}, for the "
                        f"solution {shown(list(solution))}; take its line out, or name another file."
                    )
        if self.header is None:
            self._append(ours)
            self.header = ours
        return self.header

    def _check_match(self, ours: dict[str, Any], same_problem: bool) -> None:
        theirs = self.header or {}
        if theirs.get("problem") != ours["problem"] and not same_problem:
            raise CheckpointError(
                f"the journal {self.path} is of another problem ({short(theirs.get('instance'))}), or the code or "
                f"data of {ours['instance']} have changed since; name another file, or set same_problem if its "
                "results hold."
            )
        for part in ("seed", "lookahead"):
            if theirs[part] != ours[part]:
                raise _mismatch(self.path, part, theirs[part], ours[part])
        for name, value in ours["parameters"].items():
            before = theirs["parameters"].get(name)
            if before != value:
                raise _mismatch(self.path, name, before, value)

    def append(self, solution: Solution, outcome: Evaluation, elapsed: float) -> None:
        """Append a finished evaluation; it is on disk when this returns."""
        line: dict[str, Any] = {"solution": [encode(move) for move in solution]}
        if outcome.error:
            line["error"] = outcome.error
        else:
            line |= {"objectives": outcome.objectives, "violations": outcome.violations}
        times = {"seconds": outcome.seconds, "cpu_seconds": outcome.cpu_seconds, "elapsed": elapsed}
        self._append(line | {name: round(value, 6) for name, value in times.items()})
        self.entries[solution] = (outcome, elapsed)

    def close(self) -> None:
        """Close the file and release its lock."""
        self._file.close()

    def _append(self, line: dict[str, Any]) -> None:
        self._file.append(json.dumps(line | {"sum": line_sum(line)}, allow_nan=False).encode())

    def _read(self) -> None:
        content = self._file.content
        whole = whole_lines(content)
        for number, line in enumerate(whole.splitlines(), 1):
            try:
                self._take(json.loads(line))
            except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
                raise CheckpointError(
                    f"line {number} of the journal {self.path} is not one of a journal of pareto-nrpa, or was "
                    "changed; take it out, or name another file."
                ) from error
        if not whole and not content.startswith(_BEGINNING[: len(content)]):
            raise CheckpointError(f"{self.path} is not a journal of pareto-nrpa; name another file.")

    def _take(self, line: dict[str, Any]) -> None:
        if line.pop("sum") != line_sum(line):
            raise ValueError("changed")
        if self.header is None:
            self.header = _checked_header(line)
        else:
            if not isinstance(line["solution"], list):
                raise TypeError("not a list of moves")
            self.entries[tuple(map(decode, line["solution"]))] = (_outcome(line), _amount(line["elapsed"]))


def line_sum(line: dict[str, Any]) -> str:
    """Return the checksum of a line."""
    return f"{zlib.crc32(json.dumps(line).encode()):08x}"


def _checked_header(line: dict[str, Any]) -> dict[str, Any]:
    is_right = (
        line["format"] == _FORMAT
        and all(type(line[name]) is int and line[name] >= 0 for name in ("seed", "lookahead"))
        and (line["budget"] is None or (type(line["budget"]) is int and line["budget"] > 0))
        and isinstance(line["parameters"], dict)
        and all(isinstance(line[name], str) for name in ("problem", "instance"))
    )
    if not is_right:
        raise ValueError("not a header")
    return line


def _outcome(line: dict[str, Any]) -> Evaluation:
    times = _amount(line["seconds"]), _amount(line["cpu_seconds"])
    if "error" in line:
        if not isinstance(line["error"], str) or not line["error"]:
            raise ValueError("an error must be text")
        return Evaluation((), 0.0, line["error"], *times)
    if not line["objectives"] or not all(map(is_number, line["objectives"])):
        raise ValueError("objectives must be finite numbers")
    return Evaluation(tuple(map(float, line["objectives"])), _amount(line["violations"]), "", *times)


def _amount(value: Any) -> float:
    if not is_number(value) or value < 0:
        raise ValueError("must be a finite number of at least 0")
    return float(value)


def _mismatch(path: Path, name: str, before: Any, now: Any) -> CheckpointError:
    return CheckpointError(
        f"the journal {path} was made with {name}={shown(before)}, not {now}; use that, or another file."
    )
