"""Impedance control: the formula, passivity, rest under a wrench, desired inertia."""

from __future__ import annotations

from contextlib import nullcontext

import numpy as np
import pytest

import thunder_py as th
from thunder_py.control import Impedance, Status
from thunder_py.reference import SetPose
from thunder_py.simulation import ExternalWrench

from .arms import Q0, panda
from .task_terms import ROWS, SCARA_Q0, SCARA_ROWS, State, bias_torque, gain, scara, states, task_terms
from .test_task_terms import later

CASES = [pytest.param(s, id=f"{s.robot.name}-{len(s.rows)}") for s in states(2)]
WRENCH = np.array([3.0, -5.0, 4.0, 0.5, -0.3, 0.4])


def law_of(s: State, **changes: object) -> Impedance:
    arguments: dict[str, object] = {
        "K": gain(s.rows, 200.0, 50.0),
        "D": gain(s.rows, 40.0, 10.0),
        "K_d": np.linspace(1.0, 3.0, s.robot.n),
        "rows": s.rows,
    }
    return Impedance(s.robot, **{**arguments, **changes})  # type: ignore[arg-type]


def inertia(s: State) -> np.ndarray:
    J = task_terms(s).J
    return np.linalg.inv(J @ np.linalg.solve(s.robot.mass_matrix(s.q), J.T))


@pytest.mark.parametrize("s", CASES)
def test_equals_the_law_written_out(s: State) -> None:
    task, Lambda = task_terms(s), inertia(s)
    M, C = s.robot.mass_matrix(s.q), s.robot.coriolis_matrix(s.q, s.dq)
    J_bar = np.linalg.solve(M, task.J.T) @ Lambda
    mu = J_bar.T @ C @ J_bar - Lambda @ task.J_dot @ J_bar
    force = gain(s.rows, 200, 50) * task.e + gain(s.rows, 40, 10) * task.e_dot + mu @ task.e_dot
    force += Lambda @ (task.f_dot - task.J_dot @ s.dq)
    P = np.eye(s.robot.n) - task.J.T @ J_bar.T
    expected = task.J.T @ force + bias_torque(s) - P @ (np.linspace(1, 3, s.robot.n) * s.dq)
    law = law_of(s)
    np.testing.assert_allclose(law.step(0.0, s.q, s.dq, s.reference), expected, atol=1e-9)
    assert law.status is Status.ok


@pytest.mark.parametrize("s", CASES)
def test_storage_falls_as_the_damper_takes_and_the_wrench_gives(s: State) -> None:
    """V = 1/2 e' K e + 1/2 e'' Lambda e' has V' = -e'' D e' - e'' F: passive, orientation and redundancy included."""
    K, D = gain(s.rows, 200.0, 50.0), gain(s.rows, 40.0, 10.0)
    pushed = s.robot.jacobian(s.q).T @ WRENCH
    tau = law_of(s).step(0.0, s.q, s.dq, s.reference)
    ddq = s.robot.forward_dynamics(s.q, s.dq, tau + pushed)

    def storage(h: float) -> float:
        there = later(s, h, ddq)
        task = task_terms(there)
        return 0.5 * float(task.e @ (K * task.e) + task.e_dot @ inertia(there) @ task.e_dot)

    h = 1e-5
    task = task_terms(s)
    felt = inertia(s) @ task.J @ np.linalg.solve(s.robot.mass_matrix(s.q), pushed)
    expected = -task.e_dot @ (D * task.e_dot) - task.e_dot @ felt
    assert (storage(h) - storage(-h)) / (2 * h) == pytest.approx(expected, rel=1e-5, abs=1e-5)


def test_square_arm_at_a_fixed_pose_keeps_its_coriolis_torque() -> None:
    """Then the law is J' (K e + D e') + G: what makes it passive is that C dq is not cancelled."""
    s = next(s for s in states(2) if s.rows == SCARA_ROWS)
    s = s._replace(reference=s.reference._replace(xi=np.zeros(6), xi_dot=np.zeros(6)))
    task = task_terms(s)
    tau = law_of(s).step(0.0, s.q, s.dq, s.reference)
    force = gain(s.rows, 200, 50) * task.e + gain(s.rows, 40, 10) * task.e_dot
    np.testing.assert_allclose(tau, task.J.T @ force + s.robot.gravity_vector(s.q), atol=1e-10)
    assert np.abs(s.robot.coriolis_matrix(s.q, s.dq) @ s.dq).max() > 0.1


@pytest.mark.parametrize(
    ("robot", "start", "rows", "spin"),
    [(panda(), Q0, ROWS, 1.0), (panda(), Q0, ("x", "y", "z"), 1.0), (scara(), SCARA_Q0, SCARA_ROWS, 20.0)],
    ids=["panda", "panda position", "scara"],
)
def test_rests_where_the_spring_holds_a_constant_wrench(
    robot: th.Robot, start: np.ndarray, rows: tuple, spin: float
) -> None:
    kept = [ROWS.index(r) for r in rows]
    K = np.array([400.0, 500.0, 600.0, 30.0, 30.0, 30.0])[kept]
    law = Impedance(robot, K, np.array([150.0, 150, 150, 2, 2, spin])[kept], 2.0, rows=rows)
    T = robot.forward_kinematics(start)
    pushed = np.where(np.isin(ROWS, rows), WRENCH, 0.0)
    run = th.simulate(robot, law, SetPose(T), 14.0, q0=start, external=ExternalWrench(pushed), log_every=100)
    assert (run.status == Status.ok).all()
    moved = robot.forward_kinematics(run.q[-1])
    linear = [i for i in range(3) if ROWS[i] in rows]
    np.testing.assert_allclose((moved - T)[linear, 3], pushed[linear] / K[: len(linear)], atol=1e-5)
    s = State(robot, run.q[-1], np.zeros(robot.n), SetPose(T)(0.0), rows)
    turned = [i for i in range(len(rows)) if rows[i].startswith("r")]
    moments = np.linalg.solve(task_terms(s).L.T, pushed)[[ROWS.index(r) for r in rows]]  # J' L' K e balances J' F
    np.testing.assert_allclose(-(K * task_terms(s).e)[turned], moments[turned], atol=1e-4)


@pytest.mark.parametrize("s", CASES)
def test_desired_inertia_with_a_measured_wrench(s: State) -> None:
    """M_d e'' + D e' + K e = -F."""
    M_d, task = gain(s.rows, 5.0, 0.5), task_terms(s)
    law = law_of(s, inertia=M_d)
    law.wrench = WRENCH
    pushed = s.robot.jacobian(s.q).T @ WRENCH
    tau = law.step(0.0, s.q, s.dq, s.reference)
    ddq = s.robot.forward_dynamics(s.q, s.dq, tau + pushed)
    e_ddot = task.f_dot - task.J_dot @ s.dq - task.J @ ddq
    felt = inertia(s) @ task.J @ np.linalg.solve(s.robot.mass_matrix(s.q), pushed)
    left = M_d * e_ddot + gain(s.rows, 40, 10) * task.e_dot + gain(s.rows, 200, 50) * task.e
    np.testing.assert_allclose(left, -felt, atol=1e-8)
    if len(s.rows) == 6:  # F as the errors feel it
        np.testing.assert_allclose(felt, np.linalg.solve(task.L.T, WRENCH), atol=1e-8)


def test_wrench_needs_a_desired_inertia() -> None:
    law = Impedance(panda(), 100.0, 20.0, 2.0)
    with pytest.raises(ValueError, match="wrench must not be set without a desired inertia"):
        law.wrench = WRENCH
    shaped = Impedance(panda(), 100.0, 20.0, 2.0, inertia=2.0)
    np.testing.assert_array_equal(shaped.wrench, 0.0)
    shaped.wrench = WRENCH
    np.testing.assert_array_equal(shaped.wrench, WRENCH)
    with pytest.raises(ValueError, match=r"wrench must have shape \(6,\), got \(3,\)"):
        shaped.wrench = WRENCH[:3]


def test_null_space_comes_to_rest() -> None:
    law = Impedance(panda(), [300.0] * 3 + [20.0] * 3, [40.0] * 3 + [1.0] * 3, 3.0)
    spin = np.linalg.svd(panda().jacobian(Q0))[2][-1]
    run = th.simulate(panda(), law, SetPose(panda().forward_kinematics(Q0)), 3.0, q0=Q0, dq0=spin, log_every=100)
    assert np.abs(run.dq[-1]).max() < 1e-2 * np.abs(spin).max()
    assert run.error_norm().max() < 1e-3


def test_damping_is_bounded_by_twice_the_inertia_over_the_period() -> None:
    """About the axis of the Panda's hand, 0.005 kg m^2, at 1 kHz: D < 9.8 N m s."""
    goal, J = panda().forward_kinematics(Q0), panda().jacobian(Q0)[3:]
    axis = goal[:3, 2]
    assert axis @ np.linalg.inv(J @ np.linalg.inv(panda().mass_matrix(Q0)) @ J.T) @ axis == pytest.approx(
        0.005, rel=0.1
    )
    goal[0, 3] += 0.01
    speeds = {}
    for D in (9.0, 11.0):
        law = Impedance(panda(), [500.0] * 3 + [10.0] * 3, [20.0] * 3 + [D] * 3, 1.0)
        expected = pytest.warns(RuntimeWarning, match="D or K_d of Impedance is too high") if D > 9.8 else nullcontext()
        with expected:
            run = th.simulate(panda(), law, SetPose(goal), 0.5, q0=Q0)
        speeds[D] = np.abs(run.dq[-20:]).max()
    assert speeds[9.0] < 0.2
    assert speeds[11.0] > 1.0
