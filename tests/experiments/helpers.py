"""What the tests of experiments share: tiny plans, the command line in a process of its own, what a run file says."""

import contextlib
import json
import os
import signal
import subprocess
import sys
import time

import numpy as np

from pareto_nrpa import load
from pareto_nrpa.errors import InstanceError
from pareto_nrpa.experiments.plan import Contender, Plan
from pareto_nrpa.experiments.store import Record
from pareto_nrpa.problem.base import data_fingerprint

from ..helpers.command_line import Outcome

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

# Two runs that take far longer than any test waits.
ENDLESS = """
problems = ["tsptw:n=10,seed=1,tightness=0.4"]
cpu_seconds = 600
seeds = 2

[[algorithm]]
name = "random"
"""


#: Seconds that only a broken program takes, on however busy a machine.
PATIENCE = 180


def save(folder, text, name="tiny"):
    path = folder / f"{name}.toml"
    path.write_text(text, encoding="utf-8")
    return str(path)


def a_plan(problems=("first", "second"), labels=("A", "B"), **others):
    """A plan that is not run: its algorithms are told apart by a parameter."""
    contenders = tuple(Contender(label, "random", {"bias": float(i + 1)}) for i, label in enumerate(labels))
    settings = {"name": "made-up", "title": "Made up", "seeds": 2, "evaluations": 100, "cpu_seconds": None}
    settings["reference"] = labels[-1]
    return Plan(problems=tuple(problems), contenders=contenders, **{**settings, **others})


def a_record(run, objectives, *, violations=0.0, error="", n_objectives=2):
    """A record of a run that nobody made."""
    points = np.asarray(objectives, dtype=float).reshape(-1, n_objectives)
    log = np.column_stack([np.arange(1, len(points) + 1), np.full(len(points), violations), points])
    return Record(
        run=run.to_dict(),
        error=error,
        evaluations=100,
        cpu_seconds=0.5,
        wall_seconds=0.75,
        objectives=points,
        violations=violations if len(points) else float("nan"),
        solutions=[[i] for i in range(len(points))],
        policies=[0] * len(points),
        log=log,
        versions={"python": "3"},
        fingerprint=fingerprint_of(run.problem),
    )


def fingerprint_of(problem):
    """What tells the data of a problem from others; nothing for a name that is made up."""
    try:
        return data_fingerprint(load(problem))
    except InstanceError:
        return ""


def run_files(folder):
    return sorted((folder / "runs").rglob("*.json"))


def found_in(folder):
    """Everything in the run files that does not depend on how fast the machine was, as text, by file name."""
    found = {}
    for path in run_files(folder):
        content = json.loads(path.read_text(encoding="utf-8"))
        del content["cpu_seconds"], content["wall_seconds"]
        found[path.name] = json.dumps(content, sort_keys=True)
    return found


def stamps(folder):
    """When each run file was written; a file that is written again is another file."""
    return {path.name: (path.stat().st_mtime_ns, path.stat().st_ino) for path in run_files(folder)}


def start(*arguments, **others):
    """Start the command line in a process group of its own, so that all of it can be ended."""
    return subprocess.Popen(
        [sys.executable, "-m", "pareto_nrpa", *map(str, arguments)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
        **others,
    )


def finish(process, timeout=PATIENCE):
    """Wait for a process; whatever happens, nothing of it stays."""
    try:
        out, err = process.communicate(timeout=timeout)
    finally:
        end(process)
    return Outcome(process.returncode, out, err)


def end(process):
    """Kill all processes of a group that a test started, and close what they wrote to."""
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait(PATIENCE)
    process.stdout.close()
    process.stderr.close()


def command(*arguments, **others):
    """Run a command to its end."""
    return finish(start(*arguments, **others))


def wait_until(condition, what, seconds=PATIENCE):
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, f"waited {seconds} s in vain for {what}"
        time.sleep(0.01)
