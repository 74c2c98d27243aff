"""What every source of poses gives, be it simulated, a marker in a picture or a server."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol, runtime_checkable

from ..checks import Array
from ..errors import ThunderError
from ..motion.scalars import numbers
from ..values import Value, set_fields
from .options import finite, is_pose, not_negative

__all__ = ["PoseMeasurement", "PoseSource"]


@dataclass(frozen=True, eq=False)
class PoseMeasurement(Value):
    """A pose that was seen, or that nothing was seen.

    Attributes
    ----------
    time : float
        When the picture was taken [s].
    available : float
        From when on it can be used [s], not before `time`.
    pose : (4, 4) array or None
        Of the target, in the frame that the source says; None where nothing was seen. What a broken source sends stands
        here as it came, NaN included: ask `usable`.
    quality : float
        How far to trust it, 0 or more; what it counts, the source says.
    """

    time: float
    available: float
    pose: Array | None
    quality: float = 1.0

    def __post_init__(self) -> None:
        """Check times and shape, and keep a copy of the pose that nobody can change."""
        time, available = finite(self.time, "time"), finite(self.available, "available")
        if available < time:
            raise ThunderError(f"available must not be before time, {time:g} s, got {available:g}")
        set_fields(self, time=time, available=available, quality=not_negative(self.quality, "quality"))
        if self.pose is not None:
            pose = numbers(self.pose, "pose", 2)
            if pose.shape != (4, 4):
                raise ThunderError(f"pose must have shape (4, 4), got {pose.shape}")
            pose.setflags(write=False)
            set_fields(self, pose=pose)

    @property
    def usable(self) -> bool:
        """Whether there is a pose, and it is a rigid transform of finite numbers."""
        return self.pose is not None and is_pose(self.pose)


@runtime_checkable
class PoseSource(Protocol):
    """Where poses come from. A control loop polls it in each of its periods and never waits for it."""

    def poll(self, t: float) -> list[PoseMeasurement]:
        """Return what became available since the last poll, up to time `t` [s], in order of availability.

        Times of pictures need not be in order, and there may be several measurements or none. `t` does not go back,
        except after `reset`.
        """

    def reset(self) -> None:
        """Start again: forget what was polled."""
