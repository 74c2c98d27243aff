"""What acts on the plant from outside."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy.typing as npt

from ..checks import Array, array
from ..robot import Robot
from ..values import Value, set_fields
from .payload import one_or_several

__all__ = ["ExternalTorque", "ExternalWrench", "read_external"]


def _interval(start: float, stop: float, what: str) -> tuple[float, float]:
    first, last = float(array(start, (), f"{what} start")), float(array(stop, (), f"{what} stop", finite=False))
    if not first < last:
        raise ValueError(f"{what} stop must be after start = {first:g}, got {last:g}")
    return first, last


@dataclass(frozen=True, eq=False)
class ExternalWrench(Value):
    """A constant wrench on a frame of the plant, from a time to another; the controller is not told.

    Parameters
    ----------
    wrench : (6,) array_like
        Force, then moment about the frame's origin, in world axes [N, N m].
    frame : int or str, optional
        Default the end effector.
    start, stop : float
        [s]; in effect from the first integration step that starts at `start` to the last one before `stop`.
    """

    wrench: npt.ArrayLike
    frame: int | str | None = None
    start: float = 0.0
    stop: float = math.inf

    def __post_init__(self) -> None:
        """Check everything."""
        start, stop = _interval(self.start, self.stop, "wrench")
        set_fields(self, wrench=array(self.wrench, (6,), "wrench"), start=start, stop=stop)


@dataclass(frozen=True, eq=False)
class ExternalTorque(Value):
    """Constant torques on the links at their joints, from a time to another; the controller is not told.

    Parameters
    ----------
    torque : (n,) array_like
        [N m, N].
    start, stop : float
        See `ExternalWrench`.
    """

    torque: npt.ArrayLike
    start: float = 0.0
    stop: float = math.inf

    def __post_init__(self) -> None:
        """Check everything."""
        start, stop = _interval(self.start, self.stop, "torque")
        set_fields(self, torque=array(self.torque, (None,), "external torque"), start=start, stop=stop)


def read_external(
    external: ExternalWrench | ExternalTorque | Sequence[ExternalWrench | ExternalTorque], plant: object, native: bool
) -> list[tuple[Any, ...]]:
    """Return what the core takes: start, stop, frame (False for joints) and values."""
    kinds = (ExternalWrench, ExternalTorque)
    given = one_or_several(external, kinds, "external must be a sequence of ExternalWrench and ExternalTorque")
    if given and not (native and isinstance(plant, Robot)):
        raise ValueError("external needs a plant that is a Robot; let a plant written in Python push itself")
    actions: list[tuple[Any, ...]] = []
    for action in given:
        if isinstance(action, ExternalWrench):
            values, frame = action.wrench, action.frame
            if isinstance(frame, bool):
                raise ValueError(f"frame must be a link index or the name of a frame, got {frame!r}")
        elif isinstance(action, ExternalTorque):
            values, frame = array(action.torque, (plant.n,), "external torque"), False  # type: ignore[attr-defined]
        else:
            raise ValueError(f"external must hold ExternalWrench and ExternalTorque, got {action!r} in it")
        numbers: Array = array(values, (None,), "external")
        actions.append((action.start, action.stop, frame, numbers.tolist()))
    return actions
