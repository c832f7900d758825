"""Routes for several vehicles with capacities and time windows (VRPTW), with any number of objectives by name.

Vehicles are identical. Each leaves the depot (stop 0), visits stops and returns; each stop is visited once.
A solution is an order of all stops and of `vehicles - 1` moves that close a route (closings), numbered from the last
stop on; the end closes the last route. A route may be empty, and such a vehicle is not used. Closings are
interchangeable: in the canonical form they are in rising order, and empty routes come last.

Time is as in `mo_tsptw`: arriving before a window opens means waiting, starting after it closes is a violation, on
return to the depot too, with the same tolerance. A stop beyond the capacity of its vehicle is a violation as well. A
vehicle leaves the depot as late as possible without returning later, so it does not wait at its first stop.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from .._util.checks import check_whole, did_you_mean, is_number, shown
from ..engine.jit.kernels import kernel
from ..errors import InstanceError
from ..problem.base import CompiledProblem
from ..problem.genotype import Permutation
from .matrices import BIAS_FACTOR, checked_floats, checked_matrices, normalised, rounded, shortest_times, usual
from .segments import FINISH, LATENESS, LONGEST, WAITING, route_segments
from .tsptw import NOISE, TOLERANCE, checked_windows

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import ArrayLike, NDArray


#: Objectives without a matrix of their own, with descriptions.
MEASURES = {
    "time": "travel and service of all routes",
    "finish": "when the last vehicle is back",
    "waiting": "time spent before windows open",
    "lateness": "time by which windows are missed",
    "vehicles": "vehicles that leave the depot",
    "longest": "duration of the longest route",
}
# Measures that are not sums over edges; they are at the end of VehicleState.sums.
_MEASURED = {"finish": FINISH, "waiting": WAITING, "lateness": LATENESS, "longest": LONGEST}
_FINISH, _WAITING, _LATENESS, _LONGEST = (place - len(_MEASURED) for place in _MEASURED.values())
# The paper's factor is for 20 to 50 cities. With more stops, neighbours are nearer: measured with 50 and 100.
_USUAL_SIZE = 16
# Digits of the longest time to which differences of times are known; smaller waits are rounding errors.
_DIGITS = 12


class VRPTWData(NamedTuple):
    """A read-only instance: n stops, stop 0 the depot."""

    times: np.ndarray  # [n, n] float64, travel time plus service at the stop left
    costs: np.ndarray  # [n_objectives, n, n] float64, 0 for objectives that are not sums over edges
    columns: np.ndarray  # [n_objectives] int64, the place of each objective in VehicleState.sums
    distances: np.ndarray  # [n_objectives, n, n] float64, for the bias; column 0 is for closing a route
    opens: np.ndarray  # [n] float64
    closes: np.ndarray  # [n] float64
    latest: np.ndarray  # [n] float64, closes with tolerance; infinite if lateness is not a violation
    shortest: np.ndarray  # [n, n] float64, times over other stops; the times themselves if no detour is shorter
    deadlines: np.ndarray  # [n] float64, a later arrival is late there or at the depot
    by_deadline: np.ndarray  # [n - 1] uint64, the stops to visit, the earliest deadline first
    demand: np.ndarray  # [n] float64
    capacity: np.ndarray  # [1] float64, including the tolerance
    closings: np.ndarray  # [vehicles - 1] int64, the moves that close a route
    steps: np.ndarray  # [1] float64, a power of ten: measures that are not sums are rounded to 1 / steps
    usual: np.ndarray  # [1] float64, a typical time between stops


class VehicleState(NamedTuple):
    """The state of a playout."""

    unvisited: np.ndarray  # [n - 1] uint64, by deadline
    numbers: np.ndarray  # [4] int64: remaining stops, remaining closings, current stop, violations
    route: np.ndarray  # [5] float64, of the current vehicle: time, load, waiting, spare time; then the remaining demand
    sums: np.ndarray  # [n_objectives + 4] float64


_LEFT, _CLOSINGS, _STOP, _WRONG = 0, 1, 2, 3
_TIME, _LOAD, _WAITED, _SPARE, _ASKED = 0, 1, 2, 3, 4


@kernel
def initial_state(data):
    """Return a state with the first vehicle at the depot."""
    numbers = np.zeros(4, np.int64)
    numbers[_LEFT] = data.by_deadline.size
    numbers[_CLOSINGS] = data.closings.size
    route = np.zeros(5)
    route[_TIME] = data.opens[0]
    route[_SPARE] = np.inf
    for i in range(data.demand.size):
        route[_ASKED] += data.demand[i]
    return VehicleState(data.by_deadline.copy(), numbers, route, np.zeros(data.costs.shape[0] + 4))


@kernel
def legal_moves(data, state, out):
    """Fill in the moves after pruning, a rule that removes no feasible set of routes.

    These are stops that this vehicle can serve in time and load, and the closing of its route if the remaining
    vehicles can carry the rest.
    """
    left = state.numbers[_LEFT]
    if left == 0:
        return first_closing(data, state, out, 0)
    here = np.uint64(state.numbers[_STOP])
    now = state.route[_TIME]
    room = data.capacity[0] - state.route[_LOAD]
    times = data.times[here]
    count = 0
    for i in range(np.uint64(left)):
        stop = state.unvisited[i]
        out[count] = stop
        count += (data.demand[stop] <= room) & (now + times[stop] <= data.deadlines[stop])
    if state.numbers[_CLOSINGS] == 0:
        count = last_route(data, state, out, count)
    elif here != 0 and (count == 0 or state.route[_ASKED] <= state.numbers[_CLOSINGS] * data.capacity[0]):
        count = first_closing(data, state, out, count)
    if count == 0:  # no vehicle can serve any of them
        for i in range(left):
            out[i] = state.unvisited[i]
        count = left
    return count


@kernel
def first_closing(data, state, out, count):
    """Add the first remaining closing, if any; returns the number of moves."""
    left = state.numbers[_CLOSINGS]
    if left == 0:
        return count
    out[count] = data.closings[data.closings.size - left]
    return count + 1


@kernel
def last_route(data, state, out, count):
    """Keep those next stops of the last vehicle after which it can serve the others.

    As in `mo_tsptw`: a stop is left out if service there would start after the first deadline. If a stop is late or
    unserved in any case, all are kept.
    """
    here = np.uint64(state.numbers[_STOP])
    now = state.route[_TIME]
    if state.route[_ASKED] > data.capacity[0] - state.route[_LOAD]:
        return count
    for i in range(state.numbers[_LEFT]):
        stop = state.unvisited[i]
        if now + data.shortest[here, stop] > data.deadlines[stop]:
            return count
    first = data.deadlines[state.unvisited[0]]
    kept = 0
    for i in range(count):
        stop = np.uint64(out[i])
        if max(now + data.times[here, stop], data.opens[stop]) <= first:
            out[kept] = stop
            kept += 1
    return kept if kept > 0 else count  # if none is kept, nothing was overwritten


@kernel
def all_moves(data, state, out):
    """Fill in all stops not visited yet and, unless the route is empty, the closing that is next."""
    left = state.numbers[_LEFT]
    for i in range(left):
        out[i] = state.unvisited[i]
    if left > 0 and state.numbers[_STOP] == 0:
        return left
    return first_closing(data, state, out, left)


@kernel
def canonical(data, moves, n_moves):
    """Renumber closings in rising order and put empty routes at the end, as vehicles are identical."""
    n = data.demand.size
    last = 0  # the last move written; 0 for none, as the depot is not a move
    kept = 0
    closings = 0
    for i in range(n_moves):
        if moves[i] >= n + data.closings.size:  # not a move of this problem
            return
    for i in range(n_moves):
        move = moves[i]
        if move < n:
            last = move
        elif 0 < last < n:
            move = n + closings
            closings += 1
            last = move
        else:  # an empty route
            continue
        moves[kept] = move
        kept += 1
    for i in range(kept, n_moves):
        moves[i] = n + closings
        closings += 1


@kernel
def play(data, state, move):
    """Travel to a stop and serve it, or close the route."""
    numbers = state.numbers
    if move >= data.demand.size:
        numbers[_CLOSINGS] -= 1
        close_route(data, state)
    else:
        serve(data, state, np.uint64(move))
        left = np.uint64(0)
        for i in range(np.uint64(numbers[_LEFT])):
            stop = state.unvisited[i]
            state.unvisited[left] = stop
            left += np.uint64(stop != np.uint64(move))
        numbers[_LEFT] -= 1


@kernel
def serve(data, state, stop):
    """Travel to a stop, wait for its window to open, and count violations."""
    numbers, route, here = state.numbers, state.route, np.uint64(state.numbers[_STOP])
    arrival = route[_TIME] + data.times[here, stop]
    start = max(arrival, data.opens[stop])
    for k in range(data.costs.shape[0]):
        state.sums[k] += data.costs[k, here, stop]
    note_lateness(data, state, stop, start)
    route[_TIME] = start
    route[_WAITED] += start - arrival
    route[_SPARE] = min(route[_SPARE], route[_WAITED] + max(0.0, data.closes[stop] - start))
    route[_LOAD] += data.demand[stop]
    route[_ASKED] -= data.demand[stop]
    numbers[_WRONG] += route[_LOAD] > data.capacity[0]
    numbers[_STOP] = stop


@kernel
def note_lateness(data, state, stop, start):
    """Count a missed window: as a violation, and as time."""
    state.numbers[_WRONG] += start > data.latest[stop]
    if start > data.closes[stop] * (1.0 + TOLERANCE):
        state.sums[_LATENESS] += start - data.closes[stop]


@kernel
def close_route(data, state):
    """Return to the depot and start the next vehicle; an empty route costs nothing."""
    numbers, route, sums, here = state.numbers, state.route, state.sums, np.uint64(state.numbers[_STOP])
    if here == 0:
        return
    back = route[_TIME] + data.times[here, 0]
    for k in range(data.costs.shape[0]):
        sums[k] += data.costs[k, here, 0]
    note_lateness(data, state, np.uint64(0), back)
    # Forward slack (Savelsbergh 1992): a later departure waits less.
    spare = min(route[_SPARE], route[_WAITED] + max(0.0, data.closes[0] - back), route[_WAITED])
    sums[_FINISH] = max(sums[_FINISH], back)
    sums[_WAITING] += route[_WAITED] - spare
    sums[_LONGEST] = max(sums[_LONGEST], back - data.opens[0] - spare)
    numbers[_STOP] = 0
    route[_TIME] = data.opens[0]
    route[_LOAD] = 0.0
    route[_WAITED] = 0.0
    route[_SPARE] = np.inf


@kernel
def move_code(data, state, move):
    """Return a code for each pair of stops; all closings share the code of the depot."""
    n = data.demand.size
    return state.numbers[_STOP] * n + (move if move < n else 0)


@kernel
def bias(data, state, move, preference):
    """Prefer near stops: -10 times the normalised distance, weighted by the preference of the policy."""
    to = np.uint64(move if move < data.demand.size else 0)
    distance = 0.0
    for k in range(preference.size):
        distance += preference[k] * data.distances[k, np.uint64(state.numbers[_STOP]), to]
    return BIAS_FACTOR * distance


@kernel
def evaluate(data, state, out):
    """Close the last route."""
    close_route(data, state)
    for k in range(out.size):
        value = state.sums[data.columns[k]]
        out[k] = rounded(value) if data.columns[k] == k else np.rint(value * data.steps[0]) / data.steps[0]
    return state.numbers[_WRONG]


@kernel
def evaluate_solution(data, moves, out):
    """Return the result of `evaluate` for a complete solution."""
    state = initial_state(data)
    for move in moves:
        if move < data.demand.size:
            serve(data, state, np.uint64(move))
        else:
            close_route(data, state)
    return evaluate(data, state, out)


def vrptw(
    times: ArrayLike,
    opens: ArrayLike,
    closes: ArrayLike,
    *,
    vehicles: int,
    objectives: Sequence[str] = ("time", "vehicles"),
    costs: Mapping[str, ArrayLike] | None = None,
    demand: ArrayLike | None = None,
    capacity: float | None = None,
    late_costs: bool = False,
    metric: bool = False,
    name: str = "vrptw",
) -> CompiledProblem:
    """Return a problem of routes for several vehicles.

    Parameters
    ----------
    times
        [n, n] travel times including service at the stop left; stop 0 is the depot.
    opens, closes
        [n] time windows; the day begins when the depot opens, and its window holds on return. A window that never
        closes ends at infinity.
    vehicles
        Number of vehicles.
    objectives
        Names: those of `costs`, and time, finish, waiting, lateness, vehicles, longest (see `MEASURES`).
    costs
        [n, n] matrices by name, such as distance.
    demand, capacity
        [n] demand of each stop, and capacity of a vehicle.
    late_costs
        True if a missed window is not a violation; `lateness` must then be an objective.
    metric
        As in `mo_tsptw`.
    """
    driven = checked_matrices(times, "times")[0]
    n = len(driven)
    opening, closing = checked_windows(opens, closes, n)
    check_whole("vehicles", vehicles, 1)
    vehicles = min(vehicles, n - 1)  # more cannot be used
    matrices = {"time": driven, **{key: checked_matrices(matrix, key)[0] for key, matrix in (costs or {}).items()}}
    for matrix in matrices.values():
        matrix[0, 0] = 0.0  # an unused vehicle
    _check_objectives(list(objectives), matrices, n, late_costs=late_costs)
    asked, carried = _checked_load(demand, capacity, n)
    summed = {**matrices, "vehicles": np.outer(np.arange(n) == 0, np.arange(n) > 0).astype(float)}
    columns = [len(objectives) + _MEASURED[key] if key in _MEASURED else k for k, key in enumerate(objectives)]
    latest = np.full(n, np.inf) if late_costs else closing * (1 + TOLERANCE)
    shortest = driven if metric else shortest_times(driven)
    deadlines = np.minimum((1 + NOISE) * latest, (1 + NOISE) * latest[0] - shortest[:, 0])
    to_visit = np.arange(1, n, dtype=np.uint64)
    data = VRPTWData(
        times=driven,
        costs=np.stack([summed.get(key, np.zeros((n, n))) for key in objectives]),
        columns=np.array(columns),
        distances=np.stack([_attraction(matrices.get(key, driven), key) for key in objectives]),
        opens=opening,
        closes=closing,
        latest=latest,
        shortest=shortest,
        deadlines=deadlines,
        by_deadline=to_visit[np.argsort(deadlines[1:], kind="stable")],
        demand=asked,
        capacity=np.array([carried]),
        closings=np.arange(n, n + vehicles - 1),
        steps=np.array([_steps(driven, opening, closing)]),
        usual=usual(driven),
    )
    n_moves = n + vehicles - 2
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
        canonical=canonical,
        n_objectives=len(objectives),
        n_codes=n * n,
        max_moves=n_moves,
        max_candidates=n_moves * (n_moves + 1) // 2,
        distinct_codes=vehicles == 1,
        bias_by_code=True,
        genotype=Permutation(range(1, n + vehicles - 1)),
        segments=route_segments(columns),
        name=name,
        objective_names=tuple(objectives),
        known_by=("times", "costs", "columns", "opens", "closes", "latest", "demand", "capacity", "closings"),
    )


def _check_objectives(names: list[str], matrices: dict[str, NDArray[np.float64]], n: int, *, late_costs: bool) -> None:
    for key, matrix in matrices.items():
        if matrix.shape != (n, n):
            raise InstanceError(f"{key} must be a matrix for the {n} stops of the times, got shape {matrix.shape}.")
        if key != "time" and key in MEASURES:
            raise InstanceError(f"costs must not have the names of measures ({', '.join(MEASURES)}), got {key!r}.")
    known = list(dict.fromkeys([*matrices, *MEASURES]))
    for key in names:
        if key not in known:
            raise InstanceError(
                f"objectives must be among {', '.join(known)}, got {shown(key)}{did_you_mean(str(key), known)}."
            )
    if not names or len(set(names)) < len(names):
        raise InstanceError(f"objectives must be at least one name and each once, got {shown(names)}.")
    if late_costs and "lateness" not in names:
        raise InstanceError("late_costs requires lateness among the objectives.")


def _checked_load(demand: ArrayLike | None, capacity: float | None, n: int) -> tuple[NDArray[np.float64], float]:
    asked = np.zeros(n) if demand is None else checked_floats(demand, "demand", f"{n} numbers, one for each stop")
    if asked.shape != (n,) or not np.isfinite(asked).all() or (asked < 0).any():
        raise InstanceError(f"demand must be {n} finite numbers of at least 0, one for each stop.")
    if asked[0] != 0:
        raise InstanceError(f"demand[0] is that of the depot and must be 0, got {asked[0]:g}.")
    if capacity is None:
        return asked, np.inf
    if not is_number(capacity) or capacity < 0:
        raise InstanceError(f"capacity must be a finite number of at least 0, got {shown(capacity)}.")
    return asked, capacity * (1 + TOLERANCE)


def _steps(*times: NDArray[np.float64]) -> float:
    largest = max(float(values[np.isfinite(values)].max(initial=0.0)) for values in times)
    return 10.0 ** (_DIGITS - np.ceil(np.log10(largest))) if largest > 0 else 1.0


def _attraction(matrix: NDArray[np.float64], objective: str) -> NDArray[np.float64]:
    """Return the distances of the bias: closing a route is a trip to the depot and out again."""
    lengths = matrix.copy()
    lengths[:, 0] += lengths[0, 1:].mean()
    scaled = normalised(lengths[None])[0]
    if objective == "vehicles":
        scaled[:, 0] = 1.0
    return np.asarray(max(1.0, len(matrix) / _USUAL_SIZE) * scaled)
