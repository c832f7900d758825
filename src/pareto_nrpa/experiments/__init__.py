"""Experiments: plans of many runs, on one machine or a cluster, with tables and figures.

plan.py       plans: named ones (plans/*.toml) or a TOML file of the same form
runs.py       finished runs, a line of JSON each
worker.py     makes one run
runner.py     makes missing runs
metrics.py    the metrics of a run
measure.py    runs -> a table of numbers, a row per run
statistics.py numbers -> intervals, tests, ranks
tables.py, figures.py, page.py    Markdown, CSV, LaTeX, PNG and SVG
compare.py    short runs of several variants of one problem
"""
