"""The path of the SCARA project, chapter 2: a ghost cut out of a sheet.

The report shows a drawing and counts, no coordinates: 16 key points, 12 straight and 3 circular portions, 5 via points,
all in front of the arm and nearer than its reach, with trapezoidal profiles; the orientation goes from 0 to pi in 10 s
and to pi/2 at 20 s. This ghost is ours and has the same counts: it comes down on the sheet, goes round with a bulge on
either side for the arms, over-flies the five inner corners of the hem, and lifts off.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from ..checks import Array
from ..trajectory import Arc, Line, Orientation, Path, TimingLaw, trapezoidal

__all__ = ["CENTRE", "DURATION", "KEY_POINTS", "SCALE", "SHEET", "orientation_at_zero", "scara_path"]

#: [s]
DURATION = 20.0
#: of the drawing in the plane of the sheet [m], and the height of the sheet [m]
CENTRE, SHEET = (0.42, 0.0), 0.20
#: of the drawing [m], and how far above the sheet it starts and ends [m]
SCALE, LIFT = 0.16, 0.06
#: part of each portion that is spent accelerating, and how much of it overlaps with the next at a via point
BLEND, OVERLAP = 0.25, 0.25


class _Portion(NamedTuple):
    end: tuple[float, float]
    via: tuple[float, float] | None = None  # of an arc
    over_flown: bool = False
    lift: float = 0.0


#: the drawing: right and up, in units of its half width; up points away from the arm
_START = (-1.0, 0.0)
_PORTIONS = (
    _Portion((-1.0, 0.0)),  # down to the sheet
    _Portion((-1.0, 0.5)),
    _Portion((-1.0, 0.9), via=(-1.2, 0.7)),
    _Portion((-1.0, 1.3)),
    _Portion((1.0, 1.3), via=(0.0, 2.3)),  # the head
    _Portion((1.0, 0.9)),
    _Portion((1.0, 0.5), via=(1.2, 0.7)),
    _Portion((1.0, 0.0)),
    _Portion((2 / 3, 0.35), over_flown=True),  # the hem
    _Portion((1 / 3, 0.0), over_flown=True),
    _Portion((0.0, 0.35), over_flown=True),
    _Portion((-1 / 3, 0.0), over_flown=True),
    _Portion((-2 / 3, 0.35), over_flown=True),
    _Portion((-1.0, 0.0)),
    _Portion((-1.0, 0.0), lift=1.0),
)


def _place(point: tuple[float, float], lift: float = 0.0) -> Array:
    """From the drawing to the world: right is -y, up is x."""
    right, up = point
    return np.array([CENTRE[0] + SCALE * up, CENTRE[1] - SCALE * right, SHEET + LIFT * lift])


#: (16, 3) [m]
KEY_POINTS: Array = np.array([_place(_START, 1.0), *(_place(portion.end, portion.lift) for portion in _PORTIONS)])


def orientation_at_zero() -> Array:
    """Orientation of the end effector where ``q1 + q2 - q4`` is zero: y forward, z down (errata S-4)."""
    return np.array([[0.0, 1.0, 0.0], [1.0, 0.0, 0.0], [0.0, 0.0, -1.0]])


def scara_path() -> Path:
    """Return the path, of 20 s: longer portions take longer, short ones a little more than in proportion."""
    law = trapezoidal(duration=1.0, blend=BLEND)
    weights = np.array([_segment(k, law).length + 0.05 for k in range(len(_PORTIONS))])
    early = np.array([OVERLAP * portion.over_flown for portion in _PORTIONS[:-1]])
    overlaps = early * np.minimum(weights[:-1], weights[1:])
    unit = DURATION / (weights.sum() - overlaps.sum())
    segments = [_segment(k, law.stretched(unit * weight)) for k, weight in enumerate(weights)]
    half = trapezoidal(duration=0.5 * DURATION, blend=BLEND)
    orientation = Orientation.about(orientation_at_zero(), [0, 0, 1], [0.0, math.pi, 0.5 * math.pi], half)
    return Path(segments, anticipation=unit * overlaps, orientation=orientation)


def _segment(k: int, law: TimingLaw) -> Line | Arc:
    start, end, via = KEY_POINTS[k], KEY_POINTS[k + 1], _PORTIONS[k].via
    return Line(start, end, law) if via is None else Arc(start, _place(via), end, law)
