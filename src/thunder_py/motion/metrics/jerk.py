"""Mean jerk over real time."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from .sampling import MotionLike, sample

__all__ = ["JerkSummary", "jerk_summary", "mean_jerk"]


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
