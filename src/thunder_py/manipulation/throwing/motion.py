"""The whole motion of a throw: swing, release, stop, and the way back for another repetition."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import numpy as np
import numpy.typing as npt

from ...checks import Array, whole
from ...errors import ReleaseError
from ...identification.excitation import MotionLimits
from ...integration import integrate
from ...robot import Robot
from ...trajectory import JointTrajectory, TimingLaw
from ...trajectory.orientation import as_orientation
from ...trajectory.segments import Portion, TaskTrajectory
from ...trajectory.timing import quintic_coefficients
from .release import ROOM, Release, margins_of, worst_margin

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = [
    "Piece",
    "States",
    "ThrowMotion",
    "evaluate",
    "fastest",
    "free_stop",
    "free_swing",
    "line_states",
    "rest",
    "swing_from",
    "way_back",
]

_ORDER = 6  # coefficients of a quintic, highest power first


class Piece(NamedTuple):
    """A polynomial over a time.

    Attributes
    ----------
    duration : float
        [s].
    coefficients : (6, k) array
        Highest power first, of the time since its beginning.
    """

    duration: float
    coefficients: Array


def free_swing(T: float, x: Array, v: Array, a: Array) -> Piece:
    """Return the motion from rest to (x, v, a) in a time T whose start is where jerk is least.

    The start of a minimum-jerk motion is free where its fifth derivative vanishes: a quartic. With a = 0 it covers
    v T / 2.
    """
    c3 = (3.0 * v - a * T) / (3.0 * T**2)
    c4 = (a * T - 2.0 * v) / (4.0 * T**3)
    start = x - c3 * T**3 - c4 * T**4
    zero = np.zeros_like(start)
    return Piece(T, np.array([zero, c4, c3, zero, zero, start]))


def free_stop(T: float, x: Array, v: Array, a: Array) -> Piece:
    """Return the motion from (x, v, a) to rest in a time T whose end is where jerk is least: `free_swing` backwards."""
    # time reversed, v changes its sign: x(T - t) of the swing that ends at (x, -v, a)
    backwards = free_swing(T, x, -v, a).coefficients
    end = backwards[-1]
    c3, c4 = backwards[2], backwards[1]
    zero = np.zeros_like(end)
    return Piece(
        T, np.array([zero, c4, -c3 - 4.0 * c4 * T, 0.5 * a, v, x])
    )  # of c3 (T - t)^3 + c4 (T - t)^4, written in t with the known values at t = 0


def swing_from(T: float, start: Array, x: Array, v: Array, a: Array) -> Piece:
    """Return the minimum-jerk motion from rest at a given start to (x, v, a): a quintic."""
    zero = np.zeros_like(x)
    return Piece(T, quintic_coefficients(T, start, zero, zero, x, v, a))


def way_back(T: float, start: Array, end: Array) -> Piece:
    """Return the minimum-jerk motion between two rests."""
    zero = np.zeros_like(start)
    return Piece(T, quintic_coefficients(T, start, zero, zero, end, zero, zero))


def rest(T: float, x: Array) -> Piece:
    """Return a pause."""
    zero = np.zeros_like(x)
    return Piece(T, np.array([zero] * (_ORDER - 1) + [x]))


def evaluate(piece: Piece, t: Array) -> tuple[Array, Array, Array]:
    """Return value, velocity and acceleration at times (m,) since the beginning, (m, k) each."""
    c, s = piece.coefficients, t[:, None]
    x, v, a = (np.zeros((t.size, c.shape[1])) for _ in range(3))
    for row in c:  # Horner's rule for a polynomial and two derivatives
        a = a * s + 2.0 * v
        v = v * s + x
        x = x * s + row
    return x, v, a


#: joint positions, velocities and accelerations of a coordinate's value, velocity and acceleration
States = Callable[[Array, Array, Array], tuple[Array, Array, Array]]
#: durations of pieces that are tried: an arm without limits would not swing at all [s]
_TRIALS = np.geomspace(0.05, 4.0, 60)
_SAMPLES = 80  # instants where limits are looked at


@dataclass(frozen=True, kw_only=True, eq=False)
class ThrowMotion:
    """What the arm does: `plan_throw` makes it.

    Attributes
    ----------
    robot : Robot
        With what it carries.
    release : Release
        The state that it passes through.
    limits : MotionLimits
        What it keeps.
    space : {"joint", "task"}
        Where the minimum-jerk pieces are: in the joints, or along a straight line of the hand at constant orientation.
    swing, stop, back : Piece
        Before the release, after it, and to the start again; of the joints, or of the metres along the line since the
        release.
    states : callable
        From these coordinates to joints.
    frame : int, str or None
        What throws.
    """

    robot: Robot
    release: Release
    limits: MotionLimits
    space: Literal["joint", "task"]
    swing: Piece
    stop: Piece
    back: Piece
    states: States
    frame: int | str | None = None

    @property
    def release_time(self) -> float:
        """Of the first throw [s]."""
        return self.swing.duration

    @property
    def throw_duration(self) -> float:
        """Of swing and stop [s]."""
        return self.swing.duration + self.stop.duration

    @property
    def cycle(self) -> float:
        """From one start to the next [s]."""
        return self.throw_duration + self.back.duration

    def release_times(self, repetitions: int = 0) -> Array:
        """Return when the arm passes the release in repetitions without one and in the throw, (repetitions + 1,)."""
        return np.asarray(self.release_time + self.cycle * np.arange(whole(repetitions, "repetitions", 0) + 1))

    def duration(self, repetitions: int = 0) -> float:
        """Return how long repetitions and the throw after them last [s]."""
        return self.cycle * whole(repetitions, "repetitions", 0) + self.throw_duration

    def _pieces(self, repetitions: int) -> list[Piece]:
        cycle = [self.swing, self.stop, self.back]
        return cycle * whole(repetitions, "repetitions", 0) + [self.swing, self.stop]

    def reference(self, repetitions: int = 0) -> JointTrajectory | TaskTrajectory:
        """Return what a controller follows: a joint or a task trajectory, as `space` says.

        Parameters
        ----------
        repetitions : int
            Cycles before the throw.
        """
        pieces = self._pieces(repetitions)
        breaks = np.array(list(accumulate((piece.duration for piece in pieces), initial=0.0)))
        coefficients = np.stack([piece.coefficients for piece in pieces], axis=1)
        if self.space == "joint":
            return JointTrajectory(breaks, coefficients)
        along = coefficients[:, :, 0].copy()
        first = float(along[-1, 0])
        along[-1] -= first
        direction = self.release.v / self.release.speed
        start = self.release.p + first * direction
        portion = Portion(direction, np.zeros(3), np.zeros(3), 0.0)
        return TaskTrajectory(start, [TimingLaw(breaks, along)], [0.0], [portion], as_orientation(self.release.R))

    def joints(self, t: npt.ArrayLike, repetitions: int = 0) -> tuple[Array, Array, Array]:
        """Return q, dq and ddq of the nominal motion at times, (k, n) each; before and after, the arm rests."""
        pieces = self._pieces(repetitions)
        ends = np.cumsum([piece.duration for piece in pieces])
        times = np.clip(np.atleast_1d(np.asarray(t, dtype=np.float64)), 0.0, ends[-1])
        which = np.minimum(np.searchsorted(ends, times, side="right"), len(pieces) - 1)
        found = [np.zeros((times.size, self.robot.n)) for _ in range(3)]
        for k, piece in enumerate(pieces):
            rows = which == k
            if rows.any():
                begin = ends[k] - piece.duration
                for rows_of, values in zip(found, self.states(*evaluate(piece, times[rows] - begin)), strict=True):
                    rows_of[rows] = values
        return found[0], found[1], found[2]

    @cached_property
    def q_start(self) -> Array:
        """Where the arm rests before, (n,)."""
        return np.asarray(self.joints(0.0)[0][0])

    @cached_property
    def margins(self) -> dict[str, Array]:
        """What remains of each limit along one cycle, by inverse dynamics at 1 kHz, as parts of it, (n,) each."""
        t = np.arange(0.0, self.cycle + self.throw_duration, 1e-3)
        q, dq, ddq = self.joints(t, 1)
        return margins_of(self.limits, q, dq, ddq, self.robot.inverse_dynamics(q, dq, ddq))

    def plot(self) -> Figure:
        """Draw joints between their limits over the throw; see `thunder_py.manipulation.throwing.plot`."""
        from .plot import plot_motion

        return plot_motion(self)

    def __repr__(self) -> str:
        """Durations and the least margin."""
        least, name = worst_margin(self.margins, self.robot)
        times = ", ".join(f"{piece.duration:.3f}" for piece in (self.swing, self.stop, self.back))
        return f"<ThrowMotion in {self.space} space: {times} s, least margin {least:.2g} ({name})>"


def fastest(
    make: Callable[[float], Piece], states: States, robot: Robot, limits: MotionLimits, what: str, period: float
) -> Piece:
    """Return the shortest piece that keeps all limits, of 0.05 to 4 s, its time a whole number of periods.

    Parameters
    ----------
    make : callable
        From a duration to a piece.
    states : callable
        From its coordinates to joints; NaN where there are none.
    robot, limits
        Torques are those of inverse dynamics.
    what : str
        Name of the piece in errors.
    period : float
        [s].

    Raises
    ------
    ReleaseError
        Naming the limit that the best duration breaks.
    """

    def margin(T: float) -> tuple[float, str]:
        piece = make(T)
        q, dq, ddq = states(*evaluate(piece, np.linspace(0.0, T, _SAMPLES)))
        if not np.isfinite(q).all():
            return -np.inf, "reach"
        return worst_margin(margins_of(limits, q, dq, ddq, robot.inverse_dynamics(q, dq, ddq)), robot)

    trials = [(T, *margin(T)) for T in _TRIALS]
    good = next((k for k, (_, least, _) in enumerate(trials) if least >= ROOM), None)
    if good is None:
        T, least, name = max(trials, key=lambda trial: trial[1])
        raise ReleaseError(
            f"no {what} keeps the limits: in {T:.3g} s it breaks {name} by {100 * (ROOM - least):.3g} %", name
        )
    low = int(np.floor(trials[max(good - 1, 0)][0] / period))
    high = int(np.ceil(trials[good][0] / period))
    while margin(high * period)[0] < ROOM:  # rounding up may leave a narrow interval of good times
        high += 1
        if high * period > _TRIALS[-1]:
            raise ReleaseError(f"no {what} of whole periods keeps the limits", trials[good][2])
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if margin(middle * period)[0] >= ROOM else (middle, high)
    return make(high * period)


_LONGEST = 1.2  # to either side [m]
_KNOTS = 0.005  # [m]
#: of the smallest singular value of the Jacobian [m]: closer to a singularity the line ends
_SINGULAR = 0.02
#: [rad], [m]: a release on a limit is within it
_ON_LIMIT = 1e-9


def line_states(robot: Robot, release: Release, limits: MotionLimits, frame: int | str | None) -> States:
    """Return the map from metres along the velocity of a release, and their derivatives, to joints.

    Parameters
    ----------
    robot : Robot
        The arm.
    release : Release
        Where the line is at 0 metres, with its direction and orientation.
    limits : MotionLimits
        The line ends where a joint leaves its positions or the arm comes near a singularity; NaN beyond.
    frame : int or str, optional
        What moves.

    Notes
    -----
    ``dq/ds = J^+ [direction; 0]`` is integrated from the release to both sides: the joint motion of least velocity,
    which a task-space controller with damped null space follows. How fast the line is passed does not matter for it.
    """
    if release.speed < 1e-6:
        raise ReleaseError("a hand that hardly moves has no line to throw along", "speed")
    from scipy.interpolate import make_interp_spline

    direction = np.concatenate([release.v / release.speed, np.zeros(3)])
    low, q_low = _side(robot, release.q, -direction, limits, frame)
    high, q_high = _side(robot, release.q, direction, limits, frame)
    s = np.concatenate([-low[:0:-1], high])
    q_of: Any = make_interp_spline(s, np.concatenate([q_low[:0:-1], q_high]), k=5)
    first, second, ends = q_of.derivative(), q_of.derivative(2), (float(s[0]), float(s[-1]))

    def states(x: Array, v: Array, a: Array) -> tuple[Array, Array, Array]:
        outside = (x[:, 0] < ends[0] - 1e-12) | (x[:, 0] > ends[1] + 1e-12)
        at = np.clip(x[:, 0], *ends)
        q, slope, bend = q_of(at), first(at), second(at)
        q[outside] = np.nan
        return q, slope * v, bend * v**2 + slope * a

    return states


def _side(
    robot: Robot, q0: Array, direction: Array, limits: MotionLimits, frame: int | str | None
) -> tuple[Array, Array]:
    """Distances from the release (k,) and joints there (k, n), up to where the line ends."""

    def slope(_: float, q: Array) -> Array:
        J = robot.jacobian(q, frame)
        return np.asarray(np.linalg.lstsq(J, direction, rcond=None)[0])

    def room(_: float, q: Array) -> float:
        outside = float((limits.half_range - np.abs(q - limits.centre)).min())
        singular = float(np.linalg.svd(robot.jacobian(q, frame), compute_uv=False)[-1]) - _SINGULAR
        return min(outside, singular) + _ON_LIMIT

    room.terminal, room.direction = True, -1.0  # type: ignore[attr-defined]
    solution = integrate(slope, (0.0, _LONGEST), q0, rtol=1e-10, atol=1e-12, events=room, dense_output=True)
    length = float(solution.t[-1])
    s = np.linspace(0.0, length, int(length / _KNOTS) + 2)
    q = solution.sol(s).T
    # a limit that is left and kept again within one step of the solver is no event of its
    left = [k for k in range(len(s) - 1) if room(0.0, q[k]) < 0.0]
    end = left[0] if left else len(s)
    if end == 0 or s[end - 1] < 4.0 * _KNOTS:
        raise ReleaseError("the arm cannot move on along the line of the throw", "reach")
    return s[:end], q[:end]
