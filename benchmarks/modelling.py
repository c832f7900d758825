"""Problems of four kinds, each with several codes of a move: the tables of docs/own-problem.md.

pareto-nrpa compare benchmarks/modelling.py:tour_by_edge benchmarks/modelling.py:tour_by_city ... --seeds 10
"""

import sys
from pathlib import Path

import numpy as np

from pareto_nrpa import Problem

sys.path.append(str(Path(__file__).parent.parent / "examples"))
import flow_shop
import nurse_roster


class Sequence(Problem):
    """All moves in some order, coded as one likes."""

    def __init__(self, n, code):
        self.n, self.code = n, code

    def initial_state(self):
        return ()

    def legal_moves(self, state):
        return [move for move in range(self.n) if move not in state]

    def play(self, state, move):
        return (*state, move)

    def move_code(self, state, move):
        return self.code(state, move)


def edge(state, move):
    return (state[-1] if state else None), move


def place(state, move):
    return len(state), move


def alone(state, move):
    return move


def two_before(state, move):
    return state[-2:], move


class Tour(Sequence):
    """Short by two measures; the last city is followed by the first."""

    def __init__(self, code, n=20):
        super().__init__(n, code)
        rng = np.random.default_rng(1)
        self.costs = [np.linalg.norm(c[:, None] - c, axis=2).tolist() for c in rng.random((2, n, 2))]

    def bias(self, state, move, preference):
        return -10 * sum(w * c[state[-1]][move] for w, c in zip(preference, self.costs, strict=True)) if state else 0.0

    def evaluate(self, state):
        return [sum(costs[state[i - 1]][state[i]] for i in range(self.n)) for costs in self.costs]


class Pack(Problem):
    """Items of two profits into a sack of limited weight: take or leave one after the other."""

    maximise = True

    def __init__(self, code, n=50):
        rng = np.random.default_rng(1)
        self.weights, *self.profits = rng.integers(10, 100, (3, n)).tolist()
        self.capacity, self.code = sum(self.weights) // 3, code

    def initial_state(self):
        return ()

    def legal_moves(self, state):
        if len(state) == len(self.weights):
            return ()
        load = sum(w for w, taken in zip(self.weights, state, strict=False) if taken)
        return (0, 1) if load + self.weights[len(state)] <= self.capacity else (0,)

    def play(self, state, move):
        return (*state, move)

    def move_code(self, state, move):
        return self.code(state, move)

    def evaluate(self, state):
        return [sum(p for p, taken in zip(profits, state, strict=True) if taken) for profits in self.profits]


class BiasedPack(Pack):
    """The same, with what is worth its weight first."""

    def bias(self, state, move):
        i = len(state)
        return move * (sum(p[i] for p in self.profits) / self.weights[i] - 3.0)


class NextItem(Pack):
    """The same sack: which item goes in next, until nothing fits."""

    def legal_moves(self, state):
        room = self.capacity - sum(self.weights[i] for i in state)
        return [i for i, w in enumerate(self.weights) if i not in state and w <= room]

    def evaluate(self, state):
        return [sum(profits[i] for i in state) for profits in self.profits]


class Roster(nurse_roster.NurseRoster):
    """The roster of the gallery with a code of one's choice."""

    def __init__(self, code):
        made = nurse_roster.make()
        super().__init__(made.wishes, made.wages)
        self.code = code

    def move_code(self, state, nurse):
        return self.code(*nurse_roster.DUTIES[len(state)], len(state), nurse)


def tour_by_edge():
    return Tour(edge)


def tour_by_place():
    return Tour(place)


def tour_by_city():
    return Tour(alone)


def tour_by_last_two():
    return Tour(two_before)


def jobs_by_place():
    return flow_shop.make("place")


def jobs_by_predecessor():
    return flow_shop.make("predecessor")


def jobs_by_job():
    return flow_shop.make("job")


def pack_by_item():
    return Pack(place)


def pack_by_item_with_bias():
    return BiasedPack(place)


def pack_by_item_and_last():
    return Pack(lambda state, move: (len(state), state[-1:], move))


def pack_by_next_item():
    return NextItem(alone)


def pack_by_next_item_and_last():
    return NextItem(edge)


def roster_by_day_and_shift():
    return Roster(lambda day, shift, duty, nurse: (day, shift, nurse))


def roster_by_duty():
    return Roster(lambda day, shift, duty, nurse: (duty, nurse))


def roster_by_shift():
    return Roster(lambda day, shift, duty, nurse: (shift, nurse))


def roster_by_nurse():
    return Roster(lambda day, shift, duty, nurse: nurse)
