"""Result of an identification, and the torques that it predicts."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from ..checks import Array
from ..errors import ThunderError
from ..model import inertia
from ..model.description import check_physical_input
from ..model.parameters import BaseParameters, UnknownParameters
from ..robot import Payload, Robot
from ..simulation.friction import FrictionModel
from ..table import Table
from .equations import Columns, Filtering, FrictionColumns, windows
from .least_squares import histogram, normal_scale, student_intervals
from .log import Recorded, as_source
from .samples import SensorCalibration

if TYPE_CHECKING:
    from matplotlib.axes import Axes


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


def _row_names(robot: Robot, count: int) -> tuple[str, ...]:
    """Return the names of the rows of the equations: joints, springs where their torque is measured, motors."""
    drives = [robot.joint_names[drive.joint - 1] for drive in robot.elastic]
    kinds = () if not drives else ("motor",) if count == robot.n + robot.e else ("spring", "motor")
    return (*robot.joint_names, *(f"{name} {kind}" for kind in kinds for name in drives))


@dataclass(frozen=True, kw_only=True, eq=False)
class Identification:
    """Result of an identification.

    Attributes
    ----------
    robot : Robot
        Robot with the identified parameters.
    unknown : UnknownParameters
        Parameters of the links that were identified.
    parameters : (P,) array
        All parameters: those of the links, then K, D, Dm and Mm of the elastic joints; directions that do not affect
        torques stay as near to the prior as possible.
    base : BaseParameters
        Identifiable combinations of the unknown parameters, and the unknown ones of elastic joints, such as
        ``joint2.K0``.
    base_parameters, standard_deviations : (b,) array
        Values of the base parameters, and standard deviations of the plain least-squares estimate (also with
        ``consistent=True``), see `intervals`; infinite for parameters that the motion does not excite or noise of the
        positions hides.
    residual_rms : (r,) array
        Root mean square of the torque residuals [N m or N]: n joints, then e motors; with measured joint torques n
        joints, e springs, e motors.
    noise : (r,) array
        Standard deviations that weighted these rows, behind the filter [N m or N].
    offsets, offset_deviations : (e,) array
        Constant offsets of x - q, at which springs are relaxed [rad or m], and their standard deviations; zero where
        none were estimated.
    rank : int
        Number of base parameters that the motion excites.
    condition : float
        Condition number of the weighted base regressor, columns scaled to unit length.
    consistent : bool
        Whether the fit was restricted to physically consistent parameters.
    covariance : (b + c, b + c) array
        Covariance of the base parameters and of `extra`, zero in directions that the data do not determine.
    freedom : (b + c,) array
        Degrees of freedom of these variances, for Student's t.
    sources : tuple of str
        What standard deviations, covariance and intervals rest on: the spread over blocks of the logs, over logs, or
        white noise alone where the logs are too short for blocks.
    extra, extra_deviations : (c,) array
        Coefficients of further columns, such as friction that depends on the direction; mass [kg], center of mass [m]
        and inertia about it [kg m^2] of a payload, in axes of its link; values of sensors and Stribeck velocities; and
        the standard deviations of all these.
    extra_names : tuple of str
        Their names, such as ``joint2.stribeck_velocity``, ``joint1.torque_gain`` or ``payload.m``.
    columns : tuple of Columns
        Further columns.
    friction : FrictionModel or None
        Identified friction; None where the robot's own was kept.
    sensors : SensorCalibration
        Sensors, with the known values of those that were not estimated.
    link : int or None
        Number of the link that carries the payload, from 1; None without logs with a payload.
    payload_parameters : (10,) array
        REG parameters of the payload in the frame of its link.
    invisible : tuple of tuples of str
        Groups of parameters that torques do not distinguish.
    logs : tuple of str
        Names of the logs.
    count : int
        Number of instants.
    cutoff : float or None
        Cutoff frequency [Hz] of the filter, where accelerations were not measured.
    hold : float
        Time that torques were held [s].
    resample : float or None
        Frequency [Hz] to which logs were interpolated.
    robust : bool
        Whether outliers counted less, and spikes of filtered logs were replaced.

    Examples
    --------
    >>> import numpy as np
    >>> import thunder_py as th
    >>> robot, t = th.Robot.load("elbow"), np.linspace(0.0, 10.0, 501)
    >>> q, dq, ddq = th.reference.Sinusoid([0.8, 0.6], [0.5, 0.8])(t)
    >>> estimate = th.identification.identify(robot, t, q, dq, ddq, robot.inverse_dynamics(q, dq, ddq))
    >>> estimate.rank, estimate.base.names[0], round(float(estimate.base_parameters[0]), 3)
    (6, 'link1.m', 2.53)
    >>> np.allclose(estimate.torque(q, dq, ddq), robot.inverse_dynamics(q, dq, ddq)), estimate.physical.shape
    (True, (2,))
    """

    robot: Robot
    unknown: UnknownParameters
    parameters: Array
    base: BaseParameters = field(repr=False)
    base_parameters: Array
    standard_deviations: Array
    residual_rms: Array
    noise: Array
    offsets: Array
    offset_deviations: Array
    rank: int
    condition: float
    consistent: bool
    covariance: Array = field(repr=False)
    freedom: Array = field(repr=False)
    sources: tuple[str, ...]
    extra: Array
    extra_deviations: Array
    extra_names: tuple[str, ...]
    columns: tuple[Columns, ...] = field(repr=False)
    friction: FrictionModel | None
    sensors: SensorCalibration
    link: int | None
    payload_parameters: Array = field(repr=False)
    invisible: tuple[tuple[str, ...], ...]
    logs: tuple[str, ...]
    count: int
    cutoff: float | None
    hold: float
    resample: float | None
    robust: bool

    @property
    def physical(self) -> npt.NDArray[np.bool_]:
        """True for each link with a positive definite pseudo-inertia, (n,)."""
        return inertia.is_physical(self.robot.inertial)

    def torque(self, q: npt.ArrayLike, dq: npt.ArrayLike, ddq: npt.ArrayLike) -> Array:
        """Predict torques on the links, (..., n), friction included; with columns of a user, use `predict`."""
        torque = self.robot.inverse_dynamics(q, dq, ddq)
        own = [each for each in self.columns if not isinstance(each, FrictionColumns)]
        if own:
            names = ", ".join(name for each in own for name in each.names)
            raise ThunderError(
                f"columns must be empty for torque, got {names}: use predict, or robot.inverse_dynamics for the torque "
                "without these"
            )
        return torque + self.friction.torque(dq) if self.columns and self.friction is not None else torque

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the base parameters and of `extra`, (b + c,)."""
        return (*self.base.names, *self.extra_names)

    @property
    def estimates(self) -> Array:
        """Values of the base parameters and of `extra`, (b + c,)."""
        return np.concatenate([self.base_parameters, self.extra])

    @property
    def deviations(self) -> Array:
        """Standard deviations of `estimates`, (b + c,)."""
        return np.concatenate([self.standard_deviations, self.extra_deviations])

    @property
    def payload(self) -> Payload | None:
        """Payload for `simulate`, None without one; raises if no body has the parameters that were found."""
        if self.link is None:
            return None
        values, about_com = inertia.dyn_from_reg(self.payload_parameters), np.zeros((3, 3))
        about_com[np.triu_indices(3)] = values[4:]
        try:
            return Payload(values[0], values[1:4], about_com + np.triu(about_com, 1).T, link=self.link)
        except ThunderError as error:
            message = "payload_parameters must be those of a body, identify with consistent='payload'"
            raise ThunderError(f"{message}: {error}") from None

    def table(self) -> Table:
        """Return a table of base parameters and `extra`: leading name, value, standard deviation in per cent."""
        columns = zip(self.names, self.estimates, self.deviations, strict=True)
        rows = ((name, value, 100.0 * sigma / abs(value) if value else np.inf) for name, value, sigma in columns)
        return Table(["base parameter", "value", "standard deviation [%]"], rows)

    def plot(self, *, ax: Axes | None = None, truth: Robot | None = None) -> Axes:
        """Plot the base parameters with 95 % intervals.

        Parameters
        ----------
        ax : Axes, optional
            Default a new figure.
        truth : Robot, optional
            Robot with the true parameters, plotted as well.

        Returns
        -------
        Axes
            The panel drawn.
        """
        from .plot import plot_identification

        return plot_identification(self, ax=ax, truth=truth)

    def intervals(self, level: float = 0.95) -> Array:
        """Return confidence intervals of base parameters and `extra`, (b + c, 2).

        Parameters
        ----------
        level : float
            Confidence level, 0 to 1.

        Returns
        -------
        (b + c, 2) array
            Lower and upper ends: quantiles of Student's distribution times `deviations`, infinite where these are. They
            cover noise of any spectrum of torques and positions, and errors of the model as far as these differ between
            parts of the logs or between logs. An error that is the same in all of them, such as that of a gain of the
            torques, does not show.

        Examples
        --------
        >>> import numpy as np
        >>> import thunder_py as th
        >>> robot, t = th.Robot.load("elbow"), np.linspace(0.0, 10.0, 501)
        >>> q, dq, ddq = th.reference.Sinusoid([0.8, 0.6], [0.5, 0.8])(t)
        >>> tau = robot.inverse_dynamics(q, dq, ddq) + np.random.default_rng(1).normal(scale=0.1, size=q.shape)
        >>> estimate = th.identification.identify(robot, t, q, dq, ddq, tau)
        >>> low, high = estimate.intervals(0.999).T
        >>> truth = estimate.base.mapping @ robot.parameters
        >>> bool(((low < truth) & (truth < high)).all())
        True
        """
        return student_intervals(self.estimates, self.deviations, self.freedom, level)

    def predict(self, log: Recorded, *, most: int | None = None, loaded: bool = False) -> Prediction:
        """Predict the torques of a log on its measured motion, both corrected for the sensors, and filtered.

        Parameters
        ----------
        log : Log, SimulationResult, LogFile or path
            Log as for `identify`.
        most : int, optional
            Largest number of instants that are returned, from the first on; default all. Errors are those of all.
        loaded : bool
            Whether it is a log with the payload.

        Returns
        -------
        Prediction
            Measured and predicted torques, and their errors.
        """
        robot, sensors, parameters = self.robot, self.sensors, self.parameters.copy()
        if loaded:
            if self.link is None:
                raise ThunderError("loaded must be False for an identification without logs with a payload")
            parameters[10 * self.link - 10 : 10 * self.link] += self.payload_parameters
        theta = np.append(parameters, self.extra[: sum(len(each.names) for each in self.columns)])
        delays = np.abs(np.concatenate([sensors.torque_delay, sensors.position_delay])).max()
        filtering = Filtering(self.cutoff, self.hold, self.resample, self.robust, longest=float(delays))
        kept: list[tuple[Array, ...]] = []
        count, squares, sizes, source = 0, np.zeros((2, 1)), np.zeros(1), as_source(robot, log)
        for window in windows(robot, source, filtering):
            for rows in window.equations(self.offsets, self.columns, window.samples(sensors)):
                predicted, motion = rows.W @ theta, rows.samples.motion
                left = slice(None if most is None else max(most - count, 0))
                if not kept or left.stop != 0:
                    signals = (rows.samples.t, motion.q, motion.dq, rows.y, predicted)
                    kept.append(tuple(signal[left].copy() for signal in signals))
                count, residual = count + len(predicted), rows.y - predicted
                squares = squares + np.stack([np.sum(residual**2, axis=0), np.sum(rows.y**2, axis=0)])
                sizes = sizes + np.array([histogram(np.abs(column)) for column in residual.T])
        t, q, dq, measured, predicted = (np.concatenate(parts) for parts in zip(*kept, strict=True))
        rms, torque_rms = np.sqrt(squares / count)
        return Prediction(
            name=source.name,
            rows=_row_names(robot, rms.size),
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

    def errors(self, log: Recorded, *, loaded: bool = False) -> Prediction:
        """Return the errors of the predicted torques of a log of any length: `predict` without instants."""
        return self.predict(log, most=0, loaded=loaded)

    def inconsistent_links(self) -> tuple[str, ...]:
        """Return the names of identified links that no physical body has the parameters of."""
        inertial = self.unknown.indices[self.unknown.indices < 10 * self.robot.n]
        return tuple(self.robot.link_names[k] for k in np.unique(inertial // 10) if not self.physical[k])

    def save(self, path: str | Path, *, lossy: bool = False) -> None:
        """Write the robot with the identified parameters: ``.yaml``, ``.urdf``, ``.xml`` or ``.mjcf``.

        Parameters
        ----------
        path : path-like
            The suffix selects the format, see `Robot.save`. YAML holds any parameters.
        lossy : bool
            As for `Robot.save`; also leaves out further columns.

        Raises
        ------
        ThunderError
            If links, friction or rotors are not physically consistent and the format is not YAML, or the format cannot
            represent the robot, or there are further columns, which none can, and `lossy` is False.

        Examples
        --------
        >>> import tempfile
        >>> import numpy as np
        >>> import thunder_py as th
        >>> robot, t = th.Robot.load("elbow"), np.linspace(0.0, 10.0, 501)
        >>> q, dq, ddq = th.reference.Sinusoid([0.8, 0.6], [0.5, 0.8])(t)
        >>> tau = robot.inverse_dynamics(q, dq, ddq) + np.random.default_rng(1).normal(scale=2.0, size=q.shape)
        >>> estimate = th.identification.identify(robot, t, q, dq, ddq, tau, consistent=True)
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     estimate.save(f"{folder}/identified.yaml")
        ...     again = th.Robot.load(f"{folder}/identified.yaml")
        >>> np.allclose(again.inverse_dynamics(q, dq, ddq), estimate.torque(q, dq, ddq))
        True
        """
        further = [name for each in self.columns for name in each.names]
        if further and not lossy:
            raise ThunderError(f"no file of a robot holds {', '.join(further)}: with lossy=True these are left out")
        if Path(path).suffix not in (".yaml", ".yml"):
            bad = self.inconsistent_links()
            if bad:
                raise ThunderError(
                    f"links must be physically consistent in {Path(path).suffix}, which is not the case for "
                    f"{', '.join(bad)}: identify with consistent=True, or save as .yaml"
                )
            try:
                check_physical_input(self.robot.description)
            except ThunderError as error:
                raise ThunderError(f"{error}: identify with consistent=True, or save as .yaml") from None
        self.robot.save(path, lossy=lossy)
