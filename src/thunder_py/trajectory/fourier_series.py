"""Finite Fourier series in every joint."""

from __future__ import annotations

import numpy.typing as npt

from .. import _core
from ..checks import Array, array, positive
from ..errors import ThunderError
from ..reference import _JointSource


class FourierSeries(_JointSource, _core.FourierSeries):
    """Finite Fourier series in every joint, the excitation trajectory of identification.

    ``q_i = q0_i + sum_k a_ik / (w k) sin(w k t) - b_ik / (w k) cos(w k t)`` with k = 1 ... N and
    ``w = 2 pi fundamental``. It starts at ``q0 - sum_k b_k / (w k)`` with velocity ``sum_k a_k``. It is periodic and
    continues after its `duration`, which is one period.

    Parameters
    ----------
    a, b : (n, N) array_like
        Velocity amplitudes of the sines and cosines of position [rad/s or m/s], a column for each harmonic.
    q0 : (n,) array_like
        Mean joint positions [rad or m].
    fundamental : float
        Frequency of the first harmonic [Hz].

    Raises
    ------
    ValueError
        If shapes do not fit, a value is not finite, there is no harmonic, or `fundamental` is not positive.

    Notes
    -----
    Swevers et al. (1997).

    Examples
    --------
    >>> from thunder_py.trajectory import FourierSeries
    >>> motion = FourierSeries(a=[[0.5, 0.2]], b=[[0.1, -0.3]], q0=[0.4], fundamental=0.2)
    >>> motion.duration, motion(0.0).dq.round(3).tolist()
    (5.0, [0.7])
    >>> motion([1.0, 6.0]).q.round(3).tolist()
    [[0.704], [0.704]]
    """

    def __init__(self, a: npt.ArrayLike, b: npt.ArrayLike, q0: npt.ArrayLike, fundamental: float) -> None:
        self.a: Array = array(a, (None, None), "a")
        if self.a.size == 0:
            raise ThunderError(f"a must have at least one joint and one harmonic, got shape {self.a.shape}")
        self.b: Array = array(b, self.a.shape, "b")
        self.q0: Array = array(q0, self.a.shape[:1], "q0")
        self.fundamental = positive(fundamental, "fundamental")
        self.duration = 1.0 / self.fundamental
        super().__init__(self.a, self.b, self.q0, self.fundamental)
