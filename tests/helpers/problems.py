"""Small problems and settings, each with a sentence on why it exists."""

import itertools

import numpy as np

from pareto_nrpa import Problem
from pareto_nrpa.algorithms.registry import NAMES, algorithm
from pareto_nrpa.problem.genotype import Choices, Permutation
from pareto_nrpa.routing import generate_tsp, generate_tsptw


class Moves(Problem):
    """States are the tuples of moves so far, and every step has codes of its own."""

    n_objectives = 2

    def initial_state(self):
        return ()

    def play(self, state, move):
        return (*state, move)

    def move_code(self, state, move):
        return len(state), move


class Knapsack(Moves):
    """Two moves at each of n steps, no code twice in a sequence: the simplest plain problem with a real front."""

    def __init__(self, n=8, seed=0):
        rng = np.random.default_rng(seed)
        self.weights, self.profits = rng.integers(1, 30, (2, n)).tolist()

    def legal_moves(self, state):
        return (0, 1) if len(state) < len(self.weights) else ()

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


class Digits(Moves):
    """One objective: for comparison with plain NRPA."""

    n_objectives = 1
    target = (3, 1, 4, 1, 5, 9)

    def legal_moves(self, state):
        return tuple(range(10)) if len(state) < len(self.target) else ()

    def move_code(self, state, move):
        return len(state) * 10 + move

    def evaluate(self, state):
        return sum(abs(a - b) ** 1.1 for a, b in zip(state, self.target, strict=True))


#: Small enough that a hundred evaluations show populations, restarts and several searches in turn.
SMALL = {
    "polished-nrpa": {"level": 2, "n_policies": 3, "iterations": 5, "playouts": 3},
    "pareto-nrpa": {"level": 2, "n_policies": 3},
    "nsga-ii": {"population": 20, "offspring": 8},
    "nsga-iii": {"population": 20, "offspring": 8},
    "sms-emoa": {"population": 20},
    "moea-d": {"subproblems": 15, "neighbours": 5},
    "pls": {"initial": 10},
    "pareto-mcts": {"playouts": 3},
    "nrpa": {"level": 2, "weights": 3},
    "nmcs": {"level": 2, "weights": 3},
    "random": {},
}
assert set(SMALL) == set(NAMES)

EVOLUTIONARY = ("nsga-ii", "nsga-iii", "sms-emoa", "moea-d")


def small(name, **others):
    """Return an algorithm with small parameters."""
    return algorithm(name, {**SMALL[name], **others})


class Bits(Knapsack):
    """A knapsack that says what its solutions are: independent choices."""

    def __init__(self, n=8, seed=0):
        super().__init__(n, seed)
        self.genotype = Choices([(0, 1)] * n)


class Recording:
    """Writes down what was evaluated, in order; for plain problems whose state is the tuple of moves."""

    def __init__(self, *arguments, **keywords):
        super().__init__(*arguments, **keywords)
        self.diary = []

    def evaluate(self, state):
        value = super().evaluate(state)
        self.diary.append((state, value))
        return value


class RecordedBits(Recording, Bits):
    """Shows all evaluations of an algorithm on choices."""


class PlainTour(Moves):
    """MO-TSP written anew in plain Python: must lead every algorithm to the results of the compiled one."""

    def __init__(self, compiled):
        self.n_objectives = compiled.n_objectives
        self.preference = compiled.preference
        self.costs = compiled.data.costs.tolist()
        self.largest = [max(map(max, matrix)) for matrix in self.costs]
        self.n = len(self.costs[0])
        self.genotype = Permutation(range(1, self.n))

    def legal_moves(self, state):
        return [city for city in range(1, self.n) if city not in state]

    def play(self, state, move):
        assert move not in state, "a city is visited once"
        return (*state, move)

    def move_code(self, state, move):
        return (0, *state)[-1], move

    def bias(self, state, move, preference):
        here = (0, *state)[-1]
        parts = [
            share * (matrix[here][move] / most)
            for share, matrix, most in zip(preference, self.costs, self.largest, strict=True)
        ]
        return -10.0 * sum(parts)

    def evaluate(self, state):
        tour = (0, *state, 0)
        sums = [sum(matrix[a][b] for a, b in itertools.pairwise(tour)) for matrix in self.costs]
        return [round_to_billionths(total) for total in sums]


def round_to_billionths(total):
    """Round as problems of tours do: half to even on the scaled value."""
    return float(np.rint(total * 1e9) / 1e9)


class RecordedTour(Recording, PlainTour):
    """Shows all evaluations of an algorithm on permutations."""


class PlainWindows(PlainTour):
    """MO-TSPTW written anew in plain Python, the rule that leaves out moves included."""

    constrained = True

    def __init__(self, compiled):
        super().__init__(compiled)
        self.distances = compiled.data.distances.tolist()
        self.opens, self.closes = compiled.data.opens.tolist(), compiled.data.closes.tolist()
        self.in_order = sorted(range(1, self.n), key=lambda city: self.closes[city])

    def drive(self, state):
        """Return when the last city is left, and how many were reached too late."""
        time, late, here = self.opens[0], 0, 0
        for city in state:
            arrival = time + self.costs[0][here][city]
            late += arrival > self.closes[city]
            time, here = max(arrival, self.opens[city]), city
        return time, late

    def all_moves(self, state):
        return [city for city in self.in_order if city not in state]

    def legal_moves(self, state):
        left = self.all_moves(state)
        time, _ = self.drive(state)
        arrival = {city: time + self.costs[0][(0, *state)[-1]][city] for city in left}
        if too_late := [city for city in left if arrival[city] > self.closes[city]]:
            return too_late
        begins = {city: max(arrival[city], self.opens[city]) for city in left}
        return [city for city in left if all(begins[city] <= self.closes[other] for other in left if other != city)]

    def bias(self, state, move, preference):
        here = (0, *state)[-1]
        parts = [share * matrix[here][move] for share, matrix in zip(preference, self.distances, strict=True)]
        return -10.0 * sum(parts)

    def evaluate(self, state):
        return super().evaluate(state), self.drive(state)[1]


class RecordedWord(Recording, Word):
    """Shows all evaluations of three objectives, violations, a bias of the state, and decisions of all kinds."""


class RecordedWindows(Recording, PlainWindows):
    """Shows all evaluations of tours with time windows."""


TSPTW = generate_tsptw(10, seed=5, tightness=0.5)
TSP = generate_tsp(10, seed=3)


def replay(problem, solution):
    """Return objectives and violations of a solution."""
    if not isinstance(problem, Problem):
        return problem.replay(solution)
    state = problem.initial_state()
    for move in solution:
        state = problem.play(state, move)
    value = problem.evaluate(state)
    return value if problem.constrained else (value, 0.0)
