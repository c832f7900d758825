"""Slow, obvious versions of what is fast, written from the literature."""

import itertools
import math

import numpy as np

from pareto_nrpa.algorithms.nrpa.reference import Reference, non_dominated, sort_into_fronts


class WithOptions(Reference):
    """The reference with the parameters that the paper does not have."""

    def beta(self, k, state, move):
        return super().beta(k, state, move) / self.params.temperature

    def probabilities(self, policy, k, state, moves):
        scaled = {code: weight / self.params.temperature for code, weight in policy.items()}
        return super().probabilities(scaled, k, state, moves)

    def pareto_nrpa(self, level, policies):
        if level == 0:
            playouts = [super(WithOptions, self).pareto_nrpa(0, policies) for _ in range(self.params.playouts_per_step)]
            return [sequence for (sequence,) in playouts]
        kept, repetitions = {}, 0
        for _ in range(self.n_iterations):
            new = self.pareto_nrpa(level - 1, policies)
            kept = non_dominated([*kept, *new])
            first = sort_into_fronts([sequence.score for sequence in kept])[0]
            improved = any(sequence in [list(kept)[i] for i in first] for sequence in new)
            repetitions = 0 if improved else repetitions + 1
            policies = self.pareto_adapt(policies, kept)
            if repetitions == self.params.limited_repetitions > 0:
                break
        return kept

    def pareto_adapt(self, policies, kept):
        if self.params.adapt == "one":
            most = {}
            for sequence, distance in kept.items():
                if distance > kept.get(most.get(sequence.policy), -1.0):
                    most[sequence.policy] = sequence
            kept = {sequence: distance for sequence, distance in kept.items() if sequence in most.values()}
        if self.params.weighting == "none":
            kept = dict.fromkeys(kept, 1.0)
        return super().pareto_adapt(policies, kept)


def nrpa(problem, *, level, alpha, iterations, rng):
    """Return the best (score, moves) of plain single-objective NRPA (Rosin 2011), minimising; ties keep the older."""

    def powers_of(policy, state, moves):
        return [math.exp(policy.get(problem.move_code(state, move), 0.0)) for move in moves]

    def playout(policy):
        state, sequence = problem.initial_state(), []
        while moves := problem.legal_moves(state):
            powers = powers_of(policy, state, moves)
            u = rng.random() * sum(powers) if len(moves) > 1 else 0.0
            reached = zip(moves, itertools.accumulate(powers), strict=True)
            sequence.append(next((move for move, total in reached if total > u), moves[-1]))
            state = problem.play(state, sequence[-1])
        return problem.evaluate(state), sequence

    def adapt(policy, sequence):
        new, state = dict(policy), problem.initial_state()
        for played in sequence:
            moves = problem.legal_moves(state)
            powers = powers_of(policy, state, moves)
            for move, power in zip(moves, powers, strict=True):
                code = problem.move_code(state, move)
                new[code] = new.get(code, 0.0) + alpha * ((move == played) - power / sum(powers))
            state = problem.play(state, played)
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


# --- the baselines, sharing no code with the package


class OutOfBudget(Exception):
    pass


def is_dominated(a, b):
    """Tell whether the vector a (all minimised) is dominated by b."""
    return all(y <= x for x, y in zip(a, b, strict=True)) and tuple(a) != tuple(b)


def covers(a, b):
    """Compare (violations, objectives): fewer violations, or as few and no objective worse."""
    return a[0] < b[0] if a[0] != b[0] else all(x <= y for x, y in zip(a[1], b[1], strict=True))


def best_of(scores):
    """Return the set of (violations, objectives) that nothing else covers."""
    distinct = {(violations, tuple(objectives)) for violations, objectives in scores}
    return {a for a in distinct if not any(a != b and covers(b, a) for b in distinct)}


class Searcher:
    """What tree search and nested search have in common: random playouts by the bias, and a budget."""

    def __init__(self, problem, *, seed, budget, bias=1.0):
        self.problem, self.budget, self.bias = problem, budget, bias
        self.rng = np.random.default_rng(seed)
        self.evaluated = []  # (moves, violations, objectives)

    def draw(self, n):
        """Return one of n, all alike."""
        return int(self.rng.random() * n)

    def state_after(self, moves):
        state = self.problem.initial_state()
        for move in moves:
            state = self.problem.play(state, move)
        return state

    def legal(self, moves):
        return list(self.problem.legal_moves(self.state_after(moves)))

    def playout(self, moves):
        """Play on at random from given moves to the end, and evaluate."""
        if len(self.evaluated) == self.budget:
            raise OutOfBudget
        moves, state = list(moves), self.state_after(moves)
        while legal := list(self.problem.legal_moves(state)):
            move = legal[0]
            if len(legal) > 1:
                move = legal[self.softmax(state, legal)]
            moves.append(move)
            state = self.problem.play(state, move)
        value = self.problem.evaluate(state)
        objectives, violations = value if self.problem.constrained else (value, 0.0)
        self.evaluated.append((tuple(moves), violations, tuple(objectives)))
        return self.evaluated[-1]

    def softmax(self, state, legal):
        powers = np.ones(len(legal))
        if self.problem.bias is not None and self.bias:
            preference = self.problem.preference or np.eye(self.problem.n_objectives)[0]
            powers = np.exp([self.bias * self.problem.bias(state, move, preference) for move in legal])
        return min(int((np.cumsum(powers / powers.sum()) <= self.rng.random()).sum()), len(legal) - 1)

    def run(self):
        try:
            while True:
                self.round()
        except OutOfBudget:
            return self


class Node:
    """A position in the tree of Pareto-MCTS."""

    def __init__(self):
        self.visits, self.total, self.children = 0, 0.0, None


class PlainParetoMCTS(Searcher):
    """Pareto-MCTS by recursion (Chen & Liu 2019), with a tree of dictionaries; several playouts per leaf."""

    def __init__(self, problem, *, playouts, exploration=1.0, **others):
        super().__init__(problem, **others)
        self.playouts, self.exploration, self.root = playouts, exploration, Node()

    def round(self):
        path, moves = [self.root], []
        self.descend(self.root, path, moves)
        for _ in range(self.playouts):
            _, violations, objectives = self.playout(moves)
            for node in path:
                node.visits += 1
                node.total = node.total + np.array(objectives) + 1e6 * violations

    def descend(self, node, path, moves):
        if node.children is None:
            node.children = {move: Node() for move in self.legal(moves)}
        if not node.children:
            return
        move = self.choose(node)
        moves.append(move)
        path.append(node.children[move])
        if path[-1].visits:
            self.descend(path[-1], path, moves)

    def choose(self, node):
        if new := [move for move, child in node.children.items() if child.visits == 0]:
            return new[self.draw(len(new))]
        means = np.array([child.total / child.visits for child in node.children.values()])
        visits = np.array([child.visits for child in node.children.values()])
        bounds = lower_bounds(means, visits, node.visits, self.exploration)
        best = [
            move
            for move, bound in zip(node.children, bounds, strict=True)
            if not any(is_dominated(bound, other) for other in bounds)
        ]
        return best[self.draw(len(best))]

    def visit_counts(self):
        counts = {}

        def walk(node, moves):
            counts[moves] = node.visits
            for move, child in (node.children or {}).items():
                walk(child, (*moves, move))

        walk(self.root, ())
        return counts


def lower_bounds(means, visits, n, exploration):
    """Return mean - C sqrt((4 ln n + ln m) / (2 n_i)), where C is the range of the means of each objective."""
    m = means.shape[1]
    widths = np.sqrt((4 * math.log(n) + math.log(m)) / (2 * visits))
    return means - exploration * np.ptp(means, axis=0)[None, :] * widths[:, None]


class PlainNMCS(Searcher):
    """Nested Monte-Carlo Search by recursion (Cazenave 2009, with memory of the best sequence), for weighted sums."""

    def __init__(self, problem, *, level, weights, **others):
        super().__init__(problem, **others)
        self.level, self.weights, self.turn = level, weights, 0

    def round(self):
        front = np.array([objectives for _, objectives in best_of([(v, o) for _, v, o in self.evaluated])])
        ranges = np.ptp(front, axis=0) if len(front) else np.zeros(self.problem.n_objectives)
        self.scale = np.where(ranges > 0, ranges, 1.0)
        self.weight = self.weights[self.turn % len(self.weights)]
        self.turn += 1
        self.nested(self.level, ())

    def value(self, evaluated):
        moves, violations, objectives = evaluated
        return (violations, sum(w * x / s for w, x, s in zip(self.weight, objectives, self.scale, strict=True))), moves

    def nested(self, level, moves):
        """Return the best value and sequence that begins with `moves`; a position at the end is worth what it is."""
        if level == 0 or not self.legal(moves):
            return self.value(self.playout(moves))
        best = None
        while legal := self.legal(moves):
            for move in legal:
                found = self.nested(level - 1, (*moves, move))
                if best is None or found[0] < best[0]:
                    best = found
            moves = best[1][: len(moves) + 1]
        return best
