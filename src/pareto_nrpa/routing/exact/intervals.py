"""Independent verification of the intervals of a certificate: no code of the prover is used, only what it found out.

A group of boxes states weighted sums, a price for each city, and what each city remembers. Any values give valid
bounds; good ones leave few tours to be enumerated. For each sum, passes of routes are made here once more, backward and
forward in turn. A route may visit a city again that it does not remember, pays the price of each city it visits, and
costs no less than a tour that it stands for; so an arc at a position is dropped if no route below the corners of the
boxes uses it there. Then all tours that the bounds of all sums leave are enumerated, and compared with those known.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ..matrices import rounded_all
from .certificate import OPEN, CertificateError
from .check import rounded_costs
from .interval_kernels import best_of_each_city, best_of_each_state, extend_paths

if TYPE_CHECKING:
    from collections.abc import Callable
    from concurrent.futures import Executor

    from numpy.typing import NDArray

    from ...problem.base import CompiledProblem
    from ..tsptw import TSPTWData
    from .certificate import Certificate, Group, GroupSum

# Sums made in another order differ by far less, relative to what is added up.
_ROOM = 1e-12
_BITS = 62  # of a word of a set
_MOST_CITIES = 2 * _BITS + 1
_MOST_PATHS, _AT_A_TIME = 40_000_000, 4_000_000
_MOST_ROUNDS = 100
_NO_LIMIT = 1e299
_NOTHING = np.empty((0, 0))
# Weighted sums are far from where doubles overflow, or lose digits because they are too small.
_SUM, _LEAST_WEIGHT, _LARGEST_PRICE = 1e-6, 1e-100, 1e18


class _TooMany(Exception):
    """Too many paths are left."""


class _Paths(NamedTuple):
    """Paths of one length."""

    cities: NDArray[np.int64]  # the last of each
    sets: NDArray[np.int64]  # [k, 2], the cities that they remember
    times: NDArray[np.float64]
    values: NDArray[np.float64]  # [k, c]


class _Completions(NamedTuple):
    """Routes of the other direction, in each sum by city and value."""

    starts: NDArray[np.int64]  # [s, n + 1]
    sets: NDArray[np.int64]  # without the city where they begin
    latest: NDArray[np.float64]
    values: NDArray[np.float64]


class _Instance(NamedTuple):
    """The windows of an instance, narrowed, and its arcs by position; in one direction of time."""

    travel: NDArray[np.float64]
    costs: NDArray[np.float64]  # [m, n, n]
    opens: NDArray[np.float64]
    closes: NDArray[np.float64]
    forbidden: NDArray[np.int64]  # [n, 2], the cities that must not come before a city
    bits: NDArray[np.int64]  # [n, 2]
    arcs: NDArray[np.bool_]  # [n + 1, n, n], by position of the second city
    horizon: float  # time t of one direction is horizon - t of the other
    room: float  # by how much two times may differ that are equal


def check_intervals(
    certificate: Certificate,
    problem: CompiledProblem,
    *,
    executor: Executor | None = None,
    on_group: Callable[[int], None] = lambda done: None,
) -> int:
    """Raise unless no interval of a certificate has a tour that its front does not cover; returns their number.

    The intervals of a proved certificate must be everything. `check_certificate` verifies the tours before.

    Parameters
    ----------
    executor
        Verifies intervals at once in other processes.
    on_group
        Called with the number of intervals verified.
    """
    groups, n = certificate.groups, len(problem.data.opens)
    if n > _MOST_CITIES:
        raise CertificateError(f"intervals are verified up to {_MOST_CITIES} cities, {problem.name} has {n}.")
    for each in (each for group in groups for each in group.sums):
        cities = {city for remembered in each.memories for city in remembered}
        is_sound = len(each.weights) == problem.n_objectives and abs(sum(each.weights) - 1) < _SUM
        is_sound = is_sound and all(x == 0 or x > _LEAST_WEIGHT for x in each.weights)
        is_sound = is_sound and max(map(abs, each.prices), default=0.0) < _LARGEST_PRICE
        if not is_sound or len(each.prices) != n or len(each.memories) != n or not cities <= {*range(n)}:
            raise CertificateError(f"the weights, prices or memories of a sum are not those of {n} cities.")
    if certificate.status != OPEN:
        end = -np.inf
        for begin, stop in sorted(group.interval for group in groups):
            if begin > end:
                break
            end = max(end, stop)
        if end < np.inf:
            raise CertificateError(f"no interval of the certificate holds the first objective {end:.12g}.")
    each_map = map if executor is None else executor.map
    # The costs of the tours to all digits, whatever the file has.
    tours = [rounded_costs(problem.data, tour) for tour in certificate.solutions]
    front = np.array(tours).reshape(-1, problem.n_objectives)
    verify = partial(wrong_in_group, problem.data, front)
    for done, wrong in enumerate(each_map(verify, groups), 1):
        if wrong:
            raise CertificateError(f"{wrong} in an interval of which the certificate states that all are known.")
        on_group(done)
    return len(groups)


def wrong_in_group(data: TSPTWData, front: NDArray[np.float64], group: Group) -> str:
    """Return what is wrong with the statement that a front covers all tours of an interval, or nothing."""
    instance = _narrowed(data)
    if instance is None:
        return ""
    boxes, completions = _boxes(front, group.interval, instance), []
    try:
        for each in group.sums:
            limits = _limits(boxes, each)
            back, instance, is_empty = _passes(instance, each, float(limits.max()))
            if is_empty:
                return ""
            if back is not None:
                completions.append((each, back, limits))
        objectives = _enumerated(instance, completions)
    except _TooMany as error:
        return str(error)
    begin, end = group.interval
    for values in objectives[(objectives[:, 0] >= begin) & (objectives[:, 0] < end)]:
        if not (front <= values).all(axis=1).any():
            return f"there is a tour with ({', '.join(f'{x:.12g}' for x in values)})"
    return ""


def _boxes(front: NDArray[np.float64], interval: tuple[float, float], instance: _Instance) -> NDArray[np.float64]:
    """Return the corners that tours of an interval which no point covers are below."""
    longest = instance.closes[0] - instance.opens[0]
    longest += _ROOM * abs(longest)
    if front.shape[1] == 1:
        return np.array([[min([longest, *front[:, 0]])]])
    corners, (begin, end) = [], interval
    for k in range(len(front) + 1):
        left, right = (front[k - 1, 0] if k else -np.inf), (front[k, 0] if k < len(front) else np.inf)
        if left < end and right > begin:
            corners.append([min(right, end, longest), front[k - 1, 1] if k else np.inf])
    return np.array(corners)


def _limits(boxes: NDArray[np.float64], each: GroupSum) -> NDArray[np.float64]:
    """Return what a weighted sum of a tour in each box is below."""
    weights = np.array(each.weights)
    sums = np.where(weights > 0, boxes, 0.0) @ weights
    limits = sums + _ROOM * (np.abs(sums) + 2 * np.abs(each.prices).sum())
    return np.asarray(np.minimum(limits, _NO_LIMIT))


def _narrowed(data: TSPTWData) -> _Instance | None:
    """Return an instance, or None if its windows contradict each other."""
    travel, n = np.asarray(data.costs[0]), len(data.opens)
    shortest = _shortest(travel)
    latest = data.opens.max() + travel.max(axis=1).sum()  # no tour is later
    room, is_open_at_night = _ROOM * max(latest, 1e-300), not np.isfinite(data.closes[0])
    opens, closes = np.maximum(data.opens, data.opens[0] + shortest[0]), np.minimum(data.closes, latest)
    opens[0] = data.opens[0]
    if not is_open_at_night:
        closes = np.minimum(closes, data.closes[0] - np.where(np.arange(n) > 0, shortest[:, 0], 0.0))
    for _ in range(_MOST_ROUNDS):
        before = (opens[:, None] + shortest > closes + room).T  # [i, j]: i must come before j
        before[0], before[:, 0] = False, False
        np.fill_diagonal(before, False)
        for k in range(1, n):
            before |= before[:, k : k + 1] & before[k]
        direct = (opens[:, None] + travel <= closes + room) & ~before.T & ~(before.astype(int) @ before > 0)
        direct[0] &= ~before.any(axis=0)
        direct[:, 0] &= ~before.any(axis=1)
        np.fill_diagonal(direct, False)
        if (before & before.T).any() or not direct.any(axis=0).all() or not direct.any(axis=1).all():
            return None
        earliest = np.where(direct, opens[:, None] + travel, np.inf).min(axis=0)
        earliest = np.maximum(earliest, np.where(before, opens[:, None] + shortest, -np.inf).max(axis=0))
        last = np.where(direct, closes - travel, -np.inf).max(axis=1)
        last = np.minimum(last, np.where(before, closes - shortest, np.inf).min(axis=1))
        old = opens.sum(), closes.sum()
        opens[1:], closes[1:] = np.maximum(opens, earliest)[1:], np.minimum(closes, last)[1:]
        if (opens > closes + room)[1:].any():
            return None
        if old == (opens.sum(), closes.sum()):
            break
    back = (closes + travel[:, 0])[1:].max()
    opens = np.maximum(data.opens, opens - room)
    closes = np.minimum(data.closes, closes + room)
    closes[0] = back + room if is_open_at_night else min(data.closes[0], back + room)
    positions = np.arange(n)[:, None]
    is_there = (positions > before.sum(axis=0)) & (positions < n - before.sum(axis=1))
    is_there[:, 0] = positions[:, 0] == 0
    stops = np.concatenate([is_there, np.eye(1, n, dtype=bool)])
    arcs = np.zeros((n + 1, n, n), bool)
    arcs[1:] = stops[:-1, :, None] & stops[1:, None, :] & direct
    bits = _words([[j] for j in range(n)])
    forbidden = _words([np.flatnonzero(before[j]).tolist() for j in range(n)])
    return _Instance(travel, np.asarray(data.costs), opens, closes, forbidden, bits, arcs, float(closes[0]), room)


def _shortest(travel: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the least times between cities, over others."""
    shortest = travel.copy()
    np.fill_diagonal(shortest, 0.0)
    for k in range(len(travel)):
        shortest = np.minimum(shortest, shortest[:, k : k + 1] + shortest[k])
    return shortest


def _words(lists: list[list[int]]) -> NDArray[np.int64]:
    """Return sets of cities as pairs of words."""
    words = [[0, 0] for _ in lists]
    for word, cities in zip(words, lists, strict=True):
        for city in {*cities} - {0}:
            word[(city - 1) // _BITS] |= 1 << (city - 1) % _BITS
    return np.array(words, np.int64)


def _reversed(instance: _Instance) -> _Instance:
    """Return an instance whose tours are driven backward, from the latest return on."""
    horizon, n = instance.horizon, len(instance.opens)
    after = [[j for j in range(1, n) if (instance.forbidden[j] & bit).any()] for bit in instance.bits]
    return instance._replace(
        travel=instance.travel.T.copy(),
        costs=instance.costs.transpose(0, 2, 1).copy(),
        opens=horizon - instance.closes,
        closes=horizon - instance.opens,
        forbidden=_words(after),
        arcs=_turned(instance.arcs),
    )


def _turned(arcs: NDArray[np.bool_]) -> NDArray[np.bool_]:
    turned = np.zeros_like(arcs)
    turned[1:] = arcs[:0:-1].transpose(0, 2, 1)
    return turned


def _passes(instance: _Instance, each: GroupSum, limit: float) -> tuple[list[_Completions] | None, _Instance, bool]:
    """Return the routes of the last backward pass, the arcs left, and whether no route is below the limit."""
    back: list[_Completions] | None = None
    opposite: list[_Completions] | None = None
    for turn, size in enumerate(each.passes):
        is_backward = turn % 2 == 0
        view = _reversed(instance) if is_backward else instance
        routes, used = _routes(view, each, size, opposite, limit, is_backward=is_backward)
        if routes is None:
            return None, instance, True
        instance = instance._replace(arcs=instance.arcs & (_turned(used) if is_backward else used))
        opposite = routes
        back = routes if is_backward else back
    return back, instance, False


def _routes(
    view: _Instance, each: GroupSum, size: int, opposite: list[_Completions] | None, limit: float, *, is_backward: bool
) -> tuple[list[_Completions] | None, NDArray[np.bool_]]:
    """Return the routes of a pass as completions of the other direction, by number of cities, and the arcs they use."""
    n, prices = len(view.opens), _prices(each)
    costs = np.tensordot(each.weights, view.costs, axes=1)
    keep = _words([[i, *cities[:size]] for i, cities in enumerate(each.memories)])
    paths = _start(view, np.array([0.0 if is_backward else -prices.sum()]))
    corners = _NOTHING if opposite is None else np.array([[limit]])
    made, used = [_completions(view, paths, prices)], np.ones_like(view.arcs)
    for position in range(1, n):
        completions = made[0] if opposite is None else opposite[n - position]
        paths, used[position] = _longer(view, paths, position, (costs + prices)[None], keep, completions, corners)
        if not len(paths.cities):
            return None, used
        paths = _of_each_city(_of_each_state(paths, 1))
        made.append(_completions(view, paths, prices))
    least = (paths.values[:, 0] + costs[paths.cities, 0]).min() - (prices.sum() if is_backward else 0.0)
    return (None if least >= limit else made), used


def _prices(each: GroupSum) -> NDArray[np.float64]:
    prices = np.array(each.prices)
    prices[0] = 0.0
    return prices


def _enumerated(
    instance: _Instance, every: list[tuple[GroupSum, list[_Completions], NDArray[np.float64]]]
) -> NDArray[np.float64]:
    """Return the rounded costs of all tours that the bounds of every sum leave, but for some as good as others."""
    n, m = len(instance.opens), len(instance.costs)
    prices = [_prices(each) for each, _, _ in every]
    sums = [
        np.tensordot(each.weights, instance.costs, axes=1) + paid
        for (each, _, _), paid in zip(every, prices, strict=True)
    ]
    corners = np.column_stack([limits for _, _, limits in every]) if every else _NOTHING
    paths = _start(instance, np.array([*[0.0] * m, *(-paid.sum() for paid in prices)]))
    steps, keep, reach = np.stack([*instance.costs, *sums]), np.full((n, 2), -1), _shortest(instance.travel)
    for position in range(1, n):
        completions = _joined([routes[n - position] for _, routes, _ in every], n)
        paths, _ = _longer(instance, paths, position, steps, keep, completions, corners, reach=reach)
        paths = _of_each_state(paths, m)
    in_time = paths.times + instance.travel[paths.cities, 0] <= instance.closes[0]
    return rounded_all((paths.values[:, :m] + instance.costs[:, paths.cities, 0].T)[in_time])


def _start(view: _Instance, values: NDArray[np.float64]) -> _Paths:
    return _Paths(np.zeros(1, np.int64), np.zeros((1, 2), np.int64), view.opens[:1], values[None])


def _longer(
    view: _Instance,
    paths: _Paths,
    position: int,
    steps: NDArray[np.float64],
    keep: NDArray[np.int64],
    completions: _Completions,
    corners: NDArray[np.float64],
    *,
    reach: NDArray[np.float64] = _NOTHING,
) -> tuple[_Paths, NDArray[np.bool_]]:
    """Return all paths one city longer that a corner leaves, and the arcs that they use."""
    n, (k, width) = len(view.opens), paths.values.shape
    used = np.zeros((n, n), bool)
    parts, at_a_time = [], _AT_A_TIME // n
    for begin in range(0, k, at_a_time):
        chunk = _rows(paths, slice(begin, begin + at_a_time))
        room = len(chunk.cities) * n
        made = _Paths(np.empty(room, np.int64), np.empty((room, 2), np.int64), np.empty(room), np.empty((room, width)))
        count = extend_paths(
            *chunk, view.travel, steps, view.opens, view.closes, view.arcs[position], keep, view.bits, view.forbidden,
            reach, *completions, corners, used, *made,
        )  # fmt: skip
        parts.append(_rows(made, np.arange(count)))
        if sum(len(part.cities) for part in parts) > _MOST_PATHS:
            raise _TooMany(f"there are more than {_MOST_PATHS:,} paths")
    if not parts:
        return paths, used
    return _Paths(*(np.concatenate(columns) for columns in zip(*parts, strict=True))), used


def _of_each_state(paths: _Paths, n_costs: int) -> _Paths:
    """Return the paths of which no other one of the same state is as good."""
    low, high = paths.sets.T
    keys = (low * 0x1E3779B97F4A7C15 + high) * 0x3F58476D1CE4E5B9 + paths.cities  # overflows, as wanted
    order = np.lexsort((paths.times, keys))
    ordered, kept = _rows(paths, order), np.empty(len(order), np.int64)
    return _rows(ordered, kept[: best_of_each_state(keys[order], *ordered[:2], ordered.values, n_costs, kept)])


def _of_each_city(paths: _Paths) -> _Paths:
    """Return the routes of which no cheaper one is as early and remembers no more."""
    ordered = _rows(paths, np.lexsort((paths.values[:, 0], paths.cities)))
    kept = np.empty(len(ordered.cities), np.int64)
    return _rows(ordered, kept[: best_of_each_city(*ordered[:3], kept)])


def _rows(paths: _Paths, rows: NDArray[np.int64] | slice) -> _Paths:
    columns: tuple[NDArray[Any], ...] = paths
    return _Paths(*(column[rows] for column in columns))


def _completions(view: _Instance, paths: _Paths, prices: NDArray[np.float64]) -> _Completions:
    """Return routes, in the order of their cities, as completions of those of the other direction."""
    ordered = _rows(paths, np.lexsort((paths.values[:, 0], paths.cities)))
    return _Completions(
        np.searchsorted(ordered.cities, np.arange(len(prices) + 1))[None],
        ordered.sets & ~view.bits[ordered.cities],
        view.horizon - ordered.times + view.room,
        ordered.values[:, 0] - prices[ordered.cities],
    )


def _joined(every: list[_Completions], n: int) -> _Completions:
    """Return the completions of several sums, one after the other."""
    if not every:
        return _Completions(np.empty((0, n + 1), np.int64), np.empty((0, 2), np.int64), np.empty(0), np.empty(0))
    begins = np.cumsum([0, *(len(each.values) for each in every[:-1])])
    starts, *columns = (np.concatenate(column) for column in zip(*every, strict=True))
    return _Completions(starts + begins[:, None], *columns)
