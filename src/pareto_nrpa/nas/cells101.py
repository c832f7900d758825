"""The cells of NAS-Bench-101 (Ying et al. 2019): up to 7 vertices and 9 edges, an operation on each inner vertex.

A cell is an upper triangular matrix of edges, vertex 0 the input and the last one the output, and the operations of the
vertices between them, as numbers. The benchmark recognises isomorphic cells by a hash, this module by a compiled key.
The key refines labels exactly as the benchmark's hash does (degrees and operation first, then as many rounds as there
are vertices over predecessors and successors), with arithmetic instead of MD5 and sums instead of sorting. It is
computed twice, with other constants, modulo the prime 2^31 - 1: 62 bits, and no product overflows, compiled or not.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numba import types
from numpy.typing import ArrayLike, NDArray

from ..engine.jit.kernels import compile_entry, engine_kernel, small_kernel

OPERATIONS = ("conv3x3-bn-relu", "conv1x1-bn-relu", "maxpool3x3")
_SHORT = ("conv3x3", "conv1x1", "maxpool3x3")
N_OPERATIONS = len(OPERATIONS)
MAX_VERTICES, MAX_EDGES = 7, 9
N_CELLS = 423_624

# The network around the cells: a stem of 128 channels, three stacks of three cells each, ten classes.
_STEM, _STACKS, _CELLS_PER_STACK, _CLASSES = 128, 3, 3, 10


def matrix_of(n_vertices: int, bits: int) -> NDArray[np.int8]:
    """Return the edges of a cell from bits: bit x + y (y - 1) / 2 stands for the edge from x to y."""
    matrix = np.zeros((n_vertices, n_vertices), dtype=np.int8)
    for y in range(1, n_vertices):
        for x in range(y):
            matrix[x, y] = bits >> (x + y * (y - 1) // 2) & 1
    return matrix


def bits_of(matrix: NDArray[np.int8]) -> int:
    """Return the edges of a cell as bits."""
    n = len(matrix)
    return sum(1 << (x + y * (y - 1) // 2) for y in range(n) for x in range(y) if matrix[x, y])


def parameters(matrix: NDArray[np.int8], operations: Sequence[int]) -> int:
    """Return the number of trainable parameters of the network of a cell."""
    total = _convolution(3, 3, _STEM)
    source = _STEM
    for stack in range(_STACKS):
        target = _STEM * 2**stack
        for _ in range(_CELLS_PER_STACK):
            total += _in_cell(matrix, operations, source, target)
            source = target
    return total + source * _CLASSES + _CLASSES


def _convolution(size: int, source: int, target: int) -> int:
    """Return the parameters of a convolution without bias, followed by batch normalisation."""
    return size * size * source * target + 2 * target


def _in_cell(matrix: NDArray[np.int8], operations: Sequence[int], source: int, target: int) -> int:
    """Return the parameters of one cell: its convolutions, and a projection of the input wherever it goes."""
    channels = _channels(matrix, source, target)
    size = {0: 3, 1: 1}
    total = sum(
        _convolution(size[operation], channels[v], channels[v])
        for v, operation in enumerate(operations, 1)
        if operation in size
    )
    return total + sum(_convolution(1, source, channels[v]) for v in np.flatnonzero(matrix[0]).tolist())


def _channels(matrix: NDArray[np.int8], source: int, target: int) -> list[int]:
    """Return the channels of each vertex: inputs of the output share its channels, the first ones get the remainder."""
    last = len(matrix) - 1
    channels = [0] * last + [target]
    channels[0] = source
    sharing = [v for v in range(1, last) if matrix[v, last]]
    for place, v in enumerate(sharing):
        channels[v] = target // len(sharing) + (place < target % len(sharing))
    for v in range(last - 1, 0, -1):
        if not matrix[v, last]:
            channels[v] = max(channels[w] for w in np.flatnonzero(matrix[v, :last]).tolist())
    return channels


def cell_text(matrix: NDArray[np.int8], operations: Sequence[int]) -> str:
    """Return a cell in a line: the operations of its vertices, then its edges."""
    vertices = ["0:input", *(f"{v}:{_SHORT[operation]}" for v, operation in enumerate(operations, 1))]
    vertices.append(f"{len(matrix) - 1}:output")
    edges = [f"{x}>{y}" for x, y in np.argwhere(matrix).tolist()]
    return f"{' '.join(vertices)} | {' '.join(edges)}"


# --- compiled: the key shared by isomorphic cells, and the paths through a cell

_PRIME = 2**31 - 1
# Arbitrary constants, which must not change.
_BEFORE, _BEHIND, _OWN, _LAST = 715_225_741, 1_402_954_183, 1_010_101_879, 392_742_677
_AGAIN = 1_234_567_891
_INPUT, _OUTPUT = 0, N_OPERATIONS + 1
#: Number of sequences of up to five operations, the possible paths through a cell.
N_PATHS = sum(N_OPERATIONS**length for length in range(MAX_VERTICES - 1))


@small_kernel
def reduce(x):
    """Return x modulo the prime, for x up to its square."""
    x = (x & _PRIME) + (x >> 31)
    return x - _PRIME if x >= _PRIME else x


@small_kernel
def scramble(x):
    """Return the fifth power, which is a bijection, as 5 does not divide 2^31 - 2."""
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
    """Return the key of a graph, shared by isomorphic ones."""
    one = half_key(sources, labels, n, 1, scratch[0], scratch[1], scratch[2])
    other = half_key(sources, labels, n, _AGAIN, scratch[0], scratch[1], scratch[2])
    return one * (_PRIME + 1) + other


@engine_kernel
def unpack(n, bits, ops, sources, labels):
    """Fill in sources and labels of a cell of a table."""
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
    """Fill in the number of paths from input to output of each cell for every sequence of operations."""
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
    """Return the number of paths of each kind in cells [n, 364]: first the direct edge, then by length."""
    counts = np.zeros((np.size(bits), N_PATHS), dtype=np.int8)
    _run(fill_paths, types.void(*_COLUMNS, types.int8[:, ::1]), n_vertices, bits, ops, counts)
    return counts


def _run(function, signature, n_vertices, bits, ops, out):
    entry = compile_entry(function, signature)
    entry.compile()
    columns = [np.ascontiguousarray(column, dtype=np.int64) for column in (n_vertices, bits, ops)]
    entry.call(*columns, np.zeros((5, MAX_VERTICES), dtype=np.int64), out)
