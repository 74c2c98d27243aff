"""The loop in a thread of its own: the same torques as `DriveLoop`, exchange, stops, interruptions, misuse."""

import copy
import ctypes
import os
import pickle
import signal
import subprocess
import sys
import threading
import time
import weakref

import numpy as np
import pytest

import thunder_py as th
from tests.refusals import assert_refused
from thunder_py.errors import ConcurrentUseError
from thunder_py.realtime import (
    DriveFacts,
    DriveFault,
    DriveLoop,
    Mode,
    RealtimeLoop,
    Reason,
    SafetyLimits,
    SimulatedRobot,
    StopKind,
)

ELBOW = th.Robot.load("elbow")
PANDA = th.Robot.load("panda")
START = np.array([0.4, 0.6])
Q = np.array([0.0, -0.3, 0.0, -2.0, 0.0, 1.8, 0.7])
SINE = th.reference.Sinusoid([0.1, 0.1], [0.5, 0.5], center=START)
IIWA = th.Robot.load("iiwa14")
PANDA_LAW = th.SlotineLi(PANDA, 10.0, 5.0, adaptation=None)
POSE_LAW = {"name": "CartesianComputedTorque", "K_0": 100.0, "K_1": 20.0, "K_d": 5.0}
GAINS = {"name": "SlotineLi", "Lambda": 10.0, "K_d": 20.0, "adaptation": None}


def facts(robot=ELBOW, **changes):
    usual = {"torque_limits": 100.0, "torque_rate": 20_000.0, "watchdog": 0.05}
    return DriveFacts(robot.joint_names, **{"period": 1e-3, "cycle": 1e-3, **usual, **changes})


def simulated(**options):
    return SimulatedRobot(ELBOW, START, options.pop("facts", facts()), real_time=False, **options)


def run(drive=None, law=None, reference=SINE, robot=ELBOW, **options):
    law = th.SlotineLi(robot, 10.0, 20.0, adaptation=None) if law is None else law
    drive = simulated() if drive is None else drive
    loop = RealtimeLoop(drive, robot, law, reference, **{"duration": 0.5, "log_time": 5.0, **options})
    with loop:
        assert loop.join(60.0)
    return loop


def until(condition):
    """Wait for the loop's thread."""
    end = time.monotonic() + 60.0
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.001)


def test_torques_are_those_of_the_loop_in_python():
    """`DriveLoop` on the same arm, which starts on the reference."""
    still = th.reference.Sinusoid([0.1, 0.1], [0.5, 0.5], center=START, phase=[np.pi / 2, np.pi / 2])
    start, cycles = START + 0.1, []
    law = th.SlotineLi(ELBOW, 10.0, 20.0, adaptation=0.05)
    drive = SimulatedRobot(ELBOW, start, facts(), real_time=False)
    assert DriveLoop(drive, ELBOW, law, still, on_cycle=cycles.append).run(0.4).error is None
    drive = SimulatedRobot(ELBOW, start, facts(), real_time=False)
    loop = run(drive, th.SlotineLi(ELBOW, 10.0, 20.0, adaptation=0.05), still, duration=0.4)
    log, count = loop.log(), 400
    np.testing.assert_allclose(log.q[:count], [c.q for c in cycles[:count]], atol=1e-6)
    np.testing.assert_allclose(log.command[:count], [c.command for c in cycles[:count]], atol=2e-2)
    assert log.stop[count - 1] is None
    assert log.stop[-1] is Reason.finished
    assert loop.reason is Reason.finished


def test_braking_adaptation_and_torque_rate():
    """A payload that nobody knows, and a drive that is strict."""
    law = th.SlotineLi(ELBOW, 10.0, 20.0, adaptation=1.0)
    before = law.parameters
    drive = simulated(payloads=th.Payload(0.5), facts=facts(torque_rate=1000.0))
    loop = run(drive, law, log=("error", "parameters"), duration=2.0)
    log, found = loop.log(), loop.statistics()
    assert (loop.reason, found.at_rest, found.drive_stopped) == (Reason.finished, True, True)
    assert 0.0 < drive.largest_step <= 1.0 + 1e-9
    assert not drive.failed
    assert np.array_equal(log.signals["parameters"][0].shape, before.shape)
    assert np.abs(law.parameters - before).max() > 1e-3  # the law is ours again, with its estimate
    assert found.missed == found.overruns == found.log_dropped == 0
    assert found.cycles == log.t.size == found.period.count + 1


@pytest.mark.parametrize(
    ("fault", "reason"),
    [
        (DriveFault.error, Reason.drive_fault),
        (DriveFault.silence, Reason.states_lost),
        (DriveFault.invalid_state, Reason.invalid_states),
        (DriveFault.no_command, Reason.drive_fault),
        (DriveFault.missed_cycles, Reason.missed_cycles),
    ],
)
def test_faults_of_the_drive(fault, reason):
    drive = simulated()
    drive.inject(fault, 0.1)
    loop = run(drive)
    assert loop.reason is reason
    assert loop.statistics().at_rest is (reason.kind is StopKind.brake)
    assert loop.statistics().t == pytest.approx(0.1 if reason.kind is StopKind.immediate else 0.3, abs=0.1)
    assert not drive.running


def test_limits_and_contacts():
    """Each ends in the brake: too near a position limit, a wall, a contact; the arm rests before the limit."""
    fast = th.reference.Sinusoid([0.9, 0.0], [0.5, 0.5], center=START)
    limits = SafetyLimits([-1.0, -2.0], [0.9, 2.0], 5.0, 100.0)
    drive = simulated()
    loop = run(drive, reference=fast, limits=limits, duration=3.0)
    assert (loop.reason, loop.statistics().at_rest) == (Reason.position, True)
    assert drive.q[0] < 0.95
    observer = th.control.MomentumObserver(ELBOW, 50.0, detector=th.control.ContactDetector(3.0))
    push = th.simulation.ExternalTorque([0.0, 8.0], start=0.3)
    loop = run(simulated(external=[push]), observer=observer, duration=3.0)
    assert (loop.reason, loop.statistics().at_rest) == (Reason.contact, True)
    tip = ELBOW.forward_kinematics(START)[:3, 3]
    wall = th.geometry.HalfSpace(np.add(tip, (0.0, 0.0, 0.02)), [0.0, 0.0, -1.0])
    assert run(limits=SafetyLimits.of(ELBOW, obstacles=[wall], clearance=0.5)).reason is Reason.workspace


def test_exchange_of_references_gains_and_adaptation():
    law = {**GAINS, "adaptation": 1.0}
    loop = RealtimeLoop(simulated(payloads=th.Payload(0.5)), ELBOW, law, log=("parameters",), log_time=0.5)

    def fresh():
        """Return the estimates of cycles that begin after everything before."""
        t = loop.statistics().t
        until(lambda: loop.statistics().t > t + 0.2)
        loop.log()
        until(lambda: (log := loop.log()).t.size > 1 and estimates.append(log.signals["parameters"]) is None)
        return estimates[-1]

    estimates = []
    with loop:
        until(lambda: loop.statistics().mode is Mode.holding)
        loop.set_reference(SINE)
        until(lambda: loop.statistics().mode is Mode.tracking)
        assert np.abs(fresh()[-1] - ELBOW.parameters).max() > 0.0
        loop.adapt(False)
        before = fresh()
        loop.set_gains(K_d=30.0)
        assert np.ptp(np.concatenate([before, fresh()]), axis=0).max() == 0.0  # neither gains nor time move it
        loop.adapt(True, "link2")
        moved = np.ptp(np.concatenate([before, fresh()]), axis=0) > 0.0
        assert moved.any()
        assert not moved[:10].any()
    assert loop.reason is Reason.requested


@pytest.mark.parametrize("compensates", [False, True])
def test_an_arm_that_pushes_at_its_limit_is_stopped(compensates):
    """The law itself is limited to what `Safety` allows."""
    limits, goal = SafetyLimits.of(ELBOW, torque=[10.0, 15.0]), th.reference.SetPoint(START)
    loop = run(simulated(compensates_gravity=compensates), reference=goal, limits=limits, duration=1.0)
    assert loop.reason is Reason.torque
    assert loop.statistics().t == pytest.approx(0.25 + 2.0, abs=0.01)  # patience, and the brake at its limit as well


def test_poses():
    T = PANDA.forward_kinematics(Q)
    drive = SimulatedRobot(PANDA, Q, facts(PANDA, torque_rate=1e5), real_time=False)
    T[1, 3] += 0.05
    goal = th.reference.SetPose(T)
    loop = run(drive, POSE_LAW, goal, PANDA, duration=2.0)
    assert loop.reason is Reason.finished
    np.testing.assert_allclose(PANDA.forward_kinematics(drive.q)[:3, 3], T[:3, 3], atol=2e-3)


def test_parts_belong_to_a_loop_that_runs_once():
    law = th.SlotineLi(ELBOW, 10.0, 20.0, adaptation=0.05)
    loop, other = RealtimeLoop(simulated(), ELBOW, law), RealtimeLoop(simulated(), ELBOW, law)
    with loop:
        assert_refused((law.reset, "..."), (other.start, "..."), error=ConcurrentUseError)
        with pytest.raises(ConcurrentUseError), other:
            pass
        with pytest.raises(RuntimeError, match=r"^join needs a RealtimeLoop that was started: call start before"):
            other.join()
        other.__exit__(None, None, None)
    assert loop.join()
    law.reset()
    with other:  # may be started later
        pass
    assert other.join()
    assert_refused(
        (loop.start, "a RealtimeLoop runs once: make a new one"),
        (lambda: loop.set_reference(SINE), "...a RealtimeLoop runs once..."),
        (lambda: loop.set_law(th.SlotineLi(ELBOW, 11.0, 20.0, adaptation=0.05)), "...a RealtimeLoop runs once..."),
        (lambda: run(law=dict(GAINS), duration=0.01).set_gains(K_d=9.0), "...a RealtimeLoop runs once..."),
        (lambda: loop.adapt(False), "...a RealtimeLoop runs once..."),
        error=RuntimeError,
    )


def test_any_thread_at_any_time():
    """Calls of all kinds before, during and after the run, from several threads."""
    loop = RealtimeLoop(simulated(), ELBOW, dict(GAINS), SINE, log_time=0.1)
    errors = []

    def use():
        try:
            for k in range(15):
                loop.set_reference(SINE)
                loop.set_gains(K_d=20.0 + k)
                loop.log()
                loop.statistics()
        except Exception as error:
            errors.append(error)

    threads = [threading.Thread(target=use) for _ in range(3)]
    loop.log(), loop.statistics()
    with loop:
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        loop.stop()
        assert loop.join(60.0)
    loop.log(), loop.statistics(), loop.stop()
    assert not errors
    assert loop.reason is Reason.requested


def test_a_copy_of_a_simulated_drive_is_a_drive_of_its_own():
    drive = simulated()
    copies = [copy.copy(drive), copy.deepcopy(drive), pickle.loads(pickle.dumps(drive))]
    run(drive, duration=0.1)
    assert not np.array_equal(drive.q, START)
    assert all(np.array_equal(one.q, START) for one in copies)


def test_dropped_loops_end():
    drive = simulated()
    loop = RealtimeLoop(drive, ELBOW, dict(GAINS), SINE)
    loop.start()
    alive = weakref.ref(loop)
    del loop
    assert alive() is None
    assert not drive.running


PROGRAM = """
import os, signal, sys, threading, time
import thunder_py as th
from thunder_py.realtime import RealtimeLoop, SimulatedRobot
signal.signal(signal.SIGINT, signal.default_int_handler)  # a background job inherits that it is ignored
robot = th.Robot.load("elbow")
drive = SimulatedRobot(robot, [0.4, 0.6], real_time=False)
loop = RealtimeLoop(drive, robot, th.SlotineLi(robot, 10.0, 20.0, adaptation=None), th.reference.SetPoint([0.5, 0.5]))
if sys.argv[1] == "exit":
    loop.start()
elif sys.argv[1] == "interrupt":
    threading.Timer(0.2, os.kill, (os.getpid(), signal.SIGINT)).start()
    try:
        with loop:
            loop.join()
    except KeyboardInterrupt:
        print(loop.reason.name, loop.statistics().at_rest, drive.running)
else:
    loop.start()
    if os.fork() == 0:
        rest = th.reference.SetPoint([0.0, 0.0])
        for call in (loop.log, loop.stop, loop.statistics, lambda: loop.set_reference(rest)):
            try:
                call()
            except RuntimeError as error:
                print(error)
        sys.stdout.flush()
        sys.exit()
    os.wait()
    loop.stop()
    print(loop.join(), loop.reason.name)
"""


@pytest.mark.release
@pytest.mark.parametrize("how", ["exit", "interrupt", "fork"])
def test_ends_of_the_program(how):
    """Without a join, by Ctrl-C, and in a child without the thread."""
    done = subprocess.run(
        [sys.executable, "-W", "ignore::DeprecationWarning", "-c", PROGRAM, how],
        capture_output=True,
        text=True,
        timeout=60,
        env=os.environ,
    )
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    if how == "interrupt":
        assert lines == ["interrupted True False"]
    elif how == "fork":
        assert len(lines) == 5
        assert all(line.startswith("the thread of a RealtimeLoop does not exist in a process") for line in lines[:4])
        assert lines[4] == "True requested"


def interrupt_the_wait(loop):
    """Ctrl-C comes within the first wait of `join`, where its handler is in place."""
    core, once = loop._core, [signal.SIGINT]

    class Core:
        def __getattr__(self, name):
            return getattr(core, name)

        def wait(self, seconds):
            ended = core.wait(seconds)
            if once and seconds > 0.0:  # `join` asks first whether the loop has begun
                signal.raise_signal(once.pop())
            return ended

    loop._core = Core()


@pytest.mark.usefixtures("python_handler")
def test_a_second_ctrl_c_does_not_take_the_stop_from_the_first():
    loop = RealtimeLoop(simulated(), ELBOW, dict(GAINS), SINE)
    stop, again = loop.stop, [signal.SIGINT]

    def interrupted_stop(reason):
        while again:
            signal.raise_signal(again.pop())
        stop(reason)

    loop.stop = interrupted_stop
    interrupt_the_wait(loop)
    loop.start()
    with pytest.raises(KeyboardInterrupt):
        loop.join(60.0)
    assert not loop.running
    assert loop.reason is Reason.interrupted


@pytest.mark.usefixtures("python_handler")
def test_ctrl_c_at_the_end_of_a_short_wait_brakes_the_arm():
    loop = RealtimeLoop(simulated(), ELBOW, dict(GAINS), SINE)
    interrupt_the_wait(loop)
    loop.start()
    with pytest.raises(KeyboardInterrupt):
        loop.join(0.01)
    assert not loop.running
    assert (loop.reason, loop.statistics().at_rest) == (Reason.interrupted, True)


@pytest.mark.release
def test_settings_are_reported():
    loop = run(priority=1, core=0, lock_memory=True, duration=0.01)
    ctypes.CDLL(None).munlockall()  # the loop does not: others may have locked memory too
    assert set(loop.statistics().settings) == {"priority", "core", "lock_memory"}
    assert loop.statistics().settings["core"] == "on"
    assert all(outcome == "on" or outcome[0].isupper() for outcome in loop.statistics().settings.values())
    assert run(duration=0.01).statistics().settings == {}


def test_wrong_parts_are_refused():
    names = "log must be a sequence of names of signals..."
    assert_refused(
        ((object(), ELBOW, GAINS), "drive must run in C++, got object: use DriveLoop for drives..."),
        ((simulated(), PANDA, GAINS), "the drive must have the joints..."),
        ((simulated(), ELBOW, lambda *_: 0), "law must be a controller that runs in C++, got fun..."),
        ((simulated(), ELBOW, GAINS, lambda t: 0), "reference must be one of joint positions that r..."),
        ((simulated(), ELBOW, GAINS, th.reference.SetPoint(Q)), "reference must have 2 joints, got 7"),
        (
            (still(PANDA), PANDA, th.SlotineLi(IIWA, 10.0, 5.0, adaptation=None)),
            "law must be a controller of...",
        ),
        call=RealtimeLoop,
    )
    assert_refused(
        ({"log": ("no",)}, "log: the controller has no signal 'no'"),
        ({"log": "error"}, names),
        ({"log": None}, "log must be a sequence of ..., got None"),
        ({"log": [1]}, names),
        ({"log_time": 1e9}, "log_time must be at most 9586.98 s..."),
        ({"log_time": 1e308}, "log_time must be at most..."),
        ({"log_every": 2**40}, "log_every must be a whole number from..."),
        ({"priority": 100}, "priority must be..."),
        ({"core": 4096}, "core must be..."),
        ({"limits": SafetyLimits([-1.0] * 3, [1.0] * 3, 1.0, 1.0)}, "limits must be those of 2 joints, got 3"),
        call=lambda **options: RealtimeLoop(simulated(), ELBOW, GAINS, **options),
    )
    law, iiwa = th.SlotineLi(ELBOW, 11.0, 20.0, adaptation=None), th.SlotineLi(IIWA, 10.0, 5.0, adaptation=None)
    loop = RealtimeLoop(simulated(), ELBOW, th.SlotineLi(ELBOW, 10.0, 20.0, adaptation=None))
    named, seven = RealtimeLoop(simulated(), ELBOW, dict(GAINS)), RealtimeLoop(still(PANDA), PANDA, PANDA_LAW)
    poses = RealtimeLoop(still(PANDA), PANDA, POSE_LAW)
    loop.set_law(law)
    named.set_gains(K_d=3.0)
    named.set_law(law)
    seven.set_law(th.SlotineLi(th.Payload(1.0, [0.0, 0.0, 0.1]).added_to(PANDA), 10.0, 5.0, adaptation=None))
    a_mapping = "set_gains needs a law that was given as a mapping; use set_law"
    assert_refused(
        (lambda: named.set_gains(K_d=4.0), a_mapping),  # the other gain would become what it was before
        (lambda: loop.set_gains(K_d=1.0), a_mapping),
        (lambda: RealtimeLoop(simulated(), ELBOW, GAINS).set_gains(K_q=1.0), "SlotineLi has no gain 'K_q'..."),
        (lambda: RealtimeLoop(simulated(), ELBOW, GAINS).adapt(True), "SlotineLi does not adapt"),
        (
            lambda: loop.set_law(th.ComputedTorque(ELBOW, 100.0, 20.0)),
            "law must be of the class SlotineLi, got ComputedTorque",
        ),
        (lambda: loop.set_law(PANDA_LAW), "...kind and the robot..."),
        (lambda: seven.set_law(iiwa), "...kind and the robot..."),
        (
            lambda: poses.set_law(th.CartesianComputedTorque(PANDA, 100.0, 20.0, K_d=5.0)),
            "law must be in joint space: set_gains changes one that follows poses",
        ),
        (lambda: SimulatedRobot(ELBOW, [0.0]), "q0 must..."),
        (lambda: simulated().inject("fire"), "'fire' is not a valid DriveFault"),
        *(
            (lambda how=how: how(named), "a RealtimeLoop cannot be copied or pickled: it owns a thread;...", TypeError)
            for how in (copy.copy, copy.deepcopy, pickle.dumps)
        ),
    )


def still(robot):
    return SimulatedRobot(robot, Q, facts(robot), real_time=False)


def test_a_stop_that_was_asked_for_is_no_first_ctrl_c():
    for first, at_once in ((Reason.requested, False), (Reason.interrupted, True)):
        loop = RealtimeLoop(simulated(), ELBOW, dict(GAINS), SINE)
        loop.stop(first)  # before the start, or the arm might be at rest before the second one
        loop.stop(Reason.interrupted)
        loop.start()
        assert loop.join(60.0)
        assert loop.reason is Reason.interrupted
        assert loop.statistics().at_rest is not at_once


def test_a_slow_drive_is_not_late():
    slow = SimulatedRobot(ELBOW, START, facts(period=0.06, watchdog=0.5), real_time=True)
    loop = RealtimeLoop(slow, ELBOW, {**GAINS, "Lambda": 1.0, "K_d": 2.0}, th.reference.SetPoint(START), duration=0.3)
    with loop:
        assert loop.join(60.0)
    assert loop.reason is Reason.finished


@pytest.mark.release
@pytest.mark.parametrize("name", ["panda", "gen3"])
@pytest.mark.parametrize("unknown", ["the last link", "all links"])
def test_tuned_gains_hold_for_ten_minutes(name, unknown):
    robot = th.Robot.load(name)
    q = Q[: robot.n]
    arm = th.Payload(0.4, com=(0.0, 0.02, 0.05)).added_to(robot)
    reference = th.reference.Sinusoid([0.1] * robot.n, 0.2, center=q)
    links = None if unknown == "all links" else robot.link_names[-1]
    law = th.control.tune(robot, th.SlotineLi, reference, period=1e-3, unknown=links).controller()
    loop = run(
        SimulatedRobot(arm, q, real_time=False), law, reference, robot, duration=600.0, log_every=100, log_time=700.0
    )
    rows = loop.log()
    assert loop.reason is Reason.finished
    assert rows.t[-1] > 600.0
    settled = (rows.t > 30.0) & (rows.t < 600.0)
    np.testing.assert_allclose(rows.q[settled], reference(rows.t[settled]).q, atol=0.01)
