"""Objects on a conveyor belt, seen by a depth camera from the side."""

from typing import Any

import numpy as np

from thunder_py.checks import Array
from thunder_py.perception import PinholeCamera
from thunder_py.perception.clouds import Cuboid, DepthCamera, look_at
from thunder_py.perception.clouds.scenes import Shape
from thunder_py.spatial import pose_from_rpy

#: a camera of the kind of D4.2 from 1.1 m, with a sixteenth of the pixels
CAMERA = PinholeCamera.from_field_of_view(212, 120, 1.2)
BELT = Cuboid((1.2, 0.5, 0.02), pose_from_rpy((0.0, 0.0, -0.01)))
NOISE = {"noise_per_z2": 0.002, "resolution": 0.001, "dropout": 0.05, "edge_dropout": 0.3}
#: cubes as wide as the distance of pixels on the belt
SETTINGS = {"voxel": 0.008, "gap": 0.025}


def box(size: tuple[float, float, float], x: float = 0.0, y: float = 0.0, yaw: float = 0.0) -> Cuboid:
    """Return a box that stands on the belt."""
    return Cuboid(size, pose_from_rpy((x, y, size[2] / 2.0), (0.0, 0.0, yaw)))


def view(*shapes: Shape, seed: int = 0, eye: tuple[float, float, float] = (0.5, -0.7, 0.7), **options: Any) -> Array:
    """Return the cloud of shapes on the belt."""
    camera = DepthCamera(CAMERA, look_at(eye, (0.0, 0.0, 0.0)), **(NOISE | options))
    return camera.see([BELT, *shapes], np.random.default_rng(seed)).cloud
