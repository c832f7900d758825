"""Knee, weights and limits, on fronts that one can draw by hand; the page's are held beside them in pages/."""

import numpy as np
import pytest

from pareto_nrpa import ParetoNRPAError

from ..helpers.results import knapsack, result_of


def front(*points, **changes):
    return result_of(points, [[i] for i in range(len(points))], **{"objective_names": ["cost", "CO2 (kg)"], **changes})


BULGING = front((0, 10), (1, 4), (2, 1), (6, 0.5), (10, 0))  # the third is nearest to the best of both
HOLLOW = front((0, 10), (6, 9), (8.5, 8.5), (9, 6), (10, 0))  # behind the line between its ends


def test_the_knee_lies_farthest_before_the_line_between_the_ends():
    knee = BULGING.knee()
    assert knee.number == 3
    assert knee.objectives == {"cost": 2.0, "CO2 (kg)": 1.0}
    assert repr(knee) == "<Solution 3: cost 2, CO2 (kg) 1>"


def test_a_front_that_bulges_nowhere_has_the_even_compromise_for_a_knee():
    assert HOLLOW.knee().number == HOLLOW.best().number == 3


def test_knee_and_weights_know_what_is_maximised():
    result = knapsack()
    assert result.knee().objectives == {"load": 20.0, "profit": 9.0}
    assert result.best({"profit": 1}).objectives["profit"] == 10
    assert result.best([1, 0]).objectives["load"] == 10


@pytest.mark.parametrize("index", range(5))
def test_weights_reach_every_solution_of_a_front(index):
    for result in (BULGING, HOLLOW):
        values = result.front.objectives / 10
        weights = (1 / np.maximum(values[index], 1e-9)).tolist()
        assert result.best(weights).index == index


@pytest.mark.parametrize("factor", [1e-300, 1.0, 1.7e307])
def test_the_choice_does_not_depend_on_units(factor):
    scaled = front(*(BULGING.front.objectives * [factor, -factor] + [0, 0]).tolist(), maximise=[False, True])
    assert scaled.knee().index == BULGING.knee().index


def test_limits_by_keyword_and_by_name():
    assert len(BULGING.within(cost=2).front) == 3
    kept = BULGING.within({"CO2 (kg)": 4}, cost=2)
    np.testing.assert_array_equal(kept.front.objectives, [[1, 4], [2, 1]])
    assert kept.front.solutions == [[1], [2]]
    assert len(kept.history) == 0  # its hypervolume would be that of the whole front
    assert len(knapsack().within(profit=7).front) == 3  # at least, as more is better
    assert knapsack().within(profit=7).descriptions[0] == "items of 15 kg"


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda r: r.within(costs=3), r"no objective 'costs' \(did you mean 'cost'\?\); there are: cost, CO2 \(kg\)"),
        (lambda r: r.within(cost="3"), "the limit of cost must be a finite number, got '3'"),
        (lambda r: r.within(cost=float("nan")), "must be a finite number, got nan"),
        (lambda r: r.best([1]), r"a number of at least 0 for each of cost, CO2 \(kg\), not all 0, got \[1\]"),
        (lambda r: r.best([0, 0]), "not all 0"),
        (lambda r: r.best([-1, 1]), "at least 0"),
        (lambda r: r.best({"price": 1}), "no objective 'price'"),
        (lambda r: r.best("ab"), "got 'ab'"),
        (lambda r: r.within(cost=-1).knee(), "no solution to choose from"),
    ],
)
def test_mistakes_are_told(call, message):
    with pytest.raises(ParetoNRPAError, match=message):
        call(BULGING)
