"""Objects in clouds of points: downsampling, planes, clusters, principal axes; and clouds of simple scenes."""

from __future__ import annotations

import importlib
from typing import Any

_LAZY = {
    "Ball": "shapes",
    "CloudPipeline": "detect",
    "Cuboid": "shapes",
    "Cylinder": "shapes",
    "DepthCamera": "depth_camera",
    "Detection": "detection",
    "Plane": "planes",
    "detect_object": "detect",
    "find_clusters": "clusters",
    "find_plane": "planes",
    "fit_plane": "planes",
    "look_at": "depth_camera",
    "surface_axes": "axes",
    "voxel_downsample": "voxels",
}

__all__ = [*_LAZY]


def __getattr__(name: str) -> Any:
    if name in _LAZY:
        return getattr(importlib.import_module(f".{_LAZY[name]}", __name__), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return __all__
