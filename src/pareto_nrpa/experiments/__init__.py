"""Experiments: plans of many runs, carried out on one machine or many, made into tables, figures and claims.

plan.py       what is to be run: named plans (plans/*.toml) or a file of one's own
store.py      finished runs, one file each
runner.py     carries out what is not there yet
measure.py    runs -> numbers: the paper's reference point, normalisation and metrics
statistics.py numbers -> what can be said: intervals, tests, ranks
tables.py     Markdown, CSV and LaTeX
figures.py    PNG and SVG
claims.py     the paper's claims, one by one, held against our runs
"""
