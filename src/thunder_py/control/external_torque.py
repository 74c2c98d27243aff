"""Observers of the external torque on an arm and of its power."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from .. import _core
from ..checks import Array, of_kind, positive, positives
from ..errors import ThunderError
from ..robot import Robot
from .contact import ContactDetector

#: default damping ratio of the second order: the fastest response without overshoot
_CRITICAL = 1.0


def _filter(bandwidth: npt.ArrayLike, size: int, order: int, damping_ratio: float | None) -> tuple[Array, int, float]:
    """Check the arguments of the low-pass."""
    if isinstance(order, bool) or order not in (1, 2):
        raise ThunderError(f"order must be 1 or 2, got {order!r}")
    if damping_ratio is not None and order == 1:
        raise ThunderError(f"damping_ratio must be None for order 1, got {damping_ratio!r}")
    ratio = _CRITICAL if damping_ratio is None else positive(damping_ratio, "damping_ratio")
    return positives(bandwidth, size, "bandwidth"), int(order), ratio


def _detection(detector: ContactDetector | None, size: int) -> dict[str, Any]:
    """Return the core's arguments of a detector."""
    if detector is None:
        return {}
    rule = of_kind(detector, ContactDetector, "detector")
    return {"thresholds": rule._sized(size), "samples": rule.samples, "release": rule.release}


class MomentumObserver(_core.MomentumObserver):
    """Observer of the external torque from the generalized momentum, without accelerations.

    The estimate r of the torque that the environment exerts on the arm, at the joints, is a low-pass of the true one:
    ``r = w / (s + w) tau_ext``, or ``w^2 / (s^2 + 2 zeta w s + w^2) tau_ext`` for the second order.

    Parameters
    ----------
    robot : Robot
        Model of the arm, with its friction, rotors, armature and known payload; errors of the model appear in r.
    bandwidth : float or (n,) array_like
        w [rad/s]. A larger value shortens the response, 1/w, and passes more noise of dq.
    order : {1, 2}
        Order of the low-pass. The second suppresses noise above w more.
    damping_ratio : float, optional
        zeta, for the second order; default 1, critical damping.
    detector : ContactDetector, optional
        Rule for contacts; `contact` is then set in every step.

    Attributes
    ----------
    detector : ContactDetector or None
        Rule for contacts.

    Raises
    ------
    ValueError
        If an argument is invalid.

    Notes
    -----
    De Luca and Mattone (2003, 2005). With the momentum p = M dq, ``p' = tau + beta + tau_ext`` and
    ``beta = C' dq - G - friction``. Over a step h during which tau is held, ::

        tau_mean = (p+ - p) / h - tau - (beta + beta+) / 2        r+ = a r + (1 - a) tau_mean,    a = exp(-w h)

    which is exact but for the trapezoidal rule of beta, and stable for any w h. The second order uses the exponential
    of its matrix. A joint's torque must be that on its link: at elastic joints of `robot` the torque of springs and
    dampers, from the state x, dx of their motors, is added to beta, and `tau` is ignored.

    Examples
    --------
    A push of 5 N m on the second joint for 0.2 s:

    >>> import numpy as np
    >>> import thunder_py as th
    >>> robot = th.Robot.load("elbow")
    >>> detector = th.control.ContactDetector(2.0)
    >>> observer = th.control.MomentumObserver(robot, 50.0, detector=detector)
    >>> push = th.simulation.ExternalTorque([0.0, 5.0], start=0.1, stop=0.3)
    >>> law = th.ComputedTorque(robot, 100.0, 20.0)
    >>> rest = th.reference.SetPoint([0.3, 0.2])
    >>> run = th.simulate(robot, law, rest, 0.5, external=push, observers=observer)
    >>> run.external_estimate[[99, 299, 499]].round(2).tolist()
    [[0.0, 0.0], [0.0, 5.0], [0.0, 0.0]]
    >>> float(run.t[np.flatnonzero(run.contact[:, 1])[0]].round(3))  # 5 N m exp(-w t) below 3 N m, third time
    0.113
    """

    def __init__(
        self,
        robot: Robot,
        bandwidth: npt.ArrayLike,
        *,
        order: int = 1,
        damping_ratio: float | None = None,
        detector: ContactDetector | None = None,
    ) -> None:
        of_kind(robot, Robot, "robot")
        n = robot.n
        self.detector = detector
        super().__init__(robot, *_filter(bandwidth, n, order, damping_ratio), **_detection(detector, n))


class EnergyObserver(_core.EnergyObserver):
    """Observer of the power of the external torque, from the energy of the arm.

    The estimate is a low-pass of ``dq' tau_ext``, like that of `MomentumObserver`. It has one entry, needs no matrices,
    and sees no external torque on an arm at rest or across its motion: use it for comparison.

    Parameters
    ----------
    robot : Robot
        Model of the arm.
    bandwidth : float
        w [rad/s].
    order : {1, 2}
        Order of the low-pass.
    damping_ratio : float, optional
        zeta, for the second order; default 1, critical damping.
    detector : ContactDetector, optional
        Rule for contacts, with thresholds in W.

    Attributes
    ----------
    detector : ContactDetector or None
        Rule for contacts.

    Raises
    ------
    ValueError
        If an argument is invalid.

    Notes
    -----
    De Luca, Albu-Schaeffer, Haddadin and Hirzinger (2006). With E = T + U, ``E' = dq' (tau - friction + tau_ext)``. The
    power of the held torque and of friction is averaged over a step by the trapezoidal rule.

    Examples
    --------
    >>> import thunder_py as th
    >>> robot = th.Robot.load("elbow")
    >>> observer = th.control.EnergyObserver(robot, 50.0)
    >>> push = th.simulation.ExternalTorque([0.0, 5.0])
    >>> law, motion = th.ComputedTorque(robot, 100.0, 20.0), th.reference.Sinusoid([0.5, 0.5], 0.5)
    >>> run = th.simulate(robot, law, motion, 0.5, external=push, observers=observer)
    >>> power = 5.0 * run.dq[:, 1]
    >>> bool(abs(run.signals["external_power"][-1, 0] - power[-1]) < 0.1 * abs(power).max())
    True
    """

    def __init__(
        self,
        robot: Robot,
        bandwidth: float,
        *,
        order: int = 1,
        damping_ratio: float | None = None,
        detector: ContactDetector | None = None,
    ) -> None:
        of_kind(robot, Robot, "robot")
        self.detector = detector
        width = np.atleast_1d(positive(bandwidth, "bandwidth"))
        super().__init__(robot, *_filter(width, 1, order, damping_ratio), **_detection(detector, 1))
