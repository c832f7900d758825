"""How much of a known front was found."""

import numpy as np
import pytest

from pareto_nrpa.metrics import igd_plus, n_found, share_of_hypervolume

FRONT = np.array([[1.0, 3.0], [2.0, 2.0], [3.0, 1.0]])


def igd_plus_by_loops(points, front):
    distances = [min(np.sqrt((np.maximum(p - f, 0) ** 2).sum()) for p in points) for f in front]
    return sum(distances) / len(front)


def test_points_are_found_up_to_a_tolerance():
    nearly = FRONT[:2] + 1e-10
    assert n_found(nearly, FRONT) == 0
    assert n_found(nearly, FRONT, tolerance=1e-8) == 2
    assert n_found(np.zeros((0, 2)), FRONT, tolerance=1e-8) == 0


def n_found_by_loops(points, front, tolerance):
    return sum(any(all(abs(p - f) <= tolerance) for p in points) for f in front)


@pytest.mark.parametrize("scale", [1.0, 1e-9, 1e12])
def test_points_found_are_those_that_a_look_at_all_pairs_finds(rng, scale):
    front = scale * rng.integers(0, 4, (30, 3))
    points = front[:20] + scale * rng.choice([0.0, 0.1, -0.1, 0.2], (20, 3))
    tolerances = [1e-8, 0.1 * scale, 0.15 * scale]
    counts = [n_found(points, front, tolerance=tolerance) for tolerance in tolerances]
    assert counts == [n_found_by_loops(points, front, tolerance) for tolerance in tolerances]
    assert scale != 1.0 or counts[0] < counts[2]


def test_the_share_of_the_hypervolume():
    # Up to (4, 4) the front dominates 6.
    assert share_of_hypervolume(FRONT, FRONT, reference_point=(4, 4)) == 1
    assert share_of_hypervolume([[2, 2], [1, 3]], FRONT, reference_point=(4, 4)) == pytest.approx(5 / 6)
    assert share_of_hypervolume(np.zeros((0, 2)), FRONT, reference_point=(4, 4)) == 0
    assert np.isnan(share_of_hypervolume(FRONT, FRONT, reference_point=(1, 1)))


def test_igd_plus_is_the_mean_distance_to_being_dominated(rng):
    assert igd_plus(FRONT, FRONT) == 0
    assert igd_plus(FRONT - 1, FRONT) == 0  # better is as good
    assert igd_plus([[2, 3]], FRONT) == pytest.approx((1 + 1 + 2) / 3)
    points = 4 * rng.random((20, 3))
    front = rng.random((7, 3))
    assert igd_plus(points, front) == pytest.approx(igd_plus_by_loops(points, front))


def test_igd_plus_without_points():
    assert igd_plus(np.zeros((0, 2)), FRONT) == np.inf
    with pytest.raises(ValueError, match="front must have at least one point, got none"):
        igd_plus(FRONT, np.zeros((0, 2)))
