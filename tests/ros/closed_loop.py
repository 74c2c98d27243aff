"""A closed loop of processes, and what is left when one of them dies: the same checks for ROS 1 and ROS 2."""

import os
import signal
import time
import warnings
from array import array
from pathlib import Path

import numpy as np
import pytest

import thunder_py as th
from thunder_py.identification import LogFile, identify

from .network import PATIENCE, Listener, Network, StarvedWarning, wait_until

PANDA = th.Robot.load("panda")
#: with which the simulated arm starts and which its controller does not know, see the configuration
PAYLOAD = 0.5
Q0 = [0.0, -0.3, 0.0, -2.0, 0.0, 1.8, 0.7]
SECONDS = 20.0
#: of twenty seconds, where a fault of a machine that was too busy came between
ATTEMPTS = 3
#: of a log that identifies the payload [s]
LONGEST_GAP, ENOUGH = 0.03, 4.0


def column(messages: list, name: str) -> np.ndarray:  # type: ignore[type-arg]
    return np.array([getattr(m, name) for m in messages])


#: the drive holds the arm when states are late; without a real-time kernel they may stay away for longer than 0.25 s,
#: which is a fault until somebody resets it. The loop holds a little before the drive would (0.05 s), and goes on with
#: the reference where it would be without the hold.
PARAMETERS = {"controller": {"times/state_lost": "2.0", "times/state_late": "0.04"}}


def start(network: Network, listener: Listener, name: str, config: str) -> None:
    network.node(name, config, **PARAMETERS.get(name, {}))
    topic = {"robot": "joint_states", "controller": "effort_commands", "reference": None}[name]
    before = 0 if topic is None else listener.count(topic)
    if topic is not None:
        what = f"{name} publishes"
        wait_until(lambda: listener.count(topic) > before, what, PATIENCE, lambda: network.words(name))


def start_reference(network: Network, listener: Listener) -> None:
    """Start it about where the arm began: with others on the processors it sags under its payload meanwhile."""
    network.node("reference", "panda_sinusoid.yaml", **{"reference/center": str(Q0)})
    words = ("tracking", "fault: states are lost")
    wait_until(lambda: any(listener.says("/controller", w) for w in words), "tracking", PATIENCE, listener.told)
    reset_if_starved(network, listener)
    listener.wait_for("/controller", "tracking")


def reset_if_starved(network: Network, listener: Listener) -> bool:
    """Reset the fault that stays where no state came for two seconds, and say so; any other fault stays."""
    lost = listener.says("/controller", "fault: states are lost")
    if not (lost and network.runs("robot") and network.runs("controller")):
        return False
    warnings.warn(f"no state for 2 s on a busy machine: the fault is reset. {listener.told()}", StarvedWarning, 2)
    assert listener.call("/controller/reset").success
    listener.wait_for("/controller", "tracking" if network.runs("reference") else "hold")
    return True


def settled_at_rest(listener: Listener) -> bool:
    recent = column(listener.after("joint_states", time.time(), 100), "velocity")
    return float(np.abs(recent).max()) < 0.05


def safe_torque(state) -> np.ndarray:  # type: ignore[no-untyped-def]
    from thunder_py.realtime.hold import safe_torque

    hold = safe_torque(PANDA, 150.0, PANDA.limits.effort)
    return hold.step(0.0, np.array(state.position), np.array(state.velocity))


class ClosedLoop:
    @pytest.fixture(autouse=True)
    def _without_a_fault_of_the_test_before(self, network: Network, listener: Listener) -> None:
        reset_if_starved(network, listener)

    def test_the_robot_alone_holds_itself(self, network: Network, listener: Listener) -> None:
        start(network, listener, "robot", "panda_robot.yaml")
        states = listener.after("joint_states", time.time(), 100)
        np.testing.assert_allclose(states[0].effort, safe_torque(states[0]), atol=1e-9)
        listener.wait_for("/robot", "safe")

    def test_the_controller_holds_the_arm_until_there_is_a_reference(
        self, network: Network, listener: Listener
    ) -> None:
        # the drive's own torque does not know the payload: the arm would sag while a busy machine starts the controller
        network.kill("robot")
        network.node("controller", "panda_controller.yaml", **PARAMETERS["controller"])
        listener.wait_for("/controller", "no state yet")
        start(network, listener, "robot", "panda_robot.yaml")
        listener.wait_for("/controller", "holding: no reference yet")
        listener.wait_for("/robot", "commanded")

    def test_the_loop_is_closed_for_twenty_seconds(self, network: Network, listener: Listener) -> None:
        start_reference(network, listener)
        for _ in range(ATTEMPTS):
            time.sleep(3.0)  # the start is joined, the payload learned
            listener.clear()
            time.sleep(SECONDS)
            if not reset_if_starved(network, listener):
                break
        states, commands = listener.since("joint_states", 0), listener.since("effort_commands", 0)
        timing = np.array([m.data for m in listener.since("timing", 0)])
        errors = [m.data for m in listener.since("tracking_error", 0)]
        tracked = np.array([e for e in errors if len(e) == 7])

        # rate: most states 1 ms after the one before; while others have the processors none come, so the mean is less
        assert len(states) > 300 * SECONDS
        assert len(commands) > 150 * SECONDS
        # while others have the processors states are late, and the loop holds
        assert len(tracked) > 0.8 * len(errors), listener.told()
        # jitter and latency, of commands that answer a state: while states stay away, others say so without a period
        periods, latencies = timing[timing[:, 0] > 0.0, :2].T
        assert 0.5e-3 < np.median(periods) < 3e-3
        assert np.quantile(periods, 0.99) < 50e-3
        assert np.median(latencies) < 3e-3
        assert np.quantile(latencies, 0.99) < 50e-3
        # tracking, with a payload that the controller was not told of: 0.01 rad without a network between
        # while states are late the loop holds, and the arm lags behind the reference with which it then goes on; with
        # half of its periods or less it is slower than its gains are meant for
        worst, starved = np.abs(tracked).max(axis=1), len(commands) < 500 * SECONDS
        assert np.median(worst) < (0.06 if starved else 0.02)
        assert np.quantile(worst, 0.95) < (0.15 if starved else 0.06)
        moved = np.ptp(column(states, "position"), axis=0)
        assert (moved > 0.3).all()
        # every command answers a state: its stamp is one of the robot's periods
        assert not np.any((listener.stamps(commands) - listener.stamps(states)[0]) % 1_000_000)
        assert (np.abs(column(commands, "effort")) <= PANDA.limits.effort).all()
        # it learned; the law promises the error to vanish, not the estimate to be right
        mass = listener.since("estimates", -1)[0].data[60] - PANDA.parameters[60]
        assert mass > 0.3 * PAYLOAD
        # as controllers of ros_control publish it
        assert len(listener.since("state", 0)) > 10 * SECONDS
        assert list(listener.since("state", -1)[0].joint_names) == list(PANDA.joint_names)

    @pytest.mark.filterwarnings("ignore:.*interpolated to 1000 Hz")
    def test_a_bag_of_the_run_identifies_the_payload(self, listener: Listener, tmp_path: Path) -> None:
        # a busy machine leaves states out, and the simulated arm skips time that it is behind by
        t = 1e-9 * listener.stamps(listener.since("joint_states", 0))
        breaks = np.concatenate([[0], 1 + np.flatnonzero(np.diff(t) > LONGEST_GAP), [t.size]])
        k = int(np.argmax(np.diff(breaks)))
        bag = listener.record(tmp_path, slice(breaks[k], breaks[k + 1]))
        assert LogFile(bag).load(PANDA).t.size == breaks[k + 1] - breaks[k]
        if t[breaks[k + 1] - 1] - t[breaks[k]] > ENOUGH:
            found = identify(PANDA, loaded=bag, consistent=True, cutoff=8.0, resample=1000.0, hold=1e-3)
            assert abs(found.payload.mass - PAYLOAD) < 0.15

    def test_services_are_answered_and_bad_requests_change_nothing(self, listener: Listener) -> None:
        def adapt(on: bool) -> bool:
            return bool(listener.call("/controller/adapt/link7", on).success)

        def changes() -> bool:
            before = listener.since("estimates", -1)[0].data
            time.sleep(0.5)
            return bool(listener.since("estimates", -1)[0].data != before)

        assert adapt(False)
        # the listener is behind by what is on its way
        wait_until(lambda: not changes(), "the estimate stands still")
        assert not changes()
        assert adapt(True)
        wait_until(changes, "the estimate moves again")

        for gains, word in (({"Lamda": 5.0}, "Lambda"), ({"Lambda": 5.0, "K_d": -1.0}, "K_d"), ("much", "mapping")):
            listener.set_parameter("/controller", "gains", gains)
            answer = listener.call("/controller/set_gains")
            assert not answer.success
            assert word in answer.message
        listener.wait_for("/controller", "tracking")
        listener.set_parameter("/controller", "gains", {"Lambda": 8.0})
        assert listener.call("/controller/set_gains").success
        assert listener.gain("Lambda") == 8.0
        assert "K_d" in listener.refusal_of_gain("K_d", -1.0)
        assert not listener.refusal_of_gain("Lambda", 9.0)
        assert listener.gain("Lambda") == 9.0
        time.sleep(1.0)
        listener.wait_for("/controller", "tracking")

    def test_messages_with_nan_are_dropped(self, listener: Listener) -> None:
        from sensor_msgs.msg import JointState
        from trajectory_msgs.msg import JointTrajectory, JointTrajectoryPoint

        nan, names = array("d", [float("nan")] * 7), list(PANDA.joint_names)
        topics = {"joint_states": JointState, "effort_commands": JointState, "trajectory": JointTrajectory}
        everyone = states, commands, trajectories = [listener.sender(*topic) for topic in topics.items()]
        state = JointState(name=names, position=nan, velocity=nan)
        command = JointState(name=names, effort=nan)
        trajectory = JointTrajectory(joint_names=names, points=[JointTrajectoryPoint(positions=nan)])

        def dropped() -> bool:
            loop, robot = listener.reports["/controller"], listener.reports["/robot"]
            counts = (
                loop["states dropped: not_finite"],
                robot["commands refused: not_finite"],
                loop["references refused"],
            )
            return all(int(count) > 0 for count in counts)

        def send_and_look() -> bool:
            """Send some: on a busy machine they may arrive too late, or out of order, and count as that."""
            for _ in range(20):
                # a stamp between those of the robot: a later one than those that are on their way
                state.header.stamp = command.header.stamp = listener.stamp()
                states.send(state)
                commands.send(command)
                trajectories.send(trajectory)
                time.sleep(0.005)
            listener.after("joint_states", time.time(), 1)  # one of the robot: 50 broken ones in a row are a fault
            return dropped()

        wait_until(send_and_look, "NaN was counted", PATIENCE, listener.told)
        for sender in everyone:
            sender.close()
        efforts = column([m for m in listener.since("effort_commands", 0) if not np.isnan(m.effort).any()], "effort")
        assert (np.abs(efforts) <= PANDA.limits.effort).all()
        ours = [m for m in listener.since("joint_states", -500) if len(m.effort) == PANDA.n]
        assert len(ours) > 100
        assert np.isfinite(column(ours, "effort")).all()
        listener.wait_for("/controller", "tracking")

    def test_without_the_reference_the_controller_holds_the_arm(self, network: Network, listener: Listener) -> None:
        network.kill("reference")
        # because the reference ended, or, on a busy machine, because states came late after that
        listener.wait_for("/controller", "hold")
        wait_until(lambda: settled_at_rest(listener), "the arm comes to rest")
        before = listener.since("joint_states", -1)[0]
        after = listener.after("joint_states", time.time() + 1.0, 1)[-1]
        listener.wait_for("/robot", "commanded")
        np.testing.assert_allclose(after.position, before.position, atol=0.05)
        # safe: the nominal model's gravity, and a spring against the payload's
        torque = np.array(listener.after("effort_commands", time.time(), 1)[-1].effort)
        weight = PANDA.gravity_vector(after.position)
        assert np.abs(torque - weight).max() < 9.81 * PAYLOAD * 1.2

    def test_goals_of_the_action_succeed_fail_and_are_canceled(self, listener: Listener) -> None:
        wide, close = (dict.fromkeys(PANDA.joint_names, tolerance) for tolerance in (1.0, 0.05))
        goal = listener.goal(self.trajectory(listener, 0.1, 2), wide, close)
        assert goal.wait() == ("succeeded", 0, ""), listener.told()
        assert len(goal.feedback) >= 10
        assert max(np.abs(m.error.positions).max() for m in goal.feedback) < 0.3

        tight = {PANDA.joint_names[1]: 1e-6}
        status, code, text = listener.goal(self.trajectory(listener, -0.1, 2), tight, {}).wait()
        assert (status, code) == ("aborted", -4)
        assert f"position of {PANDA.joint_names[1]} deviates by" in text
        listener.wait_for("/controller", ": the goal")

        goal = listener.goal(self.trajectory(listener, 0.1, 5), wide, close)
        wait_until(lambda: goal.feedback, "the goal is followed")
        goal.cancel()
        assert goal.wait()[0] == "canceled"
        listener.wait_for("/controller", ": the goal")

        trajectory = self.trajectory(listener, 0.1, 2)
        trajectory.joint_names = ["elbow", *trajectory.joint_names[1:]]
        assert listener.goal(trajectory, {}, {}).wait()[0] == "rejected"

    @staticmethod
    def trajectory(listener: Listener, move: float, seconds: int):  # type: ignore[no-untyped-def]
        """From where the arm is, all joints by the same angle."""
        from trajectory_msgs.msg import JointTrajectory, JointTrajectoryPoint

        q = np.array(listener.since("joint_states", -1)[0].position)
        points = [JointTrajectoryPoint(positions=array("d", x), velocities=array("d", 0.0 * q)) for x in (q, q + move)]
        points[1].time_from_start = listener.duration(seconds)
        return JointTrajectory(joint_names=list(PANDA.joint_names), points=points)

    def test_without_the_controller_the_drive_has_its_own_torque(self, network: Network, listener: Listener) -> None:
        start_reference(network, listener)
        time.sleep(1.0)
        network.kill("controller")
        for state in listener.after("joint_states", time.time() + 0.5, 100):
            np.testing.assert_allclose(state.effort, safe_torque(state), atol=1e-9)
        listener.wait_for("/robot", "safe")
        start(network, listener, "controller", "panda_controller.yaml")
        listener.wait_for("/robot", "commanded")
        listener.wait_for("/controller", "tracking")

    def test_without_states_it_gives_gravity_and_then_nothing(self, network: Network, listener: Listener) -> None:
        wait_until(lambda: listener.count("effort_commands") > 100, "commands")
        network.kill("robot")
        listener.wait_for("/controller", "fault: states are lost")
        time.sleep(0.5)
        blind = listener.since("effort_commands", -1)[0]
        # the last state that the controller received is not the last one that was heard here
        states = [state.position for state in listener.since("joint_states", -500)]
        # nor is the gravity only that of the model: half a kilogram is being learned
        assert np.abs(PANDA.gravity_vector(states) - blind.effort).max(axis=-1).min() < 3.0
        count = listener.count("effort_commands")
        time.sleep(0.5)
        assert listener.count("effort_commands") == count
        # it holds the arm until somebody has looked at it
        start(network, listener, "robot", "panda_robot.yaml")
        listener.wait_for("/controller", "fault: states are lost; call reset")
        listener.wait_for("/robot", "commanded")
        assert listener.call("/controller/reset").success
        listener.wait_for("/controller", "tracking")

    def test_nodes_end_when_they_are_told_to(self, network: Network) -> None:
        nodes = [name for name in network.processes if name != "roscore"]
        assert sorted(nodes) == ["controller", "reference", "robot"]
        for name in nodes:
            os.kill(network.processes[name].pid, signal.SIGTERM)
        for name in nodes:
            assert network.processes[name].wait(20) == 0, network.words(name)

    def test_a_wrong_configuration_ends_the_node(self, network: Network) -> None:
        network.node("controller", "panda_controller.yaml", robot="pandda")
        assert network.processes["controller"].wait(PATIENCE) == 2
        assert "did you mean 'panda'" in network.words("controller")
