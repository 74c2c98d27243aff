"""One arm, driven by messages, by a thread, and in test time: rigid, elastic and of MuJoCo."""

from typing import Any

import numpy as np
import pytest

import thunder_py as th
from tests.refusals import assert_refused
from thunder_py.model.elastic import Elastic
from thunder_py.model.joint_data import Friction
from thunder_py.mujoco import MujocoPlant
from thunder_py.realtime import DriveError, DriveFault, DriveLoop, JointState, RealtimeLoop, SimulatedRobot

from .loops import MS, NOON

ELBOW, START = th.Robot.load("elbow"), np.array([0.4, 0.6])
SINE = th.reference.Sinusoid([0.2, 0.2], 0.5, center=START)
#: wrists that an explicit step of 1 ms could not follow
STIFF = ELBOW.replace(friction=Friction(terms=("viscous", "coulomb"), coefficients=[[20.0, 1.0]] * 2, delta=1e-4))
SOFT = ELBOW.replace(elastic=[Elastic(joint=j, K=(3000.0,), D=(5.0,), Mm=0.1) for j in (1, 2)])
PLANTS: dict[str, Any] = {
    "rigid": lambda: ELBOW,
    "stiff friction": lambda: STIFF,
    "elastic": lambda: SOFT,
    "MuJoCo": lambda: MujocoPlant(ELBOW),
}


def law() -> th.SlotineLi:
    return th.SlotineLi(ELBOW, 10.0, 20.0, adaptation=None)


def by_messages(arm: SimulatedRobot, control: th.SlotineLi, count: int) -> list[JointState]:
    states = []
    for k in range(count):
        states.append(arm.advance(NOON + k * MS))
        tau = control.step(1e-3 * k, states[-1].q, states[-1].dq, SINE(1e-3 * k))
        assert arm.command(states[-1].stamp, NOON + k * MS, arm.joint_names, tau) is None
    return states


@pytest.mark.parametrize("plant", PLANTS)
def test_the_arm_moves_as_in_simulate_whoever_drives_it(plant: str) -> None:
    made = PLANTS[plant]
    run = th.simulate(made(), law(), SINE, 0.3, 1e-3, q0=START)
    free = {"compensates_gravity": False, "real_time": False}
    moved = np.array([state.q for state in by_messages(SimulatedRobot(made(), START, **free), law(), 301)])
    np.testing.assert_allclose(moved, run.q, atol=1e-9)
    ends = []
    for kind in (DriveLoop, RealtimeLoop):
        arm = SimulatedRobot(made(), START, known=ELBOW, real_time=False)
        if kind is DriveLoop:
            assert DriveLoop(arm, ELBOW, law(), SINE).run(0.3).ok
        else:
            loop = RealtimeLoop(arm, ELBOW, law(), SINE, duration=0.3)
            with loop:
                assert loop.join(60.0)
            assert loop.reason is th.realtime.Reason.finished
        assert not arm.running
        assert not arm.failed
        ends.append(arm.q)
    np.testing.assert_allclose(ends[0], ends[1], atol=0.02)  # the thread joins its reference
    assert np.abs(ends[0] - START).max() > 0.1


@pytest.mark.parametrize("adds", [None, False, True])
def test_a_drive_of_plain_data_adds_gravity_where_it_is_told_to(adds: bool | None) -> None:
    arm = SimulatedRobot({"robot": "elbow", "q0": START.tolist()}, compensates_gravity=adds)
    arm.advance(NOON)
    arm.command(NOON, NOON, arm.joint_names, np.zeros(2))
    expected = ELBOW.gravity_vector(START) if adds else np.zeros(2)
    np.testing.assert_allclose(arm.advance(NOON).tau, expected)


def test_mujoco_integrates_by_itself_and_in_real_time() -> None:
    arm = SimulatedRobot(MujocoPlant(ELBOW), START, integrator="plant", compensates_gravity=False)
    run = th.simulate(MujocoPlant(ELBOW), law(), SINE, 0.1, 1e-3, q0=START, integrator="plant")
    moved = np.array([state.q for state in by_messages(arm, law(), 101)])
    np.testing.assert_allclose(moved, run.q, atol=1e-9)
    loose = th.realtime.DriveFacts(ELBOW.joint_names, 5e-3, 5e-3, 100.0, 1e4, 1.0)
    loop = RealtimeLoop(SimulatedRobot(MujocoPlant(ELBOW), START, loose), ELBOW, law(), duration=0.05)
    with loop:
        assert loop.join(60.0)


def test_a_plant_that_raises_fails_the_arm(monkeypatch: pytest.MonkeyPatch) -> None:
    told = []
    monkeypatch.setattr("sys.unraisablehook", told.append)

    class Broken:
        n, robot = 2, ELBOW

        def forward_dynamics(self, q: np.ndarray, dq: np.ndarray, tau: np.ndarray) -> np.ndarray:
            raise ValueError("no bearing")

    arm = SimulatedRobot(Broken(), START)
    arm.advance(NOON)
    state = arm.advance(NOON + 10 * MS)
    assert arm.failed
    assert arm.report()["torque"] == "failed: the plant ran away"
    np.testing.assert_array_equal(state.q, START)
    assert [str(one.exc_value) for one in told] == ["no bearing"]


def test_the_drive_checks_commands_between_start_and_stop() -> None:
    arm = SimulatedRobot(ELBOW, START, real_time=False)
    for call in (arm.read, lambda: arm.write(np.zeros(2))):
        with pytest.raises(DriveError, match=r"^torque control has not been started$"):
            call()
    arm.start()
    first = arm.read()
    arm.inject(DriveFault.silence)
    assert arm.read() == first
    arm.inject(DriveFault.none)
    assert arm.read().stamp == first.stamp + 2 * MS
    arm.write(np.array([1.0, 0.0]))
    with pytest.raises(DriveError, match="refused a command"):
        arm.write(np.array([2.1, 0.0]))
    with pytest.raises(DriveError, match="reports a fault"):
        arm.read()
    arm.stop()
    with pytest.raises(DriveError, match="has reported a fault before"):
        arm.start()
    late = SimulatedRobot(ELBOW, START, real_time=False)
    late.start()
    for _ in range(20):
        late.read()
    with pytest.raises(DriveError, match="reports a fault"):
        late.read()
    assert late.safe


def test_arms_that_make_no_sense_are_refused() -> None:
    class Nameless:
        n = 2

        def forward_dynamics(self, q: np.ndarray, dq: np.ndarray, tau: np.ndarray) -> np.ndarray:
            return tau

    other = th.realtime.DriveFacts(("a", "b"), 1e-3, 1e-3, 1.0, 1.0)
    assert_refused(
        ({"plant": Nameless()}, "known must be a Robot..."),
        ({"plant": ELBOW, "known": th.Robot.load("panda")}, "known must have the 2 joints of the plant, got 7"),
        ({"plant": ELBOW, "facts": other}, "facts must list the joints joint1, joint2"),
        ({"plant": ELBOW, "dq0": [1.0]}, "dq0 must..."),
        (
            {"plant": Nameless(), "known": ELBOW, "payloads": th.Payload(1.0)},
            "payloads need a plant that is a Robot...",
        ),
        ({"plant": ELBOW, "integrator": "euler"}, "integrator must be..."),
        call=SimulatedRobot,
    )
