"""Checks of motions: path length, speed and acceleration beside those of others; fits that miss motions."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from math import inf
from typing import NamedTuple

import numpy as np

from ..checks import Array
from ..errors import ThunderWarning, outer_level

_QUANTITIES = ("path length", "peak speed", "peak acceleration")
#: largest path length, peak speed and peak acceleration of a motion relative to minimum jerk between the same states
MINIMUM_JERK_RATIOS = (1.5, 1.9, 10.0)
#: the same relative to the longest, fastest and most accelerated training motion: other units or another time scale
TRAINING_RATIOS = (10.0, 10.0, 10.0)

#: largest RMS distance of functions from motions without warning, relative to the RMS variation within the motions
_MISSED = 0.3
#: square of rounding errors, relative to that of coordinates
_ROUNDING = 1e-20


class Excess(NamedTuple):
    """Quantity of a motion that exceeds the same one of comparable motions.

    Attributes
    ----------
    quantity : str
        ``"path length"``, ``"peak speed"`` or ``"peak acceleration"``.
    value : float
        Its value.
    unit : str
        Unit of the value, such as ``"m/s"``.
    ratio, limit : float
        Ratio to the comparable motions, and the largest one without excess.
    reference : str
        The comparable motions.

    Examples
    --------
    >>> import warnings
    >>> from thunder_py.motion import FPCA, HumanLikePlanner
    >>> from thunder_py.recordings.synthetic import minimum_jerk_reaches
    >>> planner = HumanLikePlanner(FPCA(shrinkage=0.1).fit(minimum_jerk_reaches(20, seed=1)))
    >>> with warnings.catch_warnings():
    ...     warnings.simplefilter("ignore")
    ...     plan = planner.plan([0.0, 0.0, 0.0], [300.0, 0.0, 0.0], duration=1.0)  # mm
    >>> excess = plan.excess[0]
    >>> excess.quantity, excess.reference, round(excess.value)
    ('path length', 'the training motions', 300)
    """

    quantity: str
    value: float
    unit: str
    ratio: float
    limit: float
    reference: str

    def __str__(self) -> str:
        return (
            f"{self.quantity} of {self.value:.3g} {self.unit}, {self.ratio:.3g} times that of {self.reference} "
            f"(limit {self.limit:g})"
        )


def travel(dx: Array, ddx: Array, duration: float | Array, groups: Sequence[Sequence[int]]) -> Array:
    """Return path length, peak speed and peak acceleration by group of coordinates of one unit.

    Parameters
    ----------
    dx, ddx : (..., T, d) array
        Velocities and accelerations at times evenly spaced from start to end.
    duration : float or (...) array
        [s].
    groups : sequence of sequences of int
        Coordinates of each group.

    Returns
    -------
    (..., 3, G) array
    """
    speed, acceleration = (
        np.stack([np.linalg.norm(values[..., group], axis=-1) for group in groups], axis=-1) for values in (dx, ddx)
    )
    mean = 0.5 * (speed[..., 1:, :] + speed[..., :-1, :]).mean(axis=-2)
    length = mean * np.asarray(duration)[..., None]
    return np.stack([length, speed.max(axis=-2), acceleration.max(axis=-2)], axis=-2)


def excesses(
    size: Array, reference: Array, units: Sequence[str], name: str, ratios: Sequence[float] = MINIMUM_JERK_RATIOS
) -> tuple[Excess, ...]:
    """Return what of a motion exceeds comparable motions.

    Parameters
    ----------
    size, reference : (3, G) array
        Path length, peak speed and peak acceleration as from `travel`; NaN in the reference is unknown.
    units : sequence of str
        Unit of each group.
    name : str
        The comparable motions.
    ratios : sequence of float
        Largest ratios of the three.

    Returns
    -------
    tuple of Excess
    """
    found, rows = [], zip(_QUANTITIES, ("", "/s", "/s^2"), ratios, size.tolist(), reference.tolist(), strict=True)
    for quantity, per, limit, values, others in rows:
        for unit, value, other in zip(units, values, others, strict=True):
            if value > limit * other:
                found.append(Excess(quantity, value, unit + per, value / other if other else inf, limit, name))
    return tuple(found)


def warn_missed(missed: float, fitted: Array, count: int, dofs: Sequence[str], more: str) -> None:
    """Warn of functions that miss much of motions, as of many movements in a row.

    Parameters
    ----------
    missed : float
        Mean squared distance of the functions from the motions.
    fitted : (R, T, d) array
        The functions at equal times, coordinates of one unit.
    count : int
        Number of functions.
    dofs : sequence of str
        Names of the coordinates.
    more : str
        Argument that sets the number of functions.
    """
    whole = missed + float(fitted.var(axis=1).mean(axis=0).sum())
    if missed > max(_MISSED**2 * whole, _ROUNDING * float((fitted**2).max())):
        text = f"functions miss {np.sqrt(missed / whole):.0%} of the variation of {', '.join(dofs)} within the motions"
        cause = f"(RMS): noise, strong smoothing, or motions too long for {count} functions"
        remedy = f"split motions (recordings.split_reaches), or fit more functions, {more}"
        warnings.warn(f"{text} {cause}; {remedy}", ThunderWarning, stacklevel=outer_level())
