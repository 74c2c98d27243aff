"""Code generation: native code of single functions, and whole libraries of a robot."""

from __future__ import annotations

from .library import generate

__all__ = ["generate"]
