"""A problem in plain Python: pack the most profit into the least weight."""

from pareto_nrpa import MaxEvaluations, ParetoNRPA, Problem, solve


class Knapsack(Problem):
    """Take or leave each item."""

    n_objectives = 2
    maximise = (False, True)  # weight down, profit up

    def __init__(self, weights, profits):
        self.weights, self.profits = weights, profits

    def initial_state(self):
        return ()

    def legal_moves(self, state):  # none left means that the solution is complete
        return (0, 1) if len(state) < len(self.weights) else ()

    def play(self, state, move):
        return (*state, move)

    def move_code(self, state, move):  # what the policy learns a weight for
        return len(state), move

    def evaluate(self, state):
        return [sum(value * taken for value, taken in zip(v, state, strict=True)) for v in (self.weights, self.profits)]


def make():
    return Knapsack(weights=[5, 8, 3, 2, 7, 9, 4, 6], profits=[6, 9, 5, 1, 8, 9, 3, 7])


if __name__ == "__main__":
    result = solve(make(), ParetoNRPA(level=3), stop=MaxEvaluations(2_000), seed=1)
    print(result.summary())
