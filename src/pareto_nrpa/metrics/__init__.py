"""Measures of a front: arrays in, one number out; all objectives minimised."""

from .hypervolume import (
    MANY_OBJECTIVES,
    approximate_hypervolume,
    hypervolume,
    hypervolume_history,
    is_affordable,
    quick_hypervolume,
    worst_point,
)
from .reference import igd_plus, n_found, nondominated, share_of_hypervolume
from .spacing import spacing
from .spread import overall_spread
from .violations import constraint_violations

__all__ = [
    "MANY_OBJECTIVES",
    "approximate_hypervolume",
    "constraint_violations",
    "hypervolume",
    "hypervolume_history",
    "igd_plus",
    "is_affordable",
    "n_found",
    "nondominated",
    "overall_spread",
    "quick_hypervolume",
    "share_of_hypervolume",
    "spacing",
    "worst_point",
]
