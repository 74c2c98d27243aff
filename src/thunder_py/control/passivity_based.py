"""Passivity-based control."""

from __future__ import annotations

import numpy.typing as npt

from .. import _core
from ..checks import of_kind
from ..robot import Robot


class PassivityBased(_core.PassivityBased):
    """Passivity-based control; follows a `JointReference`.

    ::

        dq_r = dq_d + Lambda e      ddq_r = ddq_d + Lambda de      s = dq_r - dq      e = q_d - q
        tau  = M ddq_r + C dq_r + friction(dq) + G + K_d s

    This is the law of `SlotineLi` with a known model. Unlike `ComputedTorque` it does not cancel the dynamics but keeps
    their passivity.

    Parameters
    ----------
    robot : Robot
        The model, its friction included.
    Lambda : float, (n,) or (n, n) array_like
        [1/s].
    K_d : float, (n,) or (n, n) array_like
        [N m s/rad].

    Raises
    ------
    ValueError
        If a gain is not positive definite, or another argument is invalid.

    Notes
    -----
    Lecture notes, lecture 32, where r is our s, with errata N-8. With the true model ``M ds + (C + K_d) s = 0``:
    ``1/2 s' M s`` has the derivative ``-s' K_d s``, and s and e converge to zero exponentially for symmetric positive
    definite gains. If Lambda and K_d commute, ``V = 1/2 s' M s + e' Lambda K_d e`` has the derivative
    ``-de' K_d de - e' Lambda K_d Lambda e``.

    Signals: ``error`` (q_d - q), ``s``.

    Examples
    --------
    >>> import thunder_py as th
    >>> robot = th.Robot.load("elbow")
    >>> controller = th.PassivityBased(robot, Lambda=5.0, K_d=20.0)
    >>> target = th.reference.SetPoint([0.5, 0.8])
    >>> result = th.simulate(robot, controller, target, 3.0, q0=[0.0, 0.5])
    >>> result.error_norm()[[0, -1]].round(3).tolist(), controller.status.name
    ([0.583, 0.0], 'ok')
    """

    def __init__(self, robot: Robot, Lambda: npt.ArrayLike, K_d: npt.ArrayLike) -> None:
        of_kind(robot, Robot, "robot")
        super().__init__(robot, Lambda, K_d)
