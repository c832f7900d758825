"""Measures of a front: arrays in, one number out; all objectives minimised."""

from .hypervolume import MANY_OBJECTIVES, hypervolume, hypervolume_history, worst_point
from .known_front import igd_plus, n_found, nondominated, share_of_hypervolume
from .spacing import spacing
from .spread import overall_spread
from .violations import constraint_violations

__all__ = [
    "MANY_OBJECTIVES",
    "constraint_violations",
    "hypervolume",
    "hypervolume_history",
    "igd_plus",
    "n_found",
    "nondominated",
    "overall_spread",
    "share_of_hypervolume",
    "spacing",
    "worst_point",
]
