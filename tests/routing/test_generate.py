"""Generated instances: always solvable, always the same for a seed."""

from itertools import pairwise, permutations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pareto_nrpa.errors import InstanceError
from pareto_nrpa.routing import generate_tsp, generate_tsptw

from ..helpers.made_up import cases

seeds = st.integers(0, 2**32)


def has_feasible_tour(problem):
    """Try every order, giving up on one as soon as a window is missed."""
    time, opens, closes = problem.data.costs[0], problem.data.opens, problem.data.closes

    def in_time(tour):
        now = opens[0]
        for a, b in pairwise((0, *tour)):
            now += time[a, b]
            if now > closes[b]:
                return False
            now = max(now, opens[b])
        return True

    return any(map(in_time, permutations(range(1, len(opens)))))


@cases(100)
@given(n=st.integers(2, 8), seed=seeds, tightness=st.sampled_from([0, 0.25, 0.5, 0.75, 0.9, 1]))
def test_every_instance_has_a_feasible_tour(n, seed, tightness):
    assert has_feasible_tour(generate_tsptw(n, seed, tightness))


@cases(40)
@given(n=st.integers(2, 60), seed=seeds, tightness=st.floats(0, 1))
def test_every_window_opens_before_it_closes(n, seed, tightness):
    data = generate_tsptw(n, seed, tightness).data
    assert (data.opens >= 0).all()
    assert (data.opens < data.closes).all()


def test_without_tightness_every_window_is_the_whole_day():
    data = generate_tsptw(6, seed=1, tightness=0).data
    assert (data.opens == 0).all()
    assert (data.closes[1:] == data.closes[1]).all()
    assert data.closes[0] == np.inf


def test_more_tightness_means_narrower_windows():
    widths = [
        np.subtract(p.data.closes, p.data.opens)[1:].mean() for p in (generate_tsptw(30, 5, t / 4) for t in range(5))
    ]
    assert widths == sorted(widths, reverse=True)


@pytest.mark.parametrize("generate", [generate_tsptw, generate_tsp])
def test_the_same_seed_gives_the_same_instance(generate):
    first, second = generate(10, seed=4), generate(10, seed=4)
    for a, b in zip(first.data, second.data, strict=True):
        np.testing.assert_array_equal(a, b)


@pytest.mark.parametrize("generate", [generate_tsptw, generate_tsp])
def test_another_seed_gives_another_instance(generate):
    assert not np.array_equal(generate(10, seed=4).data.costs, generate(10, seed=5).data.costs)


def test_the_global_generator_plays_no_part():
    np.random.seed(1)  # noqa: NPY002 - the point of the test
    first = generate_tsptw(10, seed=4)
    np.random.seed(2)  # noqa: NPY002
    np.testing.assert_array_equal(first.data.costs, generate_tsptw(10, seed=4).data.costs)


@pytest.mark.parametrize("generate", [generate_tsptw, generate_tsp])
@pytest.mark.parametrize("n_objectives", [1, 2, 3])
def test_any_number_of_objectives(generate, n_objectives):
    problem = generate(6, seed=1, n_objectives=n_objectives)
    assert problem.n_objectives == n_objectives
    assert problem.data.costs.shape == (n_objectives, 6, 6)
    assert len({costs.tobytes() for costs in problem.data.costs}) == n_objectives


def test_more_objectives_leave_the_first_cost_as_it_was():
    one, three = generate_tsp(6, seed=1, n_objectives=1), generate_tsp(6, seed=1, n_objectives=3)
    np.testing.assert_array_equal(one.data.costs[0], three.data.costs[0])


def test_names_say_how_to_get_the_instance_again():
    assert generate_tsptw(6, 1, 0.25, 3).name == "tsptw:n=6,seed=1,tightness=0.25,objectives=3"
    assert generate_tsp(6, 1, 3).name == "mo-tsp:n=6,seed=1,objectives=3"
    assert generate_tsptw(6, name="mine").name == "mine"


@pytest.mark.parametrize("generate", [generate_tsptw, generate_tsp])
@pytest.mark.parametrize("n", [1, 0, -5, 2.5, "10", True, None])
def test_the_number_of_cities_must_be_at_least_two(generate, n):
    with pytest.raises(InstanceError, match="n must be a whole number of at least 2, got"):
        generate(n)


@pytest.mark.parametrize("generate", [generate_tsptw, generate_tsp])
@pytest.mark.parametrize("m", [0, -1, 1.5, True])
def test_the_number_of_objectives_must_be_at_least_one(generate, m):
    with pytest.raises(InstanceError, match="n_objectives must be a whole number of at least 1, got"):
        generate(5, n_objectives=m)


@pytest.mark.parametrize("tightness", [-0.1, 1.1, float("nan"), float("inf")])
def test_tightness_is_between_zero_and_one(tightness):
    with pytest.raises(InstanceError, match="tightness must be between 0 and 1, got"):
        generate_tsptw(5, tightness=tightness)


@pytest.mark.parametrize("generate", [generate_tsptw, generate_tsp])
@pytest.mark.parametrize("seed", [-1, 1.5, "7"])
def test_the_seed_must_be_at_least_zero(generate, seed):
    with pytest.raises(InstanceError, match="seed must be a whole number of at least 0, got"):
        generate(5, seed=seed)
