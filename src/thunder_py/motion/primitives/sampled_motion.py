"""Sampled motions of movement primitives, interpolated with all their derivatives."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from ...checks import Array, numbers
from ...errors import ThunderError

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from scipy.interpolate import PPoly


def _hermite() -> Array:
    """Return the matrix from (x, x', x'', x''') at 0 and at 1 to the coefficients of 1, u, ..., u^7."""
    powers = np.arange(8)
    ends = np.zeros((8, 8))
    for derivative in range(4):
        falling = np.prod([powers - j for j in range(derivative)], axis=0) if derivative else np.ones(8)
        ends[derivative, derivative] = falling[derivative]
        ends[4 + derivative] = falling
    inverse = np.linalg.inv(ends)
    return np.asarray(np.round(12.0 * inverse) / 12.0)


@dataclass(frozen=True, eq=False, repr=False)
class SampledMotion:
    """Sampled motion of a movement primitive, interpolated by polynomials of degree 7 that match all derivatives.

    Attributes
    ----------
    t : (k,) array
        Times from 0, evenly spaced [s].
    x, dx, ddx, dddx : (k, d) array
        Position, velocity, acceleration and jerk. Derivatives are evaluated from the equations, without differences.
    """

    t: Array
    x: Array
    dx: Array
    ddx: Array
    dddx: Array

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.x.shape[1]} coordinates, {self.duration:g} s)"

    @property
    def duration(self) -> float:
        """Duration [s]."""
        return float(self.t[-1])

    def position(self, t: npt.ArrayLike, derivative: int = 0) -> Array:
        """Return x or a derivative of it.

        Parameters
        ----------
        t : array_like, shape (...)
            Times [s]. Before 0 and after `duration`, x is constant.
        derivative : int
            Order of the derivative, 0 to 3.

        Returns
        -------
        ndarray, shape (..., d)
            In the unit of x, per s^derivative.
        """
        if derivative not in (0, 1, 2, 3):
            raise ThunderError(f"derivative must be 0, 1, 2 or 3, got {derivative!r}")
        time = numbers(t, "t")
        value: Array = self._polynomial(np.clip(time, 0.0, self.duration), nu=derivative)
        outside = (time < 0.0) | (time > self.duration)
        return np.where(outside[..., None], 0.0, value) if derivative else value

    def mean_jerk(self) -> float:
        """Return the mean over time of the norm of the jerk, by trapezoids over the samples."""
        jerk = np.linalg.norm(self.dddx, axis=1)
        return float(np.mean(0.5 * (jerk[1:] + jerk[:-1])))

    @cached_property
    def _polynomial(self) -> PPoly:
        from scipy.interpolate import PPoly

        h = np.diff(self.t)[:, None]
        values = [self.x, self.dx, self.ddx, self.dddx]
        ends = [values[k][side] * h**k for side in (slice(None, -1), slice(1, None)) for k in range(4)]
        base, ends[0], ends[4] = ends[0], np.zeros_like(ends[0]), ends[4] - ends[0]
        coefficients = np.einsum("ij,jkd->ikd", _hermite(), np.stack(ends)) / h ** np.arange(8)[:, None, None]
        coefficients[0] += base
        return PPoly(coefficients[::-1], self.t)

    def plot(self, *, axes: Mapping[str, Axes] | None = None, label: str | None = None) -> dict[str, Axes]:
        """Draw position, speed and jerk over time.

        Parameters
        ----------
        axes : mapping of str to Axes, optional
            Panels to draw, of ``"x"``, ``"speed"`` and ``"jerk"``; default all, in a new figure.
        label : str, optional
            Label in legends.

        Returns
        -------
        dict of str to Axes
            The panels drawn.
        """
        from .plot import plot_sampled_motion

        return plot_sampled_motion(self, axes=axes, label=label)
