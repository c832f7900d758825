"""Shared fixtures. Compiled code is cached in a folder named after the sources: no stale kernel is ever tested."""

import hashlib
import os
import signal
from pathlib import Path

ROOT = Path(__file__).parent.parent
_SOURCES = sorted((ROOT / "src").rglob("*.py"))
_DIGEST = hashlib.sha256(b"".join(path.read_bytes() for path in _SOURCES)).hexdigest()[:12]
# Before anything imports Numba; commands that tests start inherit it.
os.environ.setdefault("NUMBA_CACHE_DIR", str(ROOT / ".numba_cache" / _DIGEST))
# A shell lets what it starts in the background ignore Ctrl-C; tests that press it would wait for ever.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

import numpy as np  # noqa: E402
import pytest  # noqa: E402
from hypothesis import settings  # noqa: E402

from pareto_nrpa import generate_tsptw  # noqa: E402
from pareto_nrpa.problems.data import find_instance  # noqa: E402

# No deadline: the first example may compile. Derandomised: a failure in CI must come again at home.
settings.register_profile("here", deadline=None, derandomize=True)
settings.load_profile("here")


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
def rng():
    return np.random.default_rng(12345)
