"""A bag of a run of the nodes is a log from which parameters are identified."""

from pathlib import Path

import numpy as np
import pytest

import thunder_py as th
from thunder_py.identification import identify
from thunder_py.realtime.nodes import ControllerNode, ReferenceNode, RobotNode

from .loops import JOINT_LAW, Q0
from .test_nodes import Wire

pytestmark = pytest.mark.release  # three seconds of all nodes, step by step

PAYLOAD = {"mass": 0.5, "com": [0.0, 0.0, 0.15]}


@pytest.fixture(scope="module")
def bag(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Joint states of three nodes in simulated time; the controller does not know the payload."""
    rosbags = pytest.importorskip("rosbags.rosbag2")
    typesys = pytest.importorskip("rosbags.typesys")
    store, name = typesys.get_typestore(typesys.Stores.LATEST), "sensor_msgs/msg/JointState"
    kinds, wire, path = store.types, Wire(), tmp_path_factory.mktemp("bag") / "run"
    ControllerNode(wire, {"robot": "panda", "controller": JOINT_LAW})
    reference = {"kind": "sinusoid", "amplitude": 0.3, "frequency": [0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0]}
    ReferenceNode(wire, {"robot": "panda", "reference": reference})
    RobotNode(wire, {"robot": "panda", "q0": Q0.tolist(), "payloads": [PAYLOAD]})
    with rosbags.Writer(path, version=9) as writer:
        connection = writer.add_connection("/joint_states", name, typestore=store)

        def write(message: object) -> None:
            stamp = message.header.stamp  # type: ignore[attr-defined]
            header = kinds["std_msgs/msg/Header"](kinds["builtin_interfaces/msg/Time"](*divmod(stamp, 10**9)), "")
            rows = [np.array(getattr(message, part)) for part in ("position", "velocity", "effort")]
            state = kinds[name](header, list(message.name), *rows)  # type: ignore[attr-defined]
            writer.write(connection, stamp, store.serialize_cdr(state, name))

        wire.subscribe("joint_states", Wire.kinds.JointState, write)
        wire.run(3.0)
    return path


def test_payload_and_parameters_are_identified(bag: Path) -> None:
    panda = th.Robot.load("panda")
    found = identify(panda, loaded=bag, consistent=True, cutoff=20.0, hold=1e-3)
    assert found.payload.mass == pytest.approx(PAYLOAD["mass"], rel=0.02)
    robot = identify(panda, bag, unknown="link7", cutoff=20.0, hold=1e-3).robot
    assert robot.parameters[60] == pytest.approx(th.Payload(**PAYLOAD).added_to(panda).parameters[60], rel=0.02)
