"""Cost matrices, for all families of routes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ..engine.jit.kernels import kernel
from ..errors import InstanceError

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

BIAS_FACTOR = -10.0  # the paper's bias: -10 times the normalised distance

# Costs of tours are rounded to 1e-9; those below 1 to twelve digits, so that no scale makes different tours equal.
_STEPS, _FIRST_DIGITS = 1e9, 1e11
# The range in which rounding is possible, far beyond real costs.
_SMALLEST, _LARGEST = 1e-200, 1e200
# A detour is shorter if the difference exceeds the rounding error of a sum.
_NOISE = 1e-14


@kernel
def rounded(cost: Any) -> Any:
    """Return a cost rounded to 1e-9, so that the same edges summed in another order give equal costs."""
    if cost >= 1.0 or cost == 0.0:
        return np.rint(cost * _STEPS) / _STEPS
    steps = _STEPS
    while cost * steps < _FIRST_DIGITS:
        steps *= 10.0
    return np.rint(cost * steps) / steps


#: Length of the row of a stretch besides its costs: first and last city.
ENDS = 2


@kernel
def cost_of(data: Any, move: Any, out: Any) -> None:
    """Fill in the row of one city: first city, last city, costs in between. A tour starts and ends in city 0."""
    city = max(move, 0)
    out[0] = city
    out[1] = city
    for k in range(data.costs.shape[0]):
        out[ENDS + k] = 0.0


@kernel
def join_costs(data: Any, left: Any, right: Any, out: Any) -> None:
    """Fill in the row of two stretches, one after the other."""
    here, there = np.uint64(left[1]), np.uint64(right[0])
    for k in range(data.costs.shape[0]):
        out[ENDS + k] = left[ENDS + k] + data.costs[k, here, there] + right[ENDS + k]
    out[0] = left[0]
    out[1] = right[1]


@kernel
def arc_of(data: Any, here: Any, there: Any, out: Any) -> None:
    """Fill in the costs from one city to the next. A tour starts and ends in city 0."""
    for k in range(data.costs.shape[0]):
        out[k] = data.costs[k, max(here, 0), max(there, 0)]


# Weight of waiting relative to travel; lateness has weight 1 (Vidal et al. 2013).
_WAITING = 0.2


@kernel
def delay(time: Any, earliest: Any, latest: Any, opens: Any, closes: Any) -> Any:
    """Return the least waiting and lateness at the end of an arc that starts in a window, in units of travel."""
    return _WAITING * max(0.0, opens - time - latest) + max(0.0, earliest + time - closes)


def usual(times: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return [1] a typical travel time, 1 if all are 0."""
    return np.array([np.median(times[times > 0]) if (times > 0).any() else 1.0])


def rounded_all(costs: ArrayLike) -> NDArray[np.float64]:
    """Return an array of costs, each `rounded`."""
    values = np.asarray(costs, dtype=float)
    steps = np.full(values.shape, _STEPS)
    is_small = (values > 0) & (values < 1)
    while (short := is_small & (values * steps < _FIRST_DIGITS)).any():
        steps[short] *= 10.0
    return np.asarray(np.rint(values * steps) / steps)


def step_below(costs: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return a lower bound on the difference between each rounded cost and the next smaller one."""
    return np.where(costs > 1, 1 / _STEPS, np.maximum(costs, 0.0) / (10 * _FIRST_DIGITS))


def euclidean(points: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the distances between points [n, 2]; infinite where they are too large for a number."""
    with np.errstate(over="ignore"):
        distances: NDArray[np.float64] = np.hypot(*(points[:, None, :] - points[None, :, :]).transpose(2, 0, 1))
    return distances


def checked_floats(values: ArrayLike, name: str, what: str) -> NDArray[np.float64]:
    """Return a copy of an array as contiguous floats, or raise that it must be `what`."""
    try:
        given = np.asarray(values)
        if given.dtype.kind not in "biufO":  # text would be read as numbers, and complex numbers lose a part
            raise TypeError
        return np.array(given, dtype=float, order="C")
    except (OverflowError, TypeError, ValueError) as error:
        raise InstanceError(f"{name} must be {what}.") from error


def checked_matrices(values: ArrayLike, name: str) -> NDArray[np.float64]:
    """Return square cost matrices [m, n, n] as contiguous floats, or raise with the reason."""
    matrices = checked_floats(values, name, "square matrices of numbers, all of one size")
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
    extreme = matrices[(matrices > 0) & ((matrices < _SMALLEST) | (matrices > _LARGEST))]
    if extreme.size:
        raise InstanceError(f"{name} must be 0 or from {_SMALLEST:g} to {_LARGEST:g}, got {extreme[0]:g}.")
    return matrices


def shortest_times(times: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the shortest travel times [n, n] over other cities except city 0 (Floyd-Warshall).

    If no detour is shorter, as under the triangle inequality, the given array itself is returned.
    """
    shortest, detour = times.copy(), np.empty_like(times)
    for stop in range(1, len(times)):
        np.add(shortest[:, stop : stop + 1], shortest[stop], out=detour)
        np.minimum(shortest, detour, out=shortest)
    is_shorter = shortest < (1 - _NOISE) * times
    np.fill_diagonal(is_shorter, False)  # the diagonal is not used
    return np.where(is_shorter, shortest, times) if is_shorter.any() else times


def normalised(matrices: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return each matrix divided by its largest entry."""
    largest = matrices.max(axis=(1, 2), keepdims=True)
    return np.ascontiguousarray(matrices / np.where(largest > 0, largest, 1.0))
