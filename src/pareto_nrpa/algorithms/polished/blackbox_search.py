"""Local search on any problem: solutions of the front are changed in some way, played and evaluated one by one."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ...engine.arrays import KEY, N_MOVES, POLICY, VIOLATIONS
from ...engine.dominance import is_covered_by_front
from ...engine.evaluated import solution_key
from ...engine.jit.kernels import stored
from ...engine.walk import EXACT, UNPRUNED
from ...problem.genotype import Permutation
from ..nrpa.checkpoint_checks import MOST_EVALUATIONS, check_shape, in_range, need
from .additive_model import AdditiveModel
from .operators import changes_of, options_of
from .proposer import PLAYOUT, Proposal, Proposer
from .subproblems import Subproblems

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from .operators import Change
    from .search import PolishedSearch

    Moves = NDArray[np.int64]

# What is remembered of solutions met; forgotten from time to time, so that memory is bounded.
_MOST_MET = 1_000_000
# How often something not met before is looked for, and after how many proposals in vain it hardly is any more: then
# the space is small, and all of it was met.
_TRIES, _ENOUGH_IN_VAIN = 20, 3
# How fast the share of a kind of change follows what it brings, and what is left to those that bring nothing.
_RATE, _LEAST_SHARE, _LEAST = 0.02, 0.2, 1e-6


class BlackBoxSearch(Proposer):
    """What to evaluate next: a playout, or a solution of the front that was changed and was not met before.

    Which kind of change is made is drawn by how often each has brought something new to the front.
    """

    def __init__(self, search: PolishedSearch) -> None:
        super().__init__(search)
        self._options = options_of(search)
        self._changes = changes_of(search, self._options, self._another)
        self._n_policies = search.polish.n_policies
        # Where nobody says what a solution is, the one change is to leave its path somewhere. Changes are made of
        # solutions of the front, and of walkers: a kind each.
        self._n_changes = max(1, len(self._changes))
        self._brought = np.ones(1 + 2 * self._n_changes)
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
        """Compile what knows solutions again, and what compares them."""
        stored(solution_key)(0, np.zeros(1, dtype=np.int64), 1)
        stored(is_covered_by_front)(*[self._no_slack[None]] * 2, self._no_slack, self._no_slack)

    def propose(self) -> Proposal:
        """Play something that was not met before, if that is to be found."""
        search = self._search
        slot = search.open_slot()
        n_tries = _TRIES if self._in_vain < _ENOUGH_IN_VAIN else 1
        try:
            for _ in range(n_tries):
                kind = self._draw_kind()
                if kind == PLAYOUT:
                    break
                is_played, state = self._change(kind, slot)
                self.n_refused += not is_played
                if is_played and self._is_new(slot):
                    self._in_vain = 0
                    return Proposal(slot, state, kind)
                self._reward(kind, False)
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

    def _draw_kind(self) -> int:
        """Draw a kind of change, by what each has brought."""
        if len(self._search.members().rows) == 0:
            return PLAYOUT
        shares = _LEAST_SHARE / len(self._brought) + (1 - _LEAST_SHARE) * self._brought / self._brought.sum()
        return min(int(np.searchsorted(np.cumsum(shares), self._search.player.draw())), len(shares) - 1)

    def _change(self, kind: int, slot: int) -> tuple[bool, Any]:
        """Play a solution of the front or of a walker, changed, into a slot; tells whether that could be played."""
        self._walks = kind > self._n_changes
        moves, policy = self._drawn()
        at = UNPRUNED if self._search.is_stuck else EXACT
        if self._changes and self._is_as_long(moves):
            moves = self._most_promising(self._changes[(kind - 1) % self._n_changes], moves)
        else:
            at = self._search.draw(len(moves))
        return self._search.player.follow(policy, slot, moves, at)

    def _drawn(self) -> tuple[Moves, int]:
        """Return a solution to change, from the front or from a walker, and a policy that may be said to play it."""
        if self._walks and self._walkers.moves:
            moves = self._walkers.moves[self._search.draw(len(self._walkers.moves))]
            return moves.copy(), self._search.draw(self._n_policies)
        return self._search.member(self._draw_member())

    def _most_promising(self, change: Change, moves: Moves) -> Moves:
        """Change a solution in one way or, where a model tells of several what to expect, in the best of them.

        That is the least violated of those that nothing covers, or any of them if there is none. As long as nothing is
        feasible, what is less violated is not covered.
        """
        if self._model is None or not self._model.knows_enough:
            return change(moves, 1)[0]
        candidates = change(moves, self._n_candidates)
        predicted = self._model.predict(np.array(candidates))
        members = self._search.members()
        for i in map(int, np.argsort(predicted[:, VIOLATIONS], kind="stable")):
            is_better = members.violations > 0 and predicted[i, VIOLATIONS] < members.violations
            if is_better or not stored(is_covered_by_front)(*members.front, predicted[i, 1:], self._no_slack):
                return candidates[i]
        return candidates[0]

    def _is_as_long(self, moves: Moves) -> bool:
        """Tell whether a solution has a choice for each step: genotypes are compared with some playouts, not all."""
        return not self._options or len(moves) == len(self._options)

    def _another(self) -> Moves:
        return self._drawn()[0]

    def _draw_member(self) -> int:
        """Draw a member of the front: of two, the one that was changed less often."""
        ids = self._search.members().ids
        pair = [self._search.draw(len(ids)) for _ in range(2)]
        i = min(pair, key=lambda k: self._tries.get(int(ids[k]), 0))
        self._tries[int(ids[i])] = self._tries.get(int(ids[i]), 0) + 1
        return i

    def _recorded(self, slot: int) -> tuple[Moves, int]:
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
        kind = kind if kind < len(self._brought) else PLAYOUT
        scores, members = self._search.machine.pool.scores[slot], self._search.members()
        is_better = bool(scores[VIOLATIONS] < members.violations)
        is_new = is_better or (
            scores[VIOLATIONS] == members.violations
            and not stored(is_covered_by_front)(*members.front, scores[1:], self._no_slack)
        )
        self._reward(kind, is_new)
        moves, scores = self._recorded(slot)[0], scores.copy()
        if self._model is not None and self._is_as_long(moves):
            self._model.learn(moves, scores)
        ideal, span = (scores[1:], np.ones(len(scores) - 1)) if is_better else (members.ideal, members.span)
        self._walkers.offer(moves, scores, ideal, span, self._search.player.draw)
        return kind == PLAYOUT or is_new

    def _reward(self, kind: int, is_new: bool) -> None:
        self._brought[kind] = max(_LEAST, self._brought[kind] + _RATE * (is_new - self._brought[kind]))

    def adopted(self, slot: int) -> None:
        """Do not propose what another search has evaluated."""
        self._is_new(slot)

    def state(self) -> dict[str, NDArray[Any]]:
        """Return all that a checkpoint must hold."""
        return {
            "brought": self._brought,
            "in_vain": np.array([self._in_vain], dtype=np.int64),
            "met": np.array(sorted(self._met), dtype=np.int64),
            "tries": np.array(list(self._tries.items()), dtype=np.int64).reshape(-1, 2),
            **self._walkers.state(),
            **(self._model.state() if self._model is not None else {}),
        }

    def restore(self, arrays: dict[str, NDArray[Any]]) -> None:
        """Restore what `state` returned. Raises ValueError if it is inconsistent."""
        n_kinds, met, tries = len(self._brought), arrays["met"], arrays["tries"]
        check_shape(arrays["brought"], np.float64, n_kinds)
        need(((arrays["brought"] > 0) & (arrays["brought"] <= 1)).all(), "shares")
        check_shape(arrays["in_vain"], np.int64, 1)
        need(in_range(arrays["in_vain"], 0, MOST_EVALUATIONS), "proposals in vain")
        check_shape(met, np.int64, len(met))
        check_shape(tries, np.int64, len(tries), 2)
        need(in_range(tries, 0, MOST_EVALUATIONS), "changes that were tried")
        need(len(met) <= _MOST_MET, "solutions met")
        archived = [self._search.member(i)[0] for i in range(len(self._search.members()))]
        need(all(map(self._fits, archived)), "solutions that fit the genotype")
        self._walkers.restore(arrays, self._fits)
        if self._model is not None:
            self._model.restore(arrays)
        self._brought = arrays["brought"].copy()
        self._met, self._in_vain = set(met.tolist()), int(arrays["in_vain"][0])
        self._tries = dict(tries.tolist())

    def _fits(self, moves: Moves) -> bool:
        """Tell whether all numbers stand for moves that were met, and are a solution as the genotype has them."""
        known = getattr(self._search.player, "moves", None)
        if known is not None and not ((moves >= 0) & (moves < len(known))).all():
            return False
        genotype = self._search.problem.genotype
        if isinstance(genotype, Permutation):
            return np.array_equal(np.sort(moves), np.sort(self._search.player.numbers(genotype.moves)))
        return genotype is None or self._is_as_long(moves)
