"""Elementary functions of expressions and arrays, derivatives, and linear algebra of small symbolic matrices."""

from __future__ import annotations

from collections.abc import Callable
from itertools import combinations
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from .. import _core
from ..checks import one_of
from ..errors import ThunderError

Expression = _core.Expression
Expressions = npt.NDArray[np.object_]


def _each(entry: Callable[..., Any], *values: Any) -> Any:
    """Evaluate a function of scalars for scalars, or entry by entry for arrays."""
    return np.vectorize(entry, otypes=[object])(*values) if any(map(np.ndim, values)) else entry(*values)


def _unary(name: str) -> Callable[[Any], Any]:
    numeric = getattr(np, name)

    def entry(x: Any) -> Any:
        return getattr(x, name)() if isinstance(x, Expression) else numeric(float(x))

    def function(x: Any) -> Any:
        return _each(entry, x)

    function.__name__ = name
    function.__doc__ = f"""Return {name} of an expression, a number or each entry of an array.

    Parameters
    ----------
    x : Expression, float or array of such

    Returns
    -------
    Expression, float or array

    Examples
    --------
    >>> import thunder_py as th
    >>> from thunder_py.symbolic import {name}
    >>> model = th.Robot.load("elbow").symbolic()
    >>> f = model.function("f", {name}(model.q))
    >>> f([0.5, 0.25]).round(6).tolist()
    {numeric([0.5, 0.25]).round(6).tolist()}
    """
    return function


sin, cos, tan = _unary("sin"), _unary("cos"), _unary("tan")
arcsin, arccos = _unary("arcsin"), _unary("arccos")
sqrt, exp, log, tanh, sign = _unary("sqrt"), _unary("exp"), _unary("log"), _unary("tanh"), _unary("sign")


def _arctan2(y: Any, x: Any) -> Any:
    if isinstance(y, Expression):
        return y.arctan2(x)
    return x._arctan2_of(y) if isinstance(x, Expression) else np.arctan2(y, x)


def arctan2(y: Any, x: Any) -> Any:
    """Return the angle of the point (x, y) [rad], entry by entry.

    Parameters
    ----------
    y, x : Expression, float or array of such
        Coordinates of the point; they are broadcast.

    Returns
    -------
    Expression, float or array

    Examples
    --------
    >>> import thunder_py as th
    >>> from thunder_py.symbolic import arctan2, cos, sin
    >>> model = th.Robot.load("elbow").symbolic()
    >>> f = model.function("f", arctan2(sin(model.q), cos(model.q)))
    >>> f([0.5, -2.0]).round(6).tolist()
    [0.5, -2.0]
    """
    return _each(_arctan2, y, x)


def _entrywise(name: str, sentence: str, entry: Callable[[Any, Any], Any]) -> Callable[[Any, Any], Any]:
    def function(a: Any, b: Any) -> Any:
        return _each(entry, a, b)

    function.__name__ = name
    function.__doc__ = f"""{sentence}

    Parameters
    ----------
    a, b : Expression, float or array of such
        Values where the condition holds and where it does not.

    Returns
    -------
    Expression, float or array

    Examples
    --------
    >>> import thunder_py as th
    >>> from thunder_py.symbolic import {name}
    >>> model = th.Robot.load("elbow").symbolic()
    >>> f = model.function("f", {name}(model.q, 0.5))
    >>> f([0.25, 0.75]).tolist()
    {getattr(np, name)([0.25, 0.75], 0.5).astype(float).tolist()}
    """
    return function


# NumPy's comparisons of object arrays need truth values, which expressions do not have
less = _entrywise("less", "Return 1 where a < b, otherwise 0, entry by entry.", lambda a, b: a < b)
less_equal = _entrywise("less_equal", "Return 1 where a <= b, otherwise 0, entry by entry.", lambda a, b: a <= b)
maximum = _entrywise("maximum", "Return the larger of a and b, entry by entry.", lambda a, b: _core.select(a < b, b, a))
minimum = _entrywise(
    "minimum", "Return the smaller of a and b, entry by entry.", lambda a, b: _core.select(a < b, a, b)
)


def where(condition: Any, a: Any, b: Any) -> Any:
    """Select `a` where the condition holds, otherwise `b`, entry by entry.

    Parameters
    ----------
    condition : Expression or array
        Comparison such as ``x < 0``, or `less` for arrays.
    a, b : Expression, float or array of such
        Values where the condition holds and where it does not.

    Returns
    -------
    Expression or array

    Examples
    --------
    >>> import thunder_py as th
    >>> from thunder_py.symbolic import less, where
    >>> model = th.Robot.load("elbow").symbolic()
    >>> f = model.function("f", where(less(model.q, 0.0), -model.q, model.q))
    >>> f([-0.5, 0.25]).tolist()
    [0.5, 0.25]
    """
    return _each(_core.select, condition, a, b)


def cross(a: npt.ArrayLike, b: npt.ArrayLike) -> Expressions:
    """Return the vector product of two 3-vectors of expressions or numbers.

    Parameters
    ----------
    a, b : (3,) array_like
        Factors.

    Returns
    -------
    (3,) array of Expression

    Examples
    --------
    >>> import thunder_py as th
    >>> from thunder_py.symbolic import cross
    >>> model = th.Robot.load("elbow").symbolic()
    >>> v = model.symbol("v", 3)
    >>> model.function("f", cross([0, 0, 1], v))([1, 2, 3]).tolist()
    [-2.0, 1.0, 0.0]
    """
    (ax, ay, az), (bx, by, bz) = np.asarray(a, dtype=object), np.asarray(b, dtype=object)
    return np.array([ay * bz - az * by, az * bx - ax * bz, ax * by - ay * bx], dtype=object)


Mode = Literal["forward", "reverse", "cheaper"]


def jacobian(y: Any, x: Any, *, mode: Mode = "cheaper") -> Expressions:
    """Differentiate every entry of `y` with respect to every entry of `x`.

    Parameters
    ----------
    y : Expression or array
        Expressions to differentiate.
    x : Expression or array
        Symbols.
    mode : {"cheaper", "forward", "reverse"}
        Direction of the chain rule; the default is forward if there are at most as many inputs as outputs.

    Returns
    -------
    array of Expression, y.shape + x.shape

    Raises
    ------
    ValueError
        If an entry of `x` is not a symbol.

    Examples
    --------
    >>> import numpy as np
    >>> import thunder_py as th
    >>> from thunder_py.symbolic import jacobian
    >>> robot = th.Robot.load("elbow")
    >>> model = robot.symbolic()
    >>> stiffness = model.function("stiffness", jacobian(model.gravity_vector(), model.q))
    >>> stiffness([0.1, 0.2]).round(3).tolist()
    [[-3.639, -0.959], [-0.959, -0.959]]
    """
    outputs, inputs = np.asarray(y, dtype=object), np.asarray(x, dtype=object)
    flat = np.empty(outputs.size * inputs.size, dtype=object)
    flat[:] = _core.jacobian(list(outputs.ravel()), list(inputs.ravel()), mode)
    return flat.reshape(outputs.shape + inputs.shape)


def gradient(y: Any, x: Any) -> Expressions:
    """Differentiate one expression in reverse mode.

    Parameters
    ----------
    y : Expression
        Expression to differentiate.
    x : Expression or array
        Symbols.

    Returns
    -------
    array of Expression, shape of x

    Examples
    --------
    >>> import numpy as np
    >>> import thunder_py as th
    >>> from thunder_py.symbolic import gradient
    >>> robot = th.Robot.load("elbow")
    >>> model = robot.symbolic()
    >>> G = model.function("G", gradient(model.potential_energy(), model.q))
    >>> np.allclose(G([0.1, 0.2]), robot.gravity_vector([0.1, 0.2]))
    True
    """
    if np.ndim(y) != 0:
        raise ThunderError(f"y must be one expression, got shape {np.shape(y)}; use jacobian for arrays")
    return jacobian(y, x, mode="reverse")


def hessian(y: Any, x: Any) -> Expressions:
    """Differentiate one expression twice.

    Parameters
    ----------
    y : Expression
        Expression to differentiate.
    x : Expression or array
        Symbols.

    Returns
    -------
    array of Expression, shape x.shape + x.shape

    Examples
    --------
    >>> import numpy as np
    >>> import thunder_py as th
    >>> from thunder_py.symbolic import hessian
    >>> robot = th.Robot.load("elbow")
    >>> model = robot.symbolic()
    >>> M = model.function("M", hessian(model.kinetic_energy(), model.dq))
    >>> np.allclose(M([0.1, 0.2]), robot.mass_matrix([0.1, 0.2]))
    True
    """
    return jacobian(gradient(y, x), x, mode="forward")


Assumption = Literal["gen", "pos"]


def _constant(x: Any) -> bool:
    return not isinstance(x, Expression) or x.is_constant


def is_zero(x: Any) -> bool:
    """Return whether an entry is the number zero."""
    return _constant(x) and float(x) == 0.0


def _larger_first(a: Expressions, b: Expressions, k: int) -> tuple[Expressions, Expressions]:
    """Order two rows by the size of their entry k: now if both are numbers or one is zero, otherwise at evaluation.

    One row changes its sign when rows are exchanged, which preserves the determinant.
    """
    if is_zero(b[k]):
        return a, b
    if is_zero(a[k]):
        return b, -a
    if _constant(a[k]) and _constant(b[k]):
        return (b, -a) if abs(float(a[k])) < abs(float(b[k])) else (a, b)
    swap = abs(a[k]) < abs(b[k])
    return where(swap, b, a), where(swap, -a, b)


def _triangle(A: Expressions, b: Expressions, *, guarded: bool = False) -> Expressions:
    """Return [A b] after Gaussian elimination with partial pivoting; `guarded` replaces zero pivots by 1."""
    n = len(A)
    rows = np.concatenate([A, b], axis=1)
    for k in range(n):
        for i in range(k + 1, n):
            rows[k, k:], rows[i, k:] = _larger_first(rows[k, k:].copy(), rows[i, k:].copy(), 0)
        pivot = rows[k, k]
        if guarded and not _constant(pivot):
            pivot = where(less_equal(abs(pivot), 0.0), 1.0, pivot)
        for i in range(k + 1, n):
            if not is_zero(rows[i, k]):
                rows[i, k + 1 :] = rows[i, k + 1 :] - rows[i, k] / pivot * rows[k, k + 1 :]
                rows[i, k] = 0.0
    return rows


def _check_pivots(A: Expressions, pivots: Expressions) -> None:
    """Refuse a matrix that is singular for all values of its symbols."""
    for k, pivot in enumerate(pivots):
        sizes = [abs(float(x)) for x in A[:, k] if _constant(x)]
        rounding = len(A) * np.finfo(np.float64).eps * max(sizes) if len(sizes) == len(A) else 0.0
        if _constant(pivot) and abs(float(pivot)) <= rounding:
            raise ThunderError(
                f"A must be invertible, got a matrix that is singular for all values of its symbols: column {k + 1} "
                "depends on those before it"
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
        raise ThunderError(f"A must be a square matrix, got shape {matrix.shape}")
    return matrix


def solve(A: Any, b: Any, *, assume_a: Assumption = "gen") -> Expressions:
    """Solve A x = b.

    Parameters
    ----------
    A : (n, n) array
        Matrix of expressions and numbers.
    b : (n,) or (n, k) array
        Right-hand sides.
    assume_a : {"gen", "pos"}
        As in `scipy.linalg.solve`. ``"gen"``: any invertible matrix, by elimination with partial pivoting; the pivots
        are chosen at evaluation. ``"pos"``: a symmetric positive definite matrix, such as a mass matrix, by L D L'
        without pivoting, with about a third of the operations; wrong for other matrices.

    Returns
    -------
    array of Expression, shape of b

    Raises
    ------
    ValueError
        If a shape is wrong, or `A` is singular for all values of its symbols. If it is singular for some values only,
        the results are not finite there.

    Examples
    --------
    >>> import numpy as np
    >>> import thunder_py as th
    >>> from thunder_py.symbolic import solve
    >>> robot = th.Robot.load("elbow")
    >>> model = robot.symbolic()
    >>> ddq = solve(model.mass_matrix(), model.tau - model.gravity_vector(), assume_a="pos")
    >>> f = model.function("ddq", ddq, ["q", "tau"])
    >>> np.allclose(f([0.1, 0.2], [1, 2]), robot.forward_dynamics([0.1, 0.2], [0, 0], [1, 2]))
    True
    """
    matrix, positive = _square(A), one_of(assume_a, ("gen", "pos"), "assume_a") == "pos"
    x = np.array(b, dtype=object)
    n = len(matrix)
    if x.ndim not in (1, 2) or len(x) != n:
        raise ThunderError(f"b must have {n} rows, got shape {x.shape}")
    return _solve_positive(matrix, x) if positive else _solve_general(matrix, x)


def _solve_general(A: Expressions, b: Expressions) -> Expressions:
    n = len(A)
    rows = _triangle(A, b.reshape(n, -1))
    pivots = rows.diagonal()
    _check_pivots(A, pivots)
    x = rows[:, n:]
    for i in range(n - 1, -1, -1):
        for j in range(i + 1, n):
            if not is_zero(rows[i, j]):
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
    """Return the inverse of a square matrix.

    Parameters
    ----------
    A : (n, n) array
        Matrix of expressions and numbers.
    assume_a : {"gen", "pos"}
        See `solve`.

    Returns
    -------
    (n, n) array of Expression

    Examples
    --------
    >>> import numpy as np
    >>> import thunder_py as th
    >>> from thunder_py.symbolic import inverse
    >>> robot = th.Robot.load("elbow")
    >>> model = robot.symbolic()
    >>> f = model.function("inverse", inverse(model.mass_matrix(), assume_a="pos"))
    >>> np.allclose(f([0.1, 0.2]) @ robot.mass_matrix([0.1, 0.2]), np.eye(2))
    True
    """
    return solve(A, np.eye(len(_square(A))), assume_a=assume_a)


#: largest matrix whose determinant is expanded: n 2^(n - 1) products
_EXPANDED = 8


def det(A: Any, *, assume_a: Assumption = "gen") -> Any:
    """Return the determinant of a square matrix.

    Parameters
    ----------
    A : (n, n) array
        Matrix of expressions and numbers.
    assume_a : {"gen", "pos"}
        See `solve`. Up to n = 8 a general matrix is expanded by minors, without divisions: derivatives are correct
        also where it is singular.

    Returns
    -------
    Expression

    Examples
    --------
    >>> import numpy as np
    >>> import thunder_py as th
    >>> from thunder_py.symbolic import det
    >>> robot = th.Robot.load("elbow")
    >>> model = robot.symbolic()
    >>> f = model.function("det", det(model.mass_matrix(), assume_a="pos"))
    >>> np.allclose(f([0.1, 0.2]), np.linalg.det(robot.mass_matrix([0.1, 0.2])))
    True
    """
    matrix = _square(A)
    if one_of(assume_a, ("gen", "pos"), "assume_a") == "pos":
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
