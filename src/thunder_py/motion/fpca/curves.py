"""Motions as samples over tau in [0, 1], the input of fPCA."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import compress
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from ...checks import Array, numbers
from ...errors import ThunderError
from ...recordings.plausibility import Samples, check_plausible
from ...recordings.trial import POSITION, ROTATION

if TYPE_CHECKING:
    from ...recordings.motion_set import MotionSet
    from ...recordings.trial import Trial

#: bound below which sums of squares do not overflow
_LARGEST = 1e100


@dataclass(frozen=True)
class Curves:
    """Motions over normalized time.

    Attributes
    ----------
    taus : list of array (T_r,)
        Time of each motion, 0 at its first sample and 1 at its last.
    values : list of array (T_r, d)
        Coordinates, NaN in gaps.
    durations : array (R,)
        Durations [s]; NaN for motions given as an array, without time.
    dofs, units : tuple of str
        Names and units of the d coordinates.
    names : list of str
        Name of each motion in messages.
    """

    taus: list[Array]
    values: list[Array]
    durations: Array
    dofs: tuple[str, ...]
    units: tuple[str, ...]
    names: list[str]

    def __len__(self) -> int:
        return len(self.values)

    def select(self, chosen: npt.NDArray[np.bool_]) -> Curves:
        """Return the motions with True."""
        taus, values = (list(compress(one, chosen)) for one in (self.taus, self.values))
        return replace(
            self, taus=taus, values=values, durations=self.durations[chosen], names=list(compress(self.names, chosen))
        )


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
    if not kinds:
        raise ThunderError("motions must hold at least one trial, got none")
    if kinds == {True, False}:
        raise ThunderError("motions must be all trials or all numbers, got a mixture")
    if kinds == {False}:
        curves = array_curves(trials, dofs)
        # where names give no unit it is unknown
        units = tuple("?" if unit == "1" else unit for unit in curves.units)
        check_plausible([Samples(x, units=units) for x in curves.values])
        return curves
    if dofs is not None:
        raise ThunderError(f"dofs must be None for trials, which have names of their own, got {dofs!r}")
    curves = _trial_curves(trials)
    check_plausible(trials)
    return curves


def _is_trial(value: Any) -> bool:
    """Return True for a trial, or an object like it; tables have attributes named by their columns."""
    return all(hasattr(value, name) for name in ("t", "x", "dofs", "units"))


def _trial_curves(trials: Sequence[Any]) -> Curves:
    first, taus, values, durations = trials[0], [], [], []
    labels = [getattr(trial, "name", "") for trial in trials]
    names = [f"trial {index}" + (f" ({label})" if label else "") for index, label in enumerate(labels)]
    for trial, name in zip(trials, names, strict=True):
        if tuple(trial.dofs) != tuple(first.dofs) or tuple(trial.units) != tuple(first.units):
            raise ThunderError(
                f"motions must have the same dofs and units, got {names[0]} with {_listed(first)}, "
                f"{name} with {_listed(trial)}"
            )
        t, x = np.asarray(trial.t, dtype=np.float64), np.asarray(trial.x, dtype=np.float64)
        if len(t) < 2 or not np.isfinite(t).all() or t[-1] <= t[0]:
            raise ThunderError(f"motions must last longer than 0 s, got {name} with {len(t)} samples and no duration")
        if np.any(np.diff(t) <= 0.0):
            raise ThunderError(f"times must increase, got a step <= 0 in {name}")
        if x.shape != (len(t), len(first.dofs)) or not x.shape[1]:
            raise ThunderError(
                f"x must have shape (T, d) = ({len(t)}, {len(first.dofs)}) of t and dofs, got {x.shape} in {name}"
            )
        if (np.abs(x) > _LARGEST).any():
            raise ThunderError(
                f"values must be finite (below {_LARGEST:g}), or NaN in gaps, got {np.nanmax(np.abs(x)):g} in {name}"
            )
        durations.append(t[-1] - t[0])
        taus.append((t - t[0]) / durations[-1])
        values.append(x)
    return Curves(taus, values, np.array(durations), tuple(first.dofs), tuple(first.units), names)


def array_curves(motions: Any, dofs: Sequence[str] | None) -> Curves:
    """Return an array (R, T, d) as `Curves`, without a check of its units; arguments as for `read_curves`."""
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
    if len(set(labels)) != d or len(labels) != d or not all(isinstance(label, str) for label in labels):
        raise ThunderError(f"dofs must be {d} different names, got {dofs!r}")
    units = tuple("m" if label in POSITION else "rad" if label in ROTATION else "1" for label in labels)
    t = np.linspace(0.0, 1.0, samples)
    curves = _trial_curves([SimpleNamespace(t=t, x=x, dofs=labels, units=units) for x in values])
    return replace(curves, durations=np.full(count, np.nan))


def _listed(trial: Trial) -> str:
    return ", ".join(f"{dof} [{unit}]" for dof, unit in zip(trial.dofs, trial.units, strict=True))
