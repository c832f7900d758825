"""Optuna's own test cases for samplers."""

import pytest

pytest.importorskip("optuna", reason='needs Optuna: pip install "pareto-nrpa[optuna]"')
cases = pytest.importorskip("optuna.testing.pytest_samplers", reason="Optuna 4.5 has no test cases to hand out")

from pareto_nrpa.integrations.optuna import ParetoNRPASampler  # noqa: E402


@pytest.mark.slow
class TestParetoNRPASampler(
    cases.BasicSamplerTestCase, cases.RelativeSamplerTestCase, cases.MultiObjectiveSamplerTestCase
):
    @pytest.fixture
    def sampler(self):
        return ParetoNRPASampler
