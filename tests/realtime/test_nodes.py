"""The nodes on a middleware of lists and dictionaries: what goes where, without any ROS."""

import os
from collections import defaultdict
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import thunder_py as th
from thunder_py.realtime import Mode
from thunder_py.realtime.nodes import ControllerNode, ReferenceNode, RobotNode
from thunder_py.realtime.nodes.middleware import answer, configuration, merged, prioritized
from thunder_py.robot import Elastic

from .loops import JOINT_LAW, MS, NOON, POSE_LAW, Q0


class Header:
    def __init__(self) -> None:
        self.stamp, self.frame_id = 0, ""


def kind(**fields: Callable[[], Any]) -> type:
    """A class of messages: fields with defaults, by keyword."""

    def init(self: Any, **given: Any) -> None:
        assert set(given) <= set(fields)
        for name, default in fields.items():
            setattr(self, name, given[name] if name in given else default())

    return type("Message", (), {"__init__": init})


def vector() -> Any:
    return SimpleNamespace(x=0.0, y=0.0, z=0.0, w=1.0)


POINT = kind(positions=list, velocities=list, accelerations=list, effort=list, time_from_start=int)
KINDS = SimpleNamespace(
    JointState=kind(header=Header, name=list, position=list, velocity=list, effort=list),
    JointTrajectory=kind(header=Header, joint_names=list, points=list),
    JointTrajectoryPoint=POINT,
    JointTrajectoryControllerState=kind(header=Header, joint_names=list, desired=POINT, actual=POINT, error=POINT),
    FollowJointTrajectory=SimpleNamespace(
        Result=kind(error_code=int, error_string=str),
        Feedback=kind(header=Header, joint_names=list, desired=POINT, actual=POINT, error=POINT),
    ),
    Bool=kind(data=bool),
    CameraInfo=kind(header=Header, height=int, width=int, distortion_model=str, k=list, d=list),
    Image=kind(header=Header, height=int, width=int, encoding=str, step=int, data=bytes),
    PoseWithCovarianceStamped=kind(
        header=Header,
        pose=lambda: SimpleNamespace(
            pose=SimpleNamespace(position=vector(), orientation=vector()), covariance=[0.0] * 36
        ),
    ),
    PoseStamped=kind(header=Header, pose=lambda: SimpleNamespace(position=vector(), orientation=vector())),
    TwistStamped=kind(header=Header, twist=lambda: SimpleNamespace(linear=vector(), angular=vector())),
    Float64MultiArray=kind(layout=lambda: SimpleNamespace(dim=[]), data=list),
    MultiArrayDimension=kind(label=str, size=int, stride=int),
    DiagnosticArray=kind(header=Header, status=list),
    DiagnosticStatus=kind(level=int, name=str, message=str, values=list),
    KeyValue=kind(key=str, value=str),
)
for number, level in enumerate(("OK", "WARN", "ERROR", "STALE")):
    setattr(KINDS.DiagnosticStatus, level, number)


class Wire:
    """A middleware whose messages arrive at once, on a clock of its own."""

    kinds, name = KINDS, "/node"

    def __init__(self) -> None:
        self.time, self.deaf = NOON, set[str]()
        self.topics: dict[str, list[Callable[[Any], None]]] = defaultdict(list)
        self.sent: dict[str, int] = defaultdict(int)
        self.services: dict[str, Callable[[Any], None]] = {}
        self.actions: dict[str, Any] = {}
        self.shown: dict[str, Any] = {}
        self.periodic: list[tuple[int, Callable[[], None]]] = []
        self.parameters: dict[str, Any] = {}
        self.warnings: list[str] = []
        self.last: dict[str, Any] = {}

    def now(self) -> int:
        return self.time

    def to_time(self, nanoseconds: int) -> int:
        return nanoseconds

    def to_duration(self, nanoseconds: int) -> int:
        return nanoseconds

    def nanoseconds(self, time: int) -> int:
        return time

    def publisher(self, topic: str, kind: type) -> Any:
        def send(message: Any) -> None:
            assert isinstance(message, kind)
            self.sent[topic] += 1
            self.last[topic] = message
            for callback in list(self.topics[topic]):
                callback(message)

        return SimpleNamespace(send=send, wanted=topic not in self.deaf)

    def subscribe(self, topic: str, kind: type, callback: Callable[[Any], None], *, stream: bool = True) -> Any:
        self.topics[topic].append(callback)
        return topic, callback

    def unsubscribe(self, subscription: Any) -> None:
        self.topics[subscription[0]].remove(subscription[1])

    def service(self, name: str, kind: str, action: Callable[[Any], None]) -> None:
        self.services[name] = action

    def action(self, name: str, kind: Any, server: Any) -> None:
        self.actions[name] = server

    def gains(self, values: dict[str, Any], action: Callable[[dict[str, Any]], None]) -> None:
        self.shown = values

    def every(self, period: float, action: Callable[[], None]) -> None:
        self.periodic.append((round(1e9 * period), action))

    def parameter(self, name: str) -> Any:
        return self.parameters.get(name)

    def warn(self, text: str) -> None:
        self.warnings.append(text)

    def run(self, seconds: float) -> None:
        for _ in range(round(1e3 * seconds)):
            self.time += MS
            for period, action in self.periodic:
                if (self.time - NOON) % period < MS:
                    action()

    def call(self, service: str, data: bool = True) -> Any:
        return answer(SimpleNamespace(), self.services[service], SimpleNamespace(data=data))


def bench(law: dict[str, Any], reference: dict[str, Any] | None) -> tuple[Wire, ControllerNode]:
    wire = Wire()
    controller = ControllerNode(wire, {"robot": "panda", "controller": law})
    if reference is not None:
        ReferenceNode(wire, {"robot": "panda", "reference": reference})
    RobotNode(wire, {"robot": "panda", "q0": Q0.tolist()})
    return wire, controller


def test_three_nodes_close_the_loop_in_joint_space() -> None:
    wire, controller = bench(JOINT_LAW, {"kind": "sinusoid", "amplitude": 0.2, "frequency": 0.3})
    wire.run(3.0)
    assert controller.loop.mode is Mode.tracking
    assert not wire.warnings
    assert wire.sent["effort_commands"] > 2990
    assert np.abs(wire.last["tracking_error"].data).max() < 0.01
    assert wire.last["tracking_error"].layout.dim[0].size == 7
    assert len(wire.last["estimates"].data) == len(controller.loop.parameter_names)
    assert len(wire.last["timing"].data) == 4
    assert len(wire.topics["joint_states"]) == 1  # the reference heard enough


def test_three_nodes_close_the_loop_in_task_space() -> None:
    wire, controller = bench(POSE_LAW, {"kind": "lissajous", "amplitude": [0.05] * 3, "frequency": [0.2] * 3})
    wire.run(2.0)
    assert controller.loop.mode is Mode.tracking
    assert wire.sent["pose"] == wire.sent["twist"] > 390
    assert wire.last["pose"].header.frame_id == "world"


def test_nodes_close_the_loop_on_elastic_joints(tmp_path: Path) -> None:
    drives = [Elastic(joint=j, K=(80.0,), D=(0.5,), Mm=0.05) for j in (1, 2)]
    th.Robot.load("elbow").replace(elastic=drives, name="soft").save(tmp_path / "soft.yaml")
    common, wire = {"robot": str(tmp_path / "soft.yaml"), "torque_limits": 100.0}, Wire()
    controller = ControllerNode(wire, {**common, "controller": {"name": "MotorPD", "K_p": 60.0, "K_d": 8.0}})
    ReferenceNode(wire, {"robot": common["robot"], "reference": {"kind": "set_point", "q": [0.2, 0.1]}})
    RobotNode(wire, {**common, "q0": [0.2, 0.1]})
    wire.run(0.5)
    assert controller.loop.mode is Mode.tracking
    assert not wire.warnings
    state, command = wire.last["joint_states"], wire.last["effort_commands"]
    assert state.name == ["joint1", "joint2", "joint1_motor", "joint2_motor"]
    assert command.name == ["joint1", "joint2"]
    assert len(state.position) == len(state.velocity) == 4
    assert state.effort.tolist() == 2 * state.effort[:2].tolist()


def test_reports_say_what_each_node_does() -> None:
    wire, _ = bench(JOINT_LAW, None)
    reports = []
    wire.subscribe("/diagnostics", KINDS.DiagnosticArray, lambda message: reports.append(message.status[0]))
    wire.run(1.0)
    assert all(status.name == "/node" for status in reports)
    said = [(status.level, status.message) for status in reports]
    assert sorted(said) == 10 * [(0, "commanded")] + 10 * [(1, "holding: no reference yet")]
    values = {v.key: v.value for v in reports[-1].values}
    assert values["mode"] == "holding"
    assert float(values["commands per second"]) == pytest.approx(1000.0, rel=0.02)
    assert values["missed cycles"] == "0"


def test_diagnostics_are_stale_or_ask_for_a_reset() -> None:
    wire = Wire()
    controller = ControllerNode(wire, {"robot": "panda", "controller": JOINT_LAW, "invalid_states": 1})
    wire.run(0.1)
    assert wire.last["/diagnostics"].status[0].level == KINDS.DiagnosticStatus.STALE
    RobotNode(wire, {"robot": "panda", "q0": Q0.tolist()})
    wire.run(0.1)
    assert controller.loop.references.trajectory(0, controller.loop.joint_names, [0.0], [Q0]) is None
    wire.run(0.1)
    wire.topics["joint_states"][0](KINDS.JointState(name=["elbow"], position=[0.0]))
    wire.run(0.1)
    status = wire.last["/diagnostics"].status[0]
    assert status.level == KINDS.DiagnosticStatus.ERROR
    assert status.message == "fault: too many invalid states in a row; call reset"


class Handle:
    """A client's view of its goal."""

    def __init__(self) -> None:
        self.fed: list[Any] = []
        self.ended: list[tuple[str, Any]] = []

    def feedback(self, message: Any) -> None:
        self.fed.append(message)

    def finish(self, status: str, result: Any) -> None:
        self.ended.append((status, result))


def goal(names: tuple[str, ...], move: float, seconds: float) -> Any:
    point = POINT(positions=Q0 + move, time_from_start=round(1e9 * seconds))
    trajectory = KINDS.JointTrajectory(joint_names=list(names), points=[point])
    trajectory.header.stamp = 0
    none: list[Any] = []
    return SimpleNamespace(trajectory=trajectory, path_tolerance=none, goal_tolerance=none, goal_time_tolerance=0)


def test_the_action_follows_goals_and_feeds_back() -> None:
    wire, controller = bench(JOINT_LAW, None)
    wire.run(0.05)
    server, names = wire.actions["follow_joint_trajectory"], controller.loop.joint_names
    handles = [Handle() for _ in range(3)]
    for handle in handles:
        assert server.begin(goal(names, 0.05, 0.3)) is None
        server.attach(handle)
        wire.run(0.2)
    assert [(status, r.error_code) for status, r in handles[0].ended] == [("aborted", -1)]
    assert "another trajectory" in handles[0].ended[0][1].error_string
    assert 3 <= len(handles[0].fed) <= 4  # 20 Hz
    np.testing.assert_allclose(handles[0].fed[-1].desired.positions, Q0 + 0.05)
    wire.run(0.2)
    assert [(status, r.error_code) for status, r in handles[2].ended] == [("succeeded", 0)]
    assert server.begin(goal(names, 0.0, 0.3)) is None
    server.attach(handles[2])
    server.cancel()
    wire.run(0.1)
    assert handles[2].ended[-1][0] == "canceled"
    assert controller.loop.mode is Mode.holding
    assert server.begin(goal(names[:2], 0.0, 0.3)).error_code == -2
    assert "goal refused: joint_names must be" in wire.warnings[-1]


def test_the_controllers_state_is_published() -> None:
    wire, controller = bench(JOINT_LAW, {"kind": "sinusoid", "amplitude": 0.2, "frequency": 0.3})
    wire.run(0.5)
    state = wire.last["state"]
    assert wire.sent["state"] == 25
    assert state.joint_names == list(controller.loop.joint_names)
    difference = np.array(state.desired.positions) - state.actual.positions
    np.testing.assert_allclose(difference, state.error.positions, atol=1e-12)
    wire.time += 5 * MS
    wire.run(0.2)
    assert {v.key: v.value for v in wire.last["/diagnostics"].status[0].values}["missed cycles"] == "5"
    without = Wire()
    absent = dict.fromkeys(("FollowJointTrajectory", "JointTrajectoryControllerState"))
    without.kinds = SimpleNamespace(**{**vars(KINDS), **absent})
    ControllerNode(without, {"robot": "panda", "controller": JOINT_LAW})
    assert not without.actions
    assert not bench(POSE_LAW, None)[0].actions


def test_a_priority_that_is_wrong_or_not_permitted_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    assert prioritized({"robot": "panda"}) == {"robot": "panda"}
    with pytest.raises(ValueError, match="whole number from 1 to 99, got 100"):
        prioritized({"priority": 100})
    given = []
    monkeypatch.setattr("os.sched_setscheduler", lambda *arguments: given.append(arguments))
    assert prioritized({"priority": 5, "robot": "panda"}) == {"robot": "panda"}
    assert given
    assert all(policy == os.SCHED_FIFO and p.sched_priority == 5 for _, policy, p in given)

    def refuse(*_: Any) -> None:
        raise PermissionError

    monkeypatch.setattr("os.sched_setscheduler", refuse)
    with pytest.raises(ValueError, match="CAP_SYS_NICE"):
        prioritized({"priority": 5})


def test_numbers_go_to_those_who_listen() -> None:
    wire = Wire()
    wire.deaf = {"estimates", "tracking_error"}
    ControllerNode(wire, {"robot": "panda", "controller": JOINT_LAW, "publish_every": 10})
    RobotNode(wire, {"robot": "panda", "q0": Q0.tolist()})
    wire.run(1.0)
    assert wire.sent["estimates"] == wire.sent["tracking_error"] == 0
    assert wire.sent["timing"] == wire.sent["effort_commands"] // 10


def test_services_answer_and_refuse() -> None:
    wire, controller = bench(JOINT_LAW, None)
    assert set(wire.services) == {"reset", "set_gains", "adapt", "adapt/link7"}
    assert wire.call("adapt/link7", False).success
    assert controller.loop.adapting_links == {"link7": False}
    refused = wire.call("set_gains")
    assert not refused.success
    assert "gains of /node must be a mapping" in refused.message
    wire.parameters["gains"] = {"Lamda": 3.0}
    assert "did you mean 'Lambda'" in wire.call("set_gains").message
    wire.parameters["gains"] = {"Lambda": "3e0"}
    assert wire.call("set_gains").success
    assert controller.loop.gains["Lambda"] == wire.shown["Lambda"] == 3.0
    assert set(wire.shown) == {"Lambda", "K_d"}  # those that are numbers
    wire.run(0.1)
    assert wire.call("reset").success
    assert controller.loop.mode is Mode.starting


def test_a_reference_that_does_not_fit_is_told() -> None:
    wire, controller = bench(JOINT_LAW, None)
    wire.run(0.1)
    wire.topics["pose"][0](KINDS.PoseStamped())
    wire.topics["twist"][0](KINDS.TwistStamped())
    wire.topics["trajectory"][0](KINDS.JointTrajectory(joint_names=["elbow"]))
    assert [text.split(":")[0] for text in wire.warnings] == ["reference refused"] * 3
    assert controller.loop.references.counts["refused"] == 3


def test_the_reference_waits_for_a_state_that_fits() -> None:
    wire = Wire()
    node = ReferenceNode(wire, {"robot": "panda", "reference": {"kind": "set_point", "q": Q0.tolist()}})
    wire.run(0.1)
    assert wire.warnings[0] == "waiting for a joint state"
    wire.topics["joint_states"][0](KINDS.JointState(name=["elbow"], position=[0.0]))
    wire.run(0.2)
    assert not node.generator.running
    assert any("by name" in text for text in wire.warnings)
    wire.topics["joint_states"][0](KINDS.JointState(name=list(node.generator.joint_names), position=Q0))
    wire.run(0.2)
    assert node.generator.running
    assert wire.sent["trajectory"] > 0


def test_configurations_are_a_file_and_parameters_over_it(tmp_path: Any) -> None:
    file = tmp_path / "node.yaml"
    file.write_text("robot: panda\ncontroller: {name: PDGravity, K_p: 5, K_d: 1e-1}\n")
    given = configuration({"config": str(file), "controller": {"K_p": 7}, "gains": {"K_p": 1}})
    assert given == {"robot": "panda", "controller": {"name": "PDGravity", "K_p": 7, "K_d": 0.1}}
    assert merged({"a": {"b": 1}}, {"a": 2}) == {"a": 2}
    with pytest.raises(OSError, match="absent"):
        configuration({"config": str(tmp_path / "absent.yaml")})
