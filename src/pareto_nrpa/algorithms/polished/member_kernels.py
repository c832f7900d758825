"""Incremental update of the solutions of an archive in the order of discovery."""

from __future__ import annotations

from ...engine.arrays import FOUND_AT
from ...engine.dominance import CHUNK
from ...engine.jit.kernels import engine_kernel

# Positions in `numbers`: number of members, whether their range is known, number of new members, and whether it is
# known beforehand which are new and that none was removed.
N_MEMBERS, IS_RANGE_KNOWN, N_COME, ARE_NEWCOMERS_KNOWN = range(4)


@engine_kernel
def update_members(heads, scores, newcomers, found_at, ids, rows, is_fresh, objectives, floors, extremes, numbers):
    """Remove members that have left the archive, then add new ones, the oldest first.

    `found_at` identifies the content of each row of the archive at the last update; `extremes` are the best and the
    worst value of each objective, `floors` the best of each chunk of members. `newcomers` are rows, the newest first.
    """
    n = first = numbers[N_MEMBERS]
    if numbers[ARE_NEWCOMERS_KNOWN]:
        end = n
        for i in range(newcomers.size - 1, -1, -1):
            row = newcomers[i]
            ids[end] = found_at[row] = heads[row, FOUND_AT]
            rows[end] = row
            end += 1
    else:
        first = _mark_gone(heads, found_at, ids, objectives, extremes, numbers)
        if first < n:
            n = _close_ranks(first, n, ids, rows, is_fresh, objectives)
        end = _sort_in(heads, found_at, n, ids, rows)
    for place in range(n, end):
        is_fresh[place] = True
        for k in range(objectives.shape[1]):
            value = scores[rows[place], 1 + k]
            objectives[place, k] = value
            extremes[0, k] = min(extremes[0, k], value)
            extremes[1, k] = max(extremes[1, k], value)
    numbers[N_MEMBERS] = end
    numbers[N_COME] = end - n
    _set_floors(first // CHUNK, end, objectives, floors)


@engine_kernel
def _mark_gone(heads, found_at, ids, objectives, extremes, numbers):
    """Negate the number of each member that has left its row; returns the place of the first."""
    first = numbers[N_MEMBERS]
    for row in range(heads.shape[0]):
        number = found_at[row]
        if number == 0 or number == heads[row, FOUND_AT]:
            continue
        low, high = 0, numbers[N_MEMBERS]
        while low < high:
            middle = (low + high) // 2
            if abs(ids[middle]) < number:
                low = middle + 1
            else:
                high = middle
        ids[low] = -number
        first = min(first, low)
        for k in range(objectives.shape[1]):  # also the best: a limited archive may have discarded it
            if objectives[low, k] >= extremes[1, k] or objectives[low, k] <= extremes[0, k]:
                numbers[IS_RANGE_KNOWN] = 0
    return first


@engine_kernel
def _close_ranks(first, n, ids, rows, is_fresh, objectives):
    """Move remaining members up, from the first free place on; returns their number."""
    to = first
    for place in range(first, n):
        if ids[place] < 0:
            continue
        ids[to] = ids[place]
        rows[to] = rows[place]
        is_fresh[to] = is_fresh[place]
        for k in range(objectives.shape[1]):
            objectives[to, k] = objectives[place, k]
        to += 1
    return to


@engine_kernel
def _sort_in(heads, found_at, n, ids, rows):
    """Append new members behind the first n, by number; returns the number of all."""
    end = n
    for row in range(heads.shape[0]):
        number = heads[row, FOUND_AT]
        if found_at[row] == number:
            continue
        found_at[row] = number
        if number > 0:
            place = end
            while place > n and ids[place - 1] > number:
                ids[place] = ids[place - 1]
                rows[place] = rows[place - 1]
                place -= 1
            ids[place] = number
            rows[place] = row
            end += 1
    return end


@engine_kernel
def _set_floors(first_chunk, n, objectives, floors):
    """Compute the best value of each objective in chunks of members, from a chunk on."""
    for begin in range(first_chunk * CHUNK, n, CHUNK):
        for k in range(objectives.shape[1]):
            floor = objectives[begin, k]
            for place in range(begin + 1, min(begin + CHUNK, n)):
                floor = min(floor, objectives[place, k])
            floors[begin // CHUNK, k] = floor


@engine_kernel
def set_extremes(objectives, extremes, numbers):
    """Compute the best and the worst value of each objective."""
    for k in range(objectives.shape[1]):
        best = worst = objectives[0, k]
        for place in range(1, numbers[N_MEMBERS]):
            best = min(best, objectives[place, k])
            worst = max(worst, objectives[place, k])
        extremes[0, k] = best
        extremes[1, k] = worst
    numbers[IS_RANGE_KNOWN] = 1
