"""Files of other tools: TSPLIB, VRPLIB, Solomon, TSPTW with a matrix, VROOM."""

import json
import os
import pickle
import sys
from dataclasses import replace
from itertools import permutations

import numpy as np
import pytest

from pareto_nrpa import load, read_stops
from pareto_nrpa.catalogue import open_problem
from pareto_nrpa.errors import InstanceError
from pareto_nrpa.routing.benchmarks import find_instance, official_names
from pareto_nrpa.routing.instance import RoutingOptions, VehicleType, build_problem
from pareto_nrpa.routing.read import read_instance, read_problem

SOLOMON = """\
toy

VEHICLE
NUMBER     CAPACITY
  3         20

CUSTOMER
CUST NO.  XCOORD.   YCOORD.    DEMAND   READY TIME  DUE DATE   SERVICE   TIME

    0      0         0          0          0       100          0
    1      3         4         10          0        50         10
    2      6         8         10         20        80         10
    3      0         1          5          0       100          0
"""
VRPLIB = """\
NAME : toy
TYPE : VRPTW
DIMENSION : 3
EDGE_WEIGHT_TYPE : EUC_2D
CAPACITY : 10
VEHICLES : 2
NODE_COORD_SECTION
1 0 0
2 1 1
3 2 2
DEMAND_SECTION
1 0
2 5
3 6
TIME_WINDOW_SECTION
1 0 100
2 0 50
3 10 60
SERVICE_TIME_SECTION
1 0
2 4
3 4
DEPOT_SECTION
1
-1
EOF
"""
MATRIX = """\
3
0 10 20
10 0 5
20 6 0
0 100
0 40
20 60
"""
TSPLIB = """\
NAME: toy
TYPE: TSP
DIMENSION: 3
EDGE_WEIGHT_TYPE: {kind}
NODE_COORD_SECTION
1 0 0
2 0 1.5
3 2 0
EOF
"""


@pytest.fixture
def file(tmp_path):
    def write(name, text):
        path = tmp_path / name
        path.write_text(text)
        return path

    return write


def read(*paths, rounding="file", **options):
    return read_problem(paths, RoutingOptions(**options), rounding=rounding)


def test_solomon(file):
    problem = load(file("toy.txt", SOLOMON))
    assert tuple(problem.objective_names) == ("distance", "vehicles")
    assert len(problem.data.closings) == 2
    assert problem.data.capacity[0] == pytest.approx(20)
    objectives, violations = problem.replay([1, 2, 4, 3, 5])
    assert objectives == pytest.approx([22, 2])
    assert violations == 0
    assert len(read(file("toy.txt", SOLOMON), vehicles=2, objectives=["distance"]).data.closings) == 1
    with pytest.raises(InstanceError, match=r"toy\.txt, line 11: x must be a number, got 'three'"):
        load(file("toy.txt", SOLOMON.replace(" 3         4  ", " three       4  ")))
    with pytest.raises(InstanceError, match=r"line 5: NUMBER must be a whole number of at least 1"):
        load(file("toy.txt", SOLOMON.replace("  3         20", "  0         20")))
    with pytest.raises(InstanceError, match="is it cut off"):
        load(file("toy.txt", SOLOMON[:100]))


@pytest.mark.parametrize(("rounding", "length"), [("file", 5.1), ("none", 5.1), ("round", 5), ("dimacs", 5.0)])
def test_rounding_is_an_option_of_the_reader(file, rounding, length):
    """From (0, 0) to (1, 5) it is 5.0990."""
    text = SOLOMON.replace("3         4  ", "1         5  ")
    length = np.hypot(1, 5) if length == 5.1 else length
    for path in (file("toy.txt", text), file("stops.csv", "name,x,y\nHub,0,0\nAnna,1,5\nBob,3,3\n")):
        instance = read_instance(path, rounding=rounding)
        assert instance.costs["distance"][0, 1] == length
        assert instance.is_metric is (rounding in ("file", "none"))
    assert read(path, rounding=rounding).data.costs[0][0, 1] == length
    tour = file("a.tsp", TSPLIB.format(kind="EUC_2D").replace("2 0 1.5", "2 1 5"))
    assert read(tour, rounding=rounding).data.costs[0][0, 1] == (5 if rounding == "file" else length)
    with pytest.raises(ValueError, match="rounding must be one of file, none, round, dimacs, got 'up'"):
        read(path, rounding="up")


def test_vrplib(file):
    problem = read(file("toy.vrp", VRPLIB))
    assert problem.name == "toy"
    assert problem.data.times[0].tolist() == [0, 1, 3]  # rounded, as TSPLIB says
    assert problem.data.times[1].tolist() == [5, 0, 5]  # with service
    with pytest.raises(InstanceError, match="BACKHAUL is not supported"):
        read(file("toy.vrp", VRPLIB.replace("DEPOT_SECTION", "BACKHAUL_SECTION\n1 2\n2 3\n3 4\nDEPOT_SECTION")))
    with pytest.raises(InstanceError, match="NODE_COORD_SECTION must have 12 numbers, got 9"):
        read(file("toy.vrp", VRPLIB.replace("DIMENSION : 3", "DIMENSION : 4")))


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ("2 0 50\n", "2 0\n", "TIME_WINDOW_SECTION must have 9 numbers, got 8; is it cut off"),
        ("2 5\n", "2 -5\n", "DEMAND_SECTION must have numbers of at least 0, got -5"),
        ("DEPOT_SECTION\n1", "DEPOT_SECTION\n1\n2", "must have one depot, number 1"),
        ("CAPACITY : 10", "CAPACITY : 0", "CAPACITY must be a number above 0, got 0"),
        ("TYPE : VRPTW", "TYPE : OVRP", "TYPE must be one of TSP, .*, got 'OVRP'"),
        ("2 0 50\n", "2 60 50\n", "stop 'stop 1' .number 2. closes at 50, before it opens at 60"),
    ],
)
def test_mistakes_in_vrplib_files(file, old, new, words):
    with pytest.raises(InstanceError, match=words) as caught:
        read(file("toy.vrp", VRPLIB.replace(old, new)))
    assert str(caught.value).startswith("toy.vrp: ")


def test_service_that_is_the_same_everywhere_and_vehicles_that_are_not_counted(file):
    text = VRPLIB.replace("VEHICLES : 2\n", "SERVICE_TIME : 4\n")
    text = text[: text.index("SERVICE_TIME_SECTION")] + text[text.index("DEPOT_SECTION") :]
    instance = read_instance(file("toy.vrp", text))
    assert instance.stops.column("service").tolist() == [0, 4, 4]
    assert instance.vehicles == (VehicleType(2, 10),)
    with pytest.raises(InstanceError, match="has 2 types of vehicles; one type is supported"):
        build_problem(replace(instance, vehicles=(VehicleType(1, 10), VehicleType(1, 5))))


def test_windows_with_a_matrix(file):
    problem = load(file("toy.tw", MATRIX))
    assert tuple(problem.objective_names) == ("time", "finish")
    assert problem.replay([1, 2])[0].tolist() == [35, 40]
    with pytest.raises(InstanceError, match="line 4: expected 3 numbers, got 2"):
        load(file("toy.tw", MATRIX.replace("20 6 0", "20 6")))
    assert read_instance(file("stops.txt", "2\n0 0 0 0 0 10 0\n1 1 1 1 0 10 0\n")).kind == "windows"


def test_tsplib_files_are_an_objective_each(file):
    first = file("a.tsp", TSPLIB.format(kind="EUC_2D"))
    second = file("b.tsp", TSPLIB.format(kind="CEIL_2D").replace("2 0 1.5", "2 9 0"))
    problem = read(first, second)
    assert problem.name == "a+b"
    assert tuple(problem.objective_names) == ("a", "b")
    assert problem.data.costs[0].tolist() == [[0, 2, 2], [2, 0, 3], [2, 3, 0]]
    assert problem.data.costs[1].tolist() == [[0, 9, 2], [9, 0, 7], [2, 7, 0]]
    assert [stop["name"] for stop in problem.context["stops"]] == ["1", "2", "3"]
    with pytest.raises(InstanceError, match="which has no vehicles"):
        read(first, vehicles=2)
    with pytest.raises(InstanceError, match="must all be TSPLIB files"):
        read(first, file("toy.tw", MATRIX))


@pytest.mark.parametrize(
    ("shape", "numbers"),
    [
        ("FULL_MATRIX", "0 1 2 1 0 3 2 3 0"),
        ("UPPER_ROW", "1 2 3"),
        ("LOWER_ROW", "1 2 3"),
        ("UPPER_DIAG_ROW", "0 1 2 0 3 0"),
        ("LOWER_DIAG_ROW", "0 1 0 2 3 0"),
    ],
)
def test_tsplib_matrices(file, shape, numbers):
    text = f"DIMENSION: 3\nEDGE_WEIGHT_TYPE: EXPLICIT\nEDGE_WEIGHT_FORMAT: {shape}\nEDGE_WEIGHT_SECTION\n{numbers}\nEOF"
    assert read(file("m.tsp", text)).data.costs[0].tolist() == [[0, 1, 2], [1, 0, 3], [2, 3, 0]]


def test_tsplib_rounds_as_it_says(file):
    text = TSPLIB.format(kind="ATT").replace("2 0 1.5", "2 0 100")
    assert read(file("att.tsp", text)).data.costs[0][0].tolist() == [0, 32, 1]
    geo = TSPLIB.format(kind="GEO").replace("2 0 1.5", "2 0 1.30")
    assert read(file("geo.tsp", geo)).data.costs[0][0, 1] == 167  # a degree and a half on the equator


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ("DIMENSION: 3", "DIMENSION: x", "DIMENSION must be a number"),
        ("EUC_2D", "XRAY1", "'XRAY1' is not supported; EUC_2D"),
        ("1 0 0", "2 0 0", "each city from 1 to 3 once"),
        ("1.5", "x", "must be numbers, got 'x'"),
        ("NAME: toy", "hello", "'hello' is neither 'KEYWORD : value' nor in a section of TSPLIB or VRPLIB"),
    ],
)
def test_mistakes_in_tsplib_files(file, old, new, words):
    with pytest.raises(InstanceError, match=words):
        read(file("a.tsp", TSPLIB.format(kind="EUC_2D").replace(old, new)))


def vroom(**changes):
    jobs = [{"id": i, "location_index": i, "service": 60, "delivery": [i]} for i in (1, 2)]
    vehicle = {"id": 1, "start_index": 0, "end_index": 0, "capacity": [2], "time_window": [0, 3600]}
    durations = [[0, 100, 200], [100, 0, 50], [200, 50, 0]]
    content = {"jobs": jobs, "vehicles": [vehicle, vehicle | {"id": 2}], "matrices": {"car": {"durations": durations}}}
    return json.dumps(content | changes)


def test_vroom(file):
    problem = read(file("v.json", vroom()))
    assert tuple(problem.objective_names) == ("time", "vehicles")
    assert problem.replay([1, 3, 2])[0].tolist() == [720, 2]
    london, paris = [-0.1278, 51.5074], [2.3522, 48.8566]
    job = {"id": 1, "location": paris, "description": "Paris"}
    content = {"jobs": [job], "vehicles": [{"id": 1, "start": london, "end": london}]}
    problem = read_stops(file("v.json", json.dumps(content)), speed=100)
    assert problem.context["stops"][1]["name"] == "Paris"
    assert problem.details.__self__.travel[0, 1] == pytest.approx(343.6 / 100 * 3600, rel=0.01)  # seconds


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"shipments": []}, "shipments is not a known field"),
        ({"format": "pareto-nrpa result 1"}, "saved result, not a problem to solve; read it with pareto-nrpa show or"),
        ({"jobs": [{"id": 1, "time_windows": [[0, 1], [2, 3]]}]}, r"jobs\[0\].time_windows: .* of length 1, got "),
        ({"jobs": [{"id": 1, "location_index": 9}]}, "durations are for 3 places: .* must be given and smaller"),
        ({"jobs": [{"id": 1}]}, "location_index of each job must be given"),
        ({"vehicles": [{"id": 1, "start_index": 0, "end_index": 0, "breaks": []}]}, r"breaks of vehicles\[0\] is not"),
        ({"vehicles": [{"id": 1, "start_index": 0, "end_index": 1}]}, "must be the same place, the depot"),
        (
            {"vehicles": [{"start_index": 0, "end_index": 0}, {"start_index": 0, "end_index": 0, "capacity": [1]}]},
            "vehicle 2 has another capacity",
        ),
        ({"matrices": {"bike": {"durations": []}}}, "must have the profile of the vehicles, 'car'"),
        ({"matrices": {"car": {"durations": [[0, 1]]}}}, "durations must be square matrices"),
    ],
)
def test_what_vroom_knows_and_we_do_not_is_refused_by_name(file, changes, words):
    with pytest.raises(InstanceError, match=words) as caught:
        read(file("v.json", vroom(**changes)))
    assert "v.json" in str(caught.value)


# --- every file is opened once, and a file that is not an instance is named


@pytest.mark.parametrize(
    ("name", "content", "words"),
    [
        ("offer.pdf", b"%PDF-1.7\n\xff", r"offer\.pdf is a PDF document; CSV, Excel .* VROOM files are read\."),
        ("page.csv", b"\x89PNG\r\n", r"page\.csv is a picture; CSV, Excel"),
        ("stops.csv", b"\0\xff\xfe", r"stops\.csv is a binary file; CSV, Excel"),
        ("stops.csv", "name;x".encode("utf-16"), r"is not UTF-8 text; save it as 'CSV UTF-8' in the spreadsheet\."),
        ("v.json", b"\x80\xff", r"v\.json is not UTF-8 text; give a text file\."),
        ("v.json", b'{"type": "FeatureCollection"}', "v.json is a JSON file without jobs and vehicles; CSV, Excel"),
        ("v.json", b'{"type": 1, "jobs": []}', "v.json is not a VROOM file .*: type is not a known field"),
        ("v.txt", b'[{"a": 1}]', "v.txt is not a VROOM file of jobs"),
        ("page.html", b"<html></html>", r"page\.html, line 1: expected the number of cities .*; CSV, Excel"),
    ],
)
def test_a_file_that_is_no_instance_is_reported_as_what_it_is(tmp_path, name, content, words):
    (tmp_path / name).write_bytes(content)
    for read_it in (load, read_stops):
        with pytest.raises(InstanceError, match=words):
            read_it(tmp_path / name)


EVERY_FORMAT = {
    "c101.txt": SOLOMON,
    "toy.vrp": VRPLIB,
    "m.tw": MATRIX,
    "a.tsp": TSPLIB.format(kind="EUC_2D"),
    "v.json": vroom(),
    "stops.csv": "name,x,y\nHub,0,0\nAnna,1,5\n",
    "columns.txt": "name;x;y\nHub;0;0\nAnna;1;5\n",
    "rows.txt": "3\n0 0 0 0 0 100 0\n1 3 4 0 0 100 10\n2 6 8 0 0 100 10\n",
    "book.xlsx": None,
}


@pytest.mark.parametrize("name", EVERY_FORMAT)
@pytest.mark.parametrize("how", ["load", "read_stops", "the command line"])
def test_a_file_is_opened_once(name, how, tmp_path, opened):
    path = tmp_path / name
    if EVERY_FORMAT[name] is None:
        pytest.importorskip("python_calamine")
        from .test_stops import TABLE, write_workbook

        write_workbook(path, {"Tour": TABLE})
    else:
        path.write_text(EVERY_FORMAT[name])
    np.save(tmp_path / "rows.npy", np.ones((3, 3)))
    (tmp_path / "nadirs.json").write_text('{"rows": [1, 2]}')
    opened.clear()
    if how == "the command line":
        open_problem([str(path)])
    else:
        {"load": load, "read_stops": read_stops}[how](path)
    beside = [tmp_path / "nadirs.json", tmp_path / "rows.npy"] if name == "rows.txt" else []
    assert sorted(map(str, opened)) == sorted(map(str, [path, *beside]))


_OPENED = None


@pytest.fixture
def opened(tmp_path):
    """The files below the folder of the test that are opened, each as often as it is."""
    global _OPENED
    if _OPENED is None:  # a hook stays for as long as the process lives
        sys.addaudithook(lambda event, details: _OPENED is not None and event == "open" and _note(details[0]))
    _OPENED = (tmp_path, [])
    yield _OPENED[1]
    _OPENED = (tmp_path, [])


def _note(path):
    if isinstance(path, str | bytes | os.PathLike) and os.fsdecode(path).startswith(str(_OPENED[0])):
        _OPENED[1].append(os.fsdecode(path))


# --- instances of the TSPTW benchmark in files, with a second cost beside them


#: Four cities on a rectangle of 3 by 4, so that all distances are whole numbers; service takes 10 at the customers.
ROWS = (
    "0  0.0 0.0  0  0   1000  0",
    "1  3   0    1  5   50    10",
    "2  3   4    1  0   70.5  10",
    "3  0   4    1  20  90    10",
)
DISTANCES = np.array([[0, 3, 5, 4], [3, 0, 4, 5], [5, 4, 0, 3], [4, 5, 3, 0]], dtype=float)
SECONDARY = np.arange(16, dtype=float).reshape(4, 4)


def read_tsptw(path):
    return build_problem(read_instance(path))


def write(folder, rows=ROWS, head="4"):
    (folder / "toy.txt").write_text("\n".join([head, *rows]) + "\n")
    return folder / "toy.txt"


def write_pair(folder):
    """Write the good file and a secondary cost beside it."""
    np.save(folder / "toy.npy", SECONDARY)
    return write(folder)


def test_travel_time_is_the_distance_and_the_service_at_the_city_that_is_left(tmp_path):
    expected = DISTANCES + np.array([[0], [10], [10], [10]])
    np.fill_diagonal(expected, 0)
    np.testing.assert_allclose(read_tsptw(write(tmp_path)).data.costs, [expected])


def test_a_secondary_cost_and_the_reference_point_are_taken_from_beside_the_file(tmp_path):
    (tmp_path / "nadirs.json").write_text(json.dumps({"toy": [100, 200]}))
    problem = read_tsptw(write_pair(tmp_path))
    assert problem.n_objectives == 2
    np.testing.assert_array_equal(problem.data.costs[1], SECONDARY)
    assert problem.reference_point == [100, 200]


@pytest.mark.parametrize("content", ["", "[]", '{"other": [1, 2]}', '{"toy": [1]}', '{"toy": [1, NaN]}', "[" * 200_000])
def test_a_reference_point_that_does_not_apply_is_none(content, tmp_path):
    (tmp_path / "nadirs.json").write_text(content)
    assert read_tsptw(write_pair(tmp_path)).reference_point is None


def test_a_file_takes_the_options_of_stops_and_the_rounding_of_the_reader(tmp_path):
    path = write_pair(tmp_path)
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
    problem = official("rc_206.1")
    outcomes = [problem.replay(tour) for tour in permutations(range(1, problem.max_moves + 1))]
    assert min(objectives[0] for objectives, late in outcomes if late == 0) == pytest.approx(117.85, abs=0.005)
