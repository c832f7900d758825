"""Pareto-Adapt (Algorithm 3): move each policy towards the sequences of S* that it sampled."""

from __future__ import annotations

import numpy as np

from ...engine.arrays import N_DECISIONS, POLICY
from ...engine.jit.kernels import ZERO, bundle_kernel, engine_kernel, fused_kernel
from ...engine.softmax import add_up, exponentials, is_safe, safe_exponentials


@bundle_kernel
def pareto_adapt(policies, members, size, distances, pool, settings, probabilities, factors):
    """Adapt the policies [P, C] of a level to its set, one sequence after the other, weighted by distance."""
    for i in range(size):
        slot = members[i]
        if settings.adapt_all or _is_most_isolated(i, members, size, distances, pool.heads):
            step = settings.alpha
            if settings.weigh_by_crowding:
                step *= distances[i]
            adapt(
                policies[pool.heads[slot, POLICY]],
                pool.codes[slot],
                pool.biases[slot],
                pool.ends[slot],
                pool.chosen[slot],
                pool.heads[slot, N_DECISIONS],
                step,
                settings,
                probabilities,
                factors,
            )


@engine_kernel
def _is_most_isolated(i, members, size, distances, heads):
    """Tell whether member i has the largest crowding distance among those of its policy (the first of equals)."""
    for j in range(size):
        if heads[members[j], POLICY] == heads[members[i], POLICY] and (
            distances[j] > distances[i] or (distances[j] == distances[i] and j < i)
        ):
            return False
    return True


@bundle_kernel
def adapt(weights, codes, biases, ends, chosen, n_decisions, step, settings, probabilities, factors):
    """Make one recorded sequence likelier: Algorithm 3, lines 4 to 17, with the GNRPA bias.

    The paper copies the policy, as probabilities are those before the update. Computing all probabilities before any
    write gives the same result without a copy. If no code occurs twice in a sequence, this is done block by block,
    which keeps long sequences in the processor's cache.
    """
    first = 0
    begin = ZERO
    while first < n_decisions:
        last = first + 1
        while last < n_decisions and ends[last] - begin <= settings.block:
            last += 1
        end = ends[last - 1]
        here = codes[begin:end]
        extra = biases[begin:end]
        exponentials(weights, here, extra, settings.has_bias, settings.inverse_temperature, probabilities)
        _normalise(weights, here, extra, ends[first:last], begin, step, settings, probabilities, factors)
        _subtract(weights, here, ends[first:last], begin, probabilities, factors)
        for decision in range(first, last):
            weights[codes[chosen[decision]]] += step
        begin = end
        first = last


@bundle_kernel
def _normalise(weights, codes, biases, ends, begin, step, settings, exponents, factors):
    """Fill in the factors from the exponentials of each decision step to step times probability."""
    start = ZERO
    for decision in range(ends.size):
        stop = ends[decision] - begin
        total = add_up(exponents, start, stop)
        if not is_safe(total):
            total = safe_exponentials(
                weights, codes, biases, settings.has_bias, settings.inverse_temperature, start, stop, exponents
            )
        factors[decision] = step / total
        start = stop


@fused_kernel
def _subtract(weights, codes, ends, begin, exponents, factors):
    """Lower the weight of each code by step times probability; a code that occurs twice is lowered twice."""
    start = np.uint64(0)
    for decision in range(ends.size):
        stop = np.uint64(ends[decision] - begin)
        factor = factors[decision]
        for i in range(start, stop):
            weights[codes[i]] -= exponents[i] * factor
        start = stop
