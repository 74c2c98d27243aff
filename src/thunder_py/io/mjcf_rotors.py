"""Rotors in MuJoCo.

A rotor on link c with the axis a has the energy ``I/2 (a . w_c + g dq_j)^2``, w_c being the link's angular velocity. On
the base that is an armature of ``g^2 I``. Where ``a . w_c`` is a combination of joint velocities with constant factors,
as on arms whose axes stay parallel up to the carrier, it is the inertia of a fixed tendon, its "armature". In all other
cases the factors change with q, and MuJoCo has no element for it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from ..checks import Array
    from ..description import Rotor
    from ..robot import Robot

__all__ = ["Rotors", "translate_rotors"]

_SAMPLES = 8
_CONSTANT = 1e-12


class Rotors(NamedTuple):
    """What rotors are in MuJoCo.

    Attributes
    ----------
    armature : (n,) array
        That of the joints, with the rotors that are no more.
    tendons : list of (int, float, (n,) array)
        Joint of the rotor (1..n), its inertia and the factors of joint velocities.
    inexact : tuple of int
        Joints whose rotors are only an armature, without the coupling to their carriers.
    """

    armature: Array
    tendons: list[tuple[int, float, Array]]
    inexact: tuple[int, ...]


def translate_rotors(robot: Robot) -> Rotors:
    """Return armature and tendons for the rotors of a robot."""
    d = robot.description
    armature = np.zeros(d.n) if d.armature is None else d.armature.copy()
    tendons, inexact = [], []
    for rotor in d.rotors:
        factors = _factors(robot, rotor)
        if factors is None:
            inexact.append(rotor.joint)
            factors = rotor.gear_ratio * np.eye(d.n)[rotor.joint - 1]
        if np.count_nonzero(factors) > 1:
            tendons.append((rotor.joint, rotor.inertia, factors))
        else:
            armature += rotor.inertia * factors**2
    return Rotors(armature, tendons, tuple(inexact))


def _factors(robot: Robot, rotor: Rotor) -> Array | None:
    """Return the constant f of the spin f . dq, or None if it changes with q."""
    n, carrier = robot.n, rotor.joint - 1 if rotor.carrier is None else rotor.carrier
    own: Array = rotor.gear_ratio * np.eye(n)[rotor.joint - 1]
    if carrier == 0:
        return own
    axis = rotor.axis
    if axis is None:  # the joint's axis at q = 0, seen from the carrier
        rest = np.zeros(n)
        placed = _pose(robot, rotor.joint - 1, rest) @ robot.description.placements[rotor.joint - 1]
        in_world = placed[:3, :3] @ robot.description.axes[rotor.joint - 1]
        axis = _pose(robot, carrier, rest)[:3, :3].T @ in_world
    q = np.vstack([np.zeros(n), np.random.default_rng(0).uniform(-np.pi, np.pi, (_SAMPLES, n))])
    R, J = robot.forward_kinematics(q, carrier)[:, :3, :3], robot.jacobian(q, carrier)[:, 3:]
    spins = np.einsum("kij,j,kil->kl", R, axis, J)
    if np.abs(spins - spins[0]).max() > _CONSTANT:
        return None
    carried = np.where(np.abs(spins[0]) > _CONSTANT, spins[0], 0.0)
    return np.asarray(carried + own, dtype=np.float64)


def _pose(robot: Robot, link: int, q: Array) -> Array:
    return robot.forward_kinematics(q, "base" if link == 0 else link)
