"""What plants and controllers written in Python must offer."""

from __future__ import annotations

from typing import Any, Protocol

import numpy.typing as npt

from ..checks import Array

__all__ = ["ControllerLike", "PlantLike"]


class PlantLike(Protocol):
    """A plant written in Python.

    Optional methods: ``begin_step(t)``, called before each integration step, for what changes at an instant; and
    ``advance(t, q, dq, tau, dt)``, which returns q and dq at t + dt with the torque held, for
    ``simulate(..., integrator="plant")``.
    """

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
