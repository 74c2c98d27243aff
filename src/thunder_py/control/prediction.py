"""How adaptive controllers are told of the filtered torque and its regressor."""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt

from ..checks import Array, array

__all__ = ["ROUTES", "cutoff_frequency", "prediction_arguments", "prediction_weight"]

ROUTES = ("regressor", "acceleration")


def cutoff_frequency(route: str, cutoff: float) -> float:
    """Return the cutoff [rad/s] from one in Hz, after a look at the route."""
    if route not in ROUTES:
        raise ValueError(f"route must be one of {ROUTES}, got {route!r}")
    frequency = float(array(cutoff, (), "cutoff"))
    if frequency <= 0.0:
        raise ValueError(f"cutoff must be positive, got {frequency:g}")
    return 2.0 * math.pi * frequency


def prediction_arguments(
    route: str, cutoff: float, gamma: float, R_t: npt.ArrayLike, adaptive: bool
) -> tuple[str, float, float, npt.ArrayLike]:
    """Return what the core makes a prediction error of."""
    weight = float(array(gamma, (), "gamma"))
    if weight < 0.0:
        raise ValueError(f"gamma must not be negative, got {weight:g}")
    return route, cutoff_frequency(route, cutoff), weight if adaptive else 0.0, R_t


def prediction_weight(arguments: tuple[str, float, float, npt.ArrayLike]) -> Array | None:
    """Return gamma R_t as it was given, a number, a vector or a matrix, or None without prediction error."""
    _, _, gamma, R_t = arguments
    return gamma * np.asarray(R_t, dtype=np.float64) if gamma > 0.0 else None
