"""Pareto-NRPA as a sampler of Optuna: how many machines to rent, and in which order to give jobs to them.

`suggest_int` is a choice as any other; `play` lets a trial build the order move by move, so that every trial is a legal
one. Early ends against little rent.
"""

import optuna

from pareto_nrpa import Problem
from pareto_nrpa.integrations.optuna import ParetoNRPASampler, play

HOURS = (7, 3, 9, 4, 6, 2, 8, 5, 3, 7)


def end_and_rent(order, n_machines):
    """Give each job to the machine that is free first."""
    free = [0] * n_machines
    for job in order:
        free[free.index(min(free))] += HOURS[job]
    return max(free), n_machines * max(free) + 4 * n_machines


def objective(trial):
    n_machines = trial.suggest_int("machines", 1, 5)
    jobs = Problem.from_permutation(lambda order: end_and_rent(order, n_machines), range(len(HOURS)), code="position")
    return play(trial, jobs)


if __name__ == "__main__":
    optuna.logging.set_verbosity(optuna.logging.WARNING)
    study = optuna.create_study(directions=["minimize", "minimize"], sampler=ParetoNRPASampler(seed=1))
    study.optimize(objective, n_trials=200)
    best = {tuple(trial.values): trial for trial in study.best_trials}
    print(f"{len(best)} trade-offs by pareto-nrpa in {len(study.trials)} trials")
    for (end, rent), trial in sorted(best.items()):
        print(f"end {end:.0f}, rent {rent:.0f}: {trial.params['machines']} machines, {trial.user_attrs['solution']}")
