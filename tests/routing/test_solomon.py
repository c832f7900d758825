"""Reading instance files: the good ones, and one clear sentence for each kind of bad one."""

import json
import math
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


def write_row(folder, row):
    """Write the good file with its third customer replaced."""
    return write(folder, [*ROWS[:3], row])


def write_pair(folder, matrix, **options):
    """Write the good file and a secondary cost beside it."""
    np.save(folder / "toy.npy", matrix, **options)
    return write(folder)


def test_a_file_without_secondary_cost_has_one_objective(tmp_path):
    problem = read_tsptw(write(tmp_path))
    assert problem.n_objectives == 1
    assert problem.name == "toy"
    assert problem.max_moves == 3
    assert problem.reference_point is None


def test_windows_are_read(tmp_path):
    data = read_tsptw(write(tmp_path)).data
    assert data.opens.tolist() == [0, 5, 0, 20]
    assert data.closes == pytest.approx([1000, 50, 70.5, 90], rel=2e-9)
    assert (data.closes > [1000, 50, 70.5, 90]).all()


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


def test_the_bias_looks_at_distances_without_service(tmp_path):
    np.testing.assert_allclose(read_tsptw(write(tmp_path)).data.distances, [DISTANCES / 5])


def test_blank_lines_and_runs_of_blanks_do_not_matter(tmp_path):
    spaced = write(tmp_path, ["", *(f"   {row.replace(' ', chr(9))}  " for row in ROWS), "", ""], head="\n 4 ")
    np.testing.assert_array_equal(
        read_tsptw(spaced).data.costs, read_tsptw(write(tmp_path, name="plain.txt")).data.costs
    )


def test_coordinates_may_be_negative(tmp_path):
    problem = read_tsptw(write(tmp_path, ["0 -3 -4 0 0 9 0", "1 0 0 0 0 9 0"], head="2"))
    assert problem.data.costs[0, 0, 1] == 5


def test_a_secondary_cost_beside_the_file_is_the_second_objective(tmp_path):
    problem = read_tsptw(write_pair(tmp_path, SECONDARY))
    assert problem.n_objectives == 2
    np.testing.assert_array_equal(problem.data.costs[1], SECONDARY)


def test_a_secondary_cost_in_the_public_layout_is_found(tmp_path):
    (tmp_path / "SecondaryCost").mkdir()
    np.save(tmp_path / "SecondaryCost" / "toy.npy", SECONDARY)
    assert read_tsptw(write(tmp_path / "SolomonTSPTW")).n_objectives == 2


def test_a_secondary_cost_may_be_whole_numbers(tmp_path):
    problem = read_tsptw(write_pair(tmp_path, SECONDARY.astype(np.int32)))
    np.testing.assert_array_equal(problem.data.costs[1], SECONDARY)


def test_the_reference_point_is_taken_from_beside_the_file(tmp_path):
    (tmp_path / "nadirs.json").write_text(json.dumps({"toy": [100, 200]}))
    assert read_tsptw(write_pair(tmp_path, SECONDARY)).reference_point == [100, 200]


@pytest.mark.parametrize(
    "content", ["", "[]", "3", "{", '{"other": [1, 2]}', '{"toy": [1]}', '{"toy": [1, NaN]}', '{"toy": ["a", 2]}']
)
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


def test_a_truncated_file_is_refused(tmp_path):
    with pytest.raises(InstanceError, match=r"toy\.txt declares 4 cities but has 2 rows; is it cut off\?"):
        read_tsptw(write(tmp_path, ROWS[:2]))


def test_a_file_cut_off_in_a_row_is_refused(tmp_path):
    with pytest.raises(InstanceError, match=r"toy\.txt, line 5: expected 7 numbers \(number, x, .*\), got 4"):
        read_tsptw(write_row(tmp_path, "3 0 4 1"))


def test_more_rows_than_announced_are_refused(tmp_path):
    with pytest.raises(InstanceError, match=r"toy\.txt declares 3 cities but has 4 rows"):
        read_tsptw(write(tmp_path, head="3"))


@pytest.mark.parametrize("head", ["four", "4.5", "-4", "0", "1", "4 4", "NaN", "²", ROWS[0]])
def test_a_first_line_that_is_no_number_of_cities_is_refused(head, tmp_path):
    with pytest.raises(InstanceError, match=r"toy\.txt, line 1: expected the number of cities \(at least 2\), got"):
        read_tsptw(write(tmp_path, head=head))


@pytest.mark.parametrize(
    ("row", "problem"),
    [
        ("3 zero 4 1 20 90 10", "x must be a number, got 'zero'"),
        ("3 0 4 1 20 90 ten", "service must be a number, got 'ten'"),
        ("3 0 4 1 20 9O 10", "closes must be a number, got '9O'"),
        ("3 NaN 4 1 20 90 10", "x must be finite, got NaN"),
        ("3 0 4 1 20 nan 10", "closes must be finite, got nan"),
        ("3 0 4 1 20 inf 10", "closes must be finite, got inf"),
        ("3 0 4 1 -20 90 10", "opens must not be negative, got -20"),
        ("3 0 4 1 -20 -10 10", "opens must not be negative, got -20"),
        ("3 0 4 1 20 90 -1", "service must not be negative, got -1"),
    ],
)
def test_a_bad_row_is_named_with_its_line(row, problem, tmp_path):
    with pytest.raises(InstanceError, match=rf"toy\.txt, line 5: {problem}"):
        read_tsptw(write_row(tmp_path, row))


def test_a_window_that_closes_before_it_opens_is_refused(tmp_path):
    with pytest.raises(InstanceError, match=r"toy\.txt: stop '3' \(line 5\) closes at 20, before it opens at 90"):
        read_tsptw(write_row(tmp_path, "3 0 4 1 90 20 10"))


@pytest.mark.parametrize("content", ["", "\n  \n\t\n"])
def test_an_empty_file_is_refused(content, tmp_path):
    (tmp_path / "toy.txt").write_text(content)
    with pytest.raises(InstanceError, match=r"toy\.txt is empty; the first line must be the number of cities"):
        read_tsptw(tmp_path / "toy.txt")


def test_a_binary_file_is_refused(tmp_path):
    (tmp_path / "toy.txt").write_bytes(b"\x93NUMPY\x01\x00\xff\xfe")
    with pytest.raises(InstanceError, match=r"toy\.txt is an array of NumPy; CSV, Excel"):
        read_tsptw(tmp_path / "toy.txt")


def test_a_missing_file_is_refused(tmp_path):
    with pytest.raises(InstanceError, match=r"cannot read .*none\.txt: No such file or directory"):
        read_tsptw(tmp_path / "none.txt")


@pytest.mark.parametrize("shape", [(4, 5), (3, 4), (4,), (4, 4, 1), (), (1, 1), (3, 3), (5, 5)])
def test_a_matrix_of_another_shape_is_refused(shape, tmp_path):
    with pytest.raises(InstanceError, match=r"toy\.npy must be a matrix \[4, 4\] for 4 cities, got shape \("):
        read_tsptw(write_pair(tmp_path, np.ones(shape)))


@pytest.mark.parametrize(("bad", "words"), [(math.nan, "finite"), (math.inf, "finite"), (-1, "not be negative")])
def test_a_matrix_with_bad_entries_is_refused(bad, words, tmp_path):
    matrix = SECONDARY.copy()
    matrix[1, 2] = bad
    with pytest.raises(InstanceError, match=rf"toy.*must {words}|toy.*must be {words}"):
        read_tsptw(write_pair(tmp_path, matrix))


@pytest.mark.parametrize("matrix", [np.full((4, 4), "a"), np.ones((4, 4), dtype=complex), np.ones((4, 4), dtype=bool)])
def test_a_matrix_that_is_not_of_numbers_is_refused(matrix, tmp_path):
    with pytest.raises(InstanceError, match=r"toy\.npy must be a matrix of numbers"):
        read_tsptw(write_pair(tmp_path, matrix))


class Boom:
    """What a pickle must never get to do."""

    def __reduce__(self):
        return pytest.fail, ("a pickle was loaded",)


def test_a_pickled_matrix_is_refused_without_loading_it(tmp_path):
    matrix = np.full((4, 4), Boom(), dtype=object)
    with pytest.raises(InstanceError, match=r"toy\.npy is not an \.npy file of numbers"):
        read_tsptw(write_pair(tmp_path, matrix, allow_pickle=True))


def test_a_bare_pickle_is_refused_without_loading_it(tmp_path):
    (tmp_path / "toy.npy").write_bytes(pickle.dumps(Boom()))
    with pytest.raises(InstanceError, match=r"toy\.npy is not an \.npy file of numbers"):
        read_tsptw(write(tmp_path))


@pytest.mark.parametrize("content", [b"", b"\x93NUMPY", b"some text", b"PK\x03\x04 no zip"])
def test_a_matrix_file_that_is_something_else_is_refused(content, tmp_path):
    (tmp_path / "toy.npy").write_bytes(content)
    with pytest.raises(InstanceError, match=r"toy\.npy is not an \.npy file of numbers, or is cut off"):
        read_tsptw(write(tmp_path))


def test_a_truncated_matrix_is_refused(tmp_path):
    path = write_pair(tmp_path, SECONDARY)
    content = (tmp_path / "toy.npy").read_bytes()
    (tmp_path / "toy.npy").write_bytes(content[:-20])
    with pytest.raises(InstanceError, match=r"toy\.npy is not an \.npy file of numbers, or is cut off"):
        read_tsptw(path)


def test_several_matrices_in_one_file_are_refused(tmp_path):
    with open(tmp_path / "toy.npy", "wb") as file:
        np.savez(file, a=SECONDARY)
    with pytest.raises(InstanceError, match=r"toy\.npy must be a matrix of numbers in an \.npy file"):
        read_tsptw(write(tmp_path))


@pytest.mark.parametrize(
    ("kind", "shape"),
    [("'<f8'", (10**11, 10**11)), ("'<f8'", (200_000, 200_000)), ("[[[]]]", (4, 4)), ("[" * 3000 + "]" * 3000, (4, 4))],
)
def test_a_header_that_announces_what_is_not_there_is_one_sentence(kind, shape, tmp_path):
    header = f"{{'descr': {kind}, 'fortran_order': False, 'shape': {shape}}}".encode()
    (tmp_path / "toy.npy").write_bytes(b"\x93NUMPY\x01\x00" + len(header).to_bytes(2, "little") + header)
    with pytest.raises(InstanceError, match=r"toy\.npy is not an \.npy file of numbers, or is cut off") as caught:
        read_tsptw(write(tmp_path))
    assert len(str(caught.value)) < 300


def test_a_matrix_may_have_its_columns_first_and_its_bytes_swapped(tmp_path):
    write_pair(tmp_path, np.asfortranarray(SECONDARY.astype(">i4")))
    assert read_tsptw(tmp_path / "toy.txt").data.costs[1].tolist() == SECONDARY.tolist()


def test_a_file_too_long_for_an_instance_is_not_read_to_its_end(tmp_path):
    with open(tmp_path / "long.txt", "wb") as file:
        file.truncate(2 * 10**9)  # takes no room on the disk
    with pytest.raises(InstanceError, match=r"long\.txt: it has more than 100,000,000 bytes"):
        read_tsptw(tmp_path / "long.txt")
    with pytest.raises(InstanceError, match="declares 999999 cities; an instance has 10001 at most"):
        read_tsptw(write(tmp_path, head="999999"))


def test_messages_are_short(tmp_path):
    for field in ("x" * 9000, "9" * 9000, "-" + "9" * 300):
        with pytest.raises(InstanceError) as caught:
            read_tsptw(write_row(tmp_path, f"3 0 4 1 20 90 {field}"))
        assert len(str(caught.value)) < 300


def test_coordinates_too_far_apart_are_refused(tmp_path):
    with pytest.raises(InstanceError, match=r"toy\.txt: costs must be finite numbers"):
        read_tsptw(write(tmp_path, ["0 -1e308 0 0 0 9 0", "1 1e308 0 0 0 9 0"], head="2"))


@pytest.mark.parametrize("content", ["[" * 200_000, '{"toy": [' + "9" * 400 + ", 1]}", "[]", '{"toy": 3}'])
def test_reference_points_that_cannot_be_read_do_not_apply(content, tmp_path):
    (tmp_path / "nadirs.json").write_text(content)
    assert read_tsptw(write_pair(tmp_path, SECONDARY)).reference_point is None


@pytest.mark.parametrize("name", official_names())
def test_every_official_instance_loads(name, official):
    problem = official(name)
    assert problem.name == name
    assert problem.n_objectives == 2
    assert 4 <= problem.max_moves + 1 <= 46
    nadirs = json.loads((find_instance(name).parent / "nadirs.json").read_text())
    assert problem.reference_point == pytest.approx(nadirs[name])


def test_there_are_31_official_instances():
    assert len(official_names()) == 31


def test_the_optimum_of_an_official_instance_is_what_the_literature_says(official):
    """rc_206.1 has four cities: all six tours can be tried; its published optimum is 117.85."""
    from itertools import permutations

    problem = official("rc_206.1")
    outcomes = [problem.replay(tour) for tour in permutations(range(1, problem.max_moves + 1))]
    assert min(objectives[0] for objectives, late in outcomes if late == 0) == pytest.approx(117.85, abs=0.005)
