"""Searches whose evaluations are dear: made by worker processes, limited in time, written down one by one."""
