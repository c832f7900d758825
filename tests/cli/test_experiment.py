"""The experiment commands and the algorithms of `solve`, called in this process where possible."""

import csv
import importlib.util
import json
import os
import re
import shlex
import shutil

import numpy as np
import pytest

from pareto_nrpa import MaxEvaluations, load, solve
from pareto_nrpa.algorithms.registry import NAMES, algorithm
from pareto_nrpa.experiments.claims import CLAIMS
from pareto_nrpa.experiments.plan import load_plan, plan_names
from pareto_nrpa.experiments.runner import execute
from pareto_nrpa.experiments.store import Store

from ..experiments.helpers import OTHER, TINY, TSPTW, a_record, command, found_in, run_files, save, stamps

HAS_FIGURES = importlib.util.find_spec("matplotlib") is not None
DATA = os.environ.get("PARETO_NRPA_DATA")


@pytest.fixture(autouse=True)
def tiny_plan(empty_machine):
    """The tiny plan in the folder to work in."""
    save(empty_machine, TINY)


@pytest.fixture(scope="module")
def finished(tmp_path_factory):
    """The runs of the tiny plan."""
    folder = tmp_path_factory.mktemp("finished")
    execute(load_plan(save(folder, TINY)).runs(), Store(folder / "results"))
    return folder / "results"


@pytest.fixture
def results(finished, empty_machine):
    """A copy of the finished runs, where the commands look for them."""
    return shutil.copytree(finished, empty_machine / "results")


def assert_refused(outcome, words):
    """Exit code 2 and one sentence, nothing else."""
    assert outcome.code == 2, outcome
    assert outcome.out == ""
    assert len(outcome.err.splitlines()) == 1, outcome.err
    assert outcome.err.startswith("Error: ")
    assert "this should not happen" not in outcome.err
    assert re.search(words, outcome.err), outcome.err


# --- the whole way, in processes of their own


@pytest.mark.slow  # starts seven processes; each step is tested in this one below
def test_from_a_plan_file_to_tables(empty_machine):
    made = command("experiment", "run", "tiny.toml", "--seeds", 2, "--jobs", 2)
    assert made.code == 0, made.err
    assert made.out == "8 of 8 runs of tiny are in results, 8 made now.\n"
    assert "8/8 runs" in made.err
    table = command("experiment", "table", "tiny.toml")
    assert table.code == 0, table.err
    assert table.out.startswith("# A tiny experiment\n")
    assert "| Instance | Random (n=2) | PLS (n=2) |" in table.out
    assert "written: results/tiny.md and" in table.err
    assert (empty_machine / "results" / "tiny.md").read_text() == table.out.removesuffix("\n")


@pytest.mark.long
def test_a_mistake_leaves_the_process_with_code_2_and_one_sentence():
    assert_refused(command("experiment", "run", "no-such-plan"), "unknown plan 'no-such-plan'")


# --- list


def test_the_list_of_plans(run):
    outcome = run("experiment", "list")
    assert (outcome.code, outcome.err) == (0, "")
    assert [line.split()[0] for line in outcome.out.splitlines()] == plan_names()
    assert re.search(r"tsptw +31 x 6 x 30 runs +MO-TSPTW", outcome.out)


def test_help_names_the_commands(run):
    out = run("experiment", "--help").out
    assert all(word in out for word in ("run", "table", "figure", "claims", "reproduce", "list"))
    options = "seeds jobs dask shard only problem evaluations cpu-seconds quick retry-failed results data quiet"
    out = run("experiment", "run", "--help").out
    assert [word for word in options.split() if f"--{word}" not in out] == []


# --- run


def test_runs_are_made_once(run, empty_machine):
    first = run("experiment", "run", "tiny.toml", "--seeds", 1)
    assert first.out == "4 of 4 runs of tiny are in results, 4 made now.\n"
    before = stamps(empty_machine / "results")
    second = run("experiment", "run", "tiny.toml")
    assert second.out == "8 of 8 runs of tiny are in results, 4 made now.\n"
    after = stamps(empty_machine / "results")
    assert {name: after[name] for name in before} == before


def test_parts_of_a_plan(run, empty_machine):
    outcome = run("experiment", "run", "tiny.toml", "--only", "PLS", "--problem", OTHER, "--evaluations", 50, "--quiet")
    assert (outcome.code, outcome.out, outcome.err) == (0, "", "")
    contents = [json.loads(path.read_text())["run"] for path in run_files(empty_machine / "results")]
    assert {(c["problem"], c["algorithm"], c["evaluations"]) for c in contents} == {(OTHER, "pls", 50)}
    assert {c["seed"] for c in contents} == {0, 1}


def test_a_budget_of_time_instead(run, empty_machine):
    outcome = run(
        "experiment", "run", "tiny.toml", "--only", "Random", "--problem", OTHER, "--seeds", 1, "--cpu-seconds", 0.05
    )
    assert outcome.code == 0
    (path,) = run_files(empty_machine / "results")
    content = json.loads(path.read_text())
    assert content["evaluations"] > 10
    assert 0.05 <= content["cpu_seconds"] < 2


def test_shards_make_the_whole_plan_between_them(run, finished, empty_machine):
    for i in (1, 2, 3):
        assert run("experiment", "run", "tiny.toml", "--shard", f"{i}/3", "--quiet").code == 0
    assert found_in(empty_machine / "results") == found_in(finished)


def test_failures_are_told_kept_and_repeated_on_demand(run, empty_machine):
    """NSGA-II has nothing to trade off with one objective, or a worker has no data: here the file goes away."""
    instance = empty_machine / "four.txt"
    instance.write_text("4\n1 0 0 0 0 100 0\n2 0 3 0 0 100 0\n3 4 3 0 0 100 0\n4 4 0 0 0 100 0\n")
    arguments = ("experiment", "run", "tiny.toml", "--problem", "four.txt", "--seeds", 1, "--only", "Random")
    (record,) = load_plan("tiny.toml").restricted(problems=["four.txt"], seeds=1, labels=["Random"]).runs()
    store = Store("results")
    instance.rename("away.txt")
    execute([record], store)
    assert "four.txt" in store.get(record).error
    (empty_machine / "away.txt").rename("four.txt")
    assert "0 made now" in run(*arguments).out
    outcome = run(*arguments, "--retry-failed")
    assert "1 made now" in outcome.out
    assert store.get(record).error == ""


def test_a_half_written_file_is_made_again(run, results):
    path = run_files(results)[0]
    path.write_bytes(path.read_bytes()[:50])
    outcome = run("experiment", "run", "tiny.toml")
    assert outcome.out == "8 of 8 runs of tiny are in results, 1 made now.\n"


WRONG = {
    "unknown plan": (["no-such-plan"], r"unknown plan 'no-such-plan'; there are: adapt, .*tsptw; or give a TOML file"),
    "misspelt plan": (["tsptv"], "did you mean 'tsptw'"),
    "a plan file that is not there": (["other.toml"], "unknown plan 'other.toml'"),
    "a folder as plan": (["."], "unknown plan '.'"),
    "no jobs": (["tiny.toml", "--jobs", 0], "--jobs must be a whole number of at least 1, got 0"),
    "jobs in words": (["tiny.toml", "--jobs", "two"], "--jobs.*integer"),
    "no seeds": (["tiny.toml", "--seeds", 0], "seeds must be a whole number of at least 1, got 0"),
    "a shard too many": (["tiny.toml", "--shard", "4/3"], "--shard must be i/n with i from 1 to n.*'4/3'"),
    "half a shard": (["tiny.toml", "--shard", "x"], "--shard must be i/n"),
    "unknown label": (["tiny.toml", "--only", "Pls"], "no algorithm labelled 'Pls'; it has: Random, PLS"),
    "unknown problem": (["tiny.toml", "--problem", "rc_999.1"], "unknown instance 'rc_999.1'"),
    "no evaluations": (["tiny.toml", "--evaluations", 0], "evaluations must be a whole number of at least 1, got 0"),
    "no time": (["tiny.toml", "--cpu-seconds", -1], "cpu_seconds must be a number above 0"),
    "two budgets": (["tiny.toml", "--cpu-seconds", 1, "--evaluations", 5], "not both"),
    "official data that are not there": (
        ["tsptw", "--seeds", 1],
        "not on this machine; get it with: pareto-nrpa data get",
    ),
    "unknown option": (["tiny.toml", "--seed", 1], "No such option"),
    "no plan": ([], "Missing argument"),
}


@pytest.mark.parametrize("mistake", WRONG)
def test_a_mistake_is_one_sentence_and_nothing_is_run(run, empty_machine, mistake):
    arguments, words = WRONG[mistake]
    assert_refused(run("experiment", "run", *arguments), words)
    assert not (empty_machine / "results").exists()


def test_a_misspelt_key_is_named_with_the_nearest(run, empty_machine):
    save(empty_machine, TINY.replace("evaluations", "evalutions"), "typo")
    assert_refused(
        run("experiment", "run", "typo.toml"), "plan typo.toml has an unknown key 'evalutions' \\(did you mean 'evalua"
    )


@pytest.mark.parametrize("action", ["run", "table", "figure"])
def test_a_folder_of_another_version_is_refused(run, empty_machine, action):
    (empty_machine / "results").mkdir()
    (empty_machine / "results" / "runs-format.txt").write_text("pareto-nrpa run 0\n")
    assert_refused(run("experiment", action, "tiny.toml", *(["--quiet"] if action == "run" else [])), "another version")
    assert run_files(empty_machine / "results") == []


def test_results_cannot_go_into_a_file(run, empty_machine):
    (empty_machine / "file").write_text("in the way")
    outcome = run("experiment", "run", "tiny.toml", "--results", "file/results", "--quiet")
    assert_refused(outcome, "cannot write .*file/results")


def test_results_that_cannot_be_written_are_refused_before_the_first_run(run, empty_machine):
    (empty_machine / "file").write_text("in the way")
    arguments = (
        "--results",
        "file/results",
        "--cpu-seconds",
        1.5,
        "--only",
        "Random",
        "--seeds",
        1,
        "--problem",
        OTHER,
    )
    begin = os.times().user
    assert_refused(run("experiment", "run", "tiny.toml", *arguments, "--quiet"), "cannot write")
    assert os.times().user - begin < 1


# --- table


def test_tables_are_written_in_three_formats(run, results):
    outcome = run("experiment", "table", "tiny.toml")
    assert outcome.code == 0, outcome.err
    names = {path.name for path in (results / "tables").iterdir()}
    metrics = ("hypervolume", "spread", "spacing", "violations")
    assert names == {f"tiny-{metric}.{kind}" for metric in metrics for kind in ("csv", "tex")}
    with open(results / "tiny-runs.csv", newline="") as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == 8
    assert max(float(row["hypervolume"]) for row in rows if row["problem"] == TSPTW) == 1


def test_tables_go_where_they_are_told(run, results, empty_machine):
    assert run("experiment", "table", "tiny.toml", "--out", "page").code == 0
    assert (empty_machine / "page" / "tiny.md").is_file()
    assert not (results / "tiny.md").exists()


def test_tables_of_part_of_the_runs(run, results):
    for path in run_files(results)[:3]:
        path.unlink()
    outcome = run("experiment", "table", "tiny.toml")
    assert outcome.code == 0
    assert re.search(r"\(n=\d-2\)", outcome.out)


def test_tables_of_runs_that_all_failed_are_dashes(run, empty_machine):
    plan = load_plan("tiny.toml")
    from pareto_nrpa.experiments.worker import failed

    store = Store("results")
    for one in plan.runs():
        store.put(one, failed(one, "MemoryError: too large"))
    outcome = run("experiment", "table", "tiny.toml")
    assert outcome.code == 0, outcome.err
    assert "8 runs failed; the first one: MemoryError: too large" in outcome.out
    assert f"| {TSPTW} | - | - |" in outcome.out


def test_tables_of_runs_without_a_feasible_tour(run, empty_machine):
    store = Store("results")
    for one in load_plan("tiny.toml").runs():
        store.put(one, a_record(one, [[1, 2], [2, 1]], violations=3.0))
    outcome = run("experiment", "table", "tiny.toml")
    assert outcome.code == 0, outcome.err
    rows = re.findall(rf"^\| {re.escape(TSPTW)}.*$", outcome.out, flags=re.MULTILINE)
    cells = ["**0.00 ± 0.00**", "**0.00 ± 0.00**", "-", "**3.00 ± 0.00**"]  # hypervolume, spread, spacing, violations
    assert rows == [f"| {TSPTW} | {cell} | {cell} |" for cell in cells]


def test_no_runs_yet(run):
    assert_refused(
        run("experiment", "table", "tiny.toml"), "there are no runs of tiny in results yet; make them with: "
    )
    assert_refused(run("experiment", "figure", "tiny.toml"), "there are no runs of tiny")


def test_tables_have_all_seeds_that_are_there(run):
    """After `run --seeds 3` of a plan of two, the third was left out."""
    assert run("experiment", "run", "tiny.toml", "--seeds", 3, "--quiet").code == 0
    assert "| Instance | Random (n=3) | PLS (n=3) |" in run("experiment", "table", "tiny.toml").out
    assert "| Instance | Random (n=2) | PLS (n=2) |" in run("experiment", "table", "tiny.toml", "--seeds", 2).out


def test_where_other_runs_are_is_said(run):
    assert run("experiment", "run", "tiny.toml", "--quick", "--seeds", 1, "--quiet").code == 0
    assert_refused(run("experiment", "table", "tiny.toml"), "quick versions are in results/quick, to be had with --qu")
    assert run("experiment", "run", "tiny.toml", "--evaluations", 50, "--seeds", 1, "--quiet").code == 0
    assert_refused(run("experiment", "table", "tiny.toml"), r"only some with .* another budget \(50 evaluations\)")


def test_pages_say_with_what_they_were_made(run, results):
    page = run("experiment", "table", "tiny.toml").out
    (line,) = [line for line in page.splitlines() if line.startswith("Made with ")]
    assert "algorithm revision 1, " in line
    assert f"numpy {np.__version__}" in line
    assert all(f"{name} " in line for name in ("pareto-nrpa", "numba", "moocore", "python"))


def test_a_page_can_be_made_again_from_its_rows(run, results):
    first = run("experiment", "table", "tiny.toml", "--out", "first").out
    shutil.rmtree(results / "runs")
    again = run("experiment", "table", "tiny.toml", "--rows", "first/tiny-runs.csv", "--out", "again")
    assert again.out == first
    assert_refused(run("experiment", "table", "tiny.toml", "--rows", "tiny.toml"), "not a table of runs")
    assert_refused(run("experiment", "table", "tiny.toml", "--rows", "away.csv"), "cannot read away.csv: No such file")


@pytest.mark.long
def test_problems_that_stand_in_for_others_are_told_and_named_in_the_title(run, empty_machine):
    made = run("experiment", "run", "nas-101", "--quick", "--seeds", 1, "--only", "Random", "--quiet")
    assert "data that are not here (nas-bench-101-surrogate); its quick version uses mo-tsp:n=8,seed=1." in made.err
    page = run("experiment", "table", "nas-101", "--quick", "--only", "Random").out
    titles = [line for line in page.splitlines() if "NAS-Bench-101" in line]
    assert titles[0].startswith("# mo-tsp:n=8,seed=1 instead of the plan's problems: NAS-Bench-101")
    assert all("mo-tsp:n=8,seed=1 instead of the plan's problems" in title for title in titles)


SELECTIONS = [
    ("tiny.toml",),
    ("tiny.toml", "--only", "PLS", "--problem", OTHER, "--seeds", "1", "--evaluations", "50"),
    ("tiny.toml", "--quick"),
    ("tiny.toml", "--results", "my runs"),
]


@pytest.mark.parametrize("selection", SELECTIONS)
def test_the_command_that_is_suggested_makes_what_is_missing(run, selection):
    err = run("experiment", "table", *selection).err
    suggested = shlex.split(err.partition("make them with: pareto-nrpa ")[2])
    assert run(*suggested).code == 0
    assert run("experiment", "table", *selection).code == 0


# --- figure


@pytest.mark.skipif(not HAS_FIGURES, reason="needs matplotlib: pip install pareto-nrpa[report]")
def test_figures_are_drawn(run, empty_machine, results):
    save(empty_machine, TINY.replace("[[algorithm]]", f'[figures]\nfronts = ["{TSPTW}"]\n\n[[algorithm]]', 1))
    outcome = run("experiment", "figure", "tiny.toml")
    assert outcome.code == 0, outcome.err
    written = [empty_machine / line for line in outcome.out.splitlines()]
    assert {path.suffix for path in written} == {".png", ".svg"}
    assert all(path.stat().st_size > 1000 for path in written)
    assert any("fronts" in path.name for path in written)
    assert any("ranks" in path.name for path in written)


@pytest.mark.skipif(not HAS_FIGURES, reason="needs matplotlib: pip install pareto-nrpa[report]")
def test_the_page_shows_the_figures_that_are_drawn(run, results):
    page = run("experiment", "table", "tiny.toml").out
    drawn = run("experiment", "figure", "tiny.toml").out
    shown = re.findall(r"!\[.*\]\((figures/.*\.svg)\)", page)
    assert shown
    assert {f"results/{name}" for name in shown} == {line for line in drawn.splitlines() if line.endswith(".svg")}


# --- claims and the whole paper


def test_claims_without_runs_and_without_data(run):
    assert run("experiment", "claims").code == 0


def test_claims_from_rows_that_were_measured_before(run, empty_machine):
    row = "rc_205.2,Pareto-NRPA (level {level}),{seed},100000,1,3,0.{level},0,\n"
    rows = [row.format(level=level, seed=seed) for level in (3, 4) for seed in range(5)]
    head = "problem,algorithm,seed,evaluations,cpu_seconds,front_size,hypervolume,violations,error\n"
    (empty_machine / "level-runs.csv").write_text(head + "".join(rows))
    out = run("experiment", "claims", "--rows", ".", "--out", "page").out
    assert re.search(r"level 3 on rc_205.2.*\*\*held\*\* \| rc_205.2: Pareto-NRPA \(level 4\) 0.40, .* 0.30", out)


def test_claims_without_runs(run, official, monkeypatch):
    use_official_data(official, monkeypatch)
    outcome = run("experiment", "claims")
    assert outcome.code == 0, outcome.err
    assert outcome.out.count("**not measured** | no runs") == len(CLAIMS)


def test_reproduce_one_plan_without_data(run):
    outcome = run("experiment", "reproduce", "tiny.toml", "--seeds", 1)
    assert outcome.code == 0, outcome.err


def use_official_data(official, monkeypatch):
    if DATA:
        monkeypatch.setenv("PARETO_NRPA_DATA", DATA)
    official("rc_204.3")


def test_reproduce_runs_tabulates_draws_and_judges(run, empty_machine, official, monkeypatch):
    pytest.importorskip("matplotlib", reason="needs matplotlib: pip install pareto-nrpa[report]")
    use_official_data(official, monkeypatch)
    quick = f'[quick]\nproblems = ["{OTHER}"]\nseeds = 1\nevaluations = 60\n\n[[algorithm]]'
    save(empty_machine, TINY.replace("[[algorithm]]", quick, 1))
    outcome = run("experiment", "reproduce", "tiny.toml", "--quick", "--out", "pages")
    assert outcome.code == 0, outcome.err
    assert outcome.out == "Tables, figures and claims of 1 plans are in pages\n"
    assert len(run_files(empty_machine / "results" / "quick")) == 2  # never among the others
    assert {path.name for path in (empty_machine / "pages").iterdir()} >= {"tiny.md", "tiny-runs.csv", "claims.md"}
    assert "60 evaluations per run" in (empty_machine / "pages" / "tiny.md").read_text()


def test_reproduce_refuses_an_unknown_plan_before_running_anything(run, empty_machine):
    assert_refused(run("experiment", "reproduce", "tiny.toml", "no-such-plan"), "unknown plan 'no-such-plan'")
    assert not (empty_machine / "results").exists()


def test_reproduce_checks_jobs(run):
    assert_refused(run("experiment", "reproduce", "tiny.toml", "--quick", "--jobs", 0), "--jobs must be")


# --- solve with other algorithms


def test_solve_by_another_algorithm_is_what_the_library_finds(run, empty_machine):
    outcome = run("solve", OTHER, "--algorithm", "pls", "--evaluations", 200, "--seed", 4, "--json", "out.json")
    assert outcome.code == 0, outcome.err
    content = json.loads((empty_machine / "out.json").read_text())
    expected = solve(load(OTHER), algorithm("pls"), stop=MaxEvaluations(200), seed=4)
    np.testing.assert_array_equal(content["objectives"], expected.front.objectives)
    assert content["evaluations"] == 200


def test_solve_by_nsga_ii_with_a_parameter(run, empty_machine):
    pytest.importorskip("pymoo", reason="needs pymoo: pip install pareto-nrpa[baselines]")
    arguments = ("solve", OTHER, "--algorithm", "nsga-ii", "--evaluations", 200)
    assert run(*arguments, "--set", "population=20", "--json", "20.json").code == 0
    assert run(*arguments, "--set", "population=50", "--json", "50.json").code == 0
    content = [json.loads((empty_machine / name).read_text()) for name in ("20.json", "50.json")]
    assert [c["parameters"]["population"] for c in content] == [20, 50]


def test_a_parameter_of_pareto_nrpa_can_be_set_as_well(run, empty_machine):
    assert run("solve", OTHER, "--evaluations", 200, "--set", "level=2", "--json", "set.json", "-q").code == 0
    assert run("solve", OTHER, "--evaluations", 200, "--level", 2, "--json", "option.json", "-q").code == 0
    content = [json.loads((empty_machine / name).read_text()) for name in ("set.json", "option.json")]
    assert content[0]["parameters"]["level"] == 2
    assert content[0]["objectives"] == content[1]["objectives"]


WRONG_SOLVE = {
    "unknown algorithm": (["--algorithm", "nsga-i"], "unknown algorithm 'nsga-i' .*did you mean 'nsga-ii'"),
    "unknown parameter": (
        ["--algorithm", "pls", "--set", "pruninng=true"],
        "pls has no parameter 'pruninng'.*'pruning'",
    ),
    "no value": (["--algorithm", "pls", "--set", "pruning"], "--set must be name=value.*got 'pruning'"),
    "wrong value": (["--algorithm", "nsga-ii", "--set", "population=few"], "population must be.*'few'"),
    "value too small": (["--algorithm", "nsga-ii", "--set", "population=0"], "population must be.*0"),
    "wrong value of pareto-nrpa": (["--set", "alpha=fast"], "alpha must be.*'fast'"),
    "twice": (["--set", "level=3", "--level", 2], "level is given twice, as --set level and as --level; leave one out"),
    "policies twice": (["--set", "n_policies=3", "--policies", 2], "n_policies is given twice, .* as --policies"),
    "set twice": (["--set", "level=3", "--set", "level=2"], "level is given twice, .* as --set level once more"),
    "level of another": (["--algorithm", "pls", "--level", 2], "--level is no option of pls; leave it out"),
    "policies of another": (["--algorithm", "random", "--policies", 2], "--policies is no option of random"),
}


@pytest.mark.parametrize("mistake", WRONG_SOLVE)
def test_a_mistake_with_an_algorithm_is_one_sentence(run, empty_machine, mistake):
    arguments, words = WRONG_SOLVE[mistake]
    assert_refused(run("solve", OTHER, "--evaluations", 100, *arguments), words)
    assert not (empty_machine / "results").exists()


def test_help_of_solve_names_all_algorithms(run):
    out = "".join(run("solve", "--help").out.split())  # lines may end after a hyphen
    assert [name for name in NAMES if name not in out] == []
