"""The depth camera of the experiments with point clouds, above a belt or a table."""

from __future__ import annotations

from collections.abc import Sequence

import numpy.typing as npt

from ..perception.camera import PinholeCamera
from ..perception.clouds import DepthCamera, look_at


def belt_camera(eye: npt.ArrayLike, lookat: npt.ArrayLike, reach: Sequence[float] = (0.1, 10.0)) -> DepthCamera:
    """Return a camera at `eye` [m] that looks at `lookat` [m] and sees depths within `reach` [m], with our errors."""
    return DepthCamera(
        PinholeCamera.from_field_of_view(212, 120, 1.2), look_at(eye, lookat), noise_per_z2=0.002, resolution=0.001,
        dropout=0.05, edge_dropout=0.3, near=reach[0], far=reach[1],
    )  # fmt: skip
