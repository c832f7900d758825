import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pareto_nrpa.engine.softmax import add_up, fast_exp2, pick, safe_exponentials

NO_BIAS = np.zeros(1)


def test_fast_exp2_is_a_power_of_two_within_its_stated_error():
    for x in np.concatenate([np.linspace(-999, 999, 20_001), np.linspace(-2, 2, 2_001)]):
        assert fast_exp2(x) == pytest.approx(2.0**x, rel=2e-14)


@given(st.lists(st.floats(-1e6, 1e6), max_size=40), st.integers(0, 5))
def test_add_up_adds_up(values, start):
    start = min(start, len(values))
    expected = math.fsum(values[start:])
    assert add_up(np.array(values), start, len(values)) == pytest.approx(expected, rel=1e-9, abs=1e-6)


@given(st.lists(st.floats(-1e5, 1e5), min_size=1, max_size=20))
def test_safe_exponentials_never_overflow_and_keep_their_order(weights):
    out = np.empty(len(weights))
    codes = np.arange(len(weights), dtype=np.uint32)
    total = safe_exponentials(np.array(weights), codes, NO_BIAS, False, 1.0, 0, len(weights), out)
    assert 1.0 <= total <= len(weights)
    assert out.max() == 1.0
    assert math.isclose((out / total).sum(), 1.0)
    assert (np.diff(out[np.argsort(weights, kind="stable")]) >= 0).all()


@given(st.lists(st.floats(0.001, 10), min_size=1, max_size=20), st.floats(0, 1, exclude_max=True))
def test_pick_takes_the_first_position_whose_running_sum_exceeds_the_threshold(values, share):
    sums = np.cumsum(values)
    threshold = share * sums[-1]
    expected = min(int(np.searchsorted(sums, threshold, side="right")), len(values) - 1)
    assert pick(np.array(values), len(values), threshold) == expected
