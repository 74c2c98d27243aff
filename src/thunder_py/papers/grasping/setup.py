"""Objects, hands, cameras and arms of the experiments with contact and rendered pictures."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt

from ...checks import Array
from ...control import CartesianMACT
from ...manipulation.arm import find_place, follower
from ...manipulation.grasping.clock import CameraClock
from ...manipulation.grasping.view import HandUse
from ...mujoco.world.compliant_hand import CompliantHand
from ...mujoco.world.drive import Watcher, WorldCamera, measure_camera_clock
from ...mujoco.world.grasp_world import GraspWorld
from ...mujoco.world.hand import Hand
from ...mujoco.world.objects import WorldObject
from ...mujoco.world.parallel_gripper import ParallelGripper
from ...mujoco.world.suction_tool import SuctionTool
from ...mujoco.world.surfaces import Table
from ...perception.clouds import DepthCamera
from ...robot import Robot
from ...spatial import pose_from_rpy
from ..belt_camera import belt_camera
from ..results import wilson_interval
from ..wrong_arms import with_friction, with_wrong_links

#: scenes of lower seeds were looked at while the loops were made
FIRST_SEED = 8000
#: objects, with length and width of their upper part, and height [m]
SIZES = {
    "box": (0.075, 0.05, 0.06), "cylinder": (0.05, 0.05, 0.09), "sphere": (0.06, 0.06, 0.06),
    "bottle": (0.024, 0.024, 0.16),
}  # fmt: skip
SHAPES = tuple(SIZES)
#: height of belts and tables [m], and period of the control loop [s]
SURFACE, PERIOD = 0.10, 1e-3
#: eye of the camera as seen from the point at which it looks [m]
_EYE = np.array([0.7, 0.0, 0.7])
#: errors of the camera's pose as calibrated, per axis: those of 20 poses of a marker (docs/perception.md)
_CALIBRATION = (1.2e-3, np.radians(0.15))
CAMERA_TIMES: dict[str, Any] = {"rate": 30.0, "latency": 0.08, "jitter": 0.03, "dropout": 0.05}
#: hands, and how they are used
HANDS: dict[str, Hand] = {
    "gripper": ParallelGripper(), "compliant": CompliantHand(speed=3.0), "suction": SuctionTool()
}  # fmt: skip
USES = {
    "gripper": HandUse(40.0, 0.6, 0.95, 0.02, HANDS["gripper"].covers),
    "compliant": HandUse(150.0, 0.45, 1.06, 0.045, HANDS["compliant"].covers),
    "suction": HandUse(30.0, 0.3, 0.5, 0.02, HANDS["suction"].covers, depth=0.009, turns=False),
}
#: what the loop does not know of the arm: the mass and inertia of each link are off by this share, more or less; joints
#: have Coulomb friction, and as much viscous friction at their largest speed, in shares of the effort limits
_WRONG, _FRICTION = 0.1, 0.01
#: standard deviations of measured joint positions [rad] and velocities [rad/s]
NOISE = (1e-4, 5e-3)
#: K_d of the Panda's joints [N m s/rad]
DAMPING = (30.0, 30.0, 30.0, 30.0, 5.0, 5.0, 1.0)


@dataclass(frozen=True, eq=False)
class Station:
    """An arm with a hand in front of a belt or a table.

    Attributes
    ----------
    arm : Robot
        The arm without the hand.
    hand : str
        A key of `HANDS`.
    mount : (4, 4) array
        Frame of the hand in that of the arm's end effector.
    q : (n,) array
        Joint positions while it waits [rad].
    x : float
        Distance of the middle of belt or table from the arm's axis [m].
    across : float
        Half width of the strip in which the hand may be [m].
    speed : float
        Largest speed of the hand [m/s].
    damping : tuple of float or None
        K_d of the joints; None for that of `follower`.
    """

    arm: Robot
    hand: str
    mount: Array
    q: Array
    x: float = 0.5
    across: float = 0.12
    speed: float = 1.0
    damping: tuple[float, ...] | None = None

    @property
    def use(self) -> HandUse:
        """How the hand is used."""
        return USES[self.hand]

    def world(self, things: Sequence[WorldObject], surfaces: Sequence[Table], seed: int) -> GraspWorld:
        """Return a world with objects and surfaces, and with an arm that is not quite the known one."""
        arm = true_arm(self.arm, np.random.default_rng([3, seed]))
        return GraspWorld(arm, HANDS[self.hand], things, surfaces, mount=self.mount, period=PERIOD)

    def law(self, robot: Robot) -> CartesianMACT:
        """Return the controller of the hand's pose, which learns what the hand holds."""
        return follower(robot, self.q, damping=self.damping)

    def measure_clock(self, world: GraspWorld, scene: Any, clock: float) -> float:
        """Return the offset of the clock of a scene's camera, as the waving arm measures it in a world [s]."""
        robot = world.carrying(self.arm)
        wave = CameraClock(robot, scene.believed, self.q, law=self.law(robot))
        with WorldCamera(world, scene.camera, clock=clock, seed=scene.seed + 1, **CAMERA_TIMES) as camera:
            return measure_camera_clock(wave, world, camera, noise=NOISE, seed=scene.seed).offset


def true_arm(arm: Robot, rng: np.random.Generator) -> Robot:
    """Return an arm of another weight and, where it has none, with friction: see `_WRONG` and `_FRICTION`."""
    torque, true = _FRICTION * arm.limits.effort, with_wrong_links(arm, _WRONG, rng)
    return true if arm.description.friction is not None else with_friction(true, torque / arm.limits.velocity, torque)


def station(
    hand: str,
    waits: npt.ArrayLike,
    poses: Iterable[Sequence[float]],
    arm: Robot | None = None,
    *,
    above: float = SURFACE,
) -> Station:
    """Return the place of an arm.

    Parameters
    ----------
    hand : str
        A key of `HANDS`.
    waits : (7,) array_like
        Joint positions in which the report's arm waits [rad].
    poses : iterable of (x, y, z, yaw)
        Places of the hand's center [m] and its turn [rad] in the task, relative to the middle of the surface.
    arm : Robot, optional
        Another arm than the report's, which has a place found by inverse kinematics.
    above : float
        Height above which the origins of its links stay, but the first [m].
    """
    if arm is None:  # turned as on a Franka arm: its fingers close along the belt at the start
        mount = pose_from_rpy((0.0, 0.0, 0.0), (0.0, 0.0, -np.pi / 4.0))
        return Station(Robot.load("panda"), hand, mount, np.array(waits), damping=DAMPING)
    down = np.diag([1.0, -1.0, -1.0, 1.0])
    targets = [pose_from_rpy(place, (0.0, 0.0, yaw)) @ down for *place, yaw in poses]
    place = find_place(GraspWorld(arm, HANDS[hand]).robot, targets, SURFACE, above=above)
    return Station(arm, hand, np.eye(4), place.q, float(place.reference[0]), 0.06, min(1.0, place.speed))


def draw_thing(shape: str, rng: np.random.Generator, name: str = "object") -> WorldObject:
    """Draw an object of one of `SHAPES`: its size, to 10 %, and its mass, 0.1 to 0.4 kg."""
    scale, mass = rng.uniform(0.9, 1.1), rng.uniform(0.1, 0.4)
    length, width, height = scale * np.array(SIZES[shape])
    if shape == "box":
        return WorldObject.box(name, (length, width, height), mass)
    if shape == "cylinder":
        return WorldObject.cylinder(name, length / 2.0, height, mass)
    if shape == "bottle":  # upright; its neck is 0.4 times as thick as its body
        return WorldObject.bottle(name, length / 0.8, height, mass)
    return WorldObject.sphere(name, length / 2.0, mass)


def draw_cameras(lookat: npt.ArrayLike, rng: np.random.Generator) -> tuple[DepthCamera, DepthCamera]:
    """Return the camera on the other side of the surface, and the same as calibrated, with errors of its pose."""
    camera = belt_camera(_EYE + np.asarray(lookat, dtype=np.float64), lookat, (0.2, 4.0))
    shift, turn = _CALIBRATION[0] * rng.standard_normal(3), _CALIBRATION[1] * rng.standard_normal(3)
    return camera, replace(camera, pose=np.asarray(camera.pose) @ pose_from_rpy(shift, turn))


@dataclass(frozen=True, kw_only=True, eq=False)
class HandTrials:
    """Results of an experiment with contact and rendered pictures.

    Attributes
    ----------
    stations : dict of str to Station
        The arm at belt or table, by hand.
    trials : tuple
        All trials, each with its ``case``, ``success`` and ``outcome``.
    """

    stations: Mapping[str, Station]
    trials: tuple[Any, ...]

    @property
    def arm(self) -> str:
        """Name of the arm."""
        return self.stations["gripper"].arm.name

    def of(self, **settings: Any) -> list[Any]:
        """Return the trials whose cases have these settings, such as ``shape="box"``."""
        return [trial for trial in self.trials if all(getattr(trial.case, k) == v for k, v in settings.items())]

    def shown(self, run: Callable[..., object], **settings: Any) -> list[Callable[[Watcher], object]]:
        """Return one trial of each shape for a film, as functions of what watches it."""
        cases = [next(t.case for t in self.of(shape=shape, **settings)) for shape in SHAPES]
        return [partial(run, case, at=self.stations[case.hand]) for case in cases]

    def to_dict(self) -> dict[str, Any]:
        """Return all trials."""
        return {"arm": self.arm, "trials": [{**t._asdict(), "case": t.case._asdict()} for t in self.trials]}


def rate_text(trials: list[Any]) -> str:
    """Return the success rate and Wilson's 95 % interval in percent, empty without trials."""
    if not trials:
        return ""
    lifted = [trial.success for trial in trials]
    low, high = wilson_interval(lifted)
    return f"{100 * sum(lifted) / len(lifted):.0f} [{100 * low:.0f}, {100 * high:.0f}]"
