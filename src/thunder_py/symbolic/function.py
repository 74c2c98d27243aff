"""Recorded functions: evaluation of arrays, derivatives, sparsity, compilation."""

from __future__ import annotations

import operator
import warnings
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from .. import _core
from ..checks import check_name, known_name
from ..errors import CompilerError, ThunderError
from . import mathematics
from .mathematics import Expressions


def _arrays(ports: Mapping[str, Any], what: str) -> dict[str, Expressions]:
    return {check_name(name, f"{what} name"): np.asarray(value, dtype=object) for name, value in ports.items()}


class Function(_core.Function):
    """Record a function of named arrays as a list of scalar operations.

    A call takes arrays of shape ``(..., *shape)`` with batch axes that broadcast, and returns one array or a tuple of
    arrays; ``out=`` fills an array of the caller. Without a compiler an interpreter evaluates blocks of states;
    `compile` generates native code.

    Parameters
    ----------
    name : str
        An identifier.
    arguments : mapping of str to array of Expression
        Symbols, each once.
    results : mapping of str to array of Expression or number
        Results, which may depend on the arguments only.
    description : str
        One sentence for documentation.

    Raises
    ------
    ThunderError
        If an argument is not a symbol, or a result depends on a symbol that is not an argument.

    Examples
    --------
    >>> import numpy as np
    >>> import thunder_py as th
    >>> from thunder_py.symbolic import Function
    >>> model = th.Robot.load("elbow").symbolic()
    >>> power = Function("power", {"dq": model.dq, "tau": model.tau}, {"P": model.dq @ model.tau})
    >>> power
    <Function power(dq[2], tau[2]) -> P[], 3 operations>
    >>> float(power([0.1, 0.2], [1.0, 2.0])), power(np.ones((5, 2)), np.ones(2)).shape
    (0.5, (5,))
    >>> power.jacobian("dq")([0.1, 0.2], [1.0, 2.0]).tolist(), power.sparsity("tau").tolist()
    ([1.0, 2.0], [True, True])
    """

    def __init__(
        self, name: str, arguments: Mapping[str, Any], results: Mapping[str, Any], description: str = ""
    ) -> None:
        self.arguments, self.results = _arrays(arguments, "argument"), _arrays(results, "result")
        self.description = description
        try:
            super().__init__(
                check_name(name, "function name"),
                [(key, list(value.shape), list(value.ravel())) for key, value in self.arguments.items()],
                [(key, list(value.shape), list(value.ravel())) for key, value in self.results.items()],
            )
        except (ValueError, TypeError) as error:
            raise ThunderError(str(error)) from None

    def __repr__(self) -> str:
        """Return signature and number of operations."""
        ports = ", ".join(f"{k}{list(v.shape)}" for k, v in self.arguments.items())
        results = ", ".join(f"{k}{list(v.shape)}" for k, v in self.results.items())
        return f"<Function {self.name}({ports}) -> {results}, {self.operation_count} operations>"

    def _port(self, ports: dict[str, Expressions], name: str | None, what: str) -> str:
        if name is None and len(ports) == 1:
            return next(iter(ports))
        if name is None:
            raise ThunderError(f"{self.name} has several {what}s; name one of {', '.join(ports)}")
        known_name(name, ports, f"{self.name} has no {what}")
        return name

    def jacobian(self, argument: str, result: str | None = None) -> Function:
        """Return the derivative of a result by an argument as a function; shape result + argument."""
        y, x = self._port(self.results, result, "result"), self._port(self.arguments, argument, "argument")
        entries = mathematics.jacobian(self.results[y], self.arguments[x])
        return Function(f"{self.name}_jacobian_{x}", self.arguments, {f"d{y}_d{x}": entries})

    def hessian(self, argument: str, result: str | None = None) -> Function:
        """Return the second derivative of a result by an argument; shape result + argument + argument."""
        y, x = self._port(self.results, result, "result"), self._port(self.arguments, argument, "argument")
        symbols = self.arguments[x]
        entries = mathematics.jacobian(mathematics.jacobian(self.results[y], symbols), symbols)
        return Function(f"{self.name}_hessian_{x}", self.arguments, {f"d2{y}_d{x}2": entries})

    def sparsity(self, argument: str, result: str | None = None) -> npt.NDArray[np.bool_]:
        """Return the sparsity pattern of the derivative, True for structural nonzeros; shape result + argument."""
        y, x = self._port(self.results, result, "result"), self._port(self.arguments, argument, "argument")
        shape = self.results[y].shape + self.arguments[x].shape
        rows, columns = _slice(self.results, y), _slice(self.arguments, x)
        return np.asarray(self.dependence())[rows, columns].reshape(shape)

    @property
    def inputs_that_matter(self) -> dict[str, npt.NDArray[np.bool_]]:
        """For every argument a mask of the entries that influence a result."""
        used = np.asarray(np.asarray(self.dependence()).any(axis=0))
        return {name: used[_slice(self.arguments, name)].reshape(value.shape) for name, value in self.arguments.items()}

    def substitute(self, **arguments: Any) -> Any:
        """Return the results for other expressions or numbers, as part of their recording.

        Parameters
        ----------
        **arguments
            Array of expressions or numbers for each argument, of its shape.

        Returns
        -------
        array of Expression, or a dict of arrays for several results

        Examples
        --------
        >>> import thunder_py as th
        >>> model = th.Robot.load("elbow").symbolic()
        >>> G = model.function("G", model.gravity_vector())
        >>> upright = G.substitute(q=[model.q[0], 0.0])
        >>> model.function("upright", upright)([0.0, 5.0]).round(3).tolist() == G([0.0, 0.0]).round(3).tolist()
        True
        """
        entries: list[Any] = []
        for name in arguments:
            self._port(self.arguments, name, "argument")
        for name, symbols in self.arguments.items():
            if name not in arguments:
                raise ThunderError(f"{self.name} needs the argument {name!r}")
            value = np.asarray(arguments[name], dtype=object)
            if value.shape != symbols.shape:
                raise ThunderError(f"{name} must have shape {symbols.shape}, got {value.shape}")
            entries += list(value.ravel())
        flat = np.empty(sum(v.size for v in self.results.values()), dtype=object)
        flat[:] = self.apply(entries)
        results = {name: flat[_slice(self.results, name)].reshape(v.shape) for name, v in self.results.items()}
        return next(iter(results.values())) if len(results) == 1 else results

    def compile(self) -> Function:
        """Compile the function with the system's C compiler and use native code for evaluation; return the function.

        The library is stored in the user's cache folder, under a hash of its source. A pickle contains the recording,
        not the library: unpickling and copying compile again or use the cache. If that fails, a warning is issued and
        the interpreter evaluates; its results may differ in the last bits.

        Raises
        ------
        CompilerError
            If there is no compiler or it fails; the message has its output.
        """
        from .compiler import compile_source

        _, source = _core.emit_c([self], header_name="", packed=True)
        self.attach(str(compile_source(source)), f"{self.name}_packed")
        return self

    def to_jax(self) -> Callable[..., Any]:
        """Convert the function to JAX, for accelerators, differentiation and vectorization by its transformations.

        Returns
        -------
        callable
            Jitted function of the same arguments by position, with batch axes that broadcast, and with the same
            results: an array or a tuple of arrays, float64. `jax.jit`, `jax.vmap`, `jax.grad`, `jax.jacfwd` and so on
            apply. Its time to compile hardly depends on the number of operations.

        Raises
        ------
        ModuleNotFoundError
            If JAX is not installed (extra ``jax``).
        ThunderError
            Unless JAX computes with 64 bits, ``jax.config.update("jax_enable_x64", True)``, which is set for a whole
            program, preferably before other uses of JAX. Of the function returned, for arrays of the wrong shape.

        Examples
        --------
        >>> import jax
        >>> jax.config.update("jax_enable_x64", True)
        >>> import thunder_py as th
        >>> model = th.Robot.load("elbow").symbolic()
        >>> M = model.function("M", model.mass_matrix()).to_jax()
        >>> M([[0.1, 0.2], [0.3, 0.4]]).shape, jax.jacfwd(M)(jax.numpy.zeros(2)).shape
        ((2, 2, 2), (2, 2, 2))
        """
        from .jax_bridge import to_jax

        flat = flattened(self)
        arguments = [(name, value.shape) for name, value in flat.arguments.items()]
        results = [value.shape for value in flat.results.values()]
        return to_jax(flat.name, arguments, results, flat.operations, flat.constants, flat.result_values)

    def __setstate__(self, pickled: Any) -> None:
        """Restore from a pickle, and compile again if the function was compiled."""
        super().__setstate__(pickled)
        if self.__dict__.pop("_compile_again", False):
            try:
                self.compile()
            except CompilerError as error:
                warnings.warn(f"{self.name} is not compiled any more: {error}", RuntimeWarning, stacklevel=2)

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle the recording."""
        new, arguments, (positional, named, attributes, state) = super().__reduce__()
        if self.compiled:
            attributes["_compile_again"] = True
        return new, arguments, (positional, named, attributes, state)


def _slice(ports: dict[str, Expressions], name: str) -> slice:
    first = 0
    for key, value in ports.items():
        if key == name:
            return slice(first, first + value.size)
        first += value.size
    raise KeyError(name)


def flattened(function: Function) -> Function:
    """Return the function with outlined pieces inlined; the function itself if it has none."""
    if function.call_count == 0:
        return function
    results = function.substitute(**function.arguments)
    if len(function.results) == 1:
        results = {next(iter(function.results)): results}
    return Function(function.name, function.arguments, results, function.description)


def operations_of(library: Any) -> dict[str, Callable[..., Any]]:
    """Return the operations that SymPy and CasADi have in common, by name, for `replay`."""
    operations: dict[str, Callable[..., Any]] = {
        "neg": operator.neg, "add": operator.add, "sub": operator.sub, "mul": operator.mul, "div": operator.truediv,
        "pow": operator.pow,
    }  # fmt: skip
    names = ("sqrt", "sin", "cos", "tan", "asin", "acos", "exp", "log", "tanh", "sign", "atan2")
    return operations | {name: getattr(library, name) for name in names}


def replay(
    function: Function,
    inputs: Sequence[Any],
    operation: Callable[..., Any],
    number: Callable[[float], Any],
) -> dict[str, Expressions]:
    """Evaluate a function's operations on scalars of another type.

    Parameters
    ----------
    function : Function
        Recorded function.
    inputs : sequence
        Scalar for every entry of the arguments, in order.
    operation : callable
        Function of the name of an operation and its operands.
    number : callable
        Conversion of a number to a scalar.

    Returns
    -------
    dict of str to object array
        The results by name, in their shapes.
    """
    flat = flattened(function)
    values = [*inputs, *map(number, flat.constants)]
    for name, operands in flat.operations:
        values.append(operation(name, *(values[k] for k in operands)))
    results, entries = {}, iter(flat.result_values)
    for name, value in function.results.items():
        array = np.empty(value.shape, dtype=object)
        for index in np.ndindex(value.shape):
            array[index] = values[next(entries)]
        results[name] = array
    return results
