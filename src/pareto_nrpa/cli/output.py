"""The files that a search writes: the result, the page, and the front that is kept after an error."""

from __future__ import annotations

import contextlib
import math
import os
import tempfile
from dataclasses import replace
from json import dumps
from pathlib import Path
from typing import TYPE_CHECKING

from .._util.files import check_writable, file_name
from ..errors import ParetoNRPAError
from ..report import check_page_name, page_beside
from ..solving.callbacks import Callbacks
from ..solving.interrupt import Interrupt
from .common import fail, say
from .options import DEFAULT_OUT

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ..result.result import Result


class Output(Callbacks):
    """Saves a result before the search returns, while signals are deferred."""

    def __init__(
        self,
        name: str,
        *,
        out: Path | None,
        json: Path | None,
        report: Path | None,
        has_page: bool,
        checkpoint: Path | None,
        command: str,
    ) -> None:
        self._named = [path for path in (json, out) if path is not None]
        self._json, self._report, self._has_page, self._command = json, report, has_page, command
        self._targets = _targets(out, json, name)
        self.saved: list[Path] = []
        _check_distinct(self._targets, report, checkpoint)

    def on_end(self, result: Result) -> None:
        """Write the result and the page."""
        result = replace(result, command=self._command)
        self._save(result)
        place = self._report or (page_beside(self.saved[0]) if self._has_page else None)
        if place is not None and len(result.front):
            self.saved.append(result.report(place))

    @contextlib.contextmanager
    def rescue(self) -> Iterator[None]:
        """Save the front that an error carries, and name its file in the message."""
        try:
            yield
        except (Exception, SystemExit, KeyboardInterrupt) as error:
            found: Result | None = getattr(error, "result", None)
            if found is None:
                raise
            with Interrupt(patience=math.inf):
                where = self._rescued(replace(found, command=self._command))
            reason = str(error) if isinstance(error, ParetoNRPAError) else f"{type(error).__name__}: {error}"
            raise ParetoNRPAError(f"{reason.rstrip('. ')}. {where}") from error

    def _rescued(self, result: Result) -> str:
        """Save a front in the first writable place; return a sentence that names it."""
        if self.saved:
            return f"The front found so far is in {self.saved[0]}."
        with contextlib.suppress(ParetoNRPAError, OSError):
            self._save(result)
            return f"The front found so far is in {self.saved[0]}."
        with contextlib.suppress(ParetoNRPAError, OSError):
            place = _reserved(Path(tempfile.gettempdir()) / f"{_stem(result.instance)}-rescued.json")
            return f"The front found so far is in {result.save_json(place)}."
        say(dumps(result.to_dict()))
        return "The front found so far is printed as JSON, as it could not be saved to a file."

    def _save(self, result: Result) -> None:
        """Write all files: a file that the user named is replaced, an earlier result in a folder never is."""
        for path in self._targets:
            place = path if path in self._named else _reserved(path)
            try:
                self.saved.append(result.save_json(place) if path == self._json else result.save(place))
            except BaseException:
                if place not in self._named:
                    place.unlink(missing_ok=True)  # it was reserved only
                raise


def _targets(out: Path | None, json: Path | None, name: str) -> list[Path]:
    """Return the files to save to, all of them writable."""
    targets = [] if json is None else [json]
    if out is not None or json is None:
        place = Path(DEFAULT_OUT) if out is None else out
        ending = place.suffix.lower()
        if ending not in ("", ".json", ".csv") and not place.is_dir():
            fail(f"--out must be a folder or a file ending in .json or .csv, got {place}.")
        targets.append(place if ending in (".json", ".csv") else place / f"{_stem(name)}.json")
    for target in targets:
        check_writable(target)
    return targets


def _check_distinct(targets: list[Path], report: Path | None, checkpoint: Path | None) -> None:
    """Raise if one file is named for two purposes."""
    results = [target.resolve() for target in targets]
    if checkpoint is not None and checkpoint.resolve() in results:
        fail(f"--checkpoint and the result cannot be the same file, got {checkpoint} for both.")
    if report is not None:
        check_page_name(report)
        check_writable(report)
        if report.resolve() in [*results, *([checkpoint.resolve()] if checkpoint else [])]:
            fail(f"--report and the result cannot be the same file, got {report} for both.")


def _stem(name: str) -> str:
    return file_name(name.replace("=", "")).strip(".-")[:100] or "result"


def _reserved(path: Path) -> Path:
    """Return the first of path, path-2, path-3 ... that does not exist, created so that no other process takes it."""
    n = 1
    while True:
        candidate = path if n == 1 else path.with_name(f"{path.stem}-{n}{path.suffix}")
        try:
            candidate.open("x").close()
        except FileExistsError:
            n += 1
        else:
            return candidate


def writes_page(console_is_terminal: bool, *, report: Path | None, is_opened: bool, is_off: bool, quiet: bool) -> bool:
    """Return whether a page is written beside the result: on request, and by default on a terminal."""
    if is_off and (report is not None or is_opened):
        fail(f"--no-report and {'--open' if report is None else '--report'} contradict each other; give one of them.")
    return is_opened or (console_is_terminal and not (is_off or quiet or os.environ.get("CI")))
