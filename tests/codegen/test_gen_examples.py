import re
import runpy
import sys
from pathlib import Path

import numpy as np
import pytest

import thunder_py as th
from thunder_py.codegen import generate

from .libraries import Core, eigen_include, run

EXAMPLES = Path(__file__).parent.parent.parent / "examples/generated"


@pytest.fixture(scope="module")
def model():
    friction = th.model.description.Friction(terms=("viscous",), coefficients=np.ones((7, 1)))
    model = th.Robot.load("panda").replace(friction=friction).symbolic()
    runpy.run_path(str(EXAMPLES / "my_functions.py"))["functions"](model)
    return model


def test_manipulability_and_task_inertia(model):
    robot, q = model.robot, np.array([0.3, -0.4, 0.2, -2.0, 0.1, 1.7, 0.5])
    functions = model.functions
    np.testing.assert_allclose(functions["dexterity"](q), robot.manipulability(q), rtol=1e-12)
    steps = 1e-6 * np.eye(7)
    differences = [(robot.manipulability(q + h) - robot.manipulability(q - h)) / 2e-6 for h in steps]
    np.testing.assert_allclose(functions["dexterity_gradient"](q), differences, atol=1e-8)
    right = robot.operational_space_inertia(q, rows=(0, 1, 2))
    np.testing.assert_allclose(functions["task_inertia"](q), right, rtol=1e-10)


def test_filtered_regressor_gives_the_filtered_torque(model):
    """Along a motion, both sides by Simpson's rule: y = (W_a - F - exp(-rate t) W_a(0)) pi."""
    robot, rate, end = model.robot, 4.0, 1.5
    t = np.linspace(0.0, end, 601)
    amplitude, frequency = np.linspace(0.3, 0.9, 7), np.linspace(1.0, 2.5, 7)
    angle = t[:, None] * frequency + np.arange(7)
    q, dq = amplitude * np.sin(angle), amplitude * frequency * np.cos(angle)
    tau = robot.inverse_dynamics(q, dq, -(frequency**2) * q)
    weights = np.full(t.size, 2.0)
    weights[1::2], weights[[0, -1]] = 4.0, 1.0
    weights *= (t[1] - t[0]) / 3.0 * rate * np.exp(-rate * (end - t))
    W_a = model.functions["W_a"](q, dq, rate)
    W_b = model.functions["W_b"](q, dq, rate)
    F = np.tensordot(weights, W_b, 1)
    W = W_a[-1] - F - np.exp(-rate * end) * W_a[0]
    np.testing.assert_allclose(W @ robot.parameters, weights @ tau, rtol=1e-7, atol=1e-7)


def test_functions_of_the_example_in_a_library(tmp_path):
    robot = th.Robot.load("ur5e")
    core = Core(generate(robot, tmp_path, functions=EXAMPLES / "my_functions.py", select="M"), "ur5e")
    assert [*core.functions] == ["M", "dexterity", "dexterity_gradient", "task_inertia", "W_a", "W_b"]
    q = np.array([0.3, -0.4, 0.2, -2.0, 0.1, 1.7])
    np.testing.assert_allclose(core.call("dexterity", {"q": q})[0], robot.manipulability(q), rtol=1e-12)


@pytest.mark.release
def test_pip_installs_a_library(tmp_path):
    """Without build isolation, where the build tools are there."""
    pytest.importorskip("scikit_build_core")
    pytest.importorskip("pybind11")
    if eigen_include() is None:
        pytest.skip("Eigen is not installed")
    robot = th.Robot.load("elbow")
    folder = generate(robot, tmp_path, python=True, select="M,G,J_i,Yr,forward_dynamics")
    options = ["--no-build-isolation", "--no-deps", "--no-index", "-q", "--target", tmp_path / "site"]
    options += ["--config-settings", "cmake.build-type=Debug"]  # without optimization, which takes most of the time
    run([sys.executable, "-m", "pip", "install", *options, folder])
    q = [0.3, -0.4]
    program = f"""
import sys
sys.path.insert(0, {str(tmp_path / "site")!r})
from thunder_elbow import thunder_elbow
robot = thunder_elbow()
robot.set_q({q})
print(*robot.get_M().ravel(), *robot.get_G(), *robot.get_J(1).shape)
try:
    robot.set_q([1.0])
except ValueError:
    print("refused")
"""
    values, refused = run([sys.executable, "-c", program]).splitlines()
    numbers = np.array(values.split(), dtype=float)
    np.testing.assert_allclose(numbers[:4], robot.mass_matrix(q).ravel(), rtol=1e-13)
    np.testing.assert_allclose(numbers[4:6], robot.gravity_vector(q), rtol=1e-13)
    assert [*numbers[6:]] == [6, 2]
    assert refused == "refused"
    loop = f"import sys, runpy; sys.path.insert(0, {str(tmp_path / 'site')!r}); runpy.run_path(sys.argv[1])['main']()"
    printed = run([sys.executable, "-c", loop, EXAMPLES / "appendix_c.py"])
    first, last = (float(text) for text in re.findall(r"([\d.]+) mrad in the", printed))
    assert last < 0.05 * first
