"""Length, straightness, distance and power law of paths."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from ...checks import Array, nonnegative, one_of, whole, within
from ...errors import ThunderError
from ...table import Table
from ..processing.filtering import low_pass
from ..processing.resampling import at_times
from ..trial import Trial, require_no_gaps
from .sampling import MotionLike, Samples, as_trial, choose_part, dofs_of, even_times, is_motion, sample
from .smoothness import RATE, jerk_summary, ldlj, sparc, speed_peaks


def path_length(
    motion: MotionLike, *, part: str | None = None, cutoff: float = math.inf, filter_order: int = 2
) -> float:
    """Return the length of the path: m for translation, rad for orientation and joints.

    Parameters
    ----------
    motion : Trial, motion object or (t, x)
        The speed of motion objects is integrated by the quadrature of `jerk_summary`. Samples of recordings are joined
        by straight lines (by geodesics between orientations).
    part : {"translation", "orientation", "joints"}, optional
        By default the translation if present, else the joints.
    cutoff : float
        Cut-off of a zero-phase Butterworth filter for recordings, Hz. Without filter (`math.inf`) noise adds to the
        length.
    filter_order : int
        Order of one pass.

    Returns
    -------
    float
        Length, m or rad.

    Raises
    ------
    ThunderError
        For gaps, and for absent parts.

    Examples
    --------
    >>> from thunder_py.recordings.metrics import path_length
    >>> from thunder_py.trajectory import minimum_jerk
    >>> path_length(([0.0, 1.0, 2.0], [[0.0, 0.0], [3.0, 0.0], [3.0, 4.0]]))
    7.0
    >>> round(path_length(minimum_jerk([0.0, 0.0], [0.3, 0.4], 1.0)), 6)
    0.5
    """
    name, columns = choose_part(motion, part)
    if is_motion(motion):
        s = sample(motion, 1, part=name, cutoff=None if cutoff == math.inf else cutoff)
        return float(s.weights @ s.norm(1))
    x = _recorded(motion, columns, cutoff, filter_order).x
    return float(_apart(x[:-1], x[1:], name).sum())


def straightness(
    motion: MotionLike, *, part: str | None = None, cutoff: float = math.inf, filter_order: int = 2
) -> float:
    """Return the distance from start to end divided by the path length: 1 for a straight path, 0 for a closed one.

    Parameters
    ----------
    motion, part, cutoff, filter_order
        As for `path_length`. The distance of orientations is the angle of the geodesic.

    Returns
    -------
    float
        Ratio, 0 to 1.

    Raises
    ------
    ThunderError
        As `path_length`, and for a motion at rest.

    Examples
    --------
    >>> from thunder_py.recordings.metrics import straightness
    >>> round(straightness(([0.0, 1.0, 2.0], [[0.0, 0.0], [3.0, 0.0], [3.0, 4.0]])), 3)
    0.714
    """
    name, columns = choose_part(motion, part)
    length = path_length(motion, part=name, cutoff=cutoff, filter_order=filter_order)
    if not length > 0.0:
        raise ThunderError("motion must have a path of positive length, got one at rest")
    if is_motion(motion):
        ends = motion.position(even_times(motion, 2))[:, columns]  # type: ignore[operator,union-attr]
    else:
        ends = _recorded(motion, columns, cutoff, filter_order).x[[0, -1]]
    # rounding can exceed 1 on a straight line
    return min(1.0, float(_apart(ends[:1], ends[1:], name)[0]) / length)


def path_points(motion: MotionLike, columns: list[int], n: int) -> Array:
    """Return n points (n, k) of a motion at equal steps of tau = t / T; samples are joined by a cubic spline."""
    t = even_times(motion, n)
    if is_motion(motion):
        return np.asarray(motion.position(t)[:, columns], dtype=np.float64)  # type: ignore[operator,union-attr]
    return at_times(_recorded(motion, columns, math.inf, 2), t)


def _recorded(motion: MotionLike, columns: list[int], cutoff: float, order: int) -> Trial:
    trial = as_trial(motion)
    trial = trial.select([trial.dofs[k] for k in columns])
    require_no_gaps(trial, "a path")
    return low_pass(trial, cutoff, order)


def _apart(x: Array, y: Array, part: str) -> Array:
    """Return the distances (n,) between points, or the angles between orientations."""
    if part == "orientation":
        from scipy.spatial.transform import Rotation

        R, S = (Rotation.from_rotvec(np.array(phi)) for phi in (x, y))  # SciPy needs writable arrays
        return np.asarray((R.inv() * S).magnitude(), dtype=np.float64)
    return np.asarray(np.linalg.norm(y - x, axis=1), dtype=np.float64)


PAIRINGS = ("tau", "arc_length", "nearest")


def rms_distance(a: MotionLike, b: MotionLike, pairing: str = "tau", *, part: str | None = None, n: int = 256) -> float:
    """Return the root mean square distance of two motions of equal or different durations.

    Parameters
    ----------
    a, b : Trial, motion object or (t, x)
        Motions with the same dofs in the compared part.
    pairing : {"tau", "arc_length", "nearest"}
        Point of b that is paired with a point of a.

        - "tau": at the same fraction of the duration, so differences in timing count;
        - "arc_length": at the same fraction of the path length, for the shape alone;
        - "nearest": the nearest point of b. The result exceeds the other two at most by the error of sampling, ignores
          order, and is not symmetric: parts of b far from a do not count.
    part : {"translation", "orientation", "joints"}, optional
        By default the translation if present, else the joints. Orientations are compared by the angle between
        them, and paired by "tau" only.
    n : int
        Points on either motion at equal steps of time ("tau", "nearest") or of path length.

    Returns
    -------
    float
        m for translation, rad for orientation and joints.

    Raises
    ------
    ThunderError
        For an unknown pairing, dofs that differ, gaps, or paths of zero length paired by arc length.

    Examples
    --------
    >>> from thunder_py.recordings.metrics import rms_distance
    >>> from thunder_py.trajectory import minimum_jerk
    >>> a = minimum_jerk([0.0, 0.0], [0.4, 0.0], 1.0)
    >>> b = minimum_jerk([0.0, 0.1], [0.4, 0.1], 2.0)
    >>> round(rms_distance(a, b), 6), round(rms_distance(a, b, "nearest"), 6)
    (0.1, 0.1)
    """
    one_of(pairing, PAIRINGS, "pairing")
    n = whole(n, "n", 2)
    part, columns_a = choose_part(a, part)
    columns_b, dofs_a, dofs_b = choose_part(b, part)[1], dofs_of(a), dofs_of(b)
    if [dofs_a[k] for k in columns_a] != [dofs_b[k] for k in columns_b]:
        raise ThunderError(f"a and b must have the same dofs, got {', '.join(dofs_a)} and {', '.join(dofs_b)}")
    if part == "orientation" and pairing != "tau":
        raise ThunderError(f"orientations are paired by 'tau' only, got {pairing!r}")
    # finer than n where lengths are measured: chords are shorter than arcs
    fine = n if pairing == "tau" else max(8 * n, 2048)
    x, y = path_points(a, columns_a, fine), path_points(b, columns_b, fine)
    if pairing == "arc_length":
        x, y = _by_length(x, n), _by_length(y, n)
    nearest = pairing == "nearest"
    squared = _to_polyline(path_points(a, columns_a, n), y) if nearest else _apart(x, y, part) ** 2
    return float(np.sqrt(squared.mean()))


def _by_length(x: Array, n: int) -> Array:
    """Return n points at equal steps of the length of a polyline."""
    s = np.append(0.0, np.cumsum(np.linalg.norm(np.diff(x, axis=0), axis=1)))
    if not s[-1] > 0.0:
        raise ThunderError("a and b must have paths of positive length for pairing='arc_length', got one at rest")
    return np.stack([np.interp(np.linspace(0.0, s[-1], n), s, column) for column in x.T], axis=1)


def _to_polyline(points: Array, line: Array) -> Array:
    """Return the squared distance (n,) of each point to a polyline."""
    from scipy.spatial import cKDTree

    # segments at the four nearest vertices; another one can be nearer by less than its own length
    vertices = cKDTree(line).query(points, k=min(4, len(line)))[1]
    segments = np.clip(np.concatenate([vertices - 1, vertices], axis=1), 0, len(line) - 2)
    start, step = line[segments], line[segments + 1] - line[segments]
    offset = points[:, None] - start
    length = np.maximum(np.sum(step**2, axis=2), np.finfo(float).tiny)
    along = np.clip(np.sum(offset * step, axis=2) / length, 0.0, 1.0)
    return np.asarray(np.sum((offset - along[..., None] * step) ** 2, axis=2).min(axis=1), dtype=np.float64)


@dataclass(frozen=True)
class PowerLaw:
    """Regression of log speed on log curvature, v = gain * curvature^exponent.

    Attributes
    ----------
    exponent : float
        Exponent of the curvature; -1/3 if the two-thirds law holds.
    gain : float
        Speed at a curvature of 1/m.
    r_squared : float
        Coefficient of determination; meaningless if curvature hardly varies, as on a circle.
    n : int
        Samples used.

    Examples
    --------
    >>> from thunder_py.recordings.metrics import PowerLaw
    >>> law = PowerLaw(exponent=-0.333, gain=0.2, r_squared=0.98, n=200)
    >>> round(law.angular_exponent, 3)
    0.667
    >>> print(law)
    speed ~ curvature^-0.3330, R^2 = 0.980, n = 200
    """

    exponent: float
    gain: float
    r_squared: float
    n: int

    @property
    def angular_exponent(self) -> float:
        """Exponent of the angular speed v times curvature, 2/3 if the two-thirds law holds."""
        return 1.0 + self.exponent

    def __str__(self) -> str:
        return f"speed ~ curvature^{self.exponent:.4f}, R^2 = {self.r_squared:.3f}, n = {self.n}"


def power_law(
    motion: MotionLike,
    *,
    cutoff: float | None = None,
    filter_order: int = 2,
    rate: float = RATE,
    slowest: float = 0.05,
    flattest: float = 1e-3,
) -> PowerLaw:
    """Fit speed = gain * curvature^exponent to the translation of a motion by least squares of logarithms.

    Parameters
    ----------
    motion, cutoff, filter_order
        As for `jerk_summary`; two or three dimensions.
    rate : float
        Sampling rate of motion objects, Hz. All samples have equal weight, so slow parts of the path count more.
        Samples of filtered recordings within 1 / cutoff of either end are excluded: the filter distorts them, and the
        exponent with them.
    slowest : float
        Samples below this fraction of the largest speed are excluded: their curvature is noise.
    flattest : float
        Samples whose curvature times path length is below this are excluded: it is zero on a straight line.

    Returns
    -------
    PowerLaw
        Exponent, gain and quality of the fit.

    Raises
    ------
    ThunderError
        As `jerk_summary`; for fewer than ten moving samples on a curve; for constant curvature.

    References
    ----------
    Lacquaniti, Terzuolo and Viviani (1983), Acta Psychologica 54.

    Examples
    --------
    >>> import math
    >>> from thunder_py.recordings.metrics import power_law
    >>> from thunder_py.recordings.synthetic import power_law_curves
    >>> law = power_law(power_law_curves(1, seed=0)[0], cutoff=math.inf)
    >>> round(law.exponent, 2), round(law.r_squared, 2)
    (-0.33, 1.0)
    """
    within(slowest, "slowest", 0.0, 1.0, ends="[)")
    nonnegative(flattest, "flattest")
    s = sample(motion, 2, part="translation", cutoff=cutoff, filter_order=filter_order, rate=rate)
    v, a, speed = s.values[1], s.values[2], s.norm(1)
    if v.shape[1] < 2:
        raise ThunderError(f"motion must have two or three dimensions to have a curvature, got {v.shape[1]}")
    # |v x a| in any dimension
    cross = np.sqrt(np.maximum(speed**2 * np.sum(a * a, axis=1) - np.sum(v * a, axis=1) ** 2, 0.0))
    moving = _clear_of_ends(s) & (speed > max(slowest * float(speed.max()), np.finfo(float).tiny))
    curvature = np.zeros_like(speed)
    curvature[moving] = cross[moving] / speed[moving] ** 3
    used = moving & (curvature * float(s.weights @ speed) > flattest)
    if np.count_nonzero(used) < 10:
        raise ThunderError(f"motion must have ten moving samples on a curve or more, got {np.count_nonzero(used)}")
    x, y = np.log(curvature[used]), np.log(speed[used])
    dx, dy = x - x.mean(), y - y.mean()
    sxx, syy = float(dx @ dx), float(dy @ dy)
    if not sxx > 1e-12 * len(x):
        raise ThunderError("motion must have a varying curvature, got a circle, which every exponent fits")
    exponent = float(dx @ dy) / sxx
    r_squared = 1.0 if syy == 0.0 else exponent**2 * sxx / syy
    return PowerLaw(exponent, float(np.exp(y.mean() - exponent * x.mean())), r_squared, len(x))


def _clear_of_ends(s: Samples) -> npt.NDArray[np.bool_]:
    margin = 0.0 if s.cutoff is None else 1.0 / s.cutoff
    return np.asarray((s.t >= margin) & (s.t <= s.duration - margin))


def table(
    motions: Iterable[MotionLike], *, part: str | None = None, cutoff: float | None = None, filter_order: int = 2
) -> Table:
    """Return the metrics of every motion of a set: a row for each, for text, CSV files and pandas.

    Parameters
    ----------
    motions : iterable of Trial, motion object or (t, x)
        A `MotionSet`, or several motions.
    part, cutoff, filter_order
        As for `jerk_summary`.

    Returns
    -------
    Table
        Trial, subject, task, name, duration [s], mean jerk, LDLJ, SPARC, number of speed peaks, path length and
        straightness. A value that a motion does not have, as LDLJ at rest, is NaN.

    Raises
    ------
    ThunderError
        As `jerk_summary`, and for motions in several units.

    Examples
    --------
    >>> from thunder_py.recordings import metrics
    >>> from thunder_py.recordings.synthetic import minimum_jerk_reaches
    >>> found = metrics.table(minimum_jerk_reaches(2, seed=0), cutoff=10.0)
    >>> found.header[4:]
    ('duration [s]', 'mean jerk [m/s^3]', 'LDLJ', 'SPARC', 'speed peaks', 'path length [m]', 'straightness')
    >>> found.to_columns()["speed peaks"]
    [1, 1]
    """
    filtered: dict[str, Any] = {"part": part, "filter_order": filter_order}
    rows, units = [], set()
    for number, motion in enumerate(motions):
        jerk = jerk_summary(motion, cutoff=cutoff, **filtered)
        units.add(jerk.unit)
        row = [number, *(getattr(motion, label, "") for label in ("subject", "task", "name")), jerk.duration, jerk.mean]
        for metric in (ldlj, sparc, speed_peaks, path_length, straightness):
            least: Any = math.inf if cutoff is None and metric in (path_length, straightness) else cutoff
            try:
                row.append(metric(motion, cutoff=least, **filtered))
            except ThunderError:  # it is measured, but has no such value
                row.append(math.nan)
        rows.append(row)
    if len(units) > 1:
        raise ThunderError(f"motions must share one unit, got {', '.join(sorted(units))}; choose a part")
    unit = next(iter(units), "m")
    names = ["trial", "subject", "task", "name", "duration [s]", f"mean jerk [{unit}/s^3]", "LDLJ", "SPARC"]
    return Table([*names, "speed peaks", f"path length [{unit}]", "straightness"], rows)
