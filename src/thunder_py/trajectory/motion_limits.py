"""Limits of joint motions."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ..checks import Array, all_positive, array, of_kind, per_joint
from ..errors import ThunderError
from ..robot import Robot
from ..values import Value, set_fields

#: half range of joints without position limits: half a turn, or a meter
_FREE = {"R": np.pi, "P": 1.0}


@dataclass(frozen=True, kw_only=True, eq=False)
class MotionLimits(Value):
    """Limits of a joint motion; infinity is no limit.

    Parameters
    ----------
    lower, upper : (n,) array_like
        Position limits [rad or m], finite.
    velocity, acceleration, effort : float or (n,) array_like
        Largest absolute values [rad/s, rad/s^2, N m; m/s, m/s^2, N].

    Examples
    --------
    >>> import thunder_py as th
    >>> limits = th.trajectory.MotionLimits.of(th.Robot.load("panda"), acceleration=10.0, fraction=0.9)
    >>> limits.velocity.round(2).tolist()
    [1.96, 1.96, 1.96, 1.96, 2.35, 2.35, 2.35]
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
            sizes = per_joint(getattr(self, name), lower.size, f"limits: {name}", finite=False)
            all_positive(sizes, f"limits: {name}").setflags(write=False)
            set_fields(self, **{name: sizes})

    @classmethod
    def of(
        cls, robot: Robot, *, acceleration: npt.ArrayLike = np.inf, torque: bool = False, fraction: float = 1.0
    ) -> MotionLimits:
        """Return the limits of a robot.

        Parameters
        ----------
        robot : Robot
            Joints without position limits get half a turn or one meter to either side of zero.
        acceleration : float or (n,) array_like
            Acceleration limits [rad/s^2 or m/s^2], which a robot does not have.
        torque : bool
            Include the effort limits of the robot.
        fraction : float
            Fraction of the robot's ranges and limits, more than 0 and at most 1.
        """
        of_kind(robot, Robot, "robot")
        if not 0.0 < fraction <= 1.0:
            raise ThunderError(f"fraction must be more than 0 and at most 1, got {fraction:g}")
        free = np.array([_FREE[kind] for kind in robot.joint_types])
        limits = robot.limits
        lower = np.where(np.isfinite(limits.lower), limits.lower, -free)
        upper = np.where(np.isfinite(limits.upper), limits.upper, free)
        center, half = 0.5 * (lower + upper), 0.5 * fraction * (upper - lower)
        return cls(
            lower=center - half,
            upper=center + half,
            velocity=fraction * limits.velocity,
            acceleration=np.asarray(acceleration, dtype=np.float64),
            effort=fraction * limits.effort if torque else np.asarray(np.inf),
        )

    @property
    def center(self) -> Array:
        """Middle of the positions, (n,)."""
        return 0.5 * (self.lower + self.upper)

    @property
    def half_range(self) -> Array:
        """Half of the range of positions, (n,)."""
        return 0.5 * (self.upper - self.lower)
