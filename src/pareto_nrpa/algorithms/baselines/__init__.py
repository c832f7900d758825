"""The baselines, with the same interface as Pareto-NRPA."""
