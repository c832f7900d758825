"""Pareto-NRPA as the paper states it: Algorithms 1 to 3 as a plain recursion, short and slow.

`search.py` computes the same with arrays and without recursion, about a hundred times faster; tests compare both.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from ...problem.base import objective_signs
from ...problem.stepper import stepper

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterable, Sequence

    from ...problem.base import AnyProblem
    from ...problem.stepper import Stepper
    from .params import ParetoNRPA

#: A policy has a weight for each code of a move; a missing code has weight 0.
Policy: TypeAlias = "dict[Hashable, float]"
#: Violations, and the minimised objectives.
Score: TypeAlias = "tuple[float, tuple[float, ...]]"
#: The kept sequences, with the crowding distance D of each.
Kept: TypeAlias = "dict[Sampled, float]"


@dataclass(eq=False)
class Sampled:
    """A sequence of moves, its score, and the number of the policy that sampled it."""

    moves: list[Any]
    score: Score
    policy: int


class Reference:
    """Pareto-NRPA on one problem. `sampled` has all sequences evaluated so far, in their order."""

    def __init__(self, problem: AnyProblem, params: ParetoNRPA, *, seed: int, n_iterations: int) -> None:
        self.problem, self.params, self.n_iterations = problem, params, n_iterations
        self.rng = np.random.default_rng(seed)
        self.sampled: list[Sampled] = []
        self._signs, self._preferences = objective_signs(problem), params.preference_matrix(problem)

    def run(self, n_evaluations: int) -> Kept:
        """Return the non-dominated ones of the first sequences; a finished search starts again."""
        while len(self.sampled) < n_evaluations:
            self.pareto_nrpa(self.params.level, [{} for _ in range(self.params.n_policies)])
        return non_dominated(self.sampled[:n_evaluations])

    def playout(self, policy: Policy, k: int) -> Sampled:
        """Sample a sequence with policy number k (Algorithm 1)."""
        state = stepper(self.problem)
        while moves := state.legal_moves():
            state.play(moves[self.choose(self.probabilities(policy, k, state, moves))])
        objectives, violations = state.evaluate()
        sequence = Sampled(state.moves, (violations, tuple((self._signs * objectives).tolist())), k)
        self.sampled.append(sequence)
        return sequence

    def choose(self, probabilities: list[float]) -> int:
        """Draw a position; with a single one, nothing is drawn."""
        if len(probabilities) == 1:
            return 0
        return min(int(np.searchsorted(np.cumsum(probabilities), self.rng.random(), "right")), len(probabilities) - 1)

    def probabilities(self, policy: Policy, k: int, state: Stepper, moves: Sequence[Any]) -> list[float]:
        """Return the probability of each move: softmax of its weight plus its bias (GNRPA)."""
        powers = [math.exp(policy.get(state.code(move), 0.0) + self.beta(k, state, move)) for move in moves]
        return [power / sum(powers) for power in powers]

    def beta(self, k: int, state: Stepper, move: Any) -> float:
        """Return the bias of a move, if the problem has one."""
        return self.params.bias * state.bias(move, self._preferences[k]) if state.has_bias else 0.0

    def pareto_nrpa(self, level: int, policies: list[Policy]) -> Iterable[Sampled]:
        """Return the set S* of a search of a level (Algorithm 2)."""
        if level == 0:
            k = int(self.rng.random() * len(policies)) if len(policies) > 1 else 0
            return [self.playout(policies[k], k)]
        kept: Kept = {}  # S*
        for _ in range(self.n_iterations):
            kept = non_dominated([*kept, *self.pareto_nrpa(level - 1, policies)])
            policies = self.pareto_adapt(policies, kept)
        return kept

    def pareto_adapt(self, policies: list[Policy], kept: Kept) -> list[Policy]:
        """Return the policies, each one step nearer to every kept sequence that it sampled (Algorithm 3)."""
        adapted = list(policies)
        for sequence, distance in kept.items():
            k, step = sequence.policy, self.params.alpha * distance
            old, new = adapted[k], dict(adapted[k])
            state = stepper(self.problem)
            for move in sequence.moves:
                new[state.code(move)] = new.get(state.code(move), 0.0) + step
                moves = state.legal_moves()
                for other, probability in zip(moves, self.probabilities(old, k, state, moves), strict=True):
                    new[state.code(other)] = new.get(state.code(other), 0.0) - step * probability
                state.play(move)
            adapted[k] = new
        return adapted


def dominates(a: Score, b: Score) -> bool:
    """Tell whether a score dominates another: fewer violations, else not worse in any objective and better in one."""
    if a[0] != b[0]:
        return a[0] < b[0]
    return all(x <= y for x, y in zip(a[1], b[1], strict=True)) and a[1] != b[1]


def sort_into_fronts(scores: Sequence[Score]) -> list[list[int]]:
    """Return the positions of the scores in each front F0, F1, ..., in their order."""
    left, fronts = list(range(len(scores))), []
    while left:
        front = [i for i in left if not any(dominates(scores[j], scores[i]) for j in left)]
        fronts.append(front)
        left = [i for i in left if i not in front]
    return fronts


def non_dominated(sequences: Iterable[Sampled]) -> Kept:
    """Return S*: the first front, and of each policy that is missing there the first sequence of a later front.

    Of sequences with equal scores the first one counts.
    """
    by_score: dict[Score, Sampled] = {}
    for sequence in sequences:
        by_score.setdefault(sequence.score, sequence)
    different = list(by_score.values())
    kept: Kept = {}
    for rank, front in enumerate(sort_into_fronts(list(by_score))):
        distances = crowding_distances([different[i].score[1] for i in front])
        for i, distance in zip(front, distances, strict=True):
            if rank == 0 or all(different[i].policy != sequence.policy for sequence in kept):
                kept[different[i]] = distance
    return kept


def crowding_distances(points: Sequence[Sequence[float]]) -> list[float]:
    """Return the crowding distance of each point of a front, clipped to 2; of a single objective 1, as in NRPA."""
    n, n_objectives = len(points), len(points[0])
    if n_objectives == 1:
        return [1.0] * n
    distances = [0.0] * n
    for k in range(n_objectives):
        order = sorted(range(n), key=lambda i: points[i][k])
        distances[order[0]] = distances[order[-1]] = math.inf
        span = points[order[-1]][k] - points[order[0]][k]
        for before, i, after in zip(order, order[1:], order[2:], strict=False):
            if span > 0:
                distances[i] += (points[after][k] - points[before][k]) / span / n_objectives
    return [min(distance, 2.0) for distance in distances]
