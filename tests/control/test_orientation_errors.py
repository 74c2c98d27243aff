"""Errors of orientation in the laws of task space, against SciPy's rotations and finite differences."""

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import thunder_py as th
from tests.refusals import assert_refused
from thunder_py.control import Status
from thunder_py.reference import SetPose, TaskReference

from .arms import Q0, panda
from .task_terms import SCARA_Q0, SCARA_ROWS, scara
from .test_task_controllers import (
    ALL,
    Factory,
    backstepping,
    computed_torque,
    impedance,
    mact,
    operational_space,
    turned,
    turned_about_z,
)

pytestmark = pytest.mark.filterwarnings("ignore:the run passes")  # limits of velocities

KINDS = ("axis_angle", "axis_angle_plain", "rotation_vector", "quaternion", "zyz", "zyx")
FAR = ("axis_angle_plain", "rotation_vector", "quaternion")
STARTS = {
    "panda": Q0,
    "iiwa14": np.array([0.2, 0.6, -0.3, -1.4, 0.2, 1.0, 0.1]),
    "ur5e": np.array([0.3, -1.2, 1.4, -0.8, -1.2, 0.2]),
    "gen3": np.array([0.1, 0.4, 0.3, -1.2, 0.2, 0.8, 0.1]),
}


def error_of(kind: str, R_d: np.ndarray, R: np.ndarray) -> np.ndarray:
    turn = Rotation.from_matrix(R_d @ R.T)
    if kind in ("zyz", "zyx"):
        angles_d, angles = (Rotation.from_matrix(each).as_euler(kind.upper()) for each in (R_d, R))
        difference = angles_d - angles
        return (difference + np.pi) % (2.0 * np.pi) - np.pi
    vector = turn.as_rotvec()
    theta = np.linalg.norm(vector)
    size = {"rotation_vector": theta, "quaternion": np.sin(theta / 2)}.get(kind, np.sin(theta))
    return vector * size / theta


class Turning:
    """A pose that turns with a constant acceleration, and moves."""

    def __init__(self, T: np.ndarray, degrees: float) -> None:
        self.p, self.R = T[:3, 3] + [0.05, -0.02, 0.04], turned(T, degrees)[:3, :3]
        self.v, self.w, self.w_dot = np.array([0.1, 0.2, -0.1]), np.array([0.3, -0.5, 0.4]), np.array([0.2, 0.1, -0.3])

    def __call__(self, t: float) -> TaskReference:
        # R' = [w] R with w = w_0 + w_dot t, to the third order in t by the Magnus expansion
        turn = self.w * t + 0.5 * self.w_dot * t**2 + np.cross(self.w_dot, self.w) * t**3 / 12.0
        R = Rotation.from_rotvec(turn).as_matrix() @ self.R
        xi, xi_dot = np.hstack([self.v, self.w + self.w_dot * t]), np.hstack([np.zeros(3), self.w_dot])
        return TaskReference(self.p + self.v * t, R, xi, xi_dot)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("degrees", [0.01, 40.0, 170.0])
def test_errors_and_rates_of_backstepping(kind: str, degrees: float) -> None:
    """e is SciPy's; e' and the derivative of dq_r are those of finite differences along a motion of both."""
    degrees = min(degrees, 80.0) if kind == "axis_angle" else degrees
    q, dq, h = Q0 + 0.1, np.linspace(-0.6, 0.5, 7), 1e-5
    law = backstepping(panda(), orientation=kind)
    curve = Turning(panda().forward_kinematics(q), degrees)

    def at(s: float) -> th.control.BacksteppingTerms:
        return law.evaluate(q + s * dq, dq, curve(s))

    here, ahead, behind = at(0.0), at(h), at(-h)
    expected = error_of(kind, curve(0.0).R, panda().forward_kinematics(q)[:3, :3])
    np.testing.assert_allclose(here.e[3:], expected, atol=1e-12)
    np.testing.assert_allclose((ahead.e - behind.e) / (2 * h), here.e_dot, rtol=0, atol=1e-8)
    scale = 1e-6 if kind == "axis_angle" else 1e-8  # at 80 degrees L^-1 is large
    np.testing.assert_allclose((ahead.dq_r - behind.dq_r) / (2 * h), here.ddq_r, atol=scale * np.abs(here.ddq_r).max())


@pytest.mark.parametrize("kind", KINDS)
def test_law_of_unknown_lengths_has_the_same_errors(kind: str) -> None:
    """Where it knows the lengths it is `Backstepping`."""
    q, dq = Q0 + 0.1, np.linspace(-0.6, 0.5, 7)
    gains = {"Lambda": 10.0, "K_p": 50.0, "K_d": 2.0, "adaptation": None, "orientation": kind}
    measure = th.control.ExactPosition(panda())
    law = th.AdaptiveJacobianBackstepping(panda(), **gains, lengths=None, measure=measure)
    reference = Turning(panda().forward_kinematics(q), 60.0)(0.0)
    expected = th.Backstepping(panda(), **gains).evaluate(q, dq, reference)
    found = law.evaluate(q, dq, reference)
    for name, values in expected._asdict().items():
        scale = np.abs(values).max()
        np.testing.assert_allclose(getattr(found, name), values, atol=1e-10 * scale, err_msg=name)


def geared(name: str) -> th.Robot:
    """With the inertia of gears, for the gains of all laws at 1 kHz."""
    robot = th.Robot.load(name)
    return robot if name == "panda" else robot.replace(armature=np.full(robot.n, 0.2))


@pytest.mark.parametrize("law", ALL)
@pytest.mark.parametrize("name", list(STARTS))
@pytest.mark.parametrize(("degrees", "kind"), [(100.0, "rotation_vector"), (179.0, "quaternion"), (179.0, FAR[0])])
def test_goals_beyond_a_right_angle_are_reached(law: Factory, name: str, degrees: float, kind: str) -> None:
    robot, q0 = geared(name), STARTS[name]
    T = robot.forward_kinematics(q0)
    goal = T.copy()
    goal[:3, :3] = Rotation.from_rotvec(np.radians(degrees) * T[:3, 2]).as_matrix() @ T[:3, :3]
    controller = law(robot, orientation=kind, posture=None)
    run = th.simulate(robot, controller, SetPose(goal), 14.0, q0=q0, log_every=100)
    assert (run.status == Status.ok).all()
    np.testing.assert_allclose(robot.forward_kinematics(run.q[-1]), goal, atol=0.02)


@pytest.mark.parametrize("degrees", [100.0, 179.0])
def test_scara_with_the_analytic_jacobian(degrees: float) -> None:
    """SCARA report, 4.3: with J_A the yaw obeys e'' + K_1 e' + K_0 e = 0 from any angle below half a turn."""
    T = turned_about_z(scara().forward_kinematics(SCARA_Q0), degrees)
    plain = th.OperationalSpace(scara(), 9.0, 6.0, 1.0, rows=SCARA_ROWS, orientation="rotation_vector")
    yaw = th.OperationalSpace(scara(), 9.0, 6.0, 1.0, rows=("x", "y", "z", "rx"), orientation="zyx")
    run = th.simulate(scara(), plain, SetPose(T), 4.0, q0=SCARA_Q0, log_every=20)
    again = th.simulate(scara(), yaw, SetPose(T), 4.0, q0=SCARA_Q0, log_every=20)
    assert (run.status == Status.ok).all()
    assert (again.status == Status.ok).all()
    np.testing.assert_allclose(again.q, run.q, atol=1e-9)
    expected = np.radians(degrees) * (1.0 + 3.0 * run.t) * np.exp(-3.0 * run.t)
    np.testing.assert_allclose(run.error[:, 3], expected, atol=2e-2)  # torques are held for a period
    np.testing.assert_allclose(run.error[:, :3], 0.0, atol=5e-3)


@pytest.mark.parametrize("kind", ["zyz", "zyx"])
def test_error_dynamics_of_euler_angles_are_linear(kind: str) -> None:
    q, dq, t = Q0 + 0.1, np.linspace(-0.4, 0.3, 7), 0.2
    curve = Turning(panda().forward_kinematics(q), 100.0)
    K_0, K_1, h = np.linspace(20.0, 60.0, 6), np.linspace(5.0, 9.0, 6), 1e-4
    law = th.OperationalSpace(panda(), K_0, K_1, 2.0, orientation=kind)
    tau = law.step(t, q, dq, curve(t))
    assert law.status is Status.ok
    ddq = panda().forward_dynamics(q, dq, tau)

    def error(s: float) -> np.ndarray:
        law.step(t, q + s * dq + 0.5 * s**2 * ddq, dq + s * ddq, curve(t + s))
        return np.array(law.signals["error"])

    behind, e, ahead = (error(s) for s in (-h, 0.0, h))
    e_dot, e_ddot = (ahead - behind) / (2 * h), (ahead - 2 * e + behind) / h**2
    np.testing.assert_allclose(e_ddot, -K_1 * e_dot - K_0 * e, atol=1e-5 * np.abs(e_ddot).max())


@pytest.mark.parametrize("law", ALL)
def test_errors_without_jacobian_are_singular(law: Factory) -> None:
    """A tool that points straight down has no ZYZ angles, and half a turn no axis for r sin(theta)."""
    q, rest = Q0, np.zeros(7)
    T = panda().forward_kinematics(q)
    down = T.copy()
    down[:3, :3] = np.diag([1.0, -1.0, -1.0])
    for kind, goal, status in (
        ("zyz", down, Status.singular),
        ("zyx", down, Status.ok),
        ("axis_angle_plain", turned(T, 180.0), Status.singular),
        ("axis_angle_plain", turned(T, 179.9), Status.ok),
        ("quaternion", turned(T, 180.0), Status.ok),
        ("rotation_vector", turned(T, 180.0), Status.ok),
    ):
        controller = law(panda(), orientation=kind)
        tau = controller.step(0.0, q, rest, SetPose(goal)(0.0))
        assert controller.status is status, (kind, goal)
        assert np.isfinite(tau).all()
        assert np.abs(tau).max() < 2000.0


@pytest.mark.parametrize("law", [mact, backstepping])
@pytest.mark.parametrize("kind", ["rotation_vector", "quaternion"])
def test_lyapunov_functions_of_geometric_errors(law: Factory, kind: str) -> None:
    """V falls along a run by what the proof says, with the potential of the orientation, from 120 degrees on."""
    T = turned(panda().forward_kinematics(Q0), 120.0)
    controller = law(panda(), orientation=kind)
    run = th.simulate(panda(), controller, SetPose(T), 0.3, 2.5e-4, q0=Q0)
    assert (run.status == Status.ok).all()
    found = run.lyapunov(controller)
    assert found.analytic
    V, V_dot = found.V, found.V_dot
    lost = np.concatenate([[0.0], np.cumsum(0.5 * (V_dot[1:] + V_dot[:-1]) * np.diff(run.t))])
    assert lost[-1] < -0.1 * V[0]
    np.testing.assert_allclose(V, V[0] + lost, atol=0.01 * V[0])


def test_refusals() -> None:
    assert_refused(
        *(((law,), "orientation must be one of axis_angle, axis_angle_plain, ...")
          for law in (operational_space, computed_torque, impedance, mact, backstepping)),
        call=lambda law: law(panda(), orientation="euler"),
    )  # fmt: skip
    stiffness = {"quaternion": [9, 9, 9, 1, 2, 3], "axis_angle_plain": 9.0}
    laws = [mact(panda(), orientation=kind, K_p=K_p) for kind, K_p in stiffness.items()]
    run = th.simulate(panda(), laws[0], SetPose(panda().forward_kinematics(Q0)), 0.01, q0=Q0)
    assert_refused(
        ((laws[0],), "K_p must be one number for all three rows of the orientation 'quaternion'..."),
        ((laws[1],), "orientation must not be 'axis_angle_plain' for a Lyapunov function..."),
        call=lambda law: run.lyapunov(law),
    )
