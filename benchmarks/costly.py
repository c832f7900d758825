"""Networks trained by one worker and by two; killed in the middle and resumed; what asking ahead costs."""

import json
import subprocess
import sys
import tempfile
import time
from concurrent.futures import Executor, Future
from pathlib import Path

import numpy as np
from report import write

from pareto_nrpa import MaxEvaluations, ParetoNRPA
from pareto_nrpa.parallel import FromExecutor, Processes, solve_expensive

sys.path.insert(0, str(Path(__file__).parent.parent / "examples"))
from digits import Digits
from knapsack import Knapsack

EVALUATIONS, KILLED_AT, SEED = 200, 100, 1
ORDER = (1, 2, 2, 1)  # workers: a machine that slows down, or speeds up, does so for both
WINDOWS, RUNS = (1, 2, 4, 8, 16, 32, EVALUATIONS), 30

TITLE, HEADER = "A real search by several workers", ["what", "measured", "wanted"]
SHARE = "wall time of two workers, as a share of that of one"
SHARE_OF_BEST = f"{SHARE}: best of each"
SHARE_ALONE = f"{SHARE}: corrected, without the time that workers waited for a core"
WAITED = "of these, workers were ready and had no core"
NOTES = (
    "`examples/digits.py`: every evaluation trains a network, with one thread. Wall time of the whole call, including "
    f"the start of processes, in the order {', '.join(map(str, ORDER))} workers; the share in bold is that of the "
    "sums. The corrected share subtracts the mean time for which workers waited for a core of the busy machine, "
    "an estimate."
)


class LoggedDigits(Digits):
    """Writes a line for every network that was trained to its end: how long others had the core, and which it is."""

    def __init__(self, log: str) -> None:
        self.log = log

    def evaluate(self, state):
        waited = seconds_ready()
        value = super().evaluate(state)
        with open(self.log, "a") as file:
            file.write(f"{seconds_ready() - waited:.6f} {json.dumps(state)}\n")
        return value


def seconds_ready() -> float:
    """Return for how long this process was ready to compute and had no core, where the system says so."""
    path = Path("/proc/self/schedstat")
    return int(path.read_text().split()[1]) / 1e9 if path.exists() else 0.0


class Here(Executor):
    """Evaluates at once, in this process: for evaluations that cost nothing."""

    def submit(self, fn, /, *args, **kwargs):
        future = Future()
        future.set_result(fn(*args, **kwargs))
        return future


def search(folder: Path, name: str, workers: int):
    """Return the result of a search whose journal and log are in a folder."""
    problem = LoggedDigits(str(folder / f"{name}.log"))
    stop = MaxEvaluations(EVALUATIONS)
    options = {"journal": journal(folder, name), "resume": True, "same_problem": True}
    return solve_expensive(problem, stop=stop, seed=SEED, evaluator=Processes(workers), **options)


def journal(folder: Path, name: str) -> Path:
    return folder / f"{name}.jsonl"


def solutions(path: Path) -> list[str]:
    return [json.dumps(json.loads(line)["solution"]) for line in path.read_text().splitlines()[1:]]


def speed(folder: Path):
    """Measure each number of workers twice, in turns."""
    seconds, waited, results = {1: [], 2: []}, {1: [], 2: []}, []
    for i, n in enumerate(ORDER):
        begin = time.perf_counter()
        results.append(search(folder, f"speed-{i}", n))
        seconds[n].append(time.perf_counter() - begin)
        waited[n].append(sum(float(line.split()[0]) for line in log(folder, f"speed-{i}")) / n)
    fronts = [(result.front.objectives.tolist(), result.front.solutions) for result in results]
    rows = []
    for n in seconds:
        label = f"{n} worker{'s' * (n > 1)}"
        rows.append([f"{EVALUATIONS} networks, {label}, seconds", ", ".join(f"{s:.0f}" for s in seconds[n]), ""])
        rows.append([WAITED, ", ".join(f"{s:.0f}" for s in waited[n]), ""])
    alone = {n: sum(seconds[n]) - sum(waited[n]) for n in seconds}
    rows.append([SHARE, f"**{sum(seconds[2]) / sum(seconds[1]):.2f}**", "0.6"])
    rows.append([SHARE_OF_BEST, f"{min(seconds[2]) / min(seconds[1]):.2f}", ""])
    rows.append([SHARE_ALONE, f"{alone[2] / alone[1]:.2f}", ""])
    rows.append(["all four fronts are the same", yes(all(front == fronts[0] for front in fronts)), "yes"])
    return rows, results[0]


def log(folder: Path, name: str) -> list[str]:
    return (folder / f"{name}.log").read_text().splitlines()


def killed(folder: Path, expected):
    """Kill a search in the middle, resume it, and count what was trained."""
    process = subprocess.Popen([sys.executable, __file__, str(folder)])
    path = journal(folder, "killed")
    while not path.exists() or path.read_bytes().count(b"\n") <= KILLED_AT:
        if process.poll() is not None:
            sys.exit("the search ended before it could be killed")
        time.sleep(0.01)
    process.kill()
    process.wait()
    time.sleep(1)  # its workers notice
    kept = path.read_bytes()
    trained_before = len(log(folder, "killed"))
    result = search(folder, "killed", 2)
    trained = [line.split(maxsplit=1)[1] for line in log(folder, "killed")]
    lost_moment = trained_before - len(solutions_of(kept))
    fronts = [(r.front.objectives.tolist(), r.front.solutions) for r in (result, expected)]
    return [
        ["killed (SIGKILL): results in the journal then", str(len(solutions_of(kept))), ""],
        ["resumed: results in the journal, different ones", f"{len(set(solutions(path)))}", str(EVALUATIONS)],
        ["of the results before the kill, lost", str(len(set(solutions_of(kept)) - set(solutions(path)))), "0"],
        ["of the results before the kill, trained again", str(again(kept, trained[trained_before:])), "0"],
        ["networks trained to the end in all", str(len(trained)), str(EVALUATIONS)],
        ["of these, finished in the moment of the kill, too late for the journal", str(lost_moment), ""],
        ["the front is that of one go", yes(fronts[0] == fronts[1]), "yes"],
    ]


def solutions_of(content: bytes) -> list[str]:
    whole = content[: content.rfind(b"\n") + 1]
    return [json.dumps(json.loads(line)["solution"]) for line in whole.splitlines()[1:]]


def again(kept: bytes, trained: list[str]) -> int:
    return len(set(solutions_of(kept)) & set(trained))


def yes(answer: bool) -> str:
    return "yes" if answer else "NO"


def ahead() -> list[list[str]]:
    """Measure what a search loses by learning late, on a problem whose evaluations cost nothing."""
    rng = np.random.default_rng(1)
    weights, profits = (rng.integers(1, 100, 30).tolist() for _ in range(2))
    problem = Knapsack(weights, profits)
    point = (sum(weights), 0.0)
    values = {
        window: [
            solve_expensive(
                problem,
                ParetoNRPA(level=2),
                stop=MaxEvaluations(EVALUATIONS),
                seed=seed,
                lookahead=window,
                evaluator=FromExecutor(Here()),
                reference_point=point,
            ).hypervolume
            for seed in range(RUNS)
        ]
        for window in WINDOWS
    }
    base = np.mean(values[1])
    return [
        [str(window), f"{np.mean(found) / base:.3f}", f"{np.std(found) / base:.3f}"] for window, found in values.items()
    ]


def main() -> None:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        rows, result = speed(folder)
        rows += killed(folder, result)
    write("speed", TITLE, HEADER, rows, command="costly.py", notes=NOTES)
    header = ["window", "hypervolume, as a share of that of window 1", "standard deviation"]
    notes = (
        f"Knapsack of 30 items, {EVALUATIONS} evaluations, {RUNS} seeds, level 2. With a window of w the "
        f"search learns up to w - 1 evaluations late; with {EVALUATIONS} it never learns."
    )
    write("speed", "What asking ahead costs", header, ahead(), command="costly.py", notes=notes)


if __name__ == "__main__":
    if len(sys.argv) > 1:  # the search that will be killed
        search(Path(sys.argv[1]), "killed", 2)
    else:
        main()
