"""The verification of intervals, apart from the prover: it finds every tour that a certificate misses."""

import dataclasses

import msgspec
import numpy as np
import pytest

from pareto_nrpa.routing.exact import CertificateError, certify, check_intervals
from pareto_nrpa.routing.exact.certificate import Group, GroupSum, LibraryEntry

from .instances import KINDS, CtrlC, answer, brute_force, instance


def without(certificate, k):
    """Return a certificate that misses a tour."""
    rest = [i for i in range(len(certificate.solutions)) if i != k]
    tours = [certificate.solutions[i] for i in rest]
    return dataclasses.replace(certificate, objectives=certificate.objectives[rest], solutions=tours)


@pytest.mark.parametrize("m", [1, 2])
@pytest.mark.parametrize("kind", KINDS)
def test_a_missing_tour_is_found(kind, m):
    for seed in range(5):
        problem = instance(kind, seed, 4 + seed % 4, m)
        certificate = answer(problem, brute_force(problem), seed=seed)
        check_intervals(certificate, problem)
        for k in range(len(certificate.solutions)):
            with pytest.raises(CertificateError, match="there is a tour with"):
                check_intervals(without(certificate, k), problem)


@pytest.mark.parametrize("kind", KINDS)
def test_no_prices_and_no_memories_prove_what_is_false(kind):
    """Whatever a file has, a front that is complete passes, and one that is not is found out."""
    rng = np.random.default_rng(5)
    problem = instance(kind, 7, 7)
    certificate = answer(problem, brute_force(problem))

    def disturbed(each):
        prices = rng.normal(size=len(each.prices)) * 10.0 ** rng.integers(-2, 3)
        memories = [rng.permutation(len(each.prices))[: rng.integers(4)].tolist() for _ in each.prices]
        weights = rng.random(len(each.weights)) * (rng.random(len(each.weights)) < 0.7)
        passes = rng.integers(0, 6, rng.integers(6)).tolist()
        weights = weights if weights.any() else weights + 1
        return GroupSum((weights / weights.sum()).tolist(), prices.tolist(), memories, passes)

    for _ in range(5):
        groups = [Group(one.begin, one.end, [disturbed(each) for each in one.sums]) for one in certificate.groups]
        other = dataclasses.replace(certificate, groups=groups)
        check_intervals(other, problem)
        for k in range(len(certificate.solutions)):
            with pytest.raises(CertificateError, match="there is a tour with"):
                check_intervals(without(other, k), problem)


def test_a_sum_that_could_prove_anything_is_refused():
    problem = instance("loose", 2, 6)
    certificate = certify(problem)
    (each, *_), n = next(group.sums for group in certificate.groups if group.sums), 6
    for wrong in (
        {"weights": [0.0, 0.0]},
        {"weights": [1.1, -0.1]},
        {"weights": [1e300, 1e300]},
        {"weights": [1.0, 1e-320]},
        {"prices": [1e300] * n},
        {"weights": [1.0]},
        {"prices": [0.0] * (n - 1)},
        {"memories": [[n]] * n},
        {"memories": [[]]},
    ):
        groups = [Group(None, None, [msgspec.structs.replace(each, **wrong)])]
        with pytest.raises(CertificateError, match="are not those of 6 cities"):
            check_intervals(dataclasses.replace(certificate, groups=groups), problem)


def test_intervals_that_leave_something_out_are_refused():
    problem = instance("loose", 2, 6)
    certificate = certify(problem)
    assert len(certificate.groups) > 1
    for k in range(len(certificate.groups)):
        groups = [group for i, group in enumerate(certificate.groups) if i != k]
        with pytest.raises(CertificateError, match="no interval of the certificate holds"):
            check_intervals(dataclasses.replace(certificate, groups=groups), problem)


def test_a_proof_continues_with_the_prices_that_it_had():
    problem = instance("loose", 3, 8)
    truth = brute_force(problem)
    begun = next(
        one for one in (answer(problem, truth, on_progress=CtrlC(looks)) for looks in range(10, 2000, 10))
        if one.library and one.groups
    )  # fmt: skip
    assert not begun.proved
    assert {type(entry) for entry in begun.library} == {LibraryEntry}
    again = certify(problem, resume=begun, on_progress=CtrlC(1))
    known = {(entry.stage, entry.entry): entry for entry in begun.library}
    assert {(entry.stage, entry.entry): entry for entry in again.library} == known
    complete = certify(problem, resume=again)
    assert complete.proved and not complete.library
    check_intervals(complete, problem)
