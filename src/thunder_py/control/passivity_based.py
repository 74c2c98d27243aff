"""Passivity-based control."""

from __future__ import annotations

import numpy.typing as npt

from .. import _core
from ..kinematics.task_rows import require_robot
from ..robot import Robot

__all__ = ["PassivityBased"]


class PassivityBased(_core.PassivityBased):
    """Passivity-based control. Follows a `JointReference`.

    ::

        dq_r = dq_d + Lambda e      ddq_r = ddq_d + Lambda de      s = dq_r - dq      e = q_d - q
        tau  = M ddq_r + C dq_r + friction(dq) + G + K s

    It is the law of `SlotineLi` with a known model, and shapes the arm's energy where `ComputedTorque` cancels its
    dynamics.

    Parameters
    ----------
    robot : Robot
        The model, its friction included.
    Lambda : float, (n,) or (n, n) array_like
        [1/s].
    K : float, (n,) or (n, n) array_like
        [N m s/rad].

    Notes
    -----
    Lecture notes, lecture 32, where r is our s, with errata N-8. If the model is true, ``M ds + (C + K) s = 0``, so
    that ``1/2 s' M s`` falls as ``-s' K s``, and s and e vanish exponentially for any symmetric positive definite
    gains. Where Lambda and K commute, ``V = 1/2 s' M s + e' Lambda K e`` falls as
    ``-de' K de - e' Lambda K Lambda e``.

    Signals: ``error`` (q_d - q), ``s``.
    """

    def __init__(self, robot: Robot, Lambda: npt.ArrayLike, K: npt.ArrayLike) -> None:
        require_robot(robot)
        super().__init__(robot, Lambda, K)
