"""Last part of a grasp from above: a descent and a turn of the hand, on top of an interceptor's reference."""

from __future__ import annotations

import math
from collections import deque

import numpy as np

from ...checks import Array
from ...reference import TaskReference
from ...values import Stateful

#: number of measured yaws that are averaged
_YAWS = 9
#: spread of their mean direction beyond which it is not used
_AGREE = 0.7


class YawEstimate(Stateful):
    """Mean of the last measured directions of an object that is the same after a turn by `symmetry`."""

    def __init__(self) -> None:
        self._seen: deque[tuple[float, float]] = deque(maxlen=_YAWS)

    def add(self, yaw: float | None, symmetry: float) -> None:
        """Take a measured direction [rad]; None for objects that may be grasped at any angle."""
        self._seen.append((0.0 if yaw is None else yaw, symmetry))

    def near(self, angle: float) -> float:
        """Return the direction nearest to an angle [rad]; the angle itself if measurements disagree."""
        if not self._seen:
            return angle
        symmetry = min(s for _, s in self._seen)
        folds = 2.0 * math.pi / symmetry
        mean = np.mean([np.exp(1j * folds * yaw) for yaw, _ in self._seen])
        if abs(mean) < _AGREE:
            return angle
        direction = float(np.angle(mean)) / folds
        return direction + symmetry * round((angle - direction) / symmetry)


class Approach(Stateful):
    """Descent and turn of the hand, as functions of the time to the arrival.

    An interceptor's path meets the object along a slant, on which the fingers would hit it. So the hand stays above
    the path by `height`, and descends when it moves with the object, nearly vertically as seen from it.

    Parameters
    ----------
    height : float
        Height above the path [m].
    time, after : float
        Duration of the descent, and its end after the arrival [s].
    rate : float
        Rate of the critically damped filter of the hand's turn [rad/s]. A quarter turn from rest has a peak of 0.58
        times it, with the default slower than the last joint of a Panda.
    fixed : float
        The target of the turn is kept from this long before the arrival [s].
    """

    def __init__(self, height: float, time: float, after: float, rate: float = 4.5, fixed: float = 0.2) -> None:
        self._height, self._time, self._after, self._rate, self._fixed = height, time, after, rate, fixed
        self._turn = np.zeros(3)  # angle, rate, acceleration
        self._goal, self._is_fixed = 0.0, False
        self._above = np.array([height, 0.0, 0.0])

    def aim(self, yaw: YawEstimate) -> None:
        """Turn the hand to the direction of the object; called with each measurement.

        Of the turns that grasp the object alike, the first target is the smallest, and later ones are the nearest to
        the one before: noise does not turn the hand from one to another.
        """
        if not self._is_fixed:
            self._goal = yaw.near(self._goal)

    def step(self, dt: float, to_go: float) -> None:
        """Advance by a period [s].

        Parameters
        ----------
        dt : float
            Period [s].
        to_go : float
            Time to the arrival [s]; infinite without one, negative after it.
        """
        self._is_fixed = to_go <= self._fixed
        self._turn = _damped(self._turn, self._goal, self._rate, dt)
        self._above = _descent((to_go + self._after) / self._time, self._time, self._height)

    def apply(self, plan: TaskReference) -> TaskReference:
        """Return the reference of the hand for an interceptor's."""
        angle, rate, acceleration = self._turn
        c, s = math.cos(angle), math.sin(angle)
        p, xi, xi_dot = (np.array(part) for part in (plan.p, plan.xi, plan.xi_dot))
        p[2] += self._above[0]
        xi[2] += self._above[1]
        xi_dot[2] += self._above[2]
        xi[5], xi_dot[5] = rate, acceleration
        return TaskReference(p, np.array([[c, -s, 0.0], [s, c, 0.0], [0.0, 0.0, 1.0]]) @ plan.R, xi, xi_dot)


def _damped(state: Array, goal: float, rate: float, dt: float) -> Array:
    """Return the exact response of a critically damped second-order filter to a constant goal after dt."""
    away, speed = state[0] - goal, state[1]
    b, decay = speed + rate * away, math.exp(-rate * dt)
    x, v = (away + b * dt) * decay, (speed - rate * b * dt) * decay
    return np.array([goal + x, v, -(rate**2) * x - 2.0 * rate * v])


def _descent(s: float, time: float, height: float) -> Array:
    """Return height, velocity and acceleration of a quintic that ends at s = 0, from s = 1 on."""
    s = min(max(s, 0.0), 1.0)
    return height * np.array(
        [
            s**3 * (10.0 - 15.0 * s + 6.0 * s**2),
            -30.0 * s**2 * (1.0 - s) ** 2 / time,
            60.0 * s * (1.0 - s) * (1.0 - 2.0 * s) / time**2,
        ]
    )
