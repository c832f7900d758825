"""`pareto-nrpa compare`: the better code is found, the statistics are right, and every mistake is a sentence."""

import csv
import signal
import sys

import numpy as np
import pytest

from pareto_nrpa import ParetoNRPA
from pareto_nrpa.algorithms import RandomSearch
from pareto_nrpa.experiments.compare import ShortRun, Variant, compared, short_runs

from ..helpers.command_line import assert_refused
from ..helpers.problems import Knapsack

# Taking an item is good or bad for the item's own sake; a code that mixes all items up can learn nothing.
FILE = """
import numpy as np
from tests.helpers.problems import Moves

class Pack(Moves):
    maximise = (False, True)
    def __init__(self, blurred=False):
        self.blurred = blurred
        self.values = np.random.default_rng(1).integers(1, 50, (2, 40)).tolist()
    def legal_moves(self, state): return (0, 1) if len(state) < 40 else ()
    def move_code(self, state, move): return 0 if self.blurred else (len(state), move)
    def evaluate(self, state): return [sum(v * t for v, t in zip(values, state)) for values in self.values]

class Helped(Pack):
    def bias(self, state, move): return float(move)

def by_item(): return Pack()
def blurred(): return Pack(blurred=True)
def single():
    problem = Pack()
    problem.maximise = False
    return problem
def breaks():
    problem = Pack()
    problem.evaluate = lambda state: 1 / (sum(state) - 20)
    return problem
"""


@pytest.fixture
def file(empty_machine, monkeypatch):
    monkeypatch.setattr(sys, "path", list(sys.path))
    (empty_machine / "packs_to_compare.py").write_text(FILE)
    yield "packs_to_compare.py"
    sys.modules.pop("packs_to_compare", None)


def test_the_better_code_comes_first(file, run, empty_machine):
    done = run("compare", f"{file}:blurred", f"{file}:by_item", "--evaluations", 1000, "--out", "runs.csv")
    assert done.code == 0
    head, _, header, first, second, *_ = done.out.splitlines()
    assert head == "10 of 10 runs of 1,000 evaluations"
    assert header.split() == ["share", "+-", "points", "seconds", "p", "verdict", "variant"]
    assert first.endswith(f"best  {file}:by_item")
    assert second.endswith(f"0.008    worse  {file}:blurred")  # 2 of the 252 ways to split ten values
    rows = list(csv.DictReader((empty_machine / "runs.csv").read_text().splitlines()))
    assert [row["seed"] for row in rows] == [*"01234"] * 2
    shares = [float(row["share"]) for row in rows]
    assert min(shares[:5]) > max(shares[5:]) > 0
    assert max(shares) <= 1
    assert f"{np.mean(shares[:5]):.4f}" == first.split()[0]


def test_algorithms_and_biases_are_variants_too(file, run):
    arguments = ["--algorithm", "random", "--algorithm", "pareto-nrpa:level=1,weighting=none", "--without-bias"]
    done = run("compare", f"{file}:Helped", *arguments, "--evaluations", 40, "--seeds", 2)
    variants = {line.split("  ")[-1] for line in done.out.splitlines()[3:7]}
    base = f"{file}:Helped, "
    names = ["random", "pareto-nrpa:level=1,weighting=none"]
    assert variants == {base + name + end for name in names for end in ("", ", without bias")}
    assert "Fewer than 4 seeds cannot show a significant difference." in done.out


def test_what_was_finished_is_shown_when_a_run_fails(file, run):
    done = run("compare", f"{file}:by_item", f"{file}:breaks", "--evaluations", 50)
    assert done.code == 2
    assert done.out.startswith("1 of 10 runs")
    assert done.err.splitlines()[-1].startswith("Error: ")


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["{file}:by_item"], "a comparison needs two or more variants: of the problem, the algorithm or the bias"),
        (["{file}:by_item", "{file}:by_item"], "packs_to_compare.py:by_item is given twice; name each variant once"),
        (
            ["{file}:by_item", "{file}:single"],
            r"must have the objectives of .*2 \(minimised, maximised\), got 2 \(minim",
        ),
        (["{file}:by_item", "--without-bias"], "--without-bias requires a problem with a bias"),
        (["{file}:by_item", "--algorithm", "nsga"], r"unknown algorithm 'nsga' \(did you mean 'nsga-ii'"),
        (["{file}:by_item", "--algorithm", "random:x"], "--algorithm must be as in pareto-nrpa:level=3, got 'x'"),
        (["{file}:by_item", "--seeds", "0"], "--seeds must be a whole number of at least 1, got 0"),
        (["{file}:by_item", "--out", "runs.json"], r"--out must be a file ending in \.csv, got runs\.json"),
        (["{file}:by_item", "--count", "some"], "--count must be one of all, unique, got 'some'"),
        (["nowhere.py:make"], r"there is no file nowhere\.py"),
    ],
)
def test_mistakes_are_sentences(file, run, arguments, words):
    assert_refused(run("compare", *(argument.format(file=file) for argument in arguments)), words)


def test_ctrl_c_leaves_equal_chances():
    variants = [Variant(label, Knapsack(), RandomSearch()) for label in "abc"]
    runs = []
    for run, status in short_runs(variants, evaluations=20, seeds=10):
        runs.append(run)
        if status.done == 4:

            def pressed(state):
                signal.raise_signal(signal.SIGINT)
                return (1, 1)

            variants[1].problem.evaluate = pressed
    assert [(run.variant, run.seed) for run in runs] == [("a", 0), ("b", 0), ("c", 0), ("a", 1)]


def made(variant, seed, points, violations=0.0):
    return ShortRun(variant, seed, np.array(points, dtype=float), violations, 0.1)


def test_shares_are_of_all_runs_together():
    variants = [Variant(label, Knapsack(), ParetoNRPA()) for label in "ab"]
    for variant in variants:
        variant.problem.maximise, variant.problem.reference_point = (False, True), (4.0, 0.0)
    both = compared(variants, [made("a", 0, [(1, -2)]), made("b", 0, [(2, -4)]), made("a", 1, [(0, 0)], 3.0)])
    assert both.reference_point == [4, 0]
    # Together they dominate 2 x 1 + 4 x 2 = 10; b alone 8, a 6, and nothing where it broke constraints.
    assert list(both.p_values) == ["b", "a"]
    assert both.runs[["variant", "share"]].to_numpy().tolist() == [["b", 0.8], ["a", 0.6], ["a", 0.0]]
    assert "violations  feasible" in both.summary()
    assert "1/2" in both.summary()
