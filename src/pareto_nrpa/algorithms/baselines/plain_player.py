"""Baselines on a `Problem`.

The algorithms are written once, in `kernels`. Here the same functions run as Python, with a rollout that calls the
problem's methods; the kernels of arrays that they call stay compiled.
"""

from __future__ import annotations

import contextlib
import math
from pathlib import Path
from types import FunctionType
from typing import TYPE_CHECKING, Any, ClassVar

import numba
import numpy as np
from numba import types

from ...engine.archive import check_archive, counting_archive, enlarge, larger_archive, limited_archive
from ...engine.arrays import (
    BAD_BIAS,
    DEPTH,
    EVALUATIONS,
    ILLEGAL_MOVE,
    INCOMPLETE,
    KEY,
    N_MOVES,
    NO_MOVE,
    OK,
    REPEATED_MOVE,
    TOO_LONG,
)
from ...engine.jit.kernels import interpreted, rebound
from ...engine.plain import PlainAdapter
from ...engine.softmax import PADDING
from ...errors import ProblemError
from ...problem.base import Problem, checked_identity
from ...problem.stepper import first_illegal
from .arena import arena_parts, depth_or_none
from .rollout import CHECK, HERE, LOOK, PLAY, WHOLE, Arena, draw, is_welcome

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

_FIRST_MOVES = 64
_CHECKED_PLAYOUTS = 3
_LOG2_E = math.log2(math.e)


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


class PlainRollouts(PlainAdapter):
    """Plays in an arena through the methods of the problem."""

    STATE: ClassVar[dict[str, Any]] = {"arena": Arena}

    def __init__(self, problem: Problem, rng: np.random.Generator, bias: float) -> None:
        super().__init__(problem, has_bias=bias != 0)
        self.rng = rng
        # Whole solutions are put there without a look at its size.
        max_moves = max(_FIRST_MOVES, len(problem.genotype.moves) if problem.genotype else 0)
        self.arena: Any = PlainArena(**arena_parts(problem, bias, max_moves, _FIRST_MOVES))
        self._draw = self.bind(draw, types.int64(types.float64[::1], types.int64, numba.typeof(rng)))
        heads, scores = types.int64[:, ::1], types.float64[:, ::1]
        self._is_welcome = self.bind(is_welcome, types.boolean(heads, scores, scores))

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

    def restored(self) -> None:
        """Check what was restored."""
        check_archive(self.arena.archive, self.arena.counters)

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
        depth_or_none(self, self._play(None, self.arena, rng, 0, PLAY))
        return self.solution(self.arena.moves[HERE, : self.arena.heads[HERE, N_MOVES]].tolist())

    def stops_at(self, solution: Sequence[Any]) -> int | None:
        """Return the depth at which a solution cannot be played on, its length if it is not complete, or None."""
        self.arena.moves[HERE, : len(solution)] = self.numbers(solution)
        return depth_or_none(self, self._play(None, self.arena, self.rng, len(solution), CHECK))

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
            with contextlib.suppress(Exception):
                if purpose == WHOLE and (status := self._check(n_given)) != OK:
                    return status
            if isinstance(error, ProblemError):
                raise
            raise self.raised(error, int(arena.counters[DEPTH])) from error

    def _would_enter(self) -> bool:
        archive = self.arena.archive
        return bool(self._is_welcome.call(archive.heads, archive.scores, self.arena.scores))

    def _check(self, n_given: int) -> int:
        depth = first_illegal(self.problem, self.solution(self.arena.moves[HERE, :n_given].tolist()))
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
        known = self.known(arena.archive, int(arena.heads[HERE, KEY]), arena.moves[HERE], depth)
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
