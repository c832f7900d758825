"""What a baseline on a plain problem calls of compiled code, compiled before the clock starts.

There the algorithm runs as Python and its inner loops are compiled when they are first called, which takes seconds that
are not the algorithm's. So it is run for a moment on a problem that costs nothing: whatever it calls is then there.
"""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Any

from ...problem.base import Problem
from ...problem.genotype import Choices, Permutation

if TYPE_CHECKING:
    from .base import Baseline

_STEPS, _CHOICES, _EVALUATIONS = 7, 3, 600


class Rehearsal(Problem):
    """A few steps of a few moves, in the manner of a genotype."""

    def __init__(self, n_objectives: int, is_permutation: bool) -> None:
        self.n_objectives = n_objectives
        self.genotype = Permutation(range(_STEPS)) if is_permutation else Choices([range(_CHOICES)] * _STEPS)

    def initial_state(self) -> tuple[int, ...]:
        """Return no moves."""
        return ()

    def legal_moves(self, state: tuple[int, ...]) -> list[int]:
        """Return what the genotype allows."""
        if len(state) == _STEPS:
            return []
        if isinstance(self.genotype, Choices):
            return list(range(_CHOICES))
        return [move for move in range(_STEPS) if move not in state]

    def play(self, state: tuple[int, ...], move: int) -> tuple[int, ...]:
        """Return the moves so far."""
        return (*state, move)

    def move_code(self, state: tuple[int, ...], move: int) -> tuple[int, int]:
        """Return step and move."""
        return len(state), move

    def evaluate(self, state: tuple[int, ...]) -> list[int]:
        """Return objectives that contradict each other."""
        return [sum((i * (k + 1) + k) % 5 * move for i, move in enumerate(state)) for k in range(self.n_objectives)]


@functools.cache
def rehearse(baseline: type[Baseline], n_objectives: int, is_permutation: bool) -> None:
    """Let an algorithm call everything that it calls from Python, once per process."""
    build: Any = baseline
    search = build().start(Rehearsal(n_objectives, is_permutation), seed=0)
    search.count_unique()
    search.advance(_EVALUATIONS)
