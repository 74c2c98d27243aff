"""Identification of the wrist's spring and of an object in the hand from a few swings before a throw."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from ...checks import Array, array, finite, nonnegative, of_kind, positive, seed_of
from ...errors import ThunderError
from ...robot import Robot
from ...values import Value, set_fields
from .model import ElasticWrist
from .motor import MotorMotion, WristRun
from .robots import with_wrist

#: widths of smooth windows [s]: over the signals, whose products would keep their noise, and over the equation
_SMOOTH, _WINDOW = 0.02, 0.08
#: longest time between readings and shortest log [s], and least ratio of averaged signals to their noise
_COARSEST, _SHORTEST, _CLEAR = 0.01, 0.5, 10.0
#: largest standard deviation of a result relative to it, and what counts as zero: damping relative to the critical one,
#: moment and inertia of the object relative to those of the hand
_SPREAD, _ZERO = 0.05, 0.02
#: columns of the parameters m r_c (x) and I (yy) of the last link among its ten
_MOMENT, _INERTIA = 1, 7


@dataclass(frozen=True, kw_only=True, eq=False)
class SwingLog(Value):
    """Encoder signals of a motion of the wrist on an arm.

    Attributes
    ----------
    t : (N,) array
        Times in equal steps of at most 0.01 s, at least 0.5 s [s].
    q : (N, n) array
        Measured joint positions, the wrist last [rad].
    theta : (N,) array
        Measured motor angle of the wrist [rad].

    Examples
    --------
    >>> import numpy as np
    >>> from thunder_py.manipulation.wrist import SwingLog
    >>> log = SwingLog(t=np.arange(1000) * 1e-3, q=np.zeros((1000, 8)), theta=np.zeros(1000))
    >>> log.q.shape
    (1000, 8)
    """

    t: Array
    q: Array
    theta: Array

    def __post_init__(self) -> None:
        """Check shapes and times."""
        t = array(self.t, (None,), "t")
        q, theta = array(self.q, (t.size, None), "q"), array(self.theta, (t.size,), "theta")
        steps = np.diff(t)
        if not t.size or t[-1] - t[0] < _SHORTEST or steps.min() <= 0.0 or steps.max() > 1.001 * _COARSEST:
            raise ThunderError(f"t must be at least {_SHORTEST:g} s in steps of at most {_COARSEST:g} s")
        if np.abs(t - np.linspace(t[0], t[-1], t.size)).max() > 0.05 * steps.mean():
            raise ThunderError(f"t must be in equal steps, got {steps.min():.6g} to {steps.max():.6g} s")
        set_fields(self, t=t, q=q, theta=theta)

    @classmethod
    def of_run(
        cls, run: WristRun, *, noise: float = 0.0, offset: float = 0.0, dt: float = 1e-3, seed: int = 0
    ) -> SwingLog:
        """Return what encoders with normal noise read in a simulation.

        Parameters
        ----------
        run : WristRun
            Simulation.
        noise : float
            Standard deviation of every reading [rad].
        offset : float
            Angle of the relaxed spring at motor angle zero, which the motor's encoder does not see [rad].
        dt : float
            Time between readings [s].
        seed : int
            Seed of the noise.
        """
        rng, noise = np.random.default_rng(seed_of(seed)), nonnegative(noise, "noise", "rad")
        t = np.arange(of_kind(run, WristRun, "run").t[0], run.t[-1], positive(dt, "dt", "s"))
        q = np.stack([np.interp(t, run.t, column) for column in run.q.T], axis=1)
        theta = np.interp(t, run.t, run.theta) - finite(offset, "offset")
        return cls(t=t, q=q + noise * rng.standard_normal(q.shape), theta=theta + noise * rng.standard_normal(t.size))


@dataclass(frozen=True, kw_only=True, eq=False)
class IdentifiedWrist(Value):
    """Wrist and object found by `identify_wrist`.

    Attributes
    ----------
    wrist : ElasticWrist
        Wrist with the object in the hand.
    offset : float
        Angle of the relaxed spring at motor angle zero [rad].
    object_mass : float
        Mass of the object [kg].

    Examples
    --------
    >>> from thunder_py.manipulation.wrist import ElasticWrist, IdentifiedWrist
    >>> wrist = ElasticWrist(I=0.013, k=5.2, m=0.75, r_c=0.094)
    >>> found = IdentifiedWrist(wrist=wrist, offset=0.02, object_mass=0.05)
    >>> found.offset
    0.02
    """

    wrist: ElasticWrist
    offset: float
    object_mass: float

    def __post_init__(self) -> None:
        """Check wrist and numbers."""
        of_kind(self.wrist, ElasticWrist, "wrist")
        finite(self.offset, "offset")
        nonnegative(self.object_mass, "object_mass", "kg")


def swing_motion(rest: float, *, amplitude: float = 0.2, duration: float = 2.0, begin: float = 0.0) -> MotorMotion:
    """Return a motion of the motor that excites the wrist: a sweep from 0.5 to 4.5 Hz about an angle of rest.

    Parameters
    ----------
    rest : float
        Angle about which the motor swings [rad].
    amplitude : float
        Amplitude [rad].
    duration : float
        Duration [s].
    begin : float
        Time of the start [s].

    Examples
    --------
    >>> from thunder_py.manipulation.wrist import swing_motion
    >>> round(float(swing_motion(0.1, amplitude=0.2)(0.0)), 3)
    0.1
    """
    t = np.arange(0.0, positive(duration, "duration", "s") + 1e-9, 0.02)
    phase = 2.0 * np.pi * (0.5 * t + 2.0 * t**2 / duration)
    return MotorMotion.through(
        begin + t, finite(rest, "rest") + positive(amplitude, "amplitude", "rad") * np.sin(phase)
    )


def identify_wrist(
    arm: Robot,
    wrist: ElasticWrist,
    empty: SwingLog,
    loaded: SwingLog | None = None,
    *,
    mount: npt.ArrayLike | None = None,
    tip: float = 0.15,
) -> IdentifiedWrist:
    """Identify stiffness, damping and offset of the spring from swings of the empty hand, then the object from others.

    Parameters
    ----------
    arm : Robot
        Arm without hand.
    wrist : ElasticWrist
        Wrist with the empty hand, whose mass, center of mass and inertia are known; k and c are not used.
    empty, loaded : SwingLog
        Swings without object, and with it; the arm may move.
    mount, tip
        As in `with_wrist`; the object's center of mass is `tip` away from the wrist's axis.

    Returns
    -------
    IdentifiedWrist
        Spring and object.

    Raises
    ------
    ThunderError
        If a log does not fit the arm; if the swings are too small, or their noise too large, to tell the parameters
        apart; if stiffness, damping, or moment and inertia of the object come out negative, as with exchanged logs.

    Notes
    -----
    The equation of the wrist's joint, ``Y(q, dq, ddq) pi = k (theta + offset - q) - c dq``, is linear in k, k offset
    and c, and with these known in moment and inertia of the object. Signals are averaged over smooth windows of 0.02 s,
    both sides over 0.08 s, which suppresses the noise of the differentiated encoders, and solved by least squares.
    Positions alone do not give the scale of inertia and stiffness; the known empty hand does.

    Examples
    --------
    >>> import thunder_py as th
    >>> from thunder_py.manipulation import wrist as elastic
    >>> arm, known = th.Robot.load("ur5e"), elastic.ElasticWrist(I=0.012, k=5.0, m=0.7, r_c=0.09, c=0.03)
    >>> bases = elastic.throwing_bases(arm, known, elevations=[45], speeds=[0.3])
    >>> throw = elastic.plan_target_throw(arm, known, [1.5, 0.0, 0.0], bases)
    >>> true = elastic.ElasticWrist(I=0.012, k=5.5, m=0.7, r_c=0.09, c=0.02)
    >>> run = elastic.swing_run(throw, elastic.with_wrist(arm, true, mount=elastic.MOUNT))
    >>> found = elastic.identify_wrist(arm, known, elastic.SwingLog.of_run(run, noise=2e-4), mount=elastic.MOUNT)
    >>> round(found.wrist.k, 2), round(found.wrist.c, 3), abs(found.offset) < 1e-3
    (5.5, 0.02, True)
    """
    of_kind(wrist, ElasticWrist, "wrist")
    robot = with_wrist(arm, wrist, mount=mount, tip=tip)
    swings = _Averaged(robot, of_kind(empty, SwingLog, "empty"), "empty")
    hand, Y, spring = robot.description.inertial[-1], swings.regressor, swings.spring
    (k, moment, c), sigma = swings.solve(spring, Y @ hand)
    vague = k <= 0.0 or sigma[0] > _SPREAD * k
    if vague or c < -_ZERO * 2.0 * np.sqrt(k * wrist.I) or abs(moment) > k * wrist.theta_max:
        raise ThunderError(
            f"empty gives the spring k = {k:.3g} +- {sigma[0]:.2g} N m/rad, c = {c:.3g} N m s/rad, with the moment "
            f"{moment:.3g} N m: its swings must be those of the empty hand, in rad, with the signs of q and theta "
            "alike, and clear of noise and friction"
        )
    found = replace(wrist, k=k, c=max(c, 0.0))
    offset, mass = moment / k, 0.0
    if loaded is not None:
        swings = _Averaged(robot, of_kind(loaded, SwingLog, "loaded"), "loaded")
        Y = swings.regressor
        load, sigma = swings.solve(Y[:, [_MOMENT, _INERTIA]], swings.spring @ (k, moment, c) - Y @ hand)
        first, inertia = load.tolist()
        zero = _ZERO * np.array([wrist.m * wrist.r_c, wrist.I])
        if (load < -zero).any() or (sigma > np.maximum(_SPREAD * load, zero)).any():
            raise ThunderError(
                f"loaded gives an object of {first / tip:.3g} +- {sigma[0] / tip:.2g} kg with {inertia:.3g} kg m^2: it "
                "must be swings with the object, clear of noise and friction; are the logs exchanged?"
            )
        mass = max(first / tip, 0.0)
        total = wrist.m + mass
        found = replace(found, m=total, r_c=(wrist.m * wrist.r_c + mass * tip) / total, I=wrist.I + max(inertia, 0.0))
    return IdentifiedWrist(wrist=found, offset=float(offset), object_mass=float(mass))


def _hann(width: float, dt: float) -> Array:
    window = np.hanning(int(width / dt) + 2)
    return np.asarray(window / window.sum())


def _convolved(rows: Array, window: Array) -> Array:
    """Return the columns of an array (k, m) averaged over a window."""
    return np.stack([np.convolve(column, window, "valid") for column in rows.T], axis=1)


class _Averaged:
    """Rows of the wrist's equation, averaged over windows: regressor (w, 10), and columns of k, k offset, c (w, 3)."""

    def __init__(self, robot: Robot, log: SwingLog, what: str) -> None:
        measured, dt = array(log.q, (log.t.size, robot.n), "q"), float(np.diff(log.t).mean())
        short, window = _hann(_SMOOTH, dt), _hann(_WINDOW, dt)
        q = _convolved(measured, short)
        dq = np.gradient(q, dt, axis=0)
        ddq = np.gradient(dq, dt, axis=0)
        Y = robot.slotine_li_regressor(q, dq, dq, ddq)[:, -1, 10 * (robot.n - 1) : 10 * robot.n]
        raw = log.theta - measured[:, -1]
        deflection, both = np.convolve(raw, short, "valid"), np.convolve(short, window)
        bent = np.convolve(both, np.array([1.0, 0.0, -2.0, 0.0, 1.0]) / (2.0 * dt) ** 2)
        for signal, noisy, kernel in ((deflection, raw, both), (ddq[:, -1], measured[:, -1], bent)):
            noise = np.linalg.norm(kernel) * np.diff(noisy, 4).std() / np.sqrt(70.0)  # 70: of white noise
            if np.convolve(signal, window, "valid")[2:-2].std() <= _CLEAR * noise + 1e-9:
                raise ThunderError(f"{what} must be swings of the wrist that are clear of noise; swing it farther")
        self._what, step = what, max(window.size // 8, 1)
        self._alike = max(1.0 / (step * float(window @ window)), 1.0)  # number of rows with the same noise
        rows = np.column_stack([Y, deflection, np.ones(len(q)), -dq[:, -1]])
        smooth = _convolved(rows, window)[2:-2:step]
        self.regressor, self.spring = smooth[:, :10], smooth[:, 10:]

    def solve(self, A: Array, b: Array) -> tuple[Array, Array]:
        """Return the solution of ``A x = b`` by least squares, and its standard deviations."""
        scale = np.linalg.norm(A, axis=0)
        if not scale.all() or np.linalg.cond(A / scale) > 1e3:
            raise ThunderError(f"{self._what} must be swings that tell the parameters apart; swing the wrist farther")
        x = np.linalg.lstsq(A / scale, b, rcond=None)[0] / scale
        variance = self._alike * np.sum((b - A @ x) ** 2) / len(b)
        return x, np.sqrt(variance * np.diag(np.linalg.inv(A.T @ A)))
