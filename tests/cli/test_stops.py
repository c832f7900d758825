"""From a spreadsheet to trade-offs by the command line."""

from pathlib import Path

import pytest

from pareto_nrpa import read_stops

from ..helpers.command_line import assert_refused, read

pytestmark = pytest.mark.usefixtures("empty_machine")

DELIVERIES = Path(__file__).parent.parent.parent / "examples" / "deliveries"
STOPS = DELIVERIES / "stops.csv"
COSTS = ("--time", DELIVERIES / "minutes.csv", "--cost", f"euros={DELIVERIES / 'euros.csv'}")
SMALL = ("--evaluations", 2_000, "--level", 2, "--json", "result.json")


def test_the_example_in_one_command(run):
    outcome = run("solve", STOPS, *COSTS, *SMALL)
    assert outcome.code == 0
    assert "stops: 20 stops, 1 vehicle(s) from 'Depot Nord', 12 time windows; objectives: time, euros" in outcome.err
    assert "other columns: note" in outcome.err
    content = read("result.json")
    assert content["objective_names"] == ["time", "euros"]
    assert sorted(content["solutions"][0]) == list(range(1, 21))
    problem = read_stops(STOPS, time=DELIVERIES / "minutes.csv", costs={"euros": DELIVERIES / "euros.csv"})
    assert problem.replay(content["solutions"][0])[0].tolist() == content["objectives"][0]


@pytest.mark.slow
def test_the_example_with_four_vehicles(run):
    options = ("--vehicles", 4, "--capacity", 100, "--objectives", "euros,longest")
    outcome = run("solve", STOPS, *COSTS, *options, *SMALL)
    assert outcome.code == 0
    content = read("result.json")
    assert content["objective_names"] == ["euros", "longest"]
    assert content["violations"][0] == 0
    assert sorted(content["solutions"][0]) == list(range(1, 24))


def test_info_tells_what_was_understood(run, tmp_path):
    path = tmp_path / "stops.csv"
    path.write_text("name,x,y,note\nHub,0,0,\nAnna,1,1,rings twice\n")
    out = run("info", path).out
    assert "stops: 1 stops, 1 vehicle(s) from 'Hub', 0 time windows" in out
    assert "other columns: note" in out


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("tsptw:n=8", "--vehicles", 2), r"tsptw:n=8 is not a file of stops \(.*\); --vehicles applies to these only"),
        (("stopps.csv", "--speed", 30), r"there is no file stopps\.csv; give an instance file"),
        ((STOPS, "--cost", "euros"), r"--cost must be a name and a file, as in --cost euros=cost.csv, got euros\."),
        ((STOPS, "--time", "nowhere.csv"), "cannot read nowhere.csv: No such file"),
        ((STOPS,), "stops.csv needs a speed, in km per hour, for travel times: --speed .usual: 30 in town.*: --time"),
        ((STOPS, STOPS), "must all be TSPLIB files"),
        ((STOPS, *COSTS, "--objectives", "time,eurs"), "got 'eurs' .did you mean 'euros'"),
        (
            (STOPS, "--speed", 3),
            "stop 'Harbour Grill' .line 16. cannot be reached in time: it closes at 10:30",
        ),
    ],
)
def test_mistakes_are_one_sentence(run, arguments, words):
    assert_refused(run("solve", *arguments), words)
