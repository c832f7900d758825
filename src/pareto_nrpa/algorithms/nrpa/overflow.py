"""Weights that learning has made too large to be compared."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ...engine.arrays import BAD_BIAS, SearchState, Settings
from ...engine.messages import overflow_message
from ...errors import ProblemError

if TYPE_CHECKING:
    from ...problem.base import AnyProblem


def weight_error(status: int, machine: SearchState, settings: Settings, problem: AnyProblem) -> ProblemError | None:
    """Return what to say of a bias that seems wrong where it is learning that went too far, else None."""
    if status != BAD_BIAS:
        return None
    # NaN also stands for a code that was not met yet.
    is_met = np.isfinite(machine.starts) if settings.bias_by_code else True
    if not (~np.isfinite(machine.weights) & is_met).any():
        return None
    return ProblemError(overflow_message(settings.alpha, problem))
