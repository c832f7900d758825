"""Adapters for other libraries, imported by those who have them."""
