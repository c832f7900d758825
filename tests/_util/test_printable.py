"""What others have written into files is shown by the terminal, never obeyed."""

import json
import re
import unicodedata

import pytest

from pareto_nrpa import Result
from pareto_nrpa._util.checks import printable
from pareto_nrpa.solving.progress_bar import ExperimentBar

from ..helpers.command_line import assert_refused
from ..helpers.results import make_plan, tours

pytestmark = pytest.mark.usefixtures("empty_machine")

CLEAR, TITLE, C1, BIDI = "\x1b[2J", "\x1b]0;owned\x07", "\x9b2J\x85", "\u202egnp.\u2066\u200f"
NASTY = f"{CLEAR}{TITLE}{C1}{BIDI}\r\b\x00\ud800\u2028\nError: false"
STOPS = "name,x,y\nHub,0,0\nAnna,1,1\nBob,2,0\n"


def assert_harmless(outcome, *, is_csv=False):  # in quotes, cells of CSV may have several lines
    for text in (outcome.out, outcome.err):
        odd = [c for c in text if unicodedata.category(c) in ("Cc", "Cf", "Cs", "Zl", "Zp") and c != "\n"]
        assert odd == [], text
        assert is_csv or not re.search(r"^Error: false", text, re.MULTILINE)


def as_json(content):
    """Return JSON without halves of characters, which no JSON may have."""
    return json.dumps(content).replace(r"\ud800", "")


@pytest.fixture
def crafted(tmp_path):
    """A result in which all text is hostile."""
    plan = make_plan(4, names=[f"{i}{NASTY}" for i in range(4)])
    plan.stops[0]["name"] = f"Depot{NASTY}"
    for stop in plan.stops:
        stop["phone"] = NASTY
    found = tours(plan, vehicles=2, n_solutions=5)
    content = found.to_dict() | {"instance": NASTY, "algorithm": NASTY, "stopped_by": NASTY}
    content |= {"objective_names": [f"a{NASTY}", f"b{NASTY}"], "command": NASTY}
    path = tmp_path / "crafted.json"
    path.write_text(as_json(content))
    return path


@pytest.mark.parametrize("options", [(), ("--solution", 1), ("--solution", 1, "--csv")])
def test_a_crafted_result_is_shown(run, crafted, options):
    outcome = run("show", crafted, *options)
    assert outcome.code == 0
    assert r"\x1b[2J" in outcome.out and r"\u202e" in outcome.out
    assert_harmless(outcome, is_csv="--csv" in options)


def test_summaries_of_a_crafted_result_are_harmless(crafted, capsys):
    result = Result.load(crafted)
    print(result.summary(), result, result.knee())
    assert_harmless(capsys.readouterr())


def test_errors_are_harmless(run, crafted, tmp_path):
    content = json.loads(crafted.read_text())
    for changes in ({"maximise": NASTY}, {"instance": [NASTY]}, {"format": NASTY}):
        crafted.write_text(json.dumps(content | changes))
        outcome = run("show", crafted)
        assert outcome.code == 2
        assert_harmless(outcome)
    for word in (f"no{CLEAR}{BIDI}.json", f"--{CLEAR}", f"no{C1}"):
        outcome = run("show", word)
        assert outcome.code == 2
        assert_harmless(outcome)


@pytest.mark.parametrize("text", [CLEAR, TITLE, C1, BIDI])
@pytest.mark.parametrize("place", ["Anna", "name", "Bob,2"])
def test_a_crafted_file_of_stops_is_refused(run, tmp_path, place, text):
    (tmp_path / "stops.csv").write_text(STOPS.replace(place, f"{place}{text}"))
    outcome = run("solve", tmp_path / "stops.csv")
    assert_refused(outcome, "which is invisible")
    assert_harmless(outcome)


def test_a_search_and_a_comparison_of_a_file_with_a_crafted_name(run, tmp_path):
    folder = tmp_path / f"folder{CLEAR}"
    folder.mkdir()
    path = folder / f"a{TITLE}{BIDI}.csv"
    path.write_text(STOPS)
    matrix = folder / "cost.csv"
    matrix.write_text("0,1,2\n3,0,4\n5,6,0\n")
    short = ("--evaluations", 200, "--level", 2)
    outcome = run("solve", path, "--cost", f"euros={matrix}", *short, "--json", folder / "result.json")
    assert outcome.code == 0
    assert outcome.out.startswith(r"a\x1b]0;owned\x07\u202e") and "saved to" in outcome.out
    assert_harmless(outcome)
    outcome = run("info", path)
    assert r"a\x1b]0;owned" in outcome.out
    assert_harmless(outcome)
    algorithms = ("--algorithm", "random", "--algorithm", "pareto-nrpa:level=1")
    outcome = run("compare", path, *algorithms, "--evaluations", 20, "--seeds", 1)
    assert outcome.code == 0, outcome.err
    assert r"\x1b]0;owned" in outcome.out
    assert_harmless(outcome)


def test_a_crafted_certificate_is_shown(run, tmp_path):
    path = tmp_path / "certificate.json"
    assert run("certify", "tsptw:n=6,seed=1", "--json", path).code == 0
    content = json.loads(path.read_text())
    path.write_text(json.dumps(content | {"instance": NASTY.replace("\ud800", "")}))
    outcome = run("certify", "tsptw:n=6,seed=1", "--check", path)
    assert outcome.code == 0
    assert outcome.out.startswith(r"It states: \x1b[2J")
    assert_harmless(outcome)
    path.write_text(json.dumps(content | {"instance": NASTY}))  # half a character is no JSON
    outcome = run("certify", "tsptw:n=6,seed=1", "--check", path)
    assert (outcome.code, outcome.out) == (2, "")
    assert_harmless(outcome)


def test_the_bar_of_an_experiment_is_harmless(capsys):
    with ExperimentBar(f"[red]plan[/blue]{NASTY}"):
        pass
    err = capsys.readouterr().err
    assert r"[red]plan[/blue]\x1b[2J" in err
    assert CLEAR not in err


def test_text_of_all_languages_stays():
    for text in ("Café Ümit", "東京駅", "\u0645\u06cc\u200c\u062e\u0648", "👩\u200d🚒", "a\u00a0b", "e\u0301"):
        assert printable(text) == text
    assert printable("a\x1b\u202e\ud800\n\t") == r"a\x1b\u202e\ud800\n\t"
