"""A recorded function: evaluates arrays at once, knows its derivatives and sparsity, compiles itself."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from .. import _core
from ..checks import check_name
from ..errors import CompilerError, ModelError, UnknownNameError, nearest_hint
from . import mathematics

__all__ = ["Function", "flattened", "replay"]

Expressions = npt.NDArray[np.object_]


def _arrays(ports: Mapping[str, Any], what: str) -> dict[str, Expressions]:
    return {check_name(name, f"{what} name"): np.asarray(value, dtype=object) for name, value in ports.items()}


class Function(_core.Function):
    """A computation between named arrays, recorded as a list of scalar operations.

    Call it with arrays of shape ``(..., *shape)``: batch axes are broadcast, and one array or a tuple of arrays comes
    back; ``out=`` fills an array of the caller. Without a compiler an interpreter evaluates blocks of states;
    `compile` makes native code.

    Parameters
    ----------
    name : str
        An identifier.
    arguments : mapping of str to array of Expression
        Symbols, each once.
    results : mapping of str to array of Expression or number
        What is computed; may depend on the arguments only.
    description : str
        One sentence for documentation.

    Raises
    ------
    ModelError
        An argument that is no symbol, or a result that depends on a symbol that is no argument.
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
            raise ModelError(str(error)) from None

    def __repr__(self) -> str:
        """Signature and size."""
        ports = ", ".join(f"{k}{list(v.shape)}" for k, v in self.arguments.items())
        results = ", ".join(f"{k}{list(v.shape)}" for k, v in self.results.items())
        return f"<Function {self.name}({ports}) -> {results}, {self.operation_count} operations>"

    def _port(self, ports: dict[str, Expressions], name: str | None, what: str) -> str:
        if name is None and len(ports) == 1:
            return next(iter(ports))
        if name is None:
            raise ModelError(f"{self.name} has several {what}s; name one of {', '.join(ports)}")
        if name not in ports:
            raise UnknownNameError(f"{self.name} has no {what} {name!r}{nearest_hint(name, ports)}")
        return name

    def jacobian(self, argument: str, result: str | None = None) -> Function:
        """Derive a result with respect to an argument: a function of the same arguments, shape result + argument."""
        y, x = self._port(self.results, result, "result"), self._port(self.arguments, argument, "argument")
        entries = mathematics.jacobian(self.results[y], self.arguments[x])
        return Function(f"{self.name}_jacobian_{x}", self.arguments, {f"d{y}_d{x}": entries})

    def hessian(self, argument: str, result: str | None = None) -> Function:
        """Derive a result twice: a function of the same arguments, shape result + argument + argument."""
        y, x = self._port(self.results, result, "result"), self._port(self.arguments, argument, "argument")
        symbols = self.arguments[x]
        entries = mathematics.jacobian(mathematics.jacobian(self.results[y], symbols), symbols)
        return Function(f"{self.name}_hessian_{x}", self.arguments, {f"d2{y}_d{x}2": entries})

    def sparsity(self, argument: str, result: str | None = None) -> npt.NDArray[np.bool_]:
        """Where the derivative may differ from zero, shape result + argument."""
        y, x = self._port(self.results, result, "result"), self._port(self.arguments, argument, "argument")
        shape = self.results[y].shape + self.arguments[x].shape
        rows, columns = _slice(self.results, y), _slice(self.arguments, x)
        return np.asarray(self.dependence())[rows, columns].reshape(shape)

    @property
    def inputs_that_matter(self) -> dict[str, npt.NDArray[np.bool_]]:
        """For every argument, which of its entries some result depends on."""
        used = np.asarray(np.asarray(self.dependence()).any(axis=0))
        return {name: used[_slice(self.arguments, name)].reshape(value.shape) for name, value in self.arguments.items()}

    def substitute(self, **arguments: Any) -> Any:
        """Results for other expressions or numbers: the function becomes part of their recording.

        Parameters
        ----------
        **arguments
            An array of expressions or numbers for each argument, of its shape.

        Returns
        -------
        array of Expression, or a dict of them where there are several results
        """
        entries: list[Any] = []
        for name in arguments:
            self._port(self.arguments, name, "argument")
        for name, symbols in self.arguments.items():
            if name not in arguments:
                raise ModelError(f"{self.name} needs the argument {name!r}")
            value = np.asarray(arguments[name], dtype=object)
            if value.shape != symbols.shape:
                raise ModelError(f"{name} must have shape {symbols.shape}, got {value.shape}")
            entries += list(value.ravel())
        flat = np.empty(sum(v.size for v in self.results.values()), dtype=object)
        flat[:] = self.apply(entries)
        results = {name: flat[_slice(self.results, name)].reshape(v.shape) for name, v in self.results.items()}
        return next(iter(results.values())) if len(results) == 1 else results

    def compile(self) -> Function:
        """Make native code with the system's C compiler and evaluate by it from now on; returns the function itself.

        The library is kept in the user's cache folder, under a hash of its source. A pickle holds the recording, not
        the library: unpickling and copying compile again, or find the library in the cache. Where that fails, a warning
        is given and the interpreter evaluates, whose results may differ in their last bits.

        Raises
        ------
        CompilerError
            There is no compiler, or it failed; its message is shown.
        """
        from .compiler import compile_source

        _, source = _core.emit_c([self], header_name="", packed=True)
        self.attach(str(compile_source(source)), f"{self.name}_packed")
        return self

    def __setstate__(self, pickled: Any) -> None:
        """Restore from a pickle, and compile what was compiled."""
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
    """Return the function with outlined pieces put back in their places; itself where there are none."""
    if function.call_count == 0:
        return function
    results = function.substitute(**function.arguments)
    if len(function.results) == 1:
        results = {next(iter(function.results)): results}
    return Function(function.name, function.arguments, results, function.description)


def replay(
    function: Function,
    inputs: Sequence[Any],
    operation: Callable[..., Any],
    number: Callable[[float], Any],
) -> dict[str, Expressions]:
    """Run a function's operations on foreign scalars.

    Parameters
    ----------
    function : Function
    inputs : sequence
        A scalar for every entry of the arguments, in order.
    operation : callable
        Takes the name of an operation and its operands.
    number : callable
        Makes a scalar of a number.

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
