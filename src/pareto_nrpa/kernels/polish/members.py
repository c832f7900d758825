"""The solutions of an archive in the order of discovery, kept up at the price of what has changed."""

from __future__ import annotations

from .._jit import engine_kernel
from ..bundles import FOUND_AT

# Positions in `numbers`: how many members there are, whether their range is known, and how many have just come.
N_MEMBERS, IS_RANGE_KNOWN, N_COME = range(3)


@engine_kernel
def update_members(heads, scores, found_at, ids, rows, is_fresh, objectives, extremes, numbers):
    """Let go who has left the archive, then take in who has come, the oldest first.

    `found_at` says what was in each row of the archive when it was looked at last; `extremes` are the best and the
    worst of each objective.
    """
    n_gone = _mark_gone(heads, found_at, ids, objectives, extremes, numbers)
    if n_gone > 0:
        _close_ranks(ids, rows, is_fresh, objectives, numbers)
    n = numbers[N_MEMBERS]
    end = n
    for row in range(heads.shape[0]):
        number = heads[row, FOUND_AT]
        if found_at[row] != number:
            found_at[row] = number
            if number > 0:  # sorted in by number; few come at a time
                place = end
                while place > n and ids[place - 1] > number:
                    ids[place] = ids[place - 1]
                    rows[place] = rows[place - 1]
                    place -= 1
                ids[place] = number
                rows[place] = row
                end += 1
    for place in range(n, end):
        is_fresh[place] = True
        for k in range(objectives.shape[1]):
            value = scores[rows[place], 1 + k]
            objectives[place, k] = value
            extremes[0, k] = min(extremes[0, k], value)
            extremes[1, k] = max(extremes[1, k], value)
    numbers[N_MEMBERS] = end
    numbers[N_COME] = end - n


@engine_kernel
def _mark_gone(heads, found_at, ids, objectives, extremes, numbers):
    """Turn round the number of each member that is not in its row any more; returns how many there are."""
    n_gone = 0
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
        n_gone += 1
        # What a newcomer takes the place of is nowhere better: the best of each objective is as good as before.
        for k in range(objectives.shape[1]):
            if objectives[low, k] >= extremes[1, k]:
                numbers[IS_RANGE_KNOWN] = 0
    return n_gone


@engine_kernel
def _close_ranks(ids, rows, is_fresh, objectives, numbers):
    """Let those who stay move up."""
    to = 0
    for place in range(numbers[N_MEMBERS]):
        if ids[place] < 0:
            continue
        if to < place:
            ids[to] = ids[place]
            rows[to] = rows[place]
            is_fresh[to] = is_fresh[place]
            for k in range(objectives.shape[1]):
                objectives[to, k] = objectives[place, k]
        to += 1
    numbers[N_MEMBERS] = to


@engine_kernel
def set_extremes(objectives, extremes, numbers):
    """Find the best and the worst of each objective anew."""
    for k in range(objectives.shape[1]):
        best = worst = objectives[0, k]
        for place in range(1, numbers[N_MEMBERS]):
            best = min(best, objectives[place, k])
            worst = max(worst, objectives[place, k])
        extremes[0, k] = best
        extremes[1, k] = worst
    numbers[IS_RANGE_KNOWN] = 1
