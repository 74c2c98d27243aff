"""Code generation: standalone C, C++ and Python libraries of a robot."""

from __future__ import annotations

from ..public import publish
from .library import generate

__all__ = ["generate"]

publish(__name__)
