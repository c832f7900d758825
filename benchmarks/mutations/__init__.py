"""Files changed at random, by kind: what changes them, what reads them, and what becomes of it."""
