"""One object of every public class, in the middle of its work, and what it computes next."""

import contextlib
import doctest
import enum
import importlib
import inspect
import io
import pkgutil
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache, partial
from typing import Any

import numpy as np

import thunder_py as th
from thunder_py import (
    control,
    geometry,
    identification,
    kinematics,
    manipulation,
    motion,
    mujoco,
    perception,
    realtime,
    reference,
    simulation,
    symbolic,
    trajectory,
)
from thunder_py.manipulation import interception, throwing, wrist
from thunder_py.manipulation.interception.runs import default_belt, default_planner
from thunder_py.manipulation.throwing.thrown import ObjectState
from thunder_py.perception import clouds
from thunder_py.recordings import synthetic
from thunder_py.spatial import pose_from_rpy

Q = np.array([0.1, -0.4, 0.2, -2.0, 0.1, 1.7, 0.6])
LOST = np.full(7, np.nan)
TIMES = np.linspace(-0.1, 2.0, 13)
POINTS = np.random.default_rng(0).normal(size=(5, 3))
MS = 1_000_000
NOON = 1_700_000_000_000_000_000


def computed(thing: Any) -> Any:
    """Return all that an object holds, and what it gives at times or points."""
    if isinstance(thing, geometry.Obstacle):
        return thing, thing.nearest(POINTS)
    if callable(thing):
        with contextlib.suppress(TypeError, ValueError):
            return thing, thing(0.3), thing(TIMES)
    return thing


@dataclass
class Recipe:
    """How to make an object, how to use it, and does using it change it?"""

    make: Callable[[], Any]
    use: Callable[[Any], Any] = computed
    moves: bool = False


RECIPES: dict[type, Recipe] = {}


def value(cls: type, *arguments: Any, **options: Any) -> None:
    """Add a class whose objects are what they hold."""
    RECIPES[cls] = Recipe(partial(cls, *arguments, **options))


def made(cls: type, make: Callable[[], Any], use: Callable[[Any], Any] = computed) -> None:
    """Add a class whose objects do not change."""
    RECIPES[cls] = Recipe(make, use)


def goes_on(
    cls: type, make: Callable[[], Any], work: Callable[[Any, int, int], Any], middle: int = 20, end: int = 40
) -> None:
    """Add a class whose objects remember: one that has done a part of its work, and does the rest."""

    def halfway() -> Any:
        one = make()
        work(one, 0, middle)
        return one

    RECIPES[cls] = Recipe(halfway, lambda one: work(one, middle, end), True)


@cache
def public_classes() -> dict[type, str]:
    """Return classes in an ``__all__`` of the package, protocols and errors left out, with a name each."""
    packages = [m.name for m in pkgutil.walk_packages(th.__path__, "thunder_py.") if m.ispkg and ".cli" not in m.name]
    modules = [f"thunder_py.{name}" for name in th.__all__ if inspect.ismodule(getattr(th, name))]
    found: dict[type, str] = {}
    for name in ("thunder_py", *packages, *modules):
        module = importlib.import_module(name)
        for attribute in getattr(module, "__all__", ()):
            thing = getattr(module, attribute)
            if inspect.isclass(thing) and thing.__module__.startswith("thunder_py"):
                found[thing] = f"{name}.{attribute}"
    return {
        c: n for c, n in found.items() if not getattr(c, "_is_protocol", False) and not issubclass(c, BaseException)
    }


def from_examples(classes: set[type]) -> dict[type, Any]:
    """Return an object of each class that appears in the example of a public class, or is a part of one that does."""
    found: dict[type, Any] = {c: next(iter(c)) for c in classes if issubclass(c, enum.Enum)}

    def visit(thing: Any, depth: int = 0) -> None:
        if type(thing) in classes:
            found.setdefault(type(thing), thing)
        if isinstance(thing, Mapping):
            thing = list(thing.values())
        if isinstance(thing, (list, tuple)):
            parts = list(thing)[:20]
        else:
            parts = list(getattr(thing, "__dict__", {}).values()) if type(thing) in public_classes() else []
        if depth < 4:
            for part in parts:
                visit(part, depth + 1)

    for cls in public_classes():
        for example in doctest.DocTestFinder(recurse=False).find(cls, globs={}):
            names: dict[str, Any] = {}
            shown, before = list[Any](), sys.displayhook
            sys.displayhook = shown.append
            try:
                with contextlib.redirect_stdout(io.StringIO()):
                    for step in example.examples:
                        exec(compile(step.source, example.name, "single"), names)
            finally:
                sys.displayhook = before
            visit([*names.values(), *shown])
    return found


@cache
def panda() -> th.Robot:
    return th.Robot.load("panda")


@cache
def elastic_panda() -> th.Robot:
    return panda().replace(elastic=[th.robot.Elastic(joint=j + 1, K=(800.0,), Mm=0.1) for j in range(7)])


@cache
def elbow() -> th.Robot:
    return th.Robot.load("elbow")


def measured(k: int) -> tuple[float, np.ndarray, np.ndarray]:
    """Return time, positions and velocities that come from somewhere."""
    t = 1e-3 * k
    phase = np.arange(7.0)
    return t, Q + 0.05 * np.sin(3.0 * t + phase), 0.15 * np.cos(3.0 * t + phase)


def joint_target(t: float) -> reference.JointReference:
    phase = 0.3 * np.arange(7.0)
    return reference.JointReference(Q + 0.1 * np.sin(2.0 * t + phase), 0.2 * np.cos(2.0 * t + phase), np.full(7, 0.1))


def smooth_target(t: float) -> reference.SmoothJointReference:
    return reference.SmoothJointReference(*joint_target(t), np.zeros(7), np.zeros(7))


def task_target(t: float) -> reference.TaskReference:
    T = panda().forward_kinematics(Q)
    xi = np.array([0.02, 0.01, 0.0, 0.0, 0.05, 0.0])
    return reference.TaskReference(T[:3, 3] + t * xi[:3], T[:3, :3], xi, np.zeros(6))


def steps(law: Any, first: int, last: int) -> list[Any]:
    """Return torque, status and signals; a measurement is lost on the way."""
    elastic = getattr(law, "sees_motors", False)  # not of laws written in Python
    joint = smooth_target if elastic else joint_target
    target = joint if isinstance(law, th._core.JointController) else task_target
    log = []
    for k in range(first, last):
        t, q, dq = measured(k)
        dq = LOST if k % 20 == 13 else dq
        motors = (q + 0.01, dq) if elastic else ()
        log.append((law.step(t, q, dq, target(t), *motors), int(law.status), law.signals))
    return log


def law(cls: type, *arguments: Any, ran: int = 25, model: Callable[[], th.Robot] = panda, **options: Any) -> None:
    """Add a controller that has limits and that has run so many steps, and goes on."""

    def make() -> Any:
        one = cls(model(), *arguments, **options)
        one.torque_limits = [30.0, 60.0, 60.0, 60.0, 12.0, 12.0, 12.0]
        steps(one, 0, ran)
        return one

    def use(one: Any) -> Any:
        before = getattr(one, "parameters", None)
        log = steps(one, ran, 50)
        one.reset()
        return before, log, steps(one, 50, 52), one.torque_limits

    RECIPES[cls] = Recipe(make, use, True)
    LAWS.append(cls)


LAWS: list[type] = []
law(th.PDGravity, 200.0, 20.0, K_i=30.0, integral_limit=5.0)
law(th.IndependentJoint, 200.0, 20.0, inertia=0.5, K_i=30.0)
law(th.ComputedTorque, 100.0, 20.0, ran=33)  # the safe torque at the last position comes next
law(th.PassivityBased, 5.0, 10.0)
law(th.RobustUnitVector, 100.0, 20.0, 5.0, 0.1, ran=33)
law(th.SlotineLi, 5.0, 10.0, adaptation=control.NaturalAdaptation(1.0, 1.0))
law(th.ACT, 100.0, 20.0, adaptation=50.0, route="regressor")
law(th.MACT, 100.0, 20.0, adaptation=5.0, gamma=0.1)
law(control.MotorPD, 300.0, 20.0, gravity="online", model=elastic_panda, ran=33)
law(control.ElasticFeedbackLinearization, 1e4, 4e3, 600.0, 40.0, model=elastic_panda)
law(control.ElasticSlotineLi, 5.0, 5.0, adaptation=5.0, Gamma_K=5.0, model=elastic_panda)
law(control.CompositeControl, th.SlotineLi(panda(), 5.0, 10.0, adaptation=5.0), model=elastic_panda, ran=33)
law(th.OperationalSpace, 100.0, 20.0, 2.0, 10.0, posture=Q, K_posture=3.0)
BESIDE = geometry.Sphere([0.4, 0.2, 0.5], 0.05)
law(th.CartesianComputedTorque, 100.0, 20.0, 2.0, obstacles=[BESIDE], rows=["x", "y", "z"])
law(th.Impedance, 300.0, 30.0, 2.0, inertia=2.0)
law(th.CartesianMACT, 50.0, 10.0, adaptation=5.0, gamma=0.1, route="acceleration")
law(th.Backstepping, 5.0, 10.0, 10.0, adaptation=control.GradientAdaptation(5.0, lower=-1.0))
law(
    th.AdaptiveJacobianBackstepping,
    5.0,
    10.0,
    10.0,
    adaptation=control.GradientAdaptation(5.0, unknown="link7"),
    lengths=control.LengthAdaptation(50.0, unknown=["d_5", "tool_z"], gamma=20.0, Gamma_torque=1.0),
    measure=control.ExactPosition(panda()),
)

SAMPLES = np.array([Q + 0.1 * np.sin(0.2 * k + np.arange(7.0)) for k in range(40)])


def estimates(filter: Any, first: int, last: int) -> Any:
    return [filter.step(1e-3, SAMPLES[k] if k % 15 or not k else LOST) for k in range(first, last)]


goes_on(control.FirstOrderDerivative, lambda: control.FirstOrderDerivative(30.0), estimates, 18)
goes_on(control.ButterworthDerivative, lambda: control.ButterworthDerivative(30.0), estimates, 18)
goes_on(control.SavitzkyGolayDerivative, lambda: control.SavitzkyGolayDerivative(9), estimates, 18)


def observed(observer: Any, first: int, last: int) -> list[Any]:
    """Return estimates, contacts and statuses; a state is lost on the way."""
    log = []
    for k in range(first, last):
        t, q, dq = measured(k)
        tau = 5.0 * np.sin(0.3 * k + np.arange(7.0))
        log.append((observer.step(t, LOST if k % 20 == 13 else q, dq, tau), observer.contact, observer.status))
    return log


def observer(cls: type, **options: Any) -> Callable[[], Any]:
    return lambda: cls(panda(), 40.0, detector=control.ContactDetector(2.0), **options)


goes_on(control.MomentumObserver, observer(control.MomentumObserver, order=2, damping_ratio=0.7), observed, 14)
goes_on(control.EnergyObserver, observer(control.EnergyObserver), observed, 14)


def adapted(estimator: Any, first: int, last: int) -> list[Any]:
    return [(estimator.step(*measured(k), np.ones(7)), estimator.parameters, estimator.s) for k in range(first, last)]


goes_on(control.ParameterEstimator, lambda: control.ParameterEstimator(panda(), adaptation=1e4, K_d=10.0), adapted, 14)
made(control.ExactPosition, lambda: control.ExactPosition(panda()), lambda measure: measure(Q, Q))

made(
    th.Robot,
    lambda: panda().with_parameters(panda().parameters * 1.1),
    lambda robot: (robot.description, robot.inverse_dynamics(Q, Q, Q), robot.parameter_names),
)
made(th.robot.Ellipsoid, lambda: panda().velocity_ellipsoid(Q))
made(th.robot.Workspace, lambda: elbow().sample_workspace(20, seed=1))
TURNED = pose_from_rpy((0.0, 0.0, 0.0), (0.3, -0.2, 1.0))[:3, :3]
value(geometry.Box, [0.4, 0.3, 0.5], [0.1, 0.2, 0.3], TURNED)
made(
    trajectory.PotentialField,
    lambda: trajectory.PotentialField(panda(), Q + 0.5, [geometry.Sphere([0.4, 0.4, 0.5], 0.1)]),
    lambda f: (f.potential(Q), f.clearance(Q), f.plan(Q, max_iterations=40).path),
)


def clik() -> Any:
    one = kinematics.CLIK(panda(), 5.0, method="damped", damping=0.1, null_space=kinematics.Posture(Q, 2.0))
    one.set_tool(pose_from_rpy((0.1, 0.0, 0.2), (0.0, 0.3, 0.0)))
    return one


def inverted(one: Any, first: int, last: int) -> Any:
    before = one.error, one.status, one.follow(task_target, Q, 0.05, 0.01).q
    return before, [one.step(Q, Q, task_target(0.1 * k)) for k in range(first, last)], one.error


goes_on(kinematics.CLIK, clik, inverted, 1, 3)
made(
    kinematics.InverseKinematics,
    lambda: kinematics.InverseKinematics(panda(), restarts=3),
    lambda one: one.solve(panda().forward_kinematics(Q + 0.1), Q),
)
value(kinematics.JointCentering, 2.0, lower=[-1.0] * 7, upper=[1.0] * 7)
value(kinematics.Posture, Q, 2.0)


@cache
def puma() -> th.Robot:
    half = 0.5 * np.pi
    return th.Robot.from_dh(
        [[0, 0, 0, 0], [0, -half, 0, 0], [0.43, 0, 0.12, 0], [0.02, -half, 0.43, 0], [0, half, 0, 0], [0, -half, 0, 0]]
    )


made(
    kinematics.SphericalWristIK,
    lambda: kinematics.SphericalWristIK(puma()),
    lambda one: one.solve(puma().forward_kinematics(np.full(6, 0.4))),
)


def run(**options: Any) -> Any:
    law = th.SlotineLi(panda(), 5.0, 5.0, adaptation=5.0)
    steps(law, 0, 5)
    target = reference.Sinusoid(np.full(7, 0.1), 0.5, center=Q)
    options = {"q0": Q, "sensors": simulation.Sensors(position_noise=1e-4, seed=3), **options}
    return th.RunSpec(panda(), law, target, 0.05, label="one", **options)


@cache
def finished() -> Any:
    return run(payloads=th.Payload(0.5, (0.0, 0.0, 0.1), time=0.02))()


RECIPES[th.RunSpec] = Recipe(run, lambda one: one(), True)
made(
    simulation.Runs,
    lambda: th.simulate_many(lambda seed: run(), th.samples.grid(seed=[1, 2]), workers=1),
    lambda runs: (runs[0], runs.table()),
)
made(
    simulation.Comparison,
    lambda: th.compare_results({"a": finished(), "b": finished()}),
    lambda c: (dict(c), c.table()),
)
made(simulation.ConditionNumbers, lambda: finished().condition_numbers())
SHAKEN = np.linspace(0.0, 4.0, 100)
SHAKING = reference.Sinusoid([0.5, 0.8], [0.7, 1.1])(SHAKEN)
value(identification.LogFile, "log.csv", columns={"t": "time", "q": ["q1", "q2"], "tau": ["tau1", "tau2"]}, unit="deg")
value(identification.Samples, t=SHAKEN, motion=identification.Motion(*SHAKING), torque=np.ones((100, 2)))


def comparison() -> Any:
    q, dq, ddq = SHAKING
    log = identification.Log(t=SHAKEN, q=q, dq=dq, ddq=ddq, tau=elbow().inverse_dynamics(q, dq, ddq), name="a")
    return identification.compare_models(elbow(), [log] * 3, {"all": {}, "link2": {"unknown": "link2"}})


made(identification.ModelComparison, comparison)
made(identification.Difference, lambda: comparison().difference("all", "link2"))


def model() -> Any:
    one = symbolic.SymbolicModel(elbow(), inertial=True)
    one.mass_matrix()
    return one


def recorded(one: Any) -> Any:
    """Go on with the recording, which what was recorded before is part of."""
    q, dq = np.full(one.n, 0.3), np.full(one.n, -0.4)
    arguments = {"q": one.q, "dq": one.dq, "inertial": one.symbols[one.parameters["inertial"].argument]}
    more = {"M": one.mass_matrix(), "C": one.coriolis_matrix()}
    function = symbolic.Function("both", arguments, more)
    given = elbow().parameters[: arguments["inertial"].size].reshape(arguments["inertial"].shape)
    return function(q, dq, given), function.operation_count, len(one.graph), str(more["M"][0, 0])


def function() -> Any:
    one = model()
    inertial = one.symbols[one.parameters["inertial"].argument]
    return symbolic.Function("M", {"q": one.q, "pi": inertial}, {"M": one.mass_matrix()})


def evaluated(one: Any) -> Any:
    arguments = [np.full(shape, 0.3) for shape in one.argument_shapes]
    return one(*arguments), one.jacobian("q")(*arguments), repr(one), one.operations, one.compiled


RECIPES[symbolic.SymbolicModel] = Recipe(model, recorded, True)
made(symbolic.Function, function, evaluated)
made(
    symbolic.Expression,
    lambda: np.sin(model().q[0]) ** 2 + 0.1,
    lambda x: (str(x), x.operands[0].operation, str(x * x)),
)

START, GOAL = np.array([0.1, 0.2, 0.3]), np.array([0.5, 0.0, 0.4])
BALL = geometry.Sphere(0.5 * (START + GOAL), 0.05)


@cache
def reaches() -> Any:
    return synthetic.minimum_jerk_reaches(30, seed=3, boundary_velocity=0.2, boundary_acceleration=1.0)


def planned(one: Any) -> Any:
    plan = one.plan(START, GOAL, 1.2)
    around = one.plan(START, GOAL, 1.2, obstacles=[BALL])
    return plan(TIMES), around(TIMES), one.replan(plan, 0.3, GOAL + 0.1)(TIMES)


def planner() -> Any:
    """Return a planner that has searched for via points, and keeps the search."""
    one = motion.HumanLikePlanner(motion.FPCA.paper(reaches()), "paper")
    planned(one)
    return one


made(motion.HumanLikePlanner, planner, planned)
made(motion.DynamicPotential, motion.DynamicPotential, lambda f: (f, f.force(START, GOAL, [BALL])))


def moved(one: Any, first: int, last: int) -> Any:
    return [one.step(0.01) for _ in range(first, last)], one.rollout(dt=0.05)


def primitive() -> Any:
    one = motion.DMP().fit(reaches()[0])
    one.reset(START, GOAL, 1.0)
    return one


def rhythm() -> Any:
    t = np.linspace(0.0, 3.0, 100)
    one = motion.RhythmicDMP(9).fit((t, np.column_stack([np.sin(5.0 * t), np.cos(5.0 * t)])))
    one.reset(goal_filter=0.1)
    one.amplitude, one.frequency = 2.0, 1.0
    return one


def turner() -> Any:
    from scipy.spatial.transform import Rotation

    s = np.linspace(0.0, 1.0, 100) ** 2
    one = motion.QuaternionDMP().fit((1.5 * s**0.5, Rotation.from_rotvec(np.outer(s, [1.1, -0.4, 0.3]))))
    one.reset()
    return one


goes_on(motion.DMP, primitive, moved)
goes_on(motion.RhythmicDMP, rhythm, moved)
goes_on(motion.QuaternionDMP, turner, moved)

BEFORE = pose_from_rpy((0.45, 0.0, 0.5), (np.pi, 0.0, 0.0))


@cache
def feed() -> Any:
    thing = interception.BeltObject(default_belt(), -0.55, 0.26)
    return interception.MeasurementModel().watch(thing, 3.5, np.random.default_rng(0))


def interceptor() -> Any:
    return interception.Interceptor(default_planner(), default_belt(), BEFORE)


def intercept(one: Any, first: int, last: int) -> Any:
    taken, available, positions = feed()
    log = []
    for t in 0.01 * np.arange(first, last):
        for k in np.flatnonzero((available > t) & (available <= t + 0.01)):
            log.append(one.measure(available[k], taken[k], positions[k]))
        log.append(one.reference(t + 0.01))
    return log, one.plans, one.phase, one.reason, one.arrival


def follow(one: Any, first: int, last: int) -> Any:
    return one(0.01 * np.arange(first, last)), one.interceptor.plans, one.interceptor.phase


def observe(one: Any, first: int, last: int) -> Any:
    taken, available, positions = feed()
    order = np.argsort(available)[first:last]
    found = [(one.update(taken[k], positions[k]), one.estimate(1.0) if one.started else None) for k in order]
    return one.updates, found


goes_on(interception.Interceptor, interceptor, intercept, 150, 300)
goes_on(interception.FollowedInterception, lambda: interceptor().follow(feed()), follow, 150, 300)
goes_on(interception.ConstantVelocityFilter, interception.ConstantVelocityFilter, observe, 45, 60)
value(interception.MeasurementModel, latency=0.1)
value(interception.GraspTolerance, 0.02)
value(throwing.Palm)
value(wrist.BaseLimits, speed=1.0)

TARGET = panda().forward_kinematics(Q) @ pose_from_rpy((0.05, 0.1, 0.1), (0.1, 0.2, 0.3))


def target_pose(t: float) -> np.ndarray:
    return TARGET


def source() -> Any:
    noise = {"position_noise": 0.003, "rotation_noise": 0.03, "jitter": 0.02, "dropout": 0.1}
    return perception.SimulatedPoseSource(target_pose, rate=30.0, latency=0.05, seed=3, **noise)


def tracker() -> Any:
    return manipulation.TargetTracker(source(), manipulation.PoseFilter(0.003, 0.03, persistence=0.5))


def tracked(one: Any, first: int, last: int) -> Any:
    return [one.update(0.02 * k) for k in range(first, last)]


def pick_loop() -> Any:
    servo = manipulation.VisualServo(panda(), speed=0.5)
    servo.tool = pose_from_rpy((0.0, 0.0, 0.2), (0.0, 0.0, 0.0))
    seen = tracker()
    tracked(seen, 0, 49)
    return manipulation.PickLoop(servo, seen, manipulation.PickMachine())


def picked(loop: Any, first: int, last: int) -> Any:
    return [loop.update(1.0 + 0.02 * k, measured(k)[1]) for k in range(first, last)]


def tool_estimator() -> Any:
    return manipulation.ToolEstimator(pose_from_rpy((0.0, 0.0, 0.25), (0.0, 0.0, 0.0)), 0.01, 0.14, 0.003, 0.035)


def look(one: Any, first: int, last: int) -> Any:
    rng = np.random.default_rng(first)
    log = []
    for k in range(first, last):
        H = pose_from_rpy(rng.normal(size=3), rng.normal(size=3))
        log.append(one.observe(0.1 * k, H @ pose_from_rpy((0.0, 0.0, 0.26), 0.03 * rng.normal(size=3)), H))
    return log, one.pose, one.covariance


def picking_controller() -> Any:
    return manipulation.PickingController(pick_loop(), th.ComputedTorque(panda(), 900.0, 60.0), period=0.012)


def controlled(one: Any, first: int, last: int) -> Any:
    return [one.step(1.0 + 0.004 * k, *measured(k)[1:], joint_target(0.0)) for k in range(first, last)]


def judge() -> Any:
    return manipulation.GraspJudge(surface=0.1, hold=0.1)


def judged(one: Any, first: int, last: int) -> Any:
    for k in range(first, last):
        one.update(0.01 * k, 0.02 * k, {"hand"} if k > 5 else {"belt"})
    return one.verdict


goes_on(manipulation.GraspJudge, judge, judged)
made(manipulation.GraspVerdict, lambda: RECIPES[manipulation.GraspJudge].make().verdict)
goes_on(manipulation.PickLoop, pick_loop, picked)
goes_on(manipulation.PickingController, picking_controller, controlled)
goes_on(manipulation.TargetTracker, tracker, tracked, 49, 70)
goes_on(manipulation.ToolEstimator, tool_estimator, look, 5, 10)
RECIPES[manipulation.VisualServo] = Recipe(lambda: pick_loop().servo, lambda one: one.step(Q, TARGET), True)

LENS = perception.PinholeCamera(320, 240, 300.0, 305.0, 160.0, 120.0)
WIDE = perception.PinholeCamera.from_field_of_view(106, 60, 1.2)
DEPTH_CAMERA = clouds.DepthCamera(WIDE, clouds.look_at((0.5, -0.7, 0.7), (0.0, 0.0, 0.0)), noise=1e-3)
CUBE = clouds.Cuboid((0.1, 0.1, 0.1), pose_from_rpy((0.0, 0.0, 0.05)))


def picture(t: float) -> Any:
    tag = pose_from_rpy((0.02 * t, 0.0, 0.4), (np.pi, 0.2, 0.0))
    return perception.render_tag(LENS, tag, size=0.08, rng=np.random.default_rng(1))


def depths(t: float) -> Any:
    return DEPTH_CAMERA.depth([CUBE], np.random.default_rng(0))


def pipeline(**options: Any) -> Any:
    return clouds.CloudPipeline(voxel=0.016, gap=0.05, **options)


def cloud_source() -> Any:
    on_table = pipeline(table=clouds.Plane((0.0, 0.0, 1.0), 0.0))
    return clouds.CloudPoseSource(depths, DEPTH_CAMERA, on_table, rate=10.0, latency=0.05, dropout=0.2)


def fiducial() -> Any:
    return perception.FiducialPoseSource(picture, LENS, size=0.08, rate=10.0, latency=0.05)


def tags_tracked(one: Any, first: int, last: int) -> Any:
    near, far = (pose_from_rpy((0.0, 0.0, 1.0), (np.pi + tilt, 0.0, 0.0)) for tilt in (0.4, -0.4))
    tags = [perception.TagDetection(0, np.zeros((4, 2)), near, 0.1, far, 0.1 + 0.05 * (-1) ** k) for k in range(last)]
    return [one.choose(0.1 * k, tags[k]) for k in range(first, last)]


def polled(one: Any, first: int, last: int) -> Any:
    return [one.poll(0.1 * k) for k in range(first, last)]


goes_on(perception.SimulatedPoseSource, source, polled, 6, 15)
goes_on(clouds.CloudPoseSource, cloud_source, polled, 2, 5)
goes_on(perception.FiducialPoseSource, fiducial, polled, 2, 4)
goes_on(perception.TagTracker, perception.TagTracker, tags_tracked, 2, 4)
value(perception.MegaPoseSource, perception.MegaPoseClient(LENS, port=1), picture, "cube", box=(0, 0, 10, 10))
value(clouds.Ball, 0.1, (0.1, 0.2, 0.3))
value(clouds.Cylinder, 0.1, 0.2)

RECIPES[mujoco.MujocoPlant] = Recipe(
    lambda: mujoco.MujocoPlant(elbow()),
    lambda plant: (plant.forward_dynamics(*np.full((3, 2), 0.2)), plant.advance(0.0, *np.full((3, 2), 0.2), 1e-3)),
    True,
)


def grasp_world() -> Any:
    box, belt = mujoco.WorldObject.box(), mujoco.ConveyorBelt.at((0.5, 0.0, 0.1), speed=0.1)
    one = mujoco.GraspWorld(elbow(), mujoco.ParallelGripper(delay=0.003), [box], [belt])
    one.reset([0.3, 0.4], {"box": (0.5, 0.0, 0.1)})
    return one


def gripped(one: Any, first: int, last: int) -> Any:
    for _ in range(first, last):
        one.step([0.1, 0.2], mujoco.HandCommand(1.0, effort=20.0))
    return one.time, one.q, one.dq, one.pose("box"), one.hand_state, one.touching("box"), one.belt_speed()


goes_on(mujoco.GraspWorld, grasp_world, gripped, 5, 10)


def looking() -> clouds.DepthCamera:
    lens = perception.PinholeCamera.from_field_of_view(106, 60, 1.2)
    return clouds.DepthCamera(lens, clouds.look_at((1.2, 0.0, 0.7), (0.5, 0.0, 0.0)))


def depth() -> Any:
    scene = [clouds.Cuboid((0.8, 0.8, 0.02), pose_from_rpy((0.5, 0.0, -0.01)))]
    scene.append(clouds.Cuboid((0.07, 0.05, 0.08), pose_from_rpy((0.5, 0.1, 0.04))))
    return looking().depth(scene, np.random.default_rng(0))


def viewed(one: Any, first: int, last: int) -> Any:
    for k in range(first, last):
        one.feel(0.1 * k, Q, 0.0)
    return one.see(0.1 * first, depth()).center


def reached(one: Any, first: int, last: int) -> Any:
    torques = [one.step(0.002 * k, Q, np.zeros(7)) for k in range(first, last)]
    one.see(0.002 * first, depth())
    return torques, one.over


USE, LOW, HIGH = (40.0, 0.35, 0.95, 0.02, mujoco.ParallelGripper().covers), (0.3, -0.4, -0.1), (0.7, 0.4, 0.3)
HAND = manipulation.HandUse(*USE)
value(manipulation.HandUse, *USE)
value(manipulation.ArmPlace, np.zeros(3), Q, 0.5)
goes_on(manipulation.GraspView, partial(manipulation.GraspView, panda(), HAND, looking(), LOW, HIGH), viewed, 3, 6)
goes_on(
    manipulation.GraspLoop,
    partial(
        manipulation.GraspLoop, panda(), HAND, looking(), interception.Belt((0.5, 0.0, 0.05), LOW, HIGH), Q,
        default_planner(),
    ),
    reached,
)  # fmt: skip
goes_on(
    manipulation.HandPick,
    lambda: manipulation.HandPick(panda(), HAND, looking(), LOW, HIGH, th.ComputedTorque(panda(), 900.0, 60.0)),
    reached,
)
value(
    mujoco.HandRun,
    manipulation.GraspVerdict(True, None, 0.1, 1.0, 2.0),
    "lifted",
    frozenset({"belt"}),
    1.0,
    np.zeros(3),
    2.0,
)
value(interception.RunSummary, True, "grasped", 3, 0, 5.0, 0.1, 0.2, 0.3, 0.01, 0.9)
value(mujoco.HandCommand, 1.0, effort=30.0)
value(mujoco.HandThrow, 0.5, 0.46, 0.51, ObjectState(np.ones(3), np.ones(3)), False, 1e-3, np.zeros(3), np.zeros(2))
value(mujoco.LearnedThrow, None, manipulation.HandOpening(delay=0.1), 30.0, ())

LAW = {
    "name": "SlotineLi",
    "Lambda": 10,
    "K_d": [20] * 4 + [2, 2, 1],
    "adaptation": {"gradient": {"Gamma": 5, "unknown": "link7"}},
}


def loop() -> Any:
    return realtime.ControlLoop({"robot": "panda", "controller": LAW, "hold": {"rate": 100.0}})


def answered(one: Any, first: int, last: int) -> Any:
    log = []
    for k in range(first, last):
        now = NOON + k * MS
        log.append(one.state(now, now + MS // 5, one.joint_names, *measured(k)[1:]))
        if k > 10 and k % 5 == 0:
            ahead = [joint_target(1e-3 * k + t) for t in (0.0, 0.02)]
            rows = (np.array(part) for part in zip(*ahead, strict=True))
            log.append(one.references.trajectory(now, one.joint_names, np.array([0.0, 0.02]), *rows))
    return [
        entry._replace(computing=0.0, latency=0.0) if entry is not None and hasattr(entry, "_replace") else entry
        for entry in log
    ], one.mode


def advanced(one: Any, first: int, last: int) -> Any:
    log = []
    for k in range(first, last):
        log.append(one.advance(NOON + k * MS))
        one.command(log[-1].stamp, NOON + k * MS + MS // 5, one.joint_names, np.full(7, 0.5))
    return log


def counted(one: Any, first: int, last: int) -> Any:
    for k in range(first, last):
        one.add(1e-3 * (k % 7))
    return one


def times() -> Any:
    return counted(realtime.Quantiles(), 0, 50)


goes_on(realtime.ControlLoop, loop, answered, 50, 80)
goes_on(realtime.SimulatedRobot, lambda: realtime.SimulatedRobot({"robot": "panda", "q0": Q.tolist()}), advanced)
goes_on(realtime.Quantiles, realtime.Quantiles, counted, 50, 60)


def safety() -> Any:
    wall = geometry.HalfSpace([0.0, 0.0, -1.0], [0.0, 0.0, 1.0])
    limits = realtime.SafetyLimits.of(panda(), torque_rate=500.0, obstacles=[wall])
    observer = control.MomentumObserver(panda(), 20.0, detector=control.ContactDetector(50.0))
    return realtime.Safety(panda(), limits, torque_step=1.0, observer=observer)


def checked(one: Any, first: int, last: int) -> Any:
    log = []
    for k in range(first, last):
        t, q, dq = measured(k)
        log.append((one.check(t, q, dq), one.limit(t, 40.0 * np.sin(q), 3.0 * np.cos(q))))
    return log


goes_on(realtime.Safety, safety, checked, 20, 60)
value(realtime.DriveRun, realtime.Reason.contact, t=1.0, cycles=1001, dropped={"late": 2}, period=times())
value(realtime.DriveState, 10**9, [0.1, 0.2], [0.0, 0.0], [1.0, 2.0])
value(realtime.Cycle, 0.1, np.ones(2), np.zeros(2), np.ones(2), np.zeros(2))
value(realtime.LoopLog, *np.ones((7, 2)), (None, None), {"error": np.zeros((2, 2))})
value(realtime.LoopStatistics, 1.0, 1001, 2, 1, 0, *(times() for _ in range(3)), {"core": "on"}, 0, 1, 3, 4, 0.1,
      7, realtime.Mode.holding, realtime.Reason.no_reference, 0, True, True, 0)  # fmt: skip
