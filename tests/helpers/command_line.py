"""What the tests of commands share; the fixtures that call them are in `conftest.py`."""

import json
import re
from typing import NamedTuple

# A shell that starts the tests in the background makes its children deaf to Ctrl-C; this one listens again.
LISTENING = (
    "import signal; signal.signal(signal.SIGINT, signal.default_int_handler); from pareto_nrpa.cli import main; main()"
)


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
