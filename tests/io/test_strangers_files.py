"""Files of strangers: what is wrong beside the arm, grippers, followers, names, several arms, xacro."""

from __future__ import annotations

import sys
import types
import warnings
from pathlib import Path

import numpy as np
import pytest

import thunder_py as th
from thunder_py.cli.command import run
from thunder_py.errors import FileFormatError, ThunderWarning, UnknownNameError
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
    with pytest.warns(ThunderWarning, match="1 defects that do not act on the arm, such as .*'lower' must not exceed"):
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


def test_the_tip(tmp_path):
    def tip(*frames: str) -> str:
        extra = "".join(f'<link name="{f}"/>' + joint(f + "_f", "high", f, "fixed", "") for f in frames)
        return th.io.arms(_written(tmp_path, arm(extra)))[0].tip

    assert tip("camera", "flange", "my_tool0", "ee_link") == "my_tool0"
    assert tip("camera", "Hand_TCP") == "Hand_TCP"
    assert tip("camera", "lamp") == "high"


def _written(folder: Path, text: str) -> Path:
    (folder / "arm.urdf").write_text(text)
    return folder / "arm.urdf"


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


def test_xacro(tmp_path):
    pytest.importorskip("xacrodoc")
    folder = tmp_path / "my_parts" / "urdf"
    folder.mkdir(parents=True)
    body = parts().replace('"1.0"', '"${mass}"')
    macro = f'<robot xmlns:xacro="x"><xacro:macro name="parts" params="mass">{body}</xacro:macro></robot>'
    (folder / "parts.xacro").write_text(macro.replace('"x"', '"http://www.ros.org/wiki/xacro"'))
    robot = load(folder, XACRO, "arm.urdf.xacro", xacro={"name": "heavy", "mass": 3})
    assert (robot.name, robot.inertial[0, 0]) == ("heavy", 3.0)
    assert run(["info", str(folder / "arm.urdf.xacro"), "--xacro", "mass:=2"]) == 0
    with pytest.raises(FileFormatError, match="must be a xacro file that can be expanded"):
        load(folder, XACRO.replace("my_parts", "no_parts"), "arm.urdf.xacro")


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


COLLECTION = Path(__file__).parents[2].parent / "shared" / "data" / "robots"


@pytest.mark.release
@pytest.mark.skipif(not COLLECTION.is_dir(), reason="needs ../shared/data")
def test_arms_of_a_collection_equal_those_of_pinocchio():
    pinocchio = pytest.importorskip("pinocchio")
    compared = 0
    for path in sorted(p for folder in ("urdf", "vendor") for p in (COLLECTION / folder).iterdir()):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                arms = th.io.arms(path)
                whole = pinocchio.buildModelFromUrdf(str(path))
            except (FileFormatError, ValueError):
                continue
            robots = [th.Robot.load(path, base_link=arm.base, tip_link=arm.tip) for arm in arms]
        for robot in robots:
            if set(robot.joint_names) <= set(whole.names) and robot.inertial.any():
                compared += _compare(pinocchio, whole, robot)
    assert compared > 150


def _compare(pinocchio, whole, robot: th.Robot) -> bool:
    others = [k for k, name in enumerate(whole.names) if k > 0 and name not in robot.joint_names]
    try:
        model = pinocchio.buildReducedModel(whole, others, pinocchio.neutral(whole)) if others else whole
    except ValueError:  # two frames have one name
        return False
    data, rng = model.createData(), np.random.default_rng(0)
    pinocchio.framesForwardKinematics(model, data, pinocchio.neutral(model))
    first = model.jointPlacements[1].homogeneous
    base = first @ np.linalg.inv(robot.description.placements[0])
    robot = robot.replace(base=base, friction=None)
    for _ in range(20):
        q, dq, ddq = rng.normal(size=(3, robot.n))
        full = pinocchio.integrate(model, pinocchio.neutral(model), q)
        tau = pinocchio.rnea(model, data, full, dq, ddq)
        scale = 1.0 + np.abs(tau).max()
        M = pinocchio.crba(model, data, full)
        M = np.triu(M) + np.triu(M, 1).T
        G = pinocchio.computeGeneralizedGravity(model, data, full)
        np.testing.assert_allclose(robot.inverse_dynamics(q, dq, ddq), tau, rtol=0, atol=1e-10 * scale)
        np.testing.assert_allclose(robot.mass_matrix(q), M, rtol=0, atol=1e-10 * (1.0 + np.abs(M).max()))
        np.testing.assert_allclose(robot.gravity_vector(q), G, rtol=0, atol=1e-10 * scale)
        bias = pinocchio.nonLinearEffects(model, data, full, dq) - G
        np.testing.assert_allclose(robot.coriolis_matrix(q, dq) @ dq, bias, rtol=0, atol=1e-9 * scale)
        pi = robot.parameters
        np.testing.assert_allclose(robot.regressor(q, dq, ddq) @ pi, tau, rtol=0, atol=1e-9 * scale)
        if np.linalg.cond(M) < 1e8:
            back = robot.forward_dynamics(q, dq, tau)
            np.testing.assert_allclose(back, ddq, rtol=0, atol=1e-5 * (1.0 + np.abs(ddq).max()))
        pinocchio.forwardKinematics(model, data, full)
        last = robot.forward_kinematics(q, robot.link_names[-1])
        np.testing.assert_allclose(last, data.oMi[robot.n].homogeneous, rtol=0, atol=1e-10)
        J = pinocchio.computeJointJacobian(model, data, full, robot.n).reshape(6, -1)
        R = np.kron(np.eye(2), data.oMi[robot.n].rotation)
        np.testing.assert_allclose(robot.jacobian(q, robot.link_names[-1]), R @ J, rtol=0, atol=1e-10)
    return True
