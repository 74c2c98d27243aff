"""What the controller sees of the joints."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from ..checks import Array, array
from ..control.estimation import DerivativeEstimator
from ..control.options import number_or_row, per_joint

__all__ = ["Sensors", "not_negative", "whole_periods"]

_PER_JOINT = ("position_noise", "velocity_noise", "position_resolution", "velocity_resolution")


def not_negative(value: object, name: str) -> Array:
    """Return a number or a row of them, none of them negative."""
    given = number_or_row(value, name)
    if (given < 0.0).any():
        raise ValueError(f"{name} must not be negative, got {given.tolist()}")
    return given


def whole_periods(delay: float, period: float, name: str) -> int:
    """Return a delay in control periods."""
    seconds = float(delay)
    count = round(seconds / period)
    if abs(seconds / period - count) > 1e-6:
        raise ValueError(f"{name} must be a whole multiple of the control period {period:g}, got {seconds:g}")
    return count


@dataclass(frozen=True, kw_only=True, eq=False)
class Sensors:
    """Sensors at the joints, read once in each control period: late, noisy and in steps.

    A value is delayed, then normal noise is added, then it is rounded to the resolution. Before the run it was what it
    is at its start.

    Parameters
    ----------
    position_noise, velocity_noise : float or (n,) array_like
        Standard deviations [rad or m, and per second].
    position_resolution, velocity_resolution : float or (n,) array_like
        Steps of quantisation, 0 for none; an encoder of N counts has ``2 pi / N``.
    dropout : float
        Probability that a reading is missing, 0 to less than 1: the controller then sees NaN. Estimated velocities stay
        what they were, and the estimator fills the gap with a straight line once there is a reading.
    delay : float
        [s], whole control periods.
    velocity : "measured" or DerivativeEstimator
        Where velocities come from: sensors of their own, or an estimator of `thunder_py.control` that works on the
        measured positions. It starts at rest.
    seed : int
        Of the noise; the same seed gives the same noise on every platform.
    """

    position_noise: npt.ArrayLike = 0.0
    velocity_noise: npt.ArrayLike = 0.0
    position_resolution: npt.ArrayLike = 0.0
    velocity_resolution: npt.ArrayLike = 0.0
    dropout: float = 0.0
    delay: float = 0.0
    velocity: Literal["measured"] | DerivativeEstimator = "measured"
    seed: int = 0

    def __post_init__(self) -> None:
        """Check what needs no robot."""
        if isinstance(self.seed, bool) or not isinstance(self.seed, (int, np.integer)) or not 0 <= self.seed < 2**64:
            raise ValueError(f"seed must be an integer from 0 to 2**64 - 1, got {self.seed!r}")
        for name in _PER_JOINT:
            not_negative(getattr(self, name), f"sensors {name}")
        not_negative(array(self.delay, (), "sensors delay"), "sensors delay")
        if not 0.0 <= float(array(self.dropout, (), "sensors dropout")) < 1.0:
            raise ValueError(f"sensors dropout must be at least 0 and less than 1, got {self.dropout:g}")
        if isinstance(self.velocity, str) and self.velocity == "measured":
            return
        if not isinstance(self.velocity, DerivativeEstimator):
            raise ValueError(f"velocity must be 'measured' or a DerivativeEstimator, got {self.velocity!r}")
        if np.any(np.asarray(self.velocity_noise) != 0.0) or np.any(np.asarray(self.velocity_resolution) != 0.0):
            raise ValueError("velocity_noise and velocity_resolution are for velocity='measured' only")

    def with_seed(self, seed: int) -> Sensors:
        """Return the same sensors with other noise."""
        return dataclasses.replace(self, seed=seed)

    def _options(self, n: int, period: float) -> dict[str, Any]:
        """Return what the core takes."""
        return {
            **{name: per_joint(getattr(self, name), n, f"sensors {name}") for name in _PER_JOINT},
            "dropout": float(self.dropout),
            "delay": whole_periods(self.delay, period, "sensors delay"),
            "seed": int(self.seed),
            "velocity": None if isinstance(self.velocity, str) else self.velocity,
        }
