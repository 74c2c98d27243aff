"""Limits that an exciting motion keeps, as few smooth functions."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ..checks import Array, array
from ..errors import ThunderError
from ..robot import Robot, require_robot
from ..values import Value, set_fields

__all__ = ["MotionLimits", "soft_maximum"]

#: positions of joints that have no limits: one turn, or a metre to either side
_FREE = {"R": np.pi, "P": 1.0}


@dataclass(frozen=True, kw_only=True, eq=False)
class MotionLimits(Value):
    """Limits of a motion; infinity is no limit.

    Parameters
    ----------
    lower, upper : (n,) array_like
        Positions [rad or m], finite.
    velocity, acceleration, effort : float or (n,) array_like
        Sizes [rad/s, rad/s^2, N m; m/s, m/s^2, N].
    """

    lower: Array
    upper: Array
    velocity: Array
    acceleration: Array = np.inf  # type: ignore[assignment]
    effort: Array = np.inf  # type: ignore[assignment]

    def __post_init__(self) -> None:
        """Check everything."""
        lower = array(self.lower, (None,), "limits: lower")
        upper = array(self.upper, lower.shape, "limits: upper")
        if not (lower < upper).all():
            raise ThunderError(f"limits: lower must be below upper, got {lower.tolist()} and {upper.tolist()}")
        set_fields(self, lower=lower, upper=upper)
        for name in ("velocity", "acceleration", "effort"):
            value = getattr(self, name)
            sizes = np.full(lower.shape, value) if np.ndim(value) == 0 else value
            sizes = array(sizes, lower.shape, f"limits: {name}", finite=False)
            if not (sizes > 0.0).all():
                raise ThunderError(f"limits: {name} must be positive, got {sizes.tolist()}")
            set_fields(self, **{name: sizes})

    @classmethod
    def of(
        cls, robot: Robot, *, acceleration: npt.ArrayLike = np.inf, torque: bool = False, fraction: float = 1.0
    ) -> MotionLimits:
        """Return the limits of a robot.

        Parameters
        ----------
        robot : Robot
            Where it knows no limit of position, one turn or one metre to either side of zero.
        acceleration : float or (n,) array_like
            A robot knows none.
        torque : bool
            Take its effort limits, too.
        fraction : float
            Of its ranges and sizes, more than 0 to 1.
        """
        require_robot(robot)
        if not 0.0 < fraction <= 1.0:
            raise ThunderError(f"fraction must be more than 0 and at most 1, got {fraction:g}")
        free = np.array([_FREE[kind] for kind in robot.joint_types])
        limits = robot.limits
        lower = np.where(np.isfinite(limits.lower), limits.lower, -free)
        upper = np.where(np.isfinite(limits.upper), limits.upper, free)
        centre, half = 0.5 * (lower + upper), 0.5 * fraction * (upper - lower)
        return cls(
            lower=centre - half,
            upper=centre + half,
            velocity=fraction * limits.velocity,
            acceleration=np.asarray(acceleration, dtype=np.float64),
            effort=fraction * limits.effort if torque else np.asarray(np.inf),
        )

    @property
    def centre(self) -> Array:
        """Middle of the positions, (n,)."""
        return 0.5 * (self.lower + self.upper)

    @property
    def half_range(self) -> Array:
        """Half of the range of positions, (n,)."""
        return 0.5 * (self.upper - self.lower)


def soft_maximum(x: Array, power: int = 32) -> tuple[Array, Array]:
    """Bound smoothly the size of each column, and its gradient.

    Parameters
    ----------
    x : (k, n) array
        Signals.
    power : int
        Even: the p-norm is above the maximum by at most a factor k^(1/p), and by little if x peaks seldom.

    Returns
    -------
    value : (n,) array
        p-norms.
    gradient : (k, n) array
        By the entries of x.
    """
    largest = np.abs(x).max(axis=0)
    relative = np.abs(x) / np.where(largest > 0.0, largest, 1.0)
    relative[:, largest == 0.0] = 1.0
    total = np.sum(relative**power, axis=0)
    gradient: Array = np.sign(x) * relative ** (power - 1) * total ** (1.0 / power - 1.0)
    return largest * total ** (1.0 / power), gradient
