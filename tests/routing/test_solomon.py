"""Reading instance files: the good ones, and one clear sentence for each kind of bad one."""

import json
import pickle
from dataclasses import replace

import numpy as np
import pytest

from pareto_nrpa.errors import InstanceError
from pareto_nrpa.routing.benchmarks import find_instance, official_names
from pareto_nrpa.routing.instance import RoutingOptions, build_problem
from pareto_nrpa.routing.read import read_instance
from pareto_nrpa.routing.stops import without_return

#: Four cities on a rectangle of 3 by 4, so that all distances are whole numbers; service takes 10 at the customers.
ROWS = (
    "0  0.0 0.0  0  0   1000  0",
    "1  3   0    1  5   50    10",
    "2  3   4    1  0   70.5  10",
    "3  0   4    1  20  90    10",
)
DISTANCES = np.array([[0, 3, 5, 4], [3, 0, 4, 5], [5, 4, 0, 3], [4, 5, 3, 0]], dtype=float)
SECONDARY = np.arange(16, dtype=float).reshape(4, 4)


def read_tsptw(path, *, check_return=True):
    instance = read_instance(path)
    assert instance.kind == "windows"
    return build_problem(instance if check_return else replace(instance, stops=without_return(instance.stops)))


def write(folder, rows=ROWS, head="4", name="toy.txt"):
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("\n".join([head, *rows]) + "\n")
    return path


def write_pair(folder, matrix, **options):
    """Write the good file and a secondary cost beside it."""
    np.save(folder / "toy.npy", matrix, **options)
    return write(folder)


def test_the_window_of_the_depot_holds_on_return_unless_it_is_said_not_to(tmp_path):
    path = write(tmp_path, ["0 0 0 0 0 45 0", *ROWS[1:]])
    tour = [1, 2, 3]  # back at 46
    assert read_tsptw(path).replay(tour)[1] == 1
    assert read_tsptw(path, check_return=False).replay(tour)[1] == 0
    assert read_tsptw(write(tmp_path, ["0 0 0 0 0 46 0", *ROWS[1:]])).replay(tour)[1] == 0


def test_travel_time_is_the_distance_and_the_service_at_the_city_that_is_left(tmp_path):
    expected = DISTANCES + np.array([[0], [10], [10], [10]])
    np.fill_diagonal(expected, 0)
    np.testing.assert_allclose(read_tsptw(write(tmp_path)).data.costs, [expected])


def test_a_secondary_cost_beside_the_file_is_the_second_objective(tmp_path):
    problem = read_tsptw(write_pair(tmp_path, SECONDARY))
    assert problem.n_objectives == 2
    np.testing.assert_array_equal(problem.data.costs[1], SECONDARY)


def test_the_reference_point_is_taken_from_beside_the_file(tmp_path):
    (tmp_path / "nadirs.json").write_text(json.dumps({"toy": [100, 200]}))
    assert read_tsptw(write_pair(tmp_path, SECONDARY)).reference_point == [100, 200]


@pytest.mark.parametrize("content", ["", "[]", '{"other": [1, 2]}', '{"toy": [1]}', '{"toy": [1, NaN]}', "[" * 200_000])
def test_a_reference_point_that_does_not_apply_is_none(content, tmp_path):
    (tmp_path / "nadirs.json").write_text(content)
    assert read_tsptw(write_pair(tmp_path, SECONDARY)).reference_point is None


def test_a_file_takes_the_options_of_stops_and_the_rounding_of_the_reader(tmp_path):
    path = write_pair(tmp_path, SECONDARY)
    fleet = build_problem(read_instance(path), RoutingOptions(vehicles=2, objectives=["distance", "cost", "vehicles"]))
    assert tuple(fleet.objective_names) == ("distance", "cost", "vehicles")
    assert fleet.replay([1, 4, 2, 3])[0].tolist() == [6 + 5 + 3 + 4, 1 + 4 + 2 + 11 + 12, 2]
    (tmp_path / "plane.txt").write_text("2\n0 0 0 0 0 100 0\n1 1 5 0 0 100 10\n")
    cut = build_problem(read_instance(tmp_path / "plane.txt", rounding="dimacs"))
    assert cut.objective_names is None
    assert cut.data.costs.tolist() == [[[0, 5], [15, 0]]]


@pytest.mark.parametrize(
    ("head", "rows", "words"),
    [
        ("4", ROWS[:2], r"toy\.txt declares 4 cities but has 2 rows; is it cut off\?"),
        ("3", ROWS, r"toy\.txt declares 3 cities but has 4 rows"),
        ("4.5", ROWS, r"toy\.txt, line 1: expected the number of cities \(at least 2\), got"),
        ("1", ROWS, r"toy\.txt, line 1: expected the number of cities \(at least 2\), got"),
        ("999999", ROWS, "declares 999999 cities; an instance has 10001 at most"),
        ("", [], r"toy\.txt is empty; the first line must be the number of cities"),
        ("4", [*ROWS[:3], "3 0 4 1"], r"toy\.txt, line 5: expected 7 numbers \(number, x, .*\), got 4"),
        ("4", [*ROWS[:3], "3 zero 4 1 20 90 10"], r"toy\.txt, line 5: x must be a number, got 'zero'"),
        ("4", [*ROWS[:3], "3 0 4 1 20 inf 10"], r"toy\.txt, line 5: closes must be finite, got inf"),
        ("4", [*ROWS[:3], "3 0 4 1 -20 90 10"], r"toy\.txt, line 5: opens must not be negative, got -20"),
        ("4", [*ROWS[:3], "3 0 4 1 90 20 10"], r"stop '3' \(line 5\) closes at 20, before it opens at 90"),
        ("2", ["0 -1e308 0 0 0 9 0", "1 1e308 0 0 0 9 0"], r"toy\.txt: costs must be finite numbers"),
        ("4", [*ROWS[:3], "3 0 4 1 20 90 " + "x" * 9000], "service must be a number, got 'xxx"),
    ],
)
def test_a_mistake_in_a_file_is_named_with_its_line(head, rows, words, tmp_path):
    with pytest.raises(InstanceError, match=words) as caught:
        read_tsptw(write(tmp_path, rows, head))
    assert len(str(caught.value)) < 300


@pytest.mark.parametrize(
    ("matrix", "words"),
    [
        (np.ones((3, 4)), r"toy\.npy must be a matrix \[4, 4\] for 4 cities, got shape \(3, 4\)"),
        (np.ones((4, 4), dtype=complex), r"toy\.npy must be a matrix of numbers"),
        (np.full((4, 4), np.nan), "toy.*must be finite"),
        (-SECONDARY, "toy.*must not be negative"),
        (b"some text", r"toy\.npy is not an \.npy file of numbers, or is cut off"),
        (pickle.dumps([1, 2]), r"toy\.npy is not an \.npy file of numbers"),
    ],
)
def test_a_mistake_in_a_matrix_is_named(matrix, words, tmp_path):
    path = write(tmp_path)
    if isinstance(matrix, bytes):
        (tmp_path / "toy.npy").write_bytes(matrix)
    else:
        np.save(tmp_path / "toy.npy", matrix)
    with pytest.raises(InstanceError, match=words):
        read_tsptw(path)


@pytest.mark.parametrize("name", official_names())
def test_every_official_instance_loads(name, official):
    problem = official(name)
    assert problem.name == name
    assert problem.n_objectives == 2
    assert 4 <= problem.max_moves + 1 <= 46
    nadirs = json.loads((find_instance(name).parent / "nadirs.json").read_text())
    assert problem.reference_point == pytest.approx(nadirs[name])


def test_the_optimum_of_an_official_instance_is_what_the_literature_says(official):
    """rc_206.1 has four cities: all six tours can be tried; its published optimum is 117.85."""
    from itertools import permutations

    problem = official("rc_206.1")
    outcomes = [problem.replay(tour) for tour in permutations(range(1, problem.max_moves + 1))]
    assert min(objectives[0] for objectives, late in outcomes if late == 0) == pytest.approx(117.85, abs=0.005)
