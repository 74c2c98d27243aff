"""Five daily-living motions of a human arm, each with four sets of obstacles (D4.2, section 5.2.3).

The report names the tasks and says in words where the obstacles are; postures, places and sizes are chosen here. A task
goes from a common rest posture, the arm hanging slightly bent, to an end posture given in joint angles, so that both
poses of the hand are within reach and within the joint limits. No posture is near 90 degrees of abduction, where
`human_arm` is singular, and the elbow is never straight.

Obstacles are spheres of radius `RADIUS`:

hand
    "a single obstacle in the middle of the hand path": the middle of the straight way, but `OFF` beside it, so that one
    way round is the shortest. That side, ``aside``, is one of eight on which the arm can follow paper mode within its
    joint limits: a sphere exactly on the line would send it outside of its reach, or against its trunk, as often as
    not.
elbow
    "a single obstacle in the elbow proximity": `AWAY` from where the elbow is half way between the two postures, in the
    direction ``elbow``. In exultation the straight way of the hand is within the margin of it too.

The hand keeps 0.2 m from their surfaces ("a clearance zone of 0.2 m from the surface of the obstacles"), the rest of
the arm is pushed away in the null space alone. The motion takes 5 s, which the report does not say: its jerk suggests
it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
import numpy.typing as npt

from ...checks import Array
from ...geometry import Sphere
from ...reference import TaskReference
from ...robot import Robot
from ..tables import markdown

DURATION = 5.0  # [s]
MARGIN = 0.2  # of the hand, from the surfaces [m]
RADIUS = 0.05  # [m]
OFF = 0.04  # of the hand's obstacle from the straight way [m]
AWAY = 0.15  # of the elbow's obstacle from the elbow [m]
ELBOW_FRAME = 4

#: shoulder flexion, abduction, internal rotation; elbow flexion, pronation; wrist flexion, ulnar deviation [deg]
REST = (5.0, 12.0, 0.0, 25.0, 0.0, 0.0, 0.0)

OBSTACLE_SETS: dict[str, tuple[str, ...]] = {
    "none": (),
    "hand": ("hand",),
    "elbow": ("elbow",),
    "both": ("hand", "elbow"),
}


@dataclass(frozen=True, kw_only=True)
class Task:
    """One of the motions.

    Attributes
    ----------
    posture : tuple of float
        Where it ends, joint angles in the order of `REST` [deg].
    sentence : str
        Description of the motion.
    aside : (float, float, float)
        To which side of its obstacle the hand shall pass; x forward, y left, z up.
    elbow : (float, float, float)
        Where the elbow's obstacle is, seen from the elbow.
    """

    posture: tuple[float, ...]
    sentence: str
    aside: tuple[float, float, float]
    elbow: tuple[float, float, float]


TASKS: dict[str, Task] = {
    "hitchhiking": Task(
        posture=(45.0, 40.0, -10.0, 60.0, -20.0, 0.0, 10.0),
        sentence="forearm forward and out, thumb up",
        aside=(-0.8, -0.6, 0.1),
        elbow=(0.4, 0.8, 0.4),
    ),
    "block out sun": Task(
        posture=(80.0, 35.0, 45.0, 110.0, 30.0, -10.0, 0.0),
        sentence="hand before the forehead, palm away from the face",
        aside=(0.4, -0.9, 0.2),
        elbow=(-0.6, -0.8, 0.2),
    ),
    "stop gesture": Task(
        posture=(70.0, 15.0, 20.0, 35.0, 50.0, -50.0, 0.0),
        sentence="arm stretched forward, fingers up, palm forward",
        aside=(-0.6, -0.7, 0.4),
        elbow=(-0.1, 0.95, 0.2),
    ),
    "exultation": Task(
        posture=(105.0, 20.0, 0.0, 65.0, 0.0, 0.0, -15.0),
        sentence="fist above the head",
        aside=(0.9, 0.4, -0.1),
        elbow=(-0.6, -0.8, 0.2),
    ),
    "self-feeding": Task(
        posture=(60.0, 35.0, 40.0, 130.0, -40.0, 20.0, 0.0),
        sentence="hand before the mouth, palm towards it",
        aside=(0.7, -0.7, 0.25),
        elbow=(-0.6, -0.8, 0.2),
    ),
}


@dataclass(frozen=True, kw_only=True, eq=False)
class Scene:
    """A task with a set of obstacles.

    Attributes
    ----------
    task, obstacles : str
        Which of `TASKS`, which of `OBSTACLE_SETS`.
    start, goal : (4, 4) array
        Poses of the hand.
    q0 : (7,) array
        Rest posture [rad].
    spheres : tuple of Sphere
        Obstacles.
    duration : float
        From rest to rest [s].
    margin : float
        That the hand keeps from the surfaces [m].
    """

    task: str
    obstacles: str
    start: Array
    goal: Array
    q0: Array
    spheres: tuple[Sphere, ...]
    duration: float = DURATION
    margin: float = MARGIN

    def distance(self, points: Array) -> Array:
        """Return how far points (..., 3) are from the nearest surface [m]; infinite without obstacles."""
        each = [np.full(np.shape(points)[:-1], np.inf), *(sphere.distance(points) for sphere in self.spheres)]
        return np.asarray(np.min(each, axis=0))


def scenes(
    robot: Robot, tasks: Iterable[str] = tuple(TASKS), obstacles: Iterable[str] = tuple(OBSTACLE_SETS)
) -> list[Scene]:
    """Return the scenes of some tasks and sets of obstacles, task after task.

    Parameters
    ----------
    robot : Robot
        ``human_arm``.
    tasks, obstacles : iterable of str
        Names, all by default.
    """
    q0 = np.radians(REST)
    start = robot.forward_kinematics(q0)
    found = []
    for name in tasks:
        q1 = np.radians(TASKS[name].posture)
        goal = robot.forward_kinematics(q1)
        elbow = robot.forward_kinematics(0.5 * (q0 + q1), ELBOW_FRAME)[:3, 3]
        for kind in OBSTACLE_SETS if obstacles is OBSTACLE_SETS else obstacles:
            places = [_place(TASKS[name], part, start, goal, elbow) for part in OBSTACLE_SETS[kind]]
            spheres = tuple(Sphere(center, RADIUS) for center in places)
            found.append(Scene(task=name, obstacles=kind, start=start, goal=goal, q0=q0, spheres=spheres))
    return found


def _place(task: Task, part: str, start: Array, goal: Array, elbow: Array) -> Array:
    """Return the center of one obstacle."""
    if part == "elbow":
        away = np.array(task.elbow)
        return np.asarray(elbow + AWAY * away / np.linalg.norm(away))
    a, b = start[:3, 3], goal[:3, 3]
    way = (b - a) / np.linalg.norm(b - a)
    aside = np.array(task.aside) - np.dot(task.aside, way) * way
    return np.asarray(0.5 * (a + b) - OFF * aside / np.linalg.norm(aside))


def tasks_table(robot: Robot) -> str:
    """Return postures and places of the obstacles as Markdown."""
    rows: list[list[object]] = [["rest", "arm hanging, slightly bent", _degrees(REST), "", "", ""]]
    for scene in scenes(robot, obstacles=("both",)):
        task = TASKS[scene.task]
        length = float(np.linalg.norm(scene.goal[:3, 3] - scene.start[:3, 3]))
        centers = [", ".join(f"{x:.2f}" for x in np.asarray(sphere.center)) for sphere in scene.spheres]
        rows.append([scene.task, task.sentence, _degrees(task.posture), length, *centers])
    header = ["task", "", "joint angles [deg]", "way of the hand [m]", "obstacle of the hand [m]", "of the elbow [m]"]
    return markdown(header, rows)


def _degrees(posture: tuple[float, ...]) -> str:
    return ", ".join(f"{angle:g}" for angle in posture)


PERIOD = 1e-3  # of samples, control and records [s]


@dataclass(frozen=True, kw_only=True, eq=False)
class HandMotion:
    """A planned motion, sampled at 1 kHz; ``motion(t)`` gives the sample at t, so that `simulate` can follow it.

    Attributes
    ----------
    p : (k, 3) array
        Position [m].
    R : (k, 3, 3) array
        Orientation.
    xi, xi_dot : (k, 6) array
        Twist and its derivative.
    via_points : (v, 3) array
        Via points around obstacles [m].
    """

    p: Array
    R: Array
    xi: Array
    xi_dot: Array
    via_points: Array = field(default_factory=lambda: np.zeros((0, 3)))

    @classmethod
    def of(
        cls, reference: Callable[[Array], TaskReference], duration: float, via_points: npt.ArrayLike | None = None
    ) -> HandMotion:
        """Sample a reference that takes an array of times."""
        p, R, xi, xi_dot = reference(sample_times(duration))
        vias = np.zeros((0, 3)) if via_points is None else np.asarray(via_points, dtype=np.float64).reshape(-1, 3)
        return cls(p=p, R=R, xi=xi, xi_dot=xi_dot, via_points=vias)

    def __call__(self, t: float) -> TaskReference:
        """Return the sample nearest to time t [s]; before and after, the first and the last one."""
        k = min(max(round(t / PERIOD), 0), len(self.p) - 1)
        return TaskReference(self.p[k], self.R[k], self.xi[k], self.xi_dot[k])

    @cached_property
    def jerk(self) -> tuple[float, float]:
        """Mean norm of the jerk over time, of translation [m/s^3] and orientation [rad/s^3].

        Central differences of the accelerations at 1 kHz. A jump of the acceleration at the start, as movement
        primitives have, does not count.
        """
        jerk = np.gradient(self.xi_dot, PERIOD, axis=0)
        return mean_norm(jerk[:, :3]), mean_norm(jerk[:, 3:])


def sample_times(duration: float) -> Array:
    """Return 0 to `duration` in steps of `PERIOD`."""
    return np.asarray(PERIOD * np.arange(round(duration / PERIOD) + 1, dtype=np.float64))


def mean_norm(values: Array) -> float:
    """Return the mean over time of the norm of vectors (k, m)."""
    return float(np.mean(np.linalg.norm(values, axis=1)))
