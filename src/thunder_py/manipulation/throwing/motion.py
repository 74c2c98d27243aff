"""The whole motion of a throw: swing, release, stop, and the way back for another repetition."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate
from typing import TYPE_CHECKING, Literal

import numpy as np
import numpy.typing as npt

from ...checks import Array
from ...errors import ReleaseError
from ...identification.limits import MotionLimits
from ...motion.scalars import whole
from ...robot import Robot
from ...trajectory import JointTrajectory, TimingLaw
from ...trajectory.orientation import as_orientation
from ...trajectory.segments import Portion, TaskTrajectory
from .pieces import Piece, evaluate
from .release import ROOM, Release, margins_of, worst_margin

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["States", "ThrowMotion", "fastest"]

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
        from ...plotting.throw_motion import plot_motion

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
