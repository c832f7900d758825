"""Some damaged files of each kind; `benchmarks/mutate.py` makes as many as there is time for."""

import sys
import time
from pathlib import Path

import pytest

pytest.importorskip("scipy.stats", reason="needs scipy: pip install pareto-nrpa[report]")
pytest.importorskip("vrplib", reason="needs vrplib: pip install pareto-nrpa[routing]")
sys.path.insert(0, str(Path(__file__).parent.parent / "benchmarks"))
from mutations import examine
from mutations.kinds import KINDS, Kind, Source

N, N_CHECKPOINTS = 100, 25


@pytest.mark.thinned(3)
@pytest.mark.parametrize("name", KINDS)
def test_a_damaged_file_is_read_or_refused_in_a_sentence(name, tmp_path):
    kind = Kind(KINDS[name].damage, KINDS[name].sources[:1])
    n = N_CHECKPOINTS if name.startswith("checkpoint") else N
    outcomes = list(examine.Mutations(kind, tmp_path, seed=1).examine(range(n)))
    assert [found for found in outcomes if not found.is_good] == []
    # A damaged run counts as not made, which is no error.
    assert name == "stored-run" or sum(found.word == "refused" for found in outcomes) > n / 3


def raises_a_key_error(path):
    return {}["x"]


def exits(path):
    import os

    os._exit(3)


def is_slow(path):
    time.sleep(60)


def takes_memory(path):
    return bytearray(3 * 10**9)


@pytest.mark.parametrize(
    ("read", "words"),
    [
        (raises_a_key_error, "a leak: KeyError"),
        pytest.param(is_slow, "a hang", marks=pytest.mark.long),
        (takes_memory, "a leak: MemoryError"),
        (exits, "a crash: exit code 3"),
    ],
)
def test_what_goes_wrong_is_noticed(read, words, tmp_path, monkeypatch):
    def make(folder):
        (folder / "file").write_bytes(b"good")
        return folder / "file"

    source = Source(make, lambda path: None if path.read_bytes() == b"good" else read(path))
    kind = Kind(lambda content, rng: b"bad", (source,))
    monkeypatch.setattr(examine, "SECONDS", 1)
    outcomes = [found.word for found in examine.Mutations(kind, tmp_path, seed=0).examine_apart(range(2))]
    assert len(outcomes) == 2
    assert all(word.startswith(words) for word in outcomes)
