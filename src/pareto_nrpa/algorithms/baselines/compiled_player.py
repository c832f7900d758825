"""Baselines on a `CompiledProblem`.

The algorithms are written once, in `kernels`. Here they are compiled, and get a typed pointer to a rollout in which the
problem's kernels are bound.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

import numba
from numba import types

from ...engine.archive import check_archive, counting_archive, larger_archive, limited_archive
from ...engine.arrays import N_MOVES
from ...engine.compiled import CompiledAdapter
from ...engine.jit.kernels import Entry, bundle_kernel, with_globals
from .arena import arena_parts, depth_or_none
from .rollout import CHECK, HERE, PLAY, Arena, check_from, check_nothing, roll_from, rollout

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    import numpy as np

    from ...problem.base import CompiledProblem


class CompiledRollouts(CompiledAdapter):
    """Plays in an arena; one call of compiled code makes many evaluations."""

    STATE: ClassVar[dict[str, Any]] = {"arena": Arena}

    def __init__(self, problem: CompiledProblem, rng: np.random.Generator, bias: float) -> None:
        super().__init__(problem)
        assert problem.max_legal is not None
        self.rng = rng
        self.arena = Arena(**arena_parts(problem, bias, problem.max_moves, problem.max_legal))
        self._types = tuple(numba.typeof(x) for x in (self.parts, self.arena, self.rng))
        played = types.int64(*self._types, types.int64, types.int64)
        # Without a genotype nobody puts solutions together that would have to be checked.
        check = bundle_kernel(with_globals(check_from, **self.words)) if problem.genotype else check_nothing
        roll_out = bundle_kernel(with_globals(roll_from, **self.words))
        self._bound = {
            "roll_out": roll_out,
            "check_moves": check,
            "canonical": self.words["canonical"],
            **self.start,
        }
        self._rollout = self.bind(rollout, played, way_in="both", **self._bound)
        self._played = types.FunctionType(played)

    def entry(self, function: Callable[..., Any], *examples: Any) -> Callable[..., int]:
        """Return an algorithm as compiled code; `examples` show the types of the arguments after the rollout."""
        entry = self.bind(function, types.int64(*self._types, self._played, *_kinds(examples)))
        return lambda *arguments: self._run(entry, self.rng, self._rollout.pointer, *arguments)

    def small_entry(self, function: Callable[..., Any], *examples: Any) -> Callable[..., int]:
        """Return code for few evaluations a call: the rollout is part of it, as passing a pointer takes 0.2 ms."""
        bound = bundle_kernel(with_globals(rollout, **self._bound))
        entry = self.bind(function, types.int64(*self._types, *_kinds(examples)), play_to_end=bound)
        return lambda *arguments: self._run(entry, self.rng, *arguments)

    def _run(self, entry: Entry, rng: np.random.Generator, *arguments: Any) -> int:
        self.compile()
        return int(self.call(entry, self.arena, rng, *arguments))

    def restored(self) -> None:
        """Check what was restored."""
        check_archive(self.arena.archive, self.arena.counters)

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
        depth_or_none(self, self._run(self._rollout, rng, 0, PLAY))
        return self.solution(self.arena.moves[HERE, : self.arena.heads[HERE, N_MOVES]].tolist())

    def stops_at(self, solution: Sequence[int]) -> int | None:
        """Return the depth at which a solution cannot be played on, its length if it is not complete, or None."""
        self.arena.moves[HERE, : len(solution)] = solution
        return depth_or_none(self, self._run(self._rollout, self.rng, len(solution), CHECK))


def _kinds(examples: tuple[Any, ...]) -> list[Any]:
    """Return the types of arguments that look like these."""
    return [types.int64 if isinstance(example, int) else numba.typeof(example) for example in examples]
