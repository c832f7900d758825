"""Proofs to try on small instances: from any incumbent, with any stages, and what every answer must fulfil."""

import importlib

import numpy as np

from pareto_nrpa.metrics import hypervolume, worst_point
from pareto_nrpa.result.result import Front
from pareto_nrpa.routing.exact import certify, check_certificate
from pareto_nrpa.routing.exact.certificate import INFEASIBLE, OPEN, PROVED
from pareto_nrpa.routing.exact.proof import Stage

# The package exports functions of these names.
certify_module = importlib.import_module("pareto_nrpa.routing.exact.certify")
proof_module = importlib.import_module("pareto_nrpa.routing.exact.proof")

WEAK = Stage(
    boxes=10, entries=2, coarse_steps=2, fine_steps=2, rounds=0, n_sums=3, sizes=(2, 3), pass_labels=100_000, beam=2,
    width=2,
)  # fmt: skip


class CtrlC:
    """Raise KeyboardInterrupt at call k."""

    def __init__(self, k):
        self.left = k

    def __call__(self, progress):
        self.left -= 1
        if self.left == 0:
            raise KeyboardInterrupt


def stages(*widths):
    """Return stages of few labels, so that beams cut, and intervals are split and searched again."""
    return [
        WEAK._replace(boxes=max(1, 8 >> number), rounds=number % 3, beam=(width + 1) // 2, width=width)
        for number, width in enumerate(widths)
    ]


def some_tours(problem, truth, n_tours, seed):
    """Return a few feasible tours, good or bad, as an incumbent; all of them non-dominated, as in a front."""
    rng = np.random.default_rng(seed)
    chosen = rng.choice(len(truth.tours), min(n_tours, len(truth.tours)), replace=False) if len(truth.tours) else []
    objectives = truth.objectives[chosen].reshape(-1, problem.n_objectives)
    return Front(
        objectives=objectives,
        violations=np.zeros(len(objectives)),
        solutions=[truth.tours[i].tolist() for i in chosen],
        policies=np.zeros(len(objectives), np.int64),
    )


def answer(problem, truth, *, n_tours=2, seed=0, **options):
    """Certify a problem from a few of its tours, drawn at random."""
    return certify(problem, some_tours(problem, truth, n_tours, seed), **options)


def assert_complete(certificate, problem, truth):
    """The certificate is proved, and says what brute force says."""
    assert certificate.proved
    assert certificate.status == (PROVED if len(truth.tours) else INFEASIBLE), problem.name
    # Brute force rounds in its own way: costs far below 1 may differ in the last bit.
    np.testing.assert_allclose(certificate.objectives, truth.efficient, rtol=1e-12, atol=0, err_msg=problem.name)
    assert len(certificate.open_boxes) == 0
    assert certificate.gap == 0
    check_tours_against(problem, certificate)


def check_tours_against(problem, certificate):
    check_certificate(certificate, problem)
    for values, tour in zip(certificate.objectives, certificate.solutions, strict=True):
        objectives, violations = problem.replay(tour)
        assert violations == 0
        assert objectives.tolist() == values.tolist()


def assert_honest(certificate, problem, truth):
    """Nothing is claimed that is not so, and nothing efficient is excluded."""
    if certificate.status != OPEN:
        assert_complete(certificate, problem, truth)
        return
    check_tours_against(problem, certificate)
    known = {tuple(values) for values in certificate.objectives.tolist()}
    for point in truth.efficient:
        boxes = certificate.open_boxes
        is_open = ((boxes[:, 0] <= point) & (point < boxes[:, 1])).all(axis=1).any()
        assert tuple(point.tolist()) in known or is_open, (problem.name, point)
    for point in truth.objectives:
        assert (certificate.lower_bounds <= point).all(axis=1).any(), (problem.name, point)
    assert certificate.gap >= missing_share(certificate.objectives, truth.efficient) - 1e-12
    assert certificate.gap <= 1
    assert certificate.stopped_by


def missing_share(found, efficient):
    """Return how much of the true hypervolume (with one objective: of the value found) a front does not have."""
    if not len(efficient):
        return 0.0
    if not len(found):
        return 1.0
    if found.shape[1] == 1:
        return float(1 - efficient.min() / found.min()) if found.min() > 0 else 0.0
    reference = worst_point(found)
    whole = hypervolume(efficient, reference_point=reference)
    return float(1 - hypervolume(found, reference_point=reference) / whole)
