"""Segments of routes: rows of numbers for stretches, so that neighbours are evaluated without playing them.

A stretch without a closing is one piece of a route. One with closings has a piece before the first and one after the
last, both open, and complete routes in between, of which only sums and maxima are stored. START and END are closings.
Pieces are joined as in Vidal et al. (2013): missing time is lateness, and a vehicle leaves when it waits least.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ..engine.jit.kernels import engine_kernel, kernel
from ..problem.segments import Segments
from .matrices import ENDS, delay, join_costs

if TYPE_CHECKING:
    from collections.abc import Sequence

#: Measures that are not sums over edges, by their place in `VRPTWData.columns` behind the sums.
FINISH, WAITING, LATENESS, LONGEST = range(4)
# A row: distance from feasibility, whether there is a closing, first and last stop, lateness and overload of complete
# routes, then three pieces: the first, the last, and the route completed by the join.
_WRONG, _IS_CLOSED, _FIRST, _LAST, _INNER, _HEAD, _TAIL, _ROUTE, _WIDTH = 0, 1, 2, 3, 4, 5, 11, 17, 23
# A piece.
_LATENESS, _DURATION, _EARLIEST, _LATEST, _WAITED, _LOAD, _PIECE = 0, 1, 2, 3, 4, 5, 6


@kernel
def edge_of(data, move, out):
    """Fill in the row of one move if all objectives are sums over edges: first and last stop, zero costs."""
    stop = move if 0 < move < data.demand.size else 0
    out[0] = stop
    out[1] = stop
    for k in range(data.costs.shape[0]):
        out[ENDS + k] = 0.0


# Engine kernels below are too long to be inlined at every call.
@engine_kernel
def fill_row(opens, latest, demand, move, out):
    """Fill in the row of one move, without objectives."""
    is_stop = 0 < move < demand.size
    stop = move if is_stop else 0
    for i in range(out.size):
        out[i] = 0.0
    out[_IS_CLOSED] = not is_stop
    out[_FIRST] = stop
    out[_LAST] = stop
    # A vehicle returns at any time (the first piece of a closing), and leaves when the depot is open (the last piece).
    out[_HEAD + _EARLIEST] = opens[stop] if is_stop else 0.0
    out[_HEAD + _LATEST] = latest[stop]
    out[_HEAD + _LOAD] = demand[stop]
    out[_TAIL + _EARLIEST] = opens[0]
    out[_TAIL + _LATEST] = latest[0]


@engine_kernel
def join_pieces(left, i, right, j, travel, out, k):
    """Fill in piece k of a row: piece i of the left one and piece j of the right one, one after the other."""
    shift = left[i + _DURATION] - left[i + _LATENESS] + travel
    waiting = max(right[j + _EARLIEST] - shift - left[i + _LATEST], 0.0)
    late = max(left[i + _EARLIEST] + shift - right[j + _LATEST], 0.0)
    out[k + _LATENESS] = left[i + _LATENESS] + right[j + _LATENESS] + late
    out[k + _DURATION] = left[i + _DURATION] + right[j + _DURATION] + travel + waiting
    out[k + _EARLIEST] = max(right[j + _EARLIEST] - shift, left[i + _EARLIEST]) - waiting
    out[k + _LATEST] = min(right[j + _LATEST] - shift, left[i + _LATEST]) + late
    out[k + _WAITED] = left[i + _WAITED] + right[j + _WAITED] + waiting
    out[k + _LOAD] = left[i + _LOAD] + right[j + _LOAD]


@engine_kernel
def join_rows(travel, capacity, left, right, out):
    """Fill in the row of two consecutive stretches, with the given travel in between."""
    left_is_closed, right_is_closed = left[_IS_CLOSED] > 0.0, right[_IS_CLOSED] > 0.0
    place = _ROUTE if left_is_closed and right_is_closed else _TAIL if left_is_closed else _HEAD
    join_pieces(left, _TAIL if left_is_closed else _HEAD, right, _HEAD, travel, out, place)
    if left_is_closed:
        for i in range(_HEAD, _HEAD + _PIECE):
            out[i] = left[i]
    if right_is_closed:
        for i in range(_TAIL, _TAIL + _PIECE):
            out[i] = right[i]
    is_closed = left_is_closed or right_is_closed
    out[_INNER] = left[_INNER] + right[_INNER]
    if place == _ROUTE:
        out[_INNER] += out[_ROUTE + _LATENESS] + max(0.0, out[_ROUTE + _LOAD] - capacity)
    out[_WRONG] = out[_INNER] + out[_HEAD + _LATENESS] + max(0.0, out[_HEAD + _LOAD] - capacity)
    if is_closed:
        out[_WRONG] += out[_TAIL + _LATENESS] + max(0.0, out[_TAIL + _LOAD] - capacity)
    out[_IS_CLOSED] = is_closed
    out[_FIRST] = left[_FIRST]
    out[_LAST] = right[_LAST]


@engine_kernel
def join_objectives(costs, columns, left, right, out):
    """Fill in the objectives of two stretches: sums over edges, sums and maxima over complete routes."""
    here, there = np.uint64(left[_LAST]), np.uint64(right[_FIRST])
    is_route = left[_IS_CLOSED] > 0.0 and right[_IS_CLOSED] > 0.0 and (here != 0 or there != 0)
    m = columns.size
    for k in range(m):
        one, other = left[_WIDTH + k], right[_WIDTH + k]
        measure = columns[k] - m
        value = max(one, other)
        if measure < 0:
            value = one + other + costs[k, here, there]
        elif measure == WAITING:
            value = one + other + (out[_ROUTE + _WAITED] if is_route else 0.0)
        elif is_route:
            leaves = out[_ROUTE + _EARLIEST] if measure == FINISH else 0.0
            value = max(value, leaves + out[_ROUTE + _DURATION])
        out[_WIDTH + k] = value


@kernel
def stretch_of(data, move, out):
    """Fill in the row of one move, with zero objectives."""
    fill_row(data.opens, data.latest, data.demand, move, out)


@kernel
def join_stretches(data, left, right, out):
    """Fill in the row of two stretches, one after the other."""
    join_rows(data.times[np.uint64(left[_LAST]), np.uint64(right[_FIRST])], data.capacity[0], left, right, out)


@kernel
def join_timed_stretches(data, left, right, out):
    """Fill in the row of two stretches with their objectives."""
    join_stretches(data, left, right, out)
    join_objectives(data.costs, data.columns, left, right, out)


@kernel
def arc_of(data, a, b, out):
    """Fill in the costs from one stop to the next; closings, START and END are the depot."""
    n = data.demand.size
    here, there = a if 0 < a < n else 0, b if 0 < b < n else 0
    for k in range(data.costs.shape[0]):
        out[k] = data.costs[k, here, there]


@kernel
def delay_between(data, a, b):
    """Return the least waiting and lateness from one stop to the next; a vehicle may leave the depot at any time."""
    n = data.demand.size
    here, there = a if 0 < a < n else 0, b if 0 < b < n else 0
    latest = data.latest[here] if here > 0 else np.inf
    return (
        delay(data.times[here, there], data.opens[here], latest, data.opens[there], data.latest[there]) / data.usual[0]
    )


@kernel
def time_between(data, a, b):
    """Return the time from one stop to the next, including the least waiting and lateness."""
    n = data.demand.size
    here, there = a if 0 < a < n else 0, b if 0 < b < n else 0
    return data.times[here, there] / data.usual[0] + delay_between(data, a, b)


def route_segments(columns: Sequence[int]) -> Segments | None:
    """Return the segments of a problem; None with lateness, which rows of stretches do not determine."""
    m = len(columns)
    if m + LATENESS in columns:
        return None
    if max(columns) < m:
        limits = stretch_of, join_stretches, _WIDTH
        return Segments(edge_of, join_costs, ENDS + m, *limits, arc_of, delay_between)
    return Segments(stretch_of, join_timed_stretches, _WIDTH + m, stretch_of, join_stretches, _WIDTH, near=time_between)
