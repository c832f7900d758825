"""Text in CSV is never run by a spreadsheet, and read back as it was."""

import csv
import io
import json
import re
import shutil
import subprocess
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

import pareto_nrpa
from pareto_nrpa._util.csv_text import csv_text, guarded, unguarded
from pareto_nrpa.result.reference import with_reference_front
from pareto_nrpa.routing import generate_tsp
from pareto_nrpa.routing.itinerary import itineraries
from pareto_nrpa.routing.table import read_table

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


@pytest.mark.skipif(shutil.which("node") is None, reason="needs node to run the script of the page")
def test_the_script_of_the_page_writes_the_same():
    script = Path(pareto_nrpa.__file__).with_name("report") / "templates" / "list.js"
    texts = [*FORMULAS, *HARMLESS, "'=x", "'\t", 'say "=x"', "a;b"]
    code = f"{script.read_text()}\nconsole.log(JSON.stringify({json.dumps(texts)}.map(quoted)));"
    done = subprocess.run(["node", "-e", code], capture_output=True, text=True, check=True)
    assert json.loads(done.stdout) == [csv_text([[text]])[:-1] for text in texts]
