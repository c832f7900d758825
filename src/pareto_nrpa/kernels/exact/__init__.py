"""Compiled code of proofs."""
