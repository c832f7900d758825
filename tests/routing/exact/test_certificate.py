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


@pytest.mark.parametrize("m", [1, 2])
@pytest.mark.parametrize("n_tours", [0, 1, 3])
def test_an_unfinished_certificate_is_loaded_as_it_was(tmp_path, m, n_tours):
    certificate = unfinished(instance("loose", 3, 8, m), n_tours)
    assert certificate.status == "not finished"
    if m == 2:
        assert np.isinf(certificate.open_boxes).any()
    loaded = Certificate.load(certificate.save(tmp_path / "open.json"))
    assert_equal(certificate, loaded)
    assert "null" in (tmp_path / "open.json").read_text() or m == 1
    assert "still open" in loaded.summary()


@pytest.mark.parametrize("m", [1, 2])
def test_a_proved_certificate_is_loaded_as_it_was(tmp_path, m):
    certificate = certify(instance("loose", 3, 6, m))
    assert_equal(certificate, Certificate.load(certificate.save(tmp_path / "proved.json")))
    assert "proved complete" in certificate.summary()
    content = json.loads((tmp_path / "proved.json").read_text())
    assert content["proved"] is True
    assert {"objectives", "solutions", "open_boxes", "gap", "cpu_seconds"} <= set(content)


def test_a_proof_of_infeasibility_is_loaded_as_it_was(tmp_path):
    certificate = certify(mo_tsptw(np.ones((2, 3, 3)), [0, 0, 0], [9, 1, 1]))
    assert certificate.status == "proved infeasible"
    assert_equal(certificate, Certificate.load(certificate.save(tmp_path / "none.json")))
    assert "No tour keeps all time windows" in certificate.summary()


def refused(path):
    with pytest.raises(CertificateError) as caught:
        Certificate.load(path)
    message = str(caught.value)
    assert "\n" not in message
    assert message.endswith(".")
    assert len(message) < 300
    return message


def test_a_file_that_is_cut_off_is_refused_at_any_length(tmp_path, proved):
    whole = proved.save(tmp_path / "whole.json").read_text()
    for length in range(0, len(whole) - 1, max(1, len(whole) // 60)):
        (tmp_path / "cut.json").write_text(whole[:length])
        refused(tmp_path / "cut.json")


def test_a_file_that_is_no_certificate_is_refused(tmp_path):
    assert "cannot read" in refused(tmp_path / "missing.json")
    assert "cannot read" in refused(tmp_path)
    for content in ("[]", "null", "3", '"x"', "{}", '{"format": "pareto-nrpa certificate 2"}', '{"format": [1]}'):
        (tmp_path / "other.json").write_text(content)
        assert "is not a certificate, or is damaged" in refused(tmp_path / "other.json")
    (tmp_path / "bytes.json").write_bytes(bytes(range(256)))
    assert "is not a certificate, or is damaged" in refused(tmp_path / "bytes.json")
    (tmp_path / "deep.json").write_text("[" * 200_000)
    assert "is not a certificate, or is damaged" in refused(tmp_path / "deep.json")
    (tmp_path / "digits.json").write_text('{"format": ' + "9" * 100_000 + "}")
    assert "is not a certificate, or is damaged" in refused(tmp_path / "digits.json")


WRONG_VALUES = {
    "objectives": [None, 3, "x", [], [[1]], [[1, 2, 3]], [["a", "b"]], [[None, 1]], {"a": 1}, [[1e400, 1]],
                   [[float("nan")] * 2], [["1", "2"]], [[True, False]]],
    "solutions": [None, 3, [3], [["x"]], [], [[1.5]], [[None]], [[1e400]], {"a": 1}, "12", [[True]], [[1, 1]], [[-1]],
                  [[]]],
    "instance": [None, 3, ["x"], "x" * 10_000],
    "fingerprint": [None, 3, ["x"], "x" * 10_000],
    "stopped_by": [None, 3, ["x"], "x" * 10_000],
    "open_boxes": [None, 3, [3], [[1, 2]], [{}], [{"from": [1, 2]}], [{"from": 1, "to": 2}],
                   [{"from": [1], "to": [2, 3]}]],
    "lower_bounds": [None, 3, [3], ["x"], [[1], [2, 3]], [[1e400, 1]], [[1, 2, 3]]],
    "gap": [None, "x", [], 1e400, float("nan"), -0.1, 1.1, "0", False],
    "labels": [None, "x", [], 1e400, -1, 1.5, 10**30, True],
    "cpu_seconds": [None, "x", [], -1, float("nan"), 1e400, "1"],
    "wall_seconds": [None, "x", {}, -1, float("nan"), 1e400, "1"],
    "stage": [None, "x", 0, -1, 1.5, [], True],
    "versions": [None, 3, [], "x", {"numpy": 2}, {"numpy": "2" * 10_000}],
    "proved": [False, None, "yes", 1],
    "status": [None, 3, [], "proved", ""],
}  # fmt: skip


@pytest.mark.parametrize("name", WRONG_VALUES)
def test_a_wrong_value_is_refused(tmp_path, proved, name):
    content = proved.to_dict()
    path = tmp_path / "damaged.json"
    for value in WRONG_VALUES[name]:
        path.write_text(json.dumps({**content, name: value}))
        assert "damaged" in refused(path), value


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
        assert "the certificate says" in refused(path), changes
    for values in (content["objectives"][::-1], [content["objectives"][0]] * len(content["objectives"])):
        path.write_text(json.dumps({**content, "objectives": values}))
        assert "its 'objectives' are not those of a front" in refused(path)
    with open(path, "wb") as file:
        file.truncate(2 * 10**9)
    assert "more than 100,000,000 bytes" in refused(path)


def test_a_missing_value_is_named(tmp_path, proved):
    path = tmp_path / "damaged.json"
    for name in proved.to_dict():
        path.write_text(json.dumps({key: value for key, value in proved.to_dict().items() if key != name}))
        assert f"{name} is missing" in refused(path)


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


def test_the_checker_knows_the_data(problem, proved):
    other = mo_tsptw(problem.data.costs, problem.data.opens, problem.data.closes + 1e-9)
    with pytest.raises(CertificateError, match="other data"):
        check_certificate(proved, other)


def test_inputs_stay_as_they_are(problem):
    truth = brute_force(problem)
    incumbent = some_tours(problem, truth, 3, 1)
    before = [array.copy() for array in (*problem.data, incumbent.objectives)]
    solutions = [list(tour) for tour in incumbent.solutions]
    certify(problem, incumbent)
    for old, new in zip(before, (*problem.data, incumbent.objectives), strict=True):
        np.testing.assert_array_equal(old, new)
    assert incumbent.solutions == solutions
