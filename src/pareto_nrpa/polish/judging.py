"""Neighbours of whole solutions of a compiled problem, judged by its segments."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numba
import numpy as np
from numba import types

from ..kernels._jit import bundle_kernel, python_function, small_kernel, with_globals
from ..kernels.polish import neighbourhood as kernels
from ..kernels.polish.neighbourhood import KIND, N_FOUND, N_JUDGED, NO_KIND, NOISE, new_neighbourhood

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from ..nrpa.compiled_player import CompiledPlayer

_ROOM = 256
_TRIES_PER_STEP = 50
_write_out = python_function(kernels.write_out)


class Judge:
    """Looks at all neighbours of a solution at once; what it finds worth evaluating is not evaluated here."""

    def __init__(self, player: CompiledPlayer) -> None:
        segments, genotype = player.problem.segments, player.problem.genotype
        assert segments is not None
        assert genotype is not None
        words: dict[str, Callable[..., Any]] = {
            "limit_of": kernels.no_limit_of,
            "join_limits": kernels.no_join_limits,
            **segments.kernels,
        }
        limit_width = segments.limit_width if segments.limit_of is not None else 1
        self._here = new_neighbourhood(len(genotype.moves), player.signs, segments.cost_width, limit_width, _ROOM)
        self._parts, self._rng = player.parts, player.rng
        kinds = [numba.typeof(x) for x in (self._parts, self._here)]
        steps = {
            "append": small_kernel(with_globals(kernels.append_move, **words)),
            "prepend": small_kernel(with_globals(kernels.prepend_move, **words)),
            "judge": small_kernel(with_globals(kernels.judge_neighbour, **words)),
        }
        self._scan = player.bind(
            kernels.scan,
            types.int64(*kinds, types.float64[:, ::1]),
            way_in="call",
            data_class=type(player.problem.data),
            measure=bundle_kernel(with_globals(kernels.measure_base, **words)),
            try_elsewhere=bundle_kernel(with_globals(kernels.put_elsewhere, **words, **steps)),
            try_turned=bundle_kernel(with_globals(kernels.turn_round, **words, **steps)),
        )
        self._shake = player.bind(
            kernels.shake,
            types.int64(*kinds, numba.typeof(self._rng), types.int64, types.int64),
            way_in="call",
            data_class=type(player.problem.data),
            distance_of=bundle_kernel(with_globals(kernels.distance, **words)),
        )

    @property
    def n_judged(self) -> int:
        """How many neighbours were judged so far."""
        return int(self._here.numbers[N_JUDGED])

    @n_judged.setter
    def n_judged(self, n: int) -> None:
        self._here.numbers[N_JUDGED] = n

    def scan(
        self, moves: NDArray[np.int64], weights: NDArray[np.float64], front: NDArray[np.float64]
    ) -> NDArray[np.int64] | None:
        """Judge all neighbours of a solution; returns the best one for the weights, None if there is no better one.

        `front` are the objectives of what is feasible and known.
        """
        self._here.base[:] = moves
        self._here.weights[:] = weights
        self._scan.call(self._parts, self._here, front)
        return self._written(self._here.best) if self._here.best[KIND] != NO_KIND else None

    def found(self) -> list[tuple[NDArray[np.int64], NDArray[np.float64]]]:
        """Return the neighbours that the last scan found worth evaluating, with their (minimised) objectives."""
        n = int(self._here.numbers[N_FOUND])
        return [(self._written(self._here.found[i]), self._here.predicted[i].copy()) for i in range(n)]

    def is_covered(self, objectives: NDArray[np.float64], front: NDArray[np.float64]) -> bool:
        """Tell whether something known is as good as a neighbour, as far as sums of decimals tell."""
        return bool((front <= objectives + NOISE * np.abs(objectives)).all(axis=1).any())

    def shaken(self, moves: NDArray[np.int64], n_steps: int) -> NDArray[np.int64]:
        """Return a solution some random steps away that is as feasible."""
        self._here.base[:] = moves
        self._shake.call(self._parts, self._here, self._rng, n_steps, n_steps * _TRIES_PER_STEP)
        return np.array(self._here.base)

    def _written(self, neighbour: NDArray[np.int64]) -> NDArray[np.int64]:
        out: NDArray[np.int64] = np.empty_like(self._here.base)
        _write_out(self._here.base, neighbour, out)
        return out
