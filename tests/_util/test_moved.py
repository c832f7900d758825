"""Old names of modules lead to the modules of today, with a warning."""

import importlib
import sys

import pytest

import pareto_nrpa
from pareto_nrpa._util.moved import _MOVED, NAMES


@pytest.fixture(autouse=True)
def _forgotten():
    names = [f"pareto_nrpa.{name}" for name in [*_MOVED, "stop"]]
    for name in names:
        sys.modules.pop(name, None)
    yield
    for name in names:
        sys.modules.pop(name, None)


@pytest.mark.parametrize("old", _MOVED)
def test_an_old_name_is_the_same_module_and_warns(old):
    for library in {"optuna", "pymoo"} & {old}:
        pytest.importorskip(library)
    new = importlib.import_module(f"pareto_nrpa.{_MOVED[old]}")
    spec = new.__spec__
    words = rf"pareto_nrpa\.{old} is deprecated .* {new.__name__} instead"
    with pytest.warns(DeprecationWarning, match=words) as caught:
        assert importlib.import_module(f"pareto_nrpa.{old}") is new
    assert caught[0].filename == importlib.__file__  # the place of the import, not this mechanism
    assert new.__spec__ is spec
    assert getattr(pareto_nrpa, old) is new


def test_stops_have_a_short_name_without_a_warning():
    from pareto_nrpa.stop import AllOf as same

    from pareto_nrpa.solving.stop import AllOf

    assert AllOf is same


def test_the_classes_for_pymoo_have_their_old_names_for_one_release():
    pytest.importorskip("pymoo")
    module = importlib.import_module("pareto_nrpa.integrations.pymoo")
    with pytest.warns(DeprecationWarning, match="use ParetoNRPAForPymoo instead"):
        assert module.ParetoNRPA is module.ParetoNRPAForPymoo


@pytest.mark.parametrize("name", NAMES)
def test_a_name_that_the_package_exported_warns_and_names_its_module(name):
    home = importlib.import_module(f"pareto_nrpa.{NAMES[name]}")
    with pytest.warns(DeprecationWarning, match=rf"\.{name} is deprecated .* from pareto_nrpa\.{NAMES[name]}\.$"):
        assert getattr(pareto_nrpa, name) is getattr(home, name)


def test_the_package_exports_25_names():
    assert len(pareto_nrpa.__all__) == 25
