"""Pareto-NRPA on a `CompiledProblem`: the engine gets its playout as a typed function pointer."""

from __future__ import annotations

import math
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar

import numba
import numpy as np
from numba import types

from ...engine.arrays import (
    BAD_VIOLATIONS,
    DEPTH,
    ILLEGAL_MOVE,
    N_FREE,
    NEEDS_ROOM,
    NOT_FINITE,
    OK,
    STATUS,
    VIOLATIONS,
    SearchState,
    Settings,
)
from ...engine.compiled import CompiledAdapter
from ...engine.evaluation import check_scores as _check_scores
from ...engine.jit.kernels import compile_entry, python_function
from ...engine.messages import unfollowed_message
from ...engine.walk import EXACT, UNPRUNED, bound_walk, by_policy, deviate, exactly, follow, playout
from ...errors import ProblemError
from . import levels as stack_machine
from .memory import make_room, with_overrun
from .overflow import weight_error

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ...engine.jit.kernels import Entry
    from ...problem.base import CompiledProblem


check_scores = python_function(_check_scores)


class CompiledPlayer(CompiledAdapter):
    """Plays and learns; `machine`, the whole search, changes and is exchanged for a larger one when it is full."""

    STATE: ClassVar[dict[str, Any]] = {"machine": SearchState}

    def __init__(
        self, problem: CompiledProblem, machine: SearchState, settings: Settings, rng: np.random.Generator
    ) -> None:
        super().__init__(problem)
        self.machine, self.settings, self.rng = with_overrun(machine), settings, rng
        parts, bundle, options, draws = (numba.typeof(x) for x in (self.parts, machine, settings, rng))
        played = types.int64(parts, bundle, options, draws, types.int64, types.int64)
        told = types.void(bundle, options, types.int64)
        play, learn = types.FunctionType(played), types.FunctionType(told)
        advanced = types.int64(parts, bundle, options, draws, play, learn, types.int64)
        walk = bound_walk(by_policy, self.words)
        self._playout = self.bind(playout, played, way_in="pointer", walk=walk, **self.start)
        self._tell = self.bind(stack_machine.tell, told, way_in="pointer")
        self._advance = self.bind(stack_machine.advance, advanced)
        # Not among the entries: few ask a compiled problem, and ways in from Python take long to compile.
        self._play_once = compile_entry(stack_machine.play_once, types.int64(*played.args, play))
        self._tell_once = compile_entry(stack_machine.tell_once, types.void(*told.args, learn))
        self._tell_root = compile_entry(stack_machine.tell_root, told, way_in="pointer")

    @property
    def for_add(self) -> list[Entry]:
        """What takes in solutions that were made elsewhere."""
        return [self.following, self._tell_root]

    def draw(self) -> float:
        """Return the next number of the generator."""
        return self.rng.random()

    def advance(self, n: int) -> None:
        """Make n evaluations."""
        pointers = self._playout.pointer, self._tell.pointer
        done = 0
        while done < n:
            try:
                done += self.call(self._advance, self.machine, self.settings, self.rng, *pointers, n - done)
            except Exception:
                self.machine.counters[N_FREE] += 1  # the slot of the playout that raised still stands in the stack
                raise
            status = int(self.machine.counters[STATUS])
            if status == NEEDS_ROOM:
                self.machine = make_room(self.machine)
            elif status != OK:
                raise self.error(status, int(self.machine.counters[DEPTH]))

    def play(self, policy: int, slot: int) -> Any:
        """Play one sequence into a slot, for `ask`; a compiled problem shows no final state."""
        self._play_once.compile()
        state = self.machine, self.settings, self.rng
        status = self.call(self._play_once, *state, policy, slot, self._playout.pointer)
        if status not in (OK, NOT_FINITE, BAD_VIOLATIONS):  # the caller evaluates; ours does not count
            raise self.error(status, int(self.machine.counters[DEPTH]))
        return None

    def tell(self, slot: int) -> None:
        """Let the search learn from a slot whose scores are known."""
        self._tell_once.compile()
        self._tell_once.call(self.machine, self.settings, slot, self._tell.pointer)

    @cached_property
    def following(self) -> Entry:
        """What plays a given sequence; not everybody does."""
        self.entries += [self._play_once, self._tell_once]
        return self._following(exactly)

    @cached_property
    def _deviating(self) -> Entry:
        return self._following(deviate)

    def _following(self, chooser: Any) -> Entry:
        parts, bundle, options, draws = (numba.typeof(x) for x in (self.parts, self.machine, self.settings, self.rng))
        followed = types.int64(parts, bundle, options, draws, types.int64, types.int64, types.int64[::1], types.int64)
        walk = bound_walk(chooser, self.words)
        bound = {"walk": walk, "canonical": self.words["canonical"], **self.start}
        return self.bind(follow, followed, **bound)

    def follow(self, policy: int, slot: int, given: Any, at: int = EXACT) -> tuple[bool, Any]:
        """Play given moves into a slot, or from step `at` on others; tells whether they could be played."""
        moves = np.array(given, dtype=np.int64)  # a copy, which is brought into its canonical form
        entry = self.following if at < 0 else self._deviating
        entry.compile()
        status = self.call(entry, self.machine, self.settings, self.rng, policy, slot, moves, at)
        if status == ILLEGAL_MOVE:
            return False, None
        if status not in (OK, NOT_FINITE, BAD_VIOLATIONS):
            raise self.error(status, int(self.machine.counters[DEPTH]))
        return True, None

    def evaluate(self, slot: int, state: Any) -> None:
        """See that a slot has its scores: playing has filled them in, and they may be none."""
        scores = self.machine.pool.scores[slot].tolist()
        if not all(map(math.isfinite, scores)) or scores[VIOLATIONS] < 0:
            raise self.error(check_scores(self.machine.pool.scores[slot]), int(self.machine.counters[DEPTH]))

    def note(self, slot: int) -> None:
        """Count a slot whose scores are known; nothing is learned from it."""
        self._tell_once.call(self.machine, self.settings, ~slot, self._tell.pointer)

    def play_given(self, solution: Sequence[Any], policy: int, slot: int, *, judge: bool) -> None:
        """Play a solution into a slot, pruned or not, with its scores unless the caller has them."""
        is_played, state = self.follow(policy, slot, self.numbers(solution), UNPRUNED)
        if not is_played:
            raise ProblemError(unfollowed_message(self.problem, solution, int(self.machine.counters[DEPTH])))
        if judge:
            self.evaluate(slot, state)

    def tell_root(self, slot: int) -> None:
        """Let the highest level learn from a slot whose scores are known."""
        self._tell_once.call(self.machine, self.settings, slot, self._tell_root.pointer)

    def replay(self, solution: Sequence[Any]) -> Any:
        """Return the final state of a solution; a compiled problem shows none."""
        return None

    def error(self, status: int, depth: int) -> ProblemError:
        """Return the error for a promise that the problem broke, or for weights that learning has made too large."""
        return weight_error(status, self.machine, self.settings, self.problem) or super().error(status, depth)
