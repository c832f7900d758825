"""Descents that pass through infeasible solutions: what being infeasible costs, and where to repair."""

import numpy as np
import pytest

from pareto_nrpa import MaxEvaluations, PolishedNRPA, generate_tsp, generate_tsptw, solve
from pareto_nrpa.polish import judging
from pareto_nrpa.polish.detours import Detours, changed_places

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
    detours = Detours(5)
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


def test_what_detours_remember_is_taken_up_again_and_checked():
    detours, other = Detours(5), Detours(5)
    detours.leave(TOUR, span=3.0)
    state = detours.state()
    other.restore(state, is_descent=True)
    assert other.is_out
    assert other.terms == detours.terms
    assert {name: array.tolist() for name, array in other.state().items()} == {
        name: array.tolist() for name, array in state.items()
    }
    for name, wrong in (
        ("detour_origin", np.zeros((2, 5), np.int64)),
        ("detour_origin", np.zeros((1, 4), np.int64)),
        ("detour_terms", np.array([0.0, 1.0, 1.0])),
        ("detour_terms", np.array([1.0, np.nan, 1.0])),
        ("detour_terms", np.array([1.0, 1.0])),
    ):
        with pytest.raises(ValueError, match=r".+"):
            Detours(5).restore({**state, name: wrong}, is_descent=True)
    with pytest.raises(ValueError, match="detours"):
        Detours(5).restore(state, is_descent=False)


def test_a_search_on_a_detour_goes_on_from_a_checkpoint_to_the_same_end(tmp_path, monkeypatch):
    monkeypatch.setattr(judging, "_MOST", 20)  # neighbours at a time, that it is left in the midst of one
    problem = generate_tsptw(20, seed=4, tightness=0.3)
    search = PolishedNRPA().start(problem, seed=1)
    while not search.local._detours.is_out:
        search.advance(1)
        assert search.evaluations < 20_000
    search.save(tmp_path / "c.npz")
    again = PolishedNRPA().resume(problem, tmp_path / "c.npz")
    assert again.local._detours.is_out
    for each in (search, again):
        each.advance(400)
    assert again.log().tolist() == search.log().tolist()
    assert again.front().solutions == search.front().solutions


def test_without_limits_there_are_no_detours():
    problem = generate_tsp(7, seed=1)
    one, other = (solve(problem, PolishedNRPA(detour=detour), stop=MaxEvaluations(2_000), seed=0) for detour in (0, 4))
    assert one.history.tolist() == other.history.tolist()
