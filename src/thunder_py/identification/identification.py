"""Result of an identification."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from ..checks import Array
from ..robot import Robot, inertia
from ..robot.robot import BaseParameters, UnknownParameters
from ..table import Table
from .equations import Columns

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["Identification"]


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
        Values of the base parameters, and standard deviations of the plain least-squares estimate for torque noise that
        is white before the filter (also with ``consistent=True``); infinite for parameters that the motion does not
        excite or noise of the positions hides.
    residual_rms : (r,) array
        Root mean square of the torque residuals [N m or N]: n joints, then e motors; with measured joint torques n
        joints, e springs, e motors.
    noise : (r,) array
        Standard deviations that weighted these rows [N m or N].
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
    extra: Array
    extra_deviations: Array
    extra_names: tuple[str, ...]
    columns: tuple[Columns, ...] = field(repr=False)
    logs: tuple[str, ...]
    count: int
    cutoff: float | None
    hold: float

    @property
    def physical(self) -> npt.NDArray[np.bool_]:
        """True for each link with a positive definite pseudo-inertia, (n,)."""
        return inertia.is_physical(self.robot.inertial)

    def torque(self, q: npt.ArrayLike, dq: npt.ArrayLike, ddq: npt.ArrayLike) -> Array:
        """Predict torques on the links, (..., n)."""
        return self.robot.inverse_dynamics(q, dq, ddq)

    def table(self) -> Table:
        """Return a table of the base parameters: leading name, value, standard deviation in per cent."""
        columns = zip(self.base.names, self.base_parameters, self.standard_deviations, strict=True)
        rows = ((name, value, 100.0 * sigma / abs(value) if value else np.inf) for name, value, sigma in columns)
        return Table(["base parameter", "value", "standard deviation [%]"], rows)

    def plot(self, *, ax: Axes | None = None, truth: Robot | None = None) -> Axes:
        """Plot the base parameters with two standard deviations.

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
