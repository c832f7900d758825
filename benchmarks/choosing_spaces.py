"""Spaces on which settings of the Optuna sampler were chosen: none of them is one of those that the page shows.

    python benchmarks/optuna_samplers.py choose --seeds 8 --trials 200

prints what every sampler finds on each.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from spaces import FlowShop, Space, by_keys, mean_of_orders, played

from pareto_nrpa import generate_tsptw, load
from pareto_nrpa.metrics import nondominated


def branches() -> Space:
    """Four kinds with one to four real numbers of their own: three share the true front, the fourth tempts at first."""
    centres = {"a": [0.2], "b": [0.7, 0.1], "c": [0.4, 0.9, 0.35, 0.6], "d": []}

    def suggest(trial: Any) -> tuple[float, ...]:
        kind = trial.suggest_categorical("kind", list(centres))
        at = trial.suggest_float("at", 0, 1)
        if kind == "d":  # good at once, and never better
            return 0.1 + at, 1.5 - at / 2
        far = sum((trial.suggest_float(f"{kind}{i}", 0, 1) - c) ** 2 for i, c in enumerate(centres[kind]))
        return _of_branch(kind, at, 4 * far)

    ends = np.linspace(0, 1, 301)
    front = nondominated([_of_branch(kind, at, 0.0) for kind in "abc" for at in ends])
    return Space("branches", "4 kinds with real numbers of their own", suggest, lambda: front)


def _of_branch(kind: str, at: float, far: float) -> tuple[float, float]:
    """Return a point of a branch: each has a stretch of the front of its own, and goes on behind those of others."""
    low = {"a": 0.0, "b": 0.4, "c": 0.8}[kind]
    first = low + 0.8 * at
    second = (1.2 - first) ** 2 + 2 * max(0.0, first - low - 0.45) ** 2 + 0.05 * (kind == "a")
    return first + far, second + far


def layers() -> Space:
    """A network by its number of layers, each with a width and a kind; error by a formula, against its size."""
    gains = {"relu": 1.0, "tanh": 0.8, "gelu": 1.15, "none": 0.3}

    def suggest(trial: Any) -> tuple[float, ...]:
        rate = trial.suggest_float("rate", 1e-5, 1, log=True)
        power, size, before = 0.0, 0.0, 16
        for k in range(trial.suggest_int("layers", 1, 5)):
            width = trial.suggest_int(f"width {k}", 4, 256, log=True)
            gain = gains[trial.suggest_categorical(f"kind {k}", list(gains))]
            dropout = trial.suggest_float(f"dropout {k}", 0, 0.8)
            power += gain * np.log(width) * 0.75**k * (1 - (dropout - 0.05 * k) ** 2)
            size, before = size + width * before, width
        best_rate = -1.5 - 0.4 * np.log10(1 + size / 100)  # larger networks want smaller steps
        error = 1 / (1 + power) + 0.05 * (np.log10(rate) - best_rate) ** 2
        return float(error), float(np.log10(size))

    return Space("layers", "layers with a width, a kind and a dropout each; error, size", suggest, lambda: None)


def digits() -> Space:
    """Four kinds of models with parameters of their own, on images of digits."""
    from sklearn.datasets import load_digits
    from sklearn.linear_model import RidgeClassifier
    from sklearn.naive_bayes import GaussianNB
    from sklearn.neighbors import KNeighborsClassifier
    from sklearn.tree import DecisionTreeClassifier

    inputs, classes = load_digits(return_X_y=True)
    order = np.random.default_rng(0).permutation(64)  # of pixels
    train, test, train_classes, test_classes = (
        inputs[:300, order],
        inputs[300:700, order],
        classes[:300],
        classes[300:700],
    )

    def suggest(trial: Any) -> tuple[float, ...]:
        kind = trial.suggest_categorical("model", ["ridge", "bayes", "tree", "neighbours"])
        n = trial.suggest_int("pixels", 1, 64)
        if kind == "ridge":
            model, work = RidgeClassifier(alpha=trial.suggest_float("alpha", 1e-3, 1e4, log=True)), 10 * n
        elif kind == "bayes":
            model, work = GaussianNB(var_smoothing=trial.suggest_float("smoothing", 1e-9, 1, log=True)), 20 * n
        elif kind == "tree":
            depth = trial.suggest_int("depth", 1, 16)
            leaf = trial.suggest_int("leaf", 1, 30, log=True)
            model, work = DecisionTreeClassifier(max_depth=depth, min_samples_leaf=leaf, random_state=0), depth
        else:
            near = trial.suggest_int("k", 1, 40, log=True)
            weights = trial.suggest_categorical("weights", ["uniform", "distance"])
            model, work = KNeighborsClassifier(n_neighbors=near, weights=weights), 300 * n
        model.fit(train[:, :n], train_classes)
        return 1 - float(model.score(test[:, :n], test_classes)), float(np.log10(1 + work))

    return Space("digits", "model, then its own parameters; error, work", suggest, lambda: None)


def another_flow_shop() -> Space:
    problem = FlowShop(n_jobs=16, n_machines=6, seed=2)
    about = "order of 16 jobs on 6 machines"
    return Space(
        "flow shop 2",
        about,
        played(problem),
        lambda: None,
        keys=by_keys(problem, range(16)),
        point=mean_of_orders(problem),
    )


def another_tour() -> Space:
    problem = generate_tsptw(16, seed=5, tightness=0.5)
    return Space("tour", "tour of 15 stops with time windows", played(problem), lambda: None)


def other_objectives() -> Space:
    problem = load("nas-bench-201:objectives=c100_error+flops")
    operations, front = problem.genotype.moves, problem.reference_front.front

    def suggest(trial: Any) -> tuple[float, ...]:
        moves = [trial.suggest_categorical(f"edge {k}", list(choices)) for k, choices in enumerate(operations)]
        return tuple(problem.replay(moves)[0].tolist())

    return Space("nas-bench-201 2", "error on other images, operations", suggest, lambda: front)


def valleys() -> Space:
    """Ten real numbers, the best of them away from the ends of their ranges, and a front in pieces (ZDT3 moved)."""
    best = np.random.default_rng(3).random(9)
    x = np.linspace(0, 1, 2_000)
    front = nondominated(np.column_stack([x, 1 - np.sqrt(x) - x * np.sin(10 * np.pi * x)]))

    def suggest(trial: Any) -> tuple[float, ...]:
        first, *others = (trial.suggest_float(f"x{i}", 0, 1) for i in range(10))
        g = 1 + 9 * float(np.mean(np.abs(np.array(others) - best)))
        return first, g * (1 - np.sqrt(first / g) - first / g * np.sin(10 * np.pi * first))

    return Space("valleys", "10 real numbers", suggest, lambda: front, measure="igd")


CHOOSING_SPACES = {
    "branches": branches,
    "layers": layers,
    "digits": digits,
    "flow shop 2": another_flow_shop,
    "tour": another_tour,
    "nas-bench-201 2": other_objectives,
    "valleys": valleys,
}
