"""Random goals, cancels, faults, lost references and limits: within limits always, at rest soon after each fault.

The seeds are the numbers of the cases. Short runs are part of every test run; with `-m release` they are 60 simulated
minutes.
"""

import itertools
from typing import NamedTuple

import numpy as np
import pytest

import thunder_py as th
from thunder_py.realtime import ControlLoop, Mode, Reason, SimulatedRobot
from thunder_py.spatial.single import quaternion_of

from .loops import MS, NOON

ARMS = {
    "panda": [0.0, -0.3, 0.0, -2.0, 0.0, 1.8, 0.7],
    "ur5e": [0.1, -1.2, 1.8, -0.6, 1.5, 0.1],
    "gen3": [0.1, 0.4, 0.1, 1.6, 0.1, 0.9, 0.1],
    "iiwa14": [0.1, 0.5, 0.1, -1.4, 0.1, 0.9, 0.1],
    "human_arm": [0.3, 0.3, 0.2, 1.0, 0.1, 0.1, 0.05],
}
PERIODS = (1, 4, 20)  # ms
LAWS = {
    "joints": {"name": "ComputedTorque", "K_0": 25, "K_1": 10},
    "poses": {"name": "OperationalSpace", "K_0": 25, "K_1": 10, "K_d": 2},
}
#: what a user or a network does, and how often
DEEDS = {"goal": 0.4, "cancel": 0.1, "moving end": 0.15, "deaf": 0.1, "broken": 0.05, "pause": 0.1, "limit": 0.1}
#: time from a fault, or from the return of states after it, to the rest of the arm [s]
LONGEST_STOP = 2.0


class Extremes(NamedTuple):
    beyond: float  # largest distance beyond a position limit [rad or m]
    speed: float  # largest part of the velocity limits
    stop: float  # longest time from a fault to rest [s]
    reasons: set[str]


class User:
    """Somebody who does at random times what users and networks do."""

    def __init__(self, arm: str, period: int, law: str, seed: int) -> None:
        self.robot, self.rng, self.period, self.law = th.Robot.load(arm), np.random.default_rng(seed), period, law
        times = {"period": 1e-3 * period}
        self.loop = ControlLoop({"robot": arm, "controller": LAWS[law], "times": times, "invalid_states": 5})
        watchdog = 2.5 * self.loop.options.state_late
        self.plant = SimulatedRobot({"robot": arm, "q0": ARMS[arm], "watchdog": watchdog})
        self.names, self.now = self.robot.joint_names, NOON
        self.q = np.array(ARMS[arm])
        #: times until which states are lost, broken, and nothing is sent [ns]
        self.deaf = self.broken = self.pausing = 0
        limits = self.robot.limits
        self.low, self.high = np.maximum(limits.lower, -3.0), np.minimum(limits.upper, 3.0)
        self.goal = self.robot.forward_kinematics(self.q)

    def act(self) -> None:
        """Do one thing."""
        what = self.rng.choice(list(DEEDS), p=list(DEEDS.values()))
        if what == "cancel":
            self.loop.references.cancel()
        elif what == "deaf":
            self.deaf = self.now + int(self.rng.uniform(0.01, 0.4) * 1e9)
        elif what == "broken":
            self.broken = self.now + int(10 * self.period * MS)
        elif what == "pause":
            self.pausing = self.now + int(self.rng.uniform(0.1, 0.6) * 1e9)
        elif self.law == "poses":
            self.goal = self.robot.forward_kinematics(self.rng.uniform(self.low, self.high))
            self.goal[:3, 3] *= self.rng.uniform(0.8, 1.5)  # partly out of reach
        else:
            self.send(what)

    def send(self, what: str) -> None:
        goal = self.rng.uniform(self.low, self.high)
        if what == "limit":
            goal = np.where(self.rng.random(goal.size) < 0.5, self.low, self.high)
        speed = self.rng.uniform(0.2, 1.0) * np.where(np.isfinite(v := self.robot.limits.velocity), v, 2.0)
        time = float(np.max(2.0 * np.abs(goal - self.q) / speed)) + 0.2
        points = [self.q, goal]
        rates = [np.zeros_like(goal), (goal - self.q) / time] if what == "moving end" else [np.zeros_like(goal)] * 2
        self.loop.references.trajectory(0, self.names, [0.0, time], points, rates)

    def stream(self) -> None:
        if self.law == "poses" and self.now >= self.pausing:
            turn = quaternion_of(self.goal[:3, :3])
            self.loop.references.pose(0, self.goal[:3, 3], turn)

    def run(self, seconds: float) -> Extremes:
        """Use the loop for some simulated seconds."""
        limits, beyond, speed, stop, reasons = self.robot.limits, 0.0, 0.0, 0.0, set()
        fault_since: int | None = None
        act_at, reset_at = self.now + 100 * MS, 0
        for k in range(round(1000 * seconds)):
            state = self.plant.advance(self.now)
            self.q = state.q
            beyond = max(beyond, float(np.max(limits.lower - state.q)), float(np.max(state.q - limits.upper)))
            speed = max(speed, float(np.max(np.abs(state.dq) / limits.velocity)))
            if self.now >= self.deaf and k % self.period == 0:
                q = np.full_like(state.q, np.nan) if self.now < self.broken else state.q
                command = self.loop.state(state.stamp, self.now, self.names, q, state.dq)
            else:
                command = self.loop.watch(self.now) if k % 5 == 0 else None
            if command is not None:
                self.plant.command(command.stamp, self.now, self.names, command.tau)
            if k % max(self.period, 5) == 0:
                self.stream()
            if self.loop.mode is Mode.fault:
                reasons.add(self.loop.reason.name)
                if fault_since is None:
                    fault_since, reset_at = self.now, self.now + 2500 * MS
                if np.abs(state.dq).max() > 0.05 and self.now >= max(self.deaf, self.broken):
                    stop = max(stop, 1e-9 * (self.now - max(fault_since, self.deaf, self.broken)))
                if self.now >= reset_at:
                    self.loop.reset()
                    self.goal = self.robot.forward_kinematics(state.q)
                    fault_since = None
            elif self.now >= act_at:
                self.act()
                act_at = self.now + int(self.rng.exponential(0.7) * 1e9)
            self.now += MS
        return Extremes(beyond, speed, stop, reasons)


CASES = list(itertools.product(ARMS, PERIODS, LAWS))


def check(case: tuple[str, int, str], seconds: float) -> None:
    found = User(*case, seed=CASES.index(case)).run(seconds)
    assert found.beyond <= 0.0
    assert found.speed <= 2.0
    assert found.stop <= LONGEST_STOP
    assert found.reasons <= {Reason.states_lost.name, Reason.invalid_states.name, Reason.repeated_holds.name}


@pytest.mark.parametrize("case", [case for case in CASES if case[1] > 1], ids=str)
def test_some_seconds_of_random_use(case: tuple[str, int, str]) -> None:
    check(case, 4.0)


@pytest.mark.release
@pytest.mark.parametrize("case", CASES, ids=str)
def test_an_hour_of_random_use(case: tuple[str, int, str]) -> None:
    check(case, 3600.0 / len(CASES))
