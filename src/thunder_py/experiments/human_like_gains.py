"""What the gain of the dynamic potential (107) does to movement primitives among spheres: the report prints none."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from ..checks import Array
from ..motion.dmp import DMP
from ..motion.dynamic_potential import DynamicPotential
from .human_like_learned import Learned
from .human_like_methods import primitive
from .human_like_scenarios import FAMILIES, Scenario, scenarios
from .text import markdown

__all__ = ["GAINS", "GainSweep", "sweep_gains"]

GAINS = (0.0, 0.02, 0.05, 0.15, 0.5, 1.5, 5.0)
#: settings that no table is made of
_SEED = 1
_BASES = {"DMP mollifier": "mollifier", "DMP Gaussian": "gaussian"}


@dataclass(frozen=True, kw_only=True, eq=False)
class GainSweep:
    """Movement primitives by gain.

    Attributes
    ----------
    gains : tuple of float
    values : dict of str to (gains, n, 3) array
        By method: error at T [m], mean jerk [m/s^3], least distance at the rollout's samples less the margin [m].
    """

    gains: tuple[float, ...]
    values: dict[str, Array]

    def table(self) -> str:
        """Return errors, jerk and how many come within the margin, as Markdown."""
        rows: list[list[object]] = []
        for k, gain in enumerate(self.gains):
            row: list[object] = [gain]
            for values in self.values.values():
                error, jerk, room = values[k].T
                row += [100.0 * float(np.mean(room < 0.0)), float(np.mean(error)), float(np.median(jerk))]
            rows.append(row)
        header = ["gain"]
        for name in self.values:
            header += [f"{name}: within the margin [%]", "error, mean [m]", "jerk, median [m/s^3]"]
        return markdown(header, rows)


def sweep_gains(learned: Learned, count: int = 20, gains: Iterable[float] = GAINS) -> GainSweep:
    """Roll movement primitives out with several gains (0: without obstacles), in `count` settings of every family."""
    tried = tuple(gains)
    scenes = [scene for family in FAMILIES for scene in scenarios(family, count, _SEED)]
    values = {}
    for name, basis in _BASES.items():
        dmp, found = learned.dmp(basis), np.empty((len(tried), len(scenes), 3))
        for k, gain in enumerate(tried):
            for j, scene in enumerate(scenes):
                found[k, j] = _measured(dmp, gain, scene)
        values[name] = found
    return GainSweep(gains=tried, values=values)


def _measured(dmp: DMP, gain: float, scene: Scenario) -> tuple[float, float, float]:
    if gain > 0.0:
        motion = primitive(dmp, DynamicPotential(gain=gain, beta=2.0), scene)
    else:
        motion = dmp.rollout(scene.start, scene.goal, scene.duration)
    return motion.end_error, motion.mean_jerk(), float(scene.distance(motion.x).min()) - scene.margin
