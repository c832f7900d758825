"""Shared fixtures, and compiled code that all processes of a test run share."""

import functools
import gc
import hashlib
import os
import signal
import threading
from contextlib import suppress
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from types import SimpleNamespace

with suppress(ImportError):  # Windows has no such locks
    import fcntl

ROOT = Path(__file__).parent.parent
# The folder is named after the sources of compiled code: no stale kernel is ever tested, and a change elsewhere
# compiles nothing anew.
_SOURCES = {path: path.read_bytes() for path in sorted((ROOT / "src").rglob("*.py"))}
_COMPILED = [text for path, text in _SOURCES.items() if "engine" in path.parts or b"jit" in text or b"numba" in text]
_DIGEST = hashlib.sha256(b"".join(_COMPILED)).hexdigest()[:12]
# Before anything imports Numba; commands that tests start inherit it.
os.environ.setdefault("NUMBA_CACHE_DIR", str(ROOT / ".numba_cache" / _DIGEST))
# All cores are busy with tests.
os.environ.setdefault("PARETO_NRPA_COMPILE_ALONE", "1")
# A shell lets what it starts in the background ignore Ctrl-C; tests that send it would wait for ever.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

import numpy as np  # noqa: E402
import pytest  # noqa: E402
from hypothesis import settings  # noqa: E402
from numba.core.compiler_lock import global_compiler_lock  # noqa: E402
from numba.core.dispatcher import Dispatcher  # noqa: E402

from pareto_nrpa.algorithms.registry import NAMES, algorithm  # noqa: E402
from pareto_nrpa.routing import generate_tsp, generate_tsptw  # noqa: E402
from pareto_nrpa.routing.benchmarks import find_instance  # noqa: E402

from .helpers.command_line import Outcome  # noqa: E402
from .helpers.problems import Knapsack  # noqa: E402

# No deadline: the first example may compile. Derandomised: a failure in CI must come again at home.
settings.register_profile("whole", deadline=None, derandomize=True)
settings.register_profile("brief", settings.get_profile("whole"), max_examples=25)


def _compile_once(original):
    """Let one process compile what is to be stored on disk, while others that need the same wait and then load it."""

    @functools.wraps(original)
    def compile(self, signature):
        folder = self.stats.cache_path  # None for what is not stored
        if folder is None:
            return original(self, signature)
        Path(folder).mkdir(parents=True, exist_ok=True)
        name = hashlib.sha256(f"{self.py_func.__qualname__}{signature}".encode()).hexdigest()[:16]
        # Numba's own lock first: of two threads, none may hold the one and wait for the other.
        with global_compiler_lock, open(Path(folder, f"{name}.lock"), "w") as file:
            fcntl.flock(file, fcntl.LOCK_EX)  # let go when the file is closed, or the process dies
            return original(self, signature)

    return compile


if "fcntl" in globals():
    Dispatcher.compile = _compile_once(Dispatcher.compile)


def pytest_configure(config):
    """Try fewer cases of each property where the slow tests are left out, too."""
    settings.load_profile("brief" if "not slow" in config.option.markexpr else "whole")


_MANY_TESTS = 1000


def pytest_collection_finish(session):
    """Compile what most tests need before the first one, where there are many and several workers.

    Thousands of tests are never garbage: they are not looked through again whenever some is looked for.

    One half of the workers begins with the first, the other with the last, so that none waits for another. Else all
    would begin with the same, and all but one be idle while it is compiled.
    """
    worker = os.environ.get("PYTEST_XDIST_WORKER", "")
    if not worker or len(session.items) < _MANY_TESTS:
        return
    gc.freeze()
    jobs = [(name, generate_tsptw(5)) for name in NAMES] + [(NAMES[0], generate_tsp(5))]
    jobs.append((NAMES[0], Knapsack()))  # processes that tests start would each compile for plain problems
    for name, problem in jobs if int(worker.removeprefix("gw")) % 2 == 0 else reversed(jobs):
        algorithm(name).start(problem, seed=0, budget=100).compile()


@pytest.fixture(scope="session")
def small_tsptw():
    """Eight cities with windows that matter: small enough for slow twins and brute force."""
    return generate_tsptw(8, seed=3, tightness=0.5)


@pytest.fixture(scope="session")
def official():
    """A function that gives an official instance, or skips where the official data are not on this machine."""
    from pareto_nrpa import load

    def get(name):
        if find_instance(name) is None:
            pytest.skip(f"needs the official instance {name}: set PARETO_NRPA_DATA or run pareto-nrpa data get")
        return load(name)

    return get


@pytest.fixture
def empty_machine(tmp_path, monkeypatch):
    """An empty folder to work in, which is returned, a machine without data, and lines that are never broken."""
    (tmp_path / "work").mkdir()
    monkeypatch.chdir(tmp_path / "work")
    monkeypatch.delenv("PARETO_NRPA_DATA", raising=False)
    monkeypatch.delenv("PARETO_NRPA_TRACEBACK", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setenv("COLUMNS", "200")
    return tmp_path / "work"


@pytest.fixture
def run(capsys):
    """Call the command line and return its exit code and what it printed."""
    from pareto_nrpa.cli import main

    def call(*arguments):
        with pytest.raises(SystemExit) as ended:
            main([str(argument) for argument in arguments])
        return Outcome(ended.value.code or 0, *capsys.readouterr())

    return call


@pytest.fixture
def unwritable(tmp_path):
    """A folder that cannot be written to, not even by root."""
    (tmp_path / "file").write_text("not a folder")
    return tmp_path / "file" / "folder"


@pytest.fixture
def rng():
    return np.random.default_rng(12345)


OFFICIAL_FILES = {
    "SolomonTSPTW/toy.1.txt": b"2\n0 0 0 0 0 100 0\n1 3 4 0 0 100 10\n",
    "SolomonTSPTW/toy.2.txt": b"2\n0 0 0 0 0 100 0\n1 6 8 0 0 100 10\n",
    "SolomonTSPTW/nadirs.json": b"{}",
}


@pytest.fixture
def server(tmp_path, monkeypatch):
    """A server on this machine that remembers requests; its small files are the official ones while it runs."""
    pytest.importorskip("pooch", reason="downloading needs pooch, which is an extra")
    folder, requests = tmp_path / "served", []
    for name, content in OFFICIAL_FILES.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(content)
    sums = {name: hashlib.sha256(content).hexdigest() for name, content in OFFICIAL_FILES.items()}
    monkeypatch.setattr("pareto_nrpa.routing.benchmarks.registry", lambda: dict(sums))
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    monkeypatch.setattr("time.sleep", lambda seconds: None)  # pooch waits before it tries again

    class Handler(SimpleHTTPRequestHandler):
        def log_message(self, form, request, *_):
            requests.append(request)

    running = ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Handler, directory=str(folder)))
    thread = threading.Thread(target=running.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()

    def close():
        running.shutdown()
        thread.join()
        running.server_close()

    url = f"http://127.0.0.1:{running.server_port}/"
    yield SimpleNamespace(url=url, folder=folder, files=OFFICIAL_FILES, requests=requests, close=close)
    close()
