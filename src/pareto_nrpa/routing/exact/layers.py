"""Layers of paths of equal length, extended one by one within limits of memory and time."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from . import labelling
from .labelling import COUNT, NEXT, REMOVED, Bounds, Labels, Network, extend, rebuild_chains, undominated

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

#: Bytes of a label in a layer under construction, including spare room and the hash table.
BYTES_PER_LABEL = 400
#: Bytes stored per label to reconstruct the tour.
BYTES_PER_ANCESTOR = 5
# Paths extended between two checks of the clock.
_PATHS_AT_A_TIME = 20_000
_SMALLEST_CAPACITY = 1 << 12


class Layer(NamedTuple):
    """All paths of one length that may be part of an efficient tour."""

    states: NDArray[np.uint64]
    times: NDArray[np.float64]
    costs: NDArray[np.float64]
    parents: NDArray[np.int32]
    slacks: NDArray[np.float32]

    def last(self) -> NDArray[np.uint8]:
        """Return the last city of each path."""
        return (self.states & np.uint64(127)).astype(np.uint8)


class Extension(NamedTuple):
    """All paths one city longer than those of a layer."""

    layer: Layer
    numbers: NDArray[np.int64]  # numbers of labels by outcome
    used: NDArray[np.bool_]  # [n, n], the arcs not excluded by bounds
    is_cut: bool  # whether some were left out


def no_bounds(n: int, m: int) -> Bounds:
    """Return empty bounds."""
    return Bounds(
        weights=np.empty((0, m)),
        steps=np.empty((0, n, n)),
        paid=np.empty((0, 0, 8, 256)),
        to_pay=np.empty((0, n + 1)),
        begins=np.empty((0, n, n + 1), np.int64),
        memories=np.empty(0, np.uint64),
        latest=np.empty(0),
        values=np.empty(0),
        corners=np.empty((0, 0)),
    )


def root(network: Network) -> Layer:
    """Return the path at the depot."""
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
) -> Extension:
    """Return all paths one city longer.

    Above `width` paths only those with the most slack are kept. `look_up` is called many times a second; it may raise.
    """
    labels = _new_labels(max(_SMALLEST_CAPACITY, 2 * len(layer.states)), len(network.opens), bounds)
    is_cut = False
    while labels.numbers[NEXT] < len(layer.states):
        until = min(labels.numbers[NEXT] + _PATHS_AT_A_TIME, len(layer.states))
        extend(network, bounds, layer.states, layer.times, layer.costs, position, labels, until, grid)
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
    return Extension(Layer(*(array[keep] for array in arrays)), labels.numbers, labels.used, is_cut)


def _new_labels(capacity: int, n: int, bounds: Bounds) -> Labels:
    w, m = bounds.weights.shape
    return Labels(
        states=np.empty(capacity, np.uint64),
        times=np.empty(capacity),
        costs=np.empty((capacity, m)),
        parents=np.empty(capacity, np.int32),
        slacks=np.empty(capacity, np.float32),
        chain=np.empty(capacity, np.int32),
        heads=np.full(1 << int(2 * capacity - 1).bit_length(), -1, np.int32),
        used=np.zeros((n, n), bool),
        numbers=np.zeros(6, np.int64),
        new_costs=np.empty(m),
        sums=np.empty(w),
        room=np.empty(len(bounds.corners)),
    )


def _alive(labels: Labels) -> NDArray[np.int64]:
    return np.flatnonzero(labels.parents[: labels.numbers[COUNT]] >= 0)


def _best(slacks: NDArray[np.float32], alive: NDArray[np.int64], width: int) -> NDArray[np.int64]:
    """Return the labels with the most slack, in their order; of equal ones the first."""
    ranked = np.argsort(-slacks[alive], kind="stable")[:width]
    return alive[np.sort(ranked)]


def _with(labels: Labels, keep: NDArray[np.int64], room: int = 1) -> Labels:
    """Return some of the labels, in arrays `room` times as large."""
    capacity = room * len(labels.states)
    columns = {}
    for name in ("states", "times", "costs", "parents", "slacks"):
        column = getattr(labels, name)
        columns[name] = np.empty((capacity, *column.shape[1:]), column.dtype)
        columns[name][: len(keep)] = column[keep]
    heads = np.full(1 << int(2 * capacity - 1).bit_length(), -1, np.int32)
    larger = labels._replace(**columns, chain=np.empty(capacity, np.int32), heads=heads)
    larger.numbers[COUNT], larger.numbers[REMOVED] = len(keep), 0
    rebuild_chains(larger)
    return larger


def in_order(layer: Layer) -> Layer:
    """Return the routes of a layer by last city and cost, without dominated ones."""
    by_cost = np.argsort(layer.costs[:, 0], kind="stable")
    layer = _rows(layer, by_cost[np.argsort(layer.last()[by_cost], kind="stable")])
    kept = np.empty(len(layer.states), np.int64)
    return _rows(layer, kept[: undominated(layer.states, layer.times, kept)])


def _rows(layer: Layer, rows: NDArray[np.int64]) -> Layer:
    columns: tuple[NDArray[Any], ...] = layer
    return Layer(*(column[rows] for column in columns))


class Ancestry:
    """Predecessors of labels, to reconstruct a path of the last layer as a tour."""

    def __init__(self) -> None:
        self._layers: list[tuple[NDArray[np.uint8], NDArray[np.int32]]] = []
        self.size = 0

    def add(self, layer: Layer) -> None:
        """Store the predecessors of a layer."""
        self._layers.append((layer.last(), layer.parents))
        self.size += len(layer.parents)

    def tour(self, path: int) -> list[int]:
        """Return the cities of a path of the last layer, in the order of the visits."""
        cities = []
        for last, parents in reversed(self._layers):
            cities.append(int(last[path]))
            path = int(parents[path])
        return cities[::-1]


def kernels_are_compiled() -> bool:
    """Tell whether the kernels are compiled in this process, or on disk since their file changed last."""
    return all(_is_ready(kernel) for kernel in (extend, undominated))


def _is_ready(kernel: Any) -> bool:
    if not hasattr(kernel, "stats") or kernel.signatures:  # compiling is switched off, or done
        return True
    changed, folder = Path(labelling.__file__).stat().st_mtime, kernel.stats.cache_path
    names = f"labelling.{kernel.__name__}-*.nbi"
    return folder is not None and any(path.stat().st_mtime >= changed for path in Path(folder).glob(names))
