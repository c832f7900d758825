"""Back end of players for a plain `Problem`: calls its methods; moves and codes of any hashable type get numbers.

Compiled loops play by a callback, which writes the sequence into a slot. The loop of a playout by policy is written
out, as the cost of Python's calls dominates.
"""

from __future__ import annotations

import contextlib
import math
import operator
from array import array
from bisect import bisect_right
from itertools import accumulate
from typing import TYPE_CHECKING, Any, ClassVar

import numba
import numpy as np
from numba import types

from ..errors import ProblemError
from ..problem.base import Problem, checked_evaluation, checked_identity, plain_bias, problem_name
from ..problem.stepper import first_illegal
from .arrays import (
    BAD_BIAS,
    BAD_VIOLATIONS,
    DEPTH,
    EVALUATIONS,
    HERE,
    ILLEGAL_MOVE,
    INCOMPLETE,
    N_CODES,
    NEEDS_ROOM,
    NO_IDENTITY,
    NO_MOVE,
    NOT_FINITE,
    OK,
    RAISED,
    REPEATED_MOVE,
    STATUS,
    TOO_LONG,
    Settings,
    Store,
)
from .jit.callback import callback
from .jit.kernels import stored
from .messages import unfollowed_message
from .player import Player
from .softmax import LARGEST_SUM, SMALLEST_SUM, tabulate
from .state import need
from .store import grow
from .walk import EXACT, LOOK, UNPRUNED, WHOLE, call_player, unpack, would_enter

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    # Returns the legal moves and the position of one; or None where the walk cannot continue.
    Chooser = Callable[[Any, list[Any]], tuple[list[Any], int] | None]

# Up to this number of codes it is faster to exponentiate all weights at once.
_MAX_TABLE = 512
_MAX_EXPONENT = 700.0
_BLOCK_OF_DRAWS, _FEW_DRAWS = 256, 16
_FULL_CIRCLE = 2**128

# Moves of these types compare equal to integers: True == 1 and 1.0 == 1.
_BOOLS, _FLOATS = (bool, np.bool_), (float, np.float64, np.float32, np.float16, np.longdouble)
_APART = frozenset([*_BOOLS, *_FLOATS])


def _key(move: Any) -> Any:
    """Return the key of a move: the move, with its type where it compares equal to an integer."""
    kind = type(move)
    return move if kind not in _APART else (bool if kind in _BOOLS else float, move)


def _move(key: Any) -> Any:
    """Return the move of a key."""
    return key[1] if type(key) is tuple and len(key) == 2 and key[0] in (bool, float) else key


class Index(dict[Any, int]):
    """Dense numbers of hashable objects, in the order of first occurrence."""

    #: Extended with the numbers, if set: the strength of a new code is exp(0).
    table: list[float] | None = None

    def __missing__(self, key: Any) -> int:
        number = self[key] = len(self)
        if self.table is not None:
            self.table.append(1.0)
        return number


class _Strengths(dict[int, float]):
    """Strengths computed on demand; large policies are not exponentiated for one playout."""

    def __init__(self, weights: memoryview, inverse_temperature: float) -> None:
        super().__init__()
        self._weights, self._inverse = weights, inverse_temperature

    def __missing__(self, code: int) -> float:
        x: Any = self._weights[code] if code < len(self._weights) else 0.0
        value = self[code] = math.exp(min(x * self._inverse, _MAX_EXPONENT))
        return value


class _NeedsRoomError(Exception):
    """A sequence does not fit into the arrays, which compiled code is using: they grow after its return."""


class _Draws(list[float]):
    """A stack of random numbers, drawn in blocks, as single draws are slow in Python.

    In a `with` block all numbers used are returned to the generator if a sequence does not fit or the user interrupts,
    because it is then played again. Unused numbers stay for the next one, or are returned before others use the
    generator.
    """

    __slots__ = ("_n_before", "_n_drawn", "_rng", "_stays")

    def __init__(self, rng: Any, *, stays: bool) -> None:
        super().__init__()
        self._rng, self._n_drawn, self._stays = rng, 0, stays

    def more(self) -> None:
        """Draw a block; the stack must be empty."""
        n = _BLOCK_OF_DRAWS if self._stays else _FEW_DRAWS
        self += self._rng.random(n).tolist()[::-1]
        self._n_drawn += n

    def draw(self) -> float:
        """Return the next number."""
        if not self:
            self.more()
        return self.pop()

    def give_back(self, n_used: int = 0) -> None:
        """Reset the generator to the state before these and the unused numbers were drawn."""
        n = n_used + len(self)
        self.clear()
        self._n_drawn -= n
        if n:
            self._rng.bit_generator.advance(_FULL_CIRCLE - n)

    def __enter__(self) -> _Draws:
        self._n_before = self._n_drawn - len(self)
        return self

    def __exit__(self, kind: Any, error: Any, trace: Any) -> None:
        if kind in (_NeedsRoomError, KeyboardInterrupt):
            self.give_back(self._n_drawn - len(self) - self._n_before)
        elif not self._stays:
            self.give_back()


class PlayedSteps:
    """The record of a sequence: moves, and for each step with a choice the input of Adapt."""

    def __init__(self, moves: list[Any] | None = None) -> None:
        self.moves: list[Any] = [] if moves is None else moves
        self.steps: list[int] = []  # of each: number of moves, their codes, position chosen
        self.biases: list[float] = []


class PlainPlayer(Player):
    """Plays a `Problem`.

    Attributes
    ----------
    moves, codes
        The numbers of all moves and of all codes so far.
    bias
        A function of state, move and preference, or None if there is none or it is switched off.
    """

    STATE: ClassVar[dict[str, Any]] = {
        "moves_met": "values [moves]",
        "codes_met": "values",
        "draws_left": ["float"],
    }
    problem: Problem

    def __init__(
        self, problem: Problem, store: Store, settings: Settings, rng: np.random.Generator, learns: bool
    ) -> None:
        super().__init__(problem, store, settings, rng, learns)
        self.moves, self.codes = Index(), Index()
        self.bias = plain_bias(problem) if settings.has_bias else None
        self._by_number: list[Any] = []
        self._sign_of: list[float] = self.signs.tolist()
        self._powers = np.ones(_MAX_TABLE)
        self._draws = _Draws(rng, stays=learns)
        self._needed: dict[str, int] = {}
        self._is_called = False
        self._raised: BaseException | None = None
        address, self._callback = callback(self._called)
        self.parts = (address,)
        self._play = self.bind(call_player, self.played, way_in="pointer")
        pool, number = store.pool, types.int64
        rows = [numba.typeof(array) for array in (pool.heads, pool.moves, pool.codes, pool.ends, pool.chosen)]
        self._unpack = self.bind(unpack, types.void(*rows, numba.typeof(store.legal), number, number))
        if learns:
            tabled = types.void(types.float64[:, :, ::1], types.int64, types.float64, types.float64[::1])
            self._tabulate = self.bind(tabulate, tabled)

    @property
    def codes_met(self) -> list[Any]:
        """All codes, in the order of their numbers."""
        return list(self.codes)

    @codes_met.setter
    def codes_met(self, codes: list[Any]) -> None:
        need(len(set(codes)) == len(codes), "one number for each code")
        self.codes = Index((code, number) for number, code in enumerate(codes))

    @property
    def moves_met(self) -> list[Any]:
        """All moves, in the order of their numbers."""
        return list(map(_move, self.moves))

    @moves_met.setter
    def moves_met(self, moves: list[Any]) -> None:
        self.moves, self._by_number = Index(), []
        need(self.numbers(moves) == list(range(len(moves))), "one number for each move")

    @property
    def draws_left(self) -> list[float]:
        """Random numbers drawn and not used yet."""
        return list(self._draws)

    @draws_left.setter
    def draws_left(self, draws: list[float]) -> None:
        self._draws[:] = draws

    def draw(self) -> float:
        """Return the next random number."""
        try:
            return self._draws.pop()
        except IndexError:
            return self._draws.draw()

    def settle(self) -> None:
        """Set the generator to the state after the numbers used."""
        self._draws.give_back()

    def compile(self) -> None:
        """Compile what is not in the cache, including the lookup of solutions where unique ones are counted."""
        super().compile()
        self.known(HERE)
        if self.problem.genotype is not None and not self.learns:
            self._would_enter()

    def _called(self, policy: int, slot: int, n_given: int, purpose: int) -> None:
        """Play for compiled code; returns a status: OK, NEEDS_ROOM, or RAISED for any exception."""
        self._is_called = True
        try:
            self._raised = None
            if self.learns:
                self.play(policy, slot, judges=True)
                status = OK
            else:
                status = self._played(slot, n_given, purpose)
        except _NeedsRoomError:
            status = NEEDS_ROOM
        except BaseException as error:  # raised after compiled code has returned
            self._raised, status = error, RAISED
        self._is_called = False
        self.store.counters[STATUS] = status

    def error(self, status: int, depth: int) -> BaseException:
        """Return the error for a status of compiled code, or the exception raised in a callback."""
        if status != RAISED:
            return super().error(status, depth)
        raised, self._raised, self._is_called = self._raised, None, False
        return KeyboardInterrupt() if raised is None else raised

    def make_room(self) -> None:
        """Grow the store for at least one more evaluation, and for twice the size that did not fit."""
        if self._needed:
            pool = self.store.pool
            there = {"moves": pool.moves.shape[1], "candidates": pool.codes.shape[1]}
            there |= {"codes": self.store.weights.shape[2], "legal": self.store.legal.size}
            self.store = grow(self.store, **{k: 2 * n for k, n in self._needed.items() if n > there[k]})
            self._needed = {}
        super().make_room()

    def _fit(self, n_moves: int, n_candidates: int = 0, n_legal: int = 0) -> None:
        """Make room for a sequence and for new codes, or raise if compiled code is using the arrays."""
        store, n_codes = self.store, len(self.codes)
        pool = store.pool
        if (
            n_moves > pool.moves.shape[1]
            or n_candidates > pool.codes.shape[1]
            or n_codes > store.weights.shape[2]
            or n_legal > store.legal.size
        ):
            self._needed = {"moves": n_moves, "candidates": n_candidates, "codes": n_codes, "legal": n_legal}
            if self._is_called:
                raise _NeedsRoomError
            self.make_room()
        if self.learns:
            store.counters[N_CODES] = n_codes

    def record(self, slot: int, record: PlayedSteps, policy: int, identity: int = NO_IDENTITY) -> None:
        """Write a sequence into a slot."""
        steps, n_moves = record.steps, len(record.moves)
        if n_moves == 0:
            raise self.error(NO_MOVE, 0)
        if n_moves > self.problem.max_moves:
            raise self.error(TOO_LONG, self.problem.max_moves)
        n_steps = len(steps)
        numbers = self.numbers(record.moves)
        self._fit(n_moves, n_steps, n_steps + n_moves + 3)
        steps += numbers
        steps += (identity, policy, n_moves)
        self.store.legal[: len(steps)] = array("q", steps)
        if record.biases:
            self.store.pool.biases[slot, : len(record.biases)] = array("d", record.biases)
        self.store.n_legal[0] = len(steps)
        if not self._is_called or self.store.archive.keys.size:  # else compiled code unpacks it
            pool = self.store.pool
            self._unpack(pool.heads, pool.moves, pool.codes, pool.ends, pool.chosen, self.store.legal, len(steps), slot)

    # Playouts by policy.

    def play(self, policy: int, slot: int, *, judges: bool = False) -> Any:
        """Play one sequence with a policy, or any, into a slot; returns the final state."""
        record = PlayedSteps()
        with self._draws as draws:
            if policy < 0:
                n_policies = self.store.weights.shape[1]
                policy = int(draws.draw() * n_policies) if n_policies > 1 else 0
            try:
                state = self._sample_moves(policy, record, draws)
                identity = checked_identity(self.problem, state)
            except ProblemError:
                raise
            except Exception as error:
                raise self.raised(error, len(record.moves)) from error
            self.record(slot, record, policy, identity)
            if judges:
                self.evaluate(slot, state)
        return state

    def _sample_moves(self, policy: int, record: PlayedSteps, draws: _Draws) -> Any:
        """Play to the end, or to one move more than allowed; returns the final state."""
        problem, bias, number = self.problem, self.bias, self.codes
        legal_moves, play_move, move_code = problem.legal_moves, problem.play, problem.move_code
        played, steps, biases = record.moves, record.steps, record.biases
        strength = self._strengths(policy)
        checking = self.store.counters[EVALUATIONS] < self.settings.n_checked
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
                    # Two moves: a common case, faster without running sums.
                    first, second = moves
                    code, other = number[move_code(state, first)], number[move_code(state, second)]
                    total = strength[code] + strength[other]
                    if SMALLEST_SUM < total < LARGEST_SUM:
                        if not draws:
                            draws.more()
                        takes_second = draws.pop() * total >= strength[code]
                        steps += (2, code, other, takes_second)
                        move = second if takes_second else first
                        played.append(move)
                        state = play_move(state, move)
                        continue
                steps.append(count)
                total, sums = 0.0, []
                for move in moves:
                    code = number[move_code(state, move)]
                    steps.append(code)
                    total += strength[code]
                    sums.append(total)
                if bias is not None:
                    biases += self._biases(policy, state, moves)
                if bias is not None or not SMALLEST_SUM < total < LARGEST_SUM:
                    sums = self._safe_sums(policy, steps[-count:], biases[-count:])
                    total = sums[-1]
                if not draws:
                    draws.more()
                # The last one gets the remainder, so that rounding cannot lead beyond it.
                position = bisect_right(sums, draws.pop() * total, 0, count - 1)
                steps.append(position)
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
        scale, preference, bias = self.settings.bias_scale, self.store.preferences[policy], self.bias
        return [scale * bias(state, move, preference) for move in moves]

    def _strengths(self, policy: int) -> list[float] | _Strengths:
        """Return exp(weight / temperature) by the number of a code; new codes of this playout are added to it."""
        n_known, inverse = len(self.codes), self.settings.inverse_temperature
        if n_known > _MAX_TABLE:
            self.codes.table = None
            return _Strengths(memoryview(self.store.weights[0, policy]), inverse)
        self._tabulate(self.store.weights, policy, inverse, self._powers)
        table: list[float] = self._powers[:n_known].tolist()
        self.codes.table = table
        return table

    def _safe_sums(self, policy: int, codes: list[int], extra: list[float]) -> list[float]:
        return self._sums(self._logits(policy, codes, extra))

    def _sums(self, logits: list[float]) -> list[float]:
        """Return running sums of exponentials, divided by the largest so that none can overflow."""
        if not all(map(math.isfinite, logits)):
            raise self.error(BAD_BIAS, 0)
        largest = max(logits)
        return list(accumulate(math.exp(x - largest) for x in logits))

    def _logits(self, policy: int, codes: list[int], extra: list[float]) -> list[float]:
        weights, inverse = self.store.weights[0, policy], self.settings.inverse_temperature
        plain = [float(weights[code]) if code < weights.size else 0.0 for code in codes]
        return [(a + b) * inverse for a, b in zip(plain, extra or [0.0] * len(plain), strict=True)]

    def choose(self, policy: int, codes: list[int], extra: list[float], number: float) -> int:
        """Return the position of the code that a policy plays, by a random number."""
        sums = self._safe_sums(policy, codes, extra)
        return bisect_right(sums, number * sums[-1], 0, len(codes) - 1)

    # Walks with other choosers.

    def _walk(self, state: Any, choose: Chooser, record: PlayedSteps, policy: int | None = None) -> tuple[Any, bool]:
        """Play with a chooser, recording codes for a policy; returns the last state, and whether it is final."""
        problem, number = self.problem, self.codes
        while moves := self._legal(state, len(record.moves)):
            if len(record.moves) == problem.max_moves:
                raise self.error(TOO_LONG, problem.max_moves)
            found = choose(state, moves)
            if found is None:
                return state, False
            moves, position = found
            if policy is not None and len(moves) > 1:
                codes = [number[problem.move_code(state, other)] for other in moves]
                record.steps += (len(moves), *codes, position)
                if self.bias is not None:
                    record.biases += self._biases(policy, state, moves)
            record.moves.append(moves[position])
            state = problem.play(state, moves[position])
        return state, True

    def _legal(self, state: Any, depth: int) -> list[Any]:
        moves = list(self.problem.legal_moves(state))
        is_checked = self.store.counters[EVALUATIONS] < self.settings.n_checked
        if is_checked and len(set(moves)) < len(moves):
            raise self.error(REPEATED_MOVE, depth)
        return moves

    def follow(self, policy: int, slot: int, given: Any, at: int = EXACT) -> tuple[bool, Any]:
        """Play given moves into a slot, or from step `at` on others; tells whether they could be played."""
        state, depth = self._followed(policy, slot, self.solution(given), at)
        return depth is None, state

    def play_given(self, solution: Sequence[Any], policy: int, slot: int) -> Any:
        """Play a solution into a slot, pruned or not; raises if it cannot be played, returns the final state."""
        state, depth = self._followed(policy, slot, list(solution), UNPRUNED)
        if depth is not None:
            raise ProblemError(unfollowed_message(self.problem, solution, depth))
        return state

    def _followed(self, policy: int, slot: int, wanted: list[Any], at: int) -> tuple[Any, int | None]:
        """Play given moves into a slot; returns the final state, and the depth of the first illegal move."""
        problem, record = self.problem, PlayedSteps()
        chooser = self._deviating(wanted, record.moves, at) if at >= 0 else self._exactly(wanted, record.moves, at)
        try:
            state, is_final = self._walk(problem.initial_state(), chooser, record, policy)
            n_moves = len(record.moves)
            if not is_final or (at < 0 and n_moves < len(wanted)):
                return state, n_moves
            identity = checked_identity(problem, state)
        except ProblemError:
            raise
        except Exception as error:
            raise self.raised(error, len(record.moves)) from error
        self.record(slot, record, policy, identity)
        return state, None

    def _exactly(self, wanted: list[Any], played: list[Any], at: int) -> Chooser:
        """Return a chooser of the given moves, which must be legal, without pruning if `at` is UNPRUNED."""
        all_moves = self.problem.all_moves if at == UNPRUNED else None

        def choose(state: Any, moves: list[Any]) -> tuple[list[Any], int] | None:
            if (step := len(played)) >= len(wanted):
                return None
            if all_moves is not None and wanted[step] not in moves:
                moves = list(all_moves(state))
            return (moves, moves.index(wanted[step])) if wanted[step] in moves else None

        return choose

    def _deviating(self, wanted: list[Any], played: list[Any], at: int) -> Chooser:
        """Return a chooser of another move at the first decision from a step on, else the given move or a near one."""
        has_deviated = False

        def choose(state: Any, moves: list[Any]) -> tuple[list[Any], int]:
            nonlocal has_deviated
            step = len(played)
            if not has_deviated and step >= at and len(moves) > 1:
                has_deviated = True
                others = [i for i, move in enumerate(moves) if step >= len(wanted) or move != wanted[step]]
                return moves, others[int(self.draw() * len(others))]
            if step < len(wanted) and wanted[step] in moves:
                return moves, moves.index(wanted[step])
            near = next((move for move in wanted if move in moves), None)
            return moves, int(self.draw() * len(moves)) if near is None else moves.index(near)

        return choose

    # Without policies.

    def sample(self, rng: np.random.Generator) -> list[Any]:
        """Return the moves of a random playout of a search without policies, which is not evaluated."""
        record = PlayedSteps()
        try:
            with _Draws(rng, stays=False) as draws:
                self._walk(self.problem.initial_state(), self._by_bias(draws), record)
        except ProblemError:
            raise
        except Exception as error:
            raise self.raised(error, len(record.moves)) from error
        if not record.moves:
            raise self.error(NO_MOVE, 0)
        return record.moves

    def _by_bias(self, draws: _Draws) -> Chooser:
        """Return a chooser that draws by softmax of the bias, or uniformly without one."""

        def choose(state: Any, moves: list[Any]) -> tuple[list[Any], int]:
            n = len(moves)
            if n == 1:
                return moves, 0
            number = draws.draw()
            if self.bias is None:
                return moves, int(number * n)
            sums = self._sums(self._biases(0, state, moves))
            return moves, bisect_right(sums, number * sums[-1], 0, n - 1)

        return choose

    def _played(self, slot: int, n_given: int, purpose: int) -> int:
        """Play the first moves in a slot and, depending on the purpose, others drawn by the bias; returns a status."""
        record = PlayedSteps()
        try:
            record.moves = self.solution(self.store.pool.moves[slot, :n_given].tolist())
            status = self._rolled(slot, record, purpose)
            if status == OK and purpose == WHOLE and self._would_enter():
                return self._checked(record.moves)
            return status
        except _NeedsRoomError:
            raise
        except Exception as error:
            # An illegal move may raise any error in `play` or `evaluate`.
            with contextlib.suppress(Exception):
                if purpose == WHOLE and (status := self._checked(record.moves)) != OK:
                    return status
            if isinstance(error, ProblemError):
                raise
            raise self.raised(error, len(record.moves)) from error

    def _rolled(self, slot: int, record: PlayedSteps, purpose: int) -> int:
        problem = self.problem
        state = problem.initial_state()
        for move in record.moves:
            state = problem.play(state, move)
        if purpose == LOOK:
            legal = self.numbers(self._legal(state, len(record.moves)))
            self._fit(0, n_legal=len(legal))
            self.store.legal[: len(legal)] = legal
            self.store.n_legal[0] = len(legal)
            return OK
        if purpose == WHOLE and self._legal(state, len(record.moves)):
            self.store.counters[DEPTH] = len(record.moves)
            return INCOMPLETE
        with self._draws as draws:
            if purpose != WHOLE:
                state, _ = self._walk(state, self._by_bias(draws), record)
            self.record(slot, record, 0, checked_identity(problem, state))
            self.evaluate(slot, state)
        return OK

    def _would_enter(self) -> bool:
        archive = self.store.archive
        return bool(stored(would_enter)(archive.heads, archive.scores, self.store.pool.scores, HERE))

    def _checked(self, moves: list[Any]) -> int:
        depth = first_illegal(self.problem, moves)
        if depth is None:
            return OK
        self.store.counters[DEPTH] = depth
        return INCOMPLETE if depth == len(moves) else ILLEGAL_MOVE

    # Results of playouts.

    def evaluate(self, slot: int, state: Any) -> None:
        """Evaluate the final state of a slot, unless that is done."""
        scores = self.known(slot)
        self.store.pool.scores[slot] = self.judge(state) if scores is None else scores

    def judge(self, state: Any) -> list[float]:
        """Return the checked violations and minimised objectives of a complete solution."""
        try:
            value = self.problem.evaluate(state)
        except Exception as error:
            message = f"evaluate() of {problem_name(self.problem)} raised {type(error).__name__}: {error}."
            raise ProblemError(message) from error
        violations, values = checked_evaluation(self.problem, value)
        if not all(map(math.isfinite, values)):
            raise self.error(NOT_FINITE, 0)
        if not 0 <= violations < math.inf:
            raise self.error(BAD_VIOLATIONS, 0)
        return [violations, *map(operator.mul, self._sign_of, values)]

    def raised(self, error: Exception, depth: int) -> ProblemError:
        """Return an exception of a method of the problem as an error with its place."""
        name = problem_name(self.problem)
        return ProblemError(f"{name} raised {type(error).__name__} at depth {depth} of a playout: {error}.")

    def replay(self, solution: Sequence[Any]) -> Any:
        """Return the final state of a solution."""
        state = self.problem.initial_state()
        for move in solution:
            state = self.problem.play(state, move)
        return state

    def solution(self, numbers: Sequence[int]) -> list[Any]:
        """Return the moves of numbers."""
        if len(self._by_number) < len(self.moves):
            self._by_number = self.moves_met
        return [self._by_number[number] for number in numbers]

    def numbers(self, solution: Sequence[Any]) -> list[int]:
        """Return the numbers of moves."""
        keys = solution if _APART.isdisjoint(map(type, solution)) else map(_key, solution)
        return list(map(self.moves.__getitem__, keys))
