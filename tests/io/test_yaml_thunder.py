"""Thunder 0.8 files: recognized, read with masks, friction and elastic block; its silent mistakes are refused."""

# ruff: noqa: E501 (tables of cases read better with one line each)
from __future__ import annotations

import dataclasses
import math
from pathlib import Path

import numpy as np
import pytest

import thunder_py as th
from tests.dynamics.random_chains import random_robot
from tests.refusals import assert_refused
from thunder_py.errors import FileFormatError, ThunderError, ThunderWarning
from thunder_py.io import conversion_losses, load_description, parse_description, save_description
from thunder_py.model.description import Elastic, Friction, Rotor
from thunder_py.model.inertia import dyn_from_reg, pseudo_inertia, reg_from_dyn, reg_from_pseudo_inertia
from thunder_py.spatial import dh_transform, rotation_about

LINK = """\
  link{i}:
    inertial:
      symb: [1,0,0,0, 0,0,0,0,0,1]
      mass: {mass}
      CoM_x: 1.0e-1
      CoM_y: 2e-1
      CoM_z: -0.05
      Ixx: 0.1
      Iyy: 0.2
      Izz: 0.25
      Ixy: 0.01
      Ixz: -0.02
      Iyz: 0.03
    friction:
      symb: [0,1]
      Dl: [0.5, 0.25, 7.0]
"""

FILE = (
    """\
version: 0.8
PI_2: &PI_2 1.5707963267948966
PI_2_neg: &PI_2_neg -1.5707963267948966
num_joints: 3
type_joints: ['R', R_SEA, "P_SEA"]
Dl_order: 2
ELASTIC_MODEL: true
kinematics:
  symb: [0,0,0,0, 1,0,0,0, 0,0,0,1]
  DH: [0,   0,         0.3, 0,
       0.1, *PI_2_neg, 0,   0,
       0,   *PI_2,     0.2, 0.4]
gravity:
  symb: [0,0,1]
  value: [0, 0, -9.81]
Base_to_L0:
  symb: [0,0,0, 0,0,0]
  tr: [1, 2, 3]
  ypr: [0.1, 0.2, 0.3]
Ln_to_EE:
  symb: [1,1,1, 0,0,0]
  tr: [0, 0, 0.1]
  ypr: [0, 0, *PI_2_neg]
dynamics:
"""
    + "".join(LINK.format(i=i, mass=i) for i in (1, 2, 3))
    + """\
elastic:
  K_order: 2
  D_order: 0
  Dm_order: 1
  joints:
    joint1: {K: [10.0, 1.0], D: [], Dm: [0.1], Mm: 0.5, K_symb: [1, 0], D_symb: [], Dm_symb: [0], Mm_symb: 1}
    joint2: {K: [20.0, 2.0], D: [9.0], Dm: [0.2], Mm: 0.6}
"""
)


def read(text=FILE, path="folder/arm3.yaml"):
    return parse_description(text, path)


def test_everything_is_read():
    arm = read()
    assert (arm.name, arm.joint_types, arm.convention) == ("arm3", "RRP", "modified")
    rows = [[0, 0, 0.3, 0], [0.1, -math.pi / 2, 0, 0], [0, math.pi / 2, 0.2, 0.4]]
    np.testing.assert_array_equal(arm.dh, rows)
    np.testing.assert_array_equal(arm.placements, [dh_transform(row) for row in rows])
    np.testing.assert_array_equal(arm.gravity, (0, 0, -9.81))
    expected = [reg_from_dyn([m, 0.1, 0.2, -0.05, 0.1, 0.01, -0.02, 0.2, 0.03, 0.25]) for m in (1, 2, 3)]
    np.testing.assert_array_equal(arm.inertial, expected)


def test_frames_turn_yaw_pitch_roll():
    arm = read()
    R = rotation_about("z", 0.1) @ rotation_about("y", 0.2) @ rotation_about("x", 0.3)
    np.testing.assert_allclose(arm.base[:3, :3], R, atol=1e-15)
    np.testing.assert_array_equal(arm.base[:3, 3], (1, 2, 3))
    np.testing.assert_array_equal(arm.tool[:3, :3], rotation_about("x", -math.pi / 2))


def test_friction_has_no_coulomb_term():
    friction = read().friction
    assert friction.terms == ("viscous", "quadratic")
    np.testing.assert_array_equal(friction.coefficients, [[0.5, 0.25]] * 3)
    assert read(FILE.replace("Dl_order: 2", "Dl_order: 0").replace("[0,1]", "[]")).friction is None


def test_masks_and_elastic_block_are_kept():
    arm = read()
    assert arm.masks["dh"] == (0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 1)
    assert arm.masks["gravity"] == (0, 0, 1)
    assert arm.masks["tool"] == (1, 1, 1, 0, 0, 0)
    assert arm.masks["inertial"] == ((1, 0, 0, 0, 0, 0, 0, 0, 0, 1),) * 3
    assert arm.masks["friction"] == ((0, 1),) * 3
    assert arm.masks["elastic_K"] == ((1, 0), (0, 0))
    assert arm.masks["elastic_Mm"] == (1, 0)
    first, second = arm.elastic
    assert first == Elastic(joint=2, K=(10.0, 1.0), D=(), Dm=(0.1,), Mm=0.5)
    assert (second.joint, second.D) == (3, ())


def test_saved_in_our_format_and_read_again(tmp_path):
    arm = read()
    save_description(arm, tmp_path / "again.yaml")
    assert load_description(tmp_path / "again.yaml") == arm


def test_optional_parts():
    text = FILE.replace("ELASTIC_MODEL: true", "ELASTIC_MODEL: false")
    assert read(text).elastic == ()
    short = text[: text.index("Base_to_L0")] + text[text.index("dynamics:") : text.index("elastic:")]
    arm = read("\n".join(line for line in short.splitlines() if "symb" not in line and "ELASTIC" not in line))
    np.testing.assert_array_equal(arm.base, np.eye(4))
    assert "dh" not in arm.masks


def without_links_of(text, part):
    """Leave out `part` of every link, whose indentation is that of ``inertial``."""
    kept, skipping = [], False
    for line in text.splitlines(keepends=True):
        if line.startswith("    ") and line[4] != " ":
            skipping = line.strip() == f"{part}:"
        elif not line.startswith("     "):
            skipping = False
        if not skipping:
            kept.append(line)
    return "".join(kept)


def test_defaults_are_those_of_thunder():
    """No friction without Dl_order, no springs without ELASTIC_MODEL, zeros for a link without friction."""
    with pytest.warns(
        UserWarning,
        match=r"arm3.yaml:\d+: dynamics.link1.friction: not used: Dl_order is missing at the top, default 0$",
    ):
        arm = read(FILE.replace("Dl_order: 2\n", ""))
    assert arm.friction is None
    assert "friction" not in arm.masks
    with pytest.warns(
        UserWarning, match=r"arm3.yaml:\d+: elastic: not used: ELASTIC_MODEL is missing at the top, default false$"
    ):
        assert read(FILE.replace("ELASTIC_MODEL: true\n", "")).elastic == ()
    frictionless = without_links_of(FILE, "friction")
    assert "Dl:" not in frictionless
    np.testing.assert_array_equal(read(frictionless).friction.coefficients, np.zeros((3, 2)))
    assert read(frictionless.replace("Dl_order: 2\n", "")).friction is None  # nothing to warn of


OLD = """\
PI_2_neg: &PI_2_neg -1.5707963267948966
num_joints: 2
type_joints: {types}
DH: [0,   0,         0.3, 0,
     0.1, *PI_2_neg, 0,   0]
gravity: [0, 0, -9.81]
Base_to_L0: {{tr: [1, 2, 3], ypr: [0.1, 0.2, 0.3]}}
Ln_to_EE: {{tr: [0, 0, 0.1], ypr: [0, 0, 0]}}
inertial:
  link1: {{mass: 1, CoM_x: 0.1, CoM_y: 0.2, CoM_z: -0.05, Ixx: 0.1, Ixy: 0.01, Ixz: -0.02, Iyy: 0.2, Iyz: 0.03, Izz: 0.25}}
  link2: {{mass: 2, CoM_x: 0.1, CoM_y: 0.2, CoM_z: -0.05, Ixx: 0.1, Ixy: 0.01, Ixz: -0.02, Iyy: 0.2, Iyz: 0.03, Izz: 0.25}}
"""


@pytest.mark.parametrize("types", ["RP", "['R', 'P']"])
def test_the_format_before_0_2_is_read(types):
    """Tables at the top, lists instead of mappings, joint types as a word; without masks."""
    arm, new = read(OLD.format(types=types)), read(without_links_of(FILE, "friction"))
    assert (arm.joint_types, arm.friction, arm.elastic, arm.masks) == ("RP", None, (), {})
    np.testing.assert_array_equal(arm.dh, new.dh[:2])
    np.testing.assert_array_equal(arm.inertial, new.inertial[:2])
    np.testing.assert_array_equal(arm.base, new.base)
    np.testing.assert_array_equal(arm.gravity, (0, 0, -9.81))


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("RP", "RRP", r"type_joints: must be a list of 2 of R, P, R_SEA, P_SEA, or 2 letters R and P, got 'RRP'$"),
        ("RP", "RX", r"type_joints: must be .*, or 2 letters R and P, got 'RX'$"),
        ("  link2:", "  link3:", r"inertial: unknown key 'link3'; did you mean 'link[12]'\?$"),
        ("DH:", "kinematics: {DH: [0, 0, 0, 0, 0, 0, 0, 0]}\nDH:", r"DH: unknown key 'DH'"),
    ],
)
def test_old_files_are_refused_with_the_reason(old, new, message):
    with pytest.raises(FileFormatError, match=message):
        read(OLD.format(types="RP").replace(old, new, 1))


@pytest.mark.parametrize(
    "table",
    [
        "link1: {mass: 1, m_CoM_x: 0, Ixx: 1, d1: 0.1}\nlink2: {mass: 1}\n",
        "link0: {origin: {xyz: [0, 0, 0], rpy: [0, 0, 0]}, mass: 1, inertia: {xx: 1}}\nend_effector: {mass: 0}\n",
    ],
)
def test_tables_without_kinematics_are_refused_with_the_reason(table):
    with pytest.raises(
        FileFormatError, match=r"^folder/arm3.yaml:1: link[01]: a table of inertial parameters is no robot"
    ):
        read(table)


def line_of(text, part):
    return text[: text.index(part)].count("\n") + 1


BAD = {
    "no gravity": ("gravity:\n  symb: [0,0,1]\n  value: [0, 0, -9.81]\n", "", "", r"missing key 'gravity': write the acceleration"),
    "dh mask": ("symb: [0,0,0,0, 1", "symb: [0,0,0, 1", "symb: [0,0,0, 1", r"kinematics.symb: must be a list of 12, got a list of 11$"),
    "link mask": ("[1,0,0,0, 0,0,0,0,0,1]", "[1,0]", "[1,0]", r"dynamics.link1.inertial.symb: must be a list of 10, got a list of 2$"),
    "friction mask": ("symb: [0,1]", "symb: [0]", "symb: [0]", r"dynamics.link1.friction.symb: must be a list of 2, got a list of 1$"),
    "mask value": ("symb: [0,0,1]", "symb: [0,0,2]", "symb: [0,0,2]", r"gravity.symb\[2\]: must be an integer from 0 to 1, got '2'$"),
    "elastic mask": ("K_symb: [1, 0]", "K_symb: [1]", "K_symb: [1]", r"elastic.joints.joint1.K_symb: must be a list of 2, got a list of 1$"),
    "dh length": ("0.2, 0.4]", "0.2]", "DH:", r"kinematics.DH: must be a list of 12, got a list of 11$"),
    "few Dl": ("Dl: [0.5, 0.25, 7.0]", "Dl: [0.5]", "Dl: [0.5]", r"dynamics.link1.friction.Dl: must hold at least 2 numbers, as its order says, got 1$"),
    "no K": ("K_order: 2", "K_order: 0", "K_order: 0", r"elastic.K_order: must be an integer from 1 to 20, got '0'$"),
    "few K": ("K: [10.0, 1.0]", "K: [10.0]", "joint1: {K", r"elastic.joints.joint1.K: must hold at least 2 numbers"),
    "urdf": ("kinematics:\n", "kinematics:\n  type: URDF\n", "type: URDF", r"kinematics.type: kinematics of a URDF file are not read here: load the URDF"),
    "raw table": ("version: 0.8", "link1: {mass: 1, m_CoM_x: 0}", "link1: {", r"link1: a table of inertial parameters is no robot"),
    "Dl sign": ("Dl: [0.5, 0.25, 7.0]", "Dl: [-0.5, 0]", "Dl: [-0.5", r"friction.Dl: viscous friction must not be negative, got -0.5$"),
    "Dl_order": ("Dl_order: 2", "Dl_order: 9", "Dl_order", r"Dl_order: must be an integer from 0 to 6, got '9'$"),
    "slip": ("Dl_order: 2", "Dl_ordr: 2", "Dl_ordr", r"unknown key 'Dl_ordr'; did you mean 'Dl_order'\?$"),
    "unknown": ("version: 0.8", "robot: franka", "robot", r"robot: unknown key 'robot'; "),
    "inertial key": ("mass: 1\n", "mass: 1\n      Izx: 0\n", "Izx", r"dynamics.link1.inertial: unknown key 'Izx'; did you mean 'Izz'\?$"),
    "no mass": ("      mass: 1\n", "", "      symb: [1,0,0,0,", r"dynamics.link1.inertial: missing key 'mass'$"),
    "mass": ("mass: 2\n", "mass: -2\n", "mass: -2", r"dynamics.link2.inertial.mass: mass of link2 must not be negative, got -2$"),
    "count": ("num_joints: 3", "num_joints: 4", "type_joints", r"type_joints: must be a list of 4, got a list of 3$"),
    "no joints": ("num_joints: 3", "num_joints: 0", "num_joints", r"num_joints: must be an integer from 1 to 64, got '0'$"),
    "type": ("R_SEA,", "R_SAE,", "type_joints", r"type_joints\[1\]: must be one of R, P, R_SEA, P_SEA, got 'R_SAE'; did you mean 'R_SEA'\?$"),
    "no elastic joints": ("['R', R_SEA, \"P_SEA\"]", "[R, R, P]", "type_joints", r"type_joints: an elastic model needs a joint of type R_SEA or P_SEA$"),
    "elastic joint": ("    joint2: {K", "    joint3: {K", "    joint3: {K", r"elastic.joints: unknown key 'joint3'; did you mean 'joint[12]'\?$"),
    "motor inertia": ("Mm: 0.6", "Mm: -0.6", "    joint2: {K", r"elastic.joints.joint2.Mm: motor inertia must not be negative, got -0.6$"),
    "extra link": ("  link3:", "  link4:", "  link4:", r"dynamics: unknown key 'link4'; did you mean 'link3'\?$"),
    "not a number": ("CoM_z: -0.05", "CoM_z: five", "CoM_z: five", r"dynamics.link1.inertial.CoM_z: must be a number"),
    "nan": ("CoM_z: -0.05", "CoM_z: .nan", "CoM_z: .nan", r"CoM_z: must be a number .*, got '.nan'$"),
}  # fmt: skip


def test_refused_with_line_and_key():
    for old, new, place, message in BAD.values():
        assert old in FILE
        text = FILE.replace(old, new, 1)
        with pytest.raises(FileFormatError, match=message) as caught:
            read(text)
        assert caught.value.line == line_of(text, place)
        assert str(caught.value).startswith(f"folder/arm3.yaml:{caught.value.line}: ")


def test_switches_of_the_generator_have_no_effect():
    switches = "version: 0.3\ngen_python: False\ngen_casadi: true\ngen_robot: true\ncopy_gen: true\n"
    assert read(FILE.replace("version: 0.8\n", switches)) == read()
    with pytest.raises(FileFormatError, match=r"arm3.yaml:5: copy_gen: must be true or false, got '/tmp'$"):
        read(FILE.replace("version: 0.8\n", switches.replace("copy_gen: true", "copy_gen: /tmp")))


def test_friction_before_0_2():
    old = OLD.format(types="RP").replace("Izz: 0.25}", "Izz: 0.25, Dl: [0.5, 0.25]}", 1)
    arm = read(old.replace("num_joints", "Dl_order: 2\nnum_joints"))
    np.testing.assert_array_equal(arm.friction.coefficients, [[0.5, 0.25], [0.0, 0.0]])
    assert arm.masks == {}
    with pytest.warns(UserWarning, match=r"inertial.link1.Dl: not used: Dl_order is missing at the top") as caught:
        read(old)
    assert caught[0].filename == __file__
    with pytest.raises(FileFormatError, match=r"inertial.link1.Dl: viscous friction must not be negative, got -0.5$"):
        read(old.replace("num_joints", "Dl_order: 2\nnum_joints").replace("[0.5,", "[-0.5,"))


def test_refusals():
    assert_refused(
        (
            lambda: read("pipeline:\n  loaders: [my_loader]\n"),
            "...loaders[0]: must be one of dh_loader, ...",
            FileFormatError,
        )
    )
    new = FILE.replace("type_joints:", "joints_type:").replace("  tr:", "  xyz:")
    assert_refused(
        (lambda: read(new), "...joints_type: this is written for the loaders of Thunder's 1.0 for...", FileFormatError),
    )


# --- parameters of links, and writing ---------------------------------------------------------------------------------


def same(one, other):
    """Descriptions that are equal up to the rounding of angles and of inertia about another point."""
    for key in ("placements", "gravity", "base", "tool", "inertial"):
        np.testing.assert_allclose(getattr(one, key), getattr(other, key), rtol=1e-12, atol=1e-15, err_msg=key)
    assert (one.elastic, one.masks, one.joint_types) == (other.elastic, other.masks, other.joint_types)
    assert (one.friction is None) == (other.friction is None)


FIELDS = (
    "joint_names",
    "link_names",
    "limits",
    "rotors",
    "armature",
    "friction",
    "frames",
    "elastic",
    "reference",
    "values",
)


@pytest.mark.parametrize("version", ["0.8", "1.0"])
@pytest.mark.parametrize("name", ["panda", "iiwa14", "elastic"])
def test_what_thunder_does_not_know_is_under_a_key_that_it_ignores(name, version, tmp_path):
    """The robot comes back whole, with its names, limits, rotors, armature and Coulomb friction; by default links have masks."""
    arm = read() if name == "elastic" else load_description(name)
    friction = Friction(terms=("viscous", "coulomb", "quadratic"), coefficients=np.arange(3.0 * arm.n).reshape(-1, 3))
    more = arm.replace(
        friction=friction, rotors=(Rotor(joint=2, inertia=1e-4, gear_ratio=50),), armature=np.full(arm.n, 0.1),
        masks={**arm.masks, "friction": ((1, 0, 0),) * arm.n} if arm.masks else {},
    )  # fmt: skip
    for robot, losses in ((arm, 0), (more, 3)):
        found = conversion_losses(robot, "arm_conf.yaml")
        assert [loss.split(" ")[-1] for loss in found] == ["Thunder"] * losses
        path = tmp_path / "arm_conf.yaml"
        if losses:
            with pytest.raises(ThunderError, match="rotors are unknown to Thunder"):
                save_description(robot, path, thunder=version)
        save_description(robot, path, lossy=losses > 0, thunder=version)
        again = load_description(path, name=arm.name)
        bits = {"inertial": ((1,) * 10,) * arm.n}
        if robot.friction is not None:
            bits["friction"] = (tuple(int(term != "coulomb") for term in robot.friction.terms),) * arm.n
        given = {key: mask for key, mask in again.masks.items() if key in robot.masks or np.any(mask)}
        same(again.replace(masks=given), robot if robot.masks else robot.replace(masks=bits))
        for field in FIELDS:
            assert repr(getattr(again, field)) == repr(getattr(robot, field)), field
        for form in ("REG", "DYN"):
            save_description(
                robot.replace(inertial=2 * arm.inertial), tmp_path / f"arm_par_{form}.yaml", thunder=version
            )
            got = load_description(tmp_path / f"arm_par_{form}.yaml").inertial
            np.testing.assert_allclose(got, 2 * arm.inertial, rtol=1e-12, atol=1e-15)


def test_keys_of_thunder_count_before_the_key_that_it_ignores(tmp_path):
    arm = read().replace(friction=Friction(terms=("viscous", "coulomb"), coefficients=np.ones((3, 2))), masks={})
    save_description(arm, tmp_path / "arm_conf.yaml", lossy=True)
    text = (tmp_path / "arm_conf.yaml").read_text()
    (tmp_path / "arm_conf.yaml").write_text(text.replace("Dl: [1]", "Dl: [5]", 1).replace("mass: 2\n", "mass: 7\n", 1))
    again = load_description(tmp_path / "arm_conf.yaml")
    np.testing.assert_array_equal(again.friction.coefficients, [[5, 1], [1, 1], [1, 1]])
    assert again.inertial[1, 0] == 7.0
    with pytest.raises(FileFormatError, match="joint_names"):
        read(FILE + "thunder_py:" + text.split("thunder_py:")[1].split("    - name: link3")[0])


def same_motion(path, robot):
    """The same arm in other link frames."""
    again = th.Robot.load(path)
    assert (again.description.convention, again.joint_types) == ("modified", robot.joint_types)
    q, dq, ddq = np.random.default_rng(2).uniform(-3.0, 3.0, (3, 20, robot.n))
    np.testing.assert_allclose(again.forward_kinematics(q), robot.forward_kinematics(q), rtol=0, atol=1e-12)
    tau = robot.inverse_dynamics(q, dq, ddq)
    np.testing.assert_allclose(
        again.inverse_dynamics(q, dq, ddq), tau, rtol=0, atol=1e-10 * max(1.0, np.abs(tau).max())
    )
    return again


URDF = "data/urdf/pendulum.urdf"


@pytest.mark.parametrize("name", [URDF, "cart_pendulum", "elbow", "gen3", "scara", "ur5e", "placements", "prismatic"])
def test_an_arm_without_modified_table_is_written_with_one(name, tmp_path):
    if name in ("placements", "prismatic"):
        robot = random_robot(3, 5, "placements" if name == "placements" else "standard")
        if name == "prismatic":
            robot = robot.replace(joint_types="PRPRP")
    else:
        robot = th.Robot.load(Path(__file__).parents[1] / name if name == URDF else name)
    robot = robot.replace(rotors=(), armature=None, friction=None)
    conf, links = tmp_path / "arm_conf.yaml", tmp_path / "arm_par_REG.yaml"
    with pytest.raises(ThunderError, match="link frames other than"):
        robot.save(conf)
    robot.save(conf, lossy=True)
    assert "# link frames other than those of modified" in conf.read_text()
    same_motion(conf, robot)
    heavier = robot.replace(inertial=1.5 * robot.inertial)
    heavier.save(links)
    same_motion(links, heavier)


def test_negative_masses_which_cannot_be_read_are_not_written(tmp_path):
    robot = th.Robot.load("ur5e")
    with pytest.raises(ThunderError, match="holds no negative mass"):
        robot.replace(inertial=-robot.inertial).save(tmp_path / "arm_conf.yaml", lossy=True)
    assert not list(tmp_path.iterdir())


def test_parameters_about_other_link_frames_are_refused(tmp_path):
    robot = th.Robot.load("ur5e")
    robot.save(tmp_path / "ur5e.yaml")
    robot.save(tmp_path / "ur5e_par_DYN.yaml")
    same(load_description(tmp_path / "ur5e_par_DYN.yaml"), robot.description)
    robot.save(tmp_path / "ur5e_conf.yaml", lossy=True)
    with pytest.raises(FileFormatError, match=r"about standard link frames, but ur5e_conf\.yaml has modified ones"):
        load_description(tmp_path / "ur5e_par_DYN.yaml")


TABLE = """\
link1: {mass: 1, m_CoM_x: 0.1, m_CoM_y: 0, m_CoM_z: 0, Ixx: 1, Ixy: 0, Ixz: 0, Iyy: 1, Iyz: 0, Izz: 1}
link2: {mass: 2, m_CoM_x: 0.1, m_CoM_y: 0, m_CoM_z: 0, Ixx: 1, Ixy: 0, Ixz: 0, Iyy: 1, Iyz: 0, Izz: 1, d1: 0.1}
link3: {mass: 3, m_CoM_x: 0.1, m_CoM_y: 0, m_CoM_z: 0, Ixx: 1, Ixy: 0, Ixz: 0, Iyy: 1, Iyz: 0, Izz: 1}
"""


@pytest.mark.parametrize("robot_file", ["arm3_conf.yaml", "arm3.yaml"])
def test_parameters_of_links_replace_those_of_the_robot_beside(robot_file, tmp_path):
    (tmp_path / robot_file).write_text(FILE)
    arm = load_description(tmp_path / robot_file)
    heavier = arm.replace(inertial=1.5 * arm.inertial)
    for form in ("REG", "DYN"):
        path = tmp_path / f"arm3_par_{form}.yaml"
        save_description(heavier, path)
        got = load_description(path)
        same(got, heavier)
        assert got.name == "arm3"
    (tmp_path / "arm3_inertial_REG.yaml").write_text(TABLE)
    np.testing.assert_array_equal(load_description(tmp_path / "arm3_inertial_REG.yaml").inertial[:, 0], [1, 2, 3])


def test_parameters_of_links_are_refused_with_the_reason(tmp_path):
    path = tmp_path / "arm3_par_REG.yaml"
    robot = tmp_path / "arm3.yaml"
    for text, table, message in (
        (None, TABLE, r"must be in arm3_conf\.yaml or arm3\.yaml"),
        (FILE, TABLE.replace("link3", "# link3"), "must hold the 3 links of its robot, got 2"),
        (FILE, TABLE.replace("Izz: 1}", "}", 1), ":1: link1: missing key 'Izz'"),
    ):
        path.write_text(table)
        if text is not None:
            robot.write_text(text)
        with pytest.raises(FileFormatError, match=message):
            load_description(path)


def test_other_numbers_of_a_file_are_values_for_the_user(tmp_path):
    arm = read(FILE + "q0: [0.1, -0.2, 1e-3]\ngain: 2\n")
    assert (arm.values["q0"], arm.values["gain"]) == ((0.1, -0.2, 0.001), 2.0)
    for name in ("arm3.yaml", "arm3_conf.yaml"):
        save_description(arm, tmp_path / name)
        assert load_description(tmp_path / name).values == arm.values
    with pytest.raises(FileFormatError, match="unknown key 'q0'"):
        read(FILE + "q0: [here]\n")


# --- Thunder 1.0 --------------------------------------------------------------------------------------------------------

BODY = "{symb: [1,1,1,1,1,1,1,1,1,1], mass: %d, CoM: [0.1, 0.2, -0.05], I: [0.1, 0.01, -0.02, 0.2, 0.03, 0.25]}"
DYNAMICS = f"""\
dyn_loader:
  Dl_order: 2
  gravity: {{symb: [0,0,1], value: [0, 0, -9.81]}}
  dynamics:
    link0: {{inertial: {BODY % 9}, friction: {{symb: [0,1], Dl: [0.5, 0.25, 7.0]}}}}
    link1: {{inertial: {BODY % 1}, friction: {{symb: [0,1], Dl: [0.5, 0.25]}}}}
    link2: {{inertial: {BODY % 2}, friction: {{symb: [0,1], Dl: [0.5, 0.25]}}}}
    link3: {{inertial: {BODY % 3}}}
soft_loader:
  K_order: 2
  D_order: 0
  Dm_order: 1
  joints:
    link2: {{K: [20.0, 2.0], D: [], Dm: [0.2], Mm: 0.6}}
    link1: {{K: [10.0, 1.0], D: [], Dm: [0.1], Mm: 0.5, K_symb: [1, 0], D_symb: [], Dm_symb: [0], Mm_symb: 1}}
"""
DH_10 = (
    """\
pipeline: {loaders: [dh_loader, dyn_loader, soft_loader], builders: [kin_builder], generators: [robot_generator]}
version: 1.0
PI_2: &PI_2 1.5707963267948966
robot_generator: {gen_python: false}
dh_loader:
  joints_type: [R, R_SEA, P_SEA]
  DH:
    symb: [0,0,0,0, 1,0,0,0, 0,0,0,1]
    value: [0, 0, 0.3, 0,   0.1, -1.5707963267948966, 0, 0,   0, *PI_2, 0.2, 0.4]
  Base_to_L0: {xyz: [1, 2, 3], ypr: [0.1, 0.2, 0.3]}
  Ln_to_EE: {name: EE, symb: [1,1,1, 0,0,0], xyzrpy: [0, 0, 0.1, -1.5707963267948966, 0, 0]}
"""
    + DYNAMICS
)


def test_the_tables_of_version_1_0_are_the_robots_of_0_8():
    new, old = read(DH_10, "arm3_conf.yaml"), read()
    assert new.name == "arm3"
    for key in ("dh", "placements", "gravity", "base", "tool", "inertial"):
        np.testing.assert_allclose(getattr(new, key), getattr(old, key), atol=1e-14, err_msg=key)
    assert new.elastic == tuple(dataclasses.replace(drive, D=()) for drive in old.elastic)
    np.testing.assert_array_equal(new.friction.coefficients, old.friction.coefficients)
    for key in ("dh", "gravity", "tool", "friction", "elastic_K", "elastic_Mm"):
        assert new.masks[key] == old.masks[key], key


def test_frames_of_version_1_0_are_the_same_arm(tmp_path):
    """The same chain by poses of frames, whose ``rpy`` turn about x, y, z; a fixed body at the end belongs to the last link."""
    kin = """\
kin_loader:
  kinematics:
    base: {parent: world, xyz: [1, 2, 3], ypr: [0.1, 0.2, 0.3]}
    link0: {parent: base, joint_type: R, xyz: [0, 0, 0.3], rpy: [0, 0, 0]}
    link1: {parent: link0, joint_type: R_SEA, xyzrpy: [0.1, 0, 0, -1.5707963267948966, 0, 0]}
    link2: {parent: link1, joint_type: P_SEA, axis: [0, 0, 1], xyzrpy: [0, -0.2, 0, *PI_2, 0, 0.4]}
    link3: {parent: link2, joint_type: FIXED, xyz: [0, 0, 0.1], ypr: [0, 0, -1.5707963267948966]}
    hand: {parent: link3, xyzrpy: [0, 0, 0, 0, 0, 0]}
"""
    head, rest = (
        DH_10.split("dh_loader:\n")[0],
        DYNAMICS.replace("soft_loader", f"    hand: {{inertial: {BODY % 4}}}\nsoft_loader"),
    )
    arm, old = read(head.replace("dh_loader", "kin_loader") + kin + rest), read()
    np.testing.assert_allclose(arm.placements, old.placements, atol=1e-15)
    np.testing.assert_allclose(arm.inertial[:2], old.inertial[:2], atol=1e-14)
    hand = reg_from_dyn([4, 0.1, 0.2, -0.05, 0.1, 0.01, -0.02, 0.2, 0.03, 0.25])
    P = old.tool @ pseudo_inertia(hand) @ old.tool.T
    np.testing.assert_allclose(arm.inertial[2], old.inertial[2] + reg_from_pseudo_inertia(P), atol=1e-14)
    for key in ("base", "tool"):
        np.testing.assert_allclose(getattr(arm, key), getattr(old, key), atol=1e-15)
    branch = kin.replace("parent: link2", "parent: link1")
    with pytest.raises(FileFormatError, match="parent must be the node before"):
        read(head.replace("dh_loader", "kin_loader") + branch + rest)


def test_bodies_without_a_node_are_told():
    """A misspelt name would take the mass of a body away."""
    with pytest.warns(ThunderWarning, match=r"link22.inertial: not used: there is no node 'link22'; did you mean"):
        arm = read(DH_10.replace("link2: {inertial", "link22: {inertial"))
    assert not arm.inertial[1].any()


def test_loaders_that_the_pipeline_does_not_name_are_told():
    with pytest.warns(ThunderWarning, match="dyn_loader: not used: pipeline.loaders does not name it"):
        arm = read(DH_10.replace("dyn_loader, soft_loader", "soft_loader", 1))
    assert not arm.inertial.any()
    assert not arm.gravity.any()


@pytest.mark.parametrize("axis", ["[0, 0, 0]", "[0, 0, 1e-200]", "[0, 0, 1e200]"])
def test_axes_of_extreme_length(axis):
    text = f"""\
pipeline: {{loaders: [kin_loader]}}
kin_loader:
  kinematics:
    link1: {{joint_type: R, axis: {axis}, xyz: [0, 0, 0], rpy: [0, 0, 0]}}
"""
    if "1e" in axis:
        np.testing.assert_array_equal(read(text).axes, [[0, 0, 1]])
    else:
        with pytest.raises(FileFormatError, match=r":4: kin_loader.*axis: must not be zero: a joint needs a direction"):
            read(text)


def test_keys_of_0_8_and_keys_at_the_top_are_read_in_version_1_0():
    """Loaders see the keys of the whole file behind their own."""
    old = (
        FILE.replace("ELASTIC_MODEL: true\n", "")
        .replace("PI_2:", "legacy_loader:\n  PI_2:")
        .replace("PI_2_neg: &", "  PI_2_neg: &")
    )
    assert read("pipeline: {loaders: [legacy_loader]}\n" + old) == read().replace(values={})
    top = DH_10.replace("dyn_loader:\n  Dl_order", "dyn_loader:\n  Dl_order").split("  dynamics:\n")
    inner, soft = top[1].split("soft_loader:")
    moved = top[0] + "dynamics:\n" + inner + "soft_loader:" + soft
    assert read(moved) == read(DH_10)


def test_a_urdf_of_version_1_0_is_loaded(tmp_path):
    save_description(read().replace(elastic=(), friction=None, masks={}), tmp_path / "arm.urdf", lossy=True)
    (tmp_path / "arm_conf.yaml").write_text(
        "pipeline: {loaders: [urdf_loader]}\nurdf_loader:\n  urdf_path: arm.urdf\n  symbolic_dynamics: true\n"
        "  gravity: {value: [0, 0, -9.0]}\n  Ln_to_EE: {symb: [1,1,1,0,0,0], tr: [0, 0, 1], ypr: [0, 0, 0]}\n"
    )
    arm, urdf = (load_description(tmp_path / name) for name in ("arm_conf.yaml", "arm.urdf"))
    np.testing.assert_allclose(arm.tool[:3, 3], urdf.tool[:3, 3] + urdf.tool[:3, 2], atol=1e-15)
    assert arm.gravity[2] == -9.0
    assert arm.masks["inertial"] == ((1,) * 10,) * 3
    text = (tmp_path / "arm_conf.yaml").read_text()
    links = "{default: 0, link1: {mass: 1, com: [0, 1, 0]}, link2: [0, 0, 0, 0, 0, 0, 0, 0, 0, 1], tool: 1}"
    arm = parse_description(
        text.replace("dynamics: true", f"dynamics: {links}\n  ee_link: tool"), tmp_path / "arm_conf.yaml"
    )
    assert arm.masks["inertial"] == ((1, 0, 1, *(0,) * 7), (*(0,) * 9, 1), (1,) * 10)
    with pytest.raises(FileFormatError, match="change the URDF"):
        parse_description(text + "  kinematics: {link1: {xyz: [0, 0, 0]}}\n", tmp_path / "arm_conf.yaml")
    with pytest.warns(UserWarning, match="not used: run-time geometry"):
        parse_description(text + "  symbolic_kinematics: true\n", tmp_path / "arm_conf.yaml")


def test_parameters_as_one_list(tmp_path):
    (tmp_path / "arm3.yaml").write_text(FILE)
    arm = load_description(tmp_path / "arm3.yaml")
    for form, rows in (("REG", arm.inertial), ("DYN", dyn_from_reg(arm.inertial))):
        path = tmp_path / f"arm3_par_{form}.yaml"
        path.write_text(f"par_{form}: {(2 * rows).ravel().tolist()}\n")
        expected = 2 * rows if form == "REG" else reg_from_dyn(2 * rows)
        np.testing.assert_allclose(load_description(path).inertial, expected, rtol=1e-14)
