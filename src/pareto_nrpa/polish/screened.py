"""Local search where a problem judges neighbours by its segments: all are looked at, few are evaluated."""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ..kernels.bundles import N_MOVES, POLICY, SIZE
from ..nrpa.checkpoint_checks import check_shape, in_range, need
from .judging import Judge

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from .search import PolishedSearch


class Neighbour(NamedTuple):
    """A solution that is worth evaluating, by what its segments say."""

    moves: NDArray[np.int64]
    objectives: NDArray[np.float64]  # minimised
    policy: int  # of the solution that it is a neighbour of


class Descent(NamedTuple):
    """A local search for one weighted sum, or a look round one solution where the weights are 0."""

    weights: NDArray[np.float64]
    policy: int


class ScreenedNeighbours:
    """What to evaluate next: neighbours that nothing covers, then the end of a local search, then of another one.

    All neighbours of each new solution of the front are judged once. When that has brought all it can, local searches
    for random weighted sums begin, at playouts and at solutions of the front that were shaken.
    """

    def __init__(self, search: PolishedSearch) -> None:
        self._search, self._params = search, search.polish
        self._shape = len(search.problem.genotype.moves), search.problem.n_objectives  # type: ignore[union-attr]
        self.judge = Judge(search.player)  # type: ignore[arg-type]
        self.n_playouts = self._params.playouts  # to be made before the next local search
        self._queue: deque[Neighbour] = deque()
        self._descent: Descent | None = None
        self._explored: set[int] = set()
        self._noted: set[int] = set()  # slots from which nothing is to be learned

    def compile(self) -> None:
        """Do nothing: the player compiles all."""

    def propose(self) -> tuple[int, Any]:
        """Look at neighbours until one is worth evaluating, and play it."""
        search = self._search
        while True:
            slot = None
            if self._queue:
                moves, objectives, policy = self._queue.pop()
                if not self.judge.is_covered(objectives, search.members().feasible):
                    slot = self._played(moves, policy)
                    if slot is not None:
                        self._noted.add(slot)
            elif self._descent is not None:
                slot = self._descend(self._descent)
            elif not self._explore() and not self._begin():
                slot = self._another_playout()
            if slot is not None:
                return slot, None

    def _another_playout(self) -> int:
        """Return a slot with a playout, so that something happens where local search leads nowhere."""
        slot = self._search.open_slot()
        self._search.play_into(slot)
        return slot

    def _played(self, moves: NDArray[np.int64], policy: int) -> int | None:
        """Return a slot into which a solution was played, None if it cannot be."""
        slot = self._search.open_slot()
        is_legal, _ = self._search.player.follow(policy, slot, moves)
        if is_legal:
            return slot
        self._search.close_slot(slot)
        return None

    def _descend(self, descent: Descent) -> int | None:
        """Go on with a descent; where it ends, return a slot with its end, which may not be playable.

        It may be infeasible in a way that pruning forbids, and then be so again and again: something else is played.
        So it is where nothing was found for long, that somebody may look at clock and keyboard.
        """
        has_ended = self.judge.descend(self._search.members().feasible)
        self._queue.extend(Neighbour(*found, descent.policy) for found in self.judge.found())
        if not has_ended:
            return None if self._queue else self._another_playout()
        self._descent = None
        if not descent.weights.any():
            return None
        slot = self._played(self.judge.moves, descent.policy)
        return self._another_playout() if slot is None else slot

    def _explore(self) -> bool:
        """Look at the neighbours of a solution of the front for the first time, if there is one."""
        members = self._search.members()
        left = [i for i, number in enumerate(members.ids.tolist()) if number not in self._explored]
        if members.violations > 0 or not left:
            self._explored.intersection_update(members.ids.tolist())
            return False
        i = left[self._search.draw(len(left))]
        self._explored.add(int(members.ids[i]))
        moves, policy = self._search.member(i)
        self._set_out(moves, np.zeros(members.objectives.shape[1]), policy)
        return True

    def _set_out(self, moves: NDArray[np.int64], weights: NDArray[np.float64], policy: int) -> None:
        self.judge.begin(moves, weights)
        self._descent = Descent(weights, policy)

    def _begin(self) -> bool:
        """Begin another local search, and say how many playouts come before the next; False if there is nothing."""
        weights = self._weights()
        is_feasible = self._search.members().violations == 0
        start = None if is_feasible and self._search.player.draw() >= self._params.fresh else self._playout(weights)
        if start is None and is_feasible:
            start = self._shaken(weights)
        if start is not None:
            self._set_out(start[0], weights, start[1])
        self.n_playouts = self._params.playouts
        return start is not None

    def _weights(self) -> NDArray[np.float64]:
        """Return random weights for objectives measured by their range in the front."""
        search = self._search
        weights = -np.log([1.0 - search.player.draw() for _ in range(search.problem.n_objectives)])
        front = search.members().objectives
        span = np.ptp(front, axis=0) if len(front) else np.zeros(len(weights))
        chosen: NDArray[np.float64] = weights / np.where(span > 0, span, 1.0)
        return chosen

    def _playout(self, weights: NDArray[np.float64]) -> tuple[NDArray[np.int64], int] | None:
        """Return the best playout for the weights of those that the policies are learning from."""
        machine = self._search.machine
        slots = machine.members[0, : machine.levels[0, SIZE]]
        if slots.size == 0:
            return None
        scores = machine.pool.scores[slots]
        slot = slots[np.lexsort((scores[:, 1:] @ weights, scores[:, 0]))[0]]
        heads = machine.pool.heads[slot]
        return machine.pool.moves[slot, : heads[N_MOVES]].copy(), int(heads[POLICY])

    def _shaken(self, weights: NDArray[np.float64]) -> tuple[NDArray[np.int64], int]:
        """Return a solution near the best for the weights of a few of the front."""
        search, params = self._search, self._params
        front = search.members().objectives
        drawn = [search.draw(len(front)) for _ in range(params.sample)]
        moves, policy = search.member(min(drawn, key=lambda i: float(front[i] @ weights)))
        return self.judge.shaken(moves, params.shake + search.draw(params.shake + 1)), policy

    def is_lesson(self, slot: int) -> bool:
        """Tell whether policies should learn from a slot: playouts and the ends of local searches."""
        is_lesson = slot not in self._noted
        self._noted.discard(slot)
        return is_lesson

    def welcome(self, slot: int) -> None:
        """Leave the neighbours of a solution that comes from elsewhere, the next to be counted, to who found it."""
        self._explored.add(self._search.evaluations + 1)

    def forget(self, slot: int) -> None:
        """Think no more of a slot."""
        self._noted.discard(slot)

    def state(self, pending: list[int]) -> dict[str, NDArray[Any]]:
        """Return all that there is to remember, `pending` being the slots whose scores are awaited."""
        n, m = self._shape
        descents = [] if self._descent is None else [self._descent]
        return {
            "queue_moves": np.array([found.moves for found in self._queue], dtype=np.int64).reshape(-1, n),
            "queue_objectives": np.array([found.objectives for found in self._queue], dtype=float).reshape(-1, m),
            "queue_policies": np.array([found.policy for found in self._queue], dtype=np.int64),
            "descent_moves": np.array([self.judge.moves for _ in descents], dtype=np.int64).reshape(-1, n),
            "descent_weights": np.array([descent.weights for descent in descents], dtype=float).reshape(-1, m),
            "descent_policies": np.array([descent.policy for descent in descents], dtype=np.int64),
            "explored": np.array(sorted(self._explored), dtype=np.int64),
            "noted": np.array([slot in self._noted for slot in pending], dtype=np.int64),
            "numbers": np.array([self.n_playouts, *self.judge.numbers], dtype=np.int64),
        }

    def restore(self, arrays: dict[str, NDArray[Any]], pending: list[int]) -> None:
        """Take up what `state` gave; raises ValueError where it cannot be true."""
        search, (n, m) = self._search, self._shape
        for part, values, most in (("queue", "objectives", 2**40), ("descent", "weights", 1)):
            moves, numbers, policies = (arrays[f"{part}_{name}"] for name in ("moves", values, "policies"))
            need(len(moves) <= most, part)
            check_shape(moves, np.int64, len(moves), n)
            check_shape(numbers, np.float64, len(moves), m)
            check_shape(policies, np.int64, len(moves))
            need(np.isfinite(numbers).all() and in_range(policies, 0, self._params.n_policies), part)
        archived = [search.member(i)[0] for i in range(len(search.members().rows))]
        order = np.sort(np.array(search.problem.genotype.moves))  # type: ignore[union-attr]
        for moves in (*arrays["queue_moves"], *arrays["descent_moves"], *archived):
            need(np.array_equal(np.sort(moves), order), "permutations")
        explored, noted, numbers = arrays["explored"], arrays["noted"], arrays["numbers"]
        check_shape(explored, np.int64, len(explored))
        check_shape(noted, np.int64, len(pending))
        check_shape(numbers, np.int64, 4)
        need(in_range(numbers[:1], 0, self._params.playouts + 1) and (numbers >= 0).all(), "numbers")
        need(in_range(numbers[2:3], 0, self.judge.n_rows), "a row")
        queued = (arrays[f"queue_{name}"] for name in ("moves", "objectives", "policies"))
        self._queue = deque(Neighbour(a, b, int(policy)) for a, b, policy in zip(*queued, strict=True))
        descents = (arrays[f"descent_{name}"] for name in ("moves", "weights", "policies"))
        for moves, weights, policy in zip(*descents, strict=True):
            self._set_out(moves, weights, int(policy))
        self._explored = set(explored.tolist())
        self._noted = {slot for slot, flag in zip(pending, noted, strict=True) if flag}
        self.n_playouts = int(numbers[0])
        self.judge.numbers = tuple(map(int, numbers[1:]))
