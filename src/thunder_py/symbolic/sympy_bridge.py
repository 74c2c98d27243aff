"""Conversion of expressions to SymPy, simplification and LaTeX."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from ..checks import known_name
from ..errors import ThunderError
from ..optional import require
from .function import Function, operations_of, replay
from .names import readable_names

if TYPE_CHECKING:
    from .quantities import SymbolicQuantities

#: numbers with at most this many fractional binary digits become exact fractions
_BINARY_DIGITS = 4
#: expressions with more terms are not rewritten as sums of sines and cosines
_MAX_TERMS = 100


def _number(sympy: Any, value: float) -> Any:
    if not math.isfinite(value):
        return sympy.nan if math.isnan(value) else sympy.oo * (1 if value > 0 else -1)
    scaled = value * 2**_BINARY_DIGITS
    if scaled == round(scaled) and abs(value) < 1e6:
        return sympy.Rational(round(scaled), 2**_BINARY_DIGITS)
    return sympy.Float(value, 17)


def _operations(sympy: Any) -> dict[str, Callable[..., Any]]:
    def truth(relation: Any) -> Any:
        return sympy.Piecewise((1, relation), (0, True))

    def select(condition: Any, a: Any, b: Any) -> Any:
        # a comparison recorded as 1 or 0 becomes a relation again
        is_relation = isinstance(condition, sympy.Piecewise) and condition.args[0][0] == 1
        relation = condition.args[0][1] if is_relation else sympy.Ne(condition, 0)
        return sympy.Piecewise((a, relation), (b, True))

    return operations_of(sympy) | {
        "less": lambda a, b: truth(sympy.Lt(a, b)),
        "less_equal": lambda a, b: truth(sympy.Le(a, b)),
        "abs": sympy.Abs,
        "select": select,
    }


def sympy_symbols(model: SymbolicQuantities) -> dict[str, list[Any]]:
    """Return SymPy's real symbols for every argument of a model, with the names of `readable_names`."""
    sympy = require("sympy", "symbolic")
    return {
        argument: [sympy.Symbol(name.text, real=True) for name in names]
        for argument, names in readable_names(model).items()
    }


def _shaped(sympy: Any, array: Any) -> Any:
    if array.ndim == 0:
        return array[()]
    if array.ndim <= 2:
        rows, columns = (array.size, 1) if array.ndim == 1 else array.shape
        return sympy.Matrix(rows, columns, list(array.ravel()))
    return sympy.ImmutableDenseNDimArray(list(array.ravel()), array.shape)


def as_function(model: SymbolicQuantities, expression: Any, name: str = "expression") -> Function:
    """Return a function of the model's symbols in an expression."""
    if isinstance(expression, Function):
        return expression
    return Function(name, model.arguments_of(expression), {name: expression})


def _symbols_of(model: SymbolicQuantities, function: Function) -> list[Any]:
    """Return SymPy's symbols for a function's arguments, which are symbols of the model."""
    known = sympy_symbols(model)
    of_symbol = {
        symbol: other
        for argument, symbols in model.symbols.items()
        for symbol, other in zip(symbols.ravel(), known[argument], strict=True)
    }
    inputs = [symbol for symbols in function.arguments.values() for symbol in symbols.ravel()]
    for symbol in inputs:
        if symbol.graph is not model.graph or symbol not in of_symbol:
            raise ThunderError(f"{function.name}: argument {symbol} must be a symbol of this model")
    return [of_symbol[symbol] for symbol in inputs]


def to_sympy(model: SymbolicQuantities, expression: Any, *, simplify: bool = False) -> Any:
    """Return SymPy's form of expressions; see `SymbolicModel.to_sympy`."""
    sympy = require("sympy", "symbolic")
    operations = _operations(sympy)
    function = as_function(model, expression)
    results = replay(
        function,
        _symbols_of(model, function),
        lambda name, *operands: operations[name](*operands),
        lambda value: _number(sympy, value),
    )
    shaped = {}
    for name, array in results.items():
        if simplify:
            array = np.array([_simplified(sympy, x) for x in array.ravel()], dtype=object).reshape(array.shape)
        shaped[name] = _shaped(sympy, array)
    return next(iter(shaped.values())) if len(shaped) == 1 else shaped


def _simplified(sympy: Any, x: Any) -> Any:
    """Return the shortest of several forms, with sines and cosines of sums of angles as in papers."""
    if x.is_number or x.has(sympy.Piecewise) or not x.has(sympy.sin, sympy.cos):
        return x
    rules = require("sympy.simplify.fu", "symbolic")
    expanded = sympy.expand(x)
    candidates = [x, rules.TR10i(expanded)]
    if len(sympy.Add.make_args(expanded)) <= _MAX_TERMS:
        # products of sines and cosines as sums: all terms cancel that can
        sums = sympy.expand(rules.TR8(expanded))
        waves = sorted(sums.atoms(sympy.sin, sympy.cos), key=str)
        candidates += [sums, sympy.collect(sums, waves, lambda c: sympy.factor_terms(sympy.factor(c)))]
    return min(candidates, key=lambda y: (sympy.count_ops(y) + 4 * len(y.atoms(sympy.sin, sympy.cos)), str(y)))


def _printer(model: SymbolicQuantities) -> Any:
    """Return a LaTeX printer of SymPy with s_1, c_{12} for sines and cosines of joint angles and their sums."""
    sympy = require("sympy", "symbolic")
    base = require("sympy.printing.latex", "symbolic").LatexPrinter
    angles = {sympy.Symbol(f"q{k + 1}", real=True): k + 1 for k in range(model.n)}
    separator = "," if model.n > 9 else ""

    class Printer(base):  # type: ignore[misc,valid-type]
        def _wave(self, name: str, expr: Any, exp: Any) -> str:
            angle = expr.args[0]
            power = "" if exp is None else f"^{{{exp}}}"
            terms = sympy.Add.make_args(angle)
            if not all(term in angles for term in terms):
                return rf"\{name}{power}{{\left({self._print(angle)} \right)}}"
            joints = sorted(angles[term] for term in terms)
            return f"{name[0]}_{{{separator.join(map(str, joints))}}}{power}"

        def _print_sin(self, expr: Any, exp: Any = None) -> str:
            return self._wave("sin", expr, exp)

        def _print_cos(self, expr: Any, exp: Any = None) -> str:
            return self._wave("cos", expr, exp)

    names = {}
    for argument, symbols in sympy_symbols(model).items():
        for symbol, name in zip(symbols, readable_names(model)[argument], strict=True):
            names[symbol] = name.latex
    return Printer({"symbol_names": names, "mat_delim": "["})


def latex(model: SymbolicQuantities, quantity: Any, *, simplify: bool = True) -> str:
    """Return LaTeX of a quantity or of expressions; see `SymbolicModel.latex`."""
    if isinstance(quantity, str):
        known_name(quantity, model.quantities, "no quantity is called")
        quantity = model.quantity(quantity)
    form = to_sympy(model, quantity, simplify=simplify)
    if isinstance(form, dict):
        raise ThunderError(f"{quantity.name} has several results ({', '.join(form)}); write them one by one")
    return str(_printer(model).doprint(form))
