"""URDF files: the message for everything that is wrong."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest
from urdf_text import PENDULUM, WORKBENCH, edited, without, workbench

import thunder_py as th
from tests.refusals import assert_refused
from thunder_py.errors import FileFormatError, ThunderError, ThunderWarning, UnknownNameError
from thunder_py.io.urdf import parse_urdf


def failure(text: str | bytes, **options: object) -> str:
    with pytest.raises(FileFormatError) as caught:
        parse_urdf(text, path="arm.urdf", **options)
    return str(caught.value)


def test_the_message_says_where(tmp_path: Path) -> None:
    path = tmp_path / "arm.urdf"
    path.write_text(edited('mass value="2"', 'mass value="-2"'))
    with pytest.raises(FileFormatError) as caught:
        th.Robot.load(path)
    assert str(caught.value) == f"{path}:12: link 'rod' <mass>: 'value' must not be negative, got -2"
    assert (caught.value.path, caught.value.line, caught.value.key) == (path, 12, "link 'rod' <mass>")


#: edit of the pendulum -> line and message
NUMBERS = [
    ('mass value="2"', 'mass value="nan"', "12: link 'rod' <mass>: 'value' must be a finite number, got 'nan'"),
    ('mass value="2"', 'mass value="two"', "12: link 'rod' <mass>: 'value' must be a finite number, got 'two'"),
    ('mass value="2"', 'mass value="1_0"', "12: link 'rod' <mass>: 'value' must be a finite number, got '1_0'"),
    ('mass value="2"', "mass", "12: link 'rod' <mass>: needs the attribute 'value'"),
    ('ixx="0.1"', 'ixx="inf"', "13: link 'rod' <inertia>: 'ixx' must be a finite number, got 'inf'"),
    ('ixz="0" ', "", "13: link 'rod' <inertia>: needs the attribute 'ixz'"),
    ("0 0 -0.5", "0 0", "11: link 'rod' <origin>: 'xyz' must be 3 numbers, got '0 0'"),
    ("0 0 -0.5", "0 0 nan", "11: link 'rod' <origin>: 'xyz' must be a finite number, got 'nan'"),
    ("0 1 0", "0 0 0", "6: joint 'swing' <axis>: 'xyz' must not be zero: a joint needs a direction"),
    ("0 1 0", "0 1", "6: joint 'swing' <axis>: 'xyz' must be 3 numbers, got '0 1'"),
    ('lower="-1"', 'lower="nan"', "7: joint 'swing' <limit>: 'lower' must be a number, got 'nan'"),
    ('lower="-1"', 'lower="2"', "7: joint 'swing' <limit>: 'lower' must not exceed 'upper', got 2 and 1"),
    ('effort="2"', 'effort="-2"', "7: joint 'swing' <limit>: 'effort' must not be negative, got -2"),
    ('velocity="3"', 'velocity="-3"', "7: joint 'swing' <limit>: 'velocity' must not be negative, got -3"),
    ("<axis", '<dynamics damping="-1"/><axis', "6: joint 'swing' <dynamics>: 'damping' must not be negative, got -1"),
    ("<axis", '<dynamics friction="x"/><axis', "6: joint 'swing' <dynamics>: 'friction' must be a finite number, "
     "got 'x'"),
]  # fmt: skip

#: likewise, for elements and names
STRUCTURE = [
    ("<robot name", "<robt name", "16: not well-formed XML: mismatched tag"),
    ('link name="rod"', 'link name=""', "9: link '': needs the attribute 'name'"),
    ('link name="rod"', 'link name="base"', "9: link 'base': name is taken by another link"),
    ('child link="rod"', 'child link="rode"', "3: joint 'swing': child: there is no link 'rode'; did you mean 'rod'?"),
    ('parent link="base"', 'parent link="bse"', "3: joint 'swing': parent: there is no link 'bse'; "
     "did you mean 'base'?"),
    ('<parent link="base"/>', "", "3: joint 'swing': needs a <parent> element"),
    ('<child link="rod"/>', "<child/>", "5: joint 'swing' <child>: needs the attribute 'link'"),
    ('"revolute"', '"revolut"', "3: joint 'swing': type must be one of revolute, continuous, prismatic, fixed, "
     "floating, planar, got 'revolut'; did you mean 'revolute'?"),
    (' type="revolute"', "", "3: joint 'swing': needs the attribute 'type'"),
    ('"revolute"', '"planar"', "3: joint 'swing': planar joints are not supported; if the arm starts below it, "
     "pass base_link='rod'"),
    ('"revolute"', '"floating"', "3: joint 'swing': floating joints are not supported; if the arm starts below it, "
     "pass base_link='rod'"),
    ('"revolute"', '"fixed"', "1: <robot>: no joint moves: there is no arm"),
    ("<axis", '<mimic joint="other"/><axis', "3: joint 'swing': follows 'other' (mimic), which does not exist"),
    ("<axis", '<mimic joint="swing"/><axis', "3: joint 'swing': follows 'swing' (mimic): it follows itself"),
    ("<axis", '<mimic/><axis', "6: joint 'swing' <mimic>: needs the attribute 'joint'"),
    ("<axis", '<mimic joint="other" multiplyer="2"/><axis', "6: joint 'swing' <mimic>: unknown attribute "
     "'multiplyer'; did you mean 'multiplier'?"),
    ('<limit lower="-1" upper="1" effort="2" velocity="3"/>', "", "3: joint 'swing': needs a <limit> element: "
     "a revolute joint must have one (use 'continuous' for a joint without limits)"),
    ("<axis", "<axis/><axis", "6: joint 'swing' <axis>: must occur once, first in line 6"),
    ('parent link="base"', 'parent link="rod"', "3: joint 'swing': links form a loop through 'rod'"),
    ('<mass value="2"/>', "", "10: link 'rod' <inertial>: needs a <mass> element"),
    ("<inertial>", "<inertal/><inertial>", "10: link 'rod' <inertal>: unknown element <inertal> in <link>; "
     "did you mean <inertial>?"),
    ("<axis", '<dynamics dampng="1"/><axis', "6: joint 'swing' <dynamics>: unknown attribute 'dampng'; "
     "did you mean 'damping'?"),
    ('<origin xyz="0 0 -0.5"', '<origin quat_xyzw="0 0 0 1"', "11: link 'rod' <origin>: 'quat_xyzw' is not supported; "
     "give the rotation as 'rpy'"),
]  # fmt: skip


def test_wrong_elements() -> None:
    for old, new, message in NUMBERS + STRUCTURE:
        assert failure(edited(old, new)) == f"arm.urdf:{message}"


def test_names_are_labels_and_the_robots_name_becomes_an_identifier() -> None:
    assert parse_urdf(edited('"pendulum"', '"2-link \xe4rm"')).name == "robot_2_link_arm"
    assert parse_urdf(edited(' name="pendulum"', "")).name == "robot"
    with pytest.raises(ThunderError, match="name must be an identifier"):
        parse_urdf(PENDULUM, name="2-link arm")
    for name in ("/rod", "2 rods", "r\xf6d", "r" * 200):
        assert parse_urdf(PENDULUM.replace('"rod"', f'"{name}"').replace('"swing"', '"1"')).link_names == (name,)
    with pytest.warns(ThunderWarning, match="is no label or taken: it is called 'a_b'"):
        assert parse_urdf(PENDULUM.replace('"rod"', '"a*b"')).link_names == ("a_b",)


def test_a_moving_body_without_inertia() -> None:
    assert failure(without("inertial"), missing_inertia="error") == (
        "arm.urdf:9: link 'rod': moves with joint 'swing' but neither it nor a link fixed to it has an <inertial>; "
        "add one, or pass missing_inertia='zero' to treat it as massless"
    )
    with pytest.warns(ThunderWarning, match="links without inertia are massless.*: 'rod'$"):
        robot = th.Robot(parse_urdf(without("inertial")))
    assert robot.forward_kinematics([0.3])[0, 3] != 1.0
    assert not np.isfinite(robot.forward_dynamics([0.3], [0.0], [1.0]))
    with pytest.raises(ValueError, match=r"missing_inertia must be one of error, zero, got 'ignore'"):
        parse_urdf(PENDULUM, missing_inertia="ignore")


BOMB = "<!DOCTYPE robot [\n<!ENTITY a 'aaaaaaaaaa'>\n" + "".join(
    f"<!ENTITY {b} '{f'&{a};' * 10}'>\n" for a, b in zip("abcdefgh", "bcdefghi", strict=True)
)


@pytest.mark.parametrize(
    "prologue",
    [
        BOMB + "]>",
        "<!DOCTYPE robot [<!ENTITY secret SYSTEM 'file:///etc/hostname'>]>",
        "<!DOCTYPE robot SYSTEM 'http://example.org/robot.dtd'>",
    ],
    ids=["billion laughs", "external entity", "external subset"],
)
@pytest.mark.parametrize("encoding", ["utf-8", "utf-16"])
def test_entities_are_refused(prologue: str, encoding: str) -> None:
    text = f"<!-- one line -->\n{prologue}{edited('0 1 0', '&i; &secret;')}"
    assert failure(text.encode(encoding)) == (
        "arm.urdf:2: document type declarations (DTD, entities) are refused; remove <!DOCTYPE ...>"
    )


def test_undeclared_entities_are_refused() -> None:
    assert failure(edited("0 1 0", "&i; 0 0")) == "arm.urdf:6: not well-formed XML: undefined entity"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "arm.urdf:1: not well-formed XML: no element found"),
        ("joints: 2", "arm.urdf:1: not well-formed XML: syntax error"),
        ("<robot name='r'>\n<link name='a'>\n</robot>", "arm.urdf:3: not well-formed XML: mismatched tag"),
        ("<sdf version='1.6'/>", "arm.urdf:1: <sdf>: a URDF must have the root element <robot>"),
        ("<robot name='r'/>", "arm.urdf:1: <robot>: has no links"),
        (b"<?xml version='1.0' encoding='runes'?><robot/>", "arm.urdf: not readable as text: unknown encoding: runes"),
        (b"<robot name='\xff\xfe'/>", "arm.urdf:1: not well-formed XML: not well-formed (invalid token)"),
    ],
)
def test_what_is_not_a_urdf(text: str | bytes, message: str) -> None:
    assert failure(text) == message


@pytest.mark.parametrize("edit", ['<xacro:include filename="a.xacro"/><axis', '<origin xyz="${x} 0 0"/><axis'])
def test_xacro_on_the_arm_must_be_expanded(edit: str) -> None:
    assert "is xacro, which is expanded in files that end in .xacro" in failure(edited("<axis", edit))


def test_xacro_that_does_not_act_on_the_arm() -> None:
    unused = '<xacro:property name="a" value="${b}"/><xacro:macro name="m" params="x"><link name="${x}"/></xacro:macro>'
    assert parse_urdf(edited("</robot>", unused + "</robot>")) == parse_urdf(PENDULUM)
    hidden = "".join(f"<{tag}><xacro:a b='${{c}}'/></{tag}>" for tag in ("gazebo", "transmission", "ros2_control"))
    drawn = edited(
        "<inertial>", "<visual><xacro:a b='${c}'/></visual><inertial>", edited("</robot>", hidden + "</robot>")
    )
    assert parse_urdf(drawn) == parse_urdf(PENDULUM)
    with pytest.warns(ThunderWarning, match="1 defect without effect on the arm.*<xacro:hand>: is xacro"):
        assert parse_urdf(edited("</robot>", "<xacro:hand/></robot>")) == parse_urdf(PENDULUM)
    assert failure("<robot name='a'><xacro:arm/></robot>").startswith("arm.urdf:1: <xacro:arm>: is xacro")


JOINT = '<joint name="{}" type="fixed"><parent link="{}"/><child link="{}"/></joint>'


def test_loops_and_several_roots() -> None:
    back = edited("</robot>", JOINT.format("back", "rod", "base") + "</robot>")
    assert failure(back) == "arm.urdf:16: joint 'back': links form a loop through 'base'"
    again = edited("</robot>", JOINT.format("again", "base", "rod") + "</robot>")
    assert failure(again) == (
        "arm.urdf:16: joint 'again': link 'rod' is the child of joint 'swing': closed loops are not supported"
    )
    apart = edited("</robot>", '<link name="island"/></robot>')
    with pytest.warns(ThunderWarning, match="link 'island': is not connected to 'base'"):
        assert parse_urdf(apart) == parse_urdf(PENDULUM)
    twice = edited("</robot>", JOINT.format("swing", "rod", "tip") + '<link name="tip"/></robot>')
    assert parse_urdf(twice, tip_link="rod").joint_names == ("swing",)  # the other one is fixed
    lost = edited("</robot>", JOINT.format("wrist", "rod", "hand") + "</robot>")
    assert failure(lost) == "arm.urdf:16: joint 'wrist': child: there is no link 'hand'"  # it acts on the arm


def test_several_arms() -> None:
    assert failure(WORKBENCH) == (
        "arm.urdf: has 2 arms, pass one of these:\n  base_link='world', tip_link='lamp'  # 1 joint: lamp_neck\n"
        "  base_link='world', tip_link='tool'  # 3 joints: turn, lift, wrist"
    )


def test_the_tip_must_be_below_the_base() -> None:
    assert failure(PENDULUM, base_link="rod", tip_link="base") == (
        "arm.urdf:2: link 'base': the tip is not below the base link 'rod'"
    )
    assert failure(PENDULUM, base_link="rod", tip_link="rod") == (
        "arm.urdf:9: link 'rod': no joint moves between 'rod' and this link: the chain is empty"
    )


def test_side_branches_that_move_must_be_locked() -> None:
    assert failure(WORKBENCH, tip_link="carriage") == (
        "arm.urdf:72: joint 'wrist': moves off the chain to 'carriage', on a branch that the arm carries; "
        "a serial arm needs it locked: fix_joints={'wrist': 0.0, 'finger_slide': 0.0}, at positions of your choice"
    )
    loose = edited('"thumb_slide" type="prismatic"', '"thumb_slide" type="floating"', WORKBENCH)
    assert failure(loose.replace('<mimic joint="finger_slide"/>', ""), tip_link="tool") == (
        "arm.urdf:97: joint 'thumb_slide': floating joints are not supported, and this one is carried by the arm"
    )


def test_deep_nesting_is_harmless() -> None:
    depth = 20_000
    assert failure("<robot>" + "<x>" * depth + "</x>" * depth + "</robot>") == "arm.urdf:1: <robot>: has no links"


def test_refusals(tmp_path) -> None:
    assert_refused(
        (lambda: parse_urdf(PENDULUM, tip_link="rood"), "tip_link: there is no link 'rood'; did...", UnknownNameError),
        (lambda: parse_urdf(PENDULUM, "bas"), "base_link: there is no link 'bas'; did you mean '...", UnknownNameError),
    )
    assert_refused(
        (({"turm": 0.0},), "...fix_joints: there is no joint 'turm'; did you mean 'turn'?..."),
        (({"mount": 0.0},), "...fix_joints: joint 'mount' is fixed; only revolute and prismatic can be lo..."),
        (({"turn": math.nan},), "...fix_joints['turn'] must be finite, got nan..."),
        (({"turn": "up"},), "...fix_joints['turn'] must be numbers of shape (), got 'up'..."),
        ((["turn"],), "...fix_joints must map joint names to positions, got ['turn']..."),
        call=lambda fix_joints: workbench(fix_joints=fix_joints),
    )
    assert_refused((lambda: th.Robot.load(tmp_path / "none.urdf"), "...", FileNotFoundError))
