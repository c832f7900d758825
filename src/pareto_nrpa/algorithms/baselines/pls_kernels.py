"""Pareto Local Search (Paquete et al. 2004): all neighbours of all solutions of a growing front."""

from __future__ import annotations

from typing import Annotated, NamedTuple

import numpy as np

from ...engine.archive import has_room
from ...engine.arrays import HERE, N_MOVES, NEEDS_ROOM, OK, STATUS, WRONG_LENGTH
from ...engine.dominance import covers
from ...engine.jit.bundles import bundle
from ...engine.jit.kernels import ZERO, engine_kernel, small_kernel
from ...engine.walk import SAMPLE, WHOLE

# Positions in WorkingFront.numbers.
SIZE, NEXT_ID, BASE_ID, SAMPLED, N_FIRST, IS_PERMUTATION, LONGEST_SEGMENT = range(7)
N_NUMBERS = 7
# Columns of WorkingFront.heads.
ID, EXPLORED = 0, 1
NO_BASE = -1

# Kinds of neighbours of a permutation, in the order in which they are tried: 0, a segment reversed (2-opt), then
# segments of one, two, ... moves put elsewhere (or-opt).
_TWO_OPT = 0


@bundle
class WorkingFront(NamedTuple):
    """The front of a local search, and its position in the neighbourhood of one of the solutions."""

    scores: Annotated[np.ndarray, "f8 [W, 1+M]"]
    moves: Annotated[np.ndarray, "i8 [W, =] < moves"]
    heads: Annotated[np.ndarray, "i8 [W, 2] < 0: 2"]  # a number for each solution, whether its neighbours are all known
    base: Annotated[np.ndarray, "i8 [=] < moves"]  # the solution whose neighbours are tried
    cursor: Annotated[np.ndarray, "i8 [3] < 0:"]  # the neighbour to try next: kind, and two positions
    numbers: Annotated[np.ndarray, "i8 [7] < W+1 0: * 0:"]
    options: np.ndarray  # [n, largest number of options] int64, the moves of each step; unused for permutations
    n_options: np.ndarray  # [n] int64


def local_search(parts, store, settings, rng, play, count, front, n):
    """Make up to n evaluations; returns their number and sets the status."""
    for done in range(n):
        if not has_room(store.archive, store.counters) or front.numbers[SIZE] == front.heads.shape[0]:
            store.counters[STATUS] = NEEDS_ROOM
            return done
        n_given = next_candidate(
            store.pool.moves[HERE],
            front.moves,
            front.heads,
            front.base,
            front.cursor,
            front.numbers,
            front.options,
            front.n_options,
            rng,
        )
        purpose = WHOLE if n_given > 0 else SAMPLE
        store.counters[STATUS] = play(parts, store, settings, rng, ZERO, HERE, n_given, purpose)
        if store.counters[STATUS] == OK and store.pool.heads[HERE, N_MOVES] != front.base.size:
            store.counters[STATUS] = WRONG_LENGTH
        if store.counters[STATUS] != OK:
            return done
        count(store, HERE)
        insert(front.scores, front.moves, front.heads, front.numbers, store.pool.scores, store.pool.moves)
    return n


@engine_kernel
def next_candidate(out, moves, heads, base, cursor, numbers, options, n_options, rng):
    """Fill in the next neighbour and return its length, or return 0 if a new solution must be sampled."""
    while True:
        if numbers[SAMPLED] < numbers[N_FIRST]:
            numbers[SAMPLED] += 1
            return 0
        if numbers[BASE_ID] == NO_BASE and not choose_base(moves, heads, base, cursor, numbers, rng):
            # All neighbours of all solutions are known: another local search begins, and only the archive is kept.
            numbers[SIZE] = 0
            numbers[SAMPLED] = 0
            continue
        if numbers[IS_PERMUTATION]:
            found = next_permutation(base, cursor, numbers[LONGEST_SEGMENT], out)
        else:
            found = next_choice(base, cursor, options, n_options, out)
        if found:
            return base.size
        mark_explored(heads, numbers)


@engine_kernel
def choose_base(moves, heads, base, cursor, numbers, rng):
    """Draw a solution with unknown neighbours; returns whether there was one."""
    n_left = 0
    for i in range(numbers[SIZE]):
        n_left += 1 - heads[i, EXPLORED]
    if n_left == 0:
        return False
    skip = int(rng.random() * n_left)
    for i in range(numbers[SIZE]):
        if heads[i, EXPLORED] == 0:
            if skip == 0:
                numbers[BASE_ID] = heads[i, ID]
                for k in range(base.size):
                    base[k] = moves[i, k]
                break
            skip -= 1
    for k in range(cursor.size):
        cursor[k] = 0
    return True


@engine_kernel
def mark_explored(heads, numbers):
    """Mark the base as completed, if it still is in the front."""
    for i in range(numbers[SIZE]):
        if heads[i, ID] == numbers[BASE_ID]:
            heads[i, EXPLORED] = 1
    numbers[BASE_ID] = NO_BASE


@engine_kernel
def next_permutation(base, cursor, longest_segment, out):
    """Fill in the neighbour at the cursor and advance; returns False if none is left."""
    n = base.size
    while True:
        kind = cursor[0]
        if kind > longest_segment:
            return False
        first, second = cursor[1], cursor[2]
        last_first = n - 1 if kind == _TWO_OPT else n - kind
        if first > last_first:
            cursor[0] += 1
            cursor[1] = 0
            cursor[2] = 0
            continue
        if second > (n - 1 if kind == _TWO_OPT else n - kind):
            cursor[1] += 1
            cursor[2] = cursor[1] + 1 if kind == _TWO_OPT else 0
            continue
        cursor[2] += 1
        if kind == _TWO_OPT:
            if second > first:
                two_opt(base, first, second, out)
                return True
        elif second != first:
            or_opt(base, first, kind, second, out)
            return True


@small_kernel
def two_opt(base, first, last, out):
    """Copy a solution with the segment from `first` to `last` reversed."""
    for k in range(base.size):
        out[k] = base[first + last - k] if first <= k <= last else base[k]


@small_kernel
def or_opt(base, first, length, place, out):
    """Copy a solution with a segment relocated before the `place`-th of the others."""
    taken = 0
    for k in range(base.size):
        if place <= k < place + length:
            out[k] = base[first + k - place]
        else:
            if taken == first:
                taken += length
            out[k] = base[taken]
            taken += 1


@engine_kernel
def next_choice(base, cursor, options, n_options, out):
    """Fill in the neighbour with one changed choice at the cursor and advance; False if none is left."""
    while cursor[1] < base.size:
        step, option = cursor[1], cursor[2]
        if option >= n_options[step]:
            cursor[1] += 1
            cursor[2] = 0
            continue
        cursor[2] += 1
        if options[step, option] != base[step]:
            for k in range(base.size):
                out[k] = base[k]
            out[step] = options[step, option]
            return True
    return False


@engine_kernel
def insert(scores, moves, heads, numbers, new_scores, new_moves):
    """Add a solution to the working front unless it is covered, and remove solutions that it covers."""
    size = numbers[SIZE]
    for i in range(size):
        if covers(scores, i, new_scores, HERE):
            return
    kept = 0
    for i in range(size):
        if not covers(new_scores, HERE, scores, i):
            if kept < i:
                copy_solution(scores, moves, heads, i, kept)
            kept += 1
    for k in range(scores.shape[1]):
        scores[kept, k] = new_scores[HERE, k]
    for k in range(moves.shape[1]):
        moves[kept, k] = new_moves[HERE, k]
    heads[kept, ID] = numbers[NEXT_ID]
    heads[kept, EXPLORED] = 0
    numbers[NEXT_ID] += 1
    numbers[SIZE] = kept + 1


@engine_kernel
def copy_solution(scores, moves, heads, source, target):
    """Move a solution of the working front to another place."""
    for k in range(scores.shape[1]):
        scores[target, k] = scores[source, k]
    for k in range(moves.shape[1]):
        moves[target, k] = moves[source, k]
    for k in range(heads.shape[1]):
        heads[target, k] = heads[source, k]
