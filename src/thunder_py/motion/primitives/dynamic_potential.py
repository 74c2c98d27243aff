"""Velocity-dependent repulsive potential of obstacles (Park et al. 2008)."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
import numpy.typing as npt

from ... import _core
from ...checks import Array, array, finite, is_number, positive, real
from ...errors import ThunderError

#: mostly upwards and along no axis, so that a motion along it is unlikely
_SIDE = (1.0, 4.0, 9.0)


class DynamicPotential(_core.DynamicPotential):
    """Repulsive potential of points and spheres that depends on the velocity, D4.2 (107).

    Parameters
    ----------
    gain : float
        Gain lambda > 0.
    beta : float
        Exponent, at least 2; below, the force is discontinuous at theta = 90 degrees.
    least_distance : float
        Distance [m] below which, and inside a sphere, the tangent of 1 / p replaces 1 / p. U and F stay finite, and F
        remains the gradient.
    tie_break : float
        Angle [rad] by which U rotates z towards `side`, since the force on a motion straight at a center only brakes.
        F is the gradient of this potential. 0 gives (107) exactly.
    side : (3,) or (2,) array_like, optional
        Direction of `tie_break`; default (1, 4, 9) normalized, mostly upwards and along no axis, in the plane (1, 4).

    Raises
    ------
    ThunderError
        For numbers out of range.

    Notes
    -----
    ``U = gain (-cos theta)^beta |z| / p`` for theta above 90 degrees, otherwise 0. theta is the angle between z, the
    (scaled) velocity relative to the obstacle, and the vector from the obstacle's center to y; p is the distance of y
    from its surface. Motions away from an obstacle have no potential. Potentials of several obstacles add.

    The force is the gradient, ``-dU/dy``. With ``r = y - center, n = r / |r|, c = z . n / |z| = cos theta``, it is

    ``F = gain |z| (-c)^(beta - 1) / p * [beta (z / |z| - c n) / |r| - c n / p]``.

    The first term deflects, the second one brakes.

    References
    ----------
    D.-H. Park, H. Hoffmann, P. Pastor, S. Schaal, "Movement reproduction and obstacle avoidance with dynamic movement
    primitives and potential fields", Humanoids 2008.

    Examples
    --------
    >>> from thunder_py.geometry import Sphere
    >>> from thunder_py.motion import DynamicPotential
    >>> field, ball = DynamicPotential(tie_break=0.0), Sphere([0.0, 0.0, 0.0], 0.1)
    >>> field.force([-0.6, 0.0, 0.0], [1.0, 0.0, 0.0], [ball]).round(3).tolist()  # 0.5 m before the surface
    [-2.0, 0.0, 0.0]
    >>> round(float(field.potential([-0.6, 0.0, 0.0], [-1.0, 0.0, 0.0], [ball])), 3)  # moving away
    0.0
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
            raise ThunderError(f"beta must be at least 2 for a continuous force, got {beta:g}")
        self.least_distance = positive(least_distance, "least_distance")
        if not is_number(tie_break) or not 0.0 <= tie_break < 0.5:
            raise ThunderError(f"tie_break must be an angle from 0 to 0.5 rad, got {tie_break!r}")
        self.tie_break, self.side = float(tie_break), array(_SIDE if side is None else side, (None,), "side")
        if not 2 <= len(self.side) <= 3 or not self.side.any():
            raise ThunderError(f"side must be a direction of 2 or 3 entries, got {self.side.tolist()}")
        super().__init__(*self._settings(3))

    def potential(self, y: npt.ArrayLike, z: npt.ArrayLike, obstacles: Any, *, t: float = 0.0) -> Array:
        """Return U (...) at positions y (..., m) with velocities z (..., m), m = 1, 2, 3, at time t [s]."""
        energy, _, shape = self._evaluate(y, z, obstacles, t)
        return energy.reshape(shape[:-1])

    def force(self, y: npt.ArrayLike, z: npt.ArrayLike, obstacles: Any, *, t: float = 0.0) -> Array:
        """Return -dU/dy (..., m) at positions y (..., m) with velocities z (..., m), m = 1, 2, 3, at time t [s]."""
        _, force, shape = self._evaluate(y, z, obstacles, t)
        return force[:, : shape[-1]].reshape(shape)

    def _evaluate(self, y: Any, z: Any, obstacles: Any, t: float) -> tuple[Array, Array, tuple[int, ...]]:
        points, speeds, time = real(y, "y"), real(z, "z"), finite(t, "t")
        try:
            both = np.stack(np.broadcast_arrays(points, speeds))
        except ValueError:
            raise ThunderError(
                f"y and z must have shapes that broadcast, got {points.shape} and {speeds.shape}"
            ) from None
        shape = both.shape[1:]
        if not shape or not 1 <= shape[-1] <= 3:
            raise ThunderError(f"y and z must have shape (..., m) with m = 1, 2 or 3, got {shape}")
        m = shape[-1]
        padded = np.pad(both.reshape(2, -1, m), ((0, 0), (0, 0), (0, 3 - m)))
        energy, force = self.in_dimension(m)._at(padded[0], padded[1], spheres_of(obstacles, m), time)
        return energy, force, shape

    def in_dimension(self, m: int) -> _core.DynamicPotential:
        """Return the core's potential for motions of m coordinates, with `side` in their space."""
        return _core.DynamicPotential(*self._settings(m))

    def _settings(self, m: int) -> tuple[float, float, float, float, Array]:
        side = np.pad(self.side[:m], (0, 3 - min(m, len(self.side))))
        return self.gain, self.beta, self.least_distance, self.tie_break, side / (np.linalg.norm(side) or 1.0)


def spheres_of(obstacles: Any, m: int) -> Array:
    """Return obstacles as rows of center (3), velocity (3) and radius, (s, 7).

    Parameters
    ----------
    obstacles : sequence
        `Sphere`, a `MovingObstacle` made of one, or a point (m,).
    m : int
        Dimension of their space.

    Raises
    ------
    ThunderError
        For other obstacles, whose potential has no gradient everywhere.
    """
    if not isinstance(obstacles, Iterable):
        raise ThunderError(f"obstacles must be a sequence, got {type(obstacles).__name__}")
    rows = [_row(obstacle, k, m) for k, obstacle in enumerate(obstacles)]
    return np.array(rows).reshape(-1, 7)


def _row(obstacle: Any, k: int, m: int) -> Array:
    what, velocity, row = f"obstacles[{k}]", None, np.zeros(7)
    if hasattr(obstacle, "velocity") and hasattr(obstacle, "obstacle"):
        obstacle, velocity = obstacle.obstacle, obstacle.velocity
    if hasattr(obstacle, "center") and hasattr(obstacle, "radius"):
        if m != 3:
            raise ThunderError(f"{what} must be a point ({m},) for motions of {m} coordinates, got a sphere in space")
        center, row[6] = array(obstacle.center, (3,), what), positive(obstacle.radius, f"{what}: radius")
    elif isinstance(obstacle, (list, tuple, np.ndarray)):
        center = array(obstacle, (m,), what)
    else:
        raise ThunderError(
            f"{what} must be a Sphere, a MovingObstacle of one, or a point ({m},), got {type(obstacle).__name__}"
        )
    row[:m] = center
    if velocity is not None:
        row[3 : 3 + m] = array(velocity, (m,), f"{what}: velocity")
    return row
