"""Sets of recorded movements."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any, overload

import numpy as np
import numpy.typing as npt

from ..checks import Array, whole
from ..errors import FileFormatError, ThunderError
from ..files import read_archive, write_archive
from ..table import Table, Tabular
from .trial import LABELS, Trial, require_no_gaps

if TYPE_CHECKING:
    from matplotlib.axes import Axes


class MotionSet(Sequence[Trial], Tabular):
    """An immutable sequence of trials.

    Parameters
    ----------
    trials : iterable of Trial
        Lengths, rates and dofs may differ; operations that need equal dofs (`to_array`, components) raise otherwise.

    Raises
    ------
    ThunderError
        If `trials` is not iterable or an element is not a `Trial`.

    Examples
    --------
    >>> from thunder_py.recordings.synthetic import minimum_jerk_reaches
    >>> motions = minimum_jerk_reaches(6, seed=0, n_subjects=2)
    >>> motions
    <MotionSet of 6 trials, 2 subjects, 1 tasks>
    >>> motions.filter(subject="S01"), motions[:2].dofs
    (<MotionSet of 3 trials, 1 subjects, 1 tasks>, ('x', 'y', 'z'))
    >>> motions.to_array(50).shape
    (6, 50, 3)
    >>> motions.map(lambda trial: trial.select(["x"])).dofs
    ('x',)
    >>> [(subject, len(others)) for subject, others, _ in motions.leave_one_subject_out()]
    [('S01', 3), ('S02', 3)]
    """

    __slots__ = ("_trials",)

    def __init__(self, trials: Iterable[Trial] = ()) -> None:
        if isinstance(trials, Trial) or not isinstance(trials, Iterable):
            raise ThunderError(f"trials must be a sequence of Trials, got {type(trials).__name__}")
        members = tuple(trials)
        for k, trial in enumerate(members):
            if not isinstance(trial, Trial):
                raise ThunderError(f"trials must be Trials, got {type(trial).__name__} at index {k}")
        self._trials = members

    def __len__(self) -> int:
        """Return the number of trials."""
        return len(self._trials)

    @overload
    def __getitem__(self, index: int) -> Trial: ...
    @overload
    def __getitem__(self, index: slice | Sequence[bool] | Sequence[int] | npt.NDArray[Any]) -> MotionSet: ...
    def __getitem__(self, index: Any) -> Trial | MotionSet:
        """Return one trial for an int, a set for a slice, a mask of bools (len,) or integers."""
        if isinstance(index, (int, np.integer)) and not isinstance(index, bool):
            return self._trials[index]
        if isinstance(index, slice):
            return MotionSet(self._trials[index])
        chosen = np.asarray(index, dtype=None if np.size(index) else np.intp)
        if chosen.ndim != 1 or chosen.dtype.kind not in "bi":
            raise ThunderError(f"index must be an integer, a slice, a mask of bools or integers, got {index!r}")
        if chosen.dtype.kind == "b" and len(chosen) != len(self):
            raise ThunderError(f"a mask must have {len(self)} entries, one for each trial, got {len(chosen)}")
        return MotionSet(self._trials[k] for k in np.arange(len(self))[chosen])

    def __add__(self, other: object) -> MotionSet:
        """Return this set followed by another."""
        return self.concatenate(other) if isinstance(other, MotionSet) else NotImplemented

    def __repr__(self) -> str:
        return f"<MotionSet of {len(self)} trials, {len(self.subjects)} subjects, {len(self.tasks)} tasks>"

    # --- contents -----------------------------------------------------------------------------------------------

    @property
    def subjects(self) -> tuple[str, ...]:
        """Distinct subjects, in order of appearance."""
        return tuple(dict.fromkeys(trial.subject for trial in self))

    @property
    def tasks(self) -> tuple[str, ...]:
        """Distinct tasks, in order of appearance."""
        return tuple(dict.fromkeys(trial.task for trial in self))

    @property
    def dofs(self) -> tuple[str, ...]:
        """Names of the columns, equal in all trials."""
        if not self._trials:
            raise ThunderError("an empty MotionSet has no dofs")
        first = self._trials[0].dofs
        for k, trial in enumerate(self):
            if trial.dofs != first:
                raise ThunderError(
                    f"trials must share their dofs, got {', '.join(first)} and, at index {k}, {', '.join(trial.dofs)}; "
                    "select common ones with Trial.select"
                )
        return first

    @property
    def durations(self) -> Array:
        """Durations (len,) [s]."""
        return np.array([trial.duration for trial in self], dtype=np.float64)

    def to_columns(self) -> dict[str, Any]:
        """Return the samples of all trials one below the other: number from 0 and labels of the trial, `t`, dofs.

        Examples
        --------
        >>> from thunder_py.recordings.synthetic import minimum_jerk_reaches
        >>> list(minimum_jerk_reaches(3, seed=0, n_subjects=2).to_columns())
        ['trial', 'subject', 'task', 'name', 't', 'x', 'y', 'z']
        """
        names, lengths = ("t", *self.dofs), [len(trial) for trial in self]
        columns: dict[str, Any] = {"trial": np.repeat(np.arange(len(self)), lengths)}
        for label in ("subject", "task", "name"):
            columns[label] = np.repeat([getattr(trial, label) for trial in self], lengths)
        rows = np.concatenate([np.column_stack([trial.t, trial.x]) for trial in self])
        return columns | dict(zip(names, rows.T, strict=True))

    def summary(self) -> Table:
        """Return a table of trials, durations, rates and gaps of every subject.

        Examples
        --------
        >>> from thunder_py.recordings.synthetic import minimum_jerk_reaches
        >>> print(minimum_jerk_reaches(3, seed=0, n_subjects=2).summary())
        subject  trials  tasks  duration [s]  rate [Hz]  gaps
        S01           2      1  1.10 to 1.25        120     0
        S02           1      1  1.13 to 1.13        120     0
        all           3      1  1.10 to 1.25        120     0
        """
        header = ["subject", "trials", "tasks", "duration [s]", "rate [Hz]", "gaps"]
        rows = [(subject or "-", *self.filter(subject=subject)._numbers()) for subject in self.subjects]
        return Table(header, [*rows, ("all", *self._numbers())])

    def _numbers(self) -> tuple[str | int, ...]:
        rates = sorted({"-" if trial.rate is None else f"{trial.rate:g}" for trial in self})
        times = self.durations
        span = f"{times.min():.2f} to {times.max():.2f}" if times.size else "-"
        return len(self), len(self.tasks), span, ", ".join(rates), sum(len(trial.gaps) for trial in self)

    # --- derived sets -------------------------------------------------------------------------------------------

    def filter(self, predicate: Callable[[Trial], bool] | None = None, **fields: str | Iterable[str]) -> MotionSet:
        """Return the trials that satisfy `predicate` and have the given labels.

        Parameters
        ----------
        predicate : callable, optional
            Trial -> bool.
        **fields
            Accepted value, or values, of subject, task, frame or name.
        """
        if unknown := set(fields) - set(LABELS):
            raise ThunderError(f"fields must be among {', '.join(LABELS)}, got {', '.join(sorted(unknown))}")
        accepted: dict[str, set[str]] = {}
        for key, value in fields.items():
            values = {value} if isinstance(value, str) else set(value) if isinstance(value, Iterable) else {None}
            if not all(isinstance(one, str) for one in values):
                raise ThunderError(f"{key} must be text or several texts, got {value!r}")
            accepted[key] = values
        labeled = (trial for trial in self if all(getattr(trial, key) in accepted[key] for key in accepted))
        return MotionSet(trial for trial in labeled if predicate is None or predicate(trial))

    def map(self, function: Callable[[Trial], Trial | Iterable[Trial] | None]) -> MotionSet:
        """Return the results of `function` for every trial: a trial, several (a segmentation), or None to drop it."""
        results = map(function, self)
        parts = [(result,) if isinstance(result, Trial) else result for result in results if result is not None]
        return MotionSet(chain.from_iterable(parts))

    def concatenate(self, *others: MotionSet) -> MotionSet:
        """Return this set followed by `others`."""
        return MotionSet(chain(self, *others))

    def leave_one_subject_out(self) -> Iterator[tuple[str, MotionSet, MotionSet]]:
        """Iterate over (subject, trials of all others, trials of the subject)."""
        if len(self.subjects) < 2:
            raise ThunderError(f"leave_one_subject_out needs two subjects or more, got {len(self.subjects)}")
        for subject in self.subjects:
            own = np.array([trial.subject == subject for trial in self])
            yield subject, self[~own], self[own]

    def to_array(self, n: int) -> Array:
        """Return an array (trials, n, d) of every trial at n equally spaced tau = (t - t_0) / duration.

        Samples are interpolated by a not-a-knot cubic spline, column by column.

        Raises
        ------
        ThunderError
            If a trial has gaps or dofs differ between trials.
        """
        from scipy.interpolate import CubicSpline

        whole(n, "n", 2)
        result = np.empty((len(self), n, len(self.dofs)))
        for k, trial in enumerate(self):
            values = require_no_gaps(trial, f"to_array (index {k})")
            result[k] = CubicSpline(trial.t, values)(np.linspace(trial.t[0], trial.t[-1], n))
        return result

    # --- files and figures --------------------------------------------------------------------------------------

    def save(self, path: str | Path) -> None:
        """Write a ``.npz`` file of plain arrays, without pickles."""
        labels = [{key: getattr(trial, key) for key in ("dofs", "units", "rate", *LABELS)} for trial in self]
        arrays = {
            "format": np.array(_FORMAT),
            "sizes": np.array([trial.x.shape for trial in self], dtype=np.int64).reshape(-1, 2),
            "t": np.concatenate([np.empty(0), *(trial.t for trial in self)]),
            "x": np.concatenate([np.empty(0), *(trial.x.ravel() for trial in self)]),
            "trials": np.array(json.dumps(labels)),
        }
        write_archive(path, arrays)

    @classmethod
    def load(cls, path: str | Path) -> MotionSet:
        """Read a file written by `save`."""
        return load_npz(path)

    def plot(self, dofs: Iterable[str] | None = None, *, axes: Mapping[str, Axes] | None = None) -> dict[str, Axes]:
        """Draw every trial over its own time, one panel per dof.

        Parameters
        ----------
        dofs : iterable of str, optional
            Dofs to draw; default all.
        axes : mapping of str to Axes, optional
            Panels to draw, by the names of dofs; default all, in a new figure.

        Returns
        -------
        dict of str to Axes
            The panels drawn.

        Examples
        --------
        >>> from thunder_py.recordings.synthetic import minimum_jerk_reaches
        >>> panels = minimum_jerk_reaches(3, seed=0).plot(["x", "z"])
        >>> [panel.get_ylabel() for panel in panels.values()]
        ['x [m]', 'z [m]']
        """
        from .plot import plot_motions

        return plot_motions(self, dofs, axes=axes)


_FORMAT = "thunder_py motions 1"
_ARRAYS = ("format", "sizes", "t", "x", "trials")


def load_npz(path: str | Path) -> MotionSet:
    """Read a file written by `MotionSet.save`.

    Parameters
    ----------
    path : path-like
        The file.

    Returns
    -------
    MotionSet
        The saved trials, equal to the last bit.

    Raises
    ------
    FileFormatError
        If the file was not written by `MotionSet.save` or is damaged.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from thunder_py.recordings.loaders import load_npz
    >>> from thunder_py.recordings.synthetic import minimum_jerk_reaches
    >>> motions = minimum_jerk_reaches(3, seed=0)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     motions.save(Path(folder) / "reaches.npz")
    ...     copy = load_npz(Path(folder) / "reaches.npz")
    >>> copy, bool((copy[0].x == motions[0].x).all())
    (<MotionSet of 3 trials, 3 subjects, 1 tasks>, True)
    """
    arrays = read_archive(path, "MotionSet.save")
    if missing := [name for name in _ARRAYS if name not in arrays]:
        raise FileFormatError(f"not a file of MotionSet.save: {', '.join(missing)} missing", path=path)
    if str(arrays["format"]) != _FORMAT:
        raise FileFormatError(f"format must be {_FORMAT!r}, got {str(arrays['format'])!r}", path=path)
    try:
        return MotionSet(_trials(arrays))
    except (AttributeError, IndexError, KeyError, RecursionError, TypeError, ValueError) as error:
        raise FileFormatError(f"damaged file of MotionSet.save: {error}", path=path) from error


def _trials(arrays: dict[str, Any]) -> list[Trial]:
    sizes, labels = arrays["sizes"], json.loads(str(arrays["trials"]))
    if sizes.ndim != 2 or sizes.dtype.kind != "i" or (sizes < 0).any():
        raise ThunderError(f"sizes must have shape (trials, 2), got {sizes.shape}")
    ends = np.cumsum(sizes[:, 0]), np.cumsum(sizes.prod(axis=1))
    times, values = (np.split(arrays[name], end) for name, end in zip("tx", ends, strict=True))
    if times.pop().size or values.pop().size:
        raise ThunderError("sizes must fit t and x")
    return [
        Trial(t, x.reshape(size), tuple(label.pop("dofs")), tuple(label.pop("units")), **label)
        for t, x, size, label in zip(times, values, sizes, labels, strict=True)
    ]
