"""The live line of a running experiment."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..solving.progress_bar import LiveLine, duration

if TYPE_CHECKING:
    from ..experiments.runner import Status


class ExperimentBar(LiveLine):
    """A live line for many runs: number done, remaining time."""

    def __init__(self, name: str, *, quiet: bool = False) -> None:
        super().__init__(quiet=quiet)
        self._name = name

    def __enter__(self) -> ExperimentBar:
        self.draw(self._name)
        return self

    def update(self, status: Status) -> None:
        """Show the progress of the experiment."""
        left = status.seconds_left
        numbers = f"{self._name} {status.done}/{status.total} runs"
        numbers += f", {status.failures} failed" if status.failures else ""
        numbers += f", {duration(left)} left" if left else ""
        self.draw(numbers, status.done, status.total)
