"""Random scenes of the picking experiment: objects, grasps of the tool, and what the camera makes of them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ...checks import Array
from ...manipulation.arm import find_place
from ...perception.pose_source import PoseFault
from ...robot import Robot
from ...spatial.single import exp, make_pose

#: where the arm waits, the hand above the table and pointing down
HOME = np.array([0.0, -0.5, 0.0, -2.0, 0.0, 1.6, 0.8])
#: pose of the hand's palm in the flange
HAND = make_pose(np.eye(3), np.array([0.0, 0.0, 0.10]))


@dataclass(frozen=True)
class VisionErrors:
    """Errors of the vision layer, fixed before the first run; standard deviations are per axis.

    A picture's error is a part that all pictures of an object share (its model, its texture, the light) and one of its
    own; both together put 99 % of the positions within 1.1 cm, where the report has "always less than 1 cm".

    Attributes
    ----------
    rate, latency, jitter : float
        Pictures per second [Hz], delay and its spread [s]: what a refining network needs on a good graphics card.
    dropout : float
        Share of the pictures without a result.
    shared_position, shared_rotation, position, rotation : float
        Standard deviations of the shared and the independent part [m, rad].
    wild : float
        Share of the pictures in which something else was taken for the object, up to `wild_distance` away [m].
    calibration_position, calibration_rotation : float
        Standard deviations of the camera's pose [m, rad], about a point in the middle of the scene.
    hidden_distance : float
        So close to the object the tool hides it [m].
    occlusion : float
        Probability that something hides the object once, for half a second to one.
    """

    rate: float = 10.0
    latency: float = 0.15
    jitter: float = 0.05
    dropout: float = 0.1
    shared_position: float = 0.002
    shared_rotation: float = 0.017
    position: float = 0.0025
    rotation: float = 0.026
    wild: float = 0.02
    wild_distance: float = 0.2
    calibration_position: float = 0.002
    calibration_rotation: float = 0.005
    hidden_distance: float = 0.04
    occlusion: float = 0.5


@dataclass(frozen=True)
class Grasp:
    """Uncertainty of a tool in a soft hand, chosen before the first run; per axis.

    Attributes
    ----------
    position, rotation : float
        Standard deviation about the nominal grasp, at the hand [m, rad].
    slip : float
        Probability that the tool slips once on the way.
    slip_position, slip_rotation : float
        By so much [m, rad].
    """

    position: float = 0.008
    rotation: float = 0.10
    slip: float = 0.1
    slip_position: float = 0.005
    slip_rotation: float = 0.05


@dataclass(frozen=True)
class Task:
    """A gripper or tool, and the errors at contact that it tolerates; chosen before the first run.

    Attributes
    ----------
    name : str
        Name of the task.
    length : float
        From the palm to where the object is touched [m].
    held : bool
        Whether that is a tool in the hand, whose place is uncertain.
    across, along, tilt : float
        Largest errors across and along the direction of approach [m], and of that direction [rad].
    turn : float
        Largest error about it [rad].
    """

    name: str
    length: float
    held: bool
    across: float
    along: float
    tilt: float
    turn: float

    @property
    def nominal(self) -> Array:
        """Pose (4, 4) of what touches the object, in the palm."""
        return make_pose(np.eye(3), np.array([0.0, 0.0, self.length]))


CAMERA, GRASP = VisionErrors(), Grasp()
TASKS = {
    # a soft hand closes around what is near its palm
    "hand": Task("hand", 0.06, False, across=0.020, along=0.020, tilt=0.35, turn=0.35),
    # a cup of 30 mm on a face of 50 mm, whose bellows give by 6 mm and bend by 12 degrees; it may turn as it likes
    "tool": Task("tool", 0.15, True, across=0.010, along=0.006, tilt=0.21, turn=np.pi),
}


#: hand and tool over the table, relative to the middle of the objects [m], for other arms
_POSES = ((0.0, 0.0, 0.3), (-0.1, 0.2, 0.25), (0.1, 0.2, 0.05), (0.1, -0.2, 0.25), (-0.1, -0.2, 0.05))


@dataclass(frozen=True, eq=False)
class PickArm:
    """An arm that picks, and where.

    Attributes
    ----------
    robot : Robot
        The arm.
    home : (n,) array
        Joint positions while it waits, the hand above the table and pointing down [rad].
    spread : (n,) array
        Largest distance from them of the postures from which objects are drawn [rad].
    x : float
        Middle of the objects in front of the arm [m].
    """

    robot: Robot
    home: Array
    spread: Array
    x: float = 0.5

    @classmethod
    def of(cls, robot: Robot | None = None) -> PickArm:
        """Return an arm at the place that inverse kinematics finds; by default the report's at its own."""
        if robot is None:
            return cls(Robot.load("panda"), HOME, np.array([0.6, 0.6, 0.4, 0.6, 0.6, 0.6, 0.9]))
        poses = np.tile(np.diag([1.0, -1.0, -1.0, 1.0]), (len(_POSES), 1, 1))
        poses[:, :3, 3] = _POSES
        tip = np.asarray(robot.description.tool) @ HAND @ TASKS["tool"].nominal
        place = find_place(robot.replace(tool=tip), poses)
        return cls(robot, place.q, np.full(robot.n, 0.6), float(place.reference[0]))


@dataclass(frozen=True, eq=False)
class Scene:
    """One pick that shall be done.

    Attributes
    ----------
    seed : int
        Seed of the scene.
    start : (n,) array
        Joint positions of the arm at first [rad].
    contact : (4, 4) array
        Pose that the tool shall have at contact: of the object.
    shift : (3,) array
        By which someone pushes the object, at `shift_time` [m]; zero where nobody does.
    shift_time : float
        [s].
    held : (4, 4) array
        True pose of the tool in the palm.
    slip : (4, 4) array
        Behind it from `slip_time` on.
    slip_time : float
        [s].
    calibration, object_bias, tool_bias : (4, 4) array
        Errors that all pictures share: of the camera's place (from the left), of object and tool (from the right).
    occlusions : tuple of (start, stop)
        Times at which the object is hidden [s].
    faults : tuple of PoseFault
        Pictures of something else.
    """

    seed: int
    start: Array
    contact: Array
    shift: Array
    shift_time: float
    held: Array
    slip: Array
    slip_time: float
    calibration: Array
    object_bias: Array
    tool_bias: Array
    occlusions: tuple[tuple[float, float], ...]
    faults: tuple[PoseFault, ...]

    def object_pose(self, t: float) -> Array:
        """Pose (4, 4) of the object at a time [s]."""
        T = self.contact.copy()
        if t >= self.shift_time:
            T[:3, 3] += self.shift
        return T

    def tool_in_palm(self, t: float) -> Array:
        """Pose (4, 4) of what touches the object, in the palm, at a time [s]."""
        return self.held @ self.slip if t >= self.slip_time else self.held


def random_scene(arm: PickArm, task: Task, seed: int, camera: VisionErrors = CAMERA, grasp: Grasp = GRASP) -> Scene:
    """Draw a scene: an object within reach, upright to 30 degrees, and all errors.

    A third of the objects are pushed by 2 to 5 cm while the arm approaches.
    """
    rng = np.random.default_rng([seed, len(task.name)])
    start = arm.home + rng.uniform(-0.1, 0.1, arm.robot.n)
    contact = _reachable(arm, task, rng)
    angle, pushed = rng.uniform(0.0, 2.0 * np.pi), rng.random() < 1.0 / 3.0
    shift = pushed * rng.uniform(0.02, 0.05) * np.array([np.cos(angle), np.sin(angle), 0.0])
    held = _near(rng, grasp.position, grasp.rotation) @ task.nominal if task.held else task.nominal
    slips = task.held and rng.random() < grasp.slip
    slip = _near(rng, grasp.slip_position, grasp.slip_rotation)
    middle = make_pose(np.eye(3), np.array([arm.x, 0.0, 0.2]))
    wrong = _near(rng, camera.calibration_position, camera.calibration_rotation)
    biases = [_near(rng, camera.shared_position, camera.shared_rotation) for _ in range(2)]
    hides, begin, length = rng.random() < camera.occlusion, rng.uniform(1.0, 5.0), rng.uniform(0.5, 1.0)
    return Scene(
        seed=seed,
        start=start,
        contact=contact,
        shift=shift,
        shift_time=rng.uniform(0.8, 2.0),
        held=held,
        slip=slip if slips else np.eye(4),
        slip_time=rng.uniform(0.5, 2.5),
        calibration=middle @ wrong @ np.linalg.inv(middle),
        object_bias=biases[0],
        tool_bias=biases[1],
        occlusions=((begin, begin + length),) if hides else (),
        faults=_wild(rng, camera),
    )


def _reachable(arm: PickArm, task: Task, rng: np.random.Generator) -> Array:
    """Pose of an object that the arm can touch with the tool where it is meant to be."""
    low, high = arm.robot.limits.lower, arm.robot.limits.upper
    while True:
        q = arm.home + rng.uniform(-1.0, 1.0, arm.robot.n) * arm.spread
        T: Array = arm.robot.forward_kinematics(q) @ HAND @ task.nominal
        x, y, z = T[:3, 3]
        near = abs(x - arm.x) < 0.15 and abs(y) < 0.3 and 0.02 < z < 0.35
        if T[2, 2] < -np.cos(np.radians(30.0)) and near and ((q > low) & (q < high)).all():
            return T


def _near(rng: np.random.Generator, position: float, rotation: float) -> Array:
    return make_pose(exp(rng.normal(0.0, rotation, 3)), rng.normal(0.0, position, 3))


def _wild(rng: np.random.Generator, camera: VisionErrors, duration: float = 30.0) -> tuple[PoseFault, ...]:
    """Single pictures of something else."""
    faults = []
    for k in np.flatnonzero(rng.random(round(duration * camera.rate)) < camera.wild):
        offset = make_pose(exp(rng.normal(0.0, 0.5, 3)), rng.uniform(-1.0, 1.0, 3) * camera.wild_distance)
        faults.append(PoseFault("jump", (k - 0.5) / camera.rate, (k + 0.5) / camera.rate, offset))
    return tuple(faults)
