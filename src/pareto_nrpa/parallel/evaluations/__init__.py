"""Expensive objectives: one search, whose solutions are evaluated by several workers."""
