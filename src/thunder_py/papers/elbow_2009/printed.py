"""Section 5.1 of Gabiccini et al. (2009), entry by entry in SymPy: as printed, and with G-1 and G-2 corrected."""

from __future__ import annotations

from typing import Any

from ...optional import LazyModule

sympy: Any = LazyModule("sympy", "symbolic")
#: names of the symbols, as in `SymbolicModel.to_sympy`; the paper's g_y points down
SYMBOLS = ("q1", "q2", "dq1", "dq2", "dq_r1", "dq_r2", "ddq_r1", "ddq_r2", "a1", "a2", "g_y")


def printed_symbols() -> tuple[Any, ...]:
    """Return the real symbols of `SYMBOLS`."""
    return tuple(sympy.Symbol(name, real=True) for name in SYMBOLS)


def printed_terms(corrected: bool) -> dict[tuple[str, int, int], Any]:
    """Return the nonzero terms of the regressor of the planar elbow.

    Parameters
    ----------
    corrected : bool
        If True, with G-1 (b3 b8 for b4 b8) and G-2 (b5 of velocities) of docs/errata.md corrected.

    Returns
    -------
    dict of (letter, j, link) to sympy.Matrix
        ``("X", 0, 2)`` is the paper's X_0r^(2) with a dot, 2 x 1; j = 1 is 2 x 3, j = 2 is 2 x 6. Y = X - W + Z.
    """
    return {**_link_1(), **_link_2(corrected)}


def _columns(block: int, used: dict[int, tuple[Any, Any]]) -> Any:
    """Return a block of 1, 3 or 6 columns, zero except for `used`."""
    matrix = sympy.zeros(2, (1, 3, 6)[block])
    for column, (first, second) in used.items():
        matrix[0, column], matrix[1, column] = first, second
    return matrix


def _link_1() -> dict[tuple[str, int, int], Any]:
    q1, _, _, _, _, _, ddq_r1, _, a1, _, g_y = printed_symbols()
    c1, s1 = sympy.cos(q1), sympy.sin(q1)
    terms = {("W", j, 1): _columns(j, {}) for j in range(3)}
    return terms | {
        ("X", 0, 1): _columns(0, {0: (a1**2 * ddq_r1, 0)}),
        ("X", 1, 1): _columns(1, {0: (2 * a1 * ddq_r1, 0)}),
        ("X", 2, 1): _columns(2, {5: (ddq_r1, 0)}),
        ("Z", 0, 1): _columns(0, {0: (a1 * c1 * g_y, 0)}),
        ("Z", 1, 1): _columns(1, {0: (c1 * g_y, 0), 1: (-g_y * s1, 0)}),
    }


def _link_2(corrected: bool) -> dict[tuple[str, int, int], Any]:
    q1, q2, v1, v2, r1, r2, w1, w2, a1, a2, g_y = printed_symbols()
    c1, c2, s2, c12, s12 = sympy.cos(q1), sympy.cos(q2), sympy.sin(q2), sympy.cos(q1 + q2), sympy.sin(q1 + q2)
    b1, b2, b3, b4 = r2 * v1 + r1 * v2, r2 * v1 + (r1 + r2) * v2, 2 * w1 + w2, w1 + w2
    b5 = (2 * r1 + r2) * v1 + r1 * v2 if corrected else b3 * v1 + w1 * v2  # G-2
    b6, b7, b8, b9, b10 = a1 * a2 * s2, r2 * v1 + r1 * v2, a1 * a2 * c2, a1 * c2, a1 * s2
    before_b8 = b3 if corrected else b4  # G-1
    half = sympy.Rational(1, 2)
    first = -b6 * b7 - b6 * r2 * v2 + a2**2 * b4 + a1**2 * w1 + before_b8 * b8
    return {
        ("X", 0, 2): _columns(0, {0: (first, -half * b6 * b7 + b8 * w1 + a2**2 * b4)}),
        ("X", 1, 2): _columns(
            1,
            {
                0: (2 * a2 * b4 + b9 * b3 - b10 * b2, b9 * w1 - half * b10 * b1 + 2 * a2 * b4),
                1: (-b9 * b2 - b10 * b3, -half * b9 * b1 - b10 * w1),
            },
        ),
        ("X", 2, 2): _columns(2, {5: (b4, b4)}),
        ("W", 0, 2): _columns(0, {0: (0, -half * a1 * a2 * s2 * b5)}),
        ("W", 1, 2): _columns(1, {0: (0, -half * a1 * s2 * b5), 1: (0, -half * a1 * c2 * b5)}),
        ("W", 2, 2): _columns(2, {}),
        ("Z", 0, 2): _columns(0, {0: ((a1 * c1 + a2 * c12) * g_y, a2 * c12 * g_y)}),
        ("Z", 1, 2): _columns(1, {0: (c12 * g_y, c12 * g_y), 1: (-g_y * s12, -g_y * s12)}),
    }
