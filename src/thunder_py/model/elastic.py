"""Elastic joints of a robot: their parameters as vectors, and the motor positions at equilibrium."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import numpy.typing as npt

from ..checks import Array, array, one_of
from ..errors import ThunderError
from .joint_data import Elastic, Friction

if TYPE_CHECKING:
    from .description import RobotDescription

#: largest relative imaginary part of a real root, from rounding
_REAL = 1e-9


class ElasticMotion(NamedTuple):
    """Torque and motion of the motors of elastic joints; see `Robot.elastic_inverse_dynamics`.

    Attributes
    ----------
    tau : (..., n) array
        Torques of the motors, and of rigid joints [N m, N].
    x, dx : (..., e) array
        Positions and velocities of the motors.

    Examples
    --------
    >>> import numpy as np
    >>> import thunder_py as th
    >>> drive = th.robot.Elastic(joint=2, K=(400.0,), Mm=0.1)
    >>> motion = th.Robot.load("elbow").replace(elastic=(drive,)).elastic_inverse_dynamics(*np.zeros((5, 2)))
    >>> motion.dx.tolist()
    [0.0]
    """

    tau: Array
    x: Array
    dx: Array


def rows(drives: Sequence[Elastic], group: str) -> Array:
    """Return the coefficients of one group, a row for each elastic joint, (e, order)."""
    table = [np.atleast_1d(getattr(drive, group)) for drive in drives]
    return np.array(table, dtype=np.float64).reshape(len(table), len(table[0]) if table else 0)


def parameters(drives: Sequence[Elastic]) -> Mapping[str, Array]:
    """Return the parameter vectors by group, joint after joint, read-only."""
    vectors = {group: rows(drives, group).ravel() for group in Elastic.GROUPS}
    for vector in vectors.values():
        vector.setflags(write=False)
    return MappingProxyType(vectors)


def parameter_names(drives: Sequence[Elastic], joint_names: Sequence[str]) -> Mapping[str, tuple[str, ...]]:
    """Return the names of the entries of `parameters`, such as ``joint2.K0``, ``joint2.Dm1``, ``joint2.Mm``."""
    names: dict[str, tuple[str, ...]] = {
        group: tuple(
            f"{joint_names[drive.joint - 1]}.{group}{k}" for drive in drives for k in range(len(getattr(drive, group)))
        )
        for group in ("K", "D", "Dm")
    }
    names["Mm"] = tuple(f"{joint_names[drive.joint - 1]}.Mm" for drive in drives)
    return MappingProxyType(names)


def motor_names(drives: Sequence[Elastic], joint_names: Sequence[str]) -> tuple[str, ...]:
    """Return the names of the motors, such as ``joint2_motor``.

    Raises
    ------
    ThunderError
        If a joint has the name of a motor.
    """
    names = tuple(f"{joint_names[drive.joint - 1]}_motor" for drive in drives)
    for name in names:
        if name in joint_names:
            raise ThunderError(f"joint name must differ from that of a motor, got {name!r}: rename the joint")
    return names


def with_parameters(drives: Sequence[Elastic], changes: Mapping[str, npt.ArrayLike]) -> tuple[Elastic, ...]:
    """Return the drives with some parameter groups replaced.

    Parameters
    ----------
    drives : sequence of Elastic
        Elastic joints of a robot.
    changes : mapping of str to (k,) array_like
        New vectors by group, in the order of `parameters`.

    Raises
    ------
    UnknownNameError
        If a group is unknown.
    ThunderError
        If a vector has the wrong length.
    """
    new = list(drives)
    for group, values in changes.items():
        one_of(group, Elastic.GROUPS, "elastic group")
        table = rows(drives, group)
        vector = array(values, (table.size,), f"elastic parameters {group}").reshape(table.shape)
        for k, row in enumerate(vector):
            change: dict[str, Any] = {group: float(row[0]) if group == "Mm" else tuple(row.tolist())}
            new[k] = dataclasses.replace(new[k], **change)
    return tuple(new)


def rigid(description: RobotDescription) -> dict[str, Any]:
    """Return the changes that make elastic joints rigid: motors become armature and friction of their joints."""
    n = len(description.joint_types)
    joints = [drive.joint - 1 for drive in description.elastic]
    armature = np.zeros(n) if description.armature is None else np.array(description.armature)
    armature[joints] += [drive.Mm for drive in description.elastic]
    damping = rows(description.elastic, "Dm")
    changes: dict[str, Any] = {"elastic": (), "armature": armature}
    if damping.any():
        changes["friction"] = _with_motor_damping(description.friction, joints, damping, n)
    return changes


def _with_motor_damping(friction: Friction | None, joints: list[int], damping: Array, n: int) -> Friction:
    """Add the damping of motors to friction; both are polynomials v |v|^k."""
    if friction is None:
        friction = Friction(terms=("viscous",), coefficients=np.zeros((n, 1)))
    powers = [term for term in Friction.TERMS if term != "coulomb"][: damping.shape[1]]
    terms = [term for term in Friction.TERMS if term in friction.terms or term in powers]
    coefficients = np.zeros((n, len(terms)))
    coefficients[:, [terms.index(term) for term in friction.terms]] = friction.coefficients
    coefficients[np.ix_(joints, [terms.index(term) for term in powers])] += damping
    return dataclasses.replace(friction, terms=tuple(terms), coefficients=coefficients)


def equilibrium(drives: Sequence[Elastic], q: npt.ArrayLike, gravity: Array, joint_names: Sequence[str]) -> Array:
    """Return the motor positions at which the springs balance gravity at `q`.

    Parameters
    ----------
    drives : sequence of Elastic
        Elastic joints.
    q : (..., n) array_like
        Joint positions [rad, m].
    gravity : (..., n) ndarray
        Gravity torques at `q` [N m, N].
    joint_names : sequence of str
        Names of all joints.

    Returns
    -------
    (..., e) array
        ``q + d`` with ``sum_k K[k] d^(2k+1) = G``; among several solutions the smallest deflection d.

    Raises
    ------
    ThunderError
        If a spring cannot balance the torque.
    """
    joints = [drive.joint - 1 for drive in drives]
    around = np.broadcast_to(np.asarray(q, dtype=np.float64)[..., joints], gravity[..., joints].shape)
    return around + deflections(drives, gravity[..., joints], joint_names)


def deflections(drives: Sequence[Elastic], torque: Array, joint_names: Sequence[str]) -> Array:
    """Return the deflections (..., e) at which springs have the torques (..., e); see `equilibrium`."""
    result = np.empty(torque.shape)
    for index in np.ndindex(torque.shape):
        d = _deflection(drives[index[-1]].K, float(torque[index]))
        if d is None:
            name = joint_names[drives[index[-1]].joint - 1]
            raise ThunderError(
                f"spring of {name} cannot balance a torque of {torque[index]:g}, K = {drives[index[-1]].K}"
            )
        result[index] = d
    return result


def _deflection(K: Sequence[float], torque: float) -> float | None:
    """Root d of ``sum_k K[k] d^(2k+1) = torque`` that a growing torque reaches from d = 0, None if there is none."""
    if torque == 0.0:
        return 0.0
    polynomial = _spring(K)
    polynomial[-1] = -abs(torque)
    reached, turns = _positive_roots(polynomial), _positive_roots(np.asarray(np.polyder(polynomial), float))
    if reached.size == 0 or (turns.size and turns.min() < reached.min() * (1.0 - _REAL)):
        return None
    d = float(reached.min())
    slope = float(np.polyval(np.polyder(polynomial), d))
    d -= 0.0 if slope == 0.0 else float(np.polyval(polynomial, d)) / slope  # one step of Newton for the last digits
    return math.copysign(d, torque)


def _spring(K: Sequence[float]) -> Array:
    """Return the coefficients of the torque ``sum_k K[k] d^(2k+1)``, highest power first."""
    polynomial = np.zeros(2 * len(K))
    polynomial[-2::-2] = K
    return polynomial


def _positive_roots(polynomial: Array) -> Array:
    roots = np.roots(polynomial)
    return np.asarray(roots.real[(np.abs(roots.imag) <= _REAL * np.abs(roots)) & (roots.real > 0.0)])


def motor_motion(
    drives: Sequence[Elastic],
    links: tuple[Array, Array, Array],
    torques: tuple[Array, Array, Array],
    names: Sequence[str],
) -> tuple[Array, Array, Array]:
    """Return positions, velocities and accelerations (..., e) of motors from those of links and from spring torques.

    Parameters
    ----------
    drives : sequence of Elastic
        Elastic joints; their damping D is not used.
    links : tuple of (..., e) ndarray
        Position, velocity and acceleration of the elastic joints.
    torques : tuple of (..., e) ndarray
        Torques of the springs with two time derivatives.
    names : sequence of str
        Names of all joints.
    """
    d = deflections(drives, torques[0], names)
    slope, bend = (spring_slopes(drives, d, order) for order in (1, 2))
    v = torques[1] / slope
    return links[0] + d, links[1] + v, links[2] + (torques[2] - bend * v**2) / slope


def spring_slopes(drives: Sequence[Elastic], d: Array, order: int = 1) -> Array:
    """Return the derivative of each spring's torque at the deflections d (..., e), (..., e)."""
    result = np.empty(d.shape)
    for k, drive in enumerate(drives):
        result[..., k] = np.polyval(np.polyder(_spring(drive.K), order), d[..., k])
    return result
