"""What the laws in task space do where they are singular: hold the arm with its load, and hand over without a jump."""

from __future__ import annotations

import copy
from collections.abc import Callable
from functools import cache

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import thunder_py as th
from thunder_py.control import GradientAdaptation, Status
from thunder_py.reference import SetPose, TaskReference

from .arms import Q0
from .laws import rate

RATE, LOAD_RATE = 30.0, 3.0  # cpp/src/control/hold.cpp
STRETCHED = np.array([0.3, 0.0, 0.0, 0.0, 0.0, 0.0, 0.2])
ARMS = {
    "panda": Q0,
    "iiwa14": np.array([0.2, 0.6, -0.3, -1.4, 0.2, 1.0, 0.1]),
    "ur5e": np.array([0.3, -1.2, 1.4, -0.8, -1.2, 0.2]),
}
PAYLOAD = th.Payload(2.0, (0.0, 0.0, 0.08))


@cache
def robot_of(name: str) -> th.Robot:
    return th.Robot.load(name)


def panda() -> th.Robot:
    return robot_of("panda")


def operational_space(robot: th.Robot) -> th.OperationalSpace:
    return th.OperationalSpace(robot, 100.0, 20.0, joint_damping(robot.name), 200.0)


def computed_torque(robot: th.Robot) -> th.CartesianComputedTorque:
    return th.CartesianComputedTorque(robot, 100.0, 20.0, joint_damping(robot.name))


def impedance(robot: th.Robot) -> th.Impedance:
    return th.Impedance(robot, [400.0] * 3 + [2.0] * 3, [60.0] * 3 + [0.1] * 3, joint_damping(robot.name))


@cache
def joint_damping(name: str) -> np.ndarray:
    """As high as sampling at 1 kHz suggests: a tenth of the inertia over the period."""
    robot = robot_of(name)
    return np.minimum(20.0, 100.0 / np.linalg.inv(robot.mass_matrix(ARMS[name])).diagonal())


def payload_law(robot: th.Robot) -> GradientAdaptation:
    return GradientAdaptation([2.0] + [20.0] * 3 + [200.0] * 6, unknown=robot.link_names[-1])


def mact(robot: th.Robot, adapts: bool = True) -> th.CartesianMACT:
    K_p, adaptation = [400.0] * 3 + [2.0] * 3, payload_law(robot) if adapts else None
    return th.CartesianMACT(robot, K_p, joint_damping(robot.name), adaptation=adaptation)


def backstepping(robot: th.Robot, adapts: bool = True) -> th.Backstepping:
    K_p, adaptation = [100.0] * 3 + [2.0] * 3, payload_law(robot) if adapts else None
    return th.Backstepping(robot, 5.0, K_p, joint_damping(robot.name), adaptation=adaptation)


def fixed(law: Law) -> th._core.TaskController:
    """A law for the Panda whose estimate does not move."""
    return law(panda(), adapts=False) if law in (mact, backstepping) else law(panda())


Law = Callable[..., th._core.TaskController]
FACTORIES = (operational_space, computed_torque, impedance, mact, backstepping)
LAWS = [pytest.param(law, id=law.__name__) for law in FACTORIES]


def written_out(robot: th.Robot, t: np.ndarray, q: np.ndarray, dq: np.ndarray, K_d: np.ndarray) -> np.ndarray:
    """The hold at states (k, n) with a known model."""
    K_d = np.diag(K_d)
    q_h, load = q[0], np.zeros(robot.n)
    gain = LOAD_RATE * (K_d + RATE * robot.mass_matrix(q[0]))
    torques = []
    for k in range(len(t)):
        dt = t[k] - t[k - 1] if k else 0.0
        dq_r = RATE * (q_h - q[k])
        s = dq_r - dq[k]
        load += dt * gain @ s
        Y = robot.slotine_li_regressor(q[k], dq[k], dq_r, -RATE * dq[k] + RATE * s)
        torques.append(Y @ robot.parameters + K_d @ s + load)
    return np.array(torques)


@pytest.mark.parametrize("law", LAWS)
def test_equals_the_hold_written_out(law: Law) -> None:
    target, dq0 = SetPose(panda().forward_kinematics(STRETCHED)), np.linspace(-0.4, 0.4, 7)
    run = th.simulate(panda(), fixed(law), target, 0.1, q0=STRETCHED, dq0=dq0, payloads=[PAYLOAD])
    assert (run.status == Status.singular).all()
    np.testing.assert_allclose(run.tau, written_out(panda(), run.t, run.q, run.dq, joint_damping("panda")), atol=1e-9)


@pytest.mark.parametrize("seed", range(3))
def test_storage_falls_by_the_damping(seed: int) -> None:
    """V = 1/2 (s' M s + d' G^-1 d), d the error of the load on the joints, has V' = -s' (K_d + rate M) s + s' Y p, with
    the true M and the error p of the estimate."""
    robot, rng = panda(), np.random.default_rng(seed)
    q, dq, q_h, d = rng.uniform(-1.0, 1.0, (4, 7))
    K_d, p = np.diag(rng.uniform(1.0, 10.0, 7)), rng.uniform(-0.3, 0.3, robot.p)
    G = LOAD_RATE * (K_d + RATE * robot.mass_matrix(q_h))

    dq_r = RATE * (q_h - q)
    s = dq_r - dq
    Y = robot.slotine_li_regressor(q, dq, dq_r, -RATE * dq + RATE * s)
    tau = Y @ (robot.parameters - p) + K_d @ s - d  # the load itself and its estimate differ by d
    ddq = robot.forward_dynamics(q, dq, tau)

    def V(q: np.ndarray, dq: np.ndarray, dt: float) -> float:
        slip, load = RATE * (q_h - q) - dq, d - dt * G @ s
        return 0.5 * (slip @ robot.mass_matrix(q) @ slip + load @ np.linalg.solve(G, load))

    assert rate(V, q, dq, ddq) == pytest.approx(-s @ (K_d + RATE * robot.mass_matrix(q)) @ s + s @ Y @ p, rel=1e-5)


class OutAndBack:
    """A pose, turned by 100 degrees between 1 s and 3 s: more than the laws can follow."""

    def __init__(self, T: np.ndarray, back: float = 3.0) -> None:
        self.near, self.back = SetPose(T)(0.0), back
        far = T.copy()
        far[:3, :3] = T[:3, :3] @ Rotation.from_euler("x", 100.0, degrees=True).as_matrix()
        self.far = SetPose(far)(0.0)

    def __call__(self, t: float) -> TaskReference:
        return self.far if 1.0 <= t < self.back else self.near


@pytest.mark.parametrize("law", LAWS)
@pytest.mark.parametrize("name", ARMS)
def test_a_loaded_arm_does_not_sink(law: Law, name: str) -> None:
    """2 kg that the model does not have, grasped when the law is singular; the gravity torque alone lets it fall."""
    robot, q0 = robot_of(name), ARMS[name]
    T = robot.forward_kinematics(q0)
    run = th.simulate(
        robot, law(robot), OutAndBack(T, 9.0), 4.0, q0=q0, payloads=[th.Payload(2.0, PAYLOAD.com, time=1.5)]
    )
    held = run.t >= 1.0
    assert (run.status[held] == Status.singular).all()
    p = robot.forward_kinematics(run.q)[:, :3, 3]
    assert np.linalg.norm(p[held] - p[held][0], axis=1).max() < 0.03
    assert np.linalg.norm(p[-1] - p[held][0]) < 2e-3


@pytest.mark.parametrize("law", LAWS)
def test_law_takes_over_without_a_jump(law: Law) -> None:
    T = panda().forward_kinematics(Q0)
    run = th.simulate(panda(), law(panda()), OutAndBack(T, 1.2), 4.0, q0=Q0, payloads=[PAYLOAD])
    first = np.flatnonzero((run.status[1:] == Status.ok) & (run.status[:-1] == Status.singular)) + 1
    assert len(first) == 1
    k = first[0]
    assert 1.2 <= run.t[k] < 1.8  # once the arm is at rest
    np.testing.assert_allclose(run.tau[k], run.tau[k - 1], atol=1e-12)
    alone = law(panda()).step(run.t[k], run.q[k], run.dq[k], SetPose(T)(0.0))
    assert np.abs(alone - run.tau[k]).max() > 0.05  # the jump without a handover
    if law in (computed_torque, impedance):  # without state: the difference goes
        alone = law(panda()).step(run.t[k + 500], run.q[k + 500], run.dq[k + 500], SetPose(T)(0.0))
        np.testing.assert_allclose(run.tau[k + 500], alone, atol=1e-4)
    assert (run.status[k:] == Status.ok).all()


@pytest.mark.parametrize("law", [mact, backstepping], ids=["mact", "backstepping"])
def test_an_adaptive_law_converges_after_a_hold_as_without_it(law: Law) -> None:
    T = panda().forward_kinematics(Q0)
    ends = []
    for reference in (OutAndBack(T, 1.2), SetPose(T)):
        run = th.simulate(panda(), law(panda()), reference, 4.0, q0=Q0, payloads=[PAYLOAD], log_every=10)
        ends.append(run.error_norm()[run.t > 2.0])
    assert ends[0].max() < 1.5 * ends[1].max()
    assert ends[0][-1] < 1.3 * ends[1][-1]


@cache
def conditions() -> tuple[np.ndarray, np.ndarray]:
    """Shares of the bent posture and the condition numbers there."""
    bends = np.linspace(0.01, 1.0, 2000)
    J = panda().jacobian(bends[:, None] * Q0)
    return bends, np.linalg.norm(J, axis=(1, 2)) * np.linalg.norm(np.linalg.pinv(J), axis=(1, 2))


@pytest.mark.parametrize("law", LAWS)
def test_a_held_arm_is_released_at_a_smaller_condition_number(law: Law) -> None:
    bends, numbers = conditions()
    controller, statuses = law(panda()), []
    q_h = bends[np.abs(numbers - 210.0).argmin()] * Q0
    for wanted in (190.0, 210.0, 190.0, 170.0, 190.0):
        q = bends[np.abs(numbers - wanted).argmin()] * Q0
        dq = RATE * (q_h - q) if len(statuses) == 2 else np.zeros(7)  # s = 0: the arm counts as at rest
        controller.step(1e-3 * len(statuses), q, dq, SetPose(panda().forward_kinematics(q))(0.0))
        statuses.append(controller.status.name)
    assert statuses == ["ok", "singular", "singular", "ok", "ok"]


@pytest.mark.parametrize("law", LAWS)
def test_a_copy_of_a_holding_law_continues(law: Law) -> None:
    one, reference, rng = law(panda()), OutAndBack(panda().forward_kinematics(Q0), 1.01), np.random.default_rng(5)

    def steps(first: int, last: int, *laws: th._core.TaskController) -> None:
        for k in range(first, last):
            t, q, dq = 1.0 + 1e-3 * k, Q0 + 1e-4 * rng.normal(size=7), 0.005 * rng.normal(size=7)
            torques = [each.step(t, q, dq, reference(t)) for each in laws]
            np.testing.assert_array_equal(torques, np.broadcast_to(torques[0], (len(laws), 7)))

    steps(0, 5, one)
    assert one.status is Status.singular
    steps(5, 20, one, copy.deepcopy(one))
    assert one.status is Status.ok


def test_a_hold_respects_the_torque_limits() -> None:
    law, limits = computed_torque(panda()), np.abs(panda().gravity_vector(STRETCHED)) + 0.5
    law.torque_limits = limits
    target = SetPose(panda().forward_kinematics(STRETCHED))
    run = th.simulate(panda(), law, target, 0.05, q0=STRETCHED, payloads=[PAYLOAD])
    assert (run.status == Status.singular).all()
    assert (np.abs(run.tau) <= limits).all()
    assert (np.abs(run.tau) == limits).any()


def test_estimate_stays_while_the_arm_is_held() -> None:
    law = mact(panda())
    run = th.simulate(panda(), law, OutAndBack(panda().forward_kinematics(Q0), 9.0), 2.0, q0=Q0, payloads=[PAYLOAD])
    held = np.flatnonzero(run.status == Status.singular)[1:]
    assert np.abs(run.parameters[held[0], 60:] - panda().parameters[60:]).max() > 0.01
    np.testing.assert_array_equal(run.parameters[held], np.broadcast_to(run.parameters[held[0]], (len(held), 70)))


@pytest.mark.parametrize("law", LAWS)
def test_an_arm_that_stretches_out_stays_held(law: Law) -> None:
    """It neither passes through the singularity nor alternates between law and hold."""
    target = panda().forward_kinematics(Q0)
    target[0, 3] += 1.0  # out of reach
    controller = law(panda())
    controller.torque_limits = panda().limits.effort
    run = th.simulate(panda(), controller, SetPose(target), 3.0, q0=Q0, payloads=[PAYLOAD], log_every=5)
    held = run.t >= run.t[run.status == Status.singular][0]
    assert (run.status[held] == Status.singular).all()
    p = panda().forward_kinematics(run.q[held])[:, :3, 3]
    assert np.linalg.norm(p[-100:] - p[0], axis=1).max() < 0.03
