import shutil

import numpy as np
import pytest

import thunder_py as th
from tests.dynamics.quantities import INPUTS, kernel
from tests.dynamics.random_chains import KINDS, random_robot
from tests.symbolic.states import FOLDER, bundled, random_values
from thunder_py.errors import ThunderError

CHAINS = [(seed, 1 + seed % 12, KINDS[(seed + seed // 12) % 3], "RP" if seed % 2 else "R") for seed in range(24)]
#: heavy recordings, taken at few joints only
OF_ROWS = ("operational_space_inertia", "operational_space_inertia_derivative", "manipulability")
STUDIES = ("mass_blocks", "coriolis_blocks", "coriolis_matrix_algebra", "coriolis_matrix_christoffel")
PARTIAL = (
    "inverse_dynamics_second_derivatives",
    "forward_dynamics_second_derivatives",
    "coriolis_matrix_derivative",
    "operational_space_inertia_derivative",
    "transposed_regressor_derivatives",
    "transposed_slotine_li_derivatives",
)


def assert_agreement(robot, model, skip=(), batch=5):
    """All quantities, each as one function of all that matters; errors relative to the largest entry."""
    states = random_values(robot, batch)
    numbers = {group.argument: group.values for group in model.parameters.values()}
    for name in model.quantities:
        if name in skip:
            continue
        rows = {"rows": regular_rows(robot, states["q"])} if name in OF_ROWS else {}
        f = model.function("f", model.quantity(name, **rows))
        arguments = [states.get(key, numbers.get(key)) for key in f.arguments]
        expected = kernel(robot, name)(*[states[key] for key in INPUTS[name]], **rows)
        tolerance = precision(robot, name, states["q"]) * max(1.0, np.abs(expected).max(initial=0.0))
        many = f(*arguments)
        many = np.broadcast_to(many, expected.shape)  # a constant, where nothing matters
        np.testing.assert_allclose(many, expected, rtol=0, atol=tolerance, err_msg=name)
        one = f(*[states[key][2] if key in states else numbers[key] for key in f.arguments])
        np.testing.assert_allclose(one, expected[2], rtol=0, atol=tolerance, err_msg=name)


def precision(robot, name, q):
    """Derivatives of solved equations lose digits with the condition number of M."""
    if not name.startswith("forward_dynamics_"):
        return 1e-12
    return max(1e-12, 1e-15 * np.linalg.cond(robot.mass_matrix(q)).max())


def regular_rows(robot, q):
    """Rows in which the arm is not singular at any of the states."""
    if robot.n >= 6:
        return (0, 1, 2)
    return (int(np.linalg.norm(robot.jacobian(q), axis=-1).min(axis=0).argmax()),)


def test_all_quantities_are_there():
    elastic = {name for name, inputs in INPUTS.items() if {"x", "dx", "ddx"} & set(inputs)}
    assert set(th.Robot.load(FOLDER / "sea3.yaml").symbolic().quantities) == set(INPUTS)
    rigid = th.Robot.load("elbow").symbolic()
    assert set(rigid.quantities) == set(INPUTS) - elastic
    with pytest.raises(ThunderError, match="elastic_torque needs elastic joints, and elbow has none"):
        rigid.elastic_torque()


@pytest.mark.parametrize("name", bundled())
@pytest.mark.parametrize("inertial", [False, pytest.param(True, marks=pytest.mark.release)])
def test_bundled_robots(name, inertial):
    robot = th.Robot.load(name)
    blocks = ("coriolis_blocks", "mass_blocks") if inertial else ()
    assert_agreement(robot, robot.symbolic(inertial=inertial), skip=(*blocks, *PARTIAL) if robot.n > 4 else ())


@pytest.mark.parametrize(
    ("seed", "n", "kind", "joints"),
    [*CHAINS[:8], *(pytest.param(*case, marks=pytest.mark.release) for case in CHAINS[8:])],
)
def test_random_chains(seed, n, kind, joints):
    drives = {"friction": seed % 2 == 0, "rotors": seed % 3 == 0, "armature": seed % 5 == 0, "elastic": seed % 4 == 0}
    robot = random_robot(seed, n, kind, joints=joints, **drives)
    heavy = (*STUDIES, *PARTIAL) if n > 4 else ()
    assert_agreement(robot, robot.symbolic(inertial=seed % 4 != 1, friction=drives["friction"]), skip=heavy)


@pytest.mark.parametrize("path", sorted(FOLDER.glob("*.yaml")), ids=lambda path: path.stem)
def test_thunders_files_with_their_own_masks(path):
    robot = th.Robot.load(path)
    if robot.n > 9:
        quantities = ("mass_matrix", "gravity_vector", "jacobian", "inverse_dynamics", "forward_kinematics")
        skip = set(INPUTS) - set(quantities)
    else:
        skip = {*STUDIES, *PARTIAL}
    assert_agreement(robot, robot.symbolic(), skip=skip, batch=3)


def test_frames_and_rows():
    robot = random_robot(3, 5, "modified", joints="RP")
    model = robot.symbolic()
    q, dq = random_values(robot, 4)["q"], random_values(robot, 4)["dq"]
    for frame in (0, 2, 5, "camera", "tool", None):
        where = {} if frame is None else {"frame": frame}
        for name in ("forward_kinematics", "jacobian"):
            f = model.function("f", model.quantity(name, frame=frame), ["q"])
            np.testing.assert_allclose(f(q), kernel(robot, name)(q, **where), rtol=0, atol=1e-13)
        f = model.function("f", model.jacobian_dot(frame=frame), ["q", "dq"])
        np.testing.assert_allclose(f(q, dq), robot.jacobian_dot(q, dq, **where), rtol=0, atol=1e-12)
    for rows in ((0, 1, 2), (5,), (1, 3)):
        f = model.function("f", model.manipulability(rows=rows))
        np.testing.assert_allclose(f(q), robot.manipulability(q, rows=rows), rtol=1e-12)
        f = model.function("f", model.operational_space_inertia(rows=rows))
        expected = robot.operational_space_inertia(q, rows=rows)
        np.testing.assert_allclose(f(q), expected, rtol=0, atol=1e-12 * np.abs(expected).max())


def test_inputs_in_place_of_symbols():
    robot = th.Robot.load("ur5e")
    model = robot.symbolic()
    q = np.linspace(-1, 1, 6)
    np.testing.assert_allclose(model.mass_matrix(q).astype(float), robot.mass_matrix(q), atol=1e-13)
    doubled = model.function("f", model.gravity_vector(2.0 * model.q))
    np.testing.assert_allclose(doubled(q), robot.gravity_vector(2.0 * q), atol=1e-12)
    f = model.function("f", model.inverse_dynamics(model.q, 0.0 * model.dq, 0.0 * model.ddq))
    assert list(f.arguments) == ["q"]
    np.testing.assert_allclose(f(q), robot.gravity_vector(q), atol=1e-12)


def everything(model, names):
    """One function of many quantities, so that one call of the compiler serves all."""
    wanted = [
        key
        for key in ("q", "dq", "ddq", "d3q", "d4q", "dq_r", "ddq_r", "tau", "s", "pi", "x", "dx", "ddx")
        if model.symbols[key].size
    ]
    wanted += [group.argument for group in model.parameters.values() if group.mask.any()]
    return model.function("all", {name: model.quantity(name) for name in names}, wanted)


@pytest.mark.skipif(shutil.which("cc") is None, reason="no C compiler")
@pytest.mark.parametrize(
    "name", ["elbow", *(pytest.param(name, marks=pytest.mark.release) for name in ("scara", "sea3"))]
)
@pytest.mark.parametrize("outline", [False, pytest.param(True, marks=pytest.mark.release)])
def test_compiled(name, outline, tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setattr(
        "thunder_py.symbolic.compiler.FLAGS", ("-std=c99", "-O1", "-fPIC", "-shared", "-ffp-contract=off")
    )
    robot = th.Robot.load(FOLDER / "sea3.yaml" if name == "sea3" else name)
    model = robot.symbolic(outline=outline) if name == "sea3" else robot.symbolic(inertial=True, outline=outline)
    names = [key for key in model.quantities if key not in (*STUDIES, *OF_ROWS, *PARTIAL)]
    f = everything(model, names)
    states = random_values(robot, 5)
    numbers = {group.argument: group.values for group in model.parameters.values()}
    arguments = [states.get(key, numbers.get(key)) for key in f.arguments]
    interpreted = f(*arguments)
    assert not f.compiled
    assert f.compile() is f
    assert f.compiled
    one = f(*[states[key][1] if key in states else numbers[key] for key in f.arguments])
    for key, value, before, single in zip(names, f(*arguments), interpreted, one, strict=True):
        expected = kernel(robot, key)(*[states[name] for name in INPUTS[key]])
        scale = precision(robot, key, states["q"]) * max(1.0, np.abs(expected).max(initial=0.0))
        np.testing.assert_allclose(value, expected, rtol=0, atol=scale, err_msg=key)
        np.testing.assert_allclose(before, expected, rtol=0, atol=scale, err_msg=key)
        np.testing.assert_allclose(single, expected[1], rtol=0, atol=scale, err_msg=key)
