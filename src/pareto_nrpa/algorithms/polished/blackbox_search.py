"""Local search by legal moves: solutions of the front are changed in some way, played and evaluated one by one.

For compiled problems without segments, and for plain ones whose solutions are not known by their list of moves alone.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from ...engine.arrays import KEY, N_MOVES, POLICY, VIOLATIONS
from ...engine.dominance import is_covered_by_front
from ...engine.evaluated import solution_key
from ...engine.jit.kernels import stored
from ...engine.walk import EXACT, UNPRUNED
from .additive_model import AdditiveModel
from .credit import Credit
from .operators import changes_of, options_of
from .proposer import PLAYOUT, Proposal, Proposer
from .subproblems import Subproblems

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from .operators import Change
    from .search import PolishedSearch
    from .solution_front import Scores

# What is remembered of solutions met; forgotten from time to time, so that memory is bounded.
_MOST_MET = 1_000_000
# How often something not met before is looked for, and after how many proposals in vain it hardly is any more: then
# the space is small, and all of it was met.
_TRIES, _ENOUGH_IN_VAIN = 20, 3


class BlackBoxSearch(Proposer):
    """What to evaluate next: a playout, or a solution of the front that was changed and was not met before.

    Which kind of change is made is drawn by how often each has brought something new to the front.
    """

    STATE: ClassVar[dict[str, Any]] = {
        "_credit": "component",
        "_walkers": "component",
        "_tries": {"int": "int"},
        "_met": "i8 [*]",
        "_in_vain": "int",
        "_model": "component",
    }

    def __init__(self, search: PolishedSearch) -> None:
        super().__init__(search)
        self._options = options_of(search)
        single, mixing = changes_of(search, self._options, self._another)
        self._changes = single + mixing
        self._n_policies = search.polish.n_policies
        # Without a genotype, the one change is to leave its path somewhere. Changes are made of solutions of the front,
        # and of walkers: a kind each.
        self._n_changes = max(1, len(self._changes))
        self._credit = Credit(1 + 2 * self._n_changes)
        self._walkers = Subproblems(search.problem.n_objectives)
        self._walks = False
        self._no_slack = np.zeros(search.problem.n_objectives)
        self._tries: dict[int, int] = {}  # how often a member was changed
        self._met: set[int] = set()
        self._in_vain = 0  # proposals in a row that were met before
        self._n_candidates = search.polish.candidates
        has_model = self._n_candidates > 1 and AdditiveModel.is_possible(self._options)
        self._model = AdditiveModel(self._options, search.problem.n_objectives) if has_model else None

    def compile(self) -> None:
        """Compile what recognises solutions, and what compares them."""
        stored(solution_key)(0, np.zeros(1, dtype=np.int64), 1)
        stored(is_covered_by_front)(*[self._no_slack[None]] * 2, self._no_slack, self._no_slack)
        self._walkers.compile()
        if self._model is not None:
            self._model.compile()

    def propose(self) -> Proposal:
        """Play something that was not met before, if that is to be found."""
        search = self._search
        slot = search.player.open_slot()
        n_tries = _TRIES if self._in_vain < _ENOUGH_IN_VAIN else 1
        try:
            for _ in range(n_tries):
                kind = self._credit.draw(search.player.draw()) if len(search.members()) else PLAYOUT
                if kind == PLAYOUT:
                    break
                is_played, state = self._change(kind, slot)
                self.n_refused += not is_played
                if is_played and self._is_new(slot):
                    self._in_vain = 0
                    return Proposal(slot, state, kind)
                self._credit.reward(kind, False)
            state = search.player.play(search.draw(self._n_policies), slot)
            self._in_vain += 1
            for _ in range(n_tries):
                if self._is_new(slot):
                    self._in_vain = 0
                    break
                # Met before: leave its path somewhere, as what policies play again and again teaches nothing.
                moves, policy = self._recorded(slot)
                _, state = search.player.follow(policy, slot, moves, search.draw(len(moves)))
        except BaseException:
            search.close_slot(slot)
            raise
        return Proposal(slot, state)

    def _change(self, kind: int, slot: int) -> tuple[bool, Any]:
        """Play a solution of the front or of a walker, changed, into a slot; tells whether that could be played."""
        self._walks = kind > self._n_changes
        moves, scores, policy = self._drawn()
        at = UNPRUNED if self._search.is_stuck else EXACT
        if self._changes and self._is_as_long(moves):
            moves = self._most_promising(self._changes[(kind - 1) % self._n_changes], moves, scores)
        else:
            at = self._search.draw(len(moves))
        return self._search.player.follow(policy, slot, np.array(moves, dtype=np.int64), at)

    def _drawn(self) -> tuple[list[int], Scores, int]:
        """Return a solution to change, from the front or from a walker, and a policy that may be said to play it."""
        search = self._search
        if self._walks and len(self._walkers):
            i = search.draw(len(self._walkers))
            return self._walkers.lists[i], tuple(self._walkers.scores[i].tolist()), search.draw(self._n_policies)
        i = self._draw_member()
        moves, policy = search.member(i)
        return moves.tolist(), (search.members().violations, *search.members().objectives[i].tolist()), policy

    def _another(self) -> list[int]:
        return self._drawn()[0]

    def _most_promising(self, change: Change, moves: list[int], scores: Scores) -> list[int]:
        """Change a solution in one way or, where a model tells of several what to expect, in the best of them.

        That is the least violated of those that nothing covers, or any of them if there is none. As long as nothing is
        feasible, what is less violated is not covered.
        """
        candidates = [change(moves)]
        if self._model is None or not self._model.knows_enough or not self._is_as_long(candidates[0]):
            return candidates[0]
        candidates += [change(moves) for _ in range(self._n_candidates - 1)]
        predicted = np.array([self._model.predict(moves, scores, candidate) for candidate in candidates])
        members = self._search.members()
        for i in map(int, np.argsort(predicted[:, VIOLATIONS], kind="stable")):
            is_better = members.violations > 0 and predicted[i, VIOLATIONS] < members.violations
            if is_better or not stored(is_covered_by_front)(*members.front, predicted[i, 1:], self._no_slack):
                return candidates[i]
        return candidates[0]

    def _is_as_long(self, moves: list[int]) -> bool:
        """Tell whether a solution has a choice for each step: genotypes are compared with some playouts, not all."""
        return not self._options or len(moves) == len(self._options)

    def _draw_member(self) -> int:
        """Draw a member of the front: of two, the one that was changed less often."""
        ids = self._search.members().ids
        pair = [self._search.draw(len(ids)) for _ in range(2)]
        i = min(pair, key=lambda k: self._tries.get(int(ids[k]), 0))
        self._tries[int(ids[i])] = self._tries.get(int(ids[i]), 0) + 1
        return i

    def _recorded(self, slot: int) -> tuple[NDArray[np.int64], int]:
        pool = self._search.machine.pool
        return pool.moves[slot, : pool.heads[slot, N_MOVES]].copy(), int(pool.heads[slot, POLICY])

    def _is_new(self, slot: int) -> bool:
        """Tell whether what was played into a slot was never met before; it is now."""
        heads = self._search.machine.pool.heads[slot]
        key = int(stored(solution_key)(int(heads[KEY]), self._search.machine.pool.moves[slot], int(heads[N_MOVES])))
        if key in self._met:
            return False
        if len(self._met) == _MOST_MET:
            self._met.clear()
        self._met.add(key)
        return True

    def judged(self, slot: int, kind: int) -> bool:
        """Take note of the scores of a slot; policies learn from playouts, and from all that is new to the front."""
        kind = kind if kind <= 2 * self._n_changes else PLAYOUT
        scores, members = self._search.machine.pool.scores[slot], self._search.members()
        is_better = bool(scores[VIOLATIONS] < members.violations)
        is_new = is_better or (
            scores[VIOLATIONS] == members.violations
            and not stored(is_covered_by_front)(*members.front, scores[1:], self._no_slack)
        )
        self._credit.reward(kind, is_new)
        moves, values = self._recorded(slot)[0].tolist(), tuple(scores.tolist())
        if self._model is not None and self._is_as_long(moves):
            self._model.learn(moves, values)
        ideal, span = (scores[1:].copy(), np.ones(len(scores) - 1)) if is_better else (members.ideal, members.span)
        self._walkers.offer(moves, values, ideal, span, self._search.player.draw)
        return kind == PLAYOUT or is_new

    def adopted(self, slot: int) -> None:
        """Do not propose what another search has evaluated."""
        self._is_new(slot)

    def restored(self) -> None:
        """Check what was restored."""
        self.check_solutions(self._walkers.lists)
