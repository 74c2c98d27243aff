"""Equations of motion as rows linear in all parameters, those of elastic joints included."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ..checks import Array
from ..errors import UnknownNameError
from ..robot import Robot
from ..robot.elastic import spring_slopes
from ..robot.joint_data import Elastic
from ..robot.robot import BaseParameters, UnknownParameters, unknown_parameter
from .log import Log
from .offsets import Offsets, without_constants

__all__ = ["Equations", "all_names", "all_parameters", "equations", "extended", "selection", "with_all_parameters"]


#: instants over which the covariances of noise are averaged, which change slowly
_INSTANTS = 500


@dataclass(frozen=True)
class Equations:
    """Rows ``W theta = y`` at each instant; theta are the parameters of the links, then those of elastic joints.

    Attributes
    ----------
    W : (k, r, P) array
        Regressor.
    y : (k, r) array
        Measured torques.
    joints : (r,) int array
        Joint of each row.
    errors : (r, P, P) array
        Covariances of the noise of each row of W from the noise of q and x: that of accelerations in Y, and of the
        linear terms of elastic joints.
    offsets : Offsets or None
        What was taken out of the rows of springs.
    """

    W: Array
    y: Array
    joints: npt.NDArray[np.intp]
    errors: Array
    offsets: Offsets | None = None


def equations(robot: Robot, log: Log, known: Robot | None, offsets: Array) -> Equations:
    """Return the rows of all equations.

    The equations of an elastic joint are Y pi = tau_el and Mm ddx + Dm dx + tau_el = tau. Their sum, without x - q,
    replaces the first: it has a measured torque on the right, and keeps the noise of x - q away from pi. With measured
    joint torques the right sides are these: Y pi = tau_J, tau_el = tau_J and Mm ddx + Dm dx = tau - tau_J.

    x - q is less by the known `offsets`, (e,); small further ones are taken out of the rows of springs, whose stiffness
    is that of the robot `known`, unless it is None.
    """
    Y, n, p = robot.regressor(*log.motion), robot.n, robot.p
    if log.motors is None or log.wide is None:
        return Equations(Y, log.torque, np.arange(n), _errors_of_links(robot, log))
    (wide_q, wide_dq, _), (wide_x, wide_dx, _) = log.wide
    K, D = robot.elastic_regressor(wide_q, wide_x - offsets), robot.elastic_damping_regressor(wide_dq, wide_dx)
    spring = log.filtered(np.concatenate([K, D], axis=-1))
    motor = log.filtered(robot.motor_damping_regressor(wide_dx))
    motor = np.concatenate([motor, robot.motor_inertia_regressor(log.motors.ddq)], axis=-1)
    joints = np.array([drive.joint - 1 for drive in robot.elastic], dtype=np.intp)
    sensed, driven = log.joint_torque, log.torque[:, joints]
    e, springs, motors = robot.e, slice(p, p + spring.shape[-1]), slice(p + spring.shape[-1], None)
    blocks = 1 if sensed is None else 2
    W = np.zeros((len(Y), n + blocks * e, p + spring.shape[-1] + motor.shape[-1]))
    W[:, :n, :p] = Y
    W[:, n : n + e, springs] = spring
    W[:, -e:, motors] = motor
    y = log.torque
    if sensed is None:
        W[:, joints, motors] = motor
        y = np.hstack([y, driven])
    else:
        y = np.hstack([y, sensed, driven - sensed])
        y[:, joints] = sensed
    rows = np.concatenate([np.arange(n), *[joints] * blocks])
    found = None
    if known is not None:
        inner, stiffness = slice(n, n + e), spring_slopes(known.elastic, log.deflection(robot) - offsets)
        W[:, inner], y[:, inner], found = without_constants(W[:, inner], y[:, inner], stiffness)
    errors = np.zeros((rows.size, W.shape[-1], W.shape[-1]))
    errors[:n, :p, :p] = _errors_of_links(robot, log)
    return Equations(W, y, rows, errors + _errors_of_drives(robot, log, W, rows), found)


def _errors_of_links(robot: Robot, log: Log) -> Array:
    """Return the covariances of the noise of Y from that of the accelerations, in which it is linear, (n, p, p)."""
    errors = np.zeros((robot.n, robot.p, robot.p))
    if log.position_noise is None:
        return errors
    q = log.motion.q[:: max(len(log.motion.q) // _INSTANTS, 1)]
    still = np.zeros_like(q)
    at_rest = robot.regressor(q, still, still)
    for j, variance in enumerate(log.gains[2] * log.position_noise[0]):
        unit = still.copy()
        unit[:, j] = 1.0
        slope = (robot.regressor(q, still, unit) - at_rest).swapaxes(0, 1)
        errors += variance / len(q) * (slope.swapaxes(1, 2) @ slope)
    return errors


def _errors_of_drives(robot: Robot, log: Log, W: Array, joints: npt.NDArray[np.intp]) -> Array:
    """Return those of the elastic parameters: K0, D0, Dm0 and Mm multiply x - q, dx - dq, dx and ddx."""
    P = W.shape[-1]
    errors = np.zeros((joints.size, P, P))
    if log.position_noise is None:
        return errors
    place = {name: k for k, name in enumerate(all_names(robot))}
    s, ds, dds = log.gains
    for drive, x in zip(robot.elastic, log.position_noise[1], strict=True):
        j = drive.joint - 1
        d = x + log.position_noise[0][j]
        covariance = np.array(
            [[s * d, 0, 0, -ds * x], [0, ds * d, ds * x, 0], [0, ds * x, ds * x, 0], [-ds * x, 0, 0, dds * x]]
        )
        found = [place.get(f"{robot.joint_names[j]}.{name}", -1) for name in ("K0", "D0", "Dm0", "Mm")]
        for row in np.flatnonzero(joints == j):
            kept = [i for i, k in enumerate(found) if k >= 0 and W[:, row, k].any()]
            columns = [found[i] for i in kept]
            errors[row][np.ix_(columns, columns)] = covariance[np.ix_(kept, kept)]
    return errors


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
    return BaseParameters(
        independent=np.concatenate([base.independent, p + chosen]),
        mapping=mapping,
        condition_number=base.condition_number,
        names=(*base.names, *(names[p + k] for k in chosen)),
    )
