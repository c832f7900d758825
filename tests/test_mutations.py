"""Some hundred damaged files of each kind; `benchmarks/mutate.py` makes as many as there is time for."""

import importlib.util
import sys
from pathlib import Path

import pytest

_FILE = Path(__file__).parent.parent / "benchmarks" / "mutate.py"
_SPEC = importlib.util.spec_from_file_location("mutate", _FILE)
mutate = importlib.util.module_from_spec(_SPEC)
sys.modules["mutate"] = mutate  # a dataclass looks for its module
_SPEC.loader.exec_module(mutate)


@pytest.mark.parametrize("kind", mutate.KINDS)
def test_a_damaged_file_is_read_or_refused_in_a_sentence(kind, tmp_path):
    outcomes = dict(mutate.Mutations(kind, tmp_path, seed=1).examine(range(300)))
    wrong = {number: result for number, result in outcomes.items() if result not in ("read", "refused")}
    assert not wrong
    assert list(outcomes.values()).count("refused") > 200


def raises_a_key_error(path):
    return {}["x"]


def exits(path):
    import os

    if path.read_text() != "good":
        os._exit(3)


def is_slow(path):
    import time

    time.sleep(60)


def takes_memory(path):
    return bytearray(3 * 10**9)


@pytest.mark.parametrize(
    ("read", "words"),
    [
        (raises_a_key_error, "a leak: KeyError"),
        (is_slow, "a hang"),
        (takes_memory, "a leak: MemoryError"),
        (exits, "a crash: exit code 3"),
    ],
)
def test_what_goes_wrong_is_noticed(read, words, tmp_path, monkeypatch):
    def make(folder):
        (folder / "file").write_text("good")
        return folder / "file"

    kind = mutate.Kind(make, lambda path: None if path.read_text(errors="replace") == "good" else read(path))
    monkeypatch.setitem(mutate.KINDS, "test", kind)
    monkeypatch.setattr(mutate, "SECONDS", 1)
    outcomes = [result for _, result in mutate.Mutations("test", tmp_path, seed=0).examine_apart(range(2))]
    assert len(outcomes) == 2
    assert any(result.startswith(words) for result in outcomes)
