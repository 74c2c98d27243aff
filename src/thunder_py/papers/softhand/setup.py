"""Thunder article, section 5.2: the hand, printed numbers, and mountings, which are not printed."""

from __future__ import annotations

import numpy as np

from ...checks import Array
from ...robot import Robot
from ...simulation import Payload

#: mass and center of mass of the SoftHand, in its base frame, printed in D4.2, section 3.3.2 [kg, m]
HAND_MASS, HAND_COM = 0.83, (0.102, -0.003, 0.037)
#: Table 8: mass [kg] and center of mass of link 7 with the hand, in the frame of link 7 [m]
TABLE_8 = {
    "true": (1.5655, 0.0617, -0.0004, 0.0009),
    "estimate": (1.7542, 0.0414, -0.0039, -0.0191),
    "initial": (0.736, 0.014, -0.004, -0.045),
}
#: centers of mass as drawn by `draw_com`
DRAWN = "center of mass of the hand: first with the hand's base at the flange, then any direction at the same distance"


def merged(robot: Robot, payload: Payload) -> Array:
    """Return REG of the last link and a payload as one body (Huygens-Steiner), (10,)."""
    return np.asarray(robot.inertial[-1] + payload.parameters)


def draw_com(seed: int) -> tuple[float, float, float]:
    """Return a center of mass of the hand, whose mounting is not printed: `HAND_COM`, or in a random direction [m]."""
    if seed == 0:
        return HAND_COM
    x, y, z = np.random.default_rng(seed).standard_normal(3)
    scale = float(np.linalg.norm(HAND_COM) / np.linalg.norm([x, y, z]))
    return (scale * x, scale * y, scale * z)


def hand_of_table_8() -> Array:
    """Return the hand's center of mass in the frame of link 7 that agrees with the truth in Table 8, (3,) [m]."""
    m, *c = TABLE_8["true"]
    link = Robot.load("panda").inertial[6]
    return np.asarray((m * np.array(c) - link[1:4]) / (m - link[0]))
