"""What the tests of commands and processes share; the fixtures that call commands are in `conftest.py`."""

import json
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import NamedTuple

# A shell that starts the tests in the background makes its children deaf to Ctrl-C; this one listens again.
LISTENING = (
    "import signal; signal.signal(signal.SIGINT, signal.default_int_handler); from pareto_nrpa.cli import main; main()"
)

ROOT = Path(__file__).parent.parent.parent
#: Seconds that only a broken program takes, on however busy a machine.
PATIENCE = 180


class Outcome(NamedTuple):
    """How a command ended, and what it printed."""

    code: int
    out: str
    err: str


def assert_refused(outcome, words):
    """Exit code 2 and one sentence, nothing else."""
    assert outcome.code == 2
    assert outcome.out == ""
    assert len(outcome.err.splitlines()) == 1, outcome.err
    assert outcome.err.startswith("Error: ")
    assert re.search(words, outcome.err), outcome.err


def read(path):
    with open(path, encoding="utf-8") as file:
        return json.load(file)


def python(program, *arguments, cwd=ROOT, **environment):
    """Run a program, or a script by its path, in another process, and return what it printed, and its warnings."""
    what = ("-c", program) if isinstance(program, str) else (program,)
    command = [sys.executable, *what, *map(str, arguments)]
    done = subprocess.run(command, capture_output=True, text=True, env={**os.environ, **environment}, cwd=cwd)
    assert done.returncode == 0, done.stderr
    return done.stdout, done.stderr


def interrupted(*arguments, sign):
    """Start a command in a terminal, press Ctrl-C when it shows this sign of progress, and return what it printed."""
    environment = {**os.environ, "FORCE_COLOR": "1"}  # or else rich shows no progress on what is no terminal
    command, seen = [sys.executable, "-c", LISTENING, *map(str, arguments)], b""
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment) as process:
        while sign not in seen and (piece := os.read(process.stderr.fileno(), 4096)):
            seen += piece
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=120)
    assert process.returncode == 0, err
    assert b"Traceback" not in seen + err
    return out


def wait_until(condition, what="", seconds=PATIENCE):
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, f"waited {seconds} s in vain for {what}"
        time.sleep(0.01)


def is_running(pid):
    """Tell whether a process is there and not a zombie; on Linux."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False
