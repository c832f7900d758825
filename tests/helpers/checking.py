"""Checks of many instances of one kind, whose kernels are compiled for the first of them only."""

from unittest.mock import patch

from pareto_nrpa import check_problem
from pareto_nrpa.problem import check as testing


def check_uncompiled(problem, **how):
    """Check all promises of a problem but that its kernels compile: seconds, and the same for all of one kind."""
    with patch.object(testing, "uncompilable", return_value=None):
        check_problem(problem, **how)
