"""Files of strangers: what is wrong beside the arm, grippers, followers, names, several arms, xacro."""

from __future__ import annotations

import importlib
import re
import sys
import types
from contextlib import suppress
from pathlib import Path

import numpy as np
import pytest

import thunder_py as th
from thunder_py.cli.command import run
from thunder_py.errors import FileFormatError, ThunderWarning, UnknownNameError
from thunder_py.io.urdf_geometry import package_folders
from thunder_py.optional import MissingExtraError

INERTIAL = (
    '<inertial><origin xyz="0 0.01 0.1"/><mass value="{}"/>'
    '<inertia ixx="0.02" ixy="0" ixz="0" iyy="0.02" iyz="0" izz="0.01"/></inertial>'
)
LIMIT = '<limit lower="-2" upper="2" effort="30" velocity="2"/>'


def link(name: str, mass: float = 1.0) -> str:
    return f'<link name="{name}">{INERTIAL.format(mass)}</link>\n'


def joint(name: str, parent: str, child: str, kind: str = "revolute", rest: str = LIMIT, xyz: str = "0 0 0.3") -> str:
    ends = f'<parent link="{parent}"/><child link="{child}"/><origin xyz="{xyz}"/><axis xyz="0 1 0"/>'
    return f'<joint name="{name}" type="{kind}">{ends}{rest}</joint>\n'


def parts(prefix: str = "", first: str = "j1", second: str = "j2") -> str:
    plate, low, high = (f"{prefix}{name}" for name in ("plate", "low", "high"))
    return "".join(map(link, (plate, low, high))) + joint(first, plate, low) + joint(second, low, high)


def arm(extra: str = "", prefix: str = "", first: str = "j1") -> str:
    return f'<robot name="arm">\n{parts(prefix, first)}{extra}</robot>'


def load(folder: Path, text: str, name: str = "arm.urdf", **options: object) -> th.Robot:
    (folder / name).write_text(text, encoding="utf-8")
    return th.Robot.load(folder / name, **options)


def same(robot: th.Robot, other: th.Robot) -> None:
    q = np.array([0.4, -0.7])
    np.testing.assert_allclose(robot.mass_matrix(q), other.mass_matrix(q), rtol=0, atol=1e-15)


FINGER = '<limit lower="0" upper="0.05" effort="9" velocity="0.2"/>'


def finger(k: int, rest: str = "") -> str:
    return link(f"f{k}", 0.1) + joint(f"grip{k}", "high", f"f{k}", "prismatic", FINGER + rest, f"0 0.0{k} 0.3")


def test_what_does_not_act_on_the_arm(tmp_path):
    plain = load(tmp_path, arm())
    lid = link("lid") + joint("hinge", "plate", "lid", rest='<limit lower="1" upper="0" effort="1" velocity="1"/>')
    with pytest.warns(ThunderWarning, match="1 defect without effect on the arm, such as .*'lower' must not exceed"):
        same(load(tmp_path, arm(lid), tip_link="high"), plain)
    more = LIMIT.replace("/>", ' max_velocity="3"/>')
    for text, name in (
        (arm().replace(LIMIT, more, 1), "arm.urdf"),
        (arm("<!-- ---- upper part ---- -->"), "arm.urdf"),
        ("\n" + '<?xml version="1.0"?>' + arm(), "arm.urdf"),
        (arm(), "arm.URDF"),
    ):
        same(load(tmp_path, text, name), plain)
    lines = "\n<!-- -- \n -->\n" + arm().replace('mass value="1.0"', 'mass value="x"')
    with pytest.raises(FileFormatError, match=r"arm.urdf:6: link 'low' <mass>"):
        load(tmp_path, lines)


def test_names_are_kept(tmp_path):
    robot = load(tmp_path, arm(prefix="/", first="1"))
    assert (robot.joint_names, robot.link_names) == (("1", "j2"), ("/low", "/high"))
    robot.save(tmp_path / "arm.yaml")
    assert th.Robot.load(tmp_path / "arm.yaml").description == robot.description


def test_a_gripper_is_locked(tmp_path):
    with pytest.warns(ThunderWarning, match="the gripper is locked at zero: 'grip1', 'grip2'") as caught:
        robot = load(tmp_path, arm(finger(1) + finger(2, '<mimic joint="grip1" offset="0.02"/>')))
    assert len(caught) == 1
    assert (robot.n, robot.inertial[1, 0]) == (2, pytest.approx(1.2))
    np.testing.assert_allclose(robot.forward_kinematics(np.zeros(2), "f2")[:3, 3], [0, 0.04, 0.9], atol=1e-15)


def test_followers_follow_locked_joints(tmp_path):
    text = arm(finger(1) + finger(2, '<mimic joint="grip1" multiplier="-1"/>'))
    robot = load(tmp_path, text, tip_link="high", fix_joints={"grip1": 0.05})
    np.testing.assert_allclose(robot.forward_kinematics(np.zeros(2), "f2")[:3, 3], [0, -0.03, 0.9], atol=1e-15)


def test_a_follower_inside_the_arm_is_refused(tmp_path):
    wrist = link("hand") + joint("roll", "high", "hand", rest=LIMIT + '<mimic joint="j2" multiplier="-1"/>')
    with pytest.raises(
        FileFormatError, match=r"'roll': follows joint 'j2' .mimic.: a serial arm has independent"
    ) as error:
        load(tmp_path, arm(wrist))
    assert "fix_joints" not in str(error.value)


def chain(*rest: str, extra: str = "") -> str:
    """Return an arm with the joints j1, j2, ... from w to l1, l2, ..., with what is in them after their ends."""
    links = ["w", *(f"l{k}" for k in range(1, len(rest) + 1))]
    joints = (joint(f"j{k}", links[k - 1], links[k], rest=text) for k, text in enumerate(rest, start=1))
    return f'<robot name="arm">{"".join(map(link, links))}{"".join(joints)}{extra}</robot>'


FOUR = chain(*[LIMIT] * 4)


@pytest.mark.parametrize(
    ("name", "old", "new", "message"),
    [
        ("j2", 'type="revolute"', 'type="revolut"', "'j2': type must be one of"),
        ("j2", 'type="revolute"', 'type="planar"', "'j2': planar joints are not supported"),
        ("j3", 'type="revolute"', 'type="floating"', "'j3': floating joints are not supported"),
        ("j1", 'type="revolute"', 'type="revolut"', "'j1': type must be one of"),
        ("j3", 'type="revolute"', "", "'j3': needs the attribute 'type'"),
        ("j4", 'type="revolute"', "", "'j4': needs the attribute 'type'"),
        ("j1", '<child link="l1"/>', "", "'j1': needs a <child>"),
        ("j2", '<child link="l2"/>', "", "'j2': needs a <child>"),
        ("j2", 'parent link="l1"', 'parent link="l11"', "'j2': parent: there is no link 'l11'"),
        ("j3", "<axis", '<mimic joint="nope"/><axis', "'j3': follows 'nope' .mimic., which does not exist"),
        ("j3", "<axis", "<mimic/><axis", "'j3' <mimic>: needs the attribute 'joint'"),
        ("j3", "<axis", '<mimic joint="j4"/><axis', "'j3': follows joint 'j4' .mimic., which it carries"),
        ("j4", "<axis", '<mimic joint="j4"/><axis', "'j4': follows 'j4' .mimic.: it follows itself"),
    ],
)
def test_no_half_arms(tmp_path, name, old, new, message):
    lines = FOUR.split("\n")
    row = next(k for k, line in enumerate(lines) if f'joint name="{name}"' in line)
    assert old in lines[row]
    lines[row] = lines[row].replace(old, new)
    with pytest.raises(FileFormatError, match=rf"arm.urdf:{row + 1}: joint {message}"):
        load(tmp_path, "\n".join(lines))
    found = []
    with suppress(FileFormatError):
        found = th.io.arms(tmp_path / "arm.urdf")
    assert found == []


def test_no_half_arms_from_a_base(tmp_path):
    text = FOUR.replace('parent link="l1"', 'parent link="l11"')
    with pytest.raises(FileFormatError, match="there is no link 'l11'"):
        load(tmp_path, text, base_link="w")
    for n, links in ((2, {"base_link": "l2"}), (1, {"base_link": "w", "tip_link": "l1"})):
        with pytest.warns(ThunderWarning, match="2 defects without effect on the arm"):
            assert load(tmp_path, text, **links).n == n


def test_a_mobile_base_is_skipped(tmp_path):
    with pytest.warns(ThunderWarning, match="the base 'l1' is at rest: planar joint 'j1' left out"):
        robot = load(tmp_path, FOUR.replace("revolute", "planar", 1))
    assert robot.joint_names == ("j2", "j3", "j4")
    assert load(tmp_path, FOUR.replace("revolute", "planar", 1), base_link="l1").n == 3
    with pytest.raises(FileFormatError, match="'j1': planar"):
        load(tmp_path, FOUR.replace("revolute", "planar", 1), base_link="w")


def test_frames_that_follow_the_arm(tmp_path):
    follower = '<link name="tool0"/>' + joint("pj", "l1", "tool0", rest=LIMIT + '<mimic joint="j2"/>')
    with pytest.warns(ThunderWarning, match="follow joints of the arm .mimic. are no frames: 'tool0'"):
        robot = load(tmp_path, chain(LIMIT, LIMIT, extra=follower))
    assert "tool0" not in robot.description.frames
    with pytest.raises(FileFormatError, match="'pj': follows joint 'j2'"):
        load(tmp_path, chain(LIMIT, LIMIT, extra=follower), tip_link="tool0")


def test_a_follower_is_not_locked_alone(tmp_path):
    text = arm(finger(1) + finger(2, '<mimic joint="grip1"/>'))
    with pytest.raises(th.errors.ThunderError, match=r"'grip2' follows 'grip1' .mimic.: lock 'grip1'"):
        load(tmp_path, text, fix_joints={"grip2": 0.01})
    assert load(tmp_path, text, fix_joints={"grip1": 0.0, "grip2": 0.01}).n == 2


def test_two_joints_of_one_name(tmp_path):
    with pytest.warns(ThunderWarning, match="two joints are called 'j1': the later one becomes 'j1_2'"):
        assert load(tmp_path, arm().replace('joint name="j2"', 'joint name="j1"')).joint_names == ("j1", "j1_2")


def test_a_gripper_in_one_chain(tmp_path):
    text = chain(LIMIT, LIMIT, LIMIT, LIMIT, LIMIT + '<mimic joint="grip_a"/>')
    text = text.replace('"j4"', '"grip_a"').replace('"j5"', '"grip_b"')
    with pytest.warns(ThunderWarning, match="the gripper is locked at zero: 'grip_a', 'grip_b'"):
        assert load(tmp_path, text).joint_names == ("j1", "j2", "j3")
    assert [each.joints for each in th.io.arms(tmp_path / "arm.urdf")] == [("j1", "j2", "j3")]


def test_a_follower_of_nothing_beside_the_arm(tmp_path):
    flag = link("flag") + joint("wave", "w", "flag", rest=LIMIT + '<mimic joint="nope"/>')
    with pytest.warns(ThunderWarning, match="1 defect without effect on the arm, such as .*'wave': follows 'nope'"):
        assert load(tmp_path, chain(LIMIT, LIMIT, extra=flag)).n == 2


def test_a_defective_frame_beside_the_arm(tmp_path):
    camera = '<link name="camera"/>' + joint("mount", "w", "camera", "fixed", "", "0 0 zz")
    with pytest.warns(ThunderWarning, match="1 defect without effect on the arm, such as line 6: joint 'mount'") as got:
        assert load(tmp_path, chain(LIMIT, LIMIT, extra=camera)).n == 2
    assert str(got[0].message).count("arm.urdf") == 1
    with pytest.raises(FileFormatError, match="'mount'"):
        load(tmp_path, chain(LIMIT, LIMIT, extra=camera.replace('"w"', '"l1"')))


def test_no_limit_and_wrong_arguments(tmp_path):
    for text in ("-1", "-1.00", "-1e0", "-1 "):
        robot = load(tmp_path, arm().replace('effort="30"', f'effort="{text}"'))
        assert np.isinf(robot.description.limits.effort).all()
    for options in ({"tip_link": ["high"]}, {"base_link": 3}):
        with pytest.raises(th.errors.ThunderError, match="must be the name of a link, got"):
            load(tmp_path, arm(), **options)
    with pytest.raises(FileFormatError, match=r"must end in .*\.xacro"):
        th.Robot.load(tmp_path / "arm.txt")


def test_a_side_branch_can_be_locked(tmp_path, capsys):
    text = chain(*[LIMIT] * 4, extra=link("s") + joint("sj", "l2", "s"))
    with pytest.raises(FileFormatError, match=r"  base_link='w', tip_link='l4', fix_joints={'sj': 0.0}  # 4 joints"):
        load(tmp_path, text)
    assert load(tmp_path, text, base_link="w", tip_link="l4", fix_joints={"sj": 0.0}).n == 4
    assert run(["info", str(tmp_path / "arm.urdf")]) == 0
    assert "tip-link='l4' --fix-joint='sj'=0.0" in capsys.readouterr().out
    assert run(["gen", str(tmp_path / "arm.urdf"), "--output", str(tmp_path)]) == 2
    assert "--base-link='w' --tip-link='l4' --fix-joint='sj'=0.0  # 4" in capsys.readouterr().err


def test_the_tip(tmp_path):
    def tip(*frames: str) -> str:
        extra = "".join(f'<link name="{f}"/>' + joint(f + "_f", "high", f, "fixed", "") for f in frames)
        return th.io.arms(_written(tmp_path, arm(extra)))[0].tip

    assert tip("camera", "flange", "my_tool0", "ee_link") == "my_tool0"
    assert tip("camera", "Hand_TCP") == "Hand_TCP"
    assert tip("camera", "lamp") == "high"
    with pytest.warns(ThunderWarning, match="the tip is 'high', pass tip_link= for another: 'camera', 'lamp'"):
        th.Robot.load(tmp_path / "arm.urdf")
    assert th.Robot.load(tmp_path / "arm.urdf", tip_link="lamp").n == 2


def _written(folder: Path, text: str) -> Path:
    (folder / "arm.urdf").write_text(text)
    return folder / "arm.urdf"


def test_info_tells_the_end_effector(tmp_path, capsys):
    frames = "".join(
        f'<link name="{f}"/>' + joint(f"{f}_f", "high", f, "fixed", "", "0 0 0.1") for f in ("tcp", "lamp")
    )
    assert run(["info", str(_written(tmp_path, arm("".join(frames))))]) == 0
    assert "\nthe end effector is at tcp, lamp\n" in capsys.readouterr().out
    assert run(["info", str(tmp_path / "arm.urdf"), "--tip-link", "high", "--json"]) == 0
    assert '"end_effector": [\n    "high"\n  ]' in capsys.readouterr().out


def test_several_arms(tmp_path, capsys):
    sides = [(f"{s}_", f"{s}_j1", f"{s}_j2") for s in "lr"]
    mounts = (joint(f"{s}_mount", "stand", f"{s}_plate", "fixed", "") for s in "lr")
    both = "".join([parts(*side) for side in sides] + ['<link name="stand"/>', *mounts])
    path = _written(tmp_path, f'<robot name="two">{both}</robot>')
    arms = th.io.arms(path)
    assert [(a.base, a.tip, a.joints) for a in arms] == [("stand", f"{s}_high", (f"{s}_j1", f"{s}_j2")) for s in "lr"]
    with pytest.raises(FileFormatError, match="has 2 arms, pass one of these:\n  base_link='stand', tip_link='l_high'"):
        th.Robot.load(path)
    for each in arms:
        assert th.Robot.load(path, base_link=each.base, tip_link=each.tip).joint_names == each.joints
    assert run(["info", str(path)]) == 0
    assert "r_high" in capsys.readouterr().out


XACRO = """<robot xmlns:xacro="http://www.ros.org/wiki/xacro" name="$(arg name)">
<xacro:arg name="name" default="arm"/><xacro:arg name="mass" default="1"/>
<xacro:include filename="$(find my_parts)/urdf/parts.xacro"/><xacro:parts mass="$(arg mass)"/></robot>"""


def test_xacro_without_its_package(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "xacrodoc", None)
    with pytest.raises(MissingExtraError, match=r'pip install "thunder_py\[xacro\]"'):
        load(tmp_path, XACRO, "arm.urdf.xacro")


def test_xacro(tmp_path, monkeypatch):
    pytest.importorskip("xacrodoc")
    folder = tmp_path / "my_parts" / "urdf"
    folder.mkdir(parents=True)
    body = parts().replace('"1.0"', '"${mass}"')
    macro = f'<robot xmlns:xacro="x"><xacro:macro name="parts" params="mass">{body}</xacro:macro></robot>'
    (folder / "parts.xacro").write_text(macro.replace('"x"', '"http://www.ros.org/wiki/xacro"'))
    robot = load(folder, XACRO, "arm.urdf.xacro", xacro={"name": "heavy", "mass": 3})
    assert (robot.name, robot.inertial[0, 0]) == ("heavy", 3.0)
    assert run(["info", str(folder / "arm.urdf.xacro"), "--xacro", "mass:=2"]) == 0
    for wrong, message in (({"mas": 3}, "xacro: there is no argument 'mas'; did you mean 'mass'?"), ("mass:=3", "map")):
        with pytest.raises(th.errors.ThunderError, match=re.escape(message)):
            load(folder, XACRO, "arm.urdf.xacro", xacro=wrong)
    inner = macro.replace("<xacro:macro", '<xacro:arg name="inner" default="1"/><xacro:macro', 1)
    (folder / "parts.xacro").write_text(inner.replace('"x"', '"http://www.ros.org/wiki/xacro"'))
    assert load(folder, XACRO, "arm.urdf.xacro", xacro={"inner": 2}).n == 2
    packages = importlib.import_module("xacrodoc.packages")
    packages.update_package_cache({"no_parts": folder.parent})
    assert load(folder, XACRO.replace("my_parts", "no_parts"), "arm.urdf.xacro").n == 2
    assert packages.get_path("no_parts") == str(folder.parent)
    packages.reset()

    def refused(folder: Path) -> None:
        raise PermissionError(folder)

    with monkeypatch.context() as patch:
        patch.setattr(Path, "iterdir", refused)
        assert load(folder, XACRO, "arm.urdf.xacro").n == 2
    with pytest.raises(FileFormatError, match=r"must be a xacro .* be expanded \(xacro= sets mass, name\), .*no_parts"):
        load(folder, XACRO.replace("my_parts", "no_parts"), "arm.urdf.xacro")
    (tmp_path / "my_parts" / "package.xml").write_text("<package><name>no_parts</name></package>")
    assert load(folder, XACRO.replace("my_parts", "no_parts"), "arm.urdf.xacro").n == 2


def test_packages_are_found_by_their_names(tmp_path):
    """Repositories have other names than their packages, and several of these."""
    urdf = tmp_path / "src" / "my_cell" / "cell" / "urdf" / "cell.urdf"
    for folder, name in (("My_Arms", "arms"), ("hands/left_hand", "hand"), ("my_cell/cell", "cell"), ("tools", "tool")):
        (tmp_path / "src" / folder).mkdir(parents=True)
        text = f"<package><name> {name} </name></package>"
        (tmp_path / "src" / folder / "package.xml").write_text(text)
    found = {name: package_folders(name, urdf.parents) for name in ("arms", "hand", "cell", "tools", "tool", "name")}
    places = {"arms": ["My_Arms"], "hand": ["hands/left_hand"], "cell": ["my_cell/cell"], "tool": ["tools"]}
    expected = {**places, "tools": ["tools"], "name": []}
    assert found == {name: [tmp_path / "src" / folder for folder in expected[name]] for name in found}


def test_arguments_of_xacro(tmp_path):
    with pytest.raises(th.errors.ThunderError, match="xacro: for xacro files only"):
        load(tmp_path, arm(), xacro={"a": 1})
    with pytest.raises(FileFormatError, match="arms are listed of"):
        th.io.arms("panda")


def test_robots_by_name(tmp_path, monkeypatch):
    path = _written(tmp_path, arm())
    package, module = types.ModuleType("robot_descriptions"), types.ModuleType("robot_descriptions.my_description")
    package.__path__ = []
    module.URDF_PATH = str(path)
    monkeypatch.setitem(sys.modules, "robot_descriptions", None)
    with pytest.raises(MissingExtraError):
        th.Robot.load("robot_descriptions:my_description")
    monkeypatch.setitem(sys.modules, "robot_descriptions", package)
    monkeypatch.setitem(sys.modules, "robot_descriptions.my_description", module)
    assert th.Robot.load("robot_descriptions:my_description").n == 2
    with pytest.raises(UnknownNameError, match="'other'"):
        th.Robot.load("robot_descriptions:other")
