"""Descent and turn of a hand that meets a moving object from above."""

from __future__ import annotations

import math

import numpy as np

from ...checks import Array, nonnegative, positive
from ...reference import TaskReference
from ...values import Stateful
from .view import YawEstimate

#: largest turn of the hand [rad]; the smallest one that grasps an object alike is a quarter turn at most
_FARTHEST = 2.0


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
        times it, with the default slower than the last joint of most arms.
    fixed : float
        The target of the turn is kept from this long before the arrival [s].

    Attributes
    ----------
    goal : float
        Target of the turn [rad].

    Examples
    --------
    >>> import numpy as np
    >>> from thunder_py.manipulation import Approach
    >>> from thunder_py.reference import TaskReference
    >>> approach, path = Approach(0.1, 0.35, 0.2), TaskReference(np.zeros(3), np.eye(3), np.zeros(6), np.zeros(6))
    >>> heights = []
    >>> for to_go in (1.0, 0.0, -0.2):
    ...     approach.step(1e-3, to_go)
    ...     heights.append(round(float(approach.apply(path).p[2]), 3))
    >>> heights
    [0.1, 0.063, 0.0]
    """

    def __init__(self, height: float, time: float, after: float, rate: float = 4.5, fixed: float = 0.2) -> None:
        self._height, self._time = nonnegative(height, "height", "m"), positive(time, "time", "s")
        self._after, self._rate, self._fixed = nonnegative(after, "after", "s"), positive(rate, "rate"), fixed
        self.reset()

    def reset(self) -> None:
        """Return to the height, without a turn."""
        self._turn = np.zeros(3)  # angle, rate, acceleration
        self.goal, self._is_fixed = 0.0, False
        self._above = np.array([self._height, 0.0, 0.0])

    def aim(self, yaw: YawEstimate) -> None:
        """Turn the hand to the direction of the object; called with each measurement.

        Of the turns that grasp the object alike, the first target is the smallest, and later ones are the nearest to
        the one before: noise does not turn the hand from one to another, unless it has turned farther than a joint may.
        """
        if not self._is_fixed:
            goal = yaw.near(self.goal)
            self.goal = goal if abs(goal) < _FARTHEST else yaw.near(0.0)

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
        self._turn = _damped(self._turn, self.goal, self._rate, dt)
        self._above = _descent((to_go + self._after) / self._time, self._time, self._height)

    def apply(self, plan: TaskReference) -> TaskReference:
        """Return the reference of the hand for an interceptor's."""
        angle, rate, acceleration = self._turn
        c, s = math.cos(angle), math.sin(angle)
        p, xi, xi_dot = (np.array(part) for part in (plan.p, plan.xi, plan.xi_dot))
        for part, value in zip((p, xi, xi_dot), self._above, strict=True):
            part[2] += value
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
