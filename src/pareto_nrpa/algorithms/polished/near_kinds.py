"""The kinds of neighbours in which a move v stands directly before a move u.

A neighbour is a head, three stretches in the opposite order, and a tail: places a to b, b to c and c to d of the
solution become c to d, b to c and a to b. Each of them may be empty, the first and the last may be reversed.
"""

from __future__ import annotations

from ...engine.jit.kernels import small_kernel

# Kinds, in the order of their numbers. A stretch of 1 to 3 moves is relocated (3 kinds), or of 2 to 3 moves
# relocated and reversed (2 kinds); two stretches of 1 and 1, 2 and 1, 1 and 2, 2 and 2 moves exchange places (4 kinds).
REVERSE_AFTER, REVERSE_FROM = 0, 1  # what is between v and u, to u or from v on
MOVE_U, MOVE_U_TURNED, MOVE_V, MOVE_V_TURNED = 2, 5, 7, 10
#: Number of kinds without routes.
N_ON_TOURS = 12
EXCHANGE_AFTER, EXCHANGE_BEFORE, TAILS = 12, 16, 20
#: Number of kinds with routes.
N_ON_ROUTES = 21

_INVALID = -1, 0, 0, 0, 0, 0


@small_kernel
def parts_of(kind, i, j, end_i, end_j):
    """Return a, b, c, d and whether the outer stretches are turned; a is -1 if there is no such neighbour.

    v is at place i and u at place j, not directly behind it; `end_i` is the first closing behind v, `end_j` that from
    u on.
    """
    if kind <= REVERSE_FROM:
        if i > j:
            return _INVALID
        return (i + 1, j + 1, j + 1, j + 1, 1, 0) if kind == REVERSE_AFTER else (i, j, j, j, 1, 0)
    if kind < MOVE_V:
        turned = kind >= MOVE_U_TURNED
        length = kind - 3 if turned else kind - 1
        if i < j:
            begin = j - length + 1 if turned else j
            if begin <= i + 1:
                return _INVALID
            return i + 1, begin, begin, begin + length, 0, int(turned)
        begin = j - length + 1 if turned else j
        if begin + length > i:
            return _INVALID
        return begin, begin + length, begin + length, i + 1, int(turned), 0
    if kind < N_ON_TOURS:
        turned = kind >= MOVE_V_TURNED
        length = kind - 8 if turned else kind - 6
        begin = i if turned else i - length + 1
        if i < j:
            if begin + length >= j:
                return _INVALID
            return begin, begin + length, begin + length, j, int(turned), 0
        if begin <= j:
            return _INVALID
        return j, begin, begin, begin + length, 0, int(turned)
    if kind < TAILS:
        number = (kind - EXCHANGE_AFTER) & 3
        of_v, of_u = 1 + (number & 1), 1 + (number >> 1)
        from_v, from_u = (i + 1, j) if kind < EXCHANGE_BEFORE else (i - of_v + 1, j - of_u)
    else:
        from_v, from_u, of_v, of_u = i + 1, j, end_i - i - 1, end_j - j
        if end_i == end_j or of_u == 0:
            return _INVALID
    if i < j:
        if from_v + of_v >= from_u:
            return _INVALID
        return from_v, from_v + of_v, from_u, from_u + of_u, 0, 0
    if from_u + of_u >= from_v:
        return _INVALID
    return from_u, from_u + of_u, from_v, from_v + of_v, 0, 0


@small_kernel
def replaces_arc_before(kind):
    """Tell whether the arc from v to u replaces the arc before v, not the one behind v."""
    return kind == REVERSE_FROM or MOVE_V_TURNED <= kind < N_ON_TOURS
