"""Local search on plain problems with a genotype: solutions are lists, changed and evaluated directly."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any, ClassVar, NamedTuple

import numpy as np

from ...engine.arrays import EVALUATIONS, NO_IDENTITY
from ...engine.evaluated import known_scores
from ...engine.plain import PlainPlayer, PlayedSteps
from ...engine.state import need
from ...engine.walk import ANY_POLICY
from ...problem.builders import BuiltProblem
from ...problem.genotype import Permutation
from .chains import Chains
from .change_search import ChangeSearch
from .credit import LEAST_CREDIT
from .operators import options_of
from .proposer import PLAYOUT, Proposal
from .solution_front import COVERED, NEW, solution_front
from .solution_judge import SolutionJudge

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ...problem.base import AnyProblem
    from .search import PolishedSearch
    from .solution_front import Scores

# Number of first solutions: playouts if there is a bias, otherwise random ones.
_STARTS = 20
# From this many evaluations on there are chains, and at most one playout in so many evaluations.
_LATE, _PLAYOUT_EVERY = 3_000, 500
# Cost of a playout in changes, in proportion to the moves of a permutation longer than usual, as a playout computes a
# code for each pair of moves; and least credit of playouts for which policies learn.
_PLAYOUT_COST, _USUAL_LENGTH, _LEARNING_CREDIT = 10.0, 50, 0.001
# The share of chains follows their success at this rate, between these bounds.
_RATE, _LEAST_CHAINS, _MOST_CHAINS = 0.0005, 0.25, 0.75
# Largest number of stored scores; above it all are dropped, so that memory is bounded.
_MOST_KNOWN = 100_000
_NO_SLOT = -1
#: Instead of scores, for solutions that cannot be played.
_REFUSED: tuple[float, ...] = (np.inf,)


class Met(NamedTuple):
    """Known solutions by their keys: with scores, pending, or not playable."""

    keys: Annotated[np.ndarray, "i8 [met]"]
    scores: Annotated[np.ndarray, "f8 [met, 1+M]"]
    awaited: Annotated[np.ndarray, "i8 [*]"]
    refused: Annotated[np.ndarray, "i8 [*]"]


class _Candidate(NamedTuple):
    """A solution to evaluate, or a known one if none was found."""

    moves: list[int]
    kind: int
    key: int
    played: tuple[int, Any] | None  # the slot and the final state of a playout


class SolutionSearch(ChangeSearch):
    """Proposes changed solutions of the front, steps of chains, and playouts.

    Solutions that do not enter the front are only counted, without slot, codes and learning. After the kinds of changes
    come two more: a step of a chain, and a random start.
    """

    STATE: ClassVar[dict[str, Any]] = {
        "_next_playout": "int < 0:",
        "_n": "int < 0:",
        "_rates": "floats [=]",
        "met": Met,
        "_front": "component",
        "_chains": "component",
    }

    def __init__(self, search: PolishedSearch) -> None:
        player, genotype = search.player, search.problem.genotype
        assert isinstance(player, PlainPlayer)
        longer = len(genotype.moves) / _USUAL_LENGTH if isinstance(genotype, Permutation) else 1.0
        cost = _PLAYOUT_COST * max(1.0, longer)
        # Without a bias playouts have no credit until one succeeds.
        super().__init__(search, first=LEAST_CREDIT if player.bias is None else 1.0, first_cost=cost)
        self._player = player
        self._numbers = player.numbers(genotype.moves) if isinstance(genotype, Permutation) else []
        self._sorted, self._allowed = sorted(self._numbers), [set(step) for step in self._options]
        self._chain_kind = self._n_kinds
        self._front = solution_front(search, self._fits, self._numbers or [step[0] for step in self._options])
        self._chains = Chains(self._single, player.draw, search.problem.n_objectives)
        self._judge = SolutionJudge(player)
        self._known: dict[int, Scores | None] = {}  # by key; None for pending candidates
        self._rates = [0.01, 0.01]  # success rates of chains and other proposals
        self._next_playout = 0
        self._n = 0  # evaluations
        self._n_uncounted = 0  # of these, not yet counted by the search

    @staticmethod
    def is_possible(problem: AnyProblem) -> bool:
        """Tell whether solutions of a problem can be evaluated as lists, and are identified by them."""
        return problem.genotype is not None and problem.identity is None and problem.all_moves is None

    def compile(self) -> None:
        """Compile comparisons of solutions, and a function of the problem for Numba."""
        if isinstance(self._player.problem, BuiltProblem):
            self._player.problem.compile()
        self._front.compile()
        super().compile()

    def look_at(self, solutions: Sequence[Sequence[Any]]) -> None:
        """Detect by some playouts how solutions can be evaluated."""
        self._judge.look_at([*solutions, *self._search.problem.genotype.examples()])  # type: ignore[union-attr]  # is_possible

    def _begin(self) -> None:
        """Update from the archive and from other searches."""
        self._n = self._search.evaluations
        self._front.follow()

    def advance(self, n: int) -> None:
        """Make n evaluations."""
        self._begin()
        is_counting = self._search.machine.archive.keys.size > 0
        try:
            for _ in range(n):
                one = self._candidate()
                scores = self._known.get(one.key)
                if scores is not None:
                    self._n_uncounted += 1
                elif one.played is not None:
                    self._flush()
                    self._evaluate_playout(one)
                else:
                    self._evaluate(one, is_counting)
                self._n += 1
        finally:
            self._flush()

    def _flush(self) -> None:
        """Count the evaluations made."""
        if self._n_uncounted:
            self._search.machine.counters[EVALUATIONS] += self._n_uncounted
            self._n_uncounted = 0

    def _evaluate_playout(self, one: _Candidate) -> None:
        assert one.played is not None
        search, (slot, state) = self._search, one.played
        try:
            self._player.evaluate(slot, state)
        except BaseException:
            search.close_slot(slot)
            raise
        search.learn_from(slot, PLAYOUT)
        self._front.follow()

    def _evaluate(self, one: _Candidate, is_counting: bool) -> None:
        """Evaluate a solution; it is recorded and counted by the search if it may enter the front, or all must be."""
        scores = self._looked_up(one.moves) if is_counting else None
        if scores is None:
            scores = self._judge.scores(one.moves)
        standing, slot = COVERED if scores is None else self._front.standing(scores), _NO_SLOT
        if scores is not None and (standing == NEW or is_counting):
            slot, scores = self._record(one.moves, scores, standing == NEW)
            standing = COVERED if scores is None else self._front.standing(scores)
        self._known[one.key] = scores or _REFUSED
        if slot == _NO_SLOT:
            self._n_uncounted += 1
        else:
            self._flush()
            learner = self._search.learner
            self._player.store.pool.scores[slot] = scores
            (learner.learn if standing == NEW and self._learns else learner.count)(slot)
        if scores is None:
            self.n_refused += 1
        else:
            self._take_note(one.moves, scores, one.kind, standing)

    def _looked_up(self, moves: list[int]) -> Scores | None:
        """Return the scores of a known solution, if unique ones are counted."""
        archive, numbers = self._player.store.archive, np.array(moves, dtype=np.int64)
        known = known_scores(archive.keys, archive.key_scores, NO_IDENTITY, numbers, len(moves))
        return None if known is None else tuple(known.tolist())

    def _record(self, moves: list[int], scores: Scores, is_new: bool) -> tuple[int, Scores | None]:
        """Write a solution into a slot, with codes if policies learn from it; without scores if it cannot be played."""
        search, player = self._search, self._player
        slot, policy = player.open_slot(), self._n % search.polish.n_policies
        try:
            if not is_new or (self._judge.all_are_legal and not self._learns):
                player.record(slot, PlayedSteps(self._judge.solution(moves)), policy)
                return slot, scores
            is_played, state = player.follow(policy, slot, np.array(moves))
            if is_played:
                return slot, scores if self._judge.is_right(moves, state) else self._judge.scores(moves)
        except BaseException:
            search.close_slot(slot)
            raise
        search.close_slot(slot)
        return _NO_SLOT, None

    @property
    def _learns(self) -> bool:
        """Whether policies learn from new members of the front, as long as playouts succeed."""
        return self._credit[PLAYOUT] > _LEARNING_CREDIT

    def _take_note(self, moves: list[int], scores: Scores, kind: int, standing: int) -> None:
        """Update front, chain, model and shares of kinds."""
        is_new = standing == NEW
        if is_new:
            self._front.insert(scores, moves)
        elif standing != COVERED:
            self._front.replace(standing, moves)
        if self._n < _STARTS:
            self._chains.measure(scores)
        is_step = kind == self._chain_kind
        rate = self._rates[not is_step]
        self._rates[not is_step] = rate + _RATE * (is_new - rate)
        if is_step:
            self._chains.judged(moves, scores)
        elif kind < self._chain_kind:
            self._credit.reward(kind, is_new)
        self._learn(moves, scores, self._n)

    def _candidate(self) -> _Candidate:
        """Return a new solution, if one is found; at last a random one."""
        n_tries, share_of_chains = self._n_tries(), self._share_of_chains()
        for i in range(2 * n_tries):
            one = self._proposed(share_of_chains) if i < n_tries else self._started()
            if one.key not in self._known:
                self._in_vain = 0
                if len(self._known) >= _MOST_KNOWN:
                    self._known.clear()
                return one
            scores = self._known[one.key]
            if one.kind < self._chain_kind:
                self._credit.reward(one.kind, False, is_known=True)
            elif one.kind == self._chain_kind and scores is not None:
                self._chains.judged(one.moves, scores)
            if one.played is not None:
                self._search.close_slot(one.played[0])
                one = one._replace(played=None)
        self._in_vain += 1
        return one

    def _started(self) -> _Candidate:
        moves = self._random()
        return _Candidate(moves, self._chain_kind + 1, hash(tuple(moves)), None)

    def _proposed(self, share_of_chains: float) -> _Candidate:
        draw, n, played = self._player.draw, self._n, None
        if n < _STARTS or not len(self._front):
            if self._player.bias is None:
                return self._started()
            kind = PLAYOUT
        elif n >= _LATE and draw() < share_of_chains:
            kind = self._chain_kind
        else:
            kind = self._credit.draw(draw())
            while kind == PLAYOUT and n < self._next_playout:
                kind = self._credit.draw(draw())
        if kind == PLAYOUT:
            self._next_playout = 0 if n < _LATE else n + _PLAYOUT_EVERY
            moves, played = self._playout()
        elif kind == self._chain_kind:
            moves = self._chains.propose(self._front)
        else:
            moves = self._changed(self._changes[kind - 1], *self._drawn(), n)
        return _Candidate(moves, kind, hash(tuple(moves)), played)

    def _share_of_chains(self) -> float:
        chains, others = self._rates
        return min(_MOST_CHAINS, max(_LEAST_CHAINS, chains / (chains + others) if chains + others > 0 else 0.5))

    def _playout(self) -> tuple[list[int], tuple[int, Any]]:
        with self._player.slot() as slot:
            state = self._player.play(int(ANY_POLICY), slot)
        return self._recorded(slot), (slot, state)

    def _random(self) -> list[int]:
        """Return a random solution of the genotype."""
        draw = self._player.draw
        if self._options:
            return [step[int(draw() * len(step))] for step in self._options]
        moves = self._numbers[:]
        for last in range(len(moves) - 1, 0, -1):
            other = int(draw() * (last + 1))
            moves[last], moves[other] = moves[other], moves[last]
        return moves

    def _drawn(self) -> tuple[list[int], Scores]:
        """Return a random member of the front, and its scores."""
        return self._front.member(int(self._player.draw() * len(self._front)))

    def _is_promising(self, expected: list[float]) -> bool:
        """Tell whether predicted scores would be new to the front."""
        return self._front.is_promising(expected)

    def propose(self) -> Proposal:
        """Play a new solution into a slot, if one is found."""
        search = self._search
        self._begin()
        for _ in range(self.TRIES):
            one = self._candidate()
            self._known.setdefault(one.key, None)
            if one.played is not None:
                return Proposal(*one.played)
            slot = self._player.open_slot()
            try:
                is_played, state = self._player.follow(self._n % search.polish.n_policies, slot, np.array(one.moves))
            except BaseException:
                search.close_slot(slot)
                raise
            if is_played:
                return Proposal(slot, state, one.kind)
            search.close_slot(slot)
            self.n_refused += 1
            self._known[one.key] = _REFUSED
        return Proposal(*self._playout()[1])

    def judged(self, slot: int, kind: int) -> bool:
        """Receive the scores of a slot; policies learn from playouts, and from new members of the front."""
        self._begin()
        moves, scores = self._recorded(slot), tuple(self._search.machine.pool.scores[slot].tolist())
        self._known[hash(tuple(moves))] = scores
        standing, learns = self._front.standing(scores), self._learns
        if self._fits(moves):
            self._take_note(moves, scores, min(kind, self._chain_kind + 1), standing)
        return kind == PLAYOUT or (standing == NEW and learns)

    def adopted(self, slot: int) -> None:
        """Mark a solution of another search as known."""
        self._known[hash(tuple(self._recorded(slot)))] = tuple(self._search.machine.pool.scores[slot].tolist())

    def _fits(self, moves: list[int]) -> bool:
        """Tell whether a list is a solution of the genotype."""
        if not self._options:
            return sorted(moves) == self._sorted
        return len(moves) == len(self._allowed) and all(map(set.__contains__, self._allowed, moves))

    @property
    def met(self) -> Met:
        """The known solutions."""
        m = 1 + self._search.problem.n_objectives
        known = {key: scores for key, scores in self._known.items() if scores is not None and len(scores) == m}
        return Met(
            np.array(list(known), dtype=np.int64),
            np.array(list(known.values()), dtype=float).reshape(-1, m),
            np.array([key for key, scores in self._known.items() if scores is None], dtype=np.int64),
            np.array([key for key, scores in self._known.items() if scores is _REFUSED], dtype=np.int64),
        )

    @met.setter
    def met(self, met: Met) -> None:
        self._known = dict(zip(met.keys.tolist(), map(tuple, met.scores.tolist()), strict=True))
        self._known |= dict.fromkeys(met.awaited.tolist()) | dict.fromkeys(met.refused.tolist(), _REFUSED)

    def restored(self) -> None:
        """Check the restored state: numbers of moves are unchanged, and solutions fit the genotype."""
        genotype = self._search.problem.genotype
        if isinstance(genotype, Permutation):
            need(self._player.numbers(genotype.moves) == self._numbers, "moves in the order of the genotype")
        else:
            need(options_of(self._search) == self._options, "moves in the order of the genotype")
        need(not self._chains.moves or self._fits(self._chains.moves), "a solution that fits the genotype")
