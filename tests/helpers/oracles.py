"""Slow, obvious versions of what is fast, written from the literature."""

import math
from copy import deepcopy

import numpy as np

from pareto_nrpa import Problem
from pareto_nrpa.algorithms.nrpa.reference import Reference, non_dominated, sort_into_fronts
from pareto_nrpa.engine.jit.kernels import python_function


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
