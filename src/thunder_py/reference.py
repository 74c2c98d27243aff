"""References for controllers: desired motions as values and as functions of time.

A reference is any callable of time that returns a `JointReference` or a `TaskReference` (or an object with the same
attributes). Those of this module are evaluated in C++ inside `thunder_py.simulate`.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import numpy.typing as npt

from . import _core
from .checks import Array, array, per_joint, pose, real, rotation
from .public import publish

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["JointReference", "Lissajous", "SetPoint", "SetPose", "Sinusoid", "SmoothJointReference", "TaskReference"]


class JointReference(NamedTuple):
    """Desired joint position, velocity and acceleration.

    Attributes
    ----------
    q, dq, ddq : (..., n) array
        Position [rad or m] and its time derivatives.

    Examples
    --------
    >>> import numpy as np
    >>> import thunder_py as th
    >>> def ramp(t):
    ...     return th.reference.JointReference(np.array([0.1 * t, 0.5]), np.array([0.1, 0.0]), np.zeros(2))
    >>> robot = th.Robot.load("elbow")
    >>> result = th.simulate(robot, th.ComputedTorque(robot, 100.0, 20.0), ramp, 1.0, q0=[0.0, 0.5], dq0=[0.1, 0.0])
    >>> bool(result.error_norm().max() < 1e-3)
    True
    """

    q: Array
    dq: Array
    ddq: Array


class SmoothJointReference(NamedTuple):
    """Desired joint position and four derivatives, for laws that linearize elastic joints.

    Attributes
    ----------
    q, dq, ddq, d3q, d4q : (..., n) array
        Position [rad or m] and its time derivatives.

    Examples
    --------
    >>> import thunder_py as th
    >>> desired = th.reference.Sinusoid([0.5], 1.0).smooth(0.0)
    >>> desired.dq.round(2).tolist(), desired.d3q.round(2).tolist()
    ([3.14], [-124.03])
    """

    q: Array
    dq: Array
    ddq: Array
    d3q: Array
    d4q: Array


class TaskReference(NamedTuple):
    """Desired pose of a frame, its twist and the derivative of the twist; world axes, linear part first.

    Attributes
    ----------
    p : (..., 3) array
        Position [m].
    R : (..., 3, 3) array
        Orientation.
    xi, xi_dot : (..., 6) array
        Twist [m/s, rad/s] and its time derivative.

    Examples
    --------
    >>> import numpy as np
    >>> import thunder_py as th
    >>> robot, q = th.Robot.load("panda"), [0.0, -0.3, 0.0, -2.0, 0.0, 1.8, 0.7]
    >>> T = robot.forward_kinematics(q)
    >>> target = th.reference.TaskReference(T[:3, 3], T[:3, :3], np.zeros(6), np.zeros(6))
    >>> dq = th.kinematics.CLIK(robot, Lambda=10.0).step(0.0, q, target)
    >>> bool(abs(dq).max() < 1e-9)
    True
    """

    p: Array
    R: Array
    xi: Array
    xi_dot: Array


def _sample(source: _core.JointReferenceSource | _core.TaskReferenceSource, t: npt.ArrayLike) -> tuple[Array, ...]:
    if isinstance(t, float) and math.isfinite(t):  # fast path for control loops
        return source.at(t)
    times = real(t, "t", expected="a time or an array of times")
    if times.ndim == 0:
        return source.at(float(times))
    return tuple(part.reshape(*times.shape, *part.shape[1:]) for part in source.sample(times.ravel()))


class _JointSource:
    def __call__(self, t: npt.ArrayLike) -> JointReference:
        """Return the reference at time `t`, or at an array of times."""
        return JointReference(*_sample(self, t))  # type: ignore[arg-type]

    def smooth(self, t: npt.ArrayLike) -> SmoothJointReference:
        """Return the reference with four derivatives at time `t`, or at an array of times.

        Parameters
        ----------
        t : (...) array_like
            [s].

        Returns
        -------
        SmoothJointReference
            Position and derivatives, (..., n) each; of curves from samples, the derivatives of the curve.
        """
        times = real(t, "t", expected="a time or an array of times")
        parts = self.sample_smooth(times.ravel())  # type: ignore[attr-defined]
        return SmoothJointReference(*(part.reshape(*times.shape, *part.shape[1:]) for part in parts))

    def plot(self, duration: float | None = None, *, axes: Mapping[str, Axes] | None = None) -> dict[str, Axes]:
        """Draw position, velocity and acceleration over time.

        Parameters
        ----------
        duration : float, optional
            Plotted time from the start [s]; default the reference's own. Required if it has none, as a `Sinusoid`.
        axes : mapping of str to Axes, optional
            Panels to draw, of ``"q"``, ``"dq"`` and ``"ddq"``; default all, in a new figure.

        Returns
        -------
        dict of str to Axes
            The panels drawn.
        """
        from .trajectory.plot import plot_joint_reference

        return plot_joint_reference(self, duration, axes=axes)


class _TaskSource:
    def __call__(self, t: npt.ArrayLike) -> TaskReference:
        """Return the reference at time `t`, or at an array of times."""
        return TaskReference(*_sample(self, t))  # type: ignore[arg-type]

    def plot(self, duration: float | None = None, *, axes: Mapping[str, Axes] | None = None) -> dict[str, Axes]:
        """Draw the path in space, and position, speed and acceleration over time.

        Parameters
        ----------
        duration : float, optional
            Plotted time from 0 [s]; default the reference's own. Required if it has none, as a `Lissajous`.
        axes : mapping of str to Axes, optional
            Panels to draw, of ``"path"`` (three-dimensional), ``"p"``, ``"v"`` and ``"w"``; default all, in a new
            figure.

        Returns
        -------
        dict of str to Axes
            The panels drawn.
        """
        from .trajectory.plot import plot_task_reference

        return plot_task_reference(self, duration, axes=axes)


class SetPoint(_JointSource, _core.SetPoint):
    """Constant joint positions.

    Parameters
    ----------
    q : (n,) array_like
        Joint positions [rad or m].

    Raises
    ------
    ValueError
        If `q` is not a finite vector.

    Examples
    --------
    >>> import thunder_py as th
    >>> th.reference.SetPoint([0.1, 0.5])(2.0).q.tolist()
    [0.1, 0.5]
    """

    def __init__(self, q: npt.ArrayLike) -> None:
        super().__init__(array(q, (None,), "q"))


class Sinusoid(_JointSource, _core.Sinusoid):
    """Sinusoid in every joint: ``center + amplitude sin(2 pi frequency t + phase)``.

    Parameters
    ----------
    amplitude : (n,) array_like
        [rad or m].
    frequency : float or (n,) array_like
        [Hz].
    center : float or (n,) array_like
        [rad or m].
    phase : float or (n,) array_like
        [rad].

    Raises
    ------
    ValueError
        If shapes do not fit, or a value is not finite.

    Examples
    --------
    >>> import thunder_py as th
    >>> motion = th.reference.Sinusoid([0.3, 0.2], frequency=0.5, center=[0.0, 0.5])
    >>> motion(0.25).q.round(3).tolist(), motion(0.25).dq.round(3).tolist()
    ([0.212, 0.641], [0.666, 0.444])
    """

    def __init__(
        self,
        amplitude: npt.ArrayLike,
        frequency: npt.ArrayLike,
        *,
        center: npt.ArrayLike = 0.0,
        phase: npt.ArrayLike = 0.0,
    ) -> None:
        A = array(amplitude, (None,), "amplitude")

        others = {"frequency": frequency, "center": center, "phase": phase}
        super().__init__(A, *(per_joint(value, A.size, name) for name, value in others.items()))


class SetPose(_TaskSource, _core.SetPose):
    """Constant pose.

    Parameters
    ----------
    T : (4, 4) array_like
        Pose in the world.

    Raises
    ------
    ValueError
        If `T` is not a pose.

    Examples
    --------
    >>> import thunder_py as th
    >>> robot = th.Robot.load("panda")
    >>> T = robot.forward_kinematics([0.0, -0.3, 0.0, -2.0, 0.0, 1.8, 0.7])
    >>> bool((th.reference.SetPose(T)(1.0).p == T[:3, 3]).all())
    True
    """

    def __init__(self, T: npt.ArrayLike) -> None:
        target = pose(T, "T")
        super().__init__(target[:3, 3], target[:3, :3])


class Lissajous(_TaskSource, _core.Lissajous):
    """Lissajous curve with constant orientation.

    ``p = center + (A sin 2 pi a (t - t0), B cos 2 pi b (t - t0), C sin 2 pi c (t - t0))``. At t0 it is at
    ``center + (0, B, 0)``; `starting_at` computes the center from a start pose.

    Parameters
    ----------
    amplitude : (3,) array_like
        A, B, C [m].
    frequency : (3,) array_like
        a, b, c [Hz].
    center : (3,) array_like
        [m].
    orientation : (3, 3) array_like, optional
        Default the identity.
    t0 : float
        Start time [s].

    Raises
    ------
    ValueError
        If shapes do not fit, a value is not finite, or `orientation` is not a rotation.

    Notes
    -----
    Thunder article, section 5.

    Examples
    --------
    >>> import thunder_py as th
    >>> curve = th.reference.Lissajous((0.1, 0.15, 0.1), (0.25, 0.5, 0.25), center=(0.5, 0.0, 0.4))
    >>> curve(1.0).p.round(3).tolist()
    [0.6, -0.15, 0.5]
    >>> start = th.Robot.load("panda").forward_kinematics([0.0, -0.3, 0.0, -2.0, 0.0, 1.8, 0.7])
    >>> shifted = th.reference.Lissajous.starting_at(start, (0.1, 0.15, 0.1), (0.25, 0.5, 0.25))
    >>> bool(abs(shifted(0.0).p - start[:3, 3]).max() < 1e-12)
    True
    """

    def __init__(
        self,
        amplitude: npt.ArrayLike,
        frequency: npt.ArrayLike,
        *,
        center: npt.ArrayLike,
        orientation: npt.ArrayLike | None = None,
        t0: float = 0.0,
    ) -> None:
        super().__init__(
            array(amplitude, (3,), "amplitude"),
            array(frequency, (3,), "frequency"),
            array(center, (3,), "center"),
            np.eye(3) if orientation is None else rotation(orientation, "orientation"),
            float(array(t0, (), "t0")),
        )

    @classmethod
    def starting_at(
        cls, T: npt.ArrayLike, amplitude: npt.ArrayLike, frequency: npt.ArrayLike, *, t0: float = 0.0
    ) -> Lissajous:
        """Return the curve that starts at pose `T` at time `t0`, with constant orientation.

        Parameters
        ----------
        T : (4, 4) array_like
            Start pose, such as ``robot.forward_kinematics(q0)``.
        amplitude, frequency : (3,) array_like
            A, B, C [m] and a, b, c [Hz].
        t0 : float
            Start time [s].
        """
        start = pose(T, "T")
        center = start[:3, 3] - [0.0, array(amplitude, (3,), "amplitude")[1], 0.0]
        return cls(amplitude, frequency, center=center, orientation=start[:3, :3], t0=t0)


publish(__name__)
