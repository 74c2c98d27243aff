"""Throws of an arm whose friction nobody has told the controller: what learning the object alone is worth then."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ..control import MACT, Gradient
from ..joint_data import Friction
from ..manipulation.throwing import throw
from ..motion.scalars import at_least
from ..robot import Robot
from ..simulation import Payload
from .d42_setup import ETA, FLOOR, TORQUES
from .text import markdown
from .throwing_setup import GAMMA, OBJECTS, PALM, REPETITIONS, Setup

__all__ = ["FRICTIONS", "KINDS", "friction_table", "throw_with_friction"]

#: of every joint, viscous [N m s/rad] and of Coulomb [N m]; the last is that of `d42_setup`
FRICTIONS = (0.0, 0.1, 0.3)
#: stiffness of the hand [N/m] and what adapts
KINDS: dict[str, tuple[float, tuple[str, ...]]] = {
    "adaptive, low: link 7": (30.0, ("link7",)),
    "adaptive, low: link 7 and friction": (30.0, ("link7", "friction")),
    "fixed, high": (300.0, ()),
}
#: size of a friction coefficient that the adaptive gain counts with [N m, N m s/rad]
_SIZE = 1.0


def with_friction(robot: Robot, size: float) -> Robot:
    """Return the robot with the same friction in every joint."""
    return robot.replace(friction=Friction(terms=("viscous", "coulomb"), coefficients=np.full((robot.n, 2), size)))


def throw_with_friction(setup: Setup, frictions: Sequence[float] = FRICTIONS) -> dict[tuple[str, float], float]:
    """Return the RMS miss over the objects by kind of controller and friction [m]; grasps, hand, sensors are ideal.

    Parameters
    ----------
    setup : Setup
        Arm, motion, gains.
    frictions : sequence of float
        [N m, N m s/rad].
    """
    found = {}
    for kind in KINDS:
        for friction in frictions:
            plant = with_friction(setup.robot, at_least(friction, "friction"))
            squares = []
            for mass, _ in OBJECTS.values():
                thrown = throw(
                    setup.motion,
                    _controller(setup, kind),
                    plant=plant,
                    payload=Payload(mass, PALM, link="link7"),
                    repetitions=REPETITIONS,
                    torque_limits=plant.limits.effort,
                    log=(),
                )
                squares.append(float(thrown.miss @ thrown.miss))
            found[kind, friction] = float(np.sqrt(np.mean(squares)))
    return found


def _controller(setup: Setup, kind: str) -> MACT:
    """Return a controller whose model has terms of friction, all zero at first."""
    stiffness, names = KINDS[kind]
    K_p, K_v = setup.gains[stiffness]
    nominal = with_friction(setup.robot, 0.0)
    if not names:
        return MACT(nominal, K_p, K_v, adaptive=False)
    unknown = nominal.unknown(names)
    links = np.flatnonzero(unknown.mask) < 10 * nominal.n
    size = np.where(links, np.maximum(np.abs(unknown.values), FLOOR), _SIZE)
    return MACT(nominal, K_p, K_v, law=Gradient(ETA / size), unknown=unknown, gamma=GAMMA, R_t=1.0 / TORQUES)


def friction_table(found: dict[tuple[str, float], float]) -> str:
    """Return the misses as Markdown."""
    sizes = sorted({friction for _, friction in found})
    rows: list[list[object]] = [
        [kind, *(f"{100.0 * found[kind, friction]:.2f}" for friction in sizes)]
        for kind in dict.fromkeys(kind for kind, _ in found)
    ]
    header = ["RMS miss [cm]; no noise, known grasp", *(f"friction {friction:g}" for friction in sizes)]
    return f"Friction that no model has [N m, N m s/rad]\n\n{markdown(header, rows)}"
