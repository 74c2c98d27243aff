"""D4.2, section 3.3: settings printed in the report, and settings that are not, chosen here once for all tests."""

from __future__ import annotations

import numpy as np

from ...checks import Array
from ...control import ACT, MACT, CartesianMACT, ComputedTorque, GradientAdaptation, SlotineLi
from ...reference import Sinusoid
from ...robot import Robot
from ...robot.joint_data import Friction

__all__ = [
    "ETA",
    "ETAS",
    "K_P",
    "K_V",
    "K_XI",
    "LAMBDA",
    "START",
    "joint_controllers",
    "joint_curve",
    "panda",
    "task_controllers",
    "wrong_panda",
]

# printed: eqs. (73) to (76)
K_P = np.array([30.0, 30.0, 30.0, 30.0, 15.0, 15.0, 3.0])  # [N m/rad]
K_V = np.array([15.0, 15.0, 15.0, 15.0, 7.5, 7.5, 1.5])  # [N m s/rad]
LAMBDA = np.array([2.0, 2.0, 2.0, 2.0, 1.0, 1.0, 0.2])  # [1/s]
K_XI = np.array([30.0, 30.0, 30.0, 3.0, 3.0, 3.0])  # [N/m, N m]
PARAMETER_ERROR = 0.15  # "approximately 15 % relative to the actual robot parameters"

# not printed: friction, the initial configuration, the curves, the adaptive gains
FRICTION = 0.3  # viscous and Coulomb [N m s/rad, N m]
START = np.array([0.0, -0.3, 0.0, -2.0, 0.0, 1.8, 0.7])  # [rad]
ETAS = (1.0, 3.0, 10.0)  # Gamma_i = eta / |pi_i|, the report's rule: fast to slow
ETA = 3.0
FLOOR = 1e-2  # lower bound of |pi_i| in the rule
GAMMA = 0.1  # weight of the prediction error
TORQUES = np.array([10.0, 10.0, 10.0, 10.0, 3.0, 3.0, 3.0])  # R_t = 1 / TORQUES [N m], "the anticipated torque"


def panda() -> Robot:
    """Return the Panda with friction in every joint (eq. 62)."""
    return Robot.load("panda").replace(
        friction=Friction(terms=("viscous", "coulomb"), coefficients=np.full((7, 2), FRICTION))
    )


def wrong_panda(robot: Robot, seed: int, error: float = PARAMETER_ERROR) -> Robot:
    """Return the robot with every parameter too large or too small by the fraction `error`, signs drawn by the seed."""
    signs = np.random.default_rng(seed).choice([-1.0, 1.0], size=robot.p)
    return robot.with_parameters(robot.parameters * (1.0 + error * signs))


def joint_curve() -> Sinusoid:
    """Return a Lissajous curve in joint space."""
    frequency = [0.1, 0.2, 0.15, 0.3, 0.2, 0.25, 0.4]
    return Sinusoid([0.5, 0.3, 0.5, 0.4, 0.5, 0.5, 0.5], frequency, center=START)


def _law(nominal: Robot, unknown: str | None, eta: float) -> GradientAdaptation:
    return GradientAdaptation.proportional(nominal, eta, unknown=unknown, floor=FLOOR)


def joint_controllers(
    nominal: Robot, eta: float = ETA, unknown: str | None = None, gamma: float = GAMMA
) -> dict[str, ComputedTorque | ACT | SlotineLi | MACT]:
    """Return the four controllers of Table 7 with the model `nominal`."""
    law = _law(nominal, unknown, eta)
    return {
        "CT": ComputedTorque(nominal, K_p=K_P, K_d=K_V),
        "ACT": ACT(nominal, K_p=K_P, K_d=K_V, adaptation=law),
        "AIRC": SlotineLi(nominal, LAMBDA, K_V, adaptation=law),
        "MACT": MACT(nominal, K_P, K_V, adaptation=law, gamma=gamma, R_t=1.0 / TORQUES),
    }


def task_controllers(
    nominal: Robot, K_p: Array = K_XI, eta: float = ETA, unknown: str | None = None, gamma: float = GAMMA
) -> dict[str, SlotineLi | CartesianMACT]:
    """Return the controllers of Table 8: AIRC needs a joint-space reference, the others one in task space."""
    law = _law(nominal, unknown, eta)
    return {
        "CT": CartesianMACT(nominal, K_p, K_V, adaptation=None, posture=None),
        "AIRC": SlotineLi(nominal, LAMBDA, K_V, adaptation=law),
        "MACT": CartesianMACT(nominal, K_p, K_V, adaptation=law, gamma=gamma, R_t=1.0 / TORQUES, posture=None),
    }
