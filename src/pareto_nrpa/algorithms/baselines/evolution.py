"""The inner loops of pymoo's NSGA-II, SMS-EMOA and MOEA/D on arrays; same random numbers, same results to the bit."""

from __future__ import annotations

from typing import Annotated, NamedTuple

import numpy as np

from ...engine.archive import has_room
from ...engine.arrays import HERE, NEEDS_ROOM, OK, PENALTY, STATUS
from ...engine.jit.bundles import bundle
from ...engine.jit.kernels import ZERO, bundle_kernel
from ...engine.walk import WHOLE
from .variation import below, copy_row, shuffle, two_of

# Unbound here; bound to an operator of `variation` and a scalarisation below.
vary = scalarise = None

#: Probability that the parents of MOEA/D are neighbours, and the penalty of PBI, penalty-based boundary intersection
#: (pymoo's defaults).
FROM_NEIGHBOURS = 0.9
THETA = 5.0


@bundle_kernel
def winner(rng, objectives, crowding, a, b):
    """Return the winner of a tournament: by dominance, then by crowding distance, then at random."""
    better = worse = False
    for k in range(objectives.shape[1]):
        better |= objectives[a, k] < objectives[b, k]
        worse |= objectives[b, k] < objectives[a, k]
    if better == worse and crowding[a] != crowding[b]:
        better, worse = crowding[a] > crowding[b], crowding[a] < crowding[b]
    if better == worse:
        better = below(rng, 2) == 0
    return a if better else b


def mate(rng, drawn, genes, objectives, crowding, parents, children, sizes, marks):
    """Fill in the children of pairs of parents, which are winners of binary tournaments."""
    n = parents.shape[1]
    for i in range(n):
        for side in range(2):
            place = 4 * i + 2 * side
            chosen = winner(rng, objectives, crowding, drawn[place], drawn[place + 1])
            copy_row(genes[chosen], parents[side, i])
    vary(rng, parents, children, sizes, marks)
    return n


def crowding_gaps(objectives, order, ranks, gaps):
    """Fill in the distance between the two neighbours in the own front, per objective, in units of its range.

    `order` [n, m] sorts all points; within it the points of a front are in order too.
    """
    n, m = objectives.shape
    n_fronts = ranks.max() + 1
    for k in range(m):
        first = np.full(n_fronts, -1)
        last = np.full(n_fronts, -1)
        below = np.full(n, np.inf)
        above = np.full(n, np.inf)
        for i in order[:, k]:
            before = last[ranks[i]]
            if before < 0:
                first[ranks[i]] = i
            else:
                below[i] = above[before] = objectives[i, k] - objectives[before, k]
            last[ranks[i]] = i
        for i in range(n):
            extent = objectives[last[ranks[i]], k] - objectives[first[ranks[i]], k]
            gaps[i, k] = below[i] / extent + above[i] / extent if extent != 0.0 else 0.0
    return n_fronts


@bundle
class MOEADSubproblems(NamedTuple):
    """The population of MOEA/D: the best known solution of every subproblem."""

    genes: Annotated[np.ndarray, "i8 [=, =] < 0:"]
    objectives: Annotated[np.ndarray, "f8 [=, =]"]  # penalised
    ideal: Annotated[np.ndarray, "f8 [=]"]
    weights: Annotated[np.ndarray, "f8 [=, =]"]
    lengths: Annotated[np.ndarray, "f8 [=]"]  # of the weight vectors
    neighbours: Annotated[np.ndarray, "i8 [=, =] < n"]
    order: Annotated[np.ndarray, "i8 [n] < n"]  # the order of subproblems
    turn: Annotated[np.ndarray, "i8 [1] < n+1"]  # place in `order`
    moves: np.ndarray  # [width, most choices] int64, the moves of the genes
    sizes: np.ndarray  # [width] int64, the number of choices
    parents: np.ndarray  # [2, 1, width] int64, the current pair
    children: np.ndarray  # [2, width] int64, of which pymoo takes the first
    values: np.ndarray  # [M] float64, its penalised objectives
    mixed: np.ndarray  # [n] int64, working memory for a permutation
    marks: np.ndarray  # [2 + width] bool, working memory


@bundle_kernel
def tchebycheff(objectives, ideal, weights, length):
    """Return the Chebyshev scalarisation: the largest weighted distance to the ideal point."""
    worst = -np.inf
    for k in range(ideal.size):
        worst = max(worst, abs(objectives[k] - ideal[k]) * weights[k])
    return worst


@bundle_kernel
def boundary_intersection(objectives, ideal, weights, length):
    """Return the PBI scalarisation: the distance along the direction from the ideal point plus a penalty off it."""
    along = 0.0
    for k in range(ideal.size):
        along += (objectives[k] - ideal[k]) * weights[k]
    along /= length
    aside = 0.0
    for k in range(ideal.size):
        gap = objectives[k] - ideal[k] - along * weights[k] / length
        aside += gap * gap
    return along + THETA * np.sqrt(aside)


@bundle_kernel
def choose_parents(draws, genes, neighbours, mixed, parents):
    """Draw the parents of a child: two neighbours, or with small probability any two."""
    if draws.random() < FROM_NEIGHBOURS:
        a, b = two_of(draws, neighbours.size)
        a, b = neighbours[a], neighbours[b]
    else:
        shuffle(draws, mixed)
        a, b = mixed[0], mixed[1]
    copy_row(genes[a], parents[0, 0])
    copy_row(genes[b], parents[1, 0])


def evolve(parts, store, settings, rng, play, count, draws, found, n):
    """Make up to n evaluations of MOEA/D; returns their number and sets the status."""
    width = found.genes.shape[1]
    for done in range(n):
        if not has_room(store.archive, store.counters):
            store.counters[STATUS] = NEEDS_ROOM
            return done
        if found.turn[0] == found.order.size:
            shuffle(draws, found.order)
            found.turn[0] = 0
        i = found.order[found.turn[0]]
        choose_parents(draws, found.genes, found.neighbours[i], found.mixed, found.parents)
        vary(draws, found.parents, found.children, found.sizes, found.marks)
        for k in range(width):
            store.pool.moves[HERE, k] = found.moves[k, found.children[0, k]]
        store.counters[STATUS] = play(parts, store, settings, rng, ZERO, HERE, width, WHOLE)
        if store.counters[STATUS] != OK:
            return done
        count(store, HERE)
        for k in range(found.ideal.size):
            found.values[k] = store.pool.scores[HERE, 1 + k] + PENALTY * store.pool.scores[HERE, 0]
            found.ideal[k] = min(found.ideal[k], found.values[k])
        for j in found.neighbours[i]:
            weights, length = found.weights[j], found.lengths[j]
            old = scalarise(found.objectives[j], found.ideal, weights, length)
            if scalarise(found.values, found.ideal, weights, length) < old:
                copy_row(found.children[0], found.genes[j])
                copy_row(found.values, found.objectives[j])
        found.turn[0] += 1
    return n
