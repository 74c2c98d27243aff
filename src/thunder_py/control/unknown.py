"""What the adaptive controllers share of their arguments."""

from __future__ import annotations

from collections.abc import Sequence

import numpy.typing as npt

from .. import _core
from ..parameters import UnknownParameters
from ..robot import Robot
from .adaptation import Gradient, LawLike

__all__ = ["resolve_unknown"]


def resolve_unknown(
    robot: Robot,
    unknown: str | Sequence[str] | npt.ArrayLike | UnknownParameters | None,
    Gamma: npt.ArrayLike | None,
    adaptive: bool,
    law: LawLike | None = None,
) -> tuple[UnknownParameters, _core.AdaptationLaw | None]:
    """Return the unknown parameters, and how they move, None where nothing adapts."""
    if not isinstance(robot, Robot):
        raise ValueError(f"robot must be a Robot, got {type(robot).__name__}")
    chosen = robot.unknown(unknown.mask if isinstance(unknown, UnknownParameters) else unknown)
    if not chosen.mask.any():
        raise ValueError("unknown must select at least one parameter")
    if not adaptive:
        return chosen, None
    if law is not None and Gamma is not None:
        raise ValueError("give Gamma or law, not both: Gamma is short for law=Gradient(Gamma)")
    if law is None and Gamma is None:
        raise ValueError("Gamma or law is needed where the controller adapts; adaptive=False keeps parameters fixed")
    if law is not None and not callable(getattr(law, "build", None)):
        raise ValueError(f"law must be a Gradient or Natural, got {type(law).__name__}")
    return chosen, (Gradient(Gamma) if law is None else law).build(chosen)  # type: ignore[arg-type]
