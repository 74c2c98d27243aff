"""How exact clouds and tags are: ``python examples/perception_accuracy.py [scenes] [jobs]`` (100 scenes: a minute).

Objects on a conveyor belt under a simulated depth camera at 1.1 m, and AprilTags of 8 cm on rendered pictures, at
random places and angles. Errors are against the poses that were rendered. Needs the extra "vision".
"""

from __future__ import annotations

import sys

import numpy as np
from scipy.spatial.transform import Rotation

from thunder_py.papers.parallel import map_seeds
from thunder_py.papers.tables import markdown
from thunder_py.perception import PinholeCamera, detect_tags, render_tag
from thunder_py.perception.clouds import Ball, CloudPipeline, Cuboid, Cylinder, DepthCamera, look_at
from thunder_py.spatial import pose_from_rpy

BELT = Cuboid((1.2, 0.5, 0.02), pose_from_rpy((0.0, 0.0, -0.01)))
DEPTH_CAMERA = DepthCamera(
    PinholeCamera.from_field_of_view(424, 240, 1.2),
    look_at((0.5, -0.7, 0.7), (0.0, 0.0, 0.0)),
    noise_per_z2=0.002,
    resolution=0.001,
    dropout=0.05,
    edge_dropout=0.3,
)
OBJECTS = ("box", "upright cylinder", "lying cylinder", "ball")

CAMERA = PinholeCamera(640, 480, 600.0, 605.0, 321.3, 238.7, (-0.2, 0.05, 1e-3, -1e-3, 0.0))
TAG_SIZE = 0.08
DISTANCES = (0.4, 0.8, 1.6)


def shape_of(name: str, x: float, y: float, yaw: float):
    """Return an object on the belt, and where its middle is."""
    if name == "box":
        return Cuboid((0.18, 0.07, 0.10), pose_from_rpy((x, y, 0.05), (0.0, 0.0, yaw))), (x, y, 0.05)
    if name == "upright cylinder":
        return Cylinder(0.04, 0.12, pose_from_rpy((x, y, 0.06))), (x, y, 0.06)
    if name == "lying cylinder":
        return Cylinder(0.03, 0.20, pose_from_rpy((x, y, 0.03), (0.0, np.pi / 2.0, yaw))), (x, y, 0.03)
    return Ball(0.05, (x, y, 0.05)), (x, y, 0.05)


def clouds(seed: int) -> list[list[float]]:
    """Return for every object errors of centroid (3) and center (3) [mm], and of yaw [deg]."""
    rng = np.random.default_rng([1, seed])
    x, y, yaw = rng.uniform((-0.15, -0.1, -np.pi / 2.0), (0.15, 0.1, np.pi / 2.0))
    rows = []
    for name in OBJECTS:
        shape, truth = shape_of(name, x, y, yaw)
        found = CloudPipeline()(DEPTH_CAMERA.see([BELT, shape], rng).cloud, near=truth)
        off = np.nan if found.yaw is None else np.degrees((found.yaw - yaw + np.pi / 2.0) % np.pi - np.pi / 2.0)
        rows.append([*1e3 * (found.centroid - truth), *1e3 * (found.center - truth), off])
    return rows


def tags(seed: int) -> list[list[float]]:
    """Return for every distance the error of position [mm] and angle [deg], and whether the tag was found."""
    rng = np.random.default_rng([2, seed])
    rows = []
    for distance in DISTANCES:
        azimuth, tilt, roll = rng.uniform((0.0, 0.2, -np.pi), (2.0 * np.pi, 0.9, np.pi))
        leaning = tilt * np.array([np.cos(azimuth), np.sin(azimuth), 0.0])
        T = np.eye(4)
        turn = Rotation.from_euler("x", np.pi) * Rotation.from_rotvec(leaning) * Rotation.from_euler("z", roll)
        T[:3, :3], T[:3, 3] = turn.as_matrix(), (*rng.uniform(-0.15, 0.15, 2) * distance, distance)
        found = detect_tags(render_tag(CAMERA, T, size=TAG_SIZE, rng=rng), CAMERA, size=TAG_SIZE)
        if found:
            angle = np.degrees((Rotation.from_matrix(found[0].pose[:3, :3]).inv() * turn).magnitude())
            rows.append([1e3 * np.linalg.norm(found[0].pose[:3, 3] - T[:3, 3]), angle, 1.0])
        else:
            rows.append([np.nan, np.nan, 0.0])
    return rows


def main(scenes: int = 8, jobs: int = 1) -> dict[str, np.ndarray]:
    """Print both tables; return the errors."""
    found = {
        "clouds": np.array(map_seeds(clouds, scenes, jobs=jobs, progress=True, description="clouds")),
        "tags": np.array(map_seeds(tags, scenes, jobs=jobs, progress=True, description="tags")),
    }
    rows = []
    for name, errors in zip(OBJECTS, found["clouds"].swapaxes(0, 1), strict=True):
        bias = np.linalg.norm(errors.mean(axis=0)[:6].reshape(2, 3), axis=1)
        spread = np.sqrt((errors[:, :6].reshape(-1, 2, 3) ** 2).sum(axis=2).mean(axis=0))
        yaw = errors[:, 6][np.isfinite(errors[:, 6])]
        shown = np.sqrt((yaw**2).mean()) if name in ("box", "lying cylinder") else None  # others have none
        rows.append([name, bias[0], spread[0], bias[1], spread[1], shown, f"{len(yaw) / scenes:.0%}"])
    header = ["", "centroid: bias [mm]", "RMS [mm]", "center: bias [mm]", "RMS [mm]", "yaw: RMS [deg]", "given"]
    print(markdown(header, rows))
    rows = []
    for distance, errors in zip(DISTANCES, found["tags"].swapaxes(0, 1), strict=True):
        position, angle = np.nanquantile(errors[:, :2], (0.5, 0.95), axis=0).T
        turned = float(np.nanmean(errors[:, 1] > 20.0))
        rows.append([f"{distance:g} m", f"{errors[:, 2].mean():.0%}", *position, *angle, f"{turned:.0%}"])
    header = [
        "tag at",
        "found",
        "position: median [mm]",
        "95 % [mm]",
        "angle: median [deg]",
        "95 % [deg]",
        "second pose",
    ]
    print("\n" + markdown(header, rows))
    return found


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
