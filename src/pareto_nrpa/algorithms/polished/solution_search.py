"""Local search on any plain problem with a genotype: solutions are lists, changed and judged as they are."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any, ClassVar, NamedTuple

import numpy as np

from ...engine.arrays import EVALUATIONS, N_MOVES, NO_IDENTITY
from ...engine.evaluated import known_scores
from ...engine.plain import PlainPlayer, Record
from ...engine.state import need
from ...engine.walk import ANY_POLICY
from ...problem.builders import BuiltProblem
from ...problem.genotype import Permutation
from .additive_model import AdditiveModel
from .chains import Chains
from .credit import LEAST_CREDIT, Credit
from .operators import changes_of, options_of
from .proposer import PLAYOUT, Proposal, Proposer
from .solution_front import COVERED, NEW, solution_front
from .solution_judge import SolutionJudge
from .subproblems import WALKERS, Subproblems

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ...problem.base import AnyProblem
    from .operators import Change
    from .search import PolishedSearch
    from .solution_front import Scores

# How many solutions the search begins with: playouts where there is a bias, random ones else.
_STARTS = 20
# From how many evaluations on there are chains, and few playouts: one in so many evaluations at most.
_LATE, _PLAYOUT_EVERY = 3_000, 500
# What a playout costs, in changes; and from which credit on policies learn.
_PLAYOUT_COST, _LEARNING_CREDIT = 10.0, 0.001
# The share of chains follows what they bring, slowly, and stays between these.
_RATE, _LEAST_CHAINS, _MOST_CHAINS = 0.0005, 0.25, 0.75
# Up to how many evaluations all proposals are screened by the model, and all evaluations learned; then ever fewer.
# So many at least, and so many for each option that it has to learn.
_SCREENED, _SCREENED_EACH = 1_500, 10
# What is remembered of solutions met; forgotten from time to time, so that memory is bounded.
_MOST_KNOWN = 100_000
# How often something not met before is looked for, and after how many proposals in vain it hardly is any more: then
# the space is small, and all of it was met.
_TRIES, _ENOUGH_IN_VAIN = 20, 3
_NO_SLOT = -1
#: In the place of scores, of what cannot be played.
_REFUSED: tuple[float, ...] = (np.inf,)


class Met(NamedTuple):
    """Solutions met, by their keys: with their scores, being evaluated elsewhere, or that cannot be played."""

    keys: Annotated[np.ndarray, "i8 [met]"]
    scores: Annotated[np.ndarray, "f8 [met, 1+M]"]
    awaited: Annotated[np.ndarray, "i8 [*]"]
    refused: Annotated[np.ndarray, "i8 [*]"]


class _Candidate(NamedTuple):
    """A solution that is worth evaluating, or in vain one that was met before."""

    moves: list[int]
    kind: int
    key: int
    played: tuple[int, Any] | None  # the slot and the final state of a playout


class SolutionSearch(Proposer):
    """What to evaluate next: a changed solution of the front or of a walker, the next step of a chain, or a playout.

    What does not enter the front costs a counter and nothing else: no slot, no codes, no learning. Kinds of proposals
    are numbers: a playout, the changes of members, the changes of each walker, a step of a chain, a start.
    """

    STATE: ClassVar[dict[str, Any]] = {
        "_in_vain": "int < 0:",
        "_next_playout": "int < 0:",
        "_n": "int < 0:",
        "_rates": "floats [=]",
        "met": Met,
        "_front": "component",
        "_credit": "component",
        "_walkers": "component",
        "_chains": "component",
        "_model": "component",
    }

    def __init__(self, search: PolishedSearch) -> None:
        super().__init__(search)
        player, m, genotype = search.player, search.problem.n_objectives, search.problem.genotype
        assert isinstance(player, PlainPlayer)
        self._player = player
        options = options_of(search)
        self._is_order = isinstance(genotype, Permutation)
        self._numbers = player.numbers(genotype.moves) if isinstance(genotype, Permutation) else []
        self._options = options
        self._allowed = [set(step) for step in options]
        self._sorted = sorted(self._numbers)
        single, mixing = changes_of(search, options, self._another)
        self._changes = single + mixing
        self._n_changes = len(self._changes)
        self._chain_kind = 1 + self._n_changes * (1 + WALKERS)
        stand_in = self._numbers or [step[0] for step in options]
        self._front = solution_front(search, self._fits, stand_in)
        self._walkers = Subproblems(m)
        self._chains = Chains(single, player.draw, m)
        # Without a bias playouts are worth what they bring: nothing until they do.
        worth = LEAST_CREDIT if player.bias is None else 1.0
        self._credit = Credit(1 + 2 * self._n_changes, first=worth, first_cost=_PLAYOUT_COST)
        self._judge = SolutionJudge(player)
        self._n_candidates = search.polish.candidates
        has_model = self._n_candidates > 1 and AdditiveModel.is_possible(options)
        self._model = AdditiveModel(options, m) if has_model else None
        self._n_screened = max(_SCREENED, _SCREENED_EACH * sum(map(len, options)))
        self._known: dict[int, Scores | None] = {}  # by key; None while a candidate is being evaluated elsewhere
        self._rates = [0.01, 0.01]  # how often chains and other proposals bring something
        self._in_vain = 0  # evaluations in a row of what was met before
        self._next_playout = 0
        self._walker = -1  # the one that is being changed, or none
        self._n = 0  # evaluations
        self._n_uncounted = 0  # of these, how many the search does not know of yet

    @staticmethod
    def is_possible(problem: AnyProblem) -> bool:
        """Tell whether solutions of a problem can be judged as lists, and are known by them alone."""
        return problem.genotype is not None and problem.identity is None and problem.all_moves is None

    def compile(self) -> None:
        """Compile what compares solutions, and a function of the problem that is for Numba."""
        if isinstance(self._player.problem, BuiltProblem):
            self._player.problem.compile()
        self._walkers.compile()
        if self._model is not None:
            self._model.compile()
        self._front.compile()

    def look_at(self, solutions: Sequence[Sequence[Any]]) -> None:
        """Find out by some playouts how solutions can be judged."""
        self._judge.look_at([*solutions, *self._search.problem.genotype.examples()])  # type: ignore[union-attr]  # is_possible

    def _begin(self) -> None:
        """Take in what happened elsewhere."""
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
        """Let the search know of the evaluations made."""
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
        """Judge a solution; what may enter the front is recorded, and counted by the search, as all are if it must."""
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
        """Return the scores of a solution that was evaluated before, where each is counted once."""
        archive, numbers = self._player.store.archive, np.array(moves, dtype=np.int64)
        known = known_scores(archive.keys, archive.key_scores, NO_IDENTITY, numbers, len(moves))
        return None if known is None else tuple(known.tolist())

    def _record(self, moves: list[int], scores: Scores, is_new: bool) -> tuple[int, Scores | None]:
        """Write a solution into a slot, with codes where policies learn of it; no scores if it cannot be played."""
        search, player = self._search, self._player
        slot, policy = player.open_slot(), self._n % search.polish.n_policies
        try:
            if not is_new or (self._judge.all_are_legal and not self._learns):
                player.record(slot, Record(self._judge.solution(moves)), policy)
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
        """Whether policies learn from what enters the front: as long as playouts bring something."""
        return self._credit[PLAYOUT] > _LEARNING_CREDIT

    def _take_note(self, moves: list[int], scores: Scores, kind: int, standing: int) -> None:
        """Let the front, the chain or the walkers, the model and the shares of kinds know of a solution."""
        is_new = standing == NEW
        if is_new:
            self._front.insert(scores, moves)
        elif standing != COVERED:
            self._front.replace(standing, moves)
        is_step = kind == self._chain_kind
        rate = self._rates[not is_step]
        self._rates[not is_step] = rate + _RATE * (is_new - rate)
        if is_step:
            self._chains.judged(moves, scores)
        else:
            if kind < self._chain_kind:
                self._credit.reward(self._credited(kind), is_new)
            walker = (kind - 1) // self._n_changes - 1 if PLAYOUT < kind < self._chain_kind else -1
            self._walkers.offer(moves, scores, self._front.ideal, self._front.span, self._player.draw, walker)
        if self._model is not None and self._is_screened():
            self._model.learn(moves, scores)

    def _credited(self, kind: int) -> int:
        """Return the kind that is credited: all walkers share one."""
        return kind if kind <= self._n_changes else (kind - 1) % self._n_changes + 1 + self._n_changes

    def _is_screened(self) -> bool:
        return self._n < self._n_screened or self._player.draw() * self._n < self._n_screened

    def _candidate(self) -> _Candidate:
        """Return something that was not met before, if that is to be found: at last by chance."""
        n_tries = _TRIES if self._in_vain < _ENOUGH_IN_VAIN else 1
        for i in range(2 * n_tries):
            one = self._drawn() if i < n_tries else self._started()
            if one.key not in self._known:
                self._in_vain = 0
                if len(self._known) >= _MOST_KNOWN:
                    self._known.clear()
                return one
            scores = self._known[one.key]
            if one.kind < self._chain_kind:
                self._credit.reward(self._credited(one.kind), False)
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

    def _drawn(self) -> _Candidate:
        draw, n, played = self._player.draw, self._n, None
        if n < _STARTS or not len(self._front):
            if self._player.bias is None:
                return self._started()
            kind = PLAYOUT
        elif n >= _LATE and draw() < self._share_of_chains():
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
            kind, moves = self._changed(kind)
        return _Candidate(moves, kind, hash(tuple(moves)), played)

    def _share_of_chains(self) -> float:
        chains, others = self._rates
        return min(_MOST_CHAINS, max(_LEAST_CHAINS, chains / (chains + others) if chains + others > 0 else 0.5))

    def _playout(self) -> tuple[list[int], tuple[int, Any]]:
        with self._player.slot() as slot:
            state = self._player.play(int(ANY_POLICY), slot)
        return self._recorded(slot), (slot, state)

    def _recorded(self, slot: int) -> list[int]:
        pool = self._search.machine.pool
        return pool.moves[slot, : pool.heads[slot, N_MOVES]].tolist()  # type: ignore[no-any-return]  # a list of whole numbers

    def _random(self) -> list[int]:
        """Return any solution that the genotype has."""
        draw = self._player.draw
        if not self._is_order:
            return [step[int(draw() * len(step))] for step in self._options]
        moves = self._numbers[:]
        for last in range(len(moves) - 1, 0, -1):
            other = int(draw() * (last + 1))
            moves[last], moves[other] = moves[other], moves[last]
        return moves

    def _changed(self, kind: int) -> tuple[int, list[int]]:
        """Return a solution of the front or of a walker, changed, and its kind, which says of which walker."""
        change = self._changes[(kind - 1) % self._n_changes]
        self._walker = -1
        if kind > self._n_changes and len(self._walkers):
            self._walker = int(self._player.draw() * len(self._walkers))
            kind = (kind - 1) % self._n_changes + 1 + self._n_changes * (1 + self._walker)
            moves, scores = self._walkers.lists[self._walker], tuple(self._walkers.scores[self._walker].tolist())
        else:
            moves, scores = self._front.member(int(self._player.draw() * len(self._front)))
        if self._model is not None and self._model.knows_enough and self._is_screened():
            return kind, self._most_promising(change, moves, scores)
        return kind, change(moves)

    def _another(self) -> list[int]:
        """Return a solution to mix one with."""
        draw = self._player.draw
        if self._walker >= 0:
            return self._walkers.lists[int(draw() * len(self._walkers))]
        return self._front.member(int(draw() * len(self._front)))[0]

    def _most_promising(self, change: Change, moves: list[int], scores: Scores) -> list[int]:
        """Change a solution in several ways, and return the one that should be least violated of those not covered.

        That is the first one of them that should be feasible; any of them if all should be covered.
        """
        assert self._model is not None
        best, least = None, np.inf
        for _ in range(self._n_candidates):
            changed = change(moves)
            expected = self._model.predict(moves, scores, changed)
            violations = expected[0]
            if violations < least and self._front.is_promising(expected):
                best, least = changed, violations
                if violations <= 0:
                    break
        return changed if best is None else best

    def propose(self) -> Proposal:
        """Play something into a slot that was not met before, if that is to be found."""
        search = self._search
        self._begin()
        for _ in range(_TRIES):
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
        """Take note of the scores of a slot; policies learn from playouts, and from what is new to the front."""
        self._begin()
        moves, scores = self._recorded(slot), tuple(self._search.machine.pool.scores[slot].tolist())
        self._known[hash(tuple(moves))] = scores
        standing, learns = self._front.standing(scores), self._learns
        if self._fits(moves):
            self._take_note(moves, scores, min(kind, self._chain_kind + 1), standing)
        return kind == PLAYOUT or (standing == NEW and learns)

    def adopted(self, slot: int) -> None:
        """Do not propose what another search has evaluated."""
        self._known[hash(tuple(self._recorded(slot)))] = tuple(self._search.machine.pool.scores[slot].tolist())

    def _fits(self, moves: list[int]) -> bool:
        """Tell whether a list is a solution as the genotype has them."""
        if self._is_order:
            return sorted(moves) == self._sorted
        return len(moves) == len(self._allowed) and all(map(set.__contains__, self._allowed, moves))

    @property
    def met(self) -> Met:
        """The solutions met."""
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
        """Check what was restored: moves have the numbers that this search began with, and solutions fit."""
        genotype = self._search.problem.genotype
        if isinstance(genotype, Permutation):
            need(self._player.numbers(genotype.moves) == self._numbers, "moves in the order of the genotype")
        else:
            need(options_of(self._search) == self._options, "moves in the order of the genotype")
        changed = [*self._walkers.lists, *filter(None, [self._chains.moves])]
        need(all(map(self._fits, changed)), "solutions that fit the genotype")
