"""Training motions of a planner in physical units, and the limits of travel that follow from them."""

from __future__ import annotations

from math import inf
from typing import TYPE_CHECKING

import numpy as np
from scipy.stats import chi2

from ... import _core
from ...checks import Array
from ...recordings.trial import POSITION
from ..alignment import from_canonical, has_path, returning
from ..fpca.fit import unit_groups
from ..travel import TRAINING_RATIOS, travel

if TYPE_CHECKING:
    from ..fpca.fpca import FPCA

#: lengths that count as standing still, by unit
_STILL = {"m": 1e-3, "rad": 0.05}
#: stands for an infinite limit
_UNLIMITED = 1e200
#: normalized times at which training motions are compared
_GRID = np.linspace(0.0, 1.0, 101)
#: part of the largest variance below which components are rounding errors. Variances of minimum jerk go down to 1e-15
#: relative to its unlimited quadratics, and without the smallest ones a jerk at the ends costs too much.
NOISE = 1e-20
#: probability that a motion drawn from the distribution of the components lies beyond the span
_RARE = 1e-6


def training_motions(fpca: FPCA) -> list[Array]:
    """Return the training motions and two derivatives over tau at 101 times, (R, 101, d); without any, the mean."""
    coefficients = fpca.mean_coefficients_[None]
    if len(fpca.scores_):
        subscripts = "rn,nkd->rkd" if fpca.joint else "rnd,nkd->rkd"
        parts = np.einsum(subscripts, fpca.scores_, fpca.component_coefficients_, optimize=True)
        coefficients = coefficients + parts
    motions = [fpca.basis_.evaluate(_GRID, derivative) @ coefficients for derivative in range(3)]
    if fpca.frames_ is None or not len(fpca.scores_):
        return motions
    return [from_canonical(x, fpca.dofs, fpca.frames_, derivative) for derivative, x in enumerate(motions)]


class Training:
    """Training motions in physical units.

    Attributes
    ----------
    groups : list of list of int
        Coordinates of one unit.
    units : list of str
        Their units.
    largest : (3, G) array
        Travel of the longest, fastest, most accelerated motion; NaN where unknown or at rest.
    acceleration : (G,) array
        Largest second derivative over normalized time.
    returning : int
        Number of motions that return toward their start.
    span : float
        Mahalanobis distance that plans exceed only beyond the training data.
    """

    def __init__(self, fpca: FPCA, exact: bool, order: int) -> None:
        self.groups = unit_groups(fpca.units)
        self.units = [fpca.units[group[0]] for group in self.groups]
        x, dx, ddx = training_motions(fpca)
        size = travel(dx, ddx, 1.0, self.groups)
        self.acceleration: Array = size[:, 2].max(axis=0)
        self.still = np.array([_STILL.get(unit, 0.0) for unit in self.units])
        self.largest, self.returning = np.full(size.shape[1:], np.nan), 0
        if len(fpca.scores_):
            largest = (size / fpca.durations_[:, None, None] ** np.arange(3)[:, None]).max(axis=0)
            self.largest = np.where(largest[0] > self.still, largest, np.nan)
            if has_path(fpca.dofs):
                places = [fpca.dofs.index(name) for name in POSITION]
                self.returning = int(returning(x[:, :, places]).sum())
        self.span = _span(fpca, exact, order)

    def limit(self, core: _core.FunctionalPlanner, ratios: tuple[float, ...]) -> None:
        """Set the core's limits of travel: ratios to minimum jerk, and none to training motions if all are infinite."""
        most = np.array(TRAINING_RATIOS)[:, None] * np.nan_to_num(self.largest, nan=_UNLIMITED)
        group_of = [next(g for g, group in enumerate(self.groups) if k in group) for k in range(core.dimension)]
        most = most if min(ratios) < inf else np.full_like(most, _UNLIMITED)
        core.limit_travel(group_of, self.still, np.minimum(ratios, _UNLIMITED), most)


def _span(fpca: FPCA, exact: bool, order: int) -> float:
    """Return the quantile of the distance of plans between random states, or the distance of the farthest motion.

    The scores of a plan between two random states have as many degrees of freedom as the planner has constraints, less
    the offsets. Plans of components of minimum jerk alone do not depend on the data.
    """
    if fpca.shrinkage_ >= 1.0:
        return inf
    d = len(fpca.dofs)
    used = (2 * order - 1) * (d if fpca.joint else 1) if exact else fpca.n_components_
    variances = fpca.explained_variance_[:used]
    kept = variances > NOISE * variances.max(initial=0.0)
    parts = fpca.scores_[:, :used][:, kept]
    farthest = float(np.sqrt((parts**2 / variances[kept]).sum(axis=1)).max(initial=0.0))
    return max(farthest, float(np.sqrt(chi2.isf(_RARE, (2 * order - 1) * d))))
