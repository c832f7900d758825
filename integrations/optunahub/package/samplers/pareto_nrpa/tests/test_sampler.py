from __future__ import annotations

from collections.abc import Callable

import optuna
import optunahub
import pytest
from optuna.testing.pytest_samplers import BasicSamplerTestCase, MultiObjectiveSamplerTestCase, RelativeSamplerTestCase

ParetoNRPASampler = optunahub.load_local_module(
    package="samplers/pareto_nrpa", registry_root="package"
).ParetoNRPASampler


class TestParetoNRPASampler(BasicSamplerTestCase, RelativeSamplerTestCase, MultiObjectiveSamplerTestCase):
    @pytest.fixture
    def sampler(self) -> Callable[[], optuna.samplers.BaseSampler]:
        return ParetoNRPASampler
