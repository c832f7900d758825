"""Dynamic programming over partial tours with time windows: labels, dominance, completion bounds.

A label is a path from the depot: a state (the cities it remembers, the last one), a time and its costs. One function,
`extend`, makes all paths one city longer. With full memory the paths are tours in the making; where a city remembers
its neighbours only (ng-routes, Baldacci, Mingozzi and Roberti 2012), paths may return to a forgotten city, there are
far fewer states, and the cheapest path is a lower bound. Run on the reversed network, such paths are completions.

All functions that Python calls are in this file with all that they call, as Numba's cache looks at one file only.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ...engine.jit.kernels import cached_kernel, small_kernel

NO_COMPLETION = 1e300
#: A state is the memory, one bit for each city but the depot, shifted by this, and the last city.
LAST_BITS = np.uint64(6)
_LAST = np.uint64(63)
_ONE = np.uint64(1)
_BYTE = np.uint64(255)
_REMOVED = np.int32(-2)

# Places in `Labels.numbers`.
COUNT, REMOVED, NEXT, MADE, BOUNDED, DOMINATED = 0, 1, 2, 3, 4, 5


class Network(NamedTuple):
    """Where a path may go. City 0 is the depot; sets of cities are masks, bit j - 1 for city j."""

    travel: np.ndarray  # [n, n] float64, time
    costs: np.ndarray  # [m, n, n] float64
    opens: np.ndarray  # [n] float64
    closes: np.ndarray  # [n] float64
    arcs: np.ndarray  # [n, n] bool, what a feasible tour can use
    before: np.ndarray  # [n] uint64, cities that must have been visited
    after: np.ndarray  # [n] uint64, cities that must not have been visited
    earliest: np.ndarray  # [n] int64, position in the tour, the first is 1
    latest: np.ndarray  # [n] int64
    memory: np.ndarray  # [n] uint64, what is remembered at a city
    deadlines: np.ndarray  # [n, k] float64, times in growing order
    lost: np.ndarray  # [n, k] uint64, cities out of reach when leaving after that time


class Bounds(NamedTuple):
    """What it costs at least to complete a path, in several weighted sums of the costs, and what would be too much."""

    weights: np.ndarray  # [w, m] float64
    values: np.ndarray  # float64; for a weight, a number of cities and a city: [2 ** bits of memory, buckets of time]
    places: np.ndarray  # [w, n, n] int64, where that begins in `values`, by cities to go (this one included) and city
    sizes: np.ndarray  # [w, n] int64, bits of memory at a city
    bits: np.ndarray  # [w, n, k] int64, which bit of a set each of them is
    starts: np.ndarray  # [n] float64, where the first bucket begins
    widths: np.ndarray  # [n] float64, of a bucket
    buckets: int
    paid: np.ndarray  # [w, 8, 256] float64, dual prices of the cities in each byte of a set
    total: np.ndarray  # [w] float64, dual prices of all cities
    corners: np.ndarray  # [boxes, w] float64, weighted sums at the local upper bounds: corners of the boxes still open


class Labels(NamedTuple):
    """Paths of one length under construction, in chains of a hash table."""

    states: np.ndarray  # [capacity] uint64
    times: np.ndarray  # [capacity] float64
    costs: np.ndarray  # [capacity, m] float64
    parents: np.ndarray  # [capacity] int32, a label of the layer before
    slacks: np.ndarray  # [capacity] float32, how far below a corner of a box the bounds are
    chain: np.ndarray  # [capacity] int32
    heads: np.ndarray  # [power of two] int32
    numbers: np.ndarray  # [6] int64
    new_costs: np.ndarray  # [m] float64, of the label at hand
    new_sums: np.ndarray  # [w] float64


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
def _pattern(memory, bits, size):
    """Return which of the cities in `bits` a set holds."""
    pattern = 0
    for b in range(size):
        pattern |= np.int64((memory >> np.uint64(bits[b])) & _ONE) << b
    return pattern


@small_kernel
def _bucket(time, start, width, buckets):
    return min(max(np.int64((time - start) / width), 0), buckets - 1)


@small_kernel
def _completion(bounds, w, to_go, city, memory, time):
    """Return the least weighted cost of a completion."""
    place = bounds.places[w, to_go, city]
    if place < 0:
        return NO_COMPLETION
    pattern = _pattern(memory, bounds.bits[w, city], bounds.sizes[w, city])
    bucket = _bucket(time, bounds.starts[city], bounds.widths[city], bounds.buckets)
    return bounds.values[place + pattern * bounds.buckets + bucket]


@small_kernel
def _slack(bounds, sums, with_slack):
    """Return how far the sums are below the corner of an open box, in the direction that is nearest to it.

    0 if no box is left. The first box found is enough unless the number itself is wanted.
    """
    best = 0.0
    for box in range(bounds.corners.shape[0]):
        slack = NO_COMPLETION
        for w in range(sums.size):
            slack = min(slack, bounds.corners[box, w] - sums[w])
            if slack <= best:
                break
        if slack > best:
            best = slack
            if not with_slack:
                break
    return best


@small_kernel
def _is_stranded(network, city, time, visited):
    """Tell whether a city not visited yet can no longer be reached in time."""
    low, high = 0, network.deadlines.shape[1]
    while low < high:
        middle = (low + high) // 2
        if network.deadlines[city, middle] < time:
            low = middle + 1
        else:
            high = middle
    return low > 0 and network.lost[city, low - 1] & ~visited != 0


@small_kernel
def _is_dominated(labels, state, time, costs, slot):
    """Tell whether a label of the same state is as good; labels that are worse leave the chain."""
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
def extend(network, bounds, states, times, costs, position, labels, until, with_slack, grid):
    """Extend paths by a city that becomes number `position`, up to path `until` or until `labels` is full.

    Begins with path `numbers[NEXT]` and leaves there where to go on. With a `grid` times are rounded to it, which
    makes fewer labels and no bound: for the search of dual prices only.
    """
    n, m = network.travel.shape[0], network.costs.shape[0]
    numbers, new_costs, sums = labels.numbers, labels.new_costs, labels.new_sums
    for path in range(numbers[NEXT], until):
        if numbers[COUNT] + n > labels.states.size:
            break
        numbers[NEXT] = path + 1
        city, seen = np.int64(states[path] & _LAST), states[path] >> LAST_BITS
        for to in range(1, n):
            bit = _ONE << np.uint64(to - 1)
            if seen & (bit | network.after[to]) or network.before[to] & ~seen or not network.arcs[city, to]:
                continue
            if position < network.earliest[to] or position > network.latest[to]:
                continue
            time = times[path] + network.travel[city, to]
            if time > network.closes[to]:
                continue
            time = max(time, network.opens[to])
            if grid > 0.0:
                time = min(max(np.floor(time / grid + 0.5) * grid, network.opens[to]), network.closes[to])
            memory = (seen & network.memory[to]) | bit
            if _is_stranded(network, to, time, memory):
                continue
            numbers[MADE] += 1
            for k in range(m):
                new_costs[k] = costs[path, k] + network.costs[k, city, to]
            slack = 0.0
            if sums.size > 0:
                for w in range(sums.size):
                    value = _completion(bounds, w, n - position, to, memory, time) - bounds.total[w]
                    for k in range(m):
                        value += bounds.weights[w, k] * new_costs[k]
                    rest = memory
                    for byte in range(8):
                        value += bounds.paid[w, byte, np.int64(rest & _BYTE)]
                        rest >>= np.uint64(8)
                    sums[w] = value
                slack = _slack(bounds, sums, with_slack)
                if slack <= 0.0:
                    numbers[BOUNDED] += 1
                    continue
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
def tabulate(values, places, states, times, costs, sizes, bits, starts, widths, buckets, dual_prices, horizon, end):
    """Write what paths of one length, made on the reversed network, cost at least as completions; returns the new end.

    `places` [n] receives where the block of each city begins in `values`. A block is indexed by the cities that a
    path has visited, among those its last city would remember, and by time: a completion counts if it remembers none
    of them and can begin at that time. The dual price of the city itself is left out, as the path has paid it.
    """
    tolerance = 1e-7
    begin = end
    for path in range(states.size):
        places[np.int64(states[path] & _LAST)] = 0
    for city in range(places.size):
        if places[city] >= 0:
            places[city] = end
            end += buckets << sizes[city]
    values[begin:end] = NO_COMPLETION
    for path in range(states.size):
        city = np.int64(states[path] & _LAST)
        pattern = _pattern(states[path] >> LAST_BITS, bits[city], sizes[city])
        bucket = _bucket(horizon - times[path] + tolerance, starts[city], widths[city], buckets)
        at = places[city] + pattern * buckets + bucket
        values[at] = min(values[at], costs[path, 0] - dual_prices[city])
    for city in range(places.size):
        if places[city] >= 0:
            block = values[places[city] : places[city] + (buckets << sizes[city])]
            _close_block(block.reshape((1 << sizes[city], buckets)), sizes[city])
    return end


@small_kernel
def _close_block(block, size):
    """Turn least costs by exact memory and last possible bucket into least costs by cities forbidden and time."""
    for pattern in range(block.shape[0]):
        for bucket in range(block.shape[1] - 2, -1, -1):
            block[pattern, bucket] = min(block[pattern, bucket], block[pattern, bucket + 1])
    for b in range(size):  # the least over all subsets
        for pattern in range(block.shape[0]):
            if pattern >> b & 1:
                for bucket in range(block.shape[1]):
                    smaller = block[pattern ^ (1 << b), bucket]
                    block[pattern, bucket] = min(block[pattern, bucket], smaller)
    for pattern in range(block.shape[0] // 2):  # allowed becomes forbidden
        other = block.shape[0] - 1 - pattern
        for bucket in range(block.shape[1]):
            here = block[pattern, bucket]
            block[pattern, bucket] = block[other, bucket]
            block[other, bucket] = here
