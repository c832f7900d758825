"""One way to name a problem: instance, file or spec; and helpful words for what is not there."""

import re

import numpy as np
import pytest

from pareto_nrpa import load
from pareto_nrpa.catalogue import DEFAULT
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


def test_a_file_gives_its_instance(folder):
    problem = load(folder / "SolomonTSPTW" / "rc_901.1.txt")
    assert (problem.name, problem.n_objectives) == ("rc_901.1", 1)


def test_a_path_may_be_text(folder):
    assert load(str(folder / "SolomonTSPTW" / "rc_901.2.txt")).n_objectives == 2


@pytest.mark.parametrize("name", ["rc_901.1", "rc_901.2", "mine"])
def test_further_instances_in_the_public_layout_load_by_name(name, folder):
    assert load(name, data=folder).name == name


def test_the_environment_names_the_data_folder(folder, monkeypatch):
    monkeypatch.setenv("PARETO_NRPA_DATA", str(folder))
    assert load("rc_901.2").n_objectives == 2


def test_the_folder_that_is_given_hides_the_environment(folder, tmp_path, monkeypatch):
    (tmp_path / "other").mkdir()
    monkeypatch.setenv("PARETO_NRPA_DATA", str(folder))
    with pytest.raises(InstanceError, match="unknown instance 'mine'"):
        load("mine", data=tmp_path / "other")


def test_a_folder_of_families_will_do_as_well(folder, tmp_path):
    collection = tmp_path / "collection"
    collection.mkdir()
    folder.rename(collection / "mo-tsptw")
    assert load("mine", data=collection).name == "mine"


def test_the_user_cache_is_looked_in_last(folder, tmp_path):
    (tmp_path / "cache" / "pareto-nrpa" / "data").mkdir(parents=True)
    folder.rename(tmp_path / "cache" / "pareto-nrpa" / "data" / "mo-tsptw")
    assert load("mine").name == "mine"


def test_the_default_is_embedded():
    problem = load("default")
    assert problem.name == DEFAULT
    assert (problem.max_moves + 1, problem.n_objectives) == (25, 2)


def test_a_spec_gives_a_generated_instance():
    assert equal(load("tsptw:n=9,seed=3,tightness=0.2,objectives=3"), generate_tsptw(9, 3, 0.2, 3))
    assert equal(load("mo-tsp:n=7,seed=2,objectives=1"), generate_tsp(7, 2, 1))


def test_options_of_a_spec_have_defaults():
    assert equal(load("tsptw:n=9"), generate_tsptw(9))
    assert equal(load("mo-tsp:n=9"), generate_tsp(9))


def test_the_name_of_a_generated_instance_gives_it_again():
    problem = generate_tsptw(9, 3, 0.2, 3)
    assert equal(load(problem.name), problem)


@pytest.mark.parametrize(
    ("spec", "words"),
    [
        ("tsptw", "tsptw needs n=, as in tsptw:n=50,seed=1"),
        ("mo-tsp:", "mo-tsp needs n="),
        ("tsptw:seed=3", "tsptw needs n="),
        ("tsptw:n=9,sede=3", "'sede=3' is not an option of tsptw; it takes n=, seed=, tightness=, objectives="),
        ("tsptw:9", "'9' is not an option of tsptw"),
        ("mo-tsp:n=9,tightness=0.5", "'tightness=0.5' is not an option of mo-tsp; it takes n=, seed=, objectives="),
        ("tsptw:n=10,n=12", "n of tsptw is given twice, in 'n=10,n=12'; leave one out"),
        ("tsptw:n=nine", "n of tsptw must be a whole number, got 'nine'"),
        ("tsptw:n=9.5", "n of tsptw must be a whole number, got '9.5'"),
        ("tsptw:n=", "n of tsptw must be a whole number, got ''"),
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


def test_an_unknown_name_lists_what_is_there_and_suggests_the_nearest(folder):
    with pytest.raises(
        InstanceError,
        match=r"unknown instance 'rc_9O1\.1' \(did you mean 'rc_901\.1'\?\); there are: mine, rc_901\.1, rc_901\.2; ",
    ):
        load("rc_9O1.1", data=folder)


def test_an_unknown_name_like_nothing_gets_no_suggestion(folder):
    with pytest.raises(InstanceError, match=r"unknown instance 'zzz'; there are: mine"):
        load("zzz", data=folder)


def test_an_official_name_without_data_tells_the_command():
    with pytest.raises(
        InstanceError, match=r"official instance rc_204\.3 is not on this machine; get it with: pareto-nrpa data get"
    ):
        load("rc_204.3")


def test_an_official_name_beside_other_data_tells_the_command(folder):
    with pytest.raises(InstanceError, match=r"rc_204\.3 is not .*pareto-nrpa data get"):
        load("rc_204.3", data=folder)


def test_an_unknown_name_without_data_tells_what_there_is():
    with pytest.raises(InstanceError, match=r"unknown instance 'zzz'.*pareto-nrpa data get\. Generators: tsptw:n="):
        load("zzz")


@pytest.mark.parametrize("name", ["../secret", "../../secret", "SolomonTSPTW/mine", "/mine", "", ".", ".mine"])
def test_a_name_with_a_path_in_it_is_not_looked_up(name, folder, monkeypatch):
    monkeypatch.chdir(folder / "SecondaryCost")
    with pytest.raises(InstanceError, match=r"unknown instance|is a folder|there is no file"):
        load(name, data=folder)


def test_a_folder_is_no_instance(folder):
    with pytest.raises(InstanceError, match=r"data is a folder; give an instance file, .*; CSV, Excel"):
        load(folder)


def test_a_data_folder_must_exist(tmp_path):
    with pytest.raises(InstanceError, match=r"the data folder .*nowhere does not exist"):
        load("mine", data=tmp_path / "nowhere")


@pytest.mark.parametrize("name", ["x" * 300, "a\0b"])
def test_a_name_that_no_file_can_have_is_unknown(name):
    with pytest.raises(InstanceError, match="unknown instance"):
        load(name)


@pytest.mark.parametrize("arguments", [{"name_or_path": None}, {"name_or_path": 5}, {"name_or_path": "x", "data": 5}])
def test_what_is_no_name_is_told(arguments):
    with pytest.raises(InstanceError, match=r"(a problem is named by text or a path|data must be the path).*, got "):
        load(**arguments)


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


def test_a_wrong_answer_about_the_return_is_refused(late):
    with pytest.raises(InstanceError, match="check_return must be yes or no, got 'maybe'"):
        load("mine:check_return=maybe", data=late)
    with pytest.raises(InstanceError, match="unknown instance 'yours'"):
        load("yours:check_return=no", data=late)
