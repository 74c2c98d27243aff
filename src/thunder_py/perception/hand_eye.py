"""Calibration of the pose of a camera with respect to a robot (hand-eye and robot-world calibration)."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import numpy as np
import numpy.typing as npt
from scipy.optimize import OptimizeResult, least_squares
from scipy.spatial.transform import Rotation
from scipy.stats import f as f_distribution

from ..checks import Array, one_of, pose
from ..errors import ThunderError, ThunderWarning, outer_level
from ..spatial.single import make_pose
from ..table import Table
from ..values import Value

MOUNTINGS = ("hand", "fixed")
_FEWEST = 3
#: second singular value of the relative rotation vectors [rad, root mean square], below which axes are parallel
_SPREAD = math.radians(1.0)
#: rotations between poses up to which the logarithm has a reliable direction
_LARGEST_TURN = math.radians(170.0)
#: floor of the estimated noise, for data without noise [m, rad]
_FLOOR = 1e-9
#: probability of a pose that noise explains to be reported, small since errors of markers are not
#: normal; largest share of such poses
_RARE, _MOST_OUTLIERS = 1e-15, 0.25
#: number of poses from which their residuals are tested: with fewer, the estimated noise is too uncertain
_FEWEST_TESTED = 6
#: residuals relative to the extent of the motion (root mean squares) above which no pose alone is to blame
_INCONSISTENT = 0.25


@dataclass(frozen=True, kw_only=True, eq=False)
class HandEyeCalibration(Value):
    """Pose of a camera, estimated from k pairs of robot and marker poses.

    Attributes
    ----------
    mounting : str
        ``"hand"`` or ``"fixed"``, see `calibrate_hand_eye`.
    camera : (4, 4) array
        Pose of the camera in the hand (``"hand"``), or in the base of the robot (``"fixed"``).
    marker : (4, 4) array
        Pose of the marker in the base (``"hand"``), or in the hand (``"fixed"``).
    position_residuals : (k,) array
        Distance of each measured marker from its predicted position in the camera's frame [m].
    angle_residuals : (k,) array
        Angle between measured and predicted orientation [rad].
    position_std, angle_std : float
        Standard deviation of the estimated camera pose, from the residuals: root of the sum of the variances of its
        three coordinates [m] and of its three small rotations [rad].

    Examples
    --------
    >>> import numpy as np
    >>> from thunder_py.perception import calibrate_hand_eye
    >>> from thunder_py.spatial import pose_from_rpy
    >>> camera, marker = pose_from_rpy((0.05, 0.0, 0.1), (0.1, 0.0, 1.5)), pose_from_rpy((0.6, 0.1, 0.0))
    >>> turns = [(3.0, 0.0, 0.0), (2.7, 0.3, 0.5), (2.9, -0.4, -0.3), (3.2, 0.2, 1.0)]
    >>> hands = np.array([pose_from_rpy((0.5, 0.1, 0.4), rpy) for rpy in turns])
    >>> seen = np.linalg.inv(hands @ camera) @ marker
    >>> result = calibrate_hand_eye(hands, seen)
    >>> bool(abs(result.camera - camera).max() < 1e-9), result.position_residuals.shape
    (True, (4,))
    """

    mounting: str
    camera: Array
    marker: Array
    position_residuals: Array
    angle_residuals: Array
    position_std: float
    angle_std: float

    def table(self) -> Table:
        """Return root mean square and largest residual, and the standard deviation of the camera's pose, as a table."""
        rows = (("position [mm]", 1e3 * self.position_residuals, 1e3 * self.position_std),
                ("angle [deg]", np.degrees(self.angle_residuals), math.degrees(self.angle_std)))  # fmt: skip
        return Table(
            ("quantity", "RMS residual", "largest residual", "standard deviation"),
            [(name, float(np.sqrt(np.mean(r**2))), float(r.max()), std) for name, r, std in rows],
        )

    def __repr__(self) -> str:
        """Summarize the mounting, the number of poses and the residuals."""
        position, angle = (float(np.sqrt(np.mean(r**2))) for r in (self.position_residuals, self.angle_residuals))
        return (
            f"<HandEyeCalibration: camera {self.mounting}, {len(self.position_residuals)} poses, "
            f"RMS residuals {1e3 * position:.3g} mm and {math.degrees(angle):.3g} deg>"
        )


def calibrate_hand_eye(
    hand_poses: npt.ArrayLike, marker_poses: npt.ArrayLike, mounting: str = "hand"
) -> HandEyeCalibration:
    """Estimate the pose of a camera from poses of the robot's hand and of a marker seen by the camera.

    With the camera on the hand (eye in hand) the marker stands still; with a fixed camera (eye to hand) the marker is
    on the hand. Both are ``A_i X = Z B_i``: with the camera on the hand A_i is the hand in the base, X the camera in
    the hand, Z the marker in the base and B_i the camera in the marker's frame; with a fixed camera X is the marker in
    the hand, Z the camera in the base and B_i the marker in the camera's frame. X and Z are estimated together.

    Parameters
    ----------
    hand_poses : (k, 4, 4) array_like
        Poses of the hand in the robot's base, k at least 3, with rotations about axes that are not parallel.
    marker_poses : (k, 4, 4) array_like
        Poses of the marker in the camera's frame, taken at the same time, such as `TagDetection.pose`.
    mounting : {"hand", "fixed"}
        Place of the camera.

    Returns
    -------
    HandEyeCalibration

    Raises
    ------
    ThunderError
        If a pose is invalid, their numbers differ or are below 3, or the rotations of the hand or of the marker have
        parallel axes: then the position along the axis is not observable.
    UnknownNameError
        If `mounting` is unknown.

    Warns
    -----
    ThunderWarning
        If noise does not explain the residuals. The message names up to a quarter of the poses without which the others
        fit far better: an F test, k at least 6, with a probability below 1e-15 under noise. Otherwise, residuals of
        more than a quarter of the extent of the motion (both RMS, positions or angles) mean that poses may be
        inverted.

    Notes
    -----
    Initial estimate of X by Park and Martin (1994): rotation vectors of relative motions are aligned, then the
    translation is a linear problem; Z is the mean. It is refined by least squares of the residuals of the marker's
    pose in the camera's frame, positions and angles weighted by their own noise, which is estimated from the residuals.

    Examples
    --------
    See `HandEyeCalibration`.
    """
    one_of(mounting, MOUNTINGS, "mounting")
    hands, seen = _poses(hand_poses, "hand_poses"), _poses(marker_poses, "marker_poses")
    if len(hands) != len(seen):
        raise ThunderError(f"hand_poses and marker_poses must have the same length, got {len(hands)} and {len(seen)}")
    if len(hands) < _FEWEST:
        raise ThunderError(f"hand_poses must have at least {_FEWEST} poses, got {len(hands)}")
    X, Z = _initial(hands, _inverse(seen) if mounting == "hand" else seen)
    X, Z, offsets, covariance = _refine(hands, seen, X, Z, mounting)
    _warn_of_residuals(hands, seen, offsets, mounting)
    camera, marker = (X, Z) if mounting == "hand" else (Z, X)
    of_camera = np.diag(covariance)[:6] if mounting == "hand" else np.diag(covariance)[6:]
    return HandEyeCalibration(
        mounting=mounting,
        camera=camera,
        marker=marker,
        position_residuals=np.linalg.norm(offsets[:, :3], axis=1),
        angle_residuals=np.linalg.norm(offsets[:, 3:], axis=1),
        position_std=float(np.sqrt(of_camera[:3].sum())),
        angle_std=float(np.sqrt(of_camera[3:].sum())),
    )


def _poses(value: npt.ArrayLike, name: str) -> Array:
    try:
        poses = np.asarray(value, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise ThunderError(f"{name} must be numbers of shape (k, 4, 4), got {type(value).__name__}") from error
    if poses.ndim != 3 or poses.shape[1:] != (4, 4):
        raise ThunderError(f"{name} must have shape (k, 4, 4), got {poses.shape}")
    return np.array([pose(T, f"{name}[{k}]") for k, T in enumerate(poses)]).reshape(-1, 4, 4)


def _initial(A: Array, B: Array) -> tuple[Array, Array]:
    """Return X and Z with ``A_i X = Z B_i`` approximately, from the motions between all pairs of poses."""
    first, second = np.triu_indices(len(A), 1)
    A_ij, B_ij = (np.linalg.inv(P[first]) @ P[second] for P in (A, B))
    turns_A, turns_B = (Rotation.from_matrix(P[:, :3, :3]).as_rotvec() for P in (A_ij, B_ij))
    _require_axes(turns_A, "hand_poses")
    _require_axes(turns_B, "marker_poses")
    usable = np.maximum(*(np.linalg.norm(turns, axis=1) for turns in (turns_A, turns_B))) < _LARGEST_TURN
    if np.linalg.matrix_rank(turns_A[usable], tol=_SPREAD) < 2:
        raise ThunderError(
            "hand_poses must differ by less than 170 degrees in some pairs with axes that are not parallel"
        )
    R_X = Rotation.align_vectors(turns_A[usable], turns_B[usable])[0].as_matrix()
    left = (A_ij[:, :3, :3] - np.eye(3)).reshape(-1, 3)
    right = (B_ij[:, :3, 3] @ R_X.T - A_ij[:, :3, 3]).ravel()
    shift = np.asarray(np.linalg.lstsq(left, right)[0], dtype=np.float64)
    X = make_pose(R_X, shift)
    each = A @ X @ np.linalg.inv(B)
    return X, make_pose(Rotation.from_matrix(each[:, :3, :3]).mean().as_matrix(), each[:, :3, 3].mean(axis=0))


def _require_axes(turns: Array, name: str) -> None:
    second = float(np.linalg.svd(turns / math.sqrt(len(turns)), compute_uv=False)[1])
    if second < _SPREAD:
        raise ThunderError(
            f"{name} must turn about axes that are not parallel by more than {math.degrees(_SPREAD):g} deg, "
            f"got {math.degrees(second):.2g} deg about the second axis (root mean square over all pairs)"
        )


def _refine(A: Array, seen: Array, X: Array, Z: Array, mounting: str) -> tuple[Array, Array, Array, Array]:
    """Return X and Z with the least residuals, the residuals (k, 6) and the covariance of both poses (12, 12)."""
    offsets = partial(_offsets, A, seen, X, Z, mounting)
    x = np.zeros(12)
    scale = _noise(offsets(x))
    for _ in range(2):  # the weights follow the residuals
        fit = _least(offsets, scale, x)
        x, scale = fit.x, _noise(offsets(fit.x))
    jacobian = np.asarray(fit.jac, dtype=np.float64)
    covariance = _inverse(jacobian.T @ jacobian) * (6 * len(A) / max(6 * len(A) - 12, 1))
    return X @ _small_motion(x[:6]), Z @ _small_motion(x[6:]), offsets(x), covariance


def _offsets(A: Array, seen: Array, X: Array, Z: Array, mounting: str, x: Array) -> Array:
    """Return the residuals (k, 6) of X and Z, moved by x (12,)."""
    X_x, Z_x = X @ _small_motion(x[:6]), Z @ _small_motion(x[6:])
    predicted = np.linalg.inv(A @ X_x) @ Z_x if mounting == "hand" else np.linalg.inv(Z_x) @ A @ X_x
    turns = Rotation.from_matrix(np.swapaxes(predicted[:, :3, :3], 1, 2) @ seen[:, :3, :3]).as_rotvec()
    return np.hstack([seen[:, :3, 3] - predicted[:, :3, 3], turns])


def _least(offsets: Callable[[Array], Array], scale: Array, x: Array) -> OptimizeResult:
    def weighted(step: Array) -> Array:
        return (offsets(step) / scale).ravel()

    return least_squares(weighted, x, method="lm", xtol=1e-12)


def _warn_of_residuals(A: Array, seen: Array, offsets: Array, mounting: str) -> None:
    """Warn of residuals that noise does not explain."""
    outliers = _outliers(A, seen, offsets, mounting)
    share = max(
        float(np.sqrt(np.mean(offsets[:, part] ** 2)) / max(_extent(A, part), _extent(seen, part), _FLOOR))
        for part in (slice(0, 3), slice(3, 6))
    )
    if outliers:
        reason = f"the other poses fit far better without {', '.join(map(str, outliers))} (counted from 0): leave out"
        reason += " wrong markers, and check the times of the poses"
    elif share > _INCONSISTENT:
        reason = (
            f"they have {100.0 * share:.3g} % of the extent of the motion: hand_poses must be those of the hand in the "
            "base and marker_poses those of the marker in the camera's frame, not inverted, in the same order, and "
            f"mounting must not be {next(other for other in MOUNTINGS if other != mounting)!r}"
        )
    else:
        return
    warnings.warn(f"noise does not explain the residuals, {reason}", ThunderWarning, stacklevel=outer_level())


def _extent(poses: Array, part: slice) -> float:
    """Return the root mean square of positions (part 0 to 3) or rotation vectors (3 to 6) about their mean."""
    if part.start == 0:
        return float(poses[:, :3, 3].std(axis=0).max())
    turns = Rotation.from_matrix(poses[:, :3, :3])
    return float(np.sqrt(np.mean((turns.mean().inv() * turns).as_rotvec() ** 2)))


def _outliers(A: Array, seen: Array, offsets: Array, mounting: str) -> list[int]:
    """Return the poses without which the others fit far better, none if these are more than a quarter.

    Without a pose the sum of squares S over 6 (k - 1) - 12 degrees of freedom falls by D over 6: their ratio has the F
    distribution if the noise is normal.
    """
    kept, found = np.arange(len(A)), []
    while len(kept) >= _FEWEST_TESTED:
        worst = int(np.argmax(np.linalg.norm(offsets / _noise(offsets), axis=1)))
        rest = np.delete(kept, worst)
        try:
            X, Z = _initial(A[rest], _inverse(seen[rest]) if mounting == "hand" else seen[rest])
        except ThunderError:  # without it, axes are parallel
            break
        X, Z, offsets, _ = _refine(A[rest], seen[rest], X, Z, mounting)
        together = partial(_offsets, A[kept], seen[kept], X, Z, mounting)
        fall = 2.0 * _least(together, _noise(offsets), np.zeros(12)).cost / (6 * len(rest)) - 1.0
        freedom = 6 * len(rest) - 12
        if f_distribution.sf(fall * freedom / 6.0, 6, freedom) > _RARE:
            break
        found.append(int(kept[worst]))
        kept = rest
    return sorted(found) if len(found) <= max(_MOST_OUTLIERS * len(A), 1) else []


def _noise(offsets: Array) -> Array:
    """Return standard deviations of the positions and of the angles, (6,)."""
    position, angle = (max(float(np.sqrt(np.mean(part**2))), _FLOOR) for part in (offsets[:, :3], offsets[:, 3:]))
    return np.repeat([position, angle], 3)


def _small_motion(x: Array) -> Array:
    return make_pose(Rotation.from_rotvec(x[3:]).as_matrix(), x[:3])


def _inverse(matrices: Array) -> Array:
    return np.asarray(np.linalg.inv(matrices), dtype=np.float64)
