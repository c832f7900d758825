"""Search spaces on which samplers of Optuna are compared, each with the front it is measured by.

A space is a function of a trial. `reference()` is the front to measure against: the true one where it is known, and the
best known points.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from stored import best_known

from pareto_nrpa import Problem, ReferenceFront, load

if TYPE_CHECKING:
    from collections.abc import Callable

N_JOBS, N_MACHINES = 20, 5


@dataclass(frozen=True)
class Space:
    name: str
    about: str
    suggest: Callable[[Any], tuple[float, ...]]
    known: Callable[[], np.ndarray | None]
    n_objectives: int = 2
    #: Another way to write the same space, for rivals: random keys instead of moves.
    keys: Callable[[Any], tuple[float, ...]] | None = None
    #: "share" of the hypervolume, or "igd" where most fronts lie behind the reference point of the true one.
    measure: str = "share"
    #: Where the hypervolume is measured from; a little behind the front by default.
    point: tuple[float, ...] | None = None

    def reference(self) -> ReferenceFront:
        fronts = [
            front for front in (self.known(), best_known("optuna", self.name)) if front is not None and len(front)
        ]
        return ReferenceFront.of(np.vstack(fronts), reference_point=self.point)


class FlowShop(Problem):
    """Orders of jobs on machines in a row: an early end against a short wait of all jobs."""

    name = "flow shop"

    def __init__(self, n_jobs: int = N_JOBS, n_machines: int = N_MACHINES, seed: int = 1) -> None:
        self.times = np.random.default_rng(seed).integers(1, 100, (n_jobs, n_machines)).tolist()
        self.max_moves = n_jobs

    def initial_state(self):
        return ()

    def legal_moves(self, state):
        return [job for job in range(len(self.times)) if job not in state]

    def play(self, state, move):
        return (*state, move)

    def move_code(self, state, move):
        return len(state), move

    def evaluate(self, state):
        ends, total = [0] * len(self.times[0]), 0
        for job in state:
            ready = 0
            for machine, time in enumerate(self.times[job]):
                ready = ends[machine] = max(ready, ends[machine]) + time
            total += ready
        return ends[-1], total


def played(problem: Any) -> Callable[[Any], tuple[float, ...]]:
    from pareto_nrpa.integrations.optuna import play

    return lambda trial: play(trial, problem)


def by_keys(problem: Any, items: range) -> Callable[[Any], tuple[float, ...]]:
    from pareto_nrpa.integrations.optuna.playing import Game

    def suggest(trial: Any) -> tuple[float, ...]:
        keys = {item: trial.suggest_float(f"key {item}", 0, 1) for item in items}
        game = Game(problem)
        for _, moves in game.steps():
            game.play(min(range(len(moves)), key=lambda i: keys[moves[i]]))
        objectives, violations = game.evaluation()
        trial.set_constraint("violations", violations)
        return tuple(objectives)

    return suggest


def mean_of_orders(problem: FlowShop) -> tuple[float, ...]:
    """Return what a random order of jobs has on average: a point that fronts can be measured from."""
    orders = np.random.default_rng(0).permuted(np.tile(np.arange(problem.max_moves), (1_000, 1)), axis=1).tolist()
    return tuple(np.mean([problem.evaluate(order) for order in orders], axis=0).tolist())


def flow_shop() -> Space:
    problem = FlowShop()
    about = f"order of {N_JOBS} jobs on {N_MACHINES} machines; makespan, total flow time"
    keys = by_keys(problem, range(N_JOBS))
    return Space("flow shop", about, played(problem), lambda: None, keys=keys, point=mean_of_orders(problem))


def rc_201_1() -> Space:
    problem = load("rc_201.1")
    assert problem.reference_front is not None
    front = problem.reference_front.front
    about = "tour of 20 stops with time windows; two costs, late stops are violations"
    n = problem.max_moves
    return Space("rc_201.1", about, played(problem), lambda: front, keys=by_keys(problem, range(1, n + 1)))


def nas_bench_201() -> Space:
    problem = load("nas-bench-201")
    operations = problem.genotype.moves
    front = problem.reference_front.front

    def suggest(trial: Any) -> tuple[float, ...]:
        moves = [trial.suggest_categorical(f"edge {k}", list(choices)) for k, choices in enumerate(operations)]
        objectives, _ = problem.replay(moves)
        return tuple(objectives.tolist())

    return Space("nas-bench-201", "6 categorical parameters of 5 values; error, size", suggest, lambda: front)


def scikit_learn() -> Space:
    """Three kinds of models with parameters of their own: error against work per prediction."""
    from sklearn.datasets import load_breast_cancer
    from sklearn.model_selection import train_test_split
    from sklearn.neighbors import KNeighborsClassifier
    from sklearn.preprocessing import StandardScaler
    from sklearn.svm import SVC
    from sklearn.tree import DecisionTreeClassifier

    inputs, classes = load_breast_cancer(return_X_y=True)
    train, test, train_classes, test_classes = train_test_split(inputs, classes, test_size=0.5, random_state=0)
    scaler = StandardScaler().fit(train)
    train, test = scaler.transform(train), scaler.transform(test)

    def suggest(trial: Any) -> tuple[float, ...]:
        kind = trial.suggest_categorical("model", ["svm", "tree", "neighbours"])
        n_features = trial.suggest_int("features", 1, train.shape[1])
        if kind == "svm":
            kernel = trial.suggest_categorical("kernel", ["linear", "rbf", "poly"])
            penalty = trial.suggest_float("C", 1e-3, 1e3, log=True)
            gamma = trial.suggest_float("gamma", 1e-4, 10, log=True) if kernel != "linear" else "scale"
            degree = trial.suggest_int("degree", 2, 4) if kernel == "poly" else 3
            # A limit on iterations is part of the model here: some settings would run for minutes.
            model = SVC(kernel=kernel, C=penalty, gamma=gamma, degree=degree, max_iter=2_000)
        elif kind == "tree":
            model = DecisionTreeClassifier(
                max_depth=trial.suggest_int("depth", 1, 20),
                min_samples_leaf=trial.suggest_int("leaf", 1, 50, log=True),
                criterion=trial.suggest_categorical("criterion", ["gini", "entropy"]),
                random_state=0,
            )
        else:
            model = KNeighborsClassifier(
                n_neighbors=trial.suggest_int("k", 1, 50, log=True),
                weights=trial.suggest_categorical("weights", ["uniform", "distance"]),
                p=trial.suggest_float("p", 1, 4),
            )
        model.fit(train[:, :n_features], train_classes)
        error = 1 - model.score(test[:, :n_features], test_classes)
        work = {
            "svm": lambda: len(model.support_) * n_features if kind == "svm" and kernel != "linear" else n_features,
            "tree": lambda: model.tree_.max_depth,
            "neighbours": lambda: len(train) * n_features,
        }[kind]()
        return float(error), float(np.log10(1 + work))

    return Space("scikit-learn", "model, then its own parameters; error, work of a prediction", suggest, lambda: None)


def zdt1() -> Space:
    x = np.linspace(0, 1, 500)
    front = np.column_stack([x, 1 - np.sqrt(x)])

    def suggest(trial: Any) -> tuple[float, ...]:
        first, *others = (trial.suggest_float(f"x{i}", 0, 1) for i in range(30))
        g = 1 + 9 * sum(others) / 29
        return first, g * (1 - np.sqrt(first / g))

    return Space("ZDT1", "30 real numbers", suggest, lambda: front, measure="igd")


def dtlz2() -> Space:
    angles = np.linspace(0, np.pi / 2, 60)
    a, b = (grid.ravel() for grid in np.meshgrid(angles, angles))
    front = np.column_stack([np.cos(a) * np.cos(b), np.cos(a) * np.sin(b), np.sin(a)])

    def suggest(trial: Any) -> tuple[float, ...]:
        x = [trial.suggest_float(f"x{i}", 0, 1) for i in range(12)]
        g = 1 + sum((value - 0.5) ** 2 for value in x[2:])
        a, b = x[0] * np.pi / 2, x[1] * np.pi / 2
        return g * np.cos(a) * np.cos(b), g * np.cos(a) * np.sin(b), g * np.sin(a)

    return Space("DTLZ2", "12 real numbers, 3 objectives", suggest, lambda: front, n_objectives=3, measure="igd")


SPACES = {
    "flow shop": flow_shop,
    "rc_201.1": rc_201_1,
    "nas-bench-201": nas_bench_201,
    "scikit-learn": scikit_learn,
    "ZDT1": zdt1,
    "DTLZ2": dtlz2,
}
