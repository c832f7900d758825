"""Small instances of all kinds, and all that there is to know of them, by trying every tour."""

import functools
import importlib
from itertools import permutations
from typing import NamedTuple

import numpy as np

from pareto_nrpa.metrics import hypervolume, worst_point
from pareto_nrpa.result.result import Front
from pareto_nrpa.routing.exact import certify, check_certificate
from pareto_nrpa.routing.exact.certificate import INFEASIBLE, OPEN, PROVED
from pareto_nrpa.routing.exact.intervals import check_intervals
from pareto_nrpa.routing.exact.setting import Stage
from pareto_nrpa.routing.tsptw import mo_tsptw


class Truth(NamedTuple):
    """Every feasible tour of an instance, and which objective vectors are efficient."""

    tours: np.ndarray  # [k, n - 1]
    times: np.ndarray  # [k, n - 1], when each visit begins
    objectives: np.ndarray  # [k, m]
    efficient: np.ndarray  # [e, m], sorted, each once


@functools.cache
def _all_tours(n):
    return np.array(list(permutations(range(1, n))), dtype=np.int64)


def brute_force(problem):
    """Drive along every tour, in the order of floating point operations that a driver would make."""
    data = problem.data
    tours = _all_tours(len(data.opens))
    at = np.zeros(len(tours), dtype=np.int64)
    time = np.full(len(tours), data.opens[0])
    sums, feasible, times = np.zeros((len(data.costs), len(tours))), np.ones(len(tours), bool), []
    for city in tours.T:
        arrival = time + data.costs[0, at, city]
        feasible &= arrival <= data.closes[city]
        time = np.maximum(arrival, data.opens[city])
        sums += data.costs[:, at, city]
        times.append(time)
        at = city
    feasible &= time + data.costs[0, at, 0] <= data.closes[0]
    objectives = rounded(sums + data.costs[:, at, 0]).T[feasible]
    return Truth(tours[feasible], np.array(times).T[feasible], objectives, efficient(objectives))


def rounded(costs):
    """Round to 1e-9, and what is below 1 to twelve digits."""
    digits = np.where(costs < 1, 11 - np.floor(np.log10(np.where(costs > 0, costs, 1.0))), 9)
    steps = 10.0**digits
    return np.rint(costs * steps) / steps


def efficient(objectives):
    """Return the vectors that no other one is as good as, each once: sorted, each is better in the last objective."""
    kept = []
    for point in np.unique(objectives, axis=0):
        if not kept or point[-1] < kept[-1][-1]:
            kept.append(point)
    return np.array(kept).reshape(-1, objectives.shape[1])


def _euclidean(rng, n, m):
    places = rng.random((m, n, 2)) * 100
    return np.hypot(*(places[:, :, None] - places[:, None]).transpose(3, 0, 1, 2))


def _around_a_tour(rng, times, width):
    """Return windows around the visits of a random tour, so that one tour at least is feasible."""
    n = len(times)
    opens, closes, now, at = np.zeros(n), np.full(n, 1e4), 0.0, 0
    for city in rng.permutation(np.arange(1, n)):
        now += times[at, city]
        opens[city], closes[city] = max(0.0, now - width * rng.random()), now + width * rng.random()
        at = city
    return opens, closes


def _or_never(rng, closes):
    """Let most depots be open for ever: hardly any tour is back by a time drawn at random."""
    closes[0] = np.inf if rng.random() < 0.8 else closes[0]
    return closes


def tight(rng, n, m):
    """Euclidean, narrow windows: few tours, maybe one."""
    costs = _euclidean(rng, n, m)
    return costs, *_around_a_tour(rng, costs[0], 60)


def loose(rng, n, m):
    """Euclidean with service times, wide windows: many tours, long fronts."""
    costs = _euclidean(rng, n, m)
    costs[0] += 10 * (np.arange(n) > 0)[:, None]
    return costs, *_around_a_tour(rng, costs[0], 400)


def back_in_time(rng, n, m):
    """A depot that closes when some tour is back: others are late there alone."""
    costs, opens, closes = (tight, loose, asymmetric, rigid)[rng.integers(4)](rng, n, m)
    now, at = opens[0], 0
    for city in (*np.argsort(opens[1:] + closes[1:]) + 1, 0):
        now, at = max(now + costs[0, at, city], opens[city] if city else 0), city
    closes[0] = now * rng.choice([0.9, 1.0, 1.0, 1.1])
    return costs, opens, closes


def anywhere(rng, n, m):
    """Windows put anywhere: often infeasible, sometimes only just."""
    costs = _euclidean(rng, n, m)
    opens = rng.random(n) * 200
    opens[0] = rng.choice([0.0, 30.0])
    return costs, opens, _or_never(rng, opens + rng.random(n) * rng.choice([100, 300]))


def ties(rng, n, m):
    """Small integers: most sums are those of many other tours too."""
    costs = rng.integers(0, 4, (m, n, n)).astype(float)
    opens = rng.integers(0, 6, n).astype(float)
    return costs, opens, _or_never(rng, opens + rng.integers(0, 12, n))


def zeros(rng, n, m):
    """Whole matrices, or most of one, are zero."""
    costs = rng.integers(0, 3, (m, n, n)) * (rng.random((m, n, n)) < 0.3) * 1.0
    costs[rng.integers(m)] *= rng.integers(2)
    return costs, np.zeros(n), _or_never(rng, rng.integers(0, 6, n).astype(float))


def asymmetric(rng, n, m):
    """Every arc on its own: there and back differ, and a detour may be shorter than the way itself."""
    costs = rng.random((m, n, n)) ** 3 * 100
    return costs, *_around_a_tour(rng, costs[0], 150)


def boundary(rng, n, m):
    """Windows that close at the very arrival of a tour, in numbers that no double holds exactly."""
    costs = np.round(rng.random((m, n, n)) * 10, 1) if rng.random() < 0.5 else _euclidean(rng, n, m)
    opens, closes = np.zeros(n), np.full(n, np.inf)
    for _ in range(rng.integers(1, 3)):
        now, at = 0.0, 0
        for city in rng.permutation(np.arange(1, n)):
            now += costs[0, at, city]
            closes[city] = max(now, closes[city]) if np.isfinite(closes[city]) else now
            if rng.random() < 0.3:
                opens[city] = min(now, closes[city])
            at = city
    return costs, opens, closes


def rigid(rng, n, m):
    """One tour sets the windows, which shut as it arrives, and the way round is often shorter than the direct one."""
    costs = np.round(rng.random((m, n, n)) ** 2 * 10, 1)
    opens, closes, now, at = np.zeros(n), np.full(n, np.inf), 0.0, 0
    for city in rng.permutation(np.arange(1, n)):
        now += costs[0, at, city]
        closes[city] = now
        opens[city] = now if rng.random() < 0.4 else max(0.0, now - 3)
        at = city
    return costs, opens, closes


def unlimited(rng, n, m):
    """Some cities never close, some open late."""
    costs = _euclidean(rng, n, m)
    opens, closes = _around_a_tour(rng, costs[0], 100)
    closes[rng.random(n) < 0.5] = np.inf
    return costs, opens, closes


def twins(rng, n, m):
    """Cities at the same place with the same window."""
    original = rng.integers(0, max(2, n // 2), n)
    original[0] = 0
    costs = _euclidean(rng, n, m)[:, original][:, :, original]
    opens, closes = _around_a_tour(rng, costs[0], 200)
    return costs, opens[original], np.maximum(closes[original], opens[original])


def large(rng, n, m):
    """Numbers in the thousands of millions, which leave few digits behind the point."""
    costs, opens, closes = (boundary, loose)[rng.integers(2)](rng, n, m)
    scale = 10.0 ** rng.integers(3, 10)
    return costs * scale, opens * scale, closes * scale


def small(rng, n, m):
    """Numbers of which most are lost if they are rounded to 1e-9."""
    costs, opens, closes = (boundary, loose, back_in_time)[rng.integers(3)](rng, n, m)
    scale = 10.0 ** -rng.integers(3, 15)
    return costs * scale, opens * scale, closes * scale


KINDS = {
    kind.__name__: kind
    for kind in (
        tight,
        loose,
        back_in_time,
        small,
        anywhere,
        ties,
        zeros,
        asymmetric,
        boundary,
        rigid,
        unlimited,
        twins,
        large,
    )
}


def instance(kind, seed, n, m=2):
    """Return a random instance of a kind."""
    rng = np.random.default_rng([seed, n, m, *map(ord, kind)])
    return mo_tsptw(*KINDS[kind](rng, n, m), name=f"{kind}-{seed}-{n}-{m}")


# --- proofs on small instances, and what every answer must fulfil


# The package exports functions of these names.
certify_module = importlib.import_module("pareto_nrpa.routing.exact.certify")
proof_module = importlib.import_module("pareto_nrpa.routing.exact.proof")

WEAK = Stage(
    boxes=10, entries=2, coarse_steps=2, fine_steps=2, rounds=0, n_sums=3, memory=3, pass_labels=100_000, beam=2,
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
    check_intervals(certificate, problem)
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
