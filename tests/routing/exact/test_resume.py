"""A proof that is interrupted, saved, and goes on: again and again, it ends where one in one go ends."""

from dataclasses import replace

import numpy as np
import pytest

from pareto_nrpa.routing.exact import Certificate, CertificateError, certify
from pareto_nrpa.routing.exact.certificate import OPEN
from pareto_nrpa.routing.exact.region import EVERYTHING, open_intervals

from .instances import brute_force, instance
from .proving import CtrlC, answer, assert_complete, assert_honest, certify_module, proof_module, stages

ENOUGH = 100_000


def goes_on(certificate, problem, path, looks):
    """Return the certificate after so many more looks at the keyboard, by way of a file."""
    certificate.save(path)
    return certify(problem, resume=Certificate.load(path), on_progress=CtrlC(looks))


@pytest.mark.parametrize("kind", ["loose", "tight", "asymmetric"])
def test_a_proof_in_many_sittings_is_honest_after_each_and_complete_in_the_end(kind, tmp_path, monkeypatch):
    monkeypatch.setattr(proof_module, "_STAGES", stages(5, 20, ENOUGH))
    n_sittings = 0
    for seed in range(6):
        problem = instance(kind, seed, 5 + seed % 3, 1 if seed == 5 else 2)
        truth = brute_force(problem)
        certificate = answer(problem, truth, n_tours=seed % 3, seed=seed, on_progress=CtrlC(20))
        for sitting in range(40):
            assert_honest(certificate, problem, truth)
            if certificate.proved:
                break
            before, looks = certificate, 40 + 40 * sitting  # each longer, as one begins with making its bounds
            certificate = goes_on(before, problem, tmp_path / "c.json", looks)
            n_sittings += 1
            assert certificate.stage >= before.stage
            assert certificate.labels >= before.labels
            assert certificate.cpu_seconds > before.cpu_seconds
        assert_complete(certificate, problem, truth)
    assert n_sittings > 0


def test_what_was_proved_is_not_searched_again(monkeypatch):
    monkeypatch.setattr(proof_module, "_STAGES", stages(20, ENOUGH))
    problem = instance("loose", 3, 8)
    truth = brute_force(problem)
    searched = []
    search = proof_module.Proof._search
    monkeypatch.setattr(
        proof_module.Proof,
        "_search",
        lambda self, interval, stage: searched.append(interval) or search(self, interval, stage),
    )
    for looks in range(60, 2000, 20):
        begun = answer(problem, truth, on_progress=CtrlC(looks))
        open_then = open_intervals(begun.open_boxes, begun.objectives[0, 0])
        if not begun.proved and open_then != [EVERYTHING]:
            break
    searched.clear()
    assert_complete(certify(problem, resume=begun), problem, truth)
    assert searched
    for low, high in searched:
        assert any(begin <= low and high <= end for begin, end in open_then)


def test_a_finished_certificate_stays_as_it_is():
    problem = instance("tight", 1, 6)
    certificate = certify(problem)
    assert certify(problem, resume=certificate) is certificate


def test_ctrl_c_before_the_proof_begins_keeps_what_was_proved(monkeypatch):
    problem = instance("loose", 3, 7)
    certificate = answer(problem, brute_force(problem), on_progress=CtrlC(30))
    assert certificate.status == OPEN

    def interrupted(data):
        raise KeyboardInterrupt

    monkeypatch.setattr(certify_module, "build_networks", interrupted)
    kept = certify(problem, resume=replace(certificate, stopped_by="the time limit"))
    assert kept.stopped_by == "Ctrl-C"
    assert kept.open_boxes is certificate.open_boxes


def test_the_certificate_of_something_else_is_refused():
    problem, other = instance("loose", 3, 7), instance("loose", 4, 7)
    certificate = answer(problem, brute_force(problem), on_progress=CtrlC(30))
    with pytest.raises(CertificateError, match="is for other data than"):
        certify(other, resume=certificate)
    bounds = np.zeros((1, 3))
    with pytest.raises(CertificateError, match=r"is for 3 objectives, .* has 2"):
        certify(problem, resume=replace(certificate, lower_bounds=bounds))
