"""Calibration of the pose of a camera with respect to a robot (hand-eye and robot-world calibration)."""

from __future__ import annotations

import contextlib
import math
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from scipy.optimize import OptimizeResult, least_squares
from scipy.spatial.transform import Rotation
from scipy.stats import f as f_distribution
from scipy.stats import t as t_distribution

from ..checks import Array, array, one_of, pose
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
#: the same probability for a wrong scale and for inverted poses; errors of the scale that are not reported
_UNLIKELY, _SCALE = 1e-7, 0.02
#: part of the scale's effect that no motion of the poses has, below which it cannot be observed (all hands in one
#: place, for instance); largest logarithm of a scale
_ALIKE, _LARGEST = 1e-6, 20.0
#: likely causes of a scale, by its decimal logarithm
_SIZE = "the size of the marker, or the focal length, is wrong"
_UNITS = {
    3.0: "marker_poses seem to be in millimeters and hand_poses in meters",
    -3.0: "marker_poses seem to be in meters and hand_poses in millimeters",
}
#: distance that no arm reaches and no marker is seen from [m]
_FAR = 30.0
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
        If the positions of the markers have another scale than those of the hand (a wrong size of the marker or other
        units, by a t test of the scale that is estimated with the poses), if the poses fit far better with one side
        inverted (an F test), or if positions are farther than 30 m (millimeters). Otherwise, if noise does not explain
        the residuals: the message names up to a quarter of the poses without which the others fit far better (an F
        test, k at least 6), or the residuals are more than a quarter of the extent of the motion. The result is that
        of the poses as given.

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
    fit = _fit(hands, seen, mounting)
    if reason := _doubt(hands, seen, fit, mounting):
        warnings.warn(reason, ThunderWarning, stacklevel=outer_level())
    camera, marker = (fit.X, fit.Z) if mounting == "hand" else (fit.Z, fit.X)
    variances = np.diag(np.linalg.inv(fit.jacobian.T @ fit.jacobian)) * (6 * len(hands) / max(6 * len(hands) - 12, 1))
    of_camera = variances[:6] if mounting == "hand" else variances[6:]
    return HandEyeCalibration(
        mounting=mounting,
        camera=camera,
        marker=marker,
        position_residuals=np.linalg.norm(fit.offsets[:, :3], axis=1),
        angle_residuals=np.linalg.norm(fit.offsets[:, 3:], axis=1),
        position_std=float(np.sqrt(of_camera[:3].sum())),
        angle_std=float(np.sqrt(of_camera[3:].sum())),
    )


def _poses(value: npt.ArrayLike, name: str) -> Array:
    poses = array(value, (None, 4, 4), name)
    return np.array([pose(T, f"{name}[{k}]") for k, T in enumerate(poses)]).reshape(-1, 4, 4)


class _Fit(NamedTuple):
    """Poses with ``A_i X = Z B_i``, logarithm of the scale, residuals (k, 6) and their derivatives in noise units."""

    X: Array
    Z: Array
    log_scale: float
    offsets: Array
    jacobian: Array


def _initial(A: Array, B: Array, free: bool) -> tuple[Array, Array, float]:
    """Return X, Z and the scale of B approximately, from the motions between all pairs of poses."""
    i, j = np.triu_indices(len(A), 1)
    A_ij, B_ij = (np.linalg.inv(P[i]) @ P[j] for P in (A, B))
    turns_A, turns_B = (Rotation.from_matrix(P[:, :3, :3]).as_rotvec() for P in (A_ij, B_ij))
    for turns, name in ((turns_A, "hand_poses"), (turns_B, "marker_poses")):
        second = float(np.linalg.svd(turns / math.sqrt(len(turns)), compute_uv=False)[1])
        if second < _SPREAD:
            raise ThunderError(
                f"{name} must turn about axes that are not parallel by more than {math.degrees(_SPREAD):g} deg, "
                f"got {math.degrees(second):.2g} deg about the second axis (root mean square over all pairs)"
            )
    usable = np.maximum(*(np.linalg.norm(turns, axis=1) for turns in (turns_A, turns_B))) < _LARGEST_TURN
    if np.linalg.matrix_rank(turns_A[usable], tol=_SPREAD) < 2:
        raise ThunderError(
            "hand_poses must differ by less than 170 degrees in some pairs with axes that are not parallel"
        )
    R_X = Rotation.align_vectors(turns_A[usable], turns_B[usable])[0].as_matrix()
    left = (A_ij[:, :3, :3] - np.eye(3)).reshape(-1, 3)
    moved, by_hand = (B_ij[:, :3, 3] @ R_X.T).ravel(), A_ij[:, :3, 3].ravel()
    scale, shift = 1.0, np.asarray(np.linalg.lstsq(left, moved - by_hand)[0], dtype=np.float64)
    if free:
        (*column, inverse), _, rank, _ = np.linalg.lstsq(np.column_stack([left, -moved]), -by_hand)
        if rank == 4 and inverse > math.exp(-_LARGEST):
            scale, shift = 1.0 / float(inverse), np.array(column)
    X, unscaled = make_pose(R_X, shift), B.copy()
    unscaled[:, :3, 3] /= scale
    each = A @ X @ np.linalg.inv(unscaled)
    return X, make_pose(Rotation.from_matrix(each[:, :3, :3]).mean().as_matrix(), each[:, :3, 3].mean(axis=0)), scale


def _fit(A: Array, seen: Array, mounting: str, *, free: bool = False) -> _Fit:
    """Return the poses, and the scale of the markers' positions if it is free, with the least residuals."""
    X, Z, scale = _initial(A, np.asarray(np.linalg.inv(seen), float) if mounting == "hand" else seen, free)
    offsets = partial(_offsets, A, seen, X, Z, mounting)
    x = np.array([*np.zeros(12), math.log(scale)])[: 12 + free]
    for _ in range(2):  # the weights follow the residuals
        fit = _least(offsets, _noise(offsets(x)), x)
        x = fit.x
    poses = X @ _small_motion(x[:6]), Z @ _small_motion(x[6:12])
    return _Fit(*poses, float(x[12:].sum()), offsets(x), np.asarray(fit.jac, dtype=np.float64))


def _offsets(A: Array, seen: Array, X: Array, Z: Array, mounting: str, x: Array) -> Array:
    """Return the residuals (k, 6) of X and Z, moved by x (12,), with the scale exp(x[12]) if there is one."""
    X_x, Z_x = X @ _small_motion(x[:6]), Z @ _small_motion(x[6:12])
    predicted = np.linalg.inv(A @ X_x) @ Z_x if mounting == "hand" else np.linalg.inv(Z_x) @ A @ X_x
    turns = Rotation.from_matrix(np.swapaxes(predicted[:, :3, :3], 1, 2) @ seen[:, :3, :3]).as_rotvec()
    return np.hstack([seen[:, :3, 3] - np.exp(np.clip(x[12:].sum(), -_LARGEST, _LARGEST)) * predicted[:, :3, 3], turns])


def _least(offsets: Callable[[Array], Array], noise: Array, x: Array) -> OptimizeResult:
    def weighted(step: Array) -> Array:
        return (offsets(step) / noise).ravel()

    return least_squares(weighted, x, method="lm", xtol=1e-12)


def _doubt(A: Array, seen: Array, fit: _Fit, mounting: str) -> str:
    """Return why the poses cannot be right as they are given, or an empty text."""
    free, freedom = _fit(A, seen, mounting, free=True), 6 * len(A) - 13
    other = next(name for name in MOUNTINGS if name != mounting)
    reasons = []
    for name, poses in (("hand_poses", A), ("marker_poses", seen)):
        if (far := float(np.median(np.linalg.norm(poses[:, :3, 3], axis=1)))) > _FAR:
            reasons.append(f"{name} must be in meters, got a median distance of {far:.3g}: divide millimeters by 1000")
    with contextlib.suppress(ThunderError):
        inverted = _fit(A, seen, other, free=True)
        ratio = float(np.prod((_noise(free.offsets) / _noise(inverted.offsets))[[0, 3]]))
        if ratio > f_distribution.isf(_UNLIKELY, freedom, freedom):
            free = inverted
            reasons.append(
                f"inverted poses fit better, with {math.sqrt(ratio):.3g} times smaller residuals: hand_poses must be "
                "those of the hand in the base, marker_poses those of the marker in the camera's frame; invert those "
                f"that are not, or pass mounting={other!r}"
            )
    # part of the scale's column beside those of the poses
    own = abs(float(np.asarray(np.linalg.qr(free.jacobian, mode="r"))[-1, -1]))
    off, std = free.log_scale, math.sqrt(6 * len(A) / freedom) / max(own, _FLOOR)
    if own > _ALIKE * float(np.linalg.norm(free.jacobian[:, -1])) and abs(off) > max(
        _SCALE, std * float(t_distribution.isf(_UNLIKELY / 2.0, freedom))
    ):
        reasons.append(
            f"the positions of marker_poses fit those of hand_poses if they are divided by {math.exp(off):.4g} "
            f"({100.0 * std:.2g} % of standard deviation): {_UNITS.get(round(off / math.log(10.0), 1), _SIZE)}"
        )
    if reasons:
        return "; ".join(reasons)
    if outliers := _outliers(A, seen, fit, mounting):
        return (
            "noise does not explain the residuals, the other poses fit far better without "
            f"{', '.join(map(str, outliers))} (counted from 0): leave out wrong markers, check the times of the poses"
        )
    share = float((_noise(fit.offsets)[[0, 3]] / np.maximum(_extent(A), _extent(seen))).max())
    if share <= _INCONSISTENT:
        return ""
    return (
        f"noise does not explain the residuals, which have {100.0 * share:.3g} % of the extent of the motion: "
        "hand_poses and marker_poses must be in the same order, taken at the same times, nothing else may have moved"
    )


def _extent(poses: Array) -> Array:
    """Return the root mean square of positions and of rotation vectors about their mean, (2,)."""
    turns = Rotation.from_matrix(poses[:, :3, :3])
    angles = (turns.mean().inv() * turns).as_rotvec()
    return np.array([max(poses[:, :3, 3].std(axis=0).max(), _FLOOR), max(np.sqrt(np.mean(angles**2)), _FLOOR)])


def _outliers(A: Array, seen: Array, fit: _Fit, mounting: str) -> list[int]:
    """Return the poses without which the others fit far better, none if these are more than a quarter.

    Without a pose the sum of squares S over 6 (k - 1) - 12 degrees of freedom falls by D over 6: their ratio has the F
    distribution if the noise is normal.
    """
    kept, found = np.arange(len(A)), []
    while len(kept) >= _FEWEST_TESTED:
        worst = int(np.argmax(np.linalg.norm(fit.offsets / _noise(fit.offsets), axis=1)))
        rest = np.delete(kept, worst)
        try:
            fit = _fit(A[rest], seen[rest], mounting)
        except ThunderError:  # without it, axes are parallel
            break
        together = partial(_offsets, A[kept], seen[kept], fit.X, fit.Z, mounting)
        fall = 2.0 * _least(together, _noise(fit.offsets), np.zeros(12)).cost / (6 * len(rest)) - 1.0
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
