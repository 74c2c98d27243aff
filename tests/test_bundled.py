"""The robots that come with the package are those of their sources."""

import json
import math
from pathlib import Path

import numpy as np
import pytest

import thunder_py as th
from thunder_py import robots
from thunder_py.errors import UnknownNameError
from thunder_py.io import load_description, parse_description
from thunder_py.io.yaml_native import write_native
from thunder_py.model.description import RobotDescription
from thunder_py.model.inertia import is_physical, reg_from_dyn
from thunder_py.spatial import pose_from_rpy

TRUTH = Path(__file__).parent / "data" / "truth"
MASSLESS = {"human_arm": (0, 1, 3, 5)}


def test_names():
    expected = ("cart_pendulum", "elbow", "gen3", "human_arm", "iiwa14", "panda", "scara", "ur5e")
    assert robots.names() == expected
    assert all(robots.path(name).is_file() for name in expected)
    with pytest.raises(UnknownNameError, match=r"^no robot is called 'panad'; did you mean 'panda'\?$"):
        robots.path("panad")


@pytest.mark.parametrize("name", robots.names())
def test_every_robot_is_sound(name):
    arm = load_description(name)
    assert arm.name == name
    assert len(arm.reference) > 100, "no source given"
    assert parse_description(write_native(arm)) == arm
    physical = is_physical(arm.inertial)
    if name == "scara":
        assert not physical.any()  # a planar abstraction, as its reference says
    else:
        assert np.flatnonzero(~physical).tolist() == list(MASSLESS.get(name, ()))
    mass = th.Robot(arm).mass_matrix(np.full(arm.n, 0.3))
    assert np.linalg.eigvalsh(mass)[0] > 0


@pytest.mark.parametrize(
    ("name", "file"), [("panda", "panda"), ("elbow", "rr_elbow_distal"), ("scara", "scara_with_motors")]
)
def test_the_ground_truth_robots(name, file):
    data = json.loads((TRUTH / f"{file}.json").read_text())
    arm = load_description(name)
    rows = [[row["a"], row["alpha"], row["d"], row["theta"]] for row in data["dh"]]
    assert arm.convention == data["convention"]
    assert arm.joint_types == "".join(row["type"] for row in data["dh"])
    np.testing.assert_array_equal(arm.dh, rows)
    np.testing.assert_array_equal(arm.inertial, reg_from_dyn(data["par_DYN"]))
    np.testing.assert_allclose(arm.inertial, data["pi"], rtol=1e-15, atol=1e-17)
    np.testing.assert_array_equal(arm.gravity, data["gravity"])
    robot = th.Robot(arm)
    for state in data["states"]:
        np.testing.assert_allclose(robot.forward_kinematics(state["q"]), state["T_0_ee"], atol=1e-14)
        np.testing.assert_allclose(robot.mass_matrix(state["q"]), state["M"], rtol=1e-12, atol=1e-13)


def test_cart_pendulum_has_the_textbook_equations():
    robot = th.Robot.load("cart_pendulum")
    cart, m, length, g = 1.0, 0.1, 0.5, 9.81
    inertia = m * length**2 / 3  # a rod about its center
    rng = np.random.default_rng(0)
    for _ in range(20):
        (x, phi), (dx, dphi), (ddx, ddphi) = rng.normal(size=(3, 2))
        force = (cart + m) * ddx - m * length * math.cos(phi) * ddphi + m * length * math.sin(phi) * dphi**2
        torque = -m * length * math.cos(phi) * ddx + (inertia + m * length**2) * ddphi - m * g * length * math.sin(phi)
        tau = robot.inverse_dynamics([x, phi], [dx, dphi], [ddx, ddphi])
        np.testing.assert_allclose(tau, [force, torque], rtol=1e-12, atol=1e-13)


#: joint, sign, and what a quarter turn of it does to the hanging arm: where the hand then lies seen from the joint
HUMAN = {
    "shoulder flexion, hand forward": (0, [1, 0, 0]),
    "shoulder abduction, hand to the right": (1, [0, -1, 0]),
    "elbow flexion, hand forward": (3, [1, 0, 0]),
    "wrist flexion, hand to the left, where the palm looks": (5, [0, 1, 0]),
    "ulnar deviation, hand backward": (6, [-1, 0, 0]),
}


@pytest.mark.parametrize("motion", HUMAN)
def test_human_arm_moves_as_anatomy_says(motion):
    joint, direction = HUMAN[motion]
    robot = th.Robot.load("human_arm")
    q = np.zeros(7)
    q[joint] = math.pi / 2
    hand, wrist = robot.forward_kinematics(q)[:3, 3], robot.forward_kinematics(q, frame=7)[:3, 3]
    np.testing.assert_allclose((hand - wrist) / 0.0862, direction, atol=1e-14)


def test_human_arm_turns_inwards():
    robot = th.Robot.load("human_arm")
    bent = robot.forward_kinematics([0, 0, math.pi / 2, math.pi / 2, 0, 0, 0])
    np.testing.assert_allclose(bent[:3, 3], [0, 0.2689 + 0.0862, -0.2817], atol=1e-14)  # internal rotation: to the left
    palm = robot.forward_kinematics([0, 0, 0, 0, math.pi / 2, 0, 0], frame="hand")[:3, 2]
    np.testing.assert_allclose(palm, [-1, 0, 0], atol=1e-14)  # pronation: the palm looks backward


def test_human_arm_hangs():
    robot = th.Robot.load("human_arm")
    T = robot.forward_kinematics(np.zeros(7))
    np.testing.assert_allclose(T[:3, 3], [0, 0, -(0.2817 + 0.2689 + 0.0862)], atol=1e-15)
    np.testing.assert_allclose(T[:3, 2], [0, 0, -1], atol=1e-15)
    assert robot.description.inertial[:, 0].sum() == pytest.approx(73.0 * (0.0271 + 0.0162 + 0.0061))
    np.testing.assert_allclose(robot.gravity_vector(np.zeros(7)), 0, atol=1e-14)
    lift = (
        73
        * 9.81
        * (0.0271 * 0.5772 * 0.2817 + 0.0162 * (0.2817 + 0.4574 * 0.2689) + 0.0061 * (0.2817 + 0.2689 + 0.79 * 0.0862))
    )
    forward = robot.gravity_vector([math.pi / 2, 0, 0, 0, 0, 0, 0])
    assert forward[0] == pytest.approx(lift)


def test_heights_of_the_upright_arms():
    iiwa = th.Robot.load("iiwa14").forward_kinematics(np.zeros(7))
    np.testing.assert_allclose(iiwa, pose_from_rpy((0, 0, 1.306)), atol=1e-15)
    gen3 = th.Robot.load("gen3").forward_kinematics(np.zeros(7))
    height = 0.15643 + 0.12838 + 2 * 0.21038 + 0.20843 + 2 * 0.10593 + 0.061525
    sideways = 0.005375 + 3 * 0.006375 + 2 * 0.00017505  # the offsets of joints 2 to 7 all lean the same way
    np.testing.assert_allclose(gen3, pose_from_rpy((0, -sideways, height)), atol=1e-14)
    ur5e = th.Robot.load("ur5e").forward_kinematics(np.zeros(6))
    np.testing.assert_allclose(ur5e[:3, 3], [-0.425 - 0.3922, -0.1333 - 0.0996, 0.1625 - 0.0997], atol=1e-15)


PI = math.pi
#: joint origins (translation, angles) and link inertias (center, mass, diagonal) of the iiwa14 URDF in Drake
IIWA = [
    ((0, 0, 0.1575), (0, 0, 0), (0, -0.03, 0.12), 5.76, (0.033, 0.0333, 0.0123)),
    ((0, 0, 0.2025), (PI / 2, 0, PI), (0.0003, 0.059, 0.042), 6.35, (0.0305, 0.0304, 0.011)),
    ((0, 0.2045, 0), (PI / 2, 0, PI), (0, 0.03, 0.13), 3.5, (0.025, 0.0238, 0.0076)),
    ((0, 0, 0.2155), (PI / 2, 0, 0), (0, 0.067, 0.034), 3.5, (0.017, 0.0164, 0.006)),
    ((0, 0.1845, 0), (-PI / 2, PI, 0), (0.0001, 0.021, 0.076), 3.5, (0.01, 0.0087, 0.00449)),
    ((0, 0, 0.2155), (PI / 2, 0, 0), (0, 0.0006, 0.0004), 1.8, (0.0049, 0.0047, 0.0036)),
    ((0, 0.081, 0), (-PI / 2, PI, 0), (0, 0, 0.02), 1.2, (0.001, 0.001, 0.001)),
]


def test_iiwa_in_dh_frames_is_the_one_of_the_urdf():
    dyn = [[m, *com, i[0], 0, 0, i[1], 0, i[2]] for _, _, com, m, i in IIWA]
    source = th.Robot(
        RobotDescription(
            name="source",
            joint_types="R" * 7,
            placements=[pose_from_rpy(translation, rpy) for translation, rpy, *_ in IIWA],
            axes=[[0, 0, 1]] * 7,
            offsets=[np.eye(4)] * 7,
            inertial=reg_from_dyn(dyn),
            tool=pose_from_rpy((0, 0, 0.045)),
        )
    )
    ours = th.Robot.load("iiwa14")
    q, dq, ddq = np.random.default_rng(0).normal(size=(3, 10, 7))
    np.testing.assert_allclose(ours.forward_kinematics(q), source.forward_kinematics(q), atol=1e-14)
    np.testing.assert_allclose(ours.inverse_dynamics(q, dq, ddq), source.inverse_dynamics(q, dq, ddq), atol=1e-11)
