"""Back end of players for a `CompiledProblem`: its kernels are bound into the compiled loops."""

from __future__ import annotations

import math
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numba import types

from .._util.checks import shown
from ..errors import ProblemError
from ..problem.base import CompiledProblem, problem_name
from .arrays import (
    BAD_VIOLATIONS,
    DEPTH,
    HERE,
    ILLEGAL_MOVE,
    N_MOVES,
    NOT_FINITE,
    OK,
    VIOLATIONS,
    Settings,
    Store,
)
from .evaluated import no_identity
from .evaluation import check_scores, judge, no_bias, no_canonical
from .jit.bundles import bundle, unpacked
from .jit.kernels import bundle_kernel, compile_entry, python_function, small_kernel, with_globals
from .messages import compile_message, raised_message, unfit_data, unfollowed_message
from .player import Player
from .store import with_overrun
from .walk import (
    EXACT,
    SAMPLE,
    UNPRUNED,
    bound_walk,
    by_bias,
    by_policy,
    check_from,
    deviate,
    exactly,
    follow,
    look_from,
    play_once,
    sample_by_bias,
    sample_by_policy,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from ..problem.segments import Segments
    from .jit.kernels import Entry

_MAX_MOVE = 2**62

word: Any = None  # unbound, as the next, in the kernels below
data_class: Any = None


def on_bundle(kernel: Callable[..., Any], data: Any) -> Any:
    """Return a kernel of a problem for calls with a bundle, which is converted to its class of named tuples."""
    if python_function(kernel) is kernel:  # compiling is switched off
        return kernel
    return small_kernel(with_globals(_unpack_and_call, word=kernel, data_class=type(data)))


def segments_on_bundle(problem: CompiledProblem) -> Segments:
    """Return the segments of a problem with kernels for calls with bundles."""
    assert problem.segments is not None
    taking = {name: on_bundle(kernel, problem.data) for name, kernel in problem.segments.kernels.items()}
    return replace(problem.segments, **taking)


def _unpack_and_call(data, *arguments):  # type: ignore[no-untyped-def]  # compiled code
    return word(data_class(*unpacked(data)), *arguments)


class CompiledPlayer(Player):
    """Plays a `CompiledProblem`.

    Attributes
    ----------
    parts
        Its data as a bundle, whose type is known by names and kinds of its fields: the user's NamedTuple class is
        another type at each start, and code compiled for it would never be found again.
    words
        The kernels of the problem by the unbound names, with defaults for missing ones.
    """

    problem: CompiledProblem

    def __init__(
        self, problem: CompiledProblem, store: Store, settings: Settings, rng: np.random.Generator, learns: bool
    ) -> None:
        super().__init__(problem, with_overrun(store), settings, rng, learns)
        if message := unfit_data(problem):
            raise ProblemError(message)
        self.parts = bundle(type(problem.data))(*problem.data)
        own = {**problem.kernels, "all_moves": problem.all_moves or problem.legal_moves}
        taking = {name: on_bundle(function, problem.data) for name, function in own.items()}
        self.words: dict[str, Any] = {
            "bias": no_bias,
            "identity": no_identity,
            "canonical": no_canonical,
            **taking,
            "judge": small_kernel(with_globals(judge, evaluate=taking["evaluate"], signs=self._bound_signs())),
        }
        way: dict[str, Any] = {"way_in": "pointer", "walk": bound_walk(by_policy if learns else by_bias, self.words)}
        if not learns:
            look, check = (bundle_kernel(with_globals(kernel, **self.words)) for kernel in (look_from, check_from))
            way |= {"look": look, "check_moves": check, "canonical": self.words["canonical"]}
        self._play = self.bind(sample_by_policy if learns else sample_by_bias, self.played, **way)

    def _bound_signs(self) -> NDArray[np.float64]:
        """Return the signs as constants of the code: empty if all objectives are minimised."""
        return self.signs if (self.signs < 0).any() else np.zeros(0)

    def compile(self) -> None:
        """Compile what is not in the cache; an error names the kernel."""
        try:
            super().compile()
        except Exception as error:  # Numba has errors of many kinds
            raise ProblemError(compile_message(error, self.problem)) from error

    def call(self, entry: Entry, *arguments: Any) -> Any:
        """Call compiled code, in which a kernel of the problem may raise."""
        entry.compile()
        try:
            return entry.call(self.parts, *arguments)
        except Exception as error:
            raise ProblemError(raised_message(error, self.problem)) from error

    def solution(self, numbers: Sequence[int]) -> list[Any]:
        """Return the moves of numbers, which are equal here."""
        return list(numbers)

    def numbers(self, solution: Sequence[Any]) -> list[int]:
        """Return the numbers of moves of a genotype, or of a given solution."""
        for move in solution:
            if not isinstance(move, int | np.integer) or not -_MAX_MOVE < move < _MAX_MOVE:
                raise ProblemError(
                    f"genotype and given solutions of {problem_name(self.problem)} must have whole numbers as moves, "
                    f"because it is compiled, got {shown(move)}."
                )
        return list(solution)

    @cached_property
    def _play_once(self) -> Entry:
        """The entry for a playout from Python, compiled at first use, as few callers need it."""
        return compile_entry(play_once, types.int64(*self.played.args, types.FunctionType(self.played)))

    def _played_once(self, rng: np.random.Generator, policy: int, slot: int) -> None:
        """Play one sequence into a slot; the caller checks its evaluation."""
        given = self.store, self.settings, rng, policy, slot, 0, int(SAMPLE), self._play.pointer
        self._check_played(self.call(self._play_once, *given))

    def _check_played(self, status: int) -> None:
        if status not in (OK, NOT_FINITE, BAD_VIOLATIONS):
            raise self.error(status, int(self.store.counters[DEPTH]))

    def play(self, policy: int, slot: int) -> Any:
        """Play one sequence into a slot, not evaluated yet; without final state."""
        self._played_once(self.rng, policy, slot)
        return None

    def sample(self, rng: np.random.Generator) -> list[int]:
        """Return the moves of a random playout of a search without policies, which is not evaluated."""
        self.compile()
        self._played_once(rng, 0, HERE)
        return self.solution(self.store.pool.moves[HERE, : self.store.pool.heads[HERE, N_MOVES]].tolist())

    def expect_follow(self) -> None:
        """Let `compile` include what `follow` and `play` need."""
        if "_exactly" not in vars(self):
            self.entries += [self._exactly, self._play_once]

    @cached_property
    def _exactly(self) -> Entry:
        return self._following(exactly)

    @cached_property
    def _deviating(self) -> Entry:
        return self._following(deviate)

    def _following(self, chooser: Any) -> Entry:
        followed = types.int64(*self.kinds, types.int64, types.int64, types.int64[::1], types.int64)
        walk = bound_walk(chooser, self.words)
        return compile_entry(follow, followed, walk=walk, canonical=self.words["canonical"])

    def follow(self, policy: int, slot: int, given: Any, at: int = EXACT) -> tuple[bool, Any]:
        """Play given moves into a slot, or from step `at` on others; tells whether they could be played."""
        moves = np.array(given, dtype=np.int64)  # a copy, which is changed to its canonical form
        entry = self._exactly if at < 0 else self._deviating
        status = self.call(entry, self.store, self.settings, self.rng, policy, slot, moves, at)
        if status == ILLEGAL_MOVE:
            return False, None
        self._check_played(status)
        return True, None

    def replay(self, solution: Sequence[Any]) -> Any:
        """Return None: a compiled problem has no final state in Python."""
        return None

    def play_given(self, solution: Sequence[Any], policy: int, slot: int) -> Any:
        """Play a solution into a slot, pruned or not; raises if it cannot be played."""
        is_played, state = self.follow(policy, slot, self.numbers(solution), UNPRUNED)
        if not is_played:
            raise ProblemError(unfollowed_message(self.problem, solution, int(self.store.counters[DEPTH])))
        return state

    def evaluate(self, slot: int, state: Any) -> None:
        """Check the scores of a slot, which playing has filled in."""
        scores = self.store.pool.scores[slot].tolist()
        if not all(map(math.isfinite, scores)) or scores[VIOLATIONS] < 0:
            raise self.error(python_function(check_scores)(self.store.pool.scores[slot]), 0)
