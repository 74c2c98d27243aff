"""Draw docs/images/perception.png: ``python docs/images/make_perception.py [file]``."""

from __future__ import annotations

import sys
from pathlib import Path

import matplotlib

matplotlib.use("Agg")
import numpy as np

from thunder_py.perception import PinholeCamera
from thunder_py.perception.clouds import CloudPipeline, Cuboid, Cylinder, DepthCamera, look_at
from thunder_py.spatial import pose_from_rpy


def main(file: str | Path) -> None:
    """Draw what is found of a box and a cylinder on a belt; the box is asked for."""
    belt = Cuboid((1.2, 0.5, 0.02), pose_from_rpy((0.0, 0.0, -0.01)))
    box = Cuboid((0.18, 0.07, 0.10), pose_from_rpy((0.05, 0.02, 0.05), (0.0, 0.0, 0.6)))
    can = Cylinder(0.035, 0.11, pose_from_rpy((-0.12, 0.08, 0.055)))
    camera = DepthCamera(
        PinholeCamera.from_field_of_view(424, 240, 1.2),
        look_at((0.5, -0.7, 0.7), (0.0, 0.0, 0.0)),
        noise_per_z2=0.002,
        resolution=0.001,
        dropout=0.05,
        edge_dropout=0.3,
    )
    cloud = camera.see([belt, box, can], np.random.default_rng(0)).cloud
    CloudPipeline()(cloud, near=(0.05, 0.0, 0.05)).plot()["above"].figure.savefig(file, dpi=100)


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else Path(__file__).with_name("perception.png"))
