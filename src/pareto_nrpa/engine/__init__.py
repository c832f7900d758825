"""The engine: playing, evaluating and archiving solutions, independent of algorithms."""
