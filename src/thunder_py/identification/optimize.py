"""Optimization of exciting motions within joint limits."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from ..checks import Array, one_of, positive, whole
from ..errors import ThunderError
from ..model.parameters import UnknownParameters
from ..parallel import Workers, map_items
from ..progress import percentage, reporting
from ..robot import Robot
from ..trajectory import MotionLimits
from .excitation import CRITERIA, ExcitationProblem, FourierBasis
from .measures import Conditioning, condition_numbers

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from ..trajectory import FourierSeries

#: instants per period of the highest harmonic, in the optimization and for the verification of limits
_SAMPLES, _FINE = 20, 200


@dataclass(frozen=True, kw_only=True, eq=False)
class Excitation:
    """Exciting motion, from `optimize_excitation`.

    Attributes
    ----------
    robot : Robot
        Robot whose parameters the motion excites.
    reference : FourierSeries
        Periodic motion, at rest at the start and end of a period.
    duration : float
        Length of one period [s].
    criterion : str
        Minimized criterion.
    history : tuple of (i,) array
        Criterion after each iteration of each restart: the condition number, or minus the logarithm of det(W'W) per
        base parameter.
    condition : Conditioning
        Condition numbers of the stacked base regressor.
    limits : MotionLimits
        Limits of the motion.
    margins : dict of str to (n,) array
        Remaining fraction of each limit, by ``position``, ``velocity``, ``acceleration`` and ``effort``.

    Examples
    --------
    >>> import thunder_py as th
    >>> from thunder_py.identification import optimize_excitation
    >>> from thunder_py.trajectory import MotionLimits
    >>> limits = MotionLimits(lower=[-1.0, -1.0], upper=[1.0, 1.0], velocity=3.0)
    >>> excitation = optimize_excitation(th.Robot.load("elbow"), 5.0, 2, limits=limits, restarts=1, iterations=20)
    >>> sorted(excitation.margins), bool(abs(excitation.reference(0.0).dq).max() < 1e-9)
    (['acceleration', 'effort', 'position', 'velocity'], True)
    """

    robot: Robot
    reference: FourierSeries
    duration: float
    criterion: str
    history: tuple[Array, ...]
    condition: Conditioning
    limits: MotionLimits
    margins: dict[str, Array]

    @property
    def margin(self) -> float:
        """Smallest of all margins; negative if a limit is violated."""
        return float(min(values.min() for values in self.margins.values()))

    def plot(self, *, axes: Mapping[str, Axes] | None = None) -> dict[str, Axes]:
        """Plot positions and velocities relative to their limits, and the history of the criterion.

        Parameters
        ----------
        axes : mapping of str to Axes, optional
            Panels to draw, of ``"position"``, ``"velocity"`` and ``"criterion"``; default all, in a new figure.

        Returns
        -------
        dict of str to Axes
            The panels drawn.
        """
        from .plot import plot_excitation

        return plot_excitation(self, axes=axes)

    def plot_path(self, *, ax: Axes | None = None) -> Axes:
        """Plot the path of the end effector in 3-D.

        Parameters
        ----------
        ax : Axes3D, optional
            Default a new figure.

        Returns
        -------
        Axes3D
            The panel drawn.
        """
        from .plot import plot_excitation_path

        return plot_excitation_path(self, ax=ax)

    def __repr__(self) -> str:
        """Robot, duration, harmonics, condition number and margin."""
        return (
            f"<Excitation of {self.robot.name!r}: {self.duration:g} s, {self.reference.a.shape[1]} harmonics, "
            f"condition {self.condition.unscaled:.3g}, least margin {self.margin:.2g}>"
        )


def optimize_excitation(
    robot: Robot,
    duration: float = 10.0,
    harmonics: int = 5,
    *,
    limits: MotionLimits | None = None,
    criterion: Literal["condition", "d_optimal"] = "condition",
    unknown: Any = None,
    seed: int = 0,
    restarts: int = 3,
    iterations: int = 150,
    workers: Workers = 1,
    progress: bool | Callable[[float], object] = False,
) -> Excitation:
    """Optimize a Fourier series for the excitation of the base parameters.

    Parameters
    ----------
    robot : Robot
        Robot; its parameters have an effect only with torque limits.
    duration : float
        Length of one period [s].
    harmonics : int
        Number of harmonics, 2 to 50.
    limits : MotionLimits, optional
        Default ``MotionLimits.of(robot)``: positions and velocities.
    criterion : {"condition", "d_optimal"}
        Condition number of the base regressor W with unscaled columns; or minus log det(W'W), which also rewards large
        torques.
    unknown : str, sequence of str, (p,) bool array or UnknownParameters, optional
        Parameters whose base parameters are excited; default all.
    seed : int
        Seed of the random starts.
    restarts : int
        Number of local searches from random starts; the best result is returned.
    iterations : int
        Largest number of iterations of each search.
    workers : Workers
        Where the searches are made, see `run_tasks`. The result does not depend on it.
    progress : bool or callable
        True shows a bar on terminals and in notebooks; a callable gets the completed fraction, 0 to 1.

    Returns
    -------
    Excitation
        Motion verified on a fine grid to keep its limits.

    Raises
    ------
    ThunderError
        If no motion within the limits was found.

    Notes
    -----
    Sequential quadratic programming (SciPy's SLSQP) over the linear space of coefficients with start and end at rest.
    Each limit of each joint is one smooth constraint on a p-norm over the period, which is never below the maximum.
    Gradients use singular vectors of W and central differences of the batched regressor by the state.

    Examples
    --------
    >>> import thunder_py as th
    >>> from thunder_py.identification import optimize_excitation
    >>> from thunder_py.trajectory import MotionLimits
    >>> limits = MotionLimits(lower=[-1.0, -1.0], upper=[1.0, 1.0], velocity=3.0)
    >>> excitation = optimize_excitation(th.Robot.load("elbow"), 5.0, 2, limits=limits, restarts=1, iterations=20)
    >>> excitation.margin >= 0.0, len(excitation.history)
    (True, 1)
    """
    problem = _problem(robot, duration, harmonics, limits, criterion, unknown)
    for name, value, least in (("restarts", restarts, 1), ("iterations", iterations, 1)):
        whole(value, name, least)
    rng = np.random.default_rng(seed)
    starts = [problem.start(rng) for _ in range(restarts)]
    with reporting(progress, percentage()) as report:
        if workers == 1:  # with reports from within the searches
            found = [_search(problem, iterations, x, _part(report, k, restarts)) for k, x in enumerate(starts)]
        else:
            found = map_items(partial(_search, problem, iterations), starts, workers=workers, progress=report)
    admitted = [(problem.objective(x)[0], k) for k, (x, _) in enumerate(found) if problem.fine_margin(x) >= 0.0]
    if not admitted:
        raise ThunderError("limits must admit a motion, and none was found: widen the limits, or try more restarts")
    return _excitation(problem, found[min(admitted)[1]][0], tuple(history for _, history in found))


def _search(
    problem: ExcitationProblem, iterations: int, start: Array, report: Callable[[float], object] = lambda _: None
) -> tuple[Array, Array]:
    """Return the solution of a local search, within the limits if possible, and the history of the criterion."""
    x, history = problem.search(start, iterations, report)
    return problem.shrunk(x), np.exp(history) if problem.criterion == "condition" else history


def _problem(
    robot: Robot, duration: float, harmonics: int, limits: MotionLimits | None, criterion: str, unknown: Any
) -> ExcitationProblem:
    one_of(criterion, CRITERIA, "criterion")
    duration = positive(duration, "duration")
    whole(harmonics, "harmonics", 2, 50)
    if limits is None:
        limits = MotionLimits.of(robot)
    if limits.lower.size != robot.n:
        raise ThunderError(f"limits must be of {robot.n} joints, got {limits.lower.size}")
    chosen = robot.unknown(unknown.mask if isinstance(unknown, UnknownParameters) else unknown)
    columns = chosen.base_parameters().independent
    if columns.size == 0:
        raise ThunderError("unknown must hold a parameter that torques depend on")
    grids = [FourierBasis(duration, int(harmonics), density * int(harmonics)) for density in (_SAMPLES, _FINE)]
    return ExcitationProblem(robot, columns, criterion, limits, *grids)


def _excitation(problem: ExcitationProblem, x: Array, histories: tuple[Array, ...]) -> Excitation:
    q0, c = problem.unpack(x)
    W = problem.robot.regressor(*problem.basis.states(q0, c))[..., problem.columns]
    return Excitation(
        robot=problem.robot,
        reference=problem.basis.series(q0, c),
        duration=problem.basis.period,
        criterion=problem.criterion,
        history=histories,
        condition=condition_numbers(W.reshape(-1, problem.columns.size)),
        limits=problem.limits,
        margins=problem.margins(x),
    )


def _part(report: Callable[[float], object], k: int, count: int) -> Callable[[float], object]:
    return lambda done: report((k + done) / count)
