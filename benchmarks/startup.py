"""How long a person waits: --help, the first start on a machine, and every start after it."""

import os
import subprocess
import sys
import tempfile
import time

from report import write


def seconds(arguments: list[str], cache: str, folder: str) -> float:
    begin = time.perf_counter()
    command = [sys.executable, "-m", "pareto_nrpa", *arguments]
    environment = {**os.environ, "NUMBA_CACHE_DIR": cache}
    subprocess.run(command, check=True, capture_output=True, env=environment, cwd=folder)
    return time.perf_counter() - begin


def main() -> None:
    with tempfile.TemporaryDirectory() as cache, tempfile.TemporaryDirectory() as folder:
        solve = ["solve", "--evaluations", "100", "--quiet"]
        first = seconds(solve, cache, folder)
        second = min(seconds(solve, cache, folder) for _ in range(5))
        other = seconds(["solve", "mo-tsp:n=20", *solve[1:]], cache, folder)
        usage = min(seconds(["--help"], cache, folder) for _ in range(5))
    rows = [
        ["`pareto-nrpa --help`", f"{usage:.2f}", "0.5"],
        ["`pareto-nrpa solve`, second start, 100 evaluations", f"{second:.2f}", "2"],
        ["`pareto-nrpa solve`, first start on a machine (compiles)", f"{first:.2f}", ""],
        ["first start with a second family of problems (compiles its playout)", f"{other:.2f}", ""],
    ]
    write("startup", "Seconds from the command to its end", ["command", "seconds", "wanted at most"], rows)


if __name__ == "__main__":
    main()
