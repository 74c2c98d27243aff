"""What was found in a cloud, stage by stage."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from ...checks import Array
from ...values import Value
from .planes import Plane

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["Detection"]

Mask = npt.NDArray[np.bool_]


@dataclass(frozen=True, kw_only=True, eq=False)
class Detection(Value):
    """An object on a table, or the reason why there is none.

    Attributes
    ----------
    reason : str
        Empty if an object was found; otherwise ``"no points"``, ``"nothing above the table"`` or ``"no cluster"``, and
        what belongs to the object is None.
    points : (n, 3) array
        The cloud, downsampled [m].
    on_table : (n,) bool array
        Points of the table and below.
    groups : (n,) int array
        Group of each point, by size; -1 for table and noise.
    table : Plane or None
        Its normal points up.
    chosen : int or None
        Group of the object.
    surface : (n,) bool array
        Points of the object's upper surface: all of the object's where no plane was found among them.
    planar : bool
        Whether there was one.
    centroid : (3,) array or None
        Mean of the object's points, the position that D4.2 uses [m]. It leans towards the camera, which sees no far
        sides and no underside.
    centre : (3,) array or None
        Better: below the middle of the box around the upper surface, half way to the table [m]. Sides that the camera
        sees stand below the edges of the surface and do not move it. What is hidden behind something does, and the far
        side of what is round.
    axes : (3, 3) array or None
        In columns: principal axis of the surface, across it, upwards.
    size : (3,) array or None
        Along them [m]; the third is the height above the table.
    elongation : float or None
        See `SurfaceAxes`.
    yaw : float or None
        Angle of the principal axis about the upward direction, in (-pi/2, pi/2] [rad]; None if the surface is about as
        long as wide and every grasp is as good.
    """

    reason: str
    points: Array
    on_table: Mask
    groups: npt.NDArray[np.int64]
    table: Plane | None = None
    chosen: int | None = None
    surface: Mask
    planar: bool = False
    centroid: Array | None = None
    centre: Array | None = None
    axes: Array | None = None
    size: Array | None = None
    elongation: float | None = None
    yaw: float | None = None

    @property
    def found(self) -> bool:
        """Whether there is an object."""
        return not self.reason

    @property
    def pose(self) -> Array | None:
        """Pose (4, 4) of the object, its axes at its centre."""
        if self.axes is None or self.centre is None:
            return None
        T = np.eye(4)
        T[:3, :3], T[:3, 3] = self.axes, self.centre
        return T

    @property
    def grasp(self) -> Array | None:
        """Pose (4, 4) of a hand that grasps the object from above.

        Its z axis points down, the way of the approach. Its y axis is the object's principal axis, which lies between
        thumb and index finger as D4.2 wants it (6.2.3), and it closes along x, across the object.
        """
        T = self.pose
        if T is None:
            return None
        x, _, n = T[:3, :3].T.copy()
        T[:3, :3] = np.stack([np.cross(x, -n), x, -n], axis=1)
        return T

    def plot(self) -> Figure:
        """Draw every stage."""
        from ...plotting.clouds import plot_detection

        return plot_detection(self)
