"""Slow, obvious versions of everything fast: written from the paper, sharing no code with the package."""

import math
from copy import deepcopy

import numpy as np

from pareto_nrpa import Problem
from pareto_nrpa.engine.jit.kernels import python_function


class OutOfBudget(Exception):
    pass


class AsPlain(Problem):
    """A compiled problem played through its kernels as plain Python, on copies of its states."""

    def __init__(self, compiled):
        self.compiled, self.data = compiled, compiled.data
        self.n_objectives = compiled.n_objectives
        self.constrained = True
        self.preference = compiled.preference
        self.words = {word: python_function(f) for word, f in compiled.kernels.items()}
        if "bias" in self.words:
            self.bias = lambda state, move, preference: self.words["bias"](self.data, state, move, preference)

    def initial_state(self):
        return self.words["initial_state"](self.data)

    def legal_moves(self, state):
        out = np.zeros(self.compiled.max_legal, dtype=np.int64)
        return out[: self.words["legal_moves"](self.data, state, out)].tolist()

    def play(self, state, move):
        state = deepcopy(state)
        self.words["play"](self.data, state, move)
        return state

    def move_code(self, state, move):
        return int(self.words["move_code"](self.data, state, move))

    def evaluate(self, state):
        out = np.zeros(self.n_objectives)
        violations = self.words["evaluate"](self.data, state, out)
        return out, float(violations)


def dominates(a, b):
    """Compare (violations, objectives) pairs: fewer violations, then Pareto dominance."""
    if a[0] != b[0]:
        return a[0] < b[0]
    return all(x <= y for x, y in zip(a[1], b[1], strict=True)) and a[1] != b[1]


def sort_into_fronts(scores):
    """Return lists of indices: F0, F1, ... in the order of the input."""
    left, fronts = list(range(len(scores))), []
    while left:
        front = [i for i in left if not any(dominates(scores[j], scores[i]) for j in left)]
        fronts.append(front)
        left = [i for i in left if i not in front]
    return fronts


def crowding(points):
    """Return the crowding distance of each objective vector of one front, clipped to 2."""
    n, m = len(points), len(points[0])
    if m == 1:
        return [1.0] * n
    if n <= 2:
        return [2.0] * n
    distance = [0.0] * n
    for k in range(m):
        order = sorted(range(n), key=lambda i: points[i][k])
        span = points[order[-1]][k] - points[order[0]][k]
        distance[order[0]] = distance[order[-1]] = math.inf
        if span > 0:
            for before, i, after in zip(order, order[1:], order[2:], strict=False):
                distance[i] += (points[after][k] - points[before][k]) / span / m
    return [min(d, 2.0) for d in distance]


class Sequence:
    """A playout: its moves, the policy that sampled it, its score."""

    def __init__(self, moves, policy, score):
        self.moves, self.policy, self.score = moves, policy, score


class PlainParetoNRPA:
    """Algorithms 1 to 3 by recursion, with dictionaries for policies that are copied wherever the paper copies them."""

    def __init__(self, problem, *, level, n_policies, alpha, iterations, seed, budget, **options):
        self.problem, self.level, self.n_policies = problem, level, n_policies
        self.alpha, self.iterations, self.budget = alpha, iterations, budget
        self.rng = np.random.default_rng(seed)
        self.weighting = options.pop("weighting", "crowding")
        self.adapt_mode = options.pop("adapt", "all")
        scale = options.pop("bias", 1.0)
        self.bias_scale = scale if problem.bias is not None else 0.0
        self.temperature = options.pop("temperature", 1.0)
        self.limited_repetitions = options.pop("limited_repetitions", 0)
        self.playouts_per_step = options.pop("playouts_per_step", 1)
        self.preferences = options.pop("preferences", None)
        assert not options
        self.evaluated = []

    def run(self):
        try:
            while True:  # a search that is over begins anew until the budget is used up
                self.search(self.level, [{} for _ in range(self.n_policies)])
        except OutOfBudget:
            return self.best()

    def best(self):
        best = []
        for sequence in self.evaluated:
            if any(s.score == sequence.score or dominates(s.score, sequence.score) for s in best):
                continue
            best = [s for s in best if not dominates(sequence.score, s.score)] + [sequence]
        return sorted(best, key=lambda s: s.score[1])

    def search(self, level, policies):
        if level == 0:
            return [self.sampled(policies) for _ in range(self.playouts_per_step)]
        kept, repetitions = [], 0
        for _ in range(self.iterations):
            handed = policies if level == 1 else deepcopy(policies)
            new = self.search(level - 1, handed)
            kept, distances, improved = self.select(kept, new)
            repetitions = 0 if improved else repetitions + 1
            self.adapt(policies, kept, distances)
            if self.limited_repetitions and repetitions >= self.limited_repetitions:
                break
        return kept

    def sampled(self, policies):
        k = int(self.rng.random() * self.n_policies) if self.n_policies > 1 else 0
        return self.playout(policies[k], k)

    def probabilities(self, policy, k, state, moves):
        def logit(move):
            x = policy.get(self.problem.move_code(state, move), 0.0)
            if self.bias_scale:
                x += self.bias_scale * self.problem.bias(state, move, self.preferences[k])
            return x / self.temperature

        powers = [math.exp(logit(move)) for move in moves]
        return [p / sum(powers) for p in powers]

    def playout(self, policy, k):
        if len(self.evaluated) == self.budget:
            raise OutOfBudget
        state, played = self.problem.initial_state(), []
        while moves := self.problem.legal_moves(state):
            position = 0
            if len(moves) > 1:
                u, reached = self.rng.random(), 0.0
                for i, p in enumerate(self.probabilities(policy, k, state, moves)):
                    reached += p
                    position = i
                    if reached > u:
                        break
            played.append(moves[position])
            state = self.problem.play(state, moves[position])
        value = self.problem.evaluate(state)
        objectives, violations = value if self.problem.constrained else (value, 0.0)
        sequence = Sequence(played, k, (violations, tuple(map(float, np.atleast_1d(objectives)))))
        self.evaluated.append(sequence)
        return sequence

    def select(self, kept, new):
        united = []
        for sequence in [*kept, *new]:
            if all(s.score != sequence.score for s in united):
                united.append(sequence)
        fronts = sort_into_fronts([s.score for s in united])
        chosen, distances = [], []
        for rank, front in enumerate(fronts):
            crowd = crowding([united[i].score[1] for i in front])
            for i, d in zip(front, crowd, strict=True):
                if rank == 0 or all(s.policy != united[i].policy for s in chosen):
                    chosen.append(united[i])
                    distances.append(d)
        first = [united[i] for i in fronts[0]]
        return chosen, distances, any(s in first for s in new)

    def adapt(self, policies, kept, distances):
        for i, (sequence, distance) in enumerate(zip(kept, distances, strict=True)):
            if self.adapt_mode == "one":
                rivals = [j for j, s in enumerate(kept) if s.policy == sequence.policy]
                if i != max(rivals, key=lambda j: (distances[j], -j)):
                    continue
            step = self.alpha * (distance if self.weighting == "crowding" else 1.0)
            old, state = dict(policies[sequence.policy]), self.problem.initial_state()
            new = policies[sequence.policy]
            for move in sequence.moves:
                moves = self.problem.legal_moves(state)
                code = self.problem.move_code(state, move)
                new[code] = new.get(code, 0.0) + step
                for other, p in zip(moves, self.probabilities(old, sequence.policy, state, moves), strict=True):
                    code = self.problem.move_code(state, other)
                    new[code] = new.get(code, 0.0) - step * p
                state = self.problem.play(state, move)


def nrpa(problem, *, level, alpha, iterations, rng):
    """Return the best (score, moves) of plain single-objective NRPA (Rosin 2011), minimising; ties keep the older."""

    def playout(policy):
        state, moves_played = problem.initial_state(), []
        while moves := problem.legal_moves(state):
            choice = moves[0]
            if len(moves) > 1:
                powers = [math.exp(policy.get(problem.move_code(state, move), 0.0)) for move in moves]
                u, reached = rng.random() * sum(powers), 0.0
                for move, power in zip(moves, powers, strict=True):
                    reached, choice = reached + power, move
                    if reached > u:
                        break
            moves_played.append(choice)
            state = problem.play(state, choice)
        return problem.evaluate(state), moves_played

    def adapt(policy, sequence):
        new, state = dict(policy), problem.initial_state()
        for move in sequence:
            moves = problem.legal_moves(state)
            powers = {m: math.exp(policy.get(problem.move_code(state, m), 0.0)) for m in moves}
            new[problem.move_code(state, move)] = new.get(problem.move_code(state, move), 0.0) + alpha
            for m in moves:
                code = problem.move_code(state, m)
                new[code] = new.get(code, 0.0) - alpha * powers[m] / sum(powers.values())
            state = problem.play(state, move)
        return new

    def search(level, policy):
        if level == 0:
            return playout(policy)
        best = (math.inf, [])
        for _ in range(iterations):
            result = search(level - 1, policy)
            if result[0] < best[0]:
                best = result
            policy = adapt(policy, best[1])
        return best

    return search(level, {})
