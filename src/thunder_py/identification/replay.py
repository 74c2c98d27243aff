"""Adaptation laws on recorded motion and torque, beside least squares."""

from __future__ import annotations

import copy
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from ..checks import Array, nonnegative, of_kind, whole
from ..control import ParameterEstimator
from ..errors import FileFormatError, ThunderError, ThunderWarning, outer_level
from ..files import parsing, read_archive, write_archive
from ..progress import percentage, reporting
from ..robot import Robot
from ..table import Table
from ..values import Value
from .equations import Filtering, read_chunks, windows
from .log import LogSource, Recorded, as_sources

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from . import Identification

#: most instants whose regressors are in memory at a time
_ROWS = 512
#: pause after which filters begin anew [s]
_PAUSE = 0.1
#: share of the instants, and factor, from which on shortened steps are told
_OFTEN, _SHORTER = 0.01, 1.05
#: relative singular value of scaled columns below which least squares keep the initial estimate
_RANK = 1e-6


@dataclass(frozen=True, kw_only=True, eq=False)
class Replay(Value):
    """Run of an adaptation law on logs, from `replay`.

    Attributes
    ----------
    joints, names, logs : tuple of str
        Names of the joints, of the base parameters and of the logs.
    unknown : (p,) bool array
        Parameters that adapt.
    starts : (l,) array
        Times at which the logs begin [s].
    t : (m,) array
        Times [s], one log after the other.
    parameters : (m, p) array
        Estimates of all parameters.
    base_parameters, least_squares : (m, b) array
        Base parameters of the estimates, and those of recursive least squares of the same signals up to the instant.
    torque, error : (m, n) array
        Low-passed torque y, and its prediction error y - W pihat before the estimate adapts to it [N m or N].
    products : (n, b + 3, b + 3) array
        Mean products of the columns of W, of y without the known parameters, of y and of its error, for each joint.

    Examples
    --------
    >>> import numpy as np
    >>> import thunder_py as th
    >>> robot, t = th.Robot.load("elbow"), np.arange(0.0, 20.0, 0.01)
    >>> q, dq, ddq = th.reference.Sinusoid([0.8, 0.6], [0.5, 0.8])(t)
    >>> log = th.identification.Log(t=t, q=q, dq=dq, tau=robot.inverse_dynamics(q, dq, ddq))
    >>> guess = robot.with_parameters(0.7 * robot.parameters)
    >>> result = th.identification.replay(th.control.ParameterEstimator(guess, adaptation=40.0), log)
    >>> result.table().header
    ('joint', 'torque', 'adapting', 'initial', 'adapted', 'least squares')
    >>> bool((result.rms(result.base_parameters[-1]) < 0.1 * result.rms(result.base_parameters[0])).all())
    True
    """

    joints: tuple[str, ...]
    names: tuple[str, ...]
    logs: tuple[str, ...]
    unknown: npt.NDArray[np.bool_] = field(repr=False)
    starts: Array = field(repr=False)
    t: Array = field(repr=False)
    parameters: Array = field(repr=False)
    base_parameters: Array = field(repr=False)
    least_squares: Array = field(repr=False)
    torque: Array = field(repr=False)
    error: Array = field(repr=False)
    products: Array = field(repr=False)

    def rms(self, base_parameters: npt.ArrayLike) -> Array:
        """Return the root mean square of the prediction error of each joint over all logs, (n,), for (b,) values."""
        x = np.concatenate([np.negative(base_parameters), [1.0, 0.0, 0.0]])
        return np.asarray(np.sqrt(np.maximum(np.einsum("i,kij,j->k", x, self.products, x), 0.0)))

    def estimates(self, beside: Identification | None = None) -> dict[str, Array]:
        """Return the base parameters by name: initial, adapted, of least squares, and identified.

        Parameters
        ----------
        beside : Identification, optional
            Result of `identify` for the same unknown parameters.
        """
        found = {"initial": self.base_parameters[0], "adapted": self.base_parameters[-1]}
        found["least squares"] = self.least_squares[-1]
        if beside is not None:
            if not np.array_equal(beside.unknown.mask, self.unknown):
                raise ThunderError("beside must be an identification of the parameters that the estimator adapts")
            found["identified"] = beside.base_parameters
        return found

    def table(self, beside: Identification | None = None) -> Table:
        """Return root mean squares of each joint [N m or N]: torque, error while adapting, and errors of `estimates`.

        Parameters
        ----------
        beside : Identification, optional
            See `estimates`.
        """
        torque, adapting = np.sqrt(np.diagonal(self.products, axis1=1, axis2=2)[:, -2:]).T
        columns = {"torque": torque, "adapting": adapting}
        columns |= {name: self.rms(values) for name, values in self.estimates(beside).items()}
        return Table(["joint", *columns], zip(self.joints, *columns.values(), strict=True))

    def plot(
        self,
        *,
        axes: Mapping[str, Axes] | None = None,
        beside: Identification | None = None,
        parameters: Sequence[str] | None = None,
    ) -> dict[str, Axes]:
        """Plot prediction errors, and estimates beside least squares, over time.

        Parameters
        ----------
        axes : mapping of str to Axes, optional
            Panels to draw, of ``"error"`` and ``"estimates"``; default all, in a new figure.
        beside : Identification, optional
            See `estimates`.
        parameters : sequence of str, optional
            Base parameters to draw; default the four whose change has the largest effect on torques.

        Returns
        -------
        dict of str to Axes
            The panels drawn.
        """
        from .plot import plot_replay

        return plot_replay(self, axes=axes, beside=beside, parameters=parameters)

    def save(self, path: str | Path) -> None:
        """Write the result to an ``.npz`` file, atomically and without pickles."""
        write_archive(path, {name: np.asarray(value) for name, value in self._values().items()})

    @classmethod
    def load(cls, path: str | Path) -> Replay:
        """Read a file that `save` wrote, or raise `FileFormatError`."""
        arrays = read_archive(path, "Replay.save")
        with parsing(path, "a file of Replay.save"):
            if set(arrays) != set(cls.__dataclass_fields__):
                raise FileFormatError("not a file of Replay.save", path=path)
            texts = {name: tuple(map(str, arrays[name])) for name in ("joints", "names", "logs")}
            return cls(**arrays | texts)


def replay(
    estimator: ParameterEstimator,
    log: Recorded | Sequence[Recorded],
    *,
    cutoff: float | None = None,
    hold: float = 0.0,
    resample: float | None = None,
    robust: bool = False,
    most: int = 500,
    progress: bool | Callable[[float], object] = False,
) -> Replay:
    """Run the adaptation laws of the controllers on recorded positions, velocities and torques.

    Parameters
    ----------
    estimator : ParameterEstimator
        Law and gains. The run begins at its present estimate and does not change it; ``estimator.parameters =
        result.parameters[-1]`` goes on from its end.
    log : Log, SimulationResult, LogFile or path, or sequence of these
        Logs, one after the other, of any length.
    cutoff : float, optional
        Cutoff of the filter without delay of `identify`, by which velocities come from positions [Hz]. Default none:
        measured velocities and torques as they are, as a controller would see them.
    hold : float
        Time that a torque is held from its instant on [s]; a run of `simulate` holds it for its period.
    resample, robust
        As for `identify`; `robust` needs `cutoff`.
    most : int
        Number of instants of the result, spread over the logs.
    progress : bool or callable
        True shows a bar on terminals and in notebooks; a callable gets the completed fraction, 0 to 1.

    Returns
    -------
    Replay
        Estimates and prediction errors over time, beside least squares.

    Raises
    ------
    ThunderError
        If a log has no velocities and `cutoff` is not given, periods of 0.1 s or more, or the estimate diverges.

    Warns
    -----
    ThunderWarning
        If many steps were shortened, because the gains are too large for the period.

    Notes
    -----
    The batch and recursive least squares of the same regression y = W pi have the diagonal of ``estimator.R_t`` as
    weights and need no gains: they are what the laws are measured against. `identify` filters differently, and gives
    intervals.

    Examples
    --------
    See `Replay`.
    """
    robot = of_kind(estimator, ParameterEstimator, "estimator").robot
    filtering = Filtering(cutoff, nonnegative(hold, "hold"), resample, robust)
    if robust and cutoff is None:
        raise ThunderError("robust must come with cutoff, whose filter it precedes")
    sources = as_sources(robot, log)
    if not sources:
        raise ThunderError("log must hold at least one log, got none")
    total = sum(source.rows() for source in sources)
    run = _Run(estimator, min(total // whole(most, "most", 2) + 1, _ROWS), 0.0 if cutoff else hold)
    starts: list[float] = []
    with reporting(progress, percentage()) as report:
        for source in sources:
            name, shift = source.name and f"{source.name}: ", np.nan
            for t, *signals in _signals(robot, source, filtering, name):
                if np.isnan(shift):
                    starts.append(run.t + 2.0 * _PAUSE if starts else 0.0)
                    shift = starts[-1] - t[0]
                    run.t = starts[-1]
                run.take(t + shift, signals, name)
                report(min(run.count / total, 1.0))
    return run.result(tuple(source.name for source in sources), starts)


class _Run:
    """An estimator on its way through logs, and what is kept of it at the end of each block of instants."""

    def __init__(self, estimator: ParameterEstimator, block: int, hold: float) -> None:
        self.estimator, self.block, self.hold = copy.deepcopy(estimator), block, hold
        self.base, start = estimator.unknown.base_parameters(), estimator.parameters
        if not self.base.count:
            raise ThunderError("estimator must adapt a parameter that torques depend on")
        self.start, self.known = self.base.mapping @ start, np.where(estimator.unknown.mask, 0.0, start)
        self.products = np.zeros((estimator.n, self.base.count + 3, self.base.count + 3))
        none = np.zeros(estimator.n)
        self.rows: list[tuple[float | Array, ...]] = [(0.0, start, none, none, self.start)]
        self.t, self.count, self.shortened, self.longest = 0.0, 0, 0, 1.0

    def take(self, times: Array, signals: Sequence[Array], name: str) -> None:
        """Run the estimator over some instants."""
        period = float(np.diff(times, prepend=self.t).max())
        if period >= _PAUSE:
            raise ThunderError(f"{name}t must have periods below {_PAUSE:g} s, got {period:g}: split or resample it")
        for first in range(0, len(times), self.block):
            t, q, dq, tau = (values[first : first + self.block] for values in (times, *signals))
            done, parameters, y, error, W, excess = self.estimator._run(t, q, dq, tau, self.hold)
            if done < len(t):
                raise ThunderError(
                    f"{name}the estimate must stay bounded, and its mass matrix positive definite, and diverged "
                    f"{t[done] - t[0] + self.t:g} s after the start: the gains are too large, or signs or units of the "
                    "log wrong; raise Gamma, lower gamma, or use NaturalAdaptation"
                )
            self.shortened += int(np.sum(excess > _SHORTER))
            self.longest = max(self.longest, float(excess.max()))
            columns = [W[..., self.base.independent], *(x[..., None] for x in (y - W @ self.known, y, error))]
            Z = np.concatenate(columns, axis=2).transpose(1, 2, 0)
            self.products += Z @ Z.transpose(0, 2, 1)
            self.t, self.count = float(t[-1]), self.count + done
            self.rows.append((self.t, parameters[-1], y[-1], error[-1], self._least_squares()))

    def _least_squares(self) -> Array:
        """Return the base parameters of least squares, those at the start where there is no excitation."""
        total = np.tensordot(np.diag(self.estimator.R_t), self.products, 1)[:-2, :-2]
        A, size = total[:-1, :-1], np.sqrt(np.diag(total)[:-1])
        size[size == 0.0] = 1.0
        inverse = np.linalg.pinv(A / np.outer(size, size), rcond=_RANK**2, hermitian=True)
        return np.asarray(self.start + inverse @ ((total[:-1, -1] - A @ self.start) / size) / size)

    def result(self, logs: tuple[str, ...], starts: list[float]) -> Replay:
        """Return what was kept."""
        share = self.shortened / self.count
        if share > _OFTEN:
            warnings.warn(
                f"the gains are too large for the period at {100.0 * share:.0f} % of the instants, and steps were "
                f"shortened, up to {self.longest:.3g} times: raise Gamma, lower gamma, or resample more finely",
                ThunderWarning,
                stacklevel=outer_level(),
            )
        t, parameters, y, error, fits = (np.array(values) for values in zip(*self.rows, strict=True))
        return Replay(
            joints=self.estimator.robot.joint_names,
            names=self.base.names,
            logs=logs,
            unknown=self.estimator.unknown.mask,
            starts=np.array(starts),
            t=t,
            parameters=parameters,
            base_parameters=parameters @ self.base.mapping.T,
            least_squares=fits,
            torque=y,
            error=error,
            products=self.products / self.count,
        )


def _signals(robot: Robot, source: LogSource, filtering: Filtering, name: str) -> Iterator[tuple[Array, ...]]:
    """Yield parts of t, q, dq and tau."""
    if filtering.cutoff is not None:
        for window in windows(robot, source, filtering):
            samples = window.samples()[window.used]
            yield samples.t, samples.motion.q, samples.motion.dq, samples.torque
        return
    for part in read_chunks(robot, source, filtering, _ROWS):
        if part.dq is None:
            raise ThunderError(f"{name}dq must be in the log, or cutoff be given, by which it comes from positions")
        yield part.t, part.q, part.dq, part.tau
