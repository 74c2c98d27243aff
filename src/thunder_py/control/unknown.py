"""What the adaptive controllers share of their arguments."""

from __future__ import annotations

from collections.abc import Sequence

import numpy.typing as npt

from ..parameters import UnknownParameters
from ..robot import Robot

__all__ = ["resolve_unknown"]


def resolve_unknown(
    robot: Robot,
    unknown: str | Sequence[str] | npt.ArrayLike | UnknownParameters | None,
    Gamma: npt.ArrayLike | None,
    adaptive: bool,
) -> tuple[UnknownParameters, npt.ArrayLike | None]:
    """Return the unknown parameters, and Gamma or None where nothing adapts."""
    if not isinstance(robot, Robot):
        raise ValueError(f"robot must be a Robot, got {type(robot).__name__}")
    chosen = robot.unknown(unknown.mask if isinstance(unknown, UnknownParameters) else unknown)
    if not adaptive:
        return chosen, None
    if Gamma is None:
        raise ValueError("Gamma is needed where the controller adapts; use adaptive=False for fixed parameters")
    return chosen, Gamma
