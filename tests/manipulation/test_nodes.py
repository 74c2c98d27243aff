"""The nodes of manipulation with the simulated camera and arm, on a middleware of lists: what goes where."""

from typing import Any

import numpy as np
import pytest

import thunder_py as th
from thunder_py.manipulation.nodes import TASKS, CameraNode, PoseNode, chosen_task
from thunder_py.realtime import Mode
from thunder_py.realtime.nodes import ControllerNode, RobotNode

from ..realtime.loops import JOINT_LAW, MS, POSE_LAW, Q0
from ..realtime.test_nodes import KINDS, Wire

PANDA = th.Robot.load("panda")
HAND = PANDA.forward_kinematics(Q0)[:3, 3]
#: over the objects, looking down
CAMERA = [0.5, 0.0, 0.9, np.pi, 0.0, 0.0]
PLACE = [0.5, 0.05, 0.2]
BELT = {"reference": [0.45, 0.0, 0.4], "low": [0.35, -0.25, 0.3], "high": [0.6, 0.3, 0.6], "offset": [0.0, 0.0, 0.2]}
TARGET = {"target": [1.1, 0.1, -0.4], "options": {"objective": "limits", "starts": 4}}


def seen(wire: Wire, **options: Any) -> tuple[CameraNode, PoseNode]:
    pytest.importorskip("cv2")
    place = {"object_pose": [*PLACE, 0.0, 0.0, 0.3], "camera_pose": CAMERA, "angle": 1.2, **options}
    return CameraNode(wire, place), PoseNode(wire, {"camera_pose": CAMERA, "late": 0.2})


def arm(wire: Wire, law: dict[str, Any]) -> ControllerNode:
    controller = ControllerNode(wire, {"robot": "panda", "controller": law})
    RobotNode(wire, {"robot": "panda", "q0": Q0.tolist()})
    return controller


def said(node: Any) -> tuple[str, str]:
    return node._report()[:2]


def test_poses_have_the_time_of_the_picture_and_a_covariance() -> None:
    wire = Wire()
    camera, poses = seen(wire, latency=0.05)
    wire.run(1.0)
    message = wire.last["object_pose"]
    assert message.header.stamp == wire.last["image"].header.stamp
    p = message.pose.pose.position
    np.testing.assert_allclose([p.x, p.y, p.z], PLACE, atol=5e-3)
    covariance = np.reshape(message.pose.covariance, (6, 6))
    np.testing.assert_allclose(covariance, covariance.T, atol=1e-15)
    assert (np.linalg.eigvalsh(covariance) > 0.0).all()
    assert said(poses) == ("OK", "seen")
    # no picture, then a late one: both are told, and no pose comes of them
    wire.call("cover", True)
    wire.run(0.7)
    assert said(poses)[0] == "STALE"
    before = wire.sent["object_pose"]
    wire.call("cover", False)
    camera._latency = 400 * MS
    wire.run(0.5)
    assert said(poses)[0] != "OK"
    assert "late picture" in said(poses)[1]
    assert wire.sent["object_pose"] == before


@pytest.mark.parametrize(("field", "value"), [("encoding", "16UC1"), ("step", 10), ("data", b"")])
def test_broken_pictures_are_refused_and_told(field: str, value: Any) -> None:
    wire = Wire()
    _, poses = seen(wire)
    wire.run(0.5)
    image, before = wire.last["image"], wire.sent["object_pose"]
    setattr(image, field, value)
    wire.time += 10 * MS
    image.header.stamp = wire.time
    poses._on_image(image)
    assert "picture refused" in said(poses)[1]
    assert wire.sent["object_pose"] == before


def test_an_object_is_picked_and_without_pictures_the_arm_holds() -> None:
    wire = Wire()
    controller = arm(wire, JOINT_LAW)
    seen(wire)
    grasp = [0.0, 0.0, 0.0, np.pi, 0.0, 0.0]
    picking = TASKS["picking"](wire, {"robot": "panda", "grasp": grasp, "settings": {"standoff": 0.1}})
    assert not wire.call("start").success
    wire.run(0.5)
    closed: list[bool] = []
    at: list[Any] = []

    def take(message: Any) -> None:
        closed.append(message.data)
        at.append(PANDA.forward_kinematics(wire.last["joint_states"].position)[:3, 3])

    wire.subscribe("gripper", KINDS.Bool, take)
    wire.subscribe("gripper", KINDS.Bool, wire.publisher("holding", KINDS.Bool).send)
    assert wire.call("start").success
    # nothing to see from the start: the arm stays, and the node gives up
    wire.call("cover", True)
    wire.run(0.3)
    assert picking.text == "search"
    wire.call("cover", False)
    for _ in range(100):
        wire.run(0.1)
        if not picking.running:
            break
    assert picking.text == "done"
    assert closed == [False, True]
    np.testing.assert_allclose(at[-1], PLACE, atol=0.02)
    assert controller.loop.mode is not Mode.fault


def test_the_reference_of_a_pick_stays_with_an_arm_that_is_held() -> None:
    wire = Wire()
    seen(wire)
    TASKS["picking"](wire, {"robot": "panda", "grasp": [0.0, 0.0, 0.0, np.pi, 0.0, 0.0]})
    q = np.clip(Q0, PANDA.limits.lower + 0.01, PANDA.limits.upper)
    q[3] = PANDA.limits.lower[3] + 0.01
    state = KINDS.JointState(name=list(PANDA.joint_names), position=q.tolist(), velocity=[0.0] * 7)
    wire.publisher("joint_states", KINDS.JointState).send(state)
    assert wire.call("start").success
    wire.run(2.0)
    points = np.array([p.positions for p in wire.last["trajectory"].points])
    assert np.abs(points[0] - q).max() < 0.11
    assert (points >= PANDA.limits.lower).all()
    assert (points <= PANDA.limits.upper).all()


@pytest.mark.parametrize("name", ["picking", "throwing", "interception"])
def test_stop_is_answered_at_all_times_and_brakes(name: str) -> None:
    wire = Wire()
    controller = arm(wire, POSE_LAW if name == "interception" else JOINT_LAW)
    options: dict[str, Any] = {"picking": {}, "throwing": TARGET, "interception": {"belt": BELT}}[name]
    node = TASKS[name](wire, {"robot": "panda", **options})
    assert wire.call("stop").success
    wire.run(0.2)
    assert wire.call("start").success
    wire.run(0.5)
    assert wire.call("stop").success
    assert said(node) == ("WARN", "stopped")
    wire.run(1.5)
    assert np.abs(wire.last["joint_states"].velocity).max() < 0.02
    assert controller.loop.mode is not Mode.fault
    assert wire.call("stop").success


def test_a_moving_object_is_met() -> None:
    wire = Wire()
    arm(wire, POSE_LAW)
    seen(wire, object_pose=[0.45, -0.35, 0.2, 0.0, 0.0, 0.0], velocity=[0.0, 0.2, 0.0])
    node = TASKS["interception"](wire, {"robot": "panda", "belt": BELT})
    wire.run(0.3)
    assert wire.call("start").success
    assert wire.call("move").success
    for _ in range(400):
        wire.run(0.01)
        if node.interceptor.phase.value == "closing":
            break
    p, o = (wire.last[topic] for topic in ("joint_states", "object_pose"))
    hand = PANDA.forward_kinematics(p.position)[:3, 3]
    age = 1e-9 * (wire.time - o.header.stamp)
    target = np.array([o.pose.pose.position.x, o.pose.pose.position.y + 0.2 * age, o.pose.pose.position.z + 0.2])
    np.testing.assert_allclose(hand, target, atol=0.02)
    assert wire.last["gripper"].data


def test_the_gripper_opens_at_the_release() -> None:
    wire = Wire()
    controller = arm(wire, JOINT_LAW)
    node = TASKS["throwing"](wire, {"robot": "panda", **TARGET})
    wire.run(0.2)
    opened: list[int] = []
    wire.subscribe("gripper", KINDS.Bool, lambda message: opened.append(wire.time) if not message.data else None)
    assert wire.call("start").success
    sent = wire.last["trajectory"]
    k = int(np.argmin(np.abs([sent.header.stamp + p.time_from_start - node._opens for p in sent.points])))
    np.testing.assert_allclose(sent.points[k].positions, node.motion.release.q, atol=0.1)
    while node.running and len(opened) < 2 and wire.time < node._ends + 10**9:
        wire.run(0.05)
    assert node.text == "done"
    assert len(opened) == 1
    assert abs(opened[0] - node._opens) <= 5 * MS
    assert controller.loop.mode is not Mode.fault


@pytest.mark.parametrize(
    ("name", "options", "word"),
    [
        ("camera", {"object_pose": [1, 2]}, "object_pose"),
        ("poses", {"siez": 0.1}, "size"),
        ("interception", {"robot": "panda", "belt": {"lowest": 1}}, "belt"),
        ("picking", {"robot": "panda", "settings": {"standof": 1}}, "settings"),
        ("throwing", {"robot": "panda", "target": [1, 0, 0], "options": 3}, "options"),
    ],
)
def test_a_wrong_configuration_is_refused(name: str, options: dict[str, Any], word: str) -> None:
    with pytest.raises(ValueError, match=word):
        TASKS[name](Wire(), options)


def test_programs_name_a_node(capsys: pytest.CaptureFixture[str]) -> None:
    assert chosen_task(["picking", "_config:=x.yaml"]) == ("picking", TASKS["picking"])
    with pytest.raises(SystemExit):
        chosen_task(["--help"])
    listing = capsys.readouterr().out
    assert all(name in listing for name in TASKS)
