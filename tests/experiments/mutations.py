"""Files of experiments, changed at random: each leads to a result or to a sentence, never to anything else.

A kind is a function of a random generator and a folder. It makes a file, changes it, uses it as the program does, and
returns the sentence that came, or nothing if the file was still good; whatever else happens is raised. Any number of
calls may share a folder: `for _ in range(10_000): KINDS["plan"](rng, folder)`.
"""

import io
import json
import logging
import zipfile

import numpy as np

from pareto_nrpa.exceptions import ParetoNRPAError
from pareto_nrpa.experiments.measure import measure
from pareto_nrpa.experiments.plan import load_plan
from pareto_nrpa.experiments.report import write_tables
from pareto_nrpa.experiments.rows import read_csv, to_csv
from pareto_nrpa.experiments.store import Store
from pareto_nrpa.experiments.worker import make_run
from pareto_nrpa.problems.nas.cells201 import N_CELLS, all_cells
from pareto_nrpa.problems.nas.records101 import read_training
from pareto_nrpa.problems.nas.table201 import read_objectives
from pareto_nrpa.problems.nas.tfrecord import read_records, write_record

from ..problems.nas.test_records101 import CELL, record
from .helpers import MO_TSP, TINY, a_plan

LONGEST_SENTENCE = 1_000
# What somebody may write where something else should be: numbers, texts and lists that break one thing or another.
HOSTILE = [
    0,
    -1,
    1.5,
    True,
    None,
    "",
    "x",
    "\x00",
    "../..",
    "é" * 9,
    [],
    {},
    [[]],
    [1, 2],
    {"a": 1},
    2**63,
    10**400,
    -1e308,
]
HOSTILE += ["x" * 100_000, [0] * 10_000, float("nan"), float("inf"), "\ud800", "nan", "1e999"]

PLAN = (
    TINY
    + """
parameters = { pruning = false, longest_segment = 3 }

[quick]
problems = ["mo-tsp:n=8,seed=1"]
stand_ins = ["mo-tsp:n=6"]
seeds = 1
evaluations = 50

[figures]
fronts = ["mo-tsp:n=8,seed=1"]

[published]
"mo-tsp:n=8,seed=1" = "eight"
"""
)


def plan(rng, folder):
    """A plan, as it is read by all commands of experiments."""
    path = folder / "mutated.toml"
    path.write_bytes(_bytes(rng, _token(rng, PLAN).encode(errors="replace")))

    def use():
        read = load_plan(str(path))
        small = read.small(lambda problem: rng.random() < 0.5)
        return read.runs()[-1].key, small.runs()[0].key, read.budget

    return _sentence(use)


_made = {}  # runs by their keys, each made once


def _record_of(run):
    if run.key not in _made:
        _made[run.key] = make_run(run, None)
    return _made[run.key]


def stored_run(rng, folder):
    """The file of a stored run, in the bytes or in the values: then it is measured, and the page is written."""
    plan = a_plan(problems=[MO_TSP], labels=["A"], seeds=1)
    (run,) = plan.runs()
    store, good = Store(folder), _record_of(run)
    store.path(run).parent.mkdir(parents=True, exist_ok=True)
    text = json.dumps(_node(rng, good) if rng.random() < 0.6 else good)
    store.path(run).write_bytes(text.encode() if rng.random() < 0.5 else _bytes(rng, text.encode()))
    logging.getLogger("pareto_nrpa.experiments.store").setLevel(logging.CRITICAL)

    def use():
        measured = measure(plan, store)
        list(store.runs_on(MO_TSP))
        return write_tables(measured, folder / "page") if measured.rows else None

    return _sentence(use)


def rows(rng, folder):
    """The rows of runs (PLAN-runs.csv), from which a page is made."""
    path = folder / "mutated.csv"
    head = "problem,algorithm,seed,evaluations,cpu_seconds,front_size,hypervolume,spread,violations,versions,error\n"
    lines = [f'{MO_TSP!r},"A, B",{seed},100,0.5,3,0.{seed}5,1,0,revision 1; numpy 2.0,\n' for seed in range(5)]
    path.write_bytes(_bytes(rng, _token(rng, head + "".join(lines)).encode(errors="replace")))
    return _sentence(lambda: to_csv(read_csv(path)))


def architectures(rng, folder):
    """The table of NAS-Bench-201: bytes of the archive, headers of its arrays, or numbers."""
    (folder / "nas").mkdir(exist_ok=True)
    path = folder / "nas" / "nasbench201.npz"
    accuracies = rng.uniform(10, 95, N_CELLS)
    ops = all_cells().astype(np.int8)
    what = rng.integers(4)
    if what == 0:
        accuracies[rng.integers(N_CELLS)] = rng.choice([-1, 101, np.nan, np.inf, 1e308])
    if what == 1:
        ops[rng.integers(N_CELLS), rng.integers(6)] = rng.integers(-128, 128)
    members = {"ops": _npy(ops), "c10_valid200": _npy(accuracies)}
    if what == 2:
        name = str(rng.choice(list(members)))
        members[name] = _bytes(rng, members[name][:128]) + members[name][128:]
    path.write_bytes(_archive(members))
    if what == 3:
        path.write_bytes(_bytes(rng, path.read_bytes()))
    return _sentence(lambda: read_objectives(["c10_error", "params"], folder))


def official_record(rng, folder):
    """A record of the official file of NAS-Bench-101: what it says, or the bytes of the file around it."""
    path = folder / "mutated.tfrecord"
    with open(path, "wb") as file:
        write_record(file, _bytes(rng, record(CELL, 0.9)) if rng.random() < 0.7 else record(CELL, 0.9))
    if rng.random() < 0.3:
        path.write_bytes(_bytes(rng, path.read_bytes()))

    def use():
        with open(path, "rb") as file:
            return [read_training(one) for one in read_records(file, path.name)]

    return _sentence(use)


KINDS = {
    "plan": plan,
    "stored run": stored_run,
    "rows of runs": rows,
    "table of architectures": architectures,
    "record of architectures": official_record,
}


def _sentence(use):
    """Use a file; return what it said if it was refused."""
    try:
        use()
    except ParetoNRPAError as error:
        said = str(error)
        assert said and "\n" not in said and len(said) < LONGEST_SENTENCE, said[:2_000]
        return said
    return ""


def _bytes(rng, content):
    """Change some bytes: turned over, cut off, left out, put in, repeated, or nested a hundred thousand deep."""
    data = bytearray(content)
    for _ in range(rng.integers(1, 4)):
        at = int(rng.integers(0, len(data) + 1))
        size = int(rng.integers(1, 20))
        what = rng.integers(7)
        if what == 0 and data:
            data[at % len(data)] ^= 1 << int(rng.integers(8))
        elif what == 1:
            del data[at:]
        elif what == 2:
            del data[at : at + size]
        elif what == 3:
            data[at:at] = rng.bytes(size)
        elif what == 4:
            data[at:at] = data[at : at + 40 * size]
        elif what == 5:
            data[at:at] = rng.choice([b"[", b"{", b'{"a":', b"9", b"-", b"\n", b'"']) * int(10 ** rng.integers(0, 6))
        else:
            data[at : at + 1] = bytes([rng.integers(256)])
    return bytes(data)


def _token(rng, text):
    """Put something else in the place of one word of a text, most of the time."""
    if rng.random() < 0.3:
        return text
    words = text.split(" ")
    words[int(rng.integers(len(words)))] = _written(HOSTILE[int(rng.integers(len(HOSTILE)))])
    return " ".join(words)


def _written(value):
    return value if isinstance(value, str) and len(value) % 2 else json.dumps(value)


def _node(rng, value, depth=0):
    """Return plain values with something else in one place."""
    if depth and (rng.random() < 0.3 or not isinstance(value, dict | list) or not value):
        return HOSTILE[int(rng.integers(len(HOSTILE)))]
    if isinstance(value, dict):
        key = list(value)[int(rng.integers(len(value)))]
        if rng.random() < 0.1:
            return {name: item for name, item in value.items() if name != key}
        return {**value, key: _node(rng, value[key], depth + 1)}
    at = int(rng.integers(len(value)))
    return [*value[:at], _node(rng, value[at], depth + 1), *value[at + 1 :]]


def _npy(array):
    file = io.BytesIO()
    np.save(file, array)
    return file.getvalue()


def _archive(members):
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        for name, content in members.items():
            archive.writestr(f"{name}.npy", content)
    return file.getvalue()
