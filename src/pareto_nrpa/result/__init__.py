"""Fronts and results: values, files, reference fronts, and how to choose from them."""
