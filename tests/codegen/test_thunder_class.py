"""The class with Thunder's interface: every documented call of Thunder compiles and gives the numbers of `Robot`."""

import os
import re
import warnings
from functools import partial
from pathlib import Path

import numpy as np
import pytest

import thunder_py as th
from thunder_py.codegen import generate
from thunder_py.codegen.contents import catalogue
from thunder_py.errors import ThunderError, UnknownNameError
from thunder_py.model.description import Friction
from thunder_py.model.inertia import dyn_from_reg
from thunder_py.spatial import pose_from_rpy

from .class_driver import build, shown, vector
from .libraries import Array, eigen_include, run
from .reference import expected, pose_values, quantity, random_state, with_groups

#: constant armature has no columns in Thunder's regressors
pytestmark = pytest.mark.filterwarnings("ignore:Yr has the columns")

DATA = Path(__file__).parent.parent / "data" / "thunder"
compiled = [
    pytest.mark.release,  # Eigen takes seconds to compile
    pytest.mark.skipif(eigen_include() is None, reason="Eigen is not installed"),
]

PACKED = {"DHtable": "dh", "gravity": "gravity", "world2L0": "base", "Ln2EE": "tool"}
GROUPS = {"Dl": "friction", "K": "elastic_K", "D": "elastic_D", "Dm": "elastic_Dm", "Mm": "elastic_Mm"}
REGRESSORS = {"reg_dl": "Dl", "reg_k": "K", "reg_d": "D", "reg_dm": "Dm", "reg_Mm": "Mm"}
STATE = {"q": "q", "dq": "dq", "ddq": "ddq", "d3q": "d3q", "d4q": "d4q", "dqr": "dq_r", "ddqr": "ddq_r"}
MOTORS = ("x", "dx", "ddx", "ddxr")


def panda() -> th.Robot:
    """The Panda as in Thunder's file: friction and the tool's position are run-time parameters.

    Armature and Coulomb friction, which Thunder does not know, are constants.
    """
    friction = Friction(terms=("viscous", "coulomb", "quadratic"), coefficients=np.tile([0.1, 0.3, 0.01], (7, 1)))
    masks = {"inertial": ((1,) * 10,) * 7, "friction": ((1, 0, 1),) * 7, "tool": (1, 1, 1, 0, 0, 0)}
    return th.Robot.load("panda").replace(friction=friction, masks=masks, armature=np.full(7, 0.05))


ROBOTS = {
    "arm3": partial(th.Robot.load, DATA / "arm3.yaml"),
    "sea3": partial(th.Robot.load, DATA / "sea3.yaml"),
    "panda": panda,
}


def known(friction: Friction) -> Array:
    """The terms that Thunder knows."""
    return np.array([term != "coulomb" for term in friction.terms])


def masks(robot: th.Robot) -> dict[str, Array]:
    """Masks by group, flat."""
    return {group.name: group.mask for group in robot.symbolic(inertial_as="DYN").parameters.values()}


def getters(robot: th.Robot) -> set[str]:
    """Names of the functions that Thunder's class has, from the rules of its generator."""
    d, n, mask = robot.description, robot.n, masks(robot)
    names = (
        {f"T_{i}" for i in range(n + 1)} | {f"T_0_{i}" for i in range(n + 2)} | {"T_0_ee", "J_ee_pinv", "C_std", "Yr"}
    )
    names |= {f"J_{i}" for i in range(1, n + 2)} | {f"J_cm_{i}" for i in range(1, n + 1)}
    names |= {f"{name}{dot}" for name in ("J_ee", "M", "C", "G") for dot in ("", "_dot", "_ddot")}
    names |= {f"reg_{name}" for name in "MCG"}
    if any(mask[group].any() for group in ("dh", "base", "tool") if group in mask):
        names |= {"reg_Jdq", "reg_JTw"}
    if d.friction is not None:
        names |= {"dl"} | {f"Dl{k + 1}" for k in range(known(d.friction).sum())}
    for key, name in (("K", "k"), ("D", "d"), ("Dm", "dm")):
        count = len(getattr(d.elastic[0], key)) if d.elastic else 0
        names |= {name} if count else set()
        names |= {f"{key}{2 * k + 1 if key == 'K' else k + 1}" for k in range(count)}
    names |= {"Mm"} if d.elastic else set()
    return names | {name for name, key in REGRESSORS.items() if mask.get(GROUPS[key], np.zeros(1)).any()}


def value(robot: th.Robot, name: str, state: dict[str, Array]) -> Array:
    """What a getter of Thunder's class gives."""
    n, mask = robot.n, masks(robot)
    if name in REGRESSORS:
        return expected(robot, name, state)[:, mask[GROUPS[REGRESSORS[name]]]]
    if name in ("T_0", f"T_0_{n + 1}"):
        return robot.forward_kinematics(state["q"], 0 if name == "T_0" else None)
    if name == f"J_{n + 1}":
        return robot.jacobian(state["q"])
    if match := re.fullmatch(r"T_(\d+)", name):
        before, after = (robot.forward_kinematics(state["q"], int(match[1]) - k) for k in (1, 0))
        return np.linalg.solve(before, after)
    if match := re.fullmatch(r"J_cm_(\d+)", name):
        pose = np.eye(4)
        pose[:3, 3] = dyn_from_reg(robot.inertial[int(match[1]) - 1])[1:4]
        return robot.replace(frames={"center": (int(match[1]), pose)}).jacobian(state["q"], "center")
    if match := re.fullmatch(r"(Dl|K|Dm|D)(\d+)", name):
        rows = np.reshape(parameters(robot)[match[1]], (n if match[1] == "Dl" else robot.e, -1))
        return np.diag(rows[:, (int(match[2]) - 1) // (2 if match[1] == "K" else 1)])
    return expected(robot, name, {**state, "damping": np.sqrt(0.02)})


def parameters(robot: th.Robot) -> dict[str, Array]:
    """All parameters by Thunder's names, whole."""
    d, values = robot.description, dict.fromkeys(("DHtable", *GROUPS), np.zeros(0))
    values |= {"REG": robot.inertial.ravel(), "DYN": dyn_from_reg(robot.inertial).ravel(), "gravity": d.gravity}
    values |= {"world2L0": pose_values(d.base), "Ln2EE": pose_values(d.tool)}
    if d.dh is not None:
        values["DHtable"] = d.dh.ravel()
    if d.friction is not None:
        values["Dl"] = d.friction.coefficients[:, known(d.friction)].ravel()
    return values | ({key: np.ravel(part) for key, part in robot.elastic_parameters.items()} if robot.e else {})


def program(robot: th.Robot, name: str, state: dict[str, Array], moved: dict[str, Array]) -> str:
    """A program as it was written for Thunder: types, order and files are those of its examples."""
    show = "\n".join(f'  show("{getter}", robot.get_{getter}());' for getter in sorted(getters(robot)))
    keys = ("REG", "DYN", "DHtable", "gravity", "world2L0", "Ln2EE", *GROUPS)
    show_parameters = "\n".join(
        f'  {{ Eigen::VectorXd p = robot.get_par_{key}(); show("PREFIXpar_{key}", p); }}' for key in keys
    )
    setters = "\n".join(f"  robot.set_par_{key}({vector(part)});" for key, part in moved.items() if part.size)
    again = "\n".join(f"  robot.set_par_{key}(robot.get_par_{key}());" for key in keys)
    orders = [f"{key}_order" for key in ("K", "D", "Dl", "Dm")]
    constants = ["n_joints", "ELASTIC", "numElasticJoints", *orders, "numParDYN", "numParREG"]
    motors = [(key, vector(state[key.replace("xr", "x")]) if robot.e else "x") for key in MOTORS]
    return f"""
  Robot robot;
  const std::string folder = argv[1];
  robot.load_conf(argv[2]);
  const int NJ = robot.get_numJoints();
  const int N_PARAM_DYN = robot.get_numParDYN();
  int N_PARAM_REG = robot.get_numParREG();
  int NEJ = robot.numElasticJoints;
  Eigen::VectorXd q(NJ), dq(NJ), dqr(NJ), ddqr(NJ), x(NEJ);
  q.setOnes(), dq.setZero(), dqr.setZero(), ddqr.setZero(), x.setZero();
  robot.setArguments(q, dq, dqr, ddqr);
{"".join(f"  robot.set_{key}({vector(state[own])});" for key, own in STATE.items())}
{"".join(f"  robot.set_{key}({numbers});" for key, numbers in motors)}
  robot.set_w({vector(state["w"])});
{show}
{show_parameters.replace("PREFIX", "default.")}
  Eigen::MatrixXd Yr(NJ, N_PARAM_REG), myM(NJ, NJ), myKin(4, 4), myJac(6, NJ);
  Eigen::VectorXd myG(NJ), par_REG(N_PARAM_REG), par_DYN(N_PARAM_DYN);
  Yr = robot.get_Yr(), myM = robot.get_M(), myKin = robot.get_T_0_ee(), myJac = robot.get_J_ee(), myG = robot.get_G();
  par_REG = robot.get_par_REG(), par_DYN = robot.get_par_DYN();
  show("torque", Yr * par_REG);
  show("constants", (Eigen::VectorXd(9) << {", ".join(f"robot.{key}" for key in constants)}).finished());
  for (int i = 0; i < NJ; ++i) std::cout << "elastic" << i << " " << robot.isElasticJoint[i] << "\\n";
  std::cout << "name_is_right " << (robot.{name}Name == "{name}") << std::endl;
  robot.save_par_REG(folder + "/saved_par_REG.yaml");
  robot.save_par_DYN(folder + "/saved_par_DYN.yaml");
  std::cout << "saved " << robot.save_par(folder + "/saved.yaml") << std::endl;
{setters}
{again}
  show("moved.M", robot.get_M()), show("moved.T_0_ee", robot.get_T_0_ee()), show("moved.G", robot.get_G());
{show_parameters.replace("PREFIX", "moved.")}
  Eigen::VectorXd loaded = robot.load_par_REG(folder + "/saved_par_REG.yaml");
  show("loaded", loaded), show("reloaded.DYN", robot.get_par_DYN());
  robot.set_par_REG(2.0 * par_REG, false);
  show("alone.REG", robot.get_par_REG()), show("alone.DYN", robot.get_par_DYN());
  robot.resizeVariables();
  show("reset", robot.get_par_REG());
  refused("size", [&] {{ robot.set_q(Eigen::VectorXd::Zero(NJ + 1)); }});
  refused("file", [&] {{ robot.load_conf("/nowhere/at_all.yaml"); }});
  return 0;
"""


@pytest.fixture(scope="module", params=sorted(ROBOTS))
def gone_through(request, tmp_path_factory):
    """A class and the output of a program with all calls of Thunder, compiled once for each robot."""
    robot, name = ROBOTS[request.param](), request.param
    folder = generate(robot, tmp_path_factory.mktemp(name), name=name, thunder=True)
    state, mask, whole = random_state(robot, 4), masks(robot), parameters(robot)
    rng = np.random.default_rng(4)
    moved = {"REG": rng.uniform(0.9, 1.1, 10 * robot.n) * whole["REG"]}
    moved |= {key: whole[key] * rng.uniform(0.9, 1.1, whole[key].size) for key in GROUPS}
    for key, group in PACKED.items():
        moved[key] = whole[key][mask[group]] + rng.uniform(-0.1, 0.1, mask[group].sum())
    executable = build(folder, name, program(robot, name, state, moved), sanitize=name == "sea3")
    output = run([executable, folder.parent, folder / f"{name}_conf.yaml"])
    lines = output.splitlines()
    return robot, folder, state, moved, shown("\n".join(lines[:-2])), lines[-2:]


class TestCalls:
    """Of a program for Thunder."""

    pytestmark = compiled

    def test_results_are_those_of_the_robot(self, gone_through):
        robot, _, state, _, values, _ = gone_through
        for name in getters(robot):
            right = value(robot, name, state)
            close = 1e-11 * max(1.0, np.abs(right).max())
            np.testing.assert_allclose(values[name], right.ravel(), rtol=0, atol=close, err_msg=name)
        torque = robot.slotine_li_regressor(*(state[key] for key in ("q", "dq", "dq_r", "ddq_r")))[:, : 10 * robot.n]
        np.testing.assert_allclose(values["torque"], torque @ robot.inertial.ravel(), rtol=1e-9, atol=1e-9)

    def test_parameters_are_whole_or_run_time_entries(self, gone_through):
        robot, _, _, moved, values, _ = gone_through
        mask, whole = masks(robot), parameters(robot)
        for key, group in PACKED.items():
            np.testing.assert_allclose(values[f"default.par_{key}"], whole[key][mask[group]], atol=1e-15, err_msg=key)
        for key in ("REG", "DYN", *GROUPS):
            np.testing.assert_allclose(values[f"default.par_{key}"], whole[key], rtol=1e-12, atol=1e-15, err_msg=key)
        for key, numbers in moved.items():
            near = {"rtol": 1e-9, "atol": 1e-12} if key == "REG" else {"rtol": 0.0}
            np.testing.assert_allclose(values[f"moved.par_{key}"], numbers, err_msg=key, **near)

    def test_setters_move_the_results(self, gone_through):
        robot, _, state, moved, values, _ = gone_through
        mask, whole, changed = masks(robot), parameters(robot), {}
        for key, group in PACKED.items():
            if mask[group].any():
                changed[group] = whole[key].copy()
                changed[group][mask[group]] = moved[key]
        entries = dyn_from_reg(moved["REG"].reshape(-1, 10)).ravel()
        changed["inertial_as_DYN"] = np.where(mask["inertial"], entries, whole["DYN"])
        new = with_groups(robot, changed)
        for name in ("M", "T_0_ee", "G"):
            right = expected(new, name, state)
            np.testing.assert_allclose(values[f"moved.{name}"], right.ravel(), atol=1e-10 * np.abs(right).max())

    def test_constants(self, gone_through):
        robot, _, _, _, values, _ = gone_through
        orders = [len(getattr(robot.elastic[0], key)) if robot.e else 0 for key in ("K", "D", "Dm")]
        Dl_order = known(robot.description.friction).sum()
        right = [robot.n, robot.e > 0, robot.e, *orders[:2], Dl_order, orders[2], 10 * robot.n, 10 * robot.n]
        assert values["constants"].tolist() == right
        flags = [values[f"elastic{i}"][0] for i in range(robot.n)]
        assert flags == [i in robot.motor_joints for i in range(robot.n)]
        assert values["name_is_right"] == 1

    def test_files_go_both_ways(self, gone_through):
        robot, folder, _, _, values, _ = gone_through
        assert values["saved"] == 1
        np.testing.assert_allclose(values["loaded"], robot.inertial.ravel(), rtol=1e-12, atol=1e-15)
        np.testing.assert_allclose(values["reloaded.DYN"], values["default.par_DYN"], rtol=1e-9, atol=1e-12)
        np.testing.assert_array_equal(values["alone.REG"], 2.0 * values["default.par_REG"])
        np.testing.assert_array_equal(values["alone.DYN"], values["reloaded.DYN"])
        np.testing.assert_array_equal(values["reset"], values["default.par_REG"])
        again = th.Robot.load(folder / f"{folder.name.removesuffix('_generatedFiles')}_conf.yaml")
        np.testing.assert_allclose(again.parameters, robot.parameters, rtol=1e-12, atol=1e-15)
        np.testing.assert_allclose(again.description.tool, robot.description.tool, atol=1e-15)
        for form in ("REG", "DYN"):
            target = folder.parent / f"{again.name}_par_{form}.yaml"
            target.write_bytes((folder.parent / f"saved_par_{form}.yaml").read_bytes())
            (folder.parent / f"{again.name}.yaml").write_bytes((folder / f"{again.name}_conf.yaml").read_bytes())
            np.testing.assert_allclose(th.Robot.load(target).inertial, robot.inertial, rtol=1e-9, atol=1e-12)

    def test_refusals(self, gone_through):
        size, file = gone_through[5]
        assert size.startswith("size invalid_argument")
        assert file.startswith("file runtime_error /nowhere/at_all.yaml: cannot be read")


@pytest.mark.parametrize("name", ["scara", "placements"])
def test_class_and_file_of_an_arm_without_modified_table_are_one_description(name, tmp_path):
    """Both have the frames of `Robot.to_dh`: values of the class, and the robot that is read from its file."""
    robot = th.Robot.load("scara").replace(rotors=())
    if name == "placements":
        robot = th.Robot(robot.description.replace(dh=None, convention="placements"))
    folder = generate(robot, tmp_path, name="arm", thunder=True, select="M,T_0_1,T_0_ee", dh=True)
    again, arm = th.Robot.load(folder / "arm_conf.yaml"), robot.to_dh("modified")
    np.testing.assert_allclose(again.description.dh, arm.description.dh, atol=1e-15)
    np.testing.assert_allclose(again.inertial, arm.inertial, rtol=1e-12, atol=1e-15)
    np.testing.assert_allclose(
        th.Robot.load(folder / "arm_par_REG.yaml").inertial, arm.inertial, rtol=1e-12, atol=1e-15
    )
    assert again.description.masks["dh"] == (1,) * 16
    code = (folder / "arm_gen.cpp").read_text()
    for key, right in (("DHtable", arm.description.dh), ("DYN", dyn_from_reg(arm.inertial))):
        numbers = re.search(rf"arm_default_par_{key}\[\d+\] = {{(.*)}}", code)[1]
        np.testing.assert_allclose([float(number) for number in numbers.split(",")], right.ravel(), rtol=0, atol=1e-15)


def test_masks_of_parts_become_those_of_wholes_in_other_frames(tmp_path):
    """A run-time mass needs all of the body's parameters in another frame."""
    robot = th.Robot.load("scara")
    masks = {"gravity": (0, 0, 1), "inertial": ((1, *[0] * 9), *((0,) * 10,) * 3), "tool": (0, 1, 0, 0, 0, 0)}
    folder = generate(robot.replace(masks=masks), tmp_path, name="arm", thunder=True, select="M")
    again = th.Robot.load(folder / "arm_conf.yaml").description.masks
    assert (again["gravity"], again["tool"], again["base"]) == ((0, 0, 1), (1,) * 6, (0,) * 6)
    assert again["inertial"] == ((1,) * 10, *((0,) * 10,) * 3)


SHARED = Path(__file__).parents[2].parent / "shared"


def methods_of_thunder(name: str) -> set[str]:
    """The methods that a list of those of Thunder's own classes names; ``get_J_#`` (1, 2) are two."""
    text = (SHARED / "reference/thunder_methods.md").read_text().split(f"## {name}:")[1].split("\n## ")[0]
    found = set()
    for kind, line in re.findall(r"^- (\w+): (.*)$", text, re.MULTILINE):
        for stem, indices in re.findall(r"`(\w+(?:_#)*\w*)`(?: \(([\d, ]+)\))?", line):
            numbers = indices.split(", ") if indices else [""]
            found |= {(kind, stem.replace("#", "0", stem.count("#") - 1).replace("#", number)) for number in numbers}
    return {name for kind, name in found if kind != "constants"}


OWN = {path.stem: partial(th.Robot.load, path) for path in DATA.glob("*.yaml")} | ROBOTS
THUNDERS = {name: SHARED / f"data/thunder/{name}_conf.yaml" for name in ("RRR", "egoRightArm", "franka", "seaRRR")}
CASES = [pytest.param(name, marks=pytest.mark.release if name in ("arm15", "arm30") else ()) for name in sorted(OWN)]
for name, path in THUNDERS.items():
    absent = pytest.mark.skipif(not path.is_file(), reason="needs ../shared/data")
    CASES.append(pytest.param(name, marks=(pytest.mark.release, absent)))


@pytest.mark.parametrize("version", ["0.8", "1.0"])
@pytest.mark.parametrize("name", CASES)
def test_every_configuration_gives_a_class_with_every_method(name, version, tmp_path):
    """The methods by Thunder's rules, those that all of its classes have, and the lists of Thunder's own robots."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # friction without its order
        robot = OWN[name]() if name in OWN else th.Robot.load(THUNDERS[name])
    if version == "1.0":
        robot.save(tmp_path / "again_conf.yaml", lossy=True, thunder=version)
        robot = th.Robot.load(tmp_path / "again_conf.yaml")
    header = (generate(robot, tmp_path, name=name, thunder=True) / f"thunder_{name}.h").read_text()
    state = (*STATE, *MOTORS, "w")
    wanted = {f"get_{getter}" for getter in getters(robot)} | {f"set_{key}" for key in state} | {"setArguments"}
    wanted |= {f"{what}_par_{key}" for what in ("get", "set") for key in ("REG", "DYN", *PACKED, *GROUPS)}
    wanted |= {"load_conf", "load_par_REG", "save_par", "save_par_REG", "save_par_DYN", "get_numJoints"}
    wanted |= set() if name in OWN else methods_of_thunder(name)
    found = set(re.findall(r" (\w+)\(", header))
    assert wanted <= found
    assert not {other for other in found - wanted if other.startswith("get_") and "num" not in other}


CHAIN = """\
pipeline: {loaders: [kin_loader, dyn_loader]}
kin_loader:
  kinematics:
    base: {symb: [1,1,1, 1,1,1], xyzrpy: [0, 0, 0.1, 0, 0, 0]}
    first: {parent: base, joint_type: R, xyz: [0, 0, 0.3], rpy: [0, 0.2, 0]}
    second: {parent: first, joint_type: P, axis: [0, 1, 0], xyzrpy: [0.1, 0, 0, -1.5, 0, 0]}
    flange: {parent: second, xyz: [0, 0, 0.1], ypr: [0, 0, -1.5]}
    hand: {parent: flange, symb: [1,0,0, 0,0,0], xyzrpy: [0, 0, 0, 0, 0, 0]}
dyn_loader:
  Dl_order: 1
  gravity: {symb: [0,0,1], value: [0, 0, -9.81]}
  dynamics:
    second: {friction: {symb: [1], Dl: [0.2]}, motor: {symb: [0], Ia: 0}}
    flange: {inertial: {symb: [1,0,0,0,0,0,0,0,0,0], mass: 2, CoM: [0.1, 0, 0], I: [0.1, 0, 0, 0.2, 0, 0.2]}}
"""


def test_a_chain_of_frames_gives_a_class_with_every_method(tmp_path):
    (tmp_path / "chain.yaml").write_text(CHAIN)
    robot = th.Robot.load(tmp_path / "chain.yaml")
    assert {key for key, mask in robot.description.masks.items() if np.any(mask)} == {
        "base", "tool", "gravity", "friction", "inertial"
    }  # fmt: skip
    folder = generate(robot, tmp_path, thunder=True)
    again = th.Robot.load(folder / "chain_conf.yaml")
    assert again.description.masks["inertial"] == ((0,) * 10, (1,) * 10)
    found = set(re.findall(r" (\w+)\(", (folder / "thunder_chain.h").read_text()))
    assert {f"get_{name}" for name in getters(again)} <= found
    assert "get_reg_Jdq" in found
    (tmp_path / "chain.yaml").write_text(CHAIN.replace("Ia: 0", "Ia: 0.1"))
    with pytest.raises(ThunderError, match=r"chain.yaml:13: .*\.second\.motor: inertia of motors is not read"):
        th.Robot.load(tmp_path / "chain.yaml")


@pytest.mark.parametrize("thunder", [True, False])
@pytest.mark.parametrize("name", ["panda", "scara", "sea3", "ur5e", "placements"])
def test_the_file_of_a_class_is_the_robot(name, thunder, tmp_path):
    """Also of the class without Thunder's interface, and with everything that Thunder does not know."""
    robot = ROBOTS[name]() if name in ROBOTS else th.Robot.load("gen3" if name == "placements" else name)
    folder = generate(robot, tmp_path, name="arm", select="M", thunder=thunder)
    again = th.Robot.load(folder / "arm_conf.yaml")
    if not thunder:
        (tmp_path / "bad.yaml").write_text((folder / "arm_conf.yaml").read_text().replace("par_gravity", "par_gravty"))
        with pytest.raises(ThunderError, match="unknown key 'par_gravty'; did you mean 'par_gravity'"):
            th.Robot.load(tmp_path / "bad.yaml")
        assert repr(again.description.replace(masks={})) == repr(robot.description.replace(name="arm", masks={}))
    right = robot.to_dh("modified") if thunder else robot
    np.testing.assert_allclose(again.parameters, right.parameters, rtol=1e-11, atol=1e-14)
    assert (again.joint_names, again.description.limits) == (robot.joint_names, robot.description.limits)
    state = random_state(robot, 5)
    for name_ in ("inverse_dynamics", "forward_kinematics", "elastic_torque") if robot.e else ("inverse_dynamics",):
        np.testing.assert_allclose(quantity(again, name_, state), quantity(robot, name_, state), rtol=0, atol=1e-11)


@pytest.mark.parametrize("change", ["gap", "armature", "python", "float", "REG"])
def test_what_thunders_class_cannot_hold_is_refused(change, tmp_path):
    robot, options = ROBOTS["arm3"](), {}
    if change == "gap":
        robot = robot.replace(friction=Friction(terms=("viscous", "cubic"), coefficients=np.ones((3, 2))), masks={})
    elif change == "armature":
        robot, options = robot.replace(armature=np.ones(3)), {"armature": True}
    else:
        options = {"python": {"python": True}, "float": {"scalar": "float"}, "REG": {"inertial_as": "REG"}}[change]
    with pytest.raises(ThunderError, match=r"thunder|Thunder"):
        generate(robot, tmp_path, thunder=True, **options)
    assert not os.listdir(tmp_path)


@pytest.mark.parametrize("group", ["dh", "base", "tool"])
def test_kinematic_regressors_have_a_column_for_every_entry(group):
    """Also of the class without Thunder's interface: lengths and angles."""
    robot = th.Robot.load(DATA / "arm3.yaml").replace(base=pose_from_rpy([1, 2, 3], [0.1, 0.2, 0.3]), masks={})
    model = robot.symbolic(**{group: True})
    items = catalogue(model)
    state, wrench = random_state(robot, 7), model.symbol("wrench", 6)
    other = robot.replace(masks={group: tuple(int(bit) for bit in model.parameters[group].mask)})
    for name, vector_ in (("reg_Jdq", "dq"), ("reg_JTw", "w")):
        symbol = model.dq if vector_ == "dq" else wrench
        recorded = items[name].record(model, {vector_: symbol})
        parameter = model.parameters[group]
        function = th.symbolic.Function(
            name, {"q": model.q, vector_: symbol, "p": parameter.symbols}, {"out": recorded}
        )
        got = function(state["q"], state[vector_], parameter.values)
        np.testing.assert_allclose(got, expected(other, name, state), atol=1e-12)


FUNCTIONS = """
def functions(model):
    model.add_function("q0_distance", ((model.q - model.robot.description.values["q0"]) ** 2).sum())
    model.add_function("other", model.q[0])
"""


@pytest.mark.parametrize("thunder", [True, False])
@pytest.mark.parametrize(
    ("select", "wanted"),
    [("M,q0_distance", {"M", "q0_distance"}), ("other", {"other"}), ("M", {"M", "q0_distance", "other"})],
)
def test_functions_of_the_user_read_the_file_and_are_selected(thunder, select, wanted, tmp_path):
    (tmp_path / "arm.yaml").write_text((DATA / "arm3.yaml").read_text() + "\nq0: [0.1, 0.2, 0.3]\n")
    (tmp_path / "functions.py").write_text(FUNCTIONS)
    robot = th.Robot.load(tmp_path / "arm.yaml")
    folder = generate(robot, tmp_path, functions=tmp_path / "functions.py", select=select, thunder=thunder)
    header = (folder / "thunder_arm.h").read_text()
    assert {name for name in re.findall(r" get_(\w+)\(\) const;", header) if not name.startswith("par_")} == wanted
    with pytest.raises(UnknownNameError, match="did you mean 'q0_distance'"):
        generate(robot, tmp_path, functions=tmp_path / "functions.py", select="q0_distanc", thunder=thunder)
