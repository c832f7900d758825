"""The command line, called in this process where possible: starting another one is slow."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

import pareto_nrpa
from pareto_nrpa import read_stops
from pareto_nrpa.cli import main

from ..helpers.command_line import Outcome, assert_refused, interrupted, read
from ..helpers.problems import Knapsack

pytestmark = pytest.mark.usefixtures("empty_machine")

TOY = "tsptw:n=8,seed=3"
SMALL = ("--evaluations", 300, "--level", 2)


def what_was_found(path):
    content = read(path)
    names = ("instance", "seed", "evaluations", "objectives", "violations", "solutions", "policies", "history")
    return {name: content[name] for name in names}


# --- version, help and info


def test_the_version(run):
    outcome = run("--version")
    assert (outcome.code, outcome.out) == (0, f"pareto-nrpa {pareto_nrpa.__version__}\n")


def test_help_names_commands_and_options(run):
    assert all(word in run("-h").out for word in ("solve", "data", "info", "--version"))
    out = run("solve", "--help").out
    options = "evaluations seconds level policies alpha seed out json checkpoint resume quiet"
    assert [word for word in options.split() if f"--{word}" not in out] == []


def test_a_mistake_leaves_the_process_with_code_2_and_one_sentence():
    command = [sys.executable, "-m", "pareto_nrpa", "solve", "no_such_instance"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert_refused(Outcome(done.returncode, done.stdout, done.stderr), "unknown instance 'no_such_instance'")


def test_info_tells_of_the_installation(run):
    outcome = run("info")
    assert outcome.code == 0
    assert f"pareto-nrpa {pareto_nrpa.__version__}, Python" in outcome.out
    assert all(f"{name} " in outcome.out for name in ("numpy", "numba", "moocore"))
    assert "instances found: 0" in outcome.out


def test_info_describes_an_instance_with_windows(run):
    out = run("info", TOY).out
    assert "8 cities, 2 objective(s)" in out
    assert re.search(r"time windows: \S+ to \S+ wide, \S+ on average", out)
    assert "reference point of the hypervolume: none fixed" in out


# --- solving


def test_the_default_instance_is_solved_shown_and_saved(run):
    outcome = run("solve", "--evaluations", 300)
    assert outcome.code == 0
    assert "300 evaluations" in outcome.out
    saved = re.search(r"saved to (\S+)", outcome.out).group(1)
    assert saved.startswith(f"results{os.sep}")
    assert read(saved)["instance"] == "tsptw:n=25,seed=7,tightness=0.6,objectives=2"
    assert os.listdir("results") == [os.path.basename(saved)]


def test_json_has_the_demanded_keys(run):
    run("solve", TOY, *SMALL, "--json", "r.json", "--seed", 5)
    content = read("r.json")
    demanded = (
        "instance algorithm parameters seed evaluations cpu_seconds objectives violations solutions policies history"
    )
    assert content.keys() >= set(demanded.split())
    assert (content["instance"], content["seed"], content["evaluations"]) == (
        "tsptw:n=8,seed=3,tightness=0.5,objectives=2",
        5,
        300,
    )
    assert content["algorithm"] == "polished-nrpa"
    assert content["cpu_seconds"] > 0
    n = len(content["objectives"])
    assert n == len(content["violations"]) == len(content["solutions"]) == len(content["policies"]) > 0
    assert content["history"][-1][0] == 300


def test_options_reach_the_algorithm(run):
    given = {"level": 2, "policies": 3, "alpha": 0.7}
    options = [part for name, value in given.items() for part in (f"--{name}", value)]
    settings = {"weighting": "none", "adapt": "one", "bias": 0.5}
    options += [part for name, value in settings.items() for part in ("--set", f"{name}={value}")]
    given |= settings
    run("solve", TOY, "--algorithm", "pareto-nrpa", "--evaluations", 100, *options, "--json", "r.json")
    parameters = read("r.json")["parameters"]
    given["n_policies"] = given.pop("policies")
    assert {name: parameters[name] for name in given} == given


def test_where_nothing_is_feasible_it_says_so_and_gives_the_least_violated(run):
    write_instance("bad.txt", ["0 0 0 0 0 9 0", "1 30 40 0 0 5 0", "2 60 80 0 0 9 0", "3 0 10 0 0 999 0"])
    outcome = run("solve", "bad.txt", *SMALL, "--json", "r.json")
    assert outcome.code == 0
    assert "No feasible solution was found; these solutions have the fewest violations, 3 each" in outcome.out
    content = read("r.json")
    assert set(content["violations"]) == {3}  # on return to the depot too
    assert all(hypervolume == 0 for _, hypervolume in content["history"])


def test_a_terminal_shows_where_the_search_stands(run, monkeypatch):
    monkeypatch.setenv("FORCE_COLOR", "1")  # what makes rich take any stream for a terminal
    err = run("solve", TOY, *SMALL).err
    assert re.search(r"0 s \| front \d+ \| 300 evals, \S+/s", err)


# --- checkpoints


def test_a_resumed_search_ends_like_one_that_was_never_stopped(run):
    settings = ("solve", TOY, "--level", 3, "--iterations", 10, "--seed", 2, "--quiet")
    assert run(*settings, "--evaluations", 900, "--json", "whole.json").code == 0
    assert run(*settings, "--evaluations", 337, "--json", "half.json", "--checkpoint", "c.npz").code == 0
    assert run(*settings, "--evaluations", 900, "--json", "rest.json", "--checkpoint", "c.npz", "--resume").code == 0
    assert what_was_found("rest.json") == what_was_found("whole.json")


# --- Ctrl-C


def test_ctrl_c_ends_early_and_keeps_the_result():
    # The limit of a minute is only there so that a broken test ends.
    options = ("--evaluations", 1_000_000_000, "--seconds", 60, "--json", "r.json", "--checkpoint", "c.npz")
    assert b"saved to" in interrupted("solve", TOY, *options, sign=b" evals, ")
    content = read("r.json")
    assert content["stopped_by"] == "Ctrl-C"
    assert 0 < content["evaluations"] < 1_000_000_000
    assert content["objectives"]
    assert os.path.isfile("c.npz")


# --- data


def test_data_get_downloads_and_data_list_shows_it(run, server):
    outcome = run("data", "get", "--from", server.url)
    assert outcome.code == 0
    assert "The official instances are in" in outcome.out
    listed = run("data", "list")
    assert listed.code == 0
    assert [line.split()[0] for line in listed.out.splitlines()] == ["toy.1", "toy.2"]
    assert run("solve", "toy.1", *SMALL, "--quiet").code == 0


def test_data_get_of_a_wrong_file_is_refused(run, server):
    (server.folder / "SolomonTSPTW" / "toy.1.txt").write_text("something else")
    outcome = run("data", "get", "--from", server.url, "--to", "here")
    assert_refused(outcome, r"toy\.1\.txt from http\S+ is not the official file")


def test_data_list_without_data_tells_the_command(run):
    outcome = run("data", "list")
    assert outcome.code == 0
    assert "No instances in:" in outcome.out
    assert "31 of 31 official instances are missing; get them with: pareto-nrpa data get" in outcome.out


# --- mistakes

GOOD_ROWS = ("0 0 0 0 0 999 0", "1 3 0 0 0 999 10", "2 3 4 0 0 999 10", "3 0 4 0 0 999 10")


def write_instance(path, rows=GOOD_ROWS, head="4"):
    os.makedirs(os.path.dirname(path) or ".", exist_ok=True)
    with open(path, "w") as file:
        file.write("\n".join([head, *rows]) + "\n")


PAPER = ("--algorithm", "pareto-nrpa", "--set")


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["x" * 100_000], "unknown instance"),
        ([TOY, "--level", "0"], "level must be a whole number of at least 1, got 0"),
        ([TOY, "--policies", "0"], "policies must be a whole number of at least 1, got 0"),
        ([TOY, *PAPER, "weighting=heavy"], "weighting must be one of crowding, none, got 'heavy'"),
        ([TOY, "--evaluations", "0"], "evaluations must be a whole number of at least 1, got 0"),
        ([TOY, "--seconds", "inf"], r"seconds must be a finite number above 0, got inf"),
        ([TOY, "--seed", "-1"], "seed must be a whole number of at least 0, got -1"),
        ([TOY, "--resume"], "--resume requires the file to continue from: give it with --checkpoint"),
        ([TOY, "--json", "same", "--checkpoint", "same"], "cannot be the same file"),
    ],
    ids=lambda value: "" if isinstance(value, str) else " ".join(value)[:60],
)
def test_a_mistake_is_one_sentence(run, arguments, words):
    outcome = run("solve", *arguments)
    assert_refused(outcome, words)
    assert len(outcome.err) < 1_000
    assert os.listdir() == []


@pytest.mark.parametrize("option", ["--out", "--json", "--checkpoint"])
def test_an_unwritable_folder_is_refused_before_the_search(run, unwritable, option):
    # Without the check up front, a search of this size would not come back.
    outcome = run("solve", TOY, "--evaluations", 10**12, option, unwritable / "result.json")
    assert_refused(outcome, r"cannot write .*result\.json: .*; choose a folder that you may write to")


@pytest.mark.parametrize(
    ("arguments", "word"),
    [(["solve", "--levle", "3"], "--levle"), (["solve", "--level", "two"], "--level"), (["slove"], "slove")],
)
def test_a_misspelt_option_is_named(run, arguments, word):
    outcome = run(*arguments)
    assert outcome.code == 2
    assert word in outcome.err
    assert "Traceback" not in outcome.err


class FailsLate(Knapsack):
    """Its evaluation breaks after a while."""

    name, left = "fails-late", 50

    def evaluate(self, state):
        self.left -= 1
        if self.left < 0:
            raise RuntimeError("the licence has run out")
        return super().evaluate(state)


def test_when_a_problem_fails_what_was_found_is_saved(run, monkeypatch):
    monkeypatch.setattr("pareto_nrpa.catalogue.open_problem", lambda *names, **options: (None, FailsLate()))
    outcome = run("solve", *SMALL, "--out", "r.json", "--quiet")
    assert_refused(outcome, r"raised RuntimeError: the licence has run out\. The front found so far is in r\.json")
    content = read("r.json")
    assert content["evaluations"] == 50
    assert content["objectives"]


def test_an_error_of_the_package_is_one_sentence_or_a_traceback_on_request(run, monkeypatch):
    def fail(*names, **options):
        raise RuntimeError("our own mistake")

    monkeypatch.setattr("pareto_nrpa.catalogue.open_problem", fail)
    assert_refused(run("solve"), r"RuntimeError: our own mistake \(this should not happen; PARETO_NRPA_TRACEBACK=1")
    monkeypatch.setenv("PARETO_NRPA_TRACEBACK", "1")
    with pytest.raises(RuntimeError, match="our own mistake"):
        main(["solve"])


# --- output


def test_a_terminal_without_unicode_sees_all(tmp_path):
    instance = tmp_path / "stra\N{LATIN SMALL LETTER SHARP S}e.txt"
    write_instance(instance)
    command = [sys.executable, "-m", "pareto_nrpa", "solve", str(instance), "--evaluations", "300", "--json", "r.json"]
    environment = {**os.environ, "PYTHONIOENCODING": "ascii", "FORCE_COLOR": "1", "COLUMNS": "80", "CI": ""}
    done = subprocess.run(command, capture_output=True, check=False, env=environment)
    assert done.returncode == 0, done.stderr
    assert b"stra\\xdfe" in done.stdout
    assert b"saved to r.json" in done.stdout
    assert b"Traceback" not in done.stderr


# --- a finished search is never lost


def test_when_the_last_write_fails_the_front_is_written_elsewhere(run, monkeypatch, tmp_path):
    from pareto_nrpa._util import files

    def full(path, write):
        if tmp_path / "elsewhere" not in Path(path).parents:
            raise files.unwritable(Path(path), OSError(28, "No space left on device"))
        return keep(path, write)

    keep = files.write_atomically
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.setattr(files, "write_atomically", full)
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "elsewhere"))
    outcome = run("solve", TOY, *SMALL, "--out", "mine", "--quiet")
    assert_refused(outcome, r"No space left on device; .* The front found so far is in .*rescued\.json")
    (path,) = (tmp_path / "elsewhere").glob("*.json")
    assert read(path)["evaluations"] == 300
    assert os.listdir("mine") == [], "an empty file must not look like a result"


def test_when_no_file_can_be_written_the_front_is_printed(run, monkeypatch):
    from pareto_nrpa._util import files

    def full(path, write):
        raise files.unwritable(Path(path), OSError(28, "No space left on device"))

    monkeypatch.setattr(files, "write_atomically", full)
    outcome = run("solve", TOY, *SMALL, "--json", "r.json", "--quiet")
    assert outcome.code == 2
    assert "The front found so far is printed as JSON" in outcome.err
    assert json.loads(outcome.out)["evaluations"] == 300


# --- from a spreadsheet to trade-offs


DELIVERIES = Path(__file__).parent.parent.parent / "examples" / "deliveries"
STOPS = DELIVERIES / "stops.csv"
COSTS = ("--time", DELIVERIES / "minutes.csv", "--cost", f"euros={DELIVERIES / 'euros.csv'}")


def test_the_example_in_one_command(run):
    outcome = run("solve", STOPS, *COSTS, *SMALL, "--json", "r.json")
    assert outcome.code == 0
    assert "stops: 20 stops, 1 vehicle(s) from 'Depot Nord', 12 time windows; objectives: time, euros" in outcome.err
    assert "other columns: note" in outcome.err
    content = read("r.json")
    assert content["objective_names"] == ["time", "euros"]
    assert sorted(content["solutions"][0]) == list(range(1, 21))
    problem = read_stops(STOPS, time=DELIVERIES / "minutes.csv", costs={"euros": DELIVERIES / "euros.csv"})
    assert problem.replay(content["solutions"][0])[0].tolist() == content["objectives"][0]


@pytest.mark.slow
def test_the_example_with_four_vehicles(run):
    options = ("--vehicles", 4, "--capacity", 100, "--objectives", "euros,longest")
    outcome = run("solve", STOPS, *COSTS, *options, *SMALL, "--json", "r.json")
    assert outcome.code == 0
    content = read("r.json")
    assert content["objective_names"] == ["euros", "longest"]
    assert content["violations"][0] == 0
    assert sorted(content["solutions"][0]) == list(range(1, 24))


def test_info_tells_what_was_understood(run):
    Path("stops.csv").write_text("name,x,y,note\nHub,0,0,\nAnna,1,1,rings twice\n")
    out = run("info", "stops.csv").out
    assert "stops: 1 stops, 1 vehicle(s) from 'Hub', 0 time windows" in out
    assert "other columns: note" in out


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("tsptw:n=8", "--vehicles", 2), r"tsptw:n=8 is not a file of stops \(.*\); --vehicles applies to these only"),
        (("stopps.csv", "--speed", 30), r"there is no file stopps\.csv; give an instance file"),
        ((STOPS, "--cost", "euros"), r"--cost must be a name and a file, as in --cost euros=cost.csv, got euros\."),
        ((STOPS, "--cost", "a=b.csv", "--cost", "a=c.csv"), r"another name for each file, got a for b\.csv and for c"),
        ((STOPS, "--time", "nowhere.csv"), "cannot read nowhere.csv: No such file"),
        ((STOPS,), "stops.csv needs a speed, in km per hour, for travel times: --speed .usual: 30 in town.*: --time"),
        ((STOPS, STOPS), "must all be TSPLIB files"),
        ((STOPS, *COSTS, "--objectives", "time,eurs"), "got 'eurs' .did you mean 'euros'"),
        ((STOPS, "--speed", 3), "stop 'Harbour Grill' .line 16. cannot be reached in time: it closes at 10:30"),
    ],
)
def test_mistakes_with_stops_are_one_sentence(run, arguments, words):
    assert_refused(run("solve", *arguments), words)
