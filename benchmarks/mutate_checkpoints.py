"""Forge checkpoints, sum and all: `python benchmarks/mutate_checkpoints.py --n 10000 --seed 0`.

Each forged file must be refused with a `CheckpointError`, or be gone on from for 500 evaluations: no other error, no
crash, no more than ten seconds and a gigabyte. The work is done in a process of its own, which a crash ends alone.
"""

import argparse
import io
import json
import resource
import signal
import subprocess
import sys
import tempfile
import zipfile
from collections import Counter
from pathlib import Path

import numpy as np

from pareto_nrpa import CheckpointError, ParetoNRPA, Problem, generate_tsptw
from pareto_nrpa.nrpa.checkpoint import sum_of

EVALUATIONS, SECONDS, MEGABYTES = 500, 10, 1024
NUMBERS = (0, 1, -1, 2, 3, 15, 16, 64, 1000, 2**31, 2**32 - 1, 2**53, 2**62, 2**63 - 1, -(2**63))
VALUES = (None, True, -1, 0, 1, 1.5, 1e308, 10**30, "", "text", [], [1], {}, {"a": [1]}, [[[]]], np.nan, np.inf)


class Subset(Problem):
    """Take or leave ten things; a plain problem with a bias, and with sets of any order for equal solutions."""

    n_objectives, max_moves = 2, 10

    def initial_state(self):
        return ()

    def legal_moves(self, state):
        return ("take", "leave") if len(state) < 10 else ()

    def play(self, state, move):
        return (*state, move)

    def move_code(self, state, move):
        return len(state), move

    def bias(self, state, move):
        return 0.1 * (move == "take")

    def evaluate(self, state):
        taken = [i for i, move in enumerate(state) if move == "take"]
        return sum((3 * i) % 7 for i in taken), 50 - sum((5 * i) % 11 for i in taken)


def searches():
    """Return problems, algorithms and searches in the middle of all that a checkpoint can hold."""
    level3 = ParetoNRPA(level=3, n_policies=3)
    for problem, algorithm, unique, n_asked in (
        (Subset(), level3, False, 0),
        (Subset(), ParetoNRPA(level=2, limited_repetitions=3), True, 3),
        (Subset(), ParetoNRPA(level=2, playouts_per_step=4), False, 2),
        (generate_tsptw(9, seed=1), level3, False, 2),
        (generate_tsptw(9, seed=1), ParetoNRPA(level=2, iterations=40, bias=0.0), True, 0),
    ):
        search = algorithm.start(problem, seed=5, budget=1000)
        if unique:
            search.count_unique()
            search.limit_archive(5)
        search.advance(237)
        search.ask(n_asked)
        yield problem, algorithm, search


def forge(arrays, rng):
    """Change something, and say what."""
    name = str(rng.choice(sorted(arrays)))
    kind = str(rng.choice(["numbers", "numbers", "numbers", "bits", "shape", "type", "meta", "meta", "missing"]))
    array = arrays[name]
    if kind == "missing":
        del arrays[name]
    elif kind == "meta":
        arrays["meta"] = as_bytes(forge_json(json.loads(arrays["meta"].tobytes()), rng))
    elif kind == "type":
        arrays[name] = array.astype(rng.choice(["i8", "f8", "u4", "i4", "u1", ">i8", "c16", "S3", "?"]))
    elif kind == "shape":
        arrays[name] = reshaped(array, rng)
    elif array.size:
        array = arrays[name] = array.copy()
        places = rng.integers(array.size, size=int(rng.choice([1, 1, 3, array.size])))
        if kind == "bits":
            view = array.reshape(-1).view(np.uint8)
            view[places * array.itemsize + rng.integers(array.itemsize)] ^= 1 << int(rng.integers(8))
        elif array.dtype.kind == "f":
            array.reshape(-1)[places] = rng.choice([0, 1, -1, 0.5, 1e300, -1e300, np.nan, np.inf, -np.inf, 1e6])
        elif array.dtype.kind in "iu":
            number = NUMBERS[int(rng.integers(len(NUMBERS)))]
            array.reshape(-1).view(f"u{array.itemsize}")[places] = number % 256**array.itemsize
    return f"{kind} of {name}"


def reshaped(array, rng):
    """Return an array with a row or column more or less, turned round, flat, or empty and very wide."""
    axis = int(rng.integers(array.ndim))
    ways = [
        np.delete(array, slice(0, 1), axis),
        np.concatenate([array, array], axis),
        np.pad(array, [(0, int(i == axis)) for i in range(array.ndim)]),
        array.T,
        array.reshape(-1),
        np.zeros((0, 10**12), dtype=array.dtype),
        array[..., None],
    ]
    return np.ascontiguousarray(ways[int(rng.integers(len(ways)))])


def forge_json(value, rng):
    """Return a JSON value with something else in a random place."""
    if isinstance(value, dict) and value and rng.random() < 0.9:
        key = str(rng.choice(sorted(value)))
        if rng.random() < 0.1:
            return {other: value[other] for other in value if other != key}
        return {**value, key: forge_json(value[key], rng)}
    if isinstance(value, list) and value and rng.random() < 0.8:
        place = int(rng.integers(len(value)))
        return [*value[:place], forge_json(value[place], rng), *value[place + 1 :]]
    if type(value) is int and rng.random() < 0.5:
        return value + int(rng.choice([-1, 1, 2**40, -(2**40)]))
    return VALUES[int(rng.integers(len(VALUES)))]


def as_bytes(value):
    return np.frombuffer(json.dumps(value).encode(), dtype=np.uint8)


def write(path, arrays, rng):
    """Write forged arrays with a sum that fits, sometimes as a file that is odd in itself."""
    arrays["sum"] = sum_of({name: np.ascontiguousarray(array) for name, array in arrays.items()})
    odd = rng.random()
    if odd < 0.03:
        np.savez_compressed(path, **arrays, bomb=np.zeros(5_000_000))
        return "bomb"
    if odd < 0.06:
        arrays["meta"] = np.frombuffer(b"[" * 100_000, dtype=np.uint8)
    np.savez(path, **arrays)
    if odd > 0.9:
        with zipfile.ZipFile(path) as file:
            parts = {part.filename: bytearray(file.read(part)) for part in file.infolist()}
        name = str(rng.choice(sorted(parts)))
        place = int(rng.integers(min(len(parts[name]), 128)))
        parts[name][place : place + 1] = rng.choice([b"(", b"9" * 20, b"'", b"\x00", b"-", b"{", b"\xff"])
        content = io.BytesIO()
        with zipfile.ZipFile(content, "w") as file:
            for part, data in parts.items():
                file.writestr(part, bytes(data))
        Path(path).write_bytes(content.getvalue())
        return "header"
    return ""


def work(first, n, seed):
    """Forge n files; a line for each that begins and one for how it ends."""
    signal.signal(signal.SIGPROF, signal.SIG_DFL)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "search.npz"
        originals = []
        for problem, algorithm, search in searches():
            search.save(path)
            with np.load(path) as file:
                originals.append((problem, algorithm, {name: file[name] for name in file.files if name != "sum"}))
            algorithm.resume(problem, path).advance(EVALUATIONS)  # compiled, and good as it is
        for i in range(first, first + n):
            rng = np.random.default_rng([seed, i])
            problem, algorithm, arrays = originals[i % len(originals)]
            arrays = dict(arrays)
            print("begin", i, forge(arrays, rng), write(path, arrays, rng), flush=True)
            signal.setitimer(signal.ITIMER_PROF, SECONDS)
            try:
                algorithm.resume(problem, path).advance(EVALUATIONS)
                print("end", "went on", flush=True)
            except CheckpointError:
                print("end", "refused", flush=True)
            except BaseException as error:
                print("end", f"leaked {type(error).__name__}: {error}"[:200].replace("\n", " "), flush=True)
            signal.setitimer(signal.ITIMER_PROF, 0)
    print("peak", resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024, flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--n", type=int, default=10_000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--first", type=int, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.first is not None:
        work(options.first, options.n, options.seed)
        return 0
    done, ends, peak, bad = 0, Counter(), 0, []
    while done < options.n:
        command = [sys.executable, __file__, "--n", str(options.n - done), "--seed", str(options.seed)]
        child = subprocess.run([*command, "--first", str(done)], capture_output=True, text=True)
        lines = child.stdout.splitlines()
        begun = [line for line in lines if line.startswith("begin")]
        ended = [line for line in lines if line.startswith("end")]
        if not begun:
            print(child.stderr, file=sys.stderr)
            return 2
        ends.update(line.split()[1] for line in ended)
        bad += [f"{a}: {b}" for a, b in zip(begun, ended, strict=False) if "leaked" in b]
        if len(begun) > len(ended):
            bad.append(f"{begun[-1]}: ended with code {child.returncode}")
        peak = max([peak, *(int(line.split()[1]) for line in lines if line.startswith("peak"))])
        done += len(begun)
    print(f"{done} forged: {ends['refused']} refused, {ends['went']} went on, {len(bad)} bad; peak {peak} MB")
    print("\n".join(bad[:20]))
    return int(bool(bad) or peak > MEGABYTES)


if __name__ == "__main__":
    sys.exit(main())
