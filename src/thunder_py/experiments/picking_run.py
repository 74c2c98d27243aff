"""One pick of a random scene, closed loop: camera, filter, servoing, and the arm's dynamics under it."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import cache
from typing import Any

import numpy as np

from ..checks import Array
from ..control import ComputedTorque
from ..manipulation.servoing.law import VisualServo
from ..manipulation.servoing.lie import inverse
from ..manipulation.servoing.pick_loop import PickingController, PickLoop, PickStep
from ..manipulation.servoing.pick_machine import PickMachine
from ..manipulation.servoing.pick_phases import PickEvent, PickPhase
from ..manipulation.servoing.pose_filter import LatestPose, PoseFilter
from ..manipulation.servoing.tool_estimator import ToolEstimator
from ..manipulation.servoing.tracker import PoseBelief, TargetTracker
from ..perception.pose_source import PoseMeasurement
from ..perception.simulated_pose import SimulatedPoseSource
from ..reference import SetPoint
from ..robot import Robot
from ..simulation import Payload, simulate
from .picking_blind import FrozenTracker, LatestTool, StoppedSource
from .picking_scene import CAMERA, GRASP, HAND, TASKS, Camera, Grasp, Scene, Task, random_scene

__all__ = ["CAMERAS", "VARIANTS", "Pick", "pick", "trace"]

_UNBIASED = replace(
    CAMERA, shared_position=0.0, shared_rotation=0.0, calibration_position=0.0, calibration_rotation=0.0
)
#: ablations: a camera without the errors that all its pictures share, and one without those of single pictures as well
#: (as good as: poses that are equal to the last bit would count as a camera that hangs); outliers and gaps stay
CAMERAS = {"unbiased camera": _UNBIASED, "exact camera": replace(_UNBIASED, position=1e-6, rotation=1e-6)}
#: "eq. 124" has the report's orientation error, all others the logarithm of the rotation
VARIANTS = ("servoing", "eq. 124", "no tool estimate", "no filter", "look, then move", *CAMERAS)
#: noise that filters are told: both parts of the camera's error together
_NOISE = (math.hypot(CAMERA.shared_position, CAMERA.position), math.hypot(CAMERA.shared_rotation, CAMERA.rotation))
_PIECE, _LONGEST = 0.5, 30.0  # a pick is simulated in pieces [s], and stopped in any case
_CLOSING = 0.3  # time of the gripper [s]


@dataclass(frozen=True, eq=False)
class Pick:
    """How a pick went.

    Attributes
    ----------
    seed : int
    picked : bool
        The machine is done, and the object was in reach of the gripper at contact.
    reason : str
        Why not; empty where it was.
    duration : float
        [s].
    across, along, tilt, turn : float
        True errors at contact [m, rad]; NaN where there was none.
    following : float
        Largest distance between the joints' positions and those that the servo asked for [rad].
    """

    seed: int
    picked: bool
    reason: str
    duration: float
    across: float
    along: float
    tilt: float
    turn: float
    following: float


@dataclass(frozen=True, eq=False)
class PickTrace:
    """A pick in detail, for figures.

    Attributes
    ----------
    pick : Pick
    scene : Scene
    t : (T,) array
        [s].
    q : (T, 7) array
        Joint positions [rad].
    tip, estimated_tip, target, estimated_target : (T, 3) array
        Where the tool truly is, where it is believed to be, the object and what is believed of it [m]; NaN before
        anything is known.
    angle : (T,) array
        Between the orientations of tool and goal, as the law sees it [rad].
    tool_error : (T,) array
        Of the estimate of the tool's tip in the palm [m].
    age : (T,) array
        Of the latest good picture of the object [s].
    events : tuple of PickEvent
    """

    pick: Pick
    scene: Scene
    t: Array
    q: Array
    tip: Array
    estimated_tip: Array
    target: Array
    estimated_target: Array
    angle: Array
    tool_error: Array
    age: Array
    events: tuple[PickEvent, ...]


@cache
def panda() -> Robot:
    """Return the arm of the experiment."""
    return Robot.load("panda")


class _World:
    """What is true, what the camera sees of it, and what the gripper feels."""

    def __init__(self, scene: Scene, task: Task) -> None:
        self.scene, self.task = scene, task
        self.loop: PickLoop | None = None
        self.errors = (math.nan,) * 4
        self._contact_at: float | None = None
        self._hidden: dict[float, bool] = {}

    def tip(self, t: float, hand: Array) -> Array:
        """Pose of what touches the object."""
        return hand @ HAND @ self.scene.tool_in_palm(t)

    def _tip_in_past(self, t: float) -> Array:
        assert self.loop is not None
        hand = self.loop.hands.at(t)
        assert hand is not None
        return self.tip(t, hand)

    def seen_object(self, t: float) -> Array:
        """Pose of the object as a camera without noise would tell it."""
        T = self.scene.object_pose(t)
        self._hidden[t] = bool(np.linalg.norm(T[:3, 3] - self._tip_in_past(t)[:3, 3]) < CAMERA.hidden_distance)
        return self.scene.calibration @ T @ self.scene.object_bias

    def seen_tool(self, t: float) -> Array:
        """Pose of the tool as a camera without noise would tell it."""
        return self.scene.calibration @ self._tip_in_past(t) @ self.scene.tool_bias

    def hidden(self, t: float) -> bool:
        """Whether the tool hid the object in the picture of this time."""
        return self._hidden.get(t, False)

    def holding(self, t: float, q: Array, last: PickStep | None) -> bool | None:
        """Return what the gripper feels, once it had time to close."""
        if last is None or not last.decision.grip:
            return None
        if self._contact_at is None:
            self._contact_at = t
            self.errors = self._errors(t, panda().forward_kinematics(q))
        return self.good if t - self._contact_at >= _CLOSING else None

    def _errors(self, t: float, hand: Array) -> tuple[float, float, float, float]:
        off = inverse(self.scene.object_pose(t)) @ self.tip(t, hand)
        tilt = math.acos(min(1.0, max(-1.0, off[2, 2])))
        turn = math.atan2(off[1, 0] - off[0, 1], off[0, 0] + off[1, 1])
        return math.hypot(off[0, 3], off[1, 3]), abs(float(off[2, 3])), tilt, abs(turn)

    @property
    def good(self) -> bool:
        """Whether all errors at contact are forgiven."""
        task = self.task
        return all(
            e <= most for e, most in zip(self.errors, (task.across, task.along, task.tilt, task.turn), strict=True)
        )

    def missed(self) -> str:
        """Which error at contact was too large."""
        task, (across, along, tilt, turn) = self.task, self.errors
        if across > task.across or along > task.along:
            return "missed: position"
        return "missed: angle" if tilt > task.tilt or turn > task.turn else ""


class _ObjectSource(SimulatedPoseSource):
    """The camera's poses of the object, which the tool hides when it is near."""

    def __init__(self, world: _World, camera: Camera, seed: int) -> None:
        self._world = world
        super().__init__(
            world.seen_object,
            faults=world.scene.faults,
            occlusions=world.scene.occlusions,
            **_options(camera),
            seed=seed,
        )

    def poll(self, t: float) -> list[PoseMeasurement]:
        """Return what became available."""
        return [
            PoseMeasurement(m.time, m.available, None) if self._world.hidden(m.time) else m for m in super().poll(t)
        ]


def _options(camera: Camera) -> dict[str, Any]:
    return {
        "rate": camera.rate,
        "latency": camera.latency,
        "jitter": camera.jitter,
        "dropout": camera.dropout,
        "position_noise": camera.position,
        "rotation_noise": camera.rotation,
    }


def _belief(variant: str) -> PoseBelief:
    if variant == "no filter":
        return LatestPose(*_NOISE)
    # objects lie still most of the time; pushed ones stop soon
    motion: dict[str, Any] = {"acceleration": 0.02, "angular_acceleration": 0.05, "speed": 0.01, "angular_speed": 0.02}
    return PoseFilter(*_NOISE, **motion, persistence=0.5)


def _make_loop(world: _World, variant: str) -> PickLoop:
    scene, task = world.scene, world.task
    servo = VisualServo(panda(), 2.0, 2.0, error="axis_angle" if variant == "eq. 124" else "rotation_vector", speed=0.5)
    servo.tool = HAND @ task.nominal
    machine = PickMachine()
    camera = CAMERAS.get(variant, CAMERA)
    source = _ObjectSource(world, camera, 2 * scene.seed)
    blind = variant == "look, then move"
    make = FrozenTracker if blind else TargetTracker
    tracker = make(source, _belief(variant))
    if isinstance(tracker, FrozenTracker):
        tracker.frozen = lambda: machine.phase is not PickPhase.search
    if not task.held or variant == "no tool estimate":
        return PickLoop(servo, tracker, machine)
    pictures = SimulatedPoseSource(world.seen_tool, **_options(camera), seed=2 * scene.seed + 1)
    seen = StoppedSource(pictures, lambda: machine.phase is not PickPhase.search) if blind else pictures
    nominal = HAND @ task.nominal
    tool = LatestTool(nominal, *_NOISE) if variant == "no filter" else _tool_estimator(nominal, task, GRASP)
    return PickLoop(servo, tracker, machine, tool=tool, tool_source=seen)


def _tool_estimator(nominal: Array, task: Task, grasp: Grasp) -> ToolEstimator:
    # the tip stands out of the hand: turning there moves it too
    spread = math.hypot(grasp.position, grasp.rotation * task.length)
    return ToolEstimator(nominal, spread, grasp.rotation, *_NOISE)


def _simulate(task_name: str, variant: str, seed: int) -> tuple[_World, PickingController, Array]:
    """Run a pick; the largest error of following comes with it."""
    task, robot = TASKS[task_name], panda()
    world = _World(random_scene(robot, task, seed, CAMERAS.get(variant, CAMERA)), task)
    world.loop = _make_loop(world, variant)
    controller = PickingController(world.loop, ComputedTorque(robot, 900.0, 60.0), holding=world.holding)
    # the model of the joint controller knows neither hand nor tool
    carried = Payload(1.0 if task.held else 0.7, (0.0, 0.0, 0.08))
    q, dq = world.scene.start, np.zeros(robot.n)
    limits, largest = robot.limits.effort, 0.0
    while not controller.over and controller.start < _LONGEST:
        result = simulate(
            robot, controller, SetPoint(q), _PIECE, 2e-3, q0=q, dq0=dq, torque_limits=limits, payloads=carried, log=()
        )
        controller.start += _PIECE
        q, dq = result.q[-1], result.dq[-1]
        largest = max(largest, float(np.abs(controller.followed - q).max()))
    return world, controller, np.array(largest)


def _outcome(world: _World, controller: PickingController, following: Array) -> Pick:
    machine = controller.loop.machine
    done = machine.phase is PickPhase.done
    reason = "" if done and world.good else world.missed() or (machine.reason.value if machine.reason else "time")
    over = next((t for t, _, step in controller.steps if step.decision.phase.over), controller.steps[-1][0])
    return Pick(world.scene.seed, done and world.good, reason, over, *world.errors, float(following))


def pick(task: str, variant: str, seed: int) -> Pick:
    """Run one pick.

    Parameters
    ----------
    task : {"hand", "tool"}
    variant : str
        One of `VARIANTS`; "no tool estimate" and `CAMERAS` are of the tool.
    seed : int
        Of scene and noise, the same for all variants.
    """
    return _outcome(*_simulate(task, variant, seed))


def trace(task: str, variant: str, seed: int) -> PickTrace:
    """Run one pick and keep what figures need."""
    world, controller, following = _simulate(task, variant, seed)
    t = np.array([time for time, _, _ in controller.steps])
    q = np.array([joints for _, joints, _ in controller.steps])
    steps = [step for _, _, step in controller.steps]
    flange = panda().forward_kinematics(q)
    tip = np.array([world.tip(time, hand) for time, hand in zip(t, flange, strict=True)])
    belief = np.array([step.tool for step in steps])
    nowhere = np.full(3, np.nan)
    return PickTrace(
        pick=_outcome(world, controller, following),
        scene=world.scene,
        t=t,
        q=q,
        tip=tip[:, :3, 3],
        estimated_tip=belief[:, :3, 3],
        target=np.array([world.scene.object_pose(time)[:3, 3] for time in t]),
        estimated_target=np.array(
            [nowhere if s.track.estimate is None else s.track.estimate.pose[:3, 3] for s in steps]
        ),
        angle=np.array([math.nan if s.servo is None else s.servo.angle for s in steps]),
        tool_error=np.linalg.norm(belief[:, :3, 3] - tip[:, :3, 3], axis=1),
        age=np.array([s.track.age for s in steps]),
        events=tuple(event for s in steps for event in s.decision.events),
    )
