"""Whether a checkpoint's problem has changed: noticed in the user's own code, wherever libraries lead."""

import importlib
import os
import sys
import threading

import pytest

from pareto_nrpa import MaxEvaluations, ParetoNRPA, solve
from pareto_nrpa.algorithms import RandomSearch
from pareto_nrpa.errors import CheckpointError, ProblemError
from pareto_nrpa.problem.base import problem_fingerprint

from ..helpers.command_line import python
from ..helpers.problems import Knapsack

SOURCE = """
import collections, dataclasses, enum, functools, logging, os, warnings
import numpy as np
import email.message, unittest.mock, concurrent.futures
import {helpers} as helpers
from pareto_nrpa import Problem

logger = logging.getLogger(__name__)
something = object()
FACTOR = 2
TABLE = {{"a": [1, 2]}}
PRICES = np.array([1.5, 2.5])
NAMES = {{"swap", "add", "drop"}}
OBJECTS = np.array([None, ("x", 1), "y"], dtype=object)

@dataclasses.dataclass
class Rates:
    low: float = 1.0
    high: list = dataclasses.field(default_factory=lambda: [2, 3])

class Kind(enum.IntEnum):
    SHORT = 3
    LONG = 9

def scaled(function):
    @functools.wraps(function)
    def wrapper(*arguments):
        return function(*arguments) * 5
    return wrapper

@functools.cache
def table():
    return FACTOR, something, TABLE, PRICES, NAMES, OBJECTS, Kind.SHORT

def keywords(*, step=4):
    return step

@scaled
def wrapped():
    return 6

class Base(Problem):
    scale = 1
    steps = [7, 8]
    costs = {{"a": 11}}
    allowed = {{12, "b", "c"}}
    weights = np.array([13, 14])

    def __init__(self):
        self.rates = Rates()
        self.queue = collections.deque([15], maxlen=16)
        self.span = range(17)
        self.rule = lambda state: 18
        self.counts = collections.Counter("aab")

    def initial_state(self): return ()
    def legal_moves(self, state): return (0, 1) if len(state) < 3 else ()
    def play(self, state, move): return (*state, move)
    def move_code(self, state, move): return len(state), move

class Mine(Base):
    @staticmethod
    def still():
        return 19

    @classmethod
    def common(cls):
        return 20

    @property
    def shown(self):
        return 21

    @functools.cached_property
    def kept(self):
        return 22

    @functools.cache
    def slow(self, x):
        return 23

    def evaluate(self, state):
        keywords(), wrapped(), helpers.other()
        if state[0] in {{"add", "swap", "drop", "turn"}}:
            return 0, 0
        logger.debug("evaluating")
        with warnings.catch_warnings():
            return self.cost(state), helpers.cost(state) + table()[0]

    def cost(self, state): return sum(state)
"""


HELPER = """
def cost(state): return len(state)
def other(): return 24
"""


# One process for all, which takes the place of one for each: none sees the module of another.
EACH = """
import sys
from pareto_nrpa.problem.base import problem_fingerprint
for folder in sys.argv[1:]:
    sys.path.insert(0, folder)
    from one import Mine
    print(problem_fingerprint(Mine()))
    sys.path.remove(folder)
    del sys.modules["one"], sys.modules["one_helpers"], Mine
"""


def made(tmp_path, *pairs, seed="0"):
    """Return the fingerprints of problems, each written to a module with its helper."""
    folders = [tmp_path / str(i) for i in range(len(pairs))]
    for folder, (source, helper) in zip(folders, pairs, strict=True):
        folder.mkdir(exist_ok=True)
        (folder / "one_helpers.py").write_text(helper)
        (folder / "one.py").write_text(source.format(helpers="one_helpers"))
    return python(EACH, *folders, PYTHONPATH=os.pathsep.join(sys.path), PYTHONHASHSEED=seed)[0].split()


def test_it_is_the_same_in_every_process(tmp_path):
    assert len({made(tmp_path, (SOURCE, HELPER), seed=seed)[0] for seed in "01"}) == 1


CHANGES = [
    ("return sum(state)", "return 2 * sum(state)"),
    ("FACTOR = 2", "FACTOR = 3"),
    ('{{"a": [1, 2]}}', '{{"a": [1, 3]}}'),
    ("scale = 1", "scale = 2"),
    ("return FACTOR,", "return -FACTOR,"),
    ("len(state) < 3", "len(state) < 4"),
    ("1.5, 2.5", "1.5, 2.6"),
    ('"swap", "add", "drop"}}\n', '"swap", "add", "turn"}}\n'),
    ('("x", 1)', '("x", 2)'),
    ("low: float = 1.0", "low: float = 1.1"),
    ("[2, 3])", "[2, 4])"),
    ("SHORT = 3", "SHORT = 4"),
    ("* 5", "* 6"),
    ("step=4", "step=5"),
    ("return 6", "return 7"),
    ("[7, 8]", "[7, 9]"),
    ('"a": 11', '"a": 12'),
    ('{{12, "b", "c"}}', '{{12, "b", "d"}}'),
    ("[13, 14]", "[13, 15]"),
    ("deque([15]", "deque([16]"),
    ("maxlen=16", "maxlen=17"),
    ("range(17)", "range(18)"),
    ("lambda state: 18", "lambda state: 19"),
    ('"aab"', '"abb"'),
    ("return 19", "return 20"),
    ("return 20", "return 21"),
    ("return 21", "return 22"),
    ("return 22", "return 23"),
    ("return 23", "return 24"),
    ('"drop", "turn"', '"drop", "flip"'),
]


HELPER_CHANGES = [("len(state)", "1 + len(state)"), ("24", "25")]


@pytest.fixture(scope="module")
def fingerprints(tmp_path_factory):
    """The fingerprint of each changed problem by the change, and that of the problem as it is."""
    pairs = [(SOURCE.replace(*change), HELPER) for change in CHANGES]
    pairs += [(SOURCE, HELPER.replace(*change)) for change in HELPER_CHANGES]
    folder = tmp_path_factory.mktemp("changes")
    first, *changed, last = made(folder, (SOURCE, HELPER), *pairs, (SOURCE, HELPER))
    assert first == last  # else all would differ, whatever has changed
    return dict(zip([*CHANGES, *HELPER_CHANGES], changed, strict=True)), first


@pytest.mark.parametrize(("old", "new"), CHANGES)
def test_a_change_in_the_users_own_code_is_noticed(fingerprints, old, new):
    changed, original = fingerprints
    assert old in SOURCE
    assert changed[old, new] != original


@pytest.mark.parametrize(("old", "new"), HELPER_CHANGES)
def test_a_change_in_a_module_of_the_users_own_is_noticed(fingerprints, old, new):
    changed, original = fingerprints
    assert changed[old, new] != original


@pytest.mark.parametrize(
    "body",
    [
        "from own_prices import A; return A",
        "import own_prices as prices; return prices.deeper()",
        "return getattr(own_rates, 'A')",
        "return globals()['RATE']",
    ],
)
def test_what_a_method_imports_or_looks_up_by_name_is_followed(body, tmp_path, monkeypatch):
    """Regression: imports within a method were not seen, and a resumed search kept the old objectives."""
    monkeypatch.syspath_prepend(str(tmp_path))

    def fingerprint(value):
        for name in ("own_prices", "own_rates", "own_problem"):
            sys.modules.pop(name, None)
        text = f"A = {value}\ndef deeper(): return A\n"
        (tmp_path / "own_prices.py").write_text(text)
        (tmp_path / "own_rates.py").write_text(text)
        head = f"import own_rates\nfrom tests.helpers.problems import Knapsack\nRATE = {value}\n"
        method = f"class Own(Knapsack):\n    def price(self):\n        {body}\n"
        (tmp_path / "own_problem.py").write_text(head + method)
        importlib.invalidate_caches()
        return problem_fingerprint(importlib.import_module("own_problem").Own())

    monkeypatch.setattr(sys, "dont_write_bytecode", True)  # sources change within a second
    assert fingerprint(1) == fingerprint(1) != fingerprint(2)


class Remembering(Knapsack):
    """Writes down what it was asked: its attributes change while it is searched."""

    def __init__(self):
        super().__init__()
        self.memo, self.calls = {}, 0

    def evaluate(self, state):
        self.calls += 1
        return self.memo.setdefault(state, super().evaluate(state))


@pytest.mark.parametrize("algorithm", [ParetoNRPA(level=2), RandomSearch()], ids=lambda a: a.name)
def test_what_a_problem_remembers_of_a_search_is_no_change(algorithm, tmp_path):
    used = Remembering()
    first = solve(used, algorithm, stop=MaxEvaluations(20), checkpoint=tmp_path / "search")
    assert used.memo
    for problem in (used, Remembering()):
        again = solve(problem, algorithm, stop=MaxEvaluations(20), checkpoint=tmp_path / "search", resume=True)
        assert again.front.objectives.tolist() == first.front.objectives.tolist()
    changed = Remembering()
    changed.weights[0] += 1
    with pytest.raises(CheckpointError, match=r"(code or data|data or code) of Remembering have changed"):
        solve(changed, algorithm, stop=MaxEvaluations(20), checkpoint=tmp_path / "search", resume=True)


class Locked(Knapsack):
    """Holds something that shows nothing of itself."""

    def __init__(self):
        super().__init__()
        self.lock = threading.Lock()


def test_what_cannot_be_read_asks_for_a_version_before_the_search(tmp_path):
    message = (
        r"changes of Locked could not be detected: Locked.lock cannot be read .*lock.* Give it an attribute `version`"
    )
    with pytest.raises(ProblemError, match=message):
        solve(Locked(), ParetoNRPA(level=1), stop=MaxEvaluations(5), checkpoint=tmp_path / "search")
    assert not (tmp_path / "search").exists()
    assert solve(Locked(), ParetoNRPA(level=1), stop=MaxEvaluations(5)).evaluations == 5


def test_a_version_stands_for_code_and_data():
    one, same, other = Locked(), Locked(), Locked()
    one.version = same.version = "2026-11"
    other.version = "2026-12"
    same.weights[0] += 1
    assert problem_fingerprint(one) == problem_fingerprint(same) != problem_fingerprint(other)
