"""Jerk and smoothness: summaries of jerk, log dimensionless jerk, spectral arc length, number of speed peaks."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ...checks import Array, array, one_of, positive, whole, within
from ...errors import ThunderError
from .sampling import MotionLike, Samples, is_motion, sample

#: default sampling rate of motion objects, Hz
RATE = 200.0
#: fewest samples of a motion object, for short ones
_FEWEST = 200


#: rounding error of positions, with that of a spline's derivatives, relative to the largest one
_ROUNDING = 64.0 * np.finfo(np.float64).eps


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
        As for `jerk_summary`. The jerk of joints is the norm of their jerk vector.
    scaling : {"peak_speed", "path_length"}
        "peak_speed": -ln(T^3 / v_peak^2 * integral of |jerk|^2) (Balasubramanian, Melendez-Calderon and Burdet 2012);
        "path_length": -ln(T^5 / L^2 * integral of |jerk|^2) (Hogan and Sternad 2009, with the length of the path
        as amplitude).

    Returns
    -------
    float
        Dimensionless. Minimum jerk from rest to rest: -ln(1024/5) = -5.322 and -ln(720) = -6.579. Invariant to the
        size, position, direction and speed of a motion.

    Raises
    ------
    ThunderError
        As `jerk_summary`, and for a motion at rest or without jerk.

    Examples
    --------
    >>> from thunder_py.recordings.metrics import ldlj
    >>> from thunder_py.trajectory import minimum_jerk
    >>> reach = minimum_jerk([0.2, 0.0, 0.1], [0.5, 0.4, 0.1], 1.5)
    >>> round(ldlj(reach), 3), round(ldlj(reach, scaling="path_length"), 3)
    (-5.322, -6.579)
    """
    one_of(scaling, ("peak_speed", "path_length"), "scaling")
    s = sample(motion, 3, part=part, cutoff=cutoff, filter_order=filter_order)
    speed = s.norm(1)
    squared = float(s.weights @ s.norm(3) ** 2)
    if scaling == "peak_speed":
        size, power = _peak_speed(motion, s, speed), 3
    else:
        size, power = float(s.weights @ speed), 5
    # rounding errors of positions, differentiated three times
    noise = _ROUNDING * float(np.abs(s.values[0]).max()) * (len(s.t) / s.duration) ** 3
    if not (size > 0.0 and squared > noise**2 * s.duration):
        raise ThunderError("motion must move and have jerk, got one at rest or at constant acceleration")
    return -math.log(squared * s.duration**power / size**2)


def _peak_speed(motion: MotionLike, s: Samples, speed: Array) -> float:
    """Return the largest speed; for a motion object, the vertex of the parabola through the three nodes at it."""
    k = int(np.argmax(speed))
    if s.cutoff is not None or not 0 < k < len(speed) - 1:
        return float(speed[k])
    c = np.polyfit(s.t[k - 1 : k + 2] - s.t[k], speed[k - 1 : k + 2] - speed[k], 2)
    return float(speed[k] - c[1] ** 2 / (4.0 * c[0])) if c[0] < 0.0 else float(speed[k])


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
        Sampling rate of motion objects, Hz; at least 200 samples are taken.
    padding, highest, threshold
        As for `spectral_arc_length`.

    Returns
    -------
    float
        Dimensionless, about -1.41 for a minimum-jerk motion of one second.

    Raises
    ------
    ThunderError
        As `jerk_summary`; for recordings with uneven time steps; for a motion at rest.

    Examples
    --------
    >>> from thunder_py.recordings.metrics import sparc
    >>> from thunder_py.trajectory import minimum_jerk
    >>> round(sparc(minimum_jerk([0.0, 0.0], [0.3, 0.4], 1.0)), 2)
    -1.41
    """
    s = _even_samples(motion, part, cutoff, filter_order, rate)
    steps = np.diff(s.t)
    step = s.duration / len(steps)
    if np.abs(steps - step).max() > 1e-3 * step:
        raise ThunderError("motion must have equal time steps, got uneven ones; see processing.resample")
    return spectral_arc_length(s.norm(1), 1.0 / step, padding=padding, highest=highest, threshold=threshold)


def spectral_arc_length(
    speed: npt.ArrayLike, rate: float, *, padding: int = 4, highest: float = 10.0, threshold: float = 0.05
) -> float:
    """Return minus the arc length of the normalized amplitude spectrum of a speed profile.

    Parameters
    ----------
    speed : array_like, shape (T,)
        Speed at equal time steps, any unit.
    rate : float
        Sampling rate, Hz.
    padding : int
        The transform has 2^(ceil(log2 T) + padding) points.
    highest : float
        Highest frequency of the spectrum [Hz].
    threshold : float
        The spectrum ends at the last amplitude of at least this fraction of the largest one.

    Returns
    -------
    float
        Spectral arc length, dimensionless.

    Raises
    ------
    ThunderError
        For fewer than two samples, zero speed, or fewer than two frequencies up to `highest`.

    Notes
    -----
    Defaults of Balasubramanian, Melendez-Calderon, Roby-Brami and Burdet (2015). The spectrum is divided by its
    largest amplitude and the frequency by the last one counted. The result depends neither on the size of the motion
    nor, unless `highest` is reached, on its duration.

    Examples
    --------
    >>> import numpy as np
    >>> from thunder_py.recordings.metrics import spectral_arc_length
    >>> tau = np.linspace(0.0, 1.0, 101)
    >>> round(spectral_arc_length(30 * tau**2 * (1 - tau) ** 2, rate=100.0), 2)
    -1.41
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
        raise ThunderError("speed must be positive somewhere, got a motion at rest")
    frequency = np.fft.rfftfreq(points, 1.0 / rate)
    band = frequency <= highest
    amplitude, frequency = amplitude[band] / largest, frequency[band]
    counted = np.flatnonzero(amplitude >= threshold)
    amplitude, frequency = amplitude[counted[0] : counted[-1] + 1], frequency[counted[0] : counted[-1] + 1]
    if len(frequency) < 2:
        raise ThunderError(f"speed must have two frequencies or more up to {highest:g} Hz, got a motion too short")
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
    """Return the number of peaks of the speed, a count of submovements.

    Parameters
    ----------
    motion, part, cutoff, filter_order, rate
        As for `sparc`.
    prominence : float
        Least rise of a peak above the higher of its adjacent valleys, as a fraction of the largest speed. A maximum at
        the first or last sample does not count.

    Returns
    -------
    int
        One for a minimum-jerk motion between rests.

    Raises
    ------
    ThunderError
        As `jerk_summary`, and for a prominence outside of [0, 1].

    Examples
    --------
    >>> from thunder_py.recordings.metrics import speed_peaks
    >>> from thunder_py.trajectory import minimum_jerk
    >>> speed_peaks(minimum_jerk([0.0, 0.0], [0.3, 0.4], 1.0))
    1
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
    """Jerk of a motion, with the duration and the filter that it depends on.

    Attributes
    ----------
    mean : float
        Mean over time of the norm of the jerk, unit/s^3; for joints, the average of their mean absolute jerks.
    rms, peak : float
        Root mean square and largest value of the norm, unit/s^3.
    duration : float
        Duration T, s. The jerk of one path is proportional to T^-3.
    part, unit : str
        "translation" in "m", "orientation" in "rad", "joints".
    cutoff : float or None
        Cut-off of the filter, Hz; None for the exact derivatives of a motion object, infinite for no filter.
    filter_order : int
        Order of one pass of the filter.
    method : str
        Origin of the derivatives, in words.

    Examples
    --------
    >>> from thunder_py.recordings.metrics import jerk_summary
    >>> from thunder_py.recordings.synthetic import minimum_jerk_reaches
    >>> summary = jerk_summary(minimum_jerk_reaches(1, seed=0)[0], cutoff=10.0)
    >>> summary.unit, summary.cutoff, summary.mean < summary.rms < summary.peak
    ('m', 10.0, True)
    >>> summary.method
    'recording, Butterworth of order 2 forwards and backwards at 10 Hz'
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

    def __str__(self) -> str:
        return (
            f"mean jerk of the {self.part} {self.mean:.4g} {self.unit}/s^3 over {self.duration:.4g} s ({self.method})"
        )


def jerk_summary(
    motion: MotionLike, *, part: str | None = None, cutoff: float | None = None, filter_order: int = 2
) -> JerkSummary:
    """Return mean, root mean square and peak of the jerk of a motion.

    Parameters
    ----------
    motion : Trial, motion object or (t, x)
        Motion objects (``position(t, derivative)``, ``duration``) have an exact third derivative, averaged by
        Gauss-Legendre quadrature (256 panels of four nodes; the peak is the largest value at these nodes).
    part : {"translation", "orientation", "joints"}, optional
        By default the translation if present, else the joints. Orientation means angular jerk, the second time
        derivative of the angular velocity in the axes of the frame, not the third derivative of the rotation vector.
    cutoff : float
        Cut-off [Hz] of the zero-phase Butterworth filter (`processing.low_pass`), required for recordings: a tenth of
        a millimeter of noise at 120 Hz becomes more than 1000 m/s^3. `math.inf` for no filter. Must be None for motion
        objects.
    filter_order : int
        Order of one pass.

    Returns
    -------
    JerkSummary
        Its text names duration and filter.

    Raises
    ------
    ThunderError
        For a recording without `cutoff`, with gaps, or with uneven steps under a filter, and for absent parts.

    Examples
    --------
    >>> from thunder_py.recordings.metrics import jerk_summary
    >>> from thunder_py.trajectory import minimum_jerk
    >>> print(jerk_summary(minimum_jerk([0.2, 0.0, 0.1], [0.5, 0.4, 0.1], 1.0)))
    mean jerk of the translation 11.55 m/s^3 over 1 s (exact derivatives)
    """
    s = sample(motion, 3, part=part, cutoff=cutoff, filter_order=filter_order)
    norm = s.norm(3)
    sizes = np.abs(s.values[3]).mean(axis=1) if s.part == "joints" else norm
    return JerkSummary(
        mean=float(s.weights @ sizes / s.duration),
        rms=float(np.sqrt(s.weights @ norm**2 / s.duration)),
        peak=float(norm.max()),
        method=str(s),
        **{name: getattr(s, name) for name in ("duration", "part", "unit", "cutoff", "filter_order")},
    )


def mean_jerk(
    motion: MotionLike, *, part: str | None = None, cutoff: float | None = None, filter_order: int = 2
) -> float:
    """Return the mean over real time of the norm of the jerk, unit/s^3.

    Parameters
    ----------
    motion, part, cutoff, filter_order
        As for `jerk_summary`, whose result also holds duration and filter.

    Returns
    -------
    float
        23.09 D / T^3 for minimum jerk from rest to rest over a distance D; comparable at equal durations only.

    Raises
    ------
    ThunderError
        As `jerk_summary`.

    Examples
    --------
    >>> from thunder_py.recordings.metrics import mean_jerk
    >>> from thunder_py.trajectory import minimum_jerk
    >>> [round(mean_jerk(minimum_jerk([0.0, 0.0], [0.3, 0.4], T)), 3) for T in (1.0, 2.0)]
    [11.547, 1.443]
    """
    return jerk_summary(motion, part=part, cutoff=cutoff, filter_order=filter_order).mean
