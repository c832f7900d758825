"""What the tests of experiments share: tiny plans, made-up runs, the command line in a process of its own."""

import json

import msgspec

from pareto_nrpa import load
from pareto_nrpa.errors import InstanceError
from pareto_nrpa.experiments.plan import Contender, Plan
from pareto_nrpa.experiments.runs import RunRecord, RunStore
from pareto_nrpa.experiments.worker import failed
from pareto_nrpa.problem.base import data_fingerprint

# Ten cities whose windows matter: quick to evaluate, feasible for all, and no two algorithms find the same.
TSPTW = "tsptw:n=10,seed=1,tightness=0.4"
# Not of another kind: that would be compiled for these tests alone.
OTHER = "tsptw:n=8,seed=1,tightness=0.1"

TINY = """
title = "A tiny experiment"
problems = ["tsptw:n=10,seed=1,tightness=0.4", "tsptw:n=8,seed=1,tightness=0.1"]
evaluations = 300
seeds = 2
reference = "PLS"

[[algorithm]]
label = "Random"
name = "random"

[[algorithm]]
label = "PLS"
name = "pls"
"""

# Runs of about a tenth of a second: long enough to be interrupted between any two of them.
MANY = """
problems = ["tsptw:n=10,seed=1,tightness=0.4"]
evaluations = 20000
seeds = 30

[[algorithm]]
name = "random"
"""


def save(folder, text, name="tiny"):
    path = folder / f"{name}.toml"
    path.write_text(text, encoding="utf-8")
    return str(path)


def a_plan(problems=("first", "second"), labels=("A", "B"), **others):
    """A plan that is not run: its algorithms are told apart by a parameter."""
    contenders = tuple(Contender("random", label, {"bias": float(i + 1)}) for i, label in enumerate(labels))
    settings = {"name": "made-up", "title": "Made up", "seeds": 2, "evaluations": 100, **others}
    if settings.get("cpu_seconds"):
        settings["evaluations"] = None
    return Plan(problems=tuple(problems), contenders=contenders, **settings)


def a_record(run, objectives, *, violations=0.0, log=None, **others):
    """A made-up record of a run; its points are found one after the other unless a log is given."""
    points = [list(map(float, point)) for point in objectives]
    made = [[i, violations, *point] for i, point in enumerate(points, start=1)]
    settings = {"evaluations": 100, "cpu_seconds": 0.5, "wall_seconds": 0.75, "versions": {"python": "3"}, **others}
    return RunRecord(
        run=run,
        objectives=points,
        violations=violations if points else None,
        policies=settings.pop("policies", [0] * len(points)),
        log=made if log is None else log,
        fingerprint=fingerprint_of(run.problem),
        **settings,
    )


def stored(folder, *records):
    """A store with made-up records; a text is the error of a failed run, after the run."""
    store = RunStore(folder)
    with store.opened():
        for record in records:
            store.put(failed(*record)[0] if isinstance(record, tuple) else msgspec.json.encode(record))
    return store


def fingerprint_of(problem):
    """What tells the data of a problem from others; nothing for a name that is made up."""
    try:
        return data_fingerprint(load(problem))
    except InstanceError:
        return ""


def journals(folder):
    return sorted((folder / "runs").glob("*.jsonl"))


def n_lines(folder):
    return sum(path.read_bytes().count(b"\n") for path in journals(folder))


def found_in(folder):
    """Everything in the journals that does not depend on how fast the machine was, by key."""
    found = {}
    for path in journals(folder):
        for line in path.read_bytes().splitlines():
            content = json.loads(line)
            del content["cpu_seconds"], content["wall_seconds"]
            found[msgspec.json.decode(line, type=RunRecord).run.key] = content
    return found
