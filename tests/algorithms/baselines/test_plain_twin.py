"""On plain problems the algorithms run as Python: they must do there what compiled code does."""

import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from pareto_nrpa import check_problem
from pareto_nrpa.algorithms.registry import NAMES

from .problems import TSP, TSPTW, PlainTour, PlainWindows, small

# Without segments: a plain problem has none, by which Polished NRPA would look at all neighbours at once.
TWINS = {
    "tsptw": (replace(TSPTW, segments=None), PlainWindows(TSPTW)),
    "tsp": (replace(TSP, segments=None), PlainTour(TSP)),
}
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


@pytest.mark.thinned(3)
@pytest.mark.parametrize("where", ["tsptw", pytest.param("tsp", marks=pytest.mark.long)])
@pytest.mark.parametrize(("name", "parameters"), SETTINGS, ids=str)
def test_plain_and_compiled_problems_lead_to_the_same_result(where, name, parameters):
    if name == "polished-nrpa" and where == "tsp":
        pytest.skip("plain problems with a genotype are searched by lists of moves")
    compiled, plain = (small(name, **parameters).start(problem, seed=11, budget=400) for problem in TWINS[where])
    compiled.advance(400)
    plain.advance(400)
    assert plain.front().solutions == compiled.front().solutions
    np.testing.assert_array_equal(plain.log(), compiled.log())


@pytest.mark.parametrize("where", TWINS)
def test_the_twins_are_sound(where):
    compiled, plain = TWINS[where]
    check_problem(plain)
    assert plain.genotype == compiled.genotype
    assert len(compiled.genotype.moves) == 9


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


class Long(PlainTour):
    """More cities than arrays have room for at first, and more legal moves."""

    def __init__(self, n):
        self.n, self.n_objectives, self.preference = n, 2, None
        self.genotype = type(TSP.genotype)(range(1, n))
        self.bias = None

    def evaluate(self, state):
        return sum(k * city for k, city in enumerate(state)), -sum(k * k * city for k, city in enumerate(state))


@pytest.mark.long_but("nsga-ii-parameters2", "nmcs-parameters9")
@pytest.mark.parametrize(
    ("name", "parameters"), [*((name, {}) for name in NAMES), ("nsga-ii", {"bias": 0.0}), ("moea-d", {"bias": 0.0})]
)
def test_sequences_longer_than_the_first_guess(name, parameters):
    problem = Long(150)
    search = small(name, **parameters).start(problem, seed=1, budget=25)
    search.advance(25)
    front = search.front()
    for solution, objectives in zip(front.solutions, front.objectives.tolist(), strict=True):
        assert sorted(solution) == list(range(1, 150))
        assert list(problem.evaluate(tuple(solution))) == objectives


# Prints the names of the functions that Numba compiles while all algorithms run on a plain problem.
COMPILED = """
from numba.core import event
from pareto_nrpa import MaxEvaluations, solve
from pareto_nrpa.routing import generate_tsp
from tests.algorithms.baselines.problems import SMALL, PlainTour, small

class Listener(event.Listener):
    def on_start(self, event):
        print(event.data["dispatcher"].py_func.__name__)

    def on_end(self, event):
        pass

event.register("numba:compile", Listener())
for name in SMALL:
    solve(PlainTour(generate_tsp(8, seed=1)), small(name), stop=MaxEvaluations(100), seed=1)
"""


@pytest.mark.slow
def test_a_second_process_compiles_nothing_for_a_plain_problem(tmp_path, monkeypatch):
    """Kernels called from Python were once compiled anew in every process, seconds that the clock of a run counted."""
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path))
    root = Path(__file__).parent.parent.parent.parent
    first, second = (
        subprocess.run([sys.executable, "-c", COMPILED], capture_output=True, text=True, check=True, cwd=root).stdout
        for _ in range(2)
    )
    assert "draw" in first
    assert second == ""


# Prints what is compiled while the clock runs, and whether `is_compiled` promised that nothing would be.
ON_THE_CLOCK = """
from numba.core import event
from pareto_nrpa.routing import generate_tsp
from pareto_nrpa.algorithms.registry import NAMES
from tests.algorithms.baselines.problems import Bits, PlainTour, small

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
    """With an empty cache, Pareto Local Search made one evaluation in two seconds, and 19,344 the next time."""
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path))
    root = Path(__file__).parent.parent.parent.parent
    command = [sys.executable, "-c", ON_THE_CLOCK]
    said = subprocess.run(command, capture_output=True, text=True, check=True, cwd=root).stdout
    assert said == ""
