"""Departments of a hospital to buildings: short ways for patients, against short ways for goods.

The function is compiled by Numba: that takes a second, and is ten times as fast from then on.
"""

import numpy as np
from numba import njit

from pareto_nrpa import MaxEvaluations, Problem, solve


def assignment(distances, patients, goods):
    """A problem: what goes between each two departments, and how far the buildings are from each other."""

    @njit
    def evaluate(building):  # an array: the building of each department
        far, heavy = 0.0, 0.0
        for one in range(building.size):
            for other in range(building.size):
                distance = distances[building[one], building[other]]
                far += patients[one, other] * distance
                heavy += goods[one, other] * distance
        return far, heavy

    return Problem.from_permutation(
        evaluate,
        len(distances),
        code="position",
        name="quadratic assignment",
        objective_names=("ways of patients", "ways of goods"),
    )


def make(n=20, seed=1):
    rng = np.random.default_rng(seed)
    where = rng.random((n, 2))
    distances = np.round(100 * np.linalg.norm(where[:, None] - where, axis=2))
    patients, goods = np.maximum(0, rng.integers(-50, 50, (2, n, n)))
    return assignment(distances, patients, goods)


if __name__ == "__main__":
    result = solve(make(), stop=MaxEvaluations(50_000), seed=1)
    print(result.summary())
