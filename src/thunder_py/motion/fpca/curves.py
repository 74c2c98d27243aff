"""Motions as samples over tau in [0, 1], the input of fPCA."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import compress
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from ...checks import Array, numbers
from ...errors import ThunderError
from ...recordings.plausibility import Samples, check_plausible
from ...recordings.trial import POSITION, ROTATION, Trial

if TYPE_CHECKING:
    from ...recordings.motion_set import MotionSet

#: bound below which sums of squares do not overflow
_LARGEST = 1e100


@dataclass(frozen=True)
class Curves:
    """Motions of the same coordinates.

    Attributes
    ----------
    trials : list of Trial
        Motions, of which NaN are gaps.
    names : list of str
        Name of each motion in messages.
    timed : bool
        False for motions given as an array, without time.
    """

    trials: list[Trial]
    names: list[str]
    timed: bool = True

    def __len__(self) -> int:
        return len(self.trials)

    @property
    def dofs(self) -> tuple[str, ...]:
        """Names of the d coordinates."""
        return self.trials[0].dofs

    @property
    def units(self) -> tuple[str, ...]:
        """Units of the d coordinates."""
        return self.trials[0].units

    @property
    def durations(self) -> Array:
        """Durations (R,) [s]; NaN without time."""
        return np.array([trial.duration if self.timed else np.nan for trial in self.trials])

    def select(self, chosen: npt.NDArray[np.bool_]) -> Curves:
        """Return the motions with True."""
        return Curves(list(compress(self.trials, chosen)), list(compress(self.names, chosen)), self.timed)


def read_curves(
    motions: MotionSet | Trial | Iterable[Trial] | npt.ArrayLike, dofs: Sequence[str] | None = None
) -> Curves:
    """Return motions as `Curves`.

    Parameters
    ----------
    motions : MotionSet, Trial, sequence of Trials, or array_like (R, T, d)
        An array is sampled uniformly over each motion; NaN marks gaps.
    dofs : sequence of str, optional
        Names of an array's coordinates. Default: x, y, z for three, x, y, z, rx, ry, rz for six.

    Raises
    ------
    ThunderError
        For no motion, different coordinates, a duration that is not positive, times that do not increase, infinities.
    """
    if isinstance(motions, str) or not (_is_trial(motions) or isinstance(motions, Iterable)):
        raise ThunderError(f"motions must be trials or an array (trials, samples, dofs), got {motions!r}")
    given: Any = [motions] if _is_trial(motions) else motions
    trials: Any = given if isinstance(given, np.ndarray) else list(given)
    kinds = {False} if isinstance(given, np.ndarray) else set(map(_is_trial, trials))
    if len(kinds) != 1:
        found = "a mixture" if kinds else "none"
        raise ThunderError(f"motions must be at least one trial, all trials or all numbers, got {found}")
    if kinds == {False}:
        curves = array_curves(trials, dofs)
        # where names give no unit it is unknown
        units = tuple("?" if unit == "1" else unit for unit in curves.units)
        check_plausible([Samples(trial.x, units=units) for trial in curves.trials])
        return curves
    if dofs is not None:
        raise ThunderError(f"dofs must be None for trials, which have names of their own, got {dofs!r}")
    labels = [getattr(trial, "name", "") for trial in trials]
    curves = _curves(trials, [f"trial {k}" + (f" ({label})" if label else "") for k, label in enumerate(labels)])
    check_plausible(curves.trials)
    return curves


def _is_trial(value: Any) -> bool:
    """Return True for a trial, or an object like it; tables have attributes named by their columns."""
    return all(hasattr(value, name) for name in ("t", "x", "dofs", "units"))


def _curves(given: Iterable[Any], names: list[str], timed: bool = True) -> Curves:
    trials: list[Trial] = []
    for one, name in zip(given, names, strict=True):
        try:
            trial = one if isinstance(one, Trial) else Trial(one.t, one.x, tuple(one.dofs), tuple(one.units))
        except ThunderError as error:
            raise ThunderError(f"{error}, in {name}") from None
        first, largest = (trials or [trial])[0], np.nanmax(np.abs(trial.x), initial=0.0)
        if (trial.dofs, trial.units) != (first.dofs, first.units) or not trial.dofs:
            raise ThunderError(
                f"motions must have the same dofs and units, got {names[0]} with {_listed(first)}, "
                f"{name} with {_listed(trial)}"
            )
        if largest > _LARGEST:
            raise ThunderError(f"values must be below {_LARGEST:g}, got {largest:g} in {name}")
        trials.append(trial)
    return Curves(trials, names, timed)


def array_curves(motions: Any, dofs: Sequence[str] | None, tau: npt.ArrayLike | None = None) -> Curves:
    """Return an array (R, T, d), at times tau (T,), as `Curves`; see `read_curves`. Units are not checked."""
    shapes = {np.shape(motion) for motion in motions if isinstance(motion, np.ndarray)}
    if len(shapes) > 1:
        raise ThunderError(
            f"motions as arrays must have equal shapes, got {' and '.join(map(str, sorted(shapes)[:2]))}; pass motions "
            "of different lengths as trials, MotionSet([Trial.from_positions(t, p), ...])"
        )
    values = numbers(motions, "motions")
    if values.ndim != 3 or min(values.shape) < 1:
        raise ThunderError(f"motions as an array must have shape (trials, samples, dofs), got {values.shape}")
    count, samples, d = values.shape
    default = (POSITION + ROTATION)[:d] if d in (3, 6) else tuple(f"x{i + 1}" for i in range(d))
    labels = default if dofs is None else tuple(dofs) if isinstance(dofs, Iterable) else ()
    units = tuple("m" if label in POSITION else "rad" if label in ROTATION else "1" for label in labels)
    t = np.linspace(0.0, 1.0, samples) if tau is None else tau
    trials = (SimpleNamespace(t=t, x=x, dofs=labels, units=units) for x in values)
    return _curves(trials, [f"trial {k}" for k in range(count)], timed=False)


def _listed(trial: Trial) -> str:
    return ", ".join(f"{dof} [{unit}]" for dof, unit in zip(trial.dofs, trial.units, strict=True))
