"""URDF files: the message for everything that is wrong."""

from __future__ import annotations

import math
from pathlib import Path

import pytest
from urdf_text import PENDULUM, WORKBENCH, edited, without, workbench

from tests.refusals import assert_refused
from thunder_py.errors import FileFormatError, ThunderError, UnknownNameError
from thunder_py.io.urdf import load_urdf, parse_urdf


def failure(text: str | bytes, **options: object) -> str:
    with pytest.raises(FileFormatError) as caught:
        parse_urdf(text, path="arm.urdf", **options)
    return str(caught.value)


def test_the_message_says_where(tmp_path: Path) -> None:
    path = tmp_path / "arm.urdf"
    path.write_text(edited('mass value="2"', 'mass value="-2"'))
    with pytest.raises(FileFormatError) as caught:
        load_urdf(path)
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
    ('name="pendulum"', "", "1: <robot>: robot name must be an identifier (letters, digits, underscores, at most 63, "
     "no leading digit), got ''; pass another, such as name='robot' (thunder gen: -n)"),
    ("<robot name", "<robt name", "16: not well-formed XML: mismatched tag"),
    ('link name="rod"', 'link name=""', "9: link '': needs the attribute 'name'"),
    ('link name="rod"', 'link name="a rod"', "9: link 'a rod': link name must start with a letter or underscore "
     "and hold letters, digits and '_-./:' (at most 63), got 'a rod'"),
    ('link name="rod"', 'link name="base"', "9: link 'base': name is taken by the link in line 2"),
    ('child link="rod"', 'child link="rode"', "5: joint 'swing' <child>: there is no link 'rode'; did you mean 'rod'?"),
    ('parent link="base"', 'parent link="bse"', "4: joint 'swing' <parent>: there is no link 'bse'; "
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
    ('"revolute"', '"fixed"', "2: link 'base': no joint below this link moves: the chain is empty"),
    ("<axis", '<mimic joint="other"/><axis', "3: joint 'swing': mimic joints are not supported (it follows 'other'); "
     "lock it: fix_joints={'swing': 0.0}"),
    ('<limit lower="-1" upper="1" effort="2" velocity="3"/>', "", "3: joint 'swing': needs a <limit> element: "
     "a revolute joint must have one (use 'continuous' for a joint without limits)"),
    ("<axis", "<axis/><axis", "6: joint 'swing' <axis>: must occur once, first in line 6"),
    ('parent link="base"', 'parent link="rod"', "3: joint 'swing': links form a loop through 'rod', "
     "apart from the root 'base'"),
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


def test_robot_names_become_identifiers_only_on_request() -> None:
    message = failure(edited('"pendulum"', '"2-link arm"'))
    assert message == (
        "arm.urdf:1: <robot>: robot name must be an identifier (letters, digits, underscores, at most 63, no leading "
        "digit), got '2-link arm'; pass another, such as name='robot_2_link_arm' (thunder gen: -n)"
    )
    with pytest.raises(ThunderError, match="name must be an identifier"):
        parse_urdf(PENDULUM, name="2-link arm")


def test_a_moving_body_without_inertia() -> None:
    assert failure(without("inertial")) == (
        "arm.urdf:9: link 'rod': moves with joint 'swing' but neither it nor a link fixed to it has an <inertial>; "
        "add one, or pass missing_inertia='zero' to treat it as massless"
    )
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
def test_xacro_must_be_expanded(edit: str) -> None:
    assert failure(edited("<axis", edit)) == (
        "arm.urdf:6: this is a xacro file, not a URDF: expand it first (xacro robot.urdf.xacro > robot.urdf)"
    )


JOINT = '<joint name="{}" type="fixed"><parent link="{}"/><child link="{}"/></joint>'


def test_loops_and_several_roots() -> None:
    back = edited("</robot>", JOINT.format("back", "rod", "base") + "</robot>")
    assert failure(back) == (
        "arm.urdf:1: <robot>: has no root: every link is the child of a joint, so the links form a loop"
    )
    again = edited("</robot>", JOINT.format("again", "base", "rod") + "</robot>")
    assert failure(again) == (
        "arm.urdf:16: joint 'again': link 'rod' is already the child of joint 'swing' (line 3); "
        "closed loops are not supported"
    )
    apart = edited("</robot>", '<link name="island"/></robot>')
    assert failure(apart) == (
        "arm.urdf:16: link 'island': is not connected: links without a parent joint are 'base', 'island', "
        "but only one may be the root"
    )
    twice = edited("</robot>", JOINT.format("swing", "rod", "tip") + '<link name="tip"/></robot>')
    assert failure(twice) == "arm.urdf:16: joint 'swing': name is taken by the joint in line 3"


def test_several_tips() -> None:
    assert failure(WORKBENCH) == (
        "arm.urdf:3: <robot>: 5 links could be the tip; pass one of them as tip_link: "
        "'lamp', 'camera', 'finger', 'thumb', 'tool'"
    )
    arms = "".join(JOINT.format(f"j{k}", "rod", f"tip{k}") + f'<link name="tip{k}"/>' for k in range(25))
    message = failure(edited("</robot>", arms + "</robot>"))
    assert "25 links could be the tip" in message
    assert message.endswith("'tip19', ...")


def test_the_tip_must_be_below_the_base() -> None:
    assert failure(PENDULUM, base_link="rod", tip_link="base") == (
        "arm.urdf:2: link 'base': the tip is not below the base link 'rod'"
    )
    assert failure(PENDULUM, base_link="rod", tip_link="rod") == (
        "arm.urdf:9: link 'rod': no joint moves between 'rod' and this link: the chain is empty"
    )


def test_side_branches_that_move_must_be_locked() -> None:
    assert failure(WORKBENCH, tip_link="tool") == (
        "arm.urdf:85: joint 'finger_slide': moves off the chain to 'tool', on a branch that the arm carries; "
        "a serial arm needs it locked: fix_joints={'finger_slide': 0.0, 'thumb_slide': 0.0}, "
        "at positions of your choice"
    )
    loose = edited('"thumb_slide" type="prismatic"', '"thumb_slide" type="floating"', WORKBENCH)
    assert failure(loose, tip_link="finger") == (
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
        (({"mount": 0.0},), "...fix_joints: joint 'mount' is fixed; only revolute, continuous, prismatic can be lo..."),
        (({"turn": math.nan},), "...fix_joints['turn'] must be finite, got nan..."),
        (({"turn": "up"},), "...fix_joints['turn'] must be numbers of shape (), got 'up'..."),
        ((["turn"],), "...fix_joints must map joint names to positions, got ['turn']..."),
        call=lambda fix_joints: workbench(fix_joints=fix_joints),
    )
    assert_refused((lambda: load_urdf(tmp_path / "none.urdf"), "...", FileNotFoundError))
