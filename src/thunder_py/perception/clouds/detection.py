"""Detection of an object and its grasp in a point cloud: the pipeline of D4.2, 6.2.1."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from ...checks import Array, array, positive, whole, within
from ...errors import ThunderError
from ...spatial.single import make_pose
from ...values import StrEnum, Value, set_fields
from .fits import ShapeFit, fit_round, fit_upper_surface
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
    from matplotlib.axes import Axes

Mask = npt.NDArray[np.bool_]


class DetectionReason(StrEnum):
    """Reason for the absence of an object.

    Examples
    --------
    >>> from thunder_py.perception.clouds import DetectionReason
    >>> [reason.value for reason in DetectionReason]
    ['no points', 'nothing above the table', 'no cluster']
    """

    no_points = "no points"
    nothing_above = "nothing above the table"
    no_cluster = "no cluster"


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
        Plane of the table; its normal points up.
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
#: largest coordinate that a depth camera measures [m]
_FAR = 1e4
_LENGTHS = ("voxel", "clearance", "gap", "plane_distance")


@dataclass(frozen=True, kw_only=True, eq=False)
class CloudPipeline(Value):
    """Pipeline that finds an object in a cloud (D4.2, 6.2.1); call it with the cloud.

    Attributes
    ----------
    voxel : float
        Edge of the cubes for downsampling [m].
    gap : float
        Smallest distance between objects, more than a voxel's diagonal [m].
    clearance : float
        Points nearer to the table than this belong to it [m]; some standard deviations of the depth.
    plane_distance : float
        Largest distance of a point from its plane [m].
    least : int
        Smallest number of points of an object, after downsampling.
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
    table: Plane | None = None
    find_table: bool = True
    up: npt.ArrayLike = (0.0, 0.0, 1.0)
    tilt: float = np.pi / 9.0
    surface_share: float = 0.15
    elongation: float = 1.15
    fit_shapes: bool = False
    region: npt.ArrayLike | None = None
    seed: int = 0

    def __post_init__(self) -> None:
        """Check the settings."""
        checked: dict[str, Any] = {name: positive(getattr(self, name), name, "m") for name in _LENGTHS}
        if (tilt := positive(self.tilt, "tilt", "rad")) > np.pi / 2.0:
            raise ThunderError(f"tilt must be at most pi / 2 rad, got {tilt:g}")
        checked["tilt"] = tilt
        checked["least"], checked["seed"] = whole(self.least, "least", 3), whole(self.seed, "seed", 0)
        checked["surface_share"] = within(self.surface_share, "surface_share", 0.0, 1.0)
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
            Points in the world [m]; NaN where nothing was measured. Points beyond 10 km are ignored.
        near : (3,) array_like, optional
            Expected position of the object [m], which selects the nearest group; default the largest group.

        Returns
        -------
        Detection
            Object, or the reason for its absence; no values in a cloud raise.
        """
        points = voxel_downsample(self.inside(cloud), self.voxel)
        nothing = np.zeros(len(points), dtype=np.bool_)
        groups = np.full(len(points), -1, dtype=np.int64)
        if not len(points):
            reason = DetectionReason.no_points
            return Detection(reason=reason, points=points, on_table=nothing, groups=groups, surface=nothing)
        table = self._table(points)
        on_table = nothing if table is None else table.distance(points) <= self.clearance
        stages: dict[str, Any] = {"points": points, "table": table, "on_table": on_table}
        if on_table.all():
            return Detection(reason=DetectionReason.nothing_above, **stages, groups=groups, surface=nothing)
        groups[~on_table] = find_clusters(points[~on_table], eps=self.gap, min_size=self.least)
        chosen = choose_cluster(points, groups, near)
        if chosen is None:
            return Detection(reason=DetectionReason.no_cluster, **stages, groups=groups, surface=nothing)
        return self._described(stages | {"groups": groups, "chosen": chosen})

    def inside(self, cloud: npt.ArrayLike) -> Array:
        """Return the finite points (n, 3) of a cloud (..., 3) in the region."""
        points = finite_points(cloud)
        low, high = (-_FAR, _FAR) if self.region is None else np.asarray(self.region)
        return np.asarray(points[((points >= low) & (points <= high)).all(axis=1)])

    def _table(self, points: Array) -> Plane | None:
        if self.table is not None:
            return self.table.towards(self.up)
        if not self.find_table:
            return None
        fit = find_plane(points, distance=self.plane_distance, normal=self.up, angle=self.tilt, seed=self.seed)
        return None if fit is None else fit[0]

    def _described(self, stages: dict[str, Any]) -> Detection:
        points, table = stages["points"], stages["table"]
        cluster: Mask = stages["groups"] == stages["chosen"]
        up = np.asarray(self.up if table is None else table.normal)
        surface, planar = self._surface(points, cluster, up)
        frame = surface_axes(points[surface], up)
        centroid = points[cluster].mean(axis=0)
        heights = points[cluster] @ up
        top = float(np.median(points[surface] @ up) if planar else heights.max())
        bottom = float(heights.min()) if table is None else table.offset
        center = frame.middle + ((top + bottom) / 2.0 - frame.middle @ up) * up
        yaw = yaw_of(frame.axes[:, 0], up) if frame.elongation >= self.elongation else None
        found: dict[str, Any] = {
            "centroid": centroid,
            "center": center,
            "axes": frame.axes,
            "size": np.array([*frame.size, top - bottom]),
            "elongation": frame.elongation,
            "yaw": yaw,
        }
        if self.fit_shapes:
            fit = fit_upper_surface(points[surface], up) if planar else None
            if not planar and table is not None:
                fit = fit_round(points[cluster], table)
            found |= _fitted(fit, up, bottom, self.plane_distance)
        return Detection(reason=None, **stages, surface=surface, planar=planar, **found)

    def _surface(self, points: Array, cluster: Mask, up: Array) -> tuple[Mask, bool]:
        """Return the points of the object's upper surface, and whether it is a plane."""
        fit = find_plane(points[cluster], distance=self.plane_distance, normal=up, angle=self.tilt, seed=self.seed + 1)
        if fit is None or fit[1].mean() < self.surface_share:
            return cluster, False
        distances = fit[0].distance(points[cluster])
        above = distances > self.plane_distance
        if distances[fit[1]].std() > _ROUND * self.plane_distance or above.mean() > _ABOVE:
            return cluster, False
        surface = cluster.copy()
        surface[cluster] = fit[1]
        return surface, True


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
