"""Jobs in one order through all machines: finished early as a whole, against few late jobs.

The code of a move is what policies learn a weight for: which job, at which place, or which job after which.
"""

import numpy as np

from pareto_nrpa import MaxEvaluations, Permutation, Problem, solve


class FlowShop(Problem):
    """Which job comes next?"""

    objective_names = ("makespan", "tardiness")

    def __init__(self, times, due, code="place"):
        self.times, self.due, self.code = times.tolist(), due.tolist(), code
        self.genotype = Permutation(range(len(times)))  # every order is a solution: NSGA-II and others may join

    def initial_state(self):
        return ()

    def legal_moves(self, state):
        return [job for job in range(len(self.times)) if job not in state]

    def play(self, state, job):
        return (*state, job)

    def move_code(self, state, job):
        if self.code == "job":
            return job  # early or late jobs, whatever the place
        if self.code == "place":
            return len(state), job
        return (state[-1] if state else None), job  # "predecessor": which job follows which

    def bias(self, state, job):
        return -3 * self.due[job] / max(self.due)  # what is due early had better be early

    def evaluate(self, state):
        free = [0] * len(self.times[0])  # when each machine is
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
    # Due when the job could be done if it did not have to wait, and somewhere in the time that all jobs take.
    due = times.sum(axis=1) + rng.integers(0, times.sum(axis=0).max(), n)
    return FlowShop(times, due, code)


if __name__ == "__main__":
    result = solve(make(), stop=MaxEvaluations(20_000), seed=1)
    print(result.summary())
