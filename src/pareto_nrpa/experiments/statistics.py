"""Statistics of many runs: intervals, tests, ranks, and numbers of problems won and lost."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from .measure import library

if TYPE_CHECKING:
    from collections.abc import Mapping

    import pandas as pd
    from numpy.typing import ArrayLike, NDArray

SIGNIFICANCE = 0.05
_NORMAL_95 = 1.96  # as in the paper
_MOST_SPLITS = 200_000  # of two samples, for an exact test


def mean_and_interval(values: ArrayLike) -> tuple[float, float]:
    """Return mean and half-width of the 95 % confidence interval, 1.96 s / sqrt(n) as in the paper; NaN for none."""
    array = np.asarray(values, dtype=float)
    if array.size == 0:
        return math.nan, math.nan
    deviation = float(array.std(ddof=1)) if array.size > 1 else 0.0
    return float(array.mean()), _NORMAL_95 * deviation / math.sqrt(array.size)


def rounded_mean(values: NDArray[np.float64]) -> float:
    """Return the mean in steps of 1e-9: equal results must not rank apart by the last bit."""
    return round(float(values.mean()), 9)


def holm(p_values: ArrayLike) -> NDArray[np.float64]:
    """Return p-values adjusted for testing several hypotheses at once (Holm 1979)."""
    p = np.asarray(p_values, dtype=float)
    order = np.argsort(p, kind="stable")
    adjusted = np.empty_like(p)
    adjusted[order] = np.minimum(1.0, np.maximum.accumulate(p[order] * (len(p) - np.arange(len(p)))))
    return adjusted


def signed_rank(a: ArrayLike, b: ArrayLike) -> float:
    """Return the p-value of Wilcoxon's signed-rank test of paired values; 1 where all pairs are equal."""
    first, second = np.asarray(a, dtype=float), np.asarray(b, dtype=float)
    if len(first) == 0 or np.array_equal(first, second):
        return 1.0
    return float(library("scipy.stats").wilcoxon(first, second, zero_method="pratt").pvalue)


def rank_sum(a: ArrayLike, b: ArrayLike, *, exact: bool = False) -> float:
    """Return the p-value of the Mann-Whitney test of two independent samples; 1 where all values are equal.

    Parameters
    ----------
    exact
        Enumerate all splits of the values, ties included, unless there are too many.
    """
    first, second = np.asarray(a, dtype=float), np.asarray(b, dtype=float)
    together = np.concatenate([first, second])
    if len(first) == 0 or len(second) == 0 or (together == together[0]).all():
        return 1.0
    stats = library("scipy.stats")
    is_small = exact and min(len(first), len(second)) > 1 and math.comb(len(together), len(first)) <= _MOST_SPLITS
    method = stats.PermutationMethod(n_resamples=_MOST_SPLITS) if is_small else "auto"
    return float(stats.mannwhitneyu(first, second, alternative="two-sided", method=method).pvalue)


def outcome(a: ArrayLike, b: ArrayLike, *, more_is_better: bool) -> int:
    """Return 1 if a sample is significantly better than another (Mann-Whitney, 5 %), -1 if worse, else 0."""
    if rank_sum(a, b) >= SIGNIFICANCE:
        return 0
    # By ranks, as the test: a single run that found nothing changes the mean, not the result.
    first, second = np.asarray(a, dtype=float)[:, None], np.asarray(b, dtype=float)[None, :]
    ahead = int((first > second).sum()) - int((first < second).sum())
    return int(np.sign(ahead if more_is_better else -ahead))


@dataclass(frozen=True, eq=False)
class MetricComparison:
    """All algorithms compared by a metric, over the problems that every algorithm has runs on."""

    means: pd.DataFrame  # a row per problem, a column per label
    ranks: pd.Series[float]  # average rank of each label, 1 for the best; equal values share their ranks
    friedman: float  # p-value of Friedman's test that all rank alike; NaN with too few labels
    difference: float  # critical difference of average ranks at 5 % (Nemenyi; Demšar 2006)

    @property
    def best(self) -> str:
        """The label with the best average rank."""
        return str(self.ranks.idxmin())


def compare_means(
    samples: Mapping[str, Mapping[str, NDArray[np.float64]]], *, more_is_better: bool
) -> MetricComparison | None:
    """Compare algorithms by their mean on each problem; None with too few of either.

    Parameters
    ----------
    samples
        By problem, then by label, the values of all runs; problems without a value for some algorithm are left out.
    """
    complete = {problem: runs for problem, runs in samples.items() if all(map(len, runs.values()))}
    table = {problem: {label: rounded_mean(v) for label, v in runs.items()} for problem, runs in complete.items()}
    means = library("pandas").DataFrame.from_dict(table, orient="index")
    n, k = means.shape
    if n < 2 or k < 2:
        return None
    stats = library("scipy.stats")
    friedman = math.nan
    if k > 2:
        alike = bool(means.eq(means.iloc[:, 0], axis=0).all(axis=None))
        friedman = 1.0 if alike else float(stats.friedmanchisquare(*means.to_numpy().T).pvalue)
    quantile = float(stats.studentized_range.ppf(1 - SIGNIFICANCE, k, np.inf))
    difference = quantile / math.sqrt(2) * math.sqrt(k * (k + 1) / (6 * n))
    return MetricComparison(means, means.rank(axis=1, ascending=not more_is_better).mean(), friedman, difference)


def pairwise(
    samples: Mapping[str, Mapping[str, NDArray[np.float64]]], reference: str, *, more_is_better: bool
) -> pd.DataFrame:
    """Compare a reference with every other label: problems won, tied and lost, and a p-value over their means.

    The p-value is that of Wilcoxon's signed-rank test, Holm-corrected.
    """
    rows = {}
    for label in dict.fromkeys(label for runs in samples.values() for label in runs if label != reference):
        both = [(runs[reference], runs[label]) for runs in samples.values()]
        pairs = [(a, b) for a, b in both if len(a) and len(b)]
        results = [outcome(a, b, more_is_better=more_is_better) for a, b in pairs]
        means = np.array([(rounded_mean(a), rounded_mean(b)) for a, b in pairs]).reshape(-1, 2)
        counts = results.count(1), results.count(0), results.count(-1)
        rows[label] = (*counts, signed_rank(means[:, 0], means[:, 1]))
    frame: pd.DataFrame = library("pandas").DataFrame.from_dict(
        rows, orient="index", columns=["won", "tied", "lost", "p"]
    )
    return frame.assign(p=holm(frame["p"]))
