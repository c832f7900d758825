"""What can be said of numbers from many runs: intervals, tests, ranks, and who wins how often."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

SIGNIFICANCE = 0.05
_NORMAL_95 = 1.96  # as in the paper


def _scipy_stats() -> Any:
    try:
        from scipy import stats
    except ImportError as error:
        raise ImportError('statistics need scipy; install it with: pip install "pareto-nrpa[report]".') from error
    return stats


def mean_and_interval(values: ArrayLike) -> tuple[float, float]:
    """Return mean and half-width of the 95 % confidence interval, 1.96 s / sqrt(n) as in the paper; NaN for none."""
    array = np.asarray(values, dtype=float)
    if array.size == 0:
        return math.nan, math.nan
    with np.errstate(over="ignore", invalid="ignore"):  # of objectives near the largest number there is
        deviation = float(array.std(ddof=1)) if array.size > 1 else 0.0
    return float(array.mean()), _NORMAL_95 * deviation / math.sqrt(array.size)


def rounded_mean(values: NDArray[np.float64]) -> float:
    """Return the mean in steps of 1e-9: algorithms that found the same must not rank apart by the last bit."""
    return round(float(values.mean()), 9)


def holm(p_values: ArrayLike) -> NDArray[np.float64]:
    """Return p-values adjusted for testing several hypotheses at once (Holm 1979)."""
    p = np.asarray(p_values, dtype=float)
    order = np.argsort(p, kind="stable")
    factors = len(p) - np.arange(len(p))
    adjusted = np.empty_like(p)
    adjusted[order] = np.minimum(1.0, np.maximum.accumulate(p[order] * factors))
    return adjusted


def signed_rank(a: ArrayLike, b: ArrayLike) -> float:
    """Return the p-value of Wilcoxon's signed-rank test of paired values; 1 where all pairs are equal."""
    first, second = np.asarray(a, dtype=float), np.asarray(b, dtype=float)
    if len(first) == 0 or np.array_equal(first, second):
        return 1.0
    return float(_scipy_stats().wilcoxon(first, second, zero_method="pratt").pvalue)


def rank_sum(a: ArrayLike, b: ArrayLike) -> float:
    """Return the p-value of the Mann-Whitney test of two independent samples; 1 where all values are equal."""
    first, second = np.asarray(a, dtype=float), np.asarray(b, dtype=float)
    together = np.concatenate([first, second])
    if len(first) == 0 or len(second) == 0 or (together == together[0]).all():
        return 1.0
    return float(_scipy_stats().mannwhitneyu(first, second, alternative="two-sided").pvalue)


def exact_rank_sum(a: ArrayLike, b: ArrayLike) -> float:
    """Return the p-value of the Mann-Whitney test, ties and all, by counting the ways to split the values in two."""
    first, together = np.asarray(a, dtype=float), np.concatenate([a, b]).astype(float)
    _, places, counts = np.unique(together, return_inverse=True, return_counts=True)
    ranks = (2 * np.cumsum(counts) - counts + 1)[places]  # twice the mean rank, a whole number
    ways = np.zeros((len(first) + 1, int(ranks.sum()) + 1))  # [how many were taken, the sum of their ranks]
    ways[0, 0] = 1.0
    for rank in ranks:
        ways[1:, rank:] += ways[:-1, :-rank]
    distances = np.abs(np.arange(ways.shape[1]) - len(first) * ranks.mean())
    as_far = distances >= distances[int(ranks[: len(first)].sum())] - 1e-9
    return float(ways[-1, as_far].sum() / ways[-1].sum())


def average_ranks(table: ArrayLike, *, more_is_better: bool) -> NDArray[np.float64]:
    """Return the mean rank of each column over the rows of a table, 1 for the best; equal values share their ranks."""
    values = np.asarray(table, dtype=float)
    ranks = _scipy_stats().rankdata(-values if more_is_better else values, axis=1)
    averaged: NDArray[np.float64] = ranks.mean(axis=0)
    return averaged


def friedman(table: ArrayLike) -> float:
    """Return the p-value of Friedman's test that all columns rank alike; NaN with too few rows or columns."""
    values = np.asarray(table, dtype=float)
    if values.shape[0] < 2 or values.shape[1] < 3:
        return math.nan
    if (values == values[:, :1]).all():
        return 1.0
    return float(_scipy_stats().friedmanchisquare(*values.T).pvalue)


def critical_difference(n_columns: int, n_rows: int) -> float:
    """Return by how much average ranks must differ to be told apart (Nemenyi; Demšar 2006), at 5 %."""
    quantile = float(_scipy_stats().studentized_range.ppf(1 - SIGNIFICANCE, n_columns, np.inf))
    return quantile / math.sqrt(2) * math.sqrt(n_columns * (n_columns + 1) / (6 * n_rows))


@dataclass(frozen=True)
class PairwiseComparison:
    """One algorithm against another over all problems."""

    first: str
    second: str
    won: int
    tied: int
    lost: int
    p_value: float  # Wilcoxon's signed-rank test of the means over problems, Holm-corrected within the table


def outcome(a: ArrayLike, b: ArrayLike, *, more_is_better: bool) -> int:
    """Return 1 if a sample is significantly better than another (Mann-Whitney, 5 %), -1 if worse, else 0."""
    if rank_sum(a, b) >= SIGNIFICANCE:
        return 0
    # By ranks, as the test: a single run that found nothing moves the mean, not the verdict.
    first, second = np.asarray(a, dtype=float)[:, None], np.asarray(b, dtype=float)[None, :]
    ahead = int((first > second).sum()) - int((first < second).sum())
    return int(np.sign(ahead if more_is_better else -ahead))


def pairwise_comparisons(
    samples: dict[str, dict[str, NDArray[np.float64]]], reference: str, *, more_is_better: bool
) -> list[PairwiseComparison]:
    """Compare the reference with every other algorithm.

    Parameters
    ----------
    samples
        By problem, then by algorithm, the values of all runs; problems where either has none are left out.
    """
    labels = list(dict.fromkeys(label for by_label in samples.values() for label in by_label))
    found = []
    for label in labels:
        if label == reference:
            continue
        both = [s for s in samples.values() if len(s.get(reference, ())) and len(s.get(label, ()))]
        pairs = [(s[reference], s[label]) for s in both]
        results = [outcome(a, b, more_is_better=more_is_better) for a, b in pairs]
        means = np.array([(rounded_mean(a), rounded_mean(b)) for a, b in pairs]).reshape(-1, 2)
        p_value = signed_rank(means[:, 0], means[:, 1])
        counts = results.count(1), results.count(0), results.count(-1)
        found.append(PairwiseComparison(reference, label, *counts, p_value))
    adjusted = holm([pair.p_value for pair in found])
    return [replace(pair, p_value=float(p)) for pair, p in zip(found, adjusted, strict=True)]
