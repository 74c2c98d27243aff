"""What tests of several drives need."""

import signal

import pytest


@pytest.fixture
def python_handler():
    """Python's own handler of Ctrl-C, which a test runner may have replaced."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    after = signal.signal(signal.SIGINT, before)
    assert after is signal.default_int_handler
