"""Motions of a hand as samples of pose, twist and acceleration: what every planner's answer is brought to."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
import numpy.typing as npt

from ..checks import Array
from ..reference import TaskReference

__all__ = ["PERIOD", "HandMotion", "mean_norm", "sample_times"]

PERIOD = 1e-3  # of samples, control and records [s]


@dataclass(frozen=True, kw_only=True, eq=False)
class HandMotion:
    """A planned motion, sampled at 1 kHz; ``motion(t)`` gives the sample at t, so that `simulate` can follow it.

    Attributes
    ----------
    p : (k, 3) array
        Position [m].
    R : (k, 3, 3) array
        Orientation.
    xi, xi_dot : (k, 6) array
        Twist and its derivative.
    via_points : (v, 3) array
        What it goes round obstacles through [m].
    """

    p: Array
    R: Array
    xi: Array
    xi_dot: Array
    via_points: Array = field(default_factory=lambda: np.zeros((0, 3)))

    @classmethod
    def of(
        cls, reference: Callable[[Array], TaskReference], duration: float, via_points: npt.ArrayLike | None = None
    ) -> HandMotion:
        """Sample a reference that takes an array of times."""
        p, R, xi, xi_dot = reference(sample_times(duration))
        vias = np.zeros((0, 3)) if via_points is None else np.asarray(via_points, dtype=np.float64).reshape(-1, 3)
        return cls(p=p, R=R, xi=xi, xi_dot=xi_dot, via_points=vias)

    def __call__(self, t: float) -> TaskReference:
        """Return the sample nearest to time t [s]; before and after, the first and the last one."""
        k = min(max(round(t / PERIOD), 0), len(self.p) - 1)
        return TaskReference(self.p[k], self.R[k], self.xi[k], self.xi_dot[k])

    @cached_property
    def jerk(self) -> tuple[float, float]:
        """Mean norm of the jerk over time, of translation [m/s^3] and orientation [rad/s^3].

        Central differences of the accelerations at 1 kHz. A jump of the acceleration at the start, as movement
        primitives have, does not count.
        """
        jerk = np.gradient(self.xi_dot, PERIOD, axis=0)
        return mean_norm(jerk[:, :3]), mean_norm(jerk[:, 3:])


def sample_times(duration: float) -> Array:
    """Return 0 to `duration` in steps of `PERIOD`."""
    times: Array = PERIOD * np.arange(round(duration / PERIOD) + 1, dtype=np.float64)
    return times


def mean_norm(values: Array) -> float:
    """Return the mean over time of the norm of vectors (k, m)."""
    return float(np.mean(np.linalg.norm(values, axis=1)))
