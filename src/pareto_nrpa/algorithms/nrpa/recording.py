"""The short way from Python into the machine, for plain problems: one call per evaluation, cheap to make.

Numba takes microseconds to look at a nested bundle, and far less at a flat tuple of arrays.
"""

from __future__ import annotations

import numpy as np

from ...engine.arrays import (
    KEY,
    N_DECISIONS,
    N_MOVES,
    NEEDS_ROOM,
    OK,
    POLICY,
    Archive,
    FrontIndex,
    Pool,
    SearchState,
    Selection,
    Settings,
)
from ...engine.jit.kernels import bundle_kernel
from ...engine.softmax import fast_exp2, power_scale
from .levels import has_room, note, take, tell, tell_root

#: Says that any unused slot will do.
ANY_SLOT = -1


def flatten(machine: SearchState) -> tuple[np.ndarray, ...]:
    """Return all arrays of a machine in one tuple."""
    archive, selection = machine.archive, machine.selection
    return (*machine[:-3], *machine.pool, *archive[:-1], *archive.front_index, *selection[:-1], *selection.front_index)


@bundle_kernel
def _unflatten(p):
    """Return the machine behind a flat tuple; written out, as compiled code cannot count fields."""
    pool = Pool(p[12], p[13], p[14], p[15], p[16], p[17], p[18])
    archived = FrontIndex(p[26], p[27], p[28])
    archive = Archive(p[19], p[20], p[21], p[22], p[23], p[24], p[25], archived)
    front = FrontIndex(p[37], p[38], p[39])
    selection = Selection(p[29], p[30], p[31], p[32], p[33], p[34], p[35], p[36], front)
    return SearchState(
        p[0], p[1], p[2], p[3], p[4], p[5], p[6], p[7], p[8], p[9], p[10], p[11], pool, archive, selection
    )


def record_and_tell(parts, options, slot, record, biases, scores):
    """Write what was played and how it was judged into a slot, then learn from it; returns a status.

    An empty `record` leaves the slot as it is; without `scores` there is nothing to learn yet.
    """
    machine = _unflatten(parts)
    if slot == ANY_SLOT:
        if not has_room(machine.archive, machine.counters):
            return NEEDS_ROOM
        slot = take(machine.free, machine.counters)
    if record.size > 0:
        _write(machine.pool, slot, record, biases)
    if scores.size > 0:
        for k in range(scores.size):
            machine.pool.scores[slot, k] = scores[k]
        tell(machine, Settings(*options), slot)
    return OK


def count_only(parts, slot):
    """Count an evaluated sequence, and learn nothing from it."""
    note(_unflatten(parts), slot)


def tell_root_of(parts, options, slot):
    """Let the highest level learn from a slot whose scores are known."""
    tell_root(_unflatten(parts), Settings(*options), slot)


@bundle_kernel
def _write(pool, slot, record, biases):
    """Unpack a record: size, codes and choice of each decision step; then moves, identity, policy, how many moves."""
    n_moves = record[record.size - 1]
    first_move = record.size - 3 - n_moves
    at = 0
    end = 0
    n_decisions = 0
    while at < first_move:
        count = record[at]
        for i in range(count):
            pool.codes[slot, end + i] = record[at + 1 + i]
        pool.chosen[slot, n_decisions] = end + record[at + 1 + count]
        end += count
        at += count + 2
        pool.ends[slot, n_decisions] = end
        n_decisions += 1
    for i in range(n_moves):
        pool.moves[slot, i] = record[first_move + i]
    pool.heads[slot, POLICY] = record[record.size - 2]
    pool.heads[slot, N_MOVES] = n_moves
    pool.heads[slot, N_DECISIONS] = n_decisions
    pool.heads[slot, KEY] = record[record.size - 3]
    for i in range(biases.size):
        pool.biases[slot, i] = biases[i]


def tabulate(weights, policy, inverse_temperature, out):
    """Fill `out` with exp(weight / temperature) of the first codes of a policy of level 1."""
    scale = power_scale(inverse_temperature)
    for i in range(min(out.size, weights.shape[2])):
        out[i] = fast_exp2(weights[0, policy, i] * scale)
