"""Text in CSV is never run by a spreadsheet, and read back as it was."""

import csv
import io
import json
import re
import unicodedata

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from pareto_nrpa import Result
from pareto_nrpa._util.checks import printable
from pareto_nrpa._util.csv_text import csv_text, guarded, unguarded
from pareto_nrpa.result.reference import with_reference_front
from pareto_nrpa.routing import generate_tsp
from pareto_nrpa.routing.itinerary import itineraries
from pareto_nrpa.routing.table import read_table

from ..helpers.command_line import assert_refused
from ..helpers.results import make_plan, result_of, tours

FORMULAS = [
    '=HYPERLINK("http://evil.example")',
    "@SUM(1+1)",
    "+1+1",
    "-2+3",
    "\t=1+1",
    "\r=1+1",
    "\n=1+1",
    "\tplain",
    "\uff1d1+1",
    "\uff0b1+1",
    "\uff0d2+3",
    "\uff20SUM(1)",
    " =1+1",
    '"=1+1',
    "\ufeff=1+1",
    "Anna;=1+1",
    "Anna\n=1+1",
    'Anna;"=1+1',
    "-",
    "--5",
    "+49 30 1234",
]
HARMLESS = ["-5", "+1.5", "-1,5", "1e-7", "-2.5e+10", "-00:05", "Anna", "A - B - C", "", "'t Hof", "x=1", "Tor 3; -5"]
TEXTS = st.text(st.sampled_from("=+-@'\"\t\r\n;, 15.:aé\uff1d\uff20\ufeff\x00"), max_size=8)
# What begins a cell, also where a semicolon, a tab or the end of a line begins one.
BEGINS = re.compile('(?:^|[;\t\r\n])[\\s"\ufeff\x00]*[=+\\-@\uff1d\uff0b\uff0d\uff20]')


@pytest.mark.parametrize("text", FORMULAS)
def test_formulas_are_text(text):
    assert guarded(text) != text
    assert not BEGINS.search(guarded(text))
    assert guarded(text).startswith("'") or text.startswith("Anna")
    assert unguarded(guarded(text)) == text


@pytest.mark.parametrize("text", HARMLESS)
def test_numbers_and_other_text_stay(text):
    assert guarded(text) == text
    assert unguarded(text) == text


@given(st.lists(TEXTS, min_size=2, max_size=3))
@example(["'=x", "''=x"])
@example(["'\t", "=;'=;'a"])
def test_all_text_is_read_back(texts):
    (cells,) = csv.reader(io.StringIO(csv_text([texts]), newline=""), strict=True)
    assert list(map(unguarded, cells)) == texts


def cells_of(text):
    return [cell for row in csv.reader(io.StringIO(text, newline="")) for cell in row]


def test_a_result_has_no_formulas_and_is_read_back(tmp_path):
    names = ["=f(1)", "@g;+x"]
    result = result_of([(1, 9), (2, 8)], [[1], [2]], objective_names=names, descriptions=FORMULAS[:2])
    text = result.save(tmp_path / "front.csv").read_text()
    assert not any(map(BEGINS.search, cells_of(text)))
    table = read_table(tmp_path / "front.csv")
    assert table.rows[0] == [*names, "violations", "policy", "solution"]
    assert [row[-1] for row in table.rows[1:]] == FORMULAS[:2]
    (tmp_path / "front.csv").write_text(text.replace("SUM", "\u2028SUM"))  # a line break to some, not to CSV
    measured = with_reference_front(generate_tsp(5), tmp_path / "front.csv")
    assert measured.reference_front.points.tolist() == [[1, 9], [2, 8]]


def test_a_drivers_list_has_no_formulas_and_is_read_back(tmp_path):
    names = [text for text in FORMULAS if text.isprintable() and text.strip() == text]
    plan = make_plan(len(names), names=names)
    for stop in plan.stops:
        stop["=note"] = "@home"
    result = tours(plan, n_solutions=2)
    text = itineraries(result)[0].to_csv()
    assert not any(BEGINS.search(cell) for cell in cells_of(text) if not re.fullmatch(r"[-:0-9]+", cell))
    path = tmp_path / "list.csv"
    path.write_text(text)
    rows = [dict(zip(read_table(path).rows[0], row, strict=True)) for row in read_table(path).rows[1:]]
    assert {row["stop"] for row in rows} == {*names, "Depot"}
    assert {row["=note"] for row in rows} == {"@home"}


# --- text of files is escaped before it reaches a terminal


pytestmark = pytest.mark.usefixtures("empty_machine")

CLEAR, TITLE, C1, BIDI = "\x1b[2J", "\x1b]0;owned\x07", "\x9b2J\x85", "\u202egnp.\u2066\u200f"
NASTY = f"{CLEAR}{TITLE}{C1}{BIDI}\r\b\x00\ud800\u2028\nError: false"
STOPS = "name,x,y\nHub,0,0\nAnna,1,1\nBob,2,0\n"


def assert_harmless(outcome, *, is_csv=False):  # in quotes, cells of CSV may have several lines
    for text in (outcome.out, outcome.err):
        odd = [c for c in text if unicodedata.category(c) in ("Cc", "Cf", "Cs", "Zl", "Zp") and c != "\n"]
        assert odd == [], text
        assert is_csv or not re.search(r"^Error: false", text, re.MULTILINE)


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
    path.write_text(json.dumps(content).replace(r"\ud800", ""))  # half a character, which no JSON may have
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


def test_text_of_all_languages_stays():
    for text in ("Café Ümit", "東京駅", "\u0645\u06cc\u200c\u062e\u0648", "👩\u200d🚒", "a\u00a0b", "e\u0301"):
        assert printable(text) == text
    assert printable("a\x1b\u202e\ud800\n\t") == r"a\x1b\u202e\ud800\n\t"
