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
    "Metric": {"GL08"},  # a type alias
    "Expression": {"EX01"},  # made by a model, whose page shows it
}


@pytest.mark.parametrize("name", public_modules())
def test_numpydoc_finds_nothing(name):
    """In the classes and functions that a package makes public and defines, or takes from what is not public."""
    module, found = importlib.import_module(name), []
    for attribute in getattr(module, "__all__", ()):
        thing = getattr(module, attribute)
        home = getattr(thing, "__module__", name)
        if callable(thing) and not inspect.ismodule(thing) and (home.startswith(name) or home not in public_modules()):
            errors = validate(f"{name}.{attribute}")["errors"]
            wanted = CHECKS - EXCEPT.get(attribute, set())
            found += [f"{attribute}: {code}: {message}" for code, message in errors if code in wanted]
    assert found == []
