"""Equations of motion as rows linear in all parameters, those of elastic joints included."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Protocol, runtime_checkable

import numpy as np
import numpy.typing as npt

from ..checks import Array
from ..errors import ThunderError, UnknownNameError
from ..model.joint_data import Elastic
from ..model.parameters import BaseParameters, UnknownParameters, unknown_parameter
from ..robot import Robot
from .samples import Samples

#: instants whose regressors of friction are in memory at a time
_ROWS = 1024


@runtime_checkable
class Columns(Protocol):
    """Further columns of the equations, linear in unknowns without a prior.

    Attributes
    ----------
    names : sequence of str
        Name of each unknown, (c,).

    Examples
    --------
    A constant torque at each joint:

    >>> import numpy as np
    >>> import thunder_py as th
    >>> class Bias:
    ...     names = ("joint1.bias", "joint2.bias")
    ...
    ...     def evaluate(self, samples):
    ...         return np.broadcast_to(np.eye(2), (len(samples), 2, 2))
    >>> robot, t = th.Robot.load("elbow"), np.linspace(0.0, 10.0, 501)
    >>> q, dq, ddq = th.reference.Sinusoid([0.8, 0.6], [0.5, 0.8])(t)
    >>> tau = robot.inverse_dynamics(q, dq, ddq) + [0.2, -0.1]
    >>> estimate = th.identification.identify(robot, t, q, dq, ddq, tau, columns=[Bias()])
    >>> estimate.extra_names, estimate.extra.round(3).tolist()
    (('joint1.bias', 'joint2.bias'), [0.2, -0.1])
    """

    @property
    def names(self) -> Sequence[str]:
        """Name of each unknown, (c,)."""

    def evaluate(self, samples: Samples) -> Array:
        """Return the torques that one unit of each unknown adds to the rows, (k, r, c).

        Rows are those of n joints, then with measured joint torques those of e springs, then those of e motors. Samples
        have a margin on either side of those that are used, so that differences over their instants may be taken.
        Several threads call this.
        """


@dataclass(frozen=True)
class Equations:
    """Rows ``W theta = y`` at each instant.

    theta are the parameters of the links, those of elastic joints, and those of further columns.

    Attributes
    ----------
    samples : Samples
        Signals of these instants.
    W : (k, r, P + c) array
        Regressor.
    y : (k, r) array
        Measured torques.
    part : slice or None
        Their indices in a window.
    """

    samples: Samples
    W: Array
    y: Array
    part: slice | None = None


@dataclass(frozen=True)
class Formed:
    """Columns that are formed of signals behind a wider filter, and then filtered like the torques.

    The filter of a sign or a power is not the sign or the power of the filtered signal.

    Attributes
    ----------
    friction : (k, f) array or None
        Columns of friction, each in the row of its joint; None where velocities are measured, and without friction.
    spring, motor : (k, e, c) array or None
        Columns of springs and dampers, and of motors; None without elastic joints.
    """

    friction: Array | None = None
    spring: Array | None = None
    motor: Array | None = None

    def __getitem__(self, part: slice) -> Formed:
        """Return the columns at some instants."""
        return Formed(*(None if each is None else each[part] for each in (self.friction, self.spring, self.motor)))


def formed_columns(robot: Robot, samples: Samples, offsets: Array) -> Formed:
    """Form the columns of `Formed`; x - q is less by the known `offsets`, (e,)."""
    friction = None
    if samples.source is not None and _friction_joints(robot).size:
        friction = samples.filtered(_friction(robot, samples.wide[0].dq))
    if samples.motors is None:
        return Formed(friction)
    (q, dq, _), motors = samples.wide
    assert motors is not None
    K, D = robot.elastic_regressor(q, motors.q - offsets), robot.elastic_damping_regressor(dq, motors.dq)
    motor = samples.filtered(robot.motor_damping_regressor(motors.dq))
    return Formed(
        friction,
        samples.filtered(np.concatenate([K, D], axis=-1)),
        np.concatenate([motor, robot.motor_inertia_regressor(samples.motors.ddq)], axis=-1),
    )


def _friction_joints(robot: Robot) -> npt.NDArray[np.intp]:
    """Return the joint of each parameter of friction, (f,); these follow those of the links."""
    friction = robot.description.friction
    return np.repeat(np.arange(robot.n), 0 if friction is None else len(friction.terms))


def _friction(robot: Robot, dq: Array) -> Array:
    """Return the columns of friction, each of its joint alone, (k, f)."""
    first, joints = 10 * robot.n, _friction_joints(robot)
    found = np.empty((len(dq), joints.size))
    for start in range(0, len(dq), _ROWS):
        part = slice(start, start + _ROWS)
        found[part] = robot.friction_regressor(dq[part])[:, joints, first + np.arange(joints.size)]
    return found


def equations(
    robot: Robot,
    samples: Samples,
    formed: Formed | None = None,
    further: Sequence[Array] = (),
    part: slice | None = None,
) -> Equations:
    """Return the rows of all equations, from the `formed_columns` and further columns at the same instants.

    The equations of an elastic joint are Y pi = tau_el and Mm ddx + Dm dx + tau_el = tau. Their sum, without x - q,
    replaces the first: it has a measured torque on the right, and keeps the noise of x - q away from pi. With measured
    joint torques the right sides are these: Y pi = tau_J, tau_el = tau_J and Mm ddx + Dm dx = tau - tau_J.
    """
    formed = Formed() if formed is None else formed
    Y, y = robot.regressor(*samples.motion), samples.torque
    if formed.friction is not None:
        of_friction = _friction_joints(robot)
        Y[:, of_friction, 10 * robot.n + np.arange(of_friction.size)] = formed.friction
    if formed.spring is not None and formed.motor is not None:
        Y, y = _with_drives(robot, samples, Y, formed.spring, formed.motor)
    for columns in further:
        if columns.ndim != 3 or columns.shape[:2] != y.shape:
            raise ThunderError(f"columns must have shape {y.shape} and one more dimension, got {columns.shape}")
    return Equations(samples, np.concatenate([Y, *further], axis=-1) if further else Y, y, part)


def _with_drives(robot: Robot, samples: Samples, Y: Array, spring: Array, motor: Array) -> tuple[Array, Array]:
    n, e, p = robot.n, robot.e, robot.p
    elastic = list(robot.motor_joints)
    sensed, driven = samples.joint_torque, samples.torque[:, elastic]
    springs, motors = slice(p, p + spring.shape[-1]), slice(p + spring.shape[-1], None)
    W = np.zeros((len(Y), n + (1 if sensed is None else 2) * e, p + spring.shape[-1] + motor.shape[-1]))
    W[:, :n, :p] = Y
    W[:, n : n + e, springs] = spring
    W[:, -e:, motors] = motor
    if sensed is None:
        W[:, elastic, motors] = motor
        return W, np.hstack([samples.torque, driven])
    y = np.hstack([samples.torque, sensed, driven - sensed])
    y[:, elastic] = sensed
    return W, y


def all_parameters(robot: Robot) -> Array:
    """Return the parameters of the links, then K, D, Dm and Mm of the elastic joints, (P,)."""
    return np.concatenate([robot.parameters, *(robot.elastic_parameters[group] for group in Elastic.GROUPS)])


def all_names(robot: Robot) -> tuple[str, ...]:
    """Return the names of `all_parameters`."""
    elastic = robot.elastic_parameter_names
    return (*robot.parameter_names, *(name for group in Elastic.GROUPS for name in elastic[group]))


def with_all_parameters(robot: Robot, theta: Array) -> Robot:
    """Return the robot with these parameters in the order of `all_parameters`."""
    changed = robot.with_parameters(theta[: robot.p])
    if not robot.e:
        return changed
    ends = np.cumsum([robot.p, *(robot.elastic_parameters[group].size for group in Elastic.GROUPS)])
    parts = {group: theta[a:b] for group, a, b in zip(Elastic.GROUPS, ends[:-1], ends[1:], strict=True)}
    return changed.with_elastic_parameters(**parts)


def selection(
    robot: Robot, unknown: str | Sequence[str] | npt.ArrayLike | UnknownParameters | None
) -> tuple[UnknownParameters, npt.NDArray[np.bool_]]:
    """Return the unknown parameters of the links, and a mask of those of elastic joints."""
    names = all_names(robot)[robot.p :]
    if unknown is None:
        return robot.unknown(), np.ones(len(names), dtype=bool)
    mask = np.zeros(len(names), dtype=bool)
    if isinstance(unknown, UnknownParameters):
        return robot.unknown(unknown.mask), mask
    listed = [unknown] if isinstance(unknown, str) else unknown
    if isinstance(listed, (list, tuple)) and list(listed) in ([], ["none"]):
        return robot.unknown(np.zeros(robot.p, dtype=bool)), mask
    if not (isinstance(listed, (list, tuple)) and listed and all(isinstance(name, str) for name in listed)):
        return robot.unknown(unknown), mask
    links = np.zeros(robot.p, dtype=bool)
    for name in map(str, listed):
        here = np.array([name in _aliases(full) for full in names], dtype=bool)
        mask |= here
        try:
            links |= robot.unknown(name).mask
        except UnknownNameError:
            if not here.any():
                raise unknown_parameter(robot, name, (alias for full in names for alias in _aliases(full))) from None
    return robot.unknown(links), mask


def _aliases(name: str) -> tuple[str, ...]:
    """Return what selects an elastic parameter: its name, its joint, its group, and ``"elastic"``."""
    joint, _, coefficient = name.rpartition(".")
    return name, joint, coefficient.rstrip("0123456789"), "elastic"


def extended(base: BaseParameters, elastic: npt.NDArray[np.bool_], names: Sequence[str]) -> BaseParameters:
    """Return base parameters of links and, after them, the chosen ones of elastic joints: torques depend on each."""
    p, chosen = base.mapping.shape[1], np.flatnonzero(elastic)
    mapping = np.zeros((base.count + chosen.size, p + elastic.size))
    mapping[: base.count, :p] = base.mapping
    mapping[base.count + np.arange(chosen.size), p + chosen] = 1.0
    return replace(
        base,
        independent=np.concatenate([base.independent, p + chosen]),
        mapping=mapping,
        names=(*base.names, *(names[p + k] for k in chosen)),
    )
