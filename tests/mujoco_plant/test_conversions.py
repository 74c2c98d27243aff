import numpy as np
import pinocchio
import pytest

import thunder_py as th
from tests.dynamics.random_chains import KINDS, random_robot
from tests.mujoco_plant.arms import chain, planar, relative, states
from tests.refusals import assert_refused
from thunder_py.errors import FileFormatError, ThunderError, ThunderWarning
from thunder_py.io import conversion_losses
from thunder_py.io.mjcf import parse_mjcf
from thunder_py.io.mjcf_writer import write_mjcf
from thunder_py.io.urdf import parse_urdf
from thunder_py.io.urdf_writer import write_urdf
from thunder_py.model.description import Elastic, Friction, Limits


def same_dynamics(again: th.Robot, robot: th.Robot, tolerance: float) -> None:
    q, dq, ddq = states(robot, 10)
    assert relative(again.mass_matrix(q), robot.mass_matrix(q)) < tolerance
    assert relative(again.inverse_dynamics(q, dq, ddq), robot.inverse_dynamics(q, dq, ddq)) < tolerance
    for frame in robot.frame_names:
        # a base that does not stand in the world's origin is a link of the URDF
        np.testing.assert_allclose(again.forward_kinematics(q, frame), robot.forward_kinematics(q, frame), atol=1e-12)


def viscous(robot: th.Robot) -> th.Robot:
    """The robot with what MJCF and URDF both hold of its friction."""
    friction = robot.description.friction
    if friction is None or "viscous" not in friction.terms:
        return robot.replace(friction=None)
    return robot.replace(friction=Friction(terms=("viscous",), coefficients=friction.coefficients[:, :1]))


@pytest.mark.parametrize("name", th.robots.names())
def test_bundled_through_mjcf(name, tmp_path):
    robot = th.Robot.load(name)
    robot.save(tmp_path / f"{name}.xml")
    again = th.Robot.load(tmp_path / f"{name}.xml")
    same_dynamics(again, robot, 1e-11)
    assert (again.name, again.joint_names, again.link_names) == (robot.name, robot.joint_names, robot.link_names)
    assert again.frame_names == robot.frame_names
    for key in ("lower", "upper", "velocity", "effort"):
        np.testing.assert_array_equal(getattr(again.limits, key), getattr(robot.limits, key))


@pytest.mark.parametrize("seed", range(0, 12, 2))
def test_random_chains_through_mjcf(seed):
    robot = viscous(chain(seed))
    again = th.Robot(parse_mjcf(write_mjcf(robot)))
    same_dynamics(again, robot, 1e-12)
    np.testing.assert_array_equal(again.limits.effort, robot.limits.effort)
    np.testing.assert_array_equal(again.limits.lower, robot.limits.lower)


def test_rotors_come_back_as_rotors():
    robot = planar(0)
    again = th.Robot(parse_mjcf(write_mjcf(robot)))
    same_dynamics(again, robot, 1e-12)
    coupled = [rotor for rotor in robot.description.rotors if rotor.carrier]
    assert [(r.joint, r.inertia, r.gear_ratio, r.carrier) for r in again.description.rotors] == [
        (r.joint, r.inertia, r.gear_ratio, r.carrier) for r in coupled
    ]
    wrong = write_mjcf(robot).replace(f'armature="{coupled[0].inertia!r}"><joint', 'armature="1"><joint')
    edited = wrong.replace('coef="1"', 'coef="2"')
    with pytest.raises(FileFormatError, match="does not couple the joints as its rotor would"):
        parse_mjcf(edited)


def test_coulomb_friction_is_a_soft_constraint_in_mjcf():
    friction = Friction(terms=("viscous", "coulomb"), coefficients=[[1.0, 0.5], [2.0, 0.0]])
    robot = th.Robot.load("elbow").replace(friction=friction)
    with pytest.raises(ThunderError, match="Coulomb friction becomes frictionloss"):
        write_mjcf(robot)
    text = write_mjcf(robot, lossy=True)
    assert "not carried over: Coulomb friction becomes frictionloss" in text
    assert parse_mjcf(text).friction == friction


def bare(robot: th.Robot) -> th.Robot:
    """The robot with what URDF holds of it."""
    return viscous(robot).replace(rotors=(), armature=None)


@pytest.mark.parametrize("seed", range(1, 12, 2))
def test_random_chains_through_urdf_and_pinocchio(seed):
    robot = bare(chain(seed))
    text = write_urdf(robot.description, lossy=True)
    again = th.Robot(parse_urdf(text, tip_link="tool", gravity=robot.gravity))
    same_dynamics(again, robot, 1e-12)
    np.testing.assert_array_equal(again.limits.effort, robot.limits.effort)
    model = pinocchio.buildModelFromXML(text)
    model.gravity = pinocchio.Motion(np.array(robot.gravity), np.zeros(3))
    data = model.createData()
    without = robot.replace(friction=None)  # rnea of Pinocchio knows no friction
    for q, dq, ddq in zip(*states(robot, 5), strict=True):
        x = _configuration(model, robot, q)
        tau = pinocchio.rnea(model, data, x, dq, ddq)
        assert relative(tau, without.inverse_dynamics(q, dq, ddq)) < 1e-9
        pinocchio.framesForwardKinematics(model, data, x)
        for frame in robot.frame_names:
            found = data.oMf[model.getFrameId(frame)].homogeneous
            np.testing.assert_allclose(found, robot.forward_kinematics(q, frame), atol=1e-12)


def _configuration(model, robot, q):
    x = pinocchio.neutral(model)
    for name, value in zip(robot.joint_names, q, strict=True):
        joint = model.joints[model.getJointId(name)]
        x[joint.idx_q : joint.idx_q + joint.nq] = (np.cos(value), np.sin(value)) if joint.nq == 2 else (value,)
    return x


@pytest.mark.parametrize("kind", KINDS)
def test_pitch_of_a_quarter_turn(kind):
    """Where roll and yaw are one: there formulas with arc sines lose half of the digits."""
    robot = random_robot(5, 3, kind)
    T = np.eye(4)
    c, s = np.cos(1e-5), np.sin(1e-5)
    T[:3, :3] = np.array([[c, -s, 0], [s, c, 0], [0, 0, 1]]) @ [[1e-9, 0, 1], [0, 1, 0], [-1, 0, 1e-9]]
    robot = robot.replace(tool=T)
    again = th.Robot(parse_urdf(write_urdf(robot.description, lossy=True), tip_link="tool"))
    q = np.full(3, 0.3)
    np.testing.assert_allclose(again.forward_kinematics(q), robot.forward_kinematics(q), atol=1e-14)


def test_limits_and_friction_in_urdf():
    limits = Limits(lower=[-np.inf, -1.0], upper=[np.inf, 2.0], velocity=[3.0, np.inf], effort=[np.inf, 7.0])
    friction = Friction(terms=("viscous", "coulomb"), coefficients=[[1.0, 0.5], [0.0, 0.25]])
    robot = th.Robot.load("cart_pendulum").replace(limits=limits, friction=friction)
    text = write_urdf(robot.description)
    assert text.count("1000000000") == 4  # prismatic joints, and all of one limit, must have them in URDF
    again = parse_urdf(text, tip_link="tool")
    assert again.friction == friction
    np.testing.assert_array_equal(again.limits.lower, [-np.inf, -1.0])
    np.testing.assert_array_equal(again.limits.effort, [np.inf, 7.0])
    np.testing.assert_array_equal(again.limits.velocity, [3.0, np.inf])


def test_nothing_is_lost_without_a_word(tmp_path):
    robot = random_robot(2, 3, "standard", rotors=True, armature=True).replace(
        friction=Friction(terms=("coulomb", "cubic"), coefficients=np.ones((3, 2)), delta=0.5),
        elastic=[Elastic(joint=2, K=(100.0, 1.0, 1.0), Mm=0.1)],
    )
    urdf = conversion_losses(robot.description, "x.urdf")
    for word in ("armature", "rotors", "elastic", "cubic", "width of Coulomb", "gravity"):
        assert any(word in loss for loss in urdf), word
    mjcf = conversion_losses(robot.description, "x.mjcf")
    for word in ("powers above the third of the spring of joint2", "cubic", "frictionloss"):
        assert any(word in loss for loss in mjcf), word
    assert conversion_losses(robot.description, "x.yaml") == ()
    for name, losses in (("x.urdf", urdf), ("x.mjcf", mjcf)):
        with pytest.raises(ThunderError, match="With lossy=True the rest is written"):
            robot.save(tmp_path / name)
        assert not (tmp_path / name).exists()
        robot.save(tmp_path / name, lossy=True)
        text = (tmp_path / name).read_text()
        assert text.count("not carried over") == len(losses)


@pytest.mark.parametrize("suffix", ["yaml", "xml", "urdf"])
def test_a_folder_that_is_not_there_is_named(suffix, tmp_path):
    with pytest.raises(FileNotFoundError, match=r"there is no such folder: '.*none'"):
        th.Robot.load("panda").save(tmp_path / "none" / f"panda.{suffix}")


def test_frames_called_base_and_tool_keep_their_names(tmp_path):
    """As UR's frame ``base``, turned against the base link, and a link ``tool`` before the end effector."""
    rng, turned = np.random.default_rng(1), np.diag([-1.0, -1.0, 1.0, 1.0])
    own = {"base": (0, turned), "tool": (2, np.eye(4)), "inertial": (1, turned)}
    for seed in range(6):
        plain = viscous(chain(1 + seed))
        frames = {name: own[name] for name in own if rng.random() < 0.8 and own[name][0] <= plain.n}
        robot = plain.replace(frames=frames)
        q = states(robot, 5)[0]
        ours = {name: f"robot:{name}" if name in frames else name for name in ("base", "tool")}
        assert set(robot.frame_names) == {*ours.values(), *robot.link_names, *frames}
        text = write_urdf(robot.description, lossy=True)
        robot.save(tmp_path / "arm.xml", lossy=True)
        robot.save(tmp_path / "arm.yaml")
        for again in (
            robot,
            th.Robot.load(tmp_path / "arm.yaml"),
            th.Robot.load(tmp_path / "arm.xml"),
            th.Robot(parse_urdf(text, tip_link=ours["tool"])),
        ):
            for frame in robot.frame_names:
                if frame in frames:
                    link, pose = frames[frame]
                    right = plain.forward_kinematics(q, link) @ pose
                else:
                    right = plain.forward_kinematics(q, frame.removeprefix("robot:"))
                np.testing.assert_allclose(again.forward_kinematics(q, frame), right, atol=1e-12)
            np.testing.assert_allclose(again.forward_kinematics(q), plain.forward_kinematics(q), atol=1e-12)


INERTIAL = '<inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial>'


def test_renamed_joints_and_links_are_told():
    arm = f"""<robot name="arm"><link name="root"/><link name="base">{INERTIAL}</link>
      <joint name="tool" type="continuous"><parent link="root"/><child link="base"/></joint></robot>"""
    with pytest.warns(ThunderWarning, match="'base' is a reserved name.*'tool' is .* called 'urdf:tool'"):
        robot = parse_urdf(arm)
    assert (robot.joint_names, robot.link_names) == (("urdf:tool",), ("urdf:base",))
    body = '<joint name="friction"/><inertial pos="0 0 1" mass="1" diaginertia="1 1 1"/>'
    text = f'<mujoco model="m"><worldbody><body name="b">{body}</body></worldbody></mujoco>'
    with pytest.warns(ThunderWarning, match="called 'mjcf:friction'"):
        assert parse_mjcf(text).joint_names == ("mjcf:friction",)


def test_refusals():
    description = th.Robot.load("cart_pendulum").description  # its base is turned, so the root is 'world'
    assert_refused(
        (lambda: write_urdf(description.replace(link_names=("world", "pole"))), "URDF needs the name 'world' for i..."),
        (lambda: write_urdf(description.replace(joint_names=("slide", "tool_fixed"))), "URDF needs the name 'tool_..."),
        (
            lambda: write_urdf(description.replace(inertial=-description.inertial)),
            "mass of cart must not be neg...",
        ),
    )
    robot = th.Robot.load("panda")
    assert_refused(
        (
            lambda: write_mjcf(robot.with_parameters(np.where(np.arange(robot.p) == 60, -1.0, robot.parameters))),
            "mass of link7 must not be negative...",
        )
    )
