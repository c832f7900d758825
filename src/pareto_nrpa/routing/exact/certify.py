"""The one call: an incumbent front, the proof, and the answer whatever ends it."""

from __future__ import annotations

import math
import time
from dataclasses import replace
from functools import cache, partial
from typing import TYPE_CHECKING, Any

import numpy as np

from ..._util.checks import check_seed, is_number
from ...algorithms.polished.params import PolishedNRPA
from ...errors import ProblemError
from ...problem.base import CompiledProblem, data_fingerprint
from ...result.result import Front, Result
from ...solving.build_result import versions
from ...solving.interrupt import Interrupt
from ...solving.solve import solve
from ...solving.stop import MaxEvaluations, MaxRuntime
from ..generate import generate_tsptw
from ..tsptw import TSPTWData
from .certificate import INFEASIBLE, OPEN, PROVED, Certificate, Group, LibraryEntry
from .check import check_certificate, check_tours, rounded_costs
from .gap import LowerBound, lower_bound_set, open_boxes, remaining_gap
from .layers import kernels_are_compiled
from .network import build_networks, unit_costs
from .proof import Proof, ProofProgress, WorkerFailed
from .region import KnownFront, complement
from .relaxation import Prices

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from concurrent.futures import Executor

#: Of which a checker has sets of two words. How many fit into one for the proof depends on their windows.
MOST_CITIES = 125
_ALWAYS_FIT = 58
DEFAULT_MEMORY = 4e9
_LEAST_MEMORY = 1e8
_SEARCH = PolishedNRPA()
_INCUMBENT_EVALUATIONS = 1_000
# Before the long stages of a proof, as missing tours make them longer; if all boxes are open.
_MORE_EVALUATIONS = 200_000
# Bounds are sums made in another order than along a tour. In terms of `unit_costs`, and of the bound.
_SAFETY = 1e-6
_RELATIVE_SAFETY = 1e-10
# Far above anything that is driven, and far below where sums of doubles go wrong.
_LARGEST_NUMBER = 1e12
# Weighted sums in which a proof that continues remembers the bounds of the earlier one.
_FAN = 65
# Of a certificate saved during a proof, and the seconds between two of them.
_UNEXPECTED, _BETWEEN_CHECKPOINTS = "an unexpected end", 5.0


def certify(
    problem: CompiledProblem,
    incumbent: Front | Result | None = None,
    *,
    resume: Certificate | None = None,
    time_limit: float | None = None,
    memory_limit: float = DEFAULT_MEMORY,
    seed: int = 0,
    on_progress: Callable[[ProofProgress], None] | None = None,
    on_compile: Callable[[], None] | None = None,
    on_checkpoint: Callable[[Certificate], object] | None = None,
    executor: Executor | None = None,
) -> Certificate:
    """Find all efficient tours of a travelling salesman problem with time windows, and prove that there are no others.

    Parameters
    ----------
    problem
        A `mo_tsptw` problem with one or two costs and at most 125 cities, of which 57 at most can be visited at about
        the same place of a tour.
    incumbent
        Tours to start from; by default those of a short run of the default search. The better they are, the shorter
        the proof.
    resume
        A certificate that is not finished, to go on from: its tours are checked, what it says is proved is believed.
        A finished one is returned unchanged.
    time_limit
        Seconds after which to stop with what is proved by then, without compiling; Ctrl-C does the same at any time.
    memory_limit
        Bytes for each process to stay below, about; what needs more is left open.
    seed
        Of the run of the default search.
    on_progress
        Called many times a second with where the proof stands.
    on_compile
        Called before kernels are compiled, which happens once on a machine and takes some seconds.
    on_checkpoint
        Called with what is proved so far, every few seconds.
    executor
        Searches groups of boxes at once in other processes: any executor of `concurrent.futures`, or that of a Dask
        client (`client.get_executor()`). The answer is the same.

    Returns
    -------
    Certificate
        `proved` with all efficient objective vectors and a tour for each, or what is still open.
    """
    check_arguments(problem, time_limit, memory_limit)
    check_seed(seed)
    front = KnownFront(problem.n_objectives)
    if incumbent is not None:
        _add_incumbent(front, problem, incumbent)
    if resume is not None:
        check_certificate(resume, problem)
        if resume.proved:
            return resume
        _add(front, problem, resume.solutions)
    searches = incumbent is None and not len(front)
    _compile(problem, on_compile, searches=searches)
    clock = _Clock(time_limit)
    stopped_by, proof, is_contradiction = "", None, False
    answer = partial(_certificate, problem, front, resume, clock)
    with Interrupt() as interrupt:
        try:
            networks = build_networks(problem.data)
            is_contradiction = networks is None
            if networks is not None:
                if searches:
                    _search_incumbent(front, problem, seed, clock, _INCUMBENT_EVALUATIONS)
                look_up = _watching(clock, interrupt, on_progress)
                proof = Proof(
                    networks, front, memory_limit, look_up, executor=executor, seconds_left=clock.left,
                    **_beginning(resume),
                )  # fmt: skip
                if on_checkpoint is not None:
                    proof.on_group = _now_and_then(lambda: on_checkpoint(answer(proof, stopped_by=_UNEXPECTED)))
                proof.run(
                    lambda share: _search_incumbent(
                        front, problem, seed, clock, max(1, round(share * _MORE_EVALUATIONS))
                    )
                )
                stopped_by = "the memory limit"
        except _Stopped as stopped:
            stopped_by = str(stopped)
        except WorkerFailed as failure:
            stopped_by = f"a worker process that failed ({failure})"
        except KeyboardInterrupt:
            stopped_by = "Ctrl-C"
        if resume is not None and proof is None and not is_contradiction:
            return replace(resume, stopped_by=stopped_by)
        return answer(proof, is_contradiction=is_contradiction, stopped_by=stopped_by)


def _now_and_then(act: Callable[[], object]) -> Callable[[], None]:
    """Return a function that acts when it is called, but not again within some seconds."""
    last = time.monotonic()

    def call() -> None:
        nonlocal last
        if time.monotonic() > last + _BETWEEN_CHECKPOINTS:
            act()
            last = time.monotonic()

    return call


def _beginning(earlier: Certificate | None) -> dict[str, Any]:
    """Return where a proof begins: where an earlier one ended."""
    if earlier is None:
        return {}
    m = earlier.lower_bounds.shape[1]
    fan = [np.array([share, 1 - share]) for share in np.linspace(0, 1, _FAN)] if m == 2 else [np.ones(1)]
    return {
        "open_intervals": complement([group.interval for group in earlier.groups]),
        "groups": list(earlier.groups),
        "library": {(known.stage, known.entry): _prices_of(known) for known in earlier.library},
        "first_stage": earlier.stage,
        # As every tour is as bad as one of these points, no weighted sum is below the least of theirs.
        "least": [(weights, float((earlier.lower_bounds @ weights).min(initial=math.inf))) for weights in fan],
    }


def _prices_of(known: LibraryEntry) -> Prices:
    return Prices(np.array(known.weights), np.array(known.prices), [list(cities) for cities in known.memories])


def _compile(problem: CompiledProblem, on_compile: Callable[[], None] | None, *, searches: bool) -> None:
    """Compile everything before the clock starts; report it where it takes long."""
    search = _SEARCH.start(problem, seed=0, budget=_INCUMBENT_EVALUATIONS) if searches else None
    if on_compile is not None and not (kernels_are_compiled() and (search is None or search.is_compiled)):
        on_compile()
    if search is not None:
        search.compile()
    _prove_something_tiny(problem.n_objectives)


@cache
def _prove_something_tiny(n_objectives: int) -> None:
    """Call every kernel of a proof: all are compiled after that, or found on disk."""
    networks = build_networks(generate_tsptw(5, seed=1, n_objectives=n_objectives).data)
    assert networks is not None
    Proof(networks, KnownFront(n_objectives), _LEAST_MEMORY, lambda progress: None).run()


def check_arguments(problem: Any, time_limit: float | None, memory_limit: float = DEFAULT_MEMORY) -> None:
    """Raise unless a proof can be made of a problem."""
    if not isinstance(problem, CompiledProblem) or not isinstance(problem.data, TSPTWData):
        raise ProblemError(
            "certify proves travelling salesman problems with time windows, made by mo_tsptw or read by load; got "
            f"{getattr(problem, 'name', None) or type(problem).__name__}."
        )
    if problem.n_objectives > 2:
        raise ProblemError(f"certify takes one or two costs, {problem.name} has {problem.n_objectives}.")
    if len(problem.data.opens) > MOST_CITIES:
        raise ProblemError(f"certify takes at most {MOST_CITIES} cities, {problem.name} has {len(problem.data.opens)}.")
    if len(problem.data.opens) > _ALWAYS_FIT:
        build_networks(problem.data)  # which raises where they do not fit
    largest = max(problem.data.costs.max(), problem.data.opens.max())
    if largest > _LARGEST_NUMBER:
        raise ProblemError(
            f"certify takes costs and opening times up to {_LARGEST_NUMBER:g}, {problem.name} has {largest:g}."
        )
    if time_limit is not None and not (is_number(time_limit) and time_limit > 0):
        raise ProblemError(f"time_limit must be a number of seconds above 0, got {time_limit}.")
    if not (is_number(memory_limit) and memory_limit >= _LEAST_MEMORY):
        raise ProblemError(f"memory_limit must be at least {_LEAST_MEMORY:g} bytes (100 MB), got {memory_limit}.")


class _Stopped(Exception):
    """Something ends the proof early, and this is its name."""


class _Clock:
    def __init__(self, limit: float | None) -> None:
        self._limit = limit
        self._wall, self._cpu = time.perf_counter(), time.process_time()

    def left(self) -> float:
        """Return how many seconds are left."""
        return math.inf if self._limit is None else self._limit - (time.perf_counter() - self._wall)

    def spent(self) -> tuple[float, float]:
        """Return the seconds of CPU and wall time so far."""
        return time.process_time() - self._cpu, time.perf_counter() - self._wall


def _watching(
    clock: _Clock, interrupt: Interrupt, on_progress: Callable[[ProofProgress], None] | None
) -> Callable[[ProofProgress], None]:
    """Return who is told of progress, and looks at clock and keyboard."""

    def look_up(progress: ProofProgress) -> None:
        if on_progress is not None:
            on_progress(progress)
        if interrupt.requested:
            raise _Stopped(interrupt.requested)
        if clock.left() <= 0:
            raise _Stopped("the time limit")

    return look_up


def _add_incumbent(front: KnownFront, problem: CompiledProblem, incumbent: Front | Result) -> None:
    tours = incumbent.front if isinstance(incumbent, Result) else incumbent
    if len(tours) and not tours.is_feasible:
        raise ProblemError("the incumbent has no feasible tour; give one that has, or none.")
    check_tours(problem, tours.objectives, tours.solutions, "incumbent")
    _add(front, problem, tours.solutions)


def _search_incumbent(front: KnownFront, problem: CompiledProblem, seed: int, clock: _Clock, evaluations: int) -> None:
    stop = MaxEvaluations(evaluations)
    limited = stop if clock.left() == math.inf else stop | MaxRuntime(max(clock.left() / 4, 1e-3))
    found = solve(problem, _SEARCH, stop=limited, seed=seed)
    if found.front.is_feasible:
        _add(front, problem, found.front.solutions)
    if found.stopped_by in ("Ctrl-C", "SIGTERM"):  # which solve takes for its own
        raise _Stopped(found.stopped_by)


def _add(front: KnownFront, problem: CompiledProblem, tours: Sequence[Sequence[int]]) -> None:
    """Take tours in with their costs to all digits, whatever a file has."""
    solutions = [[int(city) for city in tour] for tour in tours]
    front.add((rounded_costs(problem.data, tour), tour) for tour in solutions)


def _certificate(
    problem: CompiledProblem,
    front: KnownFront,
    earlier: Certificate | None,
    clock: _Clock,
    proof: Proof | None,
    *,
    stopped_by: str,
    is_contradiction: bool = False,
) -> Certificate:
    is_open = not is_contradiction and (proof is None or bool(proof.open_intervals))
    intervals = proof.open_intervals if proof is not None else [(-math.inf, math.inf)]
    intervals = intervals if is_open else []
    bounds = _bounds(problem, proof)
    lower = lower_bound_set(front, intervals, bounds)
    point = problem.reference_point
    spent = clock.spent()
    before = (0, 0.0, 0.0) if earlier is None else (earlier.labels, earlier.cpu_seconds, earlier.wall_seconds)
    return Certificate(
        instance=problem.name,
        fingerprint=data_fingerprint(problem),
        status=OPEN if is_open else PROVED if len(front) else INFEASIBLE,
        stopped_by=stopped_by if is_open else "",
        objectives=front.objectives,
        solutions=front.tours,
        open_boxes=open_boxes(front, intervals, bounds),
        lower_bounds=lower,
        gap=remaining_gap(front, lower, None if point is None else np.asarray(point, float)) if is_open else 0.0,
        labels=before[0] + (proof.labels if proof is not None else 0),
        cpu_seconds=before[1] + spent[0] + (proof.cpu_seconds if proof is not None else 0.0),
        wall_seconds=before[2] + spent[1],
        stage=1 if proof is None else max(proof.first_stage, proof.progress.stage),
        versions=versions() if earlier is None else {**earlier.versions, **versions()},
        groups=[Group(None, None, [])] if is_contradiction else [] if proof is None else _sorted(proof.groups),
        library=[] if proof is None or not is_open else _entries(proof.library),
    )


def _sorted(groups: list[Group]) -> list[Group]:
    return sorted(groups, key=lambda group: group.interval)


def _entries(library: dict[tuple[int, int], Prices]) -> list[LibraryEntry]:
    return [
        LibraryEntry(prices.weights.tolist(), prices.dual_prices.tolist(), prices.memories, stage=stage, entry=entry)
        for (stage, entry), prices in library.items()
    ]


def _bounds(problem: CompiledProblem, proof: Proof | None) -> list[LowerBound]:
    """Return all that is known of the least weighted sums; at least, that every city is entered once."""
    costs = problem.data.costs
    entered = [np.where(np.eye(len(matrix), dtype=bool), np.inf, matrix).min(axis=0).sum() for matrix in costs]
    simple = [(np.eye(len(costs))[k], float(least)) for k, least in enumerate(entered)]
    proved = [] if proof is None else proof.least
    unit = unit_costs(costs)
    return [
        (weights, bound - max(_SAFETY * float(unit @ weights), _RELATIVE_SAFETY * abs(bound)))
        for weights, bound in [*simple, *proved]
        if math.isfinite(bound)
    ]
