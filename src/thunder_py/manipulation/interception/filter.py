"""Estimation of position and velocity of an object from measured positions."""

from __future__ import annotations

from typing import Literal

import numpy as np
import numpy.typing as npt

from ... import _core
from ...checks import array, nonnegative, one_of, whole, within
from ...errors import ThunderError

PROCESSES = ("continuous", "discrete", "paper")


class ConstantVelocityFilter(_core.ConstantVelocityFilter):
    """Kalman filter of an object with constant, unknown velocity (D4.2, eqs. 118 to 120, corrected).

    The state is position and velocity, x = (p, v), in three dimensions. A measurement carries the time of its picture.
    Measurements may arrive at irregular times, late, and out of order: a late one is inserted at its time and those
    after it are processed again, so the estimate does not depend on the order of arrival after the first one. With a
    gate it hardly depends on it: a measurement is tested with the estimate of the moment at which it arrives.

    Parameters
    ----------
    measurement_noise : float, (3,) or (3, 3) array_like
        Standard deviation of a measured position [m], one for each axis, or the covariance R [m²].
    process : {"continuous", "discrete", "paper"}
        Process noise. ``"continuous"``: white acceleration, exact for steps of any length,
        Q = q [dt³/3, dt²/2; dt²/2, dt]. ``"discrete"``: an acceleration that is constant in each step,
        Q = q D D', D = [dt²/2; dt]. ``"paper"``: eq. (119) as printed, D = [v; v] and Q = q D D', which depends on
        neither axis nor time and vanishes at rest (errata D-27); for comparisons.
    intensity : float
        q: spectral density [m²/s³], variance of the acceleration [m²/s⁴], or nu.
    velocity_deviation : float
        Standard deviation of the initial velocity, which is zero, per axis [m/s]. With 0 the paper's filter never
        learns a velocity.
    gate : float, optional
        Probability with which a good measurement passes the test of its Mahalanobis distance, whose square has the
        chi-square distribution with three degrees of freedom; None for no test.
    reinitialize_after : int
        Number of consecutive rejected measurements, 16 at most, that restart the filter with these; 0 for never.
    frozen_after : int
        Number of bitwise equal positions after which the source counts as frozen and is ignored; 0 for never.

    Raises
    ------
    ThunderError
        If a number is out of range, or a covariance is not symmetric and positive definite.

    Notes
    -----
    `update` returns the verdict on a measurement: ``started``, ``accepted``, ``late`` (accepted, older than others),
    ``rejected`` (by the gate), ``reinitialized``, ``duplicate`` (of a known picture), ``too old`` (before the oldest of
    the 32 measurements in memory), ``frozen``, ``invalid`` (NaN or infinite). It never raises for a number.

    Examples
    --------
    >>> from thunder_py.manipulation import ConstantVelocityFilter
    >>> filter = ConstantVelocityFilter(0.004)
    >>> [filter.update(0.1 * k, [0.5, -0.3 + 0.026 * k, 0.1]) for k in (0, 1, 3, 2)]
    ['started', 'accepted', 'accepted', 'late']
    >>> x, P = filter.estimate(0.5)
    >>> x[[1, 4]].round(2).tolist(), P.shape  # position [m] and velocity [m/s] along y
    ([-0.17, 0.26], (6, 6))
    """

    def __init__(
        self,
        measurement_noise: npt.ArrayLike = 0.004,
        *,
        process: Literal["continuous", "discrete", "paper"] = "continuous",
        intensity: float = 1e-3,
        velocity_deviation: float = 0.5,
        gate: float | None = 0.999,
        reinitialize_after: int = 5,
        frozen_after: int = 3,
    ) -> None:
        from scipy.stats import chi2

        one_of(process, PROCESSES, "process")
        R = _covariance(measurement_noise)
        super().__init__(
            process,
            nonnegative(intensity, "intensity"),
            R,
            nonnegative(velocity_deviation, "velocity_deviation"),
            np.inf if gate is None else float(chi2.ppf(within(gate, "gate", 0.0, 1.0, ends="()"), 3)),
            whole(reinitialize_after, "reinitialize_after", 0, 16),
            whole(frozen_after, "frozen_after", 0),
        )
        self.process, self.intensity, self.measurement_covariance = process, float(intensity), R

    def process_covariance(self, dt: float, v: npt.ArrayLike) -> np.ndarray:
        """Return the covariance Q (6, 6) of the process noise over `dt` [s], for an object of velocity v (3,) [m/s]."""
        if self.process == "paper":
            D = np.tile(np.asarray(v, dtype=float), 2)
            return self.intensity * np.outer(D, D) if dt != 0.0 else np.zeros((6, 6))
        h = abs(dt)
        if self.process == "continuous":
            axis = np.array([[h**3 / 3.0, h * dt / 2.0], [h * dt / 2.0, h]])
        else:
            axis = np.array([[h**4 / 4.0, h * h * dt / 2.0], [h * h * dt / 2.0, h * h]])
        return np.kron(self.intensity * axis, np.eye(3))


def _covariance(noise: npt.ArrayLike) -> np.ndarray:
    if np.ndim(noise) == 2:
        R = array(noise, (3, 3), "measurement_noise")
        if not np.allclose(R, R.T, rtol=1e-9, atol=0.0) or np.linalg.eigvalsh(R)[0] <= 0.0:
            raise ThunderError(f"measurement_noise must be symmetric and positive definite, got {R.tolist()}")
        return R
    deviations = array(np.broadcast_to(np.asarray(noise, dtype=float), (3,)), (3,), "measurement_noise")
    if deviations.min() <= 0.0:
        raise ThunderError(f"measurement_noise must be positive, got {deviations.tolist()}")
    return np.diag(deviations**2)
