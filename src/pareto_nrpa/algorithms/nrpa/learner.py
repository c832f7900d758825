"""The compiled code of Pareto-NRPA for one player: sampling, and learning from evaluated sequences."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from numba import types

from . import levels

if TYPE_CHECKING:
    from ...engine.player import Player


class Learner:
    """Samples with the policies of level 1, and adapts those of all levels."""

    def __init__(self, player: Player) -> None:
        self._player = player
        _, store, settings, _ = player.kinds
        learned = types.void(store, settings, types.int64)
        self._learn = player.bind(levels.learn, learned, way_in="both")
        self._advance = player.loop(levels.advance, types.FunctionType(learned))
        self._learn_at_top: Any = None

    def expect_add(self) -> None:
        """Let the player compile the learning from solutions of other origin."""
        if self._learn_at_top is None:
            _, store, settings, _ = self._player.kinds
            self._learn_at_top = self._player.bind(levels.learn_at_top, types.void(store, settings, types.int64))

    def advance(self, n: int) -> None:
        """Sample n sequences, and learn from each."""
        done = 0
        while done < n:
            done += self._advance(self._learn.pointer, n - done)

    def learn(self, slot: int) -> None:
        """Count a slot whose scores are known, and learn from it."""
        player = self._player
        player.count(player.store, slot)
        self._learn(player.store, player.settings, slot)

    def count(self, slot: int) -> None:
        """Count a slot whose scores are known, and free it without learning."""
        self._player.count(self._player.store, slot)
        self._player.close_slot(slot)

    def learn_at_top(self, slot: int) -> None:
        """Count a slot whose scores are known, and let the highest level learn from it."""
        player = self._player
        player.count(player.store, slot)
        self._learn_at_top(player.store, player.settings, slot)
