"""Compilation of kernels: entries, bundles of arrays, cache."""

from .kernels import kernel as kernel
