"""Our own format: everything is read, everything comes back bit by bit, every slip is named with line and key."""

# ruff: noqa: E501 (tables of cases read better with one line each)
from __future__ import annotations

import dataclasses
import math
import os
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.refusals import assert_refused
from thunder_py.errors import FileFormatError, ThunderError, UnknownNameError
from thunder_py.io import load_description, parse_description, save_description
from thunder_py.io.yaml_native import write_native
from thunder_py.model.description import Elastic, Friction, Limits, RobotDescription, Rotor, describe_dh
from thunder_py.model.inertia import reg_from_dyn
from thunder_py.spatial import pose_from_rpy

FILE = """\
format: thunder_py/1
name: crane
reference: made up
gravity: [0, 0, -9.81]
convention: placements
base: {translation: [0, 0, 1]}
tool: {matrix: [[0, -1, 0, 0], [1, 0, 0, 0], [0, 0, 1, 0.5], [0, 0, 0, 1]]}
friction_delta: 0.02
links:
  - name: column
    joint:
      name: turn
      type: R
      placement: {translation: [0.1, 0, 0], rpy: [pi/2, 0, -pi/4]}
      axis: [0, 3, 4]
      limits: {lower: -pi, upper: pi, velocity: 2, effort: 1e2}
      friction: {viscous: 0.5, coulomb: 1e-1}
      armature: 0.25
      rotor: {inertia: 1e-4, gear_ratio: -100, carrier: base, axis: [0, 0, 1]}
    inertial:
      mass: 2
      com: [0, 0.1, 0]
      inertia: {xx: 0.1, yy: 0.2, zz: 0.25, xy: 0.01}
  - joint:
      type: P
      offset: {translation: [0, 0, 0.3]}
      friction: {cubic: 3}
      rotor: {inertia: 2e-4, carrier: column}
    inertial: {REG: [1, 0.1, 0, 0, 0.1, 0, 0, 0.2, 0, 0.2]}
frames:
  hook: {link: link2, pose: {translation: [0, 0, 1]}}
  camera: {link: 0}
elastic:
  joints:
    - {joint: turn, K: [100, 5], D: [], Dm: [0.1], Mm: 0.2}
masks:
  gravity: [0, 0, 1]
  inertial: [[1, 0, 0, 0, 0, 0, 0, 0, 0, 0], [0, 0, 0, 0, 0, 0, 0, 0, 0, 1]]
  friction: [[1, 0, 0], [0, 0, 1]]
  elastic_K: [[1, 0]]
  elastic_Mm: [1]
"""


def read(text=FILE, path="crane.yaml"):
    return parse_description(text, path)


def test_header_and_frames():
    arm = read()
    assert (arm.name, arm.joint_types, arm.reference, arm.convention) == ("crane", "RP", "made up", "placements")
    assert arm.joint_names == ("turn", "joint2")
    assert arm.link_names == ("column", "link2")
    np.testing.assert_array_equal(arm.base, pose_from_rpy((0, 0, 1)))
    np.testing.assert_array_equal(arm.tool[:3, 0], (0, 1, 0))
    assert {name: link for name, (link, _) in arm.frames.items()} == {"hook": 2, "camera": 0}
    np.testing.assert_array_equal(arm.frames["hook"][1], pose_from_rpy((0, 0, 1)))


def test_joints():
    arm = read()
    np.testing.assert_array_equal(arm.placements[0], pose_from_rpy((0.1, 0, 0), (math.pi / 2, 0, -math.pi / 4)))
    np.testing.assert_allclose(arm.axes, [[0, 0.6, 0.8], [0, 0, 1]], rtol=1e-15)
    np.testing.assert_array_equal(arm.offsets[1], pose_from_rpy((0, 0, 0.3)))
    np.testing.assert_array_equal(arm.limits.lower, (-math.pi, -np.inf))
    np.testing.assert_array_equal(arm.limits.effort, (100, np.inf))
    assert arm.friction.terms == ("viscous", "coulomb", "cubic")
    assert arm.friction.delta == 0.02
    np.testing.assert_array_equal(arm.friction.coefficients, [[0.5, 0.1, 0], [0, 0, 3]])
    np.testing.assert_array_equal(arm.armature, (0.25, 0))
    assert [(r.joint, r.carrier, r.gear_ratio) for r in arm.rotors] == [(1, 0, -100.0), (2, 1, 1.0)]


def test_inertias():
    arm = read()
    np.testing.assert_array_equal(arm.inertial[0], reg_from_dyn([2, 0, 0.1, 0, 0.1, 0.01, 0, 0.2, 0, 0.25]))
    np.testing.assert_array_equal(arm.inertial[1], [1, 0.1, 0, 0, 0.1, 0, 0, 0.2, 0, 0.2])


def test_elastic_and_masks():
    arm = read()
    assert arm.elastic == (Elastic(joint=1, K=(100.0, 5.0), D=(), Dm=(0.1,), Mm=0.2),)
    assert arm.masks["friction"] == ((1, 0, 0), (0, 0, 1))
    assert arm.masks["elastic_Mm"] == (1,)


def test_round_trip_of_everything(tmp_path):
    arm = read()
    save_description(arm, tmp_path / "crane.yaml")
    assert load_description(tmp_path / "crane.yaml") == arm
    assert write_native(read(write_native(arm))) == write_native(arm)


def random_description(seed):
    """Any finite numbers a description may hold, with names that YAML would rather read as something else."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(1, 6))

    def wild(*shape):
        return rng.normal(size=shape) * 10.0 ** rng.integers(-12, 12, size=shape)

    def frame():
        return pose_from_rpy(wild(3), rng.uniform(-4, 4, 3))

    axes = rng.normal(size=(n, 3))
    names = ["no", "null", "y", "a:b", "o_O", "true", "joint-1", "_", "x.y"]
    fields = {
        "name": "yes",
        "joint_types": "".join(rng.choice(["R", "P"], n)),
        "inertial": wild(n, 10),
        "gravity": wild(3),
        "base": frame(),
        "tool": frame(),
        "joint_names": tuple(rng.permutation(names)[:n]),
        "limits": Limits(lower=-abs(wild(n)), upper=abs(wild(n)), velocity=np.full(n, np.inf), effort=abs(wild(n))),
        "friction": Friction(terms=("viscous", "quartic"), coefficients=wild(n, 2), delta=1e-300),
        "armature": wild(n),
        "rotors": (Rotor(joint=n, inertia=wild(), gear_ratio=wild(), carrier=n - 1, axis=(0, 0.6, 0.8)),),
        "frames": {"tip": (n, frame())},
        "reference": "  \u00dcber\n'quoted' \"text\": # \U0001f600\t\\ end",
    }
    if seed % 2:
        return describe_dh(wild(n, 4), convention="standard", joint_types=fields.pop("joint_types")).replace(**fields)
    return RobotDescription(
        placements=[frame() for _ in range(n)],
        offsets=[frame() for _ in range(n)],
        axes=axes / np.linalg.norm(axes, axis=1, keepdims=True),
        **fields,
    )


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 2**31))
def test_every_description_comes_back_bit_by_bit(seed):
    arm = random_description(seed)
    again = read(write_native(arm))
    for field in dataclasses.fields(arm):  # one by one first, to name the culprit
        value = getattr(again, field.name)
        if isinstance(value, np.ndarray):
            np.testing.assert_array_equal(value, getattr(arm, field.name), err_msg=field.name)
    assert again == arm


def test_estimates_are_marked_and_come_back():
    arm = read().replace(inertial=-np.ones((2, 10)))
    text = write_native(arm)
    assert "estimated: true\n" in text
    assert read(text) == arm
    with pytest.raises(FileFormatError, match=r"mass of column must not be negative, got -1$"):
        read(text.replace("estimated: true\n", ""))
    assert "estimated" not in write_native(read())


def test_saving_is_whole_or_not_at_all(tmp_path):
    path = tmp_path / "crane.yml"
    path.write_text("precious")
    with pytest.raises(AttributeError):
        save_description(None, path)
    assert path.read_text() == "precious"
    link = tmp_path / "link.yaml"
    link.symlink_to(path)
    save_description(read(), link)
    assert link.is_symlink()
    assert load_description(path) == read()
    assert sorted(os.listdir(tmp_path)) == ["crane.yml", "link.yaml"]
    assert_refused(
        (lambda: save_description(read(), tmp_path / "crane.txt"), "...a robot is saved as .yaml,...", FileFormatError),
        (lambda: save_description(read(), tmp_path / "nowhere" / "crane.yaml"), "...", FileNotFoundError),
    )


@pytest.mark.parametrize(("file", "suffix"), [("thunder/arm3.yaml", ".yaml"), ("urdf/pendulum.urdf", ".urdf")])
def test_a_name_in_place_of_the_files(file, suffix, tmp_path):
    """Files that are called or call their robot what cannot be an identifier can be read all the same."""
    path = tmp_path / f"my-arm{suffix}"
    text = (Path(__file__).parents[1] / "data" / file).read_text()
    path.write_text(text.replace('robot name="', 'robot name="my-'))
    assert load_description(path).name == ("my_pendulum" if suffix == ".urdf" else "my_arm")
    assert load_description(path, name="my_arm").name == "my_arm"
    assert load_description("panda", name="left") == load_description("panda").replace(name="left")
    with pytest.raises(ThunderError, match=r"^robot name must be an identifier .* got 'my-arm'$"):
        load_description(path, name="my-arm")


MODIFIED = """\
format: thunder_py/1
name: arm
gravity: [0, 0, -9.81]
convention: modified
links:
  - joint: {type: R, dh: [0, pi/2, 1, 0]}
"""


def test_smallest_file():
    arm = read(MODIFIED)
    np.testing.assert_array_equal(arm.dh, [[0, math.pi / 2, 1, 0]])
    assert arm == describe_dh([[0, math.pi / 2, 1, 0]], name="arm")
    assert arm.limits is None and arm.friction is None and arm.armature is None  # noqa: PT018


BAD = {
    "no gravity": ("gravity: [0, 0, -9.81]\n", "", "", r"missing key 'gravity': write the acceleration in the world, \[0, 0, -9.81\]"),
    "gravity": ("gravity: [0, 0, -9.81]", "gravity: -9.81", "gravity", r"gravity: must be a list of 3, got '-9.81'$"),
    "format": ("thunder_py/1", "thunder_py/2", "format", r"format: must be one of thunder_py/1, got 'thunder_py/2'"),
    "no format": ("format: thunder_py/1\n", "", "", r"missing key 'format'$"),
    "top key": ("reference:", "refrence:", "refrence", r"unknown key 'refrence'; did you mean 'reference'\?$"),
    "robot name": ("name: crane", "name: my crane", "name", r"name: robot name must be an identifier .*, got 'my crane'$"),
    "convention": ("convention: placements", "convention: placement", "convention", r"convention: must be one of modified, standard, placements, got 'placement'; did you mean 'placements'\?$"),
    "dh key": ("axis: [0, 3, 4]", "dh: [0, 0, 0, 0]", "dh:", r"links\[0\].joint: unknown key 'dh'"),
    "joint key": ("armature:", "armatur:", "armatur:", r"links\[0\].joint: unknown key 'armatur'; did you mean 'armature'\?$"),
    "type": ("type: P", "type: prismatic", "type: pris", r"links\[1\].joint.type: must be one of R, P, got 'prismatic'"),
    "no type": ("      type: P\n", "", "      offset: ", r"links\[1\].joint: missing key 'type'$"),
    "axis": ("axis: [0, 3, 4]", "axis: [0, 0, 0]", "axis", r"links\[0\].joint.axis: must be a direction, got a vector of length zero$"),
    "angle": ("pi/2, 0", "pi/2 + 1, 0", "      placement", r"links\[0\].joint.placement.rpy\[0\]: must be a number"),
    "limits": ("lower: -pi", "lower: 4", "      limits", r"links\[0\].joint.limits: lower must not exceed upper, got 4 and 3.14159$"),
    "effort": ("effort: 1e2", "effort: -1", "      limits", r"links\[0\].joint.limits: limits.effort of joint 1 must not be negative, got -1$"),
    "friction term": ("coulomb: 1e-1", "colomb: 1", "      friction", r"links\[0\].joint.friction: unknown key 'colomb'; did you mean 'coulomb'\?$"),
    "friction sign": ("viscous: 0.5", "viscous: -0.5", "      friction", r"links\[0\].joint.friction.viscous: viscous friction must not be negative, got -0.5$"),
    "delta": ("friction_delta: 0.02", "friction_delta: 0", "friction_delta", r"friction_delta: must be positive, got 0$"),
    "armature": ("armature: 0.25", "armature: -0.25", "armature", r"links\[0\].joint.armature: armature must not be negative, got -0.25$"),
    "rotor": ("inertia: 1e-4", "inertia: -1", "      rotor", r"links\[0\].joint.rotor.inertia: rotor inertia of turn must not be negative, got -1$"),
    "carrier": ("carrier: base", "carrier: colum", "      rotor", r"links\[0\].joint.rotor.carrier: must be one of base, column, link2, got 'colum'; did you mean 'column'\?$"),
    "mass": ("mass: 2", "mass: -2", "mass: -2", r"links\[0\].inertial.mass: mass of column must not be negative, got -2$"),
    "REG mass": ("REG: [1,", "REG: [-1,", "    inertial: {REG", r"links\[1\].inertial.REG\[0\]: mass of link2 must not be negative, got -1$"),
    "REG length": ("0.2, 0, 0.2]}", "0.2, 0]}", "    inertial: {REG", r"links\[1\].inertial.REG: must be a list of 10, got a list of 9$"),
    "REG and mass": ("{REG:", "{mass: 1, REG:", "    inertial: {mass", r"links\[1\].inertial: takes either REG or mass, com and inertia, got both$"),
    "tensor": ("zz: 0.25", "zx: 0.25", "      inertia:", r"links\[0\].inertial.inertia: unknown key 'zx'"),
    "nan": ("com: [0, 0.1, 0]", "com: [0, nan, 0]", "com", r"links\[0\].inertial.com\[1\]: must be a number .*, got 'nan'$"),
    "matrix": ("[0, -1, 0, 0]", "[0, -2, 0, 0]", "tool", r"tool.matrix: matrix must hold an orthonormal rotation matrix"),
    "matrix and rpy": ("{matrix:", "{rpy: [0, 0, 0], matrix:", "tool", r"tool: takes either matrix or translation and rpy, got both$"),
    "no links": (FILE[FILE.index("  - name: column") : FILE.index("frames:")], "  []\n", "  []", r"links: an arm must have 1 to 64 links, got 0$"),
    "link name": ("name: column", "name: turn*table", "name: turn*table", r"links\[0\].name: link name must be 1 to 255 printable"),
    "same link": ("  - joint:", "  - name: column\n    joint:", "  - name: column\n    joint:\n      type: P", r"links\[1\].name: link names must differ, got 'column' twice$"),
    "frame link": ("link: link2", "link: link3", "  hook", r"frames.hook.link: must be one of base, column, link2, got 'link3'; did you mean 'link2'\?$"),
    "frame number": ("link: 0", "link: 3", "  camera", r"frames.camera.link: must be an integer from 0 to 2, got '3'$"),
    "frame name": ("camera:", "column:", "  column:", r"frames.column: frame name must be no link's name, got 'column'$"),
    "elastic joint": ("joint: turn", "joint: twist", "    - {joint", r"elastic.joints\[0\].joint: must be one of turn, joint2, got 'twist'"),
    "mask length": ("gravity: [0, 0, 1]", "gravity: [0, 1]", "  gravity", r"masks.gravity: must be a list of 3, got a list of 2$"),
    "mask rows": ("friction: [[1, 0, 0], [0, 0, 1]]", "friction: [[1, 0], [0, 1]]", "  friction: [[1, 0], ", r"masks.friction\[0\]: must be a list of 3, got a list of 2$"),
    "mask key": ("elastic_Mm:", "elastic_M:", "  elastic_M:", r"masks: unknown key 'elastic_M'; did you mean 'elastic_Mm'\?$"),
    "twice": ("name: crane", "name: crane\nname: crab", "name: crab", r"key 'name' must occur once, first in line 2$"),
}  # fmt: skip


def test_refused_with_line_and_key():
    for old, new, place, message in BAD.values():
        assert old in FILE
        text = FILE.replace(old, new, 1)
        with pytest.raises(FileFormatError, match=message) as caught:
            read(text)
        assert caught.value.line == text[: text.index(place)].count("\n") + 1
        assert str(caught.value).startswith(f"crane.yaml:{caught.value.line}: ")


def test_refusals(tmp_path):
    assert_refused(
        (lambda: load_description("pnda"), "no robot is called 'pnda'; did you mean 'panda'?", UnknownNameError),
        (lambda: load_description("qqqqqq"), "no robot is called 'qqqqqq'; bundled are cart_pend...", UnknownNameError),
        (lambda: load_description("arm.txt"), "arm.txt: a robot's file must end in .yaml, .yml,...", FileFormatError),
        (lambda: load_description("panda", base_link="link0"), "base_link: for URDF and MJCF files only, got 'panda'"),
        (lambda: load_description(3), "source must be a robot's name or a path, got 3"),
        (lambda: load_description(tmp_path / "missing.yaml"), "...", FileNotFoundError),
    )
