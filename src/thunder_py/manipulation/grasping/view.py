"""Views of an object by a camera and a hand: where it is grasped, and whether it is held."""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise, product

import numpy as np
import numpy.typing as npt

from ...checks import Array, all_positive, array, finite, nonnegative, numbers, of_kind, positive
from ...errors import ThunderError
from ...perception.clouds import CloudPipeline, DepthCamera, Detection, Plane, find_plane, voxel_downsample
from ...perception.pose_source import PoseMeasurement
from ...robot import Robot
from ...robot.frames import arm_points
from ...spatial import pose_from_rpy
from ...values import Stateful
from .clutter import free_turn, intended

#: number of measured yaws that are averaged, and length of their mean direction below which it is not used
_YAWS, _AGREE = 9, 0.7
#: faces whose sides differ by less may be held at either
_SQUARE = 1.15
#: radius of the arm's links with a margin [m], and time for which joint positions are kept [s]
_ARM, _MEMORY = 0.1, 1.0
#: shorter parts have no direction that a camera tells [m]
_TELLS = 0.03
#: room on each side of a box that is grasped across its long side [m]
_SPARE = 0.006
#: depth of the part of an object that a hand from above meets [m]
_UPPER = 0.04
#: number of pictures that wait for a call of `poll`
_KEPT = 10
#: pixels beside an object in which arm and hand hide a part of it, how many of theirs are no noise, and how far behind
#: the middle of what is left of it they may be [m]
_BESIDE, _HIDING, _BEHIND = 2, 3, 0.1
_CORNERS = np.array([*product((-1.0, 1.0), repeat=3)])
#: time after which a place of the object does not tell it from others any more [s]
_FORGOTTEN = 1.0


@dataclass(frozen=True)
class HandUse:
    """How a hand with one motor is used to grasp from above.

    Parameters
    ----------
    effort : float
        Force of its motor while it closes [N].
    close : float
        Time in which it closes around an object [s].
    empty : float
        Closure of the motor, from 0 to 1, beyond which the closed hand holds nothing.
    least : float
        Least height of the center of a grasp above the surface on which the object lies [m].
    covers : callable
        For points (k, 3) in the frame of the grasp [m] and a closure, the mask (k,) of those on the hand itself.
    depth : float
        Depth of the center of a grasp below the object's upper face [m].
    turns : bool
        Whether it must be turned as the object is; a round tool need not be.

    Examples
    --------
    >>> import numpy as np
    >>> from thunder_py.manipulation import HandUse
    >>> use = HandUse(40.0, 0.35, 0.95, 0.02, lambda points, closure: np.abs(points).max(axis=1) < 0.1)
    >>> use.grasp_point(np.array([0.5, 0.0, 0.14]), np.array([0.07, 0.05, 0.08])).round(3).tolist()
    [0.5, 0.0, 0.15]
    """

    effort: float
    close: float
    empty: float
    least: float
    covers: Callable[[Array, float], npt.NDArray[np.bool_]]
    depth: float = 0.03
    turns: bool = True

    def __post_init__(self) -> None:
        """Check the numbers."""
        for name in ("effort", "close", "empty"):
            positive(getattr(self, name), name)
        for name in ("least", "depth"):
            nonnegative(getattr(self, name), name, "m")

    def grasp_point(self, center: Array, size: Array) -> Array:
        """Return where the center of the grasp shall be (3,), from a detected object's center and size [m]."""
        top = center[2] + size[2] / 2.0
        return np.array([center[0], center[1], top - min(self.depth, size[2] - self.least)])


def symmetry_of(size: npt.ArrayLike) -> float:
    """Return the turn about the vertical after which an object of this size (3,) can be grasped alike [rad].

    Examples
    --------
    >>> from thunder_py.manipulation.grasping.view import symmetry_of
    >>> round(symmetry_of([0.05, 0.05, 0.1]), 3), round(symmetry_of([0.10, 0.05, 0.1]), 3)
    (1.571, 3.142)
    """
    length, width = array(size, (3,), "size")[:2]
    return math.pi / 2.0 if length < _SQUARE * width else math.pi


class YawEstimate(Stateful):
    """Mean of the last measured directions of an object that is the same after a turn by its symmetry.

    Examples
    --------
    >>> import numpy as np
    >>> from thunder_py.manipulation import YawEstimate
    >>> yaw = YawEstimate()
    >>> for angle in (1.55, -1.56, 1.54):  # a line: the same directions
    ...     yaw.add(angle, np.pi)
    >>> round(yaw.near(1.5), 2), round(yaw.near(-1.5), 2)
    (1.56, -1.58)
    """

    def __init__(self) -> None:
        self._seen: deque[tuple[float, float]] = deque(maxlen=_YAWS)

    def add(self, yaw: float | None, symmetry: float) -> None:
        """Take a measured direction [rad]; None for objects that may be grasped at any angle."""
        self._seen.append((0.0 if yaw is None else yaw, symmetry))

    def near(self, angle: float) -> float:
        """Return the direction nearest to an angle [rad]; the angle itself if measurements disagree."""
        if not self._seen:
            return angle
        symmetry = min(s for _, s in self._seen)
        folds = 2.0 * math.pi / symmetry
        mean = np.mean([np.exp(1j * folds * yaw) for yaw, _ in self._seen])
        if abs(mean) < _AGREE:
            return angle
        direction = float(np.angle(mean)) / folds
        return direction + symmetry * round((angle - direction) / symmetry)


class GraspView(Stateful):
    """Objects in the depth pictures of a camera, without the arm and the hand in front of them.

    The first picture shows the surface on which objects lie. It is also a pose source, of the pose that the hand
    shall have at contact: z down, y across the object.

    Parameters
    ----------
    robot : Robot
        The arm; its end effector is the center of grasps.
    use : HandUse
        The hand.
    camera : DepthCamera
        Lens and pose of the camera as calibrated; its errors are not used.
    low, high : (3,) array_like
        Corners of the region in which surface and objects are looked for [m].
    size : (3,) array_like, optional
        Length and width of the intended object's upper part, and its height, to about 15 % [m]: of several objects the
        one most like it is taken, and the hand turns to where it fits between the others. Default the largest object,
        or the nearest to the last place.

    Attributes
    ----------
    table : Plane or None
        Surface, once a picture showed it.
    others : (k, 3) array
        Points of other objects in the last picture [m], where `size` is given.
    room : bool
        Whether the open hand fits between them around the object.

    Examples
    --------
    >>> import numpy as np
    >>> import thunder_py as th
    >>> from thunder_py.manipulation import GraspView, HandUse
    >>> from thunder_py.perception import PinholeCamera
    >>> from thunder_py.perception.clouds import Cuboid, DepthCamera, look_at
    >>> from thunder_py.spatial import pose_from_rpy
    >>> camera = DepthCamera(PinholeCamera.from_field_of_view(212, 120, 1.2), look_at((1.2, 0, 0.7), (0.5, 0, 0)))
    >>> scene = [Cuboid((0.8, 0.8, 0.02), pose_from_rpy((0.5, 0, -0.01))), Cuboid((0.07, 0.05, 0.08), pose_from_rpy(
    ...     (0.5, 0.1, 0.04)))]
    >>> use = HandUse(40.0, 0.35, 0.95, 0.02, lambda points, closure: np.abs(points).max(axis=1) < 0.1)
    >>> view = GraspView(th.Robot.load("ur5e"), use, camera, (0.3, -0.4, -0.1), (0.7, 0.4, 0.3))
    >>> view.feel(0.0, [0.0, -2.5, 1.8, -1.0, -1.6, 0.0], 0.0)
    >>> found = view.see(0.0, camera.depth(scene, np.random.default_rng(0)))
    >>> bool(np.abs(found.center - [0.5, 0.1, 0.04]).max() < 0.01)
    True
    """

    def __init__(
        self,
        robot: Robot,
        use: HandUse,
        camera: DepthCamera,
        low: npt.ArrayLike,
        high: npt.ArrayLike,
        *,
        size: npt.ArrayLike | None = None,
    ) -> None:
        self._size = None if size is None else all_positive(array(size, (3,), "size"), "size")
        if self._size is not None:  # length before width, as detections have them
            self._size = np.array([self._size[:2].max(), self._size[:2].min(), self._size[2]])
        self._robot, self.use = of_kind(robot, Robot, "robot"), of_kind(use, HandUse, "use")
        self._camera = of_kind(camera, DepthCamera, "camera")
        self._low, self._high = array(low, (3,), "low"), array(high, (3,), "high")
        if (self._low >= self._high).any():
            raise ThunderError(f"low must be below high, got {self._low.tolist()} and {self._high.tolist()}")
        self.reset()

    def reset(self) -> None:
        """Start again: with the next picture's surface."""
        self.table: Plane | None = None
        self._felt: deque[tuple[float, Array, float]] = deque()
        self._place: Array | None = None
        self._seen, self._angle, self._yaw, self.room = -math.inf, 0.0, YawEstimate(), True
        self.others = self._object = np.zeros((0, 3))
        self._new: deque[tuple[float, float, Detection, bool, tuple[Array, Array]]] = deque(maxlen=_KEPT)

    def feel(self, t: float, q: npt.ArrayLike, closure: float) -> None:
        """Take the joint positions (n,) and the closure of the hand at a time [s], not before the last one."""
        if self._felt and finite(t, "t") < self._felt[-1][0]:
            raise ThunderError(f"t must not be before the last time {self._felt[-1][0]:g} s, got {t:g}")
        self._felt.append((finite(t, "t"), array(q, (self._robot.n,), "q"), finite(closure, "closure")))
        while self._felt[0][0] < t - _MEMORY:
            self._felt.popleft()

    @property
    def closure(self) -> float:
        """Last closure of the hand; 0 before the first one."""
        return self._felt[-1][2] if self._felt else 0.0

    def see(self, taken: float, depth: npt.ArrayLike) -> Detection:
        """Look for an object in a picture.

        Parameters
        ----------
        taken : float
            Time of the picture [s].
        depth : (height, width) array_like
            Depths [m], NaN where nothing was measured.

        Raises
        ------
        ThunderError
            If the first picture shows no level surface, or no joint positions are known.
        """
        if not self._felt:
            raise ThunderError("feel must be called before see: a picture shows the arm too")
        taken, cloud = finite(taken, "taken"), self._camera.cloud(numbers(depth, "depth", 2))
        if self.table is None:
            self.table = self._surface(cloud)
            region = self._low, self._high
            self._pipeline = CloudPipeline(table=self.table, fit_shapes=True, upper=_UPPER, region=region)
        _, q, closure = min(self._felt, key=lambda felt: abs(felt[0] - taken))
        points = self._pipeline.inside(cloud)
        points = points[self.table.distance(points) > self._pipeline.clearance]
        found = self._find(points[~self._own(points, q, closure)], taken)
        if found.pose is not None:
            self._place, self._seen = found.pose[:3, 3], taken
        self._new.append((taken, self._felt[-1][0], found, self._hides(found, cloud, q, closure),
                          (self.others, self._object)))  # fmt: skip
        return found

    def _find(self, points: Array, taken: float) -> Detection:
        """Return the intended object among points (k, 3) above the surface."""
        last = self._place if taken - self._seen <= _FORGOTTEN else None
        if self._size is None:
            return self._pipeline(points, near=last)
        assert self.table is not None
        points = voxel_downsample(points, self._pipeline.voxel)
        found, own = intended(points, self.table, self._size, self._pipeline, last)
        self.others, self._object = points[~own], points[own]
        return found

    def turn(self, found: Detection, last: float) -> tuple[float | None, float]:
        """Return the direction in which an object is grasped [rad], None for any, and the turn after which it is alike.

        Among other objects it is the one in which the open hand meets the fewest points, near the last one; `room`
        tells whether it fits there.
        """
        assert found.center is not None
        assert found.size is not None
        symmetry, yaw = symmetry_of(found.size), found.yaw if found.size[0] > _TELLS else None
        if self._size is None:
            return yaw, symmetry
        # boxes are grasped across either side, what may be grasped at any turn in steps of 15 degrees
        turns = np.arange(0.0, math.pi, math.pi / 2.0 if yaw is not None else math.pi / 12.0)
        turns += last if yaw is None else yaw
        if yaw is not None and self.use.covers(np.array([[0.0, found.size[0] / 2.0 + _SPARE, 0.0]]), 0.0).any():
            turns = turns[:1]  # too long for the hand
        point = self.use.grasp_point(found.center, found.size)
        turn, self.room = free_turn(self.others, self._object, point, turns.tolist(), self.use.covers, last)
        return turn, math.pi

    def _surface(self, cloud: Array) -> Plane:
        points = cloud.reshape(-1, 3)
        inside = ((points > self._low) & (points < self._high)).all(axis=1)
        found = find_plane(points[inside], normal=(0.0, 0.0, 1.0), angle=0.2)
        if found is None:
            raise ThunderError("the first picture must show a level surface in the region from low to high, got none")
        return found[0]

    def _own(self, points: Array, q: Array, closure: float) -> npt.NDArray[np.bool_]:
        """Return the mask (k,) of points (k, 3) on the arm and the hand."""
        own = np.zeros(len(points), dtype=np.bool_)
        for a, b in pairwise(arm_points(self._robot, q)[:-1]):
            own |= _distance(points, a, b) < _ARM
        T = self._robot.forward_kinematics(q)
        return own | self.use.covers((points - T[:3, 3]) @ T[:3, :3], closure)

    def _hides(self, found: Detection, cloud: Array, q: Array, closure: float) -> bool:
        """Return whether arm or hand touch a found object in a picture's points (height, width, 3), not far behind."""
        if found.pose is None or found.size is None:
            return False
        lens, eye = self._camera.camera, np.asarray(self._camera.pose)
        ends = found.pose[:3, 3] + (_CORNERS * found.size / 2.0) @ found.pose[:3, :3].T
        u, v = lens.project((ends - eye[:3, 3]) @ eye[:3, :3]).T
        if not np.isfinite(u).all():
            return True
        rows, columns = (slice(max(int(w.min()) - _BESIDE, 0), max(int(w.max()) + _BESIDE + 2, 0)) for w in (v, u))
        points = cloud[rows, columns].reshape(-1, 3)
        points = points[(points - found.pose[:3, 3]) @ eye[:3, 2] < _BEHIND]  # none of those without a depth
        return bool(np.count_nonzero(self._own(points, q, closure)) >= _HIDING)

    # --- as a pose source ----------------------------------------------------------------------------------------

    def poll(self, t: float) -> list[PoseMeasurement]:
        """Return the poses of the last pictures, at most 10, since the last call; `t` [s] is as of other sources.

        An object of which arm or hand hide a part has none: what is left of it has another middle.
        """
        new, poses = list(self._new), []
        self._new.clear()
        for taken, now, found, hidden, (self.others, self._object) in new:
            target = None if found.pose is None or hidden else self._target(found)
            poses.append(PoseMeasurement(min(taken, now), now, target, 1.0))
        return poses

    def _target(self, found: Detection) -> Array:
        """Return the pose of the hand at contact; of the turns after which the object is the same, the nearest one."""
        assert found.center is not None
        assert found.size is not None
        if self.use.turns:
            self._yaw.add(*self.turn(found, self._angle))
            self._angle = self._yaw.near(self._angle)
        T = pose_from_rpy(self.use.grasp_point(found.center, found.size), (0.0, 0.0, self._angle))
        return np.asarray(T @ np.diag([1.0, -1.0, -1.0, 1.0]))


def _distance(points: Array, a: Array, b: Array) -> Array:
    """Return distances (k,) of points (k, 3) from a segment."""
    way = b - a
    s = np.clip((points - a) @ way / max(float(way @ way), 1e-12), 0.0, 1.0)
    return np.asarray(np.linalg.norm(points - a - s[:, None] * way, axis=1))
