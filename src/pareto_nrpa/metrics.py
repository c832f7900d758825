"""Measures of a front: arrays in, one number out; all objectives minimised."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

__all__ = [
    "MANY_OBJECTIVES",
    "approximate_hypervolume",
    "constraint_violations",
    "hypervolume",
    "hypervolume_history",
    "igd_plus",
    "is_affordable",
    "is_nondominated",
    "n_found",
    "nondominated",
    "overall_spread",
    "quick_hypervolume",
    "share_of_hypervolume",
    "spacing",
    "worst_point",
]

_MARGIN = 0.1
_LARGEST = float(np.finfo(float).max)

#: From this number of objectives on a hypervolume is measured on request only: its approximation is too coarse.
MANY_OBJECTIVES = 8
# How many steps of a history are measured at most, by the number of objectives.
_MOST_STEPS = {1: 500, 2: 500, 3: 500, 4: 100, 5: 50, 6: 10, 7: 10}
# In units of about 10 ns. Costs are estimated from numbers of points, never from a clock: same seed, same history.
_LONGEST_MEASUREMENT = 1e7
_LONGEST_HISTORY = 5e7
_COST_OF_A_SAMPLE = 0.14  # per point
_MOST_SAMPLES, _LEAST_SAMPLES = 2**16, 2**10


def as_points(points: ArrayLike) -> NDArray[np.float64]:
    """Return points as an array [n, m] of finite numbers."""
    array = np.asarray(points, dtype=float)
    if array.ndim != 2:
        raise ValueError(f"points must be an array [n, m], got shape {array.shape}.")
    if not np.isfinite(array).all():
        raise ValueError("points must be finite, got NaN or infinity.")
    return array


def as_vector(values: ArrayLike, m: int, name: str) -> NDArray[np.float64]:
    """Return one finite number per objective."""
    try:
        array = np.asarray(values, dtype=float)
    except (TypeError, ValueError, OverflowError):
        array = np.zeros(0)
    if array.shape != (m,) or not np.isfinite(array).all():
        raise ValueError(f"{name} must be {m} finite numbers, got {values!r:.100}.")
    return array


# --- Hypervolume (paper, equation 3): the size of what a front dominates, up to a reference point.


def hypervolume(points: ArrayLike, *, reference_point: ArrayLike) -> float:
    """Return the hypervolume of points [n, m]; those not better than the reference everywhere add nothing."""
    import moocore

    array = as_points(points)
    reference = as_vector(reference_point, array.shape[1], "reference_point")
    inside = array[(array < reference).all(axis=1)]
    if len(inside) == 0:
        return 0.0
    if array.shape[1] == 1:
        return float(reference[0] - inside.min())
    return min(float(moocore.hypervolume(inside, ref=reference)), _LARGEST)


def is_affordable(n: int, m: int) -> bool:
    """Tell whether the exact hypervolume of n points in m objectives takes about a tenth of a second at most."""
    return _cost(n, m) <= _LONGEST_MEASUREMENT


def _cost(n: float, m: int) -> float:
    """Estimate the cost of an exact hypervolume, as measured with moocore on fronts of several shapes."""
    if m <= 3:
        return 10.0 * n
    return n * n / 20 if m == 4 else n * n * (n / 6) ** (m - 5)


def quick_hypervolume(points: ArrayLike, *, reference_point: ArrayLike) -> float:
    """Return the hypervolume, exact where that is cheap (`is_affordable`), else approximated."""
    n, m = as_points(points).shape
    measure = hypervolume if is_affordable(n, m) else approximate_hypervolume
    return measure(points, reference_point=reference_point)


def approximate_hypervolume(points: ArrayLike, *, reference_point: ArrayLike) -> float:
    """Return an approximate hypervolume of points [n, m], by moocore's `hv_approx`; deterministic.

    The error is about 0.1 % for up to 8 objectives and 1,000 points, and a few per cent beyond.
    """
    array = as_points(points)
    reference = as_vector(reference_point, array.shape[1], "reference_point")
    inside = array[(array < reference).all(axis=1)]
    return _approximate(inside, reference, _samples(len(inside), _LONGEST_MEASUREMENT)) if len(inside) else 0.0


def _samples(n: int, cost: float) -> int:
    return int(min(max(cost / (_COST_OF_A_SAMPLE * max(n, 1)), _LEAST_SAMPLES), _MOST_SAMPLES))


def _approximate(
    inside: NDArray[np.float64], reference: NDArray[np.float64], samples: int, best: NDArray[np.float64] | None = None
) -> float:
    """Return the approximate hypervolume of points all better than the reference, in a box scaled to unit size."""
    import moocore

    with np.errstate(over="ignore"):
        size = np.minimum(reference - (inside.min(axis=0) if best is None else best), _LARGEST)
        volume = float(np.prod(size)) * float(
            moocore.hv_approx((inside - reference) / size, ref=np.zeros(len(size)), nsamples=samples, seed=0)
        )
    return min(volume, _LARGEST)


def worst_point(points: ArrayLike) -> NDArray[np.float64]:
    """Return a default reference point: the worst value of each objective plus a tenth of its range."""
    array = as_points(points)
    worst, best = array.max(axis=0), array.min(axis=0)
    with np.errstate(over="ignore"):
        span = np.where(worst > best, worst - best, np.maximum(np.abs(worst), 1.0))
        reference: NDArray[np.float64] = np.minimum(worst + _MARGIN * span, _LARGEST)
    return reference


def hypervolume_history(
    log: NDArray[np.float64], reference_point: ArrayLike, front: NDArray[np.float64] | None = None
) -> NDArray[np.float64]:
    """Return [k, 2]: evaluation, and hypervolume of all that was feasible up to it; empty from 8 objectives on.

    Parameters
    ----------
    log
        [n, 2 + m]: evaluation, violations and objectives of every solution that entered the archive, in order.
    reference_point
        The reference point of the hypervolume.
    front
        The non-dominated part of the log, where it is known. If the exact hypervolume of so many points is
        not affordable (`is_affordable`), all of the history is approximated.
    """
    m = log.shape[1] - 2
    if len(log) == 0 or m >= MANY_OBJECTIVES:
        return np.zeros((0, 2))
    reference = as_vector(reference_point, m, "reference_point")
    inside = (log[:, 1] == 0) & (log[:, 2:] < reference).all(axis=1)
    counts = np.cumsum(inside)
    is_exact = is_affordable(len(front) if front is not None else int(counts[-1]), m)
    rows = _rows(counts, m, is_exact)
    best = log[inside, 2:].min(axis=0, initial=_LARGEST)
    values = []
    for row in rows:
        points = log[: row + 1, 2:][inside[: row + 1]]
        if row == rows[-1] and front is not None and len(points) and not is_affordable(len(points), m):
            points = front[(front < reference).all(axis=1)]
        if not len(points):
            values.append(0.0)
        elif is_exact:
            values.append(hypervolume(points, reference_point=reference))
        else:  # with the same samples in the same box at every step: it rises as the true one does
            samples = _samples(int(counts[rows].sum()), _LONGEST_HISTORY)
            values.append(_approximate(points, reference, samples, best))
    return np.column_stack([log[rows, 0], values])


def _rows(counts: NDArray[np.int64], m: int, is_exact: bool) -> NDArray[np.int64]:
    """Return which steps of a history to measure: evenly spaced, as many as are affordable, the last in any case."""
    last = len(counts) - 1
    for most in range(min(len(counts), _MOST_STEPS[m]), 1, -1):
        rows = np.unique(np.linspace(0, last, most).astype(int))
        steps = counts[rows[:-1]].astype(float)  # the last one is measured from the front
        costs = [_cost(n, m) for n in steps] if is_exact else steps * (_COST_OF_A_SAMPLE * _LEAST_SAMPLES)
        if sum(costs) <= _LONGEST_HISTORY:
            return rows
    return np.array([last])


# --- Comparison with a known front.


def is_nondominated(points: ArrayLike, *, keep_weakly: bool = True) -> NDArray[np.bool_]:
    """Return for each point whether no other dominates it [n]; equal points are kept, or only the first of them."""
    import moocore

    array = as_points(points)
    if len(array) == 0:
        return np.zeros(0, dtype=bool)
    return np.asarray(moocore.is_nondominated(array, keep_weakly=keep_weakly), dtype=bool)


def nondominated(points: ArrayLike) -> NDArray[np.float64]:
    """Return the points that no other dominates, each once, in the order of their objectives."""
    array = as_points(points)
    return np.unique(array[is_nondominated(array)], axis=0) if len(array) else array


def n_found(points: ArrayLike, front: ArrayLike, *, tolerance: float = 0.0) -> int:
    """Return how many points of a known front are among the points found, up to a tolerance in each objective."""
    found, known = as_points(points), as_points(front)
    if tolerance:
        # Only points near in the first objective are compared: fronts of three objectives have tens of thousands.
        found = found[np.argsort(found[:, 0])]
        begins = np.searchsorted(found[:, 0], known[:, 0] - 2 * tolerance, side="left")
        ends = np.searchsorted(found[:, 0], known[:, 0] + 2 * tolerance, side="right")
        near = (np.abs(found[a:b] - row) <= tolerance for a, b, row in zip(begins, ends, known, strict=True))
        return sum(bool(is_near.all(axis=1).any()) for is_near in near)
    rows = {tuple(row) for row in found.tolist()}
    return sum(tuple(row) in rows for row in known.tolist())


def share_of_hypervolume(points: ArrayLike, front: ArrayLike, *, reference_point: ArrayLike) -> float:
    """Return how much of the hypervolume of a known front the points found have; NaN where that is 0.

    A number instead of the front is its hypervolume, computed once for many sets of points.
    """
    whole = (
        float(front) if isinstance(front, int | float) else quick_hypervolume(front, reference_point=reference_point)
    )
    array = as_points(points)
    if whole == 0:
        return float("nan")
    return quick_hypervolume(array, reference_point=reference_point) / whole if len(array) else 0.0


def igd_plus(points: ArrayLike, front: ArrayLike) -> float:
    """Return IGD+ (Ishibuchi et al. 2015): how far the points of a known front are from being dominated, on average.

    0 if all are found; infinite without points. Objectives of different units should be scaled before.
    """
    import moocore

    array, reference = as_points(points), as_points(front)
    if len(reference) == 0:
        raise ValueError("front must have at least one point, got none.")
    return float(moocore.igd_plus(array, ref=reference)) if len(array) else float("inf")


# --- Spread, spacing and violations.


def overall_spread(points: ArrayLike, *, ideal: ArrayLike, maximal: ArrayLike) -> float:
    """Return the overall spread (Wu & Azarm 2001; paper, equation 4).

    That is the share of the box from `ideal` to `maximal` that the extremes of the points span; 0 for no points.
    """
    array = as_points(points)
    m = array.shape[1]
    box = np.abs(as_vector(ideal, m, "ideal") - as_vector(maximal, m, "maximal"))
    if (box == 0).any():
        raise ValueError("ideal and maximal must differ in every objective.")
    if len(array) == 0:
        return 0.0
    return float(np.prod((array.max(axis=0) - array.min(axis=0)) / box))


def spacing(points: ArrayLike) -> float:
    """Return the spacing (Schott 1995; paper, equation 5): 0 is perfectly even, NaN below two points.

    That is the standard deviation of the Manhattan distances to the nearest other point.
    """
    array = as_points(points)
    if len(array) < 2:
        return float("nan")
    distances = np.abs(array[:, None, :] - array[None, :, :]).sum(axis=2)
    np.fill_diagonal(distances, np.inf)
    return float(np.std(distances.min(axis=1), ddof=1))


def constraint_violations(violations: ArrayLike) -> float:
    """Return the mean number of violations of the solutions of a front (CV in the paper), 0 if all are feasible."""
    values = np.asarray(violations, dtype=float)
    if values.size == 0:
        raise ValueError("violations must have at least one entry, got none.")
    return float(values.mean())
