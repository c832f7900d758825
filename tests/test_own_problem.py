"""A problem in a file of one's own: found, made, and every mistake told in a sentence."""

import pickle
import sys

import pytest

from pareto_nrpa import MaxEvaluations, ParetoNRPA, solve
from pareto_nrpa.errors import InstanceError, ProblemError
from pareto_nrpa.own_problem import is_own, load_own

BITS = """
from helper_of_bits import WIDTH
from tests.helpers.problems import Moves

class Bits(Moves):
    def __init__(self, width=WIDTH): self.width = width
    def legal_moves(self, state): return (0, 1) if len(state) < self.width else ()
    def evaluate(self, state): return sum(state), len(state) - sum(state)

def make(): return Bits(3)
def wide(width): return Bits(width)
def broken(): raise KeyError("weights")
def ends(): raise SystemExit(3)
def nothing(): return 7
def three():
    problem = Bits()
    problem.reference_point = (1, 2, 3)
    return problem
ready = Bits(2)
named = Bits(2)
named.name = "my bits"
"""


@pytest.fixture
def write(tmp_path, monkeypatch):
    """A function that writes a module beside a helper; what is imported of it is forgotten afterwards."""
    monkeypatch.setattr(sys, "path", list(sys.path))
    before = set(sys.modules)
    (tmp_path / "helper_of_bits.py").write_text("WIDTH = 4\n")

    def written(text=BITS, name="bits_of_mine.py"):
        path = tmp_path / name
        path.write_text(text)
        return path

    yield written
    for name in set(sys.modules) - before:
        if str(tmp_path) in str(getattr(sys.modules[name], "__file__", "")):
            del sys.modules[name]


@pytest.mark.parametrize(
    ("name", "expected"),
    [("a.py:make", True), ("a/b.py", True), (r"C:\a.py:make", True), ("rc_204.3", False), ("tsptw:n=5", False)],
)
def test_own_problems_are_known_by_their_ending(name, expected):
    assert is_own(name) == expected


@pytest.mark.parametrize(("factory", "width"), [("make", 3), ("Bits", 4), ("ready", 2), ("named", 2)])
def test_functions_classes_and_problems_are_found(write, factory, width):
    problem = load_own(f"{write()}:{factory}")
    assert problem.name == ("my bits" if factory == "named" else factory)
    found = solve(problem, ParetoNRPA(level=2), stop=MaxEvaluations(200), seed=1).front
    assert found.objectives.tolist() == [[i, width - i] for i in range(width + 1)]


def test_it_can_be_sent_to_a_process(write):
    problem = load_own(f"{write()}:make")
    assert pickle.loads(pickle.dumps(problem)).width == 3
    assert load_own(f"{write()}:make").__class__ is problem.__class__, "a file is imported once"


def test_compiled_problems_keep_their_type(write):
    text = "from pareto_nrpa.routing import generate_tsp\nfrom dataclasses import replace\n"
    text += "def make(): return replace(generate_tsp(5, seed=1), name='')\n"
    assert load_own(f"{write(text)}:make").name == "make"


@pytest.mark.parametrize(
    ("factory", "words"),
    [
        (":wide", "bits_of_mine.py:wide needs width; write a function without arguments that returns the problem"),
        (":mak", r"has no 'mak' \(did you mean 'make'\?\); it has: Bits, make, broken, ends, nothing, three, ready"),
        (":broken", "broken failed: KeyError: 'weights'"),
        (":ends", "ends failed: SystemExit: 3"),
        (":nothing", "must return a Problem or a CompiledProblem, got 7"),
        ("", "needs the name of a problem or of a function that returns one, as in bits_of_mine.py:Bits; it has: Bits"),
    ],
)
def test_mistakes_are_sentences(write, factory, words):
    with pytest.raises(InstanceError, match=words):
        load_own(f"{write()}{factory}")


def test_what_a_problem_says_of_itself_is_checked(write):
    with pytest.raises(ProblemError, match="reference_point of Bits must have one entry for each of the 2 objectives"):
        load_own(f"{write()}:three")


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("x = 1\ndef make(:\n", "SyntaxError in line 2: invalid syntax"),
        (
            "\n\nimport no_such_module_at_all\n",
            "ModuleNotFoundError in line 3: No module named 'no_such_module_at_all'",
        ),
        ("\nraise SystemExit\n", "SystemExit in line 2"),
        ("def f():\n    return 1 / 0\nf()\n", "ZeroDivisionError in line 2: division by zero"),
    ],
)
def test_a_file_that_cannot_be_imported_says_where(write, text, words):
    path = write(text, "broken_of_mine.py")
    with pytest.raises(InstanceError, match=f"broken_of_mine.py cannot be imported: {words}"):
        load_own(f"{path}:make")
    assert "broken_of_mine" not in sys.modules


def test_files_that_are_not_there_or_hide_another(write, tmp_path):
    with pytest.raises(InstanceError, match=r"there is no file .*nothing\.py; name your own problem as in"):
        load_own(f"{tmp_path / 'nothing.py'}:make")
    (tmp_path / "folder.py").mkdir()
    with pytest.raises(InstanceError, match=r"folder\.py is not a Python file"):
        load_own(f"{tmp_path / 'folder.py'}:make")
    with pytest.raises(InstanceError, match=r"json\.py has the name of a module that is in use; rename the file"):
        load_own(f"{write('', 'json.py')}:make")
