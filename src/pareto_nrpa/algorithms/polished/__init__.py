"""Polished NRPA: Pareto-NRPA combined with local search."""
