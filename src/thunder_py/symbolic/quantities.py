"""Quantities of a robot as arrays of expressions, and functions of them."""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal

import numpy as np

from .. import _core
from ..checks import check_name, known_name
from ..errors import ThunderError, UnknownNameError, nearest_hint
from ..model.model import RobotModel
from ..values import Stateful
from .function import Function
from .mathematics import Expressions
from .parameters import parameter_groups

_STATES = ("q", "dq", "ddq", "d3q", "d4q", "dq_r", "ddq_r", "tau", "s")
_MOTOR_STATES = ("x", "dx", "ddx")
#: further arguments of functions in generated libraries: damping of the pseudo-inverse, a wrench
_LIBRARY_SYMBOLS = ("damping", "w")
_ALL_ROWS = (0, 1, 2, 3, 4, 5)


class SymbolicQuantities(Stateful):
    """Provide symbols, quantities and functions of a robot; base class of `SymbolicModel`."""

    def __init__(
        self,
        robot: RobotModel,
        *,
        inertial_as: str | None = None,
        outline: bool | Literal["uniform"] = False,
        **arguments: Any,
    ) -> None:
        self.robot = robot
        self.graph = _core.Graph()
        self.graph.outlining = outline is True
        self.graph.uniform = bool(outline)
        self.functions: dict[str, Function] = {}
        sizes = dict.fromkeys(_STATES, robot.n) | dict.fromkeys(_MOTOR_STATES, robot.e) | {"pi": robot.p}
        self.symbols = {name: self._vector(name, size) for name, size in sizes.items()}
        self.parameters, self.inertial_as = parameter_groups(robot, self.graph, arguments, inertial_as)
        for group in self.parameters.values():
            self.symbols[group.argument] = group.symbols
        self._chain = _core.SymbolicChain(
            robot,
            self.graph,
            {name: list(g.entries) for name, g in self.parameters.items() if g.mask.any()},
            robot.description.convention == "modified",
            self.inertial_as == "DYN",
        )
        self._quantities = _core.quantities(robot)

    def _vector(self, name: str, size: int) -> Expressions:
        vector = np.empty(size, dtype=object)
        vector[:] = [self.graph.symbol(f"{name}[{k}]") for k in range(size)]
        return vector

    @property
    def n(self) -> int:
        """Number of joints."""
        return self.robot.n

    @property
    def quantities(self) -> tuple[str, ...]:
        """Names of the quantities, each a method of this object; those of elastic joints only if there are any."""
        return tuple(name for name in self._quantities if self.robot.e or not self._is_elastic(name))

    def _is_elastic(self, quantity: str) -> bool:
        return not set(_MOTOR_STATES).isdisjoint(self._quantities[quantity][0])

    def __getattr__(self, name: str) -> Any:
        """Return a symbol or quantity by name."""
        if name.startswith("_") or "symbols" not in self.__dict__:
            raise AttributeError(name)
        if name in self.symbols:
            return self.symbols[name]
        if name in self.__dict__.get("_quantities", ()):
            return self._quantity_method(name)
        known = [*self.symbols, *self.__dict__.get("_quantities", ())]
        raise AttributeError(f"a symbolic model has no attribute {name!r}{nearest_hint(name, known)}")

    def __dir__(self) -> list[str]:
        """Include symbols and quantities."""
        return [*super().__dir__(), *self.symbols, *self._quantities]

    def __repr__(self) -> str:
        """Return robot and run-time arguments."""
        runtime = [g.argument for g in self.parameters.values() if g.mask.any()]
        names = ", ".join(runtime) or "none"
        return f"<SymbolicModel of {self.robot.name}, {self.n} joints; run-time parameters: {names}>"

    def _quantity_method(self, name: str) -> Callable[..., Any]:
        def method(*inputs: Any, frame: int | str | None = None, rows: Sequence[int] | None = None) -> Any:
            return self.quantity(name, *inputs, frame=frame, rows=rows)

        method.__name__ = name
        method.__doc__ = f"Return the expressions of `Robot.{name}`."
        return method

    def quantity(
        self, name: str, *inputs: Any, frame: int | str | None = None, rows: Sequence[int] | None = None
    ) -> Any:
        """Return the expressions of a quantity.

        Parameters
        ----------
        name : str
            One of `quantities`.
        *inputs : array of Expression or number, optional
            Values in place of the symbols, in the order of the quantity's arguments.
        frame : int or str, optional
            Link index or frame name of quantities of a frame; default the end effector.
        rows : sequence of int, optional
            Rows of the Jacobian for task-space quantities.

        Returns
        -------
        array of Expression, or an Expression for a scalar quantity

        Raises
        ------
        UnknownNameError, ThunderError
            If the quantity or frame is unknown, or the number or shape of inputs is wrong.

        Examples
        --------
        >>> import thunder_py as th
        >>> model = th.Robot.load("elbow").symbolic()
        >>> model.quantity("jacobian", frame="link1", rows=None).shape
        (6, 2)
        >>> model.quantity("gravity_vector", [0.0, 0.0])[1].is_constant
        True
        """
        known_name(name, self._quantities, "no quantity is called")
        if self._is_elastic(name) and not self.robot.e:
            raise ThunderError(f"{name} needs elastic joints, and {self.robot.name} has none")
        chosen = list(_ALL_ROWS if rows is None else rows)
        wanted, _, takes_frame, takes_rows = self._quantities[name]
        if (frame is not None and not takes_frame) or (rows is not None and not takes_rows):
            raise ThunderError(f"{name} takes no {'frame' if frame is not None and not takes_frame else 'rows'}")
        if chosen != sorted(set(chosen)) or not chosen or not set(chosen) <= set(_ALL_ROWS):
            raise ThunderError(f"rows must be increasing whole numbers from 0 to 5, got {rows!r}")
        shape = _core.quantities(self.robot, len(chosen))[name][1]
        entries = self._chain.evaluate(name, self._inputs(name, wanted, inputs), self._frame(frame), chosen)
        array = np.empty(len(entries), dtype=object)
        array[:] = entries
        return array.reshape(shape) if shape else array[0]

    def _inputs(self, name: str, wanted: Sequence[str], inputs: Sequence[Any]) -> list[list[Any]]:
        if len(inputs) > len(wanted):
            raise ThunderError(f"{name} takes at most {len(wanted)} inputs ({', '.join(wanted)}), got {len(inputs)}")
        values = []
        for k, symbol in enumerate(wanted):
            value = np.asarray(inputs[k] if k < len(inputs) else self.symbols[symbol], dtype=object)
            if value.shape != self.symbols[symbol].shape:
                raise ThunderError(f"{symbol} must have shape {self.symbols[symbol].shape}, got {value.shape}")
            values.append(list(value))
        return values

    def _frame(self, frame: int | str | None) -> int:
        names = self.robot.frame_names
        if frame is None:
            return self.n + 1
        if isinstance(frame, (int, np.integer)) and not isinstance(frame, bool) and 0 <= frame <= self.n:
            return int(frame)
        # a link named "base" takes precedence over the base, as in Robot
        if isinstance(frame, str) and frame in names:
            return names.index(frame, 1) if frame in names[1:] else 0
        raise UnknownNameError(f"frame must be a link index 0 to {self.n} or one of {', '.join(names)}; got {frame!r}")

    def symbol(self, name: str, shape: int | Sequence[int] = ()) -> Any:
        """Create a symbol, or an array of symbols, for use as an argument of functions.

        Parameters
        ----------
        name : str
            A new identifier, the name of the argument.
        shape : int or tuple of int
            Shape of the array; default one symbol.

        Returns
        -------
        Expression or array of Expression

        Raises
        ------
        ThunderError
            If the name is invalid or in use, or the shape is invalid.
        """
        check_name(name, "symbol name")
        if name in self.symbols or name in _LIBRARY_SYMBOLS:
            raise ThunderError(f"symbol {name!r} exists already, in the model or in generated libraries")
        if name in self._quantities or name in self.functions or name in self.__dict__ or hasattr(type(self), name):
            raise ThunderError(f"{name!r} is a quantity, a function or an attribute of the model; choose another name")
        try:
            dims = tuple(map(operator.index, np.atleast_1d(np.asarray(shape))))
        except TypeError:
            raise ThunderError(f"shape must be a whole number or a tuple of such, got {shape!r}") from None
        array = np.empty(dims, dtype=object)
        for index in np.ndindex(dims):
            array[index] = self.graph.symbol(f"{name}[{', '.join(map(str, index))}]" if dims else name)
        self.symbols[name] = array
        return array if dims else array[()]

    def arguments_of(self, *expressions: Any) -> dict[str, Expressions]:
        """Return the model's symbols on which expressions depend, by name, in the model's order."""
        results = {f"y{k}": np.asarray(value, dtype=object) for k, value in enumerate(expressions)}
        used = Function("probe", self.symbols, results).inputs_that_matter
        return {name: symbols for name, symbols in self.symbols.items() if used[name].any()}

    def function(
        self, name: str, expression: Any, arguments: Sequence[str] | None = None, description: str = ""
    ) -> Function:
        """Create a function of expressions of this model.

        Parameters
        ----------
        name : str
            An identifier.
        expression : array of Expression, or mapping of str to such
            One result, with the name of the function, or several by name.
        arguments : sequence of str, optional
            Names of the model's symbols (``"q"``, ``"par_REG"``, the user's), in the order of the arguments; default
            all symbols in the expression, in the model's order.
        description : str
            One sentence.

        Raises
        ------
        UnknownNameError
            If an argument is not a symbol of the model; the nearest is suggested.
        ThunderError
            If the expression depends on a symbol that is not among the arguments.
        """
        results = expression if isinstance(expression, Mapping) else {name: expression}
        if arguments is None:
            chosen = self.arguments_of(*results.values())
        else:
            arguments = [arguments] if isinstance(arguments, str) else arguments
            for argument in arguments:
                known_name(argument, self.symbols, f"{name}: unknown symbol")
            chosen = {argument: self.symbols[argument] for argument in arguments}
        return Function(name, chosen, results, description)

    def add_function(
        self,
        name: str,
        expression: Any,
        arguments: Sequence[str] | None = None,
        description: str = "",
        *,
        overwrite: bool = False,
    ) -> Function:
        """Add a function of the user to the model and to generated libraries.

        Parameters
        ----------
        name : str
            A C identifier, different from quantities and other functions.
        expression : array of Expression, mapping of str to such, Function or casadi.Function
            Expressions of this model's symbols; inputs of a CasADi function are matched by name.
        arguments : sequence of str, optional
            See `function`.
        description : str
            One sentence for the documentation of generated code.
        overwrite : bool
            Replace a function of this name.

        Returns
        -------
        Function

        Raises
        ------
        ThunderError, UnknownNameError
            If the name is invalid or in use, or a symbol is unknown or missing.

        Examples
        --------
        >>> import numpy as np
        >>> import thunder_py as th
        >>> model = th.Robot.load("elbow").symbolic()
        >>> gain = model.symbol("gain")
        >>> pd = model.add_function("pd", -gain * (model.q + 0.1 * model.dq), description="PD torque")
        >>> pd.argument_names, pd([0.1, 0.2], [1.0, 0.0], 5.0).round(3).tolist()
        (('q', 'dq', 'gain'), [-1.0, -1.0])
        """
        check_name(name, "function name")
        if name in self._quantities or name in self.symbols:
            raise ThunderError(f"{name!r} is a quantity or a symbol of the model; choose another name")
        if name in self.functions and not overwrite:
            raise ThunderError(f"a function {name!r} exists already; pass overwrite=True to replace it")
        if type(expression).__module__.startswith("casadi"):
            recorded = self.from_casadi(expression)
            arguments = expression.name_in() if arguments is None else arguments
            expression = recorded
        elif isinstance(expression, Function):
            arguments = list(expression.arguments) if arguments is None else arguments
            expression = expression.results
        function = self.function(name, expression, arguments, description)
        self.functions[name] = function
        return function
