"""Problems as baselines play them: in an arena, by the kernels of a `CompiledProblem` or the methods of a `Problem`.

The algorithms are written once, in `kernels`. For a compiled problem they are compiled, and get a typed pointer to a
rollout in which the problem's kernels are bound; for a plain one the same functions run as Python, with a rollout that
calls the problem's methods.
"""

from __future__ import annotations

import math
from pathlib import Path
from types import FunctionType
from typing import TYPE_CHECKING, Any

import numba
import numpy as np
from numba import types

from ..exceptions import ProblemError
from ..genotype import encoded, stops_at_depth, unplayable_message
from ..kernels._jit import Entry, allocating_kernel, bundle_kernel, interpreted, rebound, with_globals
from ..kernels.archive import counting_archive, enlarge, larger_archive, limited_archive, new_archive
from ..kernels.baselines.rollout import (
    CHECK,
    HERE,
    LOOK,
    PLAY,
    WHOLE,
    Arena,
    check_from,
    check_nothing,
    draw,
    is_welcome,
    roll_from,
    rollout,
)
from ..kernels.bundles import (
    BAD_BIAS,
    DEPTH,
    EVALUATIONS,
    ILLEGAL_MOVE,
    INCOMPLETE,
    KEY,
    N_ARCHIVED,
    N_COUNTERS,
    N_HEADS,
    N_MOVES,
    NEEDS_ROOM,
    NO_MOVE,
    OK,
    REPEATED_MOVE,
    STATUS,
    TOO_LONG,
    WRONG_LENGTH,
)
from ..kernels.evaluation import new_room
from ..kernels.seen import known_scores
from ..kernels.softmax import PADDING
from ..play.compiled import CompiledAdapter
from ..play.plain import PlainAdapter
from ..problem import (
    AnyProblem,
    CompiledProblem,
    Problem,
    checked_identity,
    paper_preference,
    without_pruning,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

_FIRST_MOVES = 64
_CHECKED_PLAYOUTS = 3
_OVERRUN = 4096
_LOG2_E = math.log2(math.e)


def _arena_parts(problem: AnyProblem, bias: float, max_moves: int, max_legal: int) -> dict[str, Any]:
    m = problem.n_objectives
    return {
        "moves": np.zeros((1, max_moves), dtype=np.int64),
        "heads": np.zeros((1, N_HEADS), dtype=np.int64),
        "scores": np.zeros((1, 1 + m)),
        # Room behind the end: a problem that fills in too many moves is told so, instead of crashing.
        "legal": np.zeros(max_legal + _OVERRUN, dtype=np.int64)[:max_legal],
        "probabilities": new_room(max_legal, m),
        "n_legal": np.zeros(1, dtype=np.int64),
        "preference": paper_preference(problem),
        "bias_scale": np.array([bias if problem.bias is not None else 0.0]),
        "counters": np.zeros(N_COUNTERS, dtype=np.int64),
        "archive": new_archive(m, max_moves),
    }


class CompiledPlayer(CompiledAdapter):
    """Plays in an arena; one call of compiled code makes many evaluations."""

    def __init__(self, problem: CompiledProblem, rng: np.random.Generator, bias: float) -> None:
        super().__init__(problem)
        assert problem.max_legal is not None
        self.rng = rng
        self.arena = Arena(**_arena_parts(problem, bias, problem.max_moves, problem.max_legal))
        self._types = tuple(numba.typeof(x) for x in (self.parts, self.arena, self.rng))
        played = types.int64(*self._types, types.int64, types.int64)
        # Without a genotype nobody puts solutions together that would have to be checked.
        check = bundle_kernel(with_globals(check_from, **self.words)) if problem.genotype else check_nothing
        roll_out = bundle_kernel(with_globals(roll_from, **self.words))
        self._bound = {"roll_out": roll_out, "check_moves": check, **self.start}
        self._rollout = self.bind(rollout, played, allocates=True, **self._bound)
        self._played = types.FunctionType(played)

    def entry(self, function: Callable[..., Any], *examples: Any) -> Callable[..., int]:
        """Return an algorithm as compiled code; `examples` show the types of the arguments after the rollout."""
        entry = self.bind(function, types.int64(*self._types, self._played, *_kinds(examples)))
        return lambda *arguments: self._run(entry, self.rng, self._rollout.pointer, *arguments)

    def small_entry(self, function: Callable[..., Any], *examples: Any) -> Callable[..., int]:
        """Return code for few evaluations a call: the rollout is part of it, as passing a pointer takes 0.2 ms."""
        bound = allocating_kernel(with_globals(rollout, **self._bound))
        entry = self.bind(function, types.int64(*self._types, *_kinds(examples)), play_to_end=bound)
        return lambda *arguments: self._run(entry, self.rng, *arguments)

    def _run(self, entry: Entry, rng: np.random.Generator, *arguments: Any) -> int:
        self.compile()
        return int(self.call(entry, self.arena, rng, *arguments))

    def make_room(self) -> None:
        """Give archive and log room for at least one more evaluation."""
        self.arena = self.arena._replace(archive=larger_archive(self.arena.archive, self.arena.counters))

    def count_unique(self) -> None:
        """Count every solution once, from the start on."""
        self.arena = self.arena._replace(archive=counting_archive(self.arena.archive))

    def limit_archive(self, size: int) -> None:
        """Let the archive never hold more than so many solutions, from the start on."""
        self.arena = self.arena._replace(archive=limited_archive(self.arena.archive, self.arena.counters, size))

    def playout(self, rng: np.random.Generator) -> list[int]:
        """Return the moves of a random playout, which is not evaluated."""
        _depth_or_none(self, self._run(self._rollout, rng, 0, PLAY))
        return self.solution(self.arena.moves[HERE, : self.arena.heads[HERE, N_MOVES]].tolist())

    def stops_at(self, solution: Sequence[int]) -> int | None:
        """Return the depth at which a solution cannot be played on, its length if it is not complete, or None."""
        self.arena.moves[HERE, : len(solution)] = solution
        return _depth_or_none(self, self._run(self._rollout, self.rng, len(solution), CHECK))


def _kinds(examples: tuple[Any, ...]) -> list[Any]:
    """Return the types of arguments that look like these."""
    return [types.int64 if isinstance(example, int) else numba.typeof(example) for example in examples]


class PlainArena:
    """The arena of a plain problem: the same names, but arrays that may be exchanged for larger ones at any time."""

    def __init__(self, **parts: Any) -> None:
        self.__dict__.update(parts)


class _CalledKernel:
    """A kernel that an algorithm calls from Python, compiled at the first call: `rehearsal` sees to that."""

    def __init__(self, kernel: Any) -> None:
        self._kernel = kernel

    def is_ready(self) -> bool:
        """Tell whether the first call compiles nothing: it was made, or the kernel is stored on disk."""
        folder, name = Path(self._kernel.stats.cache_path), self._kernel.py_func.__name__
        return bool(self._kernel.overloads) or any(folder.glob(f"*{name}-*.nbi"))

    def compile(self) -> None:
        """Do nothing: only a call shows the types."""


def _called_kernels(function: Any) -> Iterator[Any]:
    """Yield the kernels that an interpreted function calls, and those that it calls in turn."""
    for name in function.__code__.co_names:
        value = function.__globals__.get(name)
        if isinstance(value, FunctionType) and value.__module__.startswith(__package__.partition(".")[0]):
            yield from _called_kernels(value)
        elif hasattr(value, "overloads"):
            yield value


class PlainPlayer(PlainAdapter):
    """Plays in an arena through the methods of the problem."""

    def __init__(self, problem: Problem, rng: np.random.Generator, bias: float) -> None:
        super().__init__(problem, has_bias=bias != 0)
        self.rng = rng
        # Whole solutions are put there without a look at its size.
        max_moves = max(_FIRST_MOVES, len(problem.genotype.moves) if problem.genotype else 0)
        self.arena: Any = PlainArena(**_arena_parts(problem, bias, max_moves, _FIRST_MOVES))
        self._draw = self.bind(draw, types.int64(types.float64[::1], types.int64, numba.typeof(rng)))
        scores = types.float64[:, ::1]
        self._is_welcome = self.bind(is_welcome, types.boolean(scores, types.int64, scores))

    def entry(self, function: Callable[..., Any], *examples: Any) -> Callable[..., int]:
        """Return an algorithm as a Python function."""
        run = self._interpreted(function)
        return lambda *arguments: int(run(None, self.arena, self.rng, self._play, *arguments))

    def small_entry(self, function: Callable[..., Any], *examples: Any) -> Callable[..., int]:
        """Return an algorithm as a Python function that knows its rollout."""
        run = rebound(self._interpreted(function), play_to_end=self._play)
        return lambda *arguments: int(run(None, self.arena, self.rng, *arguments))

    def _interpreted(self, function: Callable[..., Any]) -> Any:
        run = interpreted(function)
        self.entries += [_CalledKernel(kernel) for kernel in _called_kernels(run)]
        return run

    def make_room(self) -> None:
        """Give archive and log room for at least one more evaluation."""
        self.arena.archive = larger_archive(self.arena.archive, self.arena.counters)

    def count_unique(self) -> None:
        """Count every solution once, from the start on, and look up those evaluated before."""
        self.arena.archive = counting_archive(self.arena.archive)

    def limit_archive(self, size: int) -> None:
        """Let the archive never hold more than so many solutions, from the start on."""
        self.arena.archive = limited_archive(self.arena.archive, self.arena.counters, size)

    def playout(self, rng: np.random.Generator) -> list[Any]:
        """Return the moves of a random playout, which is not evaluated."""
        _depth_or_none(self, self._play(None, self.arena, rng, 0, PLAY))
        return self.solution(self.arena.moves[HERE, : self.arena.heads[HERE, N_MOVES]].tolist())

    def stops_at(self, solution: Sequence[Any]) -> int | None:
        """Return the depth at which a solution cannot be played on, its length if it is not complete, or None."""
        self.arena.moves[HERE, : len(solution)] = self.numbers(solution)
        return _depth_or_none(self, self._play(None, self.arena, self.rng, len(solution), CHECK))

    def _play(self, parts: None, arena: Any, rng: np.random.Generator, n_given: int, purpose: Any) -> int:
        """Do for a plain problem what `kernels.baselines.rollout` does for a compiled one."""
        self.compile()
        try:
            if purpose == CHECK:
                return self._check(n_given)
            status = self._play_out(arena, rng, n_given, purpose)
            if status == OK and purpose == WHOLE and self._would_enter():
                return self._check(n_given)
            return status
        except Exception as error:
            # A move that is not legal may lead to any error, in `play` or in `evaluate`.
            if purpose == WHOLE and self._check(n_given) != OK:
                return self._check(n_given)
            if isinstance(error, ProblemError):
                raise
            raise self.raised(error, int(arena.counters[DEPTH])) from error

    def _would_enter(self) -> bool:
        archive, counters = self.arena.archive, self.arena.counters
        return bool(self._is_welcome.call(archive.scores, int(counters[N_ARCHIVED]), self.arena.scores))

    def _check(self, n_given: int) -> int:
        depth = stops_at_depth(self.problem, self.solution(self.arena.moves[HERE, :n_given].tolist()))
        if depth is None:
            return OK
        self.arena.counters[DEPTH] = depth
        return INCOMPLETE if depth == n_given else ILLEGAL_MOVE

    def _play_out(self, arena: Any, rng: np.random.Generator, n_given: int, purpose: Any) -> int:
        problem = self.problem
        state = problem.initial_state()
        for move in self.solution(arena.moves[HERE, :n_given].tolist()):
            state = problem.play(state, move)
        depth = n_given
        while True:
            legal = list(problem.legal_moves(state))
            arena.counters[DEPTH] = depth
            if arena.counters[EVALUATIONS] < _CHECKED_PLAYOUTS and len(set(legal)) < len(legal):
                return REPEATED_MOVE
            if depth == n_given:
                self._show_legal(legal)
                if purpose == LOOK:
                    return OK
            if not legal:
                break
            if purpose == WHOLE:
                return INCOMPLETE
            if depth == problem.max_moves:
                return TOO_LONG
            move = legal[0]
            if len(legal) > 1:
                position = self._choose(state, legal, rng)
                if position < 0:
                    return BAD_BIAS
                move = legal[position]
            if depth == arena.moves.shape[1]:
                self._lengthen()
            arena.moves[HERE, depth] = self.moves[move]
            depth += 1
            state = problem.play(state, move)
        if depth == 0:
            return NO_MOVE
        arena.heads[HERE, N_MOVES] = depth
        if purpose == PLAY:
            return OK
        arena.heads[HERE, KEY] = checked_identity(problem, state)
        known = known_scores(
            arena.archive.keys, arena.archive.key_scores, arena.heads[HERE, KEY], arena.moves[HERE], depth
        )
        if known is not None:
            arena.scores[HERE] = known
            return OK
        arena.scores[HERE] = self.judge(state)
        return OK

    def _choose(self, state: Any, legal: list[Any], rng: np.random.Generator) -> int:
        exponents = np.zeros(len(legal) + PADDING)
        if self.bias is not None:
            scale = self.arena.bias_scale[0] * _LOG2_E
            exponents[: len(legal)] = [scale * self.bias(state, move, self.arena.preference) for move in legal]
        return int(self._draw.call(exponents, len(legal), rng))

    def _show_legal(self, legal: list[Any]) -> None:
        arena = self.arena
        if len(legal) > arena.legal.size:
            arena.legal = np.zeros(2 * len(legal), dtype=np.int64)
        arena.legal[: len(legal)] = self.numbers(legal)
        arena.n_legal[0] = len(legal)

    def _lengthen(self) -> None:
        arena, archive = self.arena, self.arena.archive
        length = 2 * arena.moves.shape[1]
        arena.moves = enlarge(arena.moves, 1, length)
        arena.archive = archive._replace(moves=enlarge(archive.moves, archive.moves.shape[0], length))


Player = CompiledPlayer | PlainPlayer


def new_player(problem: AnyProblem, rng: np.random.Generator, bias: float, pruning: bool) -> Player:
    """Return who plays a problem, with its legal moves or with all that could be."""
    played = problem if pruning else without_pruning(problem)
    return CompiledPlayer(played, rng, bias) if isinstance(played, CompiledProblem) else PlainPlayer(played, rng, bias)


def check_status(player: Player) -> None:
    """Make room if that is what compiled code asks for; raise if the problem broke a promise."""
    counters, moves = player.arena.counters, player.arena.moves[HERE]
    status, depth = int(counters[STATUS]), int(counters[DEPTH])
    counters[STATUS] = OK
    if status == NEEDS_ROOM:
        player.make_room()
    elif status == WRONG_LENGTH:
        encoded(player.problem, player.solution(moves[: player.arena.heads[HERE, N_MOVES]].tolist()))
    elif status in (ILLEGAL_MOVE, INCOMPLETE):
        assert player.problem.genotype is not None
        solution = player.solution(moves[: len(player.problem.genotype.moves)].tolist())
        raise ProblemError(unplayable_message(player.problem, solution, depth))
    elif status != OK:
        raise player.error(status, depth)


def _depth_or_none(player: Player, status: int) -> int | None:
    """Return where a solution that was checked cannot be played, or None; raise if that is not what is wrong."""
    if status in (ILLEGAL_MOVE, INCOMPLETE):
        return int(player.arena.counters[DEPTH])
    player.arena.counters[STATUS] = status
    check_status(player)
    return None
