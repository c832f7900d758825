"""Members of an archive, kept up, compared with the archive looked at anew."""

import numpy as np
import pytest

from pareto_nrpa import PolishedNRPA
from pareto_nrpa.engine.archive import archived_rows
from pareto_nrpa.engine.arrays import FOUND_AT, VIOLATIONS
from pareto_nrpa.engine.dominance import CHUNK
from pareto_nrpa.routing import generate_tsp, generate_tsptw

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
    search.local.n_playouts = 10**6  # playouts alone: nobody else looks round
    search.advance(300)
    members = search.members()
    assert set(members.ids[~members.is_fresh].tolist()) == looked_at & set(members.ids.tolist())
    assert members.place(0) is None
