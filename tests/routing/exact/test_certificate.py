"""Certificates: what is saved is loaded, what is damaged is refused, what is wrong is found out."""

import dataclasses
import json

import numpy as np
import pytest

from pareto_nrpa import ParetoNRPA, ParetoNRPAError, solve
from pareto_nrpa.errors import ProblemError
from pareto_nrpa.routing import generate_tsptw
from pareto_nrpa.routing.exact import Certificate, CertificateError, certify, check_certificate
from pareto_nrpa.routing.tsp import mo_tsp
from pareto_nrpa.routing.tsptw import mo_tsptw
from pareto_nrpa.solving.stop import MaxEvaluations

from ...helpers.problems import Knapsack
from .instances import CtrlC, answer, assert_complete, brute_force, instance, proof_module, some_tours, stages


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


def refused_file(path):
    with pytest.raises(CertificateError) as caught:
        Certificate.load(path)
    message = str(caught.value)
    assert "\n" not in message
    assert message.endswith(".")
    assert len(message) < 300
    return message


def test_a_file_that_is_no_certificate_is_refused(tmp_path):
    assert "cannot read" in refused_file(tmp_path / "missing.json")
    assert "cannot read" in refused_file(tmp_path)
    for content in (b"[]", b'{"format": "pareto-nrpa certificate 2"}', bytes(range(256))):
        (tmp_path / "other.json").write_bytes(content)
        assert "is not a certificate, or is damaged" in refused_file(tmp_path / "other.json")


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
        assert "the certificate states" in refused_file(path), changes
    for values in (content["objectives"][::-1], [content["objectives"][0]] * len(content["objectives"])):
        path.write_text(json.dumps({**content, "objectives": values}))
        assert "its 'objectives' are not those of a front" in refused_file(path)
    with open(path, "wb") as file:
        file.truncate(2 * 10**9)
    assert "more than 100,000,000 bytes" in refused_file(path)


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


# --- certify: what it refuses, and the official instances


def refused(match, problem, *args, error=ProblemError, **options):
    with pytest.raises(error, match=match) as caught:
        certify(problem, *args, **options)
    message = str(caught.value)
    assert isinstance(caught.value, ParetoNRPAError)
    assert "\n" not in message
    assert message.endswith(".")


def cities(n, m=2, **changes):
    arrays = {"costs": np.ones((m, n, n)), "opens": np.zeros(n), "closes": np.full(n, np.inf), **changes}
    return mo_tsptw(**arrays)


def test_other_problems_are_refused():
    refused("certify proves travelling salesman problems with time windows.*got", Knapsack())
    refused("certify proves travelling salesman problems with time windows", mo_tsp(np.ones((2, 5, 5))))
    refused("certify proves travelling salesman problems with time windows", "rc_201.1")
    refused("one or two costs, .* has 3", cities(4, m=3))
    refused("at most 57 cities that can be visited", cities(59))
    refused("at most 125 cities, .* has 126", cities(126))


@pytest.mark.parametrize("limit", [0, -1, np.nan, np.inf])
@pytest.mark.parametrize("name", ["time_limit", "memory_limit"])
def test_a_wrong_limit_is_refused(name, limit):
    refused(f"{name} must be", cities(3), **{name: limit})


def test_a_wrong_incumbent_is_refused():
    problem = instance("tight", 5, 7)
    truth = brute_force(problem)
    good = some_tours(problem, truth, 1, 0)
    certify(problem, good)
    (tour,) = good.solutions

    def wrong(match, error=CertificateError, **changes):
        refused(match, problem, dataclasses.replace(good, **changes), error=error)

    late = next(
        tour.tolist() for tour in (truth.tours[0][::-1], *np.array([np.roll(truth.tours[0], k) for k in range(1, 6)]))
        if problem.replay(tour.tolist())[1]
    )  # fmt: skip
    wrong("tour 1 of the incumbent is infeasible: it is late at city", solutions=[late])
    wrong("tour 1 of the incumbent costs .* not .* as it says", objectives=good.objectives - 0.001)
    wrong("tour 1 of the incumbent costs .* not .* as it says", objectives=good.objectives[:, :1])
    wrong("must visit each of the cities 1 to 6 once", solutions=[tour[:-1]])
    wrong("must visit each of the cities 1 to 6 once", solutions=[[*tour[:-1], tour[0]]])
    wrong("must visit each of the cities 1 to 6 once", solutions=[[*tour[:-1], 77]])
    wrong("objective vectors for", solutions=[])
    wrong("no feasible tour", error=ProblemError, violations=np.ones(1))


def test_a_result_is_an_incumbent_too():
    problem = generate_tsptw(7, 1, 0.2)
    result = solve(problem, ParetoNRPA(level=2), stop=MaxEvaluations(1000), seed=1)
    assert_complete(certify(problem, result), problem, brute_force(problem))


def plain(certificate):
    content = certificate.to_dict()
    return {name: value for name, value in content.items() if name not in ("cpu_seconds", "wall_seconds")}


def test_the_same_seed_gives_the_same_certificate(monkeypatch):
    monkeypatch.setattr(proof_module, "_STAGES", stages(5, 100_000))
    for kind in ("loose", "ties", "asymmetric"):
        problem = instance(kind, 6, 8)
        first = certify(problem, seed=4)
        np.random.seed(0)  # noqa: NPY002 - disturbing it is the point
        assert plain(certify(problem, seed=4)) == plain(first)


QUICK = {
    "rc_201.3": 790.61,
    "rc_201.4": 793.64,
    "rc_202.3": 837.72,
    "rc_205.2": 755.93,
    "rc_205.4": 760.47,
}
LONGER = {
    "rc_202.1": 771.78,
    "rc_202.4": 793.03,
    "rc_205.3": 825.06,
    "rc_206.2": 828.06,
    "rc_206.3": 574.42,
    "rc_206.4": 831.67,
}
ALL = [*QUICK.items(), *(pytest.param(*item, marks=pytest.mark.slow) for item in LONGER.items())]


@pytest.mark.parametrize(("name", "optimum"), ALL)
def test_known_optima_are_the_ends_of_fronts(official, name, optimum):
    problem = official(name)
    certificate = certify(problem)
    assert certificate.status == "proved complete"
    check_certificate(certificate, problem)
    assert round(certificate.objectives[0, 0], 2) == optimum


@pytest.mark.parametrize("name", ["rc_201.1", pytest.param("rc_204.4", marks=pytest.mark.slow)])
def test_a_front_does_not_depend_on_how_it_was_found(official, name, monkeypatch):
    problem = official(name)
    expected = certify(problem).objectives
    monkeypatch.setattr(proof_module, "_STAGES", stages(3, 30, 1000, 1_000_000))
    empty = some_tours(problem, brute_force(instance("ties", 0, 3)), 0, 0)
    np.testing.assert_array_equal(certify(problem, empty).objectives, expected)
