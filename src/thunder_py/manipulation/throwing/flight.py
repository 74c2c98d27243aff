"""Flight without drag: where an object lands, and how it must leave the hand to land somewhere."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from ...checks import Array, array, at_least, positive, whole
from ...errors import ReleaseError, ThunderError
from ...integration import integrate

__all__ = [
    "AIR_DENSITY",
    "GRAVITY",
    "Flight",
    "Landing",
    "drag_coefficient",
    "flight_range",
    "fly",
    "landing",
    "landing_with_drag",
    "path",
    "release_velocity",
    "release_velocity_with_drag",
]

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


#: dry air at sea level and 20 degrees Celsius [kg/m^3]
AIR_DENSITY = 1.204
_TOLERANCE: dict[str, Any] = {"rtol": 1e-11, "atol": 1e-12}
_FASTEST = 1e3  # [m/s], where the search for a speed gives up
_REACHED = 1e-10  # an apex this close to the landing height reaches it: ten times what the integrator promises [m, 1]
_LONGEST_FALL = 1e4  # in lengths 1 / drag, over which the air takes a speed: the integrator needs a step for each


class Flight(NamedTuple):
    """A flight from release to landing.

    Attributes
    ----------
    t : (k,) array
        Since the release [s].
    p, v : (k, 3) array
        [m], [m/s].
    landing : Landing
        Its end.
    """

    t: Array
    p: Array
    v: Array
    landing: Landing


def drag_coefficient(mass: float, area: float, c_d: float, *, density: float = AIR_DENSITY) -> float:
    """Return k of ``dv/dt = -k |v| v`` [1/m]: density c_d area / (2 mass).

    Parameters
    ----------
    mass : float
        [kg].
    area : float
        Cross-section [m^2].
    c_d : float
        Of the shape: about 0.47 for a sphere, 1.05 for a cube.
    density : float
        Of the air [kg/m^3].
    """
    ratio = positive(area, "area", "m^2") / positive(mass, "mass", "kg")
    return 0.5 * positive(density, "density", "kg/m^3") * positive(c_d, "c_d") * ratio


def acceleration(v: Array, drag: float, g: float) -> Array:
    """Of an object in flight, (3,)."""
    with np.errstate(over="ignore", invalid="ignore"):  # the integration reports it
        return np.array([0.0, 0.0, -g]) - drag * float(np.linalg.norm(v)) * v


class _Fall(NamedTuple):
    """End of a flight: time after the release [s], state there, and the states (m, k) at times up to it."""

    time: float
    end: Array
    states: Callable[[Array], Array]


def until_landing(rates: Callable[[float, Array], Array], state: Array, plane: float, g: float, drag: float) -> _Fall:
    """Integrate a state that begins with z at entry 2 and its rate at entry 5 until it comes down through the plane.

    The rate of z changes its sign once, at the apex. Up to there and from there on z is monotonic, so that no step of
    the integrator, however long, can pass over the landing.
    """
    height, up = float(state[2]) - plane, float(state[5])
    slack = _REACHED * (1.0 + max(abs(plane), abs(float(state[2]))))
    most = float(state[2]) + max(up, 0.0) * up / (2.0 * g)  # without drag; through air it rises less
    if most < plane - slack:
        raise _too_low(f"at most {most:.3g}", plane)
    rise = None
    if up > 0.0:
        rise = _until(rates, 0.0, state, lambda x: float(x[5]), up / g)
        state, height = rise.end, float(rise.end[2]) - plane
    begin = 0.0 if rise is None else rise.time
    if height < -slack:
        raise _too_low(f"{plane + height:.3g}", plane)
    if height <= slack and (rise is not None or height <= 0.0):
        return rise or _Fall(0.0, state, lambda t: np.repeat(state[:, None], len(t), axis=1))
    _check_drag(drag, height)
    down = float(state[5])
    without_drag = (down + math.sqrt(down * down + 2.0 * g * height)) / g
    fall = _until(rates, begin, state, lambda x: float(x[2]) - plane, without_drag)
    if rise is None:
        return fall
    first = rise.states

    def states(t: Array) -> Array:
        return np.where(t <= begin, first(np.minimum(t, begin)), fall.states(np.maximum(t, begin)))

    return _Fall(fall.time, fall.end, states)


def _until(
    rates: Callable[[float, Array], Array], begin: float, state: Array, height: Callable[[Array], float], step: float
) -> _Fall:
    """Integrate until a positive function of the state, which falls through zero for certain, is zero."""

    def event(_: float, x: Array) -> float:
        return height(x)

    event.terminal, event.direction = True, -1.0  # type: ignore[attr-defined]
    longest = {"max_step": max(step, 1e-6)} if math.isfinite(step) else {}
    solution = integrate(rates, (begin, math.inf), state, events=event, dense_output=True, **longest, **_TOLERANCE)
    return _Fall(float(solution.t_events[0][0]), solution.y_events[0][0], solution.sol)


def _too_low(top: str, plane: float) -> ReleaseError:
    return ReleaseError(
        f"the object does not rise to the landing height, it reaches {top} m of {plane:.3g} m", "height"
    )


def _check_drag(drag: float, height: float) -> None:
    """Refuse a fall that would take the integrator forever: it cannot step further than the air brakes."""
    if drag * height > _LONGEST_FALL:
        raise ThunderError(
            f"drag must be at most {_LONGEST_FALL / height:.3g} 1/m for a fall of {height:.3g} m, got {drag:g}"
        )


def fly(
    p: npt.ArrayLike, v: npt.ArrayLike, plane: float = 0.0, *, drag: float = 0.0, g: float = GRAVITY, samples: int = 50
) -> Flight:
    """Integrate a flight until it comes down through the plane z = `plane`.

    Parameters
    ----------
    p, v : (3,) array_like
        At release [m], [m/s].
    plane : float
        [m].
    drag : float
        k of ``dv/dt = g - k |v| v`` [1/m], see `drag_coefficient`.
    g : float
        [m/s^2].
    samples : int
        Evenly spaced instants of the flight, at least 2.

    Raises
    ------
    ReleaseError
        If it never lands there.
    """
    position, velocity = array(p, (3,), "p"), array(v, (3,), "v")
    k, g, level = at_least(drag, "drag"), positive(g, "g", "m/s^2"), float(array(plane, (), "plane"))
    count = whole(samples, "samples", 2)
    if position[2] <= level and velocity[2] <= 0.0:
        landing(position, velocity, level, g=g)  # on the plane, or an error
        at = Landing(np.asarray(0.0), position, velocity)
        return Flight(np.zeros(1), position[None], velocity[None], at)

    def rates(_: float, x: Array) -> Array:
        return np.concatenate([x[3:], acceleration(x[3:], k, g)])

    time, end, states = until_landing(rates, np.concatenate([position, velocity]), level, g, k)
    t = np.linspace(0.0, time, count)
    x = states(t).T
    return Flight(t, x[:, :3], x[:, 3:], Landing(np.asarray(time), end[:3], end[3:]))


def landing_with_drag(
    p: npt.ArrayLike, v: npt.ArrayLike, plane: float = 0.0, *, drag: float, g: float = GRAVITY
) -> Landing:
    """Return where an object lands; see `fly`. Without drag it is the closed form."""
    if drag == 0.0:
        return landing(array(p, (3,), "p"), array(v, (3,), "v"), plane, g=g)
    return fly(p, v, plane, drag=drag, g=g, samples=2).landing


def release_velocity_with_drag(
    p: npt.ArrayLike, target: npt.ArrayLike, *, drag: float, angle: float | None = None, g: float = GRAVITY
) -> Array:
    """Return the velocity at which an object must leave p to land at the target through air, (3,) [m/s].

    Parameters
    ----------
    p, target : (3,) array_like
        [m].
    drag : float
        [1/m].
    angle : float, optional
        Above the horizontal [rad]; default the one of the least speed.
    g : float
        [m/s^2].

    Raises
    ------
    ReleaseError
        If no speed up to 1000 m/s does it.

    Notes
    -----
    Drag is along the velocity, so that the flight stays in its vertical plane: one speed is looked for at every angle,
    by Brent's method, and the angle by bounded minimisation.
    """
    from scipy.optimize import minimize_scalar

    start, goal = array(p, (3,), "p"), array(target, (3,), "target")
    k = at_least(drag, "drag")
    vacuum = release_velocity(start, goal, angle=angle, g=g)
    d = float(np.linalg.norm((goal - start)[:2]))
    dz = float(goal[2] - start[2])
    if k == 0.0 or (d == 0.0 and dz <= 0.0):
        return vacuum
    if d == 0.0:  # straight up, where v^2 loses 2 g + 2 k v^2 per metre
        straight = math.sqrt(g / k * math.expm1(min(2.0 * k * dz, 700.0)))
        if straight > _FASTEST:
            raise _too_fast()
        return np.array([0.0, 0.0, straight])
    _check_drag(k, 2.0 * (d + abs(dz)))
    heading = np.array([*((goal - start)[:2] / d), 0.0])

    def velocity(theta: float) -> Array:
        return _speed_at(start, goal, theta, k, g) * (math.cos(theta) * heading + math.sin(theta) * np.array([0, 0, 1]))

    if angle is not None:
        return velocity(float(angle))
    least = math.atan2(max(dz, 2.0 * dz), d)  # below this angle nothing comes down on the target

    def speed(theta: float) -> float:
        return float(np.linalg.norm(velocity(theta)))

    edge = 0.01 * (0.5 * math.pi - least)
    bounds = (least + edge, 0.5 * math.pi - edge)
    best = minimize_scalar(speed, bounds=bounds, method="bounded", options={"xatol": 1e-7})
    return velocity(float(best.x))


def _too_fast() -> ReleaseError:
    return ReleaseError(f"no speed up to {_FASTEST:g} m/s reaches the target through this air", "speed")


def _speed_at(start: Array, goal: Array, theta: float, drag: float, g: float) -> float:
    """Speed at which an object that leaves at an angle lands on the target."""
    from scipy.optimize import brentq

    d, dz = float(np.linalg.norm((goal - start)[:2])), float(goal[2] - start[2])
    heading = (goal - start)[:2] / d
    direction = np.array([*(math.cos(theta) * heading), math.sin(theta)])

    def beyond(speed: float) -> float:
        return _height_over(start, speed * direction, heading, d, dz, drag, g)

    low = float(np.linalg.norm(release_velocity(start, goal, angle=theta, g=g)))
    high = low
    while beyond(high) <= 0.0:
        high *= 1.5
        if high > _FASTEST:
            raise _too_fast()
    return low if high == low else float(brentq(beyond, low, high, xtol=1e-12, rtol=1e-14))


def _height_over(start: Array, velocity: Array, heading: Array, d: float, dz: float, drag: float, g: float) -> float:
    """Height of the flight over the target where it is as far away, at least as far below it as the two are apart."""
    apart = d + abs(dz)

    def there(_: float, x: Array) -> float:
        return float((x[:2] - start[:2]) @ heading) - d

    def lost(_: float, x: Array) -> float:
        return float(x[2] - start[2]) - dz + apart

    there.terminal = lost.terminal = True  # type: ignore[attr-defined]

    def rates(_: float, x: Array) -> Array:
        return np.concatenate([x[3:], acceleration(x[3:], drag, g)])

    state = np.concatenate([start, velocity])
    solution = integrate(rates, (0.0, math.inf), state, events=(there, lost), **_TOLERANCE)
    return float(solution.y[2, -1] - start[2]) - dz
