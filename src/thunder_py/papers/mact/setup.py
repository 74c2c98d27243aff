"""D4.2, section 3.3: settings printed in the report, and settings that are not, chosen here once for all tests."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

import numpy as np

from ...checks import Array
from ...control import ACT, MACT, CartesianMACT, ComputedTorque, GradientAdaptation, SlotineLi
from ...kinematics import CLIK
from ...model.joint_data import Friction
from ...reference import Lissajous, Sinusoid
from ...robot import Robot
from ...simulation import SimulationResult
from ...trajectory import Circle, Path, quintic
from ..results import rms

Plant = Literal["simulation", "hand"]
Curve = Lissajous | Path

# printed: eqs. (73) to (76)
K_P = np.array([30.0, 30.0, 30.0, 30.0, 15.0, 15.0, 3.0])  # [N m/rad]
K_V = np.array([15.0, 15.0, 15.0, 15.0, 7.5, 7.5, 1.5])  # [N m s/rad]
LAMBDA = np.array([2.0, 2.0, 2.0, 2.0, 1.0, 1.0, 0.2])  # [1/s]
K_XI = np.array([30.0, 30.0, 30.0, 3.0, 3.0, 3.0])  # [N/m, N m]
PARAMETER_ERROR = 0.15  # "approximately 15 % relative to the actual robot parameters"

#: RMSE of the joint positions [rad] (the report's unit, [m], is a misprint: errata D-14)
TABLE_7 = {"CT": 0.3112, "ACT": 1.0727, "AIRC": 0.1729, "MACT": 0.1371}
#: RMSE of the position [m], by curve and controller: of the simulations and of the experiments
TABLE_8 = {
    "liss3D": {"CT": 0.2545, "AIRC": 0.0266, "MACT": 0.0505},
    "linear": {"CT": 0.0768, "AIRC": 0.0313, "MACT": 0.0315},
}
TABLE_9 = {
    "liss3D": {"CT": 0.0537, "AIRC": 0.0267, "MACT": 0.0350},
    "linear": {"CT": 0.0571, "AIRC": 0.0347, "MACT": 0.0387},
    "circle": {"CT": 0.0862, "AIRC": 0.0357, "MACT": 0.0491},
}
TABLES: tuple[tuple[Plant, dict[str, dict[str, float]], str], ...] = (
    ("simulation", TABLE_8, "Table 8 (simulations; ours: draws of the parameter error)"),
    ("hand", TABLE_9, "Table 9 (the report: experiments; ours: simulations, draws of the hand's mounting)"),
)
#: Figures 19 and 20: final distances of mass, first moments and inertia from the merged body's, and RMSE
REPORT = {"mass": 0.0340, "first moments": 0.0284, "inertia": 0.0282, "RMSE": 0.741, "RMSE from 100 s": 0.655}
UNITS = {"mass": "kg", "first moments": "kg m", "inertia": "kg m2", "RMSE": "rad", "RMSE from 100 s": "rad"}
#: parts of REG parameters, and time from which the report's error is settled [s]
PARTS = {"mass": slice(0, 1), "first moments": slice(1, 4), "inertia": slice(4, 10)}
SETTLED = 100.0
#: stiffness of the experiments, eq. 76
_STIFF = np.array([100.0, 100.0, 100.0, 10.0, 10.0, 10.0])

# not printed: friction, the initial configuration, the curves, the adaptive gains
FRICTION = 0.3  # viscous and Coulomb [N m s/rad, N m]
START = np.array([0.0, -0.3, 0.0, -2.0, 0.0, 1.8, 0.7])  # [rad]
ETAS = (1.0, 3.0, 10.0)  # Gamma_i = eta / |pi_i|, the report's rule: fast to slow
ETA = 3.0
FLOOR = 1e-2  # lower bound of |pi_i| in the rule
CLIK_GAINS = (400.0, 40.0)  # of AIRC in task space [1/s^2, 1/s]
GAMMA = 0.1  # weight of the prediction error
TORQUES = np.array([10.0, 10.0, 10.0, 10.0, 3.0, 3.0, 3.0])  # R_t = 1 / TORQUES [N m], "the anticipated torque"


def panda(friction: float = FRICTION) -> Robot:
    """Return the Panda with viscous and Coulomb friction in every joint (eq. 62) [N m s/rad, N m]."""
    return Robot.load("panda").replace(
        friction=Friction(terms=("viscous", "coulomb"), coefficients=np.full((7, 2), friction))
    )


def wrong_panda(robot: Robot, seed: int, signs: str = "drawn") -> Robot:
    """Return the robot with every parameter wrong by 15 %.

    Parameters
    ----------
    robot : Robot
        The arm.
    seed : int
        Seed of the signs.
    signs : {"drawn", "too large", "too small"}
        Signs of the errors.
    """
    sign: Array = np.random.default_rng(seed).choice([-1.0, 1.0], size=robot.p)
    if signs != "drawn":
        sign = np.full(robot.p, 1.0 if signs == "too large" else -1.0)
    return robot.with_parameters(robot.parameters * (1.0 + PARAMETER_ERROR * sign))


def inverse_kinematics(robot: Robot, factor: float = 1.0) -> CLIK:
    """Return the inverse kinematics of AIRC's joint motions.

    The report's joint motions know no limits: after 27 s of the fast line their velocity is 4.6 times that of the
    Panda's data sheet, and a CLIK that keeps it leaves the line by 16 mm.

    Parameters
    ----------
    robot : Robot
        The arm.
    factor : float
        Factor on K_0; that on K_1 is its square root.
    """
    return CLIK(robot, K_0=factor * CLIK_GAINS[0], K_1=np.sqrt(factor) * CLIK_GAINS[1], limits=False)


def joint_curve(speed: float = 1.0) -> Sinusoid:
    """Return a Lissajous curve in joint space; `speed` is a factor on its frequencies."""
    frequency = speed * np.array([0.1, 0.2, 0.15, 0.3, 0.2, 0.25, 0.4])
    return Sinusoid([0.5, 0.3, 0.5, 0.4, 0.5, 0.5, 0.5], frequency, center=START)


def stiffness(plant: Plant, curve: str) -> Array:
    """Return the stiffness in task space for a curve [N/m, N m]."""
    if plant == "simulation":
        return K_XI
    return 0.5 * _STIFF if curve == "circle" else _STIFF


def curves(robot: Robot, duration: float, size: float = 1.0, speed: float = 1.0) -> dict[str, Curve]:
    """Return the references, from the initial pose of the hand: a slow curve, a fast line to and fro, a circle.

    Their sizes and times are not printed in the report; `size` and `speed` are factors on ours.
    """
    T = robot.forward_kinematics(START)
    p, R = T[:3, 3], T[:3, :3]
    end = p + size * np.array([0.0, 0.2, 0.2])
    points = [p if k % 2 == 0 else end for k in range(int(speed * duration) + 1)]
    line = Path.through(points, [quintic(1.0 / speed)] * (len(points) - 1), orientation=R)
    turns = max(1.0, round(speed * duration / 5.0))
    center, axis = p + size * np.array([0.0, 0.0, 0.1]), [1.0, 0.0, 0.0]
    circle = Circle(p, center, axis, quintic(duration), angle=2.0 * np.pi * turns, orientation=R)
    slow = Lissajous.starting_at(T, size * np.array([0.1, 0.15, 0.1]), speed * np.array([0.1, 0.05, 0.2]))
    return {"liss3D": slow, "linear": line, "circle": Path([circle], orientation=R)}


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


def with_units(figures: Mapping[str, float]) -> dict[str, float]:
    """Return figures of merit by the names of `REPORT` with their units."""
    return {f"{name} [{UNITS[name]}]": x for name, x in figures.items()}


def distances(run: SimulationResult, truth: Array, row: int = -1) -> dict[str, float]:
    """Return the distances of the estimate from `truth` (10,), the REG of link 7 with the hand, at an instant."""
    error = run.parameters[row, 60:70] - truth
    return {name: float(np.linalg.norm(error[part])) for name, part in PARTS.items()}


def estimation_errors(run: SimulationResult, truth: Array) -> dict[str, float]:
    """Return the figures of merit by the names of `REPORT`, with `truth` (10,), the REG of link 7 with the hand."""
    late = run.error_norm()[run.t >= min(SETTLED, 0.5 * run.t[-1])]
    return distances(run, truth) | {"RMSE": run.rmse(), "RMSE from 100 s": rms(late)}
