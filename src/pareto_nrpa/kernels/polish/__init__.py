"""Kernels of Polished NRPA: neighbours of whole solutions."""
