"""What plants and controllers written in Python must offer."""

from __future__ import annotations

from typing import Any, Protocol

import numpy.typing as npt

from ..checks import Array

__all__ = ["ControllerLike", "PlantLike"]


class PlantLike(Protocol):
    """A plant written in Python."""

    n: int

    def forward_dynamics(self, q: Array, dq: Array, tau: Array, /) -> npt.ArrayLike:
        """Return the joint accelerations, (n,)."""


class ControllerLike(Protocol):
    """A controller written in Python.

    Optional attributes: ``status`` (a `thunder_py.control.Status`), ``signals`` (a mapping of names to vectors of
    fixed length, present before the first step) and ``reset()``, called before a run.
    """

    def step(self, t: float, q: Array, dq: Array, reference: Any, /) -> npt.ArrayLike:
        """Return the torque, (n,)."""
