import dataclasses
from pathlib import Path

import numpy as np
import pytest

import thunder_py as th
from tests.dynamics.random_chains import random_robot
from thunder_py.codegen import generate
from thunder_py.codegen.contents import catalogue
from thunder_py.codegen.library import OUTLINE_FROM, PIECES_FROM, outlining
from thunder_py.errors import ThunderWarning
from thunder_py.integration import rk4_step
from thunder_py.symbolic.parameters import ARGUMENT_NAMES

from .libraries import COMPILERS, STRICT, Core, eigen_include, run
from .reference import expected, random_state, with_groups

DATA = Path(__file__).parent.parent / "data"


def rarely(*values):
    """Cases that are left to CI: each compiles a library."""
    return [pytest.param(value, marks=pytest.mark.release) for value in values]


TOLERANCE = 1e-12


def assert_equal_to_robot(core: Core, robot: th.Robot, arguments: dict, tolerance: float = TOLERANCE, seed: int = 0):
    """Every function, at a random state, against the robot's methods."""
    state = random_state(robot, seed)
    for function in core.functions:
        result = np.concatenate(core.call(function, {**state, **arguments}))
        right = np.ravel(expected(robot, function, state))
        scale = max(1.0, np.abs(right).max())
        np.testing.assert_allclose(result, right, rtol=0, atol=tolerance * scale, err_msg=function)


@pytest.mark.parametrize(
    "source",
    [
        *("scara", "sea3.yaml"),
        *rarely("elbow", "cart_pendulum", "ur5e", "human_arm", "panda", "iiwa14", "gen3", "pendulum.urdf", "arm3.yaml"),
    ],
)
def test_functions_equal_the_methods(source, tmp_path):
    path = {".urdf": DATA / "urdf" / source, ".yaml": DATA / "thunder" / source}.get(Path(source).suffix, source)
    robot = th.Robot.load(path)
    core = Core(generate(robot, tmp_path), robot.name)
    arguments = {p.name: core.default(p.name, p.size) for ps in core.functions.values() for p in ps if "par_" in p.name}
    assert {"M", "C", "C_std", "Yr", "forward_dynamics", "J_ee_pinv"} <= set(core.functions)
    assert ("reg_Jdq_lengths" in core.functions) == (robot.description.dh is not None)
    assert ("reg_k" in core.functions) == (robot.e > 0)
    assert_equal_to_robot(core, robot, arguments)


@pytest.mark.parametrize("inertial", [True, False])
def test_derivatives_where_they_are_selected(inertial, tmp_path):
    robot = random_robot(9, 4, "modified", friction=True, rotors=True, armature=True)
    core = Core(generate(robot, tmp_path, select="dID,dFD", inertial=inertial, friction=inertial), robot.name)
    state = random_state(robot)
    arguments = {p.name: core.default(p.name, p.size) for ps in core.functions.values() for p in ps if "par_" in p.name}
    assert [*arguments] == ["par_REG", "par_Dl"] * inertial
    assert {function: [p.name for p in ps if p.is_result] for function, ps in core.functions.items()} == {
        "dID": ["dtau_dq", "dtau_dv", "M"],
        "dFD": ["ddq_dq", "ddq_dv", "Minv"],
    }
    inverse = robot.inverse_dynamics_derivatives(state["q"], state["dq"], state["ddq"])
    forward = robot.forward_dynamics_derivatives(state["q"], state["dq"], state["tau"])
    for function, parts in (("dID", inverse), ("dFD", forward)):
        for result, part in zip(core.call(function, {**state, **arguments}), parts, strict=True):
            scale = max(1.0, np.abs(part).max())
            np.testing.assert_allclose(result, np.ravel(part), rtol=0, atol=TOLERANCE * scale)


@pytest.mark.parametrize("seed", [0, 5, *rarely(1, 2, 3, 4)])
def test_regressors_of_all_parameters(seed, tmp_path):
    """Columns and parameters of arms with friction, rotors, armature and elastic joints, in any combination."""
    has = {"friction": seed != 1, "rotors": seed % 2 == 0, "armature": seed != 2, "elastic": seed > 3}
    robot = random_robot(40 + seed, 2 + seed, ("modified", "standard", "placements")[seed % 3], **has)
    full = ("regressor", "slotine_li_regressor", "mass_regressor", "coriolis_regressor", "gravity_regressor")
    inertial_as = ("REG", "DYN")[seed % 2]
    core = Core(generate(robot, tmp_path, select=full, inertial_as=inertial_as, inertial=True), robot.name)
    assert set(core.functions) == set(full)
    assert_equal_to_robot(core, robot, {}, seed=seed)
    np.testing.assert_array_equal(core.default("parameters", robot.parameters.size), robot.parameters)
    state = random_state(robot, seed)
    (Y_r,) = core.call("slotine_li_regressor", state)
    torque = robot.slotine_li_torque(*(state[key] for key in ("q", "dq", "dq_r", "ddq_r")))
    np.testing.assert_allclose(Y_r.reshape(robot.n, -1) @ robot.parameters, torque, atol=1e-10)


def test_columns_that_a_selection_lacks_are_told(tmp_path, recwarn):
    robot = random_robot(3, 3, "modified", friction=True, armature=True)
    lacks = r"Yr has the columns of the links only, not those of friction \(reg_dl\), armature \(reg_armature\); slo"
    with pytest.warns(ThunderWarning, match=lacks):
        folder = generate(robot, tmp_path, select="M,Yr")
    assert "not those of friction (reg_dl), armature (reg_armature)" in (folder / "README.md").read_text()
    with pytest.warns(ThunderWarning, match=r"not those of armature \(reg_armature\); mass_regressor has all"):
        generate(robot, tmp_path, select="reg_M,reg_C,reg_G,reg_dl")
    assert not recwarn
    generate(robot, tmp_path)
    for other, select in ((robot, "Yr,reg_dl,reg_armature"), (robot, "reg_G,M"), (th.Robot.load("panda"), "Yr,Y")):
        generate(other, tmp_path, select=select)
    assert not recwarn


@pytest.mark.parametrize("seed", [0, 1, *rarely(*range(2, 12))])
def test_random_chains_in_double_and_float(seed, tmp_path):
    kind = ("modified", "standard")[seed % 2]
    robot = random_robot(100 + seed, 1 + seed % 12, kind, friction=seed % 4 == 0, elastic=seed % 3 == 0)
    select = "M,C,G,Yr,inverse_dynamics,J_ee" + (",k,reg_k,Mm" if robot.e else "") + ",reg_dl" * (seed % 4 == 0)
    everything = robot.n <= 7  # compilers take long over the second derivatives of longer ones
    core = Core(generate(robot, tmp_path, select=None if everything else select), robot.name)
    arguments = {p.name: core.default(p.name, p.size) for ps in core.functions.values() for p in ps if "par_" in p.name}
    assert_equal_to_robot(core, robot, arguments, 1e-11, seed)
    folder = generate(robot, tmp_path, name="single", scalar="float", select=select)
    single = Core(folder, "single", "float")
    assert not (folder / "thunder_single.h").exists()
    assert set(select.split(",")) <= set(single.functions)
    assert_equal_to_robot(single, robot, arguments, 1e-4, seed)


CHAINS = [
    # seed, joints, kind, drives, groups and how many of their entries are run-time arguments
    (0, 1, "modified", False, {"inertial": 1.0, "dh": 1.0}),
    (1, 3, "modified", True, {"inertial": 1.0, "friction": 0.5, "rotor": 0.5, "armature": 1.0}),
    (2, 4, "standard", True, {"inertial": 0.5, "dh": 0.5, "gravity": 0.7, "base": 0.5, "tool": 0.5}),
    (3, 5, "modified", False, {"inertial_as_DYN": 0.5, "dh": 0.3, "tool": 1.0}),
    (4, 6, "placements", True, {"inertial_as_DYN": 1.0, "gravity": 1.0, "base": 1.0}),
    (5, 6, "standard", False, {}),
    (6, 2, "placements", True, {"inertial": 0.3, "friction": 1.0, "rotor": 1.0}),
    (7, 3, "standard", False, {"dh": 1.0, "base": 1.0, "tool": 0.5, "gravity": 0.5}),
]


@pytest.mark.parametrize(
    ("seed", "n", "kind", "drives", "parts"),
    [*CHAINS[:3], *(pytest.param(*case, marks=pytest.mark.release) for case in CHAINS[3:])],
)
def test_masks_are_exact(seed, n, kind, drives, parts, tmp_path):
    """Run-time entries are moved, baked ones are NaN in the arguments: the result is the robot's with what moved."""
    robot = random_robot(seed, n, kind, friction=drives, rotors=drives, armature=drives)
    rng = np.random.default_rng([seed, 3])
    groups = robot.symbolic(inertial_as="DYN" if "inertial_as_DYN" in parts else "REG").parameters
    masks, moved, arguments = {}, {}, {}
    for key, part in parts.items():
        group = groups["inertial" if key == "inertial_as_DYN" else key]
        mask = rng.random(group.values.size) < part
        mask[rng.integers(mask.size)] = True
        moved[key] = np.where(mask, group.values * rng.uniform(0.8, 1.2, mask.size), group.values)
        masks[group.name] = mask
        argument = "par_DYN" if key == "inertial_as_DYN" else ARGUMENT_NAMES[group.name]
        arguments[argument] = np.where(mask, moved[key], np.nan)
    options = {"inertial": False, "friction": False} | masks if drives else {"inertial": False} | masks
    inertial_as = "DYN" if "inertial_as_DYN" in parts else "REG"
    core = Core(generate(robot, tmp_path, inertial_as=inertial_as, **options), robot.name)
    # angles of base and tool that a pose cannot give back exactly are baked through the pose: only moved groups go in
    flat = {key: tuple(mask.astype(int).tolist()) for key, mask in masks.items()}
    assert_equal_to_robot(core, with_groups(robot, moved).replace(masks=flat), arguments, 1e-11, seed)


@pytest.mark.parametrize("joints", [PIECES_FROM - 1, PIECES_FROM, *rarely(OUTLINE_FROM - 1)])
def test_pieces_from_some_joints_on(joints, tmp_path):
    robot = random_robot(3, joints, "standard", friction=True)
    assert outlining(robot) == ("uniform" if joints >= PIECES_FROM else False)
    folder = generate(robot, tmp_path, select="Yr,reg_dl,inverse_dynamics,forward_dynamics")
    source = next(folder.glob("*_gen.cpp")).read_text()
    for piece in ("regressor_row", "body_wrench"):
        assert (f"void thunder_part_{piece}(" in source) == (joints >= PIECES_FROM)
    core = Core(folder, robot.name)
    arguments = {p.name: core.default(p.name, p.size) for ps in core.functions.values() for p in ps if "par_" in p.name}
    assert_equal_to_robot(core, robot, arguments)


@pytest.mark.release
@pytest.mark.parametrize("source", ["arm15.yaml", "placements"])
def test_long_arms_are_outlined_and_equal_too(source, tmp_path):
    robot = (
        th.Robot.load(DATA / "thunder" / source)
        if source.endswith("yaml")
        else random_robot(5, 12, source, friction=True)
    )
    assert robot.n >= OUTLINE_FROM
    select = "M,C,G,slotine_li_regressor,inverse_dynamics,forward_dynamics,C_dot,J_ee"
    core = Core(generate(robot, tmp_path, select=select), robot.name)
    arguments = {p.name: core.default(p.name, p.size) for ps in core.functions.values() for p in ps if "par_" in p.name}
    assert_equal_to_robot(core, robot, arguments, 1e-11)


@pytest.mark.release
@pytest.mark.parametrize("joints", [PIECES_FROM, OUTLINE_FROM, 15])
def test_everything_compiles_for_any_number_of_joints(joints, tmp_path):
    """Pieces that call pieces have one form only."""
    robot = th.Robot.load(DATA / "thunder/arm15.yaml") if joints == 15 else random_robot(9, joints, "modified")
    folder = generate(robot, tmp_path)
    run(["gcc", "-x", "c", "-std=c99", *STRICT, "-fsyntax-only", folder / f"{robot.name}_gen.cpp"])


@pytest.mark.release
def test_long_arms_with_every_parameter_at_run_time(tmp_path):
    """A rotor's inertia passes through outlined pieces whose results do not all depend on it."""
    robot = random_robot(7, OUTLINE_FROM, "standard", friction=True, rotors=True, armature=True, elastic=True)
    groups = robot.symbolic().parameters
    select = "M,C,G,slotine_li_regressor,M_dot,forward_dynamics,J_ee,reg_rotor,k,elastic_forward_dynamics"
    core = Core(generate(robot, tmp_path, select=select, **dict.fromkeys(groups, True)), robot.name)
    arguments = {group.argument: group.values for group in groups.values()}
    assert "par_rotor" in [p.name for p in core.functions["M"]]
    assert_equal_to_robot(core, robot, arguments, 1e-11)


@pytest.mark.release
def test_matrices_beyond_what_eigen_allows_on_the_stack(tmp_path):
    robot = random_robot(1, 45, "modified")
    for select, there in (("G", False), ("reg_G", True)):
        folder = generate(robot, tmp_path, select=select, name="long_arm")
        assert ("EIGEN_STACK_ALLOCATION_LIMIT" in (folder / "thunder_long_arm.h").read_text()) == there
    if eigen_include() is not None:
        flags = ["-std=c++17", *STRICT, "-fsyntax-only", f"-I{folder}", "-isystem", eigen_include()]
        run(["g++", *flags, folder / "thunder_long_arm.cpp"])


def test_elastic_parameters_at_run_time(tmp_path):
    robot = random_robot(8, 4, "modified", elastic=True)
    names = [f"elastic_{key}" for key in ("K", "D", "Dm", "Mm")]
    core = Core(generate(robot, tmp_path, **dict.fromkeys(names, True)), robot.name)
    groups = robot.symbolic().parameters
    arguments = {groups[name].argument: groups[name].values for name in names} | {"par_REG": robot.inertial}
    assert_equal_to_robot(core, robot, arguments)
    state = random_state(robot)
    doubled = {**arguments, "par_K": 2.0 * arguments["par_K"]}
    (single,), (double,) = core.call("k", {**state, **arguments}), core.call("k", {**state, **doubled})
    np.testing.assert_allclose(double, 2.0 * single, rtol=1e-15)


def test_a_loop_on_the_motors_state_needs_the_library_only(tmp_path):
    """PD control of the motors with gravity compensation, integrated by the library, against the package's loop."""
    robot = random_robot(8, 4, "modified", elastic=True)
    folder = generate(robot, tmp_path, select="G,elastic_forward_dynamics", inertial=False, python=True)
    core = Core(folder, robot.name)
    n, e = robot.n, robot.e
    motors = core.elastic_joints(e)
    assert motors == [drive.joint - 1 for drive in robot.elastic]
    assert f"{robot.name}_numElasticJoints = {e}" in (folder / f"{robot.name}_gen.h").read_text()
    listed = ", ".join(map(str, motors))
    assert f"get_elasticJoints() {{ return {{{{{listed}}}}}; }}" in (folder / f"thunder_{robot.name}.h").read_text()
    assert f"make_tuple({listed})" in (folder / "python" / "bindings.cpp").read_text()
    assert f"counted from 0, {listed} (" in (folder / "README.md").read_text()

    class Law:
        sees_motors = True

        def step(self, t, q, dq, reference, x, dx):
            y, dy = q.copy(), dq.copy()
            y[motors], dy[motors] = x, dx
            (G,) = core.call("G", {"q": q})
            return G + 40.0 * (reference.q - y) - 8.0 * dy

    def rate(_, state):
        (q, x), (dq, dx) = (np.split(row, [n]) for row in state)
        values = {"q": q, "dq": dq, "x": x, "dx": dx, "tau": tau}
        return np.stack([state[1], *core.call("elastic_forward_dynamics", values)])

    law, goal = Law(), th.reference.SetPoint(np.full(n, 0.3))
    run = th.simulate(robot, law, goal, 0.02, 1e-3, q0=np.zeros(n), x0=np.zeros(e))
    state = np.zeros((2, n + e))
    for k in range(20):
        (q, x), (dq, dx) = (np.split(row, [n]) for row in state)
        tau = law.step(1e-3 * k, q, dq, goal(0.0), x, dx)
        state = rk4_step(rate, 0.0, state, 1e-3)
    np.testing.assert_allclose(state, [np.append(run.q[-1], run.x[-1]), np.append(run.dq[-1], run.dx[-1])], atol=1e-12)
    assert np.abs(run.x[-1]).max() > 1e-3


@pytest.mark.parametrize("run_time", [False, True])
def test_inverse_dynamics_of_linear_springs(run_time, tmp_path):
    robot = random_robot(8, 4, "modified", friction=True, elastic=True)
    drives = [dataclasses.replace(drive, K=drive.K[:1], D=(), Dm=(0.3, 0.2)) for drive in robot.elastic]
    linear = robot.replace(elastic=drives)
    groups = dict.fromkeys(("inertial", "friction", "elastic_K", "elastic_Dm", "elastic_Mm"), run_time)
    core = Core(generate(linear, tmp_path, select="elastic_inverse_dynamics", **groups), robot.name)
    assert [p.name for p in core.functions["elastic_inverse_dynamics"] if p.is_result] == ["tau", "x", "dx"]
    arguments = {group.argument: group.values for group in linear.symbolic(**groups).parameters.values()}
    assert_equal_to_robot(core, linear, arguments)
    damped = linear.replace(elastic=[dataclasses.replace(drive, D=(0.1,)) for drive in drives])
    for other in (robot, damped):  # nonlinear springs; dampers beside the springs
        assert "elastic_inverse_dynamics" not in catalogue(other.symbolic())


@pytest.mark.release
@pytest.mark.parametrize("scalar", ["double", "float"])
@pytest.mark.parametrize("compiler", COMPILERS)
def test_sources_are_strict_c_and_cpp(compiler, scalar, tmp_path):
    robot = th.Robot.load("scara")
    folder = generate(robot, tmp_path, scalar=scalar, batch=True)
    for language in (["-x", "c", "-std=c99"], ["-x", "c++", "-std=c++17"]):
        assert run([compiler, *language, "-O0", *STRICT, "-fsyntax-only", folder / "scara_gen.cpp"]) == ""


def test_batch_functions(tmp_path):
    import ctypes

    robot = th.Robot.load("elbow")
    core = Core(generate(robot, tmp_path, batch=True, select="C_std,G", name="two"), "two")
    rng = np.random.default_rng(0)
    q, dq = rng.normal(size=(2, 5, 2))
    reg = np.tile(robot.inertial.ravel(), (5, 1))
    out = np.empty((5, 2, 2))
    pointers = [ctypes.c_void_p(array.ctypes.data) for array in (q, dq, reg, out)]
    core._library.two_C_std_batch(ctypes.c_size_t(5), *pointers)
    np.testing.assert_allclose(out, robot.coriolis_matrix(q, dq), atol=1e-12)
    out = np.empty((5, 2))
    pointers = [ctypes.c_void_p(array.ctypes.data) for array in (q, reg, out)]
    core._library.two_G_batch(ctypes.c_size_t(5), *pointers)
    np.testing.assert_allclose(out, robot.gravity_vector(q), rtol=1e-12)


def test_two_robots_link_together(tmp_path):
    main = tmp_path / "main.c"
    main.write_text(
        '#include "elbow_gen.h"\n#include "scara_gen.h"\n#include <stdio.h>\n'
        "int main(void) {\n  double q[4] = {0.1, 0.2, 0.3, 0.4}, a[16], b[16];\n"
        '  elbow_T_0_ee(q, a);\n  scara_T_0_ee(q, b);\n  printf("%.17g %.17g\\n", a[3], b[3]);\n  return 0;\n}\n'
    )
    folders = [generate(th.Robot.load(name), tmp_path, select="T_0_ee") for name in ("elbow", "scara")]
    sources = [folder / f"{folder.name.removesuffix('_generatedFiles')}_gen.cpp" for folder in folders]
    program = tmp_path / "main"
    run(["gcc", "-std=c99", *STRICT, main, *[f"-I{f}" for f in folders], "-x", "c", *sources, "-o", program, "-lm"])
    printed = [float(text) for text in run([program]).split()]
    q = [0.1, 0.2, 0.3, 0.4]
    right = [th.Robot.load("elbow").forward_kinematics(q[:2])[0, 3], th.Robot.load("scara").forward_kinematics(q)[0, 3]]
    np.testing.assert_allclose(printed, right, rtol=1e-14)
