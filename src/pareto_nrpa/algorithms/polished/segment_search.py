"""Local search by segments: all neighbours are judged, few are evaluated."""

from __future__ import annotations

import logging
from collections import deque
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, NamedTuple

import numpy as np

from ...engine.arrays import N_MOVES, POLICY, SIZE, VIOLATIONS
from ...engine.state import Maybe
from ...engine.walk import ANY_POLICY, EXACT, UNPRUNED
from .direct_evaluation import DirectEvaluation
from .near_evaluation import STRICT, NearEvaluator, is_covered
from .penalty_descent import PenaltyDescent
from .proposer import PLAYOUT, Proposal, Proposer

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from .near_evaluation import Penalty
    from .search import PolishedSearch


logger = logging.getLogger("pareto_nrpa")

# Least number of solutions of the front that are compared for the start; all of a smaller front.
_LEAST_SAMPLE = 8
# Where there are kicks: how many neighbours are judged for each candidate of a playout before the next lesson. Playouts
# and learning take time and memory that grow with the square of the moves, descents do not.
_JUDGED_PER_CANDIDATE, _MOST_DESCENTS = 2, 20
#: The kind of a proposal without learning: a neighbour from the queue.
_NEIGHBOUR = 1


class Neighbour(NamedTuple):
    """A solution to evaluate, judged by its segments."""

    moves: Annotated[np.ndarray, "i8 [n]"]
    objectives: Annotated[np.ndarray, "f8 [M]"]  # minimised
    policy: Annotated[int, "int < P"]  # of the solution that it is a neighbour of


class Descent(NamedTuple):
    """A local search for one weighted sum, or an exploration of the neighbours of one solution if the weights are 0."""

    weights: Annotated[np.ndarray, "f8 [M]"]
    policy: Annotated[int, "int < P"]


class SegmentSearch(Proposer):
    """Proposes non-covered neighbours, then the ends of local searches.

    All neighbours of each new solution of the front are judged once. Then local searches for random weighted sums
    begin, at playouts and at perturbed solutions of the front. After all neighbours of the front were judged, those
    that begin near it pass through infeasible solutions.
    """

    STATE: ClassVar[dict[str, Any]] = {
        "judge": "component",
        "_detours": "component",
        "_queue": [Neighbour],
        "_descent": Maybe(Descent),
        "explored": "i8 [*]",
        "_n_judged_round": "int",
        "_n_judged_lesson": "int",
        "_is_lesson": "int",
    }

    def __init__(self, search: PolishedSearch) -> None:
        super().__init__(search)
        self._params = search.polish
        self._shape = len(search.problem.genotype.moves), search.problem.n_objectives  # type: ignore[union-attr]  # a genotype is what this search needs
        player: Any = search.player
        self.judge = NearEvaluator(player, self._params.kicks)
        self._evaluate = DirectEvaluation(player)
        self._detours = PenaltyDescent(self._shape[0])
        self.n_playouts = self._params.playouts  # before the next local search
        self._queue: deque[Neighbour] = deque()
        self._descent: Descent | None = None
        self._welcomed: set[int] = set()  # present and future members whose neighbours another search judges
        self._n_judged_round = 0  # neighbours of members, in explorations
        self._lesson = 0  # neighbours judged between two lessons
        if self.judge.has_kicks:
            self._lesson = _JUDGED_PER_CANDIDATE * player.problem.max_candidates
        self._n_judged_lesson = -self._lesson  # how many were judged at the last lesson
        self._is_lesson = 1  # whether policies learn from the end of the descent at hand

    def compile(self) -> None:
        """Compile code that the player does not include."""
        self.judge.compile()

    def propose(self) -> Proposal:
        """Judge neighbours until one is to be evaluated, and play it."""
        search = self._search
        while True:
            slot, kind = None, PLAYOUT
            if self._queue:
                moves, objectives, policy = self._queue.pop()
                if not is_covered(objectives, search.members().feasible):
                    slot, kind = self._evaluated(moves, policy), _NEIGHBOUR
            elif self._descent is not None:
                slot = self._descend(self._descent)
            elif not self._explore() and not self._begin():
                slot = self._another_playout()
            if slot is not None:
                return Proposal(slot, kind=kind)

    def _another_playout(self) -> int:
        """Return a slot with a playout, if local search makes no progress."""
        with self._search.player.slot() as slot:
            self._search.player.play(int(ANY_POLICY), slot)
        return slot

    def _evaluated(self, moves: NDArray[np.int64], policy: int) -> int:
        """Return a slot with a neighbour that was judged feasible; an infeasible one is a defect."""
        slot = self._search.player.open_slot()
        self._evaluate(moves, policy, slot)
        if self._search.machine.pool.scores[slot, VIOLATIONS] > 0:
            self.n_refused += 1
            logger.debug("a neighbour that was judged feasible is not: %s", moves.tolist())
        return slot

    def _played(self, moves: NDArray[np.int64], policy: int, *, is_feasible: bool) -> int | None:
        """Return a slot with a solution, None if it cannot be played, which is a defect if it is feasible."""
        slot = self._search.player.open_slot()
        at = UNPRUNED if self._search.is_stuck else EXACT
        is_legal, _ = self._search.player.follow(policy, slot, moves, at)
        if is_legal:
            return slot
        self._search.close_slot(slot)
        if is_feasible:
            self.n_refused += 1
            logger.debug("a feasible neighbour could not be played: %s", moves.tolist())
        return None

    def _descend(self, descent: Descent) -> int | None:
        """Continue a descent; return a slot with its end, which may not be playable.

        Ends that pruning forbids may repeat; a playout is made instead. The same after a long time without an
        evaluation, so that stops are checked.
        """
        before = self.judge.n_judged
        has_ended = self.judge.go_on(self._search.members().feasible)
        if not descent.weights.any():
            self._n_judged_round += self.judge.n_judged - before
        self._queue.extend(Neighbour(*found, descent.policy) for found in self.judge.found())
        if not has_ended:
            return None if self._queue else self._another_playout()
        if self._detours.is_out:
            marks = self._detours.come_back(self.judge.moves, self.judge.distance)
            if marks is not None:
                self.judge.begin(self.judge.moves, descent.weights, marks)
                return None
        self._descent = None
        if not descent.weights.any():
            return None
        if not self._is_lesson:
            self._queue.append(Neighbour(self.judge.moves, self.judge.objectives, descent.policy))
            return None
        slot = self._played(self.judge.moves, descent.policy, is_feasible=self.judge.distance == 0.0)
        return self._another_playout() if slot is None else slot

    def _explore(self) -> bool:
        """Judge the neighbours of a new solution of the front, if there is one and the share of explorations allows it.

        A large front changes faster than its neighbours can be judged: most effort is for descents, which improve it.
        """
        members = self._search.members()
        self._leave_to_others()
        if members.violations > 0 or self._n_judged_round > self._params.explore * self.judge.n_judged:
            return False
        left = np.flatnonzero(members.is_fresh)
        if not left.size:
            return False
        i = int(left[self._search.draw(left.size)])
        members.is_fresh[i] = False
        moves, policy = self._search.member(i)
        self._set_out(moves, np.zeros(members.objectives.shape[1]), policy)
        return True

    def _leave_to_others(self) -> None:
        """Skip the neighbours of solutions that another search explores."""
        members = self._search.members()
        for number in self._welcomed:
            place = members.place(number)
            if place is not None:
                members.is_fresh[place] = False
        self._welcomed.clear()

    def _set_out(
        self,
        moves: NDArray[np.int64],
        weights: NDArray[np.float64],
        policy: int,
        marks: Any = 1,
        terms: Penalty = STRICT,
    ) -> None:
        self.judge.begin(moves, weights, marks, terms)
        self._descent = Descent(weights, policy)

    def _begin(self) -> bool:
        """Begin another local search, and set the number of playouts before the next; False if there is no start."""
        weights = self._weights()
        is_feasible = self._search.members().violations == 0
        start = None
        if not is_feasible or self._search.player.draw() < self._params.fresh:
            start = self._playout(weights)
        if start is not None:
            self._set_out(start[0], weights, start[1])
        elif is_feasible:
            self._set_out_near_front(weights)
        self._is_lesson = int(self.judge.n_judged - self._n_judged_lesson >= self._lesson)
        if self._is_lesson:
            self._n_judged_lesson = self.judge.n_judged
            self.n_playouts = 1 if self.judge.has_kicks else self._params.playouts
        else:  # a lesson after so many descents at the latest, as these may judge nothing
            self._n_judged_lesson -= 1 + self._lesson // _MOST_DESCENTS
        return start is not None or is_feasible

    def _weights(self) -> NDArray[np.float64]:
        """Return random weights for objectives scaled by their range in the front."""
        search = self._search
        weights = -np.log([1.0 - search.player.draw() for _ in range(search.problem.n_objectives)])
        members = search.members()
        chosen: NDArray[np.float64] = weights / members.span if len(members) else weights
        return chosen

    def _playout(self, weights: NDArray[np.float64]) -> tuple[NDArray[np.int64], int] | None:
        """Return the best playout for the weights among those that the policies are learning from."""
        machine = self._search.machine
        slots = machine.members[0, : machine.levels[0, SIZE]]
        if slots.size == 0:
            return None
        scores = machine.pool.scores[slots]
        slot = slots[np.lexsort((scores[:, 1:] @ weights, scores[:, 0]))[0]]
        heads = machine.pool.heads[slot]
        return machine.pool.moves[slot, : heads[N_MOVES]].copy(), int(heads[POLICY])

    def _set_out_near_front(self, weights: NDArray[np.float64]) -> None:
        """Begin some random steps away from the best for the weights among a few solutions of the front."""
        search, params, members = self._search, self._params, self._search.members()
        front = members.objectives
        drawn = search.draw_many(len(front), max(_LEAST_SAMPLE, int(params.sample * len(front))))
        origin, policy = search.member(int(drawn[np.argmin(front[drawn] @ weights)]))
        if self.judge.has_kicks:
            self._set_out(origin, weights, policy)
            return
        if params.detour and self.judge.has_limits and not members.is_fresh.any():
            moves = self.judge.shaken(origin, 1 + search.draw(params.detour), params.reach, np.inf)
            terms = self._detours.leave(origin, float(weights @ members.scale))
        else:
            moves = self.judge.shaken(origin, params.shake + search.draw(params.shake + 1), params.reach)
            terms = STRICT
        self._set_out(moves, weights, policy, self.judge.marks, terms)

    def judged(self, slot: int, kind: int) -> bool:
        """Tell whether policies should learn from a slot: playouts and the ends of local searches."""
        return kind != _NEIGHBOUR

    def adopted(self, slot: int) -> None:
        """Leave the neighbours of a received solution, the next to be counted, to the search that found it."""
        self._welcomed.add(self._search.evaluations + 1)

    @property
    def explored(self) -> set[int]:
        """Members of the front whose neighbours were judged, here or by another search."""
        members = self._search.members()
        return {*members.ids[~members.is_fresh].tolist(), *self._welcomed}

    @explored.setter
    def explored(self, explored: set[int]) -> None:
        self._welcomed = explored

    def restored(self) -> None:
        """Check the restored state: segments can be joined of whole solutions only."""
        descent = [] if self._descent is None else [self.judge.moves]
        self.check_solutions([*self._detours.origins, *(neighbour.moves for neighbour in self._queue), *descent])
