"""The brake holds what an adaptive controller has learned: an arm with an unknown payload does not sink."""

import numpy as np
import pytest

import thunder_py as th
from thunder_py.realtime import (
    DriveFacts,
    DriveLoop,
    RealtimeLoop,
    Reason,
    SafetyLimits,
    SimulatedRobot,
)
from thunder_py.realtime.safety import brake

PANDA = th.Robot.load("panda")
Q = np.array([0.0, -0.3, 0.0, -2.0, 0.0, 1.8, 0.7])
TRUE = th.Payload(1.5, com=[0.0, 0.0, 0.1])
GAINS = [20.0] * 4 + [2.0, 2.0, 1.0]
STILL = th.reference.SetPoint(Q)
LENGTH = 0.3


def facts(told: th.Payload | None) -> DriveFacts:
    return DriveFacts(PANDA.joint_names, 1e-3, 1e-3, PANDA.limits.effort, 1e6, 0.02, payload=told)


def law(learns: bool = True) -> th.SlotineLi:
    adaptation = th.control.GradientAdaptation(20.0, unknown="link7") if learns else None
    return th.SlotineLi(PANDA, 10.0, GAINS, adaptation=adaptation)


def first_of_the_brake(kind: str, control: th.SlotineLi, told: th.Payload | None) -> tuple[np.ndarray, ...]:
    """Return position, velocity and torque of the first state of the stop."""
    drive = SimulatedRobot(PANDA, Q, facts(told), payloads=TRUE, compensates_gravity=False, real_time=False)
    if kind == "DriveLoop":
        cycles = list[th.realtime.Cycle]()
        limits = SafetyLimits.of(PANDA)
        done = DriveLoop(drive, PANDA, control, STILL, limits=limits, on_cycle=cycles.append).run(LENGTH)
        assert done.reason is Reason.finished
        first = next(c for c in cycles if c.stop is not None)
        return first.q, first.dq, first.tau
    loop = RealtimeLoop(drive, PANDA, control, STILL, duration=LENGTH)
    with loop:
        assert loop.join(60.0)
    assert loop.reason is Reason.finished
    log = loop.log()
    k = next(k for k, stop in enumerate(log.stop) if stop is not None)
    return log.q[k], log.dq[k], log.tau[k]


@pytest.mark.parametrize("mass", [0.0, 0.2, 5.0, None])
@pytest.mark.parametrize("kind", ["DriveLoop", "RealtimeLoop"])
def test_the_brake_has_the_learned_load_once(kind: str, mass: float | None) -> None:
    """Beyond that of a payload that the drive was told; a controller that does not learn adds nothing."""
    told = th.Payload(mass, com=[0.0, 0.0, 0.1]) if mass else None
    control = law(learns=mass is not None)
    q, dq, tau = first_of_the_brake(kind, control, told)
    held = PANDA if told is None else told.added_to(PANDA)
    limits = SafetyLimits.of(PANDA)
    alone = brake(held, limits, np.full(7, np.inf), 1e-3).step(0.0, q, dq)
    G = PANDA.gravity_vector(q)
    learned = PANDA.with_parameters(control.parameters).gravity_vector(q) - G
    known = held.gravity_vector(q) - G
    assert (np.abs(learned).max() > 1.0) == (mass is not None)
    beyond = np.sign(learned) * np.maximum(np.abs(learned) - np.abs(known), 0.0)
    beyond = np.where(learned * known < 0.0, learned, beyond)
    assert (np.abs(beyond).max() > 0.5) == (mass in {0.0, 0.2})
    np.testing.assert_allclose(tau - alone, beyond, atol=1e-6)
