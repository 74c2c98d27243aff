"""Functions of expressions, entry by entry on arrays, and small linear algebra that works on object arrays."""

from __future__ import annotations

from collections.abc import Callable
from itertools import combinations
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


Assumption = Literal["gen", "pos"]


def _constant(x: Any) -> bool:
    return not isinstance(x, Expression) or x.is_constant


def _zero(x: Any) -> bool:
    return _constant(x) and float(x) == 0.0


def _larger_first(a: Expressions, b: Expressions, k: int) -> tuple[Expressions, Expressions]:
    """Order two rows by the size of their entry k: now if both are numbers or one is zero, else at evaluation.

    One row changes its sign where they change places, so that the determinant stays as it is.
    """
    if _zero(b[k]):
        return a, b
    if _zero(a[k]):
        return b, -a
    if _constant(a[k]) and _constant(b[k]):
        return (b, -a) if abs(float(a[k])) < abs(float(b[k])) else (a, b)
    swap = abs(a[k]) < abs(b[k])
    return where(swap, b, a), where(swap, -a, b)


def _triangle(A: Expressions, b: Expressions, *, guarded: bool = False) -> Expressions:
    """Return [A b] after Gaussian elimination with partial pivoting; `guarded` divides by 1 where a pivot is zero."""
    n = len(A)
    rows = np.concatenate([A, b], axis=1)
    for k in range(n):
        for i in range(k + 1, n):
            rows[k, k:], rows[i, k:] = _larger_first(rows[k, k:].copy(), rows[i, k:].copy(), 0)
        pivot = rows[k, k]
        if guarded and not _constant(pivot):
            pivot = where(less_equal(abs(pivot), 0.0), 1.0, pivot)
        for i in range(k + 1, n):
            if not _zero(rows[i, k]):
                rows[i, k + 1 :] = rows[i, k + 1 :] - rows[i, k] / pivot * rows[k, k + 1 :]
                rows[i, k] = 0.0
    return rows


def _check_pivots(A: Expressions, pivots: Expressions) -> None:
    """Refuse a matrix that is singular whatever its symbols are."""
    for k, pivot in enumerate(pivots):
        sizes = [abs(float(x)) for x in A[:, k] if _constant(x)]
        rounding = len(A) * np.finfo(np.float64).eps * max(sizes) if len(sizes) == len(A) else 0.0
        if _constant(pivot) and abs(float(pivot)) <= rounding:
            raise ModelError(
                f"A must be invertible, it is singular whatever its symbols are: column {k + 1} depends on those "
                f"before it"
            )


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


def _positive(assume_a: str) -> bool:
    if assume_a not in ("gen", "pos"):
        raise ModelError(f"assume_a must be 'gen' or 'pos', got {assume_a!r}")
    return assume_a == "pos"


def solve(A: Any, b: Any, *, assume_a: Assumption = "gen") -> Expressions:
    """Solve A x = b.

    Parameters
    ----------
    A : (n, n) array
        Of expressions and numbers.
    b : (n,) or (n, k) array
        Right-hand sides.
    assume_a : {"gen", "pos"}
        As in `scipy.linalg.solve`: any invertible matrix, by elimination with partial pivoting, whose choices are
        recorded and made when the result is evaluated; or a symmetric positive definite one, such as a mass matrix,
        by L D L' without pivoting, which takes about a third of the operations and is wrong for other matrices.

    Returns
    -------
    array of Expression, shape of b

    Raises
    ------
    ValueError
        Naming what does not fit, or if `A` is singular whatever its symbols are. Where it is singular for some values
        only, the results are not finite there.
    """
    matrix, positive = _square(A), _positive(assume_a)
    x = np.array(b, dtype=object)
    n = len(matrix)
    if x.ndim not in (1, 2) or len(x) != n:
        raise ModelError(f"b must have {n} rows, got shape {x.shape}")
    return _solve_positive(matrix, x) if positive else _solve_general(matrix, x)


def _solve_general(A: Expressions, b: Expressions) -> Expressions:
    n = len(A)
    rows = _triangle(A, b.reshape(n, -1))
    pivots = rows.diagonal()
    _check_pivots(A, pivots)
    x = rows[:, n:]
    for i in range(n - 1, -1, -1):
        for j in range(i + 1, n):
            if not _zero(rows[i, j]):
                x[i] = x[i] - rows[i, j] * x[j]
        x[i] = x[i] / pivots[i]
    return x.reshape(b.shape)


def _solve_positive(A: Expressions, x: Expressions) -> Expressions:
    L, D = _symmetric_factors(A)
    n = len(D)
    for i in range(1, n):
        x[i] = x[i] - L[i, :i] @ x[:i]
    for i in range(n):
        x[i] = x[i] / D[i]
    for i in range(n - 2, -1, -1):
        x[i] = x[i] - L[i + 1 :, i] @ x[i + 1 :]
    return x


def inverse(A: Any, *, assume_a: Assumption = "gen") -> Expressions:
    """Inverse of a square matrix; see `solve`."""
    return solve(A, np.eye(len(_square(A))), assume_a=assume_a)


#: largest matrix whose determinant is expanded: n 2^(n - 1) products
_EXPANDED = 8


def det(A: Any, *, assume_a: Assumption = "gen") -> Any:
    """Return the determinant of a square matrix.

    Parameters
    ----------
    A : (n, n) array
        Of expressions and numbers.
    assume_a : {"gen", "pos"}
        See `solve`. Up to n = 8 a general matrix is expanded by minors, without divisions: its derivatives are right
        where it is singular too.
    """
    matrix = _square(A)
    if _positive(assume_a):
        return np.prod(_symmetric_factors(matrix)[1])
    n = len(matrix)
    if n > _EXPANDED:
        return np.prod(_triangle(matrix, matrix[:, :0], guarded=True).diagonal())
    minors: dict[tuple[int, ...], Any] = {(): 1.0}  # of the last rows, by their columns
    for k in range(1, n + 1):
        minors = {
            columns: sum(
                (-1.0) ** j * matrix[n - k, column] * minors[columns[:j] + columns[j + 1 :]]
                for j, column in enumerate(columns)
            )
            for columns in combinations(range(n), k)
        }
    return minors[tuple(range(n))]
