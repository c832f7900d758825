"""The errors that a caller may want to catch by name."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .result.result import Result


class ParetoNRPAError(ValueError):
    """Base class of the errors of this package; `result`, if set, holds the best front found before the error."""

    result: Result | None = None


class ProblemError(ParetoNRPAError):
    """A problem violates its interface."""


class InstanceError(ParetoNRPAError):
    """An instance is unknown, or its file is not valid in its format."""


class CheckpointError(ParetoNRPAError):
    """A checkpoint is damaged, or belongs to another problem or other settings."""


class DataError(ParetoNRPAError):
    """Benchmark data could not be downloaded, or do not match their checksums."""
