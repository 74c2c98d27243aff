"""Between command and torque: delay, limits, lag, DC motors; and what pushes from outside."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.integrate import solve_ivp

import thunder_py as th
from tests.refusals import assert_refused
from thunder_py.control import Status
from thunder_py.control.motor import DCMotor
from thunder_py.reference import SetPoint
from thunder_py.simulation import Actuators, ExternalTorque, ExternalWrench, FrictionModel

from ..control.arms import Q0, elbow, elbow_motion, panda

MOTOR = DCMotor(
    inertia=1e-4, damping=1e-4, torque_constant=0.05, resistance=0.5, back_emf=[0.05, 0.04], gear_ratio=[50.0, 20.0]
)
DAMPING = np.array([50.0**2 * 0.05 * 0.05 / 0.5, 20.0**2 * 0.05 * 0.04 / 0.5])


class Square:
    """Torque that changes its sign every 50 ms."""

    def step(self, t: float, q: np.ndarray, dq: np.ndarray, reference: object) -> np.ndarray:
        return np.array([8.0, -3.0]) * (1.0 if int(t * 20.0 + 1e-9) % 2 == 0 else -1.0)


def run(
    actuators: Actuators | None = None, duration: float = 0.2, dt: float = 1e-3, **options: object
) -> th.SimulationResult:
    still = SetPoint([0.0, 0.0])
    return th.simulate(elbow(), Square(), still, duration, dt, actuators=actuators, dq0=[0.5, -0.2], **options)  # type: ignore[arg-type]


def test_perfect_actuators_change_nothing() -> None:
    plain, driven = run(), run(Actuators())
    for name in ("q", "dq", "tau", "status"):
        np.testing.assert_array_equal(getattr(driven, name), getattr(plain, name))
    np.testing.assert_array_equal(driven.signals["tau_commanded"], plain.tau)
    limited = run(torque_limits=2.0), run(Actuators(), torque_limits=2.0)
    np.testing.assert_array_equal(limited[0].tau, limited[1].tau)
    np.testing.assert_array_equal(limited[0].status, limited[1].status)
    assert (limited[0].status == Status.saturated).all()


def test_delay() -> None:
    result = run(Actuators(delay=7e-3))
    asked = result.signals["tau_commanded"]
    np.testing.assert_array_equal(result.tau[7:], asked[:-7])
    np.testing.assert_array_equal(result.tau[:7], np.tile(asked[0], (7, 1)))


def test_rate_limits() -> None:
    result = run(Actuators(rate_limits=[100.0, math.inf]))
    assert np.abs(np.diff(result.tau[:, 0])).max() == pytest.approx(0.1)
    np.testing.assert_array_equal(result.tau[:, 1], result.signals["tau_commanded"][:, 1])
    np.testing.assert_array_equal(result.tau[0], result.signals["tau_commanded"][0])
    moving = result.tau[:, 0] != result.signals["tau_commanded"][:, 0]
    np.testing.assert_array_equal(result.status == Status.saturated, moving)


def test_lag_is_an_exponential() -> None:
    result = run(Actuators(lag=[0.02, 0.0]))
    np.testing.assert_allclose(result.tau[:51, 0], 8.0, atol=1e-12)  # at rest with the first command
    np.testing.assert_allclose(
        result.tau[50:100, 0], -8.0 + 16.0 * np.exp(-(result.t[50:100] - 0.05) / 0.02), atol=1e-6
    )
    np.testing.assert_array_equal(result.tau[:, 1], result.signals["tau_commanded"][:, 1])


@pytest.mark.parametrize("L", [0.0, 4e-3])
@pytest.mark.parametrize("compensate", [False, True])
def test_dc_motor_agrees_with_scipy(L: float, compensate: bool) -> None:
    """Currents and voltages, written anew."""
    V, r, k_m, R = 12.0, MOTOR.gear_ratio, MOTOR.torque_constant, MOTOR.resistance
    actuators = Actuators(motor=MOTOR, inductance=L, voltage_limit=V, compensate_back_emf=compensate)
    result = run(actuators, 0.1, 1e-3, control_period=1e-2)
    state = np.concatenate([result.q[0], result.dq[0], result.tau[0] / (r * k_m)])
    for k in range(len(result.t) - 1):
        u = R * result.signals["tau_commanded"][k] / (r * k_m)
        u = np.clip(u + compensate * MOTOR.back_emf * r * result.dq[k], -V, V)

        def f(_: float, x: np.ndarray, u: np.ndarray = u) -> np.ndarray:
            q, dq, i = np.split(x, 3)
            steady = (u - MOTOR.back_emf * r * dq) / R
            tau = r * k_m * (i if L else steady)
            return np.concatenate([dq, elbow().forward_dynamics(q, dq, tau), (R / L if L else 0.0) * (steady - i)])

        state = solve_ivp(f, (0.0, 1e-2), state, rtol=1e-10, atol=1e-12).y[:, -1]
        np.testing.assert_allclose(np.concatenate([result.q[k + 1], result.dq[k + 1]]), state[:4], atol=1e-5)
        if L:
            np.testing.assert_allclose(result.tau[k + 1], r * k_m * state[4:], atol=1e-3)


@pytest.mark.parametrize("options", [{}, {"voltage_limit": 24.0}, {"inductance": 1e-3, "rate_limits": 5e3}])
def test_missing_readings_stay_out_of_the_drives(options: dict) -> None:
    actuators = Actuators(motor=MOTOR, compensate_back_emf=True, **options)
    result = run(actuators, 1.0, sensors=th.Sensors(dropout=0.01, seed=2))
    missing = np.isnan(result.signals["dq_measured"]).any(axis=1)
    assert missing.sum() > 3
    assert not result.diverged
    assert np.isfinite(result.tau).all()
    assert np.isfinite(result.q).all()
    if not options:  # the drive makes up for the last speed that was seen
        k = int(np.flatnonzero(missing)[0])
        expected = result.signals["tau_commanded"][k] + DAMPING * (result.dq[k - 1] - result.dq[k])
        np.testing.assert_allclose(result.tau[k], expected, rtol=1e-12)


@pytest.mark.parametrize("options", [{}, {"delay": 1e-3}, {"rate_limits": 1e6}])
def test_a_command_that_is_no_number_is_not_followed(options: dict) -> None:
    class Torn:
        def step(self, t: float, q: np.ndarray, dq: np.ndarray, reference: object) -> np.ndarray:
            return np.array([np.nan, 2.0]) if 0.005 < t < 0.0075 else np.array([1.0, 2.0])

    result = th.simulate(elbow(), Torn(), SetPoint([0, 0]), 0.02, torque_limits=50.0, actuators=Actuators(**options))
    np.testing.assert_array_equal(result.tau, np.tile([1.0, 2.0], (len(result.t), 1)))
    np.testing.assert_array_equal(
        result.status == Status.saturated, np.isnan(result.signals["tau_commanded"]).any(axis=1)
    )


def test_motors_of_elastic_joints_feel_their_own_speed() -> None:
    robot = elbow().replace(elastic=(th.model.description.Elastic(joint=2, K=(100.0,), Mm=0.1),), friction=None)
    result = th.simulate(
        robot, Square(), SetPoint([0, 0]), 0.02, actuators=Actuators(motor=MOTOR), dq0=[0.5, 0.0], dx0=[1.0]
    )
    speeds = np.stack([result.dq[:, 0], result.dx[:, 0]], axis=1)
    np.testing.assert_allclose(result.tau, result.signals["tau_commanded"] - DAMPING * speeds, rtol=1e-12)


STIFFNESS = np.array([200.0, 200.0, 200.0, 200.0, 20.0, 20.0, 20.0])
DAMPERS = np.array([40.0, 40.0, 40.0, 40.0, 2.0, 2.0, 1.0])


class Hold:
    """Gravity compensation with springs and dampers at the joints."""

    def __init__(self, robot: th.Robot, q: np.ndarray) -> None:
        self.robot, self.q = robot, q

    def step(self, t: float, q: np.ndarray, dq: np.ndarray, reference: object) -> np.ndarray:
        return self.robot.gravity_vector(q) + STIFFNESS * (self.q - q) - DAMPERS * dq


def push(*external: object, duration: float = 0.1, **options: object) -> th.SimulationResult:
    robot = panda()
    return th.simulate(robot, Hold(robot, Q0), SetPoint(Q0), duration, external=external, **options)  # type: ignore[arg-type]


def test_wrenches_act_through_the_jacobian_while_they_last() -> None:
    W = np.array([5.0, -3.0, 2.0, 0.5, 0.1, -0.4])
    result = push(ExternalWrench(W, "link6", start=0.02, stop=0.05), ExternalTorque(np.full(7, 0.5), start=0.04))
    expected = np.where((result.t >= 0.0199)[:, None] & (result.t < 0.0499)[:, None], 1.0, 0.0)
    expected = expected * (np.swapaxes(panda().jacobian(result.q, "link6"), 1, 2) @ W)
    expected += 0.5 * (result.t >= 0.0399)[:, None]
    np.testing.assert_allclose(result.signals["external"], expected, atol=1e-12)
    assert np.abs(result.q[result.t < 0.0205] - Q0).max() < 1e-9
    assert np.abs(result.q[-1] - Q0).max() > 1e-4


def test_bad_pushes() -> None:
    assert_refused(
        (lambda: ExternalWrench([1.0] * 5), "wrench must have shape (6,), got (5,)"),
        (lambda: ExternalWrench(np.ones(6), start=2.0, stop=1.0), "wrench stop must be after start = 2, got 1"),
        (lambda: push(ExternalWrench(np.ones(6), "hand")), "frame must be a link index 0 to 7 or one of base..."),
        (lambda: push(ExternalWrench(np.ones(6), True)), "frame must be a link index or the name of a frame, got True"),
        (lambda: push(ExternalTorque([1.0])), "external torque must have shape (7,), got (1,)"),
        (lambda: push(3), "external must be a sequence of ExternalWrench and ExternalTorque, got 3 in it"),
    )

    class Plant:
        n = 2

        def forward_dynamics(self, q: np.ndarray, dq: np.ndarray, tau: np.ndarray) -> np.ndarray:
            return tau

    run = {"plant": Plant(), "controller": Square(), "reference": elbow_motion(), "duration": 0.1}
    assert_refused(
        ({"external": ExternalTorque([1.0, 1.0])}, "external must be empty unless plant is a Robot..."),
        (
            {"friction": FrictionModel(viscous=[[1.0]], coulomb=[[1.0]])},
            "friction must be None unless plant is...",
        ),
        (
            {"actuators": Actuators(lag=1e-4)},
            "dt must be at most 2.5 times the shortest time constant...",
        ),
        call=lambda **arguments: th.simulate(**run, **arguments),
    )


def test_refusals() -> None:
    assert_refused(
        ({"delay": 1e-4}, "actuators delay must be a whole multiple of the control period 0.001, got 0.0001"),
        ({"rate_limits": 0.0}, "actuators rate_limits must be positive, got 0.0"),
        ({"lag": [0.1, -0.1]}, "actuators lag must not be negative, got [0.1, -0.1]"),
        ({"lag": 0.1, "motor": MOTOR}, "...lag must be 0 with a motor, whose lag follows from its inductance"),
        ({"inductance": 0.1}, "...motor must be given with inductance, voltage_limit or compensate_back_emf, got None"),
        ({"motor": 3}, "actuators motor must be a DCMotor or None, got 3"),
        ({"motor": MOTOR, "voltage_limit": [24.0]}, "actuators voltage_limit must be a number or 2 numbers..."),
        call=lambda **arguments: run(Actuators(**arguments)),
    )
