"""Some hundred files of each kind that are changed at random; `mutations.KINDS` can be asked for any number more."""

import numpy as np
import pytest

from .mutations import KINDS

pytest.importorskip("scipy.stats", reason="needs scipy: pip install pareto-nrpa[report]")
N = 300


@pytest.mark.parametrize("kind", KINDS)
def test_a_changed_file_gives_a_result_or_a_sentence(kind, tmp_path):
    rng = np.random.default_rng(11)
    said = [KINDS[kind](rng, tmp_path) for _ in range(N)]
    # Neither all nor none are refused, except runs: these count as not made.
    assert kind == "stored run" or 0 < sum(map(bool, said)) < N
