"""Problems whose evaluations are logged, slow or faulty; in a module of their own, so that workers can import them."""

import os
import signal
import subprocess
import sys
import time
from concurrent.futures import Executor, Future
from pathlib import Path

from ...helpers.problems import Moves


class Here(Executor):
    """Evaluates in this process, at once, and remembers what."""

    def __init__(self):
        self.submitted = []

    def submit(self, fn, /, *args, **kwargs):
        future = Future()
        self.submitted.append(args[1])
        future.set_result(fn(*args, **kwargs))
        return future


class Row(Moves):
    """Five digits below four: a small sum against a small weighted complement. 1,024 solutions, quick to evaluate."""

    length = 5

    def __init__(self, log=None, pause=0.0):
        self.log, self.pause = log, pause

    def legal_moves(self, state):
        return range(4) if len(state) < self.length else ()

    def evaluate(self, state):
        value = self.objectives(state)
        # Those that start with a large digit take long: finished in another order than begun.
        time.sleep(self.pause * (1 + state[0]))
        if self.log:
            with open(self.log, "a") as file:
                file.write(f"{state}\n")
        return value

    def objectives(self, state):
        return sum(state), sum((3 - digit) * (i + 1) for i, digit in enumerate(state))


class Heap(Row):
    """A row whose order does not matter: 56 solutions, each reached in many ways."""

    def identity(self, state):
        return sum(5**digit for digit in state)

    def objectives(self, state):
        return sum(state), sum((3 - digit) ** 2 for digit in state)


class Tiny(Row):
    """Nine solutions, which a search has met soon."""

    length = 2

    def legal_moves(self, state):
        return range(3) if len(state) < self.length else ()


class Raises(Row):
    def objectives(self, state):
        if state[0] == 3:
            raise ValueError("three is one too many")
        return super().objectives(state)


class AlwaysRaises(Row):
    def objectives(self, state):
        raise ZeroDivisionError("always")


class NotANumber(Row):
    def objectives(self, state):
        return (float("nan"), 1.0) if state[0] == 3 else super().objectives(state)


class WrongShape(Row):
    def objectives(self, state):
        return (1.0, 2.0, 3.0) if state[0] == 3 else super().objectives(state)


class Exits(Row):
    def objectives(self, state):
        if state[0] == 3:
            sys.exit("enough")
        return super().objectives(state)


class Sleepy(Row):
    """Hangs in Python, as a training loop does."""

    def objectives(self, state):
        while state[:2] == (3, 3):
            time.sleep(0.01)
        return super().objectives(state)


class DiesOnce(Row):
    """Kills its process the first time it comes to some solutions, as if it were killed from outside."""

    def __init__(self, folder):
        super().__init__()
        self.folder = folder

    def objectives(self, state):
        mark = Path(self.folder) / "".join(map(str, state))
        if state[0] == 3 and not mark.exists():
            mark.touch()
            os.kill(os.getpid(), signal.SIGKILL)
        return super().objectives(state)


class Constrained(Row):
    constrained = True
    maximise = (False, True)

    def objectives(self, state):
        low, high = super().objectives(state)
        return (low, -high), state[0]


class Hints(Row):
    """Solutions made of tuples, texts and None."""

    def legal_moves(self, state):
        return [("size", 4), "deep", None] if len(state) < 3 else ()

    def evaluate(self, state):
        return len(set(state)), state.count(None)


def double(x):
    return 2 * x


def thread_limits():
    return [os.environ.get(name) for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")]


def raise_value_error():
    raise ValueError("not today")


def own_pid():
    return os.getpid()


def write_pid_and_sleep(path):
    """Hang, with a process of its own that hangs too; both tell their process ids."""
    child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"])
    Path(path).write_text(f"{os.getpid()} {child.pid}")
    time.sleep(600)


def start_apart_and_sleep(path):
    """Hang, with a process in a session of its own that hangs too."""
    child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"], start_new_session=True)
    Path(path).write_text(f"{os.getpid()} {child.pid}")
    time.sleep(600)


def start_orphan_and_sleep(path):
    """Hang, with a process in a session of its own whose parent has ended."""
    code = "import os, time\nif os.fork(): os._exit(0)\nos.setsid(); print(os.getpid(), flush=True); time.sleep(600)"
    child = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True)
    Path(path).write_text(f"{os.getpid()} {child.stdout.readline()}")
    time.sleep(600)


def die():
    os.kill(os.getpid(), signal.SIGKILL)


def die_once(path):
    if not Path(path).exists():
        Path(path).touch()
        die()
    return "alive"
