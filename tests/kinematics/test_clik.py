import matplotlib
import numpy as np
import pytest

import thunder_py as th
from tests.kinematics.motions import PANDA_START, SCARA_ROWS, SCARA_START, Swing, pose, robot
from tests.refusals import assert_refused
from thunder_py.kinematics import CLIK, JointCentering, Manipulability, Posture

ok = th._core.Status.ok
K6 = np.array([3.0, 4.0, 5.0, 2.0, 2.5, 3.5])
AXIS = np.array([1.0, -2.0, 0.5]) / np.linalg.norm([1.0, -2.0, 0.5])


def panda_swing(offset=0.5):
    return Swing(pose(PANDA_START + 0.05), axis=AXIS, offset=offset)


def error_at(clik, q, reference, t, dq=None):
    clik.step(t, q, reference(t), dq)
    return clik.error.copy()


@pytest.mark.parametrize("orientation", ["axis_angle", "zyz"])
def test_error_obeys_its_equation(orientation):
    """e' = -K e, by finite differences of arm and reference: J, b and e of the law belong together."""
    clik, reference, t, h = CLIK(robot("panda"), K6, orientation=orientation), panda_swing(), 0.3, 1e-6
    dq = clik.step(t, PANDA_START, reference(t))
    assert clik.status == ok
    e = clik.error.copy()
    ahead, behind = (error_at(clik, PANDA_START + s * dq, reference, t + s) for s in (h, -h))
    np.testing.assert_allclose((ahead - behind) / (2 * h), -K6 * e, rtol=0, atol=1e-8)
    assert np.abs(e).min() > 1e-3


@pytest.mark.parametrize("orientation", ["axis_angle", "zyz"])
def test_error_obeys_its_equation_of_second_order(orientation):
    """e'' = -K_D e' - K e: derivatives of L, of the Euler angles' Jacobian and of J are right."""
    K_D = 2.0 * K6
    clik = CLIK(robot("panda"), K_0=K6, K_1=K_D, orientation=orientation)
    reference, t, h = panda_swing(), 0.3, 1e-4
    dq = np.random.default_rng(1).normal(size=7)
    ddq = clik.step(t, PANDA_START, reference(t), dq)
    assert clik.status == ok
    e = clik.error.copy()
    ahead, behind = (
        error_at(clik, PANDA_START + s * dq + 0.5 * s**2 * ddq, reference, t + s, dq + s * ddq) for s in (h, -h)
    )
    e_dot, e_ddot = (ahead - behind) / (2 * h), (ahead - 2 * e + behind) / h**2
    np.testing.assert_allclose(e_ddot, -K_D * e_dot - K6 * e, rtol=0, atol=2e-5 * np.abs(e_ddot).max())


@pytest.mark.parametrize(
    ("orientation", "size"),
    [
        ("axis_angle_plain", np.sin),
        ("rotation_vector", lambda theta: theta),
        ("quaternion", lambda theta: np.sin(theta / 2)),
    ],
)
@pytest.mark.parametrize("start", [0.7, 2.8])
def test_angle_of_the_geometric_errors(orientation, size, start):
    """theta' = -k size(theta), about the axis from actual to desired, far beyond 90 degrees too."""
    k = 2.0
    clik = CLIK(robot("panda"), k, orientation=orientation, limits=False)
    reference, t, h = Swing(pose(PANDA_START), axis=AXIS, offset=start, angle=0.0), 0.0, 1e-6

    def theta(q, time):
        R = reference(time).R @ robot("panda").forward_kinematics(q)[:3, :3].T
        return np.arccos(0.5 * (np.trace(R) - 1.0))

    dq = clik.step(t, PANDA_START, reference(t))
    assert clik.status == ok
    assert theta(PANDA_START, t) == pytest.approx(start)
    np.testing.assert_allclose(clik.error[3:], size(start) * AXIS, atol=1e-9)
    rate = (theta(PANDA_START + h * dq, t + h) - theta(PANDA_START - h * dq, t - h)) / (2 * h)
    assert rate == pytest.approx(-k * size(start), rel=1e-6)


@pytest.mark.parametrize("axis", [AXIS, [0.0, 0.0, 1.0], [-1.0, 0.0, 0.0]])
def test_half_a_turn_is_singular_for_an_error_that_is_zero_there(axis):
    clik = CLIK(robot("panda"), 2.0, orientation="axis_angle_plain", limits=False)
    for offset, status in ((np.pi, th._core.Status.singular), (np.pi - 1e-4, ok), (0.0, ok)):
        reference = Swing(pose(PANDA_START), axis=axis, offset=offset, angle=0.0)
        clik.step(0.0, PANDA_START, reference(0.0))
        assert clik.status == status


def test_laws_written_out():
    scara, q = robot("scara"), SCARA_START
    reference = Swing(pose(q + 0.1, "scara"))(0.2)
    J = scara.jacobian(q)[[0, 1, 2, 5]]
    T = scara.forward_kinematics(q)
    Rt = reference.R @ T[:3, :3].T
    e = np.r_[reference.p - T[:3, 3], np.arctan2(Rt[1, 0], Rt[0, 0])]
    b, K = reference.xi[[0, 1, 2, 5]], np.array([50.0, 40.0, 30.0, 20.0])
    options = {"rows": SCARA_ROWS, "orientation": "rotation_vector"}
    v = b + K * e

    def law(**changes):
        return CLIK(scara, K, **{**options, **changes}).step(0.0, q, reference)

    np.testing.assert_allclose(law(method="inverse"), np.linalg.solve(J, v), rtol=1e-11)
    np.testing.assert_allclose(law(method="pseudoinverse"), np.linalg.solve(J, v), rtol=1e-11)
    np.testing.assert_allclose(law(method="transpose"), J.T @ (K * e), rtol=1e-12, atol=1e-14)
    damped = J.T @ np.linalg.solve(J @ J.T + 0.3**2 * np.eye(4), v)
    np.testing.assert_allclose(law(method="damped", damping=0.3), damped, rtol=1e-11)
    Jr, vr = J[1:], v[1:]
    dq_0 = np.array([1.0, -2.0, 0.5, 3.0])
    relaxed = CLIK(scara, K[1:], rows=("y", "z", "rz"), orientation="rotation_vector", null_space=dq_0)
    expected = np.linalg.pinv(Jr) @ vr + (np.eye(4) - np.linalg.pinv(Jr) @ Jr) @ dq_0
    np.testing.assert_allclose(relaxed.step(0.0, q, reference), expected, rtol=1e-11)


def test_variable_damping():
    scara, K = robot("scara"), 10.0
    reference = Swing(pose(SCARA_START, "scara"))(0.2)
    rows = [0, 1, 2, 5]
    for q2 in (0.05, 0.4, 1.5):
        q = np.array([0.2, q2, 0.1, 0.3])
        J = scara.jacobian(q)[rows]
        clik = CLIK(scara, K, rows=rows, orientation="rotation_vector", method="transpose")
        clik.step(0.0, q, reference)
        v = reference.xi[rows] + K * clik.error
        values = {"singular_value": np.linalg.svd(J)[1][-1], "manipulability": scara.manipulability(q, rows=rows)}
        for measure, value in values.items():
            part = value / 0.15
            squared = 0.2**2 * (1 - part**2) if part < 1 else 0.0
            damped = CLIK(
                scara, K, rows=rows, orientation="rotation_vector", method="damped", damping=0.2, threshold=0.15,
                measure=measure,
            )  # fmt: skip
            expected = J.T @ np.linalg.solve(J @ J.T + squared * np.eye(4), v)
            np.testing.assert_allclose(damped.step(0.0, q, reference), expected, rtol=1e-8)


@pytest.mark.parametrize("order", [1, 2])
def test_null_motion_does_not_disturb_the_task(order):
    panda, reference = robot("panda"), panda_swing()(0.3)
    gains = {"K_0": K6, "K_1": 5.0} if order == 2 else {"Lambda": K6}
    dq = np.linspace(-0.5, 0.5, 7) if order == 2 else None
    J = panda.jacobian(PANDA_START)
    plain = CLIK(panda, **gains).step(0.0, PANDA_START, reference, dq)
    objectives = (Posture(np.zeros(7), 3.0), Manipulability(2.0), JointCentering(50.0), lambda t, q: q**2, np.ones(7))
    for null_space in objectives:
        moved = CLIK(panda, null_space=null_space, **gains).step(0.0, PANDA_START, reference, dq)
        assert np.abs(moved - plain).max() > 1e-3
        np.testing.assert_allclose(J @ (moved - plain), 0.0, atol=1e-13)


def test_objectives():
    panda, h = robot("panda"), 1e-6
    w = lambda q: panda.manipulability(q, rows=[0, 1, 2])  # noqa: E731
    numeric = [(w(PANDA_START + d) - w(PANDA_START - d)) / (2 * h) for d in h * np.eye(7)]
    objective = Manipulability(3.0).make(panda, None, 0b111)
    np.testing.assert_allclose(objective.velocity(PANDA_START), 3.0 * np.array(numeric), atol=1e-8)
    lower, upper = panda.limits.lower, panda.limits.upper
    distance = lambda q: -np.sum(((q - (lower + upper) / 2) / (upper - lower)) ** 2) / 14  # noqa: E731
    numeric = [(distance(PANDA_START + d) - distance(PANDA_START - d)) / (2 * h) for d in h * np.eye(7)]
    objective = JointCentering(3.0).make(panda, None, 0b111)
    np.testing.assert_allclose(objective.velocity(PANDA_START), 3.0 * np.array(numeric), atol=1e-8)
    free = JointCentering(1.0).make(robot("gen3"), None, 0b111).velocity(np.ones(7))
    assert (free[[0, 2, 4, 6]] == 0.0).all()  # they turn without end
    assert (free[[1, 3, 5]] < 0.0).all()


def scara_clik(method, **options):
    gains = {} if "K_0" in options else {"Lambda": 100.0}
    fixed = {"rows": SCARA_ROWS, "method": method, "orientation": "rotation_vector"}
    return CLIK(robot("scara"), **{**gains, **fixed, **options})


def test_runge_kutta_leaves_almost_no_error():
    reference = Swing(pose(SCARA_START, "scara"))
    assert scara_clik("inverse").follow(reference, SCARA_START, 1.0, integrator="rk4").error_norm().max() < 1e-9


def test_native_and_python_references_agree():
    """And so do a script's loop and follow."""
    panda = robot("panda")
    native = th.reference.Lissajous.starting_at(pose(PANDA_START), (0.05, 0.04, 0.03), (0.5, 0.4, 0.3))
    clik = CLIK(panda, 20.0, null_space=lambda t, q: PANDA_START - q)
    result = clik.follow(native, PANDA_START, 0.2)
    python = CLIK(panda, 20.0, null_space=Posture(PANDA_START, 1.0)).follow(lambda t: native(t), PANDA_START, 0.2)
    np.testing.assert_allclose(python.q, result.q, atol=1e-14)
    q = PANDA_START.copy()
    for k in range(200):
        q = q + 1e-3 * clik.step(k * 1e-3, q, native(k * 1e-3))
    np.testing.assert_allclose(q, result.q[-1], atol=1e-13)
    np.testing.assert_allclose(result.ddq, np.gradient(result.dq, 1e-3, axis=0))
    assert result.manipulability[7] == panda.manipulability(result.q[7])


def test_joint_reference_drives_a_joint_controller():
    """The whole chain in C++: task reference, CLIK, Slotine-Li, arm. The tip follows the task."""
    panda = robot("panda")
    task = th.reference.Lissajous.starting_at(pose(PANDA_START), (0.05, 0.04, 0.03), (0.5, 0.4, 0.3))
    joint = CLIK(panda, 20.0, null_space=Posture(PANDA_START, 1.0)).joint_reference(task, PANDA_START, 1.0, 2e-3)
    assert isinstance(joint, th._core.JointReferenceSource)
    t = np.linspace(0.0, 1.0, 37)
    for time, q in zip(t, joint(t).q, strict=True):
        np.testing.assert_allclose(panda.forward_kinematics(q)[:3, 3], task(time).p, atol=1e-8)
    h = 1e-5
    middle, ahead, behind = joint(0.5333), joint(0.5333 + h), joint(0.5333 - h)
    np.testing.assert_allclose((ahead.q - behind.q) / (2 * h), middle.dq, atol=1e-8)
    np.testing.assert_allclose((ahead.dq - behind.dq) / (2 * h), middle.ddq, atol=1e-5)
    assert joint.duration == pytest.approx(1.0)
    assert joint.plot()["q"].lines[0].get_xdata()[-1] == joint.duration
    later = joint(5.0)
    np.testing.assert_array_equal(later.q, joint(1.0).q)
    assert not later.dq.any()
    controller = th.SlotineLi(panda, 20.0, [20, 20, 20, 20, 5, 5, 1], adaptation=None)
    run = th.simulate(panda, controller, joint, 1.0, dq0=joint(0.0).dq)
    tip = panda.forward_kinematics(run.q)[:, :3, 3]
    assert np.linalg.norm(tip - task(run.t).p, axis=1).max() < 2e-3


def test_ellipsoid_is_drawn_where_the_velocities_are():
    """Every point of the outline is J dq for a dq of length one."""
    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    scara = robot("scara")
    center = scara.forward_kinematics(SCARA_START)[:2, 3]
    ellipsoid = scara.velocity_ellipsoid(SCARA_START, rows=(0, 1))
    (line,) = th.plotting.plot_ellipsoid(ellipsoid, center, scale=0.2, color="k").lines
    J = scara.jacobian(SCARA_START)[:2]
    dq = np.linalg.pinv(J) @ ((np.array(line.get_data()) - center[:, None]) / 0.2)
    np.testing.assert_allclose(np.linalg.norm(dq, axis=0), 1.0, atol=1e-12)
    with pytest.raises(ValueError, match=r"^ellipsoid.axes must have shape \(2, 2\), got \(4, 4\)$"):
        th.plotting.plot_ellipsoid(scara.velocity_ellipsoid(SCARA_START, rows=(0, 1, 2, 5)))
    plt.close("all")


def test_plot():
    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    result = scara_clik("inverse").follow(Swing(pose(SCARA_START, "scara")), SCARA_START, 0.1)
    axes = result.plot()
    assert [len(axis.lines) for axis in axes.values()] == [4, 4, 4, 1]
    assert [text.get_text() for text in axes["error"].get_legend().get_texts()] == list(SCARA_ROWS)
    assert_refused(
        (lambda: result.plot(axes={"errors": axes["error"]}), "axes must be named q, dq, error, manipulability, go...")
    )
    plt.close("all")
    assert repr(result).startswith("<CLIKResult: 0.1 s, 101 instants, 4 joints, error ")


def test_second_order_accelerations_are_consistent():
    scara, reference = robot("scara"), Swing(pose(SCARA_START, "scara"))
    dq0 = np.linalg.solve(scara.jacobian(SCARA_START)[[0, 1, 2, 5]], reference(0.0).xi[[0, 1, 2, 5]])
    clik = scara_clik("inverse", K_0=400.0, K_1=40.0)
    result = clik.follow(reference, SCARA_START, 2.0, dq0=dq0)
    assert result.ok
    assert result.error_norm().max() < 1e-5
    np.testing.assert_allclose(np.diff(result.dq, axis=0), 1e-3 * result.ddq[:-1], atol=1e-13)
    steps = 1e-3 * result.dq[:-1] + 0.5e-6 * result.ddq[:-1]
    np.testing.assert_allclose(np.diff(result.q, axis=0), steps, atol=1e-13)
    # the accelerations are those of the path: J ddq + J_dot dq = xi_dot_d
    J, J_dot = (f[:, [0, 1, 2, 5]] for f in (scara.jacobian(result.q), scara.jacobian_dot(result.q, result.dq)))
    there = np.einsum("kij,kj->ki", J, result.ddq) + np.einsum("kij,kj->ki", J_dot, result.dq)
    wanted = np.array([reference(t).xi_dot[[0, 1, 2, 5]] for t in result.t])
    np.testing.assert_allclose(there[200:], wanted[200:], atol=5e-3)
