"""AprilTags: rendering through a camera model, and pose estimation from pictures."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.ndimage import gaussian_filter

from ..checks import Array, finite, nonnegative, of_kind, pose, positive, whole
from ..optional import require
from ..spatial.single import make_pose
from ..values import Stateful, Value
from .camera import PinholeCamera, check_picture
from .pose_source import SampledPoseSource, next_time

Picture = npt.NDArray[np.uint8]

#: tags of the family tag36h11
TAG_COUNT = 587
#: modules on a side (six of data and a black border), and width of the white margin
_MODULES, _QUIET = 8, 1
#: corners of a square of two units: top left, top right, bottom right, bottom left
_CORNERS = np.array([[-1.0, 1.0, 0.0], [1.0, 1.0, 0.0], [1.0, -1.0, 0.0], [-1.0, -1.0, 0.0]])
#: least difference of gray values between ink and paper; OpenCV's default, 5, detects noise and takes 30 times as long
_CONTRAST = 20
#: angle between orientations of one pose, up to rounding [rad]
_SAME = 1e-6
#: errors of corners [pixel], and standard deviations of a tag's orientation [rad] and turning [rad/s]; logarithm of the
#: likelihood of a jump to any other orientation
_NOISE, _STILL, _TURNING, _JUMP = 0.3, 0.1, 1.0, 8.0
#: gray values of ink, paper and background
_INK, _PAPER, _BEHIND = 30.0, 220.0, 130.0


@dataclass(frozen=True, eq=False)
class TagDetection(Value):
    """A tag in a picture.

    Two poses of a square have nearly the same picture if it is small or far away (Schweighofer and Pinz 2006). The
    detection has both.

    Attributes
    ----------
    tag_id : int
        Number of the tag in its family.
    corners : (4, 2) array
        Corners in the picture [pixel]: top left, top right, bottom right and bottom left of the tag.
    pose : (4, 4) array
        Pose of the tag in the camera's frame with the smaller error: x to the tag's right, y to its top, z out of it.
    error : float
        Reprojection error: root mean square distance between measured and projected corners [pixel].
    other : (4, 4) array
        Second pose: the other minimum of the error or, if there is only one, the second closed-form solution.
    other_error : float
        Its error [pixel].

    Examples
    --------
    >>> import numpy as np
    >>> from thunder_py.perception import PinholeCamera, detect_tags, render_tag
    >>> from thunder_py.spatial import pose_from_rpy
    >>> camera = PinholeCamera.from_field_of_view(320, 240, 1.0)
    >>> truth = pose_from_rpy((0.0, 0.0, 0.3), (np.pi - 0.5, 0.2, 0.0))
    >>> (tag,) = detect_tags(render_tag(camera, truth, size=0.08, tag_id=3), camera, size=0.08)
    >>> tag.tag_id, tag.corners.shape, tag.ambiguity < 0.2
    (3, (4, 2), True)
    """

    tag_id: int
    corners: Array
    pose: Array
    error: float
    other: Array
    other_error: float

    @property
    def ambiguity(self) -> float:
        """Ratio of the errors of both poses: small is unambiguous, 1 is indistinguishable.

        It is 0 if the poses coincide, where there is no second pose to confuse with the first.
        """
        if _angle(self.pose, self.other) <= _SAME:
            return 0.0
        return min(self.error / self.other_error, 1.0) if self.other_error > 0.0 else 1.0


def render_tag(
    camera: PinholeCamera,
    tag_pose: npt.ArrayLike,
    *,
    size: float,
    tag_id: int = 0,
    samples: int = 4,
    blur: float = 0.6,
    noise: float = 2.0,
    rng: np.random.Generator | None = None,
    picture: Picture | None = None,
) -> Picture:
    """Render a tag on a white card through a camera with lens distortion.

    Every pixel is the mean of rays that are spread over it, so edges are as smooth as those of a sensor.

    Parameters
    ----------
    camera : PinholeCamera
        Intrinsic parameters of the camera.
    tag_pose : (4, 4) array_like
        Pose of the tag in the camera's frame, see `TagDetection`.
    size : float
        Edge of the black square [m].
    tag_id : int
        0 to 586.
    samples : int
        Rays along each side of a pixel.
    blur : float
        Standard deviation of the lens's blur [pixel].
    noise : float
        Standard deviation of the noise of each pixel [gray values of 255].
    rng : numpy.random.Generator, optional
        Generator of the noise; default one with seed 0.
    picture : (height, width) uint8 array, optional
        Background, such as a picture with another tag; default a uniform gray.

    Returns
    -------
    (height, width) uint8 array

    Raises
    ------
    ThunderError
        If an argument is invalid.
    ModuleNotFoundError
        If OpenCV is not installed.

    Examples
    --------
    >>> from thunder_py.perception import PinholeCamera, render_tag
    >>> from thunder_py.spatial import pose_from_rpy
    >>> camera = PinholeCamera.from_field_of_view(160, 120, 1.0)
    >>> picture = render_tag(camera, pose_from_rpy((0.0, 0.0, 0.3), (3.0, 0.0, 0.0)), size=0.08, noise=0.0)
    >>> picture.shape, int(picture[0, 0])  # gray background
    ((120, 160), 130)
    """
    of_kind(camera, PinholeCamera, "camera")
    T = pose(tag_pose, "tag_pose")
    shape = (camera.height, camera.width)
    values = np.full(shape, _BEHIND) if picture is None else _gray(picture, camera).astype(np.float64)
    half = positive(size, "size", "m") * (_MODULES + 2 * _QUIET) / _MODULES / 2.0
    window = _window(camera, T, half)
    if window is not None:
        card = _card(camera, T, size, tag_id, whole(samples, "samples", 1), window)
        covered = np.isfinite(card)
        share = covered.mean(axis=-1)
        values[window] = np.where(covered, card, 0.0).mean(axis=-1) + (1.0 - share) * values[window]
    values = gaussian_filter(values, nonnegative(blur, "blur", "pixel"))
    generator = np.random.default_rng(0) if rng is None else rng
    values += nonnegative(noise, "noise") * generator.normal(size=shape)
    return np.clip(np.round(values), 0.0, 255.0).astype(np.uint8)


def detect_tags(picture: Picture, camera: PinholeCamera, *, size: float) -> list[TagDetection]:
    """Find AprilTags of the family tag36h11 and their poses, with OpenCV.

    Parameters
    ----------
    picture : (height, width) or (height, width, 3) uint8 array
        Gray values, or colors, which are averaged; black and white must differ by at least 20 gray values.
    camera : PinholeCamera
        Intrinsic parameters of the camera.
    size : float
        Edge of the black squares [m].

    Returns
    -------
    list of TagDetection
        Tags sorted by number; empty without a tag.

    Raises
    ------
    ThunderError
        If the picture is not uint8, or its size is not the camera's.
    ModuleNotFoundError
        If OpenCV is not installed.

    Notes
    -----
    Two poses of a square by infinitesimal plane-based pose estimation (Collins and Bartoli 2014), each refined by
    minimizing the reprojection error. Tags seen well have only one minimum; the second pose is then not refined, since
    it would become the first one.

    Examples
    --------
    >>> import numpy as np
    >>> from thunder_py.perception import PinholeCamera, detect_tags, render_tag
    >>> from thunder_py.spatial import pose_from_rpy
    >>> camera = PinholeCamera.from_field_of_view(320, 240, 1.0)
    >>> truth = pose_from_rpy((0.02, 0.0, 0.3), (np.pi - 0.5, 0.2, 0.0))
    >>> tags = detect_tags(render_tag(camera, truth, size=0.08, tag_id=3), camera, size=0.08)
    >>> len(tags), bool(np.abs(tags[0].pose - truth)[:3, 3].max() < 1e-3)
    (1, True)
    """
    edge = positive(size, "size", "m")
    gray = _gray(picture, camera)
    corners, ids, _ = _detector().detectMarkers(gray)
    if ids is None:
        return []
    tags = [
        _located(int(k), c.reshape(4, 2) - _corner_offset(), camera, edge)
        for k, c in zip(ids.flat, corners, strict=True)
    ]
    return sorted((d for d in tags if d is not None), key=lambda d: (d.tag_id, d.corners[0].tolist()))


def _located(tag_id: int, corners: Array, camera: PinholeCamera, size: float) -> TagDetection | None:
    cv2 = require("cv2", "vision")
    square = size / 2.0 * _CORNERS
    K, bent = camera.matrix, np.asarray(camera.distortion).copy()
    count, turns, shifts, _ = cv2.solvePnPGeneric(square, corners, K, bent, flags=cv2.SOLVEPNP_IPPE_SQUARE)

    def fitted(turn: Any, shift: Any) -> tuple[float, Array]:
        T = make_pose(cv2.Rodrigues(turn)[0], shift.ravel())
        off = camera.project(square @ T[:3, :3].T + T[:3, 3]) - corners
        return float(np.sqrt((off**2).sum(axis=1).mean())), T

    found = list(zip(turns[:count], shifts[:count], strict=True))
    closed = [fitted(*each) for each in found]
    refined = [fitted(*cv2.solvePnPRefineLM(square, corners, K, bent, *(x.copy() for x in each))) for each in found]
    error, best = min(refined, key=lambda entry: entry[0], default=(np.inf, np.eye(4)))
    if not np.isfinite(error):
        return None
    # of two poses, the one that turns farther from the best
    start, other = max(zip(closed, refined, strict=True), key=lambda pair: _angle(pair[0][1], best))
    if not np.isfinite(other[0]) or _angle(other[1], best) < 0.5 * _angle(start[1], best):
        other = start  # both were refined to the only minimum
    return TagDetection(tag_id, corners, best, error, other[1], other[0])


@lru_cache(maxsize=1)
def _detector() -> Any:
    aruco = require("cv2", "vision").aruco
    options = aruco.DetectorParameters()
    options.cornerRefinementMethod = aruco.CORNER_REFINE_APRILTAG  # lines along the edges, three times as exact
    options.aprilTagMinWhiteBlackDiff = _CONTRAST
    return aruco.ArucoDetector(aruco.getPredefinedDictionary(aruco.DICT_APRILTAG_36h11), options)


@lru_cache(maxsize=1)
def _corner_offset() -> Array:
    """Return the detector's offset of corners (2,): half a pixel if its origin is the corner of the first pixel.

    It depends on the version of OpenCV, so it is measured with a drawn tag of known corners.
    """
    aruco = require("cv2", "vision").aruco
    side, margin = 64, 40
    dictionary = aruco.getPredefinedDictionary(aruco.DICT_APRILTAG_36h11)
    drawn = np.pad(aruco.generateImageMarker(dictionary, 0, side), margin, constant_values=255)
    corners, _, _ = _detector().detectMarkers(drawn)
    return np.asarray(np.mean(corners[0].reshape(4, 2), axis=0) - (margin + side / 2.0 - 0.5))


@lru_cache(maxsize=32)
def _card_modules(tag_id: int) -> Array:
    """Return gray values of the modules and their white margin, first row on top."""
    aruco = require("cv2", "vision").aruco
    bits = aruco.generateImageMarker(aruco.getPredefinedDictionary(aruco.DICT_APRILTAG_36h11), tag_id, _MODULES)
    return np.pad(np.where(np.asarray(bits) > 0, _PAPER, _INK), _QUIET, constant_values=_PAPER)


def _card(
    camera: PinholeCamera, T: Array, size: float, tag_id: int, samples: int, window: tuple[slice, slice]
) -> Array:
    """Return gray values of every ray of the pixels of a window, (rows, columns, rays); NaN outside the card."""
    modules = _card_modules(whole(tag_id, "tag_id", 0, TAG_COUNT - 1))
    spread = (np.arange(samples) + 0.5) / samples - 0.5
    offsets = np.stack(np.meshgrid(spread, spread), axis=-1).reshape(-1, 2)
    rays = camera.directions(camera.pixels()[window][:, :, None, :] + offsets)
    # intersection with the tag's plane, where its z is 0
    with np.errstate(divide="ignore", invalid="ignore"):
        depth = (T[:3, 2] @ T[:3, 3]) / (rays @ T[:3, 2])
        x, y = np.moveaxis((rays * depth[..., None] - T[:3, 3]) @ T[:3, :2], -1, 0)
        column, row = (
            np.floor(_MODULES / 2 + _QUIET + sign * a / size * _MODULES) for sign, a in ((1.0, x), (-1.0, y))
        )
        inside = (depth > 0.0) & (np.minimum(row, column) >= 0.0) & (np.maximum(row, column) < len(modules))
    inside &= T[:3, 2] @ T[:3, 3] < 0.0  # the back of a card is not drawn
    rows, columns = (np.where(inside, a, 0.0).astype(np.int64) for a in (row, column))
    return np.where(inside, modules[rows, columns], np.nan)


def _window(camera: PinholeCamera, T: Array, half: float) -> tuple[slice, slice] | None:
    """Return the rows and columns that may contain a card with half of its edge given."""
    square = half * _CORNERS
    # points along the edges, since distortion bends them
    ends = np.linspace(square, np.roll(square, 1, axis=0), 9).reshape(-1, 3)
    at = camera.project(ends @ T[:3, :3].T + T[:3, 3])
    if np.isnan(at).any():
        return None  # partly behind the camera
    ends = np.stack([np.floor(at.min(axis=0)) - 1, np.ceil(at.max(axis=0)) + 2])
    low, high = np.clip(ends, 0, (camera.width, camera.height)).astype(int)
    return None if (high <= low).any() else (slice(low[1], high[1]), slice(low[0], high[0]))


def _gray(picture: Any, camera: PinholeCamera) -> Picture:
    image = check_picture(picture, of_kind(camera, PinholeCamera, "camera"))
    gray = image if image.ndim == 2 else image.mean(axis=2).round().astype(np.uint8)
    return np.ascontiguousarray(gray)


class TagTracker(Stateful):
    """Choice between the two poses of a tag over a sequence of pictures.

    In a single picture of a small tag, noise often gives the wrong pose the smaller error. Over several pictures the
    right one has the smaller errors on average and turns smoothly. Each pose has the logarithm of its likelihood: that
    of its reprojection error, with noise of 0.3 pixel, plus the best of the poses before, which fades with `memory`,
    less the square of the turn between them, in standard deviations of 0.1 rad and 1 rad/s, up to 8 (a jump is always
    possible). This is the online form of Viterbi's algorithm with two states.

    Parameters
    ----------
    memory : float
        Time constant with which earlier pictures are forgotten [s].

    Raises
    ------
    ThunderError
        If `memory` is not positive.

    Examples
    --------
    >>> import numpy as np
    >>> from thunder_py.perception import TagDetection, TagTracker
    >>> from thunder_py.spatial import pose_from_rpy
    >>> right, wrong = (pose_from_rpy((0.0, 0.0, 1.0), (np.pi + tilt, 0.0, 0.0)) for tilt in (0.4, -0.4))
    >>> corners, tracker = np.zeros((4, 2)), TagTracker()
    >>> clear = TagDetection(0, corners, right, 0.1, wrong, 0.5)
    >>> flipped = TagDetection(0, corners, wrong, 0.10, right, 0.12)  # noise makes the wrong pose fit better
    >>> [tracker.choose(0.1 * k, tag)[0] is right for k, tag in enumerate((clear, flipped, flipped))]
    [True, True, True]
    """

    def __init__(self, *, memory: float = 1.0) -> None:
        self._memory = positive(memory, "memory", "s")
        self.reset()

    def reset(self) -> None:
        """Forget all pictures."""
        self._last: tuple[float, tuple[Array, Array], Array] | None = None

    def choose(self, time: float, tag: TagDetection) -> tuple[Array, float]:
        """Return the likelier pose (4, 4) of a detection and its reprojection error [pixel].

        Parameters
        ----------
        time : float
            Time of the picture [s], not before that of the last one.
        tag : TagDetection
            The tag in that picture.
        """
        poses, errors = (tag.pose, tag.other), np.array([tag.error, tag.other_error])
        scores = -2.0 * np.square(errors / _NOISE)  # of four corners
        if self._last is not None:
            last, before, earlier = self._last
            passed = next_time(time, last) - last
            turns = np.array([[_angle(new, old) for old in before] for new in poses])
            jumps = np.minimum(0.5 * np.square(turns) / (_STILL**2 + (_TURNING * passed) ** 2), _JUMP)
            scores = scores + (np.exp(-passed / self._memory) * earlier - jumps).max(axis=1)
        self._last = finite(time, "time"), poses, scores - scores.max()
        best = int(scores.argmax())
        return poses[best], float(errors[best])


class FiducialPoseSource(SampledPoseSource):
    """Pose source that detects one tag in the pictures of a camera.

    Of both poses of the tag it gives the one that a `TagTracker` chooses from all pictures until then.

    The quality of a measurement is ``1 / (1 + error)`` with the reprojection error in pixels: 1 is a perfect fit.

    Parameters
    ----------
    grab : callable
        Returns the picture of a time [s], (height, width) or (height, width, 3) uint8 array, or None. It is called at
        the first poll at or after that time.
    camera : PinholeCamera
        Intrinsic parameters of the camera.
    size : float
        Edge of the tag's black square [m].
    tag_id : int
        Number of the tag in the family tag36h11; other tags are ignored.
    camera_pose : (4, 4) array_like, optional
        Pose of the camera in the world; measurements are in the world then, otherwise in the camera's frame.
    target : (4, 4) array_like, optional
        Pose of the target in the tag's frame; default the tag itself.
    max_error : float
        Measurements with a larger reprojection error count as nothing seen [pixel].
    memory : float
        See `TagTracker` [s].
    **timing
        Rate, latency, jitter, dropout, start and seed, see `thunder_py.perception.pose_source.SampledPoseSource`.

    Raises
    ------
    ThunderError
        If an argument is invalid.

    Examples
    --------
    >>> import numpy as np
    >>> from thunder_py.perception import FiducialPoseSource, PinholeCamera, render_tag
    >>> from thunder_py.spatial import pose_from_rpy
    >>> camera = PinholeCamera.from_field_of_view(320, 240, 1.0)
    >>> truth = pose_from_rpy((0.02, 0.0, 0.3), (np.pi - 0.5, 0.2, 0.0))
    >>> source = FiducialPoseSource(
    ...     lambda t: render_tag(camera, truth, size=0.08), camera, size=0.08, rate=10.0, latency=0.05)
    >>> [(round(m.available, 2), m.usable) for m in source.poll(0.2)]
    [(0.05, True), (0.15, True)]
    """

    def __init__(
        self,
        grab: Callable[[float], Any],
        camera: PinholeCamera,
        *,
        size: float,
        tag_id: int = 0,
        camera_pose: npt.ArrayLike | None = None,
        target: npt.ArrayLike | None = None,
        max_error: float = 2.0,
        memory: float = 1.0,
        **timing: Any,
    ) -> None:
        self._camera, self._size = of_kind(camera, PinholeCamera, "camera"), positive(size, "size", "m")
        self._tag_id = whole(tag_id, "tag_id", 0, TAG_COUNT - 1)
        self._camera_pose = pose(np.eye(4) if camera_pose is None else camera_pose, "camera_pose")
        self._target = pose(np.eye(4) if target is None else target, "target")
        self._max_error, self._tracker = positive(max_error, "max_error", "pixel"), TagTracker(memory=memory)
        super().__init__(grab, **timing)

    def reset(self) -> None:
        """Start again, without earlier pictures."""
        super().reset()
        self._tracker.reset()

    def _see(self, picture: Any, taken: float) -> tuple[Array | None, float]:
        tags = [tag for tag in detect_tags(picture, self._camera, size=self._size) if tag.tag_id == self._tag_id]
        # of two tags with the same number, use the one that fits better
        best = min(tags, key=lambda tag: tag.error, default=None)
        if best is None or best.error > self._max_error:
            return None, 0.0
        T, error = self._tracker.choose(taken, best)
        return self._camera_pose @ T @ self._target, 1.0 / (1.0 + error)


def _angle(A: Array, B: Array) -> float:
    """Return the angle between the orientations of two poses [rad]."""
    # by the chord, which is exact for small angles
    return float(2.0 * np.arcsin(min(np.linalg.norm(A[:3, :3] - B[:3, :3]) / np.sqrt(8.0), 1.0)))
