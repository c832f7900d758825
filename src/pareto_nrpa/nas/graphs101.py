"""Compiled code for cells of NAS-Bench-101: a key that isomorphic cells share, and the paths through a cell.

The key refines labels exactly as the benchmark's hash does (degrees and operation first, then as many rounds as there
are vertices over those before and behind), with arithmetic in the place of MD5 and sums in the place of sorting. It is
done twice, with other constants, modulo the prime 2^31 - 1: 62 bits, and no product overflows, compiled or not.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numba import types

from ..engine.jit.kernels import compile_entry, engine_kernel, small_kernel
from .cells101 import MAX_VERTICES, N_OPERATIONS

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

_PRIME = 2**31 - 1
# Any numbers will do, as long as they stay what they are.
_BEFORE, _BEHIND, _OWN, _LAST = 715_225_741, 1_402_954_183, 1_010_101_879, 392_742_677
_AGAIN = 1_234_567_891
_INPUT, _OUTPUT = 0, N_OPERATIONS + 1
#: Sequences of up to five operations: what a path through a cell can be.
N_PATHS = sum(N_OPERATIONS**length for length in range(MAX_VERTICES - 1))


@small_kernel
def reduce(x):
    """Return x modulo the prime, for x up to its square."""
    x = (x & _PRIME) + (x >> 31)
    return x - _PRIME if x >= _PRIME else x


@small_kernel
def scramble(x):
    """Return the fifth power, which takes every number to another one, as 5 does not divide 2^31 - 2."""
    square = reduce(x * x)
    return reduce(reduce(square * square) * x)


@engine_kernel
def half_key(sources, labels, n, start, marks, before, behind):
    """Return half of the key of a graph: bit x of sources[y] stands for an edge from x to y."""
    for v in range(n):
        n_sources = 0
        n_targets = 0
        for w in range(n):
            n_sources += sources[v] >> w & 1
            n_targets += sources[w] >> v & 1
        marks[v] = scramble(reduce(start + (n_targets * 8 + n_sources) * 8 + labels[v]))
    for _ in range(n):
        for v in range(n):
            before[v] = scramble(reduce(marks[v] + _BEFORE))
            behind[v] = scramble(reduce(marks[v] + _BEHIND))
        for v in range(n):
            total = reduce(marks[v] * _OWN)
            for w in range(n):
                total += (sources[v] >> w & 1) * before[w] + (sources[w] >> v & 1) * behind[w]
            marks[v] = scramble(reduce(total))
    total = 0
    for v in range(n):
        total += scramble(reduce(marks[v] + _LAST))
    return reduce(total)


@engine_kernel
def graph_key(sources, labels, n, scratch):
    """Return the key of a graph, which isomorphic ones share."""
    one = half_key(sources, labels, n, 1, scratch[0], scratch[1], scratch[2])
    other = half_key(sources, labels, n, _AGAIN, scratch[0], scratch[1], scratch[2])
    return one * (_PRIME + 1) + other


@engine_kernel
def unpack(n, bits, ops, sources, labels):
    """Fill in sources and labels of a cell as it stands in a table."""
    for y in range(n):
        sources[y] = bits >> (y * (y - 1) // 2) & ((1 << y) - 1) if y > 0 else 0
        labels[y] = ops[y - 1] + 1 if 0 < y < n - 1 else _INPUT if y == 0 else _OUTPUT


def fill_keys(n_vertices, bits, ops, scratch, keys):
    """Fill in the keys of all cells of a table."""
    sources, labels = scratch[0], scratch[1]
    for i in range(keys.size):
        unpack(n_vertices[i], bits[i], ops[i], sources, labels)
        keys[i] = graph_key(sources, labels, n_vertices[i], scratch[2:])


def fill_paths(n_vertices, bits, ops, scratch, counts):
    """Fill in how many paths from input to output each cell has of every sequence of operations."""
    sources, labels, path = scratch[0], scratch[1], scratch[2]
    for i in range(counts.shape[0]):
        n = n_vertices[i]
        unpack(n, bits[i], ops[i], sources, labels)
        # All subsets of the inner vertices: a path is one whose neighbours are joined.
        for subset in range(1 << (n - 2)):
            number = 0
            length = 0
            at = 0
            is_path = True
            for v in range(1, n):
                if v == n - 1 or subset >> (v - 1) & 1:
                    is_path = is_path and (sources[v] >> at & 1) == 1
                    at = v
                    if v < n - 1:
                        path[length] = labels[v] - 1
                        length += 1
            if is_path:
                first = 0
                for k in range(length):
                    number = number * N_OPERATIONS + path[k]
                    first = first * N_OPERATIONS + 1
                counts[i, first + number] += 1


_COLUMNS = types.int64[::1], types.int64[::1], types.int64[:, ::1], types.int64[:, ::1]


def cell_keys(n_vertices: ArrayLike, bits: ArrayLike, ops: ArrayLike) -> NDArray[np.int64]:
    """Return the keys of cells."""
    keys = np.zeros(np.size(bits), dtype=np.int64)
    _run(fill_keys, types.void(*_COLUMNS, types.int64[::1]), n_vertices, bits, ops, keys)
    return keys


def path_counts(n_vertices: ArrayLike, bits: ArrayLike, ops: ArrayLike) -> NDArray[np.int8]:
    """Return how many paths of each kind cells have [n, 364]: first the direct edge, then by length."""
    counts = np.zeros((np.size(bits), N_PATHS), dtype=np.int8)
    _run(fill_paths, types.void(*_COLUMNS, types.int8[:, ::1]), n_vertices, bits, ops, counts)
    return counts


def _run(function, signature, n_vertices, bits, ops, out):
    entry = compile_entry(function, signature)
    entry.compile()
    columns = [np.ascontiguousarray(column, dtype=np.int64) for column in (n_vertices, bits, ops)]
    entry.call(*columns, np.zeros((5, MAX_VERTICES), dtype=np.int64), out)
