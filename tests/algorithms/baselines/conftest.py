"""Fixtures of the baselines."""

import pytest

from .apart import Apart


@pytest.fixture(scope="session")
def apart():
    """Another process, for what might never end."""
    process = Apart()
    yield process
    process.close()
