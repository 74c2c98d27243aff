"""Adaptive backstepping in task space."""

from __future__ import annotations

from typing import Literal, NamedTuple

import numpy.typing as npt

from .. import _core
from ..checks import Array, one_of
from ..reference import TaskReference
from ..robot import Robot
from .adaptation import AdaptationLike
from .lyapunov_functions import AdaptiveLyapunov
from .null_space import PostureLike, task_arguments


class BacksteppingTerms(NamedTuple):
    """Terms of the backstepping law at one state, for m task rows and n joints.

    Attributes
    ----------
    e, e_dot : (m,) array
        Task error and its derivative (eqs. 27, 28).
    L, L_dot : (m, m) array
        Kinematics of the error and its derivative.
    dq_r, ddq_r : (n,) array
        Reference velocity (eq. 30) and its exact derivative.
    s : (n,) array
        dq_r - dq.
    tau : (n,) array
        Torque (eq. 33).

    Notes
    -----
    Equation numbers are those of the Thunder article.

    Examples
    --------
    >>> import thunder_py as th
    >>> robot = th.Robot.load("panda")
    >>> q = [0.0, -0.3, 0.0, -2.0, 0.0, 1.8, 0.7]
    >>> controller = th.Backstepping(robot, Lambda=5.0, K_p=50.0, K_d=2.0, adaptation=None, posture=None)
    >>> target = th.reference.SetPose(robot.forward_kinematics(q))
    >>> terms = controller.evaluate(q, [0.0] * 7, target(0.0))
    >>> terms.e.shape, bool(abs(terms.tau - robot.gravity_vector(q)).max() < 1e-9)
    ((6,), True)
    """

    e: Array
    e_dot: Array
    L: Array
    L_dot: Array
    dq_r: Array
    ddq_r: Array
    s: Array
    tau: Array


class Backstepping(AdaptiveLyapunov, _core.Backstepping):
    """Adaptive backstepping in task space; follows a `TaskReference`.

    ::

        e    = [p_d - p; r sin(theta)]      e' = L' xi_d - L J dq
        dq_r = J^+ L^-1 (L' xi_d + Lambda e) + N Lambda_posture (posture - q)      s = dq_r - dq
        tau  = Y_r(q, dq, dq_r, ddq_r) pihat + K_d s + J' L' K_p e
        pihat' = Gamma^-1 Y_u' s

    with N = I - J^+ J and ddq_r the exact derivative of dq_r. In continuous time V = 1/2 (e' K_p e + s' M s + pitilde'
    Gamma pitilde) has the derivative V' = -e' K_p Lambda e - s' K_d s; the posture does not change it, because J N = 0.
    Every gain is a number, one number per row or a symmetric positive definite matrix; K_p Lambda + Lambda K_p must be
    positive definite too.

    Parameters
    ----------
    robot : Robot
        The nominal model; the estimate starts at its parameters.
    Lambda : float, (m,) or (m, m) array_like
        [1/s], m = 6 rows, or 3 for ``task="position"``.
    K_p : float, (m,) or (m, m) array_like
        [N/m, N m].
    K_d : float, (n,) or (n, n) array_like
        [N m s/rad]. When sampled, it must stay well below inertia over period for each joint: 10 is unstable for the
        Panda's last joint at 1 kHz.
    adaptation : GradientAdaptation, NaturalAdaptation, float or array_like, or None
        Adaptation law and unknown parameters. A number or an array is short for ``GradientAdaptation(Gamma)`` with all
        parameters unknown; a larger Gamma adapts more slowly. None keeps the initial estimate.
    frame : int or str, optional
        Controlled frame, default the end effector.
    orientation : str
        Error of the orientation, as of `CLIK` and in docs/controllers.md. The default, r sin(theta) with its own
        Jacobian, is singular from 88.9 degrees; ``rotation_vector`` and ``quaternion`` reach goals beyond.
    task : {"pose", "position"}
        ``"position"`` leaves the orientation free.
    posture : (n,) array_like, "middle" or None
        Posture that attracts a redundant arm in the null space of the task; default the middle of the joint limits,
        where joints without limits are free. None only damps the null space, through s, as in the article.
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
    Thunder article, section 4, as corrected in docs/errata.md. The article's law is defined below 90 degrees of
    orientation error and away from kinematic singularities. From 88.9 degrees on, with another `orientation` where its
    error has no Jacobian, or if the condition number of J (Frobenius norms, meters and radians together) exceeds 200,
    the status is ``singular``, and the arm is held where it is, with its load (docs/controllers.md). Speeds are already
    high close to that limit: plan paths away from it.

    Signals: ``error`` (e), ``s``, ``parameters`` (the estimate). Status ``diverged`` once an estimate exceeds 1e6,
    until `reset`.

    Examples
    --------
    >>> import thunder_py as th
    >>> robot, q0 = th.Robot.load("panda"), [0.0, -0.3, 0.0, -2.0, 0.0, 1.8, 0.7]
    >>> target = robot.forward_kinematics(q0)
    >>> target[:3, 3] += 0.02
    >>> adaptation = th.control.GradientAdaptation(100.0, unknown="link7")
    >>> controller = th.Backstepping(robot, Lambda=5.0, K_p=50.0, K_d=2.0, adaptation=adaptation)
    >>> result = th.simulate(robot, controller, th.reference.SetPose(target), 1.0, q0=q0)
    >>> result.error_norm()[[0, -1]].round(3).tolist()
    [0.035, 0.001]
    """

    def __init__(
        self,
        robot: Robot,
        Lambda: npt.ArrayLike,
        K_p: npt.ArrayLike,
        K_d: npt.ArrayLike,
        *,
        adaptation: AdaptationLike,
        frame: int | str | None = None,
        orientation: str = "axis_angle",
        task: Literal["pose", "position"] = "pose",
        posture: PostureLike = "middle",
        Lambda_posture: npt.ArrayLike | None = None,
    ) -> None:
        position = one_of(task, ("pose", "position"), "task") == "position"
        self.Lambda, self.K_p, self.K_d = Lambda, K_p, K_d
        adapted = self._adapt(robot, adaptation)
        self._frame, self._orientation = frame, orientation
        _, _, kind, secondary = task_arguments(
            robot, range(3 if position else 6), frame, orientation, posture, Lambda_posture, "Lambda_posture"
        )
        super().__init__(robot, Lambda, K_p, K_d, *adapted, position, frame, kind, secondary)

    def evaluate(self, q: npt.ArrayLike, dq: npt.ArrayLike, reference: TaskReference) -> BacksteppingTerms:
        """Return the terms of the law at one state under the current estimate, which stays as it is.

        Parameters
        ----------
        q, dq : (n,) array_like
            State.
        reference : TaskReference
            Reference at this instant.

        Raises
        ------
        ValueError
            If the law is singular at this state.
        """
        return BacksteppingTerms(**super()._evaluate(q, dq, reference))
