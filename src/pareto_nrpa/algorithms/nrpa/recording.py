"""The way from Python into the machine, for plain problems: one call per evaluation."""

from __future__ import annotations

from ...engine.arrays import (
    KEY,
    N_DECISIONS,
    N_MOVES,
    NEEDS_ROOM,
    OK,
    POLICY,
)
from ...engine.jit.kernels import bundle_kernel
from ...engine.softmax import fast_exp2, power_scale
from .levels import has_room, note, take, tell, tell_root

#: Says that any unused slot will do.
ANY_SLOT = -1


def record_and_tell(machine, settings, slot, record, biases, scores):
    """Write what was played and how it was judged into a slot, then learn from it; returns a status.

    An empty `record` leaves the slot as it is; without `scores` there is nothing to learn yet.
    """
    if slot == ANY_SLOT:
        if not has_room(machine.archive, machine.counters):
            return NEEDS_ROOM
        slot = take(machine.free, machine.counters)
    if record.size > 0:
        _write(machine.pool, slot, record, biases)
    if scores.size > 0:
        for k in range(scores.size):
            machine.pool.scores[slot, k] = scores[k]
        tell(machine, settings, slot)
    return OK


def count_only(machine, slot):
    """Count an evaluated sequence, and learn nothing from it."""
    note(machine, slot)


def tell_root_of(machine, settings, slot):
    """Let the highest level learn from a slot whose scores are known."""
    tell_root(machine, settings, slot)


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
