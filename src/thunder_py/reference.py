"""References: what a controller is asked to follow, as values and as functions of time.

A reference is any object that is called with the time and returns a `JointReference` or a `TaskReference` (or
anything with the same attributes). Those of this module are evaluated in C++ inside `thunder_py.simulate`.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import numpy.typing as npt

from . import _core
from .checks import Array, array, pose, real

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["JointReference", "Lissajous", "SetPoint", "SetPose", "Sinusoid", "TaskReference"]


class JointReference(NamedTuple):
    """Joint position, velocity and acceleration.

    Attributes
    ----------
    q, dq, ddq : (..., n) array
        [rad or m] and their time derivatives.
    """

    q: Array
    dq: Array
    ddq: Array


class TaskReference(NamedTuple):
    """Pose of a frame, its twist and the derivative of the twist; world axes, linear part first.

    Attributes
    ----------
    p : (..., 3) array
        Position [m].
    R : (..., 3, 3) array
        Orientation.
    xi, xi_dot : (..., 6) array
        Twist [m/s, rad/s] and its time derivative.
    """

    p: Array
    R: Array
    xi: Array
    xi_dot: Array


def _sample(source: _core.JointReferenceSource | _core.TaskReferenceSource, t: npt.ArrayLike) -> tuple[Array, ...]:
    if isinstance(t, float) and math.isfinite(t):  # the way of a control loop
        return source.at(t)
    times = real(t, "t", expected="a time or an array of times")
    if times.ndim == 0:
        return source.at(float(times))
    return tuple(part.reshape(*times.shape, *part.shape[1:]) for part in source.sample(times.ravel()))


class _JointSource:
    def __call__(self, t: npt.ArrayLike) -> JointReference:
        """Return the reference at time `t`, or at an array of times."""
        return JointReference(*_sample(self, t))  # type: ignore[arg-type]

    def plot(self, duration: float | None = None, *, axes: Sequence[Axes] | None = None) -> npt.NDArray[np.object_]:
        """Draw position, velocity and acceleration over time.

        Parameters
        ----------
        duration : float, optional
            From the start on [s]; default the reference's own. One that has none, such as a `Sinusoid`, needs it.
        axes : sequence of three Axes, optional
            To draw on; default a new figure.

        Returns
        -------
        (3,) array of Axes
            For q, dq and ddq.
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
            From time 0 on [s]; default the reference's own. One that has none, such as a `Lissajous`, needs it.
        axes : mapping of str to Axes, optional
            To draw on: ``"path"`` (three-dimensional) and ``"p"``, ``"v"``, ``"w"``; default a new figure. What is not
            in the mapping is not drawn.

        Returns
        -------
        dict of str to Axes
            One per panel.
        """
        from .trajectory.plot import plot_task_reference

        return plot_task_reference(self, duration, axes=axes)


class SetPoint(_JointSource, _core.SetPoint):
    """Joints at rest.

    Parameters
    ----------
    q : (n,) array_like
        Joint positions [rad or m].
    """

    def __init__(self, q: npt.ArrayLike) -> None:
        super().__init__(array(q, (None,), "q"))


class Sinusoid(_JointSource, _core.Sinusoid):
    """A sinusoid in every joint: ``centre + amplitude sin(2 pi frequency t + phase)``.

    Parameters
    ----------
    amplitude : (n,) array_like
        [rad or m].
    frequency : float or (n,) array_like
        [Hz].
    centre : float or (n,) array_like
        [rad or m].
    phase : float or (n,) array_like
        [rad].
    """

    def __init__(
        self,
        amplitude: npt.ArrayLike,
        frequency: npt.ArrayLike,
        *,
        centre: npt.ArrayLike = 0.0,
        phase: npt.ArrayLike = 0.0,
    ) -> None:
        A = array(amplitude, (None,), "amplitude")

        def per_joint(value: npt.ArrayLike, what: str) -> Array:
            return np.full(A.shape, array(value, (), what)) if np.ndim(value) == 0 else array(value, A.shape, what)

        super().__init__(A, per_joint(frequency, "frequency"), per_joint(centre, "centre"), per_joint(phase, "phase"))


class SetPose(_TaskSource, _core.SetPose):
    """A pose at rest.

    Parameters
    ----------
    T : (4, 4) array_like
        The pose.
    """

    def __init__(self, T: npt.ArrayLike) -> None:
        given = pose(T, "T")
        super().__init__(given[:3, 3], given[:3, :3])


class Lissajous(_TaskSource, _core.Lissajous):
    """A Lissajous curve at constant orientation (Thunder article, section 5).

    ``p = centre + (A sin 2 pi a (t - t0), B cos 2 pi b (t - t0), C sin 2 pi c (t - t0))``. At t0 it is at
    ``centre + (0, B, 0)``; `starting_at` moves the curve so that it starts where you want.

    Parameters
    ----------
    amplitude : (3,) array_like
        A, B, C [m].
    frequency : (3,) array_like
        a, b, c [Hz].
    centre : (3,) array_like
        [m].
    orientation : (3, 3) array_like, optional
        Default the identity.
    t0 : float
        [s].
    """

    def __init__(
        self,
        amplitude: npt.ArrayLike,
        frequency: npt.ArrayLike,
        *,
        centre: npt.ArrayLike,
        orientation: npt.ArrayLike | None = None,
        t0: float = 0.0,
    ) -> None:
        T = np.eye(4)
        T[:3, :3] = np.eye(3) if orientation is None else array(orientation, (3, 3), "orientation")
        super().__init__(
            array(amplitude, (3,), "amplitude"),
            array(frequency, (3,), "frequency"),
            array(centre, (3,), "centre"),
            pose(T, "orientation")[:3, :3],
            float(array(t0, (), "t0")),
        )

    @classmethod
    def starting_at(
        cls, T: npt.ArrayLike, amplitude: npt.ArrayLike, frequency: npt.ArrayLike, *, t0: float = 0.0
    ) -> Lissajous:
        """Return the curve that is at pose `T` at time `t0` and keeps its orientation.

        Parameters
        ----------
        T : (4, 4) array_like
            Start, such as ``robot.forward_kinematics(q0)``.
        amplitude, frequency : (3,) array_like
            A, B, C [m] and a, b, c [Hz].
        t0 : float
            [s].
        """
        start = pose(T, "T")
        centre = start[:3, 3] - [0.0, array(amplitude, (3,), "amplitude")[1], 0.0]
        return cls(amplitude, frequency, centre=centre, orientation=start[:3, :3], t0=t0)
