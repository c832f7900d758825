"""Proofs made hard: beams of a few labels, no memory, no time, Ctrl-C anywhere. The answer is complete or honest."""

import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import pareto_nrpa.routing.exact.group as group_module
from pareto_nrpa.routing.exact import Certificate, CertificateError, certify
from pareto_nrpa.routing.exact.certificate import OPEN
from pareto_nrpa.routing.exact.network import build_networks
from pareto_nrpa.routing.exact.proof import Proof
from pareto_nrpa.routing.exact.region import EVERYTHING, KnownFront, complement

from .instances import (
    KINDS,
    WEAK,
    CtrlC,
    answer,
    assert_complete,
    assert_honest,
    brute_force,
    certify_module,
    efficient,
    instance,
    proof_module,
    stages,
)

ENOUGH = 100_000


@pytest.fixture(autouse=True)
def _short_searches(monkeypatch):
    """The proof is tested, not the searches before and within it: what those leave open makes it harder."""
    monkeypatch.setattr(certify_module, "_INCUMBENT_EVALUATIONS", 100)
    monkeypatch.setattr(certify_module, "_MORE_EVALUATIONS", 100)


def small(kind, seed, m=2):
    problem = instance(kind, seed, 4 + seed % 5, m)
    return problem, brute_force(problem)


@pytest.mark.parametrize("kind", KINDS)
def test_beams_that_cut_lose_nothing_in_the_end(kind, monkeypatch):
    monkeypatch.setattr(proof_module, "_STAGES", stages(1, 5, 20, ENOUGH))
    for seed in range(3):
        problem, truth = small(kind, seed, m=1 if seed == 2 else 2)
        assert_complete(answer(problem, truth, n_tours=seed % 4, seed=seed), problem, truth)


@pytest.mark.slow
@pytest.mark.parametrize("widths", [(1, 1, 1, 2, 2, 3, ENOUGH), (1, 5, 20, ENOUGH), (10, ENOUGH)])
@pytest.mark.parametrize("kind", KINDS)
def test_beams_that_cut_lose_nothing_in_many_instances(kind, widths, monkeypatch):
    monkeypatch.setattr(proof_module, "_STAGES", stages(*widths))
    for seed in range(1000, 1100):
        problem, truth = small(kind, seed)
        assert_complete(answer(problem, truth, n_tours=seed % 4, seed=seed), problem, truth)


@pytest.mark.parametrize("kind", KINDS)
def test_beams_that_are_never_wide_enough_leave_an_honest_answer(kind, monkeypatch):
    monkeypatch.setattr(proof_module, "_STAGES", stages(1, 5))
    for seed in range(20, 23):
        problem, truth = small(kind, seed, m=1 if seed == 22 else 2)
        assert_honest(answer(problem, truth, n_tours=seed % 4, seed=seed), problem, truth)


def test_too_little_memory_leaves_an_honest_answer(monkeypatch):
    monkeypatch.setattr(certify_module, "_LEAST_MEMORY", 0)
    statuses = set()
    for kind in KINDS:
        for seed in range(40, 43):
            problem, truth = small(kind, seed, m=1 if seed == 42 else 2)
            certificate = answer(problem, truth, n_tours=seed % 3, seed=seed, memory_limit=1e4)
            assert_honest(certificate, problem, truth)
            statuses.add((certificate.status, certificate.stopped_by))
    assert (OPEN, "the memory limit") in statuses


def test_a_layer_that_does_not_fit_while_it_is_made_is_cut(monkeypatch):
    """The smallest arrays hold thousands of labels: with smaller ones they grow, and are cut, in a small instance."""
    import pareto_nrpa.routing.exact.layers as layers

    monkeypatch.setattr(layers, "_SMALLEST_CAPACITY", 16)
    monkeypatch.setattr(layers, "_PATHS_AT_A_TIME", 3)
    for widths, check in (((4, ENOUGH), assert_complete), ((2, 6), assert_honest), ((ENOUGH,), assert_complete)):
        monkeypatch.setattr(proof_module, "_STAGES", stages(*widths))
        for kind in KINDS:
            problem, truth = small(kind, 44)
            check(answer(problem, truth, n_tours=1), problem, truth)


@pytest.mark.parametrize("kind", ["back_in_time", "ties", "twins"])
def test_ctrl_c_at_any_look_at_the_clock_leaves_an_honest_answer(kind, monkeypatch):
    monkeypatch.setattr(proof_module, "_STAGES", stages(1, 5, 20, ENOUGH))
    problem, truth = small(kind, 3)
    k, certificate = 1, None
    while certificate is None or certificate.status == OPEN:
        certificate = answer(problem, truth, n_tours=2, on_progress=CtrlC(k))
        assert certificate.stopped_by in ("Ctrl-C", "")
        assert_honest(certificate, problem, truth)
        k += 1 + k // 6
    assert k > 2


@pytest.mark.parametrize("kind", ["loose", "asymmetric"])
@pytest.mark.parametrize("m", [1, 2])
def test_the_time_limit_leaves_an_honest_answer(kind, m, monkeypatch):
    monkeypatch.setattr(proof_module, "_STAGES", stages(1, 5, 20, ENOUGH))
    problem, truth = small(kind, 4, m)
    for time_limit in (1e-9, 1e-3, 5e-3, 0.02, 0.05):
        certificate = answer(problem, truth, n_tours=1, time_limit=time_limit)
        assert certificate.stopped_by in ("the time limit", "")
        assert_honest(certificate, problem, truth)
    assert answer(problem, truth, n_tours=1, time_limit=1e-9).status == OPEN


class CtrlCAtALine:
    """Raise KeyboardInterrupt at the k-th line that is run in the files of the proof."""

    files = ("proof.py", "group.py", "setting.py", "region.py", "layers.py", "relaxation.py", "network.py")

    def __init__(self, k):
        self.left = k

    def __call__(self, frame, event, argument):
        path = Path(frame.f_code.co_filename)
        if path.parent.name != "exact" or path.name not in self.files:
            return None
        at = frame
        while at is not None:  # before there is anything to tell, and while it is told: not part of the proof
            if at.f_code.co_qualname in ("KnownFront.__init__", "_add_incumbent", "_certificate"):
                return None
            at = at.f_back
        return self.line

    def line(self, frame, event, argument):
        if event == "line":
            self.left -= 1
            if self.left == 0:
                raise KeyboardInterrupt
        return self.line


def test_ctrl_c_at_any_line_leaves_an_honest_answer(monkeypatch):
    monkeypatch.setattr(proof_module, "_STAGES", stages(2, ENOUGH))
    problem = instance("asymmetric", 2, 5)
    truth = brute_force(problem)
    assert_complete(answer(problem, truth, n_tours=1), problem, truth)  # and everything is compiled
    k, certificate, before = 1, None, sys.gettrace()
    while certificate is None or certificate.status == OPEN:
        sys.settrace(CtrlCAtALine(k))
        try:
            certificate = answer(problem, truth, n_tours=1)
        finally:
            sys.settrace(before)
        assert_honest(certificate, problem, truth)
        k += 1 + k // 6
    assert k > 500


def test_ctrl_c_while_points_are_added_leaves_as_many_tours_as_points():
    k, is_over, before = 1, False, sys.gettrace()
    while not is_over:
        front = KnownFront(2)
        front.add([(np.array([1.0, 3.0]), [1])])
        sys.settrace(CtrlCAtALine(k))
        try:
            front.add([(np.array([2.0, 2.0]), [2]), (np.array([3.0, 1.0]), [3])])
            is_over = True
        except KeyboardInterrupt:
            pass
        finally:
            sys.settrace(before)
        assert len(front.objectives) == len(front.tours)
        k += 1
    assert k > 5


@given(st.data())
def test_passes_hold_for_all_boxes_of_an_interval(data):
    """Also of an interval that was cut before the front moved; a limit too low would hide the tours above it."""
    values = st.integers(0, 30)
    points = efficient(np.array(data.draw(st.lists(st.tuples(values, values), min_size=1, max_size=8)), float))
    front = KnownFront(2)
    front.add((point, []) for point in points)
    begin = data.draw(st.integers(int(points[0, 0]), 30))
    interval = (float(begin), float(data.draw(st.integers(begin + 1, 31))))
    problem = instance("loose", 0, 4)
    proof = Proof(build_networks(problem.data), front, 1e9, lambda progress: None)
    proof.progress.stage = 1
    proof._extents = points[[0, -1]]
    boxes = front.local_upper_bounds(interval)
    sums = proof._setting(WEAK).sums(boxes)
    proof._make_prices(WEAK, sums)
    setting = proof._setting(WEAK)
    group = group_module._Group(setting, interval, lambda counts: None)
    assert group._prices
    for chain in group._chains(boxes, group._prices):
        sums = np.where(chain.prices.weights > 0, boxes, 0) @ chain.prices.weights
        assert (sums <= chain.limit).all()


# --- a proof that is interrupted, saved and resumed several times ends where an uninterrupted one ends


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
    search = proof_module.search_group
    monkeypatch.setattr(
        proof_module,
        "search_group",
        lambda setting, interval, *rest, **options: (
            searched.append(interval) or search(setting, interval, *rest, **options)
        ),
    )
    for looks in range(60, 2000, 20):
        begun = answer(problem, truth, on_progress=CtrlC(looks))
        open_then = complement([group.interval for group in begun.groups])
        if not begun.proved and open_then != [EVERYTHING]:
            break
    searched.clear()
    assert_complete(certify(problem, resume=begun), problem, truth)
    assert searched
    for low, high in searched:
        assert any(begin <= low and high <= end for begin, end in open_then)


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
