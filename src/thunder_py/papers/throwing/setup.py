"""D4.2, section 3.3.3: settings of the throws printed in the report, and settings that are not, chosen here."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from ...checks import Array
from ...control import MACT, GradientAdaptation
from ...errors import ReleaseError
from ...manipulation.throwing import HandOpening, Palm, ThrowMotion, plan_throw, throw
from ...model.joint_data import Friction
from ...robot import Robot
from ...simulation import Payload, Sensors
from ...trajectory import MotionLimits
from ..mact.setup import ETA, FLOOR, K_P, TORQUES
from ..softhand.setup import HAND_COM, HAND_MASS

# printed
#: mass [kg]; sizes of boxes of the same inertia are ours [m]
OBJECTS = {
    "wooden box": (0.221, (0.08, 0.08, 0.08)),
    "heavy tennis ball": (0.427, (0.05, 0.05, 0.05)),
    "silicone tube": (0.445, (0.20, 0.05, 0.05)),
}
#: stiffness of the hand [N/m], True for adaptive controllers
CONTROLLERS = {"adaptive, low": (30.0, True), "fixed, low": (30.0, False), "fixed, high": (300.0, False)}
REPETITIONS = 4
#: RMSE of the throwing motion: position [m], velocity [m/s]
REPORT = (6.03e-4, 0.0174)

# not printed
PLANE = -0.4  # height of the box's opening, below the table that the arm stands on [m]
#: distance of the farthest target that `farthest_target` finds within the arm's limits, and the box's share of it [m]
FARTHEST, SHARE = 1.75, 0.9
TARGET = (SHARE * FARTHEST, 0.0, PLANE)
BOX = 0.15  # width of its square opening [m]
PALM = (0.13, 0.0, 0.06)  # grasp point in the frame of link 7 [m]
ACCELERATION = np.array([15.0, 7.5, 10.0, 12.5, 15.0, 20.0, 20.0])  # limits of the Panda's interface [rad/s^2]
FRACTION = 0.95  # fraction of all limits for plans; the rest is for controllers
SPACE = ((0.2, -0.6, 0.25), (1.2, 0.6, 1.3))  # region of releases: in front of the arm, above the table [m]
OPENING = HandOpening(delay=0.08, jitter=0.003)  # of a soft hand [s]
GRASP = 0.01  # standard deviation of the object in the hand, each direction [m]
DAMPING = 1.0  # damping ratio of every mode, "critical or overdamped"
#: weight of the prediction error, 100 times that of the slow curves in `papers.mact.setup`: a repetition takes a second
GAMMA = 10.0
NOISE = (1e-4, 2e-3)  # standard deviations of joint sensors [rad], [rad/s]


class Grasp(NamedTuple):
    """Object in the hand.

    Attributes
    ----------
    payload : Payload
        Load in the simulation.
    offset : (3,) array
        Offset of its center of mass from the grasp point [m].
    """

    payload: Payload
    offset: Array


@dataclass(frozen=True, kw_only=True, eq=False)
class Setup:
    """Common settings of all throws.

    Attributes
    ----------
    robot : Robot
        Panda with hand, known to the controllers; the tool is the grasp point.
    motion : ThrowMotion
        Motion planned for this robot, without the unknown object.
    gains : dict of float to (K_p, K_d)
        Joint gains for a stiffness of the hand, (n,) and (n, n).
    eta, gamma : float
        Adaptive gain, and weight of the prediction error.
    friction : float
        Viscous and Coulomb friction of every joint of the plant, absent from the controllers' models [N m s/rad, N m].
    noise : float
        Factor on the noise of the sensors.
    opening : HandOpening
        Opening of the hand.
    """

    robot: Robot
    motion: ThrowMotion
    gains: dict[float, tuple[Array, Array]]
    eta: float = ETA
    gamma: float = GAMMA
    friction: float = 0.0
    noise: float = 1.0
    opening: HandOpening = OPENING

    @property
    def plant(self) -> Robot:
        """The arm with hand and friction."""
        return with_friction(self.robot, self.friction) if self.friction else self.robot

    def grasp(self, name: str, rng: np.random.Generator) -> Grasp:
        """Draw the position of an object in the hand."""
        mass, size = OBJECTS[name]
        offset = GRASP * rng.standard_normal(3)
        squares = np.square(size)
        inertia = mass / 12.0 * np.diag(squares.sum() - squares)
        return Grasp(Payload(mass, np.asarray(PALM) + offset, inertia, "link7"), offset)

    def sensors(self, seed: int) -> Sensors:
        """Return noisy sensors."""
        return Sensors(position_noise=self.noise * NOISE[0], velocity_noise=self.noise * NOISE[1], seed=seed)


def with_friction(robot: Robot, size: float) -> Robot:
    """Return the robot with the same friction in every joint."""
    return robot.replace(friction=Friction(terms=("viscous", "coulomb"), coefficients=np.full((robot.n, 2), size)))


def panda_with_hand() -> Robot:
    """Return the Panda with the SoftHand at the flange, with the printed mass and center of mass."""
    T = np.eye(4)
    T[:3, 3] = PALM
    return Payload(HAND_MASS, HAND_COM, link="link7").added_to(Robot.load("panda").replace(tool=T))


def plan(robot: Robot, target: Sequence[float], fraction: float, *, starts: int = 25, seed: int = 0) -> ThrowMotion:
    """Return a throw at a target within a fraction of all limits of the arm."""
    limits = MotionLimits.of(robot, acceleration=fraction * ACCELERATION, torque=True, fraction=fraction)
    return plan_throw(
        robot, target, limits=limits, objective="limits", palm=Palm(), region=SPACE, starts=starts, seed=seed
    )


def farthest_target(tolerance: float = 0.01, *, starts: int = 25, seed: int = 0) -> float:
    """Return the largest distance of a target in front of the arm for which a throw within the limits is found [m].

    Parameters
    ----------
    tolerance : float
        Width of the interval in which the bisection ends [m].
    starts, seed
        Number and seed of the starts in the search for a release.
    """
    robot, low, high = panda_with_hand(), 1.2, 2.4
    while high - low > tolerance:
        middle = 0.5 * (low + high)
        try:
            plan(robot, (middle, 0.0, PLANE), 1.0, starts=starts, seed=seed)
            low = middle
        except ReleaseError:
            high = middle
    return low


def make_setup(target: Sequence[float] = TARGET, *, damping: float = DAMPING, starts: int = 25, seed: int = 0) -> Setup:
    """Plan the throw and choose gains.

    Parameters
    ----------
    target : sequence of float
        Middle of the box's opening [m].
    damping : float
        Damping ratio of all modes.
    starts, seed
        Number and seed of the starts in the search for a release.
    """
    robot = panda_with_hand()
    motion = plan(robot, target, FRACTION, starts=starts, seed=seed)
    stiffness = {k for k, _ in CONTROLLERS.values()}
    return Setup(
        robot=robot, motion=motion, gains={k: joint_gains(robot, motion, k, damping) for k in sorted(stiffness)}
    )


def joint_gains(robot: Robot, motion: ThrowMotion, stiffness: float, damping: float = DAMPING) -> tuple[Array, Array]:
    """Return the report's joint gains scaled to a stiffness of the hand, with modal damping, at the release."""
    q = motion.release.q
    K_p = K_P * stiffness / hand_stiffness(robot, q, K_P)
    return K_p, modal_damping(robot.mass_matrix(q), K_p, damping)


def hand_stiffness(robot: Robot, q: Array, K_p: Array) -> float:
    """Return the translational stiffness of the hand, the inverse of the mean compliance over directions [N/m]."""
    J = robot.jacobian(q)[:3]
    return float(3.0 / np.trace(J @ np.diag(1.0 / K_p) @ J.T))


def modal_damping(M: Array, K_p: Array, ratio: float) -> Array:
    """Return K_d for which every mode of M e'' + K_d e' + K_p e = 0 has a given damping ratio, (n, n)."""
    size, V = np.linalg.eigh(M)
    root = V @ np.diag(np.sqrt(size)) @ V.T
    inverse = np.linalg.inv(root)
    squares, modes = np.linalg.eigh(inverse @ np.diag(K_p) @ inverse)
    K_d = 2.0 * ratio * root @ modes @ np.diag(np.sqrt(squares)) @ modes.T @ root
    return np.asarray(0.5 * (K_d + K_d.T))


def controller_of(setup: Setup, name: str) -> MACT:
    """Return a controller of `CONTROLLERS`; an adaptive one adapts link 7, of which the object is a part."""
    stiffness, adaptive = CONTROLLERS[name]
    return mact(setup.robot, setup.gains[stiffness], adaptive, setup.eta, setup.gamma)


def mact(robot: Robot, gains: tuple[Array, Array], adaptive: bool, eta: float = ETA, gamma: float = GAMMA) -> MACT:
    """Return MACT with stiffness and damping `gains`, which adapts link 7 or nothing."""
    if not adaptive:
        return MACT(robot, *gains, adaptation=None)
    law = GradientAdaptation.proportional(robot, eta, unknown="link7", floor=FLOOR)
    return MACT(robot, *gains, adaptation=law, gamma=gamma, R_t=1.0 / TORQUES)


#: by controller and object: miss, RMSE of position and of velocity
Row = dict[tuple[str, str], tuple[Array, Array, Array]]


def throws_of_seed(setup: Setup, seed: int) -> Row:
    """Throw every object once with every controller, all with the same grasp, jitter and noise."""
    result: Row = {}
    grasps, noise, jitter = np.random.SeedSequence(seed).spawn(3)
    rng = np.random.default_rng(grasps)
    for name in OBJECTS:
        grasp = setup.grasp(name, rng)
        sensors = setup.sensors(int(noise.generate_state(1)[0]))
        for controller in CONTROLLERS:
            thrown = throw(
                setup.motion, controller_of(setup, controller), plant=setup.plant, payload=grasp.payload,
                offset=grasp.offset, repetitions=REPETITIONS, hand=setup.opening, sensors=sensors,
                seed=int(jitter.generate_state(1)[0]), torque_limits=setup.robot.limits.effort, log=(),
            )  # fmt: skip
            result[controller, name] = (thrown.miss, thrown.position_errors, thrown.velocity_errors)
    return result
