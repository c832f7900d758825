"""Descents that pass through infeasible solutions: what being infeasible costs, and where to repair."""

import copy

import numpy as np
import pytest

from pareto_nrpa import PolishedNRPA
from pareto_nrpa.algorithms.polished import near_evaluation as judging
from pareto_nrpa.algorithms.polished.penalty_descent import PenaltyDescent, changed_places
from pareto_nrpa.routing import generate_tsp, generate_tsptw, mo_tsptw

WINDOWS = generate_tsptw(16, seed=1, tightness=0.3)
ONE_COST = generate_tsptw(16, seed=2, tightness=0.3, n_objectives=1)
TOUR = np.array([3, 1, 4, 2, 5])
ELSEWHERE = np.array([1, 4, 2, 5, 3])


@pytest.mark.parametrize(
    ("now", "changed"),
    [
        ([3, 1, 4, 2, 5], [0, 0, 0, 0, 0]),
        ([3, 4, 1, 2, 5], [1, 1, 1, 1, 0]),
        ([1, 4, 2, 5, 3], [1, 0, 0, 1, 1]),
        ([5, 2, 4, 1, 3], [1, 1, 1, 1, 1]),
    ],
)
def test_changed_are_the_places_beside_every_new_joint_and_both_ends(now, changed):
    assert changed_places(TOUR, np.array(now)).tolist() == changed


def test_the_price_rises_after_detours_that_end_infeasible_and_falls_after_others():
    detours = PenaltyDescent(5)
    first = detours.leave(TOUR, span=2.0)
    assert detours.is_out
    assert detours.come_back(ELSEWHERE, distance=7.0).tolist() == [1, 0, 0, 1, 1]
    dearer = detours.leave(TOUR, span=2.0)
    assert detours.come_back(ELSEWHERE, distance=0.0) is None
    assert not detours.is_out
    again = detours.leave(TOUR, span=2.0)
    assert dearer.price > first.price == pytest.approx(again.price)
    assert first.most_gain == dearer.most_gain == again.most_gain
    assert detours.leave(TOUR, span=4.0).price == 2 * again.price


def same_end(*searches):
    """Tell whether searches find and look at the same from here on."""
    for search in searches:
        search.advance(300)
    first, second = ((search.log().tolist(), search.local.judge.n_judged, search.player.draw()) for search in searches)
    return first == second


def test_a_search_on_a_detour_goes_on_from_a_checkpoint_to_the_same_end(monkeypatch):
    monkeypatch.setattr(judging, "_MOST", 20)  # neighbours at a time, that it is left in the midst of one
    search = PolishedNRPA().start(WINDOWS, seed=1)
    search.local._detours._price = 1e-3  # at the first price of all, none would be infeasible for long
    for _ in range(10):
        while not search.local._detours.is_out:
            search.advance(1)
            assert search.evaluations < 20_000
        again = copy.deepcopy(search)
        assert again.local._detours.is_out
        assert same_end(search, again)


@pytest.mark.parametrize(("problem", "has_detours"), [(WINDOWS, True), (generate_tsp(7, seed=1), False)])
def test_there_are_detours_where_there_are_limits(problem, has_detours):
    one, other = (PolishedNRPA(detour=detour).start(problem, seed=0) for detour in (0, 8))
    assert same_end(one, other)  # the front must be looked round first
    for search in (one, other):
        search.advance(2_000)
    assert same_end(one, other) != has_detours


def test_with_one_solution_in_the_front_no_unit_of_measurement_matters():
    judged = []
    for factor in (1.0, 2.0**8, 2.0**20):  # powers of two, that all sums are the same but for it
        problem = mo_tsptw(ONE_COST.data.costs * factor, ONE_COST.data.opens * factor, ONE_COST.data.closes * factor)
        search = PolishedNRPA(bias=0.0).start(problem, seed=0)
        search.local._detours._price = 1.0 / factor
        search.advance(1_500)
        judged.append(search.local.judge.n_judged)
    assert judged[0] == judged[1] == judged[2]
