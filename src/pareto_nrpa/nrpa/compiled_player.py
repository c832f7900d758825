"""Plays a `CompiledProblem`: its kernels are bound into a playout that the engine gets as a typed function pointer."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numba
from numba import types

from ..exceptions import ProblemError
from ..kernels import stack_machine
from ..kernels._jit import bundle_kernel, compile_entry, with_globals
from ..kernels.bundles import BAD_BIAS, BAD_VIOLATIONS, DEPTH, N_FREE, NEEDS_ROOM, NOT_FINITE, OK, STATUS
from ..kernels.playout import no_bias, play_from, playout
from ..kernels.seen import no_identity
from ..messages import compile_message, overflow_message, raised_message, status_message
from ..problem import CompiledProblem, objective_signs

if TYPE_CHECKING:
    from collections.abc import Sequence

    from .search import Search


class CompiledPlayer:
    """Plays a `CompiledProblem`."""

    def __init__(self, problem: CompiledProblem, search: Search) -> None:
        self.problem = problem
        self._signs = objective_signs(problem)
        # A plain tuple: the user's NamedTuple class would be another type at each start, and never be found again.
        self._parts = tuple(problem.data)
        parts, bundle, settings, rng = (
            numba.typeof(x) for x in (self._parts, search.machine, search.settings, search.rng)
        )
        words = {"bias": no_bias, "identity": no_identity, **problem.kernels}
        played = types.int64(parts, bundle, settings, rng, types.int64, types.int64)
        self._playout = compile_entry(
            playout,
            played,
            allocates=True,
            way_in="pointer",
            data_class=type(problem.data),
            initial_state=problem.initial_state,
            play_out=bundle_kernel(with_globals(play_from, **words)),
        )
        told = types.void(bundle, settings, types.int64)
        self._tell = compile_entry(stack_machine.tell, told, way_in="pointer")
        play, learn = types.FunctionType(played), types.FunctionType(told)
        advanced = types.int64(parts, bundle, settings, rng, types.float64[::1], play, learn, types.int64)
        self._advance = compile_entry(stack_machine.advance, advanced, way_in="call")
        # Not among the entries: few ask a compiled problem, and ways in from Python take long to compile.
        self._play_once = compile_entry(stack_machine.play_once, types.int64(*played.args, play), way_in="call")
        self._tell_once = compile_entry(stack_machine.tell_once, types.void(*told.args, learn), way_in="call")
        self.entries = (self._playout, self._tell, self._advance)

    def compile(self) -> None:
        """Compile what is not on disk yet; say in a sentence whose fault it is when that fails."""
        try:
            for entry in self.entries:
                entry.compile()
        except Exception as error:  # Numba has errors of many kinds
            raise ProblemError(compile_message(error, self.problem)) from error

    def draw(self, search: Search) -> float:
        """Return the next number of the generator."""
        return search.rng.random()

    def random_state(self, search: Search) -> dict[str, Any]:
        """Return the state of the generator."""
        return dict(search.rng.bit_generator.state)

    def advance(self, search: Search, n: int) -> None:
        """Make n evaluations."""
        done = 0
        while done < n:
            try:
                done += self._advance.call(
                    self._parts,
                    search.machine,
                    search.settings,
                    search.rng,
                    self._signs,
                    self._playout.pointer,
                    self._tell.pointer,
                    n - done,
                )
            except Exception as error:
                search.machine.counters[N_FREE] += 1  # the slot of the playout that raised still stands in the stack
                raise ProblemError(raised_message(error, self.problem)) from error
            status = int(search.machine.counters[STATUS])
            if status == NEEDS_ROOM:
                search.make_room()
            elif status != OK:
                raise self._error(search, status)

    def play(self, search: Search, policy: int, slot: int) -> Any:
        """Play one sequence into a slot, for `ask`; a compiled problem shows no final state."""
        self._play_once.compile()
        arguments = (self._parts, search.machine, search.settings, search.rng, policy, slot)
        try:
            status = self._play_once.call(*arguments, self._playout.pointer)
        except Exception as error:
            raise ProblemError(raised_message(error, self.problem)) from error
        if status not in (OK, NOT_FINITE, BAD_VIOLATIONS):  # the caller evaluates; ours does not count
            raise self._error(search, status)
        return None

    def tell(self, search: Search, slot: int) -> None:
        """Let the search learn from a slot whose scores are known."""
        self._tell_once.compile()
        self._tell_once.call(search.machine, search.settings, slot, self._tell.pointer)

    def solution(self, moves: Sequence[int]) -> list[Any]:
        """Return the moves behind their numbers, which here are the moves themselves."""
        return list(moves)

    def replay(self, solution: Sequence[Any]) -> Any:
        """Return the final state of a solution; a compiled problem shows none."""
        return None

    def _error(self, search: Search, status: int) -> ProblemError:
        if status == BAD_BIAS and search.has_overflowed():
            return ProblemError(overflow_message(search.params.alpha, self.problem))
        return ProblemError(status_message(status, self.problem, int(search.machine.counters[DEPTH])))
