"""Derivatives of one part of a motion at sampled times, with the weights of a quadrature."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol, TypeAlias

import numpy as np
import numpy.typing as npt

from ...checks import Array, numbers, one_of, positive
from ...errors import ThunderError
from ..processing.filtering import low_pass
from ..processing.over_sets import has_motion
from ..trial import POSITION, ROTATION, Trial, require_no_gaps

PARTS = ("translation", "orientation", "joints")
#: Gauss-Legendre quadrature of motion objects: nodes of a panel, panels of the duration
_NODES, _PANELS = 4, 256
#: largest number of samples of a motion object
_MOST = 10_000_000


class Motion(Protocol):
    """A motion with exact derivatives: plans, minimum jerk, rollouts of primitives.

    Examples
    --------
    >>> from thunder_py.recordings.metrics import Motion, path_length
    >>> from thunder_py.trajectory import minimum_jerk
    >>> reach: Motion = minimum_jerk([0.0, 0.0], [0.3, 0.4], 2.0)
    >>> reach.duration, reach.position([0.0, 1.0, 2.0]).shape
    (2.0, (3, 2))
    >>> round(path_length(reach), 6)
    0.5
    """

    @property
    def duration(self) -> float:
        """Duration [s], from `start_time` if the motion has one, otherwise from 0."""

    def position(self, t: npt.ArrayLike, derivative: int = 0) -> Array:
        """Return values (..., d), or their time derivatives, at t (...) in s."""


#: a recording, a motion object, or times (T,) and values (T, d)
MotionLike: TypeAlias = "Trial | Motion | tuple[npt.ArrayLike, npt.ArrayLike]"


@dataclass(frozen=True)
class Samples:
    """Derivatives of one part of a motion.

    Attributes
    ----------
    t : ndarray, shape (n,)
        Times from the start of the motion, s.
    weights : ndarray, shape (n,)
        Weights of the quadrature over time, s; their sum is the duration.
    values : tuple of ndarray, shape (n, k)
        The part itself and the requested derivatives. For orientations: rotation vectors, then angular velocity,
        acceleration and jerk in the axes of the frame.
    part, unit : str
        "translation" in "m", "orientation" in "rad", "joints" in their common unit.
    duration : float
        Duration, s.
    cutoff : float or None
        Cut-off of the filter, Hz; infinite for no filter, None for motion objects.
    filter_order : int
        Order of one pass of the Butterworth filter.
    """

    t: Array
    weights: Array
    values: tuple[Array, ...]
    part: str
    unit: str
    duration: float
    cutoff: float | None
    filter_order: int

    def norm(self, derivative: int) -> Array:
        """Return the norm (n,) of a derivative at every time."""
        return np.asarray(np.linalg.norm(self.values[derivative], axis=1), dtype=np.float64)

    def __str__(self) -> str:
        """Return the origin of the derivatives, in words."""
        if self.cutoff is None:
            return "exact derivatives"
        if math.isinf(self.cutoff):
            return "recording without a filter"
        return f"recording, Butterworth of order {self.filter_order} forwards and backwards at {self.cutoff:g} Hz"


def is_motion(motion: Any) -> bool:
    """Return True for a motion object, whose `position` is a function."""
    if isinstance(motion, Trial):
        return False
    return callable(getattr(motion, "position", None)) and hasattr(motion, "duration")


def even_times(motion: Any, n: int) -> Array:
    """Return n times at equal steps from the start of a motion object to its end."""
    start = _start(motion)
    duration = motion.duration if is_motion(motion) else as_trial(motion).duration
    return np.linspace(start, start + float(duration), n)


def _start(motion: Any) -> float:
    if is_motion(motion):
        return float(getattr(motion, "start_time", 0.0))
    return float(as_trial(motion).t[0])


def as_trial(motion: Any) -> Trial:
    """Return a recording as a `Trial`; a tuple (t, x) gets the dofs of `dofs_of`."""
    if isinstance(motion, Trial):
        return motion
    if not (isinstance(motion, tuple) and len(motion) == 2):
        raise ThunderError(
            "a motion must be a Trial, an object with position(t, derivative) and duration, or a tuple (t, x), got "
            f"{type(motion).__name__}"
        )
    x = numbers(motion[1], "x", 2)
    return Trial(motion[0], x, _default_dofs(x.shape[1]))


def dofs_of(motion: Any) -> tuple[str, ...]:
    """Return the names of a motion's columns.

    Unnamed columns are ``x, y, z`` for one to three, ``x, y, z, rx, ry, rz`` for six, joints for any other number.
    """
    if not is_motion(motion):
        return as_trial(motion).dofs
    width = motion.position(_start(motion)).shape[-1]
    names = getattr(motion, "dofs", None)
    return tuple(names) if names is not None and len(names) == width else _default_dofs(width)


def _default_dofs(d: int) -> tuple[str, ...]:
    if d <= 3:
        return POSITION[:d]
    return POSITION + ROTATION if d == 6 else tuple(f"q{k + 1}" for k in range(d))


def choose_part(motion: Any, part: str | None) -> tuple[str, list[int]]:
    """Return the name and the columns of a part of a motion.

    None selects the translation if present, else the joints, else the orientation.
    """
    dofs = dofs_of(motion)
    columns = {
        "translation": [k for k, name in enumerate(dofs) if name in POSITION],
        "joints": [k for k, name in enumerate(dofs) if name not in POSITION + ROTATION],
        "orientation": [dofs.index(name) for name in ROTATION] if set(ROTATION) <= set(dofs) else [],
    }
    if part is None:
        part = next(name for name in columns if columns[name])
    one_of(part, PARTS, "part")
    if not columns[part]:
        raise ThunderError(f"part must be present in the motion, got {part!r} for dofs {', '.join(dofs)}")
    return part, columns[part]


def sample(
    motion: MotionLike,
    highest: int,
    *,
    part: str | None,
    cutoff: float | None,
    filter_order: int = 2,
    rate: float | None = None,
) -> Samples:
    """Return derivatives up to the `highest` of one part of a motion.

    Parameters
    ----------
    motion : Trial, motion object or (t, x)
        Motion objects have exact derivatives, integrated by Gauss-Legendre quadrature with four nodes in each of 256
        panels, split at `motion.breaks` (times where derivatives jump) if present. Recordings are filtered
        (`processing.low_pass`), interpolated by a quintic spline, and integrated by the trapezoidal rule.
    highest : int
        1 to 3.
    part : str or None
        As in `choose_part`.
    cutoff : float or None
        Cut-off, Hz; required for recordings, `math.inf` for no filter; None for motion objects.
    filter_order : int
        Order of one pass.
    rate : float, optional
        Sample motion objects at equal steps of about 1 / rate s instead.
    """
    name, columns = choose_part(motion, part)
    if is_motion(motion):
        if cutoff is not None:
            raise ThunderError(f"cutoff must be None for a motion object, which has exact derivatives, got {cutoff!r}")
        t, weights = _gauss(motion) if rate is None else _even(motion, rate)
        raw = [motion.position(t, k)[:, columns] for k in range(highest + 1)]  # type: ignore[operator,union-attr]
        unit, duration = ("m" if name == "translation" else "rad"), float(motion.duration)  # type: ignore[union-attr]
    else:
        trial = as_trial(motion).select([dofs_of(motion)[k] for k in columns])
        if len(set(trial.units)) > 1:
            raise ThunderError(f"{name} must share one unit to have a norm, got {', '.join(trial.units)}")
        unit, duration = trial.units[0], trial.duration
        raw = _differentiate(trial, highest, cutoff, filter_order)
        t, weights = trial.t, _trapezoid(trial.t)
    values = angular(raw) if name == "orientation" else tuple(raw)
    return Samples(t - _start(motion), weights, values, name, unit, duration, cutoff, filter_order)


def angular(raw: Sequence[Array]) -> tuple[Array, ...]:
    """Convert derivatives of a rotation vector to angular velocity, acceleration and jerk (n, 3)."""
    from ... import spatial

    laws = (spatial.angular_velocity, spatial.angular_acceleration, spatial.angular_jerk)
    return (raw[0], *(law(*raw[: k + 2]) for k, law in enumerate(laws[: len(raw) - 1])))


def _differentiate(trial: Trial, highest: int, cutoff: float | None, order: int) -> list[Array]:
    from scipy.interpolate import make_interp_spline

    if cutoff is None:
        raise ThunderError(
            "cutoff must be given for a recording: the frequency [Hz] of a zero-phase low-pass filter, which decides "
            "the contribution of noise to derivatives; math.inf for no filter"
        )
    require_no_gaps(trial, "a derivative")
    if len(trial) < 6:
        raise ThunderError(f"a recording must have six samples or more for derivatives, got {len(trial)}")
    rests = not has_motion(trial)
    trial = low_pass(trial, cutoff, order)
    if rests:  # rounding is no motion
        return [np.asarray(trial.x), *(np.zeros_like(trial.x) for _ in range(highest))]
    spline = make_interp_spline(trial.t - trial.t[0], trial.x, k=5)
    return [np.asarray(spline(trial.t - trial.t[0], nu=k), dtype=np.float64) for k in range(highest + 1)]


def _gauss(motion: Any) -> tuple[Array, Array]:
    edges = even_times(motion, _PANELS + 1)
    # breaks of the motion, or of the piecewise polynomial of a plan
    times = getattr(getattr(motion, "path", motion), "breaks", ())
    breaks = np.asarray(() if callable(times) else times, dtype=np.float64)
    edges = np.unique(np.concatenate([edges, breaks[(breaks > edges[0]) & (breaks < edges[-1])]]))
    nodes, weights = np.polynomial.legendre.leggauss(_NODES)
    half = 0.5 * np.diff(edges)[:, None]
    return (edges[:-1, None] + half * (1.0 + nodes)).ravel(), (half * weights).ravel()


def _even(motion: Any, rate: float) -> tuple[Array, Array]:
    if positive(rate, "rate", "Hz") * float(motion.duration) > _MOST:
        raise ThunderError(f"rate must yield at most {_MOST} samples in {motion.duration:g} s, got {rate:g} Hz")
    t = even_times(motion, max(round(motion.duration * rate), 8) + 1)
    return t, _trapezoid(t)


def _trapezoid(t: Array) -> Array:
    steps = np.diff(t)
    return np.asarray(0.5 * (np.append(steps, 0.0) + np.append(0.0, steps)), dtype=np.float64)
