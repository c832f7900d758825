"""An order of jobs on two machines, built move by move: an early end against short waits."""

import optuna
import optunahub

from pareto_nrpa import Problem

module = optunahub.load_module("samplers/pareto_nrpa")
TIMES = [(3, 6), (5, 2), (1, 2), (6, 6), (7, 5), (4, 1)]


def ends(order: list[int]) -> tuple[int, int]:
    first = second = total = 0
    for job in order:
        first += TIMES[job][0]
        second = max(first, second) + TIMES[job][1]
        total += second
    return second, total


if __name__ == "__main__":
    shop = Problem.from_permutation(ends, range(len(TIMES)), code="position")
    study = optuna.create_study(directions=["minimize", "minimize"], sampler=module.ParetoNRPASampler(seed=1))
    study.optimize(lambda trial: module.play(trial, shop), n_trials=200)
    for trial in study.best_trials:
        print(trial.values, trial.user_attrs["solution"])
