"""Where a belt runs and where objects on it can be grasped."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ...checks import Array, array, unit_axis
from ...errors import ThunderError
from ...values import Value, set_fields

__all__ = ["Belt"]


@dataclass(frozen=True, eq=False)
class Belt(Value):
    """A belt before a robot, all in the world.

    Parameters
    ----------
    reference : (3,) array_like
        p_ref, where the grasping hand best meets an object [m].
    low, high : (3,) array_like
        Corners of the box that the hand is in from where it meets an object until it has closed [m]; p_ref lies inside.
        The arm has to reach all of it, and what leaving takes along the belt beyond.
    direction : (3,) array_like
        Of the belt's motion, a unit vector.
    offset : (3,) array_like
        From the measured point of an object to the frame of the hand that grasps it [m].
    """

    reference: npt.ArrayLike
    low: npt.ArrayLike
    high: npt.ArrayLike
    direction: npt.ArrayLike = (0.0, 1.0, 0.0)
    offset: npt.ArrayLike = (0.0, 0.0, 0.0)

    def __post_init__(self) -> None:
        """Check everything."""
        for name in ("reference", "low", "high", "offset"):
            set_fields(self, **{name: array(getattr(self, name), (3,), f"belt {name}")})
        set_fields(self, direction=unit_axis(self.direction, "belt direction"))
        p, low, high = (np.asarray(x) for x in (self.reference, self.low, self.high))
        if not ((low < p) & (p < high)).all():
            raise ThunderError(f"belt reference must lie between low and high, got {p.tolist()}")

    def along(self, p: npt.ArrayLike) -> Array:
        """How far points (..., 3) are past p_ref along the belt [m]."""
        return np.asarray((np.asarray(p, dtype=float) - self.reference) @ np.asarray(self.direction))

    def _settings(self) -> dict[str, object]:
        return {name: getattr(self, name) for name in ("reference", "low", "high", "direction", "offset")}
