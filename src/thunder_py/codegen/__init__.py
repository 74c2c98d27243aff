"""Code generation: standalone C, C++ and Python libraries of a robot."""

from __future__ import annotations

from .library import generate

__all__ = ["generate"]
