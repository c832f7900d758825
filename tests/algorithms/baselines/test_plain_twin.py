"""On plain problems the algorithms run as Python: they must do there what compiled code does."""

import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from pareto_nrpa.algorithms.registry import NAMES

from ...helpers.problems import TSP, TSPTW, PlainTour, PlainWindows, small

# Without segments: a plain problem has none, by which Polished NRPA would look at all neighbours at once.
TWINS = replace(TSPTW, segments=None), PlainWindows(TSPTW)
SETTINGS = [(name, {}) for name in NAMES]
SETTINGS += [
    ("random", {"bias": 1.0}),
    ("random", {"pruning": False}),
    ("pls", {"initial": 1, "bias": 0.0}),
    ("pls", {"pruning": False}),
    ("pareto-mcts", {"playouts": 1, "exploration": 0.3, "bias": 2.5}),
    ("pareto-mcts", {"pruning": False}),
    ("nmcs", {"level": 1, "bias": -1.0}),
    ("nmcs", {"pruning": False}),
]


@pytest.mark.parametrize(("name", "parameters"), SETTINGS, ids=str)
def test_plain_and_compiled_problems_lead_to_the_same_result(name, parameters):
    compiled, plain = (small(name, **parameters).start(problem, seed=11, budget=400) for problem in TWINS)
    compiled.advance(400)
    plain.advance(400)
    assert plain.front().solutions == compiled.front().solutions
    np.testing.assert_array_equal(plain.log(), compiled.log())


def test_moves_of_a_plain_problem_may_be_any_hashable():
    class Named(PlainTour):
        """The same tour with names for cities: numbers are given to them as they are met."""

        def __init__(self, compiled):
            super().__init__(compiled)
            self.genotype = type(self.genotype)(f"city {city}" for city in self.genotype.moves)

        def number(self, move):
            return int(move.split()[1])

        def legal_moves(self, state):
            return [f"city {city}" for city in super().legal_moves(state)]

        def play(self, state, move):
            return super().play(state, self.number(move))

        def bias(self, state, move, preference):
            return super().bias(state, self.number(move), preference)

    for name in ("random", "pls", "pareto-mcts", "nmcs", "nsga-ii"):
        numbered = small(name).start(PlainTour(TSP), seed=2, budget=100)
        named = small(name).start(Named(TSP), seed=2, budget=100)
        numbered.advance(100)
        named.advance(100)
        assert named.front().solutions == [[f"city {c}" for c in tour] for tour in numbered.front().solutions], name


# Prints what is compiled while the clock runs, and whether `is_compiled` promised that nothing would be.
ON_THE_CLOCK = """
from numba.core import event
from pareto_nrpa.routing import generate_tsp
from pareto_nrpa.algorithms.registry import NAMES
from tests.helpers.problems import Bits, PlainTour, small

names = []

class Listener(event.Listener):
    def on_start(self, event):
        names.append(event.data["dispatcher"].py_func.__name__)

    def on_end(self, event):
        pass

event.register("numba:compile", Listener())
for name in NAMES:
    for problem in (PlainTour(generate_tsp(8, seed=1)), Bits()):
        search = small(name).start(problem, seed=1, budget=400)
        search.count_unique()
        was_ready, before = search.is_compiled, len(names)
        search.compile()
        if was_ready and len(names) > before:
            print(name, "was not ready:", names[before:])
        before = len(names)
        search.advance(400)
        if len(names) > before:
            print(name, "compiled on the clock:", names[before:])
"""


@pytest.mark.slow
def test_no_algorithm_is_charged_for_compiling(tmp_path, monkeypatch):
    """Regression: with an empty cache, Pareto local search made one evaluation in two seconds."""
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path))
    root = Path(__file__).parent.parent.parent.parent
    command = [sys.executable, "-c", ON_THE_CLOCK]
    said = subprocess.run(command, capture_output=True, text=True, check=True, cwd=root).stdout
    assert said == ""
