"""Experiments: plans of many runs, carried out on one machine or many, made into tables and figures.

plan.py       what is to be run: named plans (plans/*.toml) or a TOML file of the same form
runs.py       finished runs, a line of JSON each
worker.py     makes one run
runner.py     carries out what is not there yet
metrics.py    the numbers that a run is judged by
measure.py    runs -> a table of numbers, a row per run
statistics.py numbers -> intervals, tests, ranks
tables.py, figures.py, page.py    Markdown, CSV, LaTeX, PNG and SVG
compare.py    short runs of several variants of one problem
"""
