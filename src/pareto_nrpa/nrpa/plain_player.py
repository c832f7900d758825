"""Plays a `Problem` through its methods. Codes and moves of any hashable kind get dense numbers.

Python's own cost is what counts here: the loop is written out, and everything behind it is one call of compiled code.
"""

from __future__ import annotations

import math
from array import array
from bisect import bisect_right
from itertools import accumulate
from typing import TYPE_CHECKING, Any

import numba
import numpy as np
from numba import types

from ..exceptions import ProblemError
from ..kernels import recording
from ..kernels._jit import compile_entry
from ..kernels.bundles import (
    BAD_BIAS,
    BAD_VIOLATIONS,
    EVALUATIONS,
    N_CODES,
    NEEDS_ROOM,
    NO_MOVE,
    NOT_FINITE,
    REPEATED_MOVE,
    TOO_LONG,
)
from ..kernels.seen import known_scores
from ..kernels.softmax import LARGEST_SUM, SMALLEST_SUM
from ..messages import overflow_message, status_message
from ..problem import Problem, checked_evaluation, checked_identity, objective_signs, plain_bias, problem_name
from .memory import with_codes, with_longer_sequences

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from .search import Search

_BLOCK_OF_DRAWS = 256
# Up to this many codes it is faster to exponentiate all weights at once than each when it is needed.
_MAX_TABLE = 512
_MAX_EXPONENT = 700.0
_NOTHING = np.zeros(0)
_NO_RECORD = np.zeros(0, dtype=np.int64)


class Numbering(dict[Any, int]):
    """Dense numbers for hashable things, in the order in which they are first met."""

    #: Grows along with the numbers where there is one: the strength of a code just met is exp(0).
    table: list[float] | None = None

    def __missing__(self, key: Any) -> int:
        number = self[key] = len(self)
        if self.table is not None:
            self.table.append(1.0)
        return number


class _Strengths(dict[int, float]):
    """Strengths computed when they are first asked for; large policies are not exponentiated for one playout."""

    def __init__(self, weights: memoryview, inverse_temperature: float) -> None:
        super().__init__()
        self._weights, self._inverse = weights, inverse_temperature

    def __missing__(self, code: int) -> float:
        x: Any = self._weights[code] if code < len(self._weights) else 0.0
        value = self[code] = math.exp(min(x * self._inverse, _MAX_EXPONENT))
        return value


class PlainPlayer:
    """Plays a `Problem`, sampling in Python and learning in compiled code."""

    def __init__(self, problem: Problem, search: Search) -> None:
        self.problem = problem
        self.codes: Numbering = Numbering()
        self.moves: Numbering = Numbering()
        self._moves_by_number: list[Any] = []
        self._bias = plain_bias(problem) if search.settings.has_bias else None
        self._signs: list[float] = objective_signs(problem).tolist()
        self._scores_array = np.zeros(1 + problem.n_objectives)
        self._scores_view: Any = self._scores_array.data  # the fast way to write single numbers
        self._preferences = search.machine.preferences
        self._draws: list[float] = []
        self._powers = np.ones(_MAX_TABLE)
        self._settings = tuple(search.settings)
        parts = recording.flatten(search.machine)
        learned = types.int64(
            numba.typeof(parts),
            numba.typeof(self._settings),
            types.int64,
            types.int64[::1],
            types.float64[::1],
            types.float64[::1],
        )
        self._learn = compile_entry(recording.record_and_tell, learned)
        tabled = types.void(types.float64[:, :, ::1], types.int64, types.float64, types.float64[::1])
        self._tabulate = compile_entry(recording.tabulate, tabled)
        self.entries = (self._learn, self._tabulate)
        # How much fits into the arrays; looked up once, as looking is slow.
        self._n_codes = self._max_moves = self._max_candidates = 0
        self._machine: Any = None
        self._parts: Any = None

    def compile(self) -> None:
        """Compile what is not on disk yet."""
        for entry in self.entries:
            entry.compile()

    def draw(self, search: Search) -> float:
        """Return the next number of the generator."""
        if not self._draws:
            self._refill(search)
        return self._draws.pop()

    def _refill(self, search: Search) -> None:
        """Draw a block of numbers at once, because single draws are slow in Python; they are used in order."""
        self._draws += search.rng.random(_BLOCK_OF_DRAWS).tolist()[::-1]

    def random_state(self, search: Search) -> dict[str, Any]:
        """Return the state of the generator as if numbers had been drawn one by one."""
        generator: Any = np.random.PCG64()
        generator.state = search.rng.bit_generator.state
        if self._draws:
            generator.advance(2**128 - len(self._draws))  # a full circle less what was not used yet
        return dict(generator.state)

    def advance(self, search: Search, n: int) -> None:
        """Make n evaluations."""
        n_policies, evaluate = search.params.n_policies, self.problem.evaluate
        for _ in range(n):
            policy = int(self.draw(search) * n_policies) if n_policies > 1 else 0
            state, record, biases = self._play(search, policy)
            scores = self._known(search, record)
            if scores is None:
                scores = self._scores(self._evaluated(evaluate, state))
            self._call(search, recording.ANY_SLOT, record, biases, scores)

    def _known(self, search: Search, record: Any) -> Any:
        """Return the scores of a solution that was evaluated before, where that is kept account of, or None."""
        archive = search.machine.archive
        if archive.keys.size == 0:
            return None
        n_moves = int(record[-1])
        return known_scores(archive.keys, archive.key_scores, int(record[-3]), record[-3 - n_moves : -3], n_moves)

    def play(self, search: Search, policy: int, slot: int) -> Any:
        """Play one sequence into a slot, for `ask`; returns the final state."""
        state, record, biases = self._play(search, policy)
        self._call(search, slot, record, biases, _NOTHING)
        return state

    def tell(self, search: Search, slot: int) -> None:
        """Let the search learn from a slot whose scores are known."""
        self._call(search, slot, _NO_RECORD, _NOTHING, search.machine.pool.scores[slot].copy())

    def _call(self, search: Search, slot: int, record: Any, biases: Any, scores: Any) -> None:
        if search.machine is not self._machine:
            self._machine, self._parts = search.machine, recording.flatten(search.machine)
        if self._learn.call(self._parts, self._settings, slot, record, biases, scores) == NEEDS_ROOM:
            search.make_room()
            self._call(search, slot, record, biases, scores)

    def _play(self, search: Search, policy: int) -> tuple[Any, Any, Any]:
        """Play one sequence; returns the final state and what there is to record of it."""
        problem = self.problem
        played: list[Any] = []
        record: list[int] = []  # for each branching: number of moves, their codes, position chosen
        biases: list[float] = []
        try:
            state = self._play_moves(search, policy, played, record, biases)
            record += map(self.moves.__getitem__, played)
        except ProblemError:
            raise
        except Exception as error:
            name = problem_name(problem)
            message = f"{name} raised {type(error).__name__} at depth {len(played)} of a playout: {error}."
            raise ProblemError(message) from error
        if not played:
            raise self._error(NO_MOVE, 0)
        if len(played) > problem.max_moves:
            raise self._error(TOO_LONG, problem.max_moves)
        self._fit(search, len(played), len(record))
        record += (checked_identity(problem, state), policy, len(played))
        extras = np.array(biases) if biases else _NOTHING
        return state, np.frombuffer(array("q", record), dtype=np.int64), extras

    def _play_moves(
        self, search: Search, policy: int, played: list[Any], record: list[int], biases: list[float]
    ) -> Any:
        """Play to the end, or to one move more than allowed; returns the final state."""
        problem, bias, number, draws = self.problem, self._bias, self.codes, self._draws
        legal_moves, play_move, move_code = problem.legal_moves, problem.play, problem.move_code
        strength = self._strengths(search, policy)
        checking = search.machine.counters[EVALUATIONS] < search.settings.n_checked
        state = problem.initial_state()
        for _ in range(problem.max_moves + 1):
            moves = legal_moves(state)
            if moves.__class__ is not tuple and moves.__class__ is not list:
                moves = list(moves)
            count = len(moves)
            if count > 1:
                if checking and len(set(moves)) < count:
                    raise self._error(REPEATED_MOVE, len(played))
                if count == 2 and bias is None:
                    # Take or leave: so common, and so much shorter without running sums, that it has its own lines.
                    first, second = moves
                    code, other = number[move_code(state, first)], number[move_code(state, second)]
                    total = strength[code] + strength[other]
                    if SMALLEST_SUM < total < LARGEST_SUM:
                        if not draws:
                            self._refill(search)
                        take_second = draws.pop() * total >= strength[code]
                        record += (2, code, other, take_second)
                        move = second if take_second else first
                        played.append(move)
                        state = play_move(state, move)
                        continue
                record.append(count)
                total, sums = 0.0, []
                for move in moves:
                    code = number[move_code(state, move)]
                    record.append(code)
                    total += strength[code]
                    sums.append(total)
                if bias is not None:
                    extra = self._biases(search, policy, state, moves)
                    biases += extra
                    sums = self._biased_sums(search, policy, record[-count:], extra)
                    total = sums[-1]
                if not SMALLEST_SUM < total < LARGEST_SUM:
                    sums = self._safe_sums(search, policy, record[-count:], biases[-count:])
                    total = sums[-1]
                if not draws:
                    self._refill(search)
                # The last one is what is left: rounding must not lead beyond it.
                position = bisect_right(sums, draws.pop() * total, 0, count - 1)
                record.append(position)
                move = moves[position]
            elif count == 1:
                move = moves[0]
            else:
                break
            played.append(move)
            state = play_move(state, move)
        return state

    def _biases(self, search: Search, policy: int, state: Any, moves: Sequence[Any]) -> list[float]:
        assert self._bias is not None
        scale, preference, bias = search.settings.bias_scale, self._preferences[policy], self._bias
        return [scale * bias(state, move, preference) for move in moves]

    def _strengths(self, search: Search, policy: int) -> list[float] | _Strengths:
        """Return exp(weight / temperature) by the number of a code; codes met in this playout are added to it."""
        n_known, inverse = len(self.codes), search.settings.inverse_temperature
        if n_known > _MAX_TABLE:
            self.codes.table = None
            return _Strengths(memoryview(search.machine.weights[0, policy]), inverse)
        self._tabulate.call(search.machine.weights, policy, inverse, self._powers)
        table: list[float] = self._powers[:n_known].tolist()
        self.codes.table = table
        return table

    def _biased_sums(self, search: Search, policy: int, codes: list[int], extra: list[float]) -> list[float]:
        try:
            weights = self._logits(search, policy, codes, extra)
            return list(accumulate(map(math.exp, weights)))
        except OverflowError:
            return [math.inf]

    def _safe_sums(self, search: Search, policy: int, codes: list[int], extra: list[float]) -> list[float]:
        """Return running sums of exponentials, divided by the largest so that none can overflow."""
        logits = self._logits(search, policy, codes, extra)
        if not all(map(math.isfinite, logits)):
            if search.has_overflowed():
                raise ProblemError(overflow_message(search.params.alpha, self.problem))
            raise self._error(BAD_BIAS, 0)
        largest = max(logits)
        return list(accumulate(math.exp(x - largest) for x in logits))

    def _logits(self, search: Search, policy: int, codes: list[int], extra: list[float]) -> list[float]:
        weights, inverse = search.machine.weights[0, policy], search.settings.inverse_temperature
        plain = [float(weights[code]) if code < weights.size else 0.0 for code in codes]
        return [(a + b) * inverse for a, b in zip(plain, extra or [0.0] * len(plain), strict=True)]

    def _fit(self, search: Search, n_moves: int, n_candidates: int) -> None:
        """Make room for a longer sequence and for codes met for the first time."""
        n_codes = len(self.codes)
        if n_codes == self._n_codes and n_moves <= self._max_moves and n_candidates <= self._max_candidates:
            return
        machine = search.machine
        if n_moves > machine.pool.moves.shape[1] or n_candidates > machine.pool.codes.shape[1]:
            machine = with_longer_sequences(machine, 2 * n_moves, 2 * n_candidates)
        if n_codes > machine.weights.shape[2]:
            machine = with_codes(machine, 2 * n_codes)
        machine.counters[N_CODES] = n_codes
        search.machine = machine
        self._n_codes = n_codes
        self._max_moves, self._max_candidates = machine.pool.moves.shape[1], machine.pool.codes.shape[1]

    def _evaluated(self, evaluate: Any, state: Any) -> Any:
        try:
            return evaluate(state)
        except Exception as error:
            message = f"evaluate() of {problem_name(self.problem)} raised {type(error).__name__}: {error}."
            raise ProblemError(message) from error

    def _scores(self, value: Any) -> NDArray[np.float64]:
        """Return violations and minimised objectives of what `evaluate` returned, checking every promise about it."""
        violations, values = checked_evaluation(self.problem, value)
        if not all(map(math.isfinite, values)):
            raise self._error(NOT_FINITE, 0)
        if not 0 <= violations < math.inf:
            raise self._error(BAD_VIOLATIONS, 0)
        scores = self._scores_view
        scores[0] = violations
        for k, sign in enumerate(self._signs, 1):
            scores[k] = sign * values[k - 1]
        return self._scores_array

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

    def _error(self, status: int, depth: int) -> ProblemError:
        return ProblemError(status_message(status, self.problem, depth))
