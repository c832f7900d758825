"""The list of algorithms is the one place where a new one is entered; what is typed elsewhere agrees with it."""

import re
from pathlib import Path
from typing import get_type_hints

import pytest

from pareto_nrpa import ParetoNRPAError, algorithms
from pareto_nrpa.algorithms.registry import ENTRIES, NAMES, algorithm

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
    ("written", "meant"),
    [("NSGA2", "nsga-ii"), ("NSGA-III", "nsga-iii"), ("ParetoNRPA", "pareto-nrpa"), ("SMS_EMOA", "sms-emoa")],
)
def test_a_class_or_other_hyphens_are_understood_in_the_error(written, meant):
    with pytest.raises(ParetoNRPAError, match=rf"unknown algorithm '{written}' \(did you mean '{meant}'\?\)"):
        algorithm(written)


def test_the_command_line_lists_all_of_them():
    from pareto_nrpa.cli import solve

    option = get_type_hints(solve.solve, include_extras=True)["algorithm"].__metadata__[0]
    assert set(re.findall(r"[a-z-]+", option.help)) >= set(NAMES[1:])
