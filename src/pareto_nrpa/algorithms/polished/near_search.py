"""Neighbours in which near moves are adjacent: descents with kicks, and explorations of a solution.

A descent takes one move after the other from a queue. It judges the neighbours in which that move is adjacent to one of
its list, and in which the new arc costs less than a removed one (Lin and Kernighan 1973). The best of one move becomes
the solution at once, and the moves at its joints are queued. When the queue is empty, a kick follows while any are
left: two neighbouring stretches exchange places, a descent begins at the joints, and a worse end is undone.

If costs are joined from rows, or the solution is infeasible, arcs do not exclude neighbours, and all of the lists are
judged. An exploration judges all neighbours of the pool, once each.
"""

from __future__ import annotations

import numpy as np

from ...engine.jit.kernels import small_kernel
from .near_kinds import parts_of, replaces_arc_before
from .near_order import is_better_than, is_known, keep, take, value_of, write_neighbour
from .near_state import (
    FARTHEST,
    FORWARD,
    IS_SORTED,
    LOOKS_ROUND,
    MOST_GAIN,
    N_COVERERS,
    N_FOUND,
    N_JUDGED,
    N_KICKS,
    N_KINDS,
    NOISE,
    NOTES,
    PLACE_NOW,
    PRICE,
    SIZE,
)

# Unbound here; bound to one problem.
measure = step = undo = search = compare_costs = compare_limits = judge = try_kinds = look_from = None
settle = advance = shake = None

#: Instead of the reach of random steps: to search.
SEARCH = -1.0
# The longest stretch of a kick, and the number of draws until it is feasible.
_LONGEST_KICK, _TRIES = 30, 20
_LONGEST_SHAKE, _TRIES_PER_STEP = 3, 50
# Instead of a candidate: the end of the order, and the next closing.
_TO_END, _TO_CLOSING = map(np.int64, (-2, -1))


def go_on(data, here, front, rng, most, reach, farther):
    """Continue a descent or an exploration, or make `most` random steps; returns whether the end is reached.

    About `most` neighbours are judged per call. Those that no row of `front` covers are stored.
    """
    measure(data, here)
    if reach != SEARCH:
        shake(data, here, rng, most, reach, farther)
        return True
    here.numbers[N_COVERERS] = 0
    forget_best(here)
    return search(data, here, front, rng, most)


def descend_or_look(data, here, front, rng, most):
    """Judge neighbours until the end or the limit; returns whether the end is reached."""
    numbers, order = here.numbers, here.order
    looks = here.flags[LOOKS_ROUND] > 0
    begin = numbers[N_JUDGED]
    while numbers[N_JUDGED] - begin <= most and numbers[N_FOUND] < here.found.shape[0]:
        if looks:
            if numbers[PLACE_NOW] == order.size - 1:
                return True
            v = order[numbers[PLACE_NOW]]
            numbers[PLACE_NOW] += 1
        elif numbers[SIZE] > 0:
            v = take(here)
        elif settle(data, here, rng):
            return True
        else:
            continue
        for way in range(1 if looks else 2):
            look_from(data, here, front, looks, v, way)
            if here.best[0] > 0:
                break
        if here.best[0] > 0 and not advance(data, here):
            return True
    return False


def look_from_move(data, here, front, looks, v, way):
    """Judge the neighbours in which v is directly before a move of its list, or directly behind it (way 1).

    In the second case places are counted from the end, so that v is always before the other.
    """
    where, arcs, weights, edges = here.where, here.arcs, here.weights, here.edges
    last = here.order.size - 1
    m = weights.size
    lists = here.pool if looks else here.near
    must_pay = not looks and here.current[0] == 0.0 and arcs.shape[0] > 1
    i = last - where[v] if way else where[v]
    behind, before = np.inf, np.inf
    if must_pay:
        behind = before = 0.0
        for k in range(m):
            behind += weights[k] * edges[where[v] - way, k]
            before += weights[k] * edges[where[v] - 1 + way, k]
    end_i = last - here.ends[1, where[v] - 1] if way else here.ends[0, where[v] + 1]
    for c in range(_TO_END, lists.shape[2]):
        u = np.int64(0)
        j = last
        if c == _TO_CLOSING:
            j = end_i
            u = here.order[last - j if way else j]
        elif c >= 0:
            u = lists[way, v, c]
            j = last - where[u] if way else where[u]
        if j == i or j == i + 1 or (j == last and c != _TO_END):
            continue
        arc = 0.0
        if must_pay:
            between = u * where.size + v if way else v * where.size + u
            for k in range(m):
                arc += weights[k] * arcs[between, k]
            if arc >= behind and arc >= before:
                if c >= 0 and here.flags[IS_SORTED]:
                    break
                continue
        try_kinds(data, here, front, looks, way, i, j, end_i, arc < behind, arc < before)
        if here.best[0] > 0:
            break


def try_all_kinds(data, here, front, looks, way, i, j, end_i, pays_behind, pays_before):
    """Judge the neighbours in which the move at place i is directly before that at place j."""
    last = here.order.size - 1
    end_j = last - here.ends[1, last - j] if way else here.ends[0, j]
    for kind in range(here.flags[N_KINDS]):
        if not (pays_before if replaces_arc_before(kind) else pays_behind):
            continue
        a, b, c, d, turned_a, turned_c = parts_of(kind, i, j, end_i, end_j)
        if a < 1 or d > last:
            continue
        if way:
            a, b, c, d = last + 1 - d, last + 1 - c, last + 1 - b, last + 1 - a
            turned_a, turned_c = turned_c, turned_a
        judge(data, here, front, looks, a, b, c, d, turned_a, turned_c)


def judge_neighbour(data, here, front, looks, a, b, c, d, turned_a, turned_c):
    """Store a neighbour if it is the best for the weights so far, or if nothing covers it."""
    here.numbers[N_JUDGED] += 1
    compare_costs(data, here, a, b, c, d, turned_a, turned_c)
    is_feasible = here.current[0] == 0.0
    is_better = not is_feasible
    value = 0.0
    for k in range(here.weights.size):
        value += here.weights[k] * here.delta[k]
        is_better = is_better or here.delta[k] < -here.slack[k]
    if not is_better:
        return
    price, limit = here.terms[PRICE], here.terms[FARTHEST]
    is_uncovered = False
    if price > 0.0:  # beyond it, it cannot be the best; at 0 it may still be stored
        limit = min(limit, max(0.0, (here.best_value[1] - value) / price))
    elif is_feasible and not value < here.best_value[1]:
        if not (looks or here.flags[NOTES]) or is_known(here, front):
            return
        is_uncovered = True
    distance = compare_limits(data, here, a, b, c, d, turned_a, turned_c, limit)
    if distance > limit:
        return
    value += price * distance
    if value < here.best_value[1] if price > 0.0 else is_before(distance, value, here.best_value):
        here.best_value[0] = distance
        here.best_value[1] = value
        best = here.best
        best[0], best[1], best[2], best[3] = a, b, c, d
        best[4], best[5] = turned_a, turned_c
    n_found = here.numbers[N_FOUND]
    if distance == 0.0 and n_found < here.found.shape[0] and (is_uncovered or not is_known(here, front)):
        for k in range(here.weights.size):
            here.predicted[n_found, k] = here.current[1 + k] + here.delta[k]
        write_neighbour(here, a, b, c, d, turned_a, turned_c, here.found[n_found])
        here.numbers[N_FOUND] += 1


@small_kernel
def is_before(distance, value, best_value):
    """Tell whether a neighbour is nearer to feasibility than the best, or as near and cheaper."""
    return distance < best_value[0] or (distance == best_value[0] and value < best_value[1])


@small_kernel
def forget_best(here):
    """Set the solution as the bound for neighbours, with a margin for rounding errors of sums."""
    here.best[0] = 0
    here.best_value[0] = here.current[0] * (1.0 - NOISE)
    here.best_value[1] = 0.0
    for k in range(here.weights.size):
        here.slack[k] = NOISE * abs(here.current[1 + k])
        here.best_value[1] -= here.weights[k] * here.slack[k]
    price = here.terms[PRICE]
    here.terms[FARTHEST] = here.current[0]
    if price > 0.0:
        here.best_value[1] += price * here.best_value[0]
        here.terms[FARTHEST] += here.terms[MOST_GAIN] / price


def advance_to_best(data, here):
    """Replace the solution by the best neighbour; returns whether it is better when measured as a whole.

    Otherwise rounding errors of sums could lead to an endless cycle.
    """
    distance, value, best = here.current[0], value_of(here), here.best
    step(data, here, best[0], best[1], best[2], best[3], best[4], best[5])
    forget_best(here)
    return is_better_than(here, distance, value)


def settle_descent(data, here, rng):
    """Keep the better of the end of a descent and the stored solution, and kick it; tells if no kicks are left."""
    numbers, kept = here.numbers, here.kept_current
    if numbers[N_KICKS] < 0:
        return True
    value = 0.0
    for k in range(here.weights.size):
        value += here.weights[k] * kept[1 + k]
    if kept[0] < here.current[0] or (kept[0] == here.current[0] and value < value_of(here)):
        undo(data, here)
    else:
        keep(here)
    numbers[N_KICKS] -= 1
    if numbers[N_KICKS] < 0 or here.current[0] > 0.0:
        return True
    n = here.order.size - 2
    for _ in range(_TRIES):
        a = 1 + int(rng.random() * (n - 1))
        b = a + 1 + int(rng.random() * min(_LONGEST_KICK, n - a))
        d = b + 1 + int(rng.random() * min(_LONGEST_KICK, n + 1 - b))
        if compare_limits(data, here, a, b, b, d, FORWARD, FORWARD, 0.0) == 0.0:
            step(data, here, a, b, b, d, FORWARD, FORWARD)
            break
    forget_best(here)
    return False


def make_random_steps(data, here, rng, n_steps, reach, farther):
    """Walk to random neighbours around one place.

    Their distance from feasibility exceeds that of the solution by at most a slack. Changed moves are queued.
    """
    n = here.order.size - 2
    limit = here.current[0] + farther
    centre = 1 + int(rng.random() * n)
    n_made = 0
    for _ in range(n_steps * _TRIES_PER_STEP):
        if n_made == n_steps or n < 2:
            break
        first = centre + int((rng.random() * 2.0 - 1.0) * reach)
        end = first + 1 + int(rng.random() * min(_LONGEST_SHAKE, n - 1))
        place = centre + int((rng.random() * 2.0 - 1.0) * reach)
        turned = int(rng.random() * 2.0)
        if first < 1 or end > n + 1 or place < 1 or place > n or first <= place < end:
            continue
        a, d = (place, end) if place < first else (first, place + 1)
        b, turned_a, turned_c = (first, 0, turned) if place < first else (end, turned, 0)
        if compare_limits(data, here, a, b, b, d, turned_a, turned_c, limit) <= limit:
            step(data, here, a, b, b, d, turned_a, turned_c)
            n_made += 1
