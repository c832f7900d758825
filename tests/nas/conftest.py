"""Tables as the benchmarks have them, with made-up accuracies: the tests need no data, and use none by accident."""

import numpy as np
import pytest

from pareto_nrpa.nas.nasbench201 import N_CELLS, OPERATIONS, all_cells, cell_string, flops, parameters


def cell_moves(text):
    """Return the moves that build the cell of an official string."""
    return [OPERATIONS.index(word.split("~")[0]) for vertex in text.split("+") for word in vertex.strip("|").split("|")]


@pytest.fixture(scope="session")
def table_201():
    """A complete table of NAS-Bench-201 whose rows are in no order."""
    rng = np.random.default_rng(0)
    ops = rng.permutation(all_cells())
    names = [f"{data}_{kind}200" for data in ("c10", "c100", "in16") for kind in ("valid", "test")]
    table = {name: rng.uniform(10, 95, N_CELLS).round(4) for name in names}
    latency = rng.uniform(1, 9, N_CELLS).astype(np.float32)
    return {
        "ops": ops.astype(np.int8),
        "arch": np.array([cell_string(row).encode() for row in ops]),
        "params": parameters(ops),
        "flops": flops(ops),
        **table,
        "c10_latency_s": latency,
        "c10_train_time_s": latency * 1000,
        "hw_edgegpu_latency": latency + 1,
        "hw_edgetpu_latency": np.where(latency > 5, np.float32(-1), latency),
    }


@pytest.fixture
def write_table(tmp_path):
    """A function that writes columns as a table where `nas-bench-...` looks for it, and returns the data folder."""

    def write(columns, name="nasbench201.npz"):
        (tmp_path / "nas").mkdir(exist_ok=True)
        np.savez(tmp_path / "nas" / name, **columns)
        return tmp_path

    return write


@pytest.fixture(autouse=True)
def _own_cache(tmp_path, monkeypatch):
    """Nothing of the user's own cache is read or written."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))


@pytest.fixture
def real_data():
    """A function that gives the path of a real table, or skips where it is not on this machine."""
    import os
    from pathlib import Path

    def get(name):
        folder = os.environ.get("PARETO_NRPA_DATA")
        path = Path(folder, "nas", name) if folder else None
        if path is None or not path.is_file():
            pytest.skip(f"needs nas/{name}: set PARETO_NRPA_DATA to a folder that has it")
        return path

    return get
