from collections.abc import Callable
from functools import cache

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import thunder_py as th
from thunder_py.control import AdaptiveJacobianBackstepping, ExactPosition, GradientAdaptation, LengthAdaptation, Status
from thunder_py.reference import JointReference, SetPoint, SetPose, TaskReference

from .arms import Q0

Law = Callable[..., th._core.TaskController]
RATE, LOAD_RATE, STOP = 30.0, 3.0, 0.1  # cpp/src/control/hold.cpp
STRETCHED = np.array([0.3, 0.0, 0.0, 0.0, 0.0, 0.0, 0.2])  # beyond a limit of the Panda
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


def adaptive_jacobian(robot: th.Robot, adapts: bool = True) -> AdaptiveJacobianBackstepping:
    lengths = LengthAdaptation(300.0, unknown="tool_z", gamma=200.0) if adapts else None
    K_p, adaptation = [100.0] * 3 + [2.0] * 3, payload_law(robot) if adapts else None
    K_d, measure = joint_damping(robot.name), ExactPosition(robot)
    return AdaptiveJacobianBackstepping(robot, 5.0, K_p, K_d, adaptation=adaptation, lengths=lengths, measure=measure)


def fixed(law: Law) -> th._core.TaskController:
    """A law for the Panda whose estimate does not move."""
    return law(panda(), adapts=False) if law in (mact, backstepping, adaptive_jacobian) else law(panda())


FACTORIES = (operational_space, computed_torque, impedance, mact, backstepping)
LAWS = [pytest.param(law, id=law.__name__) for law in FACTORIES]
ALL = [*LAWS, pytest.param(adaptive_jacobian, id="adaptive_jacobian")]


def written_out(robot: th.Robot, t: np.ndarray, q: np.ndarray, dq: np.ndarray) -> np.ndarray:
    """The hold at states (k, n) with a known model."""
    q_h, load = q[0], np.zeros(robot.n)
    gain = 2.0 * LOAD_RATE * RATE * robot.mass_matrix(q[0])
    torques = []
    for k in range(len(t)):
        dt = t[k] - t[k - 1] if k else 0.0
        dq_r = RATE * (q_h - q[k])
        s = dq_r - dq[k]
        load += dt * gain @ s
        torque = robot.slotine_li_regressor(q[k], dq[k], dq_r, -RATE * dq[k] + 2.0 * RATE * s) @ robot.parameters
        torques.append(torque - robot.friction_torque(dq[k]) + load)
    return np.array(torques)


@pytest.mark.parametrize("law", ALL)
def test_equals_the_hold_written_out(law: Law) -> None:
    target, dq0 = SetPose(panda().forward_kinematics(STRETCHED)), np.linspace(-0.4, 0.4, 7)
    plant = panda().replace(limits=None)
    run = th.simulate(plant, fixed(law), target, 0.1, q0=STRETCHED, dq0=dq0, payloads=[PAYLOAD])
    assert (run.status == Status.singular).all()
    np.testing.assert_allclose(run.tau, written_out(panda(), run.t, run.q, run.dq), atol=1e-9)


class OutAndBack:
    """A pose, turned by 100 degrees between 1 s and 3 s: more than the laws can follow."""

    def __init__(self, T: np.ndarray, back: float = 3.0) -> None:
        self.near, self.back = SetPose(T)(0.0), back
        far = T.copy()
        far[:3, :3] = T[:3, :3] @ Rotation.from_euler("x", 100.0, degrees=True).as_matrix()
        self.far = SetPose(far)(0.0)

    def __call__(self, t: float) -> TaskReference:
        return self.far if 1.0 <= t < self.back else self.near


@pytest.mark.parametrize(
    ("law", "name"), [(operational_space, "panda"), (impedance, "iiwa14"), (computed_torque, "ur5e"), (mact, "iiwa14")]
)
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
    assert 1.2 <= run.t[k] < 2.2  # once the arm is at rest
    np.testing.assert_allclose(run.tau[k], run.tau[k - 1], atol=1e-12)
    alone = law(panda()).step(run.t[k], run.q[k], run.dq[k], SetPose(T)(0.0))
    assert np.abs(alone - run.tau[k]).max() > 0.05  # the jump without a handover
    if law in (computed_torque, impedance):  # without state: the difference goes
        alone = law(panda()).step(run.t[k + 500], run.q[k + 500], run.dq[k + 500], SetPose(T)(0.0))
        np.testing.assert_allclose(run.tau[k + 500], alone, atol=1e-4)
    assert (run.status[k:] == Status.ok).all()


@cache
def conditions() -> tuple[np.ndarray, np.ndarray]:
    """Shares of the bent posture and the condition numbers there."""
    bends = np.linspace(0.01, 1.0, 2000)
    J = panda().jacobian(bends[:, None] * Q0)
    return bends, np.linalg.norm(J, axis=(1, 2)) * np.linalg.norm(np.linalg.pinv(J), axis=(1, 2))


@pytest.mark.parametrize("law", ALL)
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


def test_a_hold_respects_the_torque_limits() -> None:
    law, limits = computed_torque(panda()), np.abs(panda().gravity_vector(STRETCHED)) + 0.5
    law.torque_limits = limits
    target = SetPose(panda().forward_kinematics(STRETCHED))
    run = th.simulate(panda().replace(limits=None), law, target, 0.05, q0=STRETCHED, payloads=[PAYLOAD])
    assert (run.status == Status.singular).all()
    assert (np.abs(run.tau) <= limits).all()
    assert (np.abs(run.tau) == limits).any()


K, D = 200.0, joint_damping("panda")
JOINT_LAWS: dict[str, Callable[[], th._core.JointController]] = {
    "independent_joint": lambda: th.IndependentJoint(panda(), K, D, inertia=0.1, damping=0.1),
    "pd_gravity": lambda: th.PDGravity(panda(), K, D),
    "craig": lambda: th.ComputedTorque(panda(), K_0=100.0, K_1=20.0),
    "impedance_form": lambda: th.ComputedTorque(panda(), K_p=K, K_d=D),
    "passivity_based": lambda: th.PassivityBased(panda(), 10.0, D),
    "robust_unit_vector": lambda: th.RobustUnitVector(panda(), 100.0, 20.0, rho=50.0, epsilon=0.1),
    "slotine_li": lambda: th.SlotineLi(panda(), 10.0, D, adaptation=payload_law(panda())),
    "act": lambda: th.ACT(panda(), K_0=100.0, K_1=20.0, adaptation=payload_law(panda())),
    "joint_mact": lambda: th.MACT(panda(), K, D, adaptation=payload_law(panda())),
}


class Until:
    """A reference that is lost."""

    def __init__(self, reference: JointReference | TaskReference, end: float) -> None:
        self.reference, self.end = reference, end

    def __call__(self, t: float) -> JointReference | TaskReference:
        if t < self.end:
            return self.reference
        return self.reference._replace(**{self.reference._fields[0]: 0.0 * self.reference[0] + np.nan})


def assert_held(run: th.SimulationResult, held: np.ndarray, stop: float = 0.0) -> None:
    """Where it is, or where a motion comes to rest that goes on for `stop` times its velocity."""
    p = panda().forward_kinematics(run.q[held])[:, :3, 3]
    rest = panda().forward_kinematics(run.q[held][0] + stop * run.dq[held][0])[:3, 3]
    assert np.linalg.norm(p - rest, axis=1).max() < 0.03 + np.linalg.norm(p[0] - rest)
    assert np.linalg.norm(p[-1] - rest) < 3e-3


@pytest.mark.parametrize("law", [*ALL, *JOINT_LAWS])
def test_a_lost_reference_does_not_let_a_loaded_arm_sink(law: Law | str) -> None:
    joints = isinstance(law, str)
    controller = JOINT_LAWS[law]() if isinstance(law, str) else law(panda())
    reference = (SetPoint(Q0) if joints else SetPose(panda().forward_kinematics(Q0)))(0.0)
    load = th.Payload(2.0, PAYLOAD.com, time=0.1)
    run = th.simulate(panda(), controller, Until(reference, 0.1), 1.6, 2e-3, q0=Q0, payloads=[load])
    held = run.t >= 0.1 - 1e-9
    assert (run.status[held] == Status.invalid_input).all()
    assert (run.status[~held] == Status.ok).all()
    assert_held(run, held, STOP)


DIVERGING = GradientAdaptation(1e-9, unknown="link7")


@pytest.mark.filterwarnings("ignore:the run diverged:RuntimeWarning")
@pytest.mark.parametrize(
    "law",
    [
        pytest.param(lambda: th.SlotineLi(panda(), 10.0, D, adaptation=DIVERGING), id="slotine_li"),
        pytest.param(lambda: th.ACT(panda(), K_0=100.0, K_1=20.0, adaptation=DIVERGING), id="act"),
        pytest.param(lambda: th.MACT(panda(), K, D, adaptation=DIVERGING), id="joint_mact"),
        pytest.param(lambda: th.CartesianMACT(panda(), 100.0, D, adaptation=DIVERGING), id="mact"),
        pytest.param(lambda: th.Backstepping(panda(), 5.0, 50.0, D, adaptation=DIVERGING), id="backstepping"),
        pytest.param(
            lambda: AdaptiveJacobianBackstepping(
                panda(), 5.0, 50.0, D, adaptation=DIVERGING, lengths=None, measure=ExactPosition(panda())
            ),
            id="adaptive_jacobian",
        ),
    ],
)
def test_an_arm_whose_estimate_diverged_does_not_sink(law: Callable[[], th._core.Controller]) -> None:
    """It is held with the initial estimate, until the controller is reset."""
    controller, start = law(), Q0 + 0.01
    near = (
        SetPoint(start)
        if isinstance(controller, th._core.JointController)
        else SetPose(panda().forward_kinematics(start))
    )
    run = th.simulate(panda(), controller, near, 1.5, 2e-3, q0=Q0, payloads=[PAYLOAD])
    held = np.arange(len(run.t)) >= 2
    assert (run.status[held] == Status.diverged).all()
    assert_held(run, held)


BAD = Until(SetPose(np.eye(4))(0.0), 0.0)(0.0)


@pytest.mark.parametrize("law", ALL)
def test_a_hold_survives_lost_measurements(law: Law) -> None:
    """The load is known by then; without it the arm would sink a little each time."""
    one, twin, q = fixed(law), fixed(law), Q0 + 1e-3
    for k in range(20):
        for each in (one, twin):
            each.step(1e-3 * k, Q0 if k == 0 else q, np.zeros(7), BAD)
    tau = one.step(0.02, np.full(7, np.nan), np.zeros(7), BAD)
    spring = twin.step(0.02, q, np.zeros(7), BAD)
    q_h = fixed(law)
    q_h.step(0.0, Q0, np.zeros(7), BAD)
    load = spring - q_h.step(0.0, q, np.zeros(7), BAD)
    assert np.abs(load).min() > 1e-5
    np.testing.assert_allclose(tau - panda().gravity_vector(q), load * 19 / 20, rtol=1e-9)
    np.testing.assert_allclose(one.step(0.021, q, np.zeros(7), BAD), twin.step(0.021, q, np.zeros(7), BAD), atol=1e-12)


@pytest.mark.parametrize("law", ALL)
def test_a_single_lost_reference_does_not_stop_a_motion(law: Law) -> None:
    """Near a singularity neither: only a law that was singular has to come away from it."""
    bends, numbers = conditions()
    dq = np.full(7, 0.3)
    for number in (60.0, 190.0):
        q = bends[np.abs(numbers - number).argmin()] * Q0
        reference, torques = SetPose(panda().forward_kinematics(q))(0.0), []
        for lost in (BAD, reference):
            controller = fixed(law)
            controller.step(0.0, q, dq, reference)
            controller.step(1e-3, q, dq, lost)
            torques.append(controller.step(2e-3, q, dq, reference))
            assert controller.status is Status.ok
        if law is not operational_space:  # its integral paused for a step
            np.testing.assert_allclose(*torques, atol=1e-9)


@pytest.mark.parametrize("law", ALL)
def test_a_hold_is_forgotten_in_a_pause(law: Law) -> None:
    """The arm may have been moved meanwhile."""
    controller, later = fixed(law), Q0 + 0.2
    controller.step(0.0, Q0, np.full(7, 0.5), BAD)
    np.testing.assert_allclose(controller.step(0.2, later, np.zeros(7), BAD), panda().gravity_vector(later), atol=1e-9)
    here = SetPose(panda().forward_kinematics(Q0))(0.0)
    np.testing.assert_allclose(
        controller.step(0.4, Q0, np.zeros(7), here), fixed(law).step(0.4, Q0, np.zeros(7), here), atol=1e-9
    )


def coasting(t: float, q: np.ndarray, dq: np.ndarray, stop: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """A motion that comes to rest."""
    b = 2.0 / stop
    x = b * t
    decay = np.exp(-x)
    return q + dq * (2.0 - (2.0 + x) * decay) / b, (1.0 + x) * decay * dq, -b * x * decay * dq


def test_a_motion_without_its_reference_comes_to_rest() -> None:
    """Within the joint limits: the second joint begins 0.02 rad from its limit."""
    q0, dq0 = Q0.copy(), np.linspace(-0.5, 0.6, 7)
    dq0[1], q0[1] = -0.4, panda().limits.lower[1] + 0.02
    law = th.SlotineLi(panda(), 10.0, D, adaptation=None)
    run = th.simulate(panda(), law, Until(SetPoint(q0)(0.0), 0.0), 0.6, q0=q0, dq0=dq0)
    stop = np.full(7, STOP)
    stop[1] = 0.02 / 0.4
    motion = [coasting(t, q0, dq0, stop) for t in run.t]
    assert np.abs(run.q - [m[0] for m in motion]).max() < 2e-3
    assert run.q[:, 1].min() > panda().limits.lower[1] - 1e-4
    np.testing.assert_allclose(run.q[-1], q0 + stop * dq0, atol=1e-4)
    for k in (0, 20, 100):
        q_h, dq_h, ddq_h = motion[k]
        dq_r, ddq_r = dq_h + RATE * (q_h - run.q[k]), ddq_h + RATE * (dq_h - run.dq[k])
        s = dq_r - run.dq[k]
        Y = panda().slotine_li_regressor(run.q[k], run.dq[k], dq_r, ddq_r + 2.0 * RATE * s)
        np.testing.assert_allclose(run.tau[k], Y @ panda().parameters, atol=0.05)  # but for the load


def test_an_estimate_rests_after_a_hold_as_long_as_it_lasted() -> None:
    law, far = JOINT_LAWS["slotine_li"](), SetPoint(Q0 + 0.05)(0.0)
    rests = []
    for k in range(120):
        before = law.parameters
        law.step(1e-3 * k, Q0, np.zeros(7), Until(far, 0.0)(0.0) if 10 <= k < 20 or 50 <= k < 51 else far)
        rests.append(bool((law.parameters == before).all()))
    assert all(rests[10:31])  # twice the time
    assert all(rests[50:53])
    assert sum(rests[1:]) <= 22 + 3  # a step more until the first gradient, and one by rounding
