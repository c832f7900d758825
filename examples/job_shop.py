"""Job shop: a short makespan against early completion of important jobs.

Each job visits the machines in its own order. A solution is an order of job numbers in which each job occurs once for
each of its operations; the k-th occurrence of a job is its k-th operation. Every such order is feasible.
"""

import numpy as np

from pareto_nrpa import MaxEvaluations, Problem, solve


def job_shop(routes, times, importance):
    """Return the problem: `routes[job]` lists the machines of a job in order, `times[job]` the processing times."""

    def ends(order):
        """Return the completion time of each job."""
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
        repeats=True,  # a job occurs once for each operation
        code="position",
        name="job shop",
        objective_names=("makespan", "weighted completion"),
    )


def make(jobs=10, machines=5, seed=1):
    rng = np.random.default_rng(seed)
    routes = [rng.permutation(machines).tolist() for _ in range(jobs)]
    return job_shop(routes, rng.integers(1, 100, (jobs, machines)).tolist(), rng.integers(1, 10, jobs).tolist())


if __name__ == "__main__":
    result = solve(make(), stop=MaxEvaluations(20_000), seed=1)
    print(result.summary())
