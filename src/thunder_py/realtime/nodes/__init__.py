"""The three nodes of docs/ros.md without a middleware: topics, services and periods, the same for ROS 1 and ROS 2.

Messages of both have the same names and fields but for times, so nodes are given the classes and how to make a time
(`Middleware`), and import nothing of ROS. What an adapter adds is in examples/ros.
"""

from __future__ import annotations

import importlib
from typing import Any

_LAZY = {
    "ControllerNode": "controller",
    "Middleware": "middleware",
    "Publisher": "middleware",
    "ReferenceNode": "reference",
    "RobotNode": "robot",
}

__all__ = ["ControllerNode", "Middleware", "Publisher", "ReferenceNode", "RobotNode"]


def __getattr__(name: str) -> Any:
    if name in _LAZY:
        return getattr(importlib.import_module(f".{_LAZY[name]}", __name__), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return __all__
