import math
from functools import cache

import numpy as np
import pytest

import thunder_py as th
from thunder_py.control import EnergyObserver, MomentumObserver, Status
from thunder_py.model.description import Elastic, Friction
from thunder_py.simulation import ExternalTorque

Q = np.array([0.0, -0.3, 0.0, -2.0, 0.0, 1.8, 0.7])
PUSH = np.array([5.0, -8.0, 3.0, 4.0, 1.0, -1.0, 0.5])
SOFT = (2, 3, 6)


@cache
def panda() -> th.Robot:
    """Joints 2, 3 and 6 are elastic, the others rigid; with friction and armature."""
    springs = [Elastic(joint=j, K=(1500.0, 1e4), D=(3.0, 0.5), Dm=(0.5,), Mm=0.3) for j in SOFT]
    friction = Friction(terms=("viscous", "coulomb"), coefficients=np.tile([0.5, 0.2], (7, 1)), delta=0.5)
    return th.Robot.load("panda").replace(friction=friction, armature=np.full(7, 0.05), elastic=springs)


def moving(robot=None, *, period=1e-3, duration=0.3, **options):
    """A motion of the soft Panda, which starts on it."""
    law = th.PDGravity(th.Robot.load("panda"), [40, 40, 40, 40, 10, 10, 10], 4.0)
    motion = th.reference.Sinusoid(np.full(7, 0.3), np.linspace(0.3, 0.8, 7), center=Q)
    return th.simulate(robot or panda(), law, motion, duration, dt=2.5e-4, control_period=period, **options)


def state(k=0):
    """Arguments of a step at rest."""
    return 1e-3 * k, Q, np.zeros(7), np.zeros(7)


def test_push_on_a_soft_arm():
    """The error is that of the trapezoidal rule, of second order in the period."""

    def error(period):
        observer = MomentumObserver(panda(), 40.0)
        run = moving(period=period, external=ExternalTorque(PUSH), observers=observer)
        expected = np.outer(1.0 - np.exp(-40.0 * run.t), PUSH)
        return np.abs(run.external_estimate - expected).max()

    coarse, fine = error(4e-3), error(2e-3)
    assert fine < 0.1
    assert 1.7 < math.log2(coarse / fine) < 2.3
    assert error(5e-4) < 6e-3


def test_steps_by_hand_equal_the_run_and_the_log():
    observer = MomentumObserver(panda(), 40.0, order=2)
    sensors = th.Sensors(velocity_noise=1e-3, seed=1)
    run = moving(external=ExternalTorque(PUSH, start=0.1), observers=observer, sensors=sensors, duration=0.2)
    q, dq, x, dx = (run.signals[f"{name}_measured"] for name in ("q", "dq", "x", "dx"))
    by_hand = MomentumObserver(panda(), 40.0, order=2)
    steps = [by_hand.step(t, q[k], dq[k], run.tau[max(k - 1, 0)], x[k], dx[k]) for k, t in enumerate(run.t)]
    np.testing.assert_array_equal(steps, run.external_estimate)
    np.testing.assert_array_equal(by_hand.apply(run.t, q, dq, run.tau, x, dx), run.external_estimate)


def test_a_missing_state_of_motors_is_bridged():
    x = panda().elastic_equilibrium(Q)
    observer = MomentumObserver(panda().replace(friction=None), 40.0)
    rigid = panda().gravity_vector(Q)
    rigid[np.array(SOFT) - 1] = np.nan
    for k, position in enumerate((x, x, np.full(3, np.nan), x)):
        observer.step(1e-3 * k, Q, np.zeros(7), rigid, position, np.zeros(3))
        assert observer.status == (Status.invalid_input if k == 2 else Status.ok)
    np.testing.assert_allclose(observer.estimate, 0.0, atol=1e-9)
    observer.step(4e-3, Q, np.zeros(7), np.full(7, np.nan), x, np.zeros(3))
    assert observer.status == Status.invalid_input


@pytest.mark.parametrize(
    ("motors", "message"),
    [
        ((), "x and dx must be given: the springs of elastic joints, not their motors, act on the links"),
        ((np.zeros(3),), "x and dx must be given"),
        ((np.zeros(7), np.zeros(7)), r"x must have shape \(3,\), got \(7,\)"),
    ],
)
def test_steps_need_the_state_of_the_motors(motors, message):
    observer = MomentumObserver(panda(), 40.0)
    with pytest.raises(ValueError, match=message):
        observer.step(*state(), *motors)
    rows = [np.tile(x, (3, 1)) for x in (Q, np.zeros(7), np.zeros(7), *motors)]
    with pytest.raises(ValueError, match=message.replace("(3", "(3, 3").replace("(7", "(3, 7").replace(",\\", "\\")):
        observer.apply([0.0, 1e-3, 2e-3], *rows)


def spring_torque(run):
    return panda().elastic_torque(run.q, run.x) + panda().elastic_damping_torque(run.dq, run.dx)


def rigid_torque(run):
    """Mean torque on the links from each row to the next, by the trapezoidal rule at elastic joints."""
    tau, springs = run.tau.copy(), spring_torque(run)
    tau[:-1, np.array(SOFT) - 1] = 0.5 * (springs[1:] + springs[:-1])
    return tau


@pytest.mark.parametrize("order", [1, 2])
@pytest.mark.parametrize("kind", [MomentumObserver, EnergyObserver])
def test_the_discrete_form_is_that_of_a_rigid_arm(kind, order):
    run = moving(external=ExternalTorque(PUSH))
    soft = kind(panda(), 40.0, order=order).apply(run.t, run.q, run.dq, run.tau, run.x, run.dx)
    tau, rigid = rigid_torque(run), kind(panda().replace(elastic=()), 40.0, order=order)
    if kind is EnergyObserver:  # the rule's mean of products is not the product of means
        springs, joints = spring_torque(run), np.array(SOFT) - 1
        tau[:, joints] = 0.0
        power = np.sum(springs * run.dq[:, joints], axis=1, keepdims=True)
        mean = np.concatenate([[[0.0]], 0.5 * (power[1:] + power[:-1])])
        alone = rigid.apply(run.t, run.q, run.dq, tau)
        np.testing.assert_allclose(soft, alone - filtered(mean, order), atol=1e-9)
    else:
        np.testing.assert_allclose(soft, rigid.apply(run.t, run.q, run.dq, tau), atol=1e-9)


def filtered(x, order):
    """The low-pass of bandwidth 40 rad/s, exact for held inputs, from zero in the first row."""
    A = np.array([[-40.0]]) if order == 1 else np.array([[0.0, 1.0], [-1600.0, -80.0]])
    from scipy.linalg import expm

    Phi, y, rows = expm(1e-3 * A), np.zeros(order), [0.0]
    for value in x[1:, 0]:
        rest = np.zeros(order)
        rest[0] = value
        y = rest + Phi @ (y - rest)
        rows.append(y[0])
    return np.array(rows)[:, None]
