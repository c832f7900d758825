"""Certificates: what is saved is loaded, what is damaged is refused, what is wrong is found out."""

import dataclasses
import json

import numpy as np
import pytest

from pareto_nrpa.routing.exact import Certificate, CertificateError, certify, check_certificate
from pareto_nrpa.routing.tsptw import mo_tsptw

from .instances import brute_force, instance
from .proving import CtrlC, answer, some_tours


@pytest.fixture(scope="module")
def problem():
    """Seven cities with a front of several points."""
    return instance("loose", 2, 7)


@pytest.fixture(scope="module")
def proved(problem):
    return certify(problem)


def assert_equal(a, b):
    for field in dataclasses.fields(Certificate):
        x, y = getattr(a, field.name), getattr(b, field.name)
        if isinstance(x, np.ndarray):
            assert x.shape == y.shape, field.name
            np.testing.assert_array_equal(x, y, err_msg=field.name)
        else:
            assert x == y, field.name


def unfinished(problem, n_tours):
    truth = brute_force(problem)
    return answer(problem, truth, n_tours=n_tours, on_progress=CtrlC(30))


CERTIFICATES = {
    "not finished": (lambda: unfinished(instance("loose", 3, 8), 1), "still open"),
    "not finished, without a tour": (lambda: unfinished(instance("loose", 3, 8), 0), "still open"),
    "not finished, one cost": (lambda: unfinished(instance("loose", 3, 8, 1), 3), "still open"),
    "proved complete": (lambda: certify(instance("loose", 3, 6)), "proved complete"),
    "proved infeasible": (
        lambda: certify(mo_tsptw(np.ones((2, 3, 3)), [0, 0, 0], [9, 1, 1])),
        "No tour keeps all time windows",
    ),
}


@pytest.mark.parametrize("status", CERTIFICATES)
def test_a_certificate_is_loaded_as_it_was_saved(tmp_path, status):
    make, words = CERTIFICATES[status]
    certificate = make()
    assert certificate.status == status.partition(",")[0]
    assert_equal(certificate, Certificate.load(certificate.save(tmp_path / "saved.json")))
    assert words in certificate.summary()


def refused(path):
    with pytest.raises(CertificateError) as caught:
        Certificate.load(path)
    message = str(caught.value)
    assert "\n" not in message
    assert message.endswith(".")
    assert len(message) < 300
    return message


def test_a_file_that_is_no_certificate_is_refused(tmp_path):
    assert "cannot read" in refused(tmp_path / "missing.json")
    assert "cannot read" in refused(tmp_path)
    for content in (b"[]", b'{"format": "pareto-nrpa certificate 2"}', bytes(range(256))):
        (tmp_path / "other.json").write_bytes(content)
        assert "is not a certificate, or is damaged" in refused(tmp_path / "other.json")


def test_a_certificate_that_contradicts_itself_is_refused(tmp_path, proved):
    path, content = tmp_path / "other.json", proved.to_dict()
    open_box = {"from": [0, 0], "to": [1, None]}
    for changes in (
        {"status": "not finished", "proved": False},
        {"status": "proved infeasible"},
        {"gap": 0.5},
        {"open_boxes": [open_box]},
        {"stopped_by": "Ctrl-C"},
        {"objectives": [], "solutions": []},
    ):
        path.write_text(json.dumps({**content, **changes}))
        assert "the certificate states" in refused(path), changes
    for values in (content["objectives"][::-1], [content["objectives"][0]] * len(content["objectives"])):
        path.write_text(json.dumps({**content, "objectives": values}))
        assert "its 'objectives' are not those of a front" in refused(path)
    with open(path, "wb") as file:
        file.truncate(2 * 10**9)
    assert "more than 100,000,000 bytes" in refused(path)


def wrong(problem, certificate, match, **changes):
    with pytest.raises(CertificateError, match=match) as caught:
        check_certificate(dataclasses.replace(certificate, **changes), problem)
    assert "\n" not in str(caught.value)


def test_the_checker_finds_what_is_wrong(problem, proved):
    check_certificate(proved, problem)
    objectives, tours = proved.objectives, proved.solutions
    assert len(tours) >= 2
    twice = [*tours[:-1], [*tours[-1][:-1], tours[-1][0]]]
    wrong(problem, proved, "must visit each of the cities", solutions=twice)
    wrong(problem, proved, "must visit each of the cities", solutions=[tour[:-1] for tour in tours])
    wrong(problem, proved, "must visit each of the cities", solutions=[[0, *tour] for tour in tours])
    wrong(problem, proved, "costs .* not .* as it says", objectives=objectives + 1e-5)
    wrong(problem, proved, "costs .* not .* as it says", objectives=objectives[::-1])
    wrong(problem, proved, "costs .* not .* as it says", objectives=objectives[:, :1])
    wrong(problem, proved, "costs .* not .* as it says", objectives=objectives * np.nan)
    wrong(problem, proved, "objective vectors for", objectives=objectives[:-1])
    wrong(problem, proved, "no better than", objectives=objectives[[0, 0]], solutions=[tours[0], tours[0]])
    wrong(problem, proved, "no tour is feasible, and has tours", status="proved infeasible")
    wrong(problem, proved, "and has none", solutions=[], objectives=np.empty((0, 2)))
    wrong(problem, proved, "nothing is open, and has open boxes", open_boxes=np.ones((1, 2, 2)))
    wrong(problem, proved, "other data", fingerprint="0" * 16)


def test_the_checker_finds_a_dominated_tour(problem, proved):
    truth = brute_force(problem)
    worse = next(i for i, point in enumerate(truth.objectives) if (proved.objectives[0] < point).all())
    objectives = np.vstack([proved.objectives, truth.objectives[worse]])
    solutions = [*proved.solutions, truth.tours[worse].tolist()]
    wrong(problem, proved, "no better than tour 1", objectives=objectives, solutions=solutions)


def test_the_checker_finds_a_tour_that_is_late(problem, proved):
    earlier = problem.data.closes.copy()
    last = proved.solutions[0][-1]
    opens = np.minimum(problem.data.opens, 0)
    earlier[last] = 0.5
    other = mo_tsptw(problem.data.costs, opens, earlier)
    other_certificate = dataclasses.replace(proved, fingerprint=certify(other, time_limit=1e-9).fingerprint)
    with pytest.raises(CertificateError, match=f"is late at city {last}"):
        check_certificate(other_certificate, other)


def test_inputs_stay_as_they_are(problem):
    truth = brute_force(problem)
    incumbent = some_tours(problem, truth, 3, 1)
    before = [array.copy() for array in (*problem.data, incumbent.objectives)]
    solutions = [list(tour) for tour in incumbent.solutions]
    certify(problem, incumbent)
    for old, new in zip(before, (*problem.data, incumbent.objectives), strict=True):
        np.testing.assert_array_equal(old, new)
    assert incumbent.solutions == solutions
