"""Jobs on machines, each job in an order of its own: done early as a whole, against the important ones early.

A solution is an order of operations in which job 3 stands as often as it has operations: whichever comes first, its
first operation is meant. Any such order can be carried out.
"""

import numpy as np

from pareto_nrpa import MaxEvaluations, Problem, solve


def job_shop(routes, times, importance):
    """A problem: `routes[job]` are the machines that a job needs one after the other, `times[job]` for how long."""

    def ends(order):
        """Return when each job is done."""
        job_free, machine_free, step = [0] * len(routes), [0] * len(routes[0]), [0] * len(routes)
        for job in order:
            machine = routes[job][step[job]]
            done = max(job_free[job], machine_free[machine]) + times[job][step[job]]
            job_free[job] = machine_free[machine] = done
            step[job] += 1
        return job_free

    def evaluate(order):
        done = ends(order)
        return max(done), sum(weight * end for weight, end in zip(importance, done, strict=True))

    operations = [job for job, route in enumerate(routes) for _ in route]
    return Problem.from_permutation(
        evaluate,
        operations,
        repeats=True,  # the operations of a job are alike: what counts is which of them comes first
        code="position",
        name="job shop",
        objective_names=("makespan", "weighted ends"),
    )


def make(jobs=10, machines=5, seed=1):
    rng = np.random.default_rng(seed)
    routes = [rng.permutation(machines).tolist() for _ in range(jobs)]
    return job_shop(routes, rng.integers(1, 100, (jobs, machines)).tolist(), rng.integers(1, 10, jobs).tolist())


if __name__ == "__main__":
    result = solve(make(), stop=MaxEvaluations(20_000), seed=1)
    print(result.summary())
