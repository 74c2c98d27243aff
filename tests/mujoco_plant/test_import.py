import mujoco
import numpy as np
import pytest

import thunder_py as th
from tests.mujoco_plant.arms import FINGERS, HAND_WRITTEN, assert_equals_mujoco, states
from tests.refusals import assert_refused
from thunder_py.errors import FileFormatError, ThunderWarning, UnknownNameError
from thunder_py.io.mjcf import parse_mjcf
from thunder_py.mujoco import MujocoPlant

ONE = '<joint name="a" axis="0 0 1"/><inertial pos="0.1 0 0" mass="1" diaginertia="1 1 1"/>'


def document(body: str, rest: str = "") -> str:
    return f'<mujoco model="m"><worldbody><body name="b">{body}</body></worldbody>{rest}</mujoco>'


def test_a_model_written_by_hand():
    arm = th.Robot(parse_mjcf(HAND_WRITTEN, tip_link="grip", fix_joints=FINGERS))
    assert (arm.name, arm.joint_names, arm.link_names) == ("wrist", ("joint1", "joint2"), ("link1", "link2"))
    names = ["base", "tool", "link0", "link1", "link2", "hand", "grip", "left_finger", "right_finger"]
    assert sorted(arm.frame_names) == sorted(names)
    np.testing.assert_allclose(arm.limits.lower, np.radians([-166, -101]))
    np.testing.assert_array_equal(arm.limits.effort, [87.0, 60.0])
    np.testing.assert_array_equal(arm.description.armature, [0.1, 0.1])
    np.testing.assert_array_equal(arm.description.friction.coefficients[:, 0], [1.0, 1.0])
    np.testing.assert_allclose(arm.description.base[:3, 3], [0.1, 0.0, 0.2])
    lines = [line for line in HAND_WRITTEN.splitlines() if "mesh" not in line or "compiler" in line]
    assert_equals_mujoco(arm, mujoco.MjModel.from_xml_string("\n".join(lines)), "grip", **FINGERS)


def test_several_joints_in_a_body_references_and_places():
    """Two hinges off the origin and a slide in one body, one of them at a reference of its own."""
    text = document(
        '<joint name="x" axis="1 0.2 0" pos="0.1 0 0.2" ref="20"/><joint name="s" type="slide" axis="0 1 1" ref="0.3"/>'
        '<joint name="y" axis="0 1 0" pos="0 0.3 0"/><inertial pos="0.1 0 0" mass="1" diaginertia="1 1.1 1.2"/>'
        '<body name="c" pos="0.2 0 0" euler="10 20 30"><joint name="z" axis="0 0 1" pos="0.1 0.1 0"/>'
        '<inertial pos="0 0.1 0.1" mass="2" diaginertia="0.1 0.2 0.15"/><site name="tool" pos="0 0 0.4"/></body>'
    )
    arm = th.Robot(parse_mjcf(text))
    assert (arm.joint_types, arm.link_names) == ("RPRR", ("b_x", "b_s", "b", "c"))
    assert_equals_mujoco(arm, mujoco.MjModel.from_xml_string(text), "tool")


def test_inertia_of_shapes_is_taken_where_none_is_given():
    arm = parse_mjcf(
        document('<joint name="a" axis="0 0 1"/><geom type="box" size="0.1 0.2 0.3" pos="0 0 1" density="100"/>')
    )
    np.testing.assert_allclose(arm.inertial[0, :4], [4.8, 0.0, 0.0, 4.8], rtol=1e-12)


def test_included_files_are_read_from_the_same_folder_only(tmp_path):
    folder = tmp_path / "robot"
    (folder / "parts").mkdir(parents=True)
    (folder / "parts" / "arm.xml").write_text(f"<mujocoinclude><body name='b'>{ONE}</body></mujocoinclude>")
    main = folder / "main.xml"
    main.write_text('<mujoco model="m"><worldbody><include file="parts/arm.xml"/></worldbody></mujoco>')
    assert th.Robot.load(main).joint_names == ("a",)
    (tmp_path / "outside.xml").write_text(f"<mujocoinclude><body name='b'>{ONE}</body></mujocoinclude>")
    for name, message in (
        ("../outside.xml", "must be in the folder of the file itself or below"),
        (str(tmp_path / "outside.xml"), "must be in the folder"),
        ("none.xml", "cannot read 'none.xml'"),
        ("main.xml", "more than 8 deep"),
    ):
        main.write_text(f'<mujoco model="m">\n<worldbody><include file="{name}"/></worldbody></mujoco>')
        with pytest.raises(FileFormatError, match=message) as error:
            th.Robot.load(main)
        assert error.value.line in (1, 2)
    with pytest.raises(FileFormatError, match="a text without a path cannot include files"):
        parse_mjcf('<mujoco><include file="a.xml"/></mujoco>')


TWO = '<joint name="z" axis="0 1 0"/>{}<body name="c" pos="0 0 0.3">' + ONE + "</body>"
BALL = ONE.replace('axis="0 0 1"', 'type="ball"')
BAD = {
    "<mujoco": "not well-formed XML",
    "<robot name='r'/>": "this is a URDF: give it the suffix .urdf",
    "<sdf/>": "must have the root element <mujoco>",
    '<!DOCTYPE mujoco [<!ENTITY x "y">]><mujoco/>': "document type declarations",
    "<mujoco/>": "no joint moves: there is no arm",
    document("<geom size='1'/>"): "no joint moves: there is no arm",
    document(BALL): "ball joints are not supported",
    document("<freejoint name='f'/>" + ONE.split("/>", 1)[1]): "free joints are not supported",
    document(TWO.replace("<joint", '<joint stiffness="3"')): "joint 'z', joint 'a': springs .stiffness. are not read",
    document(ONE, '<option density="1.2"/>'): "density and viscosity",
    document(ONE).replace('name="b"', 'name="b" gravcomp="1"'): "compensated gravity",
    document(ONE, '<equality><joint joint1="a"/></equality>'): "equality constraints on the arm",
    document(
        ONE, '<tendon><fixed stiffness="1"><joint joint="a" coef="1"/></fixed></tendon>'
    ): "tendons that act on the arm",
    document(ONE, '<extension><plugin plugin="mujoco.elasticity.cable"/></extension>'): "plug-ins",
    document('<replicate count="999999999">' + ONE + "</replicate>"): "generating elements are not supported",
    document(ONE.replace("mass", "mas")): "MuJoCo refuses it: XML Error",
    document(ONE.replace('mass="1"', 'mass="-1"')): "MuJoCo refuses it",
    document(ONE.replace('"1 1 1"', '"1 1 9"')): "MuJoCo refuses it",
    document(ONE.replace("0.1 0 0", "0.1 nan 0")): "'pos' must be finite, got '0.1 nan 0'",
    document("<body>" * 400 + "</body>" * 400): "nested more than 300 deep",
    document(ONE, f"<!-- {'x' * 4_000_000} -->"): "at most 4000000 bytes",
}


def test_bad_files_are_refused():
    for text, message in BAD.items():
        with pytest.raises(FileFormatError, match=message):
            parse_mjcf(text)


@pytest.mark.parametrize("none", ["", '<geom size="0.1" mass="0"/>', '<body><geom size="0.1" density="0"/></body>'])
def test_a_moving_body_without_mass(none, tmp_path):
    """It is massless, as in a URDF; MuJoCo refuses it, and its plant does so."""
    path = tmp_path / "arm.xml"
    path.write_text(document(TWO.format(none)))
    with pytest.warns(ThunderWarning, match="links without inertia are massless, .*: 'b'$"):
        robot = th.Robot.load(path)
    tiny = '<inertial pos="0 0 0" mass="1e-14" diaginertia="1e-14 1e-14 1e-14"/>'
    almost = th.Robot(parse_mjcf(document(TWO.format(tiny))))
    q, dq, ddq = states(robot, 1)
    np.testing.assert_allclose(robot.inverse_dynamics(q, dq, ddq), almost.inverse_dynamics(q, dq, ddq), atol=1e-11)
    assert not robot.inertial[0].any()
    assert not th.Robot.load(path, missing_inertia="zero").inertial[0].any()
    with pytest.raises(FileFormatError, match="body 'b': moves with joint 'z' but neither it nor a link fixed to it"):
        th.Robot.load(path, missing_inertia="error")
    with pytest.raises(FileFormatError, match="MuJoCo refuses it: Error: mass and inertia of moving bodies"):
        MujocoPlant(path)
    path.write_text(document(TWO.format('<body><geom size="0.1"/></body>')))
    assert th.Robot.load(path, missing_inertia="error").inertial[0, 0] > 1.0


def test_what_would_take_memory_is_left_out():
    """Numbers in a file that say how much to allocate never reach MuJoCo."""
    rest = (
        '<size memory="900G" nuserdata="999999999"/><custom><numeric name="x" size="999999999" data="1"/></custom>'
        '<asset><texture name="t" type="2d" builtin="flat" width="99999" height="99999"/></asset>'
        '<actuator><general joint="a" actdim="999999999" forcerange="-3 3"/></actuator>'
    )
    assert parse_mjcf(document(ONE, rest)).limits.effort.tolist() == [3.0]


def test_bad_arguments(tmp_path):
    path = tmp_path / "m.xml"
    path.write_text(document(ONE))
    assert_refused(
        (lambda: th.Robot.load(path, base_link="b"), "...there is no arm", FileFormatError),
        (lambda: th.Robot.load(path, gravity=(0, 0, 0)), "gravity: not for MJCF files..."),
        (lambda: th.Robot.load(path, fix_joints=["a"]), "fix_joints must map joint names..."),
    )
    assert th.Robot.load(path, name="other").name == "other"
    assert_refused(
        (lambda: MujocoPlant(_urdf(tmp_path)), "...this is a URDF...", FileFormatError),
        (lambda: MujocoPlant(3), "robot must be a Robot or an MJCF file..."),
        (lambda: MujocoPlant("panda"), "robot must be a Robot or an MJCF file (.xml, .mjcf), got 'panda'"),
    )


def _urdf(folder):
    path = folder / "robot.xml"
    path.write_text('<robot name="r"/>')
    return path


def test_what_flags_switch_off_is_not_read():
    joint = ONE.replace("<joint", '<joint range="-1 1" damping="2" frictionloss="3"')
    assert "damping" in joint
    whole = parse_mjcf(document(joint))
    assert whole.friction.terms == ("viscous", "coulomb")
    assert whole.limits is not None
    for flags, terms, limited in (
        ('damper="disable"', ("coulomb",), True),
        ('frictionloss="disable" limit="disable"', ("viscous",), False),
        ('constraint="disable"', ("viscous",), False),
    ):
        arm = parse_mjcf(document(joint, f"<option><flag {flags}/></option>"))
        assert arm.friction.terms == terms
        assert (arm.limits is not None) == limited


def test_included_files_do_not_multiply_without_end(tmp_path):
    for k in range(4):
        (tmp_path / f"{k}.xml").write_text("<mujoco>" + f'<include file="{k + 1}.xml"/>' * 20 + "</mujoco>")
    (tmp_path / "4.xml").write_text("<mujoco/>")
    with pytest.raises(FileFormatError, match="at most 200 files may be included"):
        th.Robot.load(tmp_path / "0.xml")


def test_refusals():
    assert_refused(
        (lambda: parse_mjcf(HAND_WRITTEN, tip_link="gripp"), "...no link 'gripp'; did you mean...", UnknownNameError),
        (
            lambda: parse_mjcf(HAND_WRITTEN, tip_link="left_finger"),
            "...follows joint 'finger_joint2' (mimic)...",
            FileFormatError,
        ),
        (
            lambda: parse_mjcf(HAND_WRITTEN, tip_link="hand", fix_joints={"finger": 0.0}),
            "...there is no joint 'finger'...",
            UnknownNameError,
        ),
        (
            lambda: parse_mjcf(HAND_WRITTEN, tip_link="hand", fix_joints={"finger_joint1": np.nan}),
            "...must be finite...",
        ),
    )


def test_efforts_are_the_sums_of_actuators():
    def effort(*motors: str, joint: str = ONE) -> float | None:
        limits = parse_mjcf(document(joint, f"<actuator>{''.join(motors)}</actuator>")).limits
        return None if limits is None else limits.effort[0]

    by_control = '<general joint="a" gainprm="-3" gear="-2" ctrllimited="true" ctrlrange="-1 4"/>'
    by_force = '<motor joint="a" gear="5" forcelimited="true" forcerange="-7 1"/>'
    both = '<motor joint="a" gear="2" forcelimited="true" forcerange="-9 9" ctrllimited="true" ctrlrange="-5 5"/>'
    servo = '<position joint="a" kp="100" ctrllimited="true" ctrlrange="-1 1" forcelimited="true" forcerange="-8 8"/>'
    own = ONE.replace("<joint", '<joint actuatorfrclimited="true" actuatorfrcrange="-30 20"')
    assert effort(by_control) == 3.0 * 4.0 * 2.0
    assert effort(by_force) == 35.0
    assert effort(both) == 10.0
    assert effort(servo) == 8.0
    assert effort(by_control, by_force) == 24.0 + 35.0
    assert effort(by_control, by_force, joint=own) == 30.0
