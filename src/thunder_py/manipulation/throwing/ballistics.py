"""Flight without drag: where an object lands, and how it must leave the hand to land somewhere."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from ...checks import Array, array
from ...errors import ReleaseError
from ...motion.scalars import positive

__all__ = ["GRAVITY", "Landing", "flight_range", "landing", "path", "release_velocity"]

#: size of the acceleration of free fall, along -z [m/s^2]
GRAVITY = 9.81

#: part of the squared speed: an apex this close to the landing height reaches it
_ROUNDING = 1e-14


class Landing(NamedTuple):
    """Where and how an object comes down on a horizontal plane.

    Attributes
    ----------
    time : (...) array
        Of flight [s].
    p, v : (..., 3) array
        Position [m] and velocity [m/s] there.
    """

    time: Array
    p: Array
    v: Array


def flight_range(
    speed: npt.ArrayLike, angle: npt.ArrayLike, height: npt.ArrayLike = 0.0, *, g: float = GRAVITY
) -> Array:
    """Return the horizontal distance that an object flies (D4.2, eq. 77).

    ::

        d = v cos(theta) / g (v sin(theta) + sqrt(v^2 sin(theta)^2 + 2 g h))

    Parameters
    ----------
    speed : array_like
        At release [m/s], not negative.
    angle : array_like
        Above the horizontal [rad].
    height : array_like
        Of the release **above** the landing [m] (errata, D-15).
    g : float
        [m/s^2].

    Raises
    ------
    ReleaseError
        If the object does not rise to a landing above its release.
    """
    v, theta, h = (np.asarray(array(x, np.shape(x), name)) for x, name in
                   ((speed, "speed"), (angle, "angle"), (height, "height")))  # fmt: skip
    if (v < 0.0).any():
        raise ReleaseError(f"speed must not be negative, got {v.tolist()}", "speed")
    g = positive(g, "g", "m/s^2")
    up = v * np.sin(theta)
    return np.asarray(v * np.cos(theta) * _time(up, h, g))


def _time(up: Array, height: Array, g: float) -> Array:
    """Until the object comes down through a plane that is `height` below its release."""
    square = up**2 + 2.0 * g * height
    touch = np.abs(square) <= _ROUNDING * up**2  # the apex, when `release_velocity` says how fast to throw straight up
    square = np.where(touch & (up > 0.0), 0.0, square)
    if (square < 0.0).any():
        short = -float(np.min(square)) / (2.0 * g)
        raise ReleaseError(f"the object does not rise to the landing height, {short:.3g} m short", "height")
    time = (up + np.sqrt(square)) / g
    if (time < 0.0).any():
        raise ReleaseError("the object is below the landing height and falls", "height")
    return np.asarray(time)


def landing(p: npt.ArrayLike, v: npt.ArrayLike, plane: npt.ArrayLike = 0.0, *, g: float = GRAVITY) -> Landing:
    """Return where an object comes down through the plane z = `plane`.

    Parameters
    ----------
    p, v : (..., 3) array_like
        Position [m] and velocity [m/s] at release, world axes, z up.
    plane : float or (...) array_like
        Height of the landing [m].
    g : float
        [m/s^2].

    Raises
    ------
    ReleaseError
        If it never does.
    """
    position, velocity = _vectors(p, "p"), _vectors(v, "v")
    g = positive(g, "g", "m/s^2")
    level = array(plane, np.shape(plane), "plane")
    time = _time(velocity[..., 2], position[..., 2] - level, g)
    at, after = path(position, velocity, time, g=g)
    return Landing(time, at, after)


def path(p: npt.ArrayLike, v: npt.ArrayLike, t: npt.ArrayLike, *, g: float = GRAVITY) -> tuple[Array, Array]:
    """Return position and velocity (..., 3) at times t after the release, which broadcast with p[..., 0]."""
    position, velocity, time = _vectors(p, "p"), _vectors(v, "v"), np.asarray(t, dtype=np.float64)[..., None]
    fall = np.array([0.0, 0.0, -g])
    return position + velocity * time + 0.5 * fall * time**2, velocity + fall * time


def release_velocity(
    p: npt.ArrayLike, target: npt.ArrayLike, *, angle: float | None = None, g: float = GRAVITY
) -> Array:
    """Return the velocity with which an object at p must leave to fly to the target, (3,) [m/s].

    Parameters
    ----------
    p, target : (3,) array_like
        Release and landing [m].
    angle : float, optional
        Of the velocity above the horizontal [rad]; default the one of the least speed,
        ``v^2 = g (dz + sqrt(d^2 + dz^2))`` at ``theta = pi/4 + atan2(dz, d) / 2``.
    g : float
        [m/s^2].

    Raises
    ------
    ReleaseError
        If no speed does it at this angle.
    """
    way = array(target, (3,), "target") - array(p, (3,), "p")
    g = positive(g, "g", "m/s^2")
    d, dz = math.hypot(way[0], way[1]), float(way[2])
    heading = way[:2] / d if d > 0.0 else np.zeros(2)
    if angle is None:
        theta, speed = 0.25 * math.pi + 0.5 * math.atan2(dz, d), math.sqrt(g * (dz + math.hypot(d, dz)))
        # straight below or above, where there is no heading
        return np.array([*(speed * math.cos(theta) * heading), speed * math.sin(theta) if d > 0.0 else speed])
    theta = float(array(angle, (), "angle"))
    rise = d * math.tan(theta) - dz  # of the straight line over the target; gravity must take it
    if abs(theta) >= 0.5 * math.pi or d == 0.0 or rise <= max(dz, 0.0):  # with less than dz it would still be rising
        raise ReleaseError(
            f"no speed comes down on a target {d:.3g} m away and {dz:.3g} m up at an angle of {theta:.3g} rad", "angle"
        )
    forward = d / math.sqrt(2.0 * rise / g)
    return np.array([*(forward * heading), forward * math.tan(theta)])


def _vectors(value: npt.ArrayLike, what: str) -> Array:
    return array(value, (*np.shape(value)[:-1], 3), what)
