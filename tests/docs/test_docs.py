"""What the pages say holds: programs run, commands are understood, links lead somewhere, and the site builds."""

import ast
import importlib.util
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import typer

import pareto_nrpa
from pareto_nrpa import check_problem

from ..helpers.command_line import python
from ..helpers.problems import Knapsack

ROOT = Path(__file__).parent.parent.parent
if not (ROOT / "docs" / "results").is_dir():
    pytest.skip("the pages are in the repository, not in what PyPI has", allow_module_level=True)
PAGES = [
    *sorted(ROOT.glob("*.md")),
    *sorted((ROOT / "docs").glob("*.md")),
    *sorted((ROOT / "docs" / "results").glob("*.md")),
]
FENCE = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def page_name(page):
    return page.relative_to(ROOT).as_posix()


def programs(page):
    """Return the Python of a page: one program, as later blocks use names of earlier ones."""
    return [code for language, code in FENCE.findall(page.read_text(encoding="utf-8")) if language == "python"]


def evaluate(solution):
    """What the pages call `evaluate`, found by name in another process."""
    return sum(solution), len(solution) - sum(solution)


class Slow(Knapsack):
    """What the pages call `problem`, found by name in another process."""


STOPS = """4
0 0 0 0 0 100 0
1 3 4 0 0 100 1
2 6 8 0 0 100 1
3 0 5 0 0 100 1
"""
# What a page takes for granted: the reader's own names and files.
GIVEN = {
    "README.md": {"Problem": pareto_nrpa.Problem},
    "docs/guide.md": {**{name: getattr(pareto_nrpa, name) for name in pareto_nrpa.__all__}, "problem": Knapsack()},
    "docs/parallel.md": {"problem": Slow(n=12), "stop": pareto_nrpa.MaxEvaluations(40)},
    "docs/own-problem.md": {name: getattr(pareto_nrpa, name) for name in pareto_nrpa.__all__},
}
# What cannot be had in a test, and what stands in for it.
INSTEAD = {
    "README.md": {"MaxEvaluations(100_000)": "MaxEvaluations(2_000)"},
    "docs/index.md": {"MaxEvaluations(100_000)": "MaxEvaluations(2_000)"},
    "docs/spreadsheet.md": {"MaxRuntime(10)": "MaxRuntime(1)", '{"CO2 (kg)": 12}': '{"euros": 90}'},
    "docs/parallel.md": {
        "MaxEvaluations(100_000)": "MaxEvaluations(2_000)",
        'Client("tcp://scheduler:8786")': "Client(processes=False, n_workers=1, dashboard_address=None)",
    },
}
# What a page needs to be installed, and how long it takes.
NEEDS = {"docs/parallel.md": "distributed"}
SLOW = {"docs/parallel.md", "docs/exact.md", "docs/nas.md", "docs/spreadsheet.md"}

WITH_PROGRAMS = [
    pytest.param(page, id=page_name(page), marks=[pytest.mark.slow] * (page_name(page) in SLOW))
    for page in PAGES
    if programs(page)
]


@pytest.mark.parametrize("page", WITH_PROGRAMS)
@pytest.mark.filterwarnings("ignore::ResourceWarning")  # Dask leaves sockets to the garbage collector
def test_the_programs_of_a_page_run(page, tmp_path, monkeypatch):
    name = page_name(page)
    pytest.importorskip(NEEDS.get(name, "sys"), reason="needs an extra of pyproject.toml")
    if "nas-bench-201" in "".join(programs(page)) and not nas_bench_201_is_here():
        pytest.skip("needs NAS-Bench-201: pip install pareto-nrpa[nas]")
    monkeypatch.chdir(tmp_path)
    (tmp_path / "my-stops.txt").write_text(STOPS)
    for file in (ROOT / "examples" / "deliveries").glob("*.csv"):
        shutil.copy(file, tmp_path)
    from concurrent.futures import ThreadPoolExecutor

    names = {"__name__": "__main__", "ThreadPoolExecutor": ThreadPoolExecutor, **GIVEN.get(name, {})}
    for code in programs(page):
        for theirs, ours in INSTEAD.get(name, {}).items():
            code = code.replace(theirs, ours)
        exec(compile(code, f"{name}: {code[:60]!r}", "exec"), names)


def nas_bench_201_is_here():
    try:
        pareto_nrpa.load("nas-bench-201")
    except (ImportError, ValueError):
        return False
    return True


def commands(page):
    """Yield every call of `pareto-nrpa` on a page, as a shell would split it."""
    for line in re.findall(r"pareto-nrpa [^\n`]+", page.read_text(encoding="utf-8")):
        words = shlex.split(line.replace("\\", ""), comments=True, posix=True)
        while "&&" in words:
            yield words[: words.index("&&")]
            words = words[words.index("&&") + 1 :]
        yield words


def test_the_reader_sees_programs_and_commands():
    assert len(programs(ROOT / "README.md")) >= 2
    assert ["pareto-nrpa", "solve", "rc_204.1", "--workers", "4"] in list(commands(ROOT / "docs" / "parallel.md"))


WORDS = {"solve", "certify", "compare", "info", "data", "experiment", "report"}


@pytest.mark.parametrize("page", PAGES, ids=page_name)
def test_the_commands_of_a_page_are_understood(page):
    from pareto_nrpa.cli import app

    for words in commands(page):
        if words[0] != "pareto-nrpa" or len(words) < 2 or words[1] not in WORDS or "..." in words:
            continue  # prose
        command, arguments = typer.main.get_command(app), words[1:]
        while hasattr(command, "commands") and arguments:
            assert arguments[0] in command.commands, words
            command, arguments = command.commands[arguments[0]], arguments[1:]
        known = {option for parameter in command.params for option in (*parameter.opts, *parameter.secondary_opts)}
        given = {word.partition("=")[0] for word in arguments if re.match(r"--?[a-z]", word)}
        assert given <= known | {"--help"}, words


def anchors(page):
    """Return the anchors that GitHub and the site give to the headings of a page."""
    headings = re.findall(r"^#+ (.+)$", page.read_text(encoding="utf-8"), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


@pytest.mark.parametrize("page", PAGES, ids=page_name)
def test_the_links_of_a_page_lead_somewhere(page):
    text = FENCE.sub("", page.read_text(encoding="utf-8"))
    for target in re.findall(r"\]\(([^)\s]+)\)", text):
        if re.match(r"[a-z]+:", target) or target.startswith("gallery/"):  # elsewhere; made when the site is
            continue
        path, _, anchor = target.partition("#")
        place = (page.parent / path).resolve() if path else page
        assert place.exists(), target
        assert not anchor or anchor in anchors(place), target


def test_every_public_name_is_in_the_reference():
    listed = set(re.findall(r"^   pareto_nrpa\.([\w.]+)$", (ROOT / "docs" / "api.md").read_text(), re.MULTILINE))
    metrics = {f"metrics.{name}" for name in pareto_nrpa.metrics.__all__ if not name.isupper()}
    assert listed >= (set(pareto_nrpa.__all__) | metrics) - {"__version__"}


def test_versions_agree():
    assert f"version: {pareto_nrpa.__version__}\n" in (ROOT / "CITATION.cff").read_text()


@pytest.mark.slow
def test_the_site_builds_without_a_warning(tmp_path):
    pytest.importorskip("myst_parser", reason="needs Sphinx: pip install pareto-nrpa[docs]")
    pytest.importorskip("furo", reason="needs Sphinx: pip install pareto-nrpa[docs]")
    options = ("-q", "-E", "-W", "-D", "gallery_run=0", "-b", "html", "-d", "trees", ROOT / "docs", "html")
    python("import sys; from sphinx.cmd.build import main; sys.exit(main(sys.argv[1:]))", *options, cwd=tmp_path)
    assert (tmp_path / "html" / "generated" / "pareto_nrpa.solve.html").exists()


# --- examples


EXAMPLES = Path(__file__).parent.parent.parent / "examples"


def load_example(name):
    spec = importlib.util.spec_from_file_location(name, EXAMPLES / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    # Registered, as classes are found by name in registered modules only.
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


ALL = [
    pytest.param(path, id=path.stem, marks=[] if path.stem == "knapsack" else pytest.mark.slow)  # compiles, or trains
    for path in sorted(EXAMPLES.glob("*.py"))
]


@pytest.mark.parametrize("path", ALL)
def test_every_example_runs(path, tmp_path):
    command = [sys.executable, path, *(["8"] if path.stem == "digits" else [])]
    done = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path)
    last = (done.stderr.splitlines() or [""])[-1]
    if done.returncode and ("pip install" in last or "data get" in last or "No module named" in last):
        pytest.skip(last)
    assert done.returncode == 0, done.stderr
    assert re.search("trade-offs by (pareto|polished)-nrpa", done.stdout)


GALLERY = ["job_shop", "course_timetable", "quadratic_assignment", "flow_shop", "nurse_roster"]


def test_examples_are_short():
    length = {path.stem: len(path.read_text().splitlines()) for path in EXAMPLES.glob("*.py")}
    assert all(length[name] <= 60 for name in GALLERY)
    (knapsack,) = (n for n in ast.parse((EXAMPLES / "knapsack.py").read_text()).body if isinstance(n, ast.ClassDef))
    assert knapsack.end_lineno - knapsack.lineno + 1 <= 25
    tour = (EXAMPLES / "compiled_tour.py").read_text().split("if __name__")[0].rstrip()
    assert len(tour.splitlines()) <= 60


@pytest.mark.parametrize("name", ["knapsack", *GALLERY])
def test_the_plain_examples_keep_their_promises(name):
    check_problem(load_example(name).make(), n_games=5)


@pytest.mark.slow
def test_the_digits_search_goes_on_where_it_was(tmp_path):
    pytest.importorskip("sklearn", reason="needs scikit-learn: pip install pareto-nrpa[nas]")
    for n in (4, 8):
        assert f"{n} evaluations" in python(EXAMPLES / "digits.py", n, cwd=tmp_path)[0]
        lines = (tmp_path / "digits.jsonl").read_text().splitlines()
        assert len(lines) == len(set(lines)) == 1 + n


def test_the_compiled_tour_keeps_its_promises():
    check_problem(load_example("compiled_tour").tour(np.random.default_rng(1).random((2, 7, 7))))
