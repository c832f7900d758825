"""Compiled code of what Pareto-NRPA is compared with."""
