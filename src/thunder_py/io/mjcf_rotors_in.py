"""Rotors out of MJCF files that this package wrote: tendons with an inertia, and a note on what they stand for."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ..checks import Array
from ..description import RobotDescription, Rotor
from ..robot import Robot
from .mjcf_rotors import translate_rotors
from .mjcf_tree import Tree

__all__ = ["read_rotors"]


def read_rotors(tree: Tree, joints: Sequence[int], description: RobotDescription) -> RobotDescription:
    """Return the description with the rotors whose tendons act on the arm.

    Raises
    ------
    FileFormatError
        If a tendon has inertia and no note says of which rotor, or the note does not fit.
    """
    inertias = getattr(tree.model, "tendon_armature", np.zeros(tree.model.ntendon))
    found: list[tuple[str, Rotor, Array]] = []
    for k in np.flatnonzero(inertias):
        factors = _factors(tree, int(k), joints)
        if not factors.any():
            continue
        name = tree.mujoco.mj_id2name(tree.model, tree.mujoco.mjtObj.mjOBJ_TENDON, int(k)) or str(k + 1)
        found.append((name, _rotor(tree, name, float(inertias[k]), description), factors))
    if not found:
        return description
    complete = description.replace(rotors=tuple(rotor for _, rotor, _ in found))
    meant = {joint: factors for joint, _, factors in translate_rotors(Robot(complete)).tendons}
    for name, rotor, factors in found:
        if rotor.joint not in meant or not np.allclose(meant[rotor.joint], factors, rtol=0.0, atol=1e-9):
            raise tree.error(f"does not couple the joints as its rotor would: {factors.tolist()}", f"tendon {name!r}")
    return complete


def _factors(tree: Tree, tendon: int, joints: Sequence[int]) -> Array:
    model = tree.model
    start = int(model.tendon_adr[tendon])
    factors = np.zeros(len(joints))
    for w in range(start, start + int(model.tendon_num[tendon])):
        if int(model.wrap_objid[w]) in joints:
            factors[list(joints).index(int(model.wrap_objid[w]))] = model.wrap_prm[w]
    return factors


def _rotor(tree: Tree, name: str, inertia: float, description: RobotDescription) -> Rotor:
    """Read the note: joint's number, gear ratio, carrier, and the axis if it is not the joint's."""
    note = tree.numeric(name)
    if note is None or len(note) not in (3, 6) or not 1 <= note[0] <= description.n:
        raise tree.error("inertia of tendons is read from files of this package only", f"tendon {name!r}")
    axis = np.array(note[3:]) if len(note) == 6 else None
    return Rotor(joint=int(note[0]), inertia=inertia, gear_ratio=note[1], carrier=int(note[2]), axis=axis)
