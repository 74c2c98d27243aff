import pytest

from .process import run


@pytest.mark.release
def test_stress() -> None:
    assert run("from tests.robustness.stress import stress\nprint(stress(3.0, seed=1)['use'] > 0)") == "True"
