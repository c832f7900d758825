"""Polished NRPA as a whole: with segments, with a genotype alone, and with neither."""

from dataclasses import replace

import numpy as np
import pytest

from pareto_nrpa import MaxEvaluations, ParetoNRPA, PolishedNRPA, certify, solve
from pareto_nrpa.engine.state import pack, unpack
from pareto_nrpa.errors import CheckpointError, ProblemError
from pareto_nrpa.routing import generate_tsp, generate_tsptw, mo_tsptw

from ...helpers.problems import Bits, Knapsack, PlainTour

TSPTW, TSP = generate_tsptw(12, seed=2, tightness=0.4), generate_tsp(8, seed=1)
PROBLEMS = {
    "segments and limits": TSPTW,
    "segments": TSP,
    "three objectives": generate_tsp(8, seed=2, n_objectives=3),
    "compiled without genotype": replace(TSPTW, segments=None, genotype=None),
    "plain permutation": PlainTour(TSP),
    "without genotype": Knapsack(10),
}
SMALL = PolishedNRPA(level=2, iterations=5, playouts=3)


def test_recorded_playouts_of_a_large_problem_take_bounded_memory():
    iterations = [
        PolishedNRPA(iterations=given).start(replace(TSP, max_candidates=n * (n - 1) // 2)).n_iterations
        for n, given in ((240, 10), (1000, 10), (1000, 2))
    ]
    assert iterations == [10, 3, 2]


@pytest.mark.slow
def test_it_finds_the_proved_front_where_the_paper_s_settings_do_not():
    problem = generate_tsptw(18, seed=4, tightness=0.3)
    truth = certify(problem)
    polished, plain = (solve(problem, a, stop=MaxEvaluations(20_000), seed=0).front for a in (None, ParetoNRPA()))
    assert polished.objectives.tolist() == truth.objectives.tolist()
    assert plain.objectives.tolist() != truth.objectives.tolist()


def test_no_solution_is_evaluated_twice_while_there_are_others():
    diary = []

    class Diary(Bits):
        def evaluate(self, state):
            diary.append(tuple(state) if isinstance(state, tuple) else str(state))
            return super().evaluate(state)

    solve(Diary(10), PolishedNRPA(), stop=MaxEvaluations(400), seed=0)
    assert len(set(diary)) == len(diary) == 400


@pytest.mark.parametrize("slots", ["playouts", "pending"])
def test_a_checkpoint_with_moves_that_are_none_is_refused(slots, tmp_path):
    """Regression: local search began there, and compiled code read outside its arrays."""
    path = tmp_path / "c.npz"
    search = PolishedNRPA().start(TSPTW, seed=5)
    search.advance(100)
    search.ask(3)
    search.save(path)
    header, tree = unpack(path.read_bytes())
    store = tree["player"]["store"]
    places = store["members"][0, :2] if slots == "playouts" else tree["slots_asked"]
    store["pool"]["moves"][places] = 2**53
    path.write_bytes(pack(header, tree))
    with pytest.raises(CheckpointError, match="is not a checkpoint of pareto-nrpa, or is damaged"):
        PolishedNRPA().resume(TSPTW, path)


@pytest.mark.parametrize("move", ["x" * 10_000, 10**400, 1.5, None], ids=["text", "huge", "half", "none"])
def test_a_given_solution_of_other_things_than_moves_is_a_sentence(move):
    solution = [move, *range(2, 12)]
    with pytest.raises(ProblemError, match=r"given solutions of tsptw.* whole numbers as moves") as caught:
        solve(TSPTW, start=[solution], stop=MaxEvaluations(5))
    assert len(str(caught.value)) < 300


class Huge(Bits):
    """Objectives as far apart as numbers go."""

    def evaluate(self, state):
        light, _ = super().evaluate(state)
        return 1.7e308 * np.sin(light), -1.7e308 * np.sin(light)


@pytest.mark.parametrize("limit", [None, 4])
def test_objectives_as_far_apart_as_numbers_go_are_no_warning(limit):
    result = solve(Huge(10), SMALL, stop=MaxEvaluations(300), max_archive=limit)
    assert np.ptp(result.front.objectives / 2, axis=0).max() > 1e308  # no number holds the whole
    assert result.evaluations == 300


@pytest.mark.parametrize("name", sorted(PROBLEMS))
def test_solutions_made_elsewhere_can_be_added(name):
    problem = PROBLEMS[name]
    donor, taker = (SMALL.start(problem, seed=seed) for seed in (1, 2))
    donor.advance(200)
    for solution in donor.front().solutions:
        taker.add(solution)
    assert taker.front().objectives.tolist() == donor.front().objectives.tolist()
    taker.advance(50)
    assert taker.evaluations == 50 + len(donor.front().solutions)


def test_a_space_that_is_used_up_is_not_searched_for_more():
    """Regression: forty solutions were played for each evaluation once all had been met."""

    class Counting(Bits):
        """Counts its games."""

        n_games = 0

        def initial_state(self):
            self.n_games += 1
            return super().initial_state()

    problem = Counting(4)
    search = SMALL.start(problem, seed=1)
    search.advance(100)
    before = problem.n_games
    search.advance(200)
    assert problem.n_games - before <= 200 * 4


# No tour keeps all windows. Pruning, which plays a city that is late before others, builds tours that are late
# everywhere; [1, 3, 2, 4] and [1, 3, 4, 2] miss one window.
INFEASIBLE = mo_tsptw(
    [
        [
            [5, 4.11, 4.41, 6.09, 7.75],
            [7.45, 2.05, 8.04, 2.2, 4.91],
            [6.38, 7.14, 5.05, 0.44, 7.61],
            [1.71, 4.3, 2.66, 3.33, 8.2],
            [6.93, 9.9, 1.43, 5.81, 7.3],
        ]
    ],
    [24.65, 3.77, 16.99, 3.96, 2.92],
    [51.7, 30.82, 44.04, 31, 29.96],
)


def test_where_nothing_is_feasible_the_least_violated_is_found_although_pruning_forbids_it():
    front = solve(INFEASIBLE, stop=MaxEvaluations(1_000), seed=1).front
    assert front.violations.tolist() == [1.0]
    assert front.solutions == [[1, 3, 4, 2]]


@pytest.mark.parametrize("name", ["segments and limits", "segments", "three objectives"])
def test_every_neighbour_that_segments_call_feasible_can_be_played(name):
    search = PolishedNRPA().start(PROBLEMS[name], seed=1, budget=None)
    search.advance(500)
    assert search.n_refused == 0
