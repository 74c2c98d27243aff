"""How a tool lies in the hand, from pictures of the tool and the kinematics of the arm."""

from __future__ import annotations

import enum
from collections import deque

import numpy as np
import numpy.typing as npt
from scipy import stats

from ...checks import Array, is_number, pose, positive, whole
from ...errors import ThunderError
from ...perception.pose_source import finite, not_negative
from ...values import Stateful
from .lie import exp, inverse, left_jacobian, log, make_pose
from .pose_filter import rigid

__all__ = ["ToolEstimator", "ToolVerdict"]

#: of scale and estimate by turns: the scale then moves by a few per cent at most
_ITERATIONS = 5


class ToolVerdict(enum.Enum):
    """What became of a picture of the tool."""

    used = "used"
    outlier = "far from what was expected, used with little weight"
    slipped = "one of several that agree on another pose: the tool slipped, the estimate started again there"
    invalid = "no pose"


class ToolEstimator(Stateful):
    """Recursive estimate of the pose of a tool in the hand, with its covariance.

    Parameters
    ----------
    nominal : (4, 4) array_like
        Pose of the tool in the hand as the hand was meant to take it.
    position_spread, rotation_spread : float
        Standard deviation of the true one about it, per axis [m, rad].
    position_noise, rotation_noise : float
        Of a picture's result, per axis [m, rad].
    creep, angular_creep : float
        How the tool moves in the hand unnoticed: root of the spectral density of its velocity
        [m/sqrt(s), rad/sqrt(s)].
    tail : float
        Degrees of freedom of Student's t, which the noise is taken for: few degrees, heavy tails. Infinity is a normal
        distribution, and no robustness.
    window : int
        So many pictures in a row tell a slip, when they agree with each other and their median lies where good ones
        would hardly ever put it.
    slip_level : float
        Probability with which a median of good pictures counts as a slip.

    Notes
    -----
    With the hand's pose H known by kinematics at the time of the picture, Z = H^-1 T_seen sees the pose X of the tool
    in the hand. Errors of X live on the tangent of SO(3) x R^3, in the axes of the hand: R = exp(phi) R_estimate.
    Noise with Student's t distribution is normal with an unknown scale. The scale's expectation and the estimate are
    found by turns (variational: Agamennoni et al., IEEE Trans. Signal Processing 60(10), 2012), no scale below 1.

    An offset that all of the camera's poses share (calibration) goes into the estimate of X. When the object is seen by
    the same camera it falls out again where tool and object meet.
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
        rates = (not_negative(creep, "creep"), not_negative(angular_creep, "angular_creep"))
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
        """Estimate of the tool's pose in the hand, (4, 4); another array whenever it changes."""
        if self._pose is None:
            self._pose = make_pose(self._R, self._p)
        return self._pose

    @property
    def covariance(self) -> Array:
        """Of its errors of position and rotation (6, 6) [m, rad]."""
        return self._P

    def observe(self, time: float, tool: npt.ArrayLike | None, hand: npt.ArrayLike) -> ToolVerdict:
        """Take in a picture of the tool.

        Parameters
        ----------
        time : float
            When it was taken [s]. Late ones count as well as others: the tool hardly moves in the hand.
        tool : (4, 4) array_like or None
            Seen pose of the tool; what is no pose changes nothing.
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
        """How many times its covariance a measurement is taken to have."""
        if np.isinf(self._tail):
            return 1.0
        # suspect at first: where a wide prior could explain the innovation as well, the iteration takes it back
        scale = max(1.0, (self._tail + float(y @ (y / self._noise))) / (self._tail + 6.0))
        for _ in range(_ITERATIONS):
            left = scale * self._noise * np.linalg.solve(self._P + np.diag(scale * self._noise), np.eye(6)).T  # I - K
            residual = left.T @ y
            spread = np.einsum("ij,ji->i", left.T, self._P)  # diagonal of the covariance behind the update
            squared = float(np.sum((residual**2 + spread) / self._noise))
            scale = max(1.0, (self._tail + squared) / (self._tail + 6.0))
        return scale

    def _has_slipped(self) -> bool:
        if self.used < self._window or len(self._recent) < self._window:
            return False
        every = np.array([self._innovation(Z) for Z in self._recent])
        middle = np.median(every, axis=0)
        if float(np.max(np.sum((every - middle) ** 2 / self._noise, axis=1))) > self._outlier:
            return False  # they do not agree: outliers
        spread = np.diag(0.5 * np.pi / self._window * self._noise)  # of a median of normal numbers
        return float(middle @ np.linalg.solve(self._P + spread, middle)) > self._slip

    def _restart(self) -> None:
        """Begin again where the recent pictures agree, no surer than one of them: some may be from before the slip."""
        middle = np.median([self._innovation(Z) for Z in self._recent], axis=0)
        self._p, self._R = self._p + middle[:3], exp(middle[3:]) @ self._R
        self._P = np.diag(self._noise)
        self._recent.clear()
        self.used, self.slips = 0, self.slips + 1
