"""How many cases of a property are made up."""

from hypothesis import settings

_USUAL = 100


def cases(n):
    """Return Hypothesis's settings for n cases, or as large a part of them as of all other tests is tried."""
    return settings(max_examples=max(5, n * settings.default.max_examples // _USUAL))
