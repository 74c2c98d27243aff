"""Validation on held-out logs: cross-validation over whole logs, comparison of models."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from ..checks import Array, array, known_name, whole, within
from ..errors import ThunderError
from ..parallel import Workers, map_items
from ..robot import Robot
from ..table import Table
from .identification import Identification, Prediction, ratio
from .identify import identify
from .log import LogSource, Recorded, as_sources

#: default number of folds
_FOLDS = 5
#: options that change the measured torques, with their defaults
_MEASURED = {"cutoff": None, "hold": 0.0, "resample": None, "robust": False}


@dataclass(frozen=True, kw_only=True, eq=False)
class CrossValidation:
    """Torque errors on logs that were held out of the identification.

    Attributes
    ----------
    fits : tuple of Identification
        Fits without the logs of each fold.
    folds : (L,) int array
        Fold of each log.
    logs : tuple of Log
        The logs.
    errors : tuple of Prediction
        Errors of each log by the fit that it was held out of, without instants.

    Examples
    --------
    >>> import numpy as np
    >>> import thunder_py as th
    >>> from thunder_py.identification import Log, cross_validate
    >>> robot, t, rng = th.Robot.load("elbow"), np.linspace(0.0, 5.0, 251), np.random.default_rng(0)
    >>> logs = []
    >>> for frequency in (0.4, 0.6, 0.9):
    ...     q, dq, ddq = th.reference.Sinusoid([0.8, 0.6], [frequency, 1.3 * frequency])(t)
    ...     tau = robot.inverse_dynamics(q, dq, ddq) + rng.normal(scale=0.1, size=q.shape)
    ...     logs.append(Log(t=t, q=q, dq=dq, ddq=ddq, tau=tau, name=f"{frequency} Hz"))
    >>> validation = cross_validate(robot, logs, folds=3)
    >>> validation.error.round(2).tolist(), validation.predict(1).name
    ([0.1, 0.1], '0.6 Hz')
    """

    fits: tuple[Identification, ...] = field(repr=False)
    folds: npt.NDArray[np.intp]
    logs: tuple[LogSource, ...] = field(repr=False)
    errors: tuple[Prediction, ...] = field(repr=False)

    @property
    def error(self) -> Array:
        """Root mean square of the residuals of all held-out logs, (r,) [N m or N]."""
        return self._pooled("rms")

    @property
    def relative(self) -> Array:
        """`error` relative to the root mean square of the measured torque, (r,)."""
        return ratio(self.error, self._pooled("torque_rms"))

    @property
    def scores(self) -> Array:
        """Error of each log, (L,): root mean square over the rows, each relative to its torque in all logs."""
        scale = self._pooled("torque_rms")
        return np.array([np.sqrt(np.nanmean(ratio(each.rms, scale) ** 2)) for each in self.errors])

    def _pooled(self, name: str) -> Array:
        counts = np.array([each.instants for each in self.errors])
        squares = np.stack([getattr(each, name) ** 2 for each in self.errors])
        return np.asarray(np.sqrt(counts @ squares / counts.sum()))

    def predict(self, log: int, *, most: int | None = None) -> Prediction:
        """Return measured and predicted torques of one of the logs, by the fit that it was held out of.

        Parameters
        ----------
        log : int
            Number of the log, from 0.
        most : int, optional
            Largest number of instants, from the first on.
        """
        fit = self.fits[int(self.folds[log])]
        return fit.predict(self.logs[log], most=most)

    def table(self) -> Table:
        """Return a table of the rows: error on held-out logs, relative to the torque, and error of the fits."""
        fitted = np.sqrt(np.mean([fit.residual_rms**2 for fit in self.fits], axis=0))
        rows = zip(self.errors[0].rows, self.error, 100.0 * self.relative, fitted, strict=True)
        return Table(["joint", "held-out error [N m or N]", "of the torque [%]", "error of the fits [N m or N]"], rows)


def cross_validate(
    robot: Robot,
    logs: Sequence[Recorded],
    *,
    folds: int | npt.ArrayLike | None = None,
    workers: Workers = 1,
    progress: bool = False,
    **options: Any,
) -> CrossValidation:
    """Identify with some logs, predict the torques of the others, and repeat until each log was held out once.

    Whole logs are held out, because neighboring samples of one log resemble each other.

    Parameters
    ----------
    robot : Robot
        Robot, as for `identify`.
    logs : sequence of Log, SimulationResult or path
        At least two logs.
    folds : int or (L,) int array_like, optional
        Number of folds K, of which log i is in fold i modulo K, or the fold of each log, 0 to K - 1, such as the day of
        its recording. Default one for each log, at most 5.
    workers : Workers
        Where the folds are computed, see `thunder_py.parallel.run_tasks`.
    progress : bool
        Show a progress bar.
    **options
        Options of `identify`.

    Returns
    -------
    CrossValidation
        Errors of each log, and the fits.

    Raises
    ------
    ThunderError
        If there are less than two logs or folds, or an option is invalid for `identify`.

    Examples
    --------
    See `CrossValidation`.

    >>> import thunder_py as th
    >>> try:
    ...     th.identification.cross_validate(th.Robot.load("elbow"), [])
    ... except th.errors.ThunderError as error:
    ...     print(error)
    logs must hold at least 2 logs, got 0
    """
    listed = _listed(robot, logs)
    assigned = _folds(folds, len(listed))
    (validation,) = _validate({"": {"robot": robot, **options}}, listed, assigned, workers, progress).values()
    return validation


class Difference(NamedTuple):
    """Mean difference of two models' errors of a log, with a confidence interval.

    Attributes
    ----------
    mean, lower, upper : float
        Relative to the torque.

    Examples
    --------
    >>> from thunder_py.identification import Difference
    >>> Difference(0.02, 0.01, 0.03).significant
    True
    """

    mean: float
    lower: float
    upper: float

    @property
    def significant(self) -> bool:
        """Whether the interval leaves out zero."""
        return self.lower > 0.0 or self.upper < 0.0


@dataclass(frozen=True, kw_only=True, eq=False)
class ModelComparison:
    """Errors of several models on the same held-out logs.

    Attributes
    ----------
    validations : mapping of str to CrossValidation
        Validation of each model.

    Examples
    --------
    See `compare_models`.

    >>> import thunder_py as th
    >>> th.identification.ModelComparison.__name__
    'ModelComparison'
    """

    validations: Mapping[str, CrossValidation]

    @property
    def best(self) -> str:
        """Name of the model with the smallest mean error of a log."""
        return min(self.validations, key=self._mean)

    def _mean(self, name: str) -> float:
        return float(self._of(name).scores.mean())

    def _of(self, name: str) -> CrossValidation:
        known_name(name, self.validations, "no model is called")
        return self.validations[name]

    def difference(self, first: str, second: str, *, level: float = 0.95) -> Difference:
        """Return the mean error of a log of one model minus that of another, with a confidence interval.

        Parameters
        ----------
        first, second : str
            Names of the models.
        level : float
            Confidence level, 0 to 1.

        Returns
        -------
        Difference
            Of `CrossValidation.scores`.

        Notes
        -----
        Student's distribution of the paired differences of the logs. The fits share training data, which makes the
        differences of different logs dependent; the variance has the correction of Nadeau and Bengio (2003), a factor
        1 / L + 1 / (K - 1) in place of 1 / L for L logs in K folds.
        """
        from scipy.stats import t as student

        level = within(level, "level", 0.0, 1.0, ends="()")
        one, other = self._of(first), self._of(second)
        differences = one.scores - other.scores
        L, K = differences.size, len(one.fits)
        deviation = float(differences.std(ddof=1) * np.sqrt(1.0 / L + 1.0 / (K - 1)))
        half = float(student.ppf(0.5 + 0.5 * level, L - 1)) * deviation
        mean = float(differences.mean())
        return Difference(mean, mean - half, mean + half)

    def table(self, *, level: float = 0.95) -> Table:
        """Return a table of the models: mean held-out error of a log, and its difference from the best, in per cent.

        Parameters
        ----------
        level : float
            Confidence level of the differences' intervals.
        """
        best = self.best
        header = ["model", "parameters", "error [%]", "minus the best [%]", f"{100.0 * level:g} % interval [%]"]
        rows: list[tuple[Any, ...]] = []
        for name, validation in self.validations.items():
            row: tuple[Any, ...] = (name, len(validation.fits[0].names), 100.0 * self._mean(name))
            if name == best:
                rows.append((*row, None, None))
                continue
            found = self.difference(name, best, level=level)
            rows.append((*row, 100.0 * found.mean, f"{100.0 * found.lower:.3g} to {100.0 * found.upper:.3g}"))
        return Table(header, rows)


def compare_models(
    robot: Robot,
    logs: Sequence[Any],
    models: Mapping[str, Mapping[str, Any]],
    *,
    folds: int | npt.ArrayLike | None = None,
    workers: Workers = 1,
    progress: bool = False,
    **options: Any,
) -> ModelComparison:
    """Cross-validate several models on the same folds.

    A model with sensors predicts the torques of logs that are corrected for them, and is judged relative to these.

    Parameters
    ----------
    robot : Robot
        Robot, as for `identify`.
    logs : sequence of Log, SimulationResult or path
        At least two logs.
    models : mapping of str to mapping
        Options of `identify` of each model; ``robot`` among them replaces the robot.
    folds, workers, progress
        As for `cross_validate`.
    **options
        Options of `identify` that all models share.

    Returns
    -------
    ModelComparison
        Validation of each model.

    Raises
    ------
    ThunderError
        As for `cross_validate`; if there are no models, or their ``cutoff``, ``hold``, ``resample`` or ``robust``
        differ, which change the torques that are predicted: a lower cutoff removes error from them.

    Examples
    --------
    >>> import numpy as np
    >>> import thunder_py as th
    >>> from thunder_py.identification import Log, compare_models
    >>> plain, t, rng = th.Robot.load("elbow"), np.linspace(0.0, 5.0, 251), np.random.default_rng(0)
    >>> zero = th.robot.Friction(terms=("viscous",), coefficients=[[0.0], [0.0]])
    >>> robot, logs = plain.replace(friction=zero), []
    >>> rubbing = robot.replace(friction=th.robot.Friction(terms=("viscous",), coefficients=[[2.0], [1.0]]))
    >>> for frequency in (0.4, 0.5, 0.7, 0.9):
    ...     q, dq, ddq = th.reference.Sinusoid([0.8, 0.6], [frequency, 1.3 * frequency])(t)
    ...     tau = rubbing.inverse_dynamics(q, dq, ddq) + rng.normal(scale=0.1, size=q.shape)
    ...     logs.append(Log(t=t, q=q, dq=dq, ddq=ddq, tau=tau))
    >>> comparison = compare_models(robot, logs, {"viscous": {}, "none": {"robot": plain}})
    >>> comparison.best, comparison.difference("none", "viscous").significant
    ('viscous', True)
    """
    if not models:
        raise ThunderError("models must hold at least one model")
    tasks = {str(name): {"robot": robot, **options, **chosen} for name, chosen in models.items()}
    for option, default in _MEASURED.items():
        given = dict.fromkeys(task.get(option, default) for task in tasks.values())
        if len(given) > 1:
            raise ThunderError(f"models must have the same {option}, got {', '.join(map(str, given))}")
    listed = _listed(robot, logs)
    validations = _validate(tasks, listed, _folds(folds, len(listed)), workers, progress)
    return ModelComparison(validations=validations)


def _listed(robot: Robot, logs: Sequence[Recorded]) -> tuple[LogSource, ...]:
    listed = as_sources(robot, logs)
    if len(listed) < 2:
        raise ThunderError(f"logs must hold at least 2 logs, got {len(listed)}")
    return listed


def _folds(folds: int | npt.ArrayLike | None, count: int) -> npt.NDArray[np.intp]:
    """Return the fold of each log, 0 to K - 1."""
    if folds is None or np.ndim(folds) == 0:
        number = min(_FOLDS, count) if folds is None else whole(folds, "folds", 2, count)
        return np.arange(count) % number
    given = array(folds, (count,), "folds")
    assigned = given.astype(np.intp)
    number = int(assigned.max()) + 1
    if (assigned != given).any() or number < 2 or not np.array_equal(np.unique(assigned), np.arange(number)):
        raise ThunderError(f"folds must be numbered 0, 1, ... with a log in each, got {given.tolist()}")
    return assigned


def _fold(
    logs: Sequence[LogSource], assigned: npt.NDArray[np.intp], task: tuple[Mapping[str, Any], int]
) -> tuple[Identification, dict[int, Prediction]]:
    """Identify without the logs of a fold, and return the fit and the errors of these by their number."""
    options, fold = dict(task[0]), task[1]
    robot, train = options.pop("robot"), [log for log, k in zip(logs, assigned, strict=True) if k != fold]
    fit = identify(robot, train, **options)
    return fit, {i: fit.errors(logs[i]) for i in np.flatnonzero(assigned == fold).tolist()}


def _validate(
    tasks: Mapping[str, Mapping[str, Any]],
    logs: tuple[LogSource, ...],
    assigned: npt.NDArray[np.intp],
    workers: Workers,
    progress: bool,
) -> dict[str, CrossValidation]:
    """Cross-validate each task; all folds of all of them are independent."""
    K, validations = int(assigned.max()) + 1, {}
    items = [(options, k) for options in tasks.values() for k in range(K)]
    found = map_items(partial(_fold, logs, assigned), items, workers=workers, progress=progress, unit="fold")
    for i, name in enumerate(tasks):
        fits, errors = zip(*found[K * i : K * i + K], strict=True)
        of_logs = {number: error for fold in errors for number, error in fold.items()}
        ordered = tuple(of_logs[number] for number in range(len(logs)))
        validations[name] = CrossValidation(fits=fits, folds=assigned, logs=logs, errors=ordered)
    return validations
