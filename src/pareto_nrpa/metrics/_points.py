"""The one check that all metrics share."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray


def as_points(points: ArrayLike) -> NDArray[np.float64]:
    """Return points as an array [n, m] of finite numbers."""
    array = np.asarray(points, dtype=float)
    if array.ndim != 2:
        raise ValueError(f"points must be an array [n, m], got shape {array.shape}.")
    if not np.isfinite(array).all():
        raise ValueError("points must be finite, got NaN or infinity.")
    return array


def as_vector(values: ArrayLike, m: int, name: str) -> NDArray[np.float64]:
    """Return one number per objective."""
    array = np.asarray(values, dtype=float)
    if array.shape != (m,):
        raise ValueError(f"{name} must have one entry for each of the {m} objectives, got shape {array.shape}.")
    if not np.isfinite(array).all():
        raise ValueError(f"{name} must be finite, got {array.tolist()}.")
    return array
