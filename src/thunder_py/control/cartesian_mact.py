"""Modified adaptive computed torque in task space."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

import numpy.typing as npt

from .. import _core
from ..robot import Robot
from .adaptation import AdaptationLike
from .lyapunov_functions import AdaptiveLyapunov
from .null_space import PostureLike, task_arguments


class CartesianMACT(AdaptiveLyapunov, _core.CartesianMACT):
    """Modified adaptive computed torque in task space; follows a `TaskReference`.

    ::

        e     = [p_d - p; r sin(theta)]      e' = L' xi_d - L J dq
        beta  = (L J)^+ L' xi_d + N Lambda_posture (posture - q)      alpha = d beta/dt      s = beta - dq
        tau   = Y_r(q, dq, beta, alpha) pihat + K_d s + J' L' K_p e
        pihat' = Gamma^-1 (Y_u' s + gamma W_u' R_t (y - W pihat))

    with N = I - (L J)^+ L J, and y = W pi the low-passed torque and its regressor. Unlike in `Backstepping`, the error
    is not part of the reference velocity beta: stiffness and damping are exactly K_p and K_d. Every gain is a number,
    one number per row or a symmetric positive definite matrix.

    Parameters
    ----------
    robot : Robot
        The nominal model; the estimate starts at its parameters.
    K_p : float, (m,) or (m, m) array_like
        Stiffness [N/m, N m], for the m rows of the task.
    K_d : float, (n,) or (n, n) array_like
        Damping of the joints [N m s/rad]. When sampled, it must stay well below inertia over period for each joint.
    adaptation : GradientAdaptation, NaturalAdaptation, float or array_like, or None
        Adaptation law and unknown parameters. A number or an array is short for ``GradientAdaptation(Gamma)`` with all
        parameters unknown; a larger Gamma adapts more slowly. None keeps the initial estimate.
    gamma : float
        Weight of the prediction error. With the default of `R_t` it is a ratio: 1 adapts as fast as `SlotineLi` with
        the same `K_d` and Gamma. With 0, e need not converge to zero at a set point.
    R_t : float, (n,) or (n, n) array_like, optional
        Weight of the joints in the prediction error; gamma R_t has the unit of 1 / K_d, rad/(N m s). Default K_d^-1.
    route : {"regressor", "acceleration"}
        Computation of W without measured accelerations, see `MACT`.
    cutoff : float
        Cutoff of the low-pass filter of torque and regressor [Hz].
    rows : sequence of int or str, optional
        Controlled rows, of ``x y z rx ry rz`` (or 0 to 5); default all.
    frame : int or str, optional
        Controlled frame, default the end effector.
    orientation : str
        Error of the orientation, as of `CLIK` and in docs/controllers.md. The default, r sin(theta) with its own
        Jacobian, is singular from 88.9 degrees; ``rotation_vector`` and ``quaternion`` reach goals beyond.
    posture : (n,) array_like, "middle" or None
        Posture that attracts a redundant arm in the null space of the task; default the middle of the joint limits,
        where joints without limits are free. None only damps the null space, through s.
    Lambda_posture : float, (n,) or (n, n) array_like, optional
        Gain of this attraction [1/s]; default 1.

    Attributes
    ----------
    adaptation : GradientAdaptation, NaturalAdaptation or None
        Adaptation law; None for a fixed estimate.
    unknown : UnknownParameters
        Parameters to adapt; all for a fixed estimate.

    Raises
    ------
    ValueError
        If a gain is not positive definite, or another argument is invalid.

    Notes
    -----
    D4.2, eqs. (68) and (69). The printed alpha is not the derivative of beta, which invalidates the proof (errata
    D-12). With the derivative, ``V = 1/2 (e' K_p e + s' M s + pitilde' Gamma pitilde)`` has
    ``V' = -s' K_d s - gamma (W pitilde)' R_t (W pitilde)``. In a partial task, L J and L' xi_d stand for their chosen
    rows. Integration of the estimate and the applied torque are as in `MACT`.

    If the orientation error has no Jacobian, or the condition number of J (Frobenius norms) exceeds 200, the status is
    ``singular``, and the arm is held where it is, with its load (docs/controllers.md).

    Signals: ``error`` (e), ``s``, ``prediction_error`` (y - W pihat), ``parameters``. Status ``diverged`` once an
    estimate exceeds 1e6, until `reset`.

    Examples
    --------
    >>> import thunder_py as th
    >>> robot, q0 = th.Robot.load("panda"), [0.0, -0.3, 0.0, -2.0, 0.0, 1.8, 0.7]
    >>> target = robot.forward_kinematics(q0)
    >>> target[:3, 3] += 0.02
    >>> controller = th.CartesianMACT(robot, [400] * 3 + [40] * 3, [20] * 4 + [5, 5, 3], adaptation=None)
    >>> result = th.simulate(robot, controller, th.reference.SetPose(target), 4.0, q0=q0)
    >>> result.error_norm()[[0, -1]].round(3).tolist()
    [0.035, 0.003]
    """

    def __init__(
        self,
        robot: Robot,
        K_p: npt.ArrayLike,
        K_d: npt.ArrayLike,
        *,
        adaptation: AdaptationLike,
        gamma: float = 1.0,
        R_t: npt.ArrayLike | None = None,
        route: Literal["regressor", "acceleration"] = "regressor",
        cutoff: float = 5.0,
        rows: Sequence[int | str] | None = None,
        frame: int | str | None = None,
        orientation: str = "axis_angle",
        posture: PostureLike = "middle",
        Lambda_posture: npt.ArrayLike | None = None,
    ) -> None:
        self.K_p, self.K_d = K_p, K_d
        law, mask = self._adapt(robot, adaptation)
        prediction = self._prediction(route, cutoff, gamma, R_t, K_d)
        self._frame, self._orientation = frame, orientation
        task = task_arguments(robot, rows, frame, orientation, posture, Lambda_posture, "Lambda_posture")
        super().__init__(robot, K_p, K_d, law, mask, prediction, *task)
