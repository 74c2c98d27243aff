"""Finite Fourier series in every joint."""

from __future__ import annotations

import numpy.typing as npt

from .. import _core
from ..checks import Array, array
from ..reference import _JointSource

__all__ = ["FourierSeries"]


class FourierSeries(_JointSource, _core.FourierSeries):
    """A finite Fourier series in every joint, as identification uses it (Swevers et al., 1997).

    ``q_i = q0_i + sum_k a_ik / (w k) sin(w k t) - b_ik / (w k) cos(w k t)`` with k = 1 ... N and
    ``w = 2 pi fundamental``, so `a` and `b` are amplitudes of velocity. It starts at ``q0 - sum_k b_k / (w k)`` with
    velocity ``sum_k a_k``, is periodic and goes on past its `duration`, which is one period.

    Parameters
    ----------
    a, b : (n, N) array_like
        Velocity amplitudes of sines and cosines of position [rad/s or m/s], a column for each harmonic.
    q0 : (n,) array_like
        What the joints move about [rad or m].
    fundamental : float
        Frequency of the first harmonic [Hz].

    Raises
    ------
    ValueError
        On shapes that do not fit, NaN, no harmonic or a fundamental that is not positive.
    """

    def __init__(self, a: npt.ArrayLike, b: npt.ArrayLike, q0: npt.ArrayLike, fundamental: float) -> None:
        self.a: Array = array(a, (None, None), "a")
        if self.a.size == 0:
            raise ValueError(f"a must have at least one joint and one harmonic, got shape {self.a.shape}")
        self.b: Array = array(b, self.a.shape, "b")
        self.q0: Array = array(q0, self.a.shape[:1], "q0")
        self.fundamental = float(array(fundamental, (), "fundamental"))
        if self.fundamental <= 0.0:
            raise ValueError(f"fundamental must be positive, got {self.fundamental:g}")
        self.duration = 1.0 / self.fundamental
        super().__init__(self.a, self.b, self.q0, self.fundamental)
