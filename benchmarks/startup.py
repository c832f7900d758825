"""How long a person waits: --help, the first start on a machine, and every start after it; processor time beside it."""

import os
import resource
import subprocess
import sys
import tempfile
import time
from typing import NamedTuple

from report import write

SOLVE = ["solve", "--evaluations", "100", "--quiet"]
ALONE = {"PARETO_NRPA_COMPILE_ALONE": "1"}


class Cost(NamedTuple):
    """Seconds from the command to its end, and of processors, its children counted."""

    wall: float
    cpu: float


def cost(arguments: list[str], cache: str, folder: str, **variables: str) -> Cost:
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    begin = time.perf_counter()
    command = [sys.executable, "-m", "pareto_nrpa", *arguments]
    environment = {**os.environ, "NUMBA_CACHE_DIR": cache, **variables}
    subprocess.run(command, check=True, capture_output=True, env=environment, cwd=folder)
    wall = time.perf_counter() - begin
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return Cost(wall, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)


def main() -> None:
    with tempfile.TemporaryDirectory() as folder, tempfile.TemporaryDirectory() as cache:
        first = cost(SOLVE, cache, folder)
        second = min(cost(SOLVE, cache, folder) for _ in range(5))
        other = cost(["solve", "mo-tsp:n=20", *SOLVE[1:]], cache, folder)
        usage = min(cost(["--help"], cache, folder) for _ in range(5))
        with tempfile.TemporaryDirectory() as empty:
            alone = cost(SOLVE, empty, folder, **ALONE)
    rows = [
        ["`pareto-nrpa --help`", usage, "0.5"],
        ["`pareto-nrpa solve`, second start, 100 evaluations", second, "2"],
        ["`pareto-nrpa solve`, first start on a machine (compiles)", first, "10"],
        ["the same by one process (`PARETO_NRPA_COMPILE_ALONE=1`)", alone, ""],
        ["first start with a second family of problems (compiles its playout)", other, ""],
    ]
    write(
        "speed",
        "Seconds from the command to its end",
        ["command", "seconds", "of processors", "wanted at most"],
        [[what, f"{how.wall:.2f}", f"{how.cpu:.2f}", most] for what, how, most in rows],
        command="startup.py",
    )


if __name__ == "__main__":
    main()
