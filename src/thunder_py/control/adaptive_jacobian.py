"""Adaptive backstepping in task space with unknown lengths of the arm."""

from __future__ import annotations

from collections.abc import Callable
from copy import deepcopy
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

import numpy as np
import numpy.typing as npt

from .. import _core
from .._core import Status, StepEnd
from ..checks import Array, array, is_pose, of_kind, one_of, real
from ..errors import ThunderError
from ..kinematics.task_rows import resolve_orientation
from ..reference import TaskReference
from ..robot import Robot
from ..robot.lengths import lengths_of
from ..spatial.single import make_pose
from .adaptation import AdaptationLike, GradientAdaptation
from .backstepping import Backstepping
from .length_adaptation import LengthAdaptation, LengthModel
from .length_estimate import LengthEstimate
from .lyapunov_functions import AdaptiveLyapunov, LoggedRun, gain, half_form
from .null_space import PostureLike, null_space

__all__ = ["AdaptiveJacobianBackstepping", "AdaptiveJacobianTerms", "ExactPosition"]

#: limits of `Backstepping`: of the condition number, and of that of a held arm
_LARGEST_CONDITION, _RELEASE_CONDITION = 200.0, 180.0


class _TaskError(NamedTuple):
    """Error of a measured motion, and the measured position (3,)."""

    p: Array
    regular: bool
    e: Array
    e_dot: Array
    f: Array
    f_dot: Array
    L: Array
    L_dot: Array


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


class AdaptiveJacobianBackstepping(AdaptiveLyapunov):
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

    The law is written in Python; `Backstepping`, which it equals if no length is unknown, is compiled.

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
    predicted with them converges to the measured one. Unlike a compiled controller, an object is not protected against
    use by several threads.

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
        secondary: dict[str, Any] = {"posture": posture, "Lambda_posture": Lambda_posture}
        Backstepping(robot, Lambda, K_p, K_d, adaptation=None, task=task, **secondary)  # checks the arguments
        self._orientation, self._kind = orientation, resolve_orientation(orientation)
        self._end = _End(robot, K_d)
        self._adapt(robot, adaptation)
        self.robot, self.Lambda, self.K_p, self.K_d = robot, Lambda, K_p, K_d
        if not callable(measure):
            raise ThunderError(f"measure must be callable with q and dq, got {type(measure).__name__}")
        self._measure, self._m = measure, 3 if one_of(task, ("pose", "position"), "task") == "position" else 6
        self._gains = gain(Lambda, self._m), gain(K_p, self._m), gain(K_d, robot.n)
        rest, attracted, own = null_space(robot, self._m, posture, Lambda_posture, "Lambda_posture")
        self._posture = np.zeros(robot.n) if rest is None else rest
        attraction = gain(1.0 if own is None else own, robot.n) * np.outer(attracted, attracted)
        self._attraction = 0.0 * attraction if rest is None else attraction
        unknown = self.unknown.mask if self.adaptation is not None else np.zeros(robot.p, dtype=bool)
        self._model = LengthModel(
            robot, None if lengths is None else of_kind(lengths, LengthAdaptation, "lengths"), unknown
        )
        self._estimate = LengthEstimate(self._model, robot.parameters, self._Gamma)
        self.reset()

    def __copy__(self) -> AdaptiveJacobianBackstepping:
        """Return a controller with its own state and the same measurement."""
        copied = object.__new__(type(self))
        own = {name: deepcopy(self.__dict__[name]) for name in ("_end", "_estimate", "_signals")}
        copied.__dict__.update(self.__dict__ | own)
        return copied

    def __repr__(self) -> str:
        return f"<{type(self).__name__} of {self.robot.name}, {self.status}>"

    @property
    def _Gamma(self) -> Array:
        """Gain of the unknown inertial parameters, (u, u)."""
        law = self.adaptation
        if law is None:
            return np.zeros((0, 0))
        if not isinstance(law, GradientAdaptation) or law.lower is not None or law.upper is not None:
            raise ThunderError("adaptation must be a GradientAdaptation without bounds, a number, an array or None")
        if np.any(np.asarray(law.dead_zone) != 0.0):
            raise ThunderError("adaptation must have no dead zone, which the law with unknown lengths does not apply")
        return gain(law.Gamma, int(self.unknown.mask.sum()))

    @property
    def lengths(self) -> Array:
        """Estimate of the unknown lengths [m], (k,)."""
        return self._estimate.lengths.copy()

    @property
    def parameters(self) -> Array:
        """Estimate of all inertial parameters, (p,)."""
        return self._signals["parameters"].copy()

    @property
    def signals(self) -> dict[str, Array]:
        """Copies of the signals of the last step, by name."""
        return {name: values.copy() for name, values in self._signals.items()}

    @property
    def torque_limits(self) -> Array | None:
        """Symmetric torque limits [N m or N]: a number, (n,) or None (the default); see `Backstepping`."""
        return self._end.torque_limits

    @torque_limits.setter
    def torque_limits(self, limits: npt.ArrayLike | None) -> None:
        self._end.torque_limits = limits

    @property
    def status(self) -> Status:
        """Status of the last step."""
        return self._end.status

    def reset(self) -> None:
        """Return to the state after construction."""
        self._estimate.reset()
        self._end.reset()
        self._signals: dict[str, Array] = {
            "error": np.zeros(self._m),
            "s": np.zeros(self.robot.n),
            "parameters": self.robot.parameters.copy(),
            "lengths": self.lengths,
            "products": self._estimate.products.ravel()[1:].copy(),
        }

    def step(self, t: float, q: npt.ArrayLike, dq: npt.ArrayLike, reference: TaskReference) -> Array:
        """Compute the torque (n,) [N m or N] at time t [s] and set `status`.

        Invalid measurements and references do not raise. Without a measurement of the joints the torque is the
        estimated gravity minus ``K_d dq``; with one the arm is held.
        """
        position, velocity = (_numbers(v, (self.robot.n,), name) for v, name in ((q, "q"), (dq, "dq")))
        tau, status = np.zeros(self.robot.n), Status.invalid_input
        if np.isfinite(t) and np.isfinite(position).all() and np.isfinite(velocity).all():
            tau, status = self._law(t, position, velocity, reference)
        tau = self._end.step(status, t, position, velocity, tau, self._torque)
        if self.status is Status.saturated or (self.status is Status.ok and self._end.settling):
            self._estimate.ignore_tracking()
        elif self.status is not Status.ok:
            self._estimate.freeze()
        return tau

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
        n = self.robot.n
        position, velocity = array(q, (n,), "q"), array(dq, (n,), "dq")
        task = self._task_error(position, velocity, reference)
        if task is None:
            raise ThunderError("the reference and the measurement must be finite, with a rotation R")
        terms = self._terms(position, velocity, task)
        if terms is None:
            raise ThunderError("the law is singular at this state")
        return terms

    def _law(self, t: float, q: Array, dq: Array, reference: TaskReference) -> tuple[Array, Status]:
        """Return torque and status, and set the derivatives of the estimates."""
        none = np.zeros(self.robot.n)
        task = self._task_error(q, dq, reference)
        if task is None:
            return none, Status.invalid_input
        usable = self._estimate.advance(t)
        self._publish(task.e)
        if not usable:
            return none, Status.diverged
        terms = self._terms(q, dq, task)
        if terms is None:
            return none, Status.singular
        self._estimate.adapt(terms.tracking, terms.prediction, terms.P, np.tensordot(terms.s, terms.Y, 1))
        self._signals["s"][:] = terms.s
        return terms.tau, Status.ok

    def _publish(self, error: Array) -> None:
        """Set the signals of the error and of the estimates."""
        self._signals["error"][:] = error
        self._signals["lengths"][:] = self._estimate.lengths
        self._signals["products"][:] = self._estimate.products.ravel()[1:]
        self._signals["parameters"][self._model.unknown] = self._estimate.products[0, 1:]

    def _task_error(self, q: Array, dq: Array, reference: TaskReference) -> _TaskError | None:
        """Return the error of the measured motion; None where reference or measurement are invalid."""
        measured = self._measure(q, dq)
        if measured is None:
            return None
        p, v = (_numbers(x, (3,), "result of measure") for x in measured)
        desired = _read(reference)
        if desired is None or not (np.isfinite(p).all() and np.isfinite(v).all()):
            return None
        angular = self.robot.jacobian(q)[3:] @ dq
        R, twist = self.robot.forward_kinematics(q)[:3, :3], np.concatenate([v, angular])
        return _TaskError(p, **_core.task_error(desired, p, R, twist, self._m, self._kind))

    def _terms(self, q: Array, dq: Array, task: _TaskError) -> AdaptiveJacobianTerms | None:
        """Return the terms under the current estimates; None where the law is singular."""
        model, m = self._model, self._m
        Lambda, K_p, K_d = self._gains
        if not task.regular:
            return None
        kinematics = model.kinematics(q, dq, self._estimate.lengths)
        W = (kinematics.dJ @ dq).T[:m]
        restoring = K_p @ task.e
        tracking = -model.Gamma_inverse @ (W.T @ restoring)
        prediction = model.gamma * model.Gamma_inverse @ (kinematics.P.T @ (task.p - kinematics.p))
        J, J_dot = kinematics.J[:m], (kinematics.J_dot + np.tensordot(tracking + prediction, kinematics.dJ, 1))[:m]
        L_inverse = np.asarray(np.linalg.inv(task.L), dtype=np.float64)
        v = L_inverse @ (task.f + Lambda @ task.e)
        v_dot = L_inverse @ (task.f_dot + Lambda @ task.e_dot - task.L_dot @ v)
        a, a_dot = self._attraction @ (self._posture - q), -self._attraction @ dq
        largest = _RELEASE_CONDITION if self._end.holding else _LARGEST_CONDITION
        motion = _least_norm_motion(J, J_dot, v - J @ a, v_dot - J_dot @ a - J @ a_dot, largest)
        if motion is None:
            return None
        dq_r, ddq_r = motion[0] + a, motion[1] + a_dot
        s, Y = dq_r - dq, model.regressor(q, dq, dq_r, ddq_r)
        tau = np.tensordot(Y, self._estimate.products, 2) + K_d @ s + J.T @ (task.L.T @ restoring)
        error = (task.e, task.e_dot, task.L, task.L_dot)
        return AdaptiveJacobianTerms(*error, J, J_dot, W, kinematics.P, tracking, prediction, dq_r, ddq_r, s, Y, tau)

    def _torque(self, q: Array, dq: Array, dq_r: Array, ddq_r: Array) -> Array:
        """Return the torque of the estimate along a reference motion, or of the initial one if it has diverged."""
        Y = self._model.regressor(q, dq, dq_r, ddq_r)
        products = self._estimate.products if self._estimate.bounded else self._estimate.nominal_products()
        return np.asarray(np.tensordot(Y, products, 2))

    def lyapunov(self, robot: Robot, result: LoggedRun) -> Array:
        """Return V at each logged instant, (k,); see `SimulationResult.lyapunov`."""
        V = super().lyapunov(robot, result)
        model = self._model
        if not model.k:
            return V
        true = lengths_of(robot)[model.indices]
        V += half_form(true - result.signals["lengths"], model.Gamma)
        products = np.hstack([np.ones((len(V), 1)), result.signals["products"]])
        wrong = (model.products(true, robot.parameters) - products.reshape(len(V), -1, 1 + self._Gamma.shape[0]))[:, 1:]
        V += 0.5 * model.Gamma_torque * (wrong[..., 0] ** 2).sum(axis=1)
        V += 0.5 * np.einsum("kai,ij,kaj->k", wrong[..., 1:], self._Gamma, wrong[..., 1:])
        return V

    def lyapunov_dot(self, robot: Robot, result: LoggedRun) -> Array | None:
        """Return V_dot at each logged instant, (k,), or None where its expression does not hold."""
        V_dot, model = super().lyapunov_dot(robot, result), self._model
        others = np.ones(2 * robot.n + 3, dtype=bool)
        others[model.indices] = False
        if V_dot is None or not np.allclose(lengths_of(robot)[others], lengths_of(self.robot)[others], rtol=1e-9):
            return None
        change = lengths_of(robot)[model.indices] - result.signals["lengths"]
        offsets = np.einsum("kij,kj->ki", model.positions(result.q)[1], change)
        return np.asarray(V_dot - model.gamma * (offsets**2).sum(axis=1))


class _End(StepEnd):
    """The end of a step; instances of classes in Python can be copied."""


def _numbers(value: npt.ArrayLike, shape: tuple[int, ...], what: str) -> Array:
    """Return `value` as float64 of exactly `shape`, NaN included, or raise ValueError."""
    result = real(value, what, finite=False)
    if result.shape != shape:
        raise ThunderError(f"{what} must have shape {shape}, got {result.shape}")
    return result


def _read(reference: TaskReference) -> TaskReference | None:
    """Return the reference as arrays, None where it is not finite or R is no rotation."""
    try:
        desired = TaskReference(
            _numbers(reference.p, (3,), "p"),
            _numbers(reference.R, (3, 3), "R"),
            _numbers(reference.xi, (6,), "xi"),
            _numbers(reference.xi_dot, (6,), "xi_dot"),
        )
    except AttributeError:
        kind = type(reference).__name__
        raise ThunderError(f"this controller follows task-space references; {kind} has no p, R, xi, xi_dot") from None
    return desired if is_pose(make_pose(desired.R, desired.p)) and all(np.isfinite(x).all() for x in desired) else None


def _least_norm_motion(
    J: Array, J_dot: Array, v: Array, v_dot: Array, largest_condition: float
) -> tuple[Array, Array] | None:
    """Return J^+ v and its exact derivative, None where J is singular; see cpp/src/control/pseudo_inverse.cpp."""
    A = J @ J.T
    try:
        A_inverse = np.linalg.inv(A)
    except np.linalg.LinAlgError:
        return None
    if not 0.0 < np.trace(A) * np.trace(A_inverse) < largest_condition**2:
        return None
    y = A_inverse @ v
    u = J.T @ y
    turned = J_dot.T @ y
    return u, turned + J.T @ (A_inverse @ (v_dot - J_dot @ u - J @ turned))
