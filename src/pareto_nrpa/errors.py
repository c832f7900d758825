"""The errors that a caller may want to catch by name."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .result.result import Result


class ParetoNRPAError(ValueError):
    """What every error of this package is; `result`, where there is one, holds the best front found before."""

    result: Result | None = None


class ProblemError(ParetoNRPAError):
    """A problem broke its promise."""


class InstanceError(ParetoNRPAError):
    """An instance is unknown, or its file cannot be read as what it claims to be."""


class CheckpointError(ParetoNRPAError):
    """A checkpoint is damaged, or belongs to another problem or other settings."""


class DataError(ParetoNRPAError):
    """Benchmark data could not be downloaded, or are not what they should be."""
