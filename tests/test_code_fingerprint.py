"""Whether a checkpoint's problem has changed: noticed in the user's own code, wherever libraries lead."""

import functools
import logging
import os
import subprocess
import sys
import types

import pytest

from pareto_nrpa import Problem
from pareto_nrpa.problem import problem_fingerprint

SOURCE = """
import functools, logging, os, warnings
import email.message, unittest.mock, concurrent.futures
import {helpers} as helpers
from pareto_nrpa import Problem

logger = logging.getLogger(__name__)
something = object()
FACTOR = 2
TABLE = {{"a": [1, 2]}}

@functools.cache
def table():
    return FACTOR, something, TABLE

class Base(Problem):
    scale = 1

    def initial_state(self): return ()
    def legal_moves(self, state): return (0, 1) if len(state) < 3 else ()
    def play(self, state, move): return (*state, move)
    def move_code(self, state, move): return len(state), move

class Mine(Base):
    def evaluate(self, state):
        logger.debug("evaluating")
        with warnings.catch_warnings():
            return self.cost(state), helpers.cost(state) + table()[0]

    def cost(self, state): return sum(state)
"""


def made(tmp_path, name, source=SOURCE, helper="def cost(state): return len(state)\n"):
    """Return the fingerprint of a problem written to a module."""
    (tmp_path / f"{name}_helpers.py").write_text(helper)
    (tmp_path / f"{name}.py").write_text(source.format(helpers=f"{name}_helpers"))
    code = f"from {name} import Mine; from pareto_nrpa.problem import problem_fingerprint as f; print(f(Mine()))"
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(tmp_path), *sys.path])}
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env=environment, check=True)
    return done.stdout


def test_it_is_the_same_in_every_process(tmp_path):
    assert made(tmp_path, "one") == made(tmp_path, "one")


CHANGES = [
    ("return sum(state)", "return 2 * sum(state)"),
    ("FACTOR = 2", "FACTOR = 3"),
    ('{{"a": [1, 2]}}', '{{"a": [1, 3]}}'),
    ("scale = 1", "scale = 2"),
    ("return FACTOR,", "return -FACTOR,"),
    ("len(state) < 3", "len(state) < 4"),
]


@pytest.fixture(scope="module")
def original(tmp_path_factory):
    return made(tmp_path_factory.mktemp("original"), "one")


@pytest.mark.parametrize(("old", "new"), CHANGES)
def test_a_change_in_the_users_own_code_is_noticed(tmp_path, original, old, new):
    assert old in SOURCE
    assert made(tmp_path, "one", SOURCE.replace(old, new)) != original


def test_a_change_in_a_module_of_the_users_own_is_noticed(tmp_path, original):
    assert made(tmp_path, "one", helper="def cost(state): return 1 + len(state)\n") != original


def test_modules_that_refer_to_each_other_are_read_once():
    one, other = types.ModuleType("one_module"), types.ModuleType("other_module")
    one.again, other.again = other, one

    class Circular(Problem):
        def initial_state(self):
            return one.again.again

        def legal_moves(self, state):
            return functools.partial(logging.getLogger, "x")

        def play(self, state, move):
            return subprocess.run

        def move_code(self, state, move):
            return os.path

        def evaluate(self, state):
            return self.evaluate(state)

    assert problem_fingerprint(Circular()) == problem_fingerprint(Circular())
