"""Elastic wrist: parameters, the planar model of D4.2 (79) and the linear model (80)."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ...checks import Array, finite, nonnegative, positive, real
from ...errors import ThunderError
from ...values import Value, set_fields


@dataclass(frozen=True, kw_only=True, eq=False)
class WristOscillator(Value):
    """Linear model of the wrist, ``ddq + 2 zeta omega0 dq + omega0^2 q = gain omega0^2 u``, ``u_lo <= u <= u_hi``.

    Attributes
    ----------
    omega0 : float
        Natural frequency [rad/s].
    zeta : float
        Damping ratio, 0 <= zeta < 1.
    gain : float
        Ratio of the spring's stiffness to the effective one, k / k_eff; 1 on a level base.
    u_lo, u_hi : float
        Bounds of the control, below and above zero [rad].
    offset : float
        Motor angle at u = 0 [rad]: theta = u + offset.

    Raises
    ------
    ThunderError
        If a field is out of its range; the message names it.

    Notes
    -----
    Source: D4.2, eqs. 81 to 84.

    Examples
    --------
    >>> from thunder_py.manipulation import WristOscillator
    >>> oscillator = WristOscillator(omega0=20.0, zeta=0.1, u_lo=-0.7, u_hi=0.5)
    >>> round(oscillator.half_period, 4), oscillator.step([0.05, 0.15]).round(3).tolist()
    (0.1579, [0.431, 1.72])
    >>> q, dq = oscillator.response(0.15, [0.0, 0.07], [-0.7, 0.5])
    >>> round(float(q), 3), round(float(dq), 2)
    (-0.085, 18.92)
    """

    omega0: float
    zeta: float = 0.0
    gain: float = 1.0
    u_lo: float
    u_hi: float
    offset: float = 0.0

    def __post_init__(self) -> None:
        """Check every field."""
        fields = {name: positive(getattr(self, name), f"oscillator {name}") for name in ("omega0", "gain", "u_hi")}
        fields |= {name: finite(getattr(self, name), f"oscillator {name}") for name in ("zeta", "u_lo", "offset")}
        if not 0.0 <= fields["zeta"] < 1.0:
            raise ThunderError(f"zeta must be at least 0 and below 1 (underdamped), got {fields['zeta']:g}")
        if fields["u_lo"] >= 0.0:
            raise ThunderError(f"oscillator u_lo must be negative, got {fields['u_lo']:g}")
        set_fields(self, **fields)

    @property
    def omega_d(self) -> float:
        """Damped natural frequency, ``omega0 sqrt(1 - zeta^2)`` [rad/s]."""
        return self.omega0 * math.sqrt(1.0 - self.zeta**2)

    @property
    def half_period(self) -> float:
        """``pi / omega_d`` [s]: from one zero of the impulse response, or of a co-state, to the next."""
        return math.pi / self.omega_d

    def step(self, t: npt.ArrayLike) -> Array:
        """Return the angle (...) at times after a unit step from rest [rad/rad]; 0 before it."""
        s = np.maximum(real(t, "t", finite=False), 0.0)
        lost, half = self.zeta * self.omega0 * s, 0.5 * self.omega_d * s
        # 1 - e^-lost (cos + ...) without the cancellation of numbers near 1 at short times
        wave = 2.0 * np.sin(half) ** 2 - self.zeta * self.omega0 / self.omega_d * np.sin(2.0 * half)
        return np.asarray(self.gain * (np.exp(-lost) * wave - np.expm1(-lost)))

    def step_rate(self, t: npt.ArrayLike) -> Array:
        """Return the rate (...) after a unit step [1/s], the impulse response (84); 0 before it."""
        s = np.maximum(real(t, "t", finite=False), 0.0)
        wave = np.exp(-self.zeta * self.omega0 * s) * np.sin(self.omega_d * s)
        return np.asarray(self.gain * self.omega0**2 / self.omega_d * wave)

    def response(self, t: npt.ArrayLike, starts: npt.ArrayLike, values: npt.ArrayLike) -> tuple[Array, Array]:
        """Return angle and rate (...) [rad, rad/s] from rest under a piecewise constant control.

        Parameters
        ----------
        t : (...) array_like
            Times [s].
        starts, values : (k,) array_like
            Starts [s] and values [rad] of the pieces of u; before the first start u is 0.
        """
        elapsed = real(t, "t", finite=False)[..., None] - real(starts, "starts", finite=False)
        steps = np.diff(real(values, "values", finite=False), prepend=0.0)
        return np.asarray(self.step(elapsed) @ steps), np.asarray(self.step_rate(elapsed) @ steps)


@dataclass(frozen=True, kw_only=True, eq=False)
class ElasticWrist(Value):
    """Hand on a series elastic joint.

    The joint angle q turns the hand from the x axis of its base towards the z axis; at alpha = 0 the base's z axis
    points up, and alpha pitches its x axis down. theta is the motor angle; the spring is relaxed at ``q = theta``.

    Attributes
    ----------
    I : float
        Moment of inertia about the joint's axis, ``I_com + m r_c^2`` [kg m^2].
    k : float
        Stiffness [N m/rad].
    m : float
        Mass of the hand with its load [kg].
    r_c : float
        Distance of the center of mass from the axis [m].
    c : float
        Damping between hand and base [N m s/rad].
    theta_max : float
        Largest motor angle in both directions [rad].
    alpha : float
        Slope of the base [rad].
    g : float
        Gravity [m/s^2].

    Raises
    ------
    ThunderError
        If a field is out of its range, such as an inertia below ``m r_c^2``; the message names it.

    Notes
    -----
    Source: D4.2, section 4.2, with the geometry for which (79) agrees with Lagrange's equations (errata D-16).

    Examples
    --------
    >>> from thunder_py.manipulation import ElasticWrist
    >>> wrist = ElasticWrist(I=0.012, k=5.0, m=0.7, r_c=0.09, c=0.03)
    >>> round(wrist.theta_g, 4), round(wrist.oscillator().omega0, 3)
    (0.1236, 20.412)
    >>> round(float(wrist.acceleration(q=-0.5, dq=0.0, theta=0.6)), 2)
    413.14
    """

    I: float
    k: float
    m: float
    r_c: float
    c: float = 0.0
    theta_max: float = 0.6
    alpha: float = 0.0
    g: float = 9.81

    def __post_init__(self) -> None:
        """Check every field."""
        least = ("m", "r_c", "c", "g")
        fields = {name: positive(getattr(self, name), f"wrist {name}") for name in ("I", "k", "theta_max")}
        fields |= {name: finite(getattr(self, name), f"wrist {name}") for name in (*least, "alpha")}
        for name in least:
            nonnegative(fields[name], f"wrist {name}")
        if fields["I"] < fields["m"] * fields["r_c"] ** 2:
            raise ThunderError(
                f"wrist I must be at least m r_c^2 = {fields['m'] * fields['r_c'] ** 2:g} kg m^2, the share of a mass "
                f"at r_c, got {fields['I']:g}"
            )
        set_fields(self, **fields)

    @property
    def k_eff(self) -> float:
        """Effective stiffness of the linear model on a slope, ``k + m r_c g sin(alpha)`` [N m/rad]."""
        return self.k + self.m * self.r_c * self.g * math.sin(self.alpha)

    @property
    def theta_g(self) -> float:
        """Motor angle that holds the hand at q = 0 against gravity, ``m r_c g cos(alpha) / k`` [rad]."""
        return self.m * self.r_c * self.g * math.cos(self.alpha) / self.k

    def oscillator(self) -> WristOscillator:
        """Return the linear model (81) of ``u = theta - theta_g``, with the bounds of u (errata D-21).

        Raises
        ------
        ThunderError
            If the effective stiffness is not positive, the wrist is overdamped, or the motor cannot hold the hand at
            q = 0 (``abs(theta_g) >= theta_max``).
        """
        if self.k_eff <= 0.0:
            raise ThunderError(
                f"wrist k must outweigh gravity: k + m r_c g sin(alpha) must be positive, got {self.k_eff:g} N m/rad"
            )
        if abs(self.theta_g) >= self.theta_max:
            raise ThunderError(
                f"wrist theta_max must exceed |theta_g| = {abs(self.theta_g):g} rad, at which the motor holds the hand "
                f"against gravity, got {self.theta_max:g}"
            )
        omega0 = math.sqrt(self.k_eff / self.I)
        return WristOscillator(
            omega0=omega0,
            zeta=self.c / (2.0 * omega0 * self.I),
            gain=self.k / self.k_eff,
            u_lo=-self.theta_max - self.theta_g,
            u_hi=self.theta_max - self.theta_g,
            offset=self.theta_g,
        )

    def acceleration(
        self,
        q: npt.ArrayLike,
        dq: npt.ArrayLike,
        theta: npt.ArrayLike,
        ddx: npt.ArrayLike = 0.0,
        ddz: npt.ArrayLike = 0.0,
    ) -> Array:
        """Return ddq [rad/s^2] of the planar model (79) on a base that does not turn.

        Parameters
        ----------
        q, dq, theta : (...) array_like
            Joint angle [rad], its rate [rad/s], motor angle [rad].
        ddx, ddz : (...) array_like
            Acceleration of the base along its own axes [m/s^2].
        """
        p, dp, x = (real(v, what, finite=False) for v, what in ((q, "q"), (dq, "dq"), (theta, "theta")))
        along, across = self._apparent(ddx, ddz)
        return np.asarray((-self.k * (p - x) - self.c * dp + along * np.sin(p) - across * np.cos(p)) / self.I)

    def linear_acceleration(
        self,
        q: npt.ArrayLike,
        dq: npt.ArrayLike,
        theta: npt.ArrayLike,
        ddx: npt.ArrayLike = 0.0,
        ddz: npt.ArrayLike = 0.0,
    ) -> Array:
        """Return ddq [rad/s^2] of the model (80), linear about q = 0; arguments as in `acceleration`."""
        p, dp, x = (real(v, what, finite=False) for v, what in ((q, "q"), (dq, "dq"), (theta, "theta")))
        along, across = self._apparent(ddx, ddz)
        return np.asarray(((along - self.k) * p - self.c * dp + self.k * x - across) / self.I)

    def _apparent(self, ddx: npt.ArrayLike, ddz: npt.ArrayLike) -> tuple[Array, Array]:
        """Return the moments of the base's acceleration and of gravity, factors of sin q (along x) and of cos q."""
        first = self.m * self.r_c
        along = first * (real(ddx, "ddx", finite=False) - self.g * math.sin(self.alpha))
        return along, first * (real(ddz, "ddz", finite=False) + self.g * math.cos(self.alpha))
