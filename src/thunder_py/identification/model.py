"""Identification of a robot together with models of its friction and of the sensors."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from ..checks import Array, nonnegative
from ..errors import ThunderError, ThunderWarning, outer_level
from ..model.description import Friction
from ..model.parameters import BaseParameters, UnknownParameters
from ..robot import Robot
from ..simulation.friction import FrictionModel
from ..table import Table
from .equations import selection
from .friction import KINDS, FrictionColumns, friction_kinds
from .identification import Identification
from .identify import identify
from .intervals import student_intervals
from .least_squares import given_noise
from .log import Log
from .log_file import Recorded, as_source, as_sources
from .nonlinear import NonlinearProblem, solve
from .prediction import Prediction
from .segments import segment_of, whole_log
from .sensors import SensorCalibration, chosen_quantities, quantity_names
from .windows import Filtering

#: relative standard deviation of a Stribeck velocity above which `identify_model` warns
_UNCERTAIN = 0.2
#: names that a warning lists
_LISTED = 8


@dataclass(frozen=True, kw_only=True, eq=False)
class ModelIdentification:
    """Result of `identify_model`.

    Attributes
    ----------
    identification : Identification
        Links of the robot and coefficients of friction, from logs that are corrected for the sensors. Coefficients of
        friction without direction or Stribeck effect are parameters of its robot, others those of further columns. The
        standard deviations include the uncertainty of sensors and Stribeck velocities.
    friction : FrictionModel or None
        Identified friction; None where the robot's own was kept.
    sensors : SensorCalibration
        Sensors, with the known values of those that were not estimated.
    names : tuple of str
        Parameters of friction and sensors, such as ``joint2.stribeck_velocity`` or ``joint1.torque_gain``.
    estimates, standard_deviations, freedom : (m,) array
        Their values, standard deviations, infinite for those that the logs do not determine, and degrees of freedom.
    invisible : tuple of tuples of str
        Groups of parameters that torques do not distinguish; see `identify_model`.
    resample : float or None
        Frequency [Hz] to which logs were interpolated.

    Examples
    --------
    >>> import numpy as np
    >>> import thunder_py as th
    >>> from thunder_py.simulation import FrictionModel
    >>> from thunder_py.identification import Log, identify_model
    >>> robot, t = th.Robot.load("elbow"), np.arange(0.0, 10.0, 2e-3)
    >>> truth = FrictionModel(viscous=[[0.5], [0.3]], coulomb=[[1.0], [0.5]])
    >>> q, dq, ddq = th.reference.Sinusoid([0.8, 0.6], [0.5, 0.8])(t)
    >>> tau = robot.inverse_dynamics(q, dq, ddq) + truth.torque(dq)
    >>> found = identify_model(robot, Log(t=t, q=q, tau=tau), friction="coulomb", sensors="torque_bias", cutoff=15.0)
    >>> found.names[:4], found.estimates[:4].round(2).tolist()
    (('joint1.viscous', 'joint1.coulomb', 'joint2.viscous', 'joint2.coulomb'), [0.5, 1.0, 0.3, 0.5])
    >>> found.robot.description.friction.terms
    ('viscous', 'coulomb')
    >>> bool(np.abs(found.torque(q, dq, ddq) - tau).max() < 0.01), found.intervals().shape
    (True, (6, 2))
    """

    identification: Identification
    friction: FrictionModel | None
    sensors: SensorCalibration
    names: tuple[str, ...]
    estimates: Array
    standard_deviations: Array
    freedom: Array = field(repr=False)
    invisible: tuple[tuple[str, ...], ...] = field(default=())
    resample: float | None = None

    @property
    def robot(self) -> Robot:
        """Identified robot, with its friction, which a robot cannot hold if it has directions or a Stribeck effect."""
        return self.identification.robot

    def torque(self, q: npt.ArrayLike, dq: npt.ArrayLike, ddq: npt.ArrayLike) -> Array:
        """Predict torques on the links, (..., n), friction included."""
        torque = self.robot.inverse_dynamics(q, dq, ddq)
        if self.friction is None or not self.identification.columns:
            return torque
        return torque + self.friction.torque(dq)

    def intervals(self, level: float = 0.95) -> Array:
        """Return confidence intervals of `estimates`, (m, 2), see `Identification.intervals`."""
        return student_intervals(self.estimates, self.standard_deviations, self.freedom, level)

    def predict(self, log: Recorded, *, most: int | None = None) -> Prediction:
        """Predict the torques of a log, which is corrected for the sensors; see `Identification.predict`."""
        return self.identification.predict(self._exact(log), most=most)

    def errors(self, log: Recorded) -> Prediction:
        """Return the errors of the predicted torques of a log that is corrected for the sensors."""
        return self.identification.errors(self._exact(log))

    def _exact(self, log: Recorded) -> Log:
        found, robot = self.identification, self.identification.robot
        filtering = Filtering(found.cutoff, found.hold, self.resample, found.robust)
        return _corrected(whole_log(robot, as_source(robot, log), filtering), self.sensors)

    def save(self, path: str | Path, *, lossy: bool = False) -> None:
        """Write the robot with the identified parameters, friction included; see `Identification.save`.

        Raises
        ------
        ThunderError
            As for `Identification.save`, also if the friction has directions or a Stribeck effect, which no file holds.
        """
        self.identification.save(path, lossy=lossy)

    def table(self) -> Table:
        """Return a table of the parameters of friction and sensors: name, value, standard deviation."""
        header = ["parameter", "value", "standard deviation"]
        return Table(header, zip(self.names, self.estimates, self.standard_deviations, strict=True))


def identify_model(
    robot: Robot,
    logs: Recorded | Sequence[Recorded],
    *,
    friction: str | Sequence[str] | None = None,
    sensors: str | Iterable[str] = (),
    calibration: SensorCalibration | None = None,
    delta: float | None = None,
    longest_delay: float = 0.05,
    unknown: str | Sequence[str] | npt.ArrayLike | UnknownParameters | None = None,
    weights: Literal["auto"] | npt.ArrayLike = "auto",
    prior: Robot | None = None,
    cutoff: float | None = None,
    hold: float = 0.0,
    resample: float | None = None,
    robust: bool = False,
    **options: Any,
) -> ModelIdentification:
    """Identify a robot with nonlinear friction and with delays, gains and biases of its sensors.

    Parameters
    ----------
    robot : Robot
        Geometry and known parameters, without elastic joints.
    logs : SimulationResult, Log, path, LogFile, or sequence of these
        The logs, as in `identify`. They are held in memory.
    friction : str or sequence of str, optional
        Kind of friction of all joints, or of each: ``"none"``, ``"viscous"``, ``"coulomb"`` (viscous and Coulomb),
        ``"asymmetric"`` (both, different for each direction) or ``"stribeck"`` (viscous, Coulomb and Stribeck effect);
        see `FrictionModel`. It replaces the friction of `robot`, which None keeps.
    sensors : str or sequence of str
        Unknown values of sensors: a quantity of `SensorCalibration` such as ``"torque_gain"`` for all joints, or
        ``"joint2.torque_gain"`` for one.
    calibration : SensorCalibration, optional
        Known values of the others, and initial values of the unknown ones; default exact sensors.
    delta : float, optional
        Width of the smooth sign of `friction` [rad/s or m/s]; default that of the robot's friction, or 0.01.
    longest_delay : float
        Bound of estimated delays [s]; filtered logs lose this time at either end.
    unknown, weights, prior, cutoff, hold, resample
        As in `identify`.
    robust : bool
        Replace spikes of filtered logs and reduce the weight of outliers, as in `identify`; torques further than four
        robust standard deviations from the model do not count for friction and sensors.
    **options
        Further options of `identify` for the last pass, such as ``consistent=True``.

    Returns
    -------
    ModelIdentification
        Robot, friction and sensors.

    Raises
    ------
    ThunderError
        If an argument is invalid, a delay reaches its bound, the robot has elastic joints, or the iteration does not
        converge.

    Warns
    -----
    ThunderWarning
        If the logs do not distinguish some parameters. A common change of these leaves all predicted readings as they
        are; fix one of each group by leaving it out of `sensors`, or by another friction. Also if the standard
        deviation of a Stribeck velocity exceeds a fifth of its value, infinite at its bounds, `delta` and the largest
        speed of the joint.

    Notes
    -----
    The readings are ``tau_j(t + d_j) = g_j (Y(q, dq, ddq) pi + Phi(dq) c)_j + b_j`` and ``q_i(t) = (read_i(t + e_i) -
    c_i) / a_i``. Base parameters and friction coefficients are linear; delays, gains, biases and Stribeck velocities
    are found by Gauss-Newton steps on the residuals from which the linear columns are projected out (Golub and Pereyra
    1973, Kaufman 1975), with the analytical derivatives of the inverse dynamics. Columns of friction are formed of
    velocities behind a filter of four times the cutoff and then filtered like the torques, those of the friction that
    `robot` keeps with ``friction=None`` too. Viscous and Coulomb friction become parameters of the robot in the last
    pass, which keeps them positive with ``consistent=True``; friction with directions or a Stribeck effect is not
    restricted.

    Not distinguishable are: the gains of all torque sensors from the scale of all parameters, unless part of the robot
    is known; equal delays of all sensors; the position biases of a first joint about a vertical axis, of sliding
    joints at the end that no torque depends on, and of a last joint whose link is unknown.

    The last pass is `identify` with the corrected logs and `FrictionColumns`. It finds the linear parameters once more,
    from all samples and with the correction for the noise of positions.

    References
    ----------
    Golub, Pereyra, The differentiation of pseudo-inverses and nonlinear least squares problems whose variables
    separate, SIAM J. Numerical Analysis 10(2), 1973.
    Kaufman, A variable projection method for solving separable nonlinear least squares problems, BIT 15, 1975.

    Examples
    --------
    >>> import numpy as np
    >>> import thunder_py as th
    >>> from thunder_py.simulation import FrictionModel
    >>> from thunder_py.identification import Log, SensorCalibration, identify_model
    >>> robot, t = th.Robot.load("elbow"), np.arange(0.0, 10.0, 2e-3)
    >>> truth = FrictionModel(viscous=[[0.5], [0.3]], coulomb=[[1.0], [0.5]], stribeck=[0.4, 0.3], velocity=[0.1, 0.2])
    >>> q, dq, ddq = th.reference.Sinusoid([0.8, 0.6], [0.5, 0.8])(t)
    >>> tau = robot.inverse_dynamics(q, dq, ddq) + truth.torque(dq)
    >>> late = SensorCalibration(2, torque_delay=0.004, torque_bias=[0.5, -0.2])
    >>> t, q, tau = late.read(t, q, tau)
    >>> tau += np.random.default_rng(0).normal(scale=0.01, size=tau.shape)
    >>> found = identify_model(
    ...     robot,
    ...     Log(t=t, q=q, tau=tau),
    ...     friction="stribeck",
    ...     sensors=["torque_delay", "torque_bias"],
    ...     cutoff=15.0,
    ... )
    >>> found.sensors.torque_bias.round(1).tolist(), found.sensors.torque_delay.round(3).tolist()
    ([0.5, -0.2], [0.004, 0.004])
    >>> found.friction.velocity.round(1).tolist()
    [0.1, 0.2]
    """
    filtering = Filtering(cutoff, nonnegative(hold, "hold"), resample, robust)
    whole = [whole_log(robot, source, filtering) for source in as_sources(robot, logs)]
    if "columns" in options:
        raise ThunderError("columns must be left out: identify_model finds friction and sensors only, use identify")
    kinds = None if friction is None else friction_kinds(friction, robot.n)
    own = robot.description.friction
    if delta is None or kinds is None:
        delta = 1e-2 if own is None else own.delta
    if kinds is not None:
        robot, prior, unknown = _with_friction(robot, prior, unknown, kinds, delta)
    problem = _problem(
        robot, whole, kinds, sensors, calibration, delta, longest_delay, unknown, weights, prior, filtering
    )
    solution = solve(problem, robust=robust)
    _warn_of_invisible(solution.invisible)
    point = solution.point
    gain = np.asarray(point.sensors.torque_gain, dtype=np.float64)
    columns = None if kinds is None else FrictionColumns(kinds, robot.joint_names, delta, point.velocity)
    further = columns is not None and columns.names and robot.description.friction is None
    identification = identify(
        robot,
        [_corrected(log, point.sensors) for log in whole],
        unknown=unknown,
        weights=weights if isinstance(weights, str) else gain * np.asarray(weights),
        prior=prior,
        cutoff=cutoff,
        hold=hold,
        columns=[columns] if columns is not None and further else [],
        robust=robust,
        **options,
    )
    known, deviations = len(problem.linear_names), solution.standard_deviations
    nonlinear = np.concatenate([point.sensors.vector()[problem.chosen], point.velocity[problem.stribeck]])
    _warn_of_uncertain(problem.names, nonlinear, deviations[known:])
    order = [*identification.base.names, *identification.extra_names]
    places = [problem.linear_names.index(name) for name in order]
    c = 0 if columns is None else known - problem.base.count
    values = dict(zip(order, [*identification.base_parameters, *identification.extra], strict=True))
    coefficients = np.array([values[name] for name in problem.linear_names[known - c :]])
    return ModelIdentification(
        identification=replace(
            identification,
            standard_deviations=deviations[places[: identification.base.count]],
            extra_deviations=deviations[places[identification.base.count :]],
            covariance=solution.covariance[np.ix_(places, places)],
            freedom=solution.freedom[places],
            sources=solution.sources,
        ),
        friction=None if columns is None else columns.model(coefficients),
        sensors=point.sensors,
        names=(*problem.linear_names[known - c :], *problem.names),
        estimates=np.concatenate([coefficients, nonlinear]),
        standard_deviations=deviations[known - c :],
        freedom=solution.freedom[known - c :],
        invisible=solution.invisible,
        resample=resample,
    )


def _with_friction(
    robot: Robot,
    prior: Robot | None,
    unknown: str | Sequence[str] | npt.ArrayLike | UnknownParameters | None,
    kinds: Sequence[str],
    delta: float,
) -> tuple[Robot, Robot | None, npt.NDArray[np.bool_]]:
    """Return robot and prior with friction of zero in place of theirs, and what is then unknown.

    The robots have no friction where they cannot hold these kinds.
    """
    n, plain = robot.n, robot.replace(friction=None)
    mask = selection(plain, unknown)[0].mask
    used = {name for kind in kinds for name in KINDS[kind]}
    terms, friction = tuple(name for name in Friction.TERMS if name in used), None
    if used and used == set(terms):
        friction = Friction(terms=terms, coefficients=np.zeros((n, len(terms))), delta=delta)
        here = [name in KINDS[kind] for kind in kinds for name in terms]
        mask = np.concatenate([mask[: 10 * n], here, mask[10 * n :]])
    return plain.replace(friction=friction), None if prior is None else prior.replace(friction=friction), mask


def _problem(
    robot: Robot,
    logs: Sequence[Log],
    kinds: Sequence[str] | None,
    sensors: str | Iterable[str],
    calibration: SensorCalibration | None,
    delta: float,
    longest_delay: float,
    unknown: str | Sequence[str] | npt.ArrayLike | UnknownParameters | None,
    weights: Literal["auto"] | npt.ArrayLike,
    prior: Robot | None,
    filtering: Filtering,
) -> NonlinearProblem:
    """Check all arguments."""
    if robot.e:
        raise ThunderError(f"robot must not have elastic joints, as {robot.name} has: use identify")
    start = SensorCalibration(robot.n) if calibration is None else calibration
    if start.n != robot.n:
        raise ThunderError(f"calibration must have {robot.n} joints, got {start.n}")
    first = robot if prior is None else prior
    if first.parameter_names != robot.parameter_names:
        raise ThunderError(f"prior must have the parameters of {robot.name}, got {first!r}")
    mask = selection(robot, unknown)[0].mask
    terms, rubbing = _friction(robot, mask, kinds)
    base = robot.unknown(mask).base_parameters()
    if base.count == 0:
        raise ThunderError("unknown must hold a parameter that torques depend on")
    own = robot.description.friction
    rubbing_too = 10 * robot.n + np.arange(0 if own is None else own.coefficients.size)
    base, mask = _without(base, rubbing_too), np.delete(mask, rubbing_too)
    robot, first = (each.replace(friction=None) for each in (robot, first))
    quantities = chosen_quantities(robot, sensors)
    delays = np.array([name.endswith("_delay") for name in quantity_names(robot)])
    longest = float(np.abs(start.vector()[delays]).max())
    if delays[quantities].any():
        longest = max(longest, nonnegative(longest_delay, "longest_delay"))
    segments = [segment_of(log, filtering, longest) for log in logs]
    sizes, gains = np.array([(segment.at.size, segment.gain) for segment in segments]).T
    noise = given_noise(weights, robot.n)
    return NonlinearProblem(
        robot=robot,
        prior=np.where(mask, first.parameters, robot.parameters),
        mask=mask,
        base=base,
        terms=terms,
        rubbing=rubbing,
        delta=delta,
        start=start,
        chosen=quantities,
        segments=segments,
        longest_delay=longest,
        noise=None if noise is None else np.sqrt(sizes @ gains / sizes.sum()) * noise,
    )


def _without(base: BaseParameters, friction: npt.NDArray[np.intp]) -> BaseParameters:
    """Return the base parameters of a robot without friction, whose columns no others depend on."""
    kept = ~np.isin(base.independent, friction)
    independent = base.independent[kept]
    return replace(
        base,
        independent=independent - np.searchsorted(friction, independent),
        mapping=np.delete(base.mapping[kept], friction, axis=1),
        names=tuple(np.array(base.names)[kept].tolist()),
    )


def _friction(
    robot: Robot, mask: npt.NDArray[np.bool_], kinds: Sequence[str] | None
) -> tuple[tuple[tuple[str, ...], ...], tuple[Array, ...]]:
    """Return the columns of friction of each joint, and their coefficients, NaN for unknown ones."""
    own = robot.description.friction
    if kinds is not None:
        names = tuple(KINDS[kind] for kind in kinds)
        return names, tuple(np.full(len(each), np.nan) for each in names)
    if own is None:
        return ((),) * robot.n, (np.zeros(0),) * robot.n
    unknown = mask[10 * robot.n :][: own.coefficients.size].reshape(own.coefficients.shape)
    return (own.terms,) * robot.n, tuple(np.where(unknown, np.nan, own.coefficients))


def _corrected(log: Log, sensors: SensorCalibration) -> Log:
    """Return what exact sensors would have read."""
    t, q, tau = sensors.correct(log.t, log.q, log.tau)
    gain = np.asarray(sensors.position_gain, dtype=np.float64)
    dq, ddq = (None if part is None else part / gain for part in (log.dq, log.ddq))
    return Log(t=t, q=q, tau=tau, dq=dq, ddq=ddq, name=log.name)


def _warn_of_invisible(groups: Sequence[Sequence[str]]) -> None:
    for first, *others in groups:
        listed = ", ".join(others[:_LISTED]) + (f" and {len(others) - _LISTED} more" if len(others) > _LISTED else "")
        change = f"from a change of {listed}" if others else "at all"
        if first.endswith(".stribeck_velocity"):
            advice = "choose another friction for this joint, or move it slowly in both directions"
        else:
            advice = "leave it out of sensors, or give its value by calibration"
        _warn(f"the logs do not distinguish {first} {change}: {advice}")


def _warn_of_uncertain(names: Sequence[str], values: Array, deviations: Array) -> None:
    """Warn of Stribeck velocities that are so uncertain that linear intervals do not hold."""
    uncertain = [
        f"{name} ({100.0 * deviation / value:.0f} %)"
        for name, value, deviation in zip(names, values, deviations, strict=True)
        if name.endswith(".stribeck_velocity") and deviation > _UNCERTAIN * value
    ]
    if uncertain:
        _warn(
            f"the logs hardly determine {', '.join(uncertain)}: intervals of these and of the Stribeck coefficients "
            "are too narrow"
        )


def _warn(message: str) -> None:
    warnings.warn(message, ThunderWarning, stacklevel=outer_level())
