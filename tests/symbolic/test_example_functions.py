from pathlib import Path

import numpy as np
import pytest

import thunder_py as th
from tests.dynamics.numerics import assert_close, derivative
from tests.dynamics.random_chains import random_robot
from tests.symbolic.states import rebuilt
from thunder_py.codegen import generate
from thunder_py.codegen.user_file import run_user_file
from thunder_py.errors import FileFormatError

FOLDER = Path(__file__).parents[2] / "examples" / "functions"
EXAMPLES = sorted(path.stem for path in FOLDER.glob("*.py"))


def functions_of(example, robot, **options):
    model = robot.symbolic(**options)
    run_user_file(FOLDER / f"{example}.py", model)
    return model.functions


@pytest.mark.parametrize("name", ["panda", "ur5e", "scara", "elbow"])
def test_manipulability(name):
    robot = th.Robot.load(name)
    f = functions_of("manipulability", robot)
    q = np.linspace(0.4, -1.1, robot.n)
    J = robot.jacobian(q)
    w, gradient = f["velocity_manipulability"], f["velocity_manipulability_gradient"]
    gram = J @ J.T if robot.n >= 6 else J.T @ J
    np.testing.assert_allclose(w(*[q] * len(w.arguments)), np.sqrt(np.linalg.det(gram)), rtol=1e-12)
    if robot.n >= 6:
        np.testing.assert_allclose(w(q), robot.manipulability(q), rtol=1e-12)
    e = np.eye(robot.n)
    slopes = [derivative(lambda t, k=k: w(*[q + t * e[k]] * len(w.arguments))) for k in range(robot.n)]
    assert_close(gradient(q), slopes, 1e-9)


@pytest.mark.parametrize("name", ["panda", "ur5e", "elbow"])
def test_operational_space(name):
    robot = th.Robot.load(name)
    f = functions_of("operational_space", robot, inertial=True)
    q, pi = np.linspace(0.5, -1.2, robot.n), robot.inertial.ravel()
    rows = tuple(range(min(robot.n, 3)))
    J, M = robot.jacobian(q)[list(rows)], robot.mass_matrix(q)
    Lambda, J_bar, p = (f[key](q, pi) for key in ("position_inertia", "position_inverse", "position_gravity"))
    assert_close(Lambda, robot.operational_space_inertia(q, rows=rows))
    assert_close(J @ J_bar, np.eye(len(rows)))
    # motions in the null space of J_bar' need no force at the end effector: J M^-1 (1 - J' J_bar') = 0
    assert_close(J @ np.linalg.solve(M, np.eye(robot.n) - J.T @ J_bar.T), np.zeros((len(rows), robot.n)))
    assert_close(p, Lambda @ J @ np.linalg.solve(M, robot.gravity_vector(q)))


def filtered(t, values, rate):
    """y' = rate (u - y), y(0) = 0, exactly for a u that is a parabola between every three neighbors."""
    h = t[1] - t[0]
    y = np.zeros_like(values[::2])
    nodes, weights = np.polynomial.legendre.leggauss(8)
    s = 1.0 + nodes  # of a step of two samples, in samples
    kernel = weights * h * rate * np.exp(-rate * h * (2.0 - s))
    basis = np.stack([(s - 1) * (s - 2) / 2, s * (2 - s), s * (s - 1) / 2])
    parts = basis @ kernel
    for k in range(len(y) - 1):
        u = values[2 * k : 2 * k + 3]
        y[k + 1] = np.exp(-2 * rate * h) * y[k] + np.tensordot(parts, u, 1)
    return y


def motion(robot, t):
    """Sines of each joint and the torque that they take."""
    amplitude, frequency = np.linspace(0.3, 0.8, robot.n), np.linspace(1.5, 3.0, robot.n)
    angle = t[:, None] * frequency + np.arange(robot.n)
    q, dq, ddq = (
        amplitude * np.sin(angle),
        amplitude * frequency * np.cos(angle),
        -amplitude * frequency**2 * np.sin(angle),
    )
    return q, dq, robot.inverse_dynamics(q, dq, ddq)


@pytest.mark.parametrize("kind", ["ur5e", "random", "smooth friction"])
def test_filtered_torque_is_the_filtered_regressor_times_the_parameters(kind):
    """D-13, with every sign: W_a outside of the integral, W_b inside, the initial momentum as it decays."""
    robot = th.Robot.load("ur5e") if kind == "ur5e" else random_robot(5, 3, "modified", rotors=True, armature=True)
    if kind == "smooth friction":
        friction = th.model.description.Friction(terms=("viscous", "cubic"), coefficients=np.ones((3, 2)))
        robot = robot.replace(friction=friction)
    f = functions_of("filtered_regressor", robot)
    rate, t = 5.0, np.linspace(0.0, 2.0, 2001)
    q, dq, tau = motion(robot, t)
    W_a, W_b = f["W_a"](q, dq, rate), f["W_b"](q, dq, rate)
    assert W_a.shape == W_b.shape == (t.size, robot.n, robot.p)
    decay = np.exp(-rate * t[::2])[:, None, None]
    W = W_a[::2] - decay * W_a[0] - filtered(t, W_b, rate)
    y = filtered(t, tau, rate)
    np.testing.assert_allclose(W @ robot.parameters, y, rtol=0, atol=1e-8 * np.abs(y).max())
    # what D4.2 prints has the other sign before C' dq - G - friction
    wrong = W_a[::2] - decay * W_a[0] - filtered(t, 2 * W_a - W_b, rate)
    assert np.abs(wrong @ robot.parameters - y).max() > 1e-2 * np.abs(y).max()


@pytest.mark.parametrize("name", ["panda", "scara", "elbow", "random"])
def test_kinematic_regressors(name):
    robot = random_robot(8, 4, "standard", joints="RP") if name == "random" else th.Robot.load(name)
    f = functions_of("kinematic_regressors", robot)
    q, dq, wrench = np.linspace(0.5, -0.9, robot.n), np.linspace(-0.3, 0.8, robot.n), np.linspace(1, 2, 6)
    R_v, R_w = f["twist_regressor"](q, dq), f["wrench_regressor"](q, wrench)
    assert R_v.shape == (6, 2 * robot.n + 3)
    assert not R_v[3:].any()
    rng = np.random.default_rng(0)
    dh = robot.description.dh.copy()
    dh[:, [0, 2]] += rng.normal(size=(robot.n, 2))
    pose = robot.symbolic().parameters["tool"].values.copy()
    change = np.concatenate([(dh - robot.description.dh)[:, [0, 2]].ravel(), rng.normal(size=3)])
    pose[:3] += change[-3:]
    other = rebuilt(robot, {"dh": dh.ravel(), "tool": pose})
    assert_close(R_v @ change, (other.jacobian(q) - robot.jacobian(q)) @ dq, 1e-12)
    assert_close(R_w @ change, (other.jacobian(q) - robot.jacobian(q)).T @ wrench, 1e-12)


def test_kinematic_regressors_need_a_table():
    with pytest.raises(FileFormatError, match="random has no parameters of the group 'dh'"):
        functions_of("kinematic_regressors", random_robot(1, 3, "placements"))


@pytest.mark.parametrize("example", EXAMPLES)
def test_same_in_outlined_models(example):
    """As the models of long arms are."""
    robot = th.Robot.load("ur5e")
    plain, outlined = (functions_of(example, robot, inertial=True, outline=outline) for outline in (False, True))
    rng = np.random.default_rng(0)
    for name, function in plain.items():
        arguments = [rng.normal(size=shape) for shape in function.argument_shapes]
        assert list(outlined[name].arguments) == list(function.arguments)
        expected = function(*arguments)
        scale = max(1.0, np.abs(expected).max())
        np.testing.assert_allclose(outlined[name](*arguments), expected, rtol=0, atol=1e-10 * scale)


@pytest.mark.parametrize("example", EXAMPLES)
def test_goes_into_a_library(example, tmp_path):
    robot = th.Robot.load("scara")
    folder = generate(robot, tmp_path, functions=FOLDER / f"{example}.py", select="G")
    header = next(folder.rglob("*_gen.h")).read_text()
    for name, function in functions_of(example, robot).items():
        assert name in header
        assert function.description
    assert (folder / "README.md").exists()
