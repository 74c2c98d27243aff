"""Conversion of expressions to functions of CasADi's SX, and of CasADi's functions to expressions.

CasADi has only matrices: vectors become columns, scalars 1 x 1, and an array with more axes a matrix of its first axis
by all others. CasADi stores matrices by column, this package by row.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from .. import _core
from ..checks import check_name
from ..errors import ThunderError, UnknownNameError, nearest_hint
from ..optional import require
from . import mathematics as th
from .function import Function, operations_of, replay
from .mathematics import Expressions

if TYPE_CHECKING:
    from .quantities import SymbolicQuantities


def _matrix_shape(shape: tuple[int, ...]) -> tuple[int, int]:
    if len(shape) < 2:
        return (shape[0] if shape else 1), 1
    return shape[0], int(np.prod(shape[1:], dtype=int))


def _sx_matrix(casadi: Any, entries: Expressions) -> Any:
    """Return a matrix of entries in row order, sparse at structural zeros."""
    rows, columns = _matrix_shape(entries.shape)
    matrix = casadi.SX(rows, columns)
    for k, entry in enumerate(entries.ravel()):
        if not entry.is_zero():
            matrix[k // columns, k % columns] = entry
    return matrix


def to_casadi(model: SymbolicQuantities, expression: Any, name: str | None = None) -> Any:
    """Return a casadi.Function of expressions; see `SymbolicModel.to_casadi`."""
    casadi = require("casadi", "symbolic")
    if name is not None:
        check_name(name, "function name")
    if isinstance(expression, Function):
        function = expression
    else:
        results = dict(expression) if isinstance(expression, Mapping) else {name or "result": expression}
        function = Function(name or "function", model.arguments_of(*results.values()), results)
    own = {"less": operator.lt, "less_equal": operator.le, "abs": casadi.fabs, "select": casadi.if_else}
    operations: dict[str, Callable[..., Any]] = operations_of(casadi) | own
    arguments, entries = [], []
    for argument, symbols in function.arguments.items():
        rows, columns = _matrix_shape(symbols.shape)
        matrix = casadi.SX.sym(argument, rows, columns)
        arguments.append(matrix)
        entries += [matrix[k // columns, k % columns] for k in range(symbols.size)]
    results = replay(function, entries, lambda op, *operands: operations[op](*operands), casadi.SX)
    # CasADi refuses double underscores, and results with the name of an argument
    outputs = [f"{key}_result" if key in function.arguments else key for key in results]
    matrices = [_sx_matrix(casadi, array) for array in results.values()]
    label = name or function.name
    try:
        return casadi.Function(label, arguments, matrices, list(function.arguments), outputs)
    except RuntimeError as error:
        raise ThunderError(f"CasADi refuses the function {label}: {_last_line(error)}") from None


def _last_line(error: BaseException) -> str:
    return str(error).strip().splitlines()[-1]


# --- from CasADi ------------------------------------------------------------------------------------------------------


def _constant(value: float) -> Any:
    """Return a number with the arithmetic of recordings, where division by zero gives infinity."""
    return _core.select(1.0, value, 0.0)


def _truth(condition: Any) -> Any:
    return th.where(condition, 1.0, 0.0)


#: operations on expressions by the name of CasADi's code
_FROM_CASADI: dict[str, Callable[..., Any]] = {
    "ASSIGN": lambda a: a,
    "ADD": operator.add,
    "SUB": operator.sub,
    "MUL": operator.mul,
    "DIV": operator.truediv,
    "NEG": operator.neg,
    "INV": lambda a: 1.0 / a,
    "SQ": lambda a: a * a,
    "TWICE": lambda a: 2.0 * a,
    "POW": operator.pow,
    "CONSTPOW": operator.pow,
    "SQRT": th.sqrt,
    "SIN": th.sin,
    "COS": th.cos,
    "TAN": th.tan,
    "ASIN": th.arcsin,
    "ACOS": th.arccos,
    "ATAN": lambda a: th.arctan2(a, 1.0),
    "ATAN2": th.arctan2,
    "EXP": th.exp,
    "LOG": th.log,
    "TANH": th.tanh,
    "FABS": abs,
    "SIGN": th.sign,
    "HYPOT": lambda a, b: th.sqrt(a * a + b * b),
    "COPYSIGN": lambda a, b: th.where(b < 0.0, -abs(a), abs(a)),
    "FMIN": lambda a, b: th.where(a < b, a, b),
    "FMAX": lambda a, b: th.where(a < b, b, a),
    "LT": operator.lt,
    "LE": operator.le,
    "EQ": lambda a, b: (a <= b) * (b <= a),
    "NE": lambda a, b: 1.0 - (a <= b) * (b <= a),
    "NOT": lambda a: th.where(a, 0.0, 1.0),
    "AND": lambda a, b: _truth(a) * _truth(b),
    "OR": lambda a, b: th.where(a, 1.0, _truth(b)),
    "IF_ELSE_ZERO": lambda a, b: th.where(a, b, 0.0),
    "LIFT": lambda a, b: a,
}


def _expanded(casadi: Any, function: Any) -> Any:
    """Return the function expanded to scalar operations."""
    if not isinstance(function, casadi.Function):
        raise ThunderError(
            f"function must be a casadi.Function, got {type(function).__name__}; create it by "
            "casadi.Function(name, [inputs], [outputs], [input names], [output names])"
        )
    if function.has_free():
        raise UnknownNameError(
            f"{function.name()} must not have free variables, got {', '.join(map(str, function.get_free()))}"
        )
    if function.is_a("SXFunction"):
        return function
    try:
        return function.expand()
    except RuntimeError as error:
        raise ThunderError(f"CasADi cannot expand {function.name()} to scalars: {_last_line(error)}") from None


def _matched_symbols(model: SymbolicQuantities, function: Any, k: int) -> list[Any]:
    """Return the model's symbols for the non-zero entries of input k, in CasADi's order."""
    name = function.name_in(k)
    if name not in model.symbols:
        raise UnknownNameError(
            f"{function.name()}: input {name!r} is not a symbol of the model{nearest_hint(name, model.symbols)}; "
            "create it by model.symbol(name, shape)"
        )
    symbols, shape = model.symbols[name], tuple(function.size_in(k))
    expected = _matrix_shape(symbols.shape)
    if shape != expected and not (symbols.ndim == 1 and shape == expected[::-1]):
        raise ThunderError(
            f"{function.name()}: input {name} must be {expected[0]} x {expected[1]}, got {shape[0]} x {shape[1]}"
        )
    matrix, pattern = symbols.reshape(shape), function.sparsity_in(k)
    return [matrix[r, c] for r, c in zip(pattern.row(), pattern.get_col(), strict=True)]


def _output_array(function: Any, k: int, values: Mapping[int, Any]) -> Any:
    rows, columns = function.size_out(k)
    matrix = np.full((rows, columns), 0.0, dtype=object)
    pattern = function.sparsity_out(k)
    for nonzero, (r, c) in enumerate(zip(pattern.row(), pattern.get_col(), strict=True)):
        matrix[r, c] = values.get(nonzero, 0.0)
    if columns == 1:
        return matrix[0, 0] if rows == 1 else matrix[:, 0]
    return matrix


def _run(casadi: Any, function: Any, inputs: list[list[Any]]) -> list[dict[int, Any]]:
    """Evaluate CasADi's instructions; return the value of each non-zero entry of every output."""
    names = {getattr(casadi, name): name[3:] for name in dir(casadi) if name.startswith("OP_")}
    work: dict[int, Any] = {}
    outputs: list[dict[int, Any]] = [{} for _ in range(function.n_out())]
    for k in range(function.n_instructions()):
        code = names.get(function.instruction_id(k), str(function.instruction_id(k)))
        arguments, results = function.instruction_input(k), function.instruction_output(k)
        if code == "CONST":
            work[results[0]] = _constant(function.instruction_constant(k))
        elif code == "INPUT":
            work[results[0]] = inputs[arguments[0]][arguments[1]]
        elif code == "OUTPUT":
            outputs[results[0]][results[1]] = work[arguments[0]]
        elif code in _FROM_CASADI:
            work[results[0]] = _FROM_CASADI[code](*(work[a] for a in arguments))
        else:
            raise ThunderError(f"{function.name()}: recordings do not support CasADi's operation {code}")
    return outputs


def from_casadi(model: SymbolicQuantities, function: Any) -> Any:
    """Return a CasADi function's outputs as expressions; see `SymbolicModel.from_casadi`."""
    casadi = require("casadi", "symbolic")
    scalars = _expanded(casadi, function)
    inputs = [_matched_symbols(model, scalars, k) for k in range(scalars.n_in())]
    outputs = _run(casadi, scalars, inputs)
    results = {scalars.name_out(k): _output_array(scalars, k, values) for k, values in enumerate(outputs)}
    return next(iter(results.values())) if len(results) == 1 else results
