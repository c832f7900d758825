"""Pareto-MCTS (Chen & Liu 2019): a tree search whose children are chosen by dominance of their confidence bounds."""

from __future__ import annotations

import math
from typing import Annotated, NamedTuple

import numpy as np

from ...engine.archive import has_room
from ...engine.arrays import HERE, NEEDS_ROOM, OK, PENALTY, STATUS, VIOLATIONS
from ...engine.jit.bundles import bundle
from ...engine.jit.kernels import ZERO, bundle_kernel, engine_kernel
from ...engine.walk import LOOK, SAMPLE

# Positions in Tree.numbers.
N_NODES, PENDING, DEPTH_OF_LEAF, N_PLAYOUTS, ON_THE_WAY = range(5)
N_NUMBERS = 5
ROOT = 0
# Values of Tree.first_child below 0.
NOT_EXPANDED, TERMINAL = -1, -2


@bundle
class Tree(NamedTuple):
    """A search tree; the children of a node stand next to each other."""

    visits: Annotated[np.ndarray, "i8 [T]"]
    sums: Annotated[np.ndarray, "f8 [T, M]"]  # of the penalised objectives of all playouts through the node
    moves: Annotated[np.ndarray, "i8 [T] < moves"]  # the move that leads to the node
    first_child: Annotated[np.ndarray, "i8 [T] < -2:T"]
    n_children: Annotated[np.ndarray, "i8 [T] < X+1"]
    path: Annotated[np.ndarray, "i8 [=] < T"]  # from the root to the current leaf
    bounds: Annotated[np.ndarray, "f8 [X, M]"]  # working memory for the largest number of children
    exploration: np.ndarray  # [1] float64, factor on the exploration constant
    numbers: Annotated[np.ndarray, "i8 [5] < T+1 0: D 0: 2"]


def tree_search(parts, store, settings, rng, play, count, tree, n):
    """Make up to n evaluations; returns their number and sets the status."""
    numbers = tree.numbers
    for done in range(n):
        if not has_room(store.archive, store.counters):
            store.counters[STATUS] = NEEDS_ROOM
            return done
        if numbers[PENDING] == 0:
            store.counters[STATUS] = descend(parts, store, settings, rng, play, tree)
            if store.counters[STATUS] != OK:
                return done
            numbers[PENDING] = numbers[N_PLAYOUTS]
        store.counters[STATUS] = play(parts, store, settings, rng, ZERO, HERE, numbers[DEPTH_OF_LEAF], SAMPLE)
        if store.counters[STATUS] != OK:
            return done
        count(store, HERE)
        back_up(tree.path, numbers[DEPTH_OF_LEAF], tree.visits, tree.sums, store.pool.scores)
        numbers[PENDING] -= 1
    return n


@bundle_kernel
def descend(parts, store, settings, rng, play, tree):
    """Descend to an unvisited node or to the end of a sequence; fills in path and moves."""
    numbers = tree.numbers
    # After memory ran out during the descent, it continues from there: nothing is drawn twice.
    depth = numbers[DEPTH_OF_LEAF] if numbers[ON_THE_WAY] else 0
    numbers[ON_THE_WAY] = 0
    tree.path[0] = ROOT
    node = tree.path[depth]
    while tree.first_child[node] != TERMINAL:
        if tree.first_child[node] == NOT_EXPANDED:
            status = play(parts, store, settings, rng, ZERO, HERE, depth, LOOK)
            count = store.n_legal[0]
            if status == OK and (numbers[N_NODES] + count > tree.visits.size or count > tree.bounds.shape[0]):
                status = NEEDS_ROOM
            if status != OK:
                numbers[DEPTH_OF_LEAF] = depth
                numbers[ON_THE_WAY] = 1
                return status
            expand(node, store.legal, count, tree.moves, tree.first_child, tree.n_children, numbers)
            if count == 0:
                break
        node = choose_child(
            node,
            tree.visits,
            tree.sums,
            tree.first_child[node],
            tree.n_children[node],
            tree.bounds,
            tree.exploration[0],
            rng,
        )
        if depth == store.pool.moves.shape[1]:
            break  # the playout reports an endless sequence
        store.pool.moves[HERE, depth] = tree.moves[node]
        depth += 1
        tree.path[depth] = node
        if tree.visits[node] == 0:
            break
    numbers[DEPTH_OF_LEAF] = depth
    return OK


@engine_kernel
def expand(node, legal, count, moves, first_child, n_children, numbers):
    """Add a child for each legal move to a node."""
    if count == 0:
        first_child[node] = TERMINAL
        return
    first = numbers[N_NODES]
    first_child[node] = first
    n_children[node] = count
    for i in range(count):
        moves[first + i] = legal[i]
        first_child[first + i] = NOT_EXPANDED
    numbers[N_NODES] += count


@engine_kernel
def choose_child(node, visits, sums, first, count, bounds, exploration, rng):
    """Return an unvisited child, or else one with a non-dominated confidence bound, drawn uniformly."""
    n_new = 0
    for i in range(count):
        n_new += visits[first + i] == 0
    if n_new > 0:
        skip = int(rng.random() * n_new)
        for i in range(count):
            if visits[first + i] == 0:
                if skip == 0:
                    return first + i
                skip -= 1
    fill_bounds(node, visits, sums, first, count, bounds, exploration)
    n_best = 0
    for i in range(count):
        n_best += not is_beaten(bounds, i, count)
    skip = int(rng.random() * n_best)
    for i in range(count):
        if not is_beaten(bounds, i, count):
            if skip == 0:
                return first + i
            skip -= 1
    return first  # unreachable: some child is non-dominated


@engine_kernel
def fill_bounds(node, visits, sums, first, count, bounds, exploration):
    """Fill in the lower confidence bound of every child and objective (all are minimised).

    The exploration constant is, as in the paper of Pareto-NRPA, the range of the children's means at this node, here
    for each objective; the width of the bound is that of Pareto-UCT, sqrt((4 ln n + ln m) / (2 n_i)).
    """
    m = sums.shape[1]
    spread = 4 * math.log(visits[node]) + math.log(m)
    for k in range(m):
        smallest = np.inf
        largest = -np.inf
        for i in range(count):
            mean = sums[first + i, k] / visits[first + i]
            bounds[i, k] = mean
            smallest = min(smallest, mean)
            largest = max(largest, mean)
        for i in range(count):
            bounds[i, k] -= exploration * (largest - smallest) * math.sqrt(spread / (2 * visits[first + i]))


@engine_kernel
def is_beaten(bounds, i, count):
    """Tell whether the bound of child i is dominated by that of another one."""
    for j in range(count):
        better = False
        worse = False
        for k in range(bounds.shape[1]):
            better = better or bounds[j, k] < bounds[i, k]
            worse = worse or bounds[j, k] > bounds[i, k]
        if better and not worse:
            return True
    return False


@engine_kernel
def back_up(path, depth, visits, sums, scores):
    """Add the outcome of a playout to all nodes on the path to its leaf."""
    for i in range(depth + 1):
        visits[path[i]] += 1
        for k in range(sums.shape[1]):
            sums[path[i], k] += scores[HERE, 1 + k] + PENALTY * scores[HERE, VIOLATIONS]
