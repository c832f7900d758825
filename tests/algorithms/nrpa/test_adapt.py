"""Adapt makes what it learns from likelier; that it does so by the right amount is compared in tests/nrpa."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pareto_nrpa import ParetoNRPA

from ...helpers.made_up import cases
from ...helpers.problems import Knapsack, Word


def likelihood(search, slot):
    """Return the probability that policy 0 of level 1 plays a recorded sequence again, and that of all its moves."""
    pool, weights = search.machine.pool, search.machine.weights[0, 0]
    total, begin, sums = 1.0, 0, []
    for decision in range(pool.heads[slot, 2]):
        end = pool.ends[slot, decision]
        logits = weights[pool.codes[slot, begin:end]]
        if search.settings.has_bias:
            logits = logits + pool.biases[slot, begin:end]
        probabilities = np.exp(logits - logits.max()) / np.exp(logits - logits.max()).sum()
        sums.append(probabilities.sum())
        total *= probabilities[pool.chosen[slot, decision] - begin]
        begin = end
    return total, sums


# Where steps share codes, a large step may well overshoot.
learnable = st.tuples(st.just(Knapsack()), st.floats(0.01, 2.0)) | st.tuples(st.just(Word()), st.just(0.01))


@cases(40)
@given(st.integers(0, 10**6), learnable)
def test_adapting_towards_a_sequence_makes_it_likelier(seed, case):
    problem, alpha = case
    search = ParetoNRPA(level=1, n_policies=1, alpha=alpha, iterations=10).start(problem, seed=seed)
    (candidate,) = search.ask()
    before, sums = likelihood(search, candidate.slot)
    assert sums == pytest.approx([1.0] * len(sums))
    search.tell([candidate], [[1.0] * problem.n_objectives])
    after, _ = likelihood(search, candidate.slot)
    assert after > before
