"""Orientations as the planner has them: turns from the start, in the axes of the recording."""

from __future__ import annotations

from typing import overload

import numpy as np

from ..errors import ThunderError
from . import rotations
from .motion_set import MotionSet
from .trial import ROTATION, Trial

__all__ = ["turns_from_start"]


@overload
def turns_from_start(motions: Trial) -> Trial: ...
@overload
def turns_from_start(motions: MotionSet) -> MotionSet: ...
def turns_from_start(motions: Trial | MotionSet) -> Trial | MotionSet:
    """Replace rotation vectors of R(t) by those of ``R(t) R(0)'``, on one branch.

    Components learned from them plan what `HumanLikePlanner` plans. A turn about one axis is straight in them, wherever
    the hand is turned to at the start, and they turn with the world as positions do.

    Parameters
    ----------
    motions : Trial or MotionSet
        With coordinates rx, ry, rz.

    Returns
    -------
    Trial or MotionSet
        The other coordinates stay; gaps stay, and the start is the first sample without.

    Raises
    ------
    ThunderError
        Without rotation vectors, or without a sample that has one.
    """
    return motions.map(_turned) if isinstance(motions, MotionSet) else _turned(motions)


def _turned(trial: Trial) -> Trial:
    if not isinstance(trial, Trial):
        raise ThunderError(f"motions must be a Trial or a MotionSet, got {type(trial).__name__}")
    if not set(ROTATION) <= set(trial.dofs):
        raise ThunderError(f"motions must have coordinates {', '.join(ROTATION)}, got {', '.join(trial.dofs)}")
    phi = np.array(trial.rotation_vectors)
    known = np.isfinite(phi).all(axis=1)
    if not known.any():
        raise ThunderError(f"motions must have an orientation somewhere, {trial.name or 'a trial'} has none")
    first = phi[known][0]
    phi[known] = rotations.to_reference(phi[known], first) @ rotations.exp(first).T
    x = np.array(trial.x)
    x[:, [trial.dofs.index(name) for name in ROTATION]] = phi
    return trial.with_values(x)
