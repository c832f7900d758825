"""Descents that pass through infeasible solutions: what being infeasible costs, and where to repair."""

import copy

import numpy as np
import pytest

from pareto_nrpa import PolishedNRPA
from pareto_nrpa.algorithms.polished import near_evaluation as judging
from pareto_nrpa.algorithms.polished.penalty_descent import PenaltyDescent
from pareto_nrpa.engine.archive import archived_rows
from pareto_nrpa.engine.arrays import FOUND_AT, VIOLATIONS
from pareto_nrpa.engine.dominance import CHUNK
from pareto_nrpa.routing import generate_tsp, generate_tsptw

WINDOWS = generate_tsptw(16, seed=1, tightness=0.3)
TOUR = np.array([3, 1, 4, 2, 5])
ELSEWHERE = np.array([1, 4, 2, 5, 3])


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


# --- members of the archive, updated in place, compared with the archive itself


PROBLEMS = {
    "four costs": generate_tsp(12, seed=1, n_objectives=4),
    "windows": generate_tsptw(12, seed=2, tightness=0.0),
}


# Four are fewer than objectives and half of them make room: the best of one may be discarded.
@pytest.mark.parametrize("limit", [None, 20, 4])
@pytest.mark.parametrize("name", PROBLEMS)
def test_members_are_those_of_the_archive_after_every_step(name, limit):
    search = PolishedNRPA().start(PROBLEMS[name], seed=3)
    if limit is not None:
        search.limit_archive(limit)
    sizes = set()
    for n in (1, 2, 5, 1, 30, 3, 60, 7, 200, 1, 1, 300):
        search.advance(n)
        members, archive = search.members(), search.machine.archive
        rows = archived_rows(archive)
        scores = archive.scores[rows]
        np.testing.assert_array_equal(members.rows, rows)
        np.testing.assert_array_equal(members.ids, archive.heads[rows, FOUND_AT])
        np.testing.assert_array_equal(members.objectives, scores[:, 1:])
        np.testing.assert_array_equal(members.ideal, scores[:, 1:].min(axis=0))
        span = np.ptp(scores[:, 1:], axis=0)
        np.testing.assert_allclose(members.span, np.where(span > 0, span, 1.0))
        np.testing.assert_allclose(members.scale, np.where(span > 0, span, scores[0, 1:]))
        floors = [scores[i : i + CHUNK, 1:].min(axis=0) for i in range(0, len(rows), CHUNK)]
        np.testing.assert_array_equal(members.front.floors, floors)
        assert members.violations == scores[0, VIOLATIONS]
        assert members.place(int(members.ids[-1])) == len(members) - 1
        sizes.add(len(members))
    assert len(sizes) > 1


def test_what_was_looked_at_stays_so_when_others_go():
    search = PolishedNRPA().start(PROBLEMS["four costs"], seed=1)
    search.advance(40)
    members = search.members()
    looked_at = set(members.ids[::2].tolist())
    members.is_fresh[:] = True
    members.is_fresh[::2] = False
    search.local.n_playouts = 10**6  # playouts alone: no neighbours are judged
    search.advance(300)
    members = search.members()
    assert set(members.ids[~members.is_fresh].tolist()) == looked_at & set(members.ids.tolist())
    assert members.place(0) is None
