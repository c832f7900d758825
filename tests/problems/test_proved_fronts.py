"""Fronts that come with the package, and what results and tables say beside them."""

import json
from dataclasses import replace

import numpy as np
import pytest

from pareto_nrpa import Certificate, MaxEvaluations, RandomSearch, certify, check_certificate, generate_tsptw, solve
from pareto_nrpa.exact.check import check_tours
from pareto_nrpa.problems import proved_fronts
from pareto_nrpa.problems.proved_fronts import proved_front, with_proved_front, write_fronts
from pareto_nrpa.reference_front import ReferenceFront, true_front
from pareto_nrpa.result import Result


@pytest.fixture(scope="module")
def proved(small_tsptw):
    return certify(small_tsptw)


@pytest.fixture
def shipped(tmp_path, monkeypatch, proved):
    """A package that comes with the front of the small instance."""
    path = tmp_path / "fronts.json"
    monkeypatch.setattr(proved_fronts, "FRONTS", path)
    write_fronts([proved], path)
    yield path
    proved_fronts._by_fingerprint.cache_clear()


def fresh():
    """The small instance as another object, by another name."""
    return with_proved_front(generate_tsptw(8, seed=3, tightness=0.5, name="another name"))


def test_a_front_is_found_by_the_data_whatever_the_name(shipped, proved):
    found = proved_front(fresh())
    assert found.objectives.tolist() == proved.objectives.tolist()
    assert found.solutions == proved.solutions
    assert found.is_feasible


def test_other_problems_have_none(shipped, small_tsptw):
    assert proved_front(generate_tsptw(8, seed=4, tightness=0.5)) is None
    assert proved_front("something else") is None
    # Other objectives on the same data.
    assert proved_front(replace(small_tsptw, evaluate=small_tsptw.play)) is None


def test_a_package_without_fronts_knows_none(tmp_path, monkeypatch):
    monkeypatch.setattr(proved_fronts, "FRONTS", tmp_path / "nothing.json")
    proved_fronts._by_fingerprint.cache_clear()
    assert proved_front(fresh()) is None
    proved_fronts._by_fingerprint.cache_clear()


def test_only_what_is_proved_is_written_and_the_rest_of_the_file_stays(shipped, proved):
    other = certify(generate_tsptw(6, seed=1))
    left_open = replace(proved, instance="open", status="not finished")
    write_fronts([other, left_open], shipped)
    fronts = json.loads(shipped.read_text())["fronts"]
    assert sorted(fronts) == sorted([other.instance, proved.instance])


def test_the_fronts_of_the_package_are_well_formed():
    fronts = json.loads(proved_fronts.FRONTS.read_text(encoding="utf-8"))["fronts"]
    assert len(fronts) >= 13
    for name, entry in fronts.items():
        objectives = np.array(entry["objectives"])
        assert len(objectives) == len(entry["solutions"]), name
        assert (np.diff(objectives[:, 0]) > 0).all() and (np.diff(objectives[:, 1]) < 0).all(), name
        n = len(entry["solutions"][0])
        assert all(sorted(tour) == list(range(1, n + 1)) for tour in entry["solutions"]), name


@pytest.mark.parametrize("name", sorted(json.loads(proved_fronts.FRONTS.read_text(encoding="utf-8"))["fronts"]))
def test_the_tours_of_the_package_are_what_they_say(official, name):
    problem = official(name)
    front = proved_front(problem)
    assert front is not None
    check_tours(problem, front.objectives, front.solutions, "package")


def test_a_result_says_what_it_comes_to_beside_the_truth(shipped, proved, tmp_path):
    problem = fresh()
    assert true_front(problem).tolist() == proved.objectives.tolist()
    result = solve(problem, stop=MaxEvaluations(30_000), seed=0)
    n = len(proved.solutions)
    assert result.truth == {"points": n, "found": n, "share_of_hypervolume": pytest.approx(1), "igd_plus": 0}
    assert f"{n} of the {n} points of the true front were found; the front has 100.00%" in result.summary()
    assert Result.load(result.save(tmp_path / "r.json")).truth == result.truth


def test_a_poor_result_is_told_to_be_poor(shipped):
    said = solve(fresh(), RandomSearch(), stop=MaxEvaluations(30), seed=0).truth
    assert said["found"] < said["points"]
    assert 0 <= said["share_of_hypervolume"] < 1
    assert said["igd_plus"] > 0


def test_nothing_feasible_is_as_far_as_the_reference_point(shipped):
    true = fresh().reference_front
    nothing = true.compared(np.zeros((0, 2)))
    assert (nothing["found"], nothing["share_of_hypervolume"]) == (0, 0)
    assert nothing["igd_plus"] == pytest.approx(true.distance(true.reference_point[None]))
    assert 0 < nothing["igd_plus"] < 2


def test_without_a_true_front_a_result_says_nothing(small_tsptw):
    result = solve(generate_tsptw(8, seed=4), stop=MaxEvaluations(100), seed=0)
    assert result.truth == {}
    assert "truth" not in result.to_dict()
    assert "true front" not in result.summary()
    assert true_front(generate_tsptw(8, seed=4)) is None


def test_maximised_objectives_are_compared_in_their_own_sense(small_tsptw):
    table = np.array([[-1.0, 3.0], [-2.0, 2.0], [-3.0, 3.0]])
    front = ReferenceFront.of(table, maximise=(True, False), is_table=True)
    problem = replace(small_tsptw, reference_front=front, maximise=(True, False))
    assert sorted(true_front(problem).tolist()) == [[-2.0, 2.0], [-1.0, 3.0]]
    assert front.found([[1.0, 3.0]]) == 1
    assert front.is_complete


def test_a_reference_point_before_the_front_is_not_used():
    table = np.array([[1.0, 3.0], [3.0, 1.0]])
    assert ReferenceFront.of(table, reference_point=(1.0, 1.0)).share(table) == 1
    assert ReferenceFront.of(table, reference_point=(4.0, 4.0)).volume == 5


@pytest.mark.long
def test_what_a_search_beats_is_no_true_front(official):
    """No run may find what a proof says cannot be."""
    problem = official("rc_201.3")
    front = true_front(problem)
    found = solve(problem, stop=MaxEvaluations(20_000), seed=5).front
    for point in found.objectives:
        assert (front <= point + 1e-8).all(axis=1).any()


def test_a_certificate_survives_its_file(proved, small_tsptw, tmp_path):
    again = Certificate.load(proved.save(tmp_path / "c.json"))
    check_certificate(again, small_tsptw)
    assert again.to_dict() == proved.to_dict()


def test_info_tells_of_a_proved_front(official, run):
    official("rc_206.1")
    said = run("info", "rc_206.1").out
    assert "true front: 2 points, from 117.848, 89.4244 to 125.247, 91.6688, proved complete" in said
