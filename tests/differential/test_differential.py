"""Tiny random instances against brute force; thousands of them: `python -m tests.differential --instances 10000`."""

import itertools

import numpy as np
import pytest

from .__main__ import mixture
from .brute_force import Instance, _starts, drive, truth_of
from .compare import construction_differences, given_differences, search_differences
from .instances import FAMILIES, KINDS, MATRICES, instance

# Instances of each family and kind: to be searched, to be built in all ways, and to be given with all solutions.
N_FEASIBLE, N_INFEASIBLE, N_BUILT, N_GIVEN = 2, 1, 20, 2
# Instances of the slow part: to be searched, and to be built in all ways.
N_SEARCHED, N_BUILT_SLOWLY, N_BLOCKS = 2_000, 4_000, 8
WITH_WINDOWS = tuple(family for family in FAMILIES if family != "tsp")


def chosen(family, kind, count, *, feasible, most_stops=4):
    """Return the first instances that are feasible, or that are not, with what brute force knows of them."""
    drawn = (instance(family, kind, seed, most_stops) for seed in itertools.count())
    known = ((each, truth_of(each)) for each in drawn)
    return list(itertools.islice((pair for pair in known if (pair[1].least == 0) == feasible), count))


def assert_equal(pairs, compare):
    """Fail with every difference and the instance that it was found on."""
    found = [(each, list(compare(each, truth))) for each, truth in pairs]
    lines = [line for each, differences in found if differences for line in (each, *differences)]
    assert not lines, "\n".join(map(str, lines))


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("family", FAMILIES)
def test_the_whole_front_is_found(family, kind):
    count = 1 if family == "tsp" else N_FEASIBLE
    assert_equal(chosen(family, kind, count, feasible=True), search_differences)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("family", WITH_WINDOWS)
def test_the_least_violations_are_found(family, kind):
    assert_equal(chosen(family, kind, N_INFEASIBLE, feasible=False), search_differences)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("family", FAMILIES)
def test_solutions_are_built_and_evaluated(family, kind):
    count = 3 if family == "tsp" else N_BUILT
    drawn = [instance(family, kind, seed, most_stops=3) for seed in range(1000, 1000 + count)]
    assert_equal([(each, truth_of(each)) for each in drawn], construction_differences)


@pytest.mark.parametrize("matrices", MATRICES)
@pytest.mark.parametrize("family", FAMILIES)
def test_a_search_that_is_given_all_solutions_reports_the_front(family, matrices):
    drawn = [instance(family, f"{matrices}-integer", seed, most_stops=3) for seed in range(2000, 2000 + N_GIVEN)]
    assert_equal([(each, truth_of(each)) for each in drawn], given_differences)


@pytest.mark.slow
@pytest.mark.parametrize("block", range(N_BLOCKS))
def test_many_instances(block):
    count = N_SEARCHED // N_BLOCKS
    drawn = mixture(count, most_stops=7 if block == 0 else 5, first_seed=10_000 + block * count)
    assert_equal(((each, truth_of(each)) for each in drawn), search_differences)


@pytest.mark.slow
@pytest.mark.parametrize("block", range(N_BLOCKS))
def test_solutions_of_many_instances(block):
    count = N_BUILT_SLOWLY // N_BLOCKS
    drawn = mixture(count, most_stops=4, first_seed=50_000 + block * count)
    assert_equal(((each, truth_of(each)) for each in drawn), construction_differences)


def by_hand(**changes):
    """Two stops: the depot opens at 10, stop 1 at 20, stop 2 is open from 24 to 30; the way to stop 1 takes 4."""
    time = np.array([[0, 4, 5], [4, 0, 2], [5, 2, 0]])
    windows = {"opens": np.array([10, 20, 24]), "closes": np.array([40, 50, 30])}
    options = {"objectives": ("time", "finish", "waiting", "lateness", "longest", "vehicles"), "vehicles": 2}
    return Instance("vrptw", "by hand", 0, {"time": time}, **(windows | options | changes))


def test_brute_force_of_an_instance_that_was_solved_by_hand():
    """1 then 2: it leaves at 18 to serve 1 from 22 to 22 and 2 at 24 without waiting, and is back at 29 after 11."""
    together = (11, 29, 0, 0, 11, 1)
    apart = (18, 29, 0, 0, 10, 2)
    truth = truth_of(by_hand())
    assert truth.least == 0
    assert truth.front == {together, apart}
    assert truth.feasible == {((1, 2),), ((2, 1),), ((1,), (2,))}
    assert truth_of(by_hand(demand=np.array([0, 2, 2]), capacity=3)).front == {apart}
    assert truth_of(by_hand(vehicles=1, demand=np.array([0, 2, 2]), capacity=3)).least == 1
    late = truth_of(by_hand(opens=np.array([10, 23, 24]), closes=np.array([40, 25, 24]), vehicles=1))
    assert (late.least, late.front) == (1, {(11, 30, 0, 1, 11, 1)})


@pytest.mark.parametrize("seed", range(30))
def test_brute_force_leaves_at_the_best_of_all_times(seed):
    """Whole numbers: all times to leave can be tried."""
    rng = np.random.default_rng(seed)
    each = instance("vrptw", "directed-integer", seed, most_stops=4)
    route = 1 + rng.permutation(each.n - 1)
    driven = drive(each, route[None])
    path = np.array([[0, *route, 0]])
    legs = each.costs["time"][path[:, :-1], path[:, 1:]]

    def seen(leaves):
        starts = _starts(each, path, legs, np.array([leaves]))
        return np.maximum(starts - each.closes[path[:, 1:]], 0).tolist(), starts[0, -1]

    begin = leaves = each.opens[0]
    while seen(leaves + 1) == seen(begin):
        leaves += 1
    assert driven.back[0] - driven.duration[0] == leaves
    assert driven.waiting[0] == driven.duration[0] - legs.sum()
