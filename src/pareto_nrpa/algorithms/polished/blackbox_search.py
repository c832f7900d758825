"""Local search by legal moves: solutions of the front are changed, played and evaluated one by one.

For compiled problems without segments, and for plain ones whose solutions are not identified by their moves.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from ...engine.arrays import KEY, N_MOVES, POLICY, VIOLATIONS
from ...engine.dominance import is_covered_by_front
from ...engine.evaluated import solution_key
from ...engine.jit.kernels import stored
from ...engine.walk import EXACT, UNPRUNED
from .change_search import ChangeSearch
from .proposer import PLAYOUT, Proposal

if TYPE_CHECKING:
    from .search import PolishedSearch
    from .solution_front import Scores

# Largest number of keys of known solutions; above it all are dropped, so that memory is bounded.
_MOST_MET = 1_000_000


class BlackBoxSearch(ChangeSearch):
    """Proposes playouts, and new solutions by changes of the front."""

    STATE: ClassVar[dict[str, Any]] = {"_met": "i8 [*]"}

    def __init__(self, search: PolishedSearch) -> None:
        super().__init__(search)
        self._no_slack = np.zeros(search.problem.n_objectives)
        self._met: set[int] = set()

    def compile(self) -> None:
        """Compile keys and comparisons of solutions."""
        stored(solution_key)(0, np.zeros(1, dtype=np.int64), 1)
        stored(is_covered_by_front)(*[self._no_slack[None]] * 2, self._no_slack, self._no_slack)
        super().compile()

    def propose(self) -> Proposal:
        """Play a new solution, if one is found."""
        search = self._search
        slot, n_tries = search.player.open_slot(), self._n_tries()
        try:
            for _ in range(n_tries):
                kind = self._credit.draw(search.player.draw()) if len(search.members()) else PLAYOUT
                if kind == PLAYOUT:
                    break
                is_played, state = self._play_changed(kind, slot)
                self.n_refused += not is_played
                if is_played and self._is_new(slot):
                    self._in_vain = 0
                    return Proposal(slot, state, kind)
                self._credit.reward(kind, False)
            state = search.player.play(search.draw(search.polish.n_policies), slot)
            self._in_vain += 1
            for _ in range(n_tries):
                if self._is_new(slot):
                    self._in_vain = 0
                    break
                # Known: leave its path at some step, as repeated solutions teach nothing.
                moves, policy = self._recorded(slot), int(search.machine.pool.heads[slot, POLICY])
                _, state = search.player.follow(policy, slot, np.array(moves), search.draw(len(moves)))
        except BaseException:
            search.close_slot(slot)
            raise
        return Proposal(slot, state)

    def _play_changed(self, kind: int, slot: int) -> tuple[bool, Any]:
        """Play a changed solution of the front into a slot; returns whether it could be played."""
        search, (moves, scores) = self._search, self._drawn()
        if self._changes and self._is_as_long(moves):
            moves = self._changed(self._changes[kind - 1], moves, scores, search.evaluations)
            at = UNPRUNED if search.is_stuck else EXACT
        else:
            at = search.draw(len(moves))
        policy = search.draw(search.polish.n_policies)
        return search.player.follow(policy, slot, np.array(moves, dtype=np.int64), at)

    def _drawn(self) -> tuple[list[int], Scores]:
        """Return a random member of the front, and its scores."""
        members = self._search.members()
        i = self._search.draw(len(members))
        return self._search.member(i)[0].tolist(), (members.violations, *members.objectives[i].tolist())

    def _is_promising(self, expected: list[float]) -> bool:
        """Tell whether predicted scores would be new; while nothing is feasible, fewer violations are."""
        least = self._search.members().violations
        return expected[0] < least if least > 0 else not self._is_covered(np.array(expected[1:]))

    def _is_covered(self, point: Any) -> bool:
        return bool(stored(is_covered_by_front)(*self._search.members().front, point, self._no_slack))

    def _is_as_long(self, moves: list[int]) -> bool:
        """Tell whether a solution has a choice for each step: genotypes are compared with some playouts, not all."""
        return not self._options or len(moves) == len(self._options)

    def _is_new(self, slot: int) -> bool:
        """Tell whether the solution in a slot is new, and mark it as known."""
        heads = self._search.machine.pool.heads[slot]
        key = int(stored(solution_key)(int(heads[KEY]), self._search.machine.pool.moves[slot], int(heads[N_MOVES])))
        if key in self._met:
            return False
        if len(self._met) == _MOST_MET:
            self._met.clear()
        self._met.add(key)
        return True

    def judged(self, slot: int, kind: int) -> bool:
        """Receive the scores of a slot; policies learn from playouts, and from new members of the front."""
        scores, members = self._search.machine.pool.scores[slot], self._search.members()
        violations = scores[VIOLATIONS]
        is_new = bool(violations < members.violations)
        is_new = is_new or (violations == members.violations and not self._is_covered(scores[1:]))
        self._credit.reward(kind if kind < self._n_kinds else PLAYOUT, is_new)
        moves = self._recorded(slot)
        if self._is_as_long(moves):
            self._learn(moves, tuple(scores.tolist()), self._search.evaluations)
        return kind == PLAYOUT or is_new

    def adopted(self, slot: int) -> None:
        """Mark a solution of another search as known."""
        self._is_new(slot)

    def restored(self) -> None:
        """Check the restored state."""
        self.check_solutions([])
