"""Preprocessing of time windows: narrower windows, precedences, arcs that no tour can use."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ...errors import ProblemError
from .labelling import Network

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ..tsptw import TSPTWData

# Times computed in another order than along a tour may differ in the last digits.
TOLERANCE = 1e-7
# This holds up to this time. Longer days are scaled down and short ones up, by a power of 2, which is exact.
_SHORTEST_DAY, _LONGEST_DAY = 1.0, 1e5
_MOST_ROUNDS = 1000
_LONG_AGO = -1e18
# What remains of 64 beside the last city.
_MOST_BITS = 57


class Networks(NamedTuple):
    """The instance as networks for labelling, in both directions of time."""

    forward: Network
    backward: Network  # reversed tours; time t there is horizon - t here
    arcs: NDArray[np.bool_]  # [n + 1, n, n], by position of the second city (n: the return): usable arcs
    before: NDArray[np.bool_]  # [n, n], the first city must come before the second
    horizon: float
    back_by: float  # latest return to the depot


def build_networks(data: TSPTWData) -> Networks | None:
    """Return the networks of an instance, or None if its windows contradict each other: no tour is feasible."""
    longest = data.opens.max() + data.costs[0].max(axis=1).sum()
    is_usual = longest == 0 or _SHORTEST_DAY <= longest <= _LONGEST_DAY
    unit = 1.0 if is_usual else 2.0 ** np.ceil(np.log2(longest / _LONGEST_DAY))
    times, shortest, first, last = (array / unit for array in (data.costs[0], data.shortest, data.opens, data.closes))
    tightened = _tighten(times, shortest, first, last)
    if tightened is None:
        return None
    opens, closes, arcs, before = tightened
    horizon = float(closes.max())
    stops, positions = _positions(arcs, before)
    bits = _bits(stops)
    is_open = stops & (np.arange(len(times)) > 0)
    forward = Network(
        travel=times,
        costs=data.costs,
        # A tour satisfies the given windows; derived windows may have errors in the last digits.
        opens=np.maximum(first, opens - TOLERANCE),
        closes=np.minimum(np.minimum(last, closes + TOLERANCE), _latest(closes, shortest, is_open)),
        bits=bits,
        open=is_open,
        arcs=positions,
        **_sets(before, bits, is_open),
        **_deadlines(closes, shortest, bits, is_open),
    )
    backward = _reversed(forward, before, opens, closes, horizon, last[0])._replace(arcs=_turned(positions))
    return Networks(forward, backward, positions, before, horizon, float(last[0]))


def unit_costs(costs: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the unit of each of the costs [m, n, n]: 1, or the largest cost if all are smaller."""
    largest = costs.max(axis=(1, 2))
    return np.where(largest > 0, np.minimum(largest, 1.0), 1.0)


def longest_tour(networks: Networks) -> float:
    """Return what the first cost, the time between stops, of every tour is below."""
    network = networks.forward
    back = min(float((network.closes.max(axis=0) + network.travel[:, 0])[1:].max()), networks.back_by)
    largest = network.travel.max()
    unit = network.costs[0].max() / largest if largest > 0 else 1.0
    return float(unit * (back - network.opens[0] + TOLERANCE) * (1 + 1e-9) + 1e-6)


def _tighten(
    times: NDArray[np.float64], shortest: NDArray[np.float64], opens: NDArray[np.float64], closes: NDArray[np.float64]
) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.bool_], NDArray[np.bool_]] | None:
    """Narrow the windows until nothing changes; returns opens, closes, arcs and precedences.

    Two cities that only lead to each other can narrow their windows in many small steps, so the number of rounds is
    limited.
    """
    never = opens.max() + times.max(axis=1).sum()  # no tour is that late
    is_back_in_time = np.isfinite(closes[0])  # otherwise the return is not checked
    opens, closes = opens.copy(), np.minimum(closes, never)
    if is_back_in_time:
        closes[1:] = np.minimum(closes, closes[0] - shortest[:, 0])[1:]
    arcs = ~np.eye(len(times), dtype=bool)
    for _ in range(_MOST_ROUNDS):
        old = np.concatenate([opens, closes])
        before = _precedences(opens, closes, shortest)
        if (before & before.T).any():
            return None
        arcs &= _usable_arcs(opens, closes, times, before)
        if not arcs.any(axis=0).all() or not arcs.any(axis=1).all():
            return None
        _narrow(opens, closes, times, shortest, arcs, before)
        if (opens > closes + TOLERANCE).any():
            return None
        if np.array_equal(old, np.concatenate([opens, closes])):
            break
    latest_return = np.where(arcs[:, 0], closes + times[:, 0], -np.inf).max()
    closes[0] = min(closes[0], latest_return) if is_back_in_time else closes[1:].max()
    return opens, closes, arcs, before


def _precedences(
    opens: NDArray[np.float64], closes: NDArray[np.float64], shortest: NDArray[np.float64]
) -> NDArray[np.bool_]:
    """Return before[i, j]: city i must come before j, as from j it can no longer be reached."""
    before = (opens[:, None] + shortest > closes[None, :] + TOLERANCE).T
    before[0, :] = before[:, 0] = False
    np.fill_diagonal(before, False)
    for k in range(1, len(opens)):
        before |= before[:, k : k + 1] & before[k : k + 1, :]
    return before


def _usable_arcs(
    opens: NDArray[np.float64], closes: NDArray[np.float64], times: NDArray[np.float64], before: NDArray[np.bool_]
) -> NDArray[np.bool_]:
    """Return the arcs that are not too slow, respect precedences, and do not skip a city that must come in between."""
    between = before.astype(np.int64) @ before.astype(np.int64) > 0
    arcs = (opens[:, None] + times <= closes[None, :] + TOLERANCE) & ~before.T & ~between
    arcs[0] &= ~before.any(axis=0)
    arcs[:, 0] &= ~before.any(axis=1)
    np.fill_diagonal(arcs, False)
    return arcs


def _narrow(
    opens: NDArray[np.float64],
    closes: NDArray[np.float64],
    times: NDArray[np.float64],
    shortest: NDArray[np.float64],
    arcs: NDArray[np.bool_],
    before: NDArray[np.bool_],
) -> None:
    """Narrow windows to the earliest arrival and the latest departure."""
    arrivals = np.where(arcs, opens[:, None] + times, np.inf).min(axis=0)
    arrivals = np.maximum(arrivals, np.where(before, opens[:, None] + shortest, -np.inf).max(axis=0))
    opens[1:] = np.maximum(opens, arrivals)[1:]
    departures = np.where(arcs, closes[None, :] - times, -np.inf).max(axis=1)
    departures = np.minimum(departures, np.where(before, closes[None, :] - shortest, np.inf).min(axis=1))
    closes[1:] = np.minimum(closes, departures)[1:]


def _positions(arcs: NDArray[np.bool_], before: NDArray[np.bool_]) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """Return the cities that a tour can visit at each position, and the arcs that it can use to them and to return."""
    n = len(arcs)
    first, last = before[1:].sum(axis=0), n - 2 - before[:, 1:].sum(axis=1)  # counted from 0
    positions = np.arange(n - 1)[:, None]
    is_there = (first <= positions) & (positions <= last)
    is_there[:, 0] = False
    depot = np.eye(1, n, dtype=bool)
    stops = np.concatenate([np.zeros((1, n), bool), depot, is_there, depot])
    return stops[1:], np.asarray(stops[:-1, :, None] & stops[1:, None, :] & arcs)


def _bits(stops: NDArray[np.bool_]) -> NDArray[np.uint64]:
    """Return the bit of each city; cities share one if all positions of one are two or more behind the other's."""
    first, last = stops.argmax(axis=0), len(stops) - 1 - stops[::-1].argmax(axis=0)
    bits, ends = np.zeros(stops.shape[1], np.uint64), list[int]()
    for city in sorted(range(1, len(bits)), key=lambda j: int(first[j])):
        free = next((bit for bit, end in enumerate(ends) if end < first[city] - 1), len(ends))
        ends[free : free + 1] = [int(last[city])]
        if len(ends) > _MOST_BITS:
            raise ProblemError(
                f"certify takes at most {_MOST_BITS} cities that can be visited at about the same place of a tour; "
                "narrower windows, which leave fewer orders, make more cities possible."
            )
        bits[city] = 1 << free
    return bits


def _latest(
    closes: NDArray[np.float64], shortest: NDArray[np.float64], is_open: NDArray[np.bool_]
) -> NDArray[np.float64]:
    """Return for each position and city when a city that cannot come before is out of reach."""
    comes_later = np.logical_or.accumulate(is_open[::-1])[::-1] & ~np.logical_or.accumulate(is_open)
    return np.asarray(np.where(comes_later[:, None], closes - shortest + TOLERANCE, np.inf).min(axis=2))


def _turned(positions: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Return the arcs by position of reversed tours."""
    turned = np.zeros_like(positions)
    turned[1:] = positions[:0:-1].transpose(0, 2, 1)
    return turned


def _masks(members: NDArray[np.bool_], bits: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """Return the set of each row of [..., n]."""
    sets: NDArray[np.uint64] = np.bitwise_or.reduce(np.where(members, bits, np.uint64(0)), axis=-1)
    return sets


def _sets(
    before: NDArray[np.bool_], bits: NDArray[np.uint64], is_open: NDArray[np.bool_]
) -> dict[str, NDArray[np.uint64]]:
    """Return for each position and city which cities must have been visited, must not have been, are remembered."""
    earlier = np.concatenate([is_open[:1], is_open[:-1]])[:, None]
    everything = np.ones_like(before)
    return {
        "before": _masks(before.T & earlier, bits),
        "after": _masks(before & earlier, bits),
        "memory": _masks(everything & is_open[:, None], bits),
    }


def _deadlines(
    closes: NDArray[np.float64], shortest: NDArray[np.float64], bits: NDArray[np.uint64], is_open: NDArray[np.bool_]
) -> dict[str, NDArray[Any]]:
    """Return for each city the times after which others are out of reach, and by position the sets of these."""
    latest = (closes[None, :] - shortest + TOLERANCE)[:, 1:]
    np.fill_diagonal(latest[1:], np.inf)  # a city is in reach of itself
    order = np.argsort(latest, axis=1, kind="stable")
    lost = np.where(is_open[:, order + 1], bits[order + 1], np.uint64(0))
    return {
        "deadlines": np.take_along_axis(latest, order, axis=1),
        "lost": np.bitwise_or.accumulate(lost, axis=2),
    }


def _reversed(
    forward: Network,
    before: NDArray[np.bool_],
    opens: NDArray[np.float64],
    closes: NDArray[np.float64],
    horizon: float,
    back_by: float,
) -> Network:
    is_open = forward.open[::-1].copy()
    travel = forward.travel.T.copy()
    if not np.isfinite(back_by):
        travel[0] = _LONG_AGO  # a tour may return at any time
    return forward._replace(
        travel=travel,
        costs=np.ascontiguousarray(forward.costs.transpose(0, 2, 1)),
        opens=horizon - closes,
        closes=np.tile(horizon - opens + TOLERANCE, (len(opens) + 1, 1)),
        open=is_open,
        **_sets(before.T, forward.bits, is_open),
    )


def with_arcs(networks: Networks, arcs: NDArray[np.bool_]) -> Networks:
    """Return the networks with a subset of the arcs."""
    return networks._replace(
        forward=networks.forward._replace(arcs=arcs),
        backward=networks.backward._replace(arcs=_turned(arcs)),
        arcs=arcs,
    )


def used_arcs(networks: Networks, used: NDArray[np.bool_], *, is_backward: bool) -> NDArray[np.bool_]:
    """Return the arcs of a network that are used in one direction; those to the depot stay."""
    used[..., 0] = True
    return np.asarray((_turned(used) if is_backward else used) & networks.arcs)


def relaxed(network: Network, costs: NDArray[np.float64], memory: NDArray[np.bool_]) -> Network:
    """Return the network for paths with partial memory [n, n], without conditions on cities not remembered."""
    n = len(memory)
    return network._replace(
        costs=np.ascontiguousarray(costs[None]),
        before=np.zeros((n + 1, n), np.uint64),
        memory=_masks(memory & network.open[:, None], network.bits),
        deadlines=np.empty((n, 0)),
        lost=np.empty((n + 1, n, 0), np.uint64),
    )
