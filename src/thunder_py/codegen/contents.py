"""What goes into one generated library: its functions, parameters and state, before any text is written."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from ..checks import check_name
from ..errors import ModelError, UnknownNameError, nearest_hint
from ..robot import Robot
from ..symbolic import Function, SymbolicModel
from ..symbolic.parameters import ParameterGroup
from .catalogue import Item, catalogue, select_items

__all__ = ["Contents", "LibraryFunction", "collect"]

Expressions = npt.NDArray[np.object_]
Shape = tuple[int, ...]

#: state of the class and how Thunder's setters call it
STATES = {
    "q": "q", "dq": "dq", "ddq": "ddq", "d3q": "d3q", "dq_r": "dqr", "ddq_r": "ddqr", "tau": "tau", "x": "x",
    "dx": "dx", "ddx": "ddx", "w": "w", "damping": "damping",
}  # fmt: skip


@dataclass(frozen=True)
class LibraryFunction:
    """One function of a library.

    Attributes
    ----------
    name : str
        Without the robot's prefix.
    arguments, results : dict of str to tuple of int
        Names and shapes; a single result is called ``out``.
    description, unit : str
        For headers and the README.
    recorded : Function or None
        What is emitted; None for C_std, which is a loop over M_dot.
    custom : bool
        The user's own.
    """

    name: str
    arguments: dict[str, Shape]
    results: dict[str, Shape]
    description: str
    unit: str
    recorded: Function | None
    custom: bool = False


@dataclass(frozen=True)
class Contents:
    """Everything that the writers of files read.

    Attributes
    ----------
    robot : Robot
        The arm.
    name : str
        Prefix of functions and files.
    functions : tuple of LibraryFunction
        In the library's order.
    groups : tuple of ParameterGroup
        Those that the robot has.
    state : dict of str to tuple of int
        Members of the class that functions take: vectors, ``damping``, the user's own symbols.
    own_symbols : tuple of str
        Those of the state that the user made.
    scalar : {"double", "float"}
        Of the C core.
    batch : bool
        Also functions for many samples.
    """

    robot: Robot
    name: str
    functions: tuple[LibraryFunction, ...]
    groups: tuple[ParameterGroup, ...]
    state: dict[str, Shape]
    own_symbols: tuple[str, ...]
    scalar: str
    batch: bool

    @property
    def n(self) -> int:
        """Number of joints."""
        return self.robot.n

    @property
    def inertial(self) -> ParameterGroup:
        """The links' parameters, REG or DYN."""
        return next(group for group in self.groups if group.name == "inertial")

    def has(self, name: str) -> bool:
        """Whether there is a function of this name."""
        return any(function.name == name for function in self.functions)


def collect(
    robot: Robot,
    model: SymbolicModel,
    custom: Iterable[Function],
    *,
    name: str,
    select: str | Iterable[str] | None,
    scalar: str,
    batch: bool,
    report: Callable[[str], None],
) -> Contents:
    """Record what was selected and the user's functions.

    Parameters
    ----------
    robot, model : Robot, SymbolicModel
        The arm and its expressions.
    custom : iterable of Function
        The user's.
    name, select, scalar, batch
        See `generate`.
    report : callable
        Told the name of each function before it is recorded.

    Raises
    ------
    ModelError, UnknownNameError
        Names that are unknown, taken or of another shape than the model's.
    """
    groups = tuple(group for group in model.parameters.values() if group.values.size)
    state, symbols = _state(robot, model)
    functions: list[LibraryFunction] = []
    for item in select_items(catalogue(robot), select).values():
        report(item.name)
        functions.append(_record(item, model, symbols, name))
    _order_by_hand(functions)
    own: dict[str, Shape] = {}
    for function in custom:
        if not isinstance(function, Function):
            raise ModelError(f"functions must hold functions that model.add_function returned, got {function!r}")
        report(function.name)
        functions.append(_custom(function, name, functions, {**state, **own}, groups, own))
    return Contents(robot, name, tuple(functions), groups, {**state, **own}, tuple(own), scalar, batch)


def _state(robot: Robot, model: SymbolicModel) -> tuple[dict[str, Shape], dict[str, Expressions]]:
    """Shapes of what functions take besides parameters, and the symbols."""
    symbols = {key: model.symbols[key] for key in STATES if key in model.symbols and model.symbols[key].size}
    if robot.description.dh is not None:
        symbols["w"] = np.array([model.graph.symbol(f"w[{k}]") for k in range(6)], dtype=object)
    symbols["damping"] = np.array(model.graph.symbol("damping"), dtype=object)
    return {key: value.shape for key, value in symbols.items()}, symbols


def _record(item: Item, model: SymbolicModel, symbols: dict[str, Expressions], prefix: str) -> LibraryFunction:
    if item.record is None:
        return LibraryFunction(item.name, {}, {}, item.description, item.unit, None)
    result = np.asarray(item.record(model, symbols), dtype=object)
    arguments = {key: symbols[key] for key in item.arguments}
    recorded = _with_parameters(f"{prefix}_{item.name}", arguments, result, model)
    arguments = recorded.arguments
    shapes = {key: value.shape for key, value in arguments.items()}
    return LibraryFunction(item.name, shapes, {"out": result.shape}, item.description, item.unit, recorded)


def _with_parameters(
    name: str, arguments: dict[str, Expressions], result: Expressions, model: SymbolicModel
) -> Function:
    """Make a function of the state and of those parameters that matter; once where all of them do."""
    parameters = {group.argument: group.symbols for group in model.parameters.values() if group.mask.any()}
    recorded = Function(name, {**arguments, **parameters}, {"out": result})
    used = recorded.inputs_that_matter if parameters else {}
    if all(used[key].any() for key in parameters):
        return recorded
    chosen = {key: value for key, value in parameters.items() if used[key].any()}
    return Function(name, {**arguments, **chosen}, {"out": result})


def _order_by_hand(functions: list[LibraryFunction]) -> None:
    """Give C_std the arguments of M_dot, which it calls."""
    derivative = next((function for function in functions if function.name == "M_dot"), None)
    for k, function in enumerate(functions):
        if function.recorded is None and derivative is not None:
            functions[k] = LibraryFunction(
                function.name, derivative.arguments, derivative.results, function.description, function.unit, None
            )


def _custom(
    function: Function,
    prefix: str,
    before: list[LibraryFunction],
    known: Mapping[str, Shape],
    groups: tuple[ParameterGroup, ...],
    own: dict[str, Shape],
) -> LibraryFunction:
    """Check a user's function against what the library has, and give it the prefix."""
    taken = [other.name for other in before]
    check_name(function.name, "function name")
    if function.name in taken:
        raise ModelError(f"a function {function.name!r} is in the library already; choose another name")
    parameters = {group.argument: group.values.shape for group in groups}
    for key, value in function.arguments.items():
        _check_argument(function.name, key, value.shape, {**known, **parameters})
        if key not in known and key not in parameters:
            own[key] = value.shape
    names = {key: "out" if len(function.results) == 1 else key for key in function.results}
    results = {names[key]: value for key, value in function.results.items()}
    shapes = {key: value.shape for key, value in function.arguments.items()}
    for key, value in results.items():
        if not value.size:
            raise ModelError(f"{function.name}: the result {key} is empty")
    recorded = Function(f"{prefix}_{function.name}", function.arguments, results, function.description)
    return LibraryFunction(
        function.name, shapes, {key: value.shape for key, value in results.items()},
        function.description or "A function of the user", "", recorded, custom=True,
    )  # fmt: skip


def _check_argument(name: str, key: str, shape: Shape, known: Mapping[str, Any]) -> None:
    if key in known and known[key] != shape:
        raise ModelError(f"{name}: {key} must have shape {known[key]} as in the library, got {shape}")
    if key.startswith("par_") and key not in known:
        raise UnknownNameError(f"{name}: the library has no parameters {key!r}{nearest_hint(key, known)}")
