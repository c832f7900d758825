"""How claims of the paper are held against stored runs: a function for each kind of claim."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from ..metrics import n_found
from .statistics import outcome

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from numpy.typing import NDArray

    from .measure import Measured

HELD, PARTLY, FAILED, UNKNOWN = "held", "held in part", "did not hold", "not measured"
ELSEWHERE = "not measured on the benchmark"  # but on something that stands in for it
NRPA = "Pareto-NRPA"
MOEAS = ("NSGA-II", "SMS-EMOA", "MOEA/D")
N_EASY = 10
# Below this a normalised hypervolume is printed as 0.00.
_NOTHING = 0.005


@dataclass(frozen=True)
class Verdict:
    """What our runs say about a claim."""

    word: str
    measured: str


class MissingRunsError(Exception):
    """Runs that a claim needs are not there."""


def _values(measured: Measured, problem: str, label: str, metric: str = "hypervolume") -> NDArray[np.float64]:
    values = measured.values(problem, label, metric)
    if len(values) == 0:
        raise MissingRunsError(f"{label} on {problem}")
    return values


def _mean(measured: Measured, problem: str, label: str, metric: str = "hypervolume") -> float:
    return float(_values(measured, problem, label, metric).mean())


def _feasible_share(measured: Measured, problem: str, label: str) -> float:
    return float((_values(measured, problem, label, "violations") == 0).mean())


def _labels(measured: Measured, *, without: Iterable[str] = ()) -> list[str]:
    return [c.label for c in measured.plan.contenders if c.label not in set(without)]


def _leads(measured: Measured, problem: str, label: str, others: Iterable[str], metric: str = "hypervolume") -> bool:
    """Tell whether a mean is the largest in print, alone."""
    own = round(_mean(measured, problem, label, metric), 2)
    return all(own > round(_mean(measured, problem, other, metric), 2) for other in others)


def _n_leads(measured: Measured, problems: Iterable[str], others: Iterable[str]) -> int:
    """Return on how many problems Pareto-NRPA leads."""
    rivals = list(others)
    return sum(_leads(measured, p, NRPA, rivals) for p in problems)


def _best(measured: Measured, problem: str) -> str:
    """Return the label with the best mean."""
    return max(_labels(measured), key=lambda label: _mean(measured, problem, label))


def _all_means(measured: Measured, problem: str) -> str:
    return ", ".join(f"{label} {_mean(measured, problem, label):.2f}" for label in _labels(measured))


def _significantly_leads(measured: Measured, problem: str, label: str, others: Iterable[str]) -> bool:
    own = _values(measured, problem, label)
    return all(outcome(own, _values(measured, problem, other), more_is_better=True) > 0 for other in others)


def _by_count(found: int, expected: int, text: str) -> Verdict:
    """Judge a count: held from the paper's on (two less is noise), in part from half of it on."""
    word = HELD if found >= expected - 2 else PARTLY if found >= expected / 2 else FAILED
    return Verdict(word, text)


def _all_or_some(found: int, expected: int) -> str:
    return HELD if found == expected else PARTLY if found else FAILED


def wins(measured: Measured) -> Verdict:
    """Judge on how many instances Pareto-NRPA is alone in the lead."""
    problems, others = measured.plan.problems, _labels(measured, without=[NRPA])
    leads = _n_leads(measured, problems, others)
    sure = sum(_significantly_leads(measured, p, NRPA, others) for p in problems)
    best = [_best(measured, p) for p in problems if not _leads(measured, p, NRPA, others)]
    by = {label: best.count(label) for label in others if label in best}
    led = ", ".join(f"{label} {count}" for label, count in by.items()) or "none"
    text = (
        f"alone in the lead on {leads} of {len(problems)} (significantly on {sure}); "
        f"of the others the best mean belongs to: {led}"
    )
    return _by_count(leads, 22, text)


def wins_over_moeas(measured: Measured) -> Verdict:
    """Judge on how many instances it is ahead of all MOEAs."""
    problems = measured.plan.problems
    leads = _n_leads(measured, problems, MOEAS)
    return _by_count(leads, 22, f"ahead of all three MOEAs on {leads} of {len(problems)}")


def moeas_lead_on_easy(measured: Measured) -> Verdict:
    """Judge on how many of the easy instances a MOEA is level with it or ahead."""
    problems = measured.plan.problems[:N_EASY]
    level = [p for p in problems if not _leads(measured, p, NRPA, MOEAS)]
    ahead = [p for p in level if any(_leads(measured, p, label, [NRPA]) for label in MOEAS)]
    text = f"a MOEA is level with or ahead of Pareto-NRPA on {len(level)} of {len(problems)}, ahead on {len(ahead)}"
    return _by_count(len(level), 8, text)


def wins_on_hard(measured: Measured) -> Verdict:
    """Judge on how many of the other instances it is alone in the lead."""
    problems, others = measured.plan.problems[N_EASY:], _labels(measured, without=[NRPA])
    leads = _n_leads(measured, problems, others)
    moeas = _n_leads(measured, problems, MOEAS)
    text = f"alone in the lead on {leads} of {len(problems)}; ahead of all three MOEAs on {moeas}"
    return _by_count(leads, 20, text)


def never_fails(measured: Measured) -> Verdict:
    """Judge whether its runs end with a feasible tour, on all instances."""
    problems = measured.plan.problems
    shares = {p: _feasible_share(measured, p, NRPA) for p in problems}
    always = sum(share == 1 for share in shares.values())
    rest = ", ".join(f"{p} {share:.0%}" for p, share in shares.items() if share < 1)
    text = f"feasible in every run on {always} of {len(problems)} instances" + (
        f"; feasible runs: {rest}" if rest else ""
    )
    # A run is what a user makes: an instance on which most end without a tour is no success, but no failure either.
    return Verdict(HELD if always == len(problems) else PARTLY if min(shares.values()) > 0 else FAILED, text)


def mcts_is_poor(measured: Measured) -> Verdict:
    """Judge on how many of the harder instances Pareto-MCTS has nothing to show."""
    problems = measured.plan.problems[N_EASY:]
    nothing = sum(_mean(measured, p, "Pareto-MCTS") < _NOTHING for p in problems)
    paper = 19
    return _by_count(nothing, paper, f"hypervolume 0.00 on {nothing} of the {len(problems)} harder instances")


def pls_is_poor(measured: Measured) -> Verdict:
    """Judge on how many of the harder instances PLS has next to nothing to show."""
    problems = measured.plan.problems[N_EASY:]
    poor = sum(_mean(measured, p, "PLS") < 0.1 for p in problems)
    better = [p for p in measured.plan.problems if _leads(measured, p, "PLS", [NRPA])]
    text = (
        f"hypervolume below 0.10 on {poor} of the {len(problems)} harder instances; "
        f"PLS is ahead of Pareto-NRPA on {len(better)} of {len(measured.plan.problems)}"
    )
    return _by_count(poor, 19, text)


def moeas_fail_on_hard(measured: Measured) -> Verdict:
    """Judge whether most runs of every MOEA end without a feasible tour on the harder instances."""
    problems = measured.plan.problems[N_EASY:]
    shares = {label: float(np.mean([_feasible_share(measured, p, label) for p in problems])) for label in MOEAS}
    text = ", ".join(f"{label} {share:.0%}" for label, share in shares.items())
    text = f"runs on the {len(problems)} harder instances that end with a feasible tour: {text}"
    return Verdict(HELD if max(shares.values()) < 0.5 else FAILED, text)


def easy_instance(measured: Measured) -> Verdict:
    """Judge the order on rc_204.3."""
    return _order(measured, "rc_204.3", ["NSGA-II", "SMS-EMOA"], NRPA)


def hard_instances(measured: Measured) -> Verdict:
    """Judge who leads on rc_201.3 and rc_204.1."""
    problems, others = ("rc_201.3", "rc_204.1"), _labels(measured, without=[NRPA])
    leads = _n_leads(measured, problems, others)
    best = {p: _best(measured, p) for p in problems}
    text = "; ".join(
        f"{p}: {NRPA} {_mean(measured, p, NRPA):.2f}, best {best[p]} {_mean(measured, p, best[p]):.2f}"
        for p in problems
    )
    return Verdict(_all_or_some(leads, len(problems)), text)


def _order(measured: Measured, problem: str, better: list[str], worse: str, metric: str = "hypervolume") -> Verdict:
    means = {label: _mean(measured, problem, label, metric) for label in [*better, worse]}
    wins = [label for label in better if means[label] > means[worse]]
    text = f"{problem}: " + ", ".join(f"{label} {mean:.2f}" for label, mean in means.items())
    return Verdict(_all_or_some(len(wins), len(better)), text)


def spread_by_crowding(measured: Measured) -> Verdict:
    """Judge on how many instances crowding weights widen the spread."""
    without = "Pareto-NRPA (no crowding)"
    problems = measured.plan.problems
    pairs = [(_values(measured, p, NRPA, "spread"), _values(measured, p, without, "spread")) for p in problems]
    wider = sum(a.mean() > b.mean() for a, b in pairs)
    results = [outcome(a, b, more_is_better=True) for a, b in pairs]
    sure, less = results.count(1), results.count(-1)
    text = f"wider on {wider} of {len(problems)}, significantly on {sure}; significantly narrower on {less}"
    return _by_count(wider, 25, text)


def one_or_all(measured: Measured) -> Verdict:
    """Judge whether adapting to all sequences is better than adapting to one, by hypervolume and by spread."""
    one = "Pareto-NRPA (one sequence)"
    texts, better = [], 0
    for metric in ("hypervolume", "spread"):
        a, b = _mean(measured, "rc_204.3", NRPA, metric), _mean(measured, "rc_204.3", one, metric)
        better += a > b
        texts.append(f"{metric} {a:.2f} (all) against {b:.2f} (one)")
    return Verdict([FAILED, PARTLY, HELD][better], ", ".join(texts))


def bias_helps(label: str, expected: int) -> Callable[[Measured], Verdict]:
    """Return the check that a bias in its sampling does not harm an algorithm on so many instances."""

    def check(measured: Measured) -> Verdict:
        problems = measured.plan.problems
        pairs = [(_mean(measured, p, label), _mean(measured, p, f"{label} (no bias)")) for p in problems]
        level = sum(round(a, 2) >= round(b, 2) for a, b in pairs)
        more = sum(round(a, 2) > round(b, 2) for a, b in pairs)
        text = f"equal or higher on {level} of {len(problems)}, higher on {more}"
        return _by_count(level, expected, text)

    return check


def best_of_grid(measured: Measured) -> Verdict:
    """Judge whether the chosen parameters are within 0.02 of the best."""
    (problem,) = measured.plan.problems
    means = {label: _mean(measured, problem, label) for label in _labels(measured)}
    best = max(means, key=lambda label: means[label])
    chosen = measured.plan.reference
    text = f"chosen {means[chosen]:.2f}; best {best.removeprefix('Pareto-NRPA ')} with {means[best]:.2f}"
    close = means[chosen] >= means[best] - 0.02
    return Verdict(HELD if close else FAILED, text)


def level_4(measured: Measured) -> Verdict:
    """Judge the order of levels on rc_205.2."""
    return _order(measured, "rc_205.2", ["Pareto-NRPA (level 4)"], "Pareto-NRPA (level 3)")


def mo_tsp(measured: Measured) -> Verdict:
    """Judge whether Pareto-NRPA leads where there are no windows."""
    problems, others = measured.plan.problems, _labels(measured, without=[NRPA])
    leads = _n_leads(measured, problems, others)
    text = "; ".join(f"{p}: {_all_means(measured, p)}" for p in problems)
    return Verdict(_all_or_some(leads, len(problems)), text)


def leads_at_equal_time(problem: str, label: str) -> Callable[[Measured], Verdict]:
    """Return the check that an algorithm leads on a problem at equal time."""

    def check(measured: Measured) -> Verdict:
        leads = _leads(measured, problem, label, _labels(measured, without=[label]))
        text = f"{measured.plan.cpu_seconds:g} s instead of 240: {_all_means(measured, problem)}"
        return Verdict(HELD if leads else FAILED, text)

    return check


def few_evaluations(measured: Measured) -> Verdict:
    """Judge whether Pareto-NRPA is as slow as in the paper, within a factor of 100."""
    counts = [r.evaluations for r in measured.rows if r.problem == "rc_204.1" and r.algorithm == NRPA and not r.error]
    if not counts:
        raise MissingRunsError("Pareto-NRPA on rc_204.1")
    seconds = measured.plan.cpu_seconds
    text = f"{np.mean(counts):,.0f} evaluations in {seconds:g} s of CPU time (the paper: 1,600 in 240 s)"
    return Verdict(FAILED if np.mean(counts) > 100 * 1_600 else HELD, text)


_ON_201, _ON_101 = "nas-bench-201", "nas-bench-101-surrogate"
_OF_THE_PAPER = ("NSGA-II", "SMS-EMOA", "Pareto-MCTS", NRPA)


def all_find_the_front(measured: Measured) -> Verdict:
    """Judge whether the runs of each algorithm together found all of the true front."""
    known = measured.known.get(_ON_201)
    if known is None:
        raise MissingRunsError(f"a table of {_ON_201}, whose true front must be known")
    found = {}
    for label in _OF_THE_PAPER:
        _values(measured, _ON_201, label)
        if not measured.records[_ON_201].get(label):
            raise MissingRunsError(f"{label} on {_ON_201} with their fronts")
        points = np.vstack([record.feasible for record in measured.records[_ON_201][label]])
        found[label] = n_found(points, known.front)
    word = HELD if min(found.values()) == len(known.front) else PARTLY if max(found.values()) > 0 else FAILED
    text = ", ".join(f"{label} {n}" for label, n in found.items())
    return Verdict(word, f"of the {len(known.front)} points, all runs together: {text}")


def moeas_lead_on_201(measured: Measured) -> Verdict:
    """Judge whether both MOEAs are ahead of Pareto-NRPA in print."""
    others = ("NSGA-II", "SMS-EMOA")
    leads = sum(_leads(measured, _ON_201, label, [NRPA]) for label in others)
    level = all(_mean(measured, _ON_201, label) > _mean(measured, _ON_201, NRPA) for label in others)
    text = ", ".join(f"{label} {_mean(measured, _ON_201, label):.3f}" for label in _OF_THE_PAPER)
    return Verdict(HELD if leads == 2 else PARTLY if leads or level else FAILED, text)


def leads_on_101(measured: Measured) -> Verdict:
    """Say who leads on the surrogate of NAS-Bench-101; the benchmark itself was not measured."""
    others = [label for label in _OF_THE_PAPER if label != NRPA]
    words, leads = [], []
    for metric in ("hypervolume", "spread"):
        means = {label: _mean(measured, _ON_101, label, metric) for label in _OF_THE_PAPER}
        leads.append(all(means[NRPA] > means[label] for label in others))
        words.append(f"{metric} " + ", ".join(f"{label} {mean:.3f}" for label, mean in means.items()))
    there = "so it is" if all(leads) else "in part" if any(leads) else "not so"
    return Verdict(ELSEWHERE, f"on a surrogate {there}: {'; '.join(words)}")


def pruning_explains(measured: Measured) -> Verdict:
    """Say what the pruning of moves is worth, to Pareto-NRPA and to the others."""
    problems = measured.plan.problems
    without = "Pareto-NRPA (no pruning)"
    feasible = [p for p in problems if _feasible_share(measured, p, without) > 0]
    leads = _n_leads(measured, problems, _labels(measured, without=[NRPA, without]))
    text = (
        f"without pruning Pareto-NRPA itself finds feasible tours on {len(feasible)} of {len(problems)} instances; "
        f"with the same moves for all it is alone in the lead on {leads}"
    )
    return Verdict("our finding", text)
