"""A solution as an order that changes: steps, what they cost, the queue of moves to look at, and what is kept."""

from __future__ import annotations

import numpy as np

from ...engine.arrays import END
from ...engine.dominance import CHUNK
from ...engine.jit.kernels import engine_kernel, small_kernel
from .near_rows import copy_row
from .near_state import (
    HEAD,
    HIGH,
    IS_SYMMETRIC,
    LOW,
    N_COVERERS,
    N_FOUND,
    N_LAST_COVERERS,
    PRICE,
    SIZE,
    WHOLE,
)

# Left open here: what is bound to one problem.
join = extend = set_limits = compare_costs = compare_limits = refresh = join_parts = None
arc_of = near = None


def measure_by_arcs(data, here):
    """Fill in all that follows from the order, whose objectives are sums of arcs."""
    n = here.order.size - 2
    refresh(data, here, np.int64(1), n)
    for k in range(here.weights.size):
        here.current[1 + k] = 0.0
        for place in range(n + 1):
            here.current[1 + k] += here.edges[place, k]


def measure_by_joins(data, here):
    """Fill in all that follows from the order, whose objectives are joined."""
    refresh(data, here, np.int64(1), here.order.size - 2)


def refresh_by_arcs(data, here, first, last):
    """Fill in what follows from the places from `first` to `last`, which have changed; not the objectives."""
    order, arcs, edges, turned = here.order, here.arcs, here.edges, here.turned
    n = order.size - 2
    n_moves = here.where.size
    for place in range(first, last + 1):
        here.where[order[place]] = place
    for place in range(first - 1, last + 1):
        between = order[place] * n_moves + order[place + 1]
        for k in range(here.weights.size):
            edges[place, k] = arcs[between, k]
    if not here.flags[IS_SYMMETRIC]:
        for place in range(max(first - 1, 1), n):
            back = order[place + 1] * n_moves + order[place]
            for k in range(here.weights.size):
                turned[place + 1, k] = turned[place, k] + arcs[back, k] - edges[place, k]
    set_ends(here, first, last)
    set_limits(data, here, first, last)


def refresh_by_joins(data, here, first, last):
    """Fill in what follows from the places from `first` to `last`, which have changed."""
    for place in range(first, last + 1):
        here.where[here.order[place]] = place
    set_ends(here, first, last)
    set_limits(data, here, first, last)
    extend(data, here.costs, here.order, here.moves, first, last)
    m = here.weights.size
    whole = here.costs.work[WHOLE]
    join(data, here.costs.heads[here.order.size - 1], here.costs.tails[here.order.size - 1], whole)
    for k in range(m):
        here.current[1 + k] = here.signs[k] * whole[whole.size - m + k]


def extend_limit_rows(data, here, first, last):
    """Make the rows of limits anew where places have changed, and tell how far from feasible the solution is."""
    rows = here.limits
    extend(data, rows, here.order, here.moves, first, last)
    end = here.order.size - 1
    join(data, rows.heads[end], rows.tails[end], rows.work[WHOLE])
    here.current[0] = rows.work[WHOLE, 0]


@small_kernel
def no_limit_rows(data, here, first, last):
    """Stand in where there are no limits."""
    here.current[0] = 0.0


@engine_kernel
def set_ends(here, first, last):
    """Find the closing behind each place, and the one before it, where closings may have moved."""
    ends = here.ends
    n = here.order.size - 2
    end = ends[0, last + 1]
    for place in range(last, -1, -1):
        if place > 0 and here.is_closing[here.order[place]]:
            end = place
        if place < first and ends[0, place] == end:
            break
        ends[0, place] = end
    end = ends[1, first - 1]
    for place in range(first, n + 1):
        if here.is_closing[here.order[place]]:
            end = place
        if place > last and ends[1, place] == end:
            break
        ends[1, place] = end


def compare_by_arcs(data, here, a, b, c, d, turned_a, turned_b, turned_c):
    """Fill in what a neighbour costs more: the arcs at its joints less those that go."""
    order, arcs, edges, turned = here.order, here.arcs, here.edges, here.turned
    n_moves, nowhere = here.where.size, order.size - 1
    first = second = third = np.int64(0)  # of arcs that are not there: it costs nothing
    x = order[a - 1]
    if c < d:
        first = x * n_moves + order[d - 1 if turned_c else c]
        x = order[c if turned_c else d - 1]
    if b < c:
        second = x * n_moves + order[c - 1 if turned_b else b]
        x = order[b if turned_b else c - 1]
    if a < b:
        third = x * n_moves + order[b - 1 if turned_a else a]
        x = order[a if turned_a else b - 1]
    fourth = x * n_moves + order[d]
    at_b, at_c, at_d = b - 1 if a < b else nowhere, c - 1 if b < c else nowhere, d - 1 if c < d else nowhere
    for k in range(here.weights.size):
        here.delta[k] = (arcs[first, k] + arcs[second, k] + arcs[third, k] + arcs[fourth, k]) - (
            edges[a - 1, k] + edges[at_b, k] + edges[at_c, k] + edges[at_d, k]
        )
    if not here.flags[IS_SYMMETRIC]:
        for k in range(here.weights.size):
            if turned_a:
                here.delta[k] += turned[b - 1, k] - turned[a, k]
            if turned_b:
                here.delta[k] += turned[c - 1, k] - turned[b, k]
            if turned_c:
                here.delta[k] += turned[d - 1, k] - turned[c, k]


def compare_by_joins(data, here, a, b, c, d, turned_a, turned_b, turned_c):
    """Fill in what a neighbour costs more, joined from rows of stretches."""
    m = here.weights.size
    join_parts(data, here.costs, here.order, here.moves, a, b, c, d, turned_a, turned_b, turned_c, np.inf)
    whole = here.costs.work[WHOLE]
    for k in range(m):
        here.delta[k] = here.signs[k] * whole[whole.size - m + k] - here.current[1 + k]


def compare_limit_rows(data, here, a, b, c, d, turned_a, turned_b, turned_c, limit):
    """Return how far from feasible a neighbour is, infinite where a part of it is farther than `limit`."""
    rows = here.limits
    row = join_parts(data, rows, here.order, here.moves, a, b, c, d, turned_a, turned_b, turned_c, limit)
    return np.inf if row < 0 else rows.work[row, 0]


@small_kernel
def always_feasible(data, here, a, b, c, d, turned_a, turned_b, turned_c, limit):
    """Stand in where there are no limits."""
    return 0.0


def step_to(data, here, a, b, c, d, turned_a, turned_b, turned_c):
    """Let a neighbour be the solution; the moves at its joints are queued."""
    order, other, numbers = here.order, here.other, here.numbers
    compare_costs(data, here, a, b, c, d, turned_a, turned_b, turned_c)
    for k in range(here.weights.size):
        here.current[1 + k] += here.delta[k]
    rearrange(order, a, b, c, d, turned_a, turned_b, turned_c, other)
    for place in range(a, d):
        order[place] = other[place]
    numbers[LOW] = min(numbers[LOW], a)
    numbers[HIGH] = max(numbers[HIGH], d - 1)
    refresh(data, here, a, d - 1)
    queue_joint(here, a)
    queue_joint(here, a + d - c)
    queue_joint(here, d - b + a)
    queue_joint(here, d)


def undo_steps(data, here):
    """Return to the solution that was kept."""
    numbers = here.numbers
    if numbers[LOW] <= numbers[HIGH]:
        for place in range(numbers[LOW], numbers[HIGH] + 1):
            here.order[place] = here.kept[place]
        refresh(data, here, numbers[LOW], numbers[HIGH])
    copy_row(here.kept_current, here.current)
    forget_range(here)


@small_kernel
def keep(here):
    """Keep the solution."""
    for place in range(here.numbers[LOW], here.numbers[HIGH] + 1):
        here.kept[place] = here.order[place]
    copy_row(here.current, here.kept_current)
    forget_range(here)


@small_kernel
def forget_range(here):
    """Note that the solution is the one that is kept."""
    here.numbers[LOW] = here.order.size
    here.numbers[HIGH] = 0


@engine_kernel
def rearrange(order, a, b, c, d, turned_a, turned_b, turned_c, out):
    """Write the places from a to before d of a neighbour."""
    place = a
    for piece in range(3):
        first, end, way = a, b, turned_a
        if piece == 0:
            first, end, way = c, d, turned_c
        elif piece == 1:
            first, end, way = b, c, turned_b
        for i in range(end - first):
            out[place] = order[end - 1 - i if way else first + i]
            place += 1


@small_kernel
def write_neighbour(here, a, b, c, d, turned_a, turned_b, turned_c, out):
    """Write out the moves of a neighbour."""
    rearrange(here.order, a, b, c, d, turned_a, turned_b, turned_c, here.other)
    for i in range(out.size):
        out[i] = here.moves[here.other[i + 1] if a <= i + 1 < d else here.order[i + 1]]


@small_kernel
def queue_joint(here, place):
    """Queue the moves on both sides of a joint, which lies before a place."""
    put(here, here.order[place - 1])
    put(here, here.order[place])


@small_kernel
def put(here, move):
    """Queue a move."""
    if move > 0 and not here.is_queued[move]:
        numbers = here.numbers
        here.is_queued[move] = True
        here.queue[(numbers[HEAD] + numbers[SIZE]) % here.queue.size] = move
        numbers[SIZE] += 1


@small_kernel
def take(here):
    """Take a move from the queue, the one that has waited longest."""
    numbers = here.numbers
    move = here.queue[numbers[HEAD]]
    numbers[HEAD] = (numbers[HEAD] + 1) % here.queue.size
    numbers[SIZE] -= 1
    here.is_queued[move] = False
    return move


@small_kernel
def value_of(here):
    """Return what the weights, and the price if any, make of the solution."""
    value = here.terms[PRICE] * here.current[0]
    for k in range(here.weights.size):
        value += here.weights[k] * here.current[1 + k]
    return value


@small_kernel
def is_better_than(here, distance, value):
    """Tell whether the solution is better than another: nearer to feasible, else cheaper; or cheaper with its price."""
    if here.terms[PRICE] == 0.0 and here.current[0] != distance:
        return here.current[0] < distance
    return value_of(here) < value


@small_kernel
def is_known(here, front):
    """Tell whether a neighbour is covered, by what is in the front or by what was found."""
    for k in range(here.weights.size):
        here.point[k] = here.current[1 + k] + here.delta[k]
    return is_covered(
        here.coverers, here.numbers, here.predicted, front.objectives, front.floors, here.point, here.slack
    )


@engine_kernel
def is_covered(coverers, numbers, found, front, floors, point, slack):
    """Tell it by what covered something last, what was found, and the rows of chunks whose floor covers it."""
    for i in range(min(numbers[N_COVERERS], N_LAST_COVERERS)):
        if covers(coverers[i], point, slack):
            return True
    for i in range(numbers[N_FOUND]):
        if covers(found[i], point, slack):
            return True
    for chunk in range(floors.shape[0]):
        if covers(floors[chunk], point, slack):
            for i in range(chunk * CHUNK, min((chunk + 1) * CHUNK, front.shape[0])):
                if covers(front[i], point, slack):
                    copy_row(front[i], coverers[numbers[N_COVERERS] % N_LAST_COVERERS])
                    numbers[N_COVERERS] += 1
                    return True
    return False


@small_kernel
def covers(row, point, slack):
    """Tell whether a row is as good in all objectives, or worse by no more than a slack."""
    for k in range(point.size):  # noqa: SIM110 - compiled code has no all()
        if row[k] > point[k] + slack[k]:
            return False
    return True


def called_limits(data, here, a, b, c, d, turned_a, turned_b, turned_c, limit):
    """Return how far from feasible a neighbour is, where that is seldom asked."""
    return compare_limits(data, here, a, b, c, d, turned_a, turned_b, turned_c, limit)


def fill_arcs(data, moves, costs, distances):
    """Fill in what each move costs directly behind each other one, and what else keeps the two apart."""
    for a in range(moves.size):
        for b in range(moves.size):
            behind = moves[b] if b > 0 else np.int64(END)
            arc_of(data, moves[a], behind, costs[a, b])
            distances[a, b] = near(data, moves[a], behind)


@small_kernel
def no_arc(data, a, b, out):
    """Stand in where objectives are no sums of arcs."""


@small_kernel
def nothing_apart(data, a, b):
    """Stand in where nothing but its cost keeps b from being next to a."""
    return 0.0
