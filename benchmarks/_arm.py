"""The arms that are measured, as plain numbers that every library here can be given."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np

import thunder_py as th


@dataclass(frozen=True)
class Arm:
    """A serial arm: types, placements (n, 4, 4) with z as joint axis, REG parameters (n, 10), gravity (3,)."""

    types: str
    placements: np.ndarray
    inertial: np.ndarray
    gravity: np.ndarray

    @property
    def n(self) -> int:
        return len(self.types)

    def robot(self) -> th.Robot:
        """Return the arm as a robot of this package."""
        eyes = np.broadcast_to(np.eye(4), (self.n, 4, 4))
        return th.Robot(
            th.model.description.RobotDescription(
                name="arm",
                joint_types=self.types,
                placements=self.placements,
                axes=np.tile([0.0, 0.0, 1.0], (self.n, 1)),
                offsets=eyes,
                inertial=self.inertial,
                gravity=self.gravity,
            )
        )

    def write(self, path: Path) -> Path:
        """Write the text file that cpp/benchmarks/arm.hpp reads."""
        lines = [f"{self.n} " + _text(self.gravity)]
        for kind, pose, inertia in zip(self.types, self.placements, self.inertial, strict=True):
            lines.append(f"{kind} {_text(pose[:3])} {_text(inertia)}")
        path.write_text("\n".join(lines) + "\n")
        return path


def panda() -> Arm:
    """Return the bundled Panda up to its last link: frames and friction that not all libraries have are left out."""
    d = th.Robot.load("panda").description
    eyes = np.broadcast_to(np.eye(4), d.offsets.shape)
    assert np.array_equal(d.axes, np.tile([0.0, 0.0, 1.0], (d.n, 1)))
    assert np.array_equal(d.offsets, eyes)
    assert np.array_equal(d.base, np.eye(4))
    return Arm(d.joint_types, d.placements, d.inertial, d.gravity)


def random_arm(n: int, seed: int = 0) -> Arm:
    """Return a chain of n revolute joints with no zeros to profit from: general axes, offsets and inertias."""
    rng = np.random.default_rng([seed, n])
    placements = np.tile(np.eye(4), (n, 1, 1))
    inertial = np.empty((n, 10))
    for pose, pi in zip(placements, inertial, strict=True):
        Q, R = np.linalg.qr(rng.normal(size=(3, 3)))
        Q = Q * np.sign(np.diag(R))
        pose[:3, :3] = Q * np.linalg.det(Q)
        pose[:3, 3] = rng.uniform(-0.3, 0.3, 3)
        points, masses = rng.uniform(-0.2, 0.2, (6, 3)), rng.uniform(0.1, 0.5, 6)  # six point masses are a body
        second = np.einsum("k,ki,kj->ij", masses, points, points)
        tensor = np.trace(second) * np.eye(3) - second
        pi[:] = [masses.sum(), *(masses @ points), *tensor[np.triu_indices(3)]]
    return Arm("R" * n, placements, inertial, np.array([0.0, 0.0, -9.81]))


def _text(values: np.ndarray) -> str:
    return " ".join(repr(float(x)) for x in values.ravel())
