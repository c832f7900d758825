"""Measures of a front: arrays in, one number out; all objectives minimised."""

from .hypervolume import MANY_OBJECTIVES, hypervolume, hypervolume_history, worst_point
from .known_front import n_found, nondominated
from .spacing import spacing
from .spread import overall_spread
from .violations import constraint_violations

__all__ = [
    "MANY_OBJECTIVES",
    "constraint_violations",
    "hypervolume",
    "hypervolume_history",
    "n_found",
    "nondominated",
    "overall_spread",
    "spacing",
    "worst_point",
]
