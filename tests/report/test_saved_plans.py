"""Plans in saved results, and what is made of them without a browser: lists, GeoJSON, notebooks, plots, commands."""

import copy
import csv
import io
import json
from dataclasses import replace

import numpy as np
import pytest

from pareto_nrpa import MaxEvaluations, ParetoNRPAError, Result, read_stops, solve
from pareto_nrpa.routing import generate_tsptw, itineraries

from ..helpers.command_line import assert_refused
from ..helpers.results import NASTY, knapsack, make_plan, result_of, tours


@pytest.fixture(scope="module")
def fleet():
    return tours(make_plan(10, geographic=True), vehicles=3)


@pytest.fixture
def saved(fleet, tmp_path):
    return fleet.save(tmp_path / "fleet.json")


def test_a_search_keeps_stops_and_times(tmp_path):
    problem = generate_tsptw(8, seed=1)
    result = solve(problem, stop=MaxEvaluations(200), seed=0)
    loaded = Result.load(result.save(tmp_path / "r.json"))
    assert loaded.context == problem.context
    assert loaded.details == [problem.details(solution) for solution in result.front.solutions]
    assert loaded.to_dict() == result.to_dict()
    (route,) = itineraries(loaded)[0].routes
    assert route.stops == [0, *result.front.solutions[0], 0]


def route(content):
    return content["details"][0]["routes"][0]


WRONG = {
    "a stop that is not there": lambda c: route(c)["stops"].__setitem__(1, 99),
    "a time that is text": lambda c: route(c)["arrival"].__setitem__(0, "08:30"),
    "a column with a time too few": lambda c: route(c)["arrival"].pop(),
    "a route without a column": lambda c: route(c).pop("start"),
    "a route with more": lambda c: route(c).update(html="<b>"),
    "a route without a stop": lambda c: c["details"][0]["routes"].append({k: [] for k in route(c)}),
    "no stops": lambda c: c["context"].update(stops=[]),
    "a stop without a name": lambda c: c["context"]["stops"][2].pop("name"),
    "lat without lon": lambda c: c["context"]["stops"][2].pop("lon"),
    "beyond the pole": lambda c: c["context"]["stops"][2].update(lat=91.0),
}


@pytest.mark.parametrize("wrong", WRONG)
def test_routes_in_a_file_are_checked(run, saved, wrong):
    content = json.loads(saved.read_text())
    WRONG[wrong](content)
    saved.write_text(json.dumps(content))
    said = r"the result of stops.csv is not one with stops and times of routes, or is damaged: .+\."
    with pytest.raises(ParetoNRPAError, match=said):
        itineraries(Result.load(saved))
    assert_refused(run("show", saved, "--solution", 1), said)
    assert_refused(run("report", saved, "--out", "page.html"), said)


def test_what_is_missed_is_told_where_windows_must_be_kept(tmp_path):
    (tmp_path / "stops.csv").write_text("name,x,y,closes\nHub,0,0,\nAnna,3,4,5\nBob,-3,-4,5\n")
    stops = tmp_path / "stops.csv"
    problem = read_stops(stops, vehicles=2)
    assert "violated" not in problem.details([1, 3, 2])
    assert problem.details([1, 2, 3])["violated"] == "late at Bob by 10"
    result = replace(result_of([(1, 2)], [[1, 2, 3]]), details=[problem.details([1, 2, 3])])
    infeasible = replace(result, front=replace(result.front, violations=np.ones(1)))
    assert infeasible.headline()[2].endswith("1 each. The first is late at Bob by 10.")
    assert "violated" not in read_stops(stops, vehicles=2, late_costs=True).details([1, 2, 3])


def test_show_lists_all_and_prints_one(run, fleet, saved):
    listed = run("show", saved)
    assert listed.code == 0
    assert "best Kilometres" in listed.out and "knee" in listed.out
    one = run("show", saved, "--solution", 2)
    assert one.out.startswith("Solution 2: Kilometres ")
    for name in ("Route 2", "Bakery", "Library", "arrival"):
        assert name in one.out


def test_the_drivers_list(run, fleet, saved, tmp_path):
    rows = list(csv.DictReader(io.StringIO(run("show", saved, "--solution", 1, "--csv").out)))
    itinerary = itineraries(fleet)[0]
    expected = [row for route in itinerary.routes for row in itinerary.rows(route)]
    assert [row["stop"] for row in rows] == [row["name"] for row in expected]
    assert {row["route"] for row in rows} == {str(r + 1) for r in range(len(itinerary.routes))}
    minutes = round(expected[1]["arrival"])
    assert rows[1]["arrival"] == f"{minutes // 60:02d}:{minutes % 60:02d}"
    assert rows[1]["phone"].startswith("555-")
    run("show", saved, "--solution", 1, "--csv", "--out", tmp_path / "list.csv")
    assert len((tmp_path / "list.csv").read_text().splitlines()) == len(expected) + 1


def test_geojson(run, fleet, saved):
    content = json.loads(run("show", saved, "--solution", 1, "--geojson").out)
    lines = [f for f in content["features"] if f["geometry"]["type"] == "LineString"]
    itinerary = itineraries(fleet)[0]
    assert len(lines) == len(itinerary.routes)
    first = [itinerary.stops[i] for i in itinerary.routes[0].stops]
    assert lines[0]["geometry"]["coordinates"] == [[stop["lon"], stop["lat"]] for stop in first]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--solution", 0], "--solution must be a number from 1 to"),
        (["--solution", 999], "got 999"),
        (["--csv"], "--csv requires one solution: give it with --solution"),
        (["--solution", 1, "--csv", "--geojson"], "give one of them"),
    ],
)
def test_show_says_what_is_wrong(run, saved, options, message):
    outcome = run("show", saved, *options)
    assert outcome.code == 2
    assert message in outcome.err


def test_what_has_no_stops_has_no_list(run, tmp_path):
    path = knapsack().save(tmp_path / "k.json")
    assert "items of 10 kg" in run("show", path, "--solution", 1).out
    assert "has no stops and no times" in run("show", path, "--solution", 1, "--csv").err
    plane = tours(make_plan(6), n_solutions=3).save(tmp_path / "plane.json")
    assert "requires lat and lon" in run("show", plane, "--solution", 1, "--geojson").err


def test_solve_writes_the_page_and_says_how_it_was_made(run, empty_machine):
    outcome = run("solve", "tsptw:n=6,seed=1", "--evaluations", 200, "--json", "r.json", "--report", "page.html")
    assert "saved to page.html" in outcome.out
    words = "pareto-nrpa solve tsptw:n=6,seed=1 --evaluations 200 --json r.json --report page.html"
    assert Result.load("r.json").command == words
    assert words in (empty_machine / "page.html").read_text()
    assert run("report", "r.json", "--out", "again.html").code == 0
    assert words in (empty_machine / "again.html").read_text()
    assert "same file" in run("solve", "tsptw:n=6,seed=1", "--json", "r.html", "--report", "r.html").err
    for command in (["solve", "tsptw:n=6,seed=1", "--report", "r.json"], ["report", "r.json", "--out", "r.json"]):
        assert "the name of a page must end in .html, got r.json" in run(*command).err


def test_a_notebook_shows_a_table_and_a_picture(fleet):
    shown = fleet._repr_html_()
    assert shown.count("<circle") == len(fleet.front) == shown.count('<th scope="row">')
    assert "knee" in shown
    nasty = copy.copy(fleet)
    object.__setattr__(nasty, "objective_names", [NASTY, NASTY])
    assert "<img" not in nasty._repr_html_()
    assert repr(fleet) == f"<Result stops.csv: {len(fleet.front)} trade-offs by pareto-nrpa, seed 7>"
    assert repr(fleet.front) == f"<Front of {len(fleet.front)}, 2 objective(s)>"


@pytest.mark.parametrize("m", [1, 2, 3])
def test_plots(m):
    pyplot = pytest.importorskip("matplotlib.pyplot")
    pyplot.switch_backend("agg")
    result = tours(make_plan(8), n_objectives=m)
    object.__setattr__(result, "objective_names", ["$cost$", "b", "c"][:m])
    ax = result.plot()
    ax.figure.canvas.draw()  # where a name taken for a formula would raise
    assert len(ax.lines) == (0 if m == 2 else len(result.front))
    assert result.plot(ax) is ax
    with pytest.raises(ParetoNRPAError, match=r"ax must be one Axes of matplotlib, .* got 5; leave it out"):
        result.plot(ax=5)
    pyplot.close(ax.figure)
