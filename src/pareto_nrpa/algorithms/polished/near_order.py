"""The solution of a descent: application of neighbours, their costs, the queue of moves, the stored solution."""

from __future__ import annotations

import numpy as np

from ...engine.arrays import END
from ...engine.dominance import CHUNK
from ...engine.jit.kernels import engine_kernel, small_kernel
from .near_rows import copy_row
from .near_state import (
    FORWARD,
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

# Unbound here; bound to one problem.
join = extend = set_limits = compare_costs = compare_limits = refresh = join_parts = None
arc_of = near = None


def measure_by_arcs(data, here):
    """Fill in all derived values of the order; objectives are sums of arcs."""
    n = here.order.size - 2
    refresh(data, here, np.int64(1), n)
    for k in range(here.weights.size):
        here.current[1 + k] = 0.0
        for place in range(n + 1):
            here.current[1 + k] += here.edges[place, k]


def measure_by_joins(data, here):
    """Fill in all derived values of the order; objectives are joined from rows."""
    refresh(data, here, np.int64(1), here.order.size - 2)


def refresh_by_arcs(data, here, first, last):
    """Update values derived from the changed places `first` to `last`, except the objectives."""
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
    """Update values derived from the changed places `first` to `last`."""
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
    """Update the rows of limits of changed places; returns the distance of the solution from feasibility."""
    rows = here.limits
    extend(data, rows, here.order, here.moves, first, last)
    end = here.order.size - 1
    join(data, rows.heads[end], rows.tails[end], rows.work[WHOLE])
    here.current[0] = rows.work[WHOLE, 0]


@small_kernel
def no_limit_rows(data, here, first, last):
    """Limits of a problem without any."""
    here.current[0] = 0.0


@engine_kernel
def set_ends(here, first, last):
    """Update the closing behind each place and the one before it, where closings may have moved."""
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


def compare_by_arcs(data, here, a, b, c, d, turned_a, turned_c):
    """Fill in the cost difference of a neighbour: arcs at its joints minus removed arcs."""
    order, arcs, edges, turned = here.order, here.arcs, here.edges, here.turned
    n_moves, nowhere = here.where.size, order.size - 1
    first = second = third = np.int64(0)  # of missing arcs: no cost
    x = order[a - 1]
    if c < d:
        first = x * n_moves + order[d - 1 if turned_c else c]
        x = order[c if turned_c else d - 1]
    if b < c:
        second = x * n_moves + order[b]
        x = order[c - 1]
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
            if turned_c:
                here.delta[k] += turned[d - 1, k] - turned[c, k]


def compare_by_joins(data, here, a, b, c, d, turned_a, turned_c):
    """Fill in the cost difference of a neighbour, joined from rows of stretches."""
    m = here.weights.size
    join_parts(data, here.costs, here.order, here.moves, a, b, c, d, turned_a, turned_c, np.inf)
    whole = here.costs.work[WHOLE]
    for k in range(m):
        here.delta[k] = here.signs[k] * whole[whole.size - m + k] - here.current[1 + k]


def compare_limit_rows(data, here, a, b, c, d, turned_a, turned_c, limit):
    """Return the distance of a neighbour from feasibility, infinite if that of a part exceeds `limit`."""
    rows = here.limits
    row = join_parts(data, rows, here.order, here.moves, a, b, c, d, turned_a, turned_c, limit)
    return np.inf if row < 0 else rows.work[row, 0]


@small_kernel
def always_feasible(data, here, a, b, c, d, turned_a, turned_c, limit):
    """Limits of a problem without any."""
    return 0.0


def step_to(data, here, a, b, c, d, turned_a, turned_c):
    """Replace the solution by a neighbour, and queue the moves at its joints."""
    order, other, numbers = here.order, here.other, here.numbers
    compare_costs(data, here, a, b, c, d, turned_a, turned_c)
    for k in range(here.weights.size):
        here.current[1 + k] += here.delta[k]
    rearrange(order, a, b, c, d, turned_a, turned_c, other)
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
    """Return to the stored solution."""
    numbers = here.numbers
    if numbers[LOW] <= numbers[HIGH]:
        for place in range(numbers[LOW], numbers[HIGH] + 1):
            here.order[place] = here.kept[place]
        refresh(data, here, numbers[LOW], numbers[HIGH])
    copy_row(here.kept_current, here.current)
    forget_range(here)


@small_kernel
def keep(here):
    """Store the solution."""
    for place in range(here.numbers[LOW], here.numbers[HIGH] + 1):
        here.kept[place] = here.order[place]
    copy_row(here.current, here.kept_current)
    forget_range(here)


@small_kernel
def forget_range(here):
    """Mark the solution as the stored one."""
    here.numbers[LOW] = here.order.size
    here.numbers[HIGH] = 0


@engine_kernel
def rearrange(order, a, b, c, d, turned_a, turned_c, out):
    """Write the places from a to before d of a neighbour."""
    place = a
    for piece in range(3):
        first, end, way = a, b, turned_a
        if piece == 0:
            first, end, way = c, d, turned_c
        elif piece == 1:
            first, end, way = b, c, FORWARD
        for i in range(end - first):
            out[place] = order[end - 1 - i if way else first + i]
            place += 1


@small_kernel
def write_neighbour(here, a, b, c, d, turned_a, turned_c, out):
    """Write out the moves of a neighbour."""
    rearrange(here.order, a, b, c, d, turned_a, turned_c, here.other)
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
    """Take the oldest move from the queue."""
    numbers = here.numbers
    move = here.queue[numbers[HEAD]]
    numbers[HEAD] = (numbers[HEAD] + 1) % here.queue.size
    numbers[SIZE] -= 1
    here.is_queued[move] = False
    return move


@small_kernel
def value_of(here):
    """Return the weighted sum of the solution, with the price of infeasibility if there is one."""
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
    """Tell whether a neighbour is covered by the front or by a found neighbour."""
    for k in range(here.weights.size):
        here.point[k] = here.current[1 + k] + here.delta[k]
    return is_covered(
        here.coverers, here.numbers, here.predicted, front.objectives, front.floors, here.point, here.slack
    )


@engine_kernel
def is_covered(coverers, numbers, found, front, floors, point, slack):
    """Test the last coverers, the found neighbours, and the rows of chunks whose floor covers it."""
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


def called_limits(data, here, a, b, c, d, turned_a, turned_c, limit):
    """Return the distance of a neighbour from feasibility, in a function that is rarely called."""
    return compare_limits(data, here, a, b, c, d, turned_a, turned_c, limit)


def fill_arcs(data, moves, costs, distances):
    """Fill in the cost of each move directly behind each other one, and their further distance (`near`)."""
    for a in range(moves.size):
        for b in range(moves.size):
            behind = moves[b] if b > 0 else np.int64(END)
            arc_of(data, moves[a], behind, costs[a, b])
            distances[a, b] = near(data, moves[a], behind)


@small_kernel
def no_arc(data, a, b, out):
    """Arcs of a problem whose objectives are not sums of arcs."""


@small_kernel
def nothing_apart(data, a, b):
    """Further distance of a problem without `near`: 0."""
    return 0.0
