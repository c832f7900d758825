"""Fronts that come with the package, and what results and tables say beside them."""

from dataclasses import replace

import numpy as np
import pytest

from pareto_nrpa import MaxEvaluations, certify, solve
from pareto_nrpa.algorithms import RandomSearch
from pareto_nrpa.result.reference import ReferenceFront, true_front
from pareto_nrpa.result.result import Result
from pareto_nrpa.routing import generate_tsptw, proved_fronts
from pareto_nrpa.routing.benchmarks import official_names
from pareto_nrpa.routing.exact import Certificate, CertificateError, check_certificate, proofs
from pareto_nrpa.routing.exact.proofs import read_proofs, write_proofs
from pareto_nrpa.routing.proved_fronts import proof_of, with_proved_front


@pytest.fixture(scope="module")
def proved(small_tsptw):
    return certify(small_tsptw)


@pytest.fixture
def shipped(tmp_path, monkeypatch, proved):
    """A package that comes with the front of the small instance."""
    path = write_proofs([proved], tmp_path / "proofs.jsonl")
    monkeypatch.setattr(proofs, "PROOFS", path)
    proved_fronts._finished_proof.cache_clear()
    yield path
    proved_fronts._finished_proof.cache_clear()


def fresh():
    """The small instance as another object, by another name."""
    return with_proved_front(generate_tsptw(8, seed=3, tightness=0.5, name="another name"))


def test_a_front_is_found_by_the_data_whatever_the_name(shipped, proved):
    found = proof_of(fresh())
    assert found.objectives.tolist() == proved.objectives.tolist()
    assert found.solutions == proved.solutions


def test_other_problems_have_none(shipped, small_tsptw):
    assert proof_of(generate_tsptw(8, seed=4, tightness=0.5)) is None
    assert proof_of("something else") is None
    # Other objectives on the same data.
    assert proof_of(replace(small_tsptw, evaluate=small_tsptw.play)) is None


def test_a_front_that_is_not_proved_is_no_true_front(shipped, proved):
    write_proofs([replace(proved, status="not finished", stopped_by="time_limit")], shipped)
    assert proof_of(fresh()) is None


def test_the_rest_of_the_file_stays(shipped, proved):
    other = certify(generate_tsptw(6, seed=1))
    left_open = replace(proved, instance="open", status="not finished", stopped_by="time_limit")
    write_proofs([other, left_open], shipped)
    there = read_proofs(shipped)
    assert [one.instance for one in there] == sorted([other.instance, proved.instance, "open"])
    assert [one.to_dict() for one in read_proofs(shipped, fingerprint=other.fingerprint)] == [other.to_dict()]


def test_a_damaged_line_is_named(shipped):
    shipped.write_text(shipped.read_text() + '{"format": "pareto-nrpa certificate 1"}\n')
    with pytest.raises(CertificateError, match=r"proofs.jsonl, line 2, is not .* damaged: instance is missing"):
        read_proofs(shipped)
    with pytest.raises(CertificateError, match="cannot read the certificates"):
        read_proofs(shipped.with_name("nothing.jsonl"))


def test_the_package_has_a_certificate_of_every_official_instance():
    there = read_proofs()
    assert [one.instance for one in there] == sorted(official_names())
    assert sum(one.proved for one in there) >= 29


@pytest.mark.parametrize("certificate", read_proofs(), ids=lambda one: one.instance)
def test_the_certificates_of_the_package_are_what_they_say(official, certificate):
    problem = official(certificate.instance)
    check_certificate(certificate, problem)
    proof = proof_of(problem)
    assert (proof is not None) is certificate.proved
    assert proof is None or proof.solutions == certificate.solutions


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
