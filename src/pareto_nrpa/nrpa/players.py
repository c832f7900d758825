"""Who plays: compiled kernels for a `CompiledProblem`, ordinary method calls for a `Problem`.

Only playing differs between the two. Recording, sorting and adapting are the same compiled code.
"""

from __future__ import annotations

import math
from bisect import bisect_right
from typing import TYPE_CHECKING, Any

import numba
import numpy as np
from numba import types

from ..exceptions import ProblemError
from ..kernels import stack_machine
from ..kernels.bundles import (
    BAD_VIOLATIONS,
    CODE_OUT_OF_RANGE,
    DEPTH,
    EVALUATIONS,
    N_CODES,
    NEEDS_ROOM,
    NO_MOVE,
    NOT_FINITE,
    OK,
    REPEATED_MOVE,
    STATUS,
    TOO_LONG,
    TOO_MANY_CANDIDATES,
)
from ..kernels._jit import Entry, compile_entry, engine_kernel, with_globals
from ..kernels.playout import no_bias, play_from, playout
from ..problem import CompiledProblem, Problem, objective_signs, plain_bias, problem_name
from .memory import with_codes, with_longer_sequences

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from .search import Search

_MESSAGES = {
    NO_MOVE: "legal_moves() gave no move at the start of {name}; a problem needs at least one.",
    TOO_LONG: "{name} went on after {max_moves} moves; raise max_moves if its sequences are really longer.",
    TOO_MANY_CANDIDATES: "legal_moves() gave more moves at depth {depth} of {name} than max_legal or max_candidates "
    "allow; raise them.",
    CODE_OUT_OF_RANGE: "move_code() gave a code outside 0..n_codes-1 at depth {depth} of {name}.",
    REPEATED_MOVE: "legal_moves() returned the same move twice at depth {depth} of {name}.",
    NOT_FINITE: "evaluate() gave an objective that is NaN or infinite in {name}; return finite numbers, and count what "
    "is wrong with a solution as violations.",
    BAD_VIOLATIONS: "evaluate() gave violations that are negative, NaN or infinite in {name}; 0 means feasible.",
}


def _tell_entry(search: Search) -> Entry:
    signature = types.void(numba.typeof(search.machine), numba.typeof(search.settings), types.int64)
    return compile_entry(stack_machine.tell, signature)


class CompiledPlayer:
    """Plays a `CompiledProblem`: the playout is handed to the engine as a typed function pointer."""

    n_codes_fixed = True

    def __init__(self, problem: CompiledProblem, search: Search) -> None:
        self.problem = problem
        self._signs = objective_signs(problem)
        bundle, settings, rng = (numba.typeof(part) for part in (search.machine, search.settings, search.rng))
        data = numba.typeof(problem.data)
        played = types.int64(data, bundle, settings, rng, types.int64, types.int64)
        words = {"bias": no_bias, **problem.kernels}
        play_out = engine_kernel(with_globals(play_from, **words))
        self._playout = compile_entry(
            playout, played, allocates=True, initial_state=problem.initial_state, play_out=play_out
        )
        pointer = types.FunctionType(played)
        signature = types.int64(data, bundle, settings, rng, types.float64[::1], pointer, types.int64)
        self._advance = compile_entry(stack_machine.advance, signature)
        self._tell = _tell_entry(search)
        self.entries = (self._playout, self._advance, self._tell)

    def compile(self) -> None:
        """Compile what is not on disk yet; say in a sentence whose fault it is when that fails."""
        try:
            for entry in self.entries:

                entry.compile()
        except numba.core.errors.NumbaError as error:
            reason = str(error).strip().splitlines()[-1]
            raise ProblemError(f"the kernels of {problem_name(self.problem)} do not compile: {reason}") from error

    def advance(self, search: Search, n: int) -> None:
        """Make n evaluations."""
        done = 0
        while done < n:
            done += self._advance.call(
                self.problem.data,
                search.machine,
                search.settings,
                search.rng,
                self._signs,
                self._playout.call,
                n - done,
            )
            status = int(search.machine.counters[STATUS])
            if status == NEEDS_ROOM:
                search.make_room()
            elif status != OK:
                raise self._error(search, status)

    def play(self, search: Search, policy: int, slot: int) -> Any:
        """Play one sequence into a slot, for `ask`."""
        status = self._playout.call(self.problem.data, search.machine, search.settings, search.rng, policy, slot)
        if status not in (OK, NOT_FINITE, BAD_VIOLATIONS):  # the caller evaluates; ours does not count
            raise self._error(search, status)
        return None

    def tell(self, search: Search, slot: int) -> None:
        """Let the search learn from an evaluated slot."""
        self._tell.call(search.machine, search.settings, slot)

    def solution(self, moves: Sequence[int]) -> list[Any]:
        """Return the moves behind their numbers, which here are the moves themselves."""
        return list(moves)

    def replay(self, solution: Sequence[Any]) -> Any:
        """Return the final state of a solution; a compiled problem shows none."""
        return None

    def _error(self, search: Search, status: int) -> ProblemError:
        return ProblemError(
            _MESSAGES[status].format(
                name=problem_name(self.problem),
                depth=search.machine.counters[DEPTH],
                max_moves=self.problem.max_moves,
            )
        )


class Numbering(dict[Any, int]):
    """Dense numbers for hashable things, in the order in which they are first met."""

    def __missing__(self, key: Any) -> int:
        number = self[key] = len(self)
        return number


class PlainPlayer:
    """Plays a `Problem` through its methods; codes and moves of any hashable kind get dense numbers."""

    n_codes_fixed = False

    def __init__(self, problem: Problem, search: Search) -> None:
        self.problem = problem
        self.codes: Numbering = Numbering()
        self.moves: Numbering = Numbering()
        self._moves_by_number: list[Any] = []
        self._bias = plain_bias(problem) if search.settings.has_bias else None
        self._signs: list[float] = objective_signs(problem).tolist()
        self._preferences = search.machine.preferences
        self._tell = _tell_entry(search)
        self.entries = (self._tell,)

    def compile(self) -> None:
        """Compile what is not on disk yet."""
        self._tell.compile()

    def advance(self, search: Search, n: int) -> None:
        """Make n evaluations."""
        for _ in range(n):
            slot, policy = search.open_slot()
            try:
                state = self.play(search, policy, slot)
                self.record_evaluation(search, slot, self._call("evaluate", search, state))
            except BaseException:
                search.close_slot(slot)
                raise
            self.tell(search, slot)

    def tell(self, search: Search, slot: int) -> None:
        """Let the search learn from an evaluated slot."""
        self._tell.call(search.machine, search.settings, slot)

    def play(self, search: Search, policy: int, slot: int) -> Any:
        """Play one sequence and record it in a slot; returns the final state."""
        problem = self.problem
        legal_moves, play_move, move_code, numbers = problem.legal_moves, problem.play, problem.move_code, self.codes
        bias, preference = self._bias, self._preferences[policy]
        scale, inverse_temperature = search.settings.bias_scale, search.settings.inverse_temperature
        random = search.rng.random
        weights = memoryview(search.machine.weights[0, policy])
        n_known = len(weights)
        checking = search.machine.counters[EVALUATIONS] < search.settings.n_checked
        played: list[Any] = []
        codes: list[int] = []
        biases: list[float] = []
        ends: list[int] = []
        chosen: list[int] = []
        try:
            state = problem.initial_state()
            while moves := list(legal_moves(state)):
                if len(played) >= problem.max_moves:
                    raise self._error(search, TOO_LONG, len(played))
                if checking and len(set(moves)) < len(moves):
                    raise self._error(search, REPEATED_MOVE, len(played))
                position = 0
                if len(moves) > 1:
                    candidates = [numbers[move_code(state, move)] for move in moves]
                    logits = [weights[code] if code < n_known else 0.0 for code in candidates]
                    if bias is not None:
                        extra = [scale * bias(state, move, preference) for move in moves]
                        biases += extra
                        logits = [a + b for a, b in zip(logits, extra, strict=True)]
                    position = _draw(logits, inverse_temperature, random)
                    chosen.append(len(codes) + position)
                    codes += candidates
                    ends.append(len(codes))
                played.append(moves[position])
                state = play_move(state, moves[position])
        except ProblemError:
            raise
        except Exception as error:
            raise self._blame(error, len(played)) from error
        if not played:
            raise self._error(search, NO_MOVE, 0)
        self._record(search, slot, policy, played, codes, biases, ends, chosen)
        return state

    def _record(
        self,
        search: Search,
        slot: int,
        policy: int,
        played: list[Any],
        codes: list[int],
        biases: list[float],
        ends: list[int],
        chosen: list[int],
    ) -> None:
        self._fit(search, len(played), len(codes))
        number = self.moves
        pool = search.machine.pool
        pool.heads[slot] = (len(played), policy, len(ends))
        pool.moves[slot, : len(played)] = [number[move] for move in played]
        if ends:
            pool.codes[slot, : len(codes)] = codes
            pool.ends[slot, : len(ends)] = ends
            pool.chosen[slot, : len(chosen)] = chosen
            if biases:
                pool.biases[slot, : len(biases)] = biases

    def _fit(self, search: Search, n_moves: int, n_candidates: int) -> None:
        """Make room for a longer sequence and for codes met for the first time."""
        machine = search.machine
        if n_moves > machine.pool.moves.shape[1] or n_candidates > machine.pool.codes.shape[1]:
            search.machine = machine = with_longer_sequences(machine, 2 * n_moves, 2 * n_candidates)
        if len(self.codes) > machine.weights.shape[2]:
            search.machine = machine = with_codes(machine, 2 * len(self.codes))
        machine.counters[N_CODES] = len(self.codes)

    def record_evaluation(self, search: Search, slot: int, value: Any) -> None:
        """Write what `evaluate` returned into a slot, checking every promise about it."""
        name, m = problem_name(self.problem), self.problem.n_objectives
        violations: Any = 0
        try:
            if self.problem.constrained:
                value, violations = value
            values = [float(value)] if m == 1 and np.ndim(value) == 0 else [float(v) for v in value]
            violations = float(violations)
        except (TypeError, ValueError) as error:
            expected = f"{m} objectives" + (" and a violation count" if self.problem.constrained else "")
            raise ProblemError(f"evaluate() of {name} must return {expected}, got {value!r}.") from error
        if len(values) != m:
            raise ProblemError(f"evaluate() of {name} must return {m} objectives (n_objectives), got {len(values)}.")
        if not all(map(math.isfinite, values)):
            raise self._error(search, NOT_FINITE, 0)
        if not 0 <= violations < math.inf:
            raise self._error(search, BAD_VIOLATIONS, 0)
        search.machine.pool.scores[slot] = [violations, *(s * v for s, v in zip(self._signs, values, strict=True))]

    def solution(self, moves: Sequence[int]) -> list[Any]:
        """Return the moves behind their numbers."""
        if len(self._moves_by_number) < len(self.moves):
            self._moves_by_number = list(self.moves)
        return [self._moves_by_number[number] for number in moves]

    def replay(self, solution: Sequence[Any]) -> Any:
        """Return the final state of a solution."""
        state = self.problem.initial_state()
        for move in solution:
            state = self.problem.play(state, move)
        return state

    def _call(self, word: str, search: Search, state: Any) -> Any:
        try:
            return getattr(self.problem, word)(state)
        except Exception as error:
            message = f"{word}() of {problem_name(self.problem)} raised {type(error).__name__}: {error}."
            raise ProblemError(message) from error

    def _error(self, search: Search, status: int, depth: int) -> ProblemError:
        return ProblemError(
            _MESSAGES[status].format(
                name=problem_name(self.problem), depth=depth, max_moves=self.problem.max_moves
            )
        )

    def _blame(self, error: Exception, depth: int) -> ProblemError:
        name = problem_name(self.problem)
        return ProblemError(f"{name} raised {type(error).__name__} at depth {depth} of a playout: {error}.")


def _draw(logits: list[float], inverse_temperature: float, random: Callable[[], float]) -> int:
    """Draw a position by the softmax of logits; the largest is taken off only when exp would leave its range."""
    total = 0.0
    sums = []
    try:
        for x in logits:
            total += math.exp(x * inverse_temperature)
            sums.append(total)
    except OverflowError:
        total = math.inf
    if not 1e-250 < total < 1e250:
        largest = max(logits)
        return _draw([x - largest for x in logits], inverse_temperature, random)
    return min(bisect_right(sums, random() * total), len(sums) - 1)
