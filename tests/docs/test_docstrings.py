"""Docstrings of public names: what numpydoc's validation finds, an example for each."""

from __future__ import annotations

import importlib
import inspect

import pytest
from numpydoc.validate import validate

from tests.docs.test_reference import public_modules

#: no docstring, summary lines, unknown parameters, types with a full stop, no example
CHECKS = {"GL08", "SS01", "SS02", "SS03", "SS04", "SS05", "SS06", "PR02", "PR05", "EX01"}
#: names without a docstring of their own, or with one that the core holds
EXCEPT = {
    "thunder_py.simulation.Metric": {"GL08"},  # a type alias
    "thunder_py.symbolic.Expression": {"EX01"},  # made by a model, whose page shows it
}


def public_names() -> list[str]:
    """Classes and functions in the ``__all__`` of a package or of a module that a package makes public."""
    names = {}
    for name in sorted(public_modules(), key=lambda module: (module.count("."), module)):
        module = importlib.import_module(name)
        for attribute in getattr(module, "__all__", ()):
            thing = getattr(module, attribute)
            if callable(thing) and not inspect.ismodule(thing):
                names.setdefault(id(thing), f"{name}.{attribute}")
    return sorted(names.values())


@pytest.mark.parametrize("name", public_names())
def test_numpydoc_finds_nothing(name):
    found = [
        f"{code}: {message}" for code, message in validate(name)["errors"] if code in CHECKS - EXCEPT.get(name, set())
    ]
    assert found == []


def test_there_are_hundreds():
    assert len(public_names()) > 350
