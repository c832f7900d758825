"""One way to name a problem: instance, file or spec; and helpful words for what is not there."""

import re

import numpy as np
import pytest

from pareto_nrpa import load
from pareto_nrpa.catalogue import DEFAULT, FAMILIES, Family, describe
from pareto_nrpa.cli import main
from pareto_nrpa.errors import InstanceError
from pareto_nrpa.routing import generate_tsp, generate_tsptw

THREE_CITIES = "3\n0 0 0 0 0 100 0\n1 3 4 0 0 100 10\n2 6 8 0 0 100 10\n"


@pytest.fixture(autouse=True)
def no_data(tmp_path, monkeypatch):
    """A machine without any data, whatever the one that runs the tests has."""
    monkeypatch.delenv("PARETO_NRPA_DATA", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))


@pytest.fixture
def folder(tmp_path):
    """A data folder in the public layout, with instances of its own."""
    windows = tmp_path / "data" / "SolomonTSPTW"
    windows.mkdir(parents=True)
    for name in ("rc_901.1", "rc_901.2", "mine"):
        (windows / f"{name}.txt").write_text(THREE_CITIES)
    (tmp_path / "data" / "SecondaryCost").mkdir()
    np.save(tmp_path / "data" / "SecondaryCost" / "rc_901.2.npy", np.ones((3, 3)))
    (tmp_path / "secret.txt").write_text(THREE_CITIES)
    return tmp_path / "data"


def equal(a, b):
    return a.name == b.name and all(np.array_equal(x, y) for x, y in zip(a.data, b.data, strict=True))


def test_an_official_name_gives_its_instance(official, monkeypatch):
    monkeypatch.undo()  # back to the data of this machine
    assert official("rc_204.3").max_moves == 23


@pytest.mark.parametrize("name", ["rc_901.1", "rc_901.2", "mine"])
def test_further_instances_in_the_public_layout_load_by_name(name, folder):
    assert load(name, data=folder).name == name


def test_the_folder_that_is_given_hides_the_environment(folder, tmp_path, monkeypatch):
    (tmp_path / "other").mkdir()
    monkeypatch.setenv("PARETO_NRPA_DATA", str(folder))
    with pytest.raises(InstanceError, match="unknown instance 'mine'"):
        load("mine", data=tmp_path / "other")


def test_the_default_is_embedded():
    problem = load("default")
    assert problem.name == DEFAULT
    assert (problem.max_moves + 1, problem.n_objectives) == (25, 2)


def test_a_spec_gives_a_generated_instance():
    assert equal(load("tsptw:n=9,seed=3,tightness=0.2,objectives=3"), generate_tsptw(9, 3, 0.2, 3))
    assert equal(load("mo-tsp:n=7,seed=2,objectives=1"), generate_tsp(7, 2, 1))


@pytest.mark.parametrize(
    ("spec", "words"),
    [
        ("tsptw", "tsptw needs n=, as in tsptw:n=50,seed=1"),
        ("tsptw:n=9,sede=3", "'sede=3' is not an option of tsptw; it takes n=, seed=, tightness=, objectives="),
        ("mo-tsp:n=9,tightness=0.5", "'tightness=0.5' is not an option of mo-tsp; it takes n=, seed=, objectives="),
        ("tsptw:n=10,n=12", "n of tsptw is given twice, in 'n=10,n=12'; leave one out"),
        ("tsptw:n=nine", "n of tsptw must be a whole number, got 'nine'"),
        ("tsptw:n=9,tightness=wide", "tightness of tsptw must be a number, got 'wide'"),
        ("tsptw:n=9,seed=-1", "seed must be a whole number of at least 0, got -1"),
        ("tsptw:n=1", "n must be a whole number of at least 2, got 1"),
        ("tsptw:n=9,tightness=2", "tightness must be between 0 and 1, got 2"),
        ("tsptw:n=9,objectives=0", "n_objectives must be a whole number of at least 1, got 0"),
    ],
)
def test_a_misspelt_spec_is_refused_in_words(spec, words):
    with pytest.raises(InstanceError, match=re.escape(words)):
        load(spec)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"name_or_path": "rc_9O1.1", "data": "data"}, r"\(did you mean 'rc_901\.1'\?\); there are: mine, rc_901\.1, "),
        ({"name_or_path": "zzz"}, r"unknown instance 'zzz'.*pareto-nrpa data get\. Generators: tsptw:n="),
        ({"name_or_path": "rc_204.3"}, r"rc_204\.3 is not on this machine; get it with: pareto-nrpa data get"),
        ({"name_or_path": "rc_204.3", "data": "data"}, r"rc_204\.3 is not .*pareto-nrpa data get"),
        ({"name_or_path": "data"}, "data is a folder; give an instance file, .*; CSV, Excel"),
        ({"name_or_path": "mine", "data": "nowhere"}, "the data folder nowhere does not exist"),
        ({"name_or_path": "x" * 300}, "unknown instance"),
        ({"name_or_path": None}, "a problem is named by text or a path.*, got "),
        ({"name_or_path": "x", "data": 5}, "data must be the path.*, got "),
        ({"name_or_path": "mine:check_return=maybe", "data": "data"}, "check_return must be yes or no, got 'maybe'"),
        ({"name_or_path": "yours:check_return=no", "data": "data"}, "unknown instance 'yours'"),
    ],
)
def test_what_names_no_problem_is_a_sentence(arguments, words, folder, monkeypatch):
    monkeypatch.chdir(folder.parent)
    with pytest.raises(InstanceError, match=words):
        load(**arguments)


@pytest.mark.parametrize("name", ["../secret", "../../secret", "SolomonTSPTW/mine", "/mine", "", ".", ".mine"])
def test_a_name_with_a_path_in_it_is_not_looked_up(name, folder, monkeypatch):
    monkeypatch.chdir(folder / "SecondaryCost")
    with pytest.raises(InstanceError, match=r"unknown instance|is a folder|there is no file"):
        load(name, data=folder)


LATE = "3\n0 0 0 0 0 30 0\n1 3 4 0 0 100 10\n2 6 8 0 0 100 10\n"  # every tour is back at 40


@pytest.fixture
def late(tmp_path):
    """A data folder with an instance under an official name and one of the user's own; both depots close early."""
    windows = tmp_path / "SolomonTSPTW"
    windows.mkdir()
    for name in ("rc_204.3", "mine"):
        (windows / f"{name}.txt").write_text(LATE)
    return tmp_path


@pytest.mark.parametrize(
    ("name", "is_late"),
    [
        ("rc_204.3", 0),
        ("rc_204.3:check_return=no", 0),
        ("rc_204.3:check_return=yes", 1),
        ("mine", 1),
        ("mine:check_return=yes", 1),
        ("mine:check_return=no", 0),
        ("{}/SolomonTSPTW/mine.txt", 1),
        ("{}/SolomonTSPTW/rc_204.3.txt", 1),
        ("{}/SolomonTSPTW/mine.txt:check_return=no", 0),
    ],
)
def test_the_depot_is_checked_on_return_but_in_official_instances_or_as_is_said(name, is_late, late):
    assert load(name.format(late), data=late).replay([1, 2])[1] == is_late


def test_a_problem_says_in_its_name_that_it_is_not_the_usual_one(late):
    assert load("mine:check_return=yes", data=late).name == "mine"
    assert load("mine:check_return=no", data=late).name == "mine:check_return=no"
    assert load("rc_204.3:check_return=yes", data=late).name == "rc_204.3:check_return=yes"


# --- families of problems


@pytest.fixture
def rings(monkeypatch):
    """A family of one's own."""
    options = {"size": ("n", int), "seed": ("seed", int)}
    family = Family(
        "ring", "routing.generate:generate_tsp", options, lambda p: [f"a ring of {p.max_moves + 1}", "closed"], "size=5"
    )
    monkeypatch.setitem(FAMILIES, "ring", family)


def test_a_new_family_is_one_entry(rings, capsys):
    made = load("ring:size=6,seed=3")
    assert (made.data.costs == generate_tsp(6, seed=3).data.costs).all()
    assert describe("ring:size=6")[1] == [f"{made.name.replace('seed=3', 'seed=0')}: a ring of 6", "closed"]
    with pytest.raises(SystemExit):
        main(["info", "ring:size=6"])
    assert "a ring of 6\nclosed\nreference point" in capsys.readouterr().out


def test_unknown_names_are_answered_with_all_families(rings):
    with pytest.raises(
        InstanceError, match=r"tsptw:n=50,seed=1 and vrptw:.* and mo-tsp:n=50,seed=1 and ring:size=5; .*: nas-"
    ):
        load("rc_999.9")


@pytest.mark.parametrize("name", FAMILIES)
def test_every_family_has_a_function_that_makes_its_problems(name):
    from importlib import import_module

    module, function = FAMILIES[name].maker.split(":")
    assert callable(getattr(import_module(f"pareto_nrpa.{module}"), function))
