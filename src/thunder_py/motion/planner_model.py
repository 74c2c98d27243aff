"""From functional principal components to the planner's core: which coordinates, which polynomials."""

from __future__ import annotations

from collections.abc import Sequence
from math import comb
from typing import TYPE_CHECKING

import numpy as np

from .. import _core
from ..checks import Array
from ..errors import ThunderError
from .trial import POSITION, ROTATION

if TYPE_CHECKING:
    from .fpca import FPCA

__all__ = ["bernstein_points", "core_planner", "kind_of"]

#: degrees of freedom and degree of polynomials that the core has room for
_MOST_DOFS, _MOST_DEGREE = 8, 9
#: of the largest variance: components below it are rounding, whose shape means nothing. Those of minimum jerk go down
#: to 1e-15 beside its unlimited quadratics, and without the last ones a jerk at the ends is dear.
_NOISE = 1e-20


def kind_of(dofs: Sequence[str]) -> str:
    """Tell what a motion moves by the names of its coordinates: ``"position"``, ``"pose"`` or ``"joints"``.

    Raises
    ------
    ThunderError
        For parts of a position or orientation, and for them in another order.
    """
    names = tuple(dofs)
    if names == POSITION:
        return "position"
    if names == POSITION + ROTATION:
        return "pose"
    if not names or len(names) > _MOST_DOFS or set(names) & {*POSITION, *ROTATION}:
        raise ThunderError(
            f"a planner needs the coordinates {', '.join(POSITION)}, these and {', '.join(ROTATION)}, or one to "
            f"{_MOST_DOFS} joints, got {', '.join(names) or 'none'}"
        )
    return "joints"


def bernstein_points(powers: Array, breaks: Array) -> Array:
    """Control points (m, degree + 1, ...) of polynomials (degree + 1, m, ...) in powers of tau - breaks[k].

    The highest power comes first, as in `scipy.interpolate.PPoly`.
    """
    p = len(powers) - 1
    steps = np.diff(breaks).reshape(-1, *[1] * (powers.ndim - 2))
    points = np.zeros((powers.shape[1], p + 1, *powers.shape[2:]))
    for j in range(p + 1):
        for i in range(j + 1):
            points[:, j] += comb(j, i) / comb(p, i) * steps**i * powers[p - i]
    return points


def core_planner(fpca: FPCA, *, exact: bool, order: int) -> _core.FunctionalPlanner:
    """Return the core's planner of fitted components.

    Raises
    ------
    ThunderError
        Where the components are too few for the constraints or cannot meet them, not fitted, or of too high a degree.
    """
    mean, components = fpca.mean_coefficients_, fpca.component_coefficients_
    if fpca.basis.degree > _MOST_DEGREE:
        raise ThunderError(f"a planner takes splines up to degree {_MOST_DEGREE}, got {fpca.basis.degree}")
    breaks = fpca.basis.breaks
    together = np.moveaxis(np.concatenate([mean[None], components]), 0, -1)  # (K, d, 1 + n)
    points = np.moveaxis(bernstein_points(np.asarray(fpca.basis.to_ppoly(together).c), breaks), -1, 0)
    variances = fpca.variances_.ravel()
    variances = np.where(variances > _NOISE * variances.max(initial=0.0), variances, 0.0)
    try:
        return _core.FunctionalPlanner(
            breaks,
            np.ascontiguousarray(points[0]),
            np.ascontiguousarray(points[1:]),
            variances,
            fpca.joint,
            fpca.alignment == "path",
            exact,
            order,
        )
    except ValueError as error:
        raise ThunderError(str(error)) from None
