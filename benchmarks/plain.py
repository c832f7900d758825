"""What the engine adds to the methods of a plain-Python problem."""

import sys
import time
from pathlib import Path

from report import write

from pareto_nrpa import ParetoNRPA, Problem

sys.path.insert(0, str(Path(__file__).parent.parent / "examples"))
from knapsack import Knapsack

STEPS, EVALUATIONS, REPETITIONS = 20, 500, 30


class Row(Problem):
    """Twenty steps of `width` moves each, with methods that cost next to nothing."""

    def __init__(self, width: int) -> None:
        self.moves = tuple(range(width))

    def initial_state(self):
        return ()

    def legal_moves(self, state):
        return self.moves if len(state) < STEPS else ()

    def play(self, state, move):
        return (*state, move)

    def move_code(self, state, move):
        return len(state), move

    def evaluate(self, state):
        return sum(state), -state[0] - state[-1]


def own_cost(problem: Problem) -> float:
    """Return the microseconds that the problem's methods take for one sequence, called as the engine calls them."""
    begin = time.process_time()
    for _ in range(EVALUATIONS):
        state = problem.initial_state()
        while moves := problem.legal_moves(state):
            for move in moves:
                problem.move_code(state, move)
            state = problem.play(state, moves[0])
        problem.evaluate(state)
    return (time.process_time() - begin) / EVALUATIONS * 1e6


def total_cost(search) -> float:
    begin = time.process_time()
    search.advance(EVALUATIONS)
    return (time.process_time() - begin) / EVALUATIONS * 1e6


def main() -> None:
    rows = []
    weights, profits = list(range(3, 3 + STEPS)), [(7 * i) % 19 + 1 for i in range(STEPS)]
    for name, problem in (("knapsack, 2 moves a step", Knapsack(weights, profits)), ("5 moves a step", Row(5))):
        search = ParetoNRPA().start(problem, seed=1, budget=100_000)
        search.advance(EVALUATIONS)
        # In turns, so that a busy moment of the machine does not fall on one of them alone.
        pairs = [(own_cost(problem), total_cost(search)) for _ in range(REPETITIONS)]
        own, total = map(min, zip(*pairs, strict=True))
        rows.append([name, f"{total:.1f}", f"{own:.1f}", f"**{total - own:.1f}**", "30"])
    header = ["problem, 20 steps", "total, us", "its own methods, us", "engine's share, us", "wanted at most"]
    write("plain", "What the engine adds to a plain-Python problem, per evaluation", header, rows)


if __name__ == "__main__":
    main()
