"""Polished NRPA: Pareto-NRPA joined by local search, each learning from what the other finds."""
