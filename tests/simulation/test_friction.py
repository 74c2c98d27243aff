"""Friction, springs and drives that are stiff for the step, against SciPy's Radau with the same law; stiction."""

from __future__ import annotations

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from scipy.integrate import solve_ivp

import thunder_py as th
from tests.refusals import assert_refused
from thunder_py.control import Status
from thunder_py.integration import rk4_step
from thunder_py.robot import Friction
from thunder_py.simulation import FrictionModel

from ..control.arms import elbow, elbow_motion

pytestmark = pytest.mark.filterwarnings("ignore:the run passes")  # limits

POSTURE = np.array([0.1, -0.9, 0.6, -1.5, 0.4, 0.8, 0.2])


def rubbing(name: str, viscous: float, coulomb: float, wrist: float = 1.0) -> th.Robot:
    """An arm with friction at all joints, whose links from the fourth on have a part of their inertia."""
    robot = th.Robot.load(name)
    parameters = robot.parameters.copy()
    parameters[30 : 10 * robot.n] *= wrist
    friction = Friction(terms=("viscous", "coulomb"), coefficients=[[viscous, coulomb]] * robot.n)
    return robot.with_parameters(parameters).replace(friction=friction)


def motion_of(robot: th.Robot) -> th.reference.Sinusoid:
    return th.reference.Sinusoid([0.3] * robot.n, 0.9, center=POSTURE[: robot.n])


def law_of(kind: str, robot: th.Robot) -> Any:
    if kind == "pd":
        return th.PDGravity(robot, K_p=100.0, K_d=1.0)
    return th.ComputedTorque(robot.replace(friction=None) if kind == "frictionless" else robot, K_0=100.0, K_1=20.0)


def radau(
    acceleration: Callable[..., Any], law: Callable[..., Any], start: np.ndarray, period: float, steps: int
) -> np.ndarray:
    """States at the start of each period, of x' = (velocities, acceleration(x, torque)) with the torque held."""
    half, states = len(start) // 2, [start]
    for k in range(steps):
        tau = np.array(law(k * period, states[-1]))

        def rate(_: float, x: np.ndarray, tau: np.ndarray = tau) -> np.ndarray:
            rows = x.T
            ddq = acceleration(rows, np.broadcast_to(tau, (len(rows), len(tau))))
            return np.concatenate([rows[:, half:], ddq], axis=1).T

        end = solve_ivp(
            lambda t, x, rate=rate: rate(t, x if x.ndim == 2 else x[:, None]).reshape(x.shape),
            (0.0, period), states[-1], method="Radau", rtol=1e-10, atol=1e-12, vectorized=True,
        )  # fmt: skip
        assert end.success
        states.append(end.y[:, -1])
    return np.array(states)


@pytest.mark.parametrize(
    ("integrator", "name", "wrist", "viscous", "coulomb", "kind", "dt"),
    [
        ("rk4", "elbow", 1.0, 2.0, 5.0, "pd", 5e-3),
        ("implicit_midpoint", "elbow", 1.0, 0.0, 5.0, "frictionless", 2e-3),
        ("rk4", "ur5e", 1.0, 2.0, 0.0, "exact", 5e-3),
        ("implicit_midpoint", "ur5e", 0.1, 0.4, 0.9, "exact", 5e-3),
        ("rk4", "panda", 1.0, 0.0, 0.5, "frictionless", 5e-3),
    ],
)
def test_stiff_friction_agrees_with_radau(
    integrator: Any, name: str, wrist: float, viscous: float, coulomb: float, kind: str, dt: float
) -> None:
    robot, steps = rubbing(name, viscous, coulomb, wrist), 8
    motion, n = motion_of(robot), robot.n
    start, law = motion(0.0), law_of(kind, robot)
    run = th.simulate(
        robot, law_of(kind, robot), motion, steps * dt, dt, q0=start.q, dq0=start.dq, integrator=integrator
    )  # fmt: skip
    exact = radau(
        lambda x, tau: robot.forward_dynamics(x[:, :n], x[:, n:], tau),
        lambda t, x: law.step(t, x[:n], x[n:], motion(t)),
        np.concatenate([start.q, start.dq]), dt, steps,
    )  # fmt: skip
    q_d = np.array([motion(t).q for t in run.t])
    rmse = np.sqrt(np.mean(np.sum((exact[:, :n] - q_d) ** 2, axis=1)))
    assert run.rmse() == pytest.approx(rmse, rel=0.01)
    assert np.abs(run.dq).max() == pytest.approx(np.abs(exact[:, n:]).max(), rel=0.01)


def test_motors_with_stiff_damping_agree_with_radau() -> None:
    drive = th.robot.Elastic(joint=2, K=(300.0,), D=(0.5,), Dm=(40.0,), Mm=0.02)
    robot = rubbing("elbow", 0.5, 1.0).replace(elastic=(drive,))
    q0, tau, dt, steps = np.array([0.3, -0.4]), np.array([3.0, 9.0]), 2e-3, 40
    idle = SimpleNamespace(step=lambda *_: tau)
    run = th.simulate(robot, idle, th.reference.SetPoint(q0), steps * dt, dt, q0=q0)
    start = np.concatenate([q0, run.x[0], np.zeros(3)])
    exact = radau(
        lambda y, tau: robot.elastic_forward_dynamics(y[:, :2], y[:, 3:5], y[:, 2:3], y[:, 5:], tau),
        lambda t, y: tau, start, dt, steps,
    )  # fmt: skip
    moved = np.abs(exact[-1, :3] - start[:3])
    assert np.abs(run.q[-1] - exact[-1, :2]).max() < 0.01 * moved.max()
    assert np.abs(run.x[-1] - exact[-1, 2:3]).max() < 0.01 * moved.max()


def constant(tau: Any) -> Any:
    return SimpleNamespace(step=lambda *_: np.asarray(tau))


@pytest.mark.parametrize(("name", "K", "Mm", "steps"), [("elbow", 2e5, 0.01, 20), ("panda", 1e5, 0.02, 8)])
def test_stiff_springs_agree_with_radau(name: str, K: float, Mm: float, steps: int) -> None:
    """Frequencies of 3 to 14 per step of 1 ms, which no explicit step follows; friction and armature beside them."""
    rigid = rubbing(name, 0.5, 0.3)
    n, q0, dt = rigid.n, POSTURE[: rigid.n], 1e-3
    drives = [th.robot.Elastic(joint=j + 1, K=(K,), D=(0.5,), Dm=(0.05,), Mm=Mm) for j in range(n)]
    robot = rigid.replace(elastic=drives, armature=np.full(n, 0.05))
    tau = robot.gravity_vector(q0) + np.linspace(2.0, 1.0, n)
    run = th.simulate(robot, constant(tau), th.reference.SetPoint(q0), steps * dt, dt, q0=q0)
    start = np.concatenate([q0, run.x[0], np.zeros(2 * n)])
    exact = radau(
        lambda y, tau: robot.elastic_forward_dynamics(
            y[:, :n], y[:, 2 * n : 3 * n], y[:, n : 2 * n], y[:, 3 * n :], tau
        ),
        lambda t, y: tau, start, dt, steps,
    )  # fmt: skip
    moved = np.abs(exact[:, :n] - q0).max()
    np.testing.assert_allclose(run.q, exact[:, :n], rtol=0, atol=0.01 * moved)
    np.testing.assert_allclose(run.x, exact[:, n : 2 * n], rtol=0, atol=0.01 * moved)


@pytest.mark.parametrize("lag", [1e-4, 5e-4, 4e-3])
def test_drives_faster_than_the_step(lag: float) -> None:
    """Of 2 ms, in place of an error; the runs with steps of 10 us are those of Runge-Kutta."""
    robot, motion = rubbing("elbow", 0.3, 0.2), motion_of(elbow())
    start, law = motion(0.0), th.PDGravity(elbow(), K_p=50.0, K_d=2.0)
    runs = [
        th.simulate(robot, law, motion, 0.4, dt, control_period=2e-3, q0=start.q, dq0=start.dq,
                    actuators=th.Actuators(lag=lag))
        for dt in (2e-3, 1e-5)
    ]  # fmt: skip
    np.testing.assert_allclose(runs[0].q, runs[1].q, rtol=0, atol=2e-5)
    np.testing.assert_allclose(runs[0].tau, runs[1].tau, rtol=0, atol=2e-3 * np.abs(runs[1].tau).max())


STICKING: dict[str, Any] = {"coulomb": [[1.0, 1.5], [0.6, 0.5]], "stribeck": [0.6, 0.3], "velocity": [0.05, 0.05]}


def sticking(**changes: Any) -> FrictionModel:
    return FrictionModel(**{"viscous": [[0.3], [0.2]], **STICKING, "stiction": True, **changes})


@pytest.mark.parametrize("integrator", ["rk4", "implicit_midpoint", "semi_implicit_euler"])
@pytest.mark.parametrize("elastic", [False, True])
def test_a_joint_at_rest_stays_exactly_there_up_to_the_breakaway_torque(integrator: Any, elastic: bool) -> None:
    robot, q0 = elbow(), np.array([0.3, -0.4])
    if elastic:
        robot = robot.replace(elastic=[th.robot.Elastic(joint=2, K=(900.0,), D=(2.0,), Dm=(0.5,), Mm=0.05)])
    gravity, friction, part = robot.gravity_vector(q0), sticking(), 0.5 if elastic else 1.0  # a spring overshoots
    for push, moves in (
        ([2.05, 0.0], False), ([-1.55, 0.0], False), ([0.0, 0.75 * part], False), ([0.0, -0.85 * part], False),
        ([2.15, 0.0], True), ([-1.65, 0.0], True), ([0.0, 0.85], True), ([0.0, -0.95], True),
    ):  # fmt: skip
        run = th.simulate(
            robot, constant(gravity + push), th.reference.SetPoint(q0), 0.5, 2e-3, q0=q0, integrator=integrator,
            friction=friction,
        )  # fmt: skip
        assert (run.q == q0).all() != moves, push
        if moves:
            assert (run.dq[-1] * push).max() > 0.0


@pytest.mark.parametrize("sign", [-1.0, 1.0])
def test_a_sliding_joint_stops_where_coulomb_friction_stops_it(sign: float) -> None:
    """Without viscous friction and gravity v = v_0 - F_c t / M, and then rest for ever."""
    robot, q0 = elbow().replace(gravity=(0.0, 0.0, 0.0)), np.array([0.3, 0.0])
    held = sticking(viscous=[[0.0], [0.0]], coulomb=[[1.0, 1.5], [50.0, 50.0]], stribeck=None, velocity=None)
    run = th.simulate(
        robot, constant(np.zeros(2)), th.reference.SetPoint(q0), 2.0, 1e-3, q0=q0, dq0=[sign * 0.8, 0.0], friction=held
    )
    braking = (1.5 if sign > 0 else 1.0) / robot.mass_matrix(q0)[0, 0]
    at_rest = run.t > 0.8 / braking + 2e-3
    assert (run.dq[at_rest] == 0.0).all()
    assert np.ptp(run.q[at_rest], axis=0).max() == 0.0
    assert abs(run.q[-1, 0] - q0[0]) == pytest.approx(0.5 * 0.8**2 / braking, rel=1e-5)
    moving = run.t < 0.8 / braking - 2e-3
    np.testing.assert_allclose(run.dq[moving, 0], sign * (0.8 - braking * run.t[moving]), atol=1e-9)
    np.testing.assert_array_equal(run.dq[:, 1], 0.0)  # held against the inertia of the first link


def test_stick_and_slip_is_the_limit_of_smooth_signs() -> None:
    """Reversals with a Stribeck effect: Radau with a narrow sign, and the energy that friction takes."""
    motion, law, dt = elbow_motion(), th.PDGravity(elbow(), K_p=40.0, K_d=0.5), 1e-3
    start, steps = motion(0.0), 160
    run = th.simulate(elbow(), law, motion, steps * dt, dt, q0=start.q, friction=sticking())
    narrow = sticking(stiction=False, delta=1e-5)
    exact = radau(
        lambda x, tau: elbow().forward_dynamics(x[:, :2], x[:, 2:], tau - narrow.torque(x[:, 2:])),
        lambda t, x: law.step(t, x[:2], x[2:], motion(t)), np.concatenate([start.q, [0.0, 0.0]]), dt, steps,
    )  # fmt: skip
    assert (run.dq == 0.0).any()
    np.testing.assert_allclose(run.q, exact[:, :2], rtol=0, atol=1e-3 * np.ptp(exact[:, :2], axis=0).max())
    assert np.abs(run.energy().residual).max() < 1e-3 * run.energy().dissipated[-1]


@pytest.mark.parametrize(("name", "velocity"), [("panda", 0.1), ("ur5e", 0.01), ("gen3", 0.01), ("iiwa14", 1e-3)])
def test_sticking_arms_with_light_wrists_do_not_depend_on_the_step(name: str, velocity: float) -> None:
    """With Stribeck effects that fall faster than the inertia of a wrist over a step, too."""
    bare = th.Robot.load(name).replace(friction=None)
    n, motion = bare.n, motion_of(bare)
    law, start = th.ComputedTorque(bare, K_0=100.0, K_1=20.0), motion(0.0)
    held = FrictionModel(
        viscous=[[0.3]] * n, coulomb=[[0.5, 0.7]] * n, stribeck=[0.5] * n, velocity=[velocity] * n, stiction=True
    )
    runs = [
        th.simulate(bare, law, motion, 0.5, dt, control_period=1e-3, q0=start.q, dq0=start.dq, friction=held)
        for dt in (1e-3, 1e-4)
    ]
    np.testing.assert_allclose(runs[0].q, runs[1].q, rtol=0, atol=1e-4)


def test_friction_model_of_a_robot_is_its_friction() -> None:
    robot, motion = rubbing("elbow", 0.4, 0.9), elbow_motion()
    bare, law, start = robot.replace(friction=None), th.PDGravity(robot, 60.0, 2.0), motion(0.0)
    own = th.simulate(robot, law, motion, 0.5, q0=start.q, dq0=start.dq)
    added = th.simulate(bare, law, motion, 0.5, q0=start.q, dq0=start.dq, friction=FrictionModel.of(robot))
    np.testing.assert_allclose(added.q, own.q, rtol=0, atol=1e-9)
    np.testing.assert_allclose(added.signals["friction"], robot.friction_torque(added.dq), atol=1e-12)
    cubic = robot.replace(friction=Friction(terms=("cubic",), coefficients=[[1.0], [1.0]]))
    run = {"plant": bare, "controller": law, "reference": motion, "duration": 0.1}
    assert_refused(
        (lambda: FrictionModel.of(cubic), "robot must have viscous and Coulomb friction only, got cubic"),
        (lambda: sticking(coulomb=[[1.0], [-0.1]]), "friction coulomb must not be negative with stiction..."),
        (lambda: th.simulate(**run, friction=0.3), "friction must be FrictionModel or None, got 0.3"),
        (lambda: th.simulate(**run, friction=FrictionModel(viscous=[[1.0]], coulomb=[[1.0]])),
         "friction must have the plant's 2 joints, got 1"),
        (lambda: th.simulate(**run, friction=sticking(), integrator="adaptive"),
         "friction must have no stiction for integrator='adaptive'..."),
    )  # fmt: skip


@pytest.mark.parametrize("friction", [None, (0.5, 0.02)])
def test_without_stiff_friction_steps_are_those_of_runge_kutta(friction: tuple[float, float] | None) -> None:
    """To the rounding of NumPy's sums; with friction the slowest decay of a step is 0.6."""
    robot = rubbing("elbow", *friction) if friction else elbow().replace(friction=None)
    tau, x, dt = np.array([0.7, -0.2]), np.array([0.3, -0.4, 1.0, -2.0]), 1e-3
    run = th.simulate(
        robot, SimpleNamespace(step=lambda *_: tau), elbow_motion(), 20 * dt, dt, q0=x[:2], dq0=x[2:]
    )  # fmt: skip
    for k in range(20):
        x = rk4_step(
            lambda t, x: np.concatenate([x[2:], robot.forward_dynamics(x[:2], x[2:], tau)]), 0.0, x, dt
        )  # fmt: skip
        np.testing.assert_allclose(np.concatenate([run.q[k + 1], run.dq[k + 1]]), x, rtol=1e-13, atol=1e-14)


def test_a_diverged_run_warns_with_time_joint_and_cause() -> None:
    law = SimpleNamespace(step=lambda t, q, dq, reference: np.array([0.0, -3000.0 * dq[1]]))
    message = r"^the run diverged after t = 0\.\d+ s, first 'joint2', .*: the controller's torque grew to"
    with pytest.warns(RuntimeWarning, match=message):
        run = th.simulate(elbow(), law, elbow_motion(), 1.0, 1e-3, q0=[0.3, -0.4], dq0=[0.0, 0.1])
    assert run.status[-1] == Status.diverged


def test_a_sweep_records_divergence_without_warning() -> None:
    law = SimpleNamespace(step=lambda t, q, dq, reference: np.array([0.0, -3000.0 * dq[1]]))
    spec = th.RunSpec(elbow(), law, elbow_motion(), 1.0, 1e-3, q0=[0.3, -0.4], dq0=[0.0, 0.1])
    runs = th.simulate_many([spec], metrics={"ended": lambda run: run.diverged})
    assert runs.columns(["ended"]) == {"ended": [True]}
