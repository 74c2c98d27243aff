"""Result of the optimal switching: switches of the motor, speed, co-states."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from ...checks import Array, real
from ...errors import ThunderError
from ...values import Value
from .model import WristOscillator

if TYPE_CHECKING:
    from matplotlib.axes import Axes


@dataclass(frozen=True, kw_only=True, eq=False)
class WristThrow(Value):
    """Bang-bang control from rest to q(T) = 0 with the rate `speed`.

    Attributes
    ----------
    oscillator : WristOscillator
        Linear model of the wrist.
    T : float
        Time of release [s].
    switches : (n,) array
        Times of the switches of u [s].
    values : (n + 1,) array
        Values of u before, between and after the switches [rad].
    speed : float
        dq(T) [rad/s].
    valid : bool
        True if the control is optimal among all controls: its signs agree with the switching function everywhere.
    limit : float
        Largest T for which one switch is optimal [s].

    Examples
    --------
    >>> from thunder_py.manipulation import ElasticWrist, one_switch
    >>> throw = one_switch(ElasticWrist(I=0.012, k=5.0, m=0.7, r_c=0.09, c=0.03), 0.15)
    >>> throw.theta([0.0, 0.1]).round(3).tolist()  # the motor's angle
    [-0.6, 0.6]
    >>> q, dq = throw.state(throw.T)
    >>> abs(float(q)) < 1e-9, abs(float(dq) - throw.speed) < 1e-9
    (True, True)
    >>> throw.costates(throw.T).round(3).tolist(), throw.agrees()
    ([4.765, 1.0], True)
    """

    oscillator: WristOscillator
    T: float
    switches: Array
    values: Array
    speed: float
    valid: bool
    limit: float

    @property
    def starts(self) -> Array:
        """Starts of the pieces of u, (n + 1,) [s]."""
        return np.concatenate([[0.0], self.switches])

    @property
    def nu(self) -> float:
        """Multiplier of q(T) = 0, lambda_1(T) [1/s].

        From lambda_2 = 0 at the last switch: ``zeta omega0 - omega_d cot(omega_d (T - t))`` (D4.2, eq. 94, corrected by
        errata D-20). Infinite if the last switch is at T: the throw then has no co-state of this form.
        """
        o = self.oscillator
        s = self.T - float(self.switches[-1])
        sine = math.sin(o.omega_d * s)
        return math.inf if sine == 0.0 else o.zeta * o.omega0 - o.omega_d * math.cos(o.omega_d * s) / sine

    def control(self, t: npt.ArrayLike) -> Array:
        """Return u (...) at times in [0, T] [rad]; the new value at a switch."""
        return np.asarray(self.values[np.searchsorted(self.switches, real(t, "t", finite=False), side="right")])

    def theta(self, t: npt.ArrayLike) -> Array:
        """Return the motor angle (...), u plus the angle that holds the hand against gravity [rad]."""
        return np.asarray(self.control(t) + self.oscillator.offset)

    def state(self, t: npt.ArrayLike) -> tuple[Array, Array]:
        """Return q and dq (...) of the linear model [rad, rad/s]."""
        return self.oscillator.response(t, self.starts, self.values)

    def costates(self, t: npt.ArrayLike) -> Array:
        """Return lambda_1 and lambda_2, (..., 2), with lambda(T) = (nu, 1).

        lambda_2 is the switching function. Source: D4.2, eq. 93 with the signs of errata D-19; lambda_1 from the second
        row of (92), ``lambda_1 = 2 zeta omega0 lambda_2 - dlambda_2/dt``.

        Raises
        ------
        ThunderError
            If `nu` is infinite.
        """
        o = self.oscillator
        s = self.T - real(t, "t", finite=False)
        decay, b = np.exp(-o.zeta * o.omega0 * s), (self.nu - o.zeta * o.omega0) / o.omega_d
        second = decay * self._wave(s)
        wave_rate = decay * o.omega_d * (np.sin(o.omega_d * s) - b * np.cos(o.omega_d * s))
        rate = o.zeta * o.omega0 * second + wave_rate  # by t, minus that by s
        return np.stack([2.0 * o.zeta * o.omega0 * second - rate, second], axis=-1)

    def _wave(self, s: npt.ArrayLike) -> Array:
        """Return lambda_2 at times s before T without its decay, which does not change its sign."""
        o = self.oscillator
        if not math.isfinite(self.nu):
            raise ThunderError(f"the last switch must be before T = {self.T:g} s for co-states with lambda_2(T) = 1")
        b, angle = (self.nu - o.zeta * o.omega0) / o.omega_d, o.omega_d * np.asarray(s)
        return np.asarray(np.cos(angle) + b * np.sin(angle))

    def times(self, count: int = 501) -> Array:
        """Return `count` times from 0 to T and the switches, for plots and checks [s]."""
        return np.unique(np.concatenate([np.linspace(0.0, self.T, count), self.switches]))

    def agrees(self, count: int = 2001) -> bool:
        """Return True if u is at its upper bound for lambda_2 > 0, at its lower one for lambda_2 < 0 (Pontryagin)."""
        if not math.isfinite(self.nu):
            return False
        t = (np.arange(count) + 0.5) * (self.T / count)
        optimal = np.where(self._wave(self.T - t) > 0.0, self.oscillator.u_hi, self.oscillator.u_lo)
        near = np.abs(t[:, None] - self.switches).min(axis=1, initial=math.inf) < 1e-9 * self.T
        return bool(np.all(near | (self.control(t) == optimal)))

    def plot(self, *, axes: Mapping[str, Axes] | None = None) -> dict[str, Axes]:
        """Draw control with switching function, motion and phase portrait.

        Parameters
        ----------
        axes : mapping of str to Axes, optional
            Panels to draw, of ``"control"``, ``"motion"`` and ``"phase"``; default all, in a new figure.

        Returns
        -------
        dict of str to Axes
            The panels drawn.
        """
        from .plot import plot_throw

        return plot_throw(self, axes=axes)
