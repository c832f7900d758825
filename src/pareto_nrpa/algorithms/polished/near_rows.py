"""Rows of stretches of an order, updated as it changes: for limits, and for objectives that are not sums of arcs."""

from __future__ import annotations

import numpy as np

from ...engine.arrays import END, START
from ...engine.jit.kernels import engine_kernel
from .near_state import FORWARD, ONE, PART, STRETCH, WHOLE

_START, _END = np.int64(START), np.int64(END)

# Unbound here: the row of one move and the join of two, of costs or of limits, and functions of them.
one_of = join = fill = stretch = None


@engine_kernel
def copy_row(row, out):
    """Copy numbers."""
    for k in range(row.size):
        out[k] = row[k]


def extend_rows(data, rows, order, moves, first, last):
    """Update heads and tails after a change of the places `first` to `last`, and invalidate their blocks."""
    n = order.size - 2
    one = rows.work[ONE]
    if first <= 1:
        one_of(data, _START, rows.heads[1])
        first = 1
    for place in range(first, n + 1):
        one_of(data, moves[order[place]], one)
        join(data, rows.heads[place], one, rows.heads[place + 1])
    if last >= n:
        one_of(data, _END, rows.tails[n + 1])
        last = n
    for place in range(last, 0, -1):
        one_of(data, moves[order[place]], one)
        join(data, one, rows.tails[place + 1], rows.tails[place])
    for level in range(rows.is_filled.shape[1]):
        for block in range(first >> (level + 1), (last >> (level + 1)) + 1):
            rows.is_filled[0, level, block] = False
            rows.is_filled[1, level, block] = False


def fill_block(data, rows, order, moves, way, level, block):
    """Fill in the rows between the places of a block and its middle, forward or reversed."""
    rows.is_filled[way, level, block] = True
    table, one = rows.table[way, level], rows.work[ONE]
    begin = block << (level + 1)
    middle = begin + (1 << level)
    one_of(data, moves[order[middle - 1]], table[middle - 1])
    for place in range(middle - 2, max(begin, 1) - 1, -1):
        one_of(data, moves[order[place]], one)
        if way:
            join(data, table[place + 1], one, table[place])
        else:
            join(data, one, table[place + 1], table[place])
    one_of(data, moves[order[middle]], table[middle])
    for place in range(middle + 1, min(begin + (2 << level), order.size - 1)):
        one_of(data, moves[order[place]], one)
        if way:
            join(data, one, table[place - 1], table[place])
        else:
            join(data, table[place - 1], one, table[place])


def row_of_stretch(data, rows, order, moves, first, end, way, out):
    """Fill in the row of the places from `first` to before `end`, forward or reversed."""
    last = end - 1
    if first == last:
        one_of(data, moves[order[first]], out)
        return
    level = np.int64(0)
    while (first ^ last) >> (level + 1):
        level += 1
    block = first >> (level + 1)
    if not rows.is_filled[way, level, block]:
        fill(data, rows, order, moves, way, level, block)
    table = rows.table[way, level]
    if way:
        join(data, table[last], table[first], out)
    else:
        join(data, table[first], table[last], out)


def join_neighbour(data, rows, order, moves, a, b, c, d, turned_a, turned_c, limit):
    """Fill in the row of a neighbour: the places from c to d, b to c and a to b, in this order, between head and tail.

    Returns the index of the row, -1 if the first number of a part exceeds `limit`.
    """
    work = rows.work
    if rows.heads[a, 0] > limit or rows.tails[d, 0] > limit:
        return np.int64(-1)
    copy_row(rows.heads[a], work[PART])
    part = PART
    for piece in range(3):
        first, end, way = a, b, turned_a
        if piece == 0:
            first, end, way = c, d, turned_c
        elif piece == 1:
            first, end, way = b, c, FORWARD
        if first == end:
            continue
        stretch(data, rows, order, moves, first, end, way, work[STRETCH])
        if work[STRETCH, 0] > limit:
            return np.int64(-1)
        join(data, work[part], work[STRETCH], work[part ^ 1])
        part ^= 1
        if work[part, 0] > limit:
            return np.int64(-1)
    join(data, work[part], rows.tails[d], work[WHOLE])
    return WHOLE
