"""Motions of movement primitives: weighted basis functions, and samples interpolated with all their derivatives."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property, partial
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from ...checks import Array, numbers
from ...errors import ThunderError
from ...values import Value
from .bases import GaussianBasis

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from scipy.interpolate import PPoly


def at_times(evaluate: Callable[[Array], Array], t: npt.ArrayLike, duration: float, derivative: int) -> Array:
    """Return a derivative (..., d) of a motion at times t (...) [s]; x is constant before 0 and after the duration."""
    if derivative not in (0, 1, 2, 3):
        raise ThunderError(f"derivative must be 0, 1, 2 or 3, got {derivative!r}")
    time = numbers(t, "t")
    value = evaluate(np.clip(time, 0.0, duration))
    outside = ((time < 0.0) | (time > duration)) & (derivative > 0)
    return np.asarray(np.where(outside[..., None], 0.0, value), dtype=np.float64)


@dataclass(frozen=True, eq=False)
class BasisMotion(Value):
    """Motion of given duration as a weighted sum of basis functions.

    Attributes
    ----------
    basis : GaussianBasis
        Functions of tau = t / duration.
    weights : ndarray, shape (n, d)
        Weights in the unit of x.
    duration : float
        [s].
    dofs : tuple of str
        Names of the columns; empty if unknown.
    """

    basis: GaussianBasis
    weights: Array
    duration: float
    dofs: tuple[str, ...] = ()

    def position(self, t: npt.ArrayLike, derivative: int = 0) -> Array:
        """Return x (..., d) or a time derivative up to the third at t (...) [s]; at rest before 0 and after T."""
        T = self.duration
        return at_times(
            lambda time: self.basis.evaluate(time / T, derivative) @ self.weights / T**derivative, t, T, derivative
        )


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
        return at_times(partial(self._polynomial, nu=derivative), t, self.duration, derivative)

    def mean_jerk(self) -> float:
        """Return the mean over time of the norm of the jerk, by trapezoids over the samples."""
        jerk = np.linalg.norm(self.dddx, axis=1)
        return float(np.mean(0.5 * (jerk[1:] + jerk[:-1])))

    @cached_property
    def _polynomial(self) -> PPoly:
        from scipy.interpolate import BPoly, PPoly
        from scipy.linalg import pascal

        h, binomial = np.diff(self.t)[:, None], pascal(4, "lower").astype(np.float64)
        ends = []
        for side, step in ((slice(None, -1), h), (slice(1, None), -h)):
            values = (self.x[side] - self.x[:-1], self.dx[side], self.ddx[side], self.dddx[side])
            scaled = [step**k * value / math.perm(7, k) for k, value in enumerate(values)]
            ends.append(np.einsum("ij,jkd->ikd", binomial, np.stack(scaled)))
        polynomial = PPoly.from_bernstein_basis(BPoly(np.concatenate([ends[0], ends[1][::-1]]), self.t))
        polynomial.c[-1] += self.x[:-1]  # offsets would be lost in the rounding of derivatives
        return polynomial

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
        from ...plotting.panels import draw_curves, label_column, panels

        speed, jerk = (np.linalg.norm(values, axis=1) for values in (self.dx, self.dddx))
        curves = {"x": (self.x, "position"), "speed": (speed, "speed [1/s]"), "jerk": (jerk, "jerk [1/s³]")}
        drawn = panels(axes, list(curves), (6.4, 4.8), sharex=True)
        for name, ax in drawn.items():
            draw_curves(ax, self.t, *curves[name], together=label)
        label_column(drawn)
        return drawn
