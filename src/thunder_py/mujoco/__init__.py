"""MuJoCo as a plant that nobody here wrote, robots to and from its format, pictures and films of robots."""

from __future__ import annotations

import importlib
from typing import Any

# what needs the extra, or costs an import of its own, comes when it is first used
_LAZY = {
    "Camera": "rendering",
    "MujocoPlant": "plant",
    "Renderer": "rendering",
    "film": "rendering",
    "render": "rendering",
    "to_mjcf": "export",
    "view": "viewer",
}

__all__ = [*_LAZY]


def __getattr__(name: str) -> Any:
    if name in _LAZY:
        return getattr(importlib.import_module(f".{_LAZY[name]}", __name__), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return __all__
