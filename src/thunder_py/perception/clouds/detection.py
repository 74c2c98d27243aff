"""From a cloud to an object and how to grasp it: the chain of D4.2, 6.2.1."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from ...checks import Array, array, positive, whole
from ...errors import ThunderError
from ...values import Value, set_fields
from ..pose_source import probability
from .segmentation import (
    Plane,
    choose_cluster,
    find_clusters,
    find_plane,
    finite_points,
    surface_axes,
    voxel_downsample,
    yaw_of,
)

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["CloudPipeline", "Detection", "detect_object"]

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
        from .plot import plot_detection

        return plot_detection(self)


#: Heights on the cap that a plane cuts off a sphere are evenly spread (Archimedes): their deviation is 0.58 of what
#: counts as near. On a cylinder's side it is 0.6; points of a plane lie closer.
_ROUND = 0.48
#: part of an object's points that may stand above its upper surface: a plane through the middle of something is none
_ABOVE = 0.1
#: what is farther away was not measured by any depth camera [m]
_FAR = 1e4
_LENGTHS = ("voxel", "clearance", "gap", "plane_distance")


@dataclass(frozen=True, kw_only=True, eq=False)
class CloudPipeline(Value):
    """Settings of the chain; call it with a cloud.

    Attributes
    ----------
    voxel : float
        Edge of the cubes that points are averaged in [m].
    gap : float
        Distance between objects that keeps them apart, more than a voxel's diagonal [m].
    clearance : float
        Points nearer to the table than this belong to it [m]; some standard deviations of the depth.
    plane_distance : float
        Thickness of what counts as a plane, to either side [m].
    least : int
        Points that make an object, after downsampling.
    table : Plane or None
        If it is known, from a calibration for instance; otherwise it is looked for in every cloud.
    find_table : bool
        Whether it is: without a table the largest plane of a cloud is the object's own.
    up : (3,) array
        In the world; it tells which side of the table is above it, and which surface is the upper one.
    tilt : float
        Largest angle between `up` and the normals of table and upper surface [rad].
    surface_share : float
        Part of the object's points that a plane needs to be its upper surface.
    elongation : float
        Below this ratio of spreads an object has no yaw.
    region : (2, 3) array or None
        Lowest and highest corner of the box in the world that is looked at [m].
    seed : int
        Of the random samples that planes are made of.
    """

    voxel: float = 0.005
    gap: float = 0.015
    clearance: float = 0.01
    plane_distance: float = 0.005
    least: int = 20
    table: Plane | None = None
    find_table: bool = True
    up: npt.ArrayLike = (0.0, 0.0, 1.0)
    tilt: float = np.pi / 9.0
    surface_share: float = 0.15
    elongation: float = 1.15
    region: npt.ArrayLike | None = None
    seed: int = 0

    def __post_init__(self) -> None:
        """Check the settings."""
        checked: dict[str, Any] = {name: positive(getattr(self, name), name, "m") for name in _LENGTHS}
        if (tilt := positive(self.tilt, "tilt", "rad")) > np.pi / 2.0:
            raise ThunderError(f"tilt must be at most pi / 2 rad, got {tilt:g}")
        checked["tilt"] = tilt
        checked["least"], checked["seed"] = whole(self.least, "least", 3), whole(self.seed, "seed", 0)
        checked["surface_share"] = probability(self.surface_share, "surface_share")
        if not array(self.up, (3,), "up").any():
            raise ThunderError("up must not be zero")
        checked["up"] = np.asarray(Plane(self.up, 0.0).normal)
        if not positive(self.elongation, "elongation") >= 1.0:
            raise ThunderError(f"elongation must be at least 1, got {self.elongation:g}")
        if self.gap < np.sqrt(3.0) * self.voxel:
            raise ThunderError(
                f"gap must be at least a voxel's diagonal, {np.sqrt(3.0) * self.voxel:g} m, got {self.gap:g} m"
            )
        if self.table is not None and not isinstance(self.table, Plane):
            raise ThunderError(f"table must be a Plane, got {self.table!r}")
        if self.region is not None:
            region = array(self.region, (2, 3), "region", finite=False)
            if not (region[0] < region[1]).all():
                raise ThunderError(f"region must be a lowest and a highest corner, got {region.tolist()}")
            checked["region"] = region
        set_fields(self, **checked)

    def __call__(self, cloud: npt.ArrayLike, *, near: npt.ArrayLike | None = None) -> Detection:
        """Find an object.

        Parameters
        ----------
        cloud : (..., 3) array_like
            Points in the world [m]; NaN where nothing was measured, as which counts what is more than 10 km away.
        near : (3,) array_like, optional
            Where the object is expected [m]: the group nearest to it is taken. Default the largest.

        Returns
        -------
        Detection
            With the reason if there is none; a cloud never raises for what is in it.
        """
        points = voxel_downsample(self._in_region(finite_points(cloud)), self.voxel)
        nothing = np.zeros(len(points), dtype=np.bool_)
        groups = np.full(len(points), -1, dtype=np.int64)
        if not len(points):
            return Detection(reason="no points", points=points, on_table=nothing, groups=groups, surface=nothing)
        table = self._table(points)
        on_table = nothing if table is None else table.distance(points) <= self.clearance
        stages: dict[str, Any] = {"points": points, "table": table, "on_table": on_table}
        if on_table.all():
            return Detection(reason="nothing above the table", **stages, groups=groups, surface=nothing)
        groups[~on_table] = find_clusters(points[~on_table], gap=self.gap, least=self.least)
        chosen = choose_cluster(points, groups, near)
        if chosen is None:
            return Detection(reason="no cluster", **stages, groups=groups, surface=nothing)
        return self._described(stages | {"groups": groups, "chosen": chosen})

    def _in_region(self, points: Array) -> Array:
        low, high = (-_FAR, _FAR) if self.region is None else np.asarray(self.region)
        inside: Array = points[((points >= low) & (points <= high)).all(axis=1)]
        return inside

    def _table(self, points: Array) -> Plane | None:
        if self.table is not None:
            return self.table.towards(self.up)
        if not self.find_table:
            return None
        found = find_plane(points, distance=self.plane_distance, normal=self.up, angle=self.tilt, seed=self.seed)
        return None if found is None else found[0]

    def _described(self, stages: dict[str, Any]) -> Detection:
        points, table = stages["points"], stages["table"]
        cluster: Mask = stages["groups"] == stages["chosen"]
        up = np.asarray(self.up if table is None else table.normal)
        surface, planar = self._surface(points, cluster, up)
        found = surface_axes(points[surface], up)
        centroid = points[cluster].mean(axis=0)
        heights = points[cluster] @ up
        top = float(np.median(points[surface] @ up) if planar else heights.max())
        bottom = float(heights.min()) if table is None else table.offset
        centre = found.middle + ((top + bottom) / 2.0 - found.middle @ up) * up
        yaw = yaw_of(found.axes[:, 0], up) if found.elongation >= self.elongation else None
        return Detection(
            reason="",
            **stages,
            surface=surface,
            planar=planar,
            centroid=centroid,
            centre=centre,
            axes=found.axes,
            size=np.array([*found.size, top - bottom]),
            elongation=found.elongation,
            yaw=yaw,
        )

    def _surface(self, points: Array, cluster: Mask, up: Array) -> tuple[Mask, bool]:
        """Return the points of the object's upper surface, and whether it is a plane."""
        found = find_plane(
            points[cluster], distance=self.plane_distance, normal=up, angle=self.tilt, seed=self.seed + 1
        )
        if found is None or found[1].mean() < self.surface_share:
            return cluster, False
        distances = found[0].distance(points[cluster])
        above = distances > self.plane_distance
        if distances[found[1]].std() > _ROUND * self.plane_distance or above.mean() > _ABOVE:
            return cluster, False
        surface = cluster.copy()
        surface[cluster] = found[1]
        return surface, True


def detect_object(cloud: npt.ArrayLike, *, near: npt.ArrayLike | None = None, **settings: Any) -> Detection:
    """Find an object in a cloud: `CloudPipeline` in one call.

    Parameters
    ----------
    cloud : (..., 3) array_like
        Points in the world [m]; NaN where nothing was measured.
    near : (3,) array_like, optional
        Where the object is expected [m].
    **settings
        See `CloudPipeline`.
    """
    return CloudPipeline(**settings)(cloud, near=near)
