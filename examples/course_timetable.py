"""Course timetable: teachers' preferences against the largest number of seats in use at the same time.

Two courses with common students at the same time are a violation. Solutions with fewer violations always come first.
"""

import numpy as np

from pareto_nrpa import MaxEvaluations, Problem, solve

HOURS = ("Mon 9", "Mon 11", "Mon 14", "Tue 9", "Tue 11", "Tue 14", "Wed 9", "Wed 11", "Thu 9", "Thu 11", "Fri 9")


def timetable(seats, shared, dislikes):
    """Return the problem: `seats` of each course, pairs of courses with `shared` students, `dislikes[course][hour]`."""

    def evaluate(hours):
        busy = [0] * len(HOURS)
        denied = 0
        for course, hour in enumerate(hours):
            busy[hour] += seats[course]
            denied += dislikes[course][hour]
        clashes = sum(hours[one] == hours[other] for one, other in shared)
        return (denied, max(busy)), clashes

    def describe(hours):
        """Return the courses of each hour."""
        return "; ".join(
            f"{name}: {' '.join(str(course) for course, h in enumerate(hours) if h == hour)}"
            for hour, name in enumerate(HOURS)
        )

    return Problem.from_choices(
        evaluate,
        [range(len(HOURS))] * len(seats),
        constrained=True,
        name="course timetable",
        objective_names=("preferences denied", "seats in use"),
        describe=describe,
    )


def make(courses=24, seed=1):
    rng = np.random.default_rng(seed)
    shared = [(i, j) for i in range(courses) for j in range(i) if rng.random() < 0.2]
    return timetable(rng.integers(10, 90, courses).tolist(), shared, rng.integers(0, 4, (courses, len(HOURS))).tolist())


if __name__ == "__main__":
    result = solve(make(), stop=MaxEvaluations(20_000), seed=1)
    print(result.summary())
