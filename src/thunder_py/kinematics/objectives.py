"""What redundant arms do beside their task: joint velocities that are projected into its null space."""

from __future__ import annotations

from dataclasses import dataclass

import numpy.typing as npt

from .. import _core
from ..checks import array
from ..robot import Robot

__all__ = ["JointCentering", "Manipulability", "Objective", "Posture"]


class Objective:
    """Base of the objectives that are evaluated in C++."""

    def make(self, robot: Robot, frame: int | str | None, mask: int) -> _core.NullObjective:
        """Return the objective for a robot, frame and rows (bit r of `mask` keeps row r)."""
        raise NotImplementedError


def _gain(gain: float) -> float:
    value = float(array(gain, (), "gain"))
    if value <= 0.0:
        raise ValueError(f"gain must be positive, got {value:g}")
    return value


@dataclass(frozen=True)
class Manipulability(Objective):
    """Away from singularities: ``dq_0 = gain dw/dq`` with ``w = sqrt(det(J J'))`` of the rows of the task.

    Parameters
    ----------
    gain : float
        k_0; w has the units of the rows, so there is no natural size.

    Notes
    -----
    SCARA project, section 3.3. The gradient is exact (dual numbers), and taken as zero where w is.
    """

    gain: float

    def make(self, robot: Robot, frame: int | str | None, mask: int) -> _core.NullObjective:
        """Return the objective for a robot, frame and rows."""
        return _core.ManipulabilityObjective(robot, frame, mask, _gain(self.gain))


@dataclass(frozen=True)
class JointCentering(Objective):
    """Towards the middle of the range: ``dq_0 = gain dw/dq``, ``w = -1/(2 n) sum ((q - middle) / range)^2``.

    Joints without limits are left alone.

    Parameters
    ----------
    gain : float
        [rad^2/s].
    lower, upper : (n,) array_like, optional
        Default the robot's limits.
    """

    gain: float
    lower: npt.ArrayLike | None = None
    upper: npt.ArrayLike | None = None

    def make(self, robot: Robot, frame: int | str | None, mask: int) -> _core.NullObjective:
        """Return the objective for a robot, frame and rows."""
        lower = robot.limits.lower if self.lower is None else self.lower
        upper = robot.limits.upper if self.upper is None else self.upper
        low = array(lower, (robot.n,), "lower", finite=False)
        high = array(upper, (robot.n,), "upper", finite=False)
        if (low > high).any():
            raise ValueError(f"lower must not exceed upper, got {low.tolist()} and {high.tolist()}")
        return _core.JointLimitObjective(robot, low, high, _gain(self.gain))


@dataclass(frozen=True)
class Posture(Objective):
    """Towards a posture: ``dq_0 = gain (q - q_now)``.

    Parameters
    ----------
    q : (n,) array_like
        Joint positions [rad or m].
    gain : float
        [1/s].
    """

    q: npt.ArrayLike
    gain: float

    def make(self, robot: Robot, frame: int | str | None, mask: int) -> _core.NullObjective:
        """Return the objective for a robot, frame and rows."""
        return _core.PostureObjective(robot, array(self.q, (robot.n,), "q"), _gain(self.gain))
