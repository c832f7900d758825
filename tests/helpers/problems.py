"""Small plain problems, each with a sentence on why it exists."""

import numpy as np

from pareto_nrpa import Problem


class Knapsack(Problem):
    """Two moves at each of n steps, no code twice in a sequence: the simplest plain problem with a real front."""

    n_objectives = 2

    def __init__(self, n=8, seed=0):
        rng = np.random.default_rng(seed)
        self.weights, self.profits = rng.integers(1, 30, (2, n)).tolist()

    def initial_state(self):
        return ()

    def legal_moves(self, state):
        return (0, 1) if len(state) < len(self.weights) else ()

    def play(self, state, move):
        return (*state, move)

    def move_code(self, state, move):
        return len(state), move

    def evaluate(self, state):
        load = sum(w for w, taken in zip(self.weights, state, strict=True) if taken)
        return load, sum(self.profits) - sum(p for p, taken in zip(self.profits, state, strict=True) if taken)


class Word(Problem):
    """Letters in a row, coded by the letter alone: the same codes are legal at every step."""

    n_objectives = 3
    constrained = True
    length, letters = 5, "abcd"

    def initial_state(self):
        return ""

    def legal_moves(self, state):
        # One letter fewer after an "a", and sometimes a single one: all kinds of decisions.
        if len(state) == self.length:
            return []
        return list(self.letters[1:] if state.endswith("a") else "c" if state.endswith("dd") else self.letters)

    def play(self, state, move):
        return state + move

    def move_code(self, state, move):
        return move

    def evaluate(self, state):
        counts = [state.count(letter) for letter in self.letters]
        return (counts[0] + 2 * counts[3], 5 - len(set(state)), -counts[1] * (state + "x").index("x")), counts[2] > 2

    def bias(self, state, move, preference):
        # Depends on the state, and on what the policy prefers.
        return 0.3 * len(state) * (preference[0] - preference[1]) * (ord(move) - 98)


class Digits(Problem):
    """One objective: for comparison with plain NRPA."""

    n_objectives = 1
    target = (3, 1, 4, 1, 5, 9)

    def initial_state(self):
        return ()

    def legal_moves(self, state):
        return tuple(range(10)) if len(state) < len(self.target) else ()

    def play(self, state, move):
        return (*state, move)

    def move_code(self, state, move):
        return len(state) * 10 + move

    def evaluate(self, state):
        return sum(abs(a - b) ** 1.1 for a, b in zip(state, self.target, strict=True))
