"""Adaptive backstepping in task space with unknown lengths of the arm."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal, NamedTuple

import numpy as np
import numpy.typing as npt

from .. import _core
from ..checks import Array, of_kind, one_of
from ..errors import ThunderError
from ..reference import TaskReference
from ..robot import Robot
from ..robot.lengths import lengths_of
from .adaptation import AdaptationLike, GradientAdaptation
from .length_adaptation import LengthAdaptation, LengthModel
from .lyapunov_functions import AdaptiveLyapunov, LoggedRun, gain, half_form
from .null_space import PostureLike, task_arguments

__all__ = ["AdaptiveJacobianBackstepping", "AdaptiveJacobianTerms", "ExactPosition"]


class AdaptiveJacobianTerms(NamedTuple):
    """Terms of the law at one state, for m task rows, n joints and k unknown lengths.

    Attributes
    ----------
    e, e_dot : (m,) array
        Measured task error and its derivative.
    L, L_dot : (m, m) array
        Kinematics of the error and its derivative.
    J, J_dot : (m, n) array
        Jacobian under the estimated lengths and its derivative, which contains that of the estimate.
    W, P : (m, k) and (3, k) array
        Derivatives of J dq and of the position by the unknown lengths.
    tracking, prediction : (k,) array
        The two parts of the derivative of the estimated lengths [m/s].
    dq_r, ddq_r : (n,) array
        Reference velocity and its exact derivative.
    s : (n,) array
        dq_r - dq.
    Y : (n, a, 1 + u) array
        Regressor of the a monomials of the lengths times 1 and the u unknown parameters.
    tau : (n,) array
        Torque.

    Examples
    --------
    >>> import thunder_py as th
    >>> robot, q = th.Robot.load("panda"), [0.0, -0.3, 0.0, -2.0, 0.0, 1.8, 0.7]
    >>> lengths = th.control.LengthAdaptation(200.0, unknown=["tool_x", "tool_z"])
    >>> law = th.AdaptiveJacobianBackstepping(
    ...     robot, 5.0, 50.0, 2.0, adaptation=None, lengths=lengths, measure=th.control.ExactPosition(robot),
    ...     posture=None,
    ... )  # fmt: skip
    >>> terms = law.evaluate(q, [0.0] * 7, th.reference.SetPose(robot.forward_kinematics(q))(0.0))
    >>> terms.W.shape, terms.Y.shape, bool(abs(terms.tau - robot.gravity_vector(q)).max() < 1e-9)
    ((6, 2), (7, 1, 1), True)
    """

    e: Array
    e_dot: Array
    L: Array
    L_dot: Array
    J: Array
    J_dot: Array
    W: Array
    P: Array
    tracking: Array
    prediction: Array
    dq_r: Array
    ddq_r: Array
    s: Array
    Y: Array
    tau: Array


@dataclass(frozen=True)
class ExactPosition:
    """Measurement of the end effector without errors, for simulations: ``measure`` of `AdaptiveJacobianBackstepping`.

    Called with q and dq, it returns position [m] and velocity [m/s] of the end effector of `robot`, (3,) each.

    Parameters
    ----------
    robot : Robot
        Robot with the true lengths, the plant.

    Examples
    --------
    >>> import thunder_py as th
    >>> p, v = th.control.ExactPosition(th.Robot.load("elbow"))([0.0, 0.0], [1.0, 0.0])
    >>> p.round(3).tolist(), v.round(3).tolist()
    ([0.9, 0.0, 0.0], [0.0, 0.9, 0.0])
    """

    robot: Robot

    def __call__(self, q: npt.ArrayLike, dq: npt.ArrayLike) -> tuple[Array, Array]:
        """Return position and velocity."""
        return self.robot.forward_kinematics(q)[:3, 3], self.robot.jacobian(q)[:3] @ np.asarray(dq, dtype=np.float64)


class AdaptiveJacobianBackstepping(AdaptiveLyapunov, _core.AdaptiveJacobianBackstepping):
    """Adaptive backstepping with unknown lengths and inertial parameters; follows a `TaskReference`.

    With Jhat the Jacobian under the estimated lengths lhat, W the derivative of J dq by the unknown ones and P that of
    the position p::

        dq_r  = Jhat^+ L^-1 (L' xi_d + Lambda e) + N Lambda_posture (posture - q)      s = dq_r - dq
        tau   = Y thetahat + K_d s + Jhat' L' K_p e
        lhat' = Gamma_l^-1 (-W' K_p e + gamma P' (p - phat))      thetahat' = Gamma^-1 Y' s

    with N = I - Jhat^+ Jhat, and ddq_r the exact derivative of dq_r, that of lhat included. The torques of the arm are
    polynomials in its lengths: theta contains the inertial parameters, the monomials of the lengths up to the second
    degree, and their products. In continuous time V = 1/2 (e' K_p e + s' M s + thetatilde' Gamma thetatilde + ltilde'
    Gamma_l ltilde) has the derivative V' = -e' K_p Lambda e - s' K_d s - gamma |P ltilde|^2; the posture does not
    change it, because Jhat N = 0.

    If no length is unknown, it equals `Backstepping`.

    Parameters
    ----------
    robot : Robot
        The nominal model, with a Denavit-Hartenberg table; the estimates start at its parameters and lengths.
    Lambda : float, (m,) or (m, m) array_like
        [1/s], m = 6 rows, or 3 for ``task="position"``.
    K_p : float, (m,) or (m, m) array_like
        [N/m, N m].
    K_d : float, (n,) or (n, n) array_like
        [N m s/rad]; bounds as for `Backstepping`.
    adaptation : GradientAdaptation, float or array_like, or None
        Adaptation law of the inertial parameters, without bounds and dead zone; None if they are known.
    lengths : LengthAdaptation or None
        Adaptation law of the lengths; None if they are known.
    measure : callable
        ``measure(q, dq)`` returns the measured position [m] and velocity [m/s] of the end effector in the world, (3,)
        each, or None without a measurement (status ``invalid_input``). A sensor ignores its arguments; `ExactPosition`
        simulates it.
    task : {"pose", "position"}
        ``"position"`` leaves the orientation free.
    orientation : str
        Error of the orientation; see `Backstepping`.
    posture : (n,) array_like, "middle" or None
        Posture that attracts a redundant arm in the null space of the estimated Jacobian; see `Backstepping`.
    Lambda_posture : float, (n,) or (n, n) array_like, optional
        Gain of this attraction [1/s]; default 1.

    Attributes
    ----------
    adaptation : GradientAdaptation or None
        Adaptation law of the inertial parameters.
    unknown : UnknownParameters
        Inertial parameters to adapt; all for None.

    Raises
    ------
    ValueError
        If a gain is not positive definite, or another argument is invalid.

    Notes
    -----
    Fourth stage of the Thunder article's backstepping (section 4, Remark 1), after Cheah, Liu and Slotine (2006);
    derivation and conditions: docs/theory/adaptive_control.md. Measured are the joints, and the position and velocity
    of the end effector. Orientation and angular velocity depend on the joint angles and twist angles only, which are
    known. The base frame, in which the position is measured, is known too.

    Signals: ``error`` (e), ``s``, ``parameters`` (estimate of all p inertial parameters), ``lengths`` (estimate of the
    unknown lengths) and ``products`` (thetahat, flat, without its first entry, a constant 1).

    The law is singular where `Backstepping` is, with the estimated Jacobian, and then holds the arm as that does
    (docs/controllers.md). A NaN in the measurement is an ``invalid_input``. If torques are clipped, only the predicted
    position adapts the lengths. Estimates need not converge to the true values. With a positive ``gamma`` the position
    predicted with them converges to the measured one.

    Examples
    --------
    >>> import thunder_py as th
    >>> from thunder_py.robot.lengths import with_lengths
    >>> robot, q0 = th.Robot.load("panda"), [0.0, -0.3, 0.0, -2.0, 0.0, 1.8, 0.7]
    >>> plant = with_lengths(robot, {"tool_x": 0.05, "tool_z": 0.1})
    >>> target = plant.forward_kinematics(q0)
    >>> target[:3, 3] += 0.05
    >>> lengths = th.control.LengthAdaptation(200.0, unknown=["tool_x", "tool_z"], gamma=1000.0)
    >>> law = th.AdaptiveJacobianBackstepping(
    ...     robot, 5.0, 50.0, 2.0, adaptation=None, lengths=lengths, measure=th.control.ExactPosition(plant)
    ... )
    >>> run = th.simulate(plant, law, th.reference.SetPose(target), 0.5, q0=q0)
    >>> law.lengths.round(3).tolist()
    [0.05, 0.1]
    """

    def __init__(
        self,
        robot: Robot,
        Lambda: npt.ArrayLike,
        K_p: npt.ArrayLike,
        K_d: npt.ArrayLike,
        *,
        adaptation: AdaptationLike,
        lengths: LengthAdaptation | None,
        measure: Callable[[Array, Array], tuple[npt.ArrayLike, npt.ArrayLike] | None],
        task: Literal["pose", "position"] = "pose",
        orientation: str = "axis_angle",
        posture: PostureLike = "middle",
        Lambda_posture: npt.ArrayLike | None = None,
    ) -> None:
        position = one_of(task, ("pose", "position"), "task") == "position"
        self.Lambda, self.K_p, self.K_d, self._orientation = Lambda, K_p, K_d, orientation
        law, mask = self._adapt(robot, adaptation)
        _, _, kind, secondary = task_arguments(
            robot, range(3 if position else 6), None, orientation, posture, Lambda_posture, "Lambda_posture"
        )
        self._check_adaptation()
        if not callable(measure):
            raise ThunderError(f"measure must be callable with q and dq, got {type(measure).__name__}")
        sensor = measure.robot if isinstance(measure, ExactPosition) else measure
        if lengths is not None:
            of_kind(lengths, LengthAdaptation, "lengths")
        self._model = model = LengthModel(robot, lengths, np.array(mask) & (law is not None))
        gains = (model.Gamma, model.gamma, model.Gamma_torque)
        super().__init__(robot, Lambda, K_p, K_d, law, model, *gains, sensor, position, kind, secondary)

    def _check_adaptation(self) -> None:
        law = self.adaptation
        if law is None:
            return
        if not isinstance(law, GradientAdaptation) or law.lower is not None or law.upper is not None:
            raise ThunderError("adaptation must be a GradientAdaptation without bounds, a number, an array or None")
        if np.any(np.asarray(law.dead_zone) != 0.0):
            raise ThunderError("adaptation must have no dead zone, which the law with unknown lengths does not apply")

    def evaluate(self, q: npt.ArrayLike, dq: npt.ArrayLike, reference: TaskReference) -> AdaptiveJacobianTerms:
        """Return the terms of the law at one state under the current estimates, which stay as they are.

        Parameters
        ----------
        q, dq : (n,) array_like
            State.
        reference : TaskReference
            Reference at this instant.

        Raises
        ------
        ValueError
            If the law is singular at this state, or an input is not finite.
        """
        return AdaptiveJacobianTerms(**super()._evaluate(q, dq, reference))

    def lyapunov(self, robot: Robot, result: LoggedRun) -> Array:
        """Return V at each logged instant, (k,); see `SimulationResult.lyapunov`."""
        V, model = super().lyapunov(robot, result), self._model
        if not model.k:
            return V
        true = lengths_of(robot)[model.indices]
        V += half_form(true - result.signals["lengths"], model.Gamma)
        products = np.hstack([np.ones((len(V), 1)), result.signals["products"]])
        right = model.products(true, robot.parameters)
        wrong = (right - products.reshape(len(V), *right.shape))[:, 1:]
        V += 0.5 * model.Gamma_torque * (wrong[..., 0] ** 2).sum(axis=1)
        if self.adaptation is not None:
            Gamma = gain(self.adaptation.Gamma, wrong.shape[2] - 1)  # type: ignore[union-attr]
            V += 0.5 * np.einsum("kai,ij,kaj->k", wrong[..., 1:], Gamma, wrong[..., 1:])
        return V

    def lyapunov_dot(self, robot: Robot, result: LoggedRun) -> Array | None:
        """Return V_dot at each logged instant, (k,), or None where its expression does not hold."""
        V_dot, model = super().lyapunov_dot(robot, result), self._model
        others = np.ones(2 * robot.n + 3, dtype=bool)
        others[model.indices] = False
        if V_dot is None or not np.allclose(lengths_of(robot)[others], lengths_of(model.robot)[others], rtol=1e-9):
            return None
        moved = model.offsets(result.q, lengths_of(robot)[model.indices] - result.signals["lengths"])
        return np.asarray(V_dot - model.gamma * (moved**2).sum(axis=1))
