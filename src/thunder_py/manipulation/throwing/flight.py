"""Ballistic flight with and without drag: landing point, release velocity for a target."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from ...checks import Array, array, nonnegative, positive, real, whole
from ...errors import ReleaseError, ThunderError
from ...integration import integrate

#: magnitude of the acceleration of free fall, along -z [m/s^2]
GRAVITY = 9.81

#: fraction of the squared speed: an apex this close to the landing height reaches it
_ROUNDING = 1e-14


class Landing(NamedTuple):
    """Landing of an object on a horizontal plane.

    Attributes
    ----------
    time : (...) array
        Time of flight [s].
    p, v : (..., 3) array
        Position [m] and velocity [m/s] at the landing.

    Examples
    --------
    >>> from thunder_py.manipulation import landing
    >>> end = landing([0.0, 0.0, 1.0], [1.0, 0.0, 0.0], -0.5)
    >>> round(float(end.time), 3), end.p.round(3).tolist(), end.v.round(3).tolist()
    (0.553, [0.553, 0.0, -0.5], [1.0, 0.0, -5.425])
    """

    time: Array
    p: Array
    v: Array


def flight_range(
    speed: npt.ArrayLike, angle: npt.ArrayLike, height: npt.ArrayLike = 0.0, *, g: float = GRAVITY
) -> Array:
    """Return the horizontal distance of a flight without drag, (...) [m] (D4.2, eq. 77).

    ::

        d = v cos(theta) / g (v sin(theta) + sqrt(v^2 sin(theta)^2 + 2 g h))

    Parameters
    ----------
    speed : (...) array_like
        Speed at release [m/s], at least 0.
    angle : (...) array_like
        Angle of the velocity above the horizontal [rad].
    height : (...) array_like
        Height of the release **above** the landing [m] (errata, D-15).
    g : float
        Gravity [m/s^2].

    Raises
    ------
    ReleaseError
        If the speed is negative, or the object does not rise to a landing above its release.

    Examples
    --------
    >>> from thunder_py.manipulation import flight_range
    >>> flight_range(3.0, [0.3, 0.6, 0.9], 0.8).round(3).tolist()
    [1.445, 1.515, 1.322]
    """
    v, theta, h = (np.asarray(array(x, np.shape(x), name)) for x, name in
                   ((speed, "speed"), (angle, "angle"), (height, "height")))  # fmt: skip
    if (v < 0.0).any():
        raise ReleaseError(f"speed must be at least 0, got {v.tolist()}", "speed")
    g = positive(g, "g", "m/s^2")
    up = v * np.sin(theta)
    return np.asarray(v * np.cos(theta) * _time(up, h, g))


def _time(up: Array, height: Array, g: float) -> Array:
    """Return the time of flight to a plane `height` below the release, crossed downwards [s]."""
    square = up**2 + 2.0 * g * height
    touch = np.abs(square) <= _ROUNDING * up**2  # the apex, for a speed of `release_velocity` straight up
    square = np.where(touch & (up > 0.0), 0.0, square)
    if (square < 0.0).any():
        short = -float(np.min(square)) / (2.0 * g)
        raise ReleaseError(f"the object does not rise to the landing height, {short:.3g} m short", "height")
    time = (up + np.sqrt(square)) / g
    if (time < 0.0).any():
        raise ReleaseError("the object is below the landing height and falls", "height")
    return np.asarray(time)


def landing(p: npt.ArrayLike, v: npt.ArrayLike, plane: npt.ArrayLike = 0.0, *, g: float = GRAVITY) -> Landing:
    """Return the landing of an object on the plane z = `plane`, without drag.

    Parameters
    ----------
    p, v : (..., 3) array_like
        Position [m] and velocity [m/s] at release, world axes, z up.
    plane : float or (...) array_like
        Height of the landing [m].
    g : float
        Gravity [m/s^2].

    Returns
    -------
    Landing
        Time, position and velocity where the object crosses the plane downwards.

    Raises
    ------
    ReleaseError
        If the object never crosses the plane downwards.

    Examples
    --------
    >>> from thunder_py.manipulation import landing
    >>> end = landing([[0.0, 0.0, 0.5], [0.0, 0.0, 1.0]], [1.0, 0.5, 2.0], -0.4)
    >>> end.p.round(3).tolist()
    [[0.678, 0.339, -0.4], [0.776, 0.388, -0.4]]
    """
    position, velocity = _vectors(p, "p"), _vectors(v, "v")
    g = positive(g, "g", "m/s^2")
    level = array(plane, np.shape(plane), "plane")
    time = _time(velocity[..., 2], position[..., 2] - level, g)
    return Landing(time, *path(position, velocity, time, g=g))


def path(p: npt.ArrayLike, v: npt.ArrayLike, t: npt.ArrayLike, *, g: float = GRAVITY) -> tuple[Array, Array]:
    """Return position and velocity (..., 3) at times t after the release; t broadcasts with p[..., 0]."""
    position, velocity, time = _vectors(p, "p"), _vectors(v, "v"), real(t, "t", finite=False)[..., None]
    fall = np.array([0.0, 0.0, -g])
    return position + velocity * time + 0.5 * fall * time**2, velocity + fall * time


def release_velocity(
    p: npt.ArrayLike, target: npt.ArrayLike, *, angle: float | None = None, g: float = GRAVITY
) -> Array:
    """Return the release velocity for a landing on the target, without drag, (3,) [m/s].

    Parameters
    ----------
    p, target : (3,) array_like
        Release and landing [m].
    angle : float, optional
        Angle of the velocity above the horizontal [rad]; default that of the least speed,
        ``v^2 = g (dz + sqrt(d^2 + dz^2))`` at ``theta = pi/4 + atan2(dz, d) / 2``.
    g : float
        Gravity [m/s^2].

    Raises
    ------
    ReleaseError
        If no speed at this angle comes down on the target.

    Examples
    --------
    >>> from thunder_py.manipulation import landing, release_velocity
    >>> v = release_velocity([0.7, 0.3, 0.6], [1.9, -0.2, -0.4])
    >>> v.round(3).tolist()
    [2.075, -0.865, 1.107]
    >>> landing([0.7, 0.3, 0.6], v, -0.4).p.round(6).tolist()
    [1.9, -0.2, -0.4]
    """
    offset = array(target, (3,), "target") - array(p, (3,), "p")
    g = positive(g, "g", "m/s^2")
    d, dz = math.hypot(offset[0], offset[1]), float(offset[2])
    heading = offset[:2] / d if d > 0.0 else np.zeros(2)
    if angle is None:
        theta, speed = 0.25 * math.pi + 0.5 * math.atan2(dz, d), math.sqrt(g * (dz + math.hypot(d, dz)))
        # the heading is undefined straight below or above
        return np.array([*(speed * math.cos(theta) * heading), speed * math.sin(theta) if d > 0.0 else speed])
    theta = float(array(angle, (), "angle"))
    rise = d * math.tan(theta) - dz  # height of the straight line above the target, which the fall must equal
    if abs(theta) >= 0.5 * math.pi or d == 0.0 or rise <= max(dz, 0.0):  # with less than dz it would still be rising
        raise ReleaseError(
            f"no speed comes down on a target {d:.3g} m away and {dz:.3g} m up at an angle of {theta:.3g} rad", "angle"
        )
    forward = d / math.sqrt(2.0 * rise / g)
    return np.array([*(forward * heading), forward * math.tan(theta)])


def _vectors(value: npt.ArrayLike, what: str) -> Array:
    return array(value, (*np.shape(value)[:-1], 3), what)


#: dry air at sea level and 20 degrees Celsius [kg/m^3]
AIR_DENSITY = 1.204
_TOLERANCE: dict[str, Any] = {"rtol": 1e-11, "atol": 1e-12}
_REACHED = 1e-10  # an apex this close to the landing height reaches it: ten times the integrator's tolerance [m, 1]
_LONGEST_FALL = 1e4  # in braking lengths 1 / drag: the integrator needs a step for each


class Flight(NamedTuple):
    """Sampled flight from release to landing.

    Attributes
    ----------
    t : (k,) array
        Times since the release [s].
    p, v : (k, 3) array
        Positions [m] and velocities [m/s].
    landing : Landing
        End of the flight.

    Examples
    --------
    >>> from thunder_py.manipulation import simulate_flight
    >>> flight = simulate_flight([0.0, 0.0, 0.0], [2.0, 0.0, 2.0], -0.5, samples=3)
    >>> flight.t.round(3).tolist(), flight.p[:, [0, 2]].round(3).tolist()
    ([0.0, 0.291, 0.583], [[0.0, 0.0], [0.583, 0.166], [1.165, -0.5]])
    """

    t: Array
    p: Array
    v: Array
    landing: Landing


def drag_coefficient(mass: float, area: float, c_d: float, *, density: float = AIR_DENSITY) -> float:
    """Return the coefficient k of quadratic drag, ``dv/dt = -k |v| v`` [1/m]: density c_d area / (2 mass).

    Parameters
    ----------
    mass : float
        Mass of the object [kg].
    area : float
        Cross-section [m^2].
    c_d : float
        Drag coefficient of the shape: about 0.47 for a sphere, 1.05 for a cube.
    density : float
        Density of the air [kg/m^3].

    Raises
    ------
    ThunderError
        If a number is not positive.

    Examples
    --------
    >>> import math
    >>> from thunder_py.manipulation.throwing import drag_coefficient
    >>> round(drag_coefficient(0.058, math.pi * 0.0335**2, 0.55), 4)  # a tennis ball
    0.0201
    """
    ratio = positive(area, "area", "m^2") / positive(mass, "mass", "kg")
    return 0.5 * positive(density, "density", "kg/m^3") * positive(c_d, "c_d") * ratio


def _too_low(top: str, plane: float) -> ReleaseError:
    return ReleaseError(
        f"the object does not rise to the landing height, it reaches {top} m of {plane:.3g} m", "height"
    )


def simulate_flight(
    p: npt.ArrayLike, v: npt.ArrayLike, plane: float = 0.0, *, drag: float = 0.0, g: float = GRAVITY, samples: int = 50
) -> Flight:
    """Integrate a flight until it crosses the plane z = `plane` downwards.

    Parameters
    ----------
    p, v : (3,) array_like
        Position [m] and velocity [m/s] at release.
    plane : float
        Height of the landing [m].
    drag : float
        Coefficient k of ``dv/dt = g - k |v| v`` [1/m]; see `drag_coefficient`.
    g : float
        Gravity [m/s^2].
    samples : int
        Number of evenly spaced instants of the flight, at least 2.

    Returns
    -------
    Flight
        Samples and landing.

    Raises
    ------
    ReleaseError
        If the object never crosses the plane downwards.

    Examples
    --------
    >>> from thunder_py.manipulation import simulate_flight
    >>> flight = simulate_flight([0.0, 0.0, 1.0], [5.0, 0.0, 0.0], -0.4, drag=0.1)
    >>> flight.p.shape, flight.landing.p.round(3).tolist()
    ((50, 3), [2.441, 0.0, -0.4])
    """
    position, velocity = array(p, (3,), "p"), array(v, (3,), "v")
    k, g, level = nonnegative(drag, "drag"), positive(g, "g", "m/s^2"), float(array(plane, (), "plane"))
    count, height, up = whole(samples, "samples", 2), float(position[2]) - level, float(velocity[2])
    slack = _REACHED * (1.0 + max(abs(level), abs(float(position[2]))))
    top = float(position[2]) + max(up, 0.0) * up / (2.0 * g)  # without drag, an upper bound
    if top < level - slack:
        raise _too_low(f"at most {top:.3g}", level)
    if height <= 0.0 and up <= 0.0:
        return Flight(np.zeros(1), position[None], velocity[None], Landing(np.asarray(0.0), position, velocity))
    if k * height > _LONGEST_FALL:
        raise ThunderError(
            f"drag must be at most {_LONGEST_FALL / height:.3g} 1/m for a fall of {height:.3g} m, got {k:g}"
        )

    def rates(_: float, x: Array) -> Array:
        with np.errstate(over="ignore", invalid="ignore"):  # the integration reports overflow
            return np.concatenate([x[3:], np.array([0.0, 0.0, -g]) - k * float(np.linalg.norm(x[3:])) * x[3:]])

    def landed(_: float, x: Array) -> float:  # positive before the landing, negative after it: no step passes over it
        return max(float(x[2]) - level, float(x[5]))

    landed.terminal, landed.direction = True, -1.0  # type: ignore[attr-defined]
    without_drag = (up + math.sqrt(max(2.0 * g * (top - level), 0.0))) / g
    longest = {"max_step": max(without_drag, 1e-6)} if math.isfinite(without_drag) else {}
    state = np.concatenate([position, velocity])
    solution = integrate(rates, (0.0, math.inf), state, events=landed, dense_output=True, **longest, **_TOLERANCE)
    time, end = float(solution.t_events[0][0]), solution.y_events[0][0]
    if end[2] < level - slack:
        raise _too_low(f"{end[2]:.3g}", level)
    t = np.linspace(0.0, time, count)
    x = solution.sol(t).T
    return Flight(t, x[:, :3], x[:, 3:], Landing(np.asarray(time), end[:3], end[3:]))


def landing_with_drag(
    p: npt.ArrayLike, v: npt.ArrayLike, plane: float = 0.0, *, drag: float, g: float = GRAVITY
) -> Landing:
    """Return the landing of an object through air, by the closed form of `landing` for zero drag.

    Parameters
    ----------
    p, v, plane, drag, g
        As in `simulate_flight`.

    Returns
    -------
    Landing
        Time, position and velocity where the object crosses the plane downwards.

    Raises
    ------
    ReleaseError
        If the object never crosses the plane downwards.

    Examples
    --------
    >>> from thunder_py.manipulation.throwing import landing_with_drag
    >>> for drag in (0.0, 0.02, 0.5):
    ...     print(round(float(landing_with_drag([0, 0, 1], [3, 0, 0], drag=drag).p[0]), 3))
    1.355
    1.341
    1.079
    """
    if drag == 0.0:
        return landing(array(p, (3,), "p"), array(v, (3,), "v"), plane, g=g)
    return simulate_flight(p, v, plane, drag=drag, g=g, samples=2).landing
