"""Identification of parameters from logged motion and torque."""

from __future__ import annotations

import logging
import warnings
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from ..checks import Array, nonnegative, positive, whole
from ..errors import ThunderError, ThunderWarning, outer_level
from ..model.description import Friction
from ..model.parameters import UnknownParameters
from ..robot import Payload, Robot
from ..simulation import SimulationResult
from .equations import Columns, all_names, all_parameters, extended, selection, with_all_parameters
from .findings import diagnose
from .friction import FrictionColumns, friction_kinds, friction_model, kind_terms
from .identification import PAYLOAD, Identification
from .least_squares import given_noise
from .log import Log, LogSource, check_signals
from .log_file import Recorded, as_sources
from .nonlinear import Nonlinear
from .problem import Problem
from .sensors import SensorCalibration, chosen_quantities, quantity_names
from .solve import Estimate, solve
from .windows import Filtering

_LOG = logging.getLogger(__name__)

#: relative standard deviation of a stiffness or motor inertia above which `identify` warns
_UNCERTAIN = 0.1
#: the same of a Stribeck velocity
_UNCERTAIN_VELOCITY = 0.2
#: names that a warning lists
_LISTED = 8
#: correlation above which x follows q, and the factor from which on it does not resemble q
_ALIKE, _FACTOR = 0.9, 4.0


def identify(
    robot: Robot,
    t: npt.ArrayLike | Recorded | Sequence[Recorded] = (),
    q: npt.ArrayLike | None = None,
    dq: npt.ArrayLike | None = None,
    ddq: npt.ArrayLike | None = None,
    tau: npt.ArrayLike | None = None,
    *,
    x: npt.ArrayLike | None = None,
    dx: npt.ArrayLike | None = None,
    ddx: npt.ArrayLike | None = None,
    joint_torque: npt.ArrayLike | None = None,
    friction: str | Sequence[str] | None = None,
    delta: float | None = None,
    sensors: str | Iterable[str] = (),
    calibration: SensorCalibration | None = None,
    longest_delay: float = 0.05,
    loaded: Recorded | Sequence[Recorded] = (),
    payload: Payload | None = None,
    payload_prior: Payload | None = None,
    link: int | str | None = None,
    unknown: str | Sequence[str] | npt.ArrayLike | UnknownParameters | None = None,
    weights: Literal["auto"] | npt.ArrayLike = "auto",
    prior: Robot | None = None,
    consistent: bool | Literal["payload"] = False,
    regularization: float = 1.0,
    cutoff: float | None = None,
    hold: float = 0.0,
    offsets: bool = True,
    robust: bool = False,
    columns: Sequence[Columns] = (),
    resample: float | None = None,
    threads: int = 0,
) -> Identification:
    """Identify links, friction, elastic joints, sensors and a payload by weighted least squares.

    Parameters
    ----------
    robot : Robot
        Geometry, known parameters, and the default prior.
    t : (k,) array_like, SimulationResult, Log, path, LogFile, or sequence of these
        Instants [s], or one or several logs without a payload; may be left out with `loaded`. Of a run only `t`, `q`,
        `tau` and, for elastic joints, `x` are used. A path is that of a `LogFile`. Files are read in parts, so that
        they may be larger than the memory.
    q, dq, ddq : (k, n) array_like
        Motion. Without `ddq`, velocity and acceleration are computed from `q` by `differentiate`, and `tau` passes the
        same filter; samples within two periods of the cutoff from either end are left out, and some more where the
        cutoff is near half the sampling frequency. With `cutoff` this holds
        although `dq` and `ddq` are given, with a warning.
    tau : (k, n) array_like
        Measured torque [N m or N]; that of elastic joints drives their motors.
    x, dx, ddx : (k, e) array_like
        Motion of the motors of elastic joints, on the joint's side of the gear and in the units of `q`, required where
        `robot` has such joints; filtered like `q`.
    joint_torque : (k, e) array_like, optional
        Measured torque of springs and dampers on the links.
    friction : str or sequence of str, optional
        Kind of friction of all joints, or of each, which replaces that of `robot` and is unknown: ``"none"``,
        ``"viscous"``, ``"coulomb"`` (viscous and Coulomb), ``"asymmetric"`` (both, different for each direction) or
        ``"stribeck"`` (viscous, Coulomb and Stribeck effect), see `FrictionModel`; or terms of a robot's friction such
        as ``"viscous+quadratic"``. None keeps that of `robot`, with coefficients that are parameters like others.
    delta : float, optional
        Width of the smooth sign of `friction` [rad/s or m/s]; default that of the robot's friction, or 0.01.
    sensors : str or sequence of str
        Unknown values of sensors: a quantity of `SensorCalibration` such as ``"torque_gain"`` for all joints, or
        ``"joint2.torque_gain"`` for one.
    calibration : SensorCalibration, optional
        Known values of the others, and initial values of the unknown ones; default exact sensors.
    longest_delay : float
        Bound of estimated delays [s]; filtered logs lose this time at either end.
    loaded : SimulationResult, Log, path, LogFile, or sequence of these
        Logs with a payload. Without others the parameters of `robot` are trusted, unless `unknown` names some.
    payload : Payload, optional
        The payload of these, if it is known; it then tells the scale of torques, such as gains of motor currents.
    payload_prior : Payload, optional
        Body from which the consistent fit measures the divergence of an unknown payload; default a ball of water with
        the mass and center found by least squares, with the weight 0.03.
    link : int or str, optional
        Number or name of the link that carries the payload; default the last.
    unknown : str, sequence of str, (p,) bool array or UnknownParameters, optional
        Parameters to identify, see `Robot.unknown`; default all, and none for ``"none"``. Names and groups of elastic
        parameters select these: ``"joint2.K0"``, ``"K"``, ``"D"``, ``"Dm"``, ``"Mm"``, or ``"elastic"`` for all. A mask
        selects none.
    weights : "auto" or (n,) array_like
        One over the standard deviation of the torque noise of each joint, as it was measured. "auto" estimates it
        behind the filter from the residuals by iterative reweighting, for each row of `Identification.noise`.
    prior : Robot, optional
        Robot with the prior parameters; default `robot`.
    consistent : bool or "payload"
        Allow only positive definite pseudo-inertias and positive coefficients of friction, rotors, armature and elastic
        joints. A prior coefficient may be zero, which leaves it to the data. "payload" restricts the payload alone.
        Friction with directions or a Stribeck effect is not restricted.
    regularization : float
        Weight gamma of the entropic divergence from the prior in the consistent fit; for a prior with relative error s
        use gamma = 1 / s^2.
    cutoff : float, optional
        Cutoff frequency [Hz], required without `ddq`; see `differentiate`. Leave it out to use measured accelerations.
    hold : float
        Time that a torque is held from its instant on [s]: the control period of a sampled controller. The torque is
        shifted by half of it. Only with `cutoff`.
    offsets : bool
        Estimate a constant offset of x - q for each spring, which constant errors of torques add to. False trusts that
        springs are relaxed at x = q, and finds stiffnesses also from their mean torque.
    robust : bool
        Give residuals that are outliers less weight: with Huber's weights until these settle, then with Tukey's, which
        ignore large outliers. Each step reads the logs once. Where the filter of `cutoff` would spread them, spikes of
        up to three samples are replaced by interpolation before.
    columns : sequence of Columns
        Further columns of the equations, whose coefficients are found as well; see `Identification.extra`.
    resample : float, optional
        Sampling frequency [Hz] to which logs are interpolated before the filter, by cubic polynomials, with a warning:
        for logs whose instants are not evenly spaced. Gaps longer than half a period of the cutoff are refused.
    threads : int
        Threads for windows of long logs; 0 is one per core, and one in worker processes. The result does not depend on
        their number.

    Returns
    -------
    Identification
        Estimate and its quality.

    Raises
    ------
    ThunderError
        If shapes do not match, the motion of the motors of elastic joints is missing, the prior is not physically
        consistent, no torque depends on the unknown parameters, a measured torque is zero throughout where that of
        the prior is not, a delay reaches its bound, or the iteration of nonlinear parameters does not converge.

    Warns
    -----
    ThunderWarning
        If the standard deviation of a linear stiffness or a motor inertia exceeds a tenth of its value; if a linear
        coefficient of an elastic joint is more than two standard deviations below zero; or if x follows q with a factor
        far from one. If the logs do not distinguish some parameters, of which a common change leaves all predicted
        readings as they are: fix one of each group. If the standard deviation of a Stribeck velocity exceeds a fifth of
        its value, infinite from its value on and at its bounds, `delta` and the largest speed of the joint. If an
        inertia or friction is certainly negative, the fit leaves more than half of the torque of every joint, or the
        motion determines less than half of the base parameters. If `cutoff` leaves measured accelerations unused, or
        `resample` changes instants.

    Notes
    -----
    The consistent fit minimizes ``1/2 sum_j w_j^2 |tau_j - Y_j pi|^2 + gamma sum_i D(P_i||P0_i)`` over P_i > 0, a
    convex problem, solved by Newton's method. Coefficients c of friction, rotors, armature and elastic joints add
    D(c||c0) in the same way. For c0 = 0 the coefficient takes its place whose torque has the root mean square of the
    noise.

    Where positions are filtered, the white noise that their higher differences show is followed through the filter into
    the accelerations of Y, and into x - q and the motion of motors, and its part of the normal matrix is subtracted
    (Fuller 1987). Directions that it hides keep the prior.

    For elastic joints the rows are the motors' equations, and their sums with those of the links, which are free of
    x - q: noise of x - q does not enter the parameters of the links. Residuals of both rows of a joint are correlated,
    which standard deviations include.

    Readings of sensors are ``tau_j(t + d_j) = g_j (W(q, dq, ddq) x)_j + b_j`` and ``q_i(t) = (read_i(t + e_i) - c_i) /
    a_i``, linear in x and not in delays, gains, biases and the Stribeck velocities of W. Derivatives of the readings by
    these are further columns, whose coefficients are Gauss-Newton steps (Golub and Pereyra 1973). Columns of friction
    and springs are formed of motion behind a filter of four times the cutoff and then filtered like the torques. Not
    distinguishable are: the gains of all torque sensors from the scale of all parameters, unless part of the robot or a
    payload is known; equal delays of all sensors; the position biases of a first joint about a vertical axis, of
    sliding joints at the end that no torque depends on, and of a last joint whose link is unknown.

    A payload adds the columns of its link in the logs with it: ``tau = Y pi + Y_link pi_payload``.

    References
    ----------
    Golub, Pereyra, The differentiation of pseudo-inverses and nonlinear least squares problems whose variables
    separate, SIAM J. Numerical Analysis 10(2), 1973.
    Lee, Wensing, Park, Geometric robot dynamic identification, IEEE Trans. Robotics 36(2), 2020.
    Fuller, Measurement error models, Wiley, 1987.
    Demmel, Grigori, Hoemmen, Langou, Communication-optimal parallel and sequential QR and LU factorizations, SIAM J.
    Sci. Comput. 34(1), 2012.
    Huber, Ronchetti, Robust statistics, Wiley, 2009.

    Examples
    --------
    >>> import numpy as np
    >>> import thunder_py as th
    >>> robot, t = th.Robot.load("elbow"), np.linspace(0.0, 10.0, 501)
    >>> q, dq, ddq = th.reference.Sinusoid([0.8, 0.6], [0.5, 0.8])(t)
    >>> tau = robot.inverse_dynamics(q, dq, ddq) + np.random.default_rng(0).normal(scale=0.1, size=q.shape)
    >>> guess = robot.with_parameters(0.7 * robot.parameters)
    >>> estimate = th.identification.identify(guess, t, q, dq, ddq, tau)
    >>> estimate.rank, estimate.noise.round(1).tolist()
    (6, [0.1, 0.1])

    Links, spring and motor of an elastic joint from positions and torques of a run:

    >>> drive = th.robot.Elastic(joint=2, K=(300.0,), D=(1.0,), Dm=(0.2,), Mm=0.1)
    >>> elastic, motion = robot.replace(elastic=(drive,)), th.reference.Sinusoid([0.8, 0.6], [0.5, 0.8])
    >>> run = th.simulate(elastic, th.PassivityBased(robot, 4.0, [2.0, 1.0]), motion, 4.0)
    >>> guess = elastic.with_elastic_parameters(K=[100.0], D=[0.5], Dm=[0.5], Mm=[0.2])
    >>> estimate = th.identification.identify(guess, run, cutoff=40.0, hold=1e-3)
    >>> estimate.base.names[-4:]
    ('joint2.K0', 'joint2.D0', 'joint2.Dm0', 'joint2.Mm')
    >>> estimate.base_parameters[-4:].round(1).tolist()
    [300.0, 1.0, 0.2, 0.1]

    Stribeck friction and wrong torque sensors:

    >>> from thunder_py.simulation import FrictionModel
    >>> from thunder_py.identification import Log, SensorCalibration, identify
    >>> t = np.arange(0.0, 10.0, 2e-3)
    >>> q, dq, ddq = th.reference.Sinusoid([0.8, 0.6], [0.5, 0.8])(t)
    >>> truth = FrictionModel(viscous=[[0.5], [0.3]], coulomb=[[1.0], [0.5]], stribeck=[0.4, 0.3], velocity=[0.1, 0.2])
    >>> tau = robot.inverse_dynamics(q, dq, ddq) + truth.torque(dq)
    >>> t, q, tau = SensorCalibration(2, torque_delay=0.004, torque_bias=[0.5, -0.2]).read(t, q, tau)
    >>> tau += np.random.default_rng(0).normal(scale=0.01, size=tau.shape)
    >>> log = Log(t=t, q=q, tau=tau)
    >>> found = identify(robot, log, friction="stribeck", sensors=["torque_delay", "torque_bias"], cutoff=15.0)
    >>> found.sensors.torque_bias.round(1).tolist(), found.sensors.torque_delay.round(3).tolist()
    ([0.5, -0.2], [0.004, 0.004])
    >>> found.friction.velocity.round(1).tolist()
    [0.1, 0.2]

    A payload:

    >>> t = np.linspace(0.0, 10.0, 501)
    >>> q, dq, ddq = th.reference.Sinusoid([0.8, 0.6], [0.5, 0.8])(t)
    >>> tau = th.Payload(1.0, com=(0.2, 0.0, 0.0)).added_to(robot).inverse_dynamics(q, dq, ddq)
    >>> found = identify(robot, loaded=Log(t=t, q=q, dq=dq, ddq=ddq, tau=tau))
    >>> dict(zip(found.extra_names[:3], found.extra[:3].round(2).tolist(), strict=True))
    {'payload.m': 1.0, 'payload.cx': 0.2, 'payload.cy': 0.0}
    >>> int(np.isfinite(found.extra_deviations).sum())  # a planar arm shows 4 of 10 parameters
    4

    Several logs:

    >>> tau = robot.inverse_dynamics(q, dq, ddq)
    >>> log = Log(t=t, q=q, dq=dq, ddq=ddq, tau=tau)
    >>> logs = [log[:250], log[250:]]
    >>> th.identification.identify(robot.with_parameters(0.7 * robot.parameters), logs).count
    501
    """
    noise = given_noise(weights, robot.n)
    signals = {"q": q, "dq": dq, "ddq": ddq, "tau": tau, "x": x, "dx": dx, "ddx": ddx, "joint_torque": joint_torque}
    with_payload = as_sources(robot, loaded, called="loaded log")
    logs = () if with_payload and isinstance(t, (list, tuple)) and not t else _logs(robot, t, signals)
    body = Payload(0.0, link=link).link_index(robot)
    known: Array | None = np.zeros(10)
    if with_payload:
        unknown = () if unknown is None and not logs else unknown
        known = None if payload is None else payload.parameters
    if consistent not in (False, True, "payload"):
        raise ThunderError(f"consistent must be False, True or 'payload', got {consistent!r}")
    kinds = None if friction is None else friction_kinds(friction, robot.n)
    own = robot.description.friction
    if delta is None or kinds is None:
        delta = 1e-2 if own is None else own.delta
    start = robot if prior is None else prior
    if all_names(start) != all_names(robot):
        raise ThunderError(f"prior must have the parameters of {robot.name}, got {start!r}")
    if kinds is None:
        chosen, elastic = selection(robot, unknown)
    else:
        robot, start, chosen, elastic = _with_friction(robot, start, unknown, kinds, delta)
        if robot.description.friction is None:
            columns = [FrictionColumns(kinds, robot.joint_names, delta), *columns]
    mask = np.concatenate([chosen.mask, elastic])
    base = extended(chosen.base_parameters(), elastic, all_names(robot))
    if base.count == 0 and not with_payload:
        raise ThunderError("unknown must hold a parameter that torques depend on")
    calibration = SensorCalibration(robot.n) if calibration is None else calibration
    if calibration.n != robot.n:
        raise ThunderError(f"calibration must have {robot.n} joints, got {calibration.n}")
    quantities = chosen_quantities(robot, sensors)
    stribeck = [each.stribeck for each in columns if isinstance(each, FrictionColumns) and kinds is not None][:1]
    delays = np.array([name.endswith("_delay") for name in quantity_names(robot)])
    longest = float(np.abs(calibration.vector()[delays]).max())
    if delays[quantities].any():
        longest = max(longest, positive(longest_delay, "longest_delay"))
    problem = Problem(
        robot=robot,
        logs=(*logs, *with_payload),
        loaded=len(with_payload),
        theta0=np.where(mask, all_parameters(start), all_parameters(robot)),
        mask=mask,
        base=base,
        columns=tuple(columns),
        body=10 * (body - 1) + np.arange(10),
        payload=known,
        sensors=calibration,
        unknown=Nonlinear(quantities, *(stribeck or [np.zeros(0, dtype=np.intp)])),
        noise=noise,
        consistent=consistent,
        gamma=positive(regularization, "regularization"),
        ball=None if payload_prior is None else payload_prior.parameters,
        offsets=offsets,
        filtering=Filtering(cutoff, nonnegative(hold, "hold"), resample, robust, longest=longest),
        threads=whole(threads, "threads", 0),
    )
    _LOG.info("%s: %d base parameters of %d unknown ones, from %d logs", robot.name, base.count, mask.sum(), len(logs))
    names = _names(problem)
    found = solve(problem, names)
    result = _result(problem, chosen, found, names, kinds is not None)
    _LOG.info("%s: rank %d, %d rows, noise %s", robot.name, result.rank, result.count, result.noise.round(4).tolist())
    count = int(elastic.sum())
    _warn_of_other_motors(robot, found)
    _warn_of_invisible(found.invisible)
    _warn_of_velocities(result)
    for message in diagnose(result, start, found.torque_rms / found.gains, problem.logs, problem.filtering):
        _warn(message)
    _warn_if_uncertain(result, count)
    _warn_if_negative(result, count)
    return result


def _with_friction(
    robot: Robot,
    start: Robot,
    unknown: str | Sequence[str] | npt.ArrayLike | UnknownParameters | None,
    kinds: Sequence[str],
    delta: float,
) -> tuple[Robot, Robot, UnknownParameters, npt.NDArray[np.bool_]]:
    """Return robot and prior with friction of zero in place of theirs, and what is then unknown.

    The robots have no friction where they cannot hold these kinds.
    """
    n, plain = robot.n, robot.replace(friction=None)
    if isinstance(unknown, (str, list, tuple)):  # friction is unknown anyway
        unknown = [name for name in ([unknown] if isinstance(unknown, str) else unknown) if name != "friction"]
    chosen, elastic = selection(plain, unknown)
    used = {name for kind in kinds for name in kind_terms(kind)}
    terms, friction = tuple(name for name in Friction.TERMS if name in used), None
    if used and used == set(terms):
        friction = Friction(terms=terms, coefficients=np.zeros((n, len(terms))), delta=delta)
    elif used & set(Friction.TERMS[2:]):
        raise ThunderError(f"friction must be terms of a robot alone with {', '.join(used & set(Friction.TERMS[2:]))}")
    mask = chosen.mask
    robot, start = plain.replace(friction=friction), start.replace(friction=friction)
    if friction is not None:
        here = [name in kind_terms(kind) for kind in kinds for name in terms]
        mask = np.concatenate([mask[: 10 * n], here, mask[10 * n :]])
    return robot, start, robot.unknown(mask), elastic


def _names(problem: Problem) -> tuple[str, ...]:
    """Return the names of base parameters, further coefficients, an unknown payload and nonlinear parameters."""
    robot, unknown = problem.robot, problem.unknown
    sensors = quantity_names(robot)
    return (
        *problem.base.names,
        *(name for each in problem.columns for name in each.names),
        *(PAYLOAD if problem.payload is None else ()),
        *(sensors[k] for k in unknown.chosen),
        *(f"{robot.joint_names[j]}.stribeck_velocity" for j in unknown.stribeck),
    )


def _result(
    problem: Problem, chosen: UnknownParameters, found: Estimate, names: tuple[str, ...], friction: bool
) -> Identification:
    base, filtering, guess, gains = problem.base, problem.filtering, found.guess, found.gains
    b, (covariance, freedom, sources) = base.count, found.uncertainty
    sigma = np.where(found.determined, np.sqrt(np.maximum(np.diag(covariance), 0.0)), np.inf)
    robot = with_all_parameters(problem.robot, found.theta)
    return Identification(
        robot=robot,
        unknown=chosen,
        parameters=found.theta,
        base=base,
        base_parameters=base.mapping @ found.theta,
        standard_deviations=sigma[:b],
        residual_rms=found.residual_rms / gains,
        noise=found.solution.noise / gains,
        offsets=found.offsets,
        offset_deviations=found.offset_deviations,
        rank=found.solution.rank,
        condition=found.solution.condition,
        consistent=bool(problem.consistent),
        covariance=covariance,
        freedom=freedom,
        sources=sources,
        extra=found.values,
        extra_deviations=sigma[b:],
        extra_names=names[b:],
        columns=guess.columns,
        friction=friction_model(robot, *guess.friction) if friction else None,
        sensors=guess.sensors,
        link=problem.body[0] // 10 + 1 if problem.loaded else None,
        payload_parameters=guess.payload,
        invisible=found.invisible,
        logs=tuple(log.name for log in problem.logs),
        count=found.instants,
        cutoff=None if filtering.cutoff is None else float(filtering.cutoff),
        hold=filtering.hold,
        resample=filtering.resample,
        robust=filtering.robust,
    )


def _logs(robot: Robot, t: Any, signals: dict[str, npt.ArrayLike | None]) -> tuple[LogSource, ...]:
    """Return the logs of the arguments of `identify`."""
    kinds = (SimulationResult, LogSource, str, Path)
    t = list(t) if isinstance(t, Iterator) else t
    several = isinstance(t, (list, tuple)) and any(isinstance(each, kinds) for each in t)
    if not several and not isinstance(t, kinds):
        if all(value is None for value in signals.values()):
            raise ThunderError(
                f"t must be a run, a log, a path, or several of these, or instants of q and tau, got {t!r:.80}"
            )
        return (check_signals(robot, t, signals),)
    sensed = signals.pop("joint_torque") if isinstance(t, SimulationResult) else None
    given = [name for name, value in signals.items() if value is not None]
    if given:
        kind = type(t).__name__ if isinstance(t, (SimulationResult, Log)) else "log or a sequence of logs"
        raise ThunderError(f"{', '.join(given)} must be None where t is a {kind}")
    return as_sources(robot, t, sensed)


def _warn_if_uncertain(result: Identification, elastic: int) -> None:
    """Warn of stiffnesses and motor inertias, among the last parameters, that the log does not determine."""
    uncertain = [
        f"{name} ({100.0 * deviation / abs(value) if value else np.inf:.0f} %)"
        for name, value, deviation in _last(result, elastic)
        if name.endswith((".K0", ".Mm")) and deviation > _UNCERTAIN * abs(value)
    ]
    if uncertain:
        _warn(
            f"the log hardly determines {', '.join(uncertain)}, given with their standard deviations: excite the "
            "vibration of these joints, or lower the noise"
        )


def _warn_if_negative(result: Identification, elastic: int) -> None:
    """Warn of linear coefficients, among the last parameters, that are certainly below zero."""
    negative = [
        f"{name} ({value:.3g})"
        for name, value, deviation in _last(result, elastic)
        if name.endswith((".K0", ".D0", ".Dm0", ".Mm")) and value < -2.0 * deviation
    ]
    if negative:
        _warn(
            f"the log asks for negative values of {', '.join(negative)}: are x and q exchanged, the sign of tau, or "
            "the units wrong?"
        )


def _warn_of_invisible(groups: Sequence[Sequence[str]]) -> None:
    for first, *others in groups:
        listed = ", ".join(others[:_LISTED]) + (f" and {len(others) - _LISTED} more" if len(others) > _LISTED else "")
        change = f"from a change of {listed}" if others else "at all"
        if first.endswith(".stribeck_velocity"):
            advice = "choose another friction for this joint, or move it slowly in both directions"
        else:
            advice = "leave it out of sensors, or give its value by calibration"
        _warn(f"the logs do not distinguish {first} {change}: {advice}")


def _warn_of_velocities(result: Identification) -> None:
    """Warn of Stribeck velocities that are so uncertain that linear intervals do not hold."""
    uncertain = [
        f"{name} ({100.0 * deviation / value:.0f} %)"
        for name, value, deviation in zip(result.extra_names, result.extra, result.extra_deviations, strict=True)
        if name.endswith(".stribeck_velocity") and deviation > _UNCERTAIN_VELOCITY * value
    ]
    if uncertain:
        _warn(
            f"the logs hardly determine {', '.join(uncertain)}: intervals of these and of the Stribeck coefficients "
            "are too narrow"
        )


def _last(result: Identification, count: int) -> list[tuple[str, float, float]]:
    values = zip(result.base.names, result.base_parameters, result.standard_deviations, strict=True)
    return list(values)[result.base.count - count :]


def _warn_of_other_motors(robot: Robot, found: Estimate) -> None:
    """Warn of joints whose x follows q, but not with a factor near one."""
    if not robot.e:
        return
    q, x, qq, qx, xx = found.motors
    squares, product, motors = qq - q**2, qx - q * x, xx - x**2
    factor = np.divide(product, squares, out=np.ones(robot.e), where=squares > 0.0)
    follows = product**2 > _ALIKE**2 * squares * motors
    strange = np.flatnonzero(follows & ((factor > _FACTOR) | (factor < 1.0 / _FACTOR)))
    if strange.size:
        named = ", ".join(f"{robot.joint_names[robot.elastic[i].joint - 1]} (x = {factor[i]:.3g} q)" for i in strange)
        _warn(f"x must be on the joint's side of the gear, in rad or m like q, but does not resemble q at {named}")


def _warn(message: str) -> None:
    warnings.warn(message, ThunderWarning, stacklevel=outer_level())
