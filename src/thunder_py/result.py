"""What a simulation leaves behind: arrays over time, figures of merit, files."""

from __future__ import annotations

import os
import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from ._core import Status
from .checks import Array
from .errors import FileFormatError, ThunderError
from .values import Value, frozen, set_fields

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["ALWAYS_LOGGED", "MOTORS_LOGGED", "Result"]

ALWAYS_LOGGED = ("t", "q", "dq", "tau", "status")
#: of the motors of elastic joints, where there are any
MOTORS_LOGGED = ("x", "dx")
#: names of arrays in a file: plain ones as they are, signals and their labels behind a prefix
_SIGNAL, _LABELS = "signal:", "labels:"


@dataclass(frozen=True, kw_only=True, eq=False)
class Result(Value):
    """A closed-loop run: k logged instants of a robot with n joints, e of them elastic.

    Attributes
    ----------
    t : (k,) array
        Time [s]; evenly spaced but for the last instant, which is always logged.
    q, dq : (k, n) array
        Joint positions and velocities.
    tau : (k, n) array
        Torque as applied, after any limit, held until the next control period.
    status : (k,) int array
        `thunder_py.control.Status` of each step.
    signals : mapping of str to (k, w) array
        What the controller logged; `error`, `s` and `parameters` are attributes too.
    names : mapping of str to tuple of str
        Of the ``joints``, of the joints whose ``motors`` are in `x`, and of the entries of each signal.
    x, dx : (k, e) array
        Positions and velocities of the motors of elastic joints; without such joints they have no columns.
    """

    t: Array
    q: Array
    dq: Array
    tau: Array
    status: npt.NDArray[np.int64]
    signals: Mapping[str, Array] = field(default_factory=dict)
    names: Mapping[str, Sequence[str]] = field(default_factory=dict)
    x: Array = field(default_factory=lambda: np.zeros((0, 0)))
    dx: Array = field(default_factory=lambda: np.zeros((0, 0)))

    def __post_init__(self) -> None:
        """Check that the arrays belong together and make everything read-only."""
        for name in MOTORS_LOGGED:
            if np.size(getattr(self, name)) == 0:
                set_fields(self, **{name: np.zeros((np.size(self.t), 0))})
        self._check()
        set_fields(self, signals=frozen(dict(self.signals)), names=frozen(dict(self.names)))
        for values in (self.t, self.q, self.dq, self.tau, self.status, self.x, self.dx, *self.signals.values()):
            values.setflags(write=False)

    def _check(self) -> None:
        rows, n = np.size(self.t), np.shape(self.q)[-1:]
        for name in (*ALWAYS_LOGGED, *MOTORS_LOGGED, *self.signals):
            values = np.asarray(self.signals[name] if name in self.signals else getattr(self, name))
            if values.dtype.kind not in "iuf" or values.shape[:1] != (rows,) or rows == 0:
                raise ThunderError(f"{name} must be numbers, one row for each of {rows} instants, got {values.shape}")
            if name in ("q", "dq", "tau") and values.shape != (rows, *n):
                raise ThunderError(f"{name} must have shape {(rows, *n)}, got {values.shape}")
        x, dx = np.shape(self.x), np.shape(self.dx)
        if len(x) != 2 or x != dx or x[1] > n[0]:
            raise ThunderError(f"x and dx must have one shape, ({rows}, e) with e <= {n[0]}, got {x} and {dx}")
        unknown = set(np.unique(self.status).tolist()) - {int(status) for status in Status.__members__.values()}
        if unknown:
            raise ThunderError(f"status must be values of Status, got {sorted(unknown)}")

    def _columns(self) -> tuple[str, ...]:
        """Names of what is always there, the motors' only if there are any."""
        return (*ALWAYS_LOGGED, *MOTORS_LOGGED) if self.x.shape[1] else ALWAYS_LOGGED

    def _signal(self, name: str) -> Array:
        try:
            return self.signals[name]
        except KeyError:
            logged = ", ".join(self.signals) or "none"
            raise AttributeError(f"signal {name!r} was not logged (logged: {logged}); see simulate(log=...)") from None

    @property
    def error(self) -> Array:
        """Tracking error as the controller defines it, (k, m): q_d - q, or the task error e."""
        return self._signal("error")

    @property
    def s(self) -> Array:
        """Velocity error dq_r - dq, (k, n)."""
        return self._signal("s")

    @property
    def parameters(self) -> Array:
        """Estimate of all parameters, (k, p), named by ``names["parameters"]``."""
        return self._signal("parameters")

    def error_norm(self, components: slice | Sequence[int] | None = None) -> Array:
        """Return the Euclidean norm of the error over time, (k,).

        Parameters
        ----------
        components : slice or sequence of int, optional
            Entries of the error, such as ``slice(0, 3)`` for a position in metres; default all.
        """
        e = self.error if components is None else self.error[:, components]
        norm: Array = np.linalg.norm(e, axis=1)
        return norm

    def rmse(self, components: slice | Sequence[int] | None = None) -> float:
        """Return the root of the mean over the logged instants of the squared error norm.

        Parameters
        ----------
        components : slice or sequence of int, optional
            See `error_norm`.
        """
        return float(np.sqrt(np.mean(self.error_norm(components) ** 2)))

    def steady_state_error(self, window: float = 0.2, components: slice | Sequence[int] | None = None) -> float:
        """Return the mean error norm over the last part of the run.

        Parameters
        ----------
        window : float
            Part of the run's duration, more than 0 to 1.
        components : slice or sequence of int, optional
            See `error_norm`.
        """
        if not 0.0 < window <= 1.0:
            raise ValueError(f"window must be more than 0 and at most 1, got {window:g}")
        start = self.t[-1] - window * (self.t[-1] - self.t[0])
        return float(np.mean(self.error_norm(components)[self.t >= start]))

    def rise_time(
        self, fraction: float = 0.1, window: float = 0.2, components: slice | Sequence[int] | None = None
    ) -> float:
        """Return when the error norm has come down to its steady state for good [s].

        With the steady state S of `steady_state_error` and the peak P of the error norm, it is the time from the start
        of the run to the last logged instant at which the norm is above ``S + fraction (P - S)``.

        Parameters
        ----------
        fraction : float
            Part of the way down that may remain, 0 to 1.
        window : float
            See `steady_state_error`.
        components : slice or sequence of int, optional
            See `error_norm`.
        """
        if not 0.0 <= fraction < 1.0:
            raise ValueError(f"fraction must be at least 0 and less than 1, got {fraction:g}")
        norm = self.error_norm(components)
        steady = self.steady_state_error(window, components)
        above = np.flatnonzero(norm > steady + fraction * (norm.max() - steady))
        return float(self.t[above[-1]] - self.t[0]) if above.size else 0.0

    def plot(self, *, axes: Sequence[Axes] | None = None) -> npt.NDArray[np.object_]:
        """Draw error norm, torques and, if any moved, estimates; see `thunder_py.plotting.plot_result`."""
        from .plotting import plot_result

        return plot_result(self, axes=axes)

    def to_dict(self) -> dict[str, Any]:
        """Return everything as a flat dict of arrays, signals under their names, and ``names``."""
        fields = {name: getattr(self, name) for name in self._columns()}
        return {**fields, **self.signals, "names": {key: tuple(value) for key, value in self.names.items()}}

    def save(self, path: str | Path) -> None:
        """Write to an ``.npz`` file: complete or not at all, and without pickles.

        Parameters
        ----------
        path : str or path
            Ends in ``.npz``.
        """
        target = Path(path)
        if target.suffix != ".npz":
            raise ValueError(f"path must end in .npz, got {str(path)!r}")
        arrays: dict[str, Any] = {name: getattr(self, name) for name in self._columns()}
        arrays |= {_SIGNAL + name: values for name, values in self.signals.items()}
        arrays |= {_LABELS + name: np.array(list(labels), dtype=np.str_) for name, labels in self.names.items()}
        temporary = target.with_name(f".{target.stem}.{uuid.uuid4().hex}.tmp")
        try:
            with open(temporary, "xb") as file:
                np.savez_compressed(file, allow_pickle=False, **arrays)
            os.replace(temporary, target)
        finally:
            temporary.unlink(missing_ok=True)

    @classmethod
    def load(cls, path: str | Path) -> Result:
        """Read a file that `save` wrote.

        Raises
        ------
        FileFormatError
            For any other file.
        """
        try:
            with np.load(path, allow_pickle=False) as file:
                arrays = {name: file[name] for name in file.files}
        except FileNotFoundError:
            raise
        except Exception as error:
            raise FileFormatError(f"not a file of Result.save: {error}", path=path) from error
        missing = [name for name in ALWAYS_LOGGED if name not in arrays]
        if missing:
            raise FileFormatError(f"not a file of Result.save: {', '.join(missing)} missing", path=path)
        signals = {k.removeprefix(_SIGNAL): v for k, v in arrays.items() if k.startswith(_SIGNAL)}
        names = {k.removeprefix(_LABELS): tuple(map(str, v)) for k, v in arrays.items() if k.startswith(_LABELS)}
        try:
            columns = {name: arrays[name] for name in (*ALWAYS_LOGGED, *MOTORS_LOGGED) if name in arrays}
            return cls(**columns, signals=signals, names=names)
        except (ThunderError, TypeError) as error:
            raise FileFormatError(f"not a file of Result.save: {error}", path=path) from error

    def __repr__(self) -> str:
        """Length, size and how it ended."""
        last = Status(int(self.status[-1])).name
        return f"<Result: {self.t[-1]:g} s, {len(self.t)} instants, {self.q.shape[1]} joints, last status {last}>"
