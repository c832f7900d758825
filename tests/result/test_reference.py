"""The front that results are measured against, from whatever place a problem has it."""

import json

import numpy as np
import pytest

from pareto_nrpa import MaxEvaluations, ReferenceFront, certify, load, solve
from pareto_nrpa.errors import ParetoNRPAError
from pareto_nrpa.result.reference import true_front, with_reference_front

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
        ("front.json", "[1, 2]"),
        ("front.json", '{"objectives": [[1, "x"]]}'),
        ("front.json", "[" * 100_000),
        ("front.json", f'{{"objectives": [[1, 1{"0" * 400}]]}}'),  # once an OverflowError
        ("front.csv", "f1,f2\n"),
        ("front.csv", "f1,f2\n1,nan\n"),
        ("front.csv", ""),
        ("front.json", json.dumps({"objectives": [[1, 2], [3]]})),
    ],
)
def test_what_is_no_front_is_told(problem, tmp_path, name, text):
    path = tmp_path / name
    path.write_text(text)
    with pytest.raises(ParetoNRPAError, match=r"is not a reference front \(a result or certificate"):
        ReferenceFront.read(path, problem)


def test_a_front_of_other_objectives_is_told(problem):
    with pytest.raises(ParetoNRPAError, match=r"has 3 objectives, .* has 2"):
        with_reference_front(problem, ReferenceFront.of(np.ones((1, 3))))


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda p: with_reference_front(p, "nothing.json"), ParetoNRPAError, "cannot read nothing"),
        (
            lambda p: with_reference_front(p, 5),
            ParetoNRPAError,
            r"front must be a ReferenceFront.*, got 5; Ref.*\.of\(",
        ),
        (lambda p: with_reference_front(p, [[1, 2]]), ParetoNRPAError, r"or the name of a file, got \[\[1, 2\]\]"),
        (lambda p: with_reference_front(p, "a\0b"), ParetoNRPAError, "cannot contain the character"),
        (
            lambda p: ReferenceFront.of([[1, 2], [3]]),
            ParetoNRPAError,
            r"finite numbers \[n, m\], got \[\[1, 2\], \[3\]\]",
        ),
        (lambda p: ReferenceFront.of([[1, 2]], maximise=[True] * 3), ParetoNRPAError, "maximise must be .* 2 of them"),
        (lambda p: ReferenceFront.of([[1, 2]], reference_point=[1]), ValueError, "must be 2 finite numbers, got"),
        (lambda p: true_front(3), TypeError, "problem must be a Problem or a CompiledProblem, got int"),
    ],
)
def test_what_cannot_be_measured_against_is_a_sentence(problem, call, error, message):
    with pytest.raises(error, match=message):
        call(problem)


def test_a_file_that_is_not_there_is_told(problem, tmp_path):
    with pytest.raises(ParetoNRPAError, match=r"cannot read .*No such file"):
        ReferenceFront.read(tmp_path / "nothing.json", problem)


def test_on_the_command_line(run, certificate, tmp_path):
    path = certificate.save(tmp_path / "proof.json")
    said = run(
        "solve", SMALL, "--evaluations", "500", "--reference-front", str(path), "--out", str(tmp_path / "r.json")
    )
    assert f"of the {len(certificate.solutions)} points of the true front were found" in said.out
