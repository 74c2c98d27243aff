"""States that are late again and again: where the reference goes on, and how far it is from the wanted motion."""

from collections.abc import Callable

import numpy as np
import pytest

import thunder_py as th
from thunder_py.realtime import Mode, Reason, ReferenceGenerator

from .loops import MS, NOON, Q0, Bench, make_loop, make_robot

NAMES = th.Robot.load("panda").joint_names
SPEED = 0.5
#: farthest that the reference begins from the arm: 0.05 s of the joining speed, and that speed
LEASH = 0.05 * SPEED
AWAY, SECONDS = 0.1, 1.5
FADED = 1.875 * AWAY / SPEED


class Interrupted:
    """A loop at 1 kHz, a stream of segments, and an arm that is pulled to its reference; each row is a state."""

    def __init__(self, pause: Callable[[], int], brake: float) -> None:
        self.loop = make_loop(joining_speed=SPEED)
        source = {"kind": "sinusoid", "amplitude": 0.2, "frequency": 0.3}
        self.generator = ReferenceGenerator({"robot": "panda", "reference": source})
        assert self.generator.begin(NOON, NAMES, Q0) is None
        self.q, self.dq = Q0 + AWAY, np.zeros(7)
        t, found, wanted, arm = [], [], [], []
        k, late = 0, 0
        while k < 1000 * SECONDS:
            for j in range(50):
                self.advance(k, brake, late > 0)
                if k % 50 == 0:
                    self.stream(k)
                reference = self.loop.reference
                if j == 0 and k > 0:
                    assert (self.loop.mode, self.loop.reason) == (Mode.tracking, Reason.following)
                if reference is not None:
                    sample = self.generator.joints(NOON + k * MS)
                    t.append(1e-3 * k)
                    found.append([reference.q, reference.dq])
                    wanted.append([sample.q[0], sample.dq[0]])
                    arm.append([self.q, self.dq])
                k, late = k + 1, 0
            late = pause()
            for _ in range(late):
                self.q, self.dq = self.q + 1e-3 * self.dq, self.dq * np.exp(-1e-3 / brake)
                if k % 50 == 0:
                    self.stream(k)
                if k % 10 == 0:
                    self.loop.watch(NOON + k * MS)
                k += 1
        self.t, self.found, self.wanted, self.arm = map(np.array, (t, found, wanted, arm))

    def advance(self, k: int, brake: float, after_a_pause: bool) -> None:
        reference = self.loop.reference
        if reference is not None and not after_a_pause:
            pull = 1.0 - np.exp(-1e-3 / 0.02)
            self.dq = self.dq + pull * (reference.dq + 20.0 * (reference.q - self.q) - self.dq)
            self.q = self.q + 1e-3 * self.dq
        assert self.loop.state(NOON + k * MS, NOON + k * MS, NAMES, self.q, self.dq) is not None

    def stream(self, k: int) -> None:
        s = self.generator.joints(NOON + k * MS)
        assert self.loop.references.trajectory(s.stamp, NAMES, s.times, s.q, s.dq, s.ddq) is None


def pauses(least: int, most: int) -> Callable[[], int]:
    rng = np.random.default_rng(0)
    return lambda: int(rng.integers(least, most + 1))


def test_what_fades_has_faded_in_spite_of_late_states() -> None:
    """The arm coasts, as with gravity compensated: the reference is as if every state had come."""
    straight, late = Interrupted(lambda: 0, 0.1), Interrupted(pauses(0, 60), 0.1)
    same = np.isin(straight.t, late.t)
    inside = np.isin(late.t, straight.t)
    assert (np.diff(late.t) > 0.021).sum() > 5
    np.testing.assert_allclose(late.found[inside], straight.found[same], atol=1e-6)
    after = late.t > FADED + 0.05
    np.testing.assert_allclose(late.found[after], late.wanted[after], atol=1e-5)


@pytest.mark.parametrize("brake", [0.02, 0.001])
def test_an_arm_that_stops_is_led_back_without_jumps(brake: float) -> None:
    run = Interrupted(pauses(20, 80), brake)
    after = run.t > FADED + 0.05
    first = np.flatnonzero(np.diff(run.t) > 0.021) + 1
    assert first.size > 8
    # near the arm, in position and velocity, where it begins again
    apart = np.abs(run.found - run.arm)[first].max(axis=(0, 2))
    assert apart[0] < LEASH + 1e-9
    assert apart[1] < SPEED + 1e-9
    # bounded, and without jumps between states
    difference = run.found - run.wanted
    assert np.abs(difference[after, 0]).max() < 0.03
    assert np.abs(difference[after, 1]).max() < SPEED
    moved = np.abs(np.diff(difference, axis=0))[np.diff(run.t) < 1.5e-3].max(axis=(0, 2))
    assert moved[0] < 1.1e-3 * SPEED
    assert moved[1] < 1e-3 * 15.0 * SPEED / 0.25


def test_a_trajectory_begins_at_the_arm_after_one_that_ended() -> None:
    loop, still = make_loop(joining_speed=SPEED), np.zeros(7)
    moving = [np.zeros(7), np.full(7, 0.05)]
    for k in range(50):
        if k == 1:  # away from the arm, which does not move
            assert loop.references.trajectory(NOON, NAMES, [0.0, 0.1], [Q0, Q0 + 0.01], moving) is None
        loop.state(NOON + k * MS, NOON + k * MS, NAMES, Q0, still)
    assert loop.mode is Mode.tracking
    now = NOON + 150 * MS
    loop.watch(now - 1)
    assert loop.references.trajectory(now, NAMES, [0.0, 2.0], [Q0 + 0.01, Q0]) is None
    loop.state(now, now, NAMES, Q0, still)
    assert loop.mode is Mode.tracking
    np.testing.assert_allclose(loop.reference.q, Q0, atol=1e-9)
    np.testing.assert_allclose(loop.reference.dq, 0.0, atol=1e-9)


def learned_payload(**options: float) -> tuple[Bench, np.ndarray, np.ndarray]:
    """Return a loop that has moved an unknown payload, the last position, and the gravity there with its estimate."""
    bench = Bench(make_loop(**options), make_robot(payloads=[{"mass": 1.5, "com": [0.0, 0.0, 0.1]}]))
    bench.run(0.05)
    bench.play(kind="sinusoid", amplitude=0.2, frequency=0.5)
    bench.run(1.5)
    q, robot = bench.states[-1].q, th.Robot.load("panda")
    gravity = robot.with_parameters(bench.commands[-1].parameters).gravity_vector(q)
    assert bench.loop.mode is Mode.tracking
    assert np.abs(gravity - robot.gravity_vector(q)).max() > 3.0
    return bench, q, gravity


@pytest.mark.parametrize("reason", [Reason.states_lost, Reason.invalid_states, Reason.large_error])
def test_a_fault_keeps_a_learned_payload_unless_the_law_failed(reason: Reason) -> None:
    bench, q, gravity = learned_payload(largest_error=0.5)
    loop, now = bench.loop, bench.now
    if reason is Reason.states_lost:
        now += 300 * MS
    elif reason is Reason.invalid_states:
        for _ in range(50):
            assert loop.state(now, now, NAMES, np.full(7, np.nan), np.zeros(7)) is None
            now += MS
    else:
        q = q + 0.6
        gravity = th.Robot.load("panda").gravity_vector(q)
    command = loop.state(now, now, NAMES, q, np.zeros(7))
    assert command is not None
    assert (command.mode, command.reason) == (Mode.fault, reason)
    np.testing.assert_allclose(command.tau, gravity, atol=1e-9)
