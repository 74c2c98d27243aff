"""Functions of expressions, entry by entry on arrays, and small linear algebra that works on object arrays."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from .. import _core
from ..errors import ModelError

__all__ = [
    "arccos", "arcsin", "arctan2", "cos", "cross", "det", "exp", "gradient", "hessian", "inverse", "jacobian", "less",
    "less_equal", "log", "maximum", "minimum", "sign", "sin", "solve", "sqrt", "tan", "tanh", "where",
]  # fmt: skip

Expression = _core.Expression
Expressions = npt.NDArray[np.object_]


def _unary(name: str) -> Callable[[Any], Any]:
    numeric = getattr(np, name)

    def entry(x: Any) -> Any:
        return getattr(x, name)() if isinstance(x, Expression) else numeric(float(x))

    def function(x: Any) -> Any:
        return entry(x) if np.ndim(x) == 0 else np.vectorize(entry, otypes=[object])(x)

    function.__name__ = name
    function.__doc__ = f"{name} of an expression, a number or each entry of an array."
    return function


sin, cos, tan = _unary("sin"), _unary("cos"), _unary("tan")
arcsin, arccos = _unary("arcsin"), _unary("arccos")
sqrt, exp, log, tanh, sign = _unary("sqrt"), _unary("exp"), _unary("log"), _unary("tanh"), _unary("sign")


def _arctan2(y: Any, x: Any) -> Any:
    if isinstance(y, Expression):
        return y.arctan2(x)
    return x._arctan2_of(y) if isinstance(x, Expression) else np.arctan2(y, x)


def arctan2(y: Any, x: Any) -> Any:
    """Angle of the point (x, y), entry by entry."""
    return _arctan2(y, x) if np.ndim(y) == np.ndim(x) == 0 else np.vectorize(_arctan2, otypes=[object])(y, x)


def _entrywise(name: str, sentence: str, entry: Callable[[Any, Any], Any]) -> Callable[[Any, Any], Any]:
    def function(a: Any, b: Any) -> Any:
        return entry(a, b) if np.ndim(a) == np.ndim(b) == 0 else np.vectorize(entry, otypes=[object])(a, b)

    function.__name__ = name
    function.__doc__ = sentence
    return function


# NumPy's own comparisons of object arrays want truth values, which expressions do not have
less = _entrywise("less", "1 where a < b, else 0, entry by entry.", lambda a, b: a < b)
less_equal = _entrywise("less_equal", "1 where a <= b, else 0, entry by entry.", lambda a, b: a <= b)
maximum = _entrywise("maximum", "The larger of a and b, entry by entry.", lambda a, b: _core.select(a < b, b, a))
minimum = _entrywise("minimum", "The smaller of a and b, entry by entry.", lambda a, b: _core.select(a < b, a, b))


def where(condition: Any, a: Any, b: Any) -> Any:
    """Choose `a` where the condition holds, else `b`, entry by entry; conditions: ``x < 0``, `less` for arrays."""
    if np.ndim(condition) == np.ndim(a) == np.ndim(b) == 0:
        return _core.select(condition, a, b)
    return np.vectorize(_core.select, otypes=[object])(condition, a, b)


def cross(a: npt.ArrayLike, b: npt.ArrayLike) -> Expressions:
    """Vector product of two 3-vectors."""
    (ax, ay, az), (bx, by, bz) = np.asarray(a, dtype=object), np.asarray(b, dtype=object)
    return np.array([ay * bz - az * by, az * bx - ax * bz, ax * by - ay * bx], dtype=object)


Mode = Literal["forward", "reverse", "cheaper"]


def jacobian(y: Any, x: Any, *, mode: Mode = "cheaper") -> Expressions:
    """Derive every entry of `y` with respect to every entry of `x`.

    Parameters
    ----------
    y : Expression or array
        What is derived.
    x : Expression or array
        Symbols.
    mode : {"cheaper", "forward", "reverse"}
        How the chain rule is run; the default goes forward where there are no more inputs than outputs.

    Returns
    -------
    array of Expression, y.shape + x.shape

    Raises
    ------
    ValueError
        `x` holds something that is no symbol.
    """
    outputs, inputs = np.asarray(y, dtype=object), np.asarray(x, dtype=object)
    flat = np.empty(outputs.size * inputs.size, dtype=object)
    flat[:] = _core.jacobian(list(outputs.ravel()), list(inputs.ravel()), mode)
    return flat.reshape(outputs.shape + inputs.shape)


def gradient(y: Any, x: Any) -> Expressions:
    """Derive one expression, shape of `x`, by one backward sweep."""
    if np.ndim(y) != 0:
        raise ModelError(f"gradient is of one expression, got shape {np.shape(y)}; use jacobian")
    return jacobian(y, x, mode="reverse")


def hessian(y: Any, x: Any) -> Expressions:
    """Second derivatives of one expression, shape x.shape + x.shape."""
    return jacobian(gradient(y, x), x, mode="forward")


def _symmetric_factors(A: Expressions) -> tuple[Expressions, Expressions]:
    """Factor A = L diag(D) L' without square roots and without pivoting."""
    n = len(A)
    L, D = np.full((n, n), 0.0, dtype=object), np.empty(n, dtype=object)
    for j in range(n):
        scaled = L[j, :j] * D[:j]
        D[j] = A[j, j] - scaled @ L[j, :j] if j else A[j, j]
        L[j, j] = 1.0
        for i in range(j + 1, n):
            L[i, j] = (A[i, j] - scaled @ L[i, :j] if j else A[i, j]) / D[j]
    return L, D


def _square(A: Any) -> Expressions:
    matrix = np.asarray(A, dtype=object)
    if matrix.ndim != 2 or matrix.shape[0] != matrix.shape[1]:
        raise ModelError(f"A must be a square matrix, got shape {matrix.shape}")
    return matrix


def solve(A: Any, b: Any) -> Expressions:
    """A^-1 b for a symmetric positive definite A, such as a mass matrix; b is a vector or a matrix."""
    L, D = _symmetric_factors(_square(A))
    x = np.array(b, dtype=object)
    n = len(D)
    if x.ndim not in (1, 2) or len(x) != n:
        raise ModelError(f"b must have {n} rows, got shape {x.shape}")
    for i in range(1, n):
        x[i] = x[i] - L[i, :i] @ x[:i]
    for i in range(n):
        x[i] = x[i] / D[i]
    for i in range(n - 2, -1, -1):
        x[i] = x[i] - L[i + 1 :, i] @ x[i + 1 :]
    return x


def inverse(A: Any) -> Expressions:
    """Inverse of a symmetric positive definite matrix."""
    return solve(A, np.eye(len(_square(A))))


def det(A: Any) -> Any:
    """Return the determinant of a symmetric positive definite matrix."""
    return np.prod(_symmetric_factors(_square(A))[1])
