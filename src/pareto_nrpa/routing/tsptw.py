"""The (multi-objective) travelling salesman problem with time windows, as in the paper.

A tour leaves city 0, visits every other city once and returns. Each objective is the sum of one cost along the closed
tour. The first cost is also the travel time; arriving before a window opens means waiting, arriving after it closes
is a violation, also on return to city 0. A solution is the order of the cities after city 0.

Arrival at closing time is in time, also if a sum of decimals is slightly above it: every window is extended by a
billionth of its closing time. This is done once, here, for playout, evaluation, pruning, proof and check.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ..engine.jit.kernels import kernel
from ..errors import InstanceError
from ..problem.base import CompiledProblem
from ..problem.genotype import Permutation
from ..problem.segments import END, START, Segments
from .matrices import (
    BIAS_FACTOR,
    ENDS,
    arc_of,
    checked_floats,
    checked_matrices,
    cost_of,
    delay,
    join_costs,
    normalised,
    rounded,
    shortest_times,
    usual,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import ArrayLike, NDArray


# Far above rounding errors of sums, far below the resolution of any clock.
TOLERANCE = 1e-9
# A bound on a time may differ by so much from the time of a tour, because it is a sum in another order.
NOISE = 1e-11


class TSPTWData(NamedTuple):
    """A read-only instance: n cities, city 0 the depot."""

    costs: np.ndarray  # [n_objectives, n, n] float64, costs[0] is travel time too
    distances: np.ndarray  # [n_objectives, n, n] float64, each divided by its largest entry, for the bias
    opens: np.ndarray  # [n] float64
    closes: np.ndarray  # [n] float64, including the tolerance; infinite for a depot that is not checked on return
    shortest: np.ndarray  # [n, n] float64, travel time over other cities; costs[0] itself if no detour is shorter
    deadlines: np.ndarray  # [n] float64, a later arrival is late there or at the depot
    farthest: np.ndarray  # [n] float64, the longest travel time from each city
    last_opening: np.ndarray  # [1] float64, the time after which every city is open
    by_deadline: np.ndarray  # [n - 1] uint64, the cities to visit, the earliest deadline first
    usual: np.ndarray  # [1] float64, a typical travel time


class TSPTWTour(NamedTuple):
    """The state of a playout."""

    unvisited: np.ndarray  # [n - 1] uint64, by deadline; unsigned, so that indexing needs no sign test
    numbers: np.ndarray  # [3] int64: number of unvisited cities, current city, violations
    time: np.ndarray  # [1] float64
    sums: np.ndarray  # [n_objectives] float64


_LEFT, _CITY, _LATE = 0, 1, 2


@kernel
def initial_state(data):
    """Return a state at the depot at the start of the day."""
    numbers = np.zeros(3, np.int64)
    numbers[_LEFT] = data.by_deadline.size
    time = np.zeros(1)
    time[0] = data.opens[0]
    return TSPTWTour(data.by_deadline.copy(), numbers, time, np.zeros(data.costs.shape[0]))


@kernel
def legal_moves(data, state, out):
    """Fill in the next cities after pruning, a rule that never removes a feasible tour.

    If cities can no longer be reached in time, by any detour, these are the legal moves. Else a city is left out if
    service there would start after the first deadline, which is that of the first city in `unvisited`.
    """
    left = np.uint64(state.numbers[_LEFT])
    if left == 0:
        return 0
    unvisited = state.unvisited
    now = state.time[0]
    here = np.uint64(state.numbers[_CITY])
    first = data.deadlines[unvisited[0]]
    latest = now + data.farthest[here]
    if latest <= first and data.last_opening[0] <= first:
        for i in range(left):
            out[i] = unvisited[i]
        return state.numbers[_LEFT]
    count = 0
    shortest = data.shortest[here]
    for i in range(left):
        city = unvisited[i]
        deadline = data.deadlines[city]
        if deadline >= latest:  # all others are in time, as their deadlines are not earlier
            break
        out[count] = city
        count += now + shortest[city] > deadline
    if count > 0:
        return count
    direct = data.costs[0, here]
    for i in range(left):
        city = unvisited[i]
        out[count] = city
        count += max(now + direct[city], data.opens[city]) <= first
    if count == 0:  # any next city makes another one late
        out[0] = unvisited[0]
        count = 1
    return count


@kernel
def all_moves(data, state, out):
    """Fill in all cities not visited yet."""
    for i in range(state.numbers[_LEFT]):
        out[i] = state.unvisited[i]
    return state.numbers[_LEFT]


@kernel
def play(data, state, move):
    """Travel to a city, wait for its window to open, and count a violation if it has closed."""
    numbers = state.numbers
    city = np.uint64(numbers[_CITY])
    to = np.uint64(move)
    for k in range(state.sums.size):
        state.sums[k] += data.costs[k, city, to]
    arrival = state.time[0] + data.costs[0, city, to]
    numbers[_LATE] += arrival > data.closes[to]
    state.time[0] = max(arrival, data.opens[to])
    numbers[_CITY] = move
    kept = np.uint64(0)
    for i in range(np.uint64(numbers[_LEFT])):
        other = state.unvisited[i]
        state.unvisited[kept] = other
        kept += np.uint64(other != to)
    numbers[_LEFT] -= 1


@kernel
def move_code(data, state, move):
    """Return a code for each pair of cities."""
    return state.numbers[_CITY] * data.opens.size + move


@kernel
def bias(data, state, move, preference):
    """Prefer near cities: -10 times the normalised distance, weighted by the preference of the policy."""
    distance = 0.0
    for k in range(preference.size):
        distance += preference[k] * data.distances[k, np.uint64(state.numbers[_CITY]), np.uint64(move)]
    return BIAS_FACTOR * distance


@kernel
def evaluate(data, state, out):
    """Close the tour, and count a violation if the depot has closed."""
    city = state.numbers[_CITY]
    for k in range(out.size):
        out[k] = rounded(state.sums[k] + data.costs[k, city, 0])
    return state.numbers[_LATE] + (state.time[0] + data.costs[0, city, 0] > data.closes[0])


@kernel
def evaluate_solution(data, moves, out):
    """Return the result of `evaluate` for a complete tour."""
    for k in range(out.size):
        cost, city = 0.0, 0
        for move in moves:
            cost += data.costs[k, city, move]
            city = move
        out[k] = rounded(cost + data.costs[k, city, 0])
    time, city, late = data.opens[0], 0, 0
    for move in moves:
        arrival = time + data.costs[0, city, move]
        late += arrival > data.closes[move]
        time = max(arrival, data.opens[move])
        city = move
    return late + (time + data.costs[0, city, 0] > data.closes[0])


# A stretch of a tour: total lateness, duration, earliest and latest start with that lateness and duration, first and
# last city (Vidal et al. 2013).
_LATENESS, _DURATION, _EARLIEST, _LATEST, _FIRST, _LAST = range(6)
_LIMITS = 6


@kernel
def limit_of(data, move, out):
    """Fill in the row of one city; the tour starts when the depot opens, and ends before it closes."""
    city = max(move, 0)
    out[_LATENESS] = 0.0
    out[_DURATION] = 0.0
    out[_EARLIEST] = 0.0 if move == END else data.opens[city]
    out[_LATEST] = data.opens[0] if move == START else data.closes[city]
    out[_FIRST] = city
    out[_LAST] = city


@kernel
def join_limits(data, left, right, out):
    """Fill in the row of two consecutive stretches: early arrivals wait, late ones add to the lateness."""
    travel = data.costs[0, np.uint64(left[_LAST]), np.uint64(right[_FIRST])]
    shift = left[_DURATION] - left[_LATENESS] + travel
    waiting = max(right[_EARLIEST] - shift - left[_LATEST], 0.0)
    late = max(left[_EARLIEST] + shift - right[_LATEST], 0.0)
    out[_LATENESS] = left[_LATENESS] + right[_LATENESS] + late
    out[_DURATION] = left[_DURATION] + right[_DURATION] + travel + waiting
    out[_EARLIEST] = max(right[_EARLIEST] - shift, left[_EARLIEST]) - waiting
    out[_LATEST] = min(right[_LATEST] - shift, left[_LATEST]) + late
    out[_FIRST] = left[_FIRST]
    out[_LAST] = right[_LAST]


@kernel
def near(data, a, b):
    """Return the least waiting and lateness from one city to the next."""
    here, there = max(a, 0), max(b, 0)
    latest = data.opens[0] if a == START else data.closes[here]
    opens = 0.0 if b == END else data.opens[there]
    return delay(data.costs[0, here, there], data.opens[here], latest, opens, data.closes[there]) / data.usual[0]


def mo_tsptw(
    costs: ArrayLike,
    opens: ArrayLike,
    closes: ArrayLike,
    *,
    distances: ArrayLike | None = None,
    check_return: bool = True,
    metric: bool = False,
    name: str = "mo-tsptw",
    reference_point: Sequence[float] | None = None,
    objective_names: Sequence[str] | None = None,
) -> CompiledProblem:
    """Return a travelling salesman problem with time windows.

    Parameters
    ----------
    costs
        [n_objectives, n, n]; costs[0] is the travel time, service at the city left included.
    opens, closes
        [n] time windows; the depot is city 0, where the day begins when it opens. A window that never closes ends at
        infinity.
    distances
        The matrices of the bias [n_objectives, n, n], normalised by their largest entries; the costs by default.
    check_return
        Whether a tour must return before the depot closes; the public instances do not require it.
    metric
        True if travel times are known to satisfy the triangle inequality. Else detours shorter than the direct way are
        computed in n^3 steps: seconds from 1,000 cities on.
    """
    matrices = checked_matrices(costs, "costs")
    n = matrices.shape[1]
    opening, closing = checked_windows(opens, closes, n)
    lengths = matrices if distances is None else checked_matrices(distances, "distances")
    if lengths.shape != matrices.shape:
        raise InstanceError(f"distances must have the shape of the costs {matrices.shape}, got {lengths.shape}.")
    closing *= 1 + TOLERANCE
    if not check_return:
        closing[0] = np.inf
    shortest = matrices[0] if metric else shortest_times(matrices[0])
    deadlines = np.minimum((1 + NOISE) * closing, (1 + NOISE) * closing[0] - shortest[:, 0])
    to_visit = np.arange(1, n, dtype=np.uint64)
    data = TSPTWData(
        costs=matrices,
        distances=normalised(lengths),
        opens=opening,
        closes=closing,
        shortest=shortest,
        deadlines=deadlines,
        farthest=np.where(np.eye(n, dtype=bool), 0.0, matrices[0]).max(axis=1),
        last_opening=np.array([opening[1:].max()]),
        by_deadline=to_visit[np.argsort(deadlines[1:], kind="stable")],
        usual=usual(matrices[0]),
    )
    return CompiledProblem(
        data=data,
        initial_state=initial_state,
        legal_moves=legal_moves,
        play=play,
        move_code=move_code,
        evaluate=evaluate,
        evaluate_solution=evaluate_solution,
        bias=bias,
        all_moves=all_moves,
        n_objectives=matrices.shape[0],
        n_codes=n * n,
        max_moves=n - 1,
        max_candidates=n * (n - 1) // 2,
        distinct_codes=True,
        bias_by_code=True,
        genotype=Permutation(range(1, n)),
        segments=Segments(cost_of, join_costs, ENDS + len(matrices), limit_of, join_limits, _LIMITS, arc_of, near),
        name=name,
        reference_point=reference_point,
        objective_names=objective_names,
        known_by=("costs", "distances", "opens", "closes"),
    )


def checked_windows(opens: ArrayLike, closes: ArrayLike, n: int) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return opening and closing times [n] as floats, or raise with the reason."""
    opening = checked_floats(opens, "opens", f"{n} times, one for each city")
    closing = checked_floats(closes, "closes", f"{n} times, one for each city")
    for name, values in (("opens", opening), ("closes", closing)):
        if values.shape != (n,):
            raise InstanceError(f"{name} must have one time for each of the {n} cities, got shape {values.shape}.")
        if np.isnan(values).any() or (values < 0).any():
            raise InstanceError(f"{name} must be times of at least 0, got {values.min():g}.")
    if not np.isfinite(opening).all():
        raise InstanceError(f"opens must be finite times, got infinity for city {int(np.argmax(opening))}.")
    early = np.flatnonzero(closing < opening)
    if early.size:
        city = int(early[0])
        raise InstanceError(
            f"the window of city {city} closes at {closing[city]:g}, before it opens at {opening[city]:g}."
        )
    return opening, closing
