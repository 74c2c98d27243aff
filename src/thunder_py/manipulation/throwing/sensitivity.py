"""How errors at the release move the landing point."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ...checks import Array, array
from ...errors import ReleaseError, ThunderError
from ...motion.scalars import at_least, positive
from .ballistics import GRAVITY, landing
from .drag import acceleration, until_landing

__all__ = ["LandingSensitivity", "landing_sensitivity"]


@dataclass(frozen=True, eq=False)
class LandingSensitivity:
    """Derivatives of the landing point on its plane.

    Attributes
    ----------
    position : (2, 3) array
        By the position at release [m/m].
    velocity : (2, 3) array
        By the velocity at release [m per m/s].
    time : (2,) array
        By the time of release, while the hand moves on [m/s]: ``position v + velocity a``. It vanishes for a hand in
        free fall, a = g.
    """

    position: Array
    velocity: Array
    time: Array

    def covariance(self, position: npt.ArrayLike = 0.0, velocity: npt.ArrayLike = 0.0, time: float = 0.0) -> Array:
        """Return the covariance of the landing point to first order, (2, 2) [m^2].

        Parameters
        ----------
        position, velocity : float or (3, 3) array_like
            Covariances of the release [m^2], [m^2/s^2]; a number is a standard deviation [m], [m/s] of each component.
        time : float
            Standard deviation of the time of release [s].
        """
        P, V = _covariance(position, "position"), _covariance(velocity, "velocity")
        sigma = at_least(time, "time")
        return np.asarray(
            self.position @ P @ self.position.T
            + self.velocity @ V @ self.velocity.T
            + sigma**2 * np.outer(self.time, self.time)
        )


def _covariance(value: npt.ArrayLike, what: str) -> Array:
    if np.ndim(value) == 0:
        return np.asarray(at_least(float(array(value, (), what)), what) ** 2 * np.eye(3))
    given = array(value, (3, 3), what)
    if not np.allclose(given, given.T) or np.linalg.eigvalsh(given)[0] < -1e-12 * np.abs(given).max():
        raise ThunderError(f"{what} must be a covariance, symmetric without negative eigenvalues, got {given.tolist()}")
    return given


def landing_sensitivity(
    p: npt.ArrayLike,
    v: npt.ArrayLike,
    plane: float = 0.0,
    *,
    a: npt.ArrayLike = (0.0, 0.0, 0.0),
    drag: float = 0.0,
    g: float = GRAVITY,
) -> LandingSensitivity:
    """Return how the landing point moves with position, velocity and time of the release.

    Parameters
    ----------
    p, v, a : (3,) array_like
        Position [m], velocity [m/s] and acceleration [m/s^2] of the hand at release.
    plane : float
        [m].
    drag : float
        [1/m].
    g : float
        [m/s^2].

    Raises
    ------
    ReleaseError
        If the object never lands there.

    Notes
    -----
    Without drag, with the flight time T and the downward speed w of the impact, ``dL/dp = [I, v_xy / w]`` and
    ``dL/dv = T dL/dp``. With drag the same follows from the variational equations of the flight.
    """
    position, velocity = array(p, (3,), "p"), array(v, (3,), "v")
    hand, k, level = array(a, (3,), "a"), at_least(drag, "drag"), float(array(plane, (), "plane"))
    if k == 0.0:
        down = landing(position, velocity, level, g=g)
        _check_impact(float(down.v[2]))
        by_position = np.hstack([np.eye(2), velocity[:2, None] / -down.v[2]])
        by_velocity = float(down.time) * by_position
    else:
        by_position, by_velocity = _variational(position, velocity, level, k, positive(g, "g"))
    return LandingSensitivity(by_position, by_velocity, by_position @ velocity + by_velocity @ hand)


def _variational(p: Array, v: Array, plane: float, drag: float, g: float) -> tuple[Array, Array]:
    """Return the derivatives of the landing by p and v through air, (2, 3) each."""

    def rates(_: float, x: Array) -> Array:
        Phi, speed = x[6:].reshape(6, 6), float(np.linalg.norm(x[3:6]))
        direction = x[3:6] / speed if speed > 0.0 else np.zeros(3)
        by_velocity = -drag * speed * (np.eye(3) + np.outer(direction, direction))
        moved = np.vstack([Phi[3:], by_velocity @ Phi[3:]])
        return np.concatenate([x[3:6], acceleration(x[3:6], drag, g), moved.ravel()])

    end = until_landing(rates, np.concatenate([p, v, np.eye(6).ravel()]), plane, g, drag).end
    Phi, impact = end[6:].reshape(6, 6)[:3], end[3:6]
    _check_impact(float(impact[2]))
    moved = Phi[:2] - np.outer(impact[:2] / impact[2], Phi[2])  # the time of the landing moves too
    return moved[:, :3], moved[:, 3:]


def _check_impact(rate: float) -> None:
    """Refuse a flight that touches the plane with its apex: there the landing has no derivative."""
    if rate >= 0.0:
        raise ReleaseError("the apex touches the landing height, where the landing point has no derivative", "height")
