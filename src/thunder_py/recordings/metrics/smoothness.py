"""Smoothness without units: log dimensionless jerk, spectral arc length, number of speed peaks."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ...checks import Array, array, positive, whole, within
from ...errors import ThunderError
from .sampling import MotionLike, Samples, is_motion, sample

__all__ = ["JerkSummary", "jerk_summary", "ldlj", "mean_jerk", "sparc", "spectral_arc_length", "speed_peaks"]

#: at which motion objects are sampled, Hz, if nothing else is said
RATE = 200.0
#: fewest samples of a motion object, so that short ones have a shape too
_FEWEST = 200


def ldlj(
    motion: MotionLike,
    *,
    scaling: str = "peak_speed",
    part: str | None = None,
    cutoff: float | None = None,
    filter_order: int = 2,
) -> float:
    """Return the log dimensionless jerk, -ln of the scaled integral of squared vector jerk; larger is smoother.

    Parameters
    ----------
    motion, part, cutoff, filter_order
        As for `jerk_summary`. Joints enter with the norm of their jerk vector.
    scaling : {"peak_speed", "path_length"}
        "peak_speed": -ln(T^3 / v_peak^2 * integral of |jerk|^2) (Balasubramanian, Melendez-Calderon and Burdet 2012);
        "path_length": -ln(T^5 / L^2 * integral of |jerk|^2) (Hogan and Sternad 2009, with the length of the path
        as amplitude).

    Returns
    -------
    float
        Without unit. Minimum jerk from rest to rest: -ln(1024/5) = -5.322 and -ln(720) = -6.579. It does not
        change with the size, the position, the direction or the speed of a motion.

    Raises
    ------
    ThunderError
        As `jerk_summary`, and for a motion that does not move or has no jerk.
    """
    if scaling not in ("peak_speed", "path_length"):
        raise ThunderError(f"scaling must be 'peak_speed' or 'path_length', got {scaling!r}")
    s = sample(motion, 3, part=part, cutoff=cutoff, filter_order=filter_order)
    speed = s.norm(1)
    squared = float(s.weights @ s.norm(3) ** 2)
    if scaling == "peak_speed":
        size, power = _peak_speed(motion, s, speed), 3
    else:
        size, power = float(s.weights @ speed), 5
    if not (size > 0.0 and squared > 0.0):
        raise ThunderError(
            "ldlj needs a motion that moves and has jerk; this one rests or moves at constant acceleration"
        )
    return -math.log(squared * s.duration**power / size**2)


def _peak_speed(motion: MotionLike, s: Samples, speed: Array) -> float:
    """Return the largest speed; of a motion object between nodes, too, by the parabola through the three around it."""
    k = int(np.argmax(speed))
    if s.cutoff is not None or not 0 < k < len(speed) - 1:
        return float(speed[k])
    around = np.polyfit(s.t[k - 1 : k + 2] - s.t[k], speed[k - 1 : k + 2] - speed[k], 2)
    return float(speed[k] - around[1] ** 2 / (4.0 * around[0])) if around[0] < 0.0 else float(speed[k])


def sparc(
    motion: MotionLike,
    *,
    part: str | None = None,
    cutoff: float | None = None,
    filter_order: int = 2,
    rate: float = RATE,
    padding: int = 4,
    highest: float = 10.0,
    threshold: float = 0.05,
) -> float:
    """Return the spectral arc length of the speed profile; larger (nearer to zero) is smoother.

    Parameters
    ----------
    motion, part, cutoff, filter_order
        As for `jerk_summary`.
    rate : float
        At which motion objects are sampled, Hz; not below 200 samples.
    padding, highest, threshold
        Of `spectral_arc_length`.

    Returns
    -------
    float
        Without unit, about -1.41 for a minimum-jerk motion of one second.

    Raises
    ------
    ThunderError
        As `jerk_summary`; for recordings with uneven time steps; for a motion that rests.
    """
    s = _even_samples(motion, part, cutoff, filter_order, rate)
    steps = np.diff(s.t)
    step = s.duration / len(steps)
    if np.abs(steps - step).max() > 1e-3 * step:
        raise ThunderError("sparc needs equal time steps; processing.resample makes them")
    return spectral_arc_length(s.norm(1), 1.0 / step, padding=padding, highest=highest, threshold=threshold)


def spectral_arc_length(
    speed: npt.ArrayLike, rate: float, *, padding: int = 4, highest: float = 10.0, threshold: float = 0.05
) -> float:
    """Return minus the length of the normalised amplitude spectrum of a speed profile.

    Parameters
    ----------
    speed : array_like, shape (T,)
        At equal time steps, any unit.
    rate : float
        Hz.
    padding : int
        The transform has 2^(ceil(log2 T) + padding) points.
    highest : float
        Frequency [Hz] up to which the spectrum is looked at.
    threshold : float
        Beyond the last amplitude of at least this fraction of that at zero frequency nothing is counted.

    Notes
    -----
    Defaults of Balasubramanian, Melendez-Calderon, Roby-Brami and Burdet (2015). The spectrum is divided by its
    largest amplitude and the frequency by the last one that counts, so neither the size of the motion matters nor, as
    long as `highest` is not reached, its duration.
    """
    speed = array(speed, (None,), "speed")
    if len(speed) < 2:
        raise ThunderError(f"speed must hold two samples or more, got {len(speed)}")
    positive(rate, "rate", "Hz")
    positive(highest, "highest", "Hz")
    whole(padding, "padding", 0, 16)
    within(threshold, "threshold", 0.0, 1.0)
    points = 2 ** (math.ceil(math.log2(len(speed))) + padding)
    amplitude = np.abs(np.fft.rfft(speed, points))
    largest = float(amplitude.max())
    if not largest > 0.0:
        raise ThunderError("sparc needs a motion that moves, this one rests")
    frequency = np.fft.rfftfreq(points, 1.0 / rate)
    seen = frequency <= highest
    amplitude, frequency = amplitude[seen] / largest, frequency[seen]
    counted = np.flatnonzero(amplitude >= threshold)
    amplitude, frequency = amplitude[counted[0] : counted[-1] + 1], frequency[counted[0] : counted[-1] + 1]
    if len(frequency) < 2:
        raise ThunderError(f"sparc sees less than two frequencies up to {highest:g} Hz: the motion is too short")
    width = frequency[-1] - frequency[0]
    return -float(np.hypot(np.diff(frequency) / width, np.diff(amplitude)).sum())


def speed_peaks(
    motion: MotionLike,
    *,
    part: str | None = None,
    cutoff: float | None = None,
    filter_order: int = 2,
    rate: float = RATE,
    prominence: float = 0.05,
) -> int:
    """Return the number of peaks of the speed, submovements as one counts them by eye.

    Parameters
    ----------
    motion, part, cutoff, filter_order, rate
        As for `sparc`.
    prominence : float
        A peak must rise above the higher of the valleys beside it by this fraction of the largest speed. A maximum at
        the very start or end is none.

    Returns
    -------
    int
        One for a minimum-jerk motion between rests.
    """
    from scipy.signal import find_peaks

    within(prominence, "prominence", 0.0, 1.0)
    speed = _even_samples(motion, part, cutoff, filter_order, rate).norm(1)
    least = max(prominence, 1e-9) * float(speed.max())
    return len(find_peaks(speed, prominence=least)[0]) if least > 0.0 else 0


def _even_samples(
    motion: MotionLike, part: str | None, cutoff: float | None, filter_order: int, rate: float
) -> Samples:
    if is_motion(motion):
        rate = max(positive(rate, "rate", "Hz"), _FEWEST / float(motion.duration))  # type: ignore[union-attr]
    return sample(motion, 1, part=part, cutoff=cutoff, filter_order=filter_order, rate=rate)


@dataclass(frozen=True)
class JerkSummary:
    """Jerk of a motion, with what its numbers depend on.

    Attributes
    ----------
    mean : float
        Mean over time of the norm of the jerk, unit/s^3; of joints, the average over them of their mean absolute jerks.
    rms, peak : float
        Root of the mean square of the norm, and its largest value, unit/s^3.
    duration : float
        T, s. Jerk of one path goes with T^-3.
    part, unit : str
        "translation" in "m", "orientation" in "rad", "joints".
    cutoff : float or None
        Of the filter, Hz; None for the exact derivatives of a motion object, infinite for none.
    filter_order : int
        Of one pass of the filter.
    method : str
        How derivatives were obtained, in words.
    """

    mean: float
    rms: float
    peak: float
    duration: float
    part: str
    unit: str
    cutoff: float | None
    filter_order: int
    method: str

    @property
    def text(self) -> str:
        """One line that can stand in a report."""
        return (
            f"mean jerk of the {self.part} {self.mean:.4g} {self.unit}/s^3 over {self.duration:.4g} s ({self.method})"
        )

    def __str__(self) -> str:
        return self.text


def jerk_summary(
    motion: MotionLike, *, part: str | None = None, cutoff: float | None = None, filter_order: int = 2
) -> JerkSummary:
    """Return mean, root mean square and peak of the jerk of a motion.

    Parameters
    ----------
    motion : Trial, motion object or (t, x)
        Motion objects (``position(t, derivative)``, ``duration``) give their exact third derivative, averaged by
        Gauss-Legendre quadrature (256 panels of four nodes; its peak is the largest at these nodes).
    part : {"translation", "orientation", "joints"}, optional
        By default the translation if there is one, else the joints. Orientation means angular jerk, the second time
        derivative of the angular velocity in the axes of the frame, and not third derivatives of rotation vectors.
    cutoff : float
        Cut-off [Hz] of the zero-phase Butterworth filter (`processing.low_pass`) that a recording passes first: it is
        required, for a tenth of a millimetre of noise at 120 Hz becomes more than 1000 m/s^3.
        `math.inf` says that data need no filter. Motion objects take none.
    filter_order : int
        Of one pass.

    Returns
    -------
    JerkSummary
        Frozen; `JerkSummary.text` names duration and filter.

    Raises
    ------
    ThunderError
        For a recording without `cutoff`, with gaps or with uneven steps under a filter, and parts that are not there.
    """
    s = sample(motion, 3, part=part, cutoff=cutoff, filter_order=filter_order)
    norm = s.norm(3)
    sizes = np.abs(s.values[3]).mean(axis=1) if s.part == "joints" else norm
    return JerkSummary(
        mean=float(s.weights @ sizes / s.duration),
        rms=float(np.sqrt(s.weights @ norm**2 / s.duration)),
        peak=float(norm.max()),
        duration=s.duration,
        part=s.part,
        unit=s.unit,
        cutoff=s.cutoff,
        filter_order=s.filter_order,
        method=s.text,
    )


def mean_jerk(
    motion: MotionLike, *, part: str | None = None, cutoff: float | None = None, filter_order: int = 2
) -> float:
    """Return the mean over real time of the norm of the jerk, unit/s^3.

    A minimum-jerk motion from rest to rest has 23.09 D / T^3, so this compares motions of the same duration only.
    Parameters as for `jerk_summary`, whose result also holds duration and filter.
    """
    return jerk_summary(motion, part=part, cutoff=cutoff, filter_order=filter_order).mean
