from dataclasses import replace

import numpy as np
import pytest
from scipy.integrate import solve_ivp

import thunder_py as th
from tests import truth
from tests.refusals import assert_refused
from thunder_py.manipulation.wrist import (
    CarriedWrist,
    CarrierControl,
    ElasticWrist,
    MotorMotion,
    floating_wrist,
    inclined_wrist,
    one_switch,
    run_with_motor,
    with_rigid_hand,
    with_wrist,
)
from thunder_py.reference import JointReference

TRUTH = truth.load("elastic_wrist")
WRIST = ElasticWrist(I=0.012, k=5.0, m=0.7, r_c=0.09, c=0.03)
#: joints of `floating_wrist`: x, y, z, yaw, pitch, roll, wrist
PLANAR = [0, 2, 4, 6]


def lagrange(base_mass, base_inertia):
    """Forces on x, z, pitch and wrist, from an energy written down for two bodies in a plane."""
    sympy = pytest.importorskip("sympy")
    t = sympy.symbols("t")
    x, z, a, q = (sympy.Function(name)(t) for name in "xzaq")
    theta = sympy.symbols("theta")
    w = WRIST
    along, across = sympy.Matrix([sympy.cos(a), -sympy.sin(a)]), sympy.Matrix([sympy.sin(a), sympy.cos(a)])
    center = sympy.Matrix([x, z]) + w.r_c * (sympy.cos(q) * along + sympy.sin(q) * across)
    v, turn = center.diff(t), a.diff(t) - q.diff(t)
    kinetic = base_mass * (x.diff(t) ** 2 + z.diff(t) ** 2) + base_inertia * a.diff(t) ** 2
    kinetic = (kinetic + w.m * v.dot(v) + (w.I - w.m * w.r_c**2) * turn**2) / 2
    potential = w.g * (base_mass * z + w.m * center[1]) + w.k * (q - theta) ** 2 / 2
    L, rows = kinetic - potential, []
    states = sympy.symbols("q0:4 v0:4 a0:4")
    for s in (x, z, a, q):
        rows.append(L.diff(s.diff(t)).diff(t) - L.diff(s))
    values = [(s.diff(t, 2), states[8 + k]) for k, s in enumerate((x, z, a, q))]
    values += [(s.diff(t), states[4 + k]) for k, s in enumerate((x, z, a, q))]
    values += [(s, states[k]) for k, s in enumerate((x, z, a, q))]
    return sympy.lambdify([*states, theta], [row.subs(values) for row in rows])


@pytest.mark.release
def test_floating_wrist_obeys_lagrange():
    """(78): M dnu/dt + C nu + G + spring, of a base that moves and turns in the plane (errata D-16)."""
    robot = floating_wrist(replace(WRIST, c=0.0), base_mass=3.0, base_inertia=(0.02, 0.03, 0.04))
    forces, rng = lagrange(3.0, 0.03), np.random.default_rng(1)
    for _ in range(5):
        planar = rng.normal(size=(3, 4))
        q, dq, ddq = np.zeros((3, 7))
        q[PLANAR], dq[PLANAR], ddq[PLANAR] = planar
        theta = rng.normal()
        got = robot.inverse_dynamics(q, dq, ddq)
        got[6] -= robot.elastic_torque(q, [theta])[0]
        np.testing.assert_allclose(got[PLANAR], forces(*planar.ravel(), theta), rtol=1e-10, atol=1e-10)


@pytest.mark.parametrize("alpha", [0.0, 0.4, -1.1, 2.0])
@pytest.mark.parametrize(("base_mass", "base_inertia"), [(1e-6, 1e-9), (3.0, 0.02), (1e4, 50.0)])
def test_last_row_of_the_floating_wrist_is_79(alpha, base_mass, base_inertia):
    """Whatever the base's inertia, and whatever its speed, as long as it does not turn."""
    robot = floating_wrist(WRIST, base_mass=base_mass, base_inertia=3 * [base_inertia])
    wrist, rng = replace(WRIST, alpha=alpha), np.random.default_rng(2)
    q = np.concatenate([rng.normal(size=3), [0.0, alpha, 0.0, rng.normal()]])
    dq = np.concatenate([rng.normal(size=3), np.zeros(3), rng.normal(size=1)])
    ddx, ddz, theta = rng.normal(size=3)
    R = robot.forward_kinematics(q, frame=6)[:3, :3]
    motion = JointReference(q[:6], dq[:6], np.concatenate([R @ [ddx, 0.0, ddz], np.zeros(3)]))
    got = CarriedWrist(robot, lambda t: motion).acceleration(0.0, q[6], dq[6], theta)
    assert got == pytest.approx(wrist.acceleration(q[6], dq[6], theta, ddx, ddz), rel=1e-9)
    other_slope = replace(WRIST, alpha=alpha + 0.1).acceleration(q[6], dq[6], theta, ddx, ddz)
    assert abs(got - other_slope) > 0.1


def test_linear_model_is_the_derivative_of_79():
    wrist, h = replace(WRIST, alpha=0.7), 1e-6
    ddx, ddz = 2.0, -3.0
    at_zero = wrist.acceleration(0.0, 0.0, 0.0, ddx, ddz)
    slopes = [
        (wrist.acceleration(*(h * e), ddx, ddz) - wrist.acceleration(*(-h * e), ddx, ddz)) / (2.0 * h)
        for e in np.eye(3)
    ]
    point = np.array([0.3, -2.0, 0.5])
    assert wrist.linear_acceleration(*point, ddx, ddz) == pytest.approx(at_zero + slopes @ point, rel=1e-8)
    # without motion of the base it is (81), u = theta - theta_g
    o = wrist.oscillator()
    expected = o.gain * o.omega0**2 * (0.5 - wrist.theta_g) - 2.0 * o.zeta * o.omega0 * -2.0 - o.omega0**2 * 0.3
    assert wrist.linear_acceleration(*point) == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize("entry", TRUTH["physical"])
def test_simulated_throws_equal_truth(entry):
    """The package's elastic dynamics under the switched motor, against an independent integration of (79)."""
    wrist = ElasticWrist(**{name: entry[name] for name in ("I", "k", "m", "r_c", "theta_max", "g", "alpha", "c")})
    motor = MotorMotion.of_throw(one_switch(wrist, entry["T"]))
    run = run_with_motor(inclined_wrist(wrist), motor, q0=[0.0])
    assert abs(run.q[-1, 0] - entry["nonlinear79_qT"]) < 1e-6
    assert abs(run.dq[-1, 0] - entry["nonlinear79_qdT"]) < 1e-6
    assert np.abs(run.theta - motor(run.t))[run.t < motor.breaks[1] - 1e-9].max() < 1e-8


def test_floating_wrist_on_a_moved_base_is_79():
    """A free base under the wrench that moves it as wanted: the wrist does what (79) says for that motion."""
    robot = floating_wrist(WRIST, base_mass=2.0)
    alpha, w, size = 0.5, 15.0, np.array([0.03, -0.02])
    R = robot.forward_kinematics([0.0, 0, 0, 0, alpha, 0, 0], frame=6)[:3, :3]

    def base(t):
        sides = np.outer([1.0 - np.cos(w * t), w * np.sin(w * t), w**2 * np.cos(w * t)], size)
        rows = np.zeros((3, 6))
        rows[:, :3] = np.stack([sides[:, 0], np.zeros(3), sides[:, 1]], axis=1) @ R.T
        rows[0, 4] = alpha
        return JointReference(*rows)

    motor = MotorMotion(breaks=[0.0, 0.1, 0.2], start=[-0.5, 0.5], slope=[0.0, 2.0])
    start = np.zeros(7)
    start[4] = alpha
    control = CarrierControl(robot, motor)
    run = run_with_motor(robot, motor, q0=start, controller=control, reference=base, dt=1e-4)
    wrist = replace(WRIST, alpha=alpha)

    def rate(t, y):
        return [y[1], wrist.acceleration(*y, motor(t), *(w**2 * np.cos(w * t) * size))]

    y = np.zeros(2)
    for span in ((0.0, 0.1), (0.1, 0.2)):
        y = solve_ivp(rate, span, y, rtol=1e-10, atol=1e-12, max_step=1e-2).y[:, -1]
    np.testing.assert_allclose([run.q[-1, 6], run.dq[-1, 6]], y, atol=2e-2)
    assert abs(run.q[-1, 6] - y[0]) < 1e-3
    assert np.abs(run.q[:, :6] - np.array([base(t).q for t in run.t])).max() < 1e-3


def test_arm_with_wrist_held_is_the_arm_with_a_fixed_hand():
    panda, mount = th.Robot.load("panda"), np.eye(4)
    mount[:3, :3], mount[:3, 3] = [[0, 0, 1], [0, -1, 0], [1, 0, 0]], [0.01, 0.02, 0.03]
    elastic, fixed = (make(panda, WRIST, mount=mount, tip=0.2) for make in (with_wrist, with_rigid_hand))
    rng = np.random.default_rng(3)
    q, dq, ddq = rng.normal(size=(3, 7))
    eight = [np.append(v, 0.0) for v in (q, dq, ddq)]
    np.testing.assert_allclose(elastic.inverse_dynamics(*eight)[:7], fixed.inverse_dynamics(q, dq, ddq), atol=1e-11)
    np.testing.assert_allclose(elastic.forward_kinematics(eight[0]), fixed.forward_kinematics(q), atol=1e-13)
    assert (elastic.n, elastic.e, elastic.joint_names[-1]) == (8, 1, "wrist")
    # the hand turns towards its palm
    J = elastic.jacobian(eight[0])
    np.testing.assert_allclose(J[:3, 7], 0.2 * elastic.forward_kinematics(eight[0])[:3, 2], atol=1e-13)


def test_friction_of_the_arm_stays():
    friction = th.model.description.Friction(terms=("coulomb",), coefficients=[[0.4], [0.3]])
    elbow = th.Robot.load("elbow").replace(friction=friction)
    robot = with_wrist(elbow, WRIST)
    assert robot.description.friction.terms == ("viscous", "coulomb")
    dq = np.array([1.0, -2.0, 3.0])
    expected = np.append(elbow.friction_torque(dq[:2]), WRIST.c * 3.0)
    np.testing.assert_allclose(robot.friction_torque(dq), expected, rtol=1e-14)


def test_bad_input():
    assert_refused(
        (lambda: floating_wrist(WRIST, base_mass=-1.0), "...base_mass must be positive [kg], got -1..."),
        (lambda: floating_wrist(WRIST, base_inertia=(1.0, 0.0, 1.0)), "...base_inertia must be positive, got..."),
        (lambda: inclined_wrist(WRIST, tip=np.nan), "...tip must be positive..."),
        (lambda: inclined_wrist(WRIST, motor_inertia=0.0), "...motor_inertia must be positive..."),
        (lambda: CarriedWrist(th.Robot.load("elbow"), None), "...elbow must have its last joint elastic and no oth..."),
        (lambda: run_with_motor(inclined_wrist(WRIST), 0.3, q0=[0.0]), "...motor must be a MotorMotion, got float..."),
        (
            lambda: run_with_motor(th.Robot.load("elbow"), MotorMotion.still(0.1, 0.0, 1.0), q0=[0, 0]),
            "...elbow must have...",
        ),
        (lambda: inclined_wrist(0.3), "...wrist must be an ElasticWrist, got float..."),
        (lambda: floating_wrist(None), "...wrist must be an ElasticWrist..."),
        (lambda: with_wrist(th.Robot.load("elbow"), 1.0), "...wrist must be an ElasticWrist..."),
        (lambda: with_rigid_hand("elbow", WRIST), "...robot must be a Robot, got str..."),
        (
            lambda: run_with_motor(inclined_wrist(WRIST), MotorMotion.still(0.1, 0.0, 1.0), q0=[0.0], dt=1e-300),
            "...dt must divide the motion into at most...",
        ),
        (lambda: MotorMotion.still("0.1", 0.0, 1.0), "...theta must be a finite number, got '0.1'..."),
        (lambda: MotorMotion.through([0.0, 0.0, 1.0], [0.1, 0.2, 0.3]), "...t must be at least two increasing time..."),
        (lambda: MotorMotion.of_throw(one_switch(WRIST, 0.15), from_time=np.nan), "...from_time must be a finite..."),
        (lambda: MotorMotion.still(0.1, 1.0, 1.0), "...motor breaks must be at least two increasing times..."),
        (lambda: MotorMotion(breaks=[0.0, 1.0], start=[np.nan], slope=[0.0]), "...motor start must be finite..."),
        (lambda: MotorMotion.still(0.1, 0.0, 1.0).then(MotorMotion.still(0.1, 2.0, 3.0)), "...must begin at the en..."),
    )


def test_motor_motions():
    steps = MotorMotion.through([0.0, 1.0, 2.0, 3.0], [0.5, 0.5, -0.5], held=True)
    assert (steps.breaks.tolist(), steps.start.tolist()) == ([0.0, 2.0, 3.0], [0.5, -0.5])
    line = MotorMotion.through([0.0, 1.0, 2.0, 4.0], [0.0, 0.5, 1.0, 0.0])
    assert (line.breaks.tolist(), line.slope.tolist()) == ([0.0, 2.0, 4.0], [0.5, -0.5])
    t = np.linspace(0.0, 4.0, 9)
    np.testing.assert_allclose(line(t), np.interp(t, [0.0, 2.0, 4.0], [0.0, 1.0, 0.0]), atol=1e-15)
    both = MotorMotion.through([0.0, 1.0], [0.0, 1.0]).then(MotorMotion.still(0.2, 1.0, 2.0))
    np.testing.assert_allclose(both([0.5, 1.0, 1.5, 9.0]), [0.5, 0.2, 0.2, 0.2])
