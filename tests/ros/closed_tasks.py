"""Tasks of the arm as processes, with the simulated camera and arm: the same checks for ROS 1 and ROS 2."""

import os
import signal

import pytest

from .network import PATIENCE, Listener, Network, wait_until

#: tries of an interception: on a busy machine pictures are late, and it aborts as it is to
ATTEMPTS = 3
#: states at a rate that leaves the processors to the pictures, and gains for the latency that a busy machine has then
ROBOT = {"period": "0.002"}
CONTROLLER = {
    "times/period": "0.002",
    "times/state_late": "0.04",
    "times/state_lost": "5.0",
    "controller/K_d": "[2.0, 25.0, 2.75, 7.0, 0.6, 0.45, 0.12]",
}


def started(network: Network, listener: Listener, **configs: str) -> None:
    for name, config in configs.items():
        given = dict({"robot": ROBOT, "controller": CONTROLLER}.get(name, {}))
        if "pose_controller" in config:
            del given["controller/K_d"]  # of the law in joint space
        network.node(name, config, **given)
    for name in configs:
        reported = lambda node=f"/{name}": node in listener.reports  # noqa: E731
        wait_until(reported, f"{name} reports", PATIENCE, lambda name=name: network.words(name))


def begin(listener: Listener, name: str) -> None:
    """Start a task, once its node has got a joint state."""
    wait_until(lambda: listener.call(f"/{name}/start").success, f"{name} starts", PATIENCE, listener.told)


class ClosedTasks:
    @pytest.fixture(scope="class", autouse=True)
    def _nodes(self, network: Network, listener: Listener) -> None:
        """End what other tests have left, and start camera, poses and arm."""
        pytest.importorskip("cv2")
        for name in [name for name in network.processes if name != "roscore"]:
            os.killpg(network.processes[name].pid, signal.SIGTERM) if network.runs(name) else None
            network.processes.pop(name).wait(PATIENCE)
        listener.reports.clear()
        network.node("camera", "panda_camera.yaml")
        started(network, listener, poses="panda_poses.yaml")

    def test_missing_pictures_are_told(self, listener: Listener) -> None:
        listener.wait_for("/poses", "seen")
        assert listener.call("/camera/cover", True).success
        listener.wait_for("/poses", "the source sends nothing")
        assert listener.call("/camera/cover", False).success
        listener.wait_for("/poses", "seen")

    def test_a_seen_object_is_picked(self, network: Network, listener: Listener) -> None:
        started(network, listener, robot="panda_robot.yaml", controller="panda_controller.yaml")
        started(network, listener, picking="panda_picking.yaml")
        begin(listener, "picking")
        listener.wait_for("/picking", "done")
        assert listener.call("/picking/stop").success
        network.kill("picking")

    def test_a_throw_is_made_and_the_next_one_is_stopped(self, network: Network, listener: Listener) -> None:
        started(network, listener, throwing="panda_throwing.yaml")
        begin(listener, "throwing")
        listener.wait_for("/throwing", "done")
        begin(listener, "throwing")
        assert listener.call("/throwing/stop").success
        listener.wait_for("/throwing", "stopped")

    def test_a_moving_object_is_intercepted(self, network: Network, listener: Listener) -> None:
        for name in {"camera", "controller", "robot", "picking", "throwing"} & set(network.processes):
            network.kill(name)
        listener.reports.clear()
        network.node("camera", "panda_belt.yaml")
        started(network, listener, robot="panda_robot.yaml", controller="panda_pose_controller.yaml")
        started(network, listener, interception="panda_interception.yaml")
        listener.wait_for("/poses", "seen")
        ends = ("finished", "missed", "aborted", "too late")
        for _ in range(ATTEMPTS):
            begin(listener, "interception")
            assert listener.call("/camera/move").success
            wait_until(
                lambda: any(listener.says("/interception", end) for end in ends), "an end", PATIENCE, listener.told
            )
            if listener.says("/interception", "finished"):
                break
            assert listener.call("/interception/stop").success
            listener.wait_for("/interception", "stopped")
        assert listener.says("/interception", "finished"), listener.told()
        assert listener.call("/interception/stop").success
        listener.wait_for("/interception", "stopped")
