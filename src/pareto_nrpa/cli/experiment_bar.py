"""What is shown while an experiment runs."""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING

from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn

from .._util.checks import printable

if TYPE_CHECKING:
    from ..experiments.runner import Status


class ExperimentBar:
    """A live line for many runs: how many are done, how long the rest will take."""

    def __init__(self, name: str, *, quiet: bool = False) -> None:
        self._bar = Progress(
            TextColumn("{task.description}", markup=False),
            BarColumn(bar_width=20),
            TextColumn("{task.fields[numbers]}"),
            console=Console(stderr=True, quiet=quiet),
            disable=quiet,
        )
        self._task = self._bar.add_task(printable(name), total=None, numbers="")

    def __enter__(self) -> ExperimentBar:
        self._bar.start()
        return self

    def __exit__(self, *exception: object) -> None:
        self._bar.stop()

    def update(self, status: Status) -> None:
        """Show where the experiment stands."""
        left = status.seconds_left
        numbers = f"{status.done}/{status.total} runs"
        numbers += f", {status.failures} failed" if status.failures else ""
        numbers += f", {duration(left)} left" if left else ""
        with contextlib.suppress(OSError):
            self._bar.update(self._task, total=status.total, completed=status.done, numbers=numbers)


def duration(seconds: float) -> str:
    """Return a time as one says it."""
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours} h {minutes:02d} min" if hours else f"{minutes} min {rest:02d} s" if minutes else f"{rest} s"
