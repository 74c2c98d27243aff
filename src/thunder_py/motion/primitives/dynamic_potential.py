"""Potential of obstacles that only what approaches them feels (Park et al. 2008)."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
import numpy.typing as npt

from ... import _core
from ...checks import Array, array, is_number, numbers, positive
from ...errors import ThunderError

__all__ = ["DynamicPotential", "spheres_of"]

#: along no axis, and mostly upwards: a motion along it is unlikely
_SIDE = (1.0, 4.0, 9.0)


class DynamicPotential(_core.DynamicPotential):
    """Repulsion from points and spheres, D4.2 (107): ``U = gain (-cos theta)^beta |z| / p`` for theta above 90 degrees.

    theta is the angle between z, the (scaled) velocity, and the way from the obstacle's centre to y; p is the distance
    of y from its surface. What moves away, or past, feels nothing. Several obstacles add. Of an obstacle that moves, z
    is the velocity relative to it.

    The force is the gradient, ``-dU/dy``. With ``r = y - centre, n = r / |r|, c = z . n / |z| = cos theta``, it is

    ``F = gain |z| (-c)^(beta - 1) / p * [beta (z / |z| - c n) / |r| - c n / p]``:

    one part leads round, one brakes.

    Parameters
    ----------
    gain : float
        lambda, above zero.
    beta : float
        At least 2, below which the force jumps as theta passes 90 degrees.
    least_distance : float
        [m]. Nearer than this, and inside a sphere, 1 / p is continued by its tangent: U and F stay finite, and F its
        gradient.
    tie_break : float
        [rad]. Straight at a centre the gradient only brakes, and the motion would go nowhere else. So U takes z turned
        by this angle towards `side`: F still is a gradient, of that potential. 0 gives (107) to the letter.
    side : (3,) or (2,) array_like, optional
        Any direction; default (1, 4, 9) normalised, which is mostly up and along nothing in particular. In the plane
        (1, 4).

    Raises
    ------
    ThunderError
        On numbers out of range.

    References
    ----------
    D.-H. Park, H. Hoffmann, P. Pastor, S. Schaal, "Movement reproduction and obstacle avoidance with dynamic movement
    primitives and potential fields", Humanoids 2008.
    """

    def __init__(
        self,
        gain: float = 0.5,
        beta: float = 2.0,
        *,
        least_distance: float = 0.01,
        tie_break: float = 0.02,
        side: npt.ArrayLike | None = None,
    ) -> None:
        self.gain, self.beta = positive(gain, "gain"), positive(beta, "beta")
        if self.beta < 2.0:
            raise ThunderError(f"beta must be at least 2, or the force jumps at 90 degrees, got {beta:g}")
        self.least_distance = positive(least_distance, "least_distance")
        if not is_number(tie_break) or not 0.0 <= tie_break < 0.5:
            raise ThunderError(f"tie_break must be an angle from 0 to 0.5 rad, got {tie_break!r}")
        self.tie_break, self.side = float(tie_break), None if side is None else _direction(side)
        super().__init__(self.gain, self.beta, self.least_distance, self.tie_break, self._side_in(3))

    def potential(self, y: npt.ArrayLike, z: npt.ArrayLike, obstacles: Any, *, t: float = 0.0) -> Array:
        """Return U (...) at positions y (..., m) with velocities z (..., m), m = 1, 2, 3, at time t [s]."""
        energy, _, shape = self._evaluate(y, z, obstacles, t)
        return energy.reshape(shape[:-1])

    def force(self, y: npt.ArrayLike, z: npt.ArrayLike, obstacles: Any, *, t: float = 0.0) -> Array:
        """Return -dU/dy (..., m) at positions y (..., m) with velocities z (..., m), m = 1, 2, 3, at time t [s]."""
        _, force, shape = self._evaluate(y, z, obstacles, t)
        return force[:, : shape[-1]].reshape(shape)

    def _evaluate(self, y: Any, z: Any, obstacles: Any, t: float) -> tuple[Array, Array, tuple[int, ...]]:
        points, speeds = numbers(y, "y"), numbers(z, "z")
        for what, value in (("y", points), ("z", speeds)):
            if not np.isfinite(value).all():
                raise ThunderError(f"{what} must be finite, got {value[~np.isfinite(value)][0]}")
        if not is_number(t) or not np.isfinite(t):
            raise ThunderError(f"t must be a time [s], got {t!r}")
        try:
            points, speeds = np.broadcast_arrays(points, speeds)
        except ValueError:
            raise ThunderError(f"y and z must have one shape, got {points.shape} and {speeds.shape}") from None
        if points.ndim == 0 or not 1 <= points.shape[-1] <= 3:
            raise ThunderError(f"y and z must have shape (..., m) with m = 1, 2 or 3, got {points.shape}")
        m = points.shape[-1]
        spheres = spheres_of(obstacles, m)
        energy, force = self.in_dimension(m)._at(_padded(points, m), _padded(speeds, m), spheres, float(t))
        return energy, force, points.shape

    def in_dimension(self, m: int) -> _core.DynamicPotential:
        """Return the same for motions of m coordinates, whose sideways is among these."""
        side = self._side_in(m)
        return _core.DynamicPotential(self.gain, self.beta, self.least_distance, self.tie_break, side)

    def _side_in(self, m: int) -> Array:
        chosen = np.zeros(3)
        given = np.array(_SIDE) if self.side is None else self.side
        chosen[:m] = given[:m]
        length = float(np.linalg.norm(chosen))
        return chosen / length if length > 0.0 else chosen


def _direction(value: npt.ArrayLike) -> Array:
    side = array(value, (None,), "side")
    if not 2 <= len(side) <= 3 or not side.any():
        raise ThunderError(f"side must be a direction of 2 or 3 entries, got {side.tolist()}")
    return np.append(side, np.zeros(3 - len(side)))


def _padded(values: Array, m: int) -> Array:
    rows = np.zeros((values.size // m, 3))
    rows[:, :m] = values.reshape(-1, m)
    return rows


def spheres_of(obstacles: Any, m: int) -> Array:
    """Return obstacles as rows of centre (3), velocity (3) and radius, (s, 7).

    Parameters
    ----------
    obstacles : sequence
        `Sphere`, a `MovingObstacle` made of one, or a point (m,).
    m : int
        Coordinates of the space they are in.

    Raises
    ------
    ThunderError
        On anything else: of other shapes the potential has no gradient everywhere.
    """
    if not isinstance(obstacles, Iterable):
        raise ThunderError(f"obstacles must be a sequence, got {type(obstacles).__name__}")
    rows = [_row(obstacle, k, m) for k, obstacle in enumerate(obstacles)]
    return np.array(rows).reshape(-1, 7)


def _row(obstacle: Any, k: int, m: int) -> Array:
    what, velocity, row = f"obstacles[{k}]", None, np.zeros(7)
    if hasattr(obstacle, "velocity") and hasattr(obstacle, "obstacle"):
        obstacle, velocity = obstacle.obstacle, obstacle.velocity
    if hasattr(obstacle, "centre") and hasattr(obstacle, "radius"):
        if m != 3:
            raise ThunderError(
                f"{what} is a sphere in space, where the motion has {m} coordinates; points (m,) go anywhere"
            )
        centre, row[6] = array(obstacle.centre, (3,), what), positive(obstacle.radius, f"{what}: radius")
    elif isinstance(obstacle, (list, tuple, np.ndarray)):
        centre = array(obstacle, (m,), what)
    else:
        raise ThunderError(
            f"{what} must be a Sphere, a MovingObstacle of one, or a point ({m},), got {type(obstacle).__name__}"
        )
    row[:m] = centre
    if velocity is not None:
        row[3 : 3 + m] = array(velocity, (m,), f"{what}: velocity")
    return row
