"""A loop and a simulated arm on a clock of their own: what a network does to messages is up to the test."""

from collections.abc import Callable
from typing import Any

import numpy as np

from thunder_py.realtime import Command, ControlLoop, JointState, Mode, ReferenceGenerator, SimulatedRobot

#: some time of day [ns]
NOON = 1_700_000_000_000_000_000
MS = 1_000_000
#: modes of a loop that is in no fault and follows nothing
HELD = (Mode.braking, Mode.holding)
FAULT = "the loop is in a fault: call reset first"
Q0 = np.array([0.0, -0.3, 0.0, -2.0, 0.0, 1.8, 0.7])
LINK_7 = {"gradient": {"Gamma": 5, "unknown": "link7"}}
JOINT_LAW = {"name": "SlotineLi", "Lambda": 10, "K_d": [20] * 4 + [2, 2, 1], "adaptation": LINK_7}
#: well damped where the Panda stands at Q0
HOLD = {"rate": 100.0}
POSE_LAW = {"name": "OperationalSpace", "K_0": 100, "K_1": 20, "K_d": 2}


def make_loop(law: dict[str, Any] | None = None, **options: Any) -> ControlLoop:
    return ControlLoop({"robot": "panda", "controller": law or JOINT_LAW, "hold": HOLD, **options})


def make_robot(**options: Any) -> SimulatedRobot:
    return SimulatedRobot({"robot": "panda", "q0": Q0.tolist(), **options})


class Bench:
    """Loop and arm with 0.2 ms on the way there and back; `lose` says which messages do not arrive."""

    def __init__(self, loop: ControlLoop, robot: SimulatedRobot | None = None) -> None:
        self.loop, self.robot, self.now = loop, robot or make_robot(), NOON
        self.generator: ReferenceGenerator | None = None
        self.commands: list[Command] = []
        self.states: list[JointState] = []

    def play(self, **reference: Any) -> None:
        self.generator = ReferenceGenerator({"robot": "panda", "reference": reference})
        assert self.generator.begin(self.now, self.robot.joint_names, self.states[-1].q) is None

    def run(
        self,
        seconds: float,
        *,
        states: bool = True,
        commands: bool = True,
        spoil: Callable[[JointState], JointState] = lambda state: state,
    ) -> None:
        for k in range(round(1000 * seconds)):
            state = self.robot.advance(self.now)
            self.states.append(state)
            if states:
                seen = spoil(state)
                command = self.loop.state(seen.stamp, self.now + MS // 5, self.loop.joint_names, seen.q, seen.dq)
            else:
                command = self.loop.watch(self.now + MS // 5) if k % 10 == 0 else None
            if command is not None:
                self.commands.append(command)
                if commands:
                    self.robot.command(command.stamp, self.now + 2 * MS // 5, self.loop.joint_names, command.tau)
            self.send_reference(k)
            self.now += MS

    def send_reference(self, k: int) -> None:
        generator, references = self.generator, self.loop.references
        refused = FAULT if self.loop.mode is Mode.fault else None
        if generator is None or k % max(1, round(1000 / generator.rate)):
            return
        if generator.task:
            sample = generator.pose(self.now)
            assert references.twist(sample.stamp, sample.linear, sample.angular) == refused
            assert references.pose(sample.stamp, sample.position, sample.quaternion) == refused
        else:
            s = generator.joints(self.now)
            assert references.trajectory(s.stamp, generator.joint_names, s.times, s.q, s.dq, s.ddq) == refused

    def errors(self, last: int) -> np.ndarray:
        """Largest error of each of the last commands, all of which followed a reference."""
        return np.array([np.abs(c.error).max() for c in self.commands[-last:]])


def tracking(seconds: float, robot: SimulatedRobot | None = None, **options: Any) -> Bench:
    """A bench that has followed a sinusoid for some seconds."""
    bench = Bench(make_loop(**options), robot)
    bench.run(0.1)
    bench.play(kind="sinusoid", amplitude=0.2, frequency=0.3)
    bench.run(seconds)
    return bench
