"""Dynamic programming over partial tours with time windows: labels, dominance, completion bounds.

A label is a path from the depot: a state (remembered cities, last city), a time and costs. One function, `extend`,
extends all paths by one city. With full memory the paths are partial tours; if a city remembers its neighbours only
(ng-routes, Baldacci, Mingozzi and Roberti 2012), paths may return to a forgotten city, there are far fewer states, and
the cheapest path is a lower bound. On the reversed network, such paths are completions.

All functions that Python calls are in this file with all callees, as Numba's cache checks one file only.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ...engine.jit.bundles import bundle
from ...engine.jit.kernels import cached_kernel, small_kernel

NO_COMPLETION = 1e300
#: A state is the memory shifted by this, and the last city.
LAST_BITS = np.uint64(7)
_LAST = np.uint64(127)
_BYTE = np.uint64(255)
_REMOVED = np.int32(-2)

# Places in `Labels.numbers`.
COUNT, REMOVED, NEXT, MADE, BOUNDED, DOMINATED = 0, 1, 2, 3, 4, 5


@bundle
class Network(NamedTuple):
    """The network of paths. City 0 is the depot.

    Sets of cities are masks. The set of a path holds only those cities that a tour may visit before or after its
    position; cities of which there is no such position in common share a bit. Masks are by position of the next city.
    """

    travel: np.ndarray  # [n, n] float64, time
    costs: np.ndarray  # [m, n, n] float64
    opens: np.ndarray  # [n] float64
    closes: np.ndarray  # [n + 1, n] float64, by position
    bits: np.ndarray  # [n] uint64
    open: np.ndarray  # [n + 1, n] bool, the cities that may be at a position, or before and after it
    arcs: np.ndarray  # [n + 1, n, n] bool
    before: np.ndarray  # [n + 1, n] uint64, cities that must have been visited
    after: np.ndarray  # [n + 1, n] uint64, cities that must not have been visited
    memory: np.ndarray  # [n + 1, n] uint64, the cities remembered at a city
    deadlines: np.ndarray  # [n, k] float64, times in growing order
    lost: np.ndarray  # [n + 1, n, k] uint64, cities out of reach when leaving after that time


@bundle
class Bounds(NamedTuple):
    """Lower bounds on completions of a path, in several weighted sums of the costs, and upper limits.

    The completions are the routes of a pass in the other direction, by weighted sum, number of cities and first city,
    in the order of their values.
    """

    weights: np.ndarray  # [w, m] float64
    steps: np.ndarray  # [w, n, n] float64, weighted cost of an arc and dual price of the city that it enters
    paid: np.ndarray  # [w, n + 1, 8, 256] float64, dual prices of the cities in each byte of a set; empty for routes
    to_pay: np.ndarray  # [w, n + 1] float64, dual prices of all cities but those that are visited for certain
    begins: np.ndarray  # [w, n, n + 1] int64, by cities to go (the first one included) and first city
    memories: np.ndarray  # uint64, the cities of a completion that it remembers, without the first one
    latest: np.ndarray  # float64, when it must begin
    values: np.ndarray  # float64, weighted cost and dual prices, without that of the first city
    corners: np.ndarray  # [boxes, w] float64, weighted sums at the local upper bounds: corners of the boxes still open


@bundle
class Labels(NamedTuple):
    """Paths of one length under construction, in the chains of a hash table."""

    states: np.ndarray  # [capacity] uint64
    times: np.ndarray  # [capacity] float64
    costs: np.ndarray  # [capacity, m] float64
    parents: np.ndarray  # [capacity] int32, a label of the layer before
    slacks: np.ndarray  # [capacity] float32, distance of the bounds below a corner of a box
    chain: np.ndarray  # [capacity] int32
    heads: np.ndarray  # [power of two] int32
    used: np.ndarray  # [n, n] bool, the arcs of paths that the bounds did not exclude
    numbers: np.ndarray  # [6] int64
    new_costs: np.ndarray  # [m] float64, of the current label
    sums: np.ndarray  # [w] float64, of the current path
    room: np.ndarray  # [boxes] float64, distance of the current label below each corner


@small_kernel
def _slot(state, heads):
    """Return the place of a state in the hash table (the finaliser of MurmurHash3)."""
    x = state
    x ^= x >> np.uint64(33)
    x *= np.uint64(0xFF51AFD7ED558CCD)
    x ^= x >> np.uint64(33)
    x *= np.uint64(0xC4CEB9FE1A85EC53)
    x ^= x >> np.uint64(33)
    return np.int64(x & np.uint64(heads.size - 1))


@small_kernel
def _sum_of_path(bounds, w, costs, seen, position):
    """Return the weighted costs of a path and the dual prices of its cities, minus those of all cities."""
    value = -bounds.to_pay[w, position]
    for k in range(costs.size):
        value += bounds.weights[w, k] * costs[k]
    if bounds.paid.shape[1]:
        rest = seen
        for byte in range(8):
            value += bounds.paid[w, position, byte, np.int64(rest & _BYTE)]
            rest >>= np.uint64(8)
    return value


@small_kernel
def _completion(bounds, w, to_go, city, memory, time, most):
    """Return the least value of a completion that is below `most`."""
    for at in range(bounds.begins[w, to_go, city], bounds.begins[w, to_go, city + 1]):
        value = bounds.values[at]
        if value >= most:
            break
        if not bounds.memories[at] & memory and time <= bounds.latest[at]:
            return value
    return NO_COMPLETION


@small_kernel
def _slack(bounds, sums, room, city, to, to_go, memory, time):
    """Return the distance of a path below the corner of an open box in all weighted sums (best box; 0 if none)."""
    for box in range(room.size):
        room[box] = NO_COMPLETION
    best = 0.0
    for w in range(sums.size):
        most = -NO_COMPLETION
        for box in range(room.size):
            if room[box] > 0.0:
                most = max(most, bounds.corners[box, w])
        value = sums[w] + bounds.steps[w, city, to]
        value += _completion(bounds, w, to_go, to, memory, time, most - value)
        best = 0.0
        for box in range(room.size):
            room[box] = min(room[box], bounds.corners[box, w] - value)
            best = max(best, room[box])
        if best <= 0.0:
            break
    return best


@small_kernel
def _is_stranded(network, position, city, time, visited):
    """Tell whether an unvisited city can no longer be reached in time."""
    low, high = 0, network.deadlines.shape[1]
    while low < high:
        middle = (low + high) // 2
        if network.deadlines[city, middle] < time:
            low = middle + 1
        else:
            high = middle
    return low > 0 and network.lost[position, city, low - 1] & ~visited != 0


@small_kernel
def _is_dominated(labels, state, time, costs, slot):
    """Tell whether a label of the same state is as good; worse labels leave the chain."""
    at, previous = labels.heads[slot], np.int32(-1)
    while at >= 0:
        following = labels.chain[at]
        if labels.states[at] == state:
            better, worse = labels.times[at] <= time, labels.times[at] >= time
            for k in range(costs.size):
                better = better and labels.costs[at, k] <= costs[k]
                worse = worse and labels.costs[at, k] >= costs[k]
            if better:
                return True
            if worse:
                if previous < 0:
                    labels.heads[slot] = following
                else:
                    labels.chain[previous] = following
                labels.parents[at] = _REMOVED
                labels.numbers[REMOVED] += 1
                at = following
                continue
        previous, at = at, following
    return False


@small_kernel
def _add(labels, state, time, costs, parent, slack, slot):
    at = labels.numbers[COUNT]
    labels.states[at] = state
    labels.times[at] = time
    for k in range(costs.size):
        labels.costs[at, k] = costs[k]
    labels.parents[at] = parent
    labels.slacks[at] = slack
    labels.chain[at] = labels.heads[slot]
    labels.heads[slot] = at
    labels.numbers[COUNT] += 1


@cached_kernel
def extend(network, bounds, states, times, costs, position, labels, until, grid):
    """Extend paths by a city that becomes number `position`, up to path `until` or until `labels` is full.

    Begins with path `numbers[NEXT]` and stores the next path there. With a `grid` times are rounded to it, which gives
    fewer labels and no valid bound: for the search of dual prices only.
    """
    n, m = network.travel.shape[0], network.costs.shape[0]
    numbers, new_costs, sums = labels.numbers, labels.new_costs, labels.sums
    for path in range(numbers[NEXT], until):
        if numbers[COUNT] + n > labels.states.size:
            break
        numbers[NEXT] = path + 1
        city, seen = np.int64(states[path] & _LAST), states[path] >> LAST_BITS
        for w in range(sums.size):
            sums[w] = _sum_of_path(bounds, w, costs[path], seen, position - 1)
        for to in range(1, n):
            bit = network.bits[to]
            if not network.arcs[position, city, to] or seen & bit:
                continue
            if seen & network.after[position, to] or network.before[position, to] & ~seen:
                continue
            time = times[path] + network.travel[city, to]
            if time > network.closes[position, to]:
                continue
            time = max(time, network.opens[to])
            if grid > 0.0:
                time = min(max(np.floor(time / grid + 0.5) * grid, network.opens[to]), network.closes[position, to])
            memory = (seen & network.memory[position, to]) | bit
            if _is_stranded(network, position, to, time, memory):
                continue
            numbers[MADE] += 1
            slack = 0.0
            if sums.size > 0:
                slack = _slack(bounds, sums, labels.room, city, to, n - position, memory, time)
                if slack <= 0.0:
                    numbers[BOUNDED] += 1
                    continue
            labels.used[city, to] = True
            for k in range(m):
                new_costs[k] = costs[path, k] + network.costs[k, city, to]
            state = (memory << LAST_BITS) | np.uint64(to)
            slot = _slot(state, labels.heads)
            if _is_dominated(labels, state, time, new_costs, slot):
                numbers[DOMINATED] += 1
            else:
                _add(labels, state, time, new_costs, path, slack, slot)


@cached_kernel
def rebuild_chains(labels):
    """Put all labels into the hash table, which is empty."""
    for at in range(labels.numbers[COUNT]):
        if labels.parents[at] != _REMOVED:
            slot = _slot(labels.states[at], labels.heads)
            labels.chain[at] = labels.heads[slot]
            labels.heads[slot] = at


@cached_kernel
def undominated(states, times, kept):
    """Write the routes without those that remember more than a cheaper one and are not earlier; returns their number.

    Routes are in the order of their last cities, those of one city in the order of their costs.
    """
    begin, end = 0, 0
    for at in range(states.size):
        if at and states[at] & _LAST != states[at - 1] & _LAST:
            begin = end
        is_dominated = False
        for other in range(begin, end):
            if times[kept[other]] <= times[at] and not states[kept[other]] & ~states[at]:
                is_dominated = True
                break
        if not is_dominated:
            kept[end] = at
            end += 1
    return end
