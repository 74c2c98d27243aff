"""Perception: poses from several sources, and what a cloud of points says about an object."""

from __future__ import annotations

import importlib
from typing import Any

# what costs an import of its own comes when it is first used
_LAZY: dict[str, str] = {
    "FiducialPoseSource": "fiducials",
    "MegaPoseClient": "megapose",
    "MegaPoseSource": "megapose_source",
    "PinholeCamera": "camera",
    "PoseFault": "simulated_pose",
    "PoseMeasurement": "pose_source",
    "PoseServerError": "megapose_messages",
    "PoseSource": "pose_source",
    "SimulatedPoseSource": "simulated_pose",
    "TagDetection": "tags",
    "detect_tags": "tags",
    "render_tag": "tags",
}

__all__ = [*_LAZY]


def __getattr__(name: str) -> Any:
    if name in _LAZY:
        return getattr(importlib.import_module(f".{_LAZY[name]}", __name__), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return __all__
