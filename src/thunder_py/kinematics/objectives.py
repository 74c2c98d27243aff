"""Secondary objectives of redundant arms: joint velocities to project into the null space of the task."""

from __future__ import annotations

from dataclasses import dataclass

import numpy.typing as npt

from .. import _core
from ..checks import array, positive
from ..errors import ThunderError
from ..robot import Robot


class Objective:
    """Base class of the objectives evaluated in C++."""

    def make(self, robot: Robot, frame: int | str | None, mask: int) -> _core.NullObjective:
        """Return the objective for a robot, frame and rows (bit r of `mask` keeps row r)."""
        raise NotImplementedError


@dataclass(frozen=True)
class Manipulability(Objective):
    """Maximize manipulability: ``dq_0 = gain dw/dq`` with ``w = sqrt(det(J J'))`` of the rows of the task.

    Parameters
    ----------
    gain : float
        k_0. Its unit depends on that of w, which depends on the rows.

    Notes
    -----
    SCARA project, section 3.3. The gradient is exact (dual numbers), and zero where w is zero.

    Examples
    --------
    >>> import thunder_py as th
    >>> robot, q0 = th.Robot.load("scara"), [-0.2, 1.5, 0.1, 0.2]
    >>> options = {"Lambda": 50.0, "rows": ("y", "z", "rz"), "null_space": th.kinematics.Manipulability(gain=10.0)}
    >>> clik = th.kinematics.CLIK(robot, orientation="rotation_vector", **options)
    >>> result = clik.follow(th.reference.SetPose(robot.forward_kinematics(q0)), q0, duration=0.5)
    >>> bool(result.manipulability[-1] > result.manipulability[0])
    True
    """

    gain: float

    def make(self, robot: Robot, frame: int | str | None, mask: int) -> _core.NullObjective:
        """Return the objective for a robot, frame and rows."""
        return _core.ManipulabilityObjective(robot, frame, mask, positive(self.gain, "gain"))


@dataclass(frozen=True)
class JointCentering(Objective):
    """Attract joints to the middle of their range: ``dq_0 = gain dw/dq``.

    Here ``w = -1/(2 n) sum ((q - middle) / range)^2``. Joints without limits are ignored.

    Parameters
    ----------
    gain : float
        [rad^2/s].
    lower, upper : (n,) array_like, optional
        Limits [rad or m]; default the robot's.

    Examples
    --------
    >>> import thunder_py as th
    >>> robot, q0 = th.Robot.load("panda"), [0.0, -0.3, 0.0, -2.0, 0.0, 1.8, 2.5]
    >>> clik = th.kinematics.CLIK(robot, Lambda=50.0, null_space=th.kinematics.JointCentering(gain=20.0))
    >>> result = clik.follow(th.reference.SetPose(robot.forward_kinematics(q0)), q0, duration=0.5)
    >>> bool(abs(result.q[-1] - q0).max() > 0.01), bool(result.error_norm().max() < 1e-4)
    (True, True)
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
            raise ThunderError(f"lower must not exceed upper, got {low.tolist()} and {high.tolist()}")
        return _core.JointLimitObjective(robot, low, high, positive(self.gain, "gain"))


@dataclass(frozen=True)
class Posture(Objective):
    """Attract joints to a posture: ``dq_0 = gain (q - q_now)``.

    Parameters
    ----------
    q : (n,) array_like
        Joint positions [rad or m].
    gain : float
        [1/s].

    Examples
    --------
    >>> import thunder_py as th
    >>> robot, q0 = th.Robot.load("panda"), [0.0, -0.3, 0.0, -2.0, 0.0, 1.8, 0.7]
    >>> clik = th.kinematics.CLIK(robot, Lambda=50.0, null_space=th.kinematics.Posture([0.5] + q0[1:], gain=2.0))
    >>> result = clik.follow(th.reference.SetPose(robot.forward_kinematics(q0)), q0, duration=0.5)
    >>> bool(result.q[-1, 0] > 0.05), bool(result.error_norm().max() < 1e-4)
    (True, True)
    """

    q: npt.ArrayLike
    gain: float

    def make(self, robot: Robot, frame: int | str | None, mask: int) -> _core.NullObjective:
        """Return the objective for a robot, frame and rows."""
        return _core.PostureObjective(robot, array(self.q, (robot.n,), "q"), positive(self.gain, "gain"))
