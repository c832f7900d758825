"""The cells of NAS-Bench-201 (Dong & Yang 2020): four vertices, one of five operations on each of the six edges."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ..errors import ProblemError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import ArrayLike, NDArray

OPERATIONS = ("none", "skip_connect", "nor_conv_1x1", "nor_conv_3x3", "avg_pool_3x3")
#: In the order of the official string, which is the order of the moves: from vertex, to vertex.
EDGES = ((0, 1), (0, 2), (1, 2), (0, 3), (1, 3), (2, 3))
N_OPERATIONS, N_EDGES = len(OPERATIONS), len(EDGES)
N_CELLS = N_OPERATIONS**N_EDGES

_CONV_1X1, _CONV_3X3 = OPERATIONS.index("nor_conv_1x1"), OPERATIONS.index("nor_conv_3x3")
# Parameters of the network around the cells, and of a convolution in all of its 15 cells; ten classes (CIFAR-10).
_PARAMS, _PARAMS_1X1, _PARAMS_3X3 = 73_306, 28_000, 243_040
_FLOPS, _FLOPS_1X1, _FLOPS_3X3 = 7_783_050, 3_932_160, 35_389_440


def cell_string(moves: Sequence[int]) -> str:
    """Return the official string of a cell, such as |nor_conv_3x3~0|+|none~0|skip_connect~1|+|...|."""
    words: list[list[str]] = [[], [], []]
    for (source, target), move in zip(EDGES, moves, strict=True):
        words[target - 1].append(f"{OPERATIONS[move]}~{source}")
    return "+".join(f"|{'|'.join(vertex)}|" for vertex in words)


def cell_moves(text: str) -> list[int]:
    """Return the moves that build the cell of an official string."""
    words = [word for vertex in text.strip().split("+") for word in vertex.strip("|").split("|")]
    expected = [f"~{source}" for source, _ in EDGES]
    names = [word[:-2] for word in words]
    if [word[-2:] for word in words] != expected or not set(names) <= set(OPERATIONS):
        raise ProblemError(f"{text!r} is not a cell of NAS-Bench-201, such as {cell_string([3] * N_EDGES)}.")
    return [OPERATIONS.index(name) for name in names]


def all_cells() -> NDArray[np.int64]:
    """Return the moves of all cells [15625, 6]; the row of a cell is its moves read as a number of base 5."""
    return np.stack(np.unravel_index(np.arange(N_CELLS), (N_OPERATIONS,) * N_EDGES), axis=1)


def cell_rows(moves: ArrayLike) -> NDArray[np.int64]:
    """Return the rows of cells [n, 6] among all cells."""
    return np.asarray(moves, dtype=np.int64) @ N_OPERATIONS ** np.arange(N_EDGES - 1, -1, -1)


def parameters(moves: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the trainable parameters of networks [n, 6], which follow from the number of convolutions.

    The benchmark reports 150 cells that begin with a skip connection one convolution too low; these are correct.
    """
    return _PARAMS + _PARAMS_1X1 * _count(moves, _CONV_1X1) + _PARAMS_3X3 * _count(moves, _CONV_3X3)


def flops(moves: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the multiply-adds of convolutions and the last layer of networks [n, 6], for an image of CIFAR-10."""
    return _FLOPS + _FLOPS_1X1 * _count(moves, _CONV_1X1) + _FLOPS_3X3 * _count(moves, _CONV_3X3)


def _count(moves: NDArray[np.int64], operation: int) -> NDArray[np.int64]:
    counts: NDArray[np.int64] = (moves == operation).sum(axis=1)
    return counts
