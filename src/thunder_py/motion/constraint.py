"""Constraints on motions at any times, in the form of linear systems."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ..checks import Array, array, finite, one_of
from ..errors import ThunderError

KINDS = ("position", "velocity", "acceleration", "jerk")
#: part of the duration that rounding may put times outside
ROUNDING = 1e-9


@dataclass(frozen=True, eq=False)
class Constraint:
    """Constraint on a motion at one time.

    Attributes
    ----------
    t : float
        Time [s].
    kind : str
        ``"position"``, ``"velocity"``, ``"acceleration"`` or ``"jerk"`` of coordinates; for rotation vectors, their
        derivatives.
    value : float or (k,) array_like
        Value [m or rad, per s^n], one for each of `dofs` or the same for all.
    noise : float or (k,) array_like
        Standard deviation of the value; 0 means exact.
    dofs : sequence of str, optional
        Names of the coordinates; default all.

    Examples
    --------
    >>> from thunder_py.motion import FPCA, Constraint, HumanLikePlanner
    >>> from thunder_py.recordings.synthetic import minimum_jerk_reaches
    >>> planner = HumanLikePlanner(FPCA(shrinkage=0.1).fit(minimum_jerk_reaches(20, seed=1)))
    >>> ends = [Constraint(0.0, "position", [0.1, 0.2, 0.3]), Constraint(1.0, "position", [0.4, 0.2, 0.1])]
    >>> plan = planner.condition([*ends, Constraint(0.5, "velocity", 0.55, dofs="x")], duration=1.0).plan()
    >>> round(float(plan.position(0.5, derivative=1)[0]), 3)
    0.55
    """

    t: float
    kind: str = "position"
    value: npt.ArrayLike = 0.0
    noise: npt.ArrayLike = 0.0
    dofs: Sequence[str] | None = None


def rows_of(constraints: Iterable[Constraint], known: Sequence[str], start_time: float, duration: float) -> Array:
    """Return rows (k, 5): tau, derivative, coordinate, value, noise; `known` are the names of all coordinates."""
    sequence = tuple(constraints) if isinstance(constraints, Iterable) else ()
    if not sequence or any(not isinstance(each, Constraint) for each in sequence):
        raise ThunderError(f"constraints must be a sequence of Constraint, one at least, got {constraints!r}")
    return np.concatenate([_rows(each, known, start_time, duration) for each in sequence])


def _rows(one: Constraint, known: Sequence[str], start_time: float, duration: float) -> Array:
    """Return the rows of a constraint; see `rows_of`."""
    one_of(one.kind, KINDS, "kind")
    dofs = known if one.dofs is None else one.dofs
    names = tuple(dofs) if isinstance(dofs, Iterable) and not isinstance(dofs, str) else (dofs,)
    for name in names:
        one_of(name, known, "dofs")
    tau = (finite(one.t, "t") - start_time) / duration
    if not -ROUNDING <= tau <= 1.0 + ROUNDING:
        raise ThunderError(
            f"t of a constraint must lie within the motion, {start_time:g} to {start_time + duration:g} s, got "
            f"{one.t:g}"
        )
    rows = np.empty((len(names), 5))
    rows[:, 0], rows[:, 1] = min(max(tau, 0.0), 1.0), KINDS.index(one.kind)
    rows[:, 2] = [known.index(name) for name in names]
    for column, what in ((3, "value"), (4, "noise")):
        given = getattr(one, what)
        rows[:, column] = array(given, () if np.ndim(given) == 0 else (len(names),), what)
    if (rows[:, 4] < 0.0).any():
        raise ThunderError(f"noise must not be negative, got {one.noise!r}")
    return rows
