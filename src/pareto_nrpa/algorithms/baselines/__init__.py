"""The algorithms that Pareto-NRPA is compared with, each with the call shape of Pareto-NRPA."""
