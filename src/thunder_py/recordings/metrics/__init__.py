"""Metrics of motions: jerk over real time, smoothness, length and shape of paths, distances, the power law.

Each takes a `Trial`, a motion object (``position(t, derivative)`` and ``duration``: plans, `minimum_jerk`, rollouts),
or a tuple ``(t, x)``. docs/motion_metrics.md explains the numbers.
"""

from __future__ import annotations

from .sampling import Motion, MotionLike
from .shape import PowerLaw, path_length, power_law, rms_distance, straightness
from .smoothness import JerkSummary, jerk_summary, ldlj, mean_jerk, sparc, spectral_arc_length, speed_peaks

__all__ = [
    "JerkSummary",
    "Motion",
    "MotionLike",
    "PowerLaw",
    "jerk_summary",
    "ldlj",
    "mean_jerk",
    "path_length",
    "power_law",
    "rms_distance",
    "sparc",
    "spectral_arc_length",
    "speed_peaks",
    "straightness",
]
