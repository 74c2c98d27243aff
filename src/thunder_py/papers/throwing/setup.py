"""D4.2, section 3.3.3: settings of the throws printed in the report, and settings that are not, chosen here."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from ...checks import Array
from ...control import MACT, GradientAdaptation
from ...errors import ReleaseError
from ...manipulation.arm import arm_length, joint_gains
from ...manipulation.throwing import HandOpening, Palm, ThrowMotion, plan_throw, throw
from ...robot import Robot
from ...simulation import Payload, Sensors
from ...trajectory import MotionLimits
from ..mact.setup import ETA, FLOOR, K_P, TORQUES
from ..softhand.setup import HAND_COM, HAND_MASS
from ..wrong_arms import with_friction

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
_SIZE = 1.0  # scale of a friction coefficient in the adaptive gain [N m, N m s/rad]
NOISE = (1e-4, 2e-3)  # standard deviations of joint sensors [rad], [rad/s]


@dataclass(frozen=True, eq=False)
class ThrowArm:
    """An arm that throws.

    Attributes
    ----------
    robot : Robot
        The arm without hand.
    acceleration : float or (n,) array
        Limits of its interface [rad/s^2].
    space : (2, 3) array_like
        Region of releases, its lowest and highest corner [m].
    torques : (n,) array
        Torques that the adaptation expects [N m].
    shape : (n,) array or None
        Joint stiffness up to a factor.
    farthest : float or None
        Distance of the farthest target within its limits [m]; None if it must be searched.
    """

    robot: Robot
    acceleration: Array
    space: Sequence[Sequence[float]]
    torques: Array
    shape: Array | None = None
    farthest: float | None = None

    @classmethod
    def of(cls, robot: Robot | None = None) -> ThrowArm:
        """Return what follows from an arm; by default the report's with its own settings."""
        if robot is None:
            return cls(Robot.load("panda"), ACCELERATION, SPACE, TORQUES, K_P, FARTHEST)
        space = arm_length(robot) * np.array([(0.15, -0.45, 0.2), (0.9, 0.45, 0.95)])
        return cls(robot, np.full(robot.n, np.inf), space.tolist(), 0.15 * robot.limits.effort)

    @property
    def palm(self) -> Array:
        """Grasp point in the frame of the last link [m]."""
        return np.asarray((np.asarray(self.robot.description.tool) @ np.append(PALM, 1.0))[:3])

    def with_hand(self) -> Robot:
        """Return the arm with the SoftHand at its end effector, with the printed mass and center of mass."""
        tip, T = np.asarray(self.robot.description.tool), np.eye(4)
        T[:3, 3] = PALM
        com = (tip @ np.append(HAND_COM, 1.0))[:3]
        return Payload(HAND_MASS, com, link=self.robot.link_names[-1]).added_to(self.robot.replace(tool=tip @ T))

    def limits(self, robot: Robot, fraction: float) -> MotionLimits:
        """Return a fraction of all limits of the arm."""
        return MotionLimits.of(robot, acceleration=fraction * self.acceleration, torque=True, fraction=fraction)


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
    arm : ThrowArm
        The arm.
    robot : Robot
        The arm with hand, known to the controllers; the tool is the grasp point.
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

    arm: ThrowArm
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
        return with_friction(self.robot, self.friction, self.friction) if self.friction else self.robot

    def grasp(self, name: str, rng: np.random.Generator) -> Grasp:
        """Draw the position of an object in the hand."""
        mass, size = OBJECTS[name]
        offset = GRASP * rng.standard_normal(3)
        squares = np.square(size)
        inertia = mass / 12.0 * np.diag(squares.sum() - squares)
        T = np.asarray(self.arm.robot.description.tool)
        com = self.arm.palm + T[:3, :3] @ offset
        return Grasp(Payload(mass, com, T[:3, :3] @ inertia @ T[:3, :3].T, self.robot.link_names[-1]), offset)

    def sensors(self, seed: int) -> Sensors:
        """Return noisy sensors."""
        return Sensors(position_noise=self.noise * NOISE[0], velocity_noise=self.noise * NOISE[1], seed=seed)


def plan(arm: ThrowArm, target: Sequence[float], fraction: float, *, starts: int = 25, seed: int = 0) -> ThrowMotion:
    """Return a throw at a target within a fraction of all limits of the arm with its hand."""
    robot = arm.with_hand()
    return plan_throw(
        robot, target, limits=arm.limits(robot, fraction), objective="limits", palm=Palm(), region=arm.space,
        starts=starts, seed=seed,
    )  # fmt: skip


def farthest_target(arm: ThrowArm | None = None, tolerance: float = 0.01, *, starts: int = 25, seed: int = 0) -> float:
    """Return the largest distance of a target in front of the arm for which a throw within the limits is found [m].

    Parameters
    ----------
    arm : ThrowArm, optional
        The arm; default the report's.
    tolerance : float
        Width of the interval in which the bisection ends [m].
    starts, seed
        Number and seed of the starts in the search for a release.
    """
    arm, low, high = ThrowArm.of() if arm is None else arm, 0.6, 2.4
    if arm.shape is not None:
        low = 1.2
    while high - low > tolerance:
        middle = 0.5 * (low + high)
        try:
            plan(arm, (middle, 0.0, PLANE), 1.0, starts=starts, seed=seed)
            low = middle
        except ReleaseError:
            high = middle
    return low


def make_setup(
    target: Sequence[float] | None = None,
    *,
    robot: Robot | None = None,
    damping: float = DAMPING,
    starts: int = 25,
    seed: int = 0,
) -> Setup:
    """Plan the throw and choose gains.

    Parameters
    ----------
    target : sequence of float, optional
        Middle of the box's opening [m]; default a share of the farthest target.
    robot : Robot, optional
        Another arm than the report's Panda.
    damping : float
        Damping ratio of all modes.
    starts, seed
        Number and seed of the starts in the search for a release.
    """
    arm = ThrowArm.of(robot)
    if target is None:
        farthest = farthest_target(arm, 0.1, starts=8, seed=seed) if arm.farthest is None else arm.farthest
        target = (SHARE * farthest, 0.0, PLANE)
    held, motion = arm.with_hand(), plan(arm, target, FRACTION, starts=starts, seed=seed)
    q, stiffness = motion.release.q, sorted({k for k, _ in CONTROLLERS.values()})
    gains = {k: joint_gains(held, q, k, shape=arm.shape, damping=damping) for k in stiffness}
    return Setup(arm=arm, robot=held, motion=motion, gains=gains)


def controller_of(setup: Setup, name: str) -> MACT:
    """Return a controller of `CONTROLLERS`; an adaptive one adapts the last link, of which the object is a part."""
    stiffness, adaptive = CONTROLLERS[name]
    names = setup.robot.link_names[-1:] if adaptive else ()
    return mact(setup.robot, setup.gains[stiffness], names, setup.arm.torques, setup.eta, setup.gamma)


def mact(
    robot: Robot,
    gains: tuple[Array, Array],
    adapting: Sequence[str],
    torques: Array,
    eta: float = ETA,
    gamma: float = GAMMA,
) -> MACT:
    """Return MACT with stiffness and damping `gains`, which adapts parameters by their names, or nothing."""
    if not adapting:
        return MACT(robot, *gains, adaptation=None)
    unknown = robot.unknown(adapting)
    links = np.flatnonzero(unknown.mask) < 10 * robot.n
    size = np.where(links, np.maximum(np.abs(unknown.values), FLOOR), _SIZE)
    law = GradientAdaptation(eta / size, unknown=unknown)
    return MACT(robot, *gains, adaptation=law, gamma=gamma, R_t=1.0 / torques)


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
