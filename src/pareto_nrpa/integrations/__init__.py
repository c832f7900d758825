"""Adapters for other libraries, which are optional dependencies."""
