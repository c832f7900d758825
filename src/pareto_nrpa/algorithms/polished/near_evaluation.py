"""Neighbours in which near moves are adjacent, judged by differences of arcs or by joined rows."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

import numba
import numpy as np
from numba import types

from ...engine.arrays import START, FrontObjectives
from ...engine.compiled import segments_on_bundle
from ...engine.dominance import is_covered_by_front
from ...engine.jit.kernels import bundle_kernel, compile_entry, small_kernel, stored, with_globals
from ...engine.state import need
from . import near_order, near_rows, near_search
from .candidate_lists import NEAR, NEAR_WITH_LIMITS, POOL, Arcs, CandidateLists
from .near_kinds import N_ON_ROUTES, N_ON_TOURS
from .near_search import SEARCH
from .near_state import (
    HEAD,
    HIGH,
    IS_SORTED,
    IS_SYMMETRIC,
    LOOKS_ROUND,
    LOW,
    MOST_GAIN,
    N_FOUND,
    N_JUDGED,
    N_KICKS,
    N_KINDS,
    NOISE,
    NOTES,
    PLACE_NOW,
    PRICE,
    SIZE,
    NearState,
    new_near_state,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from ...engine.compiled import CompiledPlayer
    from ...problem.segments import Segments

# Neighbours to judge between two checks of the stop: some hundredths of a second.
_MOST = 500_000
_NOTHING_KNOWN = FrontObjectives(np.zeros((0, 1)), np.zeros((0, 1)))


class Penalty(NamedTuple):
    """The penalty under which a descent may pass through infeasible solutions."""

    price: float  # of a unit of distance from feasibility; 0 if the distance must not increase
    most_gain: float  # by a step: the largest penalty


STRICT = Penalty(0.0, 0.0)


class NearEvaluator:
    """Judges the neighbours of a solution in which near moves are adjacent.

    Where a problem says neither what an arc costs nor what else makes two moves near, all moves are near to each.
    """

    STATE: ClassVar[dict[str, Any]] = {"_here": NearState}

    def __init__(self, player: CompiledPlayer, n_kicks: int) -> None:
        segments, genotype = segments_on_bundle(player.problem), player.problem.genotype
        assert genotype is not None
        self.has_limits, is_sum = segments.limit_of is not None, segments.arc_of is not None
        self.has_kicks = is_sum and not self.has_limits and n_kicks > 0 and len(genotype.moves) > 1
        self._n_kicks = n_kicks
        self._player, self._parts, self._rng = player, player.parts, player.rng
        moves = np.array([START, *genotype.moves], dtype=np.int64)
        arcs = _arcs(player, moves)
        knows = is_sum or segments.near is not None
        self._lists = CandidateLists(arcs, POOL if knows else len(moves), are_directed=self.has_kicks)
        widths = 0 if is_sum else segments.cost_width, segments.limit_width if self.has_limits else 0
        n_near = NEAR if self.has_kicks else NEAR_WITH_LIMITS if knows else len(moves)
        self._here = new_near_state(moves, player.signs, arcs.costs, self._lists.pool, n_near, *widths)
        self._numbers = np.argsort(moves[1:]) + 1, np.sort(moves[1:])
        self._here.is_closing[:] = arcs.closings()
        flags = self._here.flags
        flags[NOTES], flags[IS_SYMMETRIC] = not self.has_kicks, arcs.is_symmetric
        flags[IS_SORTED] = self.has_kicks
        flags[N_KINDS] = N_ON_ROUTES if self._here.is_closing.any() else N_ON_TOURS
        self._bind(segments, is_sum)

    def _bind(self, segments: Segments, is_sum: bool) -> None:
        kinds = [numba.typeof(x) for x in (self._parts, self._here)]
        kinds += [numba.typeof(_NOTHING_KNOWN), numba.typeof(self._rng), types.int64, types.float64, types.float64]
        self._go_on = self._player.bind(near_search.go_on, types.boolean(*kinds), **_bound(segments, is_sum))

    @property
    def n_judged(self) -> int:
        """Number of neighbours judged."""
        return int(self._here.numbers[N_JUDGED])

    @property
    def marks(self) -> NDArray[np.int64]:
        """The places of the solution that a descent has to examine."""
        marks: NDArray[np.int64] = self._here.is_queued[self._here.order[1:-1]].astype(np.int64)
        return marks

    @property
    def distance(self) -> float:
        """The distance of the descent from feasibility."""
        return float(self._here.current[0])

    @property
    def objectives(self) -> NDArray[np.float64]:
        """The objectives of the descent, minimised."""
        objectives: NDArray[np.float64] = self._here.current[1:].copy()
        return objectives

    @property
    def moves(self) -> NDArray[np.int64]:
        """The current solution of the descent."""
        moves: NDArray[np.int64] = self._here.moves[self._here.order[1:-1]]
        return moves

    def _numbered(self, moves: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the numbers of moves."""
        numbers, sorted_moves = self._numbers
        numbered: NDArray[np.int64] = numbers[np.searchsorted(sorted_moves, moves)]
        return numbered

    def _place(self, moves: NDArray[np.int64], marks: Any) -> None:
        here = self._here
        here.order[1:-1] = self._numbered(moves)
        queued = here.order[1:-1][np.broadcast_to(marks, len(moves)) > 0]
        here.is_queued[:] = False
        here.is_queued[queued] = True
        here.queue[: len(queued)] = queued
        here.numbers[[HEAD, SIZE, PLACE_NOW, LOW, HIGH]] = 0, len(queued), 0, 1, len(moves)
        here.kept_current[0] = np.inf

    def begin(
        self, moves: NDArray[np.int64], weights: NDArray[np.float64], marks: Any = 1, terms: Penalty = STRICT
    ) -> None:
        """Begin a descent for a weighted sum from the marked places, or an exploration if the weights are 0."""
        here, looks = self._here, not np.any(weights)
        self._place(moves, marks)
        here.weights[:] = weights
        here.terms[[PRICE, MOST_GAIN]] = terms
        here.flags[LOOKS_ROUND] = looks
        here.numbers[N_KICKS] = self._n_kicks if self.has_kicks and not looks else -1
        if self.has_kicks and not looks:
            here.near[:] = self._lists.near(here.weights)

    def go_on(self, front: FrontObjectives) -> bool:
        """Continue for a short time; returns whether the end is reached."""
        self._here.numbers[N_FOUND] = 0
        return bool(self._go_on.call(self._parts, self._here, front, self._rng, _MOST, SEARCH, 0.0))

    def found(self) -> list[tuple[NDArray[np.int64], NDArray[np.float64]]]:
        """Return the neighbours just found for evaluation, with their (minimised) objectives."""
        n = int(self._here.numbers[N_FOUND])
        return list(zip(self._here.found[:n].copy(), self._here.predicted[:n].copy(), strict=True)) if n else []

    def restored(self) -> None:
        """Check the restored state, and set derived values."""
        here = self._here
        kept = here.order.copy()
        if np.isfinite(here.kept_current[0]):
            changed = slice(here.numbers[LOW], here.numbers[HIGH] + 1)
            kept[changed] = here.kept[changed]
        whole = np.array([*range(len(here.moves)), 0])
        for order in (here.order, kept) if here.order.any() else ():
            need(np.array_equal(np.sort(order[:-1]), whole[:-1]) and order[0] == order[-1] == 0, "orders of all moves")
        here.flags[LOOKS_ROUND] = not here.weights.any()
        if self.has_kicks and here.weights.any():
            here.near[:] = self._lists.near(here.weights)

    def compile(self) -> None:
        """Compile comparisons of solutions; all else is compiled with the player."""
        is_covered(self._here.current[1:], _NOTHING_KNOWN)

    def shaken(self, moves: NDArray[np.int64], n_steps: int, reach: int, farther: float = 0.0) -> NDArray[np.int64]:
        """Return a solution some random steps away within a slack of infeasibility; `marks`: the changed places."""
        self._place(moves, 0)
        self._here.terms[:] = 0.0
        self._go_on.call(self._parts, self._here, _NOTHING_KNOWN, self._rng, n_steps, float(reach), farther)
        return self.moves


def is_covered(objectives: NDArray[np.float64], front: FrontObjectives) -> bool:
    """Tell whether a neighbour is covered, within rounding errors of sums."""
    return bool(stored(is_covered_by_front)(*front, objectives, NOISE * np.abs(objectives)))


def _arcs(player: CompiledPlayer, moves: NDArray[np.int64]) -> Arcs:
    """Return the costs of all arcs of a problem, minimised, and further distances of moves."""
    segments = segments_on_bundle(player.problem)
    n_moves, m = len(moves), player.problem.n_objectives if segments.arc_of is not None else 0
    costs, distances = np.zeros((n_moves, n_moves, m)), np.zeros((n_moves, n_moves))
    words = {"arc_of": near_order.no_arc, "near": near_order.nothing_apart, **segments.kernels}
    given: dict[str, Any] = {word: words[word] for word in ("arc_of", "near")}
    kinds = [numba.typeof(x) for x in (player.parts, moves, costs, distances)]
    fill = compile_entry(near_order.fill_arcs, types.void(*kinds), **given)
    fill(player.parts, moves, costs, distances)
    costs[0, 0] = distances[0, 0] = 0.0
    return Arcs(costs * player.signs[:m], distances)


def _bound(segments: Segments, is_sum: bool) -> dict[str, Any]:
    """Return the functions unbound in `go_on`, bound to the kernels of a problem."""
    limits = _bound_rows(segments.limit_of, segments.join_limits) if segments.limit_of else None
    costs = None if is_sum else _bound_rows(segments.cost_of, segments.join_costs)
    compare_costs = small_kernel(
        with_globals(near_order.compare_by_arcs if costs is None else near_order.compare_by_joins, **(costs or {}))
    )
    compare_limits = (
        near_order.always_feasible
        if limits is None
        else small_kernel(with_globals(near_order.compare_limit_rows, **limits))
    )
    judges = {"compare_costs": compare_costs, "compare_limits": compare_limits}
    set_limits: Any = near_order.no_limit_rows
    if limits is not None:
        set_limits = bundle_kernel(with_globals(near_order.extend_limit_rows, **limits))
    refreshes: Callable[..., Any] = near_order.refresh_by_arcs if is_sum else near_order.refresh_by_joins
    refresh = bundle_kernel(with_globals(refreshes, set_limits=set_limits, **(costs or {})))
    measures: Callable[..., Any] = near_order.measure_by_arcs if is_sum else near_order.measure_by_joins
    moving = {
        "measure": bundle_kernel(with_globals(measures, refresh=refresh)),
        "step": bundle_kernel(with_globals(near_order.step_to, refresh=refresh, compare_costs=compare_costs)),
        "undo": bundle_kernel(with_globals(near_order.undo_steps, refresh=refresh)),
    }
    feasible = {"compare_limits": bundle_kernel(with_globals(near_order.called_limits, **judges))}
    judge = small_kernel(with_globals(near_search.judge_neighbour, **judges))
    try_kinds = small_kernel(with_globals(near_search.try_all_kinds, judge=judge))
    look_from = small_kernel(with_globals(near_search.look_from_move, try_kinds=try_kinds))
    settle = bundle_kernel(with_globals(near_search.settle_descent, **moving, **feasible))
    advance = bundle_kernel(with_globals(near_search.advance_to_best, **moving))
    search = bundle_kernel(
        with_globals(near_search.descend_or_look, look_from=look_from, settle=settle, advance=advance)
    )
    shake = bundle_kernel(with_globals(near_search.make_random_steps, **moving, **feasible))
    return {"measure": moving["measure"], "search": search, "shake": shake}


def _bound_rows(one_of: Any, join: Any) -> dict[str, Any]:
    """Return the functions that create and join rows of stretches."""
    words = {"one_of": one_of, "join": join}
    fill = bundle_kernel(with_globals(near_rows.fill_block, **words))
    stretch = small_kernel(with_globals(near_rows.row_of_stretch, fill=fill, **words))
    return {
        "join": join,
        "extend": bundle_kernel(with_globals(near_rows.extend_rows, **words)),
        "join_parts": small_kernel(with_globals(near_rows.join_neighbour, stretch=stretch, join=join)),
    }
