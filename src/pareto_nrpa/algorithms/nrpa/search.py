"""A running search: advanced by a number of evaluations, asked and told from outside, saved and resumed."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import chain
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from ..._util.checks import check_whole, shown
from ...engine.archive import MOST_ARCHIVED, archived_rows
from ...engine.arrays import (
    EVALUATIONS,
    KEY,
    LAST_IMPROVEMENT,
    N_MOVES,
    NO_IDENTITY,
    POLICY,
    SIZE,
    VIOLATIONS,
    Archive,
    Settings,
    Store,
)
from ...engine.player import Player, new_player
from ...engine.softmax import MAX_BLOCK
from ...engine.store import checked_store, new_store
from ...engine.walk import ANY_POLICY
from ...errors import ProblemError
from ...problem.base import (
    AnyProblem,
    CompiledProblem,
    problem_name,
    without_pruning,
)
from ..search import Search
from .learner import Learner

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from numpy.typing import ArrayLike, NDArray

    from ...engine.plain import PlayedSteps
    from ..algorithm import Algorithm
    from .driven import Playout
    from .params import ParetoNRPA

# First sizes for a plain problem, whose sequences have an unknown length.
_PLAIN_CODES, _PLAIN_MOVES, _PLAIN_CANDIDATES = 256, 64, 256
_WHOLE_SEQUENCE = 2**62
_CHECKED_PLAYOUTS = 3
# A slice of this many candidate moves takes some hundredths of a second, between checks of clock and signals.
_CANDIDATES_PER_SLICE = 1_000_000
_MAX_SLICE = 1_000


@dataclass(frozen=True, eq=False)
class Candidate:
    """A sequence to evaluate, returned by `ask`; compared by identity, as its state may be of any type.

    If told as the k-th evaluation of a search, its `found_at` in the front is k.
    """

    solution: list[Any]
    policy: int
    state: Any  # the final state of a plain problem, None for a compiled one
    slot: int
    identity: int | None  # shared by equal solutions, if the problem defines it
    # Objectives and violations of a known solution, to be told again; only after `count_unique`.
    known: tuple[NDArray[np.float64], float] | None = None


class AskTellSearch(Search):
    """A search of Pareto-NRPA on one problem.

    Created by `ParetoNRPA.start`. Its state is the bundle of arrays `machine`, held by the player, and the generator
    `rng`.
    """

    #: Cooperating searches with a common front below this size exchange only when they make no progress.
    alone_below = 0
    accepts_solutions = True
    STATE: ClassVar[dict[str, Any]] = {"slots_asked": ["int < R"]}

    def __init__(
        self,
        problem: AnyProblem,
        params: ParetoNRPA,
        *,
        algorithm: Algorithm | None = None,
        seed: int,
        budget: int | None,
        objective_weights: NDArray[np.float64] | None = None,
    ) -> None:
        super().__init__(problem, params if algorithm is None else algorithm, seed=seed)
        self.params, self.budget = params, budget
        self.n_iterations = params.resolve_iterations(budget)
        self.pending: list[Candidate] = []
        self._slots_asked: list[int] = []  # of candidates to be created again
        self.settings = self._settings()
        played = problem if params.pruning else without_pruning(problem)
        self.player: Player = new_player(
            played, self._first_store(objective_weights), self.settings, self.rng, learns=True
        )
        self.learner = Learner(self.player)

    @property
    def machine(self) -> Store:
        """All arrays of the search."""
        return self.player.store

    @machine.setter
    def machine(self, store: Store) -> None:
        self.player.store = store

    def _settings(self) -> Settings:
        params, problem = self.params, self.problem
        has_bias = problem.bias is not None and params.bias != 0
        distinct_codes = isinstance(problem, CompiledProblem) and problem.distinct_codes
        bias_by_code = has_bias and isinstance(problem, CompiledProblem) and problem.bias_by_code
        return Settings(
            n_iterations=self.n_iterations,
            alpha=float(params.alpha),
            inverse_temperature=1.0 / params.temperature,
            bias_scale=float(params.bias),
            has_bias=has_bias and not bias_by_code,
            bias_by_code=bias_by_code,
            weigh_by_crowding=params.weighting == "crowding",
            adapt_all=params.adapt == "all",
            limited_repetitions=int(params.limited_repetitions),
            playouts_per_step=int(params.playouts_per_step),
            block=MAX_BLOCK if distinct_codes else _WHOLE_SEQUENCE,
            n_checked=_CHECKED_PLAYOUTS,
        )

    def _first_store(self, objective_weights: NDArray[np.float64] | None) -> Store:
        problem = self.problem
        if isinstance(problem, CompiledProblem):
            assert problem.max_legal is not None
            assert problem.max_candidates is not None
            sizes = (problem.n_codes, problem.max_moves, problem.max_legal, problem.max_candidates)
        else:
            sizes = (_PLAIN_CODES, _PLAIN_MOVES, _PLAIN_CANDIDATES, _PLAIN_CANDIDATES)
        n_codes, max_moves, max_legal, max_candidates = sizes
        return new_store(
            level=int(self.params.level),
            preferences=self.params.preference_matrix(problem),
            n_codes=n_codes,
            max_moves=max_moves,
            max_legal=max_legal,
            max_candidates=max_candidates,
            has_bias=self.settings.has_bias,
            bias_by_code=self.settings.bias_by_code,
            objective_weights=objective_weights,
        )

    @property
    def evaluations(self) -> int:
        """How many evaluations the search has learned from."""
        return int(self.player.store.counters[EVALUATIONS])  # read directly, at each evaluation

    @property
    def last_improvement(self) -> int:
        """The evaluation at which the archive last changed."""
        return int(self.player.store.counters[LAST_IMPROVEMENT])

    def _archived(self) -> tuple[Archive, NDArray[np.int64], Callable[[Sequence[int]], list[Any]]]:
        return self.machine.archive, self.machine.counters, self.player.solution

    def limit_archive(self, size: int) -> None:
        """Limit the size of the archive, from the start on."""
        check_whole("max_archive", size, 2, MOST_ARCHIVED)
        if self.evaluations:
            raise ValueError(f"max_archive must be set before the first evaluation, not after {self.evaluations:,}.")
        self.player.limit_archive(int(size))

    @property
    def slice_size(self) -> int:
        """A number of evaluations that is fast to make; depends on the problem only, never on time."""
        if not isinstance(self.problem, CompiledProblem):
            return 1
        return max(1, min(_MAX_SLICE, _CANDIDATES_PER_SLICE // int(self.machine.pool.codes.shape[1])))

    def advance(self, n: int) -> None:
        """Make n evaluations."""
        check_whole("n", n, 0)
        self.compile()
        self.learner.advance(n)

    @property
    def slots_asked(self) -> list[int]:
        """The slots of candidates asked for and not told."""
        return [candidate.slot for candidate in self.pending]

    @slots_asked.setter
    def slots_asked(self, slots: list[int]) -> None:
        self._slots_asked = slots

    def moves_held(self) -> list[NDArray[np.int64]]:
        """Return the solutions of a restored search: archived, in the sets of its levels, asked for."""
        archive, pool, levels = self.machine.archive, self.machine.pool, self.machine.levels
        members = (row[:size] for row, size in zip(self.machine.members, levels[:, SIZE], strict=True))
        places: list[tuple[Any, int]] = [(archive, row) for row in archived_rows(archive)]
        places += [(pool, slot) for slot in (*chain.from_iterable(members), *self.slots_asked)]
        return [held.moves[row, : held.heads[row, N_MOVES]] for held, row in places]

    def restored(self) -> None:
        """Check the restored state, and create the candidates asked for again."""
        slots, self._slots_asked = self._slots_asked, []
        self.machine = checked_store(self.machine, self.settings, slots)
        for slot in slots:
            state = self.player.replay(self._candidate(slot, None).solution)
            self.pending.append(self._candidate(slot, state))

    def __reduce__(self) -> Any:
        start, problem, state = super().__reduce__()
        return start, problem, (state, self.pending)

    def __setstate__(self, state: Any) -> None:
        tree, pending = state
        super().__setstate__(tree)
        self.pending = pending  # the same objects that callers hold

    def ask(self, n: int = 1) -> list[Candidate]:
        """Return n sequences to evaluate, all sampled with the current policies."""
        check_whole("n", n, 0)
        self.compile()
        asked: list[Candidate] = []
        for _ in range(n):
            try:
                asked.append(self._candidate(*self.propose()))
            except BaseException:
                for candidate in asked:
                    self.close_slot(candidate.slot)
                raise
        self.pending += asked
        return asked

    def propose(self) -> tuple[int, Any]:
        """Play a sequence to evaluate; returns its slot, and the final state of a plain problem."""
        with self.player.slot() as slot:
            return slot, self.player.play(int(ANY_POLICY), slot)

    def learn(self, slot: int) -> None:
        """Learn from a slot whose scores are known."""
        self.learner.learn(slot)

    def _candidate(self, slot: int, state: Any) -> Candidate:
        pool = self.machine.pool
        moves = pool.moves[slot, : pool.heads[slot, N_MOVES]].tolist()
        identity = None if pool.heads[slot, KEY] == NO_IDENTITY else int(pool.heads[slot, KEY])
        solution, policy = self.player.solution(moves), int(pool.heads[slot, POLICY])
        return Candidate(solution, policy, state, slot, identity, self._known(slot))

    def _known(self, slot: int) -> tuple[NDArray[np.float64], float] | None:
        """Return objectives and violations of a recorded solution that was evaluated before, or None."""
        scores = self.player.known(slot)
        return None if scores is None else (scores[1:] * self._signs, float(scores[VIOLATIONS]))

    def playout(self, *, policy: int | None = None, rng: np.random.Generator | None = None) -> Playout:
        """Return a playout controlled by the caller: `choose` for each choice, then `finish` and `tell`.

        Parameters
        ----------
        policy
            The number of the policy to play; drawn by default.
        rng
            Random generator; that of the search by default.
        """
        from .driven import Playout

        if isinstance(self.problem, CompiledProblem):
            raise ProblemError(f"{problem_name(self.problem)} is compiled; use ask() instead.")
        self.compile()
        draw, n_policies = self.player.draw if rng is None else rng.random, self.machine.weights.shape[1]
        if policy is None:
            policy = int(draw() * n_policies) if n_policies > 1 else 0
        check_whole("policy", policy, 0, n_policies - 1)
        return Playout(self, policy, draw)

    def candidate_from(self, record: PlayedSteps, policy: int) -> Candidate:
        """Return a sequence recorded code by code as a candidate."""
        player: Any = self.player
        with player.slot() as slot:
            player.record(slot, record, policy)
        candidate = self._candidate(slot, None)
        self.pending.append(candidate)
        return candidate

    def expect_add(self) -> None:
        """Let `compile` include what `add` needs."""
        self.player.expect_follow()
        self.learner.expect_add()

    def add(
        self,
        solution: Sequence[Any],
        objectives: ArrayLike | None = None,
        violations: float | None = None,
        *,
        policy: int | None = None,
    ) -> None:
        """Learn from a solution of other origin: a start, the front of another search.

        The highest level learns from it as from a result of the level below: unless covered, it enters the archive and
        the set of that level, and one step of learning is made towards it. It counts as an evaluation, not as an
        iteration of a level.

        Parameters
        ----------
        solution
            Its moves, all of them legal.
        objectives, violations
            Its evaluation; computed by the problem by default.
        policy
            The policy that learns from it; by default each in turn.
        """
        if objectives is None and violations is not None:
            raise ProblemError("violations require objectives; give both, or neither to let the problem evaluate.")
        solution = _listed("solution", "of moves", solution)
        self.expect_add()
        self.compile()
        given = None
        if objectives is not None:
            rows: Any = [objectives]
            given = self._scores([solution], rows, None if violations is None else [violations])[0]
        n_policies = self.machine.weights.shape[1]
        policy = self.evaluations % n_policies if policy is None else policy
        check_whole("policy", policy, 0, n_policies - 1)
        with self.player.slot() as slot:
            state = self.player.play_given(solution, policy, slot)
            if given is None:
                self.player.evaluate(slot, state)
            else:
                self.machine.pool.scores[slot] = given
        self.learner.learn_at_top(slot)

    def tell(
        self,
        candidates: Sequence[Candidate],
        objectives: ArrayLike,
        violations: ArrayLike | None = None,
    ) -> None:
        """Learn from evaluated candidates, in the given order; tell in the order asked for repeatable runs."""
        self.compile()
        candidates = _listed("candidates", "as ask() gives it", candidates)
        scores = self._scores(candidates, objectives, violations)
        self._check_pending(candidates, "tell")
        for candidate, row in zip(candidates, scores, strict=True):
            self.pending.remove(candidate)
            self.player.make_room()
            self.machine.pool.scores[candidate.slot] = row
            self.learn(candidate.slot)

    def _scores(
        self, candidates: Sequence[Any], objectives: ArrayLike, violations: ArrayLike | None
    ) -> NDArray[np.float64]:
        """Return violations and minimised objectives of candidates, a row each, or raise with the reason."""
        m = self.problem.n_objectives
        try:
            values = _as_floats(objectives)
        except (TypeError, ValueError) as error:
            message = f"objectives must be {m} numbers for each candidate; violations are the third argument."
            raise ProblemError(message) from error
        if values.ndim < 2 and m == 1:
            values = values.reshape(-1, 1)
        if values.shape != (len(candidates), m):
            raise ProblemError(f"objectives must have shape ({len(candidates)}, {m}), got {values.shape}.")
        try:
            counts = np.zeros(len(candidates)) if violations is None else _as_floats(violations)
        except (TypeError, ValueError) as error:
            raise ProblemError(f"violations must be numbers, got {shown(violations)}.") from error
        if counts.shape != (len(candidates),):
            raise ProblemError(f"violations must have one entry for each of the {len(candidates)} candidates.")
        if not np.isfinite(values).all() or not np.isfinite(counts).all() or (counts < 0).any():
            raise ProblemError("objectives and violations must be finite, and violations not negative.")
        return np.column_stack([counts, values * self._signs])

    def drop(self, candidates: Sequence[Candidate]) -> None:
        """Drop candidates that could not be evaluated: nothing is learned from them, and they are not counted."""
        candidates = _listed("candidates", "as ask() gives it", candidates)
        self._check_pending(candidates, "drop")
        for candidate in candidates:
            self.pending.remove(candidate)
            self.close_slot(candidate.slot)

    def _check_pending(self, candidates: Sequence[Candidate], word: str) -> None:
        distinct = {id(candidate) for candidate in candidates}
        if len(distinct) < len(candidates) or any(candidate not in self.pending for candidate in candidates):
            raise ProblemError(
                f"{word}() got a candidate of {problem_name(self.problem)} that is not pending in this search."
            )

    def adopt(self, solution: Sequence[Any], policy: int) -> bool:
        """Receive a solution of another search, as an evaluation; False if it cannot be played here."""
        self.compile()
        with self.player.slot() as slot:
            is_played, state = self.player.follow(policy, slot, self.player.numbers(solution))
            if is_played:
                self.player.evaluate(slot, state)
        if not is_played:
            self.close_slot(slot)
            return False
        self.welcome(slot)
        return True

    def welcome(self, slot: int) -> None:
        """Learn from a received solution."""
        self.learner.learn(slot)

    def close_slot(self, slot: int) -> None:
        """Release a slot whose sequence is not evaluated."""
        self.player.close_slot(slot)

    def parameters(self) -> dict[str, Any]:
        """Return the parameters with the value of N in use."""
        return {**self.algorithm.to_dict(), "iterations": self.n_iterations}


def _listed(name: str, kind: str, values: Iterable[Any]) -> list[Any]:
    """Return values as a new list: the argument may be `pending` itself, which changes meanwhile."""
    try:
        return list(values)
    except TypeError as error:
        raise ProblemError(f"{name} must be a list {kind}, got {shown(values)}.") from error


def _as_floats(values: ArrayLike) -> NDArray[np.float64]:
    """Return numbers as floats; text is refused, also if it looks like a number."""
    if np.asarray(values).dtype.kind in "US":
        raise TypeError("text is not a number")
    return np.asarray(values, dtype=float)
