"""A body that moves: a chest and a hand with markers, and the pose of one seen from the other."""

from dataclasses import dataclass

import numpy as np
from scipy.spatial.transform import Rotation

#: local places [m]; first to second marker is along x, the third in the plane z = 0 on the side of y > 0
CHEST = np.array([[0.0, 0.0, 0.0], [0.1, 0.0, 0.0], [0.05, 0.12, 0.0], [0.02, 0.05, 0.03]])
HAND = np.array([[0.0, 0.0, 0.0], [0.06, 0.0, 0.0], [0.01, 0.05, 0.0], [0.05, 0.04, -0.02]])


@dataclass
class Body:
    """Poses in the laboratory, and of the hand in the chest's frame; points (T, k, 3) of markers."""

    chest: tuple[np.ndarray, Rotation]
    hand: tuple[np.ndarray, Rotation]
    p: np.ndarray
    R: Rotation
    chest_markers: np.ndarray
    hand_markers: np.ndarray


def moving_body(n=60, seed=0, chest=CHEST, hand=HAND):
    """Return a body whose frames are those that its markers define: axes as above, origins at centroids."""
    rng = np.random.default_rng(seed)
    tau = np.linspace(0.0, 1.0, n)[:, None]
    frames = []
    for _ in range(2):
        p = rng.normal(size=3) + 0.3 * np.sin(3.0 * tau + rng.uniform(0.0, 6.0, 3))
        frames.append(
            (p, Rotation.from_rotvec(rng.normal(size=3)) * Rotation.from_rotvec(np.sin(2.0 * tau) * [1, -0.5, 0.7]))
        )
    (p_c, R_c), (p_h, R_h) = frames
    return Body(
        (p_c, R_c),
        (p_h, R_h),
        R_c.inv().apply(p_h - p_c),
        R_c.inv() * R_h,
        placed(p_c, R_c, chest),
        placed(p_h, R_h, hand),
    )


def placed(p, R, shape):
    """Return the markers (T, k, 3) of a group whose centroid is at p."""
    local = shape - shape.mean(axis=0)
    return np.stack([p + R.apply(marker) for marker in local], axis=1)


def pose_error(trial, body):
    """Return the largest errors of position [m] and of orientation [rad] where the trial has values."""
    seen = trial.valid
    angles = (body.R[seen].inv() * trial.rotations[seen]).magnitude()
    return np.abs(trial.position[seen] - body.p[seen]).max(), angles.max()
