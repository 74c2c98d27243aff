"""What files say of markers, units and rates, against what was asked for."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from ...checks import Array
from ...errors import FileFormatError, nearest_hint
from ..motion_set import MotionSet
from ..trial import Trial
from ..units import LENGTHS
from .timing import TOLERANCE, positive_rate

__all__ = ["agreed_rate", "agreed_unit", "chosen", "marker_trials"]


def chosen(markers: Sequence[str] | None, known: Sequence[str], path: str | Path, what: str = "marker") -> list[int]:
    """Return the places of `markers` among `known`, which must be there once each; None chooses all."""
    if markers is None:
        markers = known
    if isinstance(markers, str) or not markers:
        raise FileFormatError(f"{what}s must be a sequence of names, got {markers!r}", path=path)
    places = []
    for marker in markers:
        if known.count(marker) != 1:
            count = "more than one" if marker in known else "no"
            hint = "" if marker in known else nearest_hint(marker, known)
            raise FileFormatError(f"{count} {what} {marker!r} among {', '.join(known)}{hint}", path=path)
        places.append(known.index(marker))
    return places


def agreed_unit(in_file: str, given: str | None, path: str | Path, key: str) -> str:
    """Return the unit of length of a file, which must be m, cm or mm and equal to `given`, if that is given.

    `given` stands in where the file names none.
    """
    unit = in_file.strip("\0 ").lower()
    if not unit and given is not None:
        unit = given
    if unit not in LENGTHS:
        what = "the file names none; unit= does" if not unit else f"got {unit!r}"
        raise FileFormatError(f"unit must be one of {', '.join(LENGTHS)}, {what}", path=path, key=key)
    if given is not None and given != unit:
        raise FileFormatError(f"unit={given!r} was asked for, the file is in {unit!r}", path=path, key=key)
    return unit


def agreed_rate(in_file: float, given: float | None, path: str | Path, key: str) -> float:
    """Return the nominal rate [Hz]: `given` if it agrees with the file's to 1 %, otherwise the file's."""
    if not (np.isfinite(in_file) and in_file > 0.0):
        raise FileFormatError(f"rate must be positive [Hz], got {in_file:g}", path=path, key=key)
    if given is None:
        return in_file
    rate = positive_rate(given)
    if abs(rate / in_file - 1.0) > TOLERANCE:
        raise FileFormatError(f"rate={rate:g} was asked for, the file has {in_file:g} Hz", path=path, key=key)
    return rate


def marker_trials(
    t: Array, points: Array, names: Sequence[str], rate: float, frame: str, subject: str, task: str
) -> MotionSet:
    """Return one trial for each marker, named like it, of points (T, markers, 3) [m].

    A coordinate that is missing makes the point missing: half a point is none. A marker never seen is all NaN.
    """
    points = np.where(np.isnan(points).any(axis=2, keepdims=True), np.nan, points)
    return MotionSet(
        Trial.from_positions(t, points[:, k], rate=rate, frame=frame, subject=subject, task=task, name=name)
        for k, name in enumerate(names)
    )
