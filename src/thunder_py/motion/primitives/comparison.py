"""Warnings of motions of primitives that are longer or faster than their demonstrations and than minimum jerk."""

from __future__ import annotations

import warnings
from collections.abc import Sequence

import numpy as np

from ...checks import Array
from ...errors import ThunderWarning, outer_level
from ...trajectory.hermite import MinimumJerk
from ..travel import excesses, travel

#: largest path length, peak speed and peak acceleration of a motion without warning, relative to the larger one of the
#: demonstration over the same duration and minimum jerk; alone, Hoffmann's form has 2.2 times the speed of the latter
RATIOS = (2.0, 2.5, 10.0)
#: part of the largest coordinate below which others are not compared
_SMALL = 0.1
#: number of steps of motions that are compared
COMPARED = 100


def warn_travel(
    size: Array,
    shown: Array,
    least: MinimumJerk,
    groups: Sequence[Sequence[int]],
    units: Sequence[str],
    reasons: Sequence[str],
) -> None:
    """Warn of a motion that exceeds `RATIOS`, with the worst group of coordinates.

    Parameters
    ----------
    size, shown : (3, G) array
        Path length, peak speed and peak acceleration of the motion, and of the demonstration over this duration, see
        `travel`.
    least : MinimumJerk
        Minimum jerk between the same states.
    groups : sequence of sequences of int
        Coordinates of each group.
    units : sequence of str
        Unit of each group.
    reasons : sequence of str
        Why each group exceeds, and what to do.
    """
    T = least.duration
    t = np.linspace(0.0, T, COMPARED + 1)
    reference = np.maximum(shown, travel(least.position(t, 1), least.position(t, 2), T, groups))
    reference = np.maximum(reference, _SMALL * reference.max(axis=1, keepdims=True))
    found = []
    for g in range(len(groups)):
        each = excesses(size[:, [g]], reference[:, [g]], [units[g]], "the demonstration and of minimum jerk", RATIOS)
        found += [(excess.ratio / excess.limit, g, excess) for excess in each]
    if found:
        _, g, excess = max(found, key=lambda each: each[0])
        what = "the motion" if len(groups) == 1 else f"coordinate {', '.join(map(str, groups[g]))} of the motion"
        warnings.warn(f"{what} has a {excess}, {reasons[g]}", ThunderWarning, stacklevel=outer_level())
