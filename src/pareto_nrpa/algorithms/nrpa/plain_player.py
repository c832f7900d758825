"""Pareto-NRPA on a `Problem`: sampling in Python, learning in compiled code. Codes get dense numbers, as moves do.

Python's own cost is what counts here: the loop is written out, and everything behind it is one call of compiled code.
"""

from __future__ import annotations

import math
from array import array
from bisect import bisect_right
from functools import cached_property
from itertools import accumulate
from typing import TYPE_CHECKING, Any, ClassVar

import numba
import numpy as np
from numba import types

from ...engine.arrays import (
    BAD_BIAS,
    EVALUATIONS,
    KEY,
    N_CODES,
    N_MOVES,
    NEEDS_ROOM,
    NO_IDENTITY,
    NO_MOVE,
    REPEATED_MOVE,
    TOO_LONG,
    SearchState,
    Settings,
)
from ...engine.jit.kernels import compile_entry
from ...engine.messages import unfollowed_message
from ...engine.plain import Index, PlainAdapter
from ...engine.softmax import LARGEST_SUM, SMALLEST_SUM
from ...engine.state import need
from ...engine.walk import EXACT, UNPRUNED
from ...errors import ProblemError
from ...problem.base import Problem, checked_identity
from . import recording
from .memory import make_room, with_codes, with_longer_sequences
from .overflow import weight_error

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ...engine.jit.kernels import Entry

_BLOCK_OF_DRAWS = 256
# Up to this many codes it is faster to exponentiate all weights at once than each when it is needed.
_MAX_TABLE = 512
_MAX_EXPONENT = 700.0
_NOTHING = np.zeros(0)
_NO_RECORD = np.zeros(0, dtype=np.int64)


# Moves of these kinds compare equal to whole numbers that they are not: True is 1, and so is 1.0.
_BOOLS, _FLOATS = (bool, np.bool_), (float, np.float64, np.float32, np.float16, np.longdouble)
_APART = frozenset([*_BOOLS, *_FLOATS])


def _key(move: Any) -> Any:
    """Return what a move is known by: itself, with its kind where it would be taken for another one."""
    kind = type(move)
    return move if kind not in _APART else (bool if kind in _BOOLS else float, move)


def _move(key: Any) -> Any:
    """Return the move that is known by a key."""
    return key[1] if type(key) is tuple and len(key) == 2 and key[0] in (bool, float) else key


class _Strengths(dict[int, float]):
    """Strengths computed when they are first asked for; large policies are not exponentiated for one playout."""

    def __init__(self, weights: memoryview, inverse_temperature: float) -> None:
        super().__init__()
        self._weights, self._inverse = weights, inverse_temperature

    def __missing__(self, code: int) -> float:
        x: Any = self._weights[code] if code < len(self._weights) else 0.0
        value = self[code] = math.exp(min(x * self._inverse, _MAX_EXPONENT))
        return value


class PlainPlayer(PlainAdapter):
    """Plays and learns; `machine`, the whole search, changes and is exchanged for a larger one when it is full."""

    STATE: ClassVar[dict[str, Any]] = {"codes_met": "values", "machine": SearchState, "_draws": ["float"]}

    def __init__(self, problem: Problem, machine: SearchState, settings: Settings, rng: np.random.Generator) -> None:
        super().__init__(problem, has_bias=settings.has_bias)
        self.machine, self.settings, self.rng = machine, settings, rng
        self.codes: Index = Index()
        self._draws: list[float] = []
        self._powers = np.ones(_MAX_TABLE)
        told = types.void(numba.typeof(machine), numba.typeof(settings), types.int64)
        learned = types.int64(
            *told.args,
            types.int64[::1],
            types.float64[::1],
            types.float64[::1],
        )
        self._learn = self.bind(recording.record_and_tell, learned)
        tabled = types.void(types.float64[:, :, ::1], types.int64, types.float64, types.float64[::1])
        self._tabulate = self.bind(recording.tabulate, tabled)
        # How much fits into the arrays; looked up once, as looking is slow.
        self._n_codes = self._max_moves = self._max_candidates = 0
        self._looks_up = False
        self._tell_root = compile_entry(recording.tell_root_of, told)
        self.for_add = [self._tell_root]  # not among the entries: few need it

    @property
    def codes_met(self) -> list[Any]:
        """All codes met, in the order of their numbers."""
        return list(self.codes)

    @codes_met.setter
    def codes_met(self, codes: list[Any]) -> None:
        need(len(set(codes)) == len(codes), "one number for each code")
        self.codes = Index((code, number) for number, code in enumerate(codes))

    def draw(self) -> float:
        """Return the next number of the generator."""
        if not self._draws:
            self._refill()
        return self._draws.pop()

    def _refill(self) -> None:
        """Draw a block of numbers at once, because single draws are slow in Python; they are used in order."""
        self._draws += self.rng.random(_BLOCK_OF_DRAWS).tolist()[::-1]

    def advance(self, n: int) -> None:
        """Make n evaluations."""
        n_policies = self.machine.weights.shape[1]
        for _ in range(n):
            policy = int(self.draw() * n_policies) if n_policies > 1 else 0
            state, record, biases = self._play(policy)
            scores = self._known(record) if self._looks_up else None
            if scores is None:
                scores = self.judge(state)
            self._call(recording.ANY_SLOT, record, biases, scores)

    def compile(self) -> None:
        """Compile what is not on disk yet, also what looks up solutions where they are counted once each."""
        super().compile()
        if not self._looks_up and self.machine.archive.keys.size:
            self._looks_up = True
            self._known(np.zeros(4, dtype=np.int64))

    def _known(self, record: Any) -> Any:
        """Return the scores of a recorded solution that was evaluated before, or None."""
        n_moves = int(record[-1])
        return self.known(self.machine.archive, int(record[-3]), record[-3 - n_moves : -3], n_moves)

    def play(self, policy: int, slot: int) -> Any:
        """Play one sequence into a slot, for `ask`; returns the final state."""
        state, record, biases = self._play(policy)
        self._call(slot, record, biases, _NOTHING)
        return state

    def tell(self, slot: int) -> None:
        """Let the search learn from a slot whose scores are known."""
        self._call(slot, _NO_RECORD, _NOTHING, self.machine.pool.scores[slot].copy())

    def follow(self, policy: int, slot: int, given: Any, at: int = EXACT) -> tuple[bool, Any]:
        """Play given moves into a slot, or from step `at` on others; tells whether they could be played."""
        state, depth = self._follow_into(policy, slot, self.solution(given), at)
        return depth < 0, state

    def _follow_into(self, policy: int, slot: int, wanted: list[Any], at: int) -> tuple[Any, int]:
        """Play wanted moves into a slot; returns the final state, and the depth where that failed, or -1."""
        played: list[Any] = []
        record: list[int] = []
        biases: list[float] = []
        try:
            state, depth = self._follow_moves(policy, wanted, at, played, record, biases)
            identity = checked_identity(self.problem, state)
        except ProblemError:
            raise
        except Exception as error:
            raise self.raised(error, len(played)) from error
        if depth < 0:
            record += self.numbers(played)
            self._call(slot, *self._closed(record, biases, len(played), identity, policy), _NOTHING)
        return state, depth

    def _follow_moves(
        self, policy: int, wanted: list[Any], at: int, played: list[Any], record: list[int], biases: list[float]
    ) -> tuple[Any, int]:
        """Play moves that are wanted as far as they are legal; exactly these, unless there is a step to deviate at.

        Returns the final state, and the depth at which that was not possible, or -1.
        """
        problem, number = self.problem, self.codes
        exactly, even_pruned = at < 0, at == UNPRUNED and problem.all_moves is not None
        state = problem.initial_state()
        while moves := list(problem.legal_moves(state)):
            step = len(played)
            if even_pruned and step < len(wanted) and wanted[step] not in moves:
                moves = list(problem.all_moves(state))  # type: ignore[misc]  # even_pruned says that it has all_moves
            if exactly and (step >= len(wanted) or wanted[step] not in moves):
                return state, step
            if 0 <= at <= step and len(moves) > 1:
                others = [move for move in moves if step >= len(wanted) or move != wanted[step]]
                move, at = others[int(self.draw() * len(others))], EXACT
            elif step < len(wanted) and wanted[step] in moves:
                move = wanted[step]
            else:
                near = [move for move in wanted if move in moves]
                move = near[0] if near else moves[int(self.draw() * len(moves))]
            position = moves.index(move)
            if len(moves) > 1:
                record.append(len(moves))
                record += (number[problem.move_code(state, other)] for other in moves)
                record.append(position)
                if self.bias is not None:
                    biases += self._biases(policy, state, moves)
            played.append(moves[position])
            state = problem.play(state, moves[position])
            if len(played) > problem.max_moves:
                raise self.error(TOO_LONG, problem.max_moves)
        return state, len(played) if exactly and len(played) < len(wanted) else -1

    def evaluate(self, slot: int, state: Any) -> None:
        """Judge the final state of what was played into a slot, unless that was done before."""
        pool = self.machine.pool
        heads, moves = pool.heads[slot], pool.moves[slot]
        n_moves = int(heads[N_MOVES])
        scores = self.known(self.machine.archive, int(heads[KEY]), moves[:n_moves], n_moves) if self._looks_up else None
        pool.scores[slot] = self.judge(state) if scores is None else scores

    @cached_property
    def following(self) -> Entry:
        """What counts a sequence without learning from it; not everybody does."""
        return self.bind(recording.count_only, types.void(numba.typeof(self.machine), types.int64))

    def note(self, slot: int) -> None:
        """Count a slot whose scores are known; nothing is learned from it."""
        self.following.call(self.machine, slot)

    def _call(self, slot: int, record: Any, biases: Any, scores: Any) -> None:
        if self._learn.call(self.machine, self.settings, slot, record, biases, scores) == NEEDS_ROOM:
            self.machine = make_room(self.machine)
            self._call(slot, record, biases, scores)

    def _play(self, policy: int) -> tuple[Any, Any, Any]:
        """Play one sequence; returns the final state and what there is to record of it."""
        problem = self.problem
        played: list[Any] = []
        record: list[int] = []  # for each decision step: number of moves, their codes, position chosen
        biases: list[float] = []
        try:
            state = self._play_moves(policy, played, record, biases)
            record += self.numbers(played)
        except ProblemError:
            raise
        except Exception as error:
            raise self.raised(error, len(played)) from error
        return state, *self._closed(record, biases, len(played), checked_identity(problem, state), policy)

    def _closed(
        self, record: list[int], biases: list[float], n_moves: int, identity: int, policy: int
    ) -> tuple[Any, Any]:
        """Return what there is to record of a sequence as arrays, for which there is room."""
        if n_moves == 0:
            raise self.error(NO_MOVE, 0)
        if n_moves > self.problem.max_moves:
            raise self.error(TOO_LONG, self.problem.max_moves)
        self._fit(n_moves, len(record))
        record += (identity, policy, n_moves)
        extras = np.array(biases) if biases else _NOTHING
        return np.frombuffer(array("q", record), dtype=np.int64), extras

    def choose(self, policy: int, codes: list[int], extra: list[float], number: float) -> int:
        """Return which of several codes a policy plays, by a random number."""
        sums = self._safe_sums(policy, codes, extra)
        return bisect_right(sums, number * sums[-1], 0, len(codes) - 1)

    def record(self, slot: int, decisions: list[int], biases: list[float], moves: Sequence[Any], policy: int) -> None:
        """Write a sequence into a slot that somebody else has played."""
        record = [*decisions, *self.numbers(moves)]
        numbers, extras = self._closed(record, biases, len(moves), NO_IDENTITY, policy)
        self._call(slot, numbers, extras, _NOTHING)

    def play_given(self, solution: Sequence[Any], policy: int, slot: int, *, judge: bool) -> None:
        """Play a solution into a slot, pruned or not, with its scores unless the caller has them."""
        state, depth = self._follow_into(policy, slot, list(solution), UNPRUNED)
        if depth >= 0:
            raise ProblemError(unfollowed_message(self.problem, solution, depth))
        if judge:
            self.machine.pool.scores[slot] = self.judge(state)

    def tell_root(self, slot: int) -> None:
        """Let the highest level learn from a slot whose scores are known."""
        self._tell_root.call(self.machine, self.settings, slot)

    def numbers(self, solution: Sequence[Any]) -> list[int]:
        """Return the numbers of moves."""
        keys = solution if _APART.isdisjoint(map(type, solution)) else map(_key, solution)
        return list(map(self.moves.__getitem__, keys))

    def met(self) -> list[Any]:
        """Return all moves met, in the order of their numbers."""
        return list(map(_move, self.moves))

    def _play_moves(self, policy: int, played: list[Any], record: list[int], biases: list[float]) -> Any:
        """Play to the end, or to one move more than allowed; returns the final state."""
        problem, bias, number, draws = self.problem, self.bias, self.codes, self._draws
        legal_moves, play_move, move_code = problem.legal_moves, problem.play, problem.move_code
        strength = self._strengths(policy)
        checking = self.machine.counters[EVALUATIONS] < self.settings.n_checked
        state = problem.initial_state()
        for _ in range(problem.max_moves + 1):
            moves = legal_moves(state)
            if moves.__class__ is not tuple and moves.__class__ is not list:
                moves = list(moves)
            count = len(moves)
            if count > 1:
                if checking and len(set(moves)) < count:
                    raise self.error(REPEATED_MOVE, len(played))
                if count == 2 and bias is None:
                    # Take or leave: so common, and so much shorter without running sums, that it has its own lines.
                    first, second = moves
                    code, other = number[move_code(state, first)], number[move_code(state, second)]
                    total = strength[code] + strength[other]
                    if SMALLEST_SUM < total < LARGEST_SUM:
                        if not draws:
                            self._refill()
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
                    extra = self._biases(policy, state, moves)
                    biases += extra
                    sums = self._biased_sums(policy, record[-count:], extra)
                    total = sums[-1]
                if not SMALLEST_SUM < total < LARGEST_SUM:
                    sums = self._safe_sums(policy, record[-count:], biases[-count:])
                    total = sums[-1]
                if not draws:
                    self._refill()
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

    def _biases(self, policy: int, state: Any, moves: Sequence[Any]) -> list[float]:
        assert self.bias is not None
        scale, preference, bias = self.settings.bias_scale, self.machine.preferences[policy], self.bias
        return [scale * bias(state, move, preference) for move in moves]

    def _strengths(self, policy: int) -> list[float] | _Strengths:
        """Return exp(weight / temperature) by the number of a code; codes met in this playout are added to it."""
        n_known, inverse = len(self.codes), self.settings.inverse_temperature
        if n_known > _MAX_TABLE:
            self.codes.table = None
            return _Strengths(memoryview(self.machine.weights[0, policy]), inverse)
        self._tabulate.call(self.machine.weights, policy, inverse, self._powers)
        table: list[float] = self._powers[:n_known].tolist()
        self.codes.table = table
        return table

    def _biased_sums(self, policy: int, codes: list[int], extra: list[float]) -> list[float]:
        try:
            weights = self._logits(policy, codes, extra)
            return list(accumulate(map(math.exp, weights)))
        except OverflowError:
            return [math.inf]

    def _safe_sums(self, policy: int, codes: list[int], extra: list[float]) -> list[float]:
        """Return running sums of exponentials, divided by the largest so that none can overflow."""
        logits = self._logits(policy, codes, extra)
        if not all(map(math.isfinite, logits)):
            raise self.error(BAD_BIAS, 0)
        largest = max(logits)
        return list(accumulate(math.exp(x - largest) for x in logits))

    def error(self, status: int, depth: int) -> ProblemError:
        """Return the error for a promise that the problem broke, or for weights that learning has made too large."""
        return weight_error(status, self.machine, self.settings, self.problem) or super().error(status, depth)

    def _logits(self, policy: int, codes: list[int], extra: list[float]) -> list[float]:
        weights, inverse = self.machine.weights[0, policy], self.settings.inverse_temperature
        plain = [float(weights[code]) if code < weights.size else 0.0 for code in codes]
        return [(a + b) * inverse for a, b in zip(plain, extra or [0.0] * len(plain), strict=True)]

    def _fit(self, n_moves: int, n_candidates: int) -> None:
        """Make room for a longer sequence and for codes met for the first time."""
        n_codes = len(self.codes)
        if n_codes == self._n_codes and n_moves <= self._max_moves and n_candidates <= self._max_candidates:
            return
        machine = self.machine
        if n_moves > machine.pool.moves.shape[1] or n_candidates > machine.pool.codes.shape[1]:
            machine = with_longer_sequences(machine, 2 * n_moves, 2 * n_candidates)
        if n_codes > machine.weights.shape[2]:
            machine = with_codes(machine, 2 * n_codes)
        machine.counters[N_CODES] = n_codes
        self.machine = machine
        self._n_codes = n_codes
        self._max_moves, self._max_candidates = machine.pool.moves.shape[1], machine.pool.codes.shape[1]

    def replay(self, solution: Sequence[Any]) -> Any:
        """Return the final state of a solution."""
        state = self.problem.initial_state()
        for move in solution:
            state = self.problem.play(state, move)
        return state
