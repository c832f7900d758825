"""One way to save, restore, copy and send what searches and their parts are."""

import copy
import os
import pickle
import signal
import subprocess
import sys
import time
from collections import deque
from functools import cache, cached_property
from typing import Annotated, ClassVar, NamedTuple

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pareto_nrpa import MaxEvaluations, ParetoNRPA, solve
from pareto_nrpa.algorithms.registry import NAMES
from pareto_nrpa.engine.state import Maybe, dump, load, need, pack, restoring, unpack
from pareto_nrpa.errors import CheckpointError, ProblemError
from pareto_nrpa.routing import generate_tsptw

from ..helpers.command_line import python
from ..helpers.problems import Bits, Knapsack, small

N = 60
PROBLEMS = {"tsptw": generate_tsptw(8, seed=2), "bits": Bits()}
on_both = pytest.mark.parametrize("problem", PROBLEMS)
every_algorithm = pytest.mark.parametrize("name", NAMES)


def content(search):
    """Return the state of a search without the time that it took."""
    tree = search.state()
    del tree["wall_seconds"], tree["cpu_seconds"]
    return pack({}, tree)


@on_both
@every_algorithm
def test_a_search_resumed_at_any_evaluation_is_the_one_never_stopped(name, problem):
    problem = PROBLEMS[problem]
    whole = small(name).start(problem, seed=3, budget=N)
    saved = []
    for _ in range(N):
        saved.append(pack({}, whole.state()))
        whole.advance(1)
    end = content(whole)
    for n in (0, 1, 2, 7, 19, 20, 21, 33, 40, 50, 59):
        resumed = small(name).start(problem, seed=3, budget=N)
        load(resumed, unpack(saved[n])[1])
        assert resumed.evaluations == n
        resumed.advance(N - n)
        assert content(resumed) == end, n


@every_algorithm
def test_a_search_is_copied_and_pickled_as_it_is_saved(name):
    search = small(name).start(PROBLEMS["bits"], seed=3, budget=N)
    search.advance(N // 2)
    twins = [copy.deepcopy(search), pickle.loads(pickle.dumps(search))]
    assert {content(twin) for twin in twins} == {content(search)}
    search.advance(N // 2)
    assert content(twins[0]) != content(search)  # a copy shares no array
    twins[0].advance(N // 2)
    assert content(twins[0]) == content(search)


@cache
def saved(name="pareto-nrpa", problem="bits", n=N // 2):
    search = small(name).start(PROBLEMS[problem], seed=3, budget=N)
    search.advance(n)
    return pack(search.state_header(), search.state())


def resumed(path, data, name="pareto-nrpa", problem="bits"):
    path.write_bytes(data)
    return small(name).resume(PROBLEMS[problem], path)


@pytest.fixture(scope="module")
def path(tmp_path_factory):
    return tmp_path_factory.mktemp("state") / "saved"


@given(place=st.integers(0, 2**20), other=st.integers(1, 255))
def test_any_byte_that_differs_is_noticed(path, place, other):
    data = bytearray(saved())
    data[place % len(data)] ^= other
    with pytest.raises(CheckpointError, match=r"saved is not a checkpoint of pareto-nrpa, or is damaged: it.*; start"):
        resumed(path, data)


@given(length=st.integers(0, 2**20), more=st.binary(max_size=3))
def test_a_file_of_another_length_is_noticed(path, length, more):
    data = saved()[: length % len(saved())] + more
    with pytest.raises(CheckpointError, match=r"or is damaged: it.*; start again with another file\.$"):
        resumed(path, data)
    with pytest.raises(CheckpointError, match="or is damaged"):
        resumed(path, saved() + b"x")


def arrays_of(tree):
    """Yield all arrays of a state."""
    if isinstance(tree, np.ndarray):
        yield tree
    elif isinstance(tree, dict | list):
        for node in tree.values() if isinstance(tree, dict) else tree:
            yield from arrays_of(node)


@settings(max_examples=10)
@given(data=st.data())
@on_both
@every_algorithm
def test_no_number_leads_compiled_code_out_of_its_arrays(path, name, problem, data):
    """A changed file may have a correct sum: a search that can be restored continues, or says what is wrong."""
    header, tree = unpack(saved(name, problem))
    arrays = [array for array in arrays_of(tree) if array.size and array.dtype.kind in "iu"]
    array = data.draw(st.sampled_from(arrays)).reshape(-1)
    largest = np.iinfo(array.dtype).max
    number = st.sampled_from([0, 1, 2, 31, 63, 10**3, 10**6, 2**31, largest])
    value = data.draw(number if array.dtype.kind == "u" else number | number.map(lambda n: -n))
    array[data.draw(st.integers(0, array.size - 1))] = value
    try:
        search = resumed(path, pack(header, tree), name, problem)
    except CheckpointError as error:
        assert str(error).endswith("; start again with another file.")
        return
    try:
        search.advance(20)
    except ProblemError as error:
        assert str(error)


HEADERS = [{"seed": -1}, {"seed": "1"}, {"budget": -1}, {"budget": []}, {"budget": 10**40}]
HEADERS += [{"parameters": 3}, {"problem": 5}, {"searches": None}]


@pytest.mark.parametrize("changed", HEADERS, ids=str)
def test_a_header_that_cannot_be_is_refused(path, changed):
    header, tree = unpack(saved())
    with pytest.raises(CheckpointError, match=r"^(the checkpoint )?\S*saved .*\.$"):
        resumed(path, pack(header | changed, tree))


# --- a component of one's own


class Nest(NamedTuple):
    """Arrays that name each other's sizes, and one that is working memory."""

    rows: Annotated[np.ndarray, "i8 [R, 2] < R 3:W+1"]
    weights: Annotated[np.ndarray, "f8 [W]"]
    room: np.ndarray


class Found(NamedTuple):
    move: Annotated[object, "value"]
    places: Annotated[np.ndarray, "i8 [*] < R"]
    n: int = 0


class Part:
    STATE: ClassVar = {"level": "int < 0:"}
    level = 0


class Whole:
    STATE: ClassVar = {
        "rng": "rng",
        "nest": Nest,
        "queue": [Found],
        "best": Maybe(Found),
        "seen": "i8 [*]",
        "tries": {"int": "float"},
        "table": "f8 [=, =]",
        "known": "values [K]",
        "part": "component",
        "parts": ["component"],
        "lazy": "component",
        "name": "str",
        "is_on": "bool",
    }
    state_sizes: ClassVar = {"R": 2}

    def __init__(self):
        self.rng = np.random.default_rng(0)
        self.nest = Nest(np.array([[0, 3], [0, 3]]), np.zeros(5), np.zeros(3))
        self.queue, self.best, self.seen = deque(), None, set()
        self.tries, self.table, self.known = {}, np.zeros((2, 3)), []
        self.part, self.parts = Part(), [Part(), Part()]
        self.name, self.is_on = "", False
        self.n_restored = 0

    @cached_property
    def lazy(self):
        return Part()

    def restored(self):
        need(self.name != "wrong", "a right name")
        self.n_restored += 1


def changed():
    whole = Whole()
    whole.rng.random(3)
    whole.nest.rows[1, 0] = 1
    whole.nest.room[:] = 7
    whole.nest = whole.nest._replace(weights=np.arange(4.0))
    whole.queue.append(Found(("a", (1, None)), np.array([1, 0]), 5))
    whole.best, whole.seen = Found(2.5, np.zeros(0, np.int64)), {5, 3}
    whole.tries, whole.known = {3: 0.5, 1: 2.0}, [True, "x", (1, 2)]
    whole.table[1, 2] = 4.0
    whole.part.level, whole.parts[1].level = 4, 6
    whole.lazy.level = 9
    whole.name, whole.is_on = "right", True
    return whole


def packed(thing):
    return unpack(pack({}, dump(thing)))[1]


def test_a_component_that_declares_its_state_is_restored(tmp_path):
    whole, twin = changed(), Whole()
    load(twin, packed(whole))
    assert pack({}, dump(twin)) == pack({}, dump(whole))
    assert twin.rng.random() == whole.rng.random()
    assert (twin.queue[0].move, twin.queue[0].n, type(twin.queue)) == (("a", (1, None)), 5, deque)
    assert (twin.seen, twin.tries, twin.known) == ({3, 5}, {3: 0.5, 1: 2.0}, [True, "x", (1, 2)])
    assert twin.nest.room.tolist() == [0, 0, 0]
    assert twin.lazy.level == 9
    assert twin.n_restored == 1
    unused = Whole()
    load(Whole(), packed(unused))
    assert "lazy" not in vars(unused)


WRONG = {
    "Whole.nest.rows must be at least 0 and below 2, got [2]": lambda tree: tree["nest"]["rows"].__setitem__((0, 0), 2),
    "Whole.nest.rows must be at least 3 and below 5, got [2]": lambda tree: tree["nest"]["rows"].__setitem__((1, 1), 2),
    "Whole.nest.rows must be an array of i8 with 2 axes": lambda tree: tree["nest"].update(rows=np.zeros((2, 2))),
    "Whole.nest.rows must be of length 2, got 3": lambda tree: tree["nest"].update(rows=np.zeros((3, 2), np.int64) + 3),
    "Whole.table must be of length 3, got 4": lambda tree: tree.update(table=np.zeros((2, 4))),
    "Whole.queue[0].places must be at least 0": lambda tree: tree["queue"][0].update(places=np.array([-1])),
    "Whole.queue must be a list": lambda tree: tree.update(queue={}),
    "Whole.queue[0] must be move, places, n": lambda tree: tree["queue"][0].pop("n"),
    "Whole.part.level must be at least 0, got [-1]": lambda tree: tree["part"].update(level=-1),
    "Whole.part.level must be of type int, got True": lambda tree: tree["part"].update(level=True),
    "Whole.name must be of type str": lambda tree: tree.update(name=3),
    "Whole.known must be a list": lambda tree: tree.update(known=3),
    "Whole must be rng, nest": lambda tree: tree.pop("seen"),
    "its state must have a right name": lambda tree: tree.update(name="wrong"),
    "its state cannot be restored (TypeError)": lambda tree: tree.update(rng=3),
    "its state cannot be restored (ValueError)": lambda tree: tree["parts"].pop(),
}


@pytest.mark.parametrize("sentence", WRONG)
def test_what_does_not_have_its_form_is_named(sentence):
    tree = packed(changed())
    WRONG[sentence](tree)
    with pytest.raises(CheckpointError) as refused, restoring("file"):
        load(Whole(), tree)
    assert f"file is not a checkpoint of pareto-nrpa, or is damaged: {sentence}" in str(refused.value)


# --- what a checkpoint survives and refuses


_SCRIPT = """
import sys
from pareto_nrpa import ParetoNRPA, MaxEvaluations, solve
from pareto_nrpa.routing import generate_tsptw
import pareto_nrpa.solving.run as run_module
run_module._SECONDS_BETWEEN_CHECKPOINTS = 0.0
problem, stop = generate_tsptw(12, seed=5), MaxEvaluations(60_000)
solve(problem, ParetoNRPA(), stop=stop, seed=1, checkpoint=sys.argv[1], resume=True)
"""


def test_killed_at_any_moment_and_resumed_it_ends_in_the_same_front(tmp_path):
    path = tmp_path / "search.npz"
    command = [sys.executable, "-c", _SCRIPT, str(path)]
    for _ in range(2):
        before = path.stat().st_mtime_ns if path.exists() else 0
        process = subprocess.Popen(command, env=os.environ)
        while process.poll() is None and not (path.exists() and path.stat().st_mtime_ns > before):
            time.sleep(0.01)
        process.send_signal(signal.SIGKILL)
        process.wait()
    problem, stop = generate_tsptw(12, seed=5), MaxEvaluations(60_000)
    resumed = solve(problem, ParetoNRPA(), stop=stop, seed=1, checkpoint=path, resume=True)
    whole = solve(problem, ParetoNRPA(), stop=stop, seed=1)
    assert resumed.front.objectives.tolist() == whole.front.objectives.tolist()
    assert resumed.front.solutions == whole.front.solutions
    assert resumed.history.tolist() == whole.history.tolist()


@pytest.fixture
def half(tmp_path):
    search = ParetoNRPA(level=2).start(Knapsack(), seed=1, budget=50)
    search.advance(20)
    search.save(tmp_path / "search.npz")
    return tmp_path / "search.npz"


def test_another_problem_is_refused(half):
    with pytest.raises(CheckpointError, match="is of another problem"):
        ParetoNRPA(level=2).resume(Knapsack(seed=5), half)
    with pytest.raises(CheckpointError, match=r"is of another problem \(Knapsack\), or the data or code of tsptw:n=9"):
        ParetoNRPA(level=2).resume(generate_tsptw(9), half)


def test_other_parameters_are_refused(half):
    with pytest.raises(CheckpointError, match=r"was made with alpha=0.5, not 0.7"):
        ParetoNRPA(level=2, alpha=0.7).resume(Knapsack(), half)


_TELL = """
import sys
from pareto_nrpa import ParetoNRPA
from tests.helpers.problems import Knapsack
search = ParetoNRPA(level=2).resume(Knapsack(), sys.argv[1])
search.tell(list(search.pending), [Knapsack().evaluate(c.state) for c in search.pending])
print(search.evaluations)
"""


def test_a_new_process_may_tell_what_an_older_one_asked_for(tmp_path):
    search = ParetoNRPA(level=2).start(Knapsack(), seed=4, budget=50)
    search.ask(2)
    search.save(tmp_path / "search.npz")
    assert python(_TELL, tmp_path / "search.npz")[0] == "2\n"


def test_an_existing_checkpoint_is_never_overwritten_by_a_new_search(half):
    before = half.read_bytes()
    with pytest.raises(CheckpointError, match="already exists; resume to continue from it"):
        solve(Knapsack(), ParetoNRPA(level=2), stop=MaxEvaluations(50), checkpoint=half)
    assert half.read_bytes() == before


def test_a_checkpoint_that_cannot_be_written_costs_no_result(tmp_path):
    class Odd(Knapsack):
        def move_code(self, state, move):
            return frozenset([len(state), move])

    with pytest.raises(CheckpointError, match="codes and moves made of") as caught:
        solve(Odd(), ParetoNRPA(level=1), stop=MaxEvaluations(30), checkpoint=tmp_path / "search.npz")
    assert caught.value.result.evaluations == 30
