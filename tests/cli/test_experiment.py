"""The experiment commands and the algorithms of `solve`, called in this process where possible."""

import re
import shutil

import numpy as np
import pytest

from pareto_nrpa.experiments.plan import load_plan, plan_names
from pareto_nrpa.experiments.runner import run_missing
from pareto_nrpa.experiments.runs import RunStore

from ..experiments.helpers import OTHER, TINY, TSPTW, found_in, journals, n_lines, save, stored
from ..helpers.command_line import assert_refused


@pytest.fixture(autouse=True)
def tiny_plan(empty_machine):
    """The tiny plan in the folder to work in."""
    save(empty_machine, TINY)


@pytest.fixture(scope="module")
def finished(tmp_path_factory):
    """The runs of the tiny plan."""
    folder = tmp_path_factory.mktemp("finished")
    run_missing(load_plan(save(folder, TINY)).runs(), RunStore(folder / "results", "tiny"))
    return folder / "results"


@pytest.fixture
def results(finished, empty_machine):
    """A copy of the finished runs, where the commands look for them."""
    return shutil.copytree(finished, empty_machine / "results")


def test_the_list_of_plans_and_help(run):
    outcome = run("experiment", "list")
    assert (outcome.code, outcome.err) == (0, "")
    assert [line.split()[0] for line in outcome.out.splitlines()] == plan_names()
    assert re.search(r"tsptw +31 x 6 x 30 runs +MO-TSPTW", outcome.out)
    assert all(word in run("experiment", "--help").out for word in ("run", "table", "figure", "reproduce", "list"))
    options = "seeds jobs dask shard only problem evaluations cpu-seconds quick retry-failed results data quiet"
    out = run("experiment", "run", "--help").out
    assert [word for word in options.split() if f"--{word}" not in out] == []


# --- run


def test_parts_of_a_plan(run, empty_machine):
    part = ("experiment", "run", "tiny.toml", "--problem", OTHER, "--quiet")
    outcome = run(*part, "--only", "PLS", "--evaluations", 50)
    assert (outcome.code, outcome.out, outcome.err) == (0, "", "")
    made = RunStore(empty_machine / "results").runs_on(OTHER)
    assert {(r.algorithm, r.evaluations, r.seed) for r in made} == {("pls", 50, 0), ("pls", 50, 1)}
    assert run(*part, "--only", "Random", "--seeds", 1, "--cpu-seconds", 0.05, "--results", "timed").code == 0
    (content,) = found_in(empty_machine / "timed").values()
    assert content["evaluations"] > 10


def test_shards_make_the_whole_plan_between_them(run, finished, empty_machine):
    for i in (1, 2, 3):
        assert run("experiment", "run", "tiny.toml", "--shard", f"{i}/3", "--quiet").code == 0
    assert [path.name for path in journals(empty_machine / "results")] == [f"tiny-{i}of3.jsonl" for i in (1, 2, 3)]
    assert found_in(empty_machine / "results") == found_in(finished)


def test_failures_are_told_kept_and_repeated_on_demand(run, empty_machine):
    (empty_machine / "four.txt").write_text("4\n1 0 0 0 0 9 0\n2 0 3 0 0 9 0\n3 4 3 0 0 9 0\n4 4 0 0 0 9 0\n")
    arguments = ("experiment", "run", "tiny.toml", "--problem", "four.txt", "--seeds", 1, "--only", "Random")
    (one,) = load_plan("tiny.toml").restricted(problems=["four.txt"], seeds=1, labels=["Random"]).runs()
    stored("results", (one, "it broke"))
    assert "0 made now" in run(*arguments).out
    assert "1 made now" in run(*arguments, "--retry-failed").out
    assert RunStore("results").get(one).error == ""


WRONG = {
    "unknown plan": (["no-such-plan"], r"unknown plan 'no-such-plan'; there are: adapt, .*tsptw; or give a TOML file"),
    "misspelt plan": (["tsptv"], "did you mean 'tsptw'"),
    "no jobs": (["tiny.toml", "--jobs", 0], "--jobs must be a whole number of at least 1, got 0"),
    "a shard too many": (["tiny.toml", "--shard", "4/3"], "--shard must be i/n with i from 1 to n.*'4/3'"),
    "unknown label": (["tiny.toml", "--only", "Pls"], "no algorithm labelled 'Pls'; it has: Random, PLS"),
    "unknown problem": (["tiny.toml", "--problem", "rc_999.1"], "unknown instance 'rc_999.1'"),
    "no evaluations": (["tiny.toml", "--evaluations", 0], "evaluations must be a whole number of at least 1, got 0"),
    "two budgets": (["tiny.toml", "--cpu-seconds", 1, "--evaluations", 5], "evaluations or cpu_seconds, got both"),
    "no official data": (["tsptw", "--seeds", 1], "not on this machine; get it with: pareto-nrpa data get"),
    "unknown option": (["tiny.toml", "--seed", 1], "No such option"),
    "no plan": ([], "Missing argument"),
}


@pytest.mark.parametrize("mistake", WRONG)
def test_a_mistake_is_one_sentence_and_nothing_is_run(run, empty_machine, mistake):
    arguments, words = WRONG[mistake]
    assert_refused(run("experiment", "run", *arguments), words)
    assert not (empty_machine / "results").exists()


# --- table


def test_tables_are_written_in_three_formats(run, results, empty_machine):
    outcome = run("experiment", "table", "tiny.toml", "--out", "page")
    assert outcome.code == 0, outcome.err
    metrics = ("hypervolume", "spread", "spacing", "violations")
    names = {path.name for path in (empty_machine / "page" / "tables").iterdir()}
    assert names == {f"tiny-{metric}.{kind}" for metric in metrics for kind in ("csv", "tex")}
    assert not (results / "tiny.md").exists()
    (made,) = [line for line in outcome.out.splitlines() if line.startswith("Made with ")]
    assert "algorithm revision 1, " in made and f"numpy {np.__version__}" in made
    again = run(
        "experiment", "table", "tiny.toml", "--rows", "page/tiny-runs.csv", "--results", "none", "--out", "again"
    )
    assert again.out == outcome.out
    assert_refused(run("experiment", "table", "tiny.toml", "--rows", "tiny.toml"), "not a table of runs")
    assert_refused(run("experiment", "table", "tiny.toml", "--rows", "away.csv"), "cannot read away.csv: No such file")


# --- figures, and the whole paper


def test_the_page_shows_the_figures_that_are_drawn(run, empty_machine, results):
    pytest.importorskip("matplotlib", reason="needs matplotlib: pip install pareto-nrpa[experiments]")
    kinds = "".join(f'{kind} = ["{TSPTW}"]\n' for kind in ("fronts", "history", "attainment", "policies", "matrices"))
    save(empty_machine, TINY.replace("[[algorithm]]", f"[figures]\n{kinds}\n[[algorithm]]", 1))
    drawn = run("experiment", "figure", "tiny.toml").out.split()
    assert all((empty_machine / name).stat().st_size > 1000 for name in drawn)
    shown = re.findall(r"!\[.*\]\((figures/.*\.svg)\)", run("experiment", "table", "tiny.toml").out)
    assert len(shown) == 6
    assert {f"results/{name}" for name in shown} == {name for name in drawn if name.endswith(".svg")}


def test_reproduce_runs_tabulates_and_draws(run, empty_machine):
    pytest.importorskip("matplotlib", reason="needs matplotlib: pip install pareto-nrpa[experiments]")
    quick = f'[quick]\nproblems = ["{OTHER}"]\nseeds = 1\nevaluations = 60\n\n[[algorithm]]'
    save(empty_machine, TINY.replace("[[algorithm]]", quick, 1))
    outcome = run("experiment", "reproduce", "tiny.toml", "--quick", "--out", "pages")
    assert (outcome.code, outcome.out) == (0, "Tables and figures of 1 plans are in pages\n"), outcome.err
    assert n_lines(empty_machine / "results" / "quick") == 2  # never among the others
    assert {path.name for path in (empty_machine / "pages").iterdir()} >= {"tiny.md", "tiny-runs.csv"}
    assert "60 evaluations per run" in (empty_machine / "pages" / "tiny.md").read_text()


# --- solve with other algorithms


WRONG_SOLVE = {
    "unknown algorithm": (["--algorithm", "nsga-i"], "unknown algorithm 'nsga-i' .*did you mean 'nsga-ii'"),
    "unknown parameter": (["--algorithm", "pls", "--set", "pruninng=1"], "no parameter 'pruninng'.*'pruning'"),
    "no value": (["--algorithm", "pls", "--set", "pruning"], "--set must be name=value.*got 'pruning'"),
    "wrong value": (["--algorithm", "nsga-ii", "--set", "population=few"], "population must be.*'few'"),
    "twice": (["--set", "level=3", "--level", 2], "level is given twice, as --set level and as --level; leave one out"),
    "set twice": (["--set", "level=3", "--set", "level=2"], "level is given twice, .* as --set level once more"),
    "level of another": (["--algorithm", "pls", "--level", 2], "--level is not an option of pls; leave it out"),
}


@pytest.mark.parametrize("mistake", WRONG_SOLVE)
def test_a_mistake_with_an_algorithm_is_one_sentence(run, empty_machine, mistake):
    arguments, words = WRONG_SOLVE[mistake]
    assert_refused(run("solve", OTHER, "--evaluations", 100, *arguments), words)
    assert not (empty_machine / "results").exists()
