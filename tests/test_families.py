"""A family of problems is one entry: its specs are read, made and described by it."""

import pytest

from pareto_nrpa import load
from pareto_nrpa.catalogue import FAMILIES, Family, describe
from pareto_nrpa.cli import main
from pareto_nrpa.errors import InstanceError
from pareto_nrpa.routing import generate_tsp


@pytest.fixture
def rings(monkeypatch):
    """A family of one's own."""
    options = {"size": ("n", int), "seed": ("seed", int)}
    family = Family(
        "ring",
        "routing.generate:generate_tsp",
        options,
        lambda p: [f"a ring of {p.max_moves + 1}", "closed"],
        "size=5",
    )
    monkeypatch.setitem(FAMILIES, "ring", family)


def test_a_new_family_is_one_entry(rings, capsys):
    made = load("ring:size=6,seed=3")
    assert (made.data.costs == generate_tsp(6, seed=3).data.costs).all()
    assert describe("ring:size=6")[1] == [f"{made.name.replace('seed=3', 'seed=0')}: a ring of 6", "closed"]
    with pytest.raises(SystemExit):
        main(["info", "ring:size=6"])
    assert "a ring of 6\nclosed\nreference point" in capsys.readouterr().out


@pytest.mark.parametrize(
    "spec, words",
    [
        ("ring", "ring needs size=, as in ring:size=5"),
        ("ring:sise=3", "'sise=3' is not an option of ring; it takes size=, seed="),
        ("ring:size=x", "size of ring must be a whole number, got 'x'"),
        ("ring:size=" + "9" * 5000, "size of ring must be a whole number, got '999"),
    ],
)
def test_its_options_are_checked(rings, spec, words):
    with pytest.raises(InstanceError, match=words) as caught:
        load(spec)
    assert len(str(caught.value)) < 200


def test_unknown_names_are_answered_with_all_families(rings):
    with pytest.raises(
        InstanceError, match=r"tsptw:n=50,seed=1 and vrptw:n=50,seed=1 and mo-tsp:n=50,seed=1 and ring:size=5; .*: nas-"
    ):
        load("rc_999.9")


@pytest.mark.parametrize("name", FAMILIES)
def test_every_family_has_a_function_that_makes_its_problems(name):
    from importlib import import_module

    module, function = FAMILIES[name].maker.split(":")
    assert callable(getattr(import_module(f"pareto_nrpa.{module}"), function))
