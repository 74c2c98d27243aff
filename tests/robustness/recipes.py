"""One object of every public class, in the middle of its work, and what it computes next."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache, partial
from types import SimpleNamespace
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
    papers,
    parallel,
    perception,
    realtime,
    recordings,
    reference,
    simulation,
    symbolic,
    trajectory,
)
from thunder_py.manipulation import interception, throwing, wrist
from thunder_py.manipulation.interception.runs import default_belt, default_planner
from thunder_py.perception import clouds
from thunder_py.recordings import metrics, processing, synthetic
from thunder_py.robot import description
from thunder_py.spatial import pose_from_rpy

Q = np.array([0.1, -0.4, 0.2, -2.0, 0.1, 1.7, 0.6])
WRIST = wrist.ElasticWrist(I=0.012, k=5.0, m=0.7, r_c=0.09, c=0.03)


@dataclass
class Recipe:
    """How to make an object, and how to use it.

    Parameters
    ----------
    make : callable
        Returns the object.
    use : callable, optional
        Given the object; returns what it computes. Default the object itself, all of whose parts are compared.
    moves : bool
        Does using it change it?
    """

    make: Callable[[], Any]
    use: Callable[[Any], Any] = lambda thing: thing
    moves: bool = False


RECIPES: dict[type, Recipe] = {}


def value(cls: type, *arguments: Any, **options: Any) -> None:
    """Add a class whose objects are what they hold."""
    RECIPES[cls] = Recipe(partial(cls, *arguments, **options))


def made(cls: type, make: Callable[[], Any], use: Callable[[Any], Any] | None = None, *, moves: bool = False) -> None:
    """Add a class."""
    RECIPES[cls] = Recipe(make, moves=moves) if use is None else Recipe(make, use, moves)


@cache
def panda() -> th.Robot:
    return th.Robot.load("panda")


@cache
def elastic_panda() -> th.Robot:
    return panda().replace(elastic=[th.robot.Elastic(joint=j + 1, K=(800.0,), Mm=0.1) for j in range(7)])


@cache
def elbow() -> th.Robot:
    return th.Robot.load("elbow")


# --- control ----------------------------------------------------------------------------------------------------------


def measured(k: int) -> tuple[float, np.ndarray, np.ndarray]:
    """Time, positions and velocities that come from somewhere."""
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
    """Torque, status and signals; a measurement that is lost on the way."""
    elastic = getattr(law, "sees_motors", False)  # not of laws written in Python
    joint = smooth_target if elastic else joint_target
    target = joint if isinstance(law, th._core.JointController) else task_target
    log = []
    for k in range(first, last):
        t, q, dq = measured(k)
        if k % 20 == 13:
            dq = np.full(7, np.nan)
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

    made(cls, make, use, moves=True)


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
law(
    th.CartesianComputedTorque,
    100.0,
    20.0,
    2.0,
    obstacles=[geometry.Sphere([0.4, 0.2, 0.5], 0.05)],
    rows=["x", "y", "z"],
)
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


def estimates(filter: Any, first: int, last: int) -> list[Any]:
    return [filter.step(1e-3, SAMPLES[k] if k % 15 else np.full(7, np.nan)) for k in range(first, last)]


def estimator(cls: type, *arguments: Any) -> None:
    def make() -> Any:
        one = cls(*arguments)
        estimates(one, 1, 18)
        return one

    made(cls, make, lambda one: (estimates(one, 18, 40), one.apply(1e-3, SAMPLES)), moves=True)


estimator(control.FirstOrderDerivative, 30.0)
estimator(control.ButterworthDerivative, 30.0)
estimator(control.SavitzkyGolayDerivative, 9)


def observed(observer: Any, first: int, last: int) -> list[Any]:
    """Estimates, contacts and statuses; a state that is lost on the way."""
    log = []
    for k in range(first, last):
        t, q, dq = measured(k)
        tau = 5.0 * np.sin(0.3 * k + np.arange(7.0))
        log.append(
            (observer.step(t, q if k % 20 != 13 else np.full(7, np.nan), dq, tau), observer.contact, observer.status)
        )
    return log


def observing(cls: type, **options: Any) -> None:
    def make() -> Any:
        one = cls(panda(), 40.0, detector=control.ContactDetector(2.0), **options)
        observed(one, 0, 14)  # a missing state comes last
        return one

    made(cls, make, lambda one: observed(one, 14, 40), moves=True)


observing(control.MomentumObserver, order=2, damping_ratio=0.7)
observing(control.EnergyObserver)
value(control.ContactDetector, [1.0, 2.0], samples=2, release=0.3)
value(control.GradientAdaptation, 5.0, lower=-1.0)
value(control.NaturalAdaptation, 2.0, [1.0, 2.0])
made(control.Tuning, lambda: control.tune(panda(), th.SlotineLi, period=1e-3))
value(control.LengthAdaptation, 2.0, unknown="tool_z", gamma=1.0)
made(control.ExactPosition, lambda: control.ExactPosition(panda()), lambda measure: measure(Q, Q))
value(control.Derivatives, Q, Q)
value(control.DCMotor, [0.1] * 3, 0.2, 0.3, 0.4)
made(control.Status, lambda: control.Status.saturated)
made(
    control.BacksteppingTerms,
    lambda: th.Backstepping(panda(), 5.0, 10.0, 10.0, adaptation=5.0).evaluate(Q, Q, task_target(0.0)),
)
made(
    control.AdaptiveJacobianTerms,
    lambda: th.AdaptiveJacobianBackstepping(
        panda(), 5.0, 10.0, 10.0, adaptation=None, lengths=None, measure=control.ExactPosition(panda())
    ).evaluate(Q, Q, task_target(0.0)),
)

# --- robots and descriptions ------------------------------------------------------------------------------------------

made(
    th.Robot,
    lambda: panda().with_parameters(panda().parameters * 1.1),
    lambda robot: (robot.description, robot.inverse_dynamics(Q, Q, Q), robot.parameter_names),
)
made(description.RobotDescription, lambda: elbow().description)
made(th.robot.Ellipsoid, lambda: panda().velocity_ellipsoid(Q))
made(th.robot.InverseDynamicsDerivatives, lambda: panda().inverse_dynamics_derivatives(Q, Q, Q))
made(th.robot.ForwardDynamicsDerivatives, lambda: panda().forward_dynamics_derivatives(Q, Q, Q))
made(th.robot.InverseDynamicsSecondDerivatives, lambda: panda().inverse_dynamics_second_derivatives(Q, Q, Q))
made(th.robot.ForwardDynamicsSecondDerivatives, lambda: panda().forward_dynamics_second_derivatives(Q, Q, Q))
made(
    th.robot.UnknownParameters,
    lambda: panda().unknown("link7"),
    lambda unknown: (unknown.names, unknown.parameters, unknown.regressor(Q, Q, Q)),
)
made(
    th.robot.BaseParameters,
    lambda: elbow().base_parameters(),
    lambda base: (base.independent, base.mapping, base.condition_number, base.names),
)
made(trajectory.MinimumJerk, lambda: trajectory.minimum_jerk([0.0, 1.0], [1.0, 3.0], 2.0))
made(description.Limits, lambda: panda().limits)
value(description.Friction, terms=("viscous",), coefficients=np.ones((3, 1)))
value(description.Rotor, joint=2, inertia=0.1, gear_ratio=50.0)
value(description.Elastic, joint=3, K=(5.0,), D=(0.1,), Mm=0.2)

# --- references and trajectories --------------------------------------------------------------------------------------

TIMES = np.linspace(-0.1, 2.0, 13)


def followed(source: Any) -> Any:
    return source, source(0.3), source(TIMES)


made(reference.SetPoint, lambda: reference.SetPoint(Q), followed)
made(reference.Sinusoid, lambda: reference.Sinusoid(0.1 * Q, 0.5, center=Q), followed)
made(reference.SetPose, lambda: reference.SetPose(panda().forward_kinematics(Q)), followed)
made(
    reference.Lissajous, lambda: reference.Lissajous([0.1, 0.2, 0.1], [1.0, 2.0, 3.0], center=[0.4, 0.0, 0.5]), followed
)
value(th.robot.ElasticMotion, Q, Q, Q)
value(reference.JointReference, Q, Q, Q)
value(reference.SmoothJointReference, Q, Q, Q, Q, Q)
made(reference.TaskReference, lambda: task_target(0.3))
made(
    trajectory.JointTrajectory,
    lambda: trajectory.JointTrajectory([0.0, 1.0, 2.0], np.arange(24.0).reshape(4, 2, 3)),
    followed,
)
made(
    trajectory.TimeOptimalTrajectory,
    lambda: trajectory.time_optimal(panda(), [Q, Q + 0.2], cells=8),
    lambda motion: (followed(motion), motion.torque(0.1), motion.active(0.1)),
)
made(
    trajectory.FourierSeries,
    lambda: trajectory.FourierSeries(np.ones((3, 2)), np.ones((3, 2)), [0.0] * 3, 0.3),
    followed,
)
made(
    trajectory.TimingLaw,
    lambda: trajectory.s_curve(v_max=0.5, a_max=2.0, j_max=8.0),
    lambda law: (law, law(TIMES), law.duration),
)
made(trajectory.TimingState, lambda: trajectory.quintic(1.0)(TIMES))
UP = [0.0, 0.0, 1.0]
made(trajectory.Line, lambda: trajectory.Line([0.0] * 3, [0.3, 0.1, 0.2], 1.0), followed)
made(
    trajectory.Arc, lambda: trajectory.Arc([0.0] * 3, [0.1, 0.1, 0.0], [0.2, 0.0, 0.0], trajectory.cubic(1.0)), followed
)
made(trajectory.Circle, lambda: trajectory.Circle([0.1, 0.0, 0.0], [0.0] * 3, UP, 1.5), followed)


def turning() -> Any:
    return trajectory.Orientation.through([np.eye(3), pose_from_rpy((0.0, 0.0, 0.0), (0.3, -0.2, 1.0))[:3, :3]], 1.0)


made(trajectory.Orientation, turning)
made(trajectory.RotationSegment, lambda: trajectory.RotationSegment([0.1, 0.2, 0.3], turning()), followed)
made(
    trajectory.Path,
    lambda: trajectory.Path(
        [trajectory.Line([0.0] * 3, [0.3, 0.1, 0.2], 1.0), trajectory.Line([0.3, 0.1, 0.2], [0.3, 0.4, 0.2], 0.7)],
        anticipation=0.2,
        orientation=turning(),
    ),
    followed,
)
POINTS = np.random.default_rng(0).normal(size=(5, 3))


def near(obstacle: Any) -> Any:
    return obstacle, obstacle.nearest(POINTS)


made(geometry.Sphere, lambda: geometry.Sphere([0.4, 0.3, 0.5], 0.15), near)
made(geometry.Box, lambda: geometry.Box([0.4, 0.3, 0.5], [0.1, 0.2, 0.3], turning().start), near)
made(geometry.Capsule, lambda: geometry.Capsule([0.3, 0.35, 0.2], [0.35, 0.4, 0.7], 0.08), near)
made(geometry.HalfSpace, lambda: geometry.HalfSpace([0.0, 0.25, 0.0], [0.1, -2.0, 0.3]), near)


def field() -> Any:
    return trajectory.PotentialField(panda(), Q + 0.5, [geometry.Sphere([0.4, 0.4, 0.5], 0.1)])


made(trajectory.PotentialField, field, lambda f: (f.potential(Q), f.clearance(Q), f.plan(Q, max_iterations=40).path))
made(trajectory.PlanStatus, lambda: trajectory.PlanStatus.reached)
made(trajectory.Plan, lambda: field().plan(Q, max_iterations=200), lambda plan: (plan, plan.clearance))

# --- kinematics -------------------------------------------------------------------------------------------------------


def upwards(t: float, q: np.ndarray) -> np.ndarray:
    return 0.1 * np.cos(t + q)


def puma() -> th.Robot:
    half = 0.5 * np.pi
    return th.Robot.from_dh(
        [[0, 0, 0, 0], [0, -half, 0, 0], [0.43, 0, 0.12, 0], [0.02, -half, 0.43, 0], [0, half, 0, 0], [0, -half, 0, 0]]
    )


def clik() -> Any:
    one = kinematics.CLIK(panda(), 5.0, method="damped", damping=0.1, null_space=kinematics.Posture(Q, 2.0))
    one.set_tool(pose_from_rpy((0.1, 0.0, 0.2), (0.0, 0.3, 0.0)))
    one.step(Q, Q, task_target(0.0))
    return one


def inverted(one: Any) -> Any:
    before = one.error, one.status
    return before, one.step(Q, Q, task_target(0.1)), one.error, one.follow(task_target, Q, 0.05, 0.01).q


made(kinematics.CLIK, clik, inverted, moves=True)
made(kinematics.CLIKResult, lambda: clik().follow(task_target, Q, 0.05, 0.01))
made(kinematics.WrenchEstimate, lambda: kinematics.estimate_wrench(panda(), Q, Q))
made(
    kinematics.InverseKinematics,
    lambda: kinematics.InverseKinematics(panda(), restarts=3),
    lambda one: one.solve(panda().forward_kinematics(Q + 0.1), Q),
)
made(
    kinematics.IKSolution,
    lambda: kinematics.InverseKinematics(panda(), restarts=3).solve(panda().forward_kinematics(Q)),
)
value(kinematics.JointCentering, 2.0, lower=[-1.0] * 7, upper=[1.0] * 7)
value(kinematics.Manipulability, 0.5)
value(kinematics.Posture, Q, 2.0)
made(
    kinematics.SphericalWristIK,
    lambda: kinematics.SphericalWristIK(puma()),
    lambda one: one.solve(puma().forward_kinematics(np.full(6, 0.4))),
)

# --- simulation and results -------------------------------------------------------------------------------------------


def run(**options: Any) -> Any:
    law = th.SlotineLi(panda(), 5.0, 5.0, adaptation=5.0)
    steps(law, 0, 5)
    target = reference.Sinusoid(np.full(7, 0.1), 0.5, center=Q)
    options = {"q0": Q, "sensors": simulation.Sensors(position_noise=1e-4, seed=3), **options}
    return th.RunSpec(panda(), law, target, 0.05, label="one", **options)


@cache
def finished() -> Any:
    return run(payloads=th.Payload(0.5, (0.0, 0.0, 0.1), time=0.02))()


made(th.RunSpec, run, lambda one: one(), moves=True)
made(
    simulation.Runs,
    lambda: th.simulate_many(lambda seed: run(), th.samples.grid(seed=[1, 2]), workers=1),
    lambda runs: (runs[0], runs.table()),
)
made(th.SimulationResult, finished)
made(
    simulation.Comparison,
    lambda: th.compare_results({"a": finished(), "b": finished()}),
    lambda c: (dict(c), c.table()),
)
made(simulation.ConditionNumbers, lambda: finished().condition_numbers())
made(simulation.EnergyBalance, lambda: finished().energy())
made(simulation.Lyapunov, lambda: finished().lyapunov(th.SlotineLi(panda(), 5.0, 5.0, adaptation=5.0)))
made(simulation.Table, lambda: th.compare_results({"a": finished()}).table())
value(th.Sensors, position_noise=1e-3, velocity=control.ButterworthDerivative(30.0), seed=4)
value(th.Actuators, delay=0.002, lag=0.01)
value(th.Payload, 0.5, (0.0, 0.0, 0.1))
value(th.ExternalWrench, [1.0, 2.0, 3.0, 0.0, 0.0, 0.0], stop=1.0)
value(simulation.ExternalTorque, [1.0, 2.0, 3.0], stop=1.0)

value(parallel.Outcome, 3, {"rmse": 0.1}, None, 1, 0.2)


# --- identification ---------------------------------------------------------------------------------------------------


@cache
def exciting() -> Any:
    limits = identification.MotionLimits.of(elbow(), fraction=0.5)
    return identification.optimize_excitation(elbow(), 4.0, 2, limits=limits, restarts=1, iterations=3)


def shaken() -> Any:
    t = np.linspace(0.0, 4.0, 400)
    return t, exciting().reference(t)


def identified() -> Any:
    t, motion = shaken()
    return identification.identify(elbow(), t, *motion, elbow().inverse_dynamics(*motion))


made(identification.Excitation, exciting)
made(identification.MotionLimits, lambda: exciting().limits)
made(identification.Conditioning, lambda: exciting().condition)
made(identification.Identification, identified)
made(
    identification.AdaptationConvergence,
    lambda: identification.adaptation_convergence(
        elbow(), elbow().replace(inertial=0.5 * elbow().inertial), exciting().reference, 0.2, 0.1
    ),
)
value(identification.Log, t=np.arange(5.0), q=np.zeros((5, 2)), tau=np.ones((5, 2)), name="morning")
value(identification.LogFile, "log.csv", columns={"t": "time", "q": ["q1", "q2"], "tau": ["tau1", "tau2"]}, unit="deg")
made(
    identification.Samples,
    lambda: identification.Samples(t=shaken()[0], motion=shaken()[1], torque=np.ones((400, 2))),
)
made(identification.Motion, lambda: identification.differentiate(shaken()[0], shaken()[1].q, 5.0))


@cache
def shaken_log(payload: float = 0.0) -> Any:
    (t, motion), load = shaken(), th.Payload(payload, com=(0.1, 0.0, 0.0), link=2)
    tau = load.added_to(elbow()).inverse_dynamics(*motion)
    return identification.Log(t=t, q=motion.q, dq=motion.dq, ddq=motion.ddq, tau=tau, name="a")


@cache
def shaken_positions() -> Any:
    log = shaken_log()
    return identification.Log(t=log.t, q=log.q, tau=log.tau + rubbing().torque(log.dq))


def rubbing() -> Any:
    return identification.FrictionModel(viscous=[[0.5], [0.5]], coulomb=[[1.0, 1.5], [0.5, 0.5]])


made(identification.FrictionModel, rubbing, lambda one: one.torque([0.1, -0.2]))
made(identification.FrictionPlant, lambda: rubbing().plant(elbow()))
made(
    identification.FrictionColumns,
    lambda: identification.FrictionColumns(("coulomb", "viscous"), ("joint1", "joint2"), 0.01),
)
made(identification.SensorCalibration, lambda: identification.SensorCalibration(2, torque_gain=[1.1, 0.9]))
made(
    identification.ModelIdentification,
    lambda: identification.identify_model(elbow(), shaken_positions(), friction="coulomb", cutoff=5.0),
)
made(identification.PayloadIdentification, lambda: identification.identify_payload(elbow(), shaken_log(0.5), link=2))
made(identification.Prediction, lambda: identified().predict(shaken_log()))
made(identification.Errors, lambda: identified().errors(shaken_log()))
made(identification.CrossValidation, lambda: identification.cross_validate(elbow(), [shaken_log()] * 2))
made(
    identification.ModelComparison,
    lambda: identification.compare_models(elbow(), [shaken_log()] * 3, {"all": {}, "link2": {"unknown": "link2"}}),
)
made(
    identification.Difference,
    lambda: RECIPES[identification.ModelComparison].make().difference("all", "link2"),
)
made(
    identification.PersistentExcitation,
    lambda: identification.persistent_excitation(elbow(), *shaken()[1], shaken()[0], 1.0, windows=5),
)

# --- symbolic ---------------------------------------------------------------------------------------------------------


def model(**options: Any) -> Any:
    one = symbolic.SymbolicModel(elbow(), inertial=True, **options)
    one.mass_matrix()
    return one


def recorded(one: Any) -> Any:
    """Goes on with the recording, which what was recorded before is part of."""
    q, dq = np.full(one.n, 0.3), np.full(one.n, -0.4)
    arguments = {"q": one.q, "dq": one.dq, "inertial": one.symbols[one.parameters["inertial"].argument]}
    more = {"M": one.mass_matrix(), "C": one.coriolis_matrix()}
    function = symbolic.Function("both", arguments, more)
    given = elbow().parameters[: arguments["inertial"].size].reshape(arguments["inertial"].shape)
    return function(q, dq, given), function.operation_count, len(one.graph), str(more["M"][0, 0])


def function() -> Any:
    one = model()
    return symbolic.Function(
        "M", {"q": one.q, "pi": one.symbols[one.parameters["inertial"].argument]}, {"M": one.mass_matrix()}
    )


def evaluated(one: Any) -> Any:
    arguments = [np.full(shape, 0.3) for shape in one.argument_shapes]
    return one(*arguments), one.jacobian("q")(*arguments), repr(one), one.operations, one.compiled


made(symbolic.SymbolicModel, model, recorded, moves=True)
made(symbolic.Function, function, evaluated)
made(
    symbolic.Expression,
    lambda: np.sin(model().q[0]) ** 2 + 0.1,
    lambda x: (str(x), x.operands[0].operation, str(x * x)),
)

# --- motion -----------------------------------------------------------------------------------------------------------


@cache
def reaches() -> Any:
    return synthetic.minimum_jerk_reaches(30, seed=3, boundary_velocity=0.2, boundary_acceleration=1.0)


@cache
def planner() -> Any:
    return motion.HumanLikePlanner(motion.FPCA(shrinkage=0.1, alignment="none").fit(reaches()))


START, GOAL = np.array([0.1, 0.2, 0.3]), np.array([0.5, 0.0, 0.4])
BALL = geometry.Sphere(0.5 * (START + GOAL), 0.05)


def planned(one: Any) -> Any:
    plan = one.plan(START, GOAL, 1.2)
    around = one.plan(START, GOAL, 1.2, obstacles=[BALL])
    return plan(TIMES), around(TIMES), one.replan(plan, 0.3, GOAL + 0.1)(TIMES)


def used_planner() -> Any:
    """A planner that has searched for via points, and keeps the search."""
    one = motion.HumanLikePlanner(motion.FPCA.paper(reaches()), "paper")
    planned(one)
    return one


def joint_plan() -> Any:
    draw = partial(np.random.default_rng(4).normal, size=(12, 2, 7))
    ends = zip(Q + 0.3 * draw(), 0.1 * draw(), strict=True)
    motions = [trajectory.minimum_jerk(*x, 1.2, start_velocity=v[0], goal_velocity=v[1]) for x, v in ends]
    angles = np.array([one.position(np.linspace(0.0, 1.2, 50)) for one in motions])
    fpca = motion.FPCA(shrinkage=0.2, alignment="none").fit(angles, dofs=[f"q{i}" for i in range(7)])
    return motion.HumanLikePlanner(fpca).plan(Q, Q + 0.3, 1.2)


def condition() -> Any:
    kinds = [(0.0, START), (1.2, GOAL), (0.5, [0.3, 0.25, 0.5])]
    return planner().condition([motion.Constraint(t, "position", x) for t, x in kinds], 1.2)


made(motion.HumanLikePlanner, used_planner, planned)
made(motion.HumanLikePlan, lambda: planner().plan(START, GOAL, 1.2), followed)
made(motion.HumanLikeJointPlan, joint_plan, followed)
made(
    motion.ConditionedPlan,
    condition,
    lambda c: ([one(TIMES) for one in c.sample(2, seed=1)], c.plan()(TIMES), c.tube(TIMES[1:8])),
)
value(motion.Constraint, 0.5, "position", START)
made(motion.PathStatus, lambda: motion.PathStatus.via)
made(motion.PlannedBatch, lambda: planner().plan_many(START + 0.1 * POINTS, GOAL, 1.0))
made(
    motion.ViaSearch,
    motion.ViaSearch,
    lambda via: (via, planner().plan(START, GOAL, 1.2, obstacles=[BALL], via=via)(TIMES)),
)
value(motion.MovingObstacle, BALL, [0.1, 0.0, 0.2])
made(motion.Clearance, lambda: motion.clearance(planner().plan(START, GOAL, 1.2).path, [BALL]))
made(
    motion.FPCA,
    lambda: motion.FPCA(joint=True, alignment="none", shrinkage=0.0).fit(reaches()),
    lambda fpca: (fpca.transform(reaches()), fpca.mean_coefficients_, fpca.basis_),
)
made(motion.SplineBasis, lambda: motion.SplineBasis(9), lambda basis: basis.evaluate(TIMES[1:5]))
made(recordings.MotionSet, reaches)
made(recordings.Trial, lambda: reaches()[0])


def primitive() -> Any:
    one = motion.DMP().fit(reaches()[0])
    one.reset(START, GOAL, 1.0)
    for _ in range(20):
        one.step(0.01)
    return one


def moved(one: Any) -> Any:
    log = [one.step(0.01) for _ in range(20)]
    return log, one.rollout(dt=0.05)


made(motion.DMP, primitive, moved, moves=True)


def rhythm() -> Any:
    t = np.linspace(0.0, 3.0, 100)
    one = motion.RhythmicDMP(9).fit((t, np.column_stack([np.sin(5.0 * t), np.cos(5.0 * t)])))
    one.reset(goal_filter=0.1)
    one.amplitude, one.frequency = 2.0, 1.0
    return one


made(motion.RhythmicDMP, rhythm, moved, moves=True)


def turner() -> Any:
    from scipy.spatial.transform import Rotation

    s = np.linspace(0.0, 1.0, 100) ** 2
    one = motion.QuaternionDMP().fit((1.5 * s**0.5, Rotation.from_rotvec(np.outer(s, [1.1, -0.4, 0.3]))))
    one.reset()
    for _ in range(20):
        one.step(0.01)
    return one


made(motion.QuaternionDMP, turner, moved, moves=True)
made(motion.DynamicPotential, motion.DynamicPotential, lambda f: (f, f.force(START, GOAL, [BALL])))
made(motion.ProMP, lambda: motion.ProMP(5).fit(reaches()), lambda p: (p, p.sample(2, seed=1)))
made(metrics.JerkSummary, lambda: metrics.jerk_summary(reaches()[0], cutoff=20.0))
made(metrics.PowerLaw, lambda: metrics.power_law(reaches()[0], cutoff=20.0))
made(processing.NormalizedTrial, lambda: processing.normalize_time(reaches()[0]))
made(
    synthetic.SigmaLognormal,
    lambda: synthetic.SigmaLognormal(np.array([[0.0, 0.2, -1.0, 0.3, 0.0, 0.4]]), np.zeros(3), np.eye(3)[:2], 1.0),
    lambda one: (one, one.position(TIMES)),
)

# --- interception -----------------------------------------------------------------------------------------------------

CAMERA = interception.MeasurementModel()
BEFORE = pose_from_rpy((0.45, 0.0, 0.5), (np.pi, 0.0, 0.0))


def feed() -> Any:
    thing = interception.BeltObject(default_belt(), -0.55, 0.26)
    return CAMERA.watch(thing, 3.5, np.random.default_rng(0))


def intercept(one: Any, first: float, last: float) -> Any:
    taken, available, positions = feed()
    log = []
    for t in np.arange(first, last, 0.01):
        for k in np.flatnonzero((available > t) & (available <= t + 0.01)):
            log.append(one.measure(available[k], taken[k], positions[k]))
        log.append(one.reference(t + 0.01))
    return log, one.plans, one.phase, one.reason, one.arrival


def interceptor(until: float = 1.5) -> Any:
    one = interception.Interceptor(default_planner(), default_belt(), BEFORE)
    intercept(one, 0.0, until)
    return one


def filtered() -> Any:
    one = interception.ConstantVelocityFilter()
    observe(one, 0, 45)
    return one


def observe(one: Any, first: int, last: int) -> Any:
    taken, available, positions = feed()
    order = np.argsort(available)[first:last]
    return [(one.update(taken[k], positions[k]), one.estimate(1.0) if one.started else None) for k in order]


def followed_interception() -> Any:
    one = interception.Interceptor(default_planner(), default_belt(), BEFORE).follow(feed())
    one(np.arange(0.0, 1.5, 0.01))
    return one


made(interception.Interceptor, interceptor, lambda one: intercept(one, 1.5, 3.0), moves=True)
made(
    interception.FollowedInterception,
    followed_interception,
    lambda one: (one(np.arange(1.5, 3.0, 0.01)), one.interceptor.plans, one.interceptor.phase),
    moves=True,
)
made(interception.ConstantVelocityFilter, filtered, lambda one: (one.updates, observe(one, 45, 60)), moves=True)
made(interception.PlannedArrival, lambda: interceptor().plans[0])
made(interception.Belt, default_belt)
made(interception.Feed, feed)
value(interception.BeltObject, default_belt(), -0.55, 0.26)
value(interception.MeasurementModel, latency=0.1)
value(interception.Conveyor, speed=0.2)
value(interception.GraspTolerance, 0.02)
value(interception.InterceptionOptions, interception.VariableStructure(0.02))
value(interception.SingleShot)
value(interception.TimeAugmentation, 0.4)
value(interception.VariableStructure, 0.02)
made(
    interception.Grasp,
    lambda: interception.evaluate_grasp(
        [0.0, 0.1], np.zeros((2, 3)), np.zeros((2, 3)), interception.BeltObject(default_belt(), -0.5, 0.2)
    ),
)

# --- throwing ---------------------------------------------------------------------------------------------------------


@cache
def throw_motion() -> Any:
    tool = np.eye(4)
    tool[:3, 3] = [0.13, 0.0, 0.06]
    robot = th.Payload(0.83, (0.1, 0.0, 0.04)).added_to(panda().replace(tool=tool))
    limits = identification.MotionLimits.of(
        robot, acceleration=0.9 * np.array([15.0, 7.5, 10.0, 12.5, 15.0, 20.0, 20.0])
    )
    return throwing.plan_throw(robot, [1.1, 0.1, -0.4], limits=limits)


made(throwing.ThrowMotion, throw_motion, lambda one: (one, one.joints(TIMES)))
made(throwing.Release, lambda: throw_motion().release)
made(
    throwing.ThrowResult,
    lambda: throwing.throw(
        throw_motion(), th.ComputedTorque(throw_motion().robot, 400.0, 40.0), plant=throw_motion().robot
    ),
)
made(throwing.Flight, lambda: throwing.simulate_flight([0.0, 0.0, 1.0], [1.0, 0.0, 2.0], drag=0.1))
made(throwing.Landing, lambda: throwing.landing([0.0, 0.0, 1.0], [1.0, 0.0, 2.0]))
made(throwing.LandingSensitivity, lambda: throwing.landing_sensitivity([0.0, 0.0, 1.0], [1.0, 0.0, 2.0]))
value(throwing.HandOpening, delay=0.01)
value(throwing.Palm)
value(throwing.ReleaseNoise, time=0.01)

# --- elastic wrist ----------------------------------------------------------------------------------------------------

MOUNT = np.eye(4)
MOUNT[:3, :3] = [[0, 0, 1], [0, -1, 0], [1, 0, 0]]


@cache
def base_motion() -> Any:
    hand = wrist.with_rigid_hand(panda(), WRIST, mount=MOUNT)
    acceleration = [15.0, 7.5, 10.0, 12.5, 15.0, 20.0, 20.0]
    start = [0.0, -0.3, 0.0, -2.0, 0.0, 1.8, 0.8]
    return wrist.optimize_base_motion(hand, [1.0, 0.0, 0.0], acceleration_limits=acceleration, q_start=start)


def motor() -> Any:
    return wrist.MotorMotion(breaks=[0.0, 0.1, 0.2], start=[-0.5, 0.5], slope=[0.0, 2.0])


def at_rest(t: Any) -> reference.JointReference:
    return reference.JointReference(np.zeros(6), np.zeros(6), np.zeros(6))


def arm_throw() -> Any:
    return wrist.ArmThrow(panda(), WRIST, base_motion(), MOUNT, 0.15)


value(wrist.ElasticWrist, I=0.012, k=5.0, m=0.7, r_c=0.09)
made(wrist.WristOscillator, WRIST.oscillator)
made(wrist.WristThrow, lambda: wrist.one_switch(WRIST, 0.3))
value(wrist.BaseLimits, speed=1.0)
made(wrist.BaseMotion, base_motion, lambda one: (one, one.trajectory(TIMES)))
made(wrist.JointThrow, lambda: wrist.optimize_base_and_motor(WRIST, 0.3, cells=8, starts=1))
made(wrist.MotorMotion, motor, lambda one: (one, one(TIMES)))
made(wrist.MotorPlan, lambda: wrist.plan_motor(WRIST_ACCELERATION, 0.2, 0.6, cells=20))
made(
    wrist.CarriedWrist,
    lambda: wrist.CarriedWrist(wrist.floating_wrist(WRIST), at_rest),
    lambda one: one.acceleration(0.0, 0.1, 0.2, 0.3),
)
made(
    wrist.CarrierControl,
    lambda: wrist.CarrierControl(wrist.with_wrist(panda(), WRIST, mount=MOUNT), motor()),
    lambda one: one.step(0.1, np.full(8, 0.1), np.full(8, 0.2), reference.JointReference(*np.zeros((3, 7)))),
)
made(wrist.WristRun, lambda: wrist.run_with_motor(wrist.inclined_wrist(WRIST), motor(), q0=[0.0]))
made(wrist.ArmThrow, arm_throw)
value(wrist.WristRelease, speed=1.0, across=0.1, q=0.2, dq=0.3, arm_error=0.01, effort=0.5)


def WRIST_ACCELERATION(t: float, q: Any, dq: Any, theta: Any) -> Any:
    return WRIST.acceleration(q, dq, theta)


# --- servoing ---------------------------------------------------------------------------------------------------------

TARGET = panda().forward_kinematics(Q) @ pose_from_rpy((0.05, 0.1, 0.1), (0.1, 0.2, 0.3))


def target_pose(t: float) -> np.ndarray:
    return TARGET


def source() -> Any:
    one = perception.SimulatedPoseSource(
        target_pose,
        rate=30.0,
        latency=0.05,
        jitter=0.02,
        position_noise=0.003,
        rotation_noise=0.03,
        dropout=0.1,
        seed=3,
    )
    one.poll(0.5)
    return one


def tracker() -> Any:
    one = manipulation.TargetTracker(source(), manipulation.PoseFilter(0.003, 0.03, persistence=0.5))
    for t in np.arange(0.52, 0.98, 0.02):
        one.update(t)
    return one


def pick_loop() -> Any:
    servo = manipulation.VisualServo(panda(), speed=0.5)
    servo.tool = pose_from_rpy((0.0, 0.0, 0.2), (0.0, 0.0, 0.0))
    return manipulation.PickLoop(servo, tracker(), manipulation.PickMachine())


def picked(loop: Any, first: int, last: int) -> Any:
    return [loop.update(1.0 + 0.02 * k, measured(k)[1]) for k in range(first, last)]


def halfway(loop: Any) -> Any:
    picked(loop, 0, 20)
    return loop


def tool_estimator() -> Any:
    one = manipulation.ToolEstimator(pose_from_rpy((0.0, 0.0, 0.25), (0.0, 0.0, 0.0)), 0.01, 0.14, 0.003, 0.035)
    look(one, 0, 5)
    return one


def look(one: Any, first: int, last: int) -> Any:
    rng = np.random.default_rng(first)
    log = []
    for k in range(first, last):
        H = pose_from_rpy(rng.normal(size=3), rng.normal(size=3))
        log.append(one.observe(0.1 * k, H @ pose_from_rpy((0.0, 0.0, 0.26), 0.03 * rng.normal(size=3)), H))
    return log, one.pose, one.covariance


def picking_controller() -> Any:
    one = manipulation.PickingController(pick_loop(), th.ComputedTorque(panda(), 900.0, 60.0), period=0.012)
    controlled(one, 0, 20)
    return one


def controlled(one: Any, first: int, last: int) -> Any:
    return [one.step(1.0 + 0.004 * k, *measured(k)[1:], joint_target(0.0)) for k in range(first, last)]


def judge() -> Any:
    one = manipulation.GraspJudge(surface=0.1, hold=0.1)
    judged(one, 0, 20)
    return one


def judged(one: Any, first: int, last: int) -> Any:
    for k in range(first, last):
        one.update(0.01 * k, 0.02 * k, {"hand"} if k > 5 else {"belt"})
    return one.verdict


made(manipulation.GraspJudge, judge, lambda one: judged(one, 20, 40), moves=True)
made(manipulation.GraspVerdict, lambda: judge().verdict)
made(manipulation.GraspFailure, lambda: manipulation.GraspFailure.dropped)
made(manipulation.PickLoop, lambda: halfway(pick_loop()), lambda loop: picked(loop, 20, 40), moves=True)
made(manipulation.PickMachine, lambda: halfway(pick_loop()).machine)
made(manipulation.PickPhase, lambda: manipulation.PickPhase.grip)
made(interception.GraspOutcome, lambda: interception.GraspOutcome.beside)
made(interception.InterceptionPhase, lambda: interception.InterceptionPhase.reaching)
made(interception.InterceptionReason, lambda: interception.InterceptionReason.too_fast)
made(manipulation.PickReason, lambda: manipulation.PickReason.target_lost)
value(manipulation.PickSettings, standoff=0.2)
made(manipulation.PickingController, picking_controller, lambda one: controlled(one, 20, 40), moves=True)
made(manipulation.PoseFilter, lambda: tracker().belief)
made(manipulation.ServoState, lambda: next(iter(manipulation.ServoState)))
made(manipulation.TargetTracker, tracker, lambda one: [one.update(t) for t in np.arange(1.0, 1.4, 0.02)], moves=True)
made(manipulation.ToolEstimator, tool_estimator, lambda one: look(one, 5, 10), moves=True)
made(manipulation.VisualServo, lambda: pick_loop().servo, lambda one: one.step(Q, TARGET), moves=True)

# --- perception -------------------------------------------------------------------------------------------------------

LENS = perception.PinholeCamera(320, 240, 300.0, 305.0, 160.0, 120.0)


def picture(t: float) -> Any:
    tag = pose_from_rpy((0.02 * t, 0.0, 0.4), (np.pi, 0.2, 0.0))
    return perception.render_tag(LENS, tag, size=0.08, rng=np.random.default_rng(1))


def fiducial() -> Any:
    one = perception.FiducialPoseSource(picture, LENS, size=0.08, rate=10.0, latency=0.05)
    one.poll(0.3)
    return one


DEPTH_CAMERA = clouds.DepthCamera(
    perception.PinholeCamera.from_field_of_view(106, 60, 1.2),
    clouds.look_at((0.5, -0.7, 0.7), (0.0, 0.0, 0.0)),
    noise=1e-3,
)


def cloud() -> Any:
    shapes = [
        clouds.Cuboid((1.2, 0.5, 0.02), pose_from_rpy((0.0, 0.0, -0.01))),
        clouds.Cuboid((0.1, 0.1, 0.1), pose_from_rpy((0.0, 0.0, 0.05))),
    ]
    return DEPTH_CAMERA.see(shapes, np.random.default_rng(0)).cloud


PIPELINE = {"voxel": 0.016, "gap": 0.05}


def depths(t: float) -> Any:
    return DEPTH_CAMERA.depth(
        [clouds.Cuboid((0.1, 0.1, 0.1), pose_from_rpy((0.0, 0.0, 0.05)))], np.random.default_rng(0)
    )


def cloud_source() -> Any:
    table = clouds.Plane((0.0, 0.0, 1.0), 0.0)
    pipeline = clouds.CloudPipeline(**PIPELINE, table=table)
    one = clouds.CloudPoseSource(depths, DEPTH_CAMERA, pipeline, rate=10.0, latency=0.05, dropout=0.2)
    one.poll(0.1)
    return one


made(clouds.CloudPoseSource, cloud_source, lambda one: one.poll(0.5), moves=True)
made(perception.FiducialPoseSource, fiducial, lambda one: one.poll(0.8), moves=True)
made(clouds.DetectionReason, lambda: clouds.DetectionReason.no_cluster)


def hand_eye() -> perception.HandEyeCalibration:
    hands = np.array(
        [pose_from_rpy((0.5, 0.1, 0.4), rpy) for rpy in ((3.0, 0.0, 0.0), (2.7, 0.3, 0.5), (2.9, -0.4, 0.0))]
    )
    return perception.calibrate_hand_eye(hands, np.linalg.inv(hands), "hand")


made(perception.HandEyeCalibration, hand_eye)
made(perception.TagDetection, lambda: perception.detect_tags(picture(0.0), LENS, size=0.08)[0])
made(perception.SimulatedPoseSource, source, lambda one: one.poll(1.5), moves=True)
value(perception.PinholeCamera, 320, 240, 300.0, 305.0, 160.0, 120.0)
value(perception.PoseFault, "freeze", 1.0)
value(perception.PoseMeasurement, 0.1, 0.2, np.eye(4))
made(
    perception.MegaPoseClient,
    lambda: perception.MegaPoseClient(LENS, port=1),
    lambda one: one.__getstate__(),
)
made(
    perception.MegaPoseSource,
    lambda: perception.MegaPoseSource(perception.MegaPoseClient(LENS, port=1), picture, "cube", box=(0, 0, 10, 10)),
    lambda one: one.__getstate__(),
)
value(clouds.Ball, 0.1, (0.1, 0.2, 0.3))
value(clouds.Cuboid, (0.1, 0.2, 0.3))
value(clouds.Cylinder, 0.1, 0.2)
made(clouds.CloudPipeline, lambda: clouds.CloudPipeline(**PIPELINE), lambda one: (one, one(cloud())))
value(clouds.DepthCamera, LENS, np.eye(4), noise=0.01)
made(clouds.Detection, lambda: clouds.CloudPipeline(**PIPELINE)(cloud()))
value(clouds.Plane, [0.0, 0.0, 1.0], 0.2)

# --- plotting, MuJoCo, experiments ------------------------------------------------------------------------------------

made(th.robot.Workspace, lambda: elbow().sample_workspace(20, seed=1))
value(mujoco.Viewpoint, azimuth=20.0)
made(
    mujoco.MujocoPlant,
    lambda: mujoco.MujocoPlant(elbow()),
    lambda plant: (plant.forward_dynamics(*np.full((3, 2), 0.2)), plant.advance(0.0, *np.full((3, 2), 0.2), 1e-3)),
    moves=True,
)


def grasp_world() -> Any:
    box, belt = mujoco.Thing.box(), mujoco.ConveyorBelt.at((0.5, 0.0, 0.1), speed=0.1)
    one = mujoco.GraspWorld(elbow(), mujoco.ParallelGripper(delay=0.003), [box], [belt])
    one.reset([0.3, 0.4], {"box": (0.5, 0.0, 0.1)})
    gripped(one, mujoco.HandCommand(1.0, effort=20.0))
    return one


def gripped(one: Any, command: Any = None) -> Any:
    for _ in range(5):
        one.step([0.1, 0.2], command)
    return one.time, one.q, one.dq, one.pose("box"), one.hand_state, one.touching("box"), one.belt_speed()


made(mujoco.GraspWorld, grasp_world, gripped, moves=True)
value(mujoco.CompliantHand, speed=2.0)
value(mujoco.ConveyorBelt, np.eye(4), speed=0.2)
value(mujoco.HandCommand, 1.0, effort=30.0)
value(mujoco.HandState, 0.4, 0.0, 30.0)
made(
    mujoco.HandThrow,
    lambda: mujoco.HandThrow(
        0.5, 0.46, 0.51, throwing.thrown.ObjectState(np.ones(3), np.ones(3)), False, 1e-3, np.zeros(3), np.zeros(2)
    ),
)
value(mujoco.ParallelGripper, delay=0.01)
value(mujoco.Part, "box", (0.1, 0.2, 0.3))
made(mujoco.Picture, lambda: mujoco.Picture(np.zeros((2, 3, 3), dtype=np.uint8), np.ones((2, 3))))
value(mujoco.Table, np.eye(4))
made(mujoco.Thing, mujoco.Thing.bottle)
value(papers.Run, result=SimpleNamespace(error=1.0), window=0.1, steps_per_second=1000.0)
value(
    papers.LissajousPanda,
    robot=panda(),
    nominal=panda(),
    reference=reference.Lissajous([0.1] * 3, [1.0] * 3, center=[0.0] * 3),
    adaptive=None,
    fixed=None,
    step_times=np.arange(3.0),
)

# --- real time --------------------------------------------------------------------------------------------------------

MS = 1_000_000
NOON = 1_700_000_000_000_000_000
HOLD = {"rate": 100.0}
LAW = {
    "name": "SlotineLi",
    "Lambda": 10,
    "K_d": [20] * 4 + [2, 2, 1],
    "adaptation": {"gradient": {"Gamma": 5, "unknown": "link7"}},
}


def loop() -> Any:
    one = realtime.ControlLoop({"robot": "panda", "controller": LAW, "hold": HOLD})
    answered(one, 0, 50)
    return one


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


def generator() -> Any:
    one = realtime.ReferenceGenerator(
        {"robot": "panda", "reference": {"kind": "sinusoid", "amplitude": [0.1] * 7, "frequency": 0.5}}
    )
    assert one.begin(NOON, one.joint_names, Q) is None
    return one


def simulated_robot() -> Any:
    one = realtime.SimulatedRobot({"robot": "panda", "q0": Q.tolist()})
    advanced(one, 0, 20)
    return one


def advanced(one: Any, first: int, last: int) -> Any:
    log = []
    for k in range(first, last):
        state = one.advance(NOON + k * MS)
        log.append(state)
        one.command(state.stamp, NOON + k * MS + MS // 5, one.joint_names, np.full(7, 0.5))
    return log


def times() -> Any:
    one = realtime.Quantiles()
    for k in range(50):
        one.add(1e-3 * (k % 7))
    return one


made(realtime.ControlLoop, loop, lambda one: answered(one, 50, 80), moves=True)
made(realtime.Command, lambda: next(c for c in answered(loop(), 50, 60)[0] if isinstance(c, realtime.Command)))
made(realtime.ReferenceGenerator, generator, lambda one: one.joints(NOON + 300 * MS))
made(realtime.JointSample, lambda: generator().joints(NOON + 300 * MS))
value(realtime.PoseSample, NOON, np.zeros(3), np.zeros(4), np.zeros(3), np.zeros(3))
made(realtime.SimulatedRobot, simulated_robot, lambda one: advanced(one, 20, 40), moves=True)
made(realtime.JointState, lambda: simulated_robot().advance(NOON + 21 * MS))
made(realtime.LoopOptions, lambda: loop().options)
made(realtime.Mode, lambda: realtime.Mode.waiting)
made(realtime.Reason, lambda: realtime.Reason.no_state)
made(realtime.Quantiles, times, lambda one: (one.add(0.1), one), moves=True)
made(realtime.GoalCode, lambda: realtime.GoalCode.successful)
value(realtime.GoalResult, realtime.GoalCode.invalid_goal, "the loop holds")
value(realtime.Tolerance, "joint1", 0.1)
value(realtime.GoalFeedback, NOON, reference.JointReference(Q, Q, Q), Q, Q)


def goal() -> Any:
    one = loop()
    answered(one, 0, 50)
    return realtime.TrajectoryGoal(one, NOON + 50 * MS, 0, one.joint_names, [0.5], [Q + 0.01])


made(realtime.TrajectoryGoal, goal)


# --- realtime: drives --------------------------------------------------------------------------------------------


def safety_limits() -> Any:
    wall = geometry.HalfSpace([0.0, 0.0, -1.0], [0.0, 0.0, 1.0])
    return realtime.SafetyLimits.of(panda(), torque_rate=500.0, obstacles=[wall])


def safety() -> Any:
    observer = control.MomentumObserver(panda(), 20.0, detector=control.ContactDetector(50.0))
    one = realtime.Safety(panda(), safety_limits(), torque_step=1.0, observer=observer)
    checked(one, 0, 20)
    return one


def checked(one: Any, first: int, last: int) -> Any:
    log = []
    for k in range(first, last):
        t, q, dq = measured(k)
        log.append((one.check(t, q, dq), one.limit(t, 40.0 * np.sin(q), 3.0 * np.cos(q))))
    return log


def drive_run() -> Any:
    return realtime.DriveRun(realtime.StopReason.contact, t=1.0, cycles=1001, dropped={"late": 2}, period=times())


made(realtime.SafetyLimits, safety_limits)
made(realtime.Safety, safety, lambda one: checked(one, 20, 60), moves=True)
made(realtime.DriveRun, drive_run)
value(realtime.DriveFacts, ("a", "b"), 1e-3, 1e-3, 80.0, 1000.0, 0.02, th.Payload(0.5))
value(realtime.DriveState, 10**9, [0.1, 0.2], [0.0, 0.0], [1.0, 2.0])
value(realtime.Cycle, 0.1, np.ones(2), np.zeros(2), np.ones(2), np.zeros(2))
value(realtime.SimulatedDrive, panda(), Q, payloads=[th.Payload(0.5)])
made(realtime.DriveFault, lambda: realtime.DriveFault.silence)
value(realtime.LoopLog, *np.ones((7, 2)), (None, None), {"error": np.zeros((2, 2))})
value(realtime.LoopStatistics, 1.0, 1001, 2, 1, 0, *(times() for _ in range(3)), {"core": "on"}, 0, 1, 3, 4, 0.1,
      7, realtime.Mode.hold, realtime.Reason.no_reference, 0, True, True, 0)  # fmt: skip
made(realtime.StopKind, lambda: realtime.StopKind.brake)
made(realtime.StopReason, lambda: realtime.StopReason.contact)
