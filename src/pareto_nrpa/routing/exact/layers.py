"""Layer by layer: all paths of one length, extended to all of the next, with memory and time kept in bounds."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from .labelling import COUNT, NEXT, REMOVED, Bounds, Labels, Network, extend, rebuild_chains

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

#: Bytes of a label in a layer under construction, with room to grow and its share of the hash table.
BYTES_PER_LABEL = 400
#: Bytes that a label leaves behind, to tell the tour in the end.
BYTES_PER_ANCESTOR = 5
# Paths extended between two looks at the clock.
_PATHS_AT_A_TIME = 20_000
_SMALLEST_CAPACITY = 1 << 12


class Layer(NamedTuple):
    """All paths of one length that may become part of an efficient tour."""

    states: NDArray[np.uint64]
    times: NDArray[np.float64]
    costs: NDArray[np.float64]
    parents: NDArray[np.int32]
    slacks: NDArray[np.float32]

    def last(self) -> NDArray[np.uint8]:
        """Return where each path ends."""
        return (self.states & np.uint64(63)).astype(np.uint8)


def no_bounds(n: int, m: int) -> Bounds:
    """Return bounds that bound nothing."""
    return Bounds(
        weights=np.empty((0, m)),
        values=np.empty(0),
        places=np.empty((0, n, n), np.int64),
        sizes=np.empty((0, n), np.int64),
        bits=np.empty((0, n, 1), np.int64),
        starts=np.zeros(n),
        widths=np.ones(n),
        buckets=1,
        paid=np.empty((0, 8, 256)),
        total=np.empty(0),
        corners=np.empty((0, 0)),
    )


def root(network: Network) -> Layer:
    """Return the path that stands at the depot."""
    costs = np.zeros((1, len(network.costs)))
    states, parents = np.zeros(1, np.uint64), np.zeros(1, np.int32)
    return Layer(states, network.opens[:1].copy(), costs, parents, np.zeros(1, np.float32))


def next_layer(
    network: Network,
    bounds: Bounds,
    layer: Layer,
    position: int,
    *,
    look_up: Callable[[NDArray[np.int64]], None],
    width: int | None = None,
    grid: float = 0.0,
) -> tuple[Layer, NDArray[np.int64], bool]:
    """Return all paths one city longer, what happened to them, and whether some were left out.

    Above `width` paths only those with the most slack go on. `look_up` is called many times a second; it may raise.
    """
    labels = _new_labels(max(_SMALLEST_CAPACITY, 2 * len(layer.states)), *bounds.weights.shape[::-1])
    is_cut = False
    while labels.numbers[NEXT] < len(layer.states):
        until = min(labels.numbers[NEXT] + _PATHS_AT_A_TIME, len(layer.states))
        extend(
            network, bounds, layer.states, layer.times, layer.costs, position, labels, until, width is not None, grid
        )
        look_up(labels.numbers)
        if labels.numbers[COUNT] + len(network.opens) > len(labels.states):
            alive = labels.numbers[COUNT] - labels.numbers[REMOVED]
            if width is not None and alive > 2 * width:
                labels, is_cut = _with(labels, _best(labels.slacks, _alive(labels), width)), True
            else:
                labels = _with(labels, _alive(labels), room=2)
    keep = _alive(labels)
    if width is not None and len(keep) > width:
        keep, is_cut = _best(labels.slacks, keep, width), True
    arrays = (labels.states, labels.times, labels.costs, labels.parents, labels.slacks)
    return Layer(*(array[keep] for array in arrays)), labels.numbers, is_cut


def _new_labels(capacity: int, m: int, w: int) -> Labels:
    return Labels(
        states=np.empty(capacity, np.uint64),
        times=np.empty(capacity),
        costs=np.empty((capacity, m)),
        parents=np.empty(capacity, np.int32),
        slacks=np.empty(capacity, np.float32),
        chain=np.empty(capacity, np.int32),
        heads=np.full(1 << int(2 * capacity - 1).bit_length(), -1, np.int32),
        numbers=np.zeros(6, np.int64),
        new_costs=np.empty(m),
        new_sums=np.empty(w),
    )


def _alive(labels: Labels) -> NDArray[np.int64]:
    return np.flatnonzero(labels.parents[: labels.numbers[COUNT]] >= 0)


def _best(slacks: NDArray[np.float32], alive: NDArray[np.int64], width: int) -> NDArray[np.int64]:
    """Return the labels with the most slack, in their order; of equal ones the first."""
    ranked = np.argsort(-slacks[alive], kind="stable")[:width]
    return alive[np.sort(ranked)]


def _with(labels: Labels, keep: NDArray[np.int64], room: int = 1) -> Labels:
    """Return some of the labels, in arrays `room` times as large."""
    larger = _new_labels(room * len(labels.states), len(labels.new_costs), len(labels.new_sums))
    for name in ("states", "times", "costs", "parents", "slacks"):
        getattr(larger, name)[: len(keep)] = getattr(labels, name)[keep]
    larger.numbers[:] = labels.numbers
    larger.numbers[COUNT], larger.numbers[REMOVED] = len(keep), 0
    rebuild_chains(larger)
    return larger


def prepare(m: int) -> None:
    """Compile what only long layers need, or find it on disk."""
    _with(_new_labels(2, m, 1), np.arange(0))


class Ancestry:
    """Who came from whom, so that a path of the last layer can be told as a tour."""

    def __init__(self) -> None:
        self._layers: list[tuple[NDArray[np.uint8], NDArray[np.int32]]] = []
        self.size = 0

    def add(self, layer: Layer) -> None:
        """Remember a layer."""
        self._layers.append((layer.last(), layer.parents))
        self.size += len(layer.parents)

    def tour(self, path: int) -> list[int]:
        """Return the cities of a path of the last layer, in the order of the visits."""
        cities = []
        for last, parents in reversed(self._layers):
            cities.append(int(last[path]))
            path = int(parents[path])
        return cities[::-1]
