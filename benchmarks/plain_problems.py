"""The problems of benchmarks/plain.py: plain Python functions, as a user would write them."""

import sys
from collections.abc import Callable
from importlib import import_module
from itertools import pairwise
from operator import mul
from pathlib import Path

import numpy as np
from numba import njit

from pareto_nrpa import Problem, load

sys.path.append(str(Path(__file__).parent.parent / "examples"))


def flow_shop(seed: int, n: int = 30, machines: int = 5) -> Problem:
    """Jobs in one order through all machines: makespan and tardiness."""
    rng = np.random.default_rng(seed)
    drawn = rng.integers(1, 100, (n, machines))
    times = drawn.tolist()
    due = (drawn.sum(axis=1) + rng.integers(0, drawn.sum(axis=0).max(), n)).tolist()

    def evaluate(order):
        free, tardiness = [0] * machines, 0
        for job in order:
            done = 0
            for machine, time in enumerate(times[job]):
                done = free[machine] = max(done, free[machine]) + time
            tardiness += max(0, done - due[job])
        return free[-1], tardiness

    return Problem.from_permutation(evaluate, range(n), code="position", name="flow shop 30x5")


def assignment(seed: int, tasks: int = 40, workers: int = 6) -> Problem:
    """Each task to a worker: what it costs, and the load of the busiest."""
    rng = np.random.default_rng(seed)
    cost, time = rng.integers(1, 100, (2, tasks, workers)).tolist()

    def evaluate(chosen):
        loads, total = [0] * workers, 0
        for task, worker in enumerate(chosen):
            loads[worker] += time[task][worker]
            total += cost[task][worker]
        return total, max(loads)

    return Problem.from_choices(evaluate, [range(workers)] * tasks, name="assignment 40x6")


def job_shop(seed: int, jobs: int = 10, machines: int = 5) -> Problem:
    """Operations of jobs, each job on its machines in an order of its own: makespan and the weighted sum of ends."""
    rng = np.random.default_rng(seed)
    times = rng.integers(1, 100, (jobs, machines)).tolist()
    routes = [rng.permutation(machines).tolist() for _ in range(jobs)]
    weights = rng.integers(1, 20, jobs).tolist()

    def evaluate(order):
        ready, free, step = [0] * jobs, [0] * machines, [0] * jobs
        for operation in order:
            job = operation % jobs
            machine = routes[job][step[job]]
            ready[job] = free[machine] = max(ready[job], free[machine]) + times[job][step[job]]
            step[job] += 1
        return max(ready), sum(map(mul, weights, ready))

    return Problem.from_permutation(evaluate, range(jobs * machines), code="position", name="job shop 10x5")


def knapsack(seed: int, n: int = 50) -> Problem:
    """Two profits, and a weight that must not be exceeded."""
    rng = np.random.default_rng(seed)
    weights, first, second = rng.integers(10, 100, (3, n)).tolist()
    most = sum(weights) // 2

    def evaluate(taken):
        weight = a = b = 0
        for i, one in enumerate(taken):
            if one:
                weight, a, b = weight + weights[i], a + first[i], b + second[i]
        return (a, b), max(0, weight - most)

    options = [(0, 1)] * n
    return Problem.from_choices(evaluate, options, constrained=True, maximise=True, name="knapsack 50")


def quadratic_assignment(seed: int, n: int = 30) -> Problem:
    """Facilities to places: two flows between them, one distance."""
    rng = np.random.default_rng(seed)
    where = rng.random((n, 2))
    distance = np.round(100 * np.linalg.norm(where[:, None] - where, axis=2)).tolist()
    flows = np.maximum(0, rng.integers(-30, 30, (2, n, n))).tolist()
    pairs = [(i, j, flows[0][i][j], flows[1][i][j]) for i in range(n) for j in range(i)]
    pairs = [pair for pair in pairs if pair[2] or pair[3]]

    def evaluate(place):
        one = other = 0
        for i, j, a, b in pairs:
            far = distance[place[i]][place[j]]
            one, other = one + a * far, other + b * far
        return one, other

    return Problem.from_permutation(evaluate, range(n), code="position", name="QAP 30")


def timetable(seed: int, courses: int = 40, slots: int = 20) -> Problem:
    """Courses to slots, of which some share students or rooms: late slots, and crowded days; clashes are violations."""
    rng = np.random.default_rng(seed)
    clashes = [(i, j) for i in range(courses) for j in range(i) if rng.random() < 0.15]
    dislike = rng.integers(0, 10, (courses, slots)).tolist()
    size = rng.integers(10, 100, courses).tolist()

    def evaluate(slot):
        wishes, crowd = 0, [0] * slots
        for course, where in enumerate(slot):
            wishes += dislike[course][where]
            crowd[where] += size[course]
        return (wishes, max(crowd)), sum(slot[i] == slot[j] for i, j in clashes)

    return Problem.from_choices(evaluate, [range(slots)] * courses, constrained=True, name="timetable 40x20")


def tour(seed: int, n: int = 40, n_objectives: int = 2) -> Problem:
    """A round trip with several costs of each way."""
    where = np.random.default_rng(seed).random((n_objectives, n, 2))
    costs = [np.linalg.norm(one[:, None] - one, axis=2).tolist() for one in where]

    def evaluate(order):
        return [sum(cost[a][b] for a, b in pairwise([*order, order[0]])) for cost in costs]

    name = f"tour {n}" if n_objectives == 2 else f"tour {n}, {n_objectives} objectives"
    return Problem.from_permutation(evaluate, range(n), n_objectives=n_objectives, name=name)


def selection(seed: int, n: int = 40) -> Problem:
    """What is taken costs by one measure, and what is left by two others."""
    costs = np.random.default_rng(seed).integers(1, 100, (3, n)).tolist()

    def evaluate(taken):
        first = second = third = 0
        for i, one in enumerate(taken):
            if one:
                first += costs[0][i]
            else:
                second, third = second + costs[1][i], third + costs[2][i]
        return first, second, third

    return Problem.from_choices(evaluate, [(0, 1)] * n, n_objectives=3, name="selection 40, 3 objectives")


def colouring(seed: int, n: int = 50, colours: int = 8) -> Problem:
    """A colour for each vertex: edges whose ends have the same colour, by weight, and what the colours cost."""
    rng = np.random.default_rng(seed)
    edges = [(i, j, int(rng.integers(1, 10))) for i in range(n) for j in range(i) if rng.random() < 0.25]
    cost = rng.integers(1, 30, (n, colours)).tolist()

    def evaluate(colour):
        return sum(w for i, j, w in edges if colour[i] == colour[j]), sum(map(list.__getitem__, cost, colour))

    return Problem.from_choices(evaluate, [range(colours)] * n, name="colouring 50x8")


def covering(seed: int, sets: int = 50, elements: int = 60) -> Problem:
    """Sets that cover all elements, by two prices: what is not covered is a violation."""
    rng = np.random.default_rng(seed)
    members = [np.flatnonzero(rng.random(elements) < 0.12).tolist() for _ in range(sets)]
    first, second = rng.integers(1, 100, (2, sets)).tolist()

    def evaluate(taken):
        covered, one, other = set(), 0, 0
        for i, is_taken in enumerate(taken):
            if is_taken:
                covered.update(members[i])
                one, other = one + first[i], other + second[i]
        return (one, other), elements - len(covered)

    return Problem.from_choices(evaluate, [(0, 1)] * sets, constrained=True, name="covering 50")


def setups(seed: int, n: int = 40) -> Problem:
    """Jobs on a machine that is set up between them: time for that, and weighted tardiness."""
    rng = np.random.default_rng(seed)
    setup = rng.integers(1, 60, (n, n)).tolist()
    times, weights = rng.integers(10, 60, n).tolist(), rng.integers(1, 10, n).tolist()
    due = rng.integers(0, 45 * n, n).tolist()

    def evaluate(order):
        clock = lost = tardiness = 0
        before = order[0]
        for job in order:
            if job != before:
                lost += setup[before][job]
                clock += setup[before][job]
            clock += times[job]
            tardiness += weights[job] * max(0, clock - due[job])
            before = job
        return lost, tardiness

    return Problem.from_permutation(evaluate, range(n), name="setups 40")


def linear_ordering(seed: int, n: int = 35) -> Problem:
    """Two tables, whose entries above the diagonal should be large."""
    tables = np.random.default_rng(seed).integers(0, 100, (2, n, n)).tolist()

    def evaluate(order):
        sums = [0, 0]
        for k, table in enumerate(tables):
            for i, one in enumerate(order):
                row = table[one]
                sums[k] += sum([row[other] for other in order[i + 1 :]])
        return sums[0], sums[1]

    return Problem.from_permutation(evaluate, range(n), maximise=True, name="linear ordering 35")


def deliveries(seed: int, n: int = 40, capacity: int = 100) -> Problem:
    """Customers in the order in which vans are filled: length of all routes and of the longest."""
    rng = np.random.default_rng(seed)
    where = rng.random((n + 1, 2))
    far = (100 * np.linalg.norm(where[:, None] - where, axis=2)).tolist()
    demand = [0, *rng.integers(5, 30, n).tolist()]

    def evaluate(order):
        lengths, load, length, last = [], 0, 0.0, 0
        for customer in order:
            if load + demand[customer] > capacity:
                lengths.append(length + far[last][0])
                load, length, last = 0, 0.0, 0
            load, length, last = load + demand[customer], length + far[last][customer], customer
        lengths.append(length + far[last][0])
        return sum(lengths), max(lengths)

    return Problem.from_permutation(evaluate, range(1, n + 1), name="deliveries 40")


def landscape(seed: int, n: int = 40, k: int = 4) -> Problem:
    """Two NK landscapes, maximised: what a choice is worth depends on four others."""
    rng = np.random.default_rng(seed)
    links = [[i, *rng.choice([j for j in range(n) if j != i], k, replace=False).tolist()] for i in range(n)]
    worth = rng.random((2, n, 2 ** (k + 1))).tolist()

    def evaluate(bits):
        one = other = 0.0
        for i, linked in enumerate(links):
            key = 0
            for j in linked:
                key = 2 * key + bits[j]
            one, other = one + worth[0][i][key], other + worth[1][i][key]
        return one, other

    return Problem.from_choices(evaluate, [(0, 1)] * n, maximise=True, name="NK landscape 40")


def compiled_flow_shop(seed: int, n: int = 30, machines: int = 5) -> Problem:
    """The flow shop with a function for Numba: the same lines over arrays."""
    rng = np.random.default_rng(seed)
    times = rng.integers(1, 100, (n, machines))
    due = times.sum(axis=1) + rng.integers(0, times.sum(axis=0).max(), n)

    @njit
    def evaluate(order):
        free, tardiness = np.zeros(machines, np.int64), 0
        for job in order:
            done = 0
            for machine in range(machines):
                done = free[machine] = max(done, free[machine]) + times[job, machine]
            tardiness += max(0, done - due[job])
        return free[-1], tardiness

    return Problem.from_permutation(evaluate, n, code="position", name="flow shop 30x5, compiled")


def compiled_tour(seed: int, n: int = 40) -> Problem:
    """The round trip with a function for Numba."""
    where = np.random.default_rng(seed).random((2, n, 2))
    first, second = (np.linalg.norm(one[:, None] - one, axis=2) for one in where)

    @njit
    def evaluate(order):
        one = other = 0.0
        for i in range(order.size):
            one += first[order[i - 1], order[i]]
            other += second[order[i - 1], order[i]]
        return one, other

    return Problem.from_permutation(evaluate, n, name="tour 40, compiled")


def compiled_timetable(seed: int, courses: int = 40, slots: int = 20) -> Problem:
    """The timetable with a function for Numba."""
    rng = np.random.default_rng(seed)
    clashes = np.array([(i, j) for i in range(courses) for j in range(i) if rng.random() < 0.15])
    dislike = rng.integers(0, 10, (courses, slots))
    size = rng.integers(10, 100, courses)

    @njit
    def evaluate(slot):
        crowd, wishes, clashing = np.zeros(slots, np.int64), 0, 0
        for course in range(slot.size):
            wishes += dislike[course, slot[course]]
            crowd[slot[course]] += size[course]
        for i in range(len(clashes)):
            clashing += slot[clashes[i, 0]] == slot[clashes[i, 1]]
        return (wishes, crowd.max()), clashing

    options = [range(slots)] * courses
    return Problem.from_choices(evaluate, options, constrained=True, name="timetable 40x20, compiled")


#: The instances of the table. The least range of chains was added after a look at this flow shop.
TABLE: dict[str, Callable[[], Problem]] = {
    "flow shop 30x5": lambda: flow_shop(811),
    "assignment 40x6": lambda: assignment(812),
    "job shop 10x5": lambda: job_shop(113),
    "knapsack 50": lambda: knapsack(114),
    "QAP 30": lambda: quadratic_assignment(115),
    "timetable 40x20": lambda: timetable(216),
    "tour 40": lambda: tour(217),
}
#: Other kinds. Chains through infeasible solutions were added after a look at this covering.
OTHERS: dict[str, Callable[[], Problem]] = {
    "colouring 50x8": lambda: colouring(421),
    "covering 50": lambda: covering(422),
    "setups 40": lambda: setups(423),
    "linear ordering 35": lambda: linear_ordering(424),
    "deliveries 40": lambda: deliveries(425),
    "NK landscape 40": lambda: landscape(426),
}
#: Three of them with functions for Numba.
COMPILED: dict[str, Callable[[], Problem]] = {
    "flow shop 30x5, compiled": lambda: compiled_flow_shop(811),
    "timetable 40x20, compiled": lambda: compiled_timetable(216),
    "tour 40, compiled": lambda: compiled_tour(217),
}
THREE_OBJECTIVES: dict[str, Callable[[], Problem]] = {
    "tour 30, 3 objectives": lambda: tour(317, 30, 3),
    "selection 40, 3 objectives": lambda: selection(318),
}
#: Other instances, on which settings may be chosen.
TUNING: dict[str, Callable[[], Problem]] = {
    "tuning: flow shop": lambda: flow_shop(11),
    "tuning: assignment": lambda: assignment(12),
    "tuning: job shop": lambda: job_shop(13),
    "tuning: knapsack": lambda: knapsack(14),
    "tuning: QAP": lambda: quadratic_assignment(15),
    "tuning: timetable": lambda: timetable(16),
    "tuning: tour": lambda: tour(17),
    "tuning: covering": lambda: covering(22),
    "tuning: tour, 3 objectives": lambda: tour(18, 30, 3),
}
#: Those of the gallery that are lists of choices or orders.
GALLERY: dict[str, Callable[[], Problem]] = {
    f"examples/{name}.py": lambda name=name: import_module(name).make()
    for name in ("job_shop", "course_timetable", "quadratic_assignment", "flow_shop")
}
#: Few evaluations: a table of trained networks.
COSTLY: dict[str, Callable[[], Problem]] = {"NAS-Bench-201": lambda: load("nas-bench-201")}
ALL = TABLE | OTHERS | COMPILED | THREE_OBJECTIVES | TUNING | GALLERY | COSTLY
