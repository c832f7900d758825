"""All neighbours of a permutation, judged by joining segments instead of playing them.

A neighbour is a head, a segment and a tail: the solution with one to three moves put elsewhere, either way round
(or-opt), or with a segment turned round (2-opt). Heads, tails and segments grow by one move at a time, so that judging
a neighbour takes a constant number of joins; a head, a tail or a segment that breaks a limit ends a row of neighbours.

A descent looks at the neighbours of a few marked moves only, those around which something has changed ("don't look
bits", Bentley 1992): after a small change of a long solution, most of what there is was looked at before.

What is infeasible comes behind all that is less so, or, where a unit of the distance from being feasible has a price,
costs that much more: such a descent may pass through infeasible solutions.
"""

from __future__ import annotations

from typing import Annotated, NamedTuple

import numpy as np

from ...engine.arrays import END, START
from ...engine.dominance import is_covered, is_covered_by_front
from ...engine.jit.bundles import bundle
from ...engine.jit.kernels import engine_kernel, small_kernel

# The words of the problem: left open here, bound to the kernels of one problem in `polish.judging`.
cost_of = join_costs = limit_of = join_limits = None
measure = append = prepend = judge = try_elsewhere = try_turned = look_from = distance_of = None
look_round = descend = None

# Rows of Neighbourhood.costs and .limits. Those that grow have two, and are joined from one into the other.
# Numbers with a type: for each literal one that it is called with, Numba would compile a function once more.
_HEAD, _TAIL, _FORWARD, _TURNED, _ONE, _PART, _WHOLE = map(np.int64, (0, 2, 4, 6, 8, 9, 10))
_N_ROWS = 11
_START, _END = np.int64(START), np.int64(END)

# Columns of a neighbour: its kind, the first move of the segment and how many, where they go, whether turned round.
KIND, FIRST, LENGTH, PLACE, TURNED = range(5)
OR_OPT, TWO_OPT, NO_KIND = map(np.int64, (0, 1, -1))
_ROUND = np.int64(1)
# How segments lie to a place: those that begin there, or those that end there too.
_ONE_WAY, _BOTH_WAYS = map(np.int64, (1, 2))
LONGEST = 3
# What sums of the same numbers in another order may differ by.
NOISE = 1e-10

# Positions in Neighbourhood.numbers.
N_FOUND, N_JUDGED, PLACE_NOW, N_QUIET = range(4)
# Positions in Neighbourhood.terms.
PRICE, MOST_GAIN, FARTHEST = range(3)


@bundle
class Neighbourhood(NamedTuple):
    """A solution, and working memory for judging its neighbours. Everything is minimised."""

    base: Annotated[np.ndarray, "i8 [n]"]  # the solution
    # Whether to look at the neighbours in which the move at a place takes part.
    marks: Annotated[np.ndarray, "i8 [n] < 2"]
    other: np.ndarray  # [n] int64, a neighbour written out
    signs: np.ndarray  # [M] float64, what turns the problem's objectives into minimised ones
    weights: Annotated[np.ndarray, "f8 [M]"]  # the weighted sum for which the best neighbour is looked for
    current: np.ndarray  # [1 + M] float64, distance from being feasible and objectives of the solution
    slack: np.ndarray  # [M] float64, differences of sums that mean nothing
    best: np.ndarray  # [5] int64, the best neighbour
    described: np.ndarray  # [5] int64, another one
    best_value: np.ndarray  # [2] float64, its distance from being feasible and its weighted sum, with the price if any
    # What a unit of distance from being feasible costs, 0 if more than all else; how much a step may gain by being
    # infeasible; the farthest from being feasible that a neighbour may be.
    terms: Annotated[np.ndarray, "f8 [3]"]
    found: np.ndarray  # [Q, n] int64, neighbours that nothing in the archive covers
    predicted: np.ndarray  # [Q, M] float64, their objectives
    # Neighbours found, neighbours judged, the place to look at next, places passed since one was marked.
    numbers: Annotated[np.ndarray, "i8 [4] < 0: 0: n+1 0:"]
    cost_heads: np.ndarray  # [n + 1, C] float64, START and the first i moves
    cost_tails: np.ndarray  # [n + 1, C] float64, the moves from i on and END
    limit_heads: np.ndarray  # [n + 1, W] float64
    limit_tails: np.ndarray  # [n + 1, W] float64
    costs: np.ndarray  # [_N_ROWS, C] float64
    limits: np.ndarray  # [_N_ROWS, W] float64


def new_neighbourhood(n, signs, cost_width, limit_width, room):
    """Return working memory for solutions of n moves."""
    m = len(signs)
    return Neighbourhood(
        base=np.zeros(n, np.int64),
        marks=np.zeros(n, np.int64),
        other=np.zeros(n, np.int64),
        signs=np.array(signs, dtype=float),
        weights=np.zeros(m),
        current=np.zeros(1 + m),
        slack=np.zeros(m),
        best=np.zeros(5, np.int64),
        described=np.zeros(5, np.int64),
        best_value=np.zeros(2),
        terms=np.zeros(3),
        found=np.zeros((room, n), np.int64),
        predicted=np.zeros((room, m)),
        numbers=np.zeros(4, np.int64),
        cost_heads=np.zeros((n + 1, cost_width)),
        cost_tails=np.zeros((n + 1, cost_width)),
        limit_heads=np.zeros((n + 1, limit_width)),
        limit_tails=np.zeros((n + 1, limit_width)),
        costs=np.zeros((_N_ROWS, cost_width)),
        limits=np.zeros((_N_ROWS, limit_width)),
    )


@small_kernel
def no_limit_of(data, move, out):
    """Stand in for the limits of a problem that has none."""
    out[0] = 0.0


@small_kernel
def no_join_limits(data, left, right, out):
    """Stand in for the limits of a problem that has none."""
    out[0] = 0.0


def go_on(data, here, front, most):
    """Go on with a descent for the weights, or with looking round where all are 0; tells whether that is the end.

    About `most` neighbours are judged at a time. Those that no row of `front` covers are written down.
    """
    measure(data, here)
    forget_best(here)
    for k in range(here.weights.size):
        if here.weights[k] != 0.0:
            return descend(data, here, front, most)
    return look_round(data, here, front, most)


def look_round_base(data, here, front, most):
    """Judge all neighbours of the base once, or about so many; tells whether that is all."""
    numbers = here.numbers
    begin = numbers[N_JUDGED]
    while numbers[PLACE_NOW] < here.base.size:
        if numbers[N_JUDGED] - begin > most:
            return False
        look_from(data, here, front, numbers[PLACE_NOW], _ONE_WAY)
        numbers[PLACE_NOW] += 1
    return True


def descend_from_base(data, here, front, most):
    """Go from the base to better neighbours until there is none, or until about so many were judged; tells which.

    Marked places are looked at in turn. The best neighbour in which the move there takes part, if it is better than the
    base, becomes the base, and what is around the change is marked. The end is reached when nothing is marked, or where
    a step measured as a whole was none: sums in another order could promise steps round a circle for ever.
    """
    n = here.base.size
    numbers = here.numbers
    begin = numbers[N_JUDGED]
    while numbers[N_QUIET] < n:
        if numbers[N_JUDGED] - begin > most:
            return False
        place = numbers[PLACE_NOW]
        numbers[PLACE_NOW] = (place + 1) % n
        numbers[N_QUIET] += 1
        if here.marks[place] == 0:
            continue
        here.marks[place] = 0
        numbers[N_QUIET] = 0
        look_from(data, here, front, place, _BOTH_WAYS)
        if here.best[KIND] != NO_KIND:
            distance, value = here.current[0], value_of_base(here)
            go_to(here, here.best)
            measure(data, here)
            if not is_base_better_than(here, distance, value):
                return True
            forget_best(here)
    return True


@small_kernel
def value_of_base(here):
    """Return what the weights, and the price if any, make of the base as it was measured."""
    value = here.terms[PRICE] * here.current[0]
    for k in range(here.weights.size):
        value += here.weights[k] * here.current[1 + k]
    return value


@small_kernel
def is_base_better_than(here, distance, value):
    """Tell whether the base is better than it was: nearer to feasible, else cheaper; or cheaper with its price."""
    if here.terms[PRICE] == 0.0 and here.current[0] != distance:
        return here.current[0] < distance
    return value_of_base(here) < value


def look_from_place(data, here, front, place, n_ways):
    """Judge the neighbours whose segment begins at a place, or ends there."""
    n = here.base.size
    for length in range(1, min(LONGEST, n - 1) + 1):
        if place + length <= n:
            try_elsewhere(data, here, front, place, length)
        if n_ways == _BOTH_WAYS and 1 < length <= place + 1:
            try_elsewhere(data, here, front, place + 1 - length, length)
    try_turned(data, here, front, place, n_ways)


@small_kernel
def forget_best(here):
    """Let the base be what a neighbour must be better than, by more than sums in another order differ."""
    here.best[KIND] = NO_KIND
    here.best_value[0] = here.current[0] * (1.0 - NOISE)
    here.best_value[1] = 0.0
    for k in range(here.weights.size):
        here.slack[k] = NOISE * abs(here.current[1 + k])
        here.best_value[1] += here.weights[k] * (here.current[1 + k] - here.slack[k])
    price = here.terms[PRICE]
    here.terms[FARTHEST] = here.current[0]
    if price > 0.0:
        here.best_value[1] += price * here.best_value[0]
        here.terms[FARTHEST] += here.terms[MOST_GAIN] / price


def measure_base(data, here):
    """Fill heads, tails and the scores of the base."""
    n = here.base.size
    m = here.weights.size
    cost_of(data, _START, here.cost_heads[0])
    limit_of(data, _START, here.limit_heads[0])
    for i in range(n):
        cost_of(data, here.base[i], here.costs[_ONE])
        limit_of(data, here.base[i], here.limits[_ONE])
        join_costs(data, here.cost_heads[i], here.costs[_ONE], here.cost_heads[i + 1])
        join_limits(data, here.limit_heads[i], here.limits[_ONE], here.limit_heads[i + 1])
    cost_of(data, _END, here.cost_tails[n])
    limit_of(data, _END, here.limit_tails[n])
    for i in range(n - 1, -1, -1):
        cost_of(data, here.base[i], here.costs[_ONE])
        limit_of(data, here.base[i], here.limits[_ONE])
        join_costs(data, here.costs[_ONE], here.cost_tails[i + 1], here.cost_tails[i])
        join_limits(data, here.limits[_ONE], here.limit_tails[i + 1], here.limit_tails[i])
    join_costs(data, here.cost_heads[n], here.cost_tails[n], here.costs[_WHOLE])
    join_limits(data, here.limit_heads[n], here.limit_tails[n], here.limits[_WHOLE])
    here.current[0] = here.limits[_WHOLE, 0]
    for k in range(m):
        here.current[1 + k] = here.signs[k] * here.costs[_WHOLE, here.costs.shape[1] - m + k]


def append_move(data, here, row, move):
    """Join a move to the end of a growing segment; returns the row where it is now."""
    cost_of(data, move, here.costs[_ONE])
    limit_of(data, move, here.limits[_ONE])
    join_costs(data, here.costs[row], here.costs[_ONE], here.costs[row ^ 1])
    join_limits(data, here.limits[row], here.limits[_ONE], here.limits[row ^ 1])
    return row ^ 1


def prepend_move(data, here, row, move):
    """Join a move to the beginning of a growing segment; returns the row where it is now."""
    cost_of(data, move, here.costs[_ONE])
    limit_of(data, move, here.limits[_ONE])
    join_costs(data, here.costs[_ONE], here.costs[row], here.costs[row ^ 1])
    join_limits(data, here.limits[_ONE], here.limits[row], here.limits[row ^ 1])
    return row ^ 1


def put_elsewhere(data, here, front, first, length):
    """Judge the neighbours in which a segment goes elsewhere, as it is or turned round."""
    base = here.base
    costs, limits = here.costs, here.limits
    forward, turned = _FORWARD, _TURNED
    cost_of(data, base[first], costs[forward])
    limit_of(data, base[first], limits[forward])
    cost_of(data, base[first], costs[turned])
    limit_of(data, base[first], limits[turned])
    for i in range(first + 1, first + length):
        forward = append(data, here, forward, base[i])
        turned = prepend(data, here, turned, base[i])
    limit = here.terms[FARTHEST]
    head = _HEAD
    copy_row(here.cost_heads[first], costs[head])
    copy_row(here.limit_heads[first], limits[head])
    for place in range(first + length, base.size):
        head = append(data, here, head, base[place])
        if limits[head, 0] > limit:
            break
        tail_costs, tail_limits = here.cost_tails[place + 1], here.limit_tails[place + 1]
        for way in range(2 if length > 1 else 1):
            row = turned if way else forward
            judge(
                data, here, front, costs[head], limits[head], costs[row], limits[row],
                tail_costs, tail_limits, OR_OPT, first, length, place, way,
            )  # fmt: skip
    tail = _TAIL
    copy_row(here.cost_tails[first + length], costs[tail])
    copy_row(here.limit_tails[first + length], limits[tail])
    for place in range(first - 1, -1, -1):
        tail = prepend(data, here, tail, base[place])
        if limits[tail, 0] > limit:
            break
        head_costs, head_limits = here.cost_heads[place], here.limit_heads[place]
        for way in range(2 if length > 1 else 1):
            row = turned if way else forward
            judge(
                data, here, front, head_costs, head_limits, costs[row], limits[row],
                costs[tail], limits[tail], OR_OPT, first, length, place, way,
            )  # fmt: skip


def turn_round(data, here, front, place, n_ways):
    """Judge the neighbours in which a segment that begins at a place, or that ends there, is turned round."""
    base, costs, limits = here.base, here.costs, here.limits
    for way in range(n_ways):
        turned = _TURNED
        cost_of(data, base[place], costs[turned])
        limit_of(data, base[place], limits[turned])
        for distance in range(1, base.size):
            first, last = (place - distance, place) if way else (place, place + distance)
            if first < 0 or last >= base.size:
                break
            turned = append(data, here, turned, base[first]) if way else prepend(data, here, turned, base[last])
            if limits[turned, 0] > here.terms[FARTHEST]:
                break
            judge(
                data, here, front, here.cost_heads[first], here.limit_heads[first],
                costs[turned], limits[turned], here.cost_tails[last + 1], here.limit_tails[last + 1],
                TWO_OPT, first, last + 1 - first, first, _ROUND,
            )  # fmt: skip


def judge_neighbour(
    data, here, front, head_costs, head_limits, costs, limits, tail_costs, tail_limits,
    kind, first, length, place, turned,
):  # fmt: skip
    """Note a neighbour if it is the best for the weights so far, or if nothing covers it."""
    here.numbers[N_JUDGED] += 1
    m = here.weights.size
    whole = here.costs[_WHOLE]
    objectives = whole[whole.size - m :]
    join_costs(data, head_costs, costs, here.costs[_PART])
    join_costs(data, here.costs[_PART], tail_costs, whole)
    is_better = here.current[0] > 0.0
    value = 0.0
    for k in range(m):
        objectives[k] *= here.signs[k]
        value += here.weights[k] * objectives[k]
        is_better = is_better or objectives[k] < here.current[1 + k] - here.slack[k]
    if not is_better:
        return
    price, limit = here.terms[PRICE], here.terms[FARTHEST]
    if price > 0.0:  # farther it could not be the best; at 0 it may still be worth noting
        limit = min(limit, max(0.0, (here.best_value[1] - value) / price))
        if head_limits[0] > limit or tail_limits[0] > limit:
            return
    join_limits(data, head_limits, limits, here.limits[_PART])
    if here.limits[_PART, 0] > limit:
        return
    join_limits(data, here.limits[_PART], tail_limits, here.limits[_WHOLE])
    distance = here.limits[_WHOLE, 0]
    if distance > limit:
        return
    if price > 0.0:
        value += price * distance
        is_best = value < here.best_value[1]
    else:
        is_best = distance < here.best_value[0] or (distance == here.best_value[0] and value < here.best_value[1])
    if is_best:
        here.best_value[0] = distance
        here.best_value[1] = value
        write_neighbour(here.best, kind, first, length, place, turned)
    n_found = here.numbers[N_FOUND]
    if (
        distance == 0.0
        and n_found < here.found.shape[0]
        and not is_covered_by_front(front.objectives, front.floors, objectives, here.slack)
        and not is_covered(here.predicted, n_found, objectives, here.slack)
    ):
        for k in range(m):
            here.predicted[n_found, k] = objectives[k]
        write_neighbour(here.described, kind, first, length, place, turned)
        write_out(here.base, here.described, here.found[n_found])
        here.numbers[N_FOUND] += 1


@small_kernel
def write_neighbour(out, kind, first, length, place, turned):
    """Write down which neighbour it is."""
    out[KIND] = kind
    out[FIRST] = first
    out[LENGTH] = length
    out[PLACE] = place
    out[TURNED] = turned


@small_kernel
def copy_row(row, to):
    """Copy numbers."""
    for k in range(row.size):
        to[k] = row[k]


@engine_kernel
def write_out(base, neighbour, out):
    """Write the moves of a neighbour: the others up to its place, the segment, the rest of the others."""
    first, length, place = neighbour[FIRST], neighbour[LENGTH], neighbour[PLACE]
    if place > first:
        place -= length - 1  # what comes before the segment then, the segment itself not counted
    other = 0
    for i in range(base.size):
        if place <= i < place + length:
            step = i - place
            out[i] = base[first + length - 1 - step] if neighbour[TURNED] else base[first + step]
        else:
            if other == first:
                other += length
            out[i] = base[other]
            other += 1


@engine_kernel
def go_to(here, neighbour):
    """Let a neighbour be the base; marks stay with their moves, and the ends of all that was joined anew get one."""
    write_out(here.marks, neighbour, here.other)
    copy_row(here.other, here.marks)
    write_out(here.base, neighbour, here.other)
    copy_row(here.other, here.base)
    first, length, place = neighbour[FIRST], neighbour[LENGTH], neighbour[PLACE]
    gap = first + length  # where the segment was: what comes after it now stands here
    if place > first:
        place -= length - 1
        gap = first
    mark_joint(here.marks, place)
    mark_joint(here.marks, place + length)
    mark_joint(here.marks, gap)


@small_kernel
def mark_joint(marks, place):
    """Mark the moves on both sides of a joint, the one before the move at a place."""
    if place > 0:
        marks[place - 1] = 1
    if place < marks.size:
        marks[place] = 1


def shake(data, here, rng, n_steps, n_tries, reach, farther):
    """Walk from the base to random neighbours, all about one place; returns how many steps.

    None is farther from being feasible than the base and so much more. What was changed is marked.
    """
    n = here.base.size
    limit = distance_of(data, here, here.base) + farther
    centre = int(rng.random() * n)
    n_made = 0
    for _ in range(n_tries):
        if n_made == n_steps or n < 2:
            break
        first = centre + int((rng.random() * 2.0 - 1.0) * reach)
        length = 1 + int(rng.random() * min(LONGEST, n - 1))
        place = centre + int((rng.random() * 2.0 - 1.0) * reach)
        if first < 0 or first + length > n or place < 0 or place >= n or first <= place < first + length:
            continue
        write_neighbour(here.best, OR_OPT, first, length, place, int(rng.random() * 2.0))
        write_out(here.base, here.best, here.other)
        if distance_of(data, here, here.other) <= limit:
            go_to(here, here.best)
            n_made += 1
    return n_made


def distance(data, here, moves):
    """Return how far a solution is from being feasible."""
    row = _HEAD
    limit_of(data, _START, here.limits[row])
    for i in range(moves.size):
        limit_of(data, moves[i], here.limits[_ONE])
        join_limits(data, here.limits[row], here.limits[_ONE], here.limits[row ^ 1])
        row = row ^ 1
    limit_of(data, _END, here.limits[_ONE])
    join_limits(data, here.limits[row], here.limits[_ONE], here.limits[_WHOLE])
    return here.limits[_WHOLE, 0]
