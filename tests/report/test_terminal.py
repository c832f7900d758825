"""What a terminal shows of a result: in 80 and in 120 columns, in ASCII, and in a pipe."""

import io
import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from rich.console import Console

from pareto_nrpa import Callbacks, MaxEvaluations, MaxRuntime, ProgressBar, solve
from pareto_nrpa.report.terminal import short_rows, show

from ..helpers.command_line import assert_refused, read
from ..helpers.problems import Knapsack
from ..helpers.results import knapsack, make_plan, result_of, tours, with_solutions

SAVED = [Path("results/stops-seed7.json"), Path("results/stops-seed7.html")]


def screen(result, width, *, encoding="utf-8", is_terminal=True, **options):
    """Return the lines that a terminal of this width shows."""
    raw = io.BytesIO()
    stream = io.TextIOWrapper(raw, encoding=encoding)
    console = Console(file=stream, width=width, force_terminal=is_terminal, color_system=None)
    show(console, result, SAVED, **options)
    stream.flush()
    return raw.getvalue().decode(encoding).splitlines()


def long_front():
    return with_solutions(make_plan(12), 64)


def infeasible():
    result = tours(make_plan(6), n_solutions=5)
    return replace(result, front=replace(result.front, violations=np.full(len(result.front), 2.0)), history=[])


RESULTS = {
    "two": long_front,
    "three": lambda: tours(make_plan(12), n_objectives=3),
    "one": lambda: result_of([(3.5,)], [[1, 2, 3]]),
    "infeasible": infeasible,
    "maximised": knapsack,
    "none": lambda: result_of(np.zeros((0, 2)), []),
    "wide names": lambda: result_of(
        [(i * 1e9, -i / 7) for i in range(30)], [[i] for i in range(30)], objective_names=["first " * 5, "2"]
    ),
}


@pytest.mark.parametrize("width", [80, 120])
@pytest.mark.parametrize("kind", RESULTS)
def test_a_result_is_one_screen_and_no_line_is_wider(kind, width):
    lines = screen(RESULTS[kind](), width)
    assert len(lines) <= 36  # of 40: what is said before the search, and the progress
    assert max(map(len, lines)) <= width
    assert f"saved to {SAVED[1]}" in lines


def test_the_screen_of_two_objectives():
    result = long_front()
    lines = screen(result, 80)
    text = "\n".join(lines)
    assert lines[0] == "stops.csv: 64 trade-offs by pareto-nrpa, seed 7"
    assert sum(line.count("●") for line in lines) == 3
    assert all(text.count(f"best {words}") == 2 for words in ("euros", "CO2 (kg)"))  # in the picture and in the table
    assert text.count("knee") == 3  # and in the last lines
    assert "56 more: pareto-nrpa show results/stops-seed7.json" in lines
    knee = result.knee().number
    assert f"  pareto-nrpa show results/stops-seed7.json --solution {knee}" in lines
    assert "  pareto-nrpa report results/stops-seed7.json --open" in lines
    assert "policy" not in text
    assert len(screen(result, 80, is_all=True)) == len(lines) + 64 - 8 - 1


def test_a_single_value_has_as_many_digits_as_one_among_others():
    lines = screen(result_of([(49.1,)], [[1, 2, 3]]), 80)
    assert any(line.split()[:2] == ["1", "49.10"] for line in lines)


def test_a_pipe_gets_the_whole_table_and_no_picture():
    result = long_front()
    lines = screen(result, 80, is_terminal=False)
    rows = lines[lines.index("") + 2 : -len(SAVED)]
    assert len(rows) == 64
    assert all(words in row for words, row in zip(result.words(), rows, strict=True))
    assert "●" not in "\n".join(lines)


@pytest.mark.parametrize("kind", ["two", "three", "wide names"])
def test_the_short_table_has_the_ends_and_the_knee(kind):
    result = RESULTS[kind]()
    rows = short_rows(result)
    assert len(rows) == len(set(rows)) <= 10
    assert {0, len(result.front) - 1, result.knee().index} <= set(rows)


# --- the command


@pytest.mark.usefixtures("empty_machine")
class TestCommand:
    SOLVE = ("solve", "mo-tsp:n=30", "--evaluations", 1_000, "--level", 2)

    @pytest.fixture(autouse=True)
    def terminal(self, monkeypatch):
        monkeypatch.setenv("FORCE_COLOR", "1")  # what makes Rich take any stream for a terminal
        monkeypatch.setenv("COLUMNS", "80")
        monkeypatch.delenv("CI", raising=False)

    def test_a_terminal_gets_a_page(self, run):
        out = run(*self.SOLVE, "--out", "r.json").out
        assert "saved to r.html" in out
        assert "generator" in Path("r.html").read_text()

    @pytest.mark.parametrize("options", [("--no-report",), ("--quiet",)])
    def test_a_page_can_be_left_out(self, run, options):
        run(*self.SOLVE, *options, "--out", "r.json")
        assert sorted(map(str, Path().iterdir())) == ["r.json"]

    def test_ci_and_pipes_get_none(self, run, monkeypatch):
        monkeypatch.setenv("CI", "true")
        run(*self.SOLVE, "--out", "a.json")
        monkeypatch.delenv("CI")
        monkeypatch.delenv("FORCE_COLOR")
        run(*self.SOLVE, "--out", "b.json")
        assert sorted(map(str, Path().iterdir())) == ["a.json", "b.json"]

    def test_an_earlier_page_is_replaced_and_another_file_is_not(self, run):
        Path("r.html").write_text("notes of the user")
        for _ in range(2):
            assert "saved to r-2.html" in run(*self.SOLVE, "--out", "r.json").out
        assert sorted(map(str, Path().iterdir())) == ["r-2.html", "r.html", "r.json"]
        assert Path("r.html").read_text() == "notes of the user"

    def test_the_page_is_opened_on_request(self, run, monkeypatch):
        opened = []
        monkeypatch.setattr("webbrowser.open", lambda address: opened.append(address) or True)
        run(*self.SOLVE, "--out", "r.json", "--open")
        run("report", "r.json", "--open")
        assert opened == [Path("r.html").resolve().as_uri()] * 2
        assert_refused(run(*self.SOLVE, "--no-report", "--open"), "--no-report and --open contradict each other")

    def test_all_trade_offs_are_printed_on_request(self, run):
        out = run(*self.SOLVE, "--out", "r.json", "--all").out
        n = len(read("r.json")["objectives"])
        assert n > 10
        assert f"{n:>8}  " in out
        assert "more: " not in out


# --- progress


class Shown(Callbacks):
    """Keeps the texts of a bar that redraws at every look."""

    def __init__(self, bar):
        self.bar, self.texts = bar, []
        bar.is_due = lambda: True
        bar.draw = lambda text, done=0.0, total=None: self.texts.append((text, done))

    def __getattribute__(self, name):
        return getattr(self.bar, name) if name.startswith("on_") else super().__getattribute__(name)


@pytest.mark.parametrize(
    ("stop", "budget"), [(MaxEvaluations(3_000), {"evaluations": 3_000}), (MaxRuntime(0.3), {"seconds": 0.3})]
)
def test_progress_has_elapsed_and_remaining_time_front_and_last_improvement(stop, budget):
    shown = Shown(ProgressBar(Knapsack(), **budget))
    solve(Knapsack(), stop=stop, callbacks=shown, seed=1)
    text, share = shown.texts[-2]
    assert "s left | front" in text
    assert ", improved " in text
    assert " ago | " in text
    assert 0 < share <= 1
    assert [share for _, share in shown.texts] == sorted(share for _, share in shown.texts)


def test_the_bar_in_a_notebook_ends_at_100_percent(monkeypatch):
    display = pytest.importorskip("IPython.display", reason="needs IPython: pip install ipython")
    shown = []

    class Handle:
        def update(self, html):
            shown.append(html.data)

    monkeypatch.setattr("rich.console._is_jupyter", lambda: True)
    monkeypatch.setattr(display, "display", lambda html, display_id: shown.append(html.data) or Handle())
    problem = Knapsack()
    solve(problem, stop=MaxEvaluations(200), callbacks=ProgressBar(problem, evaluations=1_000), seed=1)
    assert "value='0.000'" in shown[0]
    assert "value='1.000'" in shown[-1]
    assert re.search(r">100%, \d+ s \| front", shown[-1])
