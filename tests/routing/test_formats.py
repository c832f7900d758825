import json
import os
import sys
from pathlib import Path

import numpy as np
import pytest

from pareto_nrpa import load, read_stops
from pareto_nrpa.errors import InstanceError
from pareto_nrpa.routing.instance import RoutingOptions
from pareto_nrpa.routing.read import is_routing_file, read_routing

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


def read(*paths, **options):
    return read_routing(paths, RoutingOptions(**options))


def test_solomon(file):
    problem = load(file("toy.txt", SOLOMON))
    assert tuple(problem.objective_names) == ("distance", "vehicles")
    assert len(problem.data.closings) == 2
    assert problem.data.capacity[0] == pytest.approx(20)
    objectives, violations = problem.replay([1, 2, 4, 3, 5])
    assert objectives == pytest.approx([22, 2])
    assert violations == 0
    assert len(read(file("toy.txt", SOLOMON), vehicles=2, objectives=["distance"]).data.closings) == 1
    with pytest.raises(InstanceError, match="seven whole numbers"):
        load(file("toy.txt", SOLOMON.replace(" 3         4  ", " 3.5       4  ")))


def test_vrplib(file):
    problem = read(file("toy.vrp", VRPLIB))
    assert problem.name == "toy"
    assert problem.data.times[0].tolist() == [0, 1, 3]  # rounded, as TSPLIB says
    assert problem.data.times[1].tolist() == [5, 0, 5]  # with service
    with pytest.raises(InstanceError, match="BACKHAUL is not supported"):
        read(file("toy.vrp", VRPLIB.replace("DEPOT_SECTION", "BACKHAUL_SECTION\n1 2\n2 3\n3 4\nDEPOT_SECTION")))
    with pytest.raises(InstanceError, match="as many as DIMENSION says"):
        read(file("toy.vrp", VRPLIB.replace("DIMENSION : 3", "DIMENSION : 4")))


def test_a_missing_package_is_told_with_the_command(file, monkeypatch):
    monkeypatch.setitem(sys.modules, "vrplib", None)
    with pytest.raises(InstanceError, match=r'pip install "pareto-nrpa\[routing\]"'):
        read(file("toy.vrp", VRPLIB))


def test_windows_with_a_matrix(file):
    problem = load(file("toy.tw", MATRIX))
    assert tuple(problem.objective_names) == ("time", "finish")
    assert problem.replay([1, 2])[0].tolist() == [35, 40]
    with pytest.raises(InstanceError, match="line 4: expected 3 numbers, got 2"):
        load(file("toy.tw", MATRIX.replace("20 6 0", "20 6")))
    assert not is_routing_file(file("stops.txt", "2\n0 0 0 0 0 10 0\n1 1 1 1 0 10 0\n"))


def test_tsplib_files_are_an_objective_each(file):
    first = file("a.tsp", TSPLIB.format(kind="EUC_2D"))
    second = file("b.tsp", TSPLIB.format(kind="CEIL_2D").replace("2 0 1.5", "2 9 0"))
    problem = read(first, second)
    assert problem.name == "a+b"
    assert tuple(problem.objective_names) == ("a", "b")
    assert problem.data.costs[0].tolist() == [[0, 2, 2], [2, 0, 3], [2, 3, 0]]
    assert problem.data.costs[1].tolist() == [[0, 9, 2], [9, 0, 7], [2, 7, 0]]
    assert [stop["name"] for stop in problem.plan.stops] == ["1", "2", "3"]
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


def test_two_official_files():
    folder = Path(os.environ.get("PARETO_NRPA_DATA", "data")) / "tsplib"
    if not folder.is_dir():
        pytest.skip("needs the TSPLIB files kroA100.tsp and kroB100.tsp in $PARETO_NRPA_DATA/tsplib")
    problem = read(folder / "kroA100.tsp", folder / "kroB100.tsp")
    assert problem.max_moves == 99
    assert problem.data.costs[0][0, 1] == np.rint(np.hypot(1380 - 2848, 939 - 96))
    assert (problem.data.costs == np.rint(problem.data.costs)).all()


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ("DIMENSION: 3", "DIMENSION: 4", "must have 12 numbers"),
        ("DIMENSION: 3", "DIMENSION: x", "DIMENSION must be a number"),
        ("EUC_2D", "XRAY1", "'XRAY1' is not supported; EUC_2D"),
        ("TYPE: TSP", "TYPE: CVRP", "TYPE must be TSP or ATSP"),
        ("1 0 0", "2 0 0", "each city from 1 to 3 once"),
        ("1.5", "x", "must be numbers, got 'x'"),
        ("NAME: toy", "hello", "is no TSPLIB file"),
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
    assert problem.plan.stops[1]["name"] == "Paris"
    assert problem.plan.travel[0, 1] == pytest.approx(343.6 / 100 * 3600, rel=0.01)  # seconds


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"shipments": []}, "'shipments' of a file of VROOM is not supported"),
        ({"format": "pareto-nrpa result 1"}, "saved result, no problem to solve; read it with pareto-nrpa show or"),
        ({"jobs": [{"id": 1, "location_index": 1, "skills": [1]}]}, "'skills' of a job is not supported"),
        ({"jobs": [{"id": 1, "location_index": 1, "time_windows": [[0, 1], [2, 3]]}]}, "must be one window, got 2"),
        ({"jobs": [{"id": 1, "location_index": 1, "delivery": [1, 2]}]}, "only one kind of load"),
        ({"jobs": [{"id": 1, "location_index": 9}]}, "an index is larger"),
        ({"jobs": [{"id": 1}]}, "location_index of each job must be given"),
        ({"jobs": []}, "at least one of jobs"),
        (
            {"vehicles": [{"id": 1, "start_index": 0, "end_index": 0, "breaks": []}]},
            "'breaks' of vehicle 1 is not supp",
        ),
        ({"vehicles": [{"id": 1, "start_index": 0, "end_index": 1}]}, "must be the same place, the depot"),
        (
            {"vehicles": [{"start_index": 0, "end_index": 0}, {"start_index": 0, "end_index": 0, "capacity": [1]}]},
            "vehicle 2 has another capacity",
        ),
        ({"matrices": {"bike": {}}}, "must have the profile of the vehicles, 'car'"),
    ],
)
def test_what_vroom_knows_and_we_do_not_is_refused_by_name(file, changes, words):
    with pytest.raises(InstanceError, match=words) as caught:
        read(file("v.json", vroom(**changes)))
    assert "v.json" in str(caught.value)


def test_a_binary_file_is_not_sent_to_a_spreadsheet(tmp_path):
    (tmp_path / "v.json").write_bytes(b"\x80\xff")
    with pytest.raises(InstanceError, match=r"v\.json is not UTF-8 text; give a text file\.$"):
        read(tmp_path / "v.json")
