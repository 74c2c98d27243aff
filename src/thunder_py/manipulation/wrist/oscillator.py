"""The linear wrist, D4.2 (81): a damped oscillator under a bounded control, and its step response."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from ...checks import Array
from ...errors import ThunderError
from ...motion.scalars import is_number, positive
from ...values import Value, set_fields

__all__ = ["WristOscillator", "finite"]


@dataclass(frozen=True, kw_only=True, eq=False)
class WristOscillator(Value):
    """``ddq + 2 zeta omega0 dq + omega0^2 q = gain omega0^2 u`` with ``u_lo <= u <= u_hi``, underdamped.

    Attributes
    ----------
    omega0 : float
        Natural frequency [rad/s].
    zeta : float
        Damping ratio, 0 <= zeta < 1.
    gain : float
        Stiffness of the spring over the effective one, k / k_eff; 1 on a level base.
    u_lo, u_hi : float
        Bounds of the control, below and above zero [rad].
    offset : float
        Motor angle at u = 0 [rad]: theta = u + offset.

    Raises
    ------
    ThunderError
        Naming the field.

    Notes
    -----
    Source: D4.2, eqs. 81 to 84.
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
        """Frequency of the damped oscillation, ``omega0 sqrt(1 - zeta^2)`` [rad/s]."""
        return self.omega0 * math.sqrt(1.0 - self.zeta**2)

    @property
    def half_period(self) -> float:
        """``pi / omega_d`` [s]: from one zero of the impulse response, or of a co-state, to the next."""
        return math.pi / self.omega_d

    def step(self, t: npt.ArrayLike) -> Array:
        """Return the angle (...) at times after a unit step from rest [rad/rad]; 0 before it."""
        s = np.maximum(np.asarray(t, dtype=np.float64), 0.0)
        lost, half = self.zeta * self.omega0 * s, 0.5 * self.omega_d * s
        # 1 - e^-lost (cos + ...) without the difference of numbers near 1, of which little is left after a short time
        wave = 2.0 * np.sin(half) ** 2 - self.zeta * self.omega0 / self.omega_d * np.sin(2.0 * half)
        return np.asarray(self.gain * (np.exp(-lost) * wave - np.expm1(-lost)))

    def step_rate(self, t: npt.ArrayLike) -> Array:
        """Return the rate (...) after a unit step [1/s], which is the impulse response (84); 0 before it."""
        s = np.maximum(np.asarray(t, dtype=np.float64), 0.0)
        wave = np.exp(-self.zeta * self.omega0 * s) * np.sin(self.omega_d * s)
        return np.asarray(self.gain * self.omega0**2 / self.omega_d * wave)

    def response(self, t: npt.ArrayLike, starts: npt.ArrayLike, values: npt.ArrayLike) -> tuple[Array, Array]:
        """Angle and rate (...) from rest under a control that is constant between its switches.

        Parameters
        ----------
        t : (...) array_like
            Times [s].
        starts, values : (k,) array_like
            From when which value of u holds; before the first one u is 0.
        """
        after = np.asarray(t, dtype=np.float64)[..., None] - np.asarray(starts, dtype=np.float64)
        steps = np.diff(np.asarray(values, dtype=np.float64), prepend=0.0)
        return np.asarray(self.step(after) @ steps), np.asarray(self.step_rate(after) @ steps)


def finite(value: Any, what: str) -> float:
    """Return a number that is finite, of either sign, or say what came."""
    if not is_number(value) or not math.isfinite(value):
        raise ThunderError(f"{what} must be a finite number, got {value!r}")
    return float(value)
