"""Flow shop: makespan against total tardiness of jobs that pass all machines in the same order.

The policy learns a weight for each code of a move: the job, the job at a position, or the job after another job.
"""

import numpy as np

from pareto_nrpa import MaxEvaluations, Permutation, Problem, solve


class FlowShop(Problem):
    """Which job comes next?"""

    objective_names = ("makespan", "tardiness")

    def __init__(self, times, due, code="place"):
        self.times, self.due, self.code = times.tolist(), due.tolist(), code
        self.genotype = Permutation(range(len(times)))  # every order is a solution

    def initial_state(self):
        return ()

    def legal_moves(self, state):
        return [job for job in range(len(self.times)) if job not in state]

    def play(self, state, job):
        return (*state, job)

    def move_code(self, state, job):
        if self.code == "job":
            return job  # independent of the position
        if self.code == "place":
            return len(state), job
        return (state[-1] if state else None), job  # "predecessor": which job follows which

    def bias(self, state, job):
        return -3 * self.due[job] / max(self.due)  # prefers jobs that are due early

    def evaluate(self, state):
        free = [0] * len(self.times[0])
        tardiness = 0
        for job in state:
            done = 0
            for machine, time in enumerate(self.times[job]):
                done = free[machine] = max(done, free[machine]) + time
            tardiness += max(0, done - self.due[job])
        return free[-1], tardiness


def make(code="place", n=20, machines=5, seed=1):
    rng = np.random.default_rng(seed)
    times = rng.integers(1, 100, (n, machines))
    # Due dates: processing time of the job plus a random part of the load of the busiest machine.
    due = times.sum(axis=1) + rng.integers(0, times.sum(axis=0).max(), n)
    return FlowShop(times, due, code)


if __name__ == "__main__":
    result = solve(make(), stop=MaxEvaluations(20_000), seed=1)
    print(result.summary())
