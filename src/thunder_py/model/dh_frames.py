"""Denavit-Hartenberg frames of any arm: common normals of the joint axes."""

from __future__ import annotations

import dataclasses
import warnings
from typing import Any

import numpy as np

from ..checks import Array, one_of
from ..errors import ThunderWarning, outer_level
from ..spatial import DH_CONVENTIONS, dh_chain
from .description import RobotDescription
from .inertia import pseudo_inertia, reg_from_pseudo_inertia
from .joint_data import Rotor
from .model import RobotModel

#: sine of the angle below which axes are parallel; rounded angles of robot files are above it
_PARALLEL = 1e-10


def in_dh_frames(description: RobotDescription, convention: str) -> RobotDescription:
    """Describe the same arm by a DH table; see `Robot.to_dh`."""
    convention = one_of(convention, DH_CONVENTIONS, "convention")
    if description.convention == convention:
        return description
    old, lines, points = _axes(description)
    modified = convention == "modified"
    # n + 1 lines have n common normals: the base's z axis and the joints' axes, or these and the tool's z axis
    z, p = (lines[:-1], points[:-1]) if modified else (lines[1:], points[1:])
    normals, lengths, first, second = _common_normals(z, p, old[0][:3, 0], points[0] if modified else None)
    starts, ends = _free_ends(z, normals, first, second, (old[0], old[-1] @ description.tool))
    # x axis and origin on each line where its normal to the line before ends, and where that to the next one begins
    x_in, x_out = np.vstack([starts[0], normals]), np.vstack([normals, ends[0]])
    p_in, p_out = np.vstack([starts[1], second]), np.vstack([first, ends[1]])
    alpha = [_angle(a, b, x) for a, b, x in zip(z[:-1], z[1:], normals, strict=True)]
    theta = [_angle(a, b, axis) for a, b, axis in zip(x_in, x_out, z, strict=True)]
    d = np.sum((p_out - p_in) * z, axis=1)
    joints = slice(1, None) if modified else slice(None, -1)
    table = np.column_stack([lengths, alpha, d[joints], np.array(theta)[joints]])
    x, origin = (x_out, p_out) if modified else (x_in, p_in)
    new = np.tile(np.eye(4), (len(z), 1, 1))
    new[:, :3, :] = np.stack([x, np.cross(z, x), z, origin], axis=-1)
    arm = _moved(description, table, convention, old, new)
    _warn_of_rounding(RobotModel(description), RobotModel(arm))
    return arm


def _warn_of_rounding(given: RobotModel, arm: RobotModel) -> None:
    q, dq, ddq = np.random.default_rng(0).uniform(-np.pi, np.pi, (3, 8, given.n))
    T, tau = given.forward_kinematics(q), given.inverse_dynamics(q, dq, ddq)
    pose = np.abs(arm.forward_kinematics(q) - T).max() / max(1.0, np.abs(T).max())
    torque = np.abs(arm.inverse_dynamics(q, dq, ddq) - tau).max() / max(1.0, np.abs(tau).max())
    if pose > 1e-12 or torque > 1e-11:
        d = arm.description
        farthest = np.abs(d.placements[:, :3, 3] + d.offsets[:, :3, 3]).max()
        warnings.warn(
            f"{d.name}: joint axes are nearly parallel, and their common normals up to {farthest:.2g} m away; "
            f"by rounding, poses differ by {pose:.1g}, torques by {torque:.1g} of the largest. "
            "Write the angles of the axes exactly in the robot's file.",
            ThunderWarning,
            stacklevel=outer_level(),
        )


def _axes(d: RobotDescription) -> tuple[Array, Array, Array]:
    """Return link frames (n + 1, 4, 4) in the base at q = 0; directions and points (n + 2, 3) of z axes and joints."""
    frames, lines, points = [np.eye(4)], [np.array([0.0, 0.0, 1.0])], [np.zeros(3)]
    for placement, axis, offset in zip(d.placements, d.axes, d.offsets, strict=True):
        placed = frames[-1] @ placement
        lines.append(placed[:3, :3] @ axis)
        points.append(placed[:3, 3])
        frames.append(placed @ offset)
    tool = frames[-1] @ d.tool
    return np.array(frames), np.array([*lines, tool[:3, 2]]), np.array([*points, tool[:3, 3]])


def _common_normals(z: Array, p: Array, x: Array, before: Array | None) -> tuple[Array, Array, Array, Array]:
    """Return directions, lengths and both feet of the common normals of successive lines.

    `x` is preferred as the first direction; parallel lines have their normal where the one before ended (`before`).
    """
    normals, lengths, first, second = [], [], [], []
    for a, b, pa, pb in zip(z[:-1], z[1:], p[:-1], p[1:], strict=True):
        across, between = _cross(a, b), pb - pa
        sine = float(np.linalg.norm(across))
        if sine > _PARALLEL:
            normal = across / sine
            if abs(length := float(between @ normal)) < 1e-12 * (1.0 + np.linalg.norm(between)):
                length, normal = 0.0, normal * (1.0 if normal @ x >= -1e-9 else -1.0)
            elif length < 0.0:
                length, normal = -length, -normal
            foot_a = pa + a * (np.cross(between, b) @ across) / sine**2
            foot_b = pb + b * (np.cross(between, a) @ across) / sine**2
        else:
            start = pa if before is None else before
            foot_a = pa + a * (a @ (start - pa))
            gap = (pb - foot_a) - a * (a @ (pb - foot_a))
            length = float(np.linalg.norm(gap))
            if length < 1e-12 * (1.0 + np.linalg.norm(between)):
                length, normal = 0.0, _perpendicular(x, a)
            else:
                normal = gap / length
            foot_b = foot_a + length * normal
        normals.append(normal)
        lengths.append(length)
        first.append(foot_a)
        second.append(foot_b)
        x, before = normal, foot_b
    return np.array(normals), np.array(lengths), np.array(first), np.array(second)


def _free_ends(
    z: Array, normals: Array, first: Array, second: Array, poses: tuple[Array, Array]
) -> tuple[tuple[Array, Array], tuple[Array, Array]]:
    """Return x axis and origin that the convention leaves free on the first and last line.

    They are those of the base's frame and of the tool's where its z axis lies on the line; then it needs no transform.
    """
    ends = []
    for pose, line, normal, foot in zip(poses, z[[0, -1]], normals[[0, -1]], (first[0], second[-1]), strict=True):
        away = pose[:3, 3] - foot
        is_on_line = np.linalg.norm(np.cross(pose[:3, 2], line)) < 1e-12 and pose[:3, 2] @ line > 0.0
        is_on_line = is_on_line and np.linalg.norm(np.cross(away, line)) < 1e-12
        ends.append((_perpendicular(pose[:3, 0], line), pose[:3, 3]) if is_on_line else (normal, foot))
    return ends[0], ends[1]


def _perpendicular(x: Array, z: Array) -> Array:
    """Return the unit vector perpendicular to `z` that is nearest to `x`."""
    part = x - z * (z @ x)
    if np.linalg.norm(part) < 1e-6:
        part = np.cross(z, np.eye(3)[np.argmin(np.abs(z))])
    return np.asarray(part / np.linalg.norm(part))


def _cross(a: Array, b: Array) -> Array:
    """Return the cross product of unit vectors, to rounding of its own size where they are nearly parallel."""
    return np.cross(a, b - a if a @ b > 0.0 else b + a)


def _angle(a: Array, b: Array, axis: Array) -> float:
    """Return the angle from `a` to `b` about `axis` [rad]."""
    return float(np.arctan2(_cross(a, b) @ axis, a @ b))


def _moved(d: RobotDescription, table: Array, convention: str, old: Array, new: Array) -> RobotDescription:
    """Describe what is fixed to the links in their new frames."""
    placements, axes, offsets = dh_chain(table, convention)
    base = d.base @ new[0]
    # frames as the table gives them: its rounding does not add up in the tool
    frames = [np.eye(4)]
    for placement, offset in zip(placements, offsets, strict=True):
        frames.append(frames[-1] @ placement @ offset)
    X = np.array([np.linalg.solve(new[0] @ there, here) for there, here in zip(frames, old, strict=True)])
    X[:, 3] = [0.0, 0.0, 0.0, 1.0]

    def turned(rotor: Rotor) -> Rotor:
        if rotor.axis is None or rotor.carrier is None:
            return rotor
        axis = X[rotor.carrier, :3, :3] @ rotor.axis
        return dataclasses.replace(rotor, axis=axis / np.linalg.norm(axis))

    P = X[1:] @ pseudo_inertia(d.inertial) @ np.swapaxes(X[1:], -1, -2)
    changes: dict[str, Any] = {
        "placements": placements,
        "axes": axes,
        "offsets": offsets,
        "dh": table,
        "convention": convention,
        "base": base,
        "tool": X[-1] @ d.tool,
        "inertial": reg_from_pseudo_inertia(0.5 * (P + np.swapaxes(P, -1, -2))),
        "rotors": tuple(map(turned, d.rotors)),
        "frames": {name: (link, X[link] @ pose) for name, (link, pose) in d.frames.items()},
        "masks": {},
    }
    return d.replace(**changes)
