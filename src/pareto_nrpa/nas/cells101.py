"""The cells of NAS-Bench-101 (Ying et al. 2019): up to 7 vertices and 9 edges, an operation on each inner vertex.

A cell is an upper triangular matrix of edges, vertex 0 the input and the last one the output, and the operations of the
vertices between them, as numbers.
"""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

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


def cell_hash(matrix: NDArray[np.int8], operations: Sequence[int]) -> str:
    """Return the benchmark's own hash of a cell, which isomorphic cells share (iterated MD5, `hash_module` there)."""
    n = len(matrix)
    labels = [-1, *operations, -2]
    degrees = zip(matrix.sum(axis=1).tolist(), matrix.sum(axis=0).tolist(), labels, strict=True)
    hashes = [_md5(str(triple)) for triple in degrees]
    sources = [np.flatnonzero(matrix[:, v]).tolist() for v in range(n)]
    targets = [np.flatnonzero(matrix[v]).tolist() for v in range(n)]
    for _ in range(n):
        hashes = [
            _md5(
                f"{''.join(sorted(hashes[w] for w in sources[v]))}|{''.join(sorted(hashes[w] for w in targets[v]))}|"
                f"{hashes[v]}"
            )
            for v in range(n)
        ]
    return _md5(str(sorted(hashes)))


def _md5(text: str) -> str:
    return hashlib.md5(text.encode(), usedforsecurity=False).hexdigest()


def parameters(matrix: NDArray[np.int8], operations: Sequence[int]) -> int:
    """Return the number of trainable parameters of the network made of a cell."""
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
    """Return the channels of each vertex: those that lead to the output share its channels, the first get the rest."""
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
