import copy
import warnings

import numpy as np
import pytest

import thunder_py as th
from thunder_py.control.stability import (
    effective_inertia,
    elastic_damping,
    rest,
    stable_rate,
    velocity_feedback,
)
from thunder_py.reference import SetPoint, SetPose, Sinusoid
from thunder_py.robot import Elastic

from .arms import Q0, elbow, panda

T = 1e-3


@pytest.mark.parametrize("periods", [0, 1, 2, 5])
def test_stable_rate_is_the_limit_of_a_delayed_loop(periods: int) -> None:
    """v+ = v - T rate v_N with v_N the velocity N periods ago: z^(N+1) - z^N + T rate = 0."""
    largest = []
    for share in (0.99, 1.01):
        z = np.zeros(periods + 2)
        z[:2] = 1.0, -1.0
        z[-1] += share * T * stable_rate(T, periods * T)
        largest.append(np.abs(np.roots(z)).max())
    assert largest[0] < 1.0 < largest[1]


def laws(robot: th.Robot) -> dict[str, tuple[th._core.Controller, np.ndarray]]:
    """Controllers, and the velocity feedback that their equations have at rest."""
    M, J = robot.mass_matrix(Q0), robot.jacobian(Q0)
    K_d = np.diag([20.0] * 4 + [2.0] * 3)
    D = np.diag([60.0] * 3 + [2.0, 2.0, 1.0])
    null = np.eye(7) - J.T @ np.linalg.inv(J @ np.linalg.solve(M, J.T)) @ J @ np.linalg.inv(M)
    return {
        "SlotineLi": (th.SlotineLi(robot, 5.0, K_d, adaptation=1.0), K_d + 5.0 * M),
        "MACT": (th.MACT(robot, 50.0, K_d, adaptation=1.0), K_d),
        "ACT": (th.ACT(robot, 100.0, 20.0, adaptation=1.0), 20.0 * M),
        "PDGravity": (th.PDGravity(robot, 50.0, K_d), K_d),
        "ComputedTorque": (th.ComputedTorque(robot, K_0=100.0, K_1=20.0), 20.0 * M),
        "Impedance": (th.Impedance(robot, K=400.0, D=D, K_d=K_d), J.T @ D @ J + null @ K_d),
        "CartesianMACT": (th.CartesianMACT(robot, 400.0, K_d, adaptation=None), K_d),
    }


@pytest.mark.parametrize("name", list(laws(panda())))
def test_velocity_feedback_of_a_law(name: str) -> None:
    """Friction that the law compensates is not part of it, and the law keeps its state."""
    friction = th.robot.Friction(terms=("viscous", "coulomb"), coefficients=np.full((7, 2), 0.4))
    robot = panda().replace(friction=friction)
    law, expected = laws(robot)[name]
    before = copy.copy(law)
    actual = velocity_feedback(law, Q0, rest(type(law), robot, Q0, None))
    np.testing.assert_allclose(actual, expected, rtol=1e-5, atol=1e-5)
    np.testing.assert_array_equal(law._core_state(), before._core_state())  # type: ignore[attr-defined]


def test_no_velocity_feedback_where_the_law_has_no_solution() -> None:
    law = th.Backstepping(panda(), 5.0, 50.0, 2.0, adaptation=None)
    assert velocity_feedback(law, np.zeros(7), SetPose(panda().forward_kinematics(np.zeros(7)))(0.0)) is None


def run(K_d: float, **options: object) -> th.SimulationResult:
    law = th.SlotineLi(panda(), 5.0, [20.0] * 4 + [2.0] * 2 + [K_d], adaptation=None)
    start = SetPoint(Q0)
    return th.simulate(panda(), law, start, 0.4, T, q0=Q0 + 1e-6, **options)  # type: ignore[arg-type]


def test_a_gain_beyond_the_bound_is_named_and_grows() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        calm = run(8.0)
    expected = (
        r"K_d or Lambda of SlotineLi is too high for a control period of 0.001 s and a delay of 0 s: it damps "
        r"'joint7' by 9.62, unstable beyond 9.41; multiply the gain by 0.98 at most"
    )
    with pytest.warns(RuntimeWarning, match=expected) as caught:
        wild = run(9.6)
    assert caught[0].filename == __file__
    assert np.abs(calm.dq[-1]).max() < 1e-5
    assert np.abs(wild.dq[-1]).max() > 1e-2


@pytest.mark.filterwarnings("ignore:the run diverged:RuntimeWarning")
def test_delays_of_sensors_and_actuators_count() -> None:
    with pytest.warns(RuntimeWarning, match="a delay of 0.001 s: it damps 'joint7'"):
        run(6.0, sensors=th.Sensors(delay=T))
    with pytest.warns(RuntimeWarning, match="a delay of 0.002 s: it damps 'joint7'"):
        run(4.0, sensors=th.Sensors(delay=T), actuators=th.Actuators(delay=T))


def elastic_eigenvalues(robot: th.Robot, q: np.ndarray, j: int, damping: float) -> np.ndarray:
    """Eigenvalues of one joint with its motor, linearized by differences of the package's elastic dynamics."""
    n, e = robot.n, robot.e
    k = [drive.joint - 1 for drive in robot.elastic].index(j)

    def rates(state: np.ndarray) -> np.ndarray:
        x, v, motor, w = state
        inertia = 1.0 / np.linalg.inv(robot.mass_matrix(q))[j, j]
        unit, spring = np.eye(n)[j], np.zeros(e)
        spring[k] = motor
        rest_x = q[[drive.joint - 1 for drive in robot.elastic]].copy()
        moved = rest_x.copy()
        moved[k] += motor
        dx = np.zeros(e)
        dx[k] = w
        link = robot.elastic_torque(q + x * unit, moved) + robot.elastic_damping_torque(v * unit, dx)
        friction = robot.friction_torque(v * unit)[j]
        drive = -damping * v - robot.motor_damping_torque(dx)[k] - link[j]
        return np.array([v, (link[j] - friction) / inertia, w, drive / robot.elastic[k].Mm])

    h = 1e-6
    A = np.column_stack([(rates(h * unit) - rates(-h * unit)) / (2 * h) for unit in np.eye(4)])
    return np.linalg.eigvals(A)


@pytest.mark.parametrize("joint", [1, 2])
def test_elastic_damping_is_the_limit_of_stability(joint: int) -> None:
    drives = [
        Elastic(joint=1, K=(300.0, 50.0), D=(1.5,), Dm=(0.3,), Mm=0.1),
        Elastic(joint=2, K=(200.0, 0.0), D=(0.5,), Dm=(0.0,), Mm=0.05),
    ]
    friction = th.robot.Friction(terms=("viscous",), coefficients=[[0.2], [0.1]])
    robot, q = elbow().replace(elastic=drives, friction=friction), np.array([0.2, 0.7])
    limit = elastic_damping(robot, q)[joint - 1]
    growth = [elastic_eigenvalues(robot, q, joint - 1, share * limit).real.max() for share in (0.98, 1.02)]
    assert growth[0] < 1e-6 < growth[1]


@pytest.mark.filterwarnings("ignore:the run diverged:RuntimeWarning")
def test_a_rigid_law_that_is_too_stiff_for_springs_is_named() -> None:
    drives = [Elastic(joint=joint, K=(500.0,), D=(0.2,), Mm=0.1) for joint in (1, 2)]
    robot = elbow().replace(elastic=drives)
    motion = Sinusoid([0.4, 0.3], 0.3, center=[0.3, 0.8])
    expected = (
        r"K_d or Lambda of SlotineLi is too high for the elastic joint 'joint\d': it damps 'joint\d' by [\d.]+, "
        r"unstable beyond [\d.]+, a bandwidth of [\d.]+ rad/s; the controller assumes rigid joints"
    )
    with pytest.warns(RuntimeWarning, match=expected):
        wild = th.simulate(
            robot, th.SlotineLi(elbow(), 5.0, 20.0, adaptation=None), motion, 3.0, 2e-4, control_period=T
        )
    assert wild.diverged or np.ptp(wild.x - wild.q) > 0.5
    soft = th.control.tune(robot, th.SlotineLi, motion, period=T, adaptation="none")
    calm = th.simulate(robot, soft.controller(), motion, 3.0, 2e-4, control_period=T)
    assert soft.limit.startswith("the elasticity")
    assert np.ptp(calm.x - calm.q) < 0.1 * np.ptp(wild.x - wild.q)
    assert np.abs(calm.dq[-1000:]).max() < 1.5


@pytest.mark.parametrize("elastic", [(1, 2), (2,)])
def test_the_damping_of_motors_is_bounded_by_sampling(elastic: tuple[int, ...]) -> None:
    """A motor moves alone at first: the bound is that of its own inertia."""
    robot = elbow().replace(elastic=[Elastic(joint=j, K=(500.0,), Mm=0.02 * j) for j in elastic])
    q = np.array([0.3, 0.8])
    law = th.control.MotorPD(robot, 100.0, 1.0)
    D = velocity_feedback(law, q, SetPoint(q)(0.0))
    assert D is not None
    np.testing.assert_allclose(D, np.eye(2), atol=1e-8)
    inertia = effective_inertia(law, robot, q, stable_rate(T))
    alone = 1.0 / np.linalg.inv(robot.mass_matrix(q)).diagonal()
    counted = []
    for j, Mm in ((0, 0.02), (1, 0.04)):
        x = np.sqrt(500.0 * (1.0 / Mm + 1.0 / alone[j])) * T / 2.0
        counted.append(Mm * x / np.tan(x) if j + 1 in elastic else alone[j])
    np.testing.assert_allclose(inertia.diagonal(), counted, rtol=1e-12)
    limit = stable_rate(T) * (counted[0] if 1 in elastic else counted[1])
    expected = rf"K_d of MotorPD is too high for a control period .*, unstable beyond {limit:.3g}; multiply the gain by"
    grown = []
    for share in (0.9, 1.1):
        law = th.control.MotorPD(robot, 100.0, share * limit)
        with pytest.warns(RuntimeWarning, match=expected) if share > 1.0 else warnings.catch_warnings():
            warnings.simplefilter("default" if share > 1.0 else "error")
            run = th.simulate(
                robot, law, SetPoint(q), 0.1, T / 4, control_period=T, q0=q, dx0=np.full(len(elastic), 1e-6)
            )
        grown.append(np.abs(run.dx[-1]).max() / 1e-6)
    assert grown[0] < 1.0 < 1e3 < grown[1]
