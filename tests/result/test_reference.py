"""The front that results are measured against: of the user, of a table, or proved and shipped with the package."""

import json
from dataclasses import replace

import numpy as np
import pytest

from pareto_nrpa import MaxEvaluations, ReferenceFront, certify, load, solve
from pareto_nrpa.errors import ParetoNRPAError
from pareto_nrpa.result.reference import true_front, with_reference_front
from pareto_nrpa.result.result import Result
from pareto_nrpa.routing import generate_tsptw, proved_fronts
from pareto_nrpa.routing.benchmarks import official_names
from pareto_nrpa.routing.exact import CertificateError, check_certificate, proofs
from pareto_nrpa.routing.exact.proofs import read_proofs, write_proofs
from pareto_nrpa.routing.proved_fronts import proof_of, with_proved_front

from ..helpers.command_line import assert_refused

SMALL = "tsptw:n=8,seed=3,tightness=0.5"
OTHER = "tsptw:n=8,seed=4,tightness=0.5"


@pytest.fixture(scope="module")
def problem():
    return load(SMALL)


@pytest.fixture(scope="module")
def certificate(problem):
    return certify(problem)


def test_a_certificate_of_the_users_is_the_truth_of_later_results(problem, certificate, tmp_path):
    front = ReferenceFront.read(certificate.save(tmp_path / "proof.json"), problem)
    measured = with_reference_front(problem, front)
    assert true_front(measured).tolist() == certificate.objectives.tolist()
    result = solve(measured, stop=MaxEvaluations(20_000))
    assert result.truth["share_of_hypervolume"] == pytest.approx(1)
    assert "points of the true front were found" in result.summary()
    assert problem.reference_front is None


def test_the_certificate_of_another_instance_is_refused_in_a_file_as_well(run, certificate, tmp_path):
    path = certificate.save(tmp_path / "proof.json")
    with pytest.raises(ParetoNRPAError, match=f"the certificate is for {SMALL}.*, or for other data than"):
        with_reference_front(load(OTHER), path)
    said = run("solve", OTHER, "--evaluations", "50", "--reference-front", str(path))
    assert_refused(said, f"the certificate is for {SMALL}")


def test_only_a_certificate_says_that_a_front_is_complete(problem, certificate, tmp_path):
    """A status without a fingerprint would be of any instance."""
    content = certificate.to_dict()
    path = tmp_path / "front.json"
    path.write_text(json.dumps({"objectives": content["objectives"], "status": content["status"]}))
    assert not ReferenceFront.read(path, problem).is_complete
    path.write_text(json.dumps({name: value for name, value in content.items() if name != "fingerprint"}))
    with pytest.raises(ParetoNRPAError, match=r"is not a certificate, or is damaged: fingerprint is missing"):
        ReferenceFront.read(path, problem)


def test_the_front_of_a_result_is_a_reference_and_not_the_truth(problem, tmp_path):
    result = solve(problem, stop=MaxEvaluations(200))
    for name in ("front.json", "front.csv"):
        front = ReferenceFront.read(result.save(tmp_path / name), problem)
        assert front.front.tolist() == result.front.objectives.tolist()
        measured = with_reference_front(problem, tmp_path / name)
        assert true_front(measured) is None
        assert "points of the reference front were found" in solve(measured, stop=MaxEvaluations(200)).summary()


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("front.json", "{}"),
        ("front.json", '{"objectives": [[1, "x"]]}'),
        ("front.csv", "f1,f2\n"),
        ("front.csv", "f1,f2\n1,nan\n"),
        ("front.json", json.dumps({"objectives": [[1, 2], [3]]})),
    ],
)
def test_what_is_no_front_is_told(problem, tmp_path, name, text):
    path = tmp_path / name
    path.write_text(text)
    with pytest.raises(ParetoNRPAError, match=r"is not a reference front \(a result or certificate"):
        ReferenceFront.read(path, problem)


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda p: with_reference_front(p, "nothing.json"), ParetoNRPAError, "cannot read nothing"),
        (lambda p: with_reference_front(p, 5), ParetoNRPAError, r"must be a ReferenceFront.*, got 5; Ref.*\.of\("),
        (lambda p: with_reference_front(p, [[1, 2]]), ParetoNRPAError, r"or the name of a file, got \[\[1, 2\]\]"),
        (lambda p: with_reference_front(p, "a\0b"), ParetoNRPAError, "cannot contain the character"),
        (lambda p: ReferenceFront.of([[1, 2], [3]]), ParetoNRPAError, r"\[n, m\], got \[\[1, 2\], \[3\]\]"),
        (lambda p: ReferenceFront.of([[1, 2]], maximise=[True] * 3), ParetoNRPAError, "maximise must be .* 2 of them"),
        (lambda p: ReferenceFront.of([[1, 2]], reference_point=[1]), ValueError, "must be 2 finite numbers, got"),
        (lambda p: true_front(3), TypeError, "problem must be a Problem or a CompiledProblem, got int"),
    ],
)
def test_what_cannot_be_measured_against_is_a_sentence(problem, call, error, message):
    with pytest.raises(error, match=message):
        call(problem)


# --- fronts that come with the package


@pytest.fixture
def shipped(tmp_path, monkeypatch, certificate):
    """A package that comes with the front of the small instance."""
    path = write_proofs([certificate], tmp_path / "proofs.jsonl")
    monkeypatch.setattr(proofs, "PROOFS", path)
    proved_fronts._finished_proof.cache_clear()
    yield path
    proved_fronts._finished_proof.cache_clear()


def fresh():
    """The small instance as another object, by another name."""
    return with_proved_front(generate_tsptw(8, seed=3, tightness=0.5, name="another name"))


def test_a_front_is_found_by_the_data_whatever_the_name(shipped, certificate):
    found = proof_of(fresh())
    assert found.objectives.tolist() == certificate.objectives.tolist()
    assert found.solutions == certificate.solutions


def test_other_problems_have_none(shipped, small_tsptw):
    assert proof_of(generate_tsptw(8, seed=4, tightness=0.5)) is None
    assert proof_of("something else") is None
    # Other objectives on the same data.
    assert proof_of(replace(small_tsptw, evaluate=small_tsptw.play)) is None


def test_a_front_that_is_not_proved_is_no_true_front(shipped, certificate):
    write_proofs([replace(certificate, status="not finished", stopped_by="time_limit")], shipped)
    assert proof_of(fresh()) is None


def test_the_rest_of_the_file_stays(shipped, certificate):
    other = certify(generate_tsptw(6, seed=1))
    left_open = replace(certificate, instance="open", status="not finished", stopped_by="time_limit")
    write_proofs([other, left_open], shipped)
    there = read_proofs(shipped)
    assert [one.instance for one in there] == sorted([other.instance, certificate.instance, "open"])
    assert [one.to_dict() for one in read_proofs(shipped, fingerprint=other.fingerprint)] == [
        other.without_groups().to_dict()
    ]


def test_a_damaged_line_is_named(shipped):
    shipped.write_text(shipped.read_text() + '{"format": "pareto-nrpa certificate 1"}\n')
    with pytest.raises(CertificateError, match=r"proofs.jsonl, line 2, is not .* damaged: instance is missing"):
        read_proofs(shipped)
    with pytest.raises(CertificateError, match="cannot read the certificates"):
        read_proofs(shipped.with_name("nothing.jsonl"))


def test_the_package_has_a_certificate_of_every_official_instance():
    there = read_proofs()
    assert [one.instance for one in there] == sorted(official_names())
    assert sum(one.proved for one in there) == 31


@pytest.mark.parametrize("certificate", read_proofs(), ids=lambda one: one.instance)
def test_the_certificates_of_the_package_are_what_they_say(official, certificate):
    problem = official(certificate.instance)
    check_certificate(certificate, problem)
    proof = proof_of(problem)
    assert (proof is not None) is certificate.proved
    assert proof is None or proof.solutions == certificate.solutions


def test_a_result_says_what_it_comes_to_beside_the_truth(shipped, certificate, tmp_path):
    problem = fresh()
    assert true_front(problem).tolist() == certificate.objectives.tolist()
    result = solve(problem, stop=MaxEvaluations(30_000), seed=0)
    n = len(certificate.solutions)
    assert result.truth == {"points": n, "found": n, "share_of_hypervolume": pytest.approx(1), "igd_plus": 0}
    assert f"{n} of the {n} points of the true front were found; the front has 100.00%" in result.summary()
    assert Result.load(result.save(tmp_path / "r.json")).truth == result.truth


def test_maximised_objectives_are_compared_in_their_own_sense(small_tsptw):
    table = np.array([[-1.0, 3.0], [-2.0, 2.0], [-3.0, 3.0]])
    front = ReferenceFront.of(table, maximise=(True, False), is_table=True)
    problem = replace(small_tsptw, reference_front=front, maximise=(True, False))
    assert sorted(true_front(problem).tolist()) == [[-2.0, 2.0], [-1.0, 3.0]]
    assert front.found([[1.0, 3.0]]) == 1
    assert front.is_complete


def test_info_tells_of_a_proved_front(official, run):
    official("rc_206.1")
    said = run("info", "rc_206.1").out
    assert "true front: 2 points, from 117.848, 89.4244 to 125.247, 91.6688, proved complete" in said
