"""The runs, by name, each with the ways in which it is made: at once, saved in the middle, by others.

All ways must lead to the same entry. What a way is given is a folder to save in.
"""

import copy
from dataclasses import dataclass, field

import numpy as np

from pareto_nrpa import MaxEvaluations, ParetoNRPA, PolishedNRPA, Problem, solve
from pareto_nrpa.algorithms.registry import NAMES, algorithm
from pareto_nrpa.parallel import FromExecutor, Processes, solve_expensive

from ..helpers.problems import replay
from ..parallel.evaluations.problems import Here
from .entry import digest, entry_of_points, entry_of_result, entry_of_search, exact, rounded
from .problems import PROBLEMS, Lengths

WHOLE, RESUMED = "whole", "resumed"


@dataclass(frozen=True)
class Run:
    """One result, and the ways to it; the first one is recorded."""

    ways: dict
    problem: str
    #: The ways that are left to longer test runs, with the marker that says so.
    marks: dict = field(default_factory=dict)
    #: A library whose version is part of the result.
    library: str = ""


def searched(problem, chosen, evaluations=500, *, seed=1, unique=False, marks=()):
    """A search from its start to its end, and one that is saved after a third."""
    name, problem = problem, PROBLEMS[problem]
    first = evaluations // 3

    def started():
        search = chosen.start(problem, seed=seed, budget=evaluations)
        if unique:
            search.count_unique()
        return search

    def whole(folder):
        search = started()
        search.advance(evaluations)
        return entry_of_search(search)

    def resumed(folder):
        search = started()
        search.advance(first)
        search.save(folder / "saved")
        search = chosen.resume(problem, folder / "saved")
        search.advance(evaluations - first)
        return entry_of_search(search)

    return Run({WHOLE: whole, RESUMED: resumed}, name, dict(marks))


def judged(problem, solutions):
    """Return objectives and violations of solutions."""
    scores = [replay(problem, solution) for solution in solutions]
    return [values for values, _ in scores], [float(violations) for _, violations in scores]


def asked(problem, chosen, *, evaluations=200, seed=1):
    """A search that is asked and told, given solutions of others, and left with some that could not be evaluated.

    Three are always pending, also while it is saved.
    """
    name, problem = problem, PROBLEMS[problem]
    others = algorithm("random").start(problem, seed=seed)
    others.advance(100)
    given = others.front().solutions

    def steps(search, numbers):
        for i in numbers:
            search.ask(4)
            told = search.pending[:3]
            search.tell(told, *judged(problem, [candidate.solution for candidate in told]))
            search.drop(search.pending[:1])
            if i % 10 == 4:
                search.add(given[i % len(given)])
            if i % 15 == 7:
                search.add(given[0], *(values[0] for values in judged(problem, given[:1])), policy=1)
            if i % 8 == 0:
                search.advance(5)

    def started():
        search = chosen.start(problem, seed=seed, budget=evaluations)
        search.ask(3)
        return search

    def whole(folder):
        search = started()
        steps(search, range(40))
        return entry_of_search(search, pending=[candidate.solution for candidate in search.pending])

    def resumed(folder):
        search = started()
        steps(search, range(17))
        search.save(folder / "saved")
        search = chosen.resume(problem, folder / "saved")
        steps(search, range(17, 40))
        return entry_of_search(search, pending=[candidate.solution for candidate in search.pending])

    return Run({WHOLE: whole, RESUMED: resumed}, name)


def solved(problem, chosen=None, evaluations=500, *, unique=False, more=(), slow=("processes",), **options):
    """A call of `solve`, and two of them with a checkpoint in between; `more` are ways of other workers."""
    name, problem = problem, PROBLEMS[problem]
    count = "unique" if unique else "all"

    def ended(n, **others):
        stop = MaxEvaluations(n, count=count)
        result = solve(problem, chosen, stop=stop, seed=1, **{**options, **others})
        each = {"each": n} if (n := result.parameters.get("evaluations_of_each")) else {}
        return entry_of_result(result, history=digest(rounded(result.history)), **each)

    def resumed(folder):
        ended(evaluations // 3, checkpoint=folder / "saved")
        return ended(evaluations, checkpoint=folder / "saved", resume=True)

    ways = {WHOLE: lambda folder: ended(evaluations), RESUMED: resumed}
    ways |= {way: lambda folder, others=others: ended(evaluations, **others) for way, others in dict(more).items()}
    return Run(ways, name, dict.fromkeys(slow, "slow"))


class Fails:
    """A third of the evaluations raise."""

    def __call__(self, digits):
        if digits[0] == 2:
            raise ValueError("this one fails")
        return sum(digits), sum((3 - digit) * (i + 1) for i, digit in enumerate(digits))


def expensive(chosen, evaluations=60):
    """Expensive evaluations some of which fail: here, by processes, and with a journal that is read again."""
    problem = Problem.from_choices(Fails(), [range(4)] * 5, name="fails")

    def ended(n=evaluations, **options):
        options = {"evaluator": FromExecutor(Here()), **options}
        return entry_of_result(solve_expensive(problem, chosen, stop=MaxEvaluations(n), seed=3, **options))

    def resumed(folder):
        ended(evaluations // 3, journal=folder / "saved")
        return ended(journal=folder / "saved", resume=True)

    return Run(
        {WHOLE: lambda folder: ended(), RESUMED: resumed, "processes": lambda folder: ended(evaluator=Processes(2))},
        problem.name,
        {"processes": "slow"},
    )


def minimised(name, evaluations=150, **parameters):
    """A run of pymoo's `minimize` on a constrained knapsack, and one whose algorithm is copied on the way."""

    def started():
        from pymoo.core.problem import ElementwiseProblem

        import pareto_nrpa.integrations.pymoo

        class Bits(ElementwiseProblem):
            def __init__(self):
                super().__init__(n_var=12, n_obj=2, n_ieq_constr=1, xl=0, xu=1, vtype=bool)

            def _evaluate(self, x, out, *args, **kwargs):
                lengths = Lengths(12).costs
                out["F"] = [np.dot(lengths[0][0], x), np.dot(lengths[1][0], ~x)]
                out["G"] = [x.sum() - 8]

        return Bits(), getattr(pareto_nrpa.integrations.pymoo, f"{name}ForPymoo")(**parameters)

    def entry(result, chosen):
        points = sorted(zip(result.F.tolist(), result.X.tolist(), strict=True))
        solutions = [solution for _, solution in points]
        return entry_of_points([values for values, _ in points], solutions, chosen.evaluator.n_eval)

    def whole(folder):
        from pymoo.optimize import minimize

        result = minimize(*started(), ("n_eval", evaluations), seed=1)
        return entry(result, result.algorithm)

    def copied(folder):
        problem, chosen = started()
        chosen.setup(problem, termination=("n_eval", evaluations), seed=1)
        while chosen.has_next():
            chosen.next()
            chosen = copy.deepcopy(chosen)
        return entry(chosen.result(), chosen)

    return Run({WHOLE: whole, RESUMED: copied}, "Bits", library="pymoo")


def studied(objective, trials=60, **options):
    """A study of Optuna, and one that another sampler takes over in the middle."""

    def opened(storage):
        import optuna

        from pareto_nrpa.integrations.optuna import ParetoNRPASampler

        optuna.logging.set_verbosity(optuna.logging.ERROR)
        return optuna.create_study(
            directions=["minimize"] * 2,
            sampler=ParetoNRPASampler(seed=1, **options),
            storage=storage,
            study_name="golden",
            load_if_exists=True,
        )

    def entry(study):
        best = sorted(study.best_trials, key=lambda trial: (trial.values, trial.number))
        solutions = [{"number": trial.number, **trial.params} for trial in best]
        every = digest([[trial.params, exact(trial.values or [])] for trial in study.trials])
        return entry_of_points([trial.values for trial in best], solutions, len(study.trials), trials=every)

    def whole(folder):
        study = opened(None)
        study.optimize(objective, n_trials=trials, catch=ValueError)
        return entry(study)

    def resumed(folder):
        import optuna

        storage = optuna.storages.InMemoryStorage()
        opened(storage).optimize(objective, n_trials=trials // 3, catch=ValueError)
        study = opened(storage)
        study.optimize(objective, n_trials=trials - trials // 3, catch=ValueError)
        return entry(study)

    return Run({WHOLE: whole, RESUMED: resumed}, objective.__name__)


def parameters(trial):
    """Parameters of all kinds, some of which depend on another; a few trials fail."""
    x = trial.suggest_float("x", -1, 1)
    n = trial.suggest_int("n", 1, 5_000, log=True)
    if trial.suggest_categorical("kind", ["plain", "fancy"]) == "fancy":
        return abs(x) + trial.suggest_int("depth", 0, 40), n
    if n > 2_000:
        raise ValueError("too large")
    return abs(x) + trial.suggest_float("rate", 0, 10, step=0.5), n


def played(trial):
    """A problem of ours, move by move."""
    from pareto_nrpa.integrations.optuna import play

    return play(trial, PROBLEMS["pruned"])


# With the defaults, 500 evaluations would hardly leave the first population, or the first search.
SMALL = {
    "nsga-ii": {"population": 50},
    "nsga-iii": {"population": 50},
    "sms-emoa": {"population": 50},
    "moea-d": {"subproblems": 50},
    "pls": {"initial": 50},
    "pareto-mcts": {"playouts": 2},
    "nrpa": {"weights": 3},
    "nmcs": {"level": 1},
}
#: The problems that every algorithm is run on; compiling for a second kind of compiled problem takes long.
EVERYWHERE = {
    "tsptw": (),
    "tsptw, infeasible": (),
    "mo-tsp": {WHOLE: "slow", RESUMED: "slow"},
    "choices": (),
    "choices, infeasible": (),
    "permutation, constrained": (),
}
#: What needs no genotype is also run without one.
WITHOUT_GENOTYPE = ("polished-nrpa", "pareto-nrpa", "pareto-mcts", "nrpa", "nmcs", "random")
#: The problems that are searched in ways of their own by the default algorithm and by the paper's.
OTHERS = (
    "tsptw, three objectives",
    "tsptw without segments",
    "mo-tsp, three objectives",
    "cells",
    "cells, one maximised",
    "choices, one maximised",
    "choices, constrained",
    "permutation",
    "permutation, three objectives",
    "permutation, more than 512 codes",
    "without genotype",
    "without genotype, constrained",
    "one objective",
    "identity",
    "pruned",
    "vrptw",
)
#: The options of the paper's algorithm, and of it without them: problem, parameters, evaluations.
PAPER = {
    "the defaults": ("tsptw", {}, 500),
    "level 1": ("tsptw", {"level": 1, "iterations": 200}, 500),
    "level 2": ("without genotype", {"level": 2}, 400),
    "level 3": ("mo-tsp of 10", {"level": 3, "iterations": 6}, 500),
    "many policies": ("tsptw", {"n_policies": 8, "alpha": 1.5, "level": 2}, 500),
    "adapt to one, no weights": ("mo-tsp of 10", {"adapt": "one", "weighting": "none"}, 300),
    "adapt to one": ("choices", {"adapt": "one", "level": 2}, 400),
    "no bias": ("tsptw", {"bias": 0.0, "level": 3}, 500),
    "strong bias": ("tsptw", {"bias": 2.5, "level": 3}, 500),
    "preferences spread": ("tsptw, three objectives", {"preferences": "spread"}, 300),
    "preferences spread, by state": ("without genotype, constrained", {"preferences": "spread", "level": 2}, 400),
    "temperature": ("tsptw", {"temperature": 1.7, "level": 3}, 500),
    "limited repetitions": (
        "without genotype, constrained",
        {"level": 3, "limited_repetitions": 3, "iterations": 8},
        300,
    ),
    "playouts per step": ("tsptw", {"level": 3, "playouts_per_step": 4}, 500),
    "playouts per step, plain": ("choices", {"level": 2, "playouts_per_step": 3}, 400),
    "no pruning": ("tsptw", {"pruning": False, "level": 3}, 500),
    "no pruning, plain": ("pruned", {"pruning": False, "level": 2}, 400),
    "long": ("tsptw of 46", {}, 10_000),
}
#: The default search with other parameters, likewise.
DEFAULT = {
    "tsptw of 46": ("tsptw of 46", {}, 2_000),
    "tsptw of 46, narrow": ("tsptw of 46, narrow", {}, 2_000),
    # Long enough for detours to find something.
    "tsptw with detours": ("tsptw", {}, 4_000),
    "tsptw without detours": ("tsptw", {"detour": 0}, 4_000),
    "mo-tsp of 25": ("mo-tsp of 25", {}, 3_000),
    "one candidate": ("choices", {"candidates": 1}, 400),
    "short shakes": ("tsptw", {"shake": 2, "reach": 3, "explore": 0.5}, 500),
    "small levels": ("choices, constrained", {"level": 2, "iterations": 5, "n_policies": 3, "playouts": 3}, 400),
    "no pruning": ("tsptw", {"pruning": False}, 500),
    "no pruning, plain": ("pruned", {"pruning": False}, 400),
    "no bias": ("tsptw", {"bias": 0.0}, 500),
}
#: What is counted once each: by identity, or by the moves.
UNIQUE = (
    ("polished-nrpa", "identity"),
    ("pareto-nrpa", "identity"),
    ("random", "identity"),
    ("polished-nrpa", "cells"),
    ("nsga-ii", "choices"),
)


def all_runs():
    """Return all runs by name."""
    runs = {}
    for name in NAMES:
        chosen = algorithm(name, SMALL.get(name))
        for problem, marks in EVERYWHERE.items():
            runs[f"{name}, {problem}"] = searched(problem, chosen, marks=marks)
        if name in WITHOUT_GENOTYPE:
            runs[f"{name}, without genotype"] = searched("without genotype", chosen)
    for problem in OTHERS:
        for name in ("polished-nrpa", "pareto-nrpa"):
            run = f"{name}, {problem}"
            runs["vrptw, " + name if problem == "vrptw" else run] = searched(problem, algorithm(name), 400)
    runs["vrptw of 25, polished-nrpa"] = searched("vrptw of 25", PolishedNRPA(), 600)
    for name, (problem, params, evaluations) in PAPER.items():
        runs[f"paper, {name}"] = searched(problem, ParetoNRPA(**params), evaluations, seed=42)
    for name, (problem, params, evaluations) in DEFAULT.items():
        runs[f"default, {name}"] = searched(problem, PolishedNRPA(**params), evaluations)
    for name in ("polished-nrpa", "pareto-nrpa"):
        for problem in ("tsptw", "choices", "without genotype, constrained"):
            runs[f"asked, {name}, {problem}"] = asked(problem, algorithm(name, {"level": 2, "iterations": 12}))
    for name, problem in UNIQUE:
        chosen = algorithm(name, SMALL.get(name))
        runs[f"unique, {name}, {problem}"] = searched(problem, chosen, unique=True)
    runs |= calls_of_solve()
    runs["expensive, pareto-nrpa"] = expensive(ParetoNRPA(level=2, iterations=10))
    runs["expensive, polished-nrpa"] = expensive(PolishedNRPA())
    runs["pymoo, pareto-nrpa"] = minimised("ParetoNRPA", level=2)
    runs["pymoo, polished-nrpa"] = minimised("PolishedNRPA", batch=5)
    runs["optuna, parameters"] = studied(parameters)
    runs["optuna, other algorithm"] = studied(parameters, algorithm=ParetoNRPA(level=2, iterations=6))
    runs["optuna, played"] = studied(played)
    return runs


def calls_of_solve():
    """Return runs of `solve`, with what searches alone do not have: starts, limits, and islands."""
    start = [[*range(11, 0, -1)], [*range(1, 12)]]
    two = {"threads": {"workers": 2, "executor": "threads"}, "processes": {"workers": 2, "executor": "processes"}}
    plain, every = {"processes": two["processes"]}, (WHOLE, RESUMED, "processes")
    level2, level3 = ParetoNRPA(level=2, iterations=40), ParetoNRPA(level=3, iterations=60)
    return {
        "solve, default, start": solved("mo-tsp", start=start),
        "solve, paper, start": solved("mo-tsp", ParetoNRPA(level=2, iterations=20), start=start),
        "solve, default, archive of 8": solved("mo-tsp", max_archive=8),
        "solve, paper, archive of 8": solved("choices", level2, max_archive=8),
        "solve, unique": solved("cells", ParetoNRPA(level=2, iterations=20), 300, unique=True),
        # Fronts this large are exchanged, after the second round.
        "islands, default, mo-tsp": solved("mo-tsp of 15, three objectives", None, 6_600, searches=3, more=two),
        "islands, default, choices": solved(
            "choices, four objectives", None, 3_150, searches=3, more=plain, slow=every
        ),
        "islands, paper, mo-tsp": solved("mo-tsp, three objectives", level3, 306_000, searches=3, more=two),
        "islands, paper, choices": solved("choices", level2, 4_500, searches=3, more=plain),
        # Smaller fronts are not.
        "islands, default, tsptw": solved("tsptw", None, 3_000, searches=3, more=two),
    }


RUNS = all_runs()
