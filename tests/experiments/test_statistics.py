"""Statistics against hand examples, published numbers and SciPy called directly."""

import math

import numpy as np
import pytest

from pareto_nrpa.experiments.statistics import (
    compare_means,
    holm,
    mean_and_interval,
    outcome,
    pairwise,
    rounded_mean,
)

stats = pytest.importorskip("scipy.stats", reason="needs SciPy: pip install pareto-nrpa[experiments]")


def test_mean_and_interval_by_hand():
    """Deviations -1, 0, 1 have the variance 1 (divided by n - 1)."""
    assert mean_and_interval([1.0, 2.0, 3.0]) == (2, pytest.approx(1.96 / math.sqrt(3)))
    assert mean_and_interval([0.25]) == (0.25, 0.0)
    assert mean_and_interval([0.5] * 30) == (0.5, 0.0)
    assert all(math.isnan(x) for x in mean_and_interval([]))


def test_holm_by_hand():
    """In their order, p-values are multiplied by 4, 3, 2, 1, and may not decrease: 0.04, 0.06, 0.06, 0.04."""
    np.testing.assert_allclose(holm([0.01, 0.04, 0.03, 0.02]), [0.04, 0.06, 0.06, 0.06])
    np.testing.assert_allclose(holm([0.6, 0.7]), [1.0, 1.0])
    np.testing.assert_allclose(holm([0.03]), [0.03])
    assert holm([]).size == 0


# --- tests of two samples


LOW, HIGH = np.arange(10.0), np.arange(10.0) + 100


def test_outcome_depends_on_what_is_better():
    assert [outcome(HIGH, LOW, more_is_better=better) for better in (True, False)] == [1, -1]
    assert [outcome(LOW, HIGH, more_is_better=better) for better in (True, False)] == [-1, 1]
    assert outcome(LOW, LOW + 0.5, more_is_better=True) == 0
    assert outcome([5.0], [1.0], more_is_better=True) == 0  # one run proves nothing
    assert outcome([], [1.0], more_is_better=True) == 0


# --- over several problems

# Table 6: the AUC of C4.5 and three variants on 14 data sets.
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


def samples_of(table):
    """A run of each column on each row."""
    return {i: {k: np.array([float(x)]) for k, x in enumerate(row)} for i, row in enumerate(table)}


def test_ranks_and_tests_of_a_published_example():
    found = compare_means(samples_of([line.split() for line in C45.strip().splitlines()]), more_is_better=True)
    np.testing.assert_allclose(found.ranks, [3.143, 2.000, 2.893, 1.964], atol=1e-3)
    assert found.difference == pytest.approx(1.25, abs=0.01)
    assert found.best == "3"
    # The chi-square of 9.28 is not corrected for ties: three pairs (6 each) and four of a kind (60), of 14 * 60.
    assert found.friedman == pytest.approx(stats.chi2.sf(9.28 / (1 - 78 / 840), 3), rel=1e-2)
    turned = compare_means(samples_of([line.split() for line in C45.strip().splitlines()]), more_is_better=False)
    np.testing.assert_allclose(turned.ranks, 5 - found.ranks)


def test_pairs_count_problems_won_tied_and_lost():
    samples = {
        "won": {"A": HIGH, "B": LOW, "C": HIGH},
        "lost": {"A": LOW, "B": HIGH, "C": LOW},
        "tied": {"A": LOW, "B": LOW + 0.1, "C": LOW},
        "won again": {"A": HIGH + 1, "B": LOW, "C": HIGH + 1},
        "not run": {"A": HIGH, "B": LOW[:0], "C": HIGH},
    }
    found = pairwise(samples, "A", more_is_better=True)
    assert found.loc["B", ["won", "tied", "lost"]].tolist() == [2, 1, 1]
    assert found.loc["C"].tolist() == [0, 5, 0, 1]
    assert pairwise(samples, "A", more_is_better=False).loc["B", ["won", "tied", "lost"]].tolist() == [1, 1, 2]
    assert pairwise({"p": {"A": LOW}}, "A", more_is_better=True).empty


def test_what_is_the_same_up_to_the_last_bit_ranks_the_same():
    """Means of equal runs differ by rounding, and ranks were told apart by it."""
    a, b = np.full(30, 0.1), np.full(7, 0.1)
    assert a.mean() != b.mean()
    assert rounded_mean(a) == rounded_mean(b)
    found = pairwise({p: {"A": a, "B": b} for p in "pqrs"}, "A", more_is_better=True)
    assert found.loc["B", ["tied", "p"]].tolist() == [4, 1.0]
