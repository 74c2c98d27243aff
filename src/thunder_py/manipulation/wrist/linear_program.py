"""Linear programs, dense or sparse, by HiGHS."""

from __future__ import annotations

from typing import Any

from scipy.optimize import linprog

from ...checks import Array

__all__ = ["maximise"]

_OPTIONS = {"primal_feasibility_tolerance": 1e-10, "dual_feasibility_tolerance": 1e-10}


def maximise(objective: Array, low: Array, high: Array, A: Any, b: Array, A_ub: Any = None, b_ub: Any = None) -> Any:
    """Return what SciPy found for: most of ``objective @ x``, with ``A x = b``, ``A_ub x <= b_ub``, low <= x <= high.

    Parameters
    ----------
    objective, low, high : (n,) array
    A, A_ub : (m, n) array or sparse array
    b, b_ub : (m,) array
    """
    bounds: Any = list(zip(low.tolist(), high.tolist(), strict=True))
    options: Any = _OPTIONS
    return linprog(-objective, A_ub=A_ub, b_ub=b_ub, A_eq=A, b_eq=b, bounds=bounds, method="highs", options=options)
