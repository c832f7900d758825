"""Damaged files of every kind: `python benchmarks/mutate.py certificate --n 10000 --seed 0`.

Each file must be read or refused in one sentence. What is not: another error or a warning (a leak), more than ten
seconds (a hang), the end of the process (a crash), more than a gigabyte (a MemoryError, as the limit is set). A
mutation is known by its number: `--only 123 --keep folder` makes it again and leaves the file there.
"""

from __future__ import annotations

import argparse
import json
import math
import multiprocessing
import resource
import signal
import sys
import tempfile
import warnings
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

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
from pareto_nrpa.exceptions import ParetoNRPAError
from pareto_nrpa.itinerary import drivers_list, in_words
from pareto_nrpa.report import report_page

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

SECONDS, BYTES = 10, 10**9
_LONGEST_MESSAGE = 500
_MOST_SHOWN = 20
TOY = "tsptw:n=6,seed=1"
STOPS = ["0 0 0 0 0 1000 0", "1 3 0 1 5 50 10", "2 3 4 1 0 70.5 10", "3 0 4 1 20 90 10"]


@dataclass(frozen=True)
class Kind:
    """Files of a kind: how a good one is made in a folder, which file of it is damaged, and what reads it."""

    make: Callable[[Path], Path]
    read: Callable[[Path], Any]
    is_json: bool = False
    is_table: bool = False


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


#: A kind more is a line more.
KINDS = {
    "csv": Kind(make_stops, read_spreadsheet, is_table=True),
    "csv-matrix": Kind(make_cost, read_spreadsheet, is_table=True),
    "solomon": Kind(make_text("toy.txt", SOLOMON), read_file),
    "tsplib": Kind(make_text("toy.tsp", TSPLIB), read_file),
    "vroom": Kind(make_text("toy.json", VROOM), read_file, is_json=True),
    "instance": Kind(make_instance, read_instance),
    "matrix": Kind(make_matrix, read_instance),
    "certificate": Kind(make_certificate, read_certificate, is_json=True),
    "result": Kind(make_result, read_result, is_json=True),
    "open-certificate": Kind(make_open_certificate, read_certificate, is_json=True),
}

TOKENS = [
    b"NaN", b"-Infinity", b"1e999", b"-1", b"0", b"1e-320", b"1e308", b"0x10", b"null", b"true", b"{}", b"[]", b'""',
    b"'", b'"', b"(", b"\\", b"\n", b"\x00", b"\xff\xfe", b"9" * 5000, b"[" * 100_000, b"(" * 5000, b"9" * 20,
    b"18446744073709551615", b"-9223372036854775809", "\u0661\u2028\U0001f600".encode(), b"True", b",)", b"<f8", b"|O",
]  # fmt: skip
VALUES = [
    None, True, False, 0, -1, 1.5, 10**30, 10**400, 1e308, -1e308, 5e-324, float("nan"), float("inf"), "", "x" * 10_000,
    "NaN", [], [[]], {}, [None], {"from": [0, 0], "to": [None, None]}, [1, 2, 3], [[1, 2], [3]], "proved complete",
    "not finished", "proved infeasible", list(range(1000)),
]  # fmt: skip


def mutated(content: bytes, rng: np.random.Generator, *, is_json: bool, is_table: bool = False) -> bytes:
    """Return a file with one to four things changed."""
    for _ in range(rng.integers(1, 5)):
        if is_table and rng.random() < 0.7:
            content = _mutate_table(content, rng)
            continue
        try:
            tree = json.loads(content) if is_json and rng.random() < 0.5 else None
        except (ValueError, RecursionError):
            tree = None
        content = _mutate_bytes(content, rng) if tree is None else json.dumps(_mutate_tree(tree, rng)).encode()
    return content


def _mutate_bytes(content: bytes, rng: np.random.Generator) -> bytes:
    begin, end = sorted(rng.integers(0, len(content) + 1, 2).tolist())
    end = min(end, begin + int(rng.integers(1, 40)))
    match rng.integers(7):
        case 0:  # bits
            changed = bytearray(content)
            for at in rng.integers(0, max(1, len(content)), rng.integers(1, 9)):
                if len(changed):
                    changed[at] ^= 1 << int(rng.integers(8))
            return bytes(changed)
        case 1:
            return content[:begin]
        case 2:
            return content[:begin] + content[end:]
        case 3:  # said twice
            return content[:end] + content[begin:end] * int(rng.integers(1, 50)) + content[end:]
        case 4:
            return content[:begin] + rng.bytes(int(rng.integers(1, 20))) + content[end:]
        case 5:
            return content[:begin] + TOKENS[rng.integers(len(TOKENS))] + content[end:]
        case _:  # a word for another
            mark = b";" if b";" in content else b" "
            words = content.split(mark)
            words[rng.integers(len(words))] = TOKENS[rng.integers(len(TOKENS))]
            return mark.join(words)


CELLS = [
    b"", b" ", b"0", b"-1", b"3.5", b"3,5", b"1.234,5", b"1,234", b"1e3", b"nan", b"inf", b"08:30", b"8:5", b"25:61",
    b"-08:30", b"08:30:30", b"8.30", b"noon", b"Anna", b"depot", b"<b>", b"=1+1", b"2026-11-17 08:30", b"1 000",
    b"00:00", b"47:59", b"lat", b"x", b"closes", b"open", b"kind", "\u0663".encode(), b"9" * 30, b'"a;b"', b'"',
    b"\xc3\x84",
]  # fmt: skip


def _mutate_table(content: bytes, rng: np.random.Generator) -> bytes:
    """Change something as people at a spreadsheet do: a cell, a row, a column, the kind of file."""
    rows = [line.split(b";") for line in content.split(b"\n")]
    row, other = rng.integers(0, len(rows), 2)
    cell, place = int(rng.integers(len(rows[row]))), int(rng.integers(len(rows[row])))
    match rng.integers(8):
        case 0 | 1 | 2:
            rows[row][cell] = CELLS[rng.integers(len(CELLS))]
        case 3:
            rows[row][cell], rows[row][place] = rows[row][place], rows[row][cell]
        case 4:
            rows[row], rows[other] = rows[other], rows[row]
        case 5:
            rows.insert(row, list(rows[other]))
        case 6:  # a column moves
            for line in rows:
                if max(cell, place) < len(line):
                    line.insert(place, line.pop(cell))
        case _:
            return content.replace(*[(b";", b","), (b",", b"."), (b"\n", b"\r\n"), (b";", b"\t")][rng.integers(4)])
    return b"\n".join(b";".join(line) for line in rows)


def _mutate_tree(tree: Any, rng: np.random.Generator) -> Any:
    """Change a value somewhere in what a JSON file holds."""
    places = list(_places(tree))
    if not places:
        return VALUES[rng.integers(len(VALUES))]
    holder, key = places[rng.integers(len(places))]
    match rng.integers(4):
        case 0:
            del holder[key]
        case 1:
            other, there = places[rng.integers(len(places))]
            holder[key] = json.loads(json.dumps(other[there]))
        case _:
            holder[key] = VALUES[rng.integers(len(VALUES))]
    return tree


def _places(tree: Any) -> Iterator[tuple[Any, Any]]:
    """Yield where values are: a list or an object, and the index or key in it."""
    pending = [tree]
    while pending:
        holder = pending.pop()
        keys = list(holder) if isinstance(holder, dict) else range(len(holder)) if isinstance(holder, list) else ()
        for key in keys:
            yield holder, key
            pending.append(holder[key])


class Hang(BaseException):
    """Reading took too long; no error that anybody catches."""


def outcome(kind: Kind, path: Path) -> str:
    """Return what reading a file leads to: "read", "refused", or what is wrong."""

    def too_long(signum: int, frame: Any) -> None:
        raise Hang

    before = signal.signal(signal.SIGALRM, too_long)
    signal.alarm(SECONDS)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            kind.read(path)
        return "read"
    except ParetoNRPAError as error:
        message = str(error).replace(str(path.parent), "")
        is_sentence = "\n" not in message and len(message) <= _LONGEST_MESSAGE
        return "refused" if is_sentence else f"a message of {len(message)} letters: {message[:80]!r}"
    except Hang:
        return f"a hang: more than {SECONDS} s"
    except Exception as error:
        return f"a leak: {type(error).__name__}: {str(error)[:80]!r}"
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)


class Mutations:
    """A good file, and what becomes of each mutation of it."""

    def __init__(self, kind: str, folder: Path, seed: int) -> None:
        self._kind, self._seed = KINDS[kind], seed
        self._path = self._kind.make(folder)
        self._good = self._path.read_bytes()
        self._kind.read(self._path)  # which compiles what it needs

    def examine(self, numbers: range) -> Iterator[tuple[int, str]]:
        """Yield the outcome of each."""
        for number in numbers:
            rng = np.random.default_rng([self._seed, number])
            self._path.write_bytes(mutated(self._good, rng, is_json=self._kind.is_json, is_table=self._kind.is_table))
            yield number, outcome(self._kind, self._path)

    def examine_apart(self, numbers: range) -> Iterator[tuple[int, str]]:
        """Yield the same from a process of its own, and go on in another one if it crashes."""
        context = multiprocessing.get_context("fork")
        while numbers:
            ours, theirs = context.Pipe(duplex=False)
            child = context.Process(target=self._send, args=(numbers, theirs))
            child.start()
            theirs.close()
            try:
                while True:
                    number, result = ours.recv()
                    numbers = range(number + 1, numbers.stop)
                    yield number, result
            except EOFError:
                child.join()
            if numbers:
                yield numbers.start, f"a crash: exit code {child.exitcode}"
                numbers = numbers[1:]

    def _send(self, numbers: range, pipe: Any) -> None:
        used = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
        resource.setrlimit(resource.RLIMIT_AS, (used + BYTES, used + BYTES))
        for result in self.examine(numbers):
            pipe.send(result)
        pipe.close()


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("kind", choices=KINDS)
    parser.add_argument("--n", type=int, default=10_000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--only", type=int, help="this mutation alone, in this process")
    parser.add_argument("--keep", type=Path, help="a folder to make the files in")
    options = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory() as temporary:
        folder = options.keep or Path(temporary)
        folder.mkdir(parents=True, exist_ok=True)
        mutations = Mutations(options.kind, folder, options.seed)
        if options.only is not None:
            for number, result in mutations.examine(range(options.only, options.only + 1)):
                print(f"{options.kind} {number}: {result}")
            return 0
        counts: Counter[str] = Counter()
        for number, result in mutations.examine_apart(range(options.n)):
            is_good = result in ("read", "refused")
            counts[result if is_good else "wrong"] += 1
            if not is_good and counts["wrong"] <= _MOST_SHOWN:
                print(f"{options.kind} {number}: {result}", flush=True)
    summary = ", ".join(f"{counts[word]} {word}" for word in ("refused", "read", "wrong"))
    print(f"{options.kind}: {options.n} files, {summary}")
    return int(counts["wrong"] > 0)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
