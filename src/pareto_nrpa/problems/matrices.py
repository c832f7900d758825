"""Cost matrices: what both families of tours need."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ..exceptions import InstanceError
from ..kernels._jit import kernel

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

_GRAIN = 1e9

BIAS_FACTOR = -10.0  # the paper's bias: -10 times the normalised distance


@kernel
def rounded(cost: Any) -> Any:
    """Return a cost in steps of 1e-9: the same edges summed in another order must not seem better in the last bit."""
    return np.rint(cost * _GRAIN) / _GRAIN


def euclidean(points: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the distances between points [n, 2]."""
    distances: NDArray[np.float64] = np.hypot(*(points[:, None, :] - points[None, :, :]).transpose(2, 0, 1))
    return distances


def checked_matrices(values: ArrayLike, name: str) -> NDArray[np.float64]:
    """Return square cost matrices [m, n, n] as contiguous floats, or say what is wrong with them."""
    try:
        matrices = np.array(values, dtype=float, order="C")
    except (TypeError, ValueError) as error:
        raise InstanceError(f"{name} must be square matrices of numbers, all of one size.") from error
    if matrices.ndim == 2:
        matrices = matrices[None]
    if matrices.ndim != 3 or matrices.shape[1] != matrices.shape[2]:
        raise InstanceError(f"{name} must be square matrices [m, n, n], got shape {matrices.shape}.")
    if len(matrices) == 0:
        raise InstanceError(f"{name} must be at least one matrix, got none.")
    if matrices.shape[1] < 2:
        raise InstanceError(f"{name} must be for at least 2 cities, got {matrices.shape[1]}.")
    if not np.isfinite(matrices).all():
        raise InstanceError(f"{name} must be finite numbers, got NaN or infinity.")
    if (matrices < 0).any():
        raise InstanceError(f"{name} must not be negative, got {matrices.min():g}.")
    return matrices


def normalised(matrices: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return each matrix divided by its largest entry."""
    largest = matrices.max(axis=(1, 2), keepdims=True)
    return np.ascontiguousarray(matrices / np.where(largest > 0, largest, 1.0))
