"""Evaluation of complete solutions without legal moves; policies do not learn from them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numba
import numpy as np
from numba import types

from ...engine.arrays import OK
from ...engine.compiled import on_bundle
from ...engine.jit.kernels import bundle_kernel, with_globals
from . import solution_kernels as kernels

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ...engine.compiled import CompiledPlayer


class DirectEvaluation:
    """Evaluates complete solutions of a compiled problem."""

    def __init__(self, player: CompiledPlayer) -> None:
        problem, words = player.problem, player.words
        judging = (
            kernels.judge_by_playing,
            {word: words[word] for word in ("initial_state", "play", "identity", "judge")},
        )
        if problem.evaluate_solution is not None and problem.identity is None:
            signed = player.signs if (player.signs < 0).any() else np.zeros(0)
            evaluate_solution = on_bundle(problem.evaluate_solution, problem.data)
            judging = kernels.judge_at_once, {"evaluate_solution": evaluate_solution, "signs": signed}
        judge_moves = bundle_kernel(with_globals(judging[0], **judging[1]))
        kinds = (numba.typeof(x) for x in (player.parts, player.store))
        signature = types.int64(*kinds, types.int64, types.int64, types.int64[::1])
        self._player = player
        self._evaluate = player.bind(
            kernels.evaluate_moves,
            signature,
            canonical=words["canonical"],
            judge_moves=judge_moves,
        )

    def __call__(self, moves: NDArray[np.int64], policy: int, slot: int) -> None:
        """Evaluate moves in their canonical form, into a slot."""
        status = self._player.call(self._evaluate, self._player.store, policy, slot, moves)
        if status != OK:
            raise self._player.error(status, len(moves))
