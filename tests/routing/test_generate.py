"""Generated instances: always solvable, always the same for a seed."""

from itertools import pairwise, permutations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pareto_nrpa.errors import InstanceError
from pareto_nrpa.routing import generate_tsp, generate_tsptw

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


@given(n=st.integers(2, 8), seed=seeds, tightness=st.sampled_from([0, 0.25, 0.5, 0.75, 0.9, 1]))
def test_every_instance_has_a_feasible_tour(n, seed, tightness):
    assert has_feasible_tour(generate_tsptw(n, seed, tightness))


@pytest.mark.parametrize("generate", [generate_tsptw, generate_tsp])
def test_the_seed_alone_decides_what_the_instance_is(generate):
    np.random.seed(1)  # noqa: NPY002 - disturbing it is the point
    first, second, other = (generate(10, seed=seed) for seed in (4, 4, 5))
    for a, b in zip(first.data, second.data, strict=True):
        np.testing.assert_array_equal(a, b)
    assert not np.array_equal(first.data.costs, other.data.costs)


@pytest.mark.parametrize("generate", [generate_tsptw, generate_tsp])
@pytest.mark.parametrize("n_objectives", [1, 2, 3])
def test_any_number_of_objectives(generate, n_objectives):
    problem = generate(6, seed=1, n_objectives=n_objectives)
    assert problem.n_objectives == n_objectives
    assert problem.data.costs.shape == (n_objectives, 6, 6)
    assert len({costs.tobytes() for costs in problem.data.costs}) == n_objectives


def test_names_say_how_to_get_the_instance_again():
    assert generate_tsptw(6, 1, 0.25, 3).name == "tsptw:n=6,seed=1,tightness=0.25,objectives=3"
    assert generate_tsp(6, 1, 3).name == "mo-tsp:n=6,seed=1,objectives=3"
    assert generate_tsptw(6, name="mine").name == "mine"


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"n": 1}, "n must be a whole number of at least 2, got 1"),
        ({"n": 2.5}, "n must be a whole number of at least 2, got 2.5"),
        ({"n_objectives": 0}, "n_objectives must be a whole number of at least 1, got 0"),
        ({"seed": -1}, "seed must be a whole number of at least 0, got -1"),
        ({"tightness": 1.1}, "tightness must be between 0 and 1, got 1.1"),
        ({"tightness": float("nan")}, "tightness must be between 0 and 1, got nan"),
    ],
)
def test_a_wrong_option_is_named(options, words):
    with pytest.raises(InstanceError, match=words):
        generate_tsptw(**{"n": 5, **options})
    if "tightness" not in options:
        with pytest.raises(InstanceError, match=words):
            generate_tsp(**{"n": 5, **options})
