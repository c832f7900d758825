"""The list of algorithms is the one place where a new one is entered; what is typed elsewhere agrees with it."""

import re
from dataclasses import dataclass
from pathlib import Path
from typing import get_type_hints

import pytest

from pareto_nrpa import MaxEvaluations, ParetoNRPAError, Problem, algorithms, solve
from pareto_nrpa.algorithms.algorithm import Algorithm
from pareto_nrpa.algorithms.registry import ENTRIES, NAMES, algorithm
from pareto_nrpa.algorithms.search import Search
from pareto_nrpa.errors import ProblemError
from pareto_nrpa.routing import generate_tsptw

ROOT = Path(__file__).parent.parent.parent
every_entry = pytest.mark.parametrize("entry", ENTRIES, ids=lambda entry: entry.name)


@every_entry
def test_an_algorithm_is_a_public_class_that_knows_its_name(entry):
    kind = getattr(algorithms, entry.kind)
    assert kind.name == entry.name
    assert type(algorithm(entry.name)) is kind


@every_entry
def test_type_checkers_and_readers_know_it(entry):
    package = (ROOT / "src/pareto_nrpa/algorithms/__init__.py").read_text()
    assert f"from .{entry.module} import {entry.kind} as {entry.kind}\n" in package
    row = f"| `{entry.name}` | `{entry.kind}` | {entry.about} | {entry.needs} |\n"
    assert row in (ROOT / "docs/experiments.md").read_text()


@pytest.mark.parametrize(
    ("name", "parameters", "message"),
    [
        ("nsga2", {}, r"unknown algorithm 'nsga2' \(did you mean 'nsga-ii'\?\); there are: polished-nrpa, pareto-nrpa"),
        ("pareto-mtcs", {}, "did you mean 'pareto-mcts'"),
        ("xyz", {}, "unknown algorithm 'xyz'; there are"),
        ("NSGA2", {}, "did you mean 'nsga-ii'"),
        ("ParetoNRPA", {}, "did you mean 'pareto-nrpa'"),
        ("SMS_EMOA", {}, "did you mean 'sms-emoa'"),
        ("pls", {"initals": 3}, r"pls has no parameter 'initals' \(did you mean 'initial'\?\); it takes: initial"),
        ("nmcs", {"levels": 3}, "did you mean 'level'"),
        ("random", {"name": "x"}, "random has no parameter 'name'"),
    ],
)
def test_unknown_names_are_answered_with_the_nearest_one(name, parameters, message):
    with pytest.raises(ParetoNRPAError, match=message):
        algorithm(name, parameters)


def test_the_command_line_lists_all_of_them():
    from pareto_nrpa.cli import solve

    option = get_type_hints(solve.solve, include_extras=True)["algorithm"].__metadata__[0]
    assert set(re.findall(r"[a-z-]+", option.help)) >= set(NAMES[1:])


# --- what a user's own algorithm inherits from `Search`


@dataclass(frozen=True)
class Shuffles(Algorithm):
    """Random orders."""

    name = "shuffles"

    def start(self, problem, *, seed=0, budget=None):
        return ShufflesSearch(problem, self, seed=seed)


class ShufflesSearch(Search):
    def advance(self, n):
        for _ in range(n):
            self.evaluate(self.rng.permutation(self.problem.genotype.moves).tolist())


def spread(order):
    return order[0], -order[0] + order[1]


PLAIN = Problem.from_permutation(spread, range(6), maximise=(False, True))


@pytest.mark.parametrize("problem", [PLAIN, generate_tsptw(6)], ids=["plain", "compiled"])
def test_solve_runs_an_algorithm_of_the_user(problem):
    result = solve(problem, Shuffles, stop=MaxEvaluations(60, count="unique"), max_archive=20)
    assert result.algorithm == "shuffles"
    assert result.unique_evaluations == 60
    assert result.evaluations > 60
    assert 0 < len(result.front.solutions) <= 20
    again = [spread(order) for order in result.front.solutions] if problem is PLAIN else None
    assert again is None or again == [tuple(values) for values in result.front.objectives.tolist()]


class WrongSearch(ShufflesSearch):
    def advance(self, n):
        self.evaluate([0] * 6)


def test_a_solution_that_cannot_be_played_is_named():
    search = WrongSearch(PLAIN, Shuffles(), seed=0)
    with pytest.raises(ProblemError, match=r"\[0, 0, 0, 0, 0, 0\], but there are legal moves left"):
        search.advance(1)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"start": [[0, 1, 2, 3, 4, 5]]}, "shuffles cannot begin with solutions"),
        ({"searches": 2}, "several searches require"),
        ({"checkpoint": "saved"}, "a search of shuffles cannot be saved, as ShufflesSearch does not declare its STATE"),
    ],
)
def test_what_such_a_search_cannot_do_is_said(options, message, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(Exception, match=message):
        solve(PLAIN, Shuffles(), stop=MaxEvaluations(5), **options)
