"""Closed-loop inverse kinematics."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from .. import _core
from .._core import Status
from ..checks import (
    Array,
    all_positive,
    argument_names,
    array,
    given_group,
    nonnegative,
    numbers,
    of_kind,
    one_of,
    per_joint,
    pose,
    positive,
)
from ..errors import ThunderError, outer_level
from ..reference import SetPose, _JointSource
from ..robot import Limits, Robot
from ..sampled_loop import excess
from ..values import Value
from .objectives import Objective
from .task_rows import ROW_NAMES, resolve_orientation, resolve_rows

if TYPE_CHECKING:
    from matplotlib.axes import Axes


@dataclass(frozen=True, kw_only=True, eq=False)
class CLIKResult(Value):
    """Motion of a CLIK along a reference at k instants.

    Attributes
    ----------
    t : (k,) array
        [s].
    q, dq, ddq : (k, n) array
        Joint motion. For order 1, ddq is the numeric derivative of dq; for order 2, the output of the law.
    error : (k, m) array
        Task error, desired minus actual, in the rows of the task.
    manipulability : (k,) array
        sqrt(det(J J')) of the rows of the task.
    status : (k,) int array
        `Status` of each step.
    rows, joint_names : tuple of str
        Names of the columns.

    Examples
    --------
    >>> import thunder_py as th
    >>> robot, q0 = th.Robot.load("panda"), [0.0, -0.3, 0.0, -2.0, 0.0, 1.8, 0.7]
    >>> path = th.reference.Lissajous.starting_at(robot.forward_kinematics(q0), (0.1, 0.15, 0.1), (0.2, 0.1, 0.4))
    >>> result = th.kinematics.CLIK(robot, Lambda=50.0).follow(path, q0, duration=0.5)
    >>> result.q.shape, result.rows, result.ok, bool(result.error_norm().max() < 1e-3)
    ((501, 7), ('x', 'y', 'z', 'rx', 'ry', 'rz'), True, True)
    """

    t: Array
    q: Array
    dq: Array
    ddq: Array
    error: Array
    manipulability: Array
    status: npt.NDArray[np.int64]
    rows: tuple[str, ...]
    joint_names: tuple[str, ...]

    @property
    def ok(self) -> bool:
        """True if every step had a solution and no limit changed the motion of the task."""
        return bool((self.status == Status.ok).all())

    def error_norm(self) -> Array:
        """Return the Euclidean norm of the error over time, (k,)."""
        return np.asarray(np.linalg.norm(self.error, axis=1))

    def plot(self, *, axes: Mapping[str, Axes] | None = None) -> dict[str, Axes]:
        """Draw joint positions and velocities, the error by rows and the manipulability over time.

        Parameters
        ----------
        axes : mapping of str to Axes, optional
            Panels to draw, of ``"q"``, ``"dq"``, ``"error"`` and ``"manipulability"``; default all, in a new figure.

        Returns
        -------
        dict of str to Axes
            The panels drawn.
        """
        from .plot import plot_clik

        return plot_clik(self, axes=axes)

    def __repr__(self) -> str:
        """Summarize duration, size, final error and final status."""
        last = Status(int(self.status[-1])).name
        return (
            f"<CLIKResult: {self.t[-1]:g} s, {len(self.t)} instants, {self.q.shape[1]} joints, "
            f"error {self.error_norm()[-1]:.3g}, last status {last}>"
        )


METHODS = ("inverse", "transpose", "pseudoinverse", "damped")
MEASURES = ("singular_value", "manipulability")
INTEGRATORS = ("euler", "rk4")
#: postures of a motion whose stability is checked, and step of differences [rad or m, and per second]
_CHECKED, _STEP = 5, 1e-6
#: all instants are stored: about a gigabyte for a Panda
_MOST_STEPS = 5_000_000

NullSpace = Objective | Callable[[float, Array], npt.ArrayLike] | npt.ArrayLike


class SampledJointReference(_JointSource, _core.SampledJointReference):
    """Cubic Hermite interpolation of equally spaced joint positions and velocities; at rest outside.

    Parameters
    ----------
    dt : float
        Time between samples; the first one is at t = 0 [s].
    q, dq : (k, n) array_like
        Positions [rad or m] and velocities [rad/s or m/s], k at least 2.

    Attributes
    ----------
    duration : float
        Time of the last sample [s].
    """

    def __init__(self, dt: float, q: npt.ArrayLike, dq: npt.ArrayLike) -> None:
        positions = array(q, (None, None), "q")
        step = positive(dt, "dt")
        super().__init__(step, positions, array(dq, positions.shape, "dq"))
        self.duration = step * (len(positions) - 1)


class CLIK(_core.Clik):
    """Closed-loop inverse kinematics: joint velocities or accelerations that follow a `TaskReference`.

    With the task error e, whose rate is ``e' = b - J dq``::

        inverse          dq  = J^-1 (b + Lambda e)
        transpose        dq  = J' Lambda e
        pseudoinverse    dq  = J^+ (b + Lambda e) + (I - J^+ J) dq_0
        damped           dq  = J' (J J' + lambda^2 I)^-1 (b + Lambda e) + (I - J^+ J) dq_0
        order 2          ddq = J^+ (b' + K_1 e' + K_0 e - J' dq) + (I - J^+ J) null_damping (dq_0 - dq)

    (J' dq in the last line is the derivative of J times dq.) Errors are desired minus actual; b and J depend on the
    orientation error.

    Parameters
    ----------
    robot : Robot
        The arm; only its kinematics are used.
    Lambda : float, (m,) or (m, m) array_like, optional
        [1/s], for joint velocities (order 1); m rows of the task.
    K_0, K_1 : float, (m,) or (m, m) array_like, optional
        [1/s^2], [1/s], in place of `Lambda`, for joint accelerations (order 2).
    method : {"pseudoinverse", "inverse", "transpose", "damped"}
        See above; ``inverse`` needs as many rows as joints, ``transpose`` is of order 1.
    frame : int or str, optional
        Controlled frame, default the end effector.
    rows : sequence of int or str, optional
        Controlled rows, some of ``x y z rx ry rz`` in world axes, default all. The others are free.
    orientation : str
        ``axis_angle``: r sin(theta) with its own Jacobian, which includes L (D4.2, eq. 124); singular from 90 degrees.
        ``axis_angle_plain``: r sin(theta) without L^-1; converges from below 180 degrees. ``rotation_vector``:
        r theta, the angle itself for planar arms. ``quaternion``: r sin(theta/2), from any angle. ``zyz``, ``zyx``: the
        three Euler angles as rows rx, ry, rz; singular if the second is 0 or 180 degrees, -90 or 90 degrees.
    null_space : Manipulability, JointCentering, Posture, callable or (n,) array_like, optional
        The joint velocities dq_0 [rad/s or m/s]; a callable is called with t and q.
    damping : float, optional
        lambda of method ``damped``, in the units of the singular values.
    threshold : float, optional
        Value of `measure` below which damping acts, as lambda^2 (1 - (value / threshold)^2).
    measure : {"singular_value", "manipulability"}
        Smallest singular value of J, or sqrt(det(J J')) of the geometric Jacobian.
    limits : bool
        Enforce the position and velocity limits of the robot.
    lower, upper, velocity_limits, acceleration_limits : float or (n,) array_like, optional
        Limits [rad or m, and per s or s^2] in place of the robot's, which has none of the acceleration; they apply with
        ``limits=False`` too. Infinite entries are no limits.
    period : float
        Time for which the robot holds an output of `step` [s], at most: position limits are kept for any shorter time
        as well. With `acceleration_limits` it must be exact. `follow` uses its own ``dt``.
    null_damping : float
        Damping of null-space motion [1/s], order 2.
    largest_condition : float
        Condition number above which J is singular (not for ``transpose`` and ``damped``).

    Raises
    ------
    ValueError
        If a gain is not positive definite, or an argument is invalid or does not fit the method and the order.

    Notes
    -----
    SCARA project, chapter 3 (errata S-5: K_1, its K_D, multiplies e', not the velocity); D4.2, eqs. 121 to 124;
    Siciliano et al., Robotics, sections 3.5 to 3.7, and Chiaverini et al. (1994) for the variable damping.

    Limits: the task is slowed down until velocities within `velocity_limits` can perform it, if necessary by other
    motions of the null space. Of the motions within all limits, the nearest to it in the task is chosen, and of these
    the nearest to the law's (lexicographic least squares). Within the limits the law's output is returned unchanged.
    Positions are kept by braking in time with the acceleration limits. Where limits contradict each other, position
    comes before velocity and velocity before acceleration. A joint outside its position limits moves back or stands.

    Status: ``ok``; ``saturated``, limits changed the motion of the task; ``singular``, J beyond `largest_condition` or
    an orientation error without Jacobian; ``invalid_input``, NaN or an invalid rotation. In the last two cases dq is
    zero, or ddq is ``-null_damping dq``, within the limits. When sampled at dt, Lambda must stay below 2 / dt; for
    ``transpose``, the largest eigenvalue of J J' Lambda must (errata S-6).

    Examples
    --------
    >>> import thunder_py as th
    >>> robot, q0 = th.Robot.load("panda"), [0.0, -0.3, 0.0, -2.0, 0.0, 1.8, 0.7]
    >>> clik = th.kinematics.CLIK(robot, Lambda=10.0, null_space=th.kinematics.Posture(q0, gain=2.0))
    >>> target = robot.forward_kinematics(q0)
    >>> target[:3, 3] += 0.02
    >>> dq = clik.step(0.0, q0, th.reference.SetPose(target)(0.0))
    >>> (robot.jacobian(q0) @ dq)[:3].round(3).tolist(), clik.status.name
    ([0.2, 0.2, 0.2], 'ok')
    """

    def __init__(
        self,
        robot: Robot,
        Lambda: npt.ArrayLike | None = None,
        *,
        K_0: npt.ArrayLike | None = None,
        K_1: npt.ArrayLike | None = None,
        method: str = "pseudoinverse",
        frame: int | str | None = None,
        rows: Sequence[int | str] | None = None,
        orientation: str = "axis_angle",
        null_space: NullSpace | None = None,
        damping: float | None = None,
        threshold: float | None = None,
        measure: str = "singular_value",
        limits: bool = True,
        lower: npt.ArrayLike | None = None,
        upper: npt.ArrayLike | None = None,
        velocity_limits: npt.ArrayLike | None = None,
        acceleration_limits: npt.ArrayLike | None = None,
        period: float = 0.01,
        null_damping: float = 10.0,
        largest_condition: float = 1e3,
    ) -> None:
        of_kind(robot, Robot, "robot")
        numbers = resolve_rows(rows)
        mask = sum(1 << row for row in numbers)
        gains = given_group("gains", {"Lambda": Lambda}, {"K_0": K_0, "K_1": K_1})
        _check_damping(method, damping, threshold)
        self.robot = robot
        self._tool = np.eye(4)
        self.rows = tuple(ROW_NAMES[row] for row in numbers)
        native, self._null = _null_space(null_space, method, robot, frame, mask)
        settings: dict[str, Any] = {
            "method": METHODS.index(one_of(method, METHODS, "method")),
            "order": len(gains),
            "K": Lambda if K_0 is None else K_0,
            "K_D": K_1,
            "damping": 0.0 if damping is None else positive(damping, "damping"),
            "threshold": 0.0 if threshold is None else positive(threshold, "threshold"),
            "measure": MEASURES.index(one_of(measure, MEASURES, "measure")),
            "null_damping": nonnegative(null_damping, "null_damping"),
            "largest_condition": positive(largest_condition, "largest_condition"),
            **_limits(robot, bool(limits), lower, upper, velocity_limits, acceleration_limits),
            "period": positive(period, "period"),
            "objective": native,
        }
        with argument_names(**dict(zip(("K", "K_D"), gains, strict=False))):
            super().__init__(robot, frame, mask, resolve_orientation(orientation), settings)

    @classmethod
    def visual_servoing(
        cls,
        robot: Robot,
        Lambda_p: npt.ArrayLike,
        Lambda_o: npt.ArrayLike,
        frame: int | str | None = None,
        **options: Any,
    ) -> CLIK:
        """Return the visual-servoing law of D4.2, eq. 124: pseudo-inverse, axis-angle error with L^-1.

        The target, such as a pose from a camera, is an argument of `step`, or a callable of time for `follow`.

        Parameters
        ----------
        robot : Robot
            The arm.
        Lambda_p, Lambda_o : float, (3,) or (3, 3) array_like
            Gains of position and orientation [1/s].
        frame : int or str, optional
            Controlled frame, default the end effector.
        **options
            Other arguments of `CLIK`, such as ``null_space``.
        """
        Lambda = pose_gain(Lambda_p, Lambda_o)
        return cls(robot, Lambda, frame=frame, method="pseudoinverse", orientation="axis_angle", **options)

    def set_tool(self, tool: npt.ArrayLike) -> None:
        """Set the pose of the controlled frame in `frame`, such as that of a grasped tool.

        Parameters
        ----------
        tool : (4, 4) array_like
            Rigid transform, in place of the previous one; it may change before every step. A `null_space` objective
            still uses `frame` without the tool. For all six rows this makes no difference, because manipulability
            does not depend on the tool.

        Raises
        ------
        ThunderError
            If `tool` is not a finite rigid transform (4, 4); the previous tool is kept.
        """
        self._tool = pose(tool, "tool")
        self._set_tool(self._tool)

    def step(self, t: float, q: npt.ArrayLike, reference: Any, dq: npt.ArrayLike | None = None) -> Array:
        """Return the joint velocities, or for order 2 the accelerations, at time `t`.

        Parameters
        ----------
        t : float
            [s]; used only by a callable `null_space`.
        q : (n,) array_like
            Joint positions [rad or m]. NaN sets the status ``invalid_input`` instead of raising.
        reference : TaskReference
            Reference at this instant.
        dq : (n,) array_like, optional
            Joint velocities [rad/s or m/s], required for order 2. Of order 1 with acceleration limits, the last output.

        Returns
        -------
        (n,) array
            dq or ddq; see also `status`.
        """
        null = None if self._null is None else self._null(t, np.asarray(q, dtype=np.float64))
        return self._step(q, dq, reference, null)

    def follow(
        self,
        reference: Callable[[float], Any],
        q0: npt.ArrayLike,
        duration: float,
        dt: float = 1e-3,
        *,
        dq0: npt.ArrayLike | None = None,
        integrator: str = "euler",
    ) -> CLIKResult:
        """Integrate along a reference and return the motion.

        Parameters
        ----------
        reference : callable
            Returns a `TaskReference` for a time; those of `thunder_py.reference` are evaluated in C++.
        q0 : (n,) array_like
            Joint positions at t = 0 [rad or m].
        duration, dt : float
            [s].
        dq0 : (n,) array_like, optional
            Joint velocities at t = 0, order 2; default zero.
        integrator : {"euler", "rk4"}
            ``euler`` corresponds to a robot that receives a velocity every dt; it is the SCARA project's rule.

        Raises
        ------
        ValueError
            If an argument is invalid. Singularities and invalid references set `CLIKResult.status` instead.
        """
        if not callable(reference):
            raise ThunderError(f"reference must be callable with a time, got {type(reference).__name__}")
        n, step = self.robot.n, positive(dt, "dt")
        steps = _steps(positive(duration, "duration"), step)
        if dq0 is not None and self.order == 1:
            raise ThunderError("dq0 must be None for order 1")
        start = np.zeros(n) if dq0 is None else array(dq0, (n,), "dq0")
        rk4 = one_of(integrator, INTEGRATORS, "integrator") == "rk4"
        raw = self._follow(reference, self._null, array(q0, (n,), "q0"), start, step, steps, rk4)
        self._warn_of_long_steps(raw["q"], step, rk4)
        if self.order == 1:
            raw["ddq"] = np.gradient(raw["dq"], step, axis=0)
        return CLIKResult(**raw, rows=self.rows, joint_names=self.robot.joint_names)

    def _warn_of_long_steps(self, q: Array, dt: float, rk4: bool) -> None:
        """Warn of steps with which small errors grow at the start of a motion (k, n), or in most of five postures."""
        position, velocity = ("Lambda", "Lambda") if self.order == 1 else ("K_0", "K_1 or null_damping")
        (robot, frame, mask, kind, settings), _ = self._core_arguments  # type: ignore[attr-defined]
        if self._null is not None or settings["objective"] is not None:
            position += " or the gain of null_space"
        free = CLIK.__new__(CLIK)
        _core.Clik.__init__(free, robot, frame, mask, kind, {**settings, **_limits(robot, False, *4 * [None])})
        free._set_tool(self._tool)
        free._null = self._null
        excesses = []
        for row in q[np.linspace(0, len(q) - 1, _CHECKED).astype(int)]:
            rest = SetPose(robot.forward_kinematics(row, frame) @ self._tool)(0.0)
            rates = _rates(free, row, rest)
            if rates is None:
                continue
            fastest = float(np.linalg.eigvals(_system(*rates)).real.max())
            excesses.append(excess(partial(_advanced, *rates, dt, rk4), dt, fastest))
        found = [each for each in excesses if each is not None]
        if found and (excesses[0] is not None or len(found) > len(excesses) // 2):
            gain, share = min(found, key=lambda each: each.share)
            name = velocity if gain == "velocity" else position
            warnings.warn(
                f"{name} of CLIK is too high for steps of {dt:g} s: small errors "
                f"grow; multiply the gain by {share:.2g} at most, or make the steps shorter",
                RuntimeWarning,
                stacklevel=outer_level(),
            )

    def joint_reference(
        self,
        reference: Callable[[float], Any],
        q0: npt.ArrayLike,
        duration: float,
        dt: float = 1e-3,
        *,
        dq0: npt.ArrayLike | None = None,
        tolerance: float | None = 1e-2,
    ) -> SampledJointReference:
        """Return the joint motion along a reference, as a joint reference for controllers in `simulate`.

        `follow` runs once, with RK4, and its positions and velocities are interpolated by cubics. The result has no
        state: it can be evaluated at any times in any order, and shared by simultaneous runs.

        Parameters
        ----------
        reference, q0, duration, dt, dq0
            As in `follow`. After `duration` the reference is at rest.
        tolerance : float, optional
            Largest norm of the task error, initial error included [m, rad]; None disables the check.

        Raises
        ------
        ThunderError
            If the CLIK becomes singular, the reference is invalid, or the task error exceeds `tolerance`: a target out
            of reach, velocity limits, damping, or another initial pose.

        Examples
        --------
        >>> import thunder_py as th
        >>> robot, q0 = th.Robot.load("panda"), [0.0, -0.3, 0.0, -2.0, 0.0, 1.8, 0.7]
        >>> path = th.reference.Lissajous.starting_at(robot.forward_kinematics(q0), (0.1, 0.15, 0.1), (0.2, 0.1, 0.4))
        >>> motion = th.kinematics.CLIK(robot, Lambda=50.0).joint_reference(path, q0, duration=0.5)
        >>> tip = robot.forward_kinematics(motion(0.25).q)[:3, 3]
        >>> bool(abs(tip - path(0.25).p).max() < 1e-3)
        True
        """
        result = self.follow(reference, q0, duration, dt, dq0=dq0, integrator="rk4")
        bad = np.flatnonzero(result.status > _core.Status.saturated)
        if bad.size:
            status = _core.Status(int(result.status[bad[0]])).name
            raise ThunderError(f"the CLIK cannot follow this reference: status {status} at t = {result.t[bad[0]]:g} s")
        if tolerance is not None:
            error, allowed = result.error_norm(), positive(tolerance, "tolerance")
            k = int(np.argmax(error))
            if error[k] > allowed:
                raise ThunderError(
                    f"the CLIK does not follow this reference: its task error is {error[k]:.3g} at "
                    f"t = {result.t[k]:g} s, tolerance {allowed:g} (None disables the check)"
                )
        return SampledJointReference(dt, result.q, result.dq)


def _rates(clik: CLIK, q: Array, rest: Any) -> tuple[Array, Array] | None:
    """Return -d out / dq and -d out / d dq (n, n) at rest in the pose of q; None where there is no solution."""
    n, none = len(q), np.zeros(len(q))
    P, V = np.zeros((n, n)), np.zeros((n, n))
    for j, step in enumerate(_STEP * np.eye(n)):
        points = [(q - step, none), (q + step, none), (q, -step), (q, step)]
        outputs = []
        for position, velocity in points[: 2 * clik.order]:
            outputs.append(clik.step(0.0, position, rest, velocity))
            if clik.status != Status.ok:
                return None
        P[:, j] = (outputs[0] - outputs[1]) / (2.0 * _STEP)
        if clik.order == 2:
            V[:, j] = (outputs[2] - outputs[3]) / (2.0 * _STEP)
    return P, V


def _system(P: Array, V: Array) -> Array:
    """Return the rates of q, or of q and dq for the second order."""
    n = len(P)
    return np.block([[np.zeros((n, n)), np.eye(n)], [-P, -V]]) if V.any() else -P


def _advanced(P: Array, V: Array, dt: float, rk4: bool, position: float, velocity: float) -> Array:
    """Return the transition of a step of `CLIK.follow` with shares of P and V."""
    n, A = len(P), dt * _system(P, V)
    A[-n:, :n] *= position
    if V.any():
        A[-n:, n:] *= velocity
    one: Array = np.eye(len(A))
    if rk4:
        return one + A @ (one + A @ (one + A @ (one + A / 4.0) / 3.0) / 2.0)
    if V.any():
        A[:n] += 0.5 * dt * A[n:]
    return one + A


def _check_damping(method: str, damping: float | None, threshold: float | None) -> None:
    if method == "damped" and damping is None:
        raise ThunderError("damping must be given for method 'damped'")
    if method != "damped" and (damping is not None or threshold is not None):
        raise ThunderError(f"damping and threshold must be None for method {method!r}: only 'damped' uses them")


def _steps(duration: float, dt: float) -> int:
    if duration < dt * (1.0 - 1e-6):
        raise ThunderError(f"duration must be at least dt, {dt:g} s, got {duration:g}")
    if duration / dt > _MOST_STEPS:
        raise ThunderError(f"duration must be at most {_MOST_STEPS} steps of {dt:g} s, got {duration:g}")
    return math.ceil(duration / dt - 1e-6)


def _limits(
    robot: Robot,
    limits: bool,
    lower: npt.ArrayLike | None,
    upper: npt.ArrayLike | None,
    velocity: npt.ArrayLike | None,
    acceleration: npt.ArrayLike | None,
) -> dict[str, Array]:
    """Return the limits by name, (n,) each; those of the robot where none is given."""
    own = robot.limits if limits else Limits.none(robot.n)
    given = {"lower": lower, "upper": upper, "velocity_limits": velocity, "acceleration_limits": acceleration}
    default = (own.lower, own.upper, own.velocity, np.full(robot.n, np.inf))
    values = {
        name: standard if value is None else per_joint(value, robot.n, name, finite=False)
        for (name, value), standard in zip(given.items(), default, strict=True)
    }
    for name in ("velocity_limits", "acceleration_limits"):
        if given[name] is not None:
            all_positive(values[name], name)
    for i in np.flatnonzero(values["lower"] > values["upper"]):
        low, high = values["lower"][i], values["upper"][i]
        raise ThunderError(f"lower must not exceed upper, got {low:g} and {high:g} for joint {i + 1}")
    return values


def _null_space(
    value: NullSpace | None, method: str, robot: Robot, frame: int | str | None, mask: int
) -> tuple[_core.NullObjective | None, Callable[[float, Array], npt.ArrayLike] | None]:
    """Return the objective for C++ or the callable for Python."""
    if value is None:
        return None, None
    if method in ("inverse", "transpose"):
        raise ThunderError(f"null_space must be None for method {method!r}: only 'pseudoinverse' and 'damped' use it")
    if isinstance(value, Objective):
        return value.make(robot, frame, mask), None
    if callable(value):
        return None, partial(_called, value, robot.n)
    return None, partial(_constant, array(value, (robot.n,), "null_space"))


def _called(null_space: Callable[[float, Array], npt.ArrayLike], n: int, t: float, q: Array) -> npt.ArrayLike:
    if (result := null_space(t, q)) is None:
        raise ThunderError(f"null_space must return joint velocities ({n},), got None at t = {t:g} s")
    return result


def _constant(velocities: Array, t: float, q: Array) -> Array:
    return velocities


def pose_gain(Lambda_p: npt.ArrayLike, Lambda_o: npt.ArrayLike) -> Array:
    """Return gains of position and orientation, each a number, (3,) or (3, 3), as one matrix (6, 6)."""
    Lambda = np.zeros((6, 6))
    for rows, name, gain in ((slice(0, 3), "Lambda_p", Lambda_p), (slice(3, 6), "Lambda_o", Lambda_o)):
        value = numbers(gain, name)
        if value.shape not in ((), (3,), (3, 3)):
            raise ThunderError(f"{name} must be a number, (3,) or (3, 3), got shape {value.shape}")
        Lambda[rows, rows] = array(value if value.ndim == 2 else np.diag(np.broadcast_to(value, 3)), (3, 3), name)
        if (least := float(np.linalg.eigvalsh(0.5 * (Lambda[rows, rows] + Lambda[rows, rows].T))[0])) <= 0.0:
            raise ThunderError(f"{name} must be positive definite, its smallest eigenvalue is {least:g}")
    return Lambda
