"""What planners of positions learn from recordings, for the columns of the tables, all from the same ones."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from .. import _core
from ..motion import MotionSet
from ..motion.dmp import DMP
from ..motion.fpca import FPCA
from ..motion.metrics import Motion
from ..motion.planner import HumanLikePlanner
from ..motion.promp import ProMP
from ..motion.synthetic import daily_living
from .human_like_planners import TRIALS, movements

__all__ = ["Learned", "as_path", "default_recordings"]

#: where recordings are cut [m/s]: see `human_like_planners`, whose choice this is
_MOVING, _STILL = 0.2, 0.005
_AXES = ("x", "y", "z")


def default_recordings(quick: bool = False) -> MotionSet:
    """Return synthetic motions of daily living to learn from: every task of every subject, or half the tasks of one."""
    return daily_living(15, n_subjects=1) if quick else daily_living(TRIALS)


@dataclass(frozen=True, eq=False)
class Learned:
    """What the methods learn from recordings, each when it is first asked for.

    Attributes
    ----------
    recordings : MotionSet
        Degrees of freedom x, y, z, rx, ry, rz; orientation is left aside.
    """

    recordings: MotionSet

    @cached_property
    def moving(self) -> MotionSet:
        """Movements well under way: what functional components and ProMPs learn from."""
        return movements(self.recordings, _MOVING).map(lambda trial: trial.select(_AXES))

    @cached_property
    def paper(self) -> HumanLikePlanner:
        """The square system (102): 5 components per coordinate, 15 splines of order 5, in the axes of the recording."""
        return HumanLikePlanner(FPCA.paper(self.moving, 5), "paper")

    @cached_property
    def map(self) -> HumanLikePlanner:
        """The most likely motion, with joint components in the frame from start to goal."""
        return HumanLikePlanner(FPCA(joint=True, alignment="path", shrinkage="auto").fit(self.moving), "map")

    @cached_property
    def minimum_jerk(self) -> HumanLikePlanner:
        """The quintic, as the planner with the whole share of the prior: so that it can go round obstacles as well."""
        return HumanLikePlanner(FPCA(joint=True, alignment="path", shrinkage=1.0).fit(self.moving), "map")

    @cached_property
    def longest(self) -> MotionSet:
        """The one movement, from rest to rest, that goes farthest: what movement primitives learn from."""
        trials = movements(self.recordings, _STILL).map(lambda trial: trial.select(_AXES))
        most = int(np.argmax([np.linalg.norm(trial.x[-1] - trial.x[0]) for trial in trials]))
        return trials[[most]]

    @cached_property
    def promp(self) -> ProMP:
        """A probabilistic movement primitive, Gaussians wide enough to rest without ripples."""
        return ProMP(overlap=0.9).fit(self.moving)

    def dmp(self, basis: str, scaling: str = "hoffmann") -> DMP:
        """Return a movement primitive of 21 functions; Hoffmann's scaling comes with rotodilatation, (104) cannot."""
        return DMP(basis=basis, scaling=scaling, rotodilatation=scaling == "hoffmann").fit(self.longest)


def as_path(motion: Motion, pieces: int = 256) -> _core.BezierPath:
    """Return a motion object as piecewise quintics that meet it to the second derivative: clearances want polynomials.

    A primitive's path is met to 1e-7 m with 256 pieces; what is a polynomial already stays what it is.
    """
    t = np.linspace(0.0, motion.duration, pieces + 1)
    x, v, a = (motion.position(t, k) for k in range(3))
    h = np.diff(t)[:, None]
    first = [x[:-1], x[:-1] + h * v[:-1] / 5.0, x[:-1] + 2.0 * h * v[:-1] / 5.0 + h**2 * a[:-1] / 20.0]
    last = [x[1:] - 2.0 * h * v[1:] / 5.0 + h**2 * a[1:] / 20.0, x[1:] - h * v[1:] / 5.0, x[1:]]
    return _core.BezierPath(t, np.ascontiguousarray(np.stack([*first, *last], axis=1)))
