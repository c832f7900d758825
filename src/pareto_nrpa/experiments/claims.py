"""The claims of the paper, one by one, each with the plan that tests it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from . import claim_checks as check
from .claim_checks import NRPA, UNKNOWN, MissingRunsError, Verdict
from .plan import load_plan

if TYPE_CHECKING:
    from collections.abc import Callable

    from .measure import Measured


@dataclass(frozen=True)
class Claim:
    """A statement of the paper, the plan that tests it, and how."""

    text: str
    where: str
    plan: str
    check: Callable[[Measured], Verdict]


def judge(claim: Claim, measured: Measured | None) -> Verdict:
    """Return the verdict on a claim; without the runs it takes, that they are not there."""
    if measured is None or not measured.rows:
        return Verdict(UNKNOWN, "no runs")
    whole = load_plan(claim.plan)
    if (measured.plan.problems, measured.plan.evaluations) != (whole.problems, whole.evaluations):
        return Verdict(UNKNOWN, "only a smaller version of the plan was run")
    try:
        return claim.check(measured)
    except MissingRunsError as missing:
        return Verdict(UNKNOWN, f"no runs of {missing}")


CLAIMS: tuple[Claim, ...] = (
    Claim("Pareto-NRPA has a greatly superior hypervolume on 22 of 31 instances.", "Table 4", "tsptw", check.wins),
    Claim("The same, against the MOEAs alone.", "Table 4", "tsptw", check.wins_over_moeas),
    Claim(
        "MOEAs match or slightly outperform it on 8 of the 10 easiest instances.",
        "Section 4",
        "tsptw",
        check.moeas_lead_on_easy,
    ),
    Claim("It is the best on 20 of the 21 hardest instances.", "Section 4", "tsptw", check.wins_on_hard),
    Claim("Pareto-NRPA fails on no instance.", "Section 4", "tsptw", check.never_fails),
    Claim(
        "MOEAs generally fail to find a feasible tour on harder instances.",
        "Section 4",
        "tsptw",
        check.moeas_fail_on_hard,
    ),
    Claim("Pareto-MCTS performs poorly on most hard instances.", "Section 4", "tsptw", check.mcts_is_poor),
    Claim("PLS does not yield good results at 100,000 evaluations.", "Section 4", "tsptw", check.pls_is_poor),
    Claim("On rc_204.3 NSGA-II and SMS-EMOA are slightly better.", "Table 1", "tsptw", check.easy_instance),
    Claim("On rc_201.3 and rc_204.1 Pareto-NRPA is the best.", "Tables 2 and 3", "tsptw", check.hard_instances),
    Claim(
        "Crowding weights widen the spread (25 of 31 instances in the paper's table).",
        "supplement",
        "crowding",
        check.spread_by_crowding,
    ),
    Claim("Adapting to all sequences beats adapting to one.", "supplement", "adapt", check.one_or_all),
    *(
        Claim(
            f"A bias in its sampling gives {label} an equal or higher hypervolume on {count} of 31.",
            "supplement",
            "emoa-bias",
            check.bias_helps(label, count),
        )
        for label, count in (("NSGA-II", 23), ("SMS-EMOA", 25))
    ),
    Claim("Four policies and alpha 0.5 are (among) the best on rc_205.2.", "supplement", "grid", check.best_of_grid),
    Claim("Level 4 is better than level 3 on rc_205.2.", "supplement", "level", check.level_4),
    Claim(
        "Pareto-NRPA has the best hypervolume on MO-TSP with 50 and 100 cities.", "supplement", "mo-tsp", check.mo_tsp
    ),
    *(
        Claim(
            f"At equal time {label} is the best on {problem}.",
            "supplement",
            "equal-time",
            check.leads_at_equal_time(problem, label),
        )
        for problem, label in (("rc_204.3", "PLS"), ("rc_201.3", NRPA), ("rc_204.1", "SMS-EMOA"))
    ),
    Claim(
        "Pareto-NRPA makes few evaluations in the time given on rc_204.1.",
        "supplement",
        "equal-time",
        check.few_evaluations,
    ),
    Claim(
        "On NAS-Bench-201 all algorithms find the whole true front in 30 runs.",
        "Section 4",
        "nas-201",
        check.all_find_the_front,
    ),
    Claim(
        "On NAS-Bench-201 NSGA-II and SMS-EMOA are ahead of Pareto-NRPA by 0.01.",
        "Section 4",
        "nas-201",
        check.moeas_lead_on_201,
    ),
    Claim(
        "On NAS-Bench-101 Pareto-NRPA has the best hypervolume and the widest spread.",
        "Section 4",
        "nas-101",
        check.leads_on_101,
    ),
    Claim("(not in the paper) What the pruning of moves is worth.", "ours", "same-moves", check.pruning_explains),
)
