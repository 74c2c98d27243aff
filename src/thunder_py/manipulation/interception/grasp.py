"""Whether a moving hand has got hold of a moving object."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from ...checks import Array
from ...errors import ThunderError
from ...motion.scalars import numbers, positive
from .conveyor import BeltObject

__all__ = ["Grasp", "GraspTolerance", "judge"]


@dataclass(frozen=True)
class GraspTolerance:
    """How well hand and object must go together while the hand closes.

    The defaults fit a hand that opens about 10 cm, from above, around a box of 5 cm: half of the play to each side, the
    fingers' depth, and what an object slides in the hand before the fingers hold it (0.08 m/s for a quarter of a second
    are 2 cm). They were set before any result.

    Parameters
    ----------
    horizontal, vertical : float
        Largest distances [m].
    speed : float
        Largest relative speed [m/s].
    """

    horizontal: float = 0.025
    vertical: float = 0.02
    speed: float = 0.08

    def __post_init__(self) -> None:
        """Check all."""
        for name in ("horizontal", "vertical", "speed"):
            positive(getattr(self, name), name)


class Grasp(NamedTuple):
    """How a grasp went.

    Attributes
    ----------
    success : bool
        All within tolerance, all the time.
    reason : str
        ``"grasped"``, or what was out of tolerance: ``"beside"``, ``"above or below"``, ``"sliding"``.
    along, horizontal, vertical, speed : float
        Mean lead of the hand over the object along its motion, largest horizontal and vertical distance [m], largest
        relative speed [m/s].
    """

    success: bool
    reason: str
    along: float
    horizontal: float
    vertical: float
    speed: float


def judge(
    t: npt.ArrayLike,
    hand: npt.ArrayLike,
    hand_velocity: npt.ArrayLike,
    target: BeltObject,
    tolerance: GraspTolerance | None = None,
) -> Grasp:
    """Compare hand and object while the hand closes.

    Parameters
    ----------
    t : (k,) array_like
        Times from the arrival to the end of the closing [s].
    hand, hand_velocity : (k, 3) array_like
        Of the frame that grasps [m], [m/s].
    target : BeltObject
        Where the object really is.
    tolerance : GraspTolerance, optional
        What is allowed.
    """
    allowed = GraspTolerance() if tolerance is None else tolerance
    times, p, v = numbers(t, "t", 1), numbers(hand, "hand", 2), numbers(hand_velocity, "hand_velocity", 2)
    if len(times) == 0 or p.shape != (len(times), 3) or v.shape != p.shape:
        raise ThunderError(f"hand and hand_velocity must have shape ({len(times)}, 3), got {p.shape} and {v.shape}")
    gap: Array = p - target.position(times) - np.asarray(target.belt.offset)
    slip = float(np.linalg.norm(v - target.velocity(times), axis=1).max())
    horizontal, vertical = float(np.hypot(gap[:, 0], gap[:, 1]).max()), float(np.abs(gap[:, 2]).max())
    along = float((gap @ np.asarray(target.belt.direction)).mean())
    reason = "grasped"
    if not slip <= allowed.speed:
        reason = "sliding"
    if not vertical <= allowed.vertical:
        reason = "above or below"
    if not horizontal <= allowed.horizontal:
        reason = "beside"
    return Grasp(reason == "grasped", reason, along, horizontal, vertical, slip)
