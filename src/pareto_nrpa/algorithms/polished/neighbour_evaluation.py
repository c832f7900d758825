"""Neighbours of whole solutions of a compiled problem, judged by its segments."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

import numba
import numpy as np
from numba import types

from ...engine.arrays import FrontObjectives
from ...engine.compiled import segments_on_bundle
from ...engine.dominance import is_covered_by_front
from ...engine.jit.kernels import bundle_kernel, small_kernel, stored, with_globals
from ...engine.state import need
from . import neighbourhood as kernels
from .neighbourhood import (
    MOST_GAIN,
    N_FOUND,
    N_JUDGED,
    N_QUIET,
    NOISE,
    PLACE_NOW,
    PRICE,
    Neighbourhood,
    new_neighbourhood,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from ...engine.compiled import CompiledPlayer

_ROOM = 256
_TRIES_PER_STEP = 50
# Neighbours to judge before somebody may look at clock and keyboard: about a tenth of a second.
_MOST = 1_000_000
NOTHING_KNOWN = FrontObjectives(np.zeros((0, 1)), np.zeros((0, 1)))


class Penalty(NamedTuple):
    """On which a descent may pass through infeasible solutions."""

    price: float  # of a unit of distance from being feasible; 0 if a descent never goes farther away
    most_gain: float  # by a step: a bound on what it may pay


STRICT = Penalty(0.0, 0.0)


class NeighbourEvaluator:
    """Looks at all neighbours of a solution at once; what it finds worth evaluating is not evaluated here."""

    STATE: ClassVar[dict[str, Any]] = {"_here": Neighbourhood}

    def __init__(self, player: CompiledPlayer) -> None:
        segments, genotype = player.problem.segments, player.problem.genotype
        assert segments is not None
        assert genotype is not None
        words: dict[str, Callable[..., Any]] = {
            "limit_of": kernels.no_limit_of,
            "join_limits": kernels.no_join_limits,
            **segments_on_bundle(player.problem).kernels,
        }
        self.has_kicks = False
        self.has_limits = segments.limit_of is not None
        limit_width = segments.limit_width if self.has_limits else 1
        self._here = new_neighbourhood(len(genotype.moves), player.signs, segments.cost_width, limit_width, _ROOM)
        self._player, self._parts, self._rng = player, player.parts, player.rng
        kinds = [numba.typeof(x) for x in (self._parts, self._here)]
        steps = {
            "append": small_kernel(with_globals(kernels.append_move, **words)),
            "prepend": small_kernel(with_globals(kernels.prepend_move, **words)),
            "judge": small_kernel(with_globals(kernels.judge_neighbour, **words)),
        }
        tries = {
            "try_elsewhere": bundle_kernel(with_globals(kernels.put_elsewhere, **words, **steps)),
            "try_turned": bundle_kernel(with_globals(kernels.turn_round, **words, **steps)),
        }
        looks = {
            "measure": bundle_kernel(with_globals(kernels.measure_base, **words)),
            "look_from": bundle_kernel(with_globals(kernels.look_from_place, **tries)),
        }
        self._go_on = player.bind(
            kernels.go_on,
            types.boolean(*kinds, numba.typeof(NOTHING_KNOWN), types.int64),
            measure=looks["measure"],
            descend=bundle_kernel(with_globals(kernels.descend_from_base, **looks)),
            look_round=bundle_kernel(with_globals(kernels.look_round_base, **looks)),
        )
        self._shake = player.bind(
            kernels.shake,
            types.int64(*kinds, numba.typeof(self._rng), types.int64, types.int64, types.float64, types.float64),
            distance_of=bundle_kernel(with_globals(kernels.distance, **words)),
        )

    @property
    def n_judged(self) -> int:
        """How many neighbours were judged so far."""
        return int(self._here.numbers[N_JUDGED])

    @property
    def marks(self) -> NDArray[np.int64]:
        """At which places of the solution a descent has something to look at."""
        return np.array(self._here.marks)

    @property
    def distance(self) -> float:
        """How far from being feasible the descent is."""
        return float(self._here.current[0])

    def begin(
        self, moves: NDArray[np.int64], weights: NDArray[np.float64], marks: Any = 1, terms: Penalty = STRICT
    ) -> None:
        """Begin a descent for a weighted sum from the places marked; with weights of 0 it only looks round."""
        self._here.base[:] = moves
        self._here.marks[:] = marks
        self._here.weights[:] = weights
        self._here.terms[[PRICE, MOST_GAIN]] = terms
        self._here.numbers[PLACE_NOW] = self._here.numbers[N_QUIET] = 0

    def go_on(self, front: FrontObjectives) -> bool:
        """Go on for a moment; tells whether that is the end."""
        self._here.numbers[N_FOUND] = 0
        return bool(self._go_on.call(self._parts, self._here, front, _MOST))

    @property
    def moves(self) -> NDArray[np.int64]:
        """Where the descent is."""
        return np.array(self._here.base)

    def found(self) -> list[tuple[NDArray[np.int64], NDArray[np.float64]]]:
        """Return the neighbours that were just found worth evaluating, with their (minimised) objectives."""
        n = int(self._here.numbers[N_FOUND])
        if n == 0:
            return []
        return list(zip(self._here.found[:n].copy(), self._here.predicted[:n].copy(), strict=True))

    def restored(self) -> None:
        """Check what was restored: only a look round ends behind the last place."""
        here = self._here
        need(here.numbers[PLACE_NOW] < len(here.base) + (not here.weights.any()), "a place to look at next")

    def compile(self) -> None:
        """Compile what compares solutions; all else is compiled with the player."""
        is_covered(self._here.current[1:], NOTHING_KNOWN)

    def shaken(self, moves: NDArray[np.int64], n_steps: int, reach: int, farther: float = 0.0) -> NDArray[np.int64]:
        """Return a solution some random steps away that is as feasible, or so much less; `marks`: where it differs."""
        self._here.base[:] = moves
        self._here.marks[:] = 0
        n_tries = n_steps * _TRIES_PER_STEP
        self._shake.call(self._parts, self._here, self._rng, n_steps, n_tries, float(reach), farther)
        return np.array(self._here.base)


def is_covered(objectives: NDArray[np.float64], front: FrontObjectives) -> bool:
    """Tell whether something known is as good as a neighbour, as far as sums of decimals tell."""
    return bool(stored(is_covered_by_front)(*front, objectives, NOISE * np.abs(objectives)))
