"""Motions that tell as much as possible about the parameters, within limits."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import numpy.typing as npt

from ..checks import Array, array
from ..errors import ThunderError
from ..progress import percentage
from ..robot import Robot
from ..robot.robot import UnknownParameters
from .excitation import CRITERIA, ExcitationProblem, FourierBasis, MotionLimits
from .measures import Conditioning, condition_numbers

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from ..trajectory import FourierSeries

__all__ = ["Excitation", "optimise_excitation"]

#: instants for each period of the highest harmonic: in the optimisation, and where limits are verified
_SAMPLES, _FINE = 20, 200


@dataclass(frozen=True, kw_only=True, eq=False)
class Excitation:
    """An exciting motion.

    Attributes
    ----------
    robot : Robot
        Whose parameters it excites.
    reference : FourierSeries
        The motion, periodic; it starts and ends a period at rest.
    duration : float
        Of one period [s].
    criterion : str
        What was minimised.
    history : tuple of (i,) array
        Values of the criterion, iteration by iteration, of each restart: the condition number, or minus the logarithm
        of det(W'W) for each base parameter.
    condition : Conditioning
        Of the stacked base regressor.
    limits : MotionLimits
        What it keeps.
    margins : dict of str to (n,) array
        What remains of each limit, as a part of it, by ``position``, ``velocity``, ``acceleration`` and ``effort``.
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
        """Least of all margins: negative where a limit is broken."""
        return float(min(values.min() for values in self.margins.values()))

    def plot(self, *, axes: npt.NDArray[np.object_] | None = None) -> npt.NDArray[np.object_]:
        """Draw the motion between its limits and the way of the optimiser; see `thunder_py.plotting`."""
        from .plot import plot_excitation

        return plot_excitation(self, axes=axes)

    def plot_path(self, *, axes: Axes | None = None) -> Axes:
        """Draw where the end effector goes."""
        from .plot import plot_excitation_path

        return plot_excitation_path(self, axes=axes)

    def __repr__(self) -> str:
        """Size and quality."""
        return (
            f"<Excitation of {self.robot.name!r}: {self.duration:g} s, {self.reference.a.shape[1]} harmonics, "
            f"condition {self.condition.unscaled:.3g}, least margin {self.margin:.2g}>"
        )


def optimise_excitation(
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
    progress: bool | Callable[[float], object] = False,
) -> Excitation:
    """Look for the Fourier series that excites the base parameters most.

    Parameters
    ----------
    robot : Robot
        Its parameters matter only where torques are limited.
    duration : float
        Of one period [s].
    harmonics : int
        At least 2.
    limits : MotionLimits, optional
        Default ``MotionLimits.of(robot)``: positions and velocities.
    criterion : {"condition", "d_optimal"}
        Condition number of the base regressor W, columns as they are; or minus log det(W'W), which weighs the size of
        the torques as well.
    unknown : str, sequence of str, (p,) bool array or UnknownParameters, optional
        Excite the base parameters of these alone; default of all.
    seed : int
        Of the random starts.
    restarts : int
        Local searches from different starts; the best is returned.
    iterations : int
        At most so many for each.
    progress : bool or callable
        True shows a bar on terminals and in notebooks; a callable gets the part done, 0 to 1.

    Returns
    -------
    Excitation
        Verified on a fine grid to keep its limits.

    Raises
    ------
    ThunderError
        If no motion within the limits was found.

    Notes
    -----
    Sequential quadratic programming (SciPy's SLSQP). Start and end at rest leave a linear space of coefficients;
    limits are one smooth function for each joint and kind, a p-norm over the period that is never below the maximum.
    Gradients follow singular vectors of W and central differences of the batched regressor by the state.
    """
    problem = _problem(robot, duration, harmonics, limits, criterion, unknown)
    for name, value, least in (("restarts", restarts, 1), ("iterations", iterations, 1)):
        if isinstance(value, bool) or not isinstance(value, (int, np.integer)) or value < least:
            raise ThunderError(f"{name} must be a whole number of at least {least}, got {value!r}")
    rng = np.random.default_rng(seed)
    best: tuple[float, Array] | None = None
    histories = []
    with _reporting(progress) as report:
        for k in range(restarts):
            x, history = problem.search(problem.start(rng), iterations, _part(report, k, restarts))
            histories.append(np.exp(history) if criterion == "condition" else history)
            x = problem.shrunk(x)
            reached = problem.objective(x)[0]
            if problem.fine_margin(x) >= 0.0 and (best is None or reached < best[0]):
                best = (reached, x)
    if best is None:
        raise ThunderError("no motion within the limits was found: widen the limits, or try more restarts")
    return _excitation(problem, best[1], tuple(histories))


def _problem(
    robot: Robot, duration: float, harmonics: int, limits: MotionLimits | None, criterion: str, unknown: Any
) -> ExcitationProblem:
    if criterion not in CRITERIA:
        raise ThunderError(f"criterion must be one of {tuple(CRITERIA)}, got {criterion!r}")
    duration = float(array(duration, (), "duration"))
    if duration <= 0.0:
        raise ThunderError(f"duration must be positive, got {duration:g}")
    if isinstance(harmonics, bool) or not isinstance(harmonics, (int, np.integer)) or not 2 <= harmonics <= 50:
        raise ThunderError(f"harmonics must be a whole number from 2 to 50, got {harmonics!r}")
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


@contextmanager
def _reporting(progress: bool | Callable[[float], object]) -> Iterator[Callable[[float], object]]:
    if callable(progress):
        yield progress
    elif not progress:
        yield lambda done: None
    else:
        with percentage() as report:
            yield report
