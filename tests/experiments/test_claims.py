"""The page of claims: on nothing, on part of a plan, and on runs that agree or disagree with the paper."""

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest

from pareto_nrpa.experiments.box import Scale
from pareto_nrpa.experiments.claim_checks import ELSEWHERE, FAILED, HELD, PARTLY, UNKNOWN
from pareto_nrpa.experiments.claims import CLAIMS, judge
from pareto_nrpa.experiments.measure import Measured
from pareto_nrpa.experiments.plan import load_plan, plan_names
from pareto_nrpa.experiments.report import write_claims
from pareto_nrpa.experiments.rows import Row
from pareto_nrpa.result.reference import ReferenceFront

pytest.importorskip("scipy.stats", reason="needs scipy: pip install pareto-nrpa[report]")

SEEDS = range(8)


def runs_of(name, value, *, problems=None, labels=None, violations=lambda problem, label: 0.0):
    """All runs of a plan (or of a part of it), the hypervolume and spread of each from a function."""
    plan = load_plan(name)
    rows = [
        Row(p, c.label, seed, 1000, 0.1, 3, {"hypervolume": (share := value(p, c.label) + seed / 1e4),
            "spread": share, "spacing": 1.0, "violations": violations(p, c.label)})
        for p in plan.problems if problems is None or p in problems
        for c in plan.contenders if labels is None or c.label in labels
        for seed in SEEDS
    ]  # fmt: skip
    # Every run has found the one point of the true front, where one is asked for.
    point = np.ones((1, 2))
    found = [SimpleNamespace(feasible=point)]
    records = {p: {c.label: found for c in plan.contenders} for p in plan.problems}
    true = ReferenceFront.of(point, is_table=True, reference_point=2 * point[0])
    known = {p: true for p in plan.problems if p.startswith("nas-")}
    return Measured(plan, rows, records, dict.fromkeys(plan.problems, Scale(2 * point[0], 1.0)), known)


def claim(words):
    (found,) = [claim for claim in CLAIMS if words in claim.text]
    return found


def nrpa_leads(problem, label):
    return 0.9 if label.startswith("Pareto-NRPA") else 0.1


def nrpa_trails(problem, label):
    return 0.1 if label.startswith("Pareto-NRPA") else 0.9


def test_every_claim_belongs_to_a_plan():
    assert {claim.plan for claim in CLAIMS} <= set(plan_names())
    assert len({claim.text for claim in CLAIMS}) == len(CLAIMS)


@pytest.mark.parametrize("measured", [{}, {name: runs_of(name, nrpa_leads, problems=[]) for name in plan_names()}])
def test_without_runs_nothing_is_said(tmp_path, measured):
    page = write_claims(measured, tmp_path).read_text(encoding="utf-8")
    assert page.startswith("# ")
    lines = [line for line in page.splitlines() if line.startswith("| ")][1:]
    assert len(lines) == len(CLAIMS)
    assert all(f"**{UNKNOWN}** | no runs" in line for line in lines)


@pytest.mark.parametrize("name", sorted({claim.plan for claim in CLAIMS}))
@pytest.mark.parametrize("value", [nrpa_leads, nrpa_trails])
def test_with_all_runs_every_claim_of_a_plan_is_judged(name, value):
    for one in [claim for claim in CLAIMS if claim.plan == name]:
        verdict = judge(one, runs_of(name, value))
        assert verdict.word != UNKNOWN, one.text
        assert verdict.measured
        assert "nan" not in verdict.measured
        assert "|" not in verdict.measured  # would break the table


def test_the_main_claim_is_held_against_the_runs():
    wins = claim("greatly superior hypervolume on 22 of 31")
    assert judge(wins, runs_of("tsptw", nrpa_leads)).word == HELD
    assert "on 31 of 31 (significantly on 31)" in judge(wins, runs_of("tsptw", nrpa_leads)).measured
    assert judge(wins, runs_of("tsptw", nrpa_trails)).word == FAILED
    first = load_plan("tsptw").problems[:12]
    partly = judge(
        wins, runs_of("tsptw", lambda p, label: nrpa_leads(p, label) if p in first else nrpa_trails(p, label))
    )
    assert partly.word == PARTLY
    assert "on 12 of 31" in partly.measured


def test_equal_in_print_is_no_lead():
    wins = claim("greatly superior hypervolume on 22 of 31")
    level = runs_of("tsptw", lambda p, label: 0.502 if label == "Pareto-NRPA" else 0.499)
    assert "on 0 of 31" in judge(wins, level).measured


def feasible_in(share, on="rc_207.2"):
    """Violations of Pareto-NRPA: none in the first runs on an instance, and none anywhere else."""
    seeds = iter([])

    def violations(problem, label):
        nonlocal seeds
        if problem != on or label != "Pareto-NRPA":
            return 0.0
        seed = next(seeds, None)
        if seed is None:
            seeds = iter(SEEDS)
            seed = next(seeds)
        return 0.0 if seed < share * len(SEEDS) else 2.0

    return violations


@pytest.mark.parametrize("share, word", [(1.0, HELD), (0.875, PARTLY), (0.375, PARTLY), (0.0, FAILED)])
def test_runs_without_feasible_tour_count_against_that_it_never_fails(share, word):
    """37 % feasible runs on rc_207.2 were called "held"."""
    never = claim("fails on no instance")
    verdict = judge(never, runs_of("tsptw", nrpa_leads, violations=feasible_in(share)))
    assert verdict.word == word
    assert share == 1 or f"rc_207.2 {share:.0%}" in verdict.measured


def test_moeas_that_find_feasible_tours_refute_that_they_fail():
    fail = claim("MOEAs generally fail")
    assert judge(fail, runs_of("tsptw", nrpa_leads)).word == FAILED
    assert judge(fail, runs_of("tsptw", nrpa_leads, violations=lambda p, label: 1.0)).word == HELD


@pytest.mark.parametrize("name", sorted({claim.plan for claim in CLAIMS}))
def test_runs_of_one_algorithm_alone_decide_nothing_about_the_others(name):
    label = load_plan(name).contenders[0].label
    measured = runs_of(name, nrpa_leads, labels=[label])
    for one in [claim for claim in CLAIMS if claim.plan == name and "fails on no instance" not in claim.text]:
        verdict = judge(one, measured)
        alone = "MOEAs generally" in one.text or "equal time" in one.text
        assert verdict.word == UNKNOWN or alone, (one.text, verdict)
        assert "nan" not in verdict.measured


@pytest.mark.parametrize("part", [{"labels": ["PLS"]}, {"problems": ["rc_204.3"]}])
def test_that_pareto_nrpa_never_fails_is_not_known_without_its_runs(part):
    assert judge(claim("fails on no instance"), runs_of("tsptw", nrpa_leads, **part)).word == UNKNOWN


@pytest.mark.parametrize("name", sorted({claim.plan for claim in CLAIMS}))
def test_a_quick_version_is_not_held_against_the_paper(name):
    whole = runs_of(name, nrpa_leads)
    quick = Measured(
        whole.plan.restricted(problems=["mo-tsp:n=8"]),
        [Row("mo-tsp:n=8", c.label, 0, 9, 0.1, 1, {"hypervolume": 1.0}) for c in whole.plan.contenders],
        {},
        {},
    )
    assert {judge(one, quick).word for one in CLAIMS if one.plan == name} == {UNKNOWN}


def test_the_whole_true_front_is_asked_for():
    whole = claim("find the whole true front")
    measured = runs_of("nas-201", nrpa_leads)
    assert judge(whole, measured).word == HELD
    assert "of the 1 points, all runs together: NSGA-II 1, SMS-EMOA 1" in judge(whole, measured).measured
    assert judge(whole, replace(measured, known={})).word == UNKNOWN
    missed = {
        "nas-bench-201": {**measured.records["nas-bench-201"], "NSGA-II": [SimpleNamespace(feasible=np.zeros((1, 2)))]}
    }
    assert judge(whole, replace(measured, records=missed)).word == PARTLY


def test_architectures_by_hypervolume():
    ahead = claim("ahead of Pareto-NRPA by 0.01")
    assert judge(ahead, runs_of("nas-201", nrpa_trails)).word == HELD
    assert judge(ahead, runs_of("nas-201", nrpa_leads)).word == FAILED
    level = runs_of("nas-201", lambda p, label: 0.5 if label.startswith("Pareto-NRPA") else 0.501)
    assert judge(ahead, level).word == PARTLY


def test_a_surrogate_is_not_the_benchmark():
    """It was called "held" on NAS-Bench-101, whose numbers nobody had."""
    best = claim("best hypervolume and the widest spread")
    for value, there in ((nrpa_leads, "so it is"), (nrpa_trails, "not so")):
        verdict = judge(best, runs_of("nas-101", value))
        assert verdict.word == ELSEWHERE == "not measured on the benchmark"
        assert verdict.measured.startswith(f"on a surrogate {there}: hypervolume NSGA-II")
