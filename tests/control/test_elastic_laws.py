import dataclasses
import warnings
from collections.abc import Callable

import numpy as np
import pytest
from scipy.integrate import solve_ivp

import thunder_py as th
from tests.dynamics.numerics import Array
from tests.dynamics.random_chains import KINDS, Case, random_case, random_robot
from tests.dynamics.test_pinocchio import build
from tests.refusals import assert_refused
from tests.symbolic.states import bundled
from thunder_py.control import (
    CompositeControl,
    ElasticFeedbackLinearization,
    ElasticSlotineLi,
    MotorPD,
    Status,
)
from thunder_py.reference import SetPoint, Sinusoid

pytestmark = pytest.mark.filterwarnings("ignore:K_p and the springs:RuntimeWarning")


def with_springs(robot: th.Robot, K: float | tuple[float, ...], *, D: float = 0.0, Mm: float = 0.1) -> th.Robot:
    """Return the robot with equal springs in all joints."""
    row = K if isinstance(K, tuple) else (K,)
    drives = [th.robot.Elastic(joint=j + 1, K=row, D=(D,), Dm=(0.05,), Mm=Mm) for j in range(robot.n)]
    return robot.replace(elastic=drives)


def elbow(K: float | tuple[float, ...] = 400.0, **options: float) -> th.Robot:
    return with_springs(th.Robot.load("elbow"), K, **options)


@pytest.mark.parametrize("seed", range(4))
def test_elastic_inverse_dynamics_drives_a_plant_of_pinocchio(seed: int) -> None:
    n = 1 + seed % 3
    case = build(random_case(seed, n, KINDS[seed % len(KINDS)]))
    rng = np.random.default_rng(seed)
    K, Mm = rng.uniform(50.0, 500.0, (n, 2)), rng.uniform(0.1, 1.0, n)
    drives = [th.robot.Elastic(joint=j + 1, K=tuple(K[j]), Dm=(0.1,), Mm=Mm[j]) for j in range(n)]
    robot = case.case.robot.replace(elastic=drives)
    motion = Sinusoid(rng.uniform(0.2, 0.5, n), rng.uniform(0.3, 0.6, n), center=rng.normal(size=n))

    def plant(t: float, state: Array) -> Array:
        q, dq, x, dx = np.split(state, 4)
        spring = K[:, 0] * (x - q) + K[:, 1] * (x - q) ** 3
        tau = robot.elastic_inverse_dynamics(*motion.smooth(t)).tau
        return np.concatenate([dq, case.forward_dynamics(q, dq, spring), dx, (tau - spring - 0.1 * dx) / Mm])

    _, x, dx = robot.elastic_inverse_dynamics(*motion.smooth(0.0))
    start = np.concatenate([motion(0.0).q, motion(0.0).dq, x, dx])
    end = solve_ivp(plant, (0.0, 0.2), start, "DOP853", rtol=1e-10, atol=1e-12).y[:, -1]
    _, x, dx = robot.elastic_inverse_dynamics(*motion.smooth(0.2))
    np.testing.assert_allclose(end, np.concatenate([motion(0.2).q, motion(0.2).dq, x, dx]), atol=1e-6)


@pytest.mark.parametrize("Gamma_K", [None, 50.0])
@pytest.mark.parametrize("seed", range(3))
def test_lyapunov_derivative_of_the_adaptive_law(seed: int, Gamma_K: float | None) -> None:
    joints = [j + 1 for j in range(3) if seed % 3 != j]  # one joint is rigid
    rigid = random_robot(seed, 3, KINDS[seed % len(KINDS)], friction=True)
    true = [th.robot.Elastic(joint=j, K=(300.0,), D=(2.0,), Dm=(0.1,), Mm=0.3) for j in joints]
    plant = rigid.replace(elastic=true)
    share = 1.0 if Gamma_K is None else 1.3
    nominal = plant.with_elastic_parameters(K=[300.0 / share] * len(joints)).with_parameters(0.8 * plant.parameters)
    law = ElasticSlotineLi(
        nominal, Lambda=[4.0, 5.0, 6.0], K_d=8.0, K_x=3.0, adaptation=500.0, bandwidth=2000.0, Gamma_K=Gamma_K
    )
    motion = Sinusoid([0.3, 0.2, 0.3], [0.6, 0.9, 0.7])

    def change(dt: float) -> tuple[Array, Array]:
        run = th.simulate(plant, law, motion, 0.1, dt, q0=motion(0.0).q + 0.05, dq0=motion(0.0).dq)
        V_dot = law.lyapunov_dot(plant, run)
        assert (run.status == Status.ok).all()
        assert V_dot is not None
        return law.lyapunov(plant, run), V_dot

    assert_balanced(change, 5e-5)


def assert_balanced(change: Callable[[float], tuple[Array, Array]], dt: float) -> None:
    """Check that V changes by the integral of its derivative, but for the periods over which a torque is constant."""
    error = []
    for step in (dt, 0.5 * dt):
        V, V_dot = change(step)
        integral = np.concatenate([[0.0], np.cumsum(0.5 * step * (V_dot[1:] + V_dot[:-1]))])
        error.append((V - V[0] - integral)[:: round(dt / step)])
    assert np.abs(2.0 * error[1] - error[0]).max() < 0.01 * np.ptp(V)  # their error is in proportion to the period
    assert (V > 0.0).all()


@pytest.mark.parametrize("gravity", ["constant", "online"])
@pytest.mark.parametrize("K", [300.0, (300.0, 4e4)])
def test_motor_pd_reaches_set_points_under_gravity_without_error(gravity: str, K: float) -> None:
    plant = with_springs(th.Robot.load("elbow"), K)
    law = MotorPD(plant, K_p=150.0, K_d=20.0, gravity=gravity)
    run = th.simulate(plant, law, SetPoint([0.4, 0.9]), 12.0, q0=[-0.2, 0.3])
    assert run.error_norm()[-1] < 1e-6
    np.testing.assert_allclose(run.x[-1], plant.elastic_equilibrium([0.4, 0.9]), atol=1e-6)


def test_energy_of_motor_pd_falls_by_its_damping() -> None:
    plant = elbow(300.0)
    goal, K_p, K_d = np.array([0.4, 0.9]), 150.0, 2.0
    law = MotorPD(plant, K_p=K_p, K_d=K_d)
    G, x_d = plant.gravity_vector(goal), plant.elastic_equilibrium(goal)

    def change(dt: float) -> tuple[Array, Array]:
        run = th.simulate(plant, law, SetPoint(goal), 0.5, dt, q0=[-0.2, 0.3])
        kinetic = plant.kinetic_energy(run.q, run.dq) + 0.05 * (run.dx**2).sum(axis=1)
        springs = 150.0 * ((run.x - run.q) ** 2).sum(axis=1) + 0.5 * K_p * ((x_d - run.x) ** 2).sum(axis=1)
        energy = kinetic + springs + plant.potential_energy(run.q) - run.x @ G
        rest = 150.0 * ((x_d - goal) ** 2).sum() + plant.potential_energy(goal) - x_d @ G
        return energy - rest, -(K_d + 0.05) * (run.dx**2).sum(axis=1)

    assert_balanced(change, 1e-4)


def test_weak_gains_warn_that_set_points_may_be_unstable() -> None:
    plant = elbow(400.0)
    with pytest.warns(
        RuntimeWarning, match=r"K_p and the springs of elbow are too weak against gravity: .*; raise K_p"
    ):
        MotorPD(plant, K_p=1.0, K_d=1.0)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for gravity in ("constant", "online"):
            MotorPD(plant, K_p=100.0, K_d=1.0, gravity=gravity)


def test_damping_of_composite_control() -> None:
    K, Mm, K_v = 1000.0, 0.1, 6.0
    plant = with_springs(th.Robot.load("elbow").replace(gravity=[0.0, 0.0, 0.0]), K, Mm=Mm)
    plant = plant.replace(elastic=[dataclasses.replace(d, Dm=()) for d in plant.elastic])
    q = np.array([0.3, 0.8])
    law = CompositeControl(plant, th.PDGravity(plant.rigid(), 1e-6, 1e-6), K_v=K_v)
    n = plant.n

    def rate(state: Array) -> Array:
        q, dq, x, dx = np.split(state, 4)
        tau = law.step(0.0, q, dq, SetPoint(q)(0.0), x, dx)
        acceleration = plant.elastic_forward_dynamics(q, dq, x, dx, tau)
        return np.concatenate([dq, acceleration[:n], dx, acceleration[n:]])

    rest = np.concatenate([q, np.zeros(n), q, np.zeros(n)])
    steps = 1e-6 * np.eye(4 * n)
    A = np.array([(rate(rest + h) - rate(rest - h)) / 2e-6 for h in steps]).T
    fast = [pole for pole in np.linalg.eigvals(A) if abs(pole) > 10.0]
    M = plant.mass_matrix(q)
    zero, one = np.zeros((n, n)), np.eye(n)
    stiffness = K * (one / Mm + np.linalg.inv(M))  # d'' of d = x - q
    expected = np.linalg.eigvals(np.block([[zero, one], [-stiffness, -K_v / Mm * one]]))
    assert len(fast) == 2 * n
    np.testing.assert_allclose(np.sort_complex(fast), np.sort_complex(expected), rtol=2e-3)


LAWS = {
    "MotorPD": lambda r: MotorPD(r, 100.0, 10.0),
    "ElasticFeedbackLinearization": lambda r: ElasticFeedbackLinearization.with_bandwidth(r, 15.0),
    "ElasticSlotineLi": lambda r: ElasticSlotineLi(r, 5.0, 8.0, 4.0, adaptation=1.0, Gamma_K=5.0),
    "CompositeControl": lambda r: CompositeControl(r, th.SlotineLi(r.rigid(), 5.0, 8.0, adaptation=1.0), 10.0),
}


@pytest.fixture(params=LAWS)
def law(request: pytest.FixtureRequest) -> th.control.MotorPD:
    return LAWS[request.param](elbow())


def test_a_lost_reference_holds_the_motors_and_comes_to_rest(law: MotorPD) -> None:
    plant, motion = elbow(), Sinusoid([0.3, 0.3], [0.5, 0.7])
    nothing = motion.smooth(0.0)._replace(q=np.full(2, np.nan))

    def reference(t: float) -> th.reference.SmoothJointReference:
        return motion.smooth(t) if t < 0.5 else nothing

    run = th.simulate(plant, law, reference, 4.0, q0=motion(0.0).q, dq0=motion(0.0).dq)
    assert (run.status[600:] == Status.invalid_input).all()
    assert np.abs(run.dq[-1]).max() < 0.02
    assert np.abs(run.q[-1] - run.q[500]).max() < 0.3
    assert np.isfinite(run.tau).all()


def test_missing_measurements_set_the_status(law: MotorPD) -> None:
    desired = Sinusoid([0.3, 0.3], [0.5, 0.7]).smooth(0.0)
    good, lost = np.array([0.1, 0.2]), np.array([0.1, np.nan])
    law.step(0.0, good, good, desired, good, good)
    for arguments in (
        (lost, good, good, good),
        (good, lost, good, good),
        (good, good, lost, good),
        (good, good, good, lost),
    ):
        q, dq, x, dx = arguments
        tau = law.step(0.001, q, dq, desired, x, dx)
        assert law.status == Status.invalid_input
        assert np.isfinite(tau).all()


def test_the_slow_law_does_not_adapt_where_torques_are_clipped() -> None:
    plant, target, q = elbow(), SetPoint([0.9, 0.9]), np.array([0.1, 0.2])
    slow = th.SlotineLi(plant.rigid(), 5.0, 8.0, adaptation=1.0)
    law = CompositeControl(plant, slow, 10.0)
    law.torque_limits = 0.1
    adaptive = ElasticSlotineLi(plant, 5.0, 8.0, adaptation=1.0, Gamma_K=0.1)
    adaptive.torque_limits = 0.1
    for k in range(50):
        for one in (law, adaptive):
            one.step(1e-3 * k, q, np.zeros(2), target.smooth(0.0), q, np.zeros(2))
            assert one.status == Status.saturated
    np.testing.assert_array_equal(law.signals["parameters"], slow.parameters)
    np.testing.assert_array_equal(adaptive.parameters, plant.parameters)
    np.testing.assert_array_equal([adaptive.signals["stiffness"], adaptive.signals["compliance"]], np.ones((2, 2)))


def test_springs_are_inverted_on_the_branch_that_starts_at_rest() -> None:
    pendulum = th.Robot.load("elbow")
    softening = pendulum.replace(elastic=[th.robot.Elastic(joint=1, K=(25.0, -30.0), Mm=0.1)])
    torque = pendulum.gravity_vector([0.0, 0.0])[0]
    assert torque > 2.0 / 3.0 * 25.0 * np.sqrt(25.0 / 90.0)  # the most that the spring has near rest
    assert_refused(
        (lambda: softening.elastic_equilibrium([0.0, 0.0]), "...cannot balance a torque..."),
        (lambda: MotorPD(softening, 100.0, 10.0), "...springs that do not soften..."),
    )
    for K in ((0.0, 1e4), (1e-6, 1e4), (1e-9, 1e6), (400.0, 4e4, 1e5)):
        plant = with_springs(pendulum, K)
        tau = MotorPD(plant, 150.0, 20.0).step(
            0.0, [0.0, 0.3], [0.0, 0.0], SetPoint([0.0, 0.3]).smooth(0.0), [0.0, 0.3], [0.0, 0.0]
        )
        d = plant.elastic_equilibrium([0.0, 0.3]) - [0.0, 0.3]
        np.testing.assert_allclose(tau, plant.gravity_vector([0.0, 0.3]) + 150.0 * d, rtol=1e-9)


def test_models_that_a_law_cannot_control_are_refused() -> None:
    rigid = th.Robot.load("elbow")
    for make in LAWS.values():
        with pytest.raises(ValueError, match="robot must have elastic joints"):
            make(rigid)
    assert_refused(
        (lambda: ElasticFeedbackLinearization.with_bandwidth(elbow(D=1.0), 10.0), "...springs without damping D, w..."),
        (
            lambda: ElasticFeedbackLinearization.with_bandwidth(elbow().replace(elastic=elbow().elastic[:1]), 10.0),
            "...elastic joints only...",
        ),
        (lambda: ElasticSlotineLi(elbow((400.0, 10.0)), 5.0, 8.0, 4.0, adaptation=None), "...linear springs..."),
        (
            lambda: CompositeControl(elbow(), th.ComputedTorque(elbow(), 10.0, 5.0), 1.0),
            "slow must be a law of the robot with rigid joints...",
        ),
        (
            lambda: CompositeControl(
                elbow(), th.Backstepping(th.Robot.load("panda"), 10.0, 5.0, 2.0, adaptation=None), 1.0
            ),
            "slow must be a joint-space controller of this package, got Backstepping",
        ),
        (
            lambda: MotorPD(elbow(), 10.0, 1.0, gravity="actual"),
            "gravity must be one of constant, online, got 'actual'",
        ),
        (
            lambda: ElasticFeedbackLinearization.with_bandwidth(elbow(), 10.0).step(
                0.0, np.zeros(2), np.zeros(2), SetPoint([0.0, 0.0])(0.0), np.zeros(2), np.zeros(2)
            ),
            "this controller follows SmoothJointReference...",
        ),
    )


class PlantInPython:
    """The elbow with springs as a plant written in Python."""

    def __init__(self, robot: th.Robot) -> None:
        self.robot, self.n, self.motor_joints = robot, robot.n, (0, 1)

    def forward_dynamics(self, q: Array, dq: Array, tau: Array, x: Array, dx: Array) -> tuple[Array, Array]:
        both = self.robot.elastic_forward_dynamics(q, dq, x, dx, tau)
        return both[: self.n], both[self.n :]

    def elastic_equilibrium(self, q: Array) -> Array:
        return self.robot.elastic_equilibrium(q)


class PDInPython:
    """PD of the motors, written in Python."""

    sees_motors = True

    def step(self, t: float, q: Array, dq: Array, reference: th.reference.JointReference, x: Array, dx: Array) -> Array:
        return 100.0 * (reference.q - x) - 10.0 * dx


def test_python_plants_and_controllers_have_motors_too() -> None:
    robot, target = elbow(), SetPoint([0.2, 0.4])
    runs = [
        th.simulate(plant, law, target, 0.2, q0=[0.0, 0.1])
        for plant in (robot, PlantInPython(robot))
        for law in (MotorPD(robot, 100.0, 10.0), PDInPython())
    ]
    for one, other in ((runs[0], runs[2]), (runs[1], runs[3])):
        np.testing.assert_allclose(one.x, other.x, atol=1e-12)
        assert one.names["motors"] == robot.joint_names
        assert other.x.shape == (201, 2)
    wrong = PlantInPython(robot)
    wrong.motor_joints = (1, 0)
    with pytest.raises(ValueError, match=r"^plant.motor_joints must be ascending numbers from 0 to 1, got \(1, 0\)$"):
        th.simulate(wrong, PDInPython(), target, 0.1, q0=[0.0, 0.1])
    wrong = PlantInPython(robot)
    wrong.forward_dynamics = lambda *state: np.zeros(3)
    with pytest.raises(ValueError, match=r"^plant.forward_dynamics must return ddq, ddx, got"):
        th.simulate(wrong, PDInPython(), target, 0.1, q0=[0.0, 0.1])


def test_the_rigid_robot_has_motors_as_armature_and_friction() -> None:
    robot = with_springs(th.Robot.load("panda"), 1e3, Mm=0.2)
    rigid = robot.rigid()
    q, dq, ddq = np.random.default_rng(1).normal(size=(3, 7))
    expected = robot.inverse_dynamics(q, dq, ddq) + 0.2 * ddq + 0.05 * dq
    np.testing.assert_allclose(rigid.inverse_dynamics(q, dq, ddq), expected, rtol=1e-12)
    assert rigid.e == 0
    assert rigid.rigid() is rigid


def test_time_derivatives_of_inverse_dynamics() -> None:
    case = build(random_case(5, 5, KINDS[0]))
    robot = case.case.robot
    rng = np.random.default_rng(2)
    q, dq, ddq, d3q, d4q = rng.normal(size=(5, 5))

    def torque(t: float) -> Array:
        return case.inverse_dynamics(
            q + t * dq + t**2 / 2 * ddq + t**3 / 6 * d3q + t**4 / 24 * d4q,
            dq + t * ddq + t**2 / 2 * d3q + t**3 / 6 * d4q,
            ddq + t * d3q + t**2 / 2 * d4q,
        )

    h = 1e-3
    far, near = [(torque(k * h) - torque(-k * h)) / (2 * k * h) for k in (2, 1)]
    np.testing.assert_allclose(robot.inverse_dynamics_dot(q, dq, ddq, d3q), (4 * near - far) / 3, rtol=1e-7, atol=1e-7)
    far, near = [(torque(k * h) - 2 * torque(0.0) + torque(-k * h)) / (k * h) ** 2 for k in (2, 1)]
    second = robot.inverse_dynamics_ddot(q, dq, ddq, d3q, d4q)
    np.testing.assert_allclose(second, (4 * near - far) / 3, rtol=1e-5, atol=1e-5)


def fourth_derivative(robot: th.Robot, acceleration: Callable[..., Array], state: Array, tau: Array) -> Array:
    """Fourth derivative of the links under a constant torque, by differences along the plant's motion."""
    n, K = robot.n, robot.elastic_parameters["K"]

    def rate(s: Array) -> Array:
        q, dq, x, dx = np.split(s, 4)
        both = robot.motor_damping_torque(dx) + K * (x - q)
        return np.concatenate([dq, acceleration(q, dq, K * (x - q)), dx, (tau - both) / 0.1])

    def after(h: float) -> Array:
        s = state
        for _ in range(4):
            k1 = rate(s)
            k2 = rate(s + h / 8 * k1)
            k3 = rate(s + h / 8 * k2)
            s = s + h / 24 * (k1 + 2 * k2 + 2 * k3 + rate(s + h / 4 * k3))
        return rate(s)[n : 2 * n]

    fastest = np.sqrt(np.linalg.eigvals(K * np.linalg.inv(robot.mass_matrix(state[:n]))).real.max() + K.max() / 0.1)
    h, here = 0.02 / fastest, rate(state)[n : 2 * n]
    far, near = [(after(k * h) - 2.0 * here + after(-k * h)) / (k * h) ** 2 for k in (2, 1)]
    return (4.0 * near - far) / 3.0


def check_fourth_derivative(rigid: th.Robot, acceleration: Callable[..., Array]) -> None:
    """Compare the commanded fourth derivative with that of a plant whose links are not ours."""
    n = rigid.n
    drives = [th.robot.Elastic(joint=j + 1, K=(50.0,), Dm=(0.1,), Mm=0.1) for j in range(n)]
    robot = rigid.replace(elastic=drives)
    rng = np.random.default_rng(n)
    q, dq, dx = rng.uniform(-1.0, 1.0, (3, n))
    x = q + 1e-2 * rng.normal(size=n)
    desired = th.reference.SmoothJointReference(q + 0.01, dq, *rng.normal(size=(3, n)))
    law = ElasticFeedbackLinearization(robot, 16.0, 32.0, 24.0, 8.0)
    tau = law.step(0.0, q, dq, desired, x, dx)
    ddq, d3q = law.signals["ddq"], law.signals["d3q"]
    v = desired.d4q + 8.0 * (desired.d3q - d3q) + 24.0 * (desired.ddq - ddq) + 16.0 * 0.01
    actual = fourth_derivative(robot, acceleration, np.concatenate([q, dq, x, dx]), tau)
    np.testing.assert_allclose(actual, v, atol=2e-5 * (1.0 + np.abs(v).max() + np.abs(ddq).max()))


@pytest.mark.parametrize("name", bundled())
def test_bundled_arms_get_the_fourth_derivative(name: str) -> None:
    robot = th.Robot.load(name).replace(friction=None, elastic=())
    check_fourth_derivative(robot, build(Case(robot, *np.zeros((5, robot.n)))).forward_dynamics)


def test_refusals(law) -> None:
    good = np.zeros(2)
    assert_refused(
        (lambda: law.step(0.0, good, good, SetPoint(good).smooth(0.0)), "x and dx must be given: this controller s..."),
        (lambda: law.step(0.0, good, good, SetPoint(good).smooth(0.0), np.zeros(3), good), "x must have shape (2,)..."),
        (lambda: th.simulate(th.Robot.load("elbow"), law, SetPoint(good), 0.1), "plant must have elastic joints fo..."),
    )
    half = elbow().replace(elastic=elbow().elastic[:1])
    assert_refused(
        (lambda: th.simulate(half, law, SetPoint(good), 0.1), "controller and plant must have the same elastic joints")
    )
