"""Compiled code of Pareto-NRPA."""
