"""Detection of an object and its grasp in a point cloud: the pipeline of D4.2, 6.2.1."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from ...checks import Array, argument_names, array, of_kind, positive, whole, within
from ...errors import ThunderError
from ...spatial.single import make_pose
from ...values import StrEnum, Value, set_fields
from .fits import ShapeFit, fit_round, fit_upper_surface
from .segmentation import (
    Plane,
    fills_outline,
    find_clusters,
    find_plane,
    finite_points,
    fit_plane,
    split_at_gaps,
    surface_axes,
    voxel_downsample,
    yaw_of,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Mask = npt.NDArray[np.bool_]


class DetectionReason(StrEnum):
    """Reason for the absence of an object.

    Examples
    --------
    >>> from thunder_py.perception.clouds import DetectionReason
    >>> DetectionReason.millimeters.value
    'coordinates in millimeters instead of meters'
    """

    no_points = "no points"
    millimeters = "coordinates in millimeters instead of meters"
    no_table = "no plane with enough of the points"
    not_level = "the largest plane is not level: the table is tilted, or up is wrong"
    nothing_above = "nothing above the table"
    no_cluster = "no cluster"
    too_large = "nothing above the table is as small as an object"


@dataclass(frozen=True, kw_only=True, eq=False)
class Detection(Value):
    """An object on a table, or the reason for its absence.

    Attributes
    ----------
    reason : DetectionReason or None
        None if an object was found; otherwise the attributes of the object are None.
    points : (n, 3) array
        Downsampled cloud [m].
    on_table : (n,) bool array
        Mask of points of the table and below.
    groups : (n,) int array
        Group of each point, by size; -1 for table and noise.
    table : Plane or None
        Plane of the table; its normal points up. The largest plane if that is not level.
    touching : bool
        Whether the object may be several that touch: a disk with the radius `CloudPipeline.gap` fits in a bay or hole
        of its upper surface, or a tenth of its points is beside that. Single objects that are not convex or partly
        hidden look alike.
    chosen : int or None
        Group of the object.
    surface : (n,) bool array
        Mask of the object's upper surface, or of the whole object if it has no plane.
    planar : bool
        Whether it has one.
    centroid : (3,) array or None
        Mean of the object's points, the position of D4.2 [m]. It is biased towards the camera, which does not see the
        far sides and the underside.
    center : (3,) array or None
        Better estimate: below the middle of the bounding box of the upper surface, half way to the table [m]. Visible
        upright sides do not bias it; occlusion does, and so does the hidden side of round objects.
    axes : (3, 3) array or None
        Columns: principal axis of the surface, direction across it, upward direction.
    size : (3,) array or None
        Extent along them [m]; the third is the height above the table.
    elongation : float or None
        See `SurfaceAxes`.
    yaw : float or None
        Angle of the principal axis about the upward direction, in (-pi/2, pi/2] [rad]; None if the surface is about as
        long as wide, and of fitted shapes that may be turned at will.
    shape : str or None
        Fitted shape (``"box"``, ``"disk"``, ``"ball"`` or ``"cylinder"``), from which `center`, `axes`, `size` and
        `yaw` are then; None without `CloudPipeline.fit_shapes`, or if none fits.

    Examples
    --------
    >>> import numpy as np
    >>> from thunder_py.perception.clouds import detect_object
    >>> x, y = (a.ravel() for a in np.meshgrid(np.arange(0.0, 0.2, 0.005), np.arange(0.0, 0.1, 0.005)))
    >>> detection = detect_object(np.stack([x, y, 0.1 + 0.0 * x], axis=1), find_table=False)  # a flat object
    >>> detection.found, abs(detection.yaw) < 1e-6, round(float(detection.grasp[2, 2]), 3)
    (True, True, -1.0)
    """

    reason: DetectionReason | None
    points: Array
    on_table: Mask
    groups: npt.NDArray[np.int64]
    table: Plane | None = None
    touching: bool = False
    chosen: int | None = None
    surface: Mask
    planar: bool = False
    centroid: Array | None = None
    center: Array | None = None
    axes: Array | None = None
    size: Array | None = None
    elongation: float | None = None
    yaw: float | None = None
    shape: str | None = None

    @property
    def found(self) -> bool:
        """True if there is an object."""
        return self.reason is None

    @property
    def pose(self) -> Array | None:
        """Pose (4, 4) of the object, its axes at its center."""
        if self.axes is None or self.center is None:
            return None
        return make_pose(self.axes, self.center)

    @property
    def grasp(self) -> Array | None:
        """Pose (4, 4) of a hand that grasps the object from above.

        Its z axis points down, in the direction of the approach. Its y axis is the object's principal axis, between
        thumb and index finger (D4.2, 6.2.3), and the hand closes along x, across the object.
        """
        T = self.pose
        if T is None:
            return None
        x, _, n = T[:3, :3].T.copy()
        T[:3, :3] = np.stack([np.cross(x, -n), x, -n], axis=1)
        return T

    def plot(self, *, axes: Mapping[str, Axes] | None = None) -> dict[str, Axes]:
        """Plot every stage in space and from above.

        Parameters
        ----------
        axes : mapping of str to Axes, optional
            Panels to draw, of ``"space"`` and ``"above"``; default all, in a new figure.

        Returns
        -------
        dict of str to Axes
            The panels drawn.
        """
        from .plot import plot_detection

        return plot_detection(self, axes=axes)


#: Heights on the cap that a plane cuts off a sphere are uniform (Archimedes): their standard deviation is 0.58 of the
#: largest distance. On a cylinder's side it is 0.6; on a plane it is smaller.
_ROUND = 0.48
#: largest fraction of an object's points above its upper surface; a plane through its middle has more
_ABOVE = 0.1
#: number of points of which the lowest one tells an object's height, beside stray ones
_HIGHEST = 4
#: largest fraction of an object's points beside its upper surface, as seen from above; sides are not upright to a point
_BESIDE = 0.1
#: largest coordinate that a depth camera measures, and extent of most of its points [m]; coordinates for the extent
_FAR, _WIDE, _SAMPLE = 1e4, 30.0, 3000
#: width of a visible gap between objects [voxels], and points on either side relative to those of the smallest object
_VISIBLE, _SEEN = 0.8, 4
_LENGTHS = ("voxel", "clearance", "gap", "plane_distance", "largest")
_SHARES = ("table_share", "object_share", "surface_share")


@dataclass(frozen=True, kw_only=True, eq=False)
class CloudPipeline(Value):
    """Pipeline that finds an object in a cloud (D4.2, 6.2.1); call it with the cloud.

    Attributes
    ----------
    voxel : float
        Edge of the cubes for downsampling [m].
    gap : float
        Distance between objects that always separates them, more than a voxel's diagonal [m]. Nearer ones are separated
        where the gap is visible from above, see `split_at_gaps`.
    clearance : float
        Points nearer to the table than this belong to it [m]; some standard deviations of the depth.
    plane_distance : float
        Largest distance of a point from its plane [m].
    least : int
        Smallest number of points of an object, after downsampling.
    table_share : float
        Smallest fraction of all points on the table, if it is looked for.
    object_share : float
        Smallest fraction of an object of its own points and those above the table in no group, which are noise.
    largest : float
        Largest extent of an object [m]: larger groups are walls, tables on a floor or robots.
    table : Plane or None
        Known table, from a calibration for instance; None to find it in every cloud.
    find_table : bool
        Whether there is a table to find; without one, the largest plane of a cloud would be the object's own.
    up : (3,) array
        Upward direction in the world.
    tilt : float
        Largest angle between `up` and the normals of table and upper surface [rad].
    surface_share : float
        Smallest fraction of the object's points on the plane of its upper surface.
    upper : float
        Points within this distance below the highest ones of an object describe it [m]: what a hand from above meets,
        such as the neck of a bottle.
    elongation : float
        Ratio of spreads below which an object has no yaw.
    fit_shapes : bool
        Whether to fit a rectangle or disk to a plane upper surface, and a ball or lying cylinder to other objects on a
        table. D4.2 does not: the middle of a round object is then biased towards the camera, and a cube has no yaw.
    region : (2, 3) array or None
        Lowest and highest corner of the evaluated box in the world [m].
    seed : int
        Seed of the random samples of planes.

    Raises
    ------
    ThunderError
        If a setting is invalid.

    Examples
    --------
    >>> import numpy as np
    >>> from thunder_py.perception import PinholeCamera
    >>> from thunder_py.perception.clouds import CloudPipeline, Cuboid, DepthCamera, look_at
    >>> from thunder_py.spatial import pose_from_rpy
    >>> belt = Cuboid((1.2, 0.5, 0.02), pose_from_rpy((0.0, 0.0, -0.01)))
    >>> box = Cuboid((0.18, 0.07, 0.10), pose_from_rpy((0.05, 0.02, 0.05), (0.0, 0.0, 0.6)))
    >>> camera = DepthCamera(PinholeCamera.from_field_of_view(212, 120, 1.2), look_at((0.5, -0.7, 0.7), (0, 0, 0)))
    >>> detection = CloudPipeline()(camera.see([belt, box], np.random.default_rng(0)).cloud)
    >>> bool(np.abs(detection.center - [0.05, 0.02, 0.05]).max() < 0.005), abs(detection.yaw - 0.6) < 0.05
    (True, True)
    """

    voxel: float = 0.005
    gap: float = 0.015
    clearance: float = 0.01
    plane_distance: float = 0.005
    least: int = 20
    table_share: float = 0.2
    object_share: float = 0.1
    largest: float = 0.5
    table: Plane | None = None
    find_table: bool = True
    up: npt.ArrayLike = (0.0, 0.0, 1.0)
    tilt: float = np.pi / 9.0
    surface_share: float = 0.15
    upper: float = np.inf
    elongation: float = 1.15
    fit_shapes: bool = False
    region: npt.ArrayLike | None = None
    seed: int = 0

    def __post_init__(self) -> None:
        """Check the settings."""
        checked: dict[str, Any] = {name: positive(getattr(self, name), name, "m") for name in _LENGTHS}
        checked |= {name: within(getattr(self, name), name, 0.0, 1.0) for name in _SHARES}
        if not (isinstance(self.upper, float) and self.upper == np.inf):
            checked["upper"] = positive(self.upper, "upper", "m")
        checked["tilt"] = within(self.tilt, "tilt", 0.0, np.pi / 2.0, ends="(]")
        checked["elongation"] = within(self.elongation, "elongation", 1.0, np.inf, ends="[)")
        checked |= {"least": whole(self.least, "least", 3), "seed": whole(self.seed, "seed", 0)}
        with argument_names(normal="up"):
            checked["up"] = Plane(self.up, 0.0).normal
        if self.gap < np.sqrt(3.0) * self.voxel:
            raise ThunderError(
                f"gap must be at least a voxel's diagonal, {np.sqrt(3.0) * self.voxel:g} m, got {self.gap:g} m"
            )
        if self.table is not None:
            of_kind(self.table, Plane, "table")
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
            Points in the world [m]; NaN where nothing was measured. Points beyond 10 km are ignored.
        near : (3,) array_like, optional
            Expected position of the object [m], which selects the nearest group; default the largest group.

        Returns
        -------
        Detection
            Object, or the reason for its absence; no values in a cloud raise.
        """
        measured = finite_points(cloud)
        points = voxel_downsample(self.inside(measured), self.voxel)
        nothing, groups = np.zeros(len(points), dtype=np.bool_), np.full(len(points), -1, dtype=np.int64)
        stages: dict[str, Any] = {"points": points, "groups": groups, "on_table": nothing, "surface": nothing}
        reason = _of_points(measured, points) or self._without_table(stages) or self._without_objects(stages)
        if reason is not None:
            return Detection(reason=reason, **stages)
        chosen = 0
        if near is not None:  # size does not distinguish equal objects
            away = [points[groups == k].mean(axis=0) - array(near, (3,), "near") for k in range(groups.max() + 1)]
            chosen = int(np.linalg.norm(away, axis=1).argmin())
        stages |= self._described(points, groups == chosen, stages.get("table"))
        return Detection(reason=None, chosen=chosen, **stages)

    def inside(self, cloud: npt.ArrayLike) -> Array:
        """Return the finite points (n, 3) of a cloud (..., 3) in the region."""
        points = finite_points(cloud)
        low, high = (-_FAR, _FAR) if self.region is None else np.asarray(self.region)
        return np.asarray(points[((points >= low) & (points <= high)).all(axis=1)])

    def _without_table(self, stages: dict[str, Any]) -> DetectionReason | None:
        """Find the table and the points on it, or return the reason."""
        points = stages["points"]
        if self.table is not None:
            stages["table"] = self.table.towards(self.up)
        elif self.find_table:
            settings: dict[str, Any] = {"distance": self.plane_distance, "share": self.table_share, "seed": self.seed}
            fit = find_plane(points, normal=self.up, angle=self.tilt, **settings)
            # a slice of a steeper plane: the plane that fits it best leans more
            leaning = None if fit is None else fit_plane(points[fit[1]])
            level = leaning is not None and abs(leaning.normal @ np.asarray(self.up)) >= np.cos(self.tilt)
            fit = fit if level else find_plane(points, **settings)
            if fit is None:
                return DetectionReason.no_table
            stages["table"], stages["on_table"] = fit[0].towards(self.up), fit[1]
            if not level:
                return DetectionReason.not_level
        if (table := stages.get("table")) is None:
            return None
        stages["on_table"] = table.distance(points) <= self.clearance
        return DetectionReason.nothing_above if stages["on_table"].all() else None

    def _without_objects(self, stages: dict[str, Any]) -> DetectionReason | None:
        """Group the points above the table, or return the reason."""
        above, groups = ~stages["on_table"], stages["groups"]
        points, up = stages["points"][above], self._up(stages.get("table"))
        found = find_clusters(points, eps=self.gap, min_size=self.least)
        found = split_at_gaps(points, found, up, width=_VISIBLE * self.voxel, least=_SEEN * self.least)
        sizes = np.bincount(found[found >= 0], minlength=1)
        clear = [k for k, size in enumerate(sizes) if size > self.object_share * (size + (found < 0).sum())]
        kept = [k for k in clear if np.ptp(points[found == k], axis=0).max() <= self.largest]
        for number, k in enumerate(kept):
            groups[np.flatnonzero(above)[found == k]] = number
        return None if kept else DetectionReason.too_large if clear else DetectionReason.no_cluster

    def _up(self, table: Plane | None) -> Array:
        return np.asarray(self.up if table is None else table.normal)

    def _described(self, points: Array, cluster: Mask, table: Plane | None) -> dict[str, Any]:
        up = self._up(table)
        heights = points @ up
        bottom = float(heights[cluster].min()) if table is None else table.offset
        if math.isfinite(self.upper):
            highest = np.sort(heights[cluster])[-min(_HIGHEST, int(cluster.sum()))]
            cluster = cluster & (heights > highest - self.upper)
        surface, planar = self._surface(points, cluster, up)
        frame = surface_axes(points[surface], up)
        top = float(np.median(heights[surface]) if planar else heights[cluster].max())
        outline, flat = (points[mask] @ frame.axes[:, :2] for mask in (surface, cluster))
        found: dict[str, Any] = {
            "surface": surface,
            "planar": planar,
            "centroid": points[cluster].mean(axis=0),
            "center": frame.middle + ((top + bottom) / 2.0 - frame.middle @ up) * up,
            "axes": frame.axes,
            "size": np.array([*frame.size, top - bottom]),
            "elongation": frame.elongation,
            "yaw": yaw_of(frame.axes[:, 0], up) if frame.elongation >= self.elongation else None,
            "touching": not fills_outline(outline, flat, self.gap, _BESIDE),
        }
        if self.fit_shapes:
            fit = fit_upper_surface(points[surface], up) if planar else None
            if not planar and table is not None:
                fit = fit_round(points[cluster], table)
            found |= _fitted(fit, up, bottom, self.plane_distance)
        return found

    def _surface(self, points: Array, cluster: Mask, up: Array) -> tuple[Mask, bool]:
        """Return the points of the object's upper surface, and whether it is a plane."""
        share, seed = self.surface_share, self.seed + 1
        fit = find_plane(
            points[cluster], distance=self.plane_distance, normal=up, angle=self.tilt, share=share, seed=seed
        )
        if fit is None:
            return cluster, False
        distances = fit[0].distance(points[cluster])
        above = distances > self.plane_distance
        if distances[fit[1]].std() > _ROUND * self.plane_distance or above.mean() > _ABOVE:
            return cluster, False
        surface = cluster.copy()
        surface[cluster] = fit[1]
        return surface, True


def _of_points(measured: Array, points: Array) -> DetectionReason | None:
    """Return the reason of a cloud in millimeters, or without points in the region."""
    some = measured[:: len(measured) // _SAMPLE + 1]
    if len(some) and np.ptp(np.quantile(some, (0.1, 0.9), axis=0), axis=0).max() > _WIDE:
        return DetectionReason.millimeters
    return None if len(points) else DetectionReason.no_points


def _fitted(fit: ShapeFit | None, up: Array, bottom: float, largest: float) -> dict[str, Any]:
    """Return center, axes, size, yaw and name of a fitted shape; nothing for a bad fit."""
    if fit is None or fit.residual > largest:  # False for the faces of boxes and disks
        return {}
    x = fit.direction
    top = float(fit.center @ up) + (fit.size[1] / 2.0 if fit.shape in ("ball", "cylinder") else 0.0)
    return {
        "shape": fit.shape,
        "center": fit.center + ((top + bottom) / 2.0 - fit.center @ up) * up,
        "axes": np.stack([x, np.cross(up, x), up], axis=1),
        "size": np.array([*fit.size, top - bottom]),
        "yaw": None if fit.shape in ("disk", "ball") else yaw_of(x, up),
    }


def detect_object(cloud: npt.ArrayLike, *, near: npt.ArrayLike | None = None, **settings: Any) -> Detection:
    """Find an object in a cloud: `CloudPipeline` in one call.

    Parameters
    ----------
    cloud : (..., 3) array_like
        Points in the world [m]; NaN where nothing was measured.
    near : (3,) array_like, optional
        Expected position of the object [m].
    **settings
        See `CloudPipeline`.

    Returns
    -------
    Detection

    Examples
    --------
    >>> import numpy as np
    >>> from thunder_py.perception.clouds import detect_object
    >>> detect_object(np.full((240, 424, 3), np.nan)).reason.value
    'no points'
    """
    return CloudPipeline(**settings)(cloud, near=near)
