"""Kinds of files: how good ones are made, what changes them, and what reads them as the program does."""

from __future__ import annotations

import io
import json
import logging
import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from mutations import damage, forge, searches
from pareto_nrpa import (
    Certificate,
    MaxEvaluations,
    Result,
    certify,
    check_certificate,
    generate_tsptw,
    load,
    read_stops,
    solve,
)
from pareto_nrpa.choosing import choice
from pareto_nrpa.experiments.measure import measure
from pareto_nrpa.experiments.plan import Contender, Plan, load_plan
from pareto_nrpa.experiments.report import write_tables
from pareto_nrpa.experiments.rows import read_csv, to_csv
from pareto_nrpa.experiments.store import Store
from pareto_nrpa.experiments.worker import make_run
from pareto_nrpa.itinerary import drivers_list, in_words
from pareto_nrpa.problems.nas.cells201 import N_CELLS, all_cells
from pareto_nrpa.problems.nas.records101 import read_training
from pareto_nrpa.problems.nas.table201 import read_objectives
from pareto_nrpa.problems.nas.tfrecord import read_records, write_record
from pareto_nrpa.reference_front import read_reference_front, with_reference_front
from pareto_nrpa.report import report_page

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

TOY = "tsptw:n=6,seed=1"
STOPS = ["0 0 0 0 0 1000 0", "1 3 0 1 5 50 10", "2 3 4 1 0 70.5 10", "3 0 4 1 20 90 10"]


@dataclass(frozen=True)
class Source:
    """How a good file is made in a folder, and what reads it."""

    make: Callable[[Path], Path]
    read: Callable[[Path], Any]


@dataclass(frozen=True)
class Kind:
    """Files of a kind: what changes them, and where good ones come from, in turns."""

    damage: Callable[[bytes, np.random.Generator], bytes]
    sources: tuple[Source, ...]


def kind(damage: Callable[[bytes, np.random.Generator], bytes], make: Any, read: Any) -> Kind:
    return Kind(damage, (Source(make, read),))


def saved(damage: Callable[[bytes, np.random.Generator], bytes], sources: Any) -> Kind:
    return Kind(damage, tuple(Source(source.make, source.read) for source in sources))


def make_instance(folder: Path) -> Path:
    path = folder / "stops.txt"
    path.write_text("\n".join(["4", *STOPS]) + "\n")
    return path


def make_matrix(folder: Path) -> Path:
    make_instance(folder)
    np.save(folder / "stops.npy", np.arange(16.0).reshape(4, 4))
    return folder / "stops.npy"


def read_instance(path: Path) -> None:
    problem = load(path.with_suffix(".txt"))
    objectives, _ = problem.replay(range(1, problem.max_moves + 1))
    assert np.isfinite(objectives).all(), "an instance was accepted whose costs are not finite"


def make_certificate(folder: Path) -> Path:
    return certify(load(TOY)).save(folder / "certificate.json")


def make_open_certificate(folder: Path) -> Path:
    return certify(generate_tsptw(6, seed=1), time_limit=1e-9).save(folder / "certificate.json")


def read_certificate(path: Path) -> None:
    certificate = Certificate.load(path)
    certificate.summary()
    check_certificate(certificate, load(TOY))


def make_result(folder: Path) -> Path:
    return solve(load(TOY), stop=MaxEvaluations(100)).save(folder / "result.json")


def read_result(path: Path) -> None:
    result = Result.load(path)
    report_page([result])
    for index in range(len(result.front)):
        in_words(choice(result, index), result.plan)
        if result.schedules:
            drivers_list(choice(result, index), result.plan)


SPREADSHEET = """name;x;y;opens;closes;service;demand;note
Hub;0;0;08:00;18:00;;;
Anna;3,5;0;09:00;12:00;10;3;rings twice
Bob;4;4;;;10;4;
Cleo;0;4,25;10:00;11:00;00:15;2;
"""


def make_stops(folder: Path) -> Path:
    path = folder / "stops.csv"
    path.write_text(SPREADSHEET)
    rows = [";Hub;Anna;Bob;Cleo", "Hub;0;1,5;2;3", "Anna;1;0;4;5", "Bob;2;4;0;6", "Cleo;3;5;6;0"]
    (folder / "cost.csv").write_text("\n".join(rows))
    return path


def make_cost(folder: Path) -> Path:
    return make_stops(folder).with_name("cost.csv")


def read_spreadsheet(path: Path) -> None:
    """Accept nothing that a second, simple-minded look at the same text sees otherwise."""
    stops = path.with_name("stops.csv")
    problem = read_stops(stops, speed=30, costs={"euros": path.with_name("cost.csv")}, vehicles=2, capacity=8)
    objectives, _ = problem.replay(problem.genotype.moves)
    assert np.isfinite(objectives).all(), "stops were accepted whose costs are not finite"
    lines = [line for line in stops.read_text("utf-8-sig").splitlines() if line.strip(";, \t\ufeff")]
    assert len(problem.plan.stops) == len(lines) - 1, "rows were lost"
    header = [cell.strip().lower() for cell in lines[0].split(";")]
    if '"' in stops.read_text("utf-8-sig") or not {"name", "x", "closes"} <= set(header) or "kind" in header:
        return
    for stop, line in zip(problem.plan.stops, lines[1:], strict=True):
        cells = dict(zip(header, map(str.strip, line.split(";")), strict=False))
        assert stop["name"] == cells["name"], "a name was changed"
        assert stop["x"] == float(cells["x"].replace(",", ".")), "a place was changed"
        hours, _, rest = cells["closes"].partition(":")
        closing = float(hours.replace(",", ".") or "inf") if not rest else 60 * int(hours) + float(rest[:2])
        assert abs((math.inf if stop["closes"] is None else stop["closes"]) - closing) < 1 or closing == math.inf


def make_text(name: str, text: str) -> Callable[[Path], Path]:
    def make(folder: Path) -> Path:
        path = folder / name
        path.write_text(text)
        return path

    return make


def read_file(path: Path) -> None:
    problem = read_stops(path)
    objectives, _ = problem.replay(problem.genotype.moves)
    assert np.isfinite(objectives).all(), "an instance was accepted whose costs are not finite"


HEADING = "CUST NO. XCOORD. YCOORD. DEMAND READY TIME DUE DATE SERVICE TIME"
SOLOMON = "\n".join(["toy", "VEHICLE", "NUMBER CAPACITY", "3 20", "CUSTOMER", HEADING, *STOPS]).replace("70.5", "70")
TSPLIB = "NAME: toy\nTYPE: TSP\nDIMENSION: 3\nEDGE_WEIGHT_TYPE: EUC_2D\nNODE_COORD_SECTION\n1 0 0\n2 0 7\n3 5 5\nEOF\n"
JOB = {"id": 1, "location_index": 1, "service": 60, "delivery": [1], "time_windows": [[0, 3000]]}
VEHICLE = {"id": 1, "start_index": 0, "end_index": 0, "capacity": [4], "time_window": [0, 3600]}
DURATIONS = {"durations": [[0, 100], [90, 0]]}
VROOM = json.dumps({"jobs": [JOB], "vehicles": [VEHICLE], "matrices": {"car": DURATIONS}})
VRPLIB = """NAME : toy
TYPE : VRPTW
DIMENSION : 4
CAPACITY : 20
VEHICLES : 2
EDGE_WEIGHT_TYPE : EUC_2D
NODE_COORD_SECTION
1 0 0
2 3 0
3 3 4
4 0 4
DEMAND_SECTION
1 0
2 1
3 1
4 1
TIME_WINDOW_SECTION
1 0 1000
2 5 50
3 0 70
4 20 90
SERVICE_TIME_SECTION
1 0
2 10
3 10
4 10
DEPOT_SECTION
1
-1
EOF
"""
MATRIX_TSPTW = "4\n0 3 5 4\n3 0 4 5\n5 4 0 3\n4 5 3 0\n0 1000\n5 50\n0 70\n20 90\n"


def read_start(path: Path) -> None:
    """Begin with the solutions of a result, as `--start` does."""
    result = Result.load(path)
    solve(load(TOY), start=result.front.solutions, stop=MaxEvaluations(len(result.front.solutions) + 3))


def make_front_table(folder: Path) -> Path:
    path = folder / "front.csv"
    path.write_text("distance;time\n100;300\n120.5;250\n200;240\n".replace(";", ","))
    return path


def read_front(path: Path) -> None:
    problem = load(TOY)
    with_reference_front(problem, read_reference_front(path, problem)).reference_front.compared([[110.0, 310.0]])


PLAN = """
title = "A tiny experiment"
problems = ["tsptw:n=10,seed=1,tightness=0.4", "mo-tsp:n=8,seed=1"]
evaluations = 300
seeds = 2
reference = "PLS"

[[algorithm]]
label = "Random"
name = "random"

[[algorithm]]
label = "PLS"
name = "pls"
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


def read_plan(path: Path) -> None:
    plan = load_plan(str(path))
    assert plan.runs()[-1].key
    assert plan.small(lambda problem: problem.startswith("mo-tsp")).runs()[0].key


RUN_PLAN = Plan(
    name="made-up",
    title="Made up",
    problems=("mo-tsp:n=8,seed=1",),
    contenders=(Contender("A", "random", {"bias": 1.0}),),
    seeds=1,
    evaluations=100,
    cpu_seconds=None,
    reference="A",
)


def make_stored_run(folder: Path) -> Path:
    (run,) = RUN_PLAN.runs()
    path = Store(folder).path(run)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(make_run(run, None)))
    logging.getLogger("pareto_nrpa.experiments.store").setLevel(logging.CRITICAL)  # it says what counts as not made
    return path


def read_stored_run(path: Path) -> None:
    """Measure what is stored and write the page; a damaged run counts as not made, which is no error."""
    store = Store(next(folder for folder in path.parents if path == Store(folder).path(RUN_PLAN.runs()[0])))
    measured = measure(RUN_PLAN, store)
    list(store.runs_on(RUN_PLAN.problems[0]))
    if measured.rows:
        write_tables(measured, path.with_suffix(".page"))


ROWS = (
    "problem,algorithm,seed,evaluations,cpu_seconds,front_size,hypervolume,spread,violations,versions,error\n"
    + "".join(f'"mo-tsp","A, B",{seed},100,0.5,3,0.{seed}5,1,0,revision 1; numpy 2.0,\n' for seed in range(5))
)


def read_rows(path: Path) -> None:
    to_csv(read_csv(path))


def make_architectures(folder: Path) -> Path:
    (folder / "nas").mkdir(exist_ok=True)
    accuracies = np.random.default_rng(0).uniform(10, 95, N_CELLS)
    np.savez(folder / "nas" / "nasbench201.npz", ops=all_cells().astype(np.int8), c10_valid200=accuracies)
    return folder / "nas" / "nasbench201.npz"


def read_architectures(path: Path) -> None:
    read_objectives(["c10_error", "params"], path.parents[1])


METRICS = (
    "CjMJAAAAAAAAW0ARAAAAAAAAAAAZK4cW2c737z8hmpmZmZmZuT8pmpmZmZmZuT8yBHBhdGgKMwkAAAAAAABbQBEAAAAAAEB/QBkrhxbZzvfvPyHNzMzM"
    "zMzcPynNzMzMzMzcPzIEcGF0aAozCQAAAAAAAFtAEQAAAAAAQI9AGSuHFtnO9+8/Ic3MzMzMzOw/Kc3MzMzMzOw/MgRwYXRoEIq5pAEZAAAAAADhsEA="
)
OPERATIONS = "input,conv1x1-bn-relu,conv3x3-bn-relu,conv3x3-bn-relu,conv3x3-bn-relu,maxpool3x3,output"
RECORD = [
    "28cfc7874f6d200472e1a9dcd8650aa0",
    108,
    "0111010000000100000010000100000000100000010000000",
    OPERATIONS,
    METRICS,
]


def change_record(content: bytes, rng: np.random.Generator) -> bytes:
    """Change what a record says, with a sum that fits, or the file around it."""
    if rng.random() < 0.3:
        return damage.text(content, rng)
    file = io.BytesIO()
    write_record(file, damage.json_text(json.dumps(RECORD).encode(), rng))
    return file.getvalue()


def make_record(folder: Path) -> Path:
    with open(folder / "nas.tfrecord", "wb") as file:
        write_record(file, json.dumps(RECORD).encode())
    return folder / "nas.tfrecord"


def read_record(path: Path) -> None:
    with open(path, "rb") as file:
        for one in read_records(file, path.name):
            read_training(one)


#: A kind more is a line more.
KINDS = {
    "instance": kind(damage.text, make_instance, read_instance),
    "matrix": kind(damage.text, make_matrix, read_instance),
    "csv": kind(damage.table, make_stops, read_spreadsheet),
    "csv-matrix": kind(damage.table, make_cost, read_spreadsheet),
    "solomon": kind(damage.text, make_text("toy.txt", SOLOMON), read_file),
    "vrplib": kind(damage.text, make_text("toy.vrp", VRPLIB), read_file),
    "tsplib": kind(damage.text, make_text("toy.tsp", TSPLIB), read_file),
    "matrix-tsptw": kind(damage.text, make_text("toy.txt", MATRIX_TSPTW), read_file),
    "vroom": kind(damage.json_text, make_text("toy.json", VROOM), read_file),
    "certificate": kind(damage.json_text, make_certificate, read_certificate),
    "open-certificate": kind(damage.json_text, make_open_certificate, read_certificate),
    "result": kind(damage.json_text, make_result, read_result),
    "start": kind(damage.json_text, make_result, read_start),
    "front": Kind(damage.json_text, (Source(make_result, read_front), Source(make_certificate, read_front))),
    "front-table": kind(damage.text, make_front_table, read_front),
    "plan": kind(damage.text, make_text("plan.toml", PLAN), read_plan),
    "stored-run": kind(damage.json_text, make_stored_run, read_stored_run),
    "rows-of-runs": kind(damage.text, make_text("rows.csv", ROWS), read_rows),
    "nas-bench-201": kind(forge.arrays_alone, make_architectures, read_architectures),
    "nas-bench-101": kind(change_record, make_record, read_record),
    "journal": saved(forge.journal, [searches.Journalled()]),
    "checkpoint-paper": saved(forge.checkpoint, searches.PAPER),
    "checkpoint-screened": saved(forge.checkpoint, searches.SCREENED),
    "checkpoint-played": saved(forge.checkpoint, searches.PLAYED),
    "checkpoint-team": saved(forge.team, searches.TEAMS),
    "checkpoint-baseline": saved(forge.baseline, searches.BASELINES),
}
