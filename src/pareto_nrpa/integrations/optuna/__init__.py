"""Pareto-NRPA as a sampler of Optuna.

import optuna
from pareto_nrpa.integrations.optuna import ParetoNRPASampler
study = optuna.create_study(directions=["minimize", "minimize"], sampler=ParetoNRPASampler(seed=1))
"""

from __future__ import annotations

try:
    import optuna as optuna
except ImportError as error:
    message = 'pareto_nrpa.integrations.optuna needs Optuna; install it with: pip install "pareto-nrpa[optuna]".'
    raise ImportError(message) from error

from .playing import play as play
from .sampler import ParetoNRPASampler as ParetoNRPASampler

__all__ = ["ParetoNRPASampler", "play"]
