"""An index of mutually non-dominated rows of a table, so that a new row is compared with few of them.

Rows near each other share a block, which stores the smallest and the largest value of each objective. No row of a block
covers a new row that the smallest values do not cover, and none is covered by one that does not cover the largest (the
idea of the ND-tree, Jaszkiewicz and Lust 2018). The blocks are the leaves of a k-d tree, which assigns rows to blocks;
tests scan all blocks, one for every 16 to 32 rows.

The index does not change the front, but the order in which unused rows are taken: checkpoints include it.
"""

from __future__ import annotations

import numpy as np

from .arrays import VIOLATIONS, FrontIndex
from .dominance import covers, is_at_most
from .jit.kernels import ZERO, engine_kernel, small_kernel
from .state import need

_BLOCK = 32
#: Results of the comparison of a new row with all rows of an index.
WORSE, EQUAL, NEW = range(3)


def new_index(n_rows, n_objectives):
    """Return an empty index of up to n_rows; half of the blocks are for rows that replace others."""
    n_blocks = n_rows // (_BLOCK // 4) + 2
    return FrontIndex(
        blocks=np.zeros((n_blocks, 1 + _BLOCK), dtype=np.int64),
        nodes=np.zeros((2 * n_blocks, 2), dtype=np.int64),
        bounds=np.zeros((4 * n_blocks, 1 + n_objectives)),
    )


def check_index(index, used, n_rows):
    """Raise unless a restored index contains the rows in use, or is not built yet."""
    n = int(index.nodes[-1, 0]) if len(index.nodes) else -1
    need(len(index.blocks) == len(new_index(n_rows, 1).blocks) and 0 <= n <= len(index.blocks), "an index of its size")
    children, parts = index.nodes[: max(0, 2 * n - 1)].T
    inner = np.flatnonzero(children)
    need((children[inner] > inner).all() and (children[inner] + 1 < len(children)).all(), "an index that is a tree")
    need(np.array_equal(np.sort(parts[children == 0]), np.arange(n)), "an index with a leaf for each block")
    rows = [block[1 : 1 + block[0]] for block in index.blocks[:n]]
    need(n == 0 or np.array_equal(np.sort(np.concatenate(rows)), used), "an index of all archived rows")


@small_kernel
def count_blocks(index):
    """Return the number of blocks; 0 if the index is not built yet."""
    return index.nodes[index.nodes.shape[0] - 1, 0]


@engine_kernel
def clear(index):
    """Remove all rows."""
    index.nodes[index.nodes.shape[0] - 1, 0] = 1
    index.bounds[0, VIOLATIONS] = np.inf
    index.blocks[0, 0] = 0
    index.nodes[0, 0] = 0
    index.nodes[0, 1] = 0


@small_kernel
def compare(index, scores, newcomers, new, dropped, n_dropped):
    """Compare a row of another table with all rows, and drop those that it covers.

    Returns WORSE, EQUAL or NEW, and the length of `dropped`, to which covered rows are added.
    """
    n_blocks = count_blocks(index)
    blocks = index.blocks
    if newcomers[new, VIOLATIONS] > index.bounds[0, VIOLATIONS]:
        return WORSE, n_dropped
    if newcomers[new, VIOLATIONS] < index.bounds[0, VIOLATIONS]:
        for block in range(n_blocks):
            for i in range(1, 1 + blocks[block, 0]):
                dropped[n_dropped] = blocks[block, i]
                n_dropped += 1
        clear(index)
        return NEW, n_dropped
    for block in range(n_blocks):
        if n_blocks == 1 or is_at_most(index.bounds, 2 * block, newcomers, new):
            for i in range(1, 1 + blocks[block, 0]):
                if is_at_most(scores, blocks[block, i], newcomers, new):
                    return EQUAL if is_at_most(newcomers, new, scores, blocks[block, i]) else WORSE, n_dropped
    for block in range(n_blocks):
        if n_blocks == 1 or is_at_most(newcomers, new, index.bounds, 2 * block + 1):
            n_kept = 0
            for i in range(1, 1 + blocks[block, 0]):
                if is_at_most(newcomers, new, scores, blocks[block, i]):
                    dropped[n_dropped] = blocks[block, i]
                    n_dropped += 1
                else:
                    n_kept += 1
                    blocks[block, n_kept] = blocks[block, i]
            if n_kept < blocks[block, 0]:
                blocks[block, 0] = n_kept
                _set_corners(index, scores, block)
    return NEW, n_dropped


@small_kernel
def split_front(scores, rest, n_rest, n_known, front, index, standing, spare):
    """Move the non-dominated rows of rest[:n_rest] to `front`, the older of equal ones; returns both lengths.

    Both keep their order. Rows equal to an older member of the front come last in `rest`. The first `n_known` are
    mutually non-dominated.
    """
    if n_rest <= _BLOCK:
        _compare_few(scores, rest, n_rest, n_known, standing)
    else:
        _compare_many(scores, rest, n_rest, n_known, index, standing, spare)
    n_front = 0
    n_left = 0
    n_equal = 0
    for i in range(n_rest):
        row = rest[i]
        if standing[row] == NEW:
            front[n_front] = row
            n_front += 1
        elif standing[row] == WORSE:
            rest[n_left] = row
            n_left += 1
        else:
            spare[n_equal] = row
            n_equal += 1
    for i in range(n_equal):
        rest[n_left + i] = spare[i]
    return n_front, n_left


@small_kernel
def _compare_few(scores, rows, n_rows, n_known, standing):
    """Compare each row with the others without an index, which is faster for small sets."""
    for i in range(n_known):
        standing[rows[i]] = NEW
    for i in range(n_known, n_rows):
        new = rows[i]
        standing[new] = NEW
        for j in range(i):
            old = rows[j]
            if standing[old] == NEW:
                if covers(scores, old, scores, new):
                    standing[new] = EQUAL if covers(scores, new, scores, old) else WORSE
                    break
                if covers(scores, new, scores, old):
                    standing[old] = WORSE


@engine_kernel
def _compare_many(scores, rows, n_rows, n_known, index, standing, spare):
    """Compare each row with the others by an index."""
    clear(index)
    for i in range(n_known):
        standing[rows[i]] = NEW
        insert(index, scores, rows[i])
    for i in range(n_known, n_rows):
        standing[rows[i]], n_dropped = compare(index, scores, scores, rows[i], spare, ZERO)
        for j in range(n_dropped):
            standing[spare[j]] = WORSE
        if standing[rows[i]] == NEW:
            insert(index, scores, rows[i])


@engine_kernel
def insert(index, scores, row):
    """Add a row that was NEW."""
    index.bounds[0, VIOLATIONS] = scores[row, VIOLATIONS]
    leaf = _leaf_of(index, scores, row)
    block = index.nodes[leaf, 1]
    if index.blocks[block, 0] == _BLOCK:
        _split(index, scores, leaf)
        leaf = _leaf_of(index, scores, row)
        block = index.nodes[leaf, 1]
    index.blocks[block, 0] += 1
    index.blocks[block, index.blocks[block, 0]] = row
    if count_blocks(index) > 1:
        _widen(index.bounds, block, scores, row)


@engine_kernel
def _leaf_of(index, scores, row):
    """Return the leaf to which a row belongs."""
    nodes = index.nodes
    node = 0
    while nodes[node, 0] > 0:
        node = nodes[node, 0] + (
            0 if _comes_before(scores, row, index.bounds, nodes.shape[0] + node, nodes[node, 1]) else 1
        )
    return node


@small_kernel
def _comes_before(table_a, a, table_b, b, axis):
    """Order rows by one objective, and by the following ones in ties: different rows never tie."""
    n_objectives = table_a.shape[1] - 1
    for step in range(n_objectives):
        k = 1 + (axis + step) % n_objectives
        if table_a[a, k] != table_b[b, k]:
            return table_a[a, k] < table_b[b, k]
    return False


@engine_kernel
def _split(index, scores, leaf):
    """Split a full block into two halves, along the objective with the largest range."""
    n_blocks = count_blocks(index)
    blocks = index.blocks
    block = index.nodes[leaf, 1]
    _set_corners(index, scores, block)
    axis = _widest(index.bounds, block, n_blocks)
    for i in range(2, 1 + _BLOCK):
        row = blocks[block, i]
        j = i
        while j > 1 and _comes_before(scores, row, scores, blocks[block, j - 1], axis):
            blocks[block, j] = blocks[block, j - 1]
            j -= 1
        blocks[block, j] = row
    half = _BLOCK // 2
    blocks[block, 0] = half
    blocks[n_blocks, 0] = half
    for i in range(1, 1 + half):
        blocks[n_blocks, i] = blocks[block, half + i]
    for k in range(scores.shape[1]):
        index.bounds[index.nodes.shape[0] + leaf, k] = scores[blocks[n_blocks, 1], k]
    first = 2 * n_blocks - 1
    for child in range(2):
        index.nodes[first + child, 0] = 0
        index.nodes[first + child, 1] = n_blocks if child else block
    index.nodes[leaf, 0] = first
    index.nodes[leaf, 1] = axis
    index.nodes[index.nodes.shape[0] - 1, 0] += 1
    _set_corners(index, scores, block)
    _set_corners(index, scores, n_blocks)


@engine_kernel
def _widest(bounds, block, n_blocks):
    """Return the objective whose range in a block is the largest part of its range in all blocks."""
    axis = 0
    largest = -1.0
    for k in range(1, bounds.shape[1]):
        smallest_of_all = np.inf
        largest_of_all = -np.inf
        for b in range(n_blocks):
            smallest_of_all = min(smallest_of_all, bounds[2 * b, k])
            largest_of_all = max(largest_of_all, bounds[2 * b + 1, k])
        # Halves: the difference of two huge numbers could be infinite.
        span = 0.5 * largest_of_all - 0.5 * smallest_of_all
        part = (0.5 * bounds[2 * block + 1, k] - 0.5 * bounds[2 * block, k]) / span if span > 0.0 else 0.0
        if part > largest:
            axis = k - 1
            largest = part
    return axis


@engine_kernel
def _set_corners(index, scores, block):
    """Compute the corners of a block."""
    for k in range(1, scores.shape[1]):
        index.bounds[2 * block, k] = np.inf
        index.bounds[2 * block + 1, k] = -np.inf
    for i in range(1, 1 + index.blocks[block, 0]):
        _widen(index.bounds, block, scores, index.blocks[block, i])


@small_kernel
def _widen(bounds, block, scores, row):
    """Extend the corners of a block by a row."""
    for k in range(1, scores.shape[1]):
        bounds[2 * block, k] = min(bounds[2 * block, k], scores[row, k])
        bounds[2 * block + 1, k] = max(bounds[2 * block + 1, k], scores[row, k])
