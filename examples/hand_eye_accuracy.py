"""How exact a hand-eye calibration is: ``python examples/hand_eye_accuracy.py [runs] [workers]`` (100 runs: a minute).

Random poses of a hand that looks down, turned by up to 30 degrees about the horizontal axes and by up to 60 about the
vertical one, within a cube of 0.3 m. Markers are measured with errors of 1 mm and 0.3 degrees (standard deviation of
each coordinate). Errors are those of the estimated camera against the one that was simulated.
"""

from __future__ import annotations

import sys

import numpy as np
from scipy.spatial.transform import Rotation

from thunder_py.papers.tables import markdown
from thunder_py.parallel import map_seeds
from thunder_py.perception import calibrate_hand_eye
from thunder_py.spatial import pose_from_rpy

COUNTS = (4, 6, 10, 20, 40)
POSITION_NOISE, ANGLE_NOISE = 1e-3, np.radians(0.3)
ON_HAND = pose_from_rpy((0.05, 0.02, 0.1), (0.1, 0.2, 1.5))
IN_BASE = pose_from_rpy((0.6, 0.1, 0.02), (0.1, 0.2, 0.3))


def hands(count: int, rng: np.random.Generator) -> np.ndarray:
    """Return random poses of the hand (count, 4, 4)."""
    turns = np.radians(rng.uniform((150.0, -30.0, -60.0), (210.0, 30.0, 60.0), (count, 3)))
    T = np.tile(np.eye(4), (count, 1, 1))
    T[:, :3, :3] = Rotation.from_euler("xyz", turns).as_matrix()
    T[:, :3, 3] = np.array([0.5, 0.0, 0.5]) + rng.uniform(-0.15, 0.15, (count, 3))
    return T


def measured(T: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Return poses with the errors of measurements."""
    T = T.copy()
    T[:, :3, 3] += rng.normal(scale=POSITION_NOISE, size=(len(T), 3))
    turns = Rotation.from_rotvec(rng.normal(scale=ANGLE_NOISE, size=(len(T), 3)))
    T[:, :3, :3] = T[:, :3, :3] @ turns.as_matrix()
    return T


def calibrations(seed: int) -> list[list[list[float]]]:
    """Return error and predicted standard deviation [mm, deg] for both mountings and all numbers of poses."""
    rng = np.random.default_rng(seed)
    rows: list[list[list[float]]] = []
    for mounting, truth in (("hand", ON_HAND), ("fixed", IN_BASE)):
        rows.append([])
        for count in COUNTS:
            A = hands(count, rng)
            B = np.linalg.inv(A @ ON_HAND) @ IN_BASE if mounting == "hand" else np.linalg.inv(IN_BASE) @ A @ ON_HAND
            result = calibrate_hand_eye(A, measured(B, rng), mounting)
            off = np.linalg.inv(truth) @ result.camera
            angle = Rotation.from_matrix(off[:3, :3]).magnitude()
            stds = (1e3 * result.position_std, np.degrees(result.angle_std))
            rows[-1].append([1e3 * np.linalg.norm(off[:3, 3]), np.degrees(angle), *stds])
    return rows


def main(runs: int = 8, workers: int = 1) -> np.ndarray:
    """Print the table; return all errors, (runs, 2, counts, 4)."""
    errors = np.array(map_seeds(calibrations, runs, workers=workers, progress=True, description="calibrations"))
    typical = np.sqrt((errors**2).mean(axis=0))
    rows = [
        [f"{place}, {count} poses", position, predicted, angle, predicted_angle]
        for place, per_count in zip(("on the hand", "fixed"), typical, strict=True)
        for count, (position, angle, predicted, predicted_angle) in zip(COUNTS, per_count, strict=True)
    ]
    print(markdown(["camera", "position: RMS [mm]", "predicted [mm]", "angle: RMS [deg]", "predicted [deg]"], rows))
    return errors


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
