"""Result of an identification."""

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
from ..robot import Robot
from ..table import Table
from .equations import Columns
from .intervals import student_intervals
from .log_file import Recorded
from .prediction import Model, Prediction, predict
from .windows import Filtering

if TYPE_CHECKING:
    from matplotlib.axes import Axes


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
        Covariance of the base parameters and of the coefficients of further columns, zero in directions that the data
        do not determine.
    freedom : (b + c,) array
        Degrees of freedom of these variances, for Student's t.
    sources : tuple of str
        What standard deviations, covariance and intervals rest on: the spread over blocks of the logs, over logs, or
        white noise alone where the logs are too short for blocks.
    extra, extra_deviations : (c,) array
        Coefficients of further columns, and their standard deviations.
    extra_names : tuple of str
        Their names.
    columns : tuple of Columns
        Further columns.
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
        """Predict torques on the links, (..., n); with further columns, which depend on whole logs, use `predict`."""
        if self.extra.size:
            raise ThunderError(
                f"columns must be empty for torque, got {', '.join(self.extra_names)}: use predict, or "
                "robot.inverse_dynamics for the torque without these"
            )
        return self.robot.inverse_dynamics(q, dq, ddq)

    def table(self) -> Table:
        """Return a table of the base parameters: leading name, value, standard deviation in per cent."""
        columns = zip(self.base.names, self.base_parameters, self.standard_deviations, strict=True)
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
        """Return confidence intervals of the base parameters, (b, 2).

        Parameters
        ----------
        level : float
            Confidence level, 0 to 1.

        Returns
        -------
        (b, 2) array
            Lower and upper ends: quantiles of Student's distribution times `standard_deviations`, infinite where these
            are. They cover noise of any spectrum of torques and positions, and errors of the model as far as these
            differ between parts of the logs or between logs. An error that is the same in all of them, such as that of
            a gain of the torques, does not show.

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
        b = self.base.count
        return student_intervals(self.base_parameters, self.standard_deviations, self.freedom[:b], level)

    @property
    def _model(self) -> Model:
        """What predicts torques."""
        return Model(
            self.robot,
            self.parameters,
            self.extra,
            self.columns,
            self.offsets,
            Filtering(self.cutoff, self.hold, self.resample, self.robust),
        )

    def predict(self, log: Recorded, *, most: int | None = None) -> Prediction:
        """Predict the torques of a log on its measured motion, filtered as those of the identification.

        Parameters
        ----------
        log : Log, SimulationResult, LogFile or path
            Log as for `identify`.
        most : int, optional
            Largest number of instants that are returned, from the first on; default all. Errors are those of all.

        Returns
        -------
        Prediction
            Measured and predicted torques, and their errors.
        """
        return predict(self._model, log, most)

    def errors(self, log: Recorded) -> Prediction:
        """Return the errors of the predicted torques of a log of any length: `predict` without instants."""
        return predict(self._model, log, 0)

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
        if self.extra.size and not lossy:
            raise ThunderError(
                f"no file of a robot holds {', '.join(self.extra_names)}: with lossy=True these are left out"
            )
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
