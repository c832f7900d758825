"""Checkpoints of baselines: a few numbers that lead back to where a search was, unless somebody changed them."""

import json
import random

import pytest

from pareto_nrpa.algorithms.baselines.base import content_sum
from pareto_nrpa.errors import CheckpointError

from .problems import TSPTW, Bits, small


@pytest.fixture
def saved(tmp_path):
    """A checkpoint of five evaluations."""
    search = small("random").start(TSPTW, seed=1, budget=100)
    search.advance(5)
    search.save(tmp_path / "search")
    return tmp_path / "search"


def rewrite(path, **parts):
    """Change a checkpoint as somebody would who knows about the sum."""
    content = {**json.loads(path.read_bytes()), **parts}
    content["sum"] = content_sum(content)
    path.write_text(json.dumps(content))


def test_what_was_written_can_be_read(saved):
    rewrite(saved)
    assert small("random").resume(TSPTW, saved).evaluations == 5


@pytest.mark.parametrize(
    ("part", "value"),
    [
        *((part, value) for part in ("seed", "evaluations") for value in (-1, 1.0, True, "5", None, [], 10**40)),
        *((part, value) for part in ("wall_seconds", "cpu_seconds") for value in (-1, "5", None, float("nan"), 1e300)),
        *(("budget", value) for value in (-1, 1.5, True, "5", 10**40)),
        *(
            (part, value)
            for part in ("algorithm", "parameters", "problem", "log", "format")
            for value in (None, 1, [1])
        ),
        *(("counts_unique", value) for value in (None, 1, "true")),
    ],
    ids=str,
)
def test_a_part_that_cannot_be_is_refused_even_with_a_right_sum(saved, part, value):
    rewrite(saved, **{part: value})
    with pytest.raises(CheckpointError, match="search is not a checkpoint of this algorithm, or is damaged"):
        small("random").resume(TSPTW, saved)


def test_more_evaluations_than_anybody_could_have_made_are_not_repeated(saved):
    """A forged number once made it hang, deaf to Ctrl-C."""
    rewrite(saved, evaluations=10**12)
    with pytest.raises(CheckpointError, match="damaged"):
        small("random").resume(TSPTW, saved)


def test_another_number_of_evaluations_does_not_lead_to_what_was_found(saved):
    rewrite(saved, evaluations=2_000)
    with pytest.raises(CheckpointError, match=r"repeating the search of .*search led elsewhere"):
        small("random").resume(TSPTW, saved)


@pytest.mark.parametrize("content", ["[" * 100_000, '{"a":' * 100_000, "1" * 5_000, '{"format": [[1' + "]" * 9])
def test_files_made_to_break_a_reader_are_refused(saved, content):
    saved.write_text(content)
    with pytest.raises(CheckpointError, match="damaged"):
        small("random").resume(TSPTW, saved)


def test_changed_bytes_are_noticed(saved):
    content, rng = saved.read_bytes(), random.Random(1)
    for _ in range(1_000):
        changed = bytearray(content)
        for _ in range(rng.choice((1, 1, 2, 20))):
            place = rng.randrange(len(changed))
            changed[place : place + rng.choice((0, 1, 1, 5))] = rng.randbytes(rng.choice((0, 1, 1, 3)))
        saved.write_bytes(changed)
        try:
            same = json.loads(changed) == json.loads(content)
        except (ValueError, RecursionError):
            same = False
        if not same:
            with pytest.raises(CheckpointError):
                small("random").resume(TSPTW, saved)


class Counting(Bits):
    """Keeps account of its evaluations, as a problem with a memo does."""

    def __init__(self):
        super().__init__()
        self.n = 0

    def evaluate(self, state):
        self.n += 1
        return super().evaluate(state)


@pytest.mark.parametrize("name", ["random", "nrpa"])
def test_what_a_problem_notes_while_it_is_played_does_not_matter(name, tmp_path):
    search = small(name).start(Counting(), seed=1, budget=100)
    search.advance(20)
    search.save(tmp_path / "search")
    assert small(name).resume(Counting(), tmp_path / "search").evaluations == 20


class Drifting(Bits):
    """Its objectives are measured, and never the same: nothing that can be repeated."""

    def evaluate(self, state):
        load, lost = super().evaluate(state)
        return load + random.random(), lost


def test_a_search_that_cannot_be_repeated_is_not_gone_on_with(tmp_path):
    search = small("random").start(Drifting(), seed=1, budget=100)
    search.advance(20)
    search.save(tmp_path / "search")
    with pytest.raises(CheckpointError, match="led elsewhere"):
        small("random").resume(Drifting(), tmp_path / "search")
