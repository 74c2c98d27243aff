"""Position and velocity of an object from measured positions."""

from __future__ import annotations

from typing import Literal

import numpy as np
import numpy.typing as npt

from ... import _core
from ...checks import array, at_least, positive, whole
from ...errors import ThunderError

__all__ = ["PROCESSES", "ConstantVelocityFilter"]

PROCESSES = ("continuous", "discrete", "paper")


class ConstantVelocityFilter(_core.ConstantVelocityFilter):
    """Kalman's filter for an object of constant, unknown velocity (D4.2, eqs. 118 to 120, corrected).

    The state is position and velocity, x = (p, v), in three dimensions. A measurement carries the time at which its
    picture was taken: measurements may come at irregular times, late, and in another order than they were taken. A late
    one is put where it belongs, and what came after it is done once more, so the estimate is what it would be had they
    come in order.

    Parameters
    ----------
    measurement_noise : float, (3,) or (3, 3) array_like
        Standard deviation of a measured position [m], one for each axis, or the covariance R [m²].
    process : {"continuous", "discrete", "paper"}
        What changes the velocity. ``"continuous"``: white acceleration, exact for steps of any length,
        Q = q [dt³/3, dt²/2; dt²/2, dt]. ``"discrete"``: an acceleration that is constant in each step,
        Q = q D D', D = [dt²/2; dt]. ``"paper"``: eq. (119) as printed, D = [v; v] and Q = q D D', which depends on
        neither axis nor time and vanishes at rest (errata D-27): for comparisons.
    intensity : float
        q: spectral density [m²/s³], variance of the acceleration [m²/s⁴], or nu.
    velocity_deviation : float
        Of the first velocity, which is zero, per axis [m/s]. With 0 the filter of the paper never learns a velocity.
    gate : float, optional
        Probability with which a good measurement passes the test of its Mahalanobis distance, whose square has the
        chi-square distribution with three degrees of freedom; None for no test.
    reinitialise_after : int
        So many rejected in a row, 16 at most, begin the filter anew, with all of these; 0 never.
    frozen_after : int
        So many repeats of one position to the last bit, and the source counts as frozen: more are left out. 0 never.

    Raises
    ------
    ThunderError
        Numbers out of range, a covariance that is not symmetric and positive definite.

    Notes
    -----
    `update` says what became of a measurement: ``started``, ``accepted``, ``late`` (accepted, and taken before others),
    ``rejected`` (by the gate), ``reinitialised``, ``duplicate`` (of a picture known already), ``too old`` (before all
    that is remembered, 32 measurements), ``frozen``, ``invalid`` (NaN or infinite). It never raises for a number.
    """

    def __init__(
        self,
        measurement_noise: npt.ArrayLike = 0.004,
        *,
        process: Literal["continuous", "discrete", "paper"] = "continuous",
        intensity: float = 1e-3,
        velocity_deviation: float = 0.5,
        gate: float | None = 0.999,
        reinitialise_after: int = 5,
        frozen_after: int = 3,
    ) -> None:
        if process not in PROCESSES:
            raise ThunderError(f"process must be one of {PROCESSES}, got {process!r}")
        super().__init__(
            process,
            at_least(intensity, "intensity"),
            _covariance(measurement_noise),
            at_least(velocity_deviation, "velocity_deviation"),
            np.inf if gate is None else _quantile(gate),
            _few(whole(reinitialise_after, "reinitialise_after", 0)),
            whole(frozen_after, "frozen_after", 0),
        )


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


def _few(count: int) -> int:
    if count > 16:
        raise ThunderError(f"reinitialise_after must be at most 16, got {count}")
    return count


def _quantile(probability: float) -> float:
    """Return what the squared distance of three normal numbers stays below with this probability."""
    from scipy.stats import chi2

    if positive(probability, "gate") >= 1.0:
        raise ThunderError(f"gate must be a probability between 0 and 1, or None, got {probability!r}")
    return float(chi2.ppf(probability, 3))
