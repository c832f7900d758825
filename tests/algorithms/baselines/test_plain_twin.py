"""On plain problems the algorithms run as Python: they must do there what compiled code does."""

from dataclasses import replace

import numpy as np
import pytest

from pareto_nrpa.algorithms.registry import NAMES
from pareto_nrpa.routing import generate_tsptw

from ...helpers.command_line import python
from ...helpers.problems import TSPTW, PlainWindows, small

# Without segments: a plain problem has none, by which Polished NRPA would look at all neighbours at once.
TWINS = replace(TSPTW, segments=None), PlainWindows(TSPTW)
SETTINGS = [(name, {}) for name in NAMES]
SETTINGS += [
    ("random", {"bias": 1.0}),
    ("random", {"pruning": False}),
    ("pls", {"initial": 1, "bias": 0.0}),
    pytest.param("pls", {"pruning": False}, marks=pytest.mark.slow),
    ("pareto-mcts", {"playouts": 1, "exploration": 0.3, "bias": 2.5}),
    pytest.param("pareto-mcts", {"pruning": False}, marks=pytest.mark.slow),
    ("nmcs", {"level": 1, "bias": -1.0}),
    pytest.param("nmcs", {"pruning": False}, marks=pytest.mark.slow),
]


@pytest.mark.parametrize(("name", "parameters"), SETTINGS, ids=str)
def test_plain_and_compiled_problems_lead_to_the_same_result(name, parameters):
    compiled, plain = (small(name, **parameters).start(problem, seed=11, budget=400) for problem in TWINS)
    compiled.advance(400)
    plain.advance(400)
    assert plain.front().solutions == compiled.front().solutions
    np.testing.assert_array_equal(plain.log(), compiled.log())


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
def test_no_algorithm_is_charged_for_compiling(tmp_path):
    """Regression: with an empty cache, Pareto local search made one evaluation in two seconds."""
    assert python(ON_THE_CLOCK, NUMBA_CACHE_DIR=str(tmp_path))[0] == ""


# --- pruning


TIGHT = generate_tsptw(10, seed=2, tightness=0.9)


def is_pruned(problem, solution):
    """Tell whether a solution has a move that pruning leaves out."""
    plain = PlainWindows(problem)
    return any(move not in plain.legal_moves(tuple(solution[:i])) for i, move in enumerate(solution))


@pytest.mark.parametrize(
    ("name", "problem"),
    [("random", TIGHT), ("nrpa", PlainWindows(TIGHT)), ("pareto-nrpa", PlainWindows(TIGHT))],
    ids=["random", "nrpa", "pareto-nrpa"],
)
def test_only_without_pruning_are_there_moves_that_pruning_leaves_out(name, problem):
    """Whatever builds solutions from legal moves alone; local and evolutionary search change them afterwards."""
    seen = {}
    for pruning in (True, False):
        search = small(name, pruning=pruning, bias=0.0).start(problem, seed=4, budget=60)
        solutions = []
        for _ in range(60):
            search.advance(1)
            solutions += search.front().solutions
        seen[pruning] = [is_pruned(TIGHT, solution) for solution in solutions]
    assert not any(seen[True])
    assert any(seen[False])


_PROGRAM = """
import sys
from pareto_nrpa.routing import generate_tsptw
from pareto_nrpa.algorithms.registry import algorithm
problem = generate_tsptw(10, seed=5)
for pruning in sys.argv[2:]:
    search = algorithm(sys.argv[1], {"pruning": pruning == "pruned"}).start(problem, seed=11, budget=400)
    search.advance(400)
    print(search.rng.random(), search.log().tolist())
"""


@pytest.mark.slow
@pytest.mark.parametrize("name", ["random", "nsga-ii"])
def test_code_compiled_by_two_processes_stays_apart_in_a_third(name, tmp_path):
    """Regression: functions of equal name, compiled apart, became one symbol when loaded together."""

    def run(*how):
        return python(_PROGRAM, name, *how, NUMBA_CACHE_DIR=str(tmp_path))[0].splitlines()

    (pruned,) = run("pruned")
    (free,) = run("free")
    assert pruned != free
    assert run("pruned", "free") == [pruned, free]
    assert run("free", "pruned") == [free, pruned]
