"""Motion of a throw: swing, release, stop, and return for another repetition."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import numpy as np
import numpy.typing as npt

from ...checks import Array, real, whole
from ...errors import ReleaseError
from ...integration import integrate
from ...robot import Robot
from ...trajectory import JointTrajectory, MotionLimits, TimingLaw
from ...trajectory.orientation import as_orientation
from ...trajectory.segments import Portion, TaskTrajectory
from ...trajectory.timing import quintic_coefficients
from .flight import landing
from .release import ROOM, Release, hand_states, margins_of, worst_margin

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from scipy.interpolate import PPoly


class Piece(NamedTuple):
    """Polynomial motion over a time interval.

    Attributes
    ----------
    duration : float
        [s].
    coefficients : (6, k) array
        Highest power first, of the time since the start of the piece.
    """

    duration: float
    coefficients: Array


def free_swing(T: float, x: Array, v: Array, a: Array) -> Piece:
    """Return the minimum-jerk motion from rest at a free start to (x, v, a) in a time T.

    With a free start the fifth derivative vanishes, so the motion is a quartic. With a = 0 it covers v T / 2.
    """
    c3 = (3.0 * v - a * T) / (3.0 * T**2)
    c4 = (a * T - 2.0 * v) / (4.0 * T**3)
    start = x - c3 * T**3 - c4 * T**4
    zero = np.zeros_like(start)
    return Piece(T, np.array([zero, c4, c3, zero, zero, start]))


def free_stop(T: float, x: Array, v: Array, a: Array) -> Piece:
    """Return the minimum-jerk motion from (x, v, a) to rest at a free end in a time T: `free_swing` backwards."""
    # reversed time changes the sign of v: x(T - t) of the swing that ends at (x, -v, a)
    backwards = free_swing(T, x, -v, a).coefficients
    end = backwards[-1]
    c3, c4 = backwards[2], backwards[1]
    zero = np.zeros_like(end)
    return Piece(
        T, np.array([zero, c4, -c3 - 4.0 * c4 * T, 0.5 * a, v, x])
    )  # of c3 (T - t)^3 + c4 (T - t)^4, written in t with the known values at t = 0


def coasting(robot: Robot, release: Release, duration: float, period: float) -> list[Piece]:
    """Return the joint motion in which the hand falls freely without turning, around a release, in short quintics."""
    steps = max(round(0.5 * duration / period), 1)
    size = max(1, -(-steps // max(round(_COAST / period), 1)))

    def rates(_: float, x: Array) -> Array:
        q, dq = np.split(x, 2)
        return np.concatenate([dq, hand_states(robot, q, dq, acceleration="free fall").ddq])

    first = np.concatenate([release.q, release.dq])
    knots = np.unique(np.round(np.linspace(0, steps, size + 1))) * period
    halves = [
        integrate(rates, (0.0, sign * knots[-1]), first, rtol=1e-10, atol=1e-12, t_eval=sign * knots).y.T
        for sign in (-1.0, 1.0)
    ]
    states = np.concatenate([halves[0][:0:-1], halves[1]])
    times, (q, dq) = np.concatenate([-knots[:0:-1], knots]), np.split(states, 2, axis=1)
    ddq = hand_states(robot, q, dq, acceleration="free fall").ddq
    ends = [(q[k], dq[k], ddq[k]) for k in range(len(times))]
    spans = np.diff(times)
    return [Piece(T, quintic_coefficients(T, *ends[k], *ends[k + 1])) for k, T in enumerate(spans.tolist())]


def swing_from(T: float, start: Array, x: Array, v: Array, a: Array) -> Piece:
    """Return the minimum-jerk motion from rest at a given start to (x, v, a): a quintic."""
    zero = np.zeros_like(x)
    return Piece(T, quintic_coefficients(T, start, zero, zero, x, v, a))


def return_motion(T: float, start: Array, end: Array) -> Piece:
    """Return the minimum-jerk motion from rest to rest."""
    zero = np.zeros_like(start)
    return Piece(T, quintic_coefficients(T, start, zero, zero, end, zero, zero))


def evaluate(motion: PPoly, t: Array) -> tuple[Array, Array, Array]:
    """Return value, velocity and acceleration at times (m,), (m, k) each."""
    return motion(t), motion.derivative()(t), motion.derivative(2)(t)


def joined(pieces: Sequence[Piece]) -> PPoly:
    """Return pieces one after the other, from time 0."""
    from scipy.interpolate import PPoly

    breaks = np.array(list(accumulate((piece.duration for piece in pieces), initial=0.0)))
    return PPoly(np.stack([piece.coefficients for piece in pieces], axis=1), breaks)


#: map from value, velocity and acceleration of a coordinate to those of the joints
States = Callable[[Array, Array, Array], tuple[Array, Array, Array]]
#: trial durations of a piece, bounded below because limits need not bound them [s]
_TRIALS = np.geomspace(0.05, 4.0, 60)
_SAMPLES = 80  # instants where limits are checked
_COAST = 0.02  # longest quintic of a coast [s]


@dataclass(frozen=True, kw_only=True, eq=False)
class ThrowMotion:
    """Motion of the arm in a throw, planned by `plan_throw`.

    Attributes
    ----------
    robot : Robot
        The arm with its load.
    release : Release
        State at the end of the swing.
    limits : MotionLimits
        Limits that the motion keeps.
    space : {"joint", "task"}
        Coordinates of the minimum-jerk pieces: the joints, or the distance along a straight line of the hand at
        constant orientation.
    swing, stop, back : Piece
        Pieces before the release, after it and back to the start, in the joints [rad] or in the distance from the
        release along the line [m].
    states : callable
        Map from these coordinates to the joints.
    coast : tuple of Piece
        Pieces between swing and stop in which the hand falls freely, half of them before the release; see `plan_throw`.

    Examples
    --------
    >>> import thunder_py as th
    >>> from thunder_py.manipulation import plan_throw
    >>> motion = plan_throw(th.Robot.load("panda"), (1.1, 0.1, -0.4), objective="limits", starts=4)
    >>> q, dq, ddq = motion.joints(motion.release_time)
    >>> bool(abs(q[0] - motion.release.q).max() < 1e-9)
    True
    >>> abs(motion.reference(repetitions=2).end_time - motion.duration(2)) < 1e-9
    True
    >>> min(float(margin.min()) for margin in motion.margins.values()) > 0
    True
    """

    robot: Robot
    release: Release
    limits: MotionLimits
    space: Literal["joint", "task"]
    swing: Piece
    stop: Piece
    back: Piece
    states: States
    coast: tuple[Piece, ...] = ()

    @property
    def coast_duration(self) -> float:
        """Time for which the hand falls freely, with the release in its middle [s]."""
        return sum(piece.duration for piece in self.coast)

    @property
    def release_time(self) -> float:
        """Time of the first release [s]."""
        return self.swing.duration + 0.5 * self.coast_duration

    @property
    def throw_duration(self) -> float:
        """Duration of swing, coast and stop [s]."""
        return self.swing.duration + self.coast_duration + self.stop.duration

    @property
    def cycle(self) -> float:
        """Duration of swing, coast, stop and return [s]."""
        return self.throw_duration + self.back.duration

    def release_times(self, repetitions: int = 0) -> Array:
        """Return the times at the release state in each repetition and in the throw, (repetitions + 1,) [s]."""
        return np.asarray(self.release_time + self.cycle * np.arange(whole(repetitions, "repetitions", 0) + 1))

    def duration(self, repetitions: int = 0) -> float:
        """Return the duration of the repetitions and of the throw after them [s]."""
        return self.cycle * whole(repetitions, "repetitions", 0) + self.throw_duration

    def _coordinates(self, repetitions: int) -> PPoly:
        throw = [self.swing, *self.coast, self.stop]
        return joined([*throw, self.back] * whole(repetitions, "repetitions", 0) + throw)

    def reference(self, repetitions: int = 0) -> JointTrajectory | TaskTrajectory:
        """Return the reference of a controller, a joint or a task trajectory according to `space`.

        Parameters
        ----------
        repetitions : int
            Number of cycles before the throw.
        """
        motion = self._coordinates(repetitions)
        if self.space == "joint":
            return JointTrajectory(motion.x, motion.c)
        along = motion.c[:, :, 0].copy()
        first = float(along[-1, 0])
        along[-1] -= first
        direction = self.release.v / self.release.speed
        start = self.release.p + first * direction
        portion = Portion(direction, np.zeros(3), np.zeros(3), 0.0)
        return TaskTrajectory(start, [TimingLaw(motion.x, along)], [0.0], [portion], as_orientation(self.release.R))

    def joints(self, t: npt.ArrayLike, repetitions: int = 0) -> tuple[Array, Array, Array]:
        """Return q, dq and ddq of the nominal motion at times (k,), (k, n) each; the arm rests before and after."""
        motion = self._coordinates(repetitions)
        return self.states(*evaluate(motion, np.clip(np.atleast_1d(real(t, "t", finite=False)), 0.0, motion.x[-1])))

    @cached_property
    def q_start(self) -> Array:
        """Joint positions at the start of the swing, (n,)."""
        return np.asarray(self.joints(0.0)[0][0])

    @cached_property
    def margins(self) -> dict[str, Array]:
        """Remaining fraction of each limit along one cycle, (n,) each; torques by inverse dynamics at 1 kHz."""
        t = np.arange(0.0, self.cycle + self.throw_duration, 1e-3)
        q, dq, ddq = self.joints(t, 1)
        return margins_of(self.limits, q, dq, ddq, self.robot.inverse_dynamics(q, dq, ddq))

    def landings(self, late: npt.ArrayLike) -> Array:
        """Return where an object lands that leaves the planned motion later than planned, (k, 3) [m].

        Parameters
        ----------
        late : (k,) array_like
            Times after the release [s].
        """
        q, dq, _ = self.joints(self.release_time + np.asarray(real(late, "late")))
        return landing(*hand_motion(self.robot, q, dq), float(self.release.target[2])).p

    def plot(self, *, axes: Mapping[str, Axes] | None = None) -> dict[str, Axes]:
        """Draw one cycle as fractions of the limits of the joints.

        Parameters
        ----------
        axes : mapping of str to Axes, optional
            Panels to draw, of ``"position"``, ``"velocity"``, ``"acceleration"`` and ``"torque"``; default all, in a
            new figure.

        Returns
        -------
        dict of str to Axes
            The panels drawn.
        """
        from .plot import plot_motion

        return plot_motion(self, axes=axes)

    def __repr__(self) -> str:
        """Return the durations and the least margin as text."""
        least, name = worst_margin(self.margins, self.robot)
        times = ", ".join(f"{piece.duration:.3f}" for piece in (self.swing, self.stop, self.back))
        times += f" s, coast {self.coast_duration:.3f}" if self.coast else ""
        return f"<ThrowMotion in {self.space} space: {times} s, least margin {least:.2g} ({name})>"


def hand_motion(robot: Robot, q: Array, dq: Array) -> tuple[Array, Array]:
    """Return position and velocity of the hand, (k, 3) each [m], [m/s], at joint states (k, n)."""
    v = (robot.jacobian(q)[:, :3] @ dq[..., None])[..., 0]
    return robot.forward_kinematics(q)[:, :3, 3], v


def check_limits(path: PPoly, robot: Robot, limits: MotionLimits, what: str) -> None:
    """Raise a `ReleaseError` if a joint motion breaks a limit, or is not finite near a singularity."""
    q, dq, ddq = evaluate(path, np.linspace(path.x[0], path.x[-1], _SAMPLES))
    least, name = worst_margin(margins_of(limits, q, dq, ddq, robot.inverse_dynamics(q, dq, ddq)), robot)
    if not least >= ROOM:
        raise ReleaseError(f"the {what} breaks the {name} by {100 * (ROOM - least):.3g} %", name)


def fastest(
    make: Callable[[float], Piece],
    states: States,
    robot: Robot,
    limits: MotionLimits,
    what: str,
    period: float,
    wanted: float = 0.0,
) -> Piece:
    """Return the shortest piece that keeps all limits, of 0.05 to 4 s, its duration a multiple of the period.

    Parameters
    ----------
    make : callable
        Map from a duration to a piece.
    states : callable
        Map from coordinates of the piece to the joints; NaN outside its domain.
    robot, limits
        Torques are those of inverse dynamics.
    what : str
        Name of the piece in error messages.
    period : float
        Period of the controller [s].
    wanted : float
        Duration that is taken instead if it keeps the limits [s].

    Raises
    ------
    ReleaseError
        If no duration keeps the limits; the message names the limit that the best duration breaks.
    """

    def margin(T: float) -> tuple[float, str]:
        piece = make(T)
        q, dq, ddq = states(*evaluate(joined([piece]), np.linspace(0.0, T, _SAMPLES)))
        if not np.isfinite(q).all():
            return -np.inf, "reach"
        return worst_margin(margins_of(limits, q, dq, ddq, robot.inverse_dynamics(q, dq, ddq)), robot)

    if wanted and margin(wanted)[0] >= ROOM:
        return make(wanted)
    trials = [(T, *margin(T)) for T in _TRIALS]
    first = next((k for k, (_, least, _) in enumerate(trials) if least >= ROOM), None)
    if first is None:
        T, least, name = max(trials, key=lambda trial: trial[1])
        raise ReleaseError(
            f"no {what} keeps the limits: in {T:.3g} s it breaks {name} by {100 * (ROOM - least):.3g} %", name
        )
    low = int(np.floor(trials[max(first - 1, 0)][0] / period))
    high = int(np.ceil(trials[first][0] / period))
    while margin(high * period)[0] < ROOM:  # rounding up may leave a narrow interval of feasible durations
        high += 1
        if high * period > _TRIALS[-1]:
            raise ReleaseError(f"no {what} of whole periods keeps the limits", trials[first][2])
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if margin(middle * period)[0] >= ROOM else (middle, high)
    return make(high * period)


_LONGEST = 1.2  # longest line to either side [m]
_KNOTS = 0.005  # distance of the knots [m]
#: smallest singular value of the Jacobian at which the line ends, near a singularity [m]
_SINGULAR = 0.02
#: tolerance by which a release on a limit is within it [rad], [m]
_ON_LIMIT = 1e-9


def line_states(robot: Robot, release: Release, limits: MotionLimits) -> States:
    """Return the map from the distance along the velocity of a release, with derivatives, to the joints.

    Parameters
    ----------
    robot : Robot
        The arm.
    release : Release
        Origin, direction and orientation of the line.
    limits : MotionLimits
        The line ends where a joint leaves its range or the arm approaches a singularity; NaN beyond.

    Notes
    -----
    ``dq/ds = J^+ [direction; 0]`` is integrated from the release to both sides. This is the joint motion of least
    velocity, which a task-space controller with damped null space follows. It does not depend on the speed.
    """
    if release.speed < 1e-6:
        raise ReleaseError(f"the hand must move at release to define a line, got {release.speed:.3g} m/s", "speed")
    from scipy.interpolate import make_interp_spline

    direction = np.concatenate([release.v / release.speed, np.zeros(3)])
    low, q_low = _side(robot, release.q, -direction, limits)
    high, q_high = _side(robot, release.q, direction, limits)
    s = np.concatenate([-low[:0:-1], high])
    q_of: Any = make_interp_spline(s, np.concatenate([q_low[:0:-1], q_high]), k=5)
    first, second, ends = q_of.derivative(), q_of.derivative(2), (float(s[0]), float(s[-1]))

    def states(x: Array, v: Array, a: Array) -> tuple[Array, Array, Array]:
        outside = (x[:, 0] < ends[0] - 1e-12) | (x[:, 0] > ends[1] + 1e-12)
        distance = np.clip(x[:, 0], *ends)
        q, slope, curvature = q_of(distance), first(distance), second(distance)
        q[outside] = np.nan
        return q, slope * v, curvature * v**2 + slope * a

    return states


def _side(robot: Robot, q0: Array, direction: Array, limits: MotionLimits) -> tuple[Array, Array]:
    """Return distances from the release (k,) and the joints there (k, n), up to the end of the line."""

    def slope(_: float, q: Array) -> Array:
        J = robot.jacobian(q)
        return np.asarray(np.linalg.lstsq(J, direction, rcond=None)[0])

    def room(_: float, q: Array) -> float:
        outside = float((limits.half_range - np.abs(q - limits.center)).min())
        singular = float(np.linalg.svd(robot.jacobian(q), compute_uv=False)[-1]) - _SINGULAR
        return min(outside, singular) + _ON_LIMIT

    room.terminal, room.direction = True, -1.0  # type: ignore[attr-defined]
    solution = integrate(slope, (0.0, _LONGEST), q0, rtol=1e-10, atol=1e-12, events=room, dense_output=True)
    length = float(solution.t[-1])
    s = np.linspace(0.0, length, int(length / _KNOTS) + 2)
    q = solution.sol(s).T
    # the solver reports no event for a limit that is broken and kept again within one step
    broken = [k for k in range(len(s) - 1) if room(0.0, q[k]) < 0.0]
    end = broken[0] if broken else len(s)
    if end == 0 or s[end - 1] < 4.0 * _KNOTS:
        raise ReleaseError("the arm cannot move on along the line of the throw", "reach")
    return s[:end], q[:end]
