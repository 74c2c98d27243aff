"""Identification of parameters from logged motion and torque."""

from __future__ import annotations

import logging
import warnings
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from ..checks import nonnegative, positive, whole
from ..errors import ThunderError, ThunderWarning, outer_level
from ..model.parameters import UnknownParameters
from ..robot import Robot
from ..simulation import SimulationResult
from .equations import Columns, all_names, all_parameters, extended, selection, with_all_parameters
from .findings import diagnose
from .identification import Identification
from .least_squares import given_noise
from .log import Log, LogSource, check_signals
from .log_file import Recorded, as_sources
from .problem import Problem
from .solve import Estimate, solve
from .windows import Filtering

_LOG = logging.getLogger(__name__)

#: relative standard deviation of a stiffness or motor inertia above which `identify` warns
_UNCERTAIN = 0.1
#: correlation above which x follows q, and the factor from which on it does not resemble q
_ALIKE, _FACTOR = 0.9, 4.0


def identify(
    robot: Robot,
    t: npt.ArrayLike | Recorded | Sequence[Recorded],
    q: npt.ArrayLike | None = None,
    dq: npt.ArrayLike | None = None,
    ddq: npt.ArrayLike | None = None,
    tau: npt.ArrayLike | None = None,
    *,
    x: npt.ArrayLike | None = None,
    dx: npt.ArrayLike | None = None,
    ddx: npt.ArrayLike | None = None,
    joint_torque: npt.ArrayLike | None = None,
    unknown: str | Sequence[str] | npt.ArrayLike | UnknownParameters | None = None,
    weights: Literal["auto"] | npt.ArrayLike = "auto",
    prior: Robot | None = None,
    consistent: bool = False,
    regularization: float = 1.0,
    cutoff: float | None = None,
    hold: float = 0.0,
    offsets: bool = True,
    robust: bool = False,
    columns: Sequence[Columns] = (),
    resample: float | None = None,
    threads: int = 0,
) -> Identification:
    """Identify parameters by weighted least squares, optionally restricted to physically consistent values.

    Parameters
    ----------
    robot : Robot
        Geometry, known parameters, and the default prior.
    t : (k,) array_like, SimulationResult, Log, path, LogFile, or sequence of these
        Instants [s], or one or several logs. Of a run only `t`, `q`, `tau` and, for elastic joints, `x` are used. A
        path is that of a `LogFile`. Files are read in parts, so that they may be larger than the memory.
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
    unknown : str, sequence of str, (p,) bool array or UnknownParameters, optional
        Parameters to identify, see `Robot.unknown`; default all. Names and groups of elastic parameters select these:
        ``"joint2.K0"``, ``"K"``, ``"D"``, ``"Dm"``, ``"Mm"``, or ``"elastic"`` for all. A mask selects none.
    weights : "auto" or (n,) array_like
        One over the standard deviation of the torque noise of each joint, as it was measured. "auto" estimates it
        behind the filter from the residuals by iterative reweighting, for each row of `Identification.noise`.
    prior : Robot, optional
        Robot with the prior parameters; default `robot`.
    consistent : bool
        Allow only positive definite pseudo-inertias and positive coefficients of friction, rotors, armature and elastic
        joints. A prior coefficient may be zero, which leaves it to the data.
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
        consistent, no torque depends on the unknown parameters, or a measured torque is zero throughout where that of
        the prior is not.

    Warns
    -----
    ThunderWarning
        If the standard deviation of a linear stiffness or a motor inertia exceeds a tenth of its value; if a linear
        coefficient of an elastic joint is more than two standard deviations below zero; or if x follows q with a factor
        far from one. If an inertia or friction is certainly negative, the fit leaves more than half of the torque of
        every joint, or the motion determines less than half of the base parameters. If `cutoff` leaves measured
        accelerations unused, or `resample` changes instants.

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

    References
    ----------
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

    Several logs:

    >>> from thunder_py.identification import Log
    >>> log = Log(t=t, q=q, dq=dq, ddq=ddq, tau=tau)
    >>> logs = [log[:250], log[250:]]
    >>> th.identification.identify(robot.with_parameters(0.7 * robot.parameters), logs).count
    501
    """
    noise = given_noise(weights, robot.n)
    signals = {"q": q, "dq": dq, "ddq": ddq, "tau": tau, "x": x, "dx": dx, "ddx": ddx, "joint_torque": joint_torque}
    logs = _logs(robot, t, signals)
    chosen, elastic = selection(robot, unknown)
    start = robot if prior is None else prior
    if all_names(start) != all_names(robot):
        raise ThunderError(f"prior must have the parameters of {robot.name}, got {start!r}")
    mask = np.concatenate([chosen.mask, elastic])
    base = extended(chosen.base_parameters(), elastic, all_names(robot))
    if base.count == 0:
        raise ThunderError("unknown must hold a parameter that torques depend on")
    problem = Problem(
        robot=robot,
        logs=logs,
        theta0=np.where(mask, all_parameters(start), all_parameters(robot)),
        mask=mask,
        base=base,
        columns=tuple(columns),
        noise=noise,
        gamma=positive(regularization, "regularization") if consistent else None,
        offsets=offsets,
        filtering=Filtering(cutoff, nonnegative(hold, "hold"), resample, robust),
        threads=whole(threads, "threads", 0),
    )
    _LOG.info("%s: %d base parameters of %d unknown ones, from %d logs", robot.name, base.count, mask.sum(), len(logs))
    found = solve(problem)
    result = _result(problem, chosen, found)
    _LOG.info("%s: rank %d, %d rows, noise %s", robot.name, result.rank, result.count, result.noise.round(4).tolist())
    count = int(elastic.sum())
    _warn_of_other_motors(robot, found)
    for message in diagnose(result, found.torque_rms, problem.logs, problem.filtering):
        _warn(message)
    _warn_if_uncertain(result, count)
    _warn_if_negative(result, count)
    return result


def _result(problem: Problem, chosen: UnknownParameters, found: Estimate) -> Identification:
    base, solution, filtering = problem.base, found.solution, problem.filtering
    covariance, freedom, sources = found.uncertainty
    sigma = np.where(solution.determined, np.sqrt(np.maximum(np.diag(covariance), 0.0)), np.inf)
    return Identification(
        robot=with_all_parameters(problem.robot, found.theta),
        unknown=chosen,
        parameters=found.theta,
        base=base,
        base_parameters=base.mapping @ found.theta,
        standard_deviations=sigma[: base.count],
        residual_rms=found.residual_rms,
        noise=solution.noise,
        offsets=found.offsets,
        offset_deviations=found.offset_deviations,
        rank=solution.rank,
        condition=solution.condition,
        consistent=problem.gamma is not None,
        covariance=covariance,
        freedom=freedom,
        sources=sources,
        extra=found.extra,
        extra_deviations=sigma[base.count :],
        extra_names=tuple(name for each in problem.columns for name in each.names),
        columns=problem.columns,
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
