"""Estimation of the pose of a tool in the hand, from pictures of the tool and the kinematics of the arm."""

from __future__ import annotations

from collections import deque

import numpy as np
import numpy.typing as npt
from scipy import stats

from ...checks import Array, finite, is_number, nonnegative, pose, positive, whole
from ...errors import ThunderError
from ...spatial.single import exp, inverse, left_jacobian, log, make_pose
from ...values import Stateful, StrEnum
from .pose_filter import rigid

#: alternating iterations of scale and estimate, after which the scale changes by a few per cent at most
_ITERATIONS = 5


class ToolVerdict(StrEnum):
    """Verdict on a picture of the tool."""

    used = "used"
    outlier = "far from what was expected, used with little weight"
    slipped = "one of several that agree on another pose: the tool slipped, the estimate started again there"
    invalid = "no pose"


class ToolEstimator(Stateful):
    """Recursive estimate of the pose of a tool in the hand, with its covariance.

    Parameters
    ----------
    nominal : (4, 4) array_like
        Intended pose of the tool in the hand.
    position_spread, rotation_spread : float
        Standard deviation of the true pose about it, per axis [m, rad].
    position_noise, rotation_noise : float
        Standard deviation of a measured pose, per axis [m, rad].
    creep, angular_creep : float
        Root of the spectral density of the tool's velocity in the hand [m/sqrt(s), rad/sqrt(s)].
    tail : float
        Degrees of freedom of the noise's Student's t distribution: few degrees are heavy tails. Infinity is a normal
        distribution, without robustness.
    window : int
        Number of consecutive pictures that indicate a slip, if they agree with each other and their median has a
        probability below `slip_level`.
    slip_level : float
        Probability with which a median of good pictures counts as a slip.

    Raises
    ------
    ThunderError
        If a number is out of range.

    Notes
    -----
    With the hand's pose H known by kinematics at the time of the picture, Z = H^-1 T_seen measures the pose X of the
    tool in the hand. Errors of X are on the tangent of SO(3) x R^3, in the axes of the hand: R = exp(phi) R_estimate.
    Noise with Student's t distribution is normal with an unknown scale. The scale's expectation and the estimate are
    computed in turns (variational: Agamennoni et al., IEEE Trans. Signal Processing 60(10), 2012), no scale below 1.

    An offset common to all poses of the camera (calibration) is part of the estimate of X. It cancels where tool and
    object meet if the same camera sees the object.

    Examples
    --------
    >>> import numpy as np
    >>> from thunder_py.manipulation import ToolEstimator
    >>> from thunder_py.spatial import pose_from_rpy
    >>> nominal, tool = pose_from_rpy((0.0, 0.0, 0.1)), pose_from_rpy((0.0, 0.005, 0.1))
    >>> estimator = ToolEstimator(nominal, 0.01, 0.1, position_noise=0.002, rotation_noise=0.01)
    >>> hand = pose_from_rpy((0.5, 0.0, 0.3), (np.pi, 0.0, 0.0))  # known by kinematics
    >>> [estimator.observe(0.1 * k, hand @ tool, hand).name for k in range(5)][-1]
    'used'
    >>> estimator.pose[1:3, 3].round(3).tolist()
    [0.005, 0.1]
    """

    def __init__(
        self,
        nominal: npt.ArrayLike,
        position_spread: float,
        rotation_spread: float,
        position_noise: float,
        rotation_noise: float,
        *,
        creep: float = 2e-4,
        angular_creep: float = 2e-3,
        tail: float = 5.0,
        window: int = 4,
        slip_level: float = 1e-5,
    ) -> None:
        self._nominal = pose(nominal, "nominal")
        spread = (positive(position_spread, "position_spread"), positive(rotation_spread, "rotation_spread"))
        self._spread = np.repeat(np.square(spread), 3)
        noise = (positive(position_noise, "position_noise"), positive(rotation_noise, "rotation_noise"))
        self._noise = np.repeat(np.square(noise), 3)
        rates = (nonnegative(creep, "creep"), nonnegative(angular_creep, "angular_creep"))
        self._creep = np.diag(np.repeat(np.square(rates), 3))
        if not is_number(tail) or not tail > 0.0:
            raise ThunderError(f"tail must be above 0, got {tail!r}")
        self._tail = float(tail)
        self._window = whole(window, "window", 3)
        if not is_number(slip_level) or not 0.0 < slip_level < 1.0:
            raise ThunderError(f"slip_level must be between 0 and 1, got {slip_level!r}")
        self._slip = float(stats.chi2.ppf(1.0 - slip_level, 6))
        self._outlier = float(stats.chi2.ppf(0.999, 6))
        self.reset()

    def reset(self) -> None:
        """Return to the nominal pose."""
        self._p, self._R = self._nominal[:3, 3].copy(), exp(log(self._nominal[:3, :3]))
        self._P = np.diag(self._spread)
        self._time: float | None = None
        self._pose: Array | None = None
        self._recent: deque[Array] = deque(maxlen=self._window)
        self.used = self.slips = 0

    @property
    def pose(self) -> Array:
        """Estimate of the tool's pose in the hand, (4, 4); a new array after each change."""
        if self._pose is None:
            self._pose = make_pose(self._R, self._p)
        return self._pose

    @property
    def covariance(self) -> Array:
        """Covariance (6, 6) of its errors of position and rotation [m, rad]."""
        return self._P

    def observe(self, time: float, tool: npt.ArrayLike | None, hand: npt.ArrayLike) -> ToolVerdict:
        """Process a picture of the tool.

        Parameters
        ----------
        time : float
            Time of the picture [s]. Late ones count like others, because the tool hardly moves in the hand.
        tool : (4, 4) array_like or None
            Measured pose of the tool; anything but a pose changes nothing.
        hand : (4, 4) array_like
            Pose of the hand at that time, in the same frame.
        """
        taken, H = finite(time, "time"), pose(hand, "hand")
        T = rigid(tool)
        if T is None:
            return ToolVerdict.invalid
        if self._time is not None:
            self._P = self._P + max(0.0, taken - self._time) * self._creep
        self._time = taken if self._time is None else max(taken, self._time)
        self._pose = None
        Z = inverse(H) @ T
        self._recent.append(Z)
        if self._has_slipped():
            self._restart()
            return ToolVerdict.slipped
        return self._update(Z)

    def _innovation(self, Z: Array) -> Array:
        return np.concatenate((Z[:3, 3] - self._p, log(Z[:3, :3] @ self._R.T)))

    def _update(self, Z: Array) -> ToolVerdict:
        y = self._innovation(Z)
        R = np.diag(self._scale(y) * self._noise)
        K = np.linalg.solve(self._P + R, self._P).T
        squared = float(y @ np.linalg.solve(self._P + np.diag(self._noise), y))
        step = K @ y
        A, G = np.eye(6) - K, np.eye(6)
        G[3:, 3:] = left_jacobian(step[3:])
        self._P = G @ (A @ self._P @ A.T + K @ R @ K.T) @ G.T
        self._p, self._R = self._p + step[:3], exp(step[3:]) @ self._R
        self.used += 1
        return ToolVerdict.outlier if squared > self._outlier else ToolVerdict.used

    def _scale(self, y: Array) -> float:
        """Return the factor on a measurement's covariance."""
        if np.isinf(self._tail):
            return 1.0
        # start with a large scale; the iteration reduces it where a wide prior explains the innovation
        scale = max(1.0, (self._tail + float(y @ (y / self._noise))) / (self._tail + 6.0))
        for _ in range(_ITERATIONS):
            left = scale * self._noise * np.linalg.solve(self._P + np.diag(scale * self._noise), np.eye(6)).T  # I - K
            residual = left.T @ y
            spread = np.einsum("ij,ji->i", left.T, self._P)  # diagonal of the covariance after the update
            squared = float(np.sum((residual**2 + spread) / self._noise))
            scale = max(1.0, (self._tail + squared) / (self._tail + 6.0))
        return scale

    def _has_slipped(self) -> bool:
        if self.used < self._window or len(self._recent) < self._window:
            return False
        every = np.array([self._innovation(Z) for Z in self._recent])
        middle = np.median(every, axis=0)
        if float(np.max(np.sum((every - middle) ** 2 / self._noise, axis=1))) > self._outlier:
            return False  # outliers: they do not agree
        spread = np.diag(0.5 * np.pi / self._window * self._noise)  # of a median of normal numbers
        return float(middle @ np.linalg.solve(self._P + spread, middle)) > self._slip

    def _restart(self) -> None:
        """Restart at the median of recent pictures, with the covariance of one: some may be from before the slip."""
        middle = np.median([self._innovation(Z) for Z in self._recent], axis=0)
        self._p, self._R = self._p + middle[:3], exp(middle[3:]) @ self._R
        self._P = np.diag(self._noise)
        self._recent.clear()
        self.used, self.slips = 0, self.slips + 1
