"""D4.2, Tables 14 and 15, Figures 33 and 34: a human arm follows planned motions around obstacles."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from functools import cached_property, lru_cache, partial
from typing import Any

import numpy as np

from ...checks import Array
from ...control import CartesianComputedTorque, Status, arm_points
from ...errors import NoPathError
from ...geometry import Sphere
from ...manipulation.arm import JointStops
from ...parallel import Workers, map_items
from ...recordings import MotionSet
from ...recordings.statistics import mannwhitneyu, wilcoxon
from ...reference import SetPose, TaskReference
from ...robot import Robot
from ...simulation import SimulationResult, simulate
from ...simulation.divergence import outcome_recorded
from ...simulation.protocols import ControllerLike
from ...spatial.single import angle_of, make_pose
from ..results import Draws, Varied, drawing, finite_median
from ..tables import markdown
from .planners import AVOIDING, DIFFERENCES, METHODS, Planner, default_recordings, planners
from .tasks import ELBOW_FRAME, OBSTACLE_SETS, PERIOD, HandMotion, Scene, mean_norm, scenes, tasks_table

# eq. 108; the report prints no gains: critically damped, two time constants of 0.1 s
K_0 = 100.0  # [1/s^2]
K_1 = 20.0  # [1/s]
# eq. 111: weak against gravity (up to 10 N m), the wrist held more than its inertia asks for, as its range is small
K_POSTURE = np.diag([2.0, 1.0, 2.0, 1.0, 1.0, 2.0, 4.0])  # [N m/rad]
K_D = np.diag([1.0, 1.0, 0.5, 0.5, 0.1, 0.1, 0.1])  # [N m s/rad]
WRIST_FRAME = 6
SETTLE = 5.0  # [s]
#: range before a joint's limit in which it resists [rad]; torque at the limit [N m], of wrist and forearm less as they
#: are light; damping there [N m s/rad]
STOP_RANGE, STOP_DAMPING = np.radians(3.0), 0.3
STOP_TORQUE = np.array([10.0, 10.0, 10.0, 10.0, 4.0, 4.0, 4.0])


@dataclass(frozen=True, kw_only=True, eq=False)
class ArmRun:
    """A planned motion and how the arm followed it.

    Attributes
    ----------
    robot : Robot
        Arm of the run.
    scene : Scene
        Scene of the run.
    plan : HandMotion
        Planned motion.
    result : SimulationResult
        Simulated motion, logged at 1 kHz.
    """

    robot: Robot
    scene: Scene
    plan: HandMotion
    result: SimulationResult

    @cached_property
    def jerk(self) -> tuple[float, float, float]:
        """Mean jerk of the hand's translation [m/s^3], its orientation [rad/s^3] and of the joints [rad/s^3].

        Second central differences of the true velocities at 1 kHz, ``J dq`` and ``dq``, unfiltered: the records are
        without noise. Of the hand it is the mean of the norm over time, of the joints the mean of ``|d3q|`` over time
        and over the seven.
        """
        dq = self.result.dq
        xi = np.einsum("kij,kj->ki", self.robot.jacobian(self.result.q), dq)
        hand, joints = (np.diff(v, 2, axis=0) / PERIOD**2 for v in (xi, dq))
        return mean_norm(hand[:, :3]), mean_norm(hand[:, 3:]), float(np.mean(np.abs(joints)))

    @property
    def final_error(self) -> tuple[float, float]:
        """Return the distance from the goal at the end: position [m], orientation [rad]."""
        return pose_error(self.scene.goal, self.robot.forward_kinematics(self.result.q[-1]))

    @property
    def planned_final_error(self) -> tuple[float, float]:
        """The same of what it was asked to follow."""
        return pose_error(self.scene.goal, make_pose(self.plan.R[-1], self.plan.p[-1]))

    @property
    def tracking_error(self) -> float:
        """Largest distance of the hand from where it was asked to be [m]."""
        p = self.robot.forward_kinematics(self.result.q)[:, :3, 3]
        return float(np.linalg.norm(p - self.plan.p, axis=1).max())

    @property
    def planned_clearance(self) -> float:
        """Least distance of the planned path of the hand from the obstacles' surfaces [m]."""
        return float(self.scene.distance(self.plan.p).min())

    @cached_property
    def clearance(self) -> tuple[float, float, float]:
        """Least distances of hand, elbow and the arm's center line from the obstacles' surfaces [m]."""
        points = arm_points_at(self.robot, self.result.q[::10])
        hand, elbow = (float(self.scene.distance(points[:, k]).min()) for k in (-1, 1))
        return hand, elbow, float(self.scene.distance(_between(points)).min())

    @property
    def beyond_limits(self) -> float:
        """Return how far a joint exceeds its range of motion [rad], which `JointStops` prevent; 0 inside."""
        q, limits = self.result.q, self.robot.limits
        return max(0.0, float(np.max([(limits.lower - q).max(), (q - limits.upper).max()])))

    @property
    def singular(self) -> bool:
        """Whether the controller met a singular posture, and gave up the task there."""
        return bool((self.result.status != int(Status.ok)).any())


def arm_controller(robot: Robot, scene: Scene, stiffness: float = K_0, posture: float = 1.0) -> CartesianComputedTorque:
    """Return eqs. 108 to 112 as corrected: posture at rest, obstacles felt everywhere as 1/d from their centers.

    Parameters
    ----------
    robot : Robot
        ``human_arm``.
    scene : Scene
        With the posture at rest and the obstacles.
    stiffness : float
        K_P of (108) [1/s^2]; the damping is critical.
    posture : float
        Factor of `K_POSTURE`.
    """
    return CartesianComputedTorque(
        robot,
        stiffness,
        2.0 * stiffness**0.5,
        K_D,
        posture=scene.q0,
        K_posture=posture * K_POSTURE,
        obstacles=[Sphere(sphere.center, 0.0) for sphere in scene.spheres],
    )


def with_stops(robot: Robot, controller: ControllerLike) -> JointStops:
    """Return a controller of an arm whose joints resist near their limits, as those of people do."""
    return JointStops(robot, controller, STOP_TORQUE, STOP_DAMPING, STOP_RANGE)


def settled(robot: Robot, scene: Scene) -> tuple[Array, Array]:
    """Return joint positions and velocities (7,) after the hand was held at the start for `SETTLE`.

    The elbow has then gone where it is pushed. From the rest posture itself the null space's torques would begin with a
    jump, and the elbow's answer to it would be most of the joints' jerk.
    """
    return _settled(robot, scene.start.tobytes(), scene.q0.tobytes(), scene.spheres)


@lru_cache(maxsize=32)  # it is the same for all plans, durations and margins
@outcome_recorded()  # the stops of the joints yield, beyond the limits
def _settled(robot: Robot, start: bytes, q0: bytes, spheres: tuple[Sphere, ...]) -> tuple[Array, Array]:
    T, q = np.frombuffer(start).reshape(4, 4), np.frombuffer(q0)
    scene = Scene(task="", obstacles="", start=T, goal=T, q0=q, spheres=spheres)
    controller = with_stops(robot, arm_controller(robot, scene))
    result = simulate(robot, controller, SetPose(T), SETTLE, PERIOD, q0=q, log=(), log_every=1000)
    return result.q[-1], result.dq[-1]


@outcome_recorded()
def follow(robot: Robot, scene: Scene, plan: HandMotion, controller: ControllerLike | None = None) -> ArmRun:
    """Let the arm follow a plan once it has `settled`, with `arm_controller`'s controller or another one."""
    duration = PERIOD * (len(plan.p) - 1)
    q, dq = settled(robot, scene)
    chosen = arm_controller(robot, scene) if controller is None else controller
    result = simulate(robot, with_stops(robot, chosen), plan, duration, PERIOD, q0=q, dq0=dq, log=())
    return ArmRun(robot=robot, scene=scene, plan=plan, result=result)


def arm_points_at(robot: Robot, q: Array) -> Array:
    """Return shoulder, elbow, wrist and hand at postures (..., 7), as (..., 4, 3) [m]."""
    ends = [robot.forward_kinematics(q, frame)[..., :3, 3] for frame in (ELBOW_FRAME, WRIST_FRAME, "tool")]
    return np.asarray(np.stack([np.zeros_like(ends[0]), *ends], axis=-2))


def _between(points: Array, count: int = 20) -> Array:
    """Return points along the segments of polylines (k, 4, 3)."""
    s = np.linspace(0.0, 1.0, count).reshape(-1, 1, 1, 1)
    return np.asarray(points[:, :-1] + s * np.diff(points, axis=1))


def pose_error(goal: Array, T: Array) -> tuple[float, float]:
    """Return distance [m] and angle [rad] between two poses."""
    return float(np.linalg.norm(goal[:3, 3] - T[:3, 3])), angle_of(goal[:3, :3] @ T[:3, :3].T)


_NO_DAMPING = 1e-9  # of the controller beneath: the null space is added here [N m s/rad]


class KinematicNullSpace:
    """Eqs. 108 to 112 with ``P = I - J+ J``.

    (112) prints ``P = I - J J'``, which is 6 x 6 and cannot multiply torques. What comes to mind is the projector of
    velocities; but torques in its range do accelerate the hand, by ``J M^-1 P tau``. `CartesianComputedTorque` has the
    projector whose torques do not.

    Parameters
    ----------
    robot : Robot
        ``human_arm``.
    scene : Scene
        With the posture to lean to and the obstacles.
    """

    def __init__(self, robot: Robot, scene: Scene) -> None:
        self.robot, self.scene = robot, scene
        self.points = arm_points(robot)
        self.task = CartesianComputedTorque(robot, K_0, K_1, _NO_DAMPING * np.eye(robot.n), posture=None)

    def step(self, t: float, q: Array, dq: Array, reference: TaskReference) -> Array:
        """Return the torques (7,) [N m]."""
        J = self.robot.jacobian(q)
        wanted = K_POSTURE @ (self.scene.q0 - q) - K_D @ dq + self._repulsion(q)
        return np.asarray(self.task.step(t, q, dq, reference) + wanted - np.linalg.pinv(J) @ (J @ wanted))

    def _repulsion(self, q: Array) -> Array:
        tau = np.zeros(self.robot.n)
        for link, offset in self.points:
            T, J = self.robot.forward_kinematics(q, link), self.robot.jacobian(q, link)
            r = T[:3, :3] @ offset
            J_point = J[:3] + np.cross(J[3:].T, r).T
            for sphere in self.scene.spheres:
                away = T[:3, 3] + r - sphere.center
                tau += J_point.T @ away / (away @ away)
        return tau


#: median jerk of the report: translation [m/s^3], orientation [rad/s^3], joints [rad/s^3]
TABLE_14: dict[str, tuple[float, ...]] = {
    "paper mode": (0.28, 0.31),
    "DMP mollifier": (1.65, 3.19),
    "DMP (104)": (1.65, 3.19),
}
TABLE_15: dict[str, tuple[float, ...]] = {
    "paper mode": (0.32, 0.97, 0.78),
    "DMP mollifier": (1.87, 5.77, 3.00),
    "DMP (104)": (1.87, 5.77, 3.00),
}
#: "The DMP has a final median error norm of 0.049 m"; fPC "is able to find a feasible trajectory for each of the 20"
DMP_FINAL_ERROR = 0.049  # [m]

Key = tuple[str, str, str]


@dataclass(frozen=True, kw_only=True, eq=False)
class HumanLikeArm(Varied):
    """Results of the experiment.

    Attributes
    ----------
    robot : Robot
        ``human_arm``.
    runs : dict of (str, str, str) to ArmRun
        By task, obstacles and method.
    failures : dict of (str, str, str) to str
        Messages of planners that found no path.
    kinematic : dict of (str, str) to ArmRun
        Runs of paper mode with `KinematicNullSpace`, by task and obstacles.
    """

    robot: Robot
    runs: dict[Key, ArmRun]
    failures: dict[Key, str] = field(default_factory=dict)
    kinematic: dict[tuple[str, str], ArmRun] = field(default_factory=dict)

    def of(self, method: str, obstacles: Iterable[str] = tuple(OBSTACLE_SETS)) -> dict[tuple[str, str], ArmRun]:
        """Return the runs of one method, by task and obstacles."""
        wanted = set(obstacles)
        return {(task, kind): run for (task, kind, name), run in self.runs.items() if name == method and kind in wanted}

    def jerk(self, method: str, real: bool, obstacles: Iterable[str] = tuple(OBSTACLE_SETS)) -> Array:
        """Return mean jerks, a row for each scene: of the plan (k, 2), or of the arm (k, 3)."""
        runs = self.of(method, obstacles).values()
        return np.array([run.jerk if real else run.plan.jerk for run in runs]).reshape(-1, 3 if real else 2)

    def table(self) -> str:
        """Return Tables 14 and 15 with the report's numbers and ours, final errors and clearances, as Markdown."""
        parts = [
            f"Tasks\n\n{tasks_table(self.robot)}",
            f"Table 14: jerk of the planned motion of the hand, median\n\n{self._jerk_table(TABLE_14, real=False)}",
            self._tests(real=False),
            f"Table 15: jerk of the arm's motion, median\n\n{self._jerk_table(TABLE_15, real=True)}",
            self._tests(real=True),
            self._kinematic_sentence(),
            f"Errors at the end, the worst scene in brackets\n\n{self._end_table()}",
            f"Least distances from the obstacles' surfaces\n\n{self._clearance_table()}",
        ]
        return "\n\n".join([self.join(*filter(None, parts)), DIFFERENCES])

    def to_dict(self) -> dict[str, Any]:
        """Return Tables 14 and 15, and the figures of merit of every run.

        Jerk is that of translation [m/s^3], orientation [rad/s^3] and, of the arm, joints [rad/s^3]; clearances are
        those of hand, elbow and center line [m]; final errors are those of position [m] and orientation [rad].
        """
        names = ("jerk", "planned_final_error", "final_error", "singular")
        runs = [
            {"task": task, "obstacles": kind, "method": method, "planned_jerk": run.plan.jerk}
            | {name: getattr(run, name) for name in names}
            | {"clearance_m": run.clearance if run.scene.spheres else None, "beyond_limits_rad": run.beyond_limits}
            for (task, kind, method), run in self.runs.items()
        ]
        failures = {", ".join(key): message for key, message in self.failures.items()}
        variations = {"draws": None} | self.variations()
        return {"table_14": TABLE_14, "table_15": TABLE_15, "runs": runs, "failures": failures, **variations}

    def figures(self) -> dict[str, float | None]:
        """Return median jerk and final error of every method over the scenes."""
        row: dict[str, float | None] = {}
        for name in METHODS:
            row[f"{name}: planned jerk [m/s^3]"] = finite_median(self.jerk(name, real=False)[:, 0])
            row[f"{name}: arm's jerk [m/s^3]"] = finite_median(self.jerk(name, real=True)[:, 0])
            errors = np.array([run.final_error[0] for run in self.of(name).values()])
            row[f"{name}: final error [m]"] = finite_median(errors)
        return row

    plot = drawing("plot_human_like_arm")

    def _jerk_table(self, printed: dict[str, tuple[float, ...]], real: bool) -> str:
        kinds = ("translation [m/s^3]", "orientation [rad/s^3]", "joints [rad/s^3]")[: 3 if real else 2]
        rows: list[list[object]] = []
        for name in METHODS:
            every, free = (self.jerk(name, real, sets) for sets in (tuple(OBSTACLE_SETS), ("none",)))
            medians = [[finite_median(column) for column in values.T] for values in (every, free)]
            triples = zip(printed.get(name, (np.nan,) * len(kinds)), *medians, strict=True)
            rows.append([name, len(every), *(x for triple in triples for x in triple)])
        header = [words for kind in kinds for words in (f"{kind}: report", "all", "without obstacles")]
        return markdown(["", "scenes", *header], rows)

    def _tests(self, real: bool) -> str:
        """Compare the report's two methods as it does, and as pairs."""
        one, other = "paper mode", "DMP mollifier"
        a, b = self.of(one), self.of(other)
        pairs = [(a[key], b[key]) for key in a if key in b]
        jerks = np.array([[run.jerk if real else run.plan.jerk for run in pair] for pair in pairs])
        words = [
            f"{kind} p = {mannwhitneyu(*x).pvalue:.2g} and {wilcoxon(*x).pvalue:.2g}"
            for kind, x in zip(("translation", "orientation", "joints"), jerks.transpose(2, 1, 0), strict=False)
        ]
        return (
            f"Wilcoxon, {one} against {other} in {len(pairs)} scenes; rank sum as in the report, signed rank as pairs: "
            f'{"; ".join(words)}. ("Fails to reject" with p < 0.01 in the report means rejects.)'
        )

    def _kinematic_sentence(self) -> str:
        if not self.kinematic:
            return ""
        ours = self.of("paper mode")
        ratio = np.median([np.divide(run.jerk, ours[key].jerk) for key, run in self.kinematic.items()], axis=0)
        paper = np.divide(TABLE_15["paper mode"][:2], TABLE_14["paper mode"])
        return (
            "With I - J+ J for P in (112), which does disturb the hand, the arm's jerk in paper mode is "
            f"{ratio[0]:.2f} (translation), {ratio[1]:.2f} (orientation) and {ratio[2]:.2f} (joints) times what it is "
            f"here (median of {len(self.kinematic)} scenes). The report's arm has {paper[0]:.2f} and {paper[1]:.2f} "
            "times the jerk of its plans; with the projector of torques that factor is 1."
        )

    def _end_table(self) -> str:
        rows: list[list[object]] = []
        for name in METHODS:
            runs = list(self.of(name).values())
            errors = np.array([(*run.planned_final_error, *run.final_error) for run in runs]).reshape(-1, 4)
            cells = [f"{np.median(x):.2g} ({x.max():.2g})" if x.size else "" for x in errors.T]
            report = DMP_FINAL_ERROR if name in ("DMP mollifier", "DMP (104)") else None
            failed = sum(key[2] == name for key in self.failures)
            tracking = max((run.tracking_error for run in runs), default=float("nan"))
            rows.append([name, failed, report, *cells, tracking, sum(run.singular for run in runs)])
        header = ["", "no path", "report [m]", "plan [m]", "plan [rad]", "arm [m]", "arm [rad]", "off the plan [m]"]
        return markdown([*header, "singular"], rows)

    def _clearance_table(self) -> str:
        rows: list[list[object]] = []
        blocked = tuple(kind for kind, parts in OBSTACLE_SETS.items() if parts)
        for name in METHODS:
            if not (runs := list(self.of(name, blocked).values())):
                continue
            real, planned = np.array([run.clearance for run in runs]), [run.planned_clearance for run in runs]
            kept = sum(least >= run.scene.margin - 1e-9 for least, run in zip(planned, runs, strict=True))
            limits = float(np.degrees(max(run.beyond_limits for run in runs)))
            goes, inside = "yes" if name in AVOIDING else "no", int((real[:, 2] < 0.0).sum())
            least = (min(planned), *real.min(axis=0).tolist())
            rows.append([name, goes, f"{kept} of {len(runs)}", *least, inside, limits])
        header = ["", "goes round", "plans that keep 0.2 m", "plan: hand [m]", "arm: hand [m]", "elbow [m]"]
        header += ["center line [m]", "arm in obstacle", "past joint limits [deg]"]
        return markdown(header, rows) if rows else ""


def run_human_like_arm(
    quick: bool = False, seed: int = 0, *, kinematic: bool = False, workers: Workers = 1
) -> HumanLikeArm:
    """Plan the tasks among obstacles with every method, and let the arm follow.

    Parameters
    ----------
    quick : bool
        If True, run two tasks, without obstacles and with both, after learning from fewer motions.
    seed : int
        Seed of the synthetic daily-living motions that the methods learn from.
    kinematic : bool
        If True, also follow the plans of paper mode around both obstacles with `KinematicNullSpace`.
    workers : Workers
        Where the runs are made, see `run_tasks`.
    """
    robot = Robot.load("human_arm")
    todo = scenes(robot, *((("hitchhiking", "self-feeding"), ("none", "both")) if quick else ()))
    work = partial(_follow_all, robot, default_recordings(quick, seed), kinematic)
    found = map_items(work, todo, workers=workers, progress=not quick, description="scenes")
    # runs, failures, and those of `KinematicNullSpace`
    every: list[dict[Any, Any]] = [{key: x for parts in found for key, x in parts[k].items()} for k in range(3)]
    return HumanLikeArm(robot=robot, runs=every[0], failures=every[1], kinematic=every[2])


@lru_cache(maxsize=4)
def _taught(recordings: MotionSet) -> dict[str, Planner]:
    return planners(motions=recordings)


def _follow_all(
    robot: Robot, recordings: MotionSet, kinematic: bool, scene: Scene
) -> tuple[dict[Key, ArmRun], dict[Key, str], dict[tuple[str, str], ArmRun]]:
    """Return the runs and failures in one scene by method, and that of paper mode with `KinematicNullSpace`."""
    runs: dict[Key, ArmRun] = {}
    failures: dict[Key, str] = {}
    place = (scene.task, scene.obstacles)
    for name, planner in _taught(recordings).items():
        try:
            runs[(*place, name)] = follow(robot, scene, planner(scene))
        except NoPathError as error:
            failures[(*place, name)] = str(error)
    paper = runs.get((*place, "paper mode"))
    if not kinematic or scene.obstacles != "both" or paper is None:  # a controller in Python is slow
        return runs, failures, {}
    return runs, failures, {place: follow(robot, scene, paper.plan, KinematicNullSpace(robot, scene))}


#: synthetic recordings as drawn by `run`
DRAWN = "synthetic daily-living motions that the methods learn from"


def run(quick: bool = False, *, seeds: int | None = None, workers: Workers = 1) -> HumanLikeArm:
    """Run the experiment of the registry; `seeds` sets of synthetic recordings to learn from, by default 1."""
    first = run_human_like_arm(quick, kinematic=not quick, workers=workers)
    if seeds is None or seeds == 1:
        return first
    others = (run_human_like_arm(quick, seed, workers=workers) for seed in range(1, seeds))
    return replace(first, draws=Draws.of(DRAWN, [first.figures(), *(other.figures() for other in others)]))
