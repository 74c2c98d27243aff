"""Torques of a log, and those that identified parameters predict on its measured motion."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from ..checks import Array
from ..robot import Robot
from ..table import Table
from .equations import Columns, Equations
from .log import LogSource
from .log_file import Recorded, as_source
from .robust import histogram, normal_scale
from .sensors import SensorCalibration
from .windows import Filtering, windows


@dataclass(frozen=True, kw_only=True, eq=False)
class Prediction:
    """Measured and predicted torques of a log, behind the filter of the identification, and their errors.

    Attributes
    ----------
    name : str
        Name of the log.
    rows : tuple of str
        Names of the rows: the joints, then springs and motors of elastic joints as in `Identification.residual_rms`.
    instants : int
        Number of instants of the log.
    rms, torque_rms : (r,) array
        Root mean square of the residual and of the measured torque, over all of them [N m or N].
    typical : (r,) array
        Median absolute residual, as the standard deviation of a normal variable: an error that outliers hardly enter.
    t : (k,) array
        Instants that follow [s]: all of them, or the first ones.
    q, dq : (k, n) array
        Positions and velocities [rad or m, and their time derivatives].
    measured, predicted : (k, r) array
        Torques [N m or N].

    Examples
    --------
    >>> import numpy as np
    >>> import thunder_py as th
    >>> robot, t = th.Robot.load("elbow"), np.linspace(0.0, 10.0, 501)
    >>> q, dq, ddq = th.reference.Sinusoid([0.8, 0.6], [0.5, 0.8])(t)
    >>> log = th.identification.Log(t=t, q=q, dq=dq, ddq=ddq, tau=robot.inverse_dynamics(q, dq, ddq) + [0.0, 0.1])
    >>> estimate = th.identification.identify(robot, log)
    >>> prediction = estimate.predict(log)
    >>> prediction.rows, prediction.residual.shape, bool((prediction.rms < 0.1).all())
    (('joint1', 'joint2'), (501, 2), True)
    """

    name: str
    rows: tuple[str, ...]
    instants: int
    rms: Array
    torque_rms: Array
    typical: Array
    t: Array = field(repr=False)
    q: Array = field(repr=False)
    dq: Array = field(repr=False)
    measured: Array = field(repr=False)
    predicted: Array = field(repr=False)

    @property
    def residual(self) -> Array:
        """Measured minus predicted torque, (k, r)."""
        return self.measured - self.predicted

    @property
    def relative(self) -> Array:
        """`rms` relative to `torque_rms`, (r,); NaN for a torque of zero."""
        return ratio(self.rms, self.torque_rms)

    def table(self) -> Table:
        """Return a table of the rows: error, error relative to the torque, and typical error."""
        columns = zip(self.rows, self.rms, 100.0 * self.relative, self.typical, strict=True)
        return Table(["joint", "error [N m or N]", "of the torque [%]", "typical error [N m or N]"], columns)


def ratio(values: Array, scale: Array) -> Array:
    """Return values relative to a scale, NaN where the scale is zero."""
    return np.asarray(np.divide(values, scale, out=np.full(values.shape, np.nan), where=scale > 0.0))


class Model(NamedTuple):
    """What predicts torques: robot, all parameters (P,), further columns with coefficients (c,), offsets of springs."""

    robot: Robot
    parameters: Array
    extra: Array
    columns: Sequence[Columns]
    offsets: Array
    sensors: SensorCalibration
    filtering: Filtering

    def of(self, log: LogSource) -> Iterator[tuple[Equations, Array]]:
        """Yield the equations of a log piece by piece, with the predicted torques (k, r)."""
        theta = np.concatenate([self.parameters, self.extra])
        for window in windows(self.robot, log, self.filtering):
            for rows in window.equations(self.offsets, self.columns, window.samples(self.sensors)):
                yield rows, rows.W @ theta


def predict(model: Model, log: Recorded, most: int | None) -> Prediction:
    """Return the errors of a log, of which one piece is in memory at a time, and its first `most` instants."""
    kept: list[tuple[Array, ...]] = []
    count, squares, sizes, source = 0, np.zeros((2, 1)), np.zeros(1), as_source(model.robot, log)
    for rows, predicted in model.of(source):
        left, motion = slice(None if most is None else max(most - count, 0)), rows.samples.motion
        if not kept or left.stop != 0:
            kept.append(tuple(x[left].copy() for x in (rows.samples.t, motion.q, motion.dq, rows.y, predicted)))
        count, residual = count + len(predicted), rows.y - predicted
        squares = squares + np.stack([np.sum(residual**2, axis=0), np.sum(rows.y**2, axis=0)])
        sizes = sizes + np.array([histogram(np.abs(column)) for column in residual.T])
    t, q, dq, measured, predicted = (np.concatenate(parts) for parts in zip(*kept, strict=True))
    rms, torque_rms = np.sqrt(squares / count)
    return Prediction(
        name=source.name,
        rows=_row_names(model.robot, rms.size),
        instants=count,
        rms=rms,
        torque_rms=torque_rms,
        typical=normal_scale(sizes, count),
        t=t,
        q=q,
        dq=dq,
        measured=measured,
        predicted=predicted,
    )


def _row_names(robot: Robot, count: int) -> tuple[str, ...]:
    """Return the names of the rows of the equations: joints, springs where their torque is measured, motors."""
    drives = [robot.joint_names[drive.joint - 1] for drive in robot.elastic]
    kinds = () if not drives else ("motor",) if count == robot.n + robot.e else ("spring", "motor")
    return (*robot.joint_names, *(f"{name} {kind}" for kind in kinds for name in drives))
