"""One recorded movement: times, values in SI units, gaps."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from ..checks import Array, is_number, nonnegative, numbers, one_of, positive
from ..checks import pose as check_pose
from ..errors import Suggesting, ThunderError, UnknownNameError, nearest_hint
from ..table import Tabular
from ..values import set_fields
from . import orientation

if TYPE_CHECKING:
    from scipy.spatial.transform import Rotation

#: factors to meters
LENGTHS = {"m": 1.0, "cm": 1e-2, "mm": 1e-3}
#: factors to radians
ANGLES = {"rad": 1.0, "deg": math.pi / 180.0}
#: factors to seconds
TIMES = {"s": 1.0, "ms": 1e-3, "us": 1e-6}
#: units of a `Trial`: meters, radians, "1" for numbers without a unit (the opening of a hand, normalized signals), and
#: forces, moments and powers, also divided by the mass of a body
SI_UNITS = ("m", "rad", "1", "N", "Nm", "W", "N/kg", "Nm/kg", "W/kg")


def to_si(unit: str, kind: str = "length", what: str = "unit") -> float:
    """Return the factor from `unit` to meters (`kind` ``"length"``), radians (``"angle"``) or seconds (``"time"``)."""
    known = {"length": LENGTHS, "angle": ANGLES, "time": TIMES}[kind]
    return known[one_of(unit, known, what)]


POSITION = ("x", "y", "z")
#: rotation vector of the orientation in the trial's frame
ROTATION = ("rx", "ry", "rz")
#: labels of a trial
LABELS = ("frame", "subject", "task", "name")
#: largest relative deviation of uniform time steps from their mean
_UNIFORM = 1e-6
#: factor to 1 / rate from which every time step means another unit
_OTHER_UNIT = 50.0
#: bound of times; their differences and squares of differences are finite
_LARGEST = 1e100


@dataclass(frozen=True, eq=False, repr=False)
class Trial(Tabular, Suggesting):
    """A recorded movement: d values at T times.

    Orientations are rotation vectors on a continuous branch; `from_poses` converts from quaternions, Euler angles and
    matrices, `quaternions` and `euler` convert back. `t` and `x` are read-only copies; methods return new trials.

    Parameters
    ----------
    t : array_like, shape (T,)
        Times [s], strictly increasing, T >= 2.
    x : array_like, shape (T, d)
        Values; NaN where not measured.
    dofs : sequence of str
        Names of the columns: ``x, y, z`` for a position, ``rx, ry, rz`` for a rotation vector, others for joints.
    units : sequence of str, optional
        One of `SI_UNITS`, such as ``"m"``, ``"rad"`` or ``"1"``, for each column; by default meters for ``x, y, z`` and
        radians for all others.
    rate : float, optional
        Nominal sampling rate [Hz]. Times may deviate, as clocks of recordings do. If every step is more than 50 times
        longer or shorter than 1 / rate, the unit of time is refused.
    frame, subject, task, name : str
        Frame of the values, person, kind of movement, and name of the recording.

    Raises
    ------
    ThunderError
        For times that do not increase, inconsistent shapes, infinities or unknown units.

    Examples
    --------
    >>> import numpy as np
    >>> from thunder_py.recordings import Trial
    >>> t = np.linspace(0.0, 1.0, 5)
    >>> points = np.outer(t, [300.0, 0.0, 100.0])
    >>> points[2, 1] = np.nan
    >>> trial = Trial.from_positions(t, points, unit="mm", rate=4.0, subject="S1", task="reach")
    >>> trial
    <Trial x y z: 5 samples at 4 Hz, 1 s, 1 gaps, subject='S1', task='reach'>
    >>> trial.gaps, trial.position[-1].tolist()
    ([(0.25, 0.75)], [0.3, 0.0, 0.1])
    >>> trial.slice(0.0, 0.3).select(["x", "z"]).x.tolist()
    [[0.0, 0.0], [0.075, 0.025]]
    >>> trial.with_values(2.0 * trial.x).position[-1].tolist(), trial.with_labels(task="point").task
    ([0.6, 0.0, 0.2], 'point')
    """

    t: Array
    x: Array
    dofs: tuple[str, ...]
    units: tuple[str, ...] = ()
    rate: float | None = None
    frame: str = ""
    subject: str = ""
    task: str = ""
    name: str = ""

    def __post_init__(self) -> None:
        t, x = _times(self.t), _values(self.x)
        dofs = _names(self.dofs, "dofs")
        for name in dofs:
            small = name.strip().lower()
            if small in POSITION + ROTATION and name != small:
                raise ThunderError(
                    f"dofs must be {', '.join(POSITION)} for positions and {', '.join(ROTATION)} for rotation vectors, "
                    f"in small letters, got {name!r}; rename it ({{{small!r}: {name!r}}} as columns of a table)"
                )
        if len(x) != len(t) or x.shape[1] != len(dofs):
            raise ThunderError(f"x must have shape (T, d) = ({len(t)}, {len(dofs)}) of t and dofs, got {x.shape}")
        units = tuple(self.units) if isinstance(self.units, Iterable) else (self.units,)
        units = units or tuple("m" if name in POSITION else "rad" for name in dofs)
        if isinstance(self.units, str) or len(units) != len(dofs) or any(unit not in SI_UNITS for unit in units):
            raise ThunderError(
                f"units must be one of {', '.join(SI_UNITS)} for each of {len(dofs)} dofs (from_positions and "
                f"from_poses convert), got {self.units!r}"
            )
        for label in LABELS:
            if not isinstance(getattr(self, label), str):
                raise ThunderError(f"{label} must be text, got {getattr(self, label)!r}")
        rate = None if self.rate is None else positive(self.rate, "rate, if there is one,", "Hz")
        steps = np.diff(t)
        if rate is not None and not (steps.min() * rate <= _OTHER_UNIT and steps.max() * rate >= 1.0 / _OTHER_UNIT):
            raise ThunderError(
                f"t must be in seconds and agree with rate, got steps of {np.median(steps):g}, but {rate:g} Hz means "
                f"{1.0 / rate:g} s; check the unit of time"
            )
        set_fields(self, t=t, x=x, dofs=dofs, units=units, rate=rate)

    # --- constructors -------------------------------------------------------------------------------------------

    @classmethod
    def from_positions(cls, t: npt.ArrayLike, p: npt.ArrayLike, unit: str = "m", **labels: Any) -> Trial:
        """Build a trial with dofs ``x, y, z`` from points p (T, 3) in `unit` (m, cm, mm); `labels` as for `Trial`."""
        return cls(t, _points(p) * to_si(unit), POSITION, ("m",) * 3, **labels)  # type: ignore[arg-type]

    @classmethod
    def from_poses(
        cls,
        t: npt.ArrayLike,
        p: npt.ArrayLike,
        *,
        quaternion: npt.ArrayLike | None = None,
        scalar_first: bool | None = None,
        euler: npt.ArrayLike | None = None,
        sequence: str | None = None,
        matrix: npt.ArrayLike | None = None,
        unit: str = "m",
        angle_unit: str = "rad",
        **labels: Any,
    ) -> Trial:
        """Build a trial with dofs ``x, y, z, rx, ry, rz`` from positions and one representation of orientation.

        Parameters
        ----------
        t, p, unit
            As for `from_positions`.
        quaternion : array_like, shape (T, 4)
            Unit quaternions, with `scalar_first` (required): True for [w, x, y, z], False for [x, y, z, w].
        euler : array_like, shape (T, 3)
            Angles in `angle_unit` (rad, deg), with `sequence` (required): ``"ZYX"`` turns about moving axes, ``"zyx"``
            about fixed ones.
        matrix : array_like, shape (T, 3, 3)
            Rotation matrices.
        **labels
            rate, frame, subject, task, name.

        Examples
        --------
        >>> import numpy as np
        >>> from thunder_py.recordings import Trial
        >>> angle = np.linspace(0.0, 4.0, 9)  # beyond half a turn: the rotation vector continues
        >>> quaternion = np.column_stack([np.cos(angle / 2), 0 * angle, 0 * angle, np.sin(angle / 2)])
        >>> trial = Trial.from_poses(angle, np.zeros((9, 3)), quaternion=quaternion, scalar_first=True)
        >>> round(float(trial.rotation_vectors[-1, 2]), 3), round(float(trial.euler("ZYX", unit="deg")[1, 0]), 3)
        (4.0, 28.648)
        >>> np.round(trial.quaternions(scalar_first=True)[-1, [0, 3]], 3).tolist()
        [-0.416, 0.909]
        >>> trial.near_half_turn(eps=0.5).tolist()
        [False, False, False, False, False, False, True, True, True]
        """
        forms = {"quaternion": quaternion, "euler": euler, "matrix": matrix}
        names = [name for name, value in forms.items() if value is not None]
        if len(names) != 1:
            raise ThunderError(f"one of {', '.join(forms)} must be given, got {' and '.join(names) or 'none'}")
        points = _points(p) * to_si(unit)
        factor = to_si(angle_unit, "angle", "angle_unit")
        if quaternion is not None:
            vectors = orientation.from_quaternions(quaternion, scalar_first=scalar_first)
        elif euler is not None:
            vectors = orientation.from_euler(numbers(euler, "euler") * factor, sequence)
        else:
            vectors = orientation.from_matrices(matrix)  # type: ignore[arg-type]
        if len(vectors) != len(points):
            raise ThunderError(f"{names[0]} must have as many rows as p, {len(points)}, got {len(vectors)}")
        x = np.hstack([points, vectors])
        return cls(t, x, POSITION + ROTATION, ("m",) * 3 + ("rad",) * 3, **labels)  # type: ignore[arg-type]

    # --- contents -----------------------------------------------------------------------------------------------

    def __len__(self) -> int:
        """Return the number of samples T."""
        return len(self.t)

    def __repr__(self) -> str:
        labels = "".join(f", {key}={getattr(self, key)!r}" for key in LABELS if getattr(self, key))
        rate = "" if self.rate is None else f" at {self.rate:g} Hz"
        missing = f", {len(self.gaps)} gaps" if self.gaps else ""
        return f"<Trial {' '.join(self.dofs)}: {len(self)} samples{rate}, {self.duration:.4g} s{missing}{labels}>"

    def to_columns(self) -> dict[str, Any]:
        """Return the times ``t`` and the values of each dof, (T,) each."""
        return dict(zip(("t", *self.dofs), (self.t, *self.x.T), strict=True))

    @property
    def duration(self) -> float:
        """Time from the first to the last sample [s]."""
        return float(self.t[-1] - self.t[0])

    @property
    def position(self) -> Array:
        """Columns x, y, z (T, 3) [m]."""
        return self._columns(POSITION)

    @property
    def rotation_vectors(self) -> Array:
        """Columns rx, ry, rz (T, 3) [rad]."""
        return self._columns(ROTATION)

    @property
    def rotations(self) -> Rotation:
        """Orientations as SciPy rotations; NaN in gaps."""
        from scipy.spatial.transform import Rotation

        return Rotation.from_rotvec(self.rotation_vectors)

    @property
    def valid(self) -> npt.NDArray[np.bool_]:
        """Mask (T,) of the samples with every value measured."""
        return np.logical_not(np.isnan(self.x).any(axis=1))

    @property
    def gaps(self) -> list[tuple[float, float]]:
        """Intervals (start, end) [s] without values, from the last complete sample before to the first one after.

        A gap at either end of the trial begins or ends with the trial.
        """
        t = self.t[[0, *range(len(self)), -1]].tolist()  # the times before and after every sample
        return [(t[first], t[last + 2]) for first, last in stretches(~self.valid)]

    @property
    def uniform(self) -> bool:
        """True if all time steps are equal (relative 1e-6)."""
        steps = np.diff(self.t)
        mean = self.duration / len(steps)
        # t itself has rounding errors of eps |t|
        slack = _UNIFORM * mean + 4.0 * np.finfo(float).eps * float(np.abs(self.t).max())
        return bool(np.abs(steps - mean).max() <= slack)

    def quaternions(self, *, scalar_first: bool) -> Array:
        """Return unit quaternions (T, 4) without sign changes between neighbors; NaN in gaps."""
        phi = self.rotation_vectors
        half = 0.5 * np.linalg.norm(phi, axis=1, keepdims=True)
        # the exponential map keeps a continuous phi continuous; a conversion with a fixed sign of w does not
        xyz, w = 0.5 * np.sinc(half / np.pi) * phi, np.cos(half)
        return np.hstack([w, xyz] if scalar_first else [xyz, w])

    def euler(self, sequence: str, *, unit: str = "rad") -> Array:
        """Return Euler angles (T, 3) in `unit`, NaN in gaps; SciPy warns where the sequence is singular."""
        factor = to_si(unit, "angle")
        name: Any = orientation.check_sequence(sequence)
        return np.asarray(self.rotations.as_euler(name), dtype=np.float64) / factor

    def near_half_turn(self, eps: float = 0.1) -> npt.NDArray[np.bool_]:
        """Return the mask (T,) of samples with ``|phi| > pi - eps``, at or near the branch cut of ``log R``.

        Vectors of one trial are continuous across the cut. But two trials of one movement may lie on different
        branches: means and components over trials need a frame in which this mask is False everywhere.
        """
        margin = nonnegative(eps, "eps", unit="rad")
        return np.asarray(np.linalg.norm(self.rotation_vectors, axis=1) > np.pi - margin, dtype=np.bool_)

    # --- derived trials -----------------------------------------------------------------------------------------

    def slice(self, t0: float, t1: float) -> Trial:
        """Return the samples with t0 <= t <= t1 [s]; times are unchanged."""
        if not is_number(t0) or not is_number(t1):
            raise ThunderError(f"t0 and t1 must be times [s], got {t0!r} and {t1!r}")
        inside = (self.t >= t0) & (self.t <= t1)
        if np.count_nonzero(inside) < 2:
            raise ThunderError(
                f"t0 and t1 must hold two samples or more of [{self.t[0]:g}, {self.t[-1]:g}] s, got {t0:g} and {t1:g}"
            )
        return replace(self, t=self.t[inside], x=self.x[inside])

    def with_values(self, x: npt.ArrayLike, t: npt.ArrayLike | None = None, *, rate: float | None = None) -> Trial:
        """Return the trial with other values (T', d) and, if given, other times.

        With other times, the rate is recomputed: None if they are not uniform. `rate` overrides it.
        """
        if t is None:
            return replace(self, x=_values(x), rate=self.rate if rate is None else rate)
        new = replace(self, t=_times(t), x=_values(x), rate=rate)
        if rate is None and new.uniform:
            return replace(new, rate=(len(new) - 1) / new.duration)
        return new

    def select(self, dofs: Iterable[str]) -> Trial:
        """Return the trial with these columns, in this order."""
        names = _names(dofs, "dofs")
        columns = self._indices(names)
        return replace(self, x=self.x[:, columns], dofs=names, units=tuple(self.units[k] for k in columns))

    def moved(self, pose: npt.ArrayLike, frame: str | None = None) -> Trial:
        """Return the movement expressed in another frame.

        Parameters
        ----------
        pose : array_like, shape (4, 4)
            Pose of the present frame in the new one.
        frame : str, optional
            Name of the new frame.

        Notes
        -----
        Positions and rotation vectors are transformed, other dofs are unchanged. Rotation vectors in the new frame may
        lie on another branch.

        Examples
        --------
        >>> import numpy as np
        >>> from thunder_py.recordings import Trial
        >>> trial = Trial.from_positions([0.0, 1.0], [[0, 1, 0], [0, 2, 0]], frame="y up")
        >>> z_up = np.array([[1, 0, 0, 0], [0, 0, -1, 0], [0, 1, 0, 0], [0, 0, 0, 1]])
        >>> trial.moved(z_up, "z up").position.tolist()
        [[0.0, 0.0, 1.0], [0.0, 0.0, 2.0]]
        """
        T = check_pose(pose, "pose")
        x = np.array(self.x)
        if not {*POSITION, *ROTATION} & {*self.dofs}:
            raise ThunderError(f"moved needs dofs {', '.join(POSITION)}, got {', '.join(self.dofs)}")
        if set(POSITION) & set(self.dofs):
            x[:, self._indices(POSITION)] = self.position @ T[:3, :3].T + T[:3, 3]
        if set(ROTATION) & set(self.dofs):
            turned = T[:3, :3] @ self.rotations.as_matrix()
            x[:, self._indices(ROTATION)] = orientation.from_matrices(turned)
        return replace(self, x=x, frame=self.frame if frame is None else frame)

    def with_labels(self, **labels: Any) -> Trial:
        """Return the trial with another frame, subject, task, name or rate."""
        if unknown := set(labels) - {*LABELS, "rate"}:
            raise ThunderError(f"labels must be {', '.join(LABELS)} or rate, got {', '.join(sorted(unknown))}")
        return replace(self, **labels)

    def _indices(self, names: Iterable[str]) -> list[int]:
        for name in names:
            if name not in self.dofs:
                raise UnknownNameError(
                    f"no dof {name!r} in this trial, which has {', '.join(self.dofs)}{nearest_hint(name, self.dofs)}"
                )
        return [self.dofs.index(name) for name in names]

    def _columns(self, names: tuple[str, ...]) -> Array:
        return self.x[:, self._indices(names)]  # a copy


def trial_label(trial: Trial) -> str:
    """Return the name of a trial for messages."""
    return f"trial {trial.name!r}" if trial.name else "the trial"


def require_no_gaps(trial: Trial, task: str) -> Array:
    """Return the values of a trial; refuse gaps, with the operation `task` in the message."""
    if not trial.valid.all():
        start, end = trial.gaps[0]
        raise ThunderError(
            f"{trial_label(trial)} must have no gaps for {task}, got {len(trial.gaps)}, the first from {start:.4g} to "
            f"{end:.4g} s; close short gaps with fill_gaps or split the trial with split_at_gaps"
        )
    return trial.x


def stretches(mask: npt.NDArray[np.bool_]) -> list[tuple[int, int]]:
    """Return the first and last index of every run of True."""
    edges = np.flatnonzero(np.diff(np.concatenate([[False], mask, [False]]))).tolist()
    return [(first, after - 1) for first, after in zip(edges[::2], edges[1::2], strict=True)]


def _times(value: Any) -> Array:
    t = numbers(value, "t", 1)
    if len(t) < 2:
        raise ThunderError(f"t must hold two times or more, got {len(t)}")
    finite = np.abs(t) < _LARGEST
    if not finite.all():
        raise ThunderError(
            f"t must be finite (below {_LARGEST:g}), got {t[~finite][0]} at index {int(np.argmin(finite))}"
        )
    back = np.diff(t) <= 0.0
    if back.any():
        k = int(np.argmax(back))
        raise ThunderError(f"t must increase, got {t[k]:.9g} then {t[k + 1]:.9g} s at index {k + 1}")
    t.setflags(write=False)
    return t


def _values(value: Any) -> Array:
    x = numbers(value, "x", 2)
    if np.isinf(x).any():
        row, column = np.argwhere(np.isinf(x))[0]
        raise ThunderError(f"x must be finite, or NaN in a gap, got infinity in row {row}, column {column}")
    x.setflags(write=False)
    return x


def _points(value: Any) -> Array:
    p = numbers(value, "p", 2)
    if p.shape[1] != 3:
        raise ThunderError(f"p must have shape (T, 3), got {p.shape}")
    return p


def _names(value: Any, what: str) -> tuple[str, ...]:
    names = tuple(value) if isinstance(value, Iterable) and not isinstance(value, str) else ()
    if not names or not all(isinstance(name, str) and name for name in names) or len(set(names)) != len(names):
        raise ThunderError(f"{what} must be one or more distinct names, got {value!r}")
    return tuple(map(str, names))
