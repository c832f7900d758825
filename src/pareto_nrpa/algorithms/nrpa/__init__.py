"""Pareto-NRPA: parameters, search, playouts, and the reference recursion."""
