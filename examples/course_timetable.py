"""A time for each course: few wishes of teachers denied, against few seats at once; no student in two places.

What must not happen is counted as a violation. The search comes to none, if there is a way.
"""

import numpy as np

from pareto_nrpa import MaxEvaluations, Problem, solve

HOURS = ("Mon 9", "Mon 11", "Mon 14", "Tue 9", "Tue 11", "Tue 14", "Wed 9", "Wed 11", "Thu 9", "Thu 11", "Fri 9")


def timetable(seats, shared, dislikes):
    """A problem: the `seats` that a course needs, pairs of courses with `shared` students, what teachers dislike."""

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
        objective_names=("wishes denied", "seats at once"),
        describe=describe,
    )


def make(courses=24, seed=1):
    rng = np.random.default_rng(seed)
    shared = [(i, j) for i in range(courses) for j in range(i) if rng.random() < 0.2]
    return timetable(rng.integers(10, 90, courses).tolist(), shared, rng.integers(0, 4, (courses, len(HOURS))).tolist())


if __name__ == "__main__":
    result = solve(make(), stop=MaxEvaluations(20_000), seed=1)
    print(result.summary())
