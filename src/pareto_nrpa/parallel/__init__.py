"""Searches whose evaluations are expensive: made by worker processes, limited in time, written down one by one."""
