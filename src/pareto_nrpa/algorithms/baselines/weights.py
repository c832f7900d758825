"""Weight vectors for algorithms that minimise weighted sums of the objectives."""

from __future__ import annotations

from itertools import combinations
from math import comb
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray


def most_partitions(m: int, n: int) -> int:
    """Return the number of partitions of the weights of m objectives for about n vectors.

    The largest number with at most n vectors (Das & Dennis 1998), at least one; m must be 2 or more.
    """
    partitions = 1
    while comb(partitions + m, m - 1) <= n:
        partitions += 1
    return partitions


def weight_vectors(m: int, n: int) -> NDArray[np.float64]:
    """Return about n evenly spread weight vectors: first those of a single objective, then the balanced ones.

    Single objectives come first, as they determine the range of each.
    """
    if n < m:  # fewer than one for each objective
        return np.full((1, m), 1 / m)
    if m == 1:
        return np.ones((1, 1))
    partitions = most_partitions(m, n)
    # Stars and bars: all distributions of `partitions` equal parts over m objectives.
    bars = np.array(list(combinations(range(partitions + m - 1), m - 1)), dtype=int).reshape(-1, m - 1)
    edges = np.column_stack([np.full(len(bars), -1), bars, np.full(len(bars), partitions + m - 1)])
    weights = (np.diff(edges, axis=1) - 1) / partitions
    order = np.lexsort((np.arange(len(weights)), weights.max(axis=1)))
    is_corner = weights.max(axis=1) == 1.0
    ordered: NDArray[np.float64] = np.vstack([weights[is_corner][::-1], weights[order][~is_corner[order]]])
    return ordered
