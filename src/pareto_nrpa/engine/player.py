"""Players: play a problem in a store, with a back end for plain and one for compiled problems."""

from __future__ import annotations

from abc import ABC, abstractmethod
from contextlib import contextmanager
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar

import numba
import numpy as np
from numba import types

from ..errors import ProblemError
from ..problem.base import CompiledProblem, objective_signs
from ..problem.genotype import encoded, unplayable_message
from .archive import count, counting_archive, limited_archive
from .arrays import (
    BAD_BIAS,
    DEPTH,
    HERE,
    ILLEGAL_MOVE,
    INCOMPLETE,
    KEY,
    N_FREE,
    N_MOVES,
    NEEDS_ROOM,
    OK,
    STATUS,
    WRONG_LENGTH,
    Store,
)
from .evaluated import known_scores
from .jit.bundles import JIT_IS_OFF
from .jit.kernels import compile_entry
from .jit.together import compile_all
from .messages import overflow_message, status_message
from .store import checked_store, make_room
from .walk import EXACT

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from ..problem.base import AnyProblem
    from .arrays import Settings
    from .jit.kernels import Entry


def new_player(problem: AnyProblem, *given: Any, learns: bool) -> Player:
    """Return the player of a problem in a store, with given settings and generator."""
    from .compiled import CompiledPlayer
    from .plain import PlainPlayer

    kind: Any = CompiledPlayer if isinstance(problem, CompiledProblem) else PlainPlayer
    player: Player = kind(problem, *given, learns)
    return player


def _kind(example: Any) -> Any:
    """Return the type of an example."""
    if isinstance(example, types.Type):
        return example
    return types.int64 if isinstance(example, int) else numba.typeof(example)


class Player(ABC):
    """Plays a problem into slots of a store. Objectives are minimised from here on.

    Attributes
    ----------
    problem, settings, rng
        The problem, the settings, and the generator of all random numbers.
    store
        All arrays of the search, replaced by larger ones when full.
    parts
        The data of the problem for compiled code.
    learns
        Whether it plays by policies and records the input of Adapt; else by the bias, in one slot.
    signs
        -1 for each objective that is maximised, else 1.
    entries
        All compiled code that is called.
    """

    STATE: ClassVar[dict[str, Any]] = {"store": Store}
    parts: Any
    #: The function that compiled code calls to play; bound by a subclass.
    _play: Entry

    def __init__(
        self, problem: AnyProblem, store: Store, settings: Settings, rng: np.random.Generator, learns: bool
    ) -> None:
        self.problem, self.store, self.settings, self.rng, self.learns = problem, store, settings, rng, learns
        self.signs = objective_signs(problem)
        self.entries: list[Entry] = []
        self._n_compiled = 0

    def restored(self) -> None:
        """Check a restored state."""
        self.store = checked_store(self.store, self.settings, [])

    @cached_property
    def kinds(self) -> tuple[Any, ...]:
        """The types of the first arguments of all loops: parts, store, settings, generator."""
        arguments = (self.parts, self.store, self.settings, self.rng)
        if JIT_IS_OFF:  # nothing is compiled, and the callback of a plain problem has no type
            return (types.int64,) * len(arguments)
        return tuple(map(numba.typeof, arguments))

    @property
    def played(self) -> Any:
        """The type of the function that loops call to play: policy, slot, number of given moves, purpose."""
        return types.int64(*self.kinds, *[types.int64] * 4)

    @cached_property
    def count(self) -> Entry:
        """The compiled function that counts an evaluated slot and offers it to the archive."""
        return self.bind(count, types.void(self.kinds[1], types.int64), way_in="both")

    def bind(self, function: Callable[..., Any], signature: Any, **options: Any) -> Entry:
        """Return a function as an entry, compiled together with the others."""
        entry = compile_entry(function, signature, **options)
        self.entries.append(entry)
        return entry

    def loop(self, function: Callable[..., Any], *examples: Any) -> Callable[..., int]:
        """Return a loop over evaluations as compiled code; `examples` have the types of its own arguments but the last.

        It returns the number of evaluations made, or the next row, and is called again until all are made. After an
        early return arrays are grown, or an error of the problem is raised.
        """
        counted = types.FunctionType(types.void(self.kinds[1], types.int64))
        extra = [_kind(example) for example in examples]
        signature = types.int64(*self.kinds, types.FunctionType(self.played), counted, *extra, types.int64)
        entry = self.bind(function, signature)
        return lambda *arguments: self.run(entry, self.count.pointer, *arguments)

    def run(self, entry: Entry, *arguments: Any) -> int:
        """Call a loop, then grow arrays or raise as its status requires."""
        self.compile()
        done: int = self.call(entry, self.store, self.settings, self.rng, self._play.pointer, *arguments)
        self.check()
        return done

    def call(self, entry: Entry, *arguments: Any) -> Any:
        """Call compiled code that plays the problem."""
        return entry(self.parts, *arguments)

    def compile(self) -> None:
        """Compile what is not in the cache."""
        self.count  # noqa: B018 - bound, that it may be compiled
        if self._n_compiled < len(self.entries):
            compile_all(self.entries)
            self._n_compiled = len(self.entries)

    def check(self) -> None:
        """Grow arrays if compiled code needs room; raise if the problem violates its interface."""
        counters = self.store.counters
        status, counters[STATUS] = int(counters[STATUS]), OK
        if status == NEEDS_ROOM:
            self.make_room()
        elif status != OK:
            raise self.error(status, int(counters[DEPTH]))

    def make_room(self) -> None:
        """Grow the store for at least one more evaluation."""
        self.store = make_room(self.store)

    def open_slot(self) -> int:
        """Take a slot for a sequence."""
        self.make_room()
        counters = self.store.counters
        counters[N_FREE] -= 1
        return int(self.store.free[counters[N_FREE]])

    def close_slot(self, slot: int) -> None:
        """Release a slot."""
        self.store.free[self.store.counters[N_FREE]] = slot
        self.store.counters[N_FREE] += 1

    @contextmanager
    def slot(self) -> Iterator[int]:
        """Take a slot, and release it after an exception."""
        slot = self.open_slot()
        try:
            yield slot
        except BaseException:
            self.close_slot(slot)
            raise

    def draw(self) -> float:
        """Return the next random number."""
        return self.rng.random()

    def settle(self) -> None:
        """Leave the generator as if numbers were drawn one by one."""
        return

    def expect_follow(self) -> None:
        """Let `compile` include what `follow` and `play` need."""
        return

    @abstractmethod
    def play(self, policy: int, slot: int) -> Any:
        """Play one sequence into a slot, not evaluated yet; returns the final state of a plain problem."""

    @abstractmethod
    def follow(self, policy: int, slot: int, given: Any, at: int = EXACT) -> tuple[bool, Any]:
        """Play given moves into a slot, or from step `at` on others; tells whether they could be played."""

    @abstractmethod
    def play_given(self, solution: Sequence[Any], policy: int, slot: int) -> Any:
        """Play a solution into a slot, pruned or not; raises if it cannot be played, returns the final state."""

    @abstractmethod
    def evaluate(self, slot: int, state: Any) -> None:
        """Ensure that a slot has its scores."""

    @abstractmethod
    def sample(self, rng: np.random.Generator) -> list[Any]:
        """Return the moves of a random playout of a search without policies, which is not evaluated."""

    @abstractmethod
    def replay(self, solution: Sequence[Any]) -> Any:
        """Return the final state of a solution of a plain problem."""

    @abstractmethod
    def solution(self, numbers: Sequence[int]) -> list[Any]:
        """Return the moves behind their numbers."""

    @abstractmethod
    def numbers(self, solution: Sequence[Any]) -> list[int]:
        """Return the numbers of moves."""

    def known(self, slot: int) -> Any:
        """Return the scores of a recorded solution that was evaluated before, where solutions are counted, or None."""
        archive, pool = self.store.archive, self.store.pool
        if archive.keys.size == 0:
            return None
        heads = pool.heads[slot]
        return known_scores(archive.keys, archive.key_scores, int(heads[KEY]), pool.moves[slot], int(heads[N_MOVES]))

    def count_unique(self) -> None:
        """Count every solution once, from the start on."""
        self.store = self.store._replace(archive=counting_archive(self.store.archive))

    def limit_archive(self, size: int) -> None:
        """Limit the size of the archive, from the start on."""
        self.store = self.store._replace(archive=limited_archive(self.store.archive, self.store.counters, size))

    def error(self, status: int, depth: int) -> BaseException:
        """Return the error for an invalid problem, or for overflowed weights."""
        weights, starts = self.store.weights, self.store.starts
        is_met = np.isfinite(starts) if self.settings.bias_by_code else True  # NaN: a code without a weight yet
        if status == BAD_BIAS and (~np.isfinite(weights) & is_met).any():
            return ProblemError(overflow_message(self.settings.alpha, self.problem))
        if status in (WRONG_LENGTH, ILLEGAL_MOVE, INCOMPLETE):
            return self._whole_error(status, depth)
        return ProblemError(status_message(status, self.problem, depth))

    def _whole_error(self, status: int, depth: int) -> ProblemError:
        """Return the error for a solution that the genotype allows, and that cannot be played."""
        genotype, moves = self.problem.genotype, self.store.pool.moves[HERE]
        assert genotype is not None
        if status == WRONG_LENGTH:
            encoded(self.problem, self.solution(moves[: self.store.pool.heads[HERE, N_MOVES]].tolist()))  # raises
        solution = self.solution(moves[: len(genotype.moves)].tolist())
        return ProblemError(unplayable_message(self.problem, solution, depth))
