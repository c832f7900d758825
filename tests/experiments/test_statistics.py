"""Statistics against hand examples, published numbers and scipy called directly."""

import math

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from pareto_nrpa.experiments.statistics import (
    average_ranks,
    critical_difference,
    friedman,
    holm,
    mean_and_interval,
    outcome,
    pairwise_comparisons,
    rank_sum,
    rounded_mean,
    signed_rank,
)

from ..helpers.made_up import cases

stats = pytest.importorskip("scipy.stats", reason="needs scipy: pip install pareto-nrpa[report]")

SAMPLES = st.lists(st.integers(0, 9).map(float), min_size=2, max_size=12)

# --- means


def test_mean_and_interval_by_hand():
    """Deviations -1, 0, 1 have the variance 1 (divided by n - 1)."""
    mean, interval = mean_and_interval([1.0, 2.0, 3.0])
    assert mean == 2
    assert interval == pytest.approx(1.96 / math.sqrt(3))


def test_mean_and_interval_of_one_value_and_of_none():
    assert mean_and_interval([0.25]) == (0.25, 0.0)
    assert all(math.isnan(x) for x in mean_and_interval([]))


def test_equal_values_have_no_interval():
    assert mean_and_interval([0.5] * 30) == (0.5, 0.0)


@given(SAMPLES)
def test_mean_and_interval_naively(values):
    mean = sum(values) / len(values)
    deviation = math.sqrt(sum((v - mean) ** 2 for v in values) / (len(values) - 1))
    assert mean_and_interval(values) == pytest.approx((mean, 1.96 * deviation / math.sqrt(len(values))))


# --- Holm


def test_holm_by_hand():
    """In their order, p-values are multiplied by 4, 3, 2, 1, and may not decrease: 0.04, 0.06, 0.06, 0.04."""
    np.testing.assert_allclose(holm([0.01, 0.04, 0.03, 0.02]), [0.04, 0.06, 0.06, 0.06])


def test_holm_never_exceeds_one_and_leaves_a_single_p_value_alone():
    np.testing.assert_allclose(holm([0.6, 0.7]), [1.0, 1.0])
    np.testing.assert_allclose(holm([0.03]), [0.03])
    assert holm([]).size == 0


def naive_holm(p_values):
    """The definition: the largest of (k - rank + 1) p over all that are at most as large, cut at 1."""
    order = sorted(range(len(p_values)), key=lambda i: p_values[i])
    adjusted = [0.0] * len(p_values)
    for place, i in enumerate(order):
        scaled = [(len(p_values) - j) * p_values[order[j]] for j in range(place + 1)]
        adjusted[i] = min(1.0, max(scaled))
    return adjusted


@given(st.lists(st.floats(0, 1), max_size=10))
def test_holm_naively(p_values):
    adjusted = holm(p_values)
    np.testing.assert_allclose(adjusted, naive_holm(p_values))
    assert (adjusted >= np.array(p_values)).all()


# --- tests of two samples


def test_signed_rank_is_exact_for_few_pairs():
    """Five pairs, all better: 1 of 2^5 signs on either side."""
    assert signed_rank([2, 4, 6, 8, 10], [1, 2, 3, 4, 5]) == pytest.approx(2 / 2**5)


def test_signed_rank_is_scipys(rng):
    a, b = rng.random(31), rng.random(31) + 0.1
    assert signed_rank(a, b) == stats.wilcoxon(a, b).pvalue
    assert signed_rank(a, b) == pytest.approx(signed_rank(b, a))
    tied = a.copy()
    tied[::2] = b[::2]
    assert signed_rank(tied, b) == stats.wilcoxon(tied, b, zero_method="pratt").pvalue


def test_signed_rank_of_equal_pairs_and_of_none():
    assert signed_rank([1, 2, 3], [1, 2, 3]) == 1
    assert signed_rank([], []) == 1


@settings(cases(20), suppress_health_check=[HealthCheck.too_slow])  # scipy goes through all signs where pairs are tied
@given(st.lists(st.tuples(st.integers(0, 4), st.integers(0, 4)), min_size=1, max_size=8))
def test_signed_rank_is_a_probability_whatever_is_tied(pairs):
    a, b = zip(*pairs, strict=True)
    p_value = signed_rank(a, b)
    assert 0 <= p_value <= 1


def test_rank_sum_is_scipys(rng):
    a, b = rng.random(10), rng.random(12) + 0.3
    assert rank_sum(a, b) == stats.mannwhitneyu(a, b, alternative="two-sided").pvalue


def test_rank_sum_of_equal_values_and_of_none():
    assert rank_sum([1, 1, 1], [1, 1]) == 1
    assert rank_sum([], [1, 2]) == rank_sum([1, 2], []) == 1


@given(SAMPLES, SAMPLES)
def test_rank_sum_is_a_symmetric_probability(a, b):
    assert 0 <= rank_sum(a, b) <= 1
    assert rank_sum(a, b) == pytest.approx(rank_sum(b, a))


LOW, HIGH = np.arange(10.0), np.arange(10.0) + 100


def test_outcome_depends_on_what_is_better():
    assert outcome(HIGH, LOW, more_is_better=True) == 1
    assert outcome(HIGH, LOW, more_is_better=False) == -1
    assert outcome(LOW, HIGH, more_is_better=True) == -1
    assert outcome(LOW, HIGH, more_is_better=False) == 1


def test_what_is_not_significant_is_a_tie():
    assert outcome(LOW, LOW + 0.5, more_is_better=True) == 0
    assert outcome([5.0], [1.0], more_is_better=True) == 0  # one run proves nothing
    assert outcome([], [1.0], more_is_better=True) == 0


# --- ranks


def test_average_ranks_share_ties():
    table = [[3, 2, 1], [3, 3, 1], [2, 2, 2]]
    np.testing.assert_allclose(average_ranks(table, more_is_better=True), [4.5 / 3, 5.5 / 3, 8 / 3])
    np.testing.assert_allclose(average_ranks(table, more_is_better=False), [7.5 / 3, 6.5 / 3, 4 / 3])


@given(st.lists(st.tuples(*[st.integers(0, 3)] * 4), min_size=1, max_size=8), st.booleans())
def test_average_ranks_naively(table, more_is_better):
    ranks = []
    for row in table:
        better = [[(x > y) if more_is_better else (x < y) for x in row] for y in row]
        equal = [[x == y for x in row] for y in row]
        ranks.append([1 + sum(b) + (sum(e) - 1) / 2 for b, e in zip(better, equal, strict=True)])
    expected = np.mean(ranks, axis=0)
    np.testing.assert_allclose(average_ranks(table, more_is_better=more_is_better), expected)
    assert sum(expected) == pytest.approx(4 * 5 / 2)


# Table 5a of Demšar (2006): q at 5 % for 2 to 10 classifiers.
DEMSAR = {2: 1.960, 3: 2.343, 4: 2.569, 5: 2.728, 6: 2.850, 7: 2.949, 8: 3.031, 9: 3.102, 10: 3.164}


@pytest.mark.parametrize("k", DEMSAR)
def test_the_critical_difference_has_demsars_quantiles(k):
    n = 20
    assert critical_difference(k, n) / math.sqrt(k * (k + 1) / (6 * n)) == pytest.approx(DEMSAR[k], abs=2e-3)


def test_the_critical_difference_of_demsars_example():
    assert critical_difference(4, 14) == pytest.approx(1.25, abs=0.01)


# Table 6 of Demšar (2006): the AUC of C4.5 and three variants on 14 data sets.
C45 = """
0.763 0.768 0.771 0.798
0.599 0.591 0.590 0.569
0.954 0.971 0.968 0.967
0.628 0.661 0.654 0.657
0.882 0.888 0.886 0.898
0.936 0.931 0.916 0.931
0.661 0.668 0.609 0.685
0.583 0.583 0.563 0.625
0.775 0.838 0.866 0.875
1.000 1.000 1.000 1.000
0.940 0.962 0.965 0.962
0.619 0.666 0.614 0.669
0.972 0.981 0.9751 0.975
0.957 0.978 0.946 0.970
"""


def test_ranks_and_friedmans_test_of_demsars_example():
    table = np.array([line.split() for line in C45.strip().splitlines()], dtype=float)
    ranks = average_ranks(table, more_is_better=True)
    np.testing.assert_allclose(ranks, [3.143, 2.000, 2.893, 1.964], atol=1e-3)
    # His chi-square of 9.28 is not corrected for ties: three pairs (6 each) and four of a kind (60), of 14 * 60.
    assert friedman(table) == pytest.approx(stats.chi2.sf(9.28 / (1 - 78 / 840), 3), rel=1e-2)


def test_friedmans_test_is_scipys(rng):
    table = rng.random((12, 5))
    assert friedman(table) == stats.friedmanchisquare(*table.T).pvalue


def test_friedmans_test_where_there_is_nothing_to_test():
    assert math.isnan(friedman([[1, 2, 3]]))
    assert math.isnan(friedman([[1, 2], [2, 1]]))
    assert friedman([[1, 1, 1], [2, 2, 2]]) == 1


# --- pairwise comparisons


def test_pairwise_comparisons_count_problems_won_tied_and_lost():
    samples = {
        "won": {"A": HIGH, "B": LOW, "C": HIGH},
        "lost": {"A": LOW, "B": HIGH, "C": LOW},
        "tied": {"A": LOW, "B": LOW + 0.1, "C": LOW},
        "won again": {"A": HIGH + 1, "B": LOW, "C": HIGH + 1},
    }
    against_b, against_c = pairwise_comparisons(samples, "A", more_is_better=True)
    assert (against_b.first, against_b.second) == ("A", "B")
    assert (against_b.won, against_b.tied, against_b.lost) == (2, 1, 1)
    assert (against_c.second, against_c.won, against_c.tied, against_c.lost, against_c.p_value) == ("C", 0, 4, 0, 1)
    turned, _ = pairwise_comparisons(samples, "A", more_is_better=False)
    assert (turned.won, turned.tied, turned.lost) == (1, 1, 2)


def test_p_values_of_pairwise_comparisons_are_those_of_the_means_corrected_by_holm(rng):
    samples = {
        f"p{i}": {"A": rng.random(5) + 0.3, "B": rng.random(5), "C": rng.random(5) + 0.2, "D": rng.random(5) + 0.1}
        for i in range(12)
    }
    means = {label: [s[label].mean() for s in samples.values()] for label in "ABCD"}
    expected = naive_holm([stats.wilcoxon(means["A"], means[label]).pvalue for label in "BCD"])
    assert [pair.p_value for pair in pairwise_comparisons(samples, "A", more_is_better=True)] == pytest.approx(expected)


def test_pairwise_comparisons_leave_out_problems_that_one_side_did_not_run():
    samples = {"both": {"A": HIGH, "B": LOW}, "one": {"A": HIGH, "B": np.array([])}, "other": {"B": LOW}}
    (pair,) = pairwise_comparisons(samples, "A", more_is_better=True)
    assert pair.won + pair.tied + pair.lost == 1


def test_no_pairwise_comparisons_without_opponents():
    assert pairwise_comparisons({"p": {"A": LOW}}, "A", more_is_better=True) == []


def test_what_is_the_same_up_to_the_last_bit_ranks_the_same():
    """Means of equal runs differ by rounding, and ranks were told apart by it."""
    a, b = np.full(30, 0.1), np.full(7, 0.1)
    assert a.mean() != b.mean()
    assert rounded_mean(a) == rounded_mean(b)
    (pair,) = pairwise_comparisons({p: {"A": a, "B": b} for p in "pqrs"}, "A", more_is_better=True)
    assert (pair.tied, pair.p_value) == (4, 1.0)
