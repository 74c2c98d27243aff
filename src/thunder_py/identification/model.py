"""Identification of a robot together with models of its friction and of the sensors."""

from __future__ import annotations

import dataclasses
import warnings
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from ..checks import Array, zero_or_above
from ..errors import ThunderError, ThunderWarning, outer_level
from ..robot import Robot
from ..robot.robot import UnknownParameters
from ..table import Table
from .equations import selection
from .friction import FrictionModel, friction_kinds
from .identification import Identification, normal_intervals
from .identify import identify
from .least_squares import given_noise
from .log import Log
from .log_file import Recorded, as_source, as_sources
from .nonlinear import NonlinearProblem, solve
from .prediction import Errors, Prediction
from .segments import segment_of, whole_log
from .sensors import SensorCalibration, chosen_quantities, quantity_names
from .windows import Filtering

__all__ = ["ModelIdentification", "identify_model"]

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
        Links of the robot and coefficients of friction, from logs that are corrected for the sensors. The standard
        deviations include the uncertainty of sensors and Stribeck velocities.
    friction : FrictionModel or None
        Identified friction; None where the robot's own was kept.
    sensors : SensorCalibration
        Sensors, with the known values of those that were not estimated.
    names : tuple of str
        Parameters of friction and sensors, such as ``joint2.stribeck_velocity`` or ``joint1.torque_gain``.
    estimates, standard_deviations : (m,) array
        Their values and standard deviations, infinite for those that the logs do not determine.
    invisible : tuple of tuples of str
        Groups of parameters that torques do not distinguish; see `identify_model`.
    resample : float or None
        Frequency [Hz] to which logs were interpolated.

    Examples
    --------
    >>> import numpy as np
    >>> import thunder_py as th
    >>> from thunder_py.identification import FrictionModel, Log, identify_model
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
    invisible: tuple[tuple[str, ...], ...] = field(default=())
    resample: float | None = None

    @property
    def robot(self) -> Robot:
        """Identified robot, with the identified friction where a robot can hold it (`FrictionModel.in_robot`)."""
        robot, held = self.identification.robot, None if self.friction is None else self.friction.in_robot
        return robot if held is None else robot.replace(friction=held)

    def torque(self, q: npt.ArrayLike, dq: npt.ArrayLike, ddq: npt.ArrayLike) -> Array:
        """Predict torques on the links, (..., n), friction included."""
        torque = self.identification.torque(q, dq, ddq)
        return torque if self.friction is None else torque + self.friction.torque(dq)

    def intervals(self, level: float = 0.95) -> Array:
        """Return confidence intervals of `estimates`, (m, 2), for normal errors."""
        return normal_intervals(self.estimates, self.standard_deviations, level)

    def predict(self, log: Recorded, *, most: int | None = None) -> Prediction:
        """Predict the torques of a log, which is corrected for the sensors; see `Identification.predict`."""
        return self.identification.predict(self._exact(log), most=most)

    def errors(self, log: Recorded) -> Errors:
        """Return the errors of the predicted torques of a log that is corrected for the sensors."""
        return self.identification.errors(self._exact(log))

    def _exact(self, log: Recorded) -> Log:
        found, robot = self.identification, self.identification.robot
        filtering = Filtering(found.cutoff, found.hold, self.resample, found.robust)
        return _corrected(whole_log(robot, as_source(robot, log), filtering), self.sensors)

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
        Width of the smooth sign of friction [rad/s or m/s]; default that of the robot's friction, or 0.01.
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
        If an argument is invalid, a delay reaches its bound, or the robot has elastic joints.
    ModelError
        If the iteration does not converge.

    Warns
    -----
    ThunderWarning
        If the logs do not distinguish some parameters. A common change of these leaves all predicted readings as they
        are; fix one of each group by leaving it out of `sensors`. Also if the standard deviation of a Stribeck velocity
        exceeds a fifth of its value, infinite at its bounds, `delta` and the largest speed of the joint.

    Notes
    -----
    The readings are ``tau_j(t + d_j) = g_j (Y(q, dq, ddq) pi + Phi(dq) c)_j + b_j`` and ``q_i(t) = (read_i(t + e_i) -
    c_i) / a_i``. Base parameters and friction coefficients are linear; delays, gains, biases and Stribeck velocities
    are found by Gauss-Newton steps on the residuals from which the linear columns are projected out (Golub and Pereyra
    1973, Kaufman 1975), with the analytical derivatives of the inverse dynamics. Columns of friction are formed of
    velocities behind a filter of four times the cutoff and then filtered like the torques. Those of the friction that
    `robot` keeps with ``friction=None`` are formed of the filtered velocities before the last pass.

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
    >>> from thunder_py.identification import FrictionModel, Log, SensorCalibration, identify_model
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
    filtering = Filtering(cutoff, zero_or_above(hold, "hold"), resample, robust)
    whole = [whole_log(robot, source, filtering) for source in as_sources(robot, logs)]
    problem = _problem(
        robot, whole, friction, sensors, calibration, delta, longest_delay, unknown, weights, prior, filtering
    )
    solution = solve(problem, robust=robust)
    _warn_of_invisible(solution.invisible)
    point, columns = solution.point, problem.friction(solution.point.velocity)
    gain = np.asarray(point.sensors.torque_gain, dtype=np.float64)
    identification = identify(
        problem.robot,
        [_corrected(log, point.sensors) for log in whole],
        unknown=unknown,
        weights=weights if isinstance(weights, str) else gain * np.asarray(weights),
        prior=None if prior is None else prior.replace(friction=problem.robot.description.friction),
        cutoff=cutoff,
        hold=hold,
        columns=[columns] if columns.names else [],
        robust=robust,
        **options,
    )
    b, c = problem.base.count, len(columns.names)
    deviations = solution.standard_deviations
    nonlinear = np.concatenate([point.sensors.vector()[problem.chosen], point.velocity[problem.stribeck]])
    _warn_of_uncertain(problem.names, nonlinear, deviations[b + c :])
    return ModelIdentification(
        identification=dataclasses.replace(
            identification,
            standard_deviations=deviations[:b],
            extra_deviations=deviations[b : b + c],
            covariance=solution.covariance[: b + c, : b + c],
        ),
        friction=None if friction is None else columns.model(identification.extra),
        sensors=point.sensors,
        names=(*columns.names, *problem.names),
        estimates=np.concatenate([identification.extra, nonlinear]),
        standard_deviations=deviations[b:],
        invisible=solution.invisible,
        resample=resample,
    )


def _problem(
    robot: Robot,
    logs: Sequence[Log],
    friction: str | Sequence[str] | None,
    sensors: str | Iterable[str],
    calibration: SensorCalibration | None,
    delta: float | None,
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
    if delta is None:
        delta = 1e-2 if robot.description.friction is None else robot.description.friction.delta
    first = robot if prior is None else prior
    if friction is not None:
        robot, first = (each.replace(friction=None) for each in (robot, first))
    if first.parameter_names != robot.parameter_names:
        raise ThunderError(f"prior must have the parameters of {robot.name}, got {first!r}")
    chosen = selection(robot, unknown)[0]
    base = chosen.base_parameters()
    if base.count == 0:
        raise ThunderError("unknown must hold a parameter that torques depend on")
    quantities = chosen_quantities(robot, sensors)
    delays = np.array([name.endswith("_delay") for name in quantity_names(robot)])
    longest = float(np.abs(start.vector()[delays]).max())
    if delays[quantities].any():
        longest = max(longest, zero_or_above(longest_delay, "longest_delay"))
    segments = [segment_of(log, filtering, longest) for log in logs]
    sizes, gains = np.array([(segment.at.size, segment.gain) for segment in segments]).T
    noise = given_noise(weights, robot.n)
    return NonlinearProblem(
        robot=robot,
        prior=np.where(chosen.mask, first.parameters, robot.parameters),
        mask=chosen.mask,
        base=base,
        kinds=friction_kinds("none" if friction is None else friction, robot.n),
        delta=delta,
        start=start,
        chosen=quantities,
        segments=segments,
        longest_delay=longest,
        noise=None if noise is None else np.sqrt(sizes @ gains / sizes.sum()) * noise,
    )


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
