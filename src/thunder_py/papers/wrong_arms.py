"""Arms that differ from their models: friction in the joints, links of another weight."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from ..robot import Friction, Robot


def with_friction(robot: Robot, viscous: npt.ArrayLike, coulomb: npt.ArrayLike) -> Robot:
    """Return a robot with friction, viscous [N m s/rad] and Coulomb [N m], of all joints or of each, (n,)."""
    coefficients = np.empty((robot.n, 2))
    coefficients[:, 0], coefficients[:, 1] = viscous, coulomb
    return robot.replace(friction=Friction(terms=("viscous", "coulomb"), coefficients=coefficients))


def with_wrong_links(robot: Robot, share: float, rng: np.random.Generator) -> Robot:
    """Return a robot whose links have parameters that are all too high or all too low by a share, drawn by link."""
    signs = rng.choice((-1.0, 1.0), (robot.n, 1))
    return robot.replace(inertial=(1.0 + share * signs) * robot.description.inertial)
