"""The power law between speed and curvature: for drawing movements, speed goes with curvature^(-1/3)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ...errors import ThunderError
from ..scalars import at_least, within
from .sampling import MotionLike, Samples, sample
from .smoothness import RATE

__all__ = ["PowerLaw", "power_law"]


@dataclass(frozen=True)
class PowerLaw:
    """Regression of log speed on log curvature, v = gain * curvature^exponent.

    Attributes
    ----------
    exponent : float
        Of the curvature; -1/3 where the two-thirds law holds.
    gain : float
        Speed at a curvature of 1/m.
    r_squared : float
        Of the regression; without meaning where curvature hardly varies, as on a circle.
    n : int
        Samples that were used.
    """

    exponent: float
    gain: float
    r_squared: float
    n: int

    @property
    def angular_exponent(self) -> float:
        """Exponent of the angular speed, v times curvature: 2/3 where the law holds, which has its name from it."""
        return 1.0 + self.exponent

    @property
    def text(self) -> str:
        """One line that can stand in a report."""
        return f"speed ~ curvature^{self.exponent:.4f}, R^2 = {self.r_squared:.3f}, n = {self.n}"

    def __str__(self) -> str:
        return self.text


def power_law(
    motion: MotionLike,
    *,
    cutoff: float | None = None,
    filter_order: int = 2,
    rate: float = RATE,
    slowest: float = 0.05,
    flattest: float = 1e-3,
) -> PowerLaw:
    """Fit speed = gain * curvature^exponent to the translation of a motion by least squares of logarithms.

    Parameters
    ----------
    motion, cutoff, filter_order
        As for `jerk_summary`; two or three dimensions.
    rate : float
        At which motion objects are sampled, Hz. Every sample counts the same, so slow parts of the path count more.
        Of filtered recordings those within 1 / cutoff of either end are left out: a filter that does not know how the
        motion goes on bends it there, and the exponent with it.
    slowest : float
        Samples below this fraction of the largest speed are left out: their curvature is noise.
    flattest : float
        Samples whose curvature times the length of the path is below this are left out: on a straight line it is zero.

    Returns
    -------
    PowerLaw

    Raises
    ------
    ThunderError
        As `jerk_summary`; for fewer than ten samples that move on a curve; for curvature that does not vary at all.

    References
    ----------
    Lacquaniti, Terzuolo and Viviani (1983), Acta Psychologica 54.
    """
    within(slowest, "slowest", 0.0, 1.0, ends="[)")
    at_least(flattest, "flattest")
    s = sample(motion, 2, part="translation", cutoff=cutoff, filter_order=filter_order, rate=rate)
    v, a, speed = s.values[1], s.values[2], s.norm(1)
    if v.shape[1] < 2:
        raise ThunderError("power_law needs two or three dimensions: on a line there is no curvature")
    # |v x a| in any dimension
    cross = np.sqrt(np.maximum(speed**2 * np.sum(a * a, axis=1) - np.sum(v * a, axis=1) ** 2, 0.0))
    moving = _clear_of_ends(s) & (speed > max(slowest * float(speed.max()), np.finfo(float).tiny))
    curvature = np.zeros_like(speed)
    curvature[moving] = cross[moving] / speed[moving] ** 3
    used = moving & (curvature * float(s.weights @ speed) > flattest)
    if np.count_nonzero(used) < 10:
        raise ThunderError(f"power_law needs ten samples that move on a curve, got {np.count_nonzero(used)}")
    x, y = np.log(curvature[used]), np.log(speed[used])
    dx, dy = x - x.mean(), y - y.mean()
    sxx, syy = float(dx @ dx), float(dy @ dy)
    if not sxx > 1e-12 * len(x):
        raise ThunderError("power_law needs curvature that varies; on a circle every exponent fits")
    exponent = float(dx @ dy) / sxx
    r_squared = 1.0 if syy == 0.0 else exponent**2 * sxx / syy
    return PowerLaw(exponent, float(np.exp(y.mean() - exponent * x.mean())), r_squared, len(x))


def _clear_of_ends(s: Samples) -> npt.NDArray[np.bool_]:
    margin = 0.0 if s.cutoff is None else 1.0 / s.cutoff
    return np.asarray((s.t >= margin) & (s.t <= s.duration - margin))
