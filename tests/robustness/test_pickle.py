"""Everything a user can make can be pickled and copied: what both compute next is equal to the last bit."""

from __future__ import annotations

import copy
import importlib
import inspect
import pickle
import pkgutil
import struct
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import pytest

import thunder_py as th
from thunder_py import _core

from .recipes import RECIPES

#: Public classes without a recipe, and why
EXCLUDED = {
    "thunder_py.control.DerivativeEstimator": "base class",
    "thunder_py.trajectory.Obstacle": "base class",
    "thunder_py.mujoco.Renderer": "holds an OpenGL context of its thread",
    "thunder_py.plotting.Meshes": "needs mesh files, which no bundled robot has",
    "thunder_py.realtime.Pacer": "a clock of its process",
    "thunder_py.realtime.nodes.ControllerNode": "live ROS node",
    "thunder_py.realtime.nodes.ReferenceNode": "live ROS node",
    "thunder_py.realtime.nodes.RobotNode": "live ROS node",
}

COPIES: dict[str, Callable[[Any], Any]] = {
    **{
        f"protocol {k}": lambda thing, k=k: pickle.loads(pickle.dumps(thing, protocol=k))
        for k in range(2, pickle.HIGHEST_PROTOCOL + 1)
    },
    "copy": copy.copy,
    "deepcopy": copy.deepcopy,
}


def public_classes() -> dict[type, str]:
    """Classes in an ``__all__`` of the package, protocols and errors left out, with a name each."""
    packages = [m.name for m in pkgutil.walk_packages(th.__path__, "thunder_py.") if m.ispkg and ".cli" not in m.name]
    modules = [f"thunder_py.{name}" for name in (*th._LAZY_MODULES, "errors")]
    found: dict[type, str] = {}
    for name in ("thunder_py", *packages, *modules):
        module = importlib.import_module(name)
        for attribute in getattr(module, "__all__", ()):
            thing = getattr(module, attribute)
            if inspect.isclass(thing) and thing.__module__.startswith("thunder_py"):
                found[thing] = f"{name}.{attribute}"
    return {
        c: n for c, n in found.items() if not getattr(c, "_is_protocol", False) and not issubclass(c, BaseException)
    }


CLASSES = public_classes()
NAMES = {name: cls for cls, name in CLASSES.items() if name not in EXCLUDED}


def contents(value: Any, inside: tuple[int, ...] = ()) -> Any:
    """Everything that an object holds, floats as their bits: equal if and only if nothing is different."""
    if isinstance(value, np.ndarray):
        if value.dtype == object:
            return value.shape, [contents(entry, inside) for entry in value.ravel()]
        return str(value.dtype), value.shape, np.ascontiguousarray(value).tobytes()
    if isinstance(value, (float, np.floating)):
        return struct.pack("d", value)
    if (
        value is None
        or isinstance(value, (bool, int, str, bytes, type, np.integer, np.bool_))
        or (callable(value) and not hasattr(value, "__dict__"))
    ):
        return value
    if inspect.isfunction(value) or inspect.isclass(value):
        return value.__qualname__
    if isinstance(value, Mapping):
        return [(contents(key, inside), contents(entry, inside)) for key, entry in value.items()]
    if id(value) in inside:
        return "itself"
    inside = (*inside, id(value))
    if isinstance(value, (list, tuple, set, frozenset)):
        return type(value).__name__, [contents(entry, inside) for entry in value]
    if isinstance(value, (np.random.Generator, np.random.BitGenerator)):
        return contents(getattr(value, "bit_generator", value).state, inside)
    if isinstance(value, (_core.Expression, _core.Graph)):
        return str(value) if isinstance(value, _core.Expression) else contents(value.__getstate__(), inside)
    parts = value.__reduce_ex__(4)
    return type(value).__name__, contents(parts if isinstance(parts, str) else parts[1:3], inside)


@pytest.mark.parametrize("name", NAMES)
def test_what_comes_back_goes_on_as_the_original(name: str) -> None:
    """Copies one after the other, the original last: none of them shares what it remembers with another."""
    recipe = RECIPES[NAMES[name]]
    original = recipe.make()
    assert type(original) is NAMES[name]
    before = contents(original)
    copies = {how: make(original) for how, make in COPIES.items()}
    results = {how: contents(recipe.use(one)) for how, one in copies.items()}
    expected = contents(recipe.use(original))
    for how, one in copies.items():
        assert type(one) is type(original), how
        assert results[how] == expected, how
    assert (contents(original) != before) == recipe.moves


def test_every_public_class_has_a_recipe_or_a_reason() -> None:
    assert {CLASSES[c] for c in RECIPES} == set(NAMES)
    assert set(EXCLUDED) <= set(CLASSES.values())
