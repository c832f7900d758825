"""Seeded runs whose exact results are stored: a change of any of them must be on purpose.

`runs` defines them, `golden.json` holds what they find, `test_golden` compares both. To record anew what was changed on
purpose: `python -m tests.golden.record` with the beginnings of the names of runs.
"""
