"""Names that `thunder_py.motion` gives out are there, under the same name as in their modules."""

from __future__ import annotations

import importlib

import pytest

from thunder_py import motion


@pytest.mark.parametrize("name", sorted(motion._LAZY))
def test_lazy_names_are_their_modules_public_ones(name) -> None:
    module = importlib.import_module(f"thunder_py.motion.{motion._LAZY[name]}")
    assert getattr(motion, name) is getattr(module, name)
    assert name in module.__all__
    assert name in dir(motion)


def test_other_names_are_refused() -> None:
    for name in motion._LAZY_MODULES:
        assert getattr(motion, name).__name__ == f"thunder_py.motion.{name}"
    with pytest.raises(AttributeError, match="no attribute 'HumanPlanner'"):
        _ = motion.HumanPlanner
