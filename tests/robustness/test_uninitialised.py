from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import thunder_py as th
from thunder_py import _core
from thunder_py.reference import SetPoint

from .stateful import Q, robot
from .test_concurrent_use import classes

MESSAGE = "the object was not initialized: a subclass must call super().__init__() before it uses its base class"
MOST_ARGUMENTS = 20
PICKLING = {"__reduce__", "__reduce_ex__", "__setstate__"}


def functions(cls: type) -> dict[str, Any]:
    """Everything that takes self, inherited from the extension or not, special methods included."""
    found: dict[str, Any] = {}
    for base in reversed(cls.__mro__):
        if base.__module__ == _core.__name__:
            found.update(vars(base))
    names = "init", "new", "doc", "module", "array_priority", "dict", "slotnames"
    left_out = {*(f"__{name}__" for name in names), *PICKLING}
    return {
        name: value
        for name, value in found.items()
        if name not in left_out and "conduit" not in name and not isinstance(value, (staticmethod, str))
    }


def refuses(call: Callable[..., object]) -> bool:
    """Raises TypeError for any number of arguments, and this one for the right number."""
    refused = False
    for count in range(MOST_ARGUMENTS):
        try:
            assert call(*[None] * count) is NotImplemented  # operators, for a wrong number
        except TypeError as error:
            refused = refused or str(error) == MESSAGE
    return refused


def test_every_function_of_every_class() -> None:
    for cls in classes():
        value = cls.__new__(cls)
        for name, function in functions(cls).items():
            if isinstance(function, property):
                assert function.fget is not None
                with pytest.raises(TypeError) as caught:
                    function.fget(value)
                assert str(caught.value) == MESSAGE, (cls, name)
                if function.fset is not None:
                    assert refuses(lambda *rest, f=function, v=value: f.fset(v, *rest)), (cls, name)
            else:
                assert refuses(lambda *rest, f=function, v=value: f(v, *rest)), (cls, name)


def test_a_subclass_that_comes_too_early() -> None:
    """Its base cannot be used before it is initialized."""
    for cls in classes():
        function, seen = next(iter(functions(cls).values()), None), list[str]()

        def early(self: Any, function: Any = function, seen: list[str] = seen) -> None:
            for count in range(MOST_ARGUMENTS if function is not None else 0):
                try:
                    function.fget(self) if isinstance(function, property) else function(self, *[None] * count)
                except TypeError as error:
                    seen.append(str(error))

        with pytest.raises(TypeError):  # pybind11 asks for super().__init__() itself
            type("Early", (cls,), {"__init__": early})()
        assert function is None or MESSAGE in seen, cls


def test_as_an_argument() -> None:
    """Where an object is passed on, kept or copied."""
    law = th.PDGravity(robot(), 10.0, 1.0)
    arm, reference, controller = (
        th.Robot.__new__(th.Robot), SetPoint.__new__(SetPoint), th.PDGravity.__new__(th.PDGravity)
    )  # fmt: skip
    planner, basis = (cls.__new__(cls) for cls in (_core.FunctionalPlanner, _core.DmpBasis))
    calls: list[Callable[[], object]] = [
        lambda: _core.PDGravity(arm, 1.0, 1.0, None, None, False),
        lambda: th.simulate(robot(), law, reference, 0.1, q0=Q),
        lambda: th.simulate(robot(), controller, SetPoint(Q), 0.1, q0=Q),
        lambda: _core.ViaSearch(planner, "uniform", 1, 0, 1.0, "paper", 1, True),
        lambda: _core.ObstacleSet([_core.Sphere.__new__(_core.Sphere)]),
        lambda: _core.Dmp(basis, 1.0, 1.0, _core.DmpScaling.paper, False, np.ones((3, 3)), np.ones(3)),
        lambda: _core.select(_core.Expression.__new__(_core.Expression), 1.0, 0.0),
        lambda: _core.emit_c([_core.Function.__new__(_core.Function)], header_name=""),
        lambda: _core.quantities(arm),
        lambda: controller.step(0.0, Q, Q, SetPoint(Q)(0.0)),
    ]
    for call in calls:
        with pytest.raises(TypeError, match="not initialized"):
            call()
