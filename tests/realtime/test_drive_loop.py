"""The loop with a drive written in Python: order of joints, stops, faults of controllers, interruptions."""

import copy
import pickle
import signal
import threading

import numpy as np
import pytest

import thunder_py as th
from tests.refusals import assert_refused
from thunder_py.errors import ConcurrentUseError, ThunderError
from thunder_py.realtime import DriveFacts, DriveLoop, DriveState, Reason, SafetyLimits, StopKind

ELBOW = th.Robot.load("elbow")
START = np.array([0.4, 0.6])


class Drive:
    """An arm whose drive lists the joints in the reverse order, and adds no gravity."""

    def __init__(self, **changes):
        self.facts = DriveFacts(
            **{
                "joint_names": ELBOW.joint_names[::-1],
                "period": 1e-3,
                "cycle": 1e-3,
                "torque_limits": 100.0,
                "torque_rate": [20_000.0, 40_000.0],
                **changes,
            }
        )
        self.q, self.dq, self.tau, self.external = START.copy(), np.zeros(2), np.zeros(2), np.zeros(2)
        self.stamp, self.stops, self.skipped, self.steps = 10**9, 0, 0, []
        self.fail, self.gravity = "", None

    def start(self):
        self._fail("start")

    def read(self):
        self._fail("read")
        for _ in range(1 + self.skipped):
            self.dq = self.dq + 1e-3 * ELBOW.forward_dynamics(self.q, self.dq, self.tau + self.external)
            self.q, self.stamp = self.q + 1e-3 * self.dq, self.stamp + 10**6
        self.skipped = 0
        return DriveState(self.stamp, self.q[::-1], self.dq[::-1], self.gravity)

    def write(self, tau):
        self._fail("write")
        self.steps.append(np.abs(tau[::-1] - self.tau))
        self.tau = tau[::-1].copy()

    def stop(self):
        self.stops += 1
        self._fail("stop")

    def _fail(self, where):
        if where in self.fail:
            raise OSError(where)


def law():
    return th.ComputedTorque(ELBOW, 100.0, 20.0)


def loop(drive, controller=None, reference=None, **options):
    reference = th.reference.SetPoint(START) if reference is None else reference
    return DriveLoop(drive, ELBOW, controller or law(), reference, **options)


class Replaced:
    """A controller whose torque is another one from a time on."""

    def __init__(self, answer, at=0.05):
        self.inner, self.answer, self.at = law(), answer, at

    def step(self, t, q, dq, reference):
        tau = self.inner.step(t, q, dq, reference)
        return self.answer(tau) if t >= self.at else tau


def test_the_order_of_joints_is_the_drives():
    drive = Drive()
    run = loop(drive).run(0.5)
    assert run.ok
    assert np.abs(drive.q - START).max() < 0.02
    steps = np.max(drive.steps, axis=0)
    assert steps[0] <= 40.0 * (1 + 1e-12)
    assert steps[1] <= 20.0 * (1 + 1e-12)


def fails(tau):
    raise RuntimeError("no answer")


@pytest.mark.parametrize(
    ("answer", "reason"),
    [
        (fails, Reason.controller_failed),
        (lambda tau: tau[:1], Reason.controller_failed),
        (lambda tau: "torque", Reason.controller_failed),
        (lambda tau: tau * np.nan, Reason.invalid_torque),
        (lambda tau: tau + 0j, Reason.controller_failed),
        (lambda tau: [None, None], Reason.controller_failed),
        (lambda tau: tau + 1e400, Reason.invalid_torque),
        (lambda tau: np.array([300.0, 0.0]), Reason.velocity),
    ],
)
def test_faults_of_a_controller_end_in_the_brake(answer, reason):
    drive = Drive()
    run = loop(drive, Replaced(answer), limits=SafetyLimits.of(ELBOW, velocity=1.0)).run(1.0)
    assert (run.reason, run.kind, run.at_rest, drive.stops) == (reason, StopKind.brake, True, 1)
    assert run.t < 1.0
    assert np.abs(drive.dq).max() < 0.05
    assert (run.error is not None) == (reason is Reason.controller_failed)


@pytest.mark.parametrize(("status", "reason"), [("diverged", "diverged"), ("singular", "no_solution")])
def test_the_status_of_a_controller_counts(status, reason):
    controller = Replaced(lambda tau: tau)
    step = controller.step

    def with_status(t, *rest):
        controller.status = getattr(th.control.Status, "ok" if t < 0.1 else status)
        return step(t, *rest)

    controller.step = with_status
    run = loop(Drive(), controller).run(1.0)
    assert run.reason is Reason[reason]
    assert run.kind is StopKind.brake
    assert run.t < (0.3 if status == "diverged" else 0.6)


def test_a_reference_and_a_log_that_fail_end_in_the_brake():
    def reference(t):
        return th.reference.SetPoint(START)(t) if t < 0.05 else fails(t)

    for options in ({"reference": reference}, {"on_cycle": lambda cycle: fails(0) if cycle.t > 0.05 else None}):
        run = loop(Drive(), **options).run(1.0)
        assert run.reason is Reason.controller_failed
        assert run.at_rest
        assert str(run.error) == "no answer"


@pytest.mark.parametrize("where", ["start", "read", "write"])
def test_every_fault_of_a_drive_stops_it_at_once(where):
    drive = Drive()
    drive.fail = where
    run = loop(drive).run(1.0)
    assert (run.reason, run.kind, run.cycles, drive.stops) == (Reason.drive_fault, StopKind.immediate, 0, 1)
    assert str(run.error) == where
    assert not run.ok


def test_a_fault_while_the_arm_brakes():
    drive = Drive()
    run = loop(drive, on_cycle=lambda c: setattr(drive, "fail", "read,stop" if c.stop else "")).run(0.1)
    assert (run.reason, run.kind, run.at_rest) == (Reason.drive_fault, StopKind.immediate, False)
    assert (str(run.error), str(run.stop_error)) == ("read", "stop")
    assert not run.ok


@pytest.mark.parametrize(
    ("gravity", "reason"),
    [
        ([0.0], Reason.invalid_states),
        ([0.0, float("nan")], Reason.invalid_states),
        ([[0.0, 0.0]], Reason.invalid_states),
        ([[1.0], [1.0, 2.0]], Reason.drive_fault),
    ],
)
def test_a_gravity_torque_that_is_none_stops_the_drive_at_once(gravity, reason):
    drive = Drive()
    run = loop(drive, on_cycle=lambda cycle: setattr(drive, "gravity", gravity)).run(1.0)
    assert (run.reason, run.kind, run.cycles, drive.stops) == (reason, StopKind.immediate, 1, 1)


def test_position_limits():
    """Outside from the start the arm gets no torque; moving, it is braked before its limit."""
    drive = Drive()
    run = loop(drive, limits=SafetyLimits.of(ELBOW, upper=[0.3, 1.0])).run(1.0)
    assert (run.reason, run.kind, run.cycles, drive.stops) == (Reason.position, StopKind.immediate, 0, 1)
    drive, limits = Drive(), SafetyLimits.of(ELBOW, upper=[0.9, 3.0], velocity=5.0)
    run = loop(drive, reference=th.reference.Sinusoid([0.8, 0.0], 0.5, center=START), limits=limits).run(5.0)
    assert (run.reason, run.at_rest) == (Reason.position, True)
    assert drive.q[0] < 0.9


def test_braking_ends_without_rest():
    """A sensor of velocity with noise."""
    drive = Drive()
    read = drive.read

    def noisy():
        state = read()
        return state._replace(dq=state.dq + 0.2 * (-1) ** (state.stamp // 10**6))

    drive.read = noisy
    run = loop(drive).run(0.1)
    assert (run.reason, run.kind, run.at_rest) == (Reason.finished, StopKind.brake, False)
    assert 2.1 <= run.t < 2.11


def test_a_contact_stops_the_arm():
    drive = Drive()
    observer = th.control.MomentumObserver(ELBOW, 100.0, detector=th.control.ContactDetector(8.0))

    def push(cycle):
        drive.external = np.array([0.0, 20.0 if cycle.t > 0.3 else 0.0])

    run = loop(drive, observer=observer, on_cycle=push).run(2.0)
    assert run.reason is Reason.contact
    assert run.kind is StopKind.brake


def test_the_drives_watchdog_is_known():
    drive = Drive(watchdog=0.02)
    run = loop(drive, on_cycle=lambda cycle: setattr(drive, "skipped", 25 if cycle.t > 0.1 else 0)).run(1.0)
    assert (run.reason, run.kind, run.worst_missed) == (Reason.watchdog, StopKind.immediate, 25)


@pytest.mark.parametrize("before", [True, False])
def test_a_request_ends_one_run_alone(before):
    drive = Drive()
    one = loop(drive, on_cycle=lambda cycle: one.request_stop() if not before and cycle.t > 0.1 else None)
    if before:
        one.request_stop()
        with pytest.raises(ThunderError):
            one.run(-1.0)
    run = one.run(1.0)
    assert (run.reason, run.kind, run.at_rest, drive.stops) == (Reason.requested, StopKind.brake, True, 1)
    assert run.t < 0.4
    assert one.run(0.05).reason is Reason.finished
    assert drive.stops == 2


def test_a_second_run_at_the_same_time_is_refused():
    drive, errors = Drive(), []

    def again():
        try:
            one.run(0.02)
        except ConcurrentUseError as error:
            errors.append(str(error))

    def on_cycle(cycle):
        if cycle.t == 0.01:
            again()
        elif cycle.t == 0.02:
            other = threading.Thread(target=again)
            other.start()
            other.join()

    one = loop(drive, on_cycle=on_cycle)
    run = one.run(0.3)
    assert (run.reason, run.at_rest, drive.stops) == (Reason.finished, True, 1)
    assert run.t >= 0.3
    assert errors == ["this DriveLoop runs already: wait for the end of its run, or call request_stop"] * 2
    assert one.run(0.05).ok


@pytest.mark.parametrize("shared", ["drive", "controller"])
def test_two_loops_do_not_share_a_drive_or_a_controller(shared):
    drive, controller, errors = Drive(), law(), []
    other = loop(drive if shared == "drive" else Drive(), controller if shared == "controller" else law())
    free = loop(Drive())

    def on_cycle(cycle):
        if cycle.t == 0.01:
            with pytest.raises(ConcurrentUseError) as refused:
                other.run(0.02)
            errors.append(str(refused.value))
            assert free.run(0.02).ok

    assert loop(drive, controller, on_cycle=on_cycle).run(0.05).ok
    assert errors == [f"another DriveLoop runs with this {shared}: wait for its end, or make another"]
    assert other.run(0.02).ok


def test_a_controller_and_a_log_may_write_into_their_arrays():
    class Careless:
        def __init__(self):
            self.inner, self.tau = law(), np.zeros(2)

        def step(self, t, q, dq, reference):
            self.tau[:] = self.inner.step(t, q, dq, reference)
            q[:], dq[:] = 7.0, 7.0
            return self.tau

    def careless(cycle):
        found.append([part.copy() for part in (cycle.q, cycle.dq, cycle.tau, cycle.command)])
        cycles.append(cycle)
        cycle.dq[:] = 7.0

    expected, found, cycles = [], [], []
    loop(Drive(), on_cycle=expected.append).run(0.1)
    run = loop(Drive(), Careless(), on_cycle=careless).run(0.1)
    assert run.at_rest
    count = sum(c.stop is None for c in expected)  # the brake has what a controller of the package has learned
    assert np.array_equal(found[:count], [(c.q, c.dq, c.tau, c.command) for c in expected[:count]])
    assert np.array_equal([c.tau for c in cycles[:count]], [c.tau for c in expected[:count]])


def test_an_array_that_the_drive_writes_again_is_copied():
    drive, cycles = Drive(), []
    read, q, dq = drive.read, np.zeros(2), np.zeros(2)

    def read_into():
        state = read()
        q[:], dq[:] = state.q, state.dq
        return state._replace(q=q, dq=dq)

    drive.read = read_into
    loop(drive, on_cycle=cycles.append).run(0.1)
    assert len({tuple(cycle.q) for cycle in cycles}) == len(cycles)


def test_an_interruption_brakes_and_a_second_one_stops():
    for times in (1, 2):
        drive, left = Drive(), [times]

        def interrupt(cycle, left=left):
            if cycle.t > 0.1 and left[0]:
                left[0] -= 1
                raise KeyboardInterrupt

        one = loop(drive, on_cycle=interrupt)
        with pytest.raises(KeyboardInterrupt):
            one.run(1.0)
        assert drive.stops == 1
        assert (len(drive.steps) > 150) == (times == 1)


class Interrupted(Drive):
    """A drive in one of whose calls Ctrl-C arrives, some times, while gravity still needs more torque in each cycle."""

    def __init__(self, where, times=1):
        super().__init__(torque_rate=1000.0)
        self.where, self.left, self.stopped = where, times, False

    def _fail(self, where):
        if where == self.where and (where in ("start", "stop") or self.stamp > 10**9 + 5 * 10**6):
            for _ in range(self.left):
                self.left -= 1
                signal.raise_signal(signal.SIGINT)

    def stop(self):
        super().stop()
        self.stopped = True


@pytest.mark.usefixtures("python_handler")
@pytest.mark.parametrize("where", ["start", "read", "write", "stop"])
def test_ctrl_c_cuts_neither_a_command_nor_a_stop_off(where):
    drive = Interrupted(where)
    one = loop(drive)
    with pytest.raises(KeyboardInterrupt):
        one.run(0.2)
    assert (drive.stops, drive.stopped) == (1, True)
    assert np.max([np.zeros(2), *drive.steps]) <= 1.0 + 1e-9
    assert (len(drive.steps) > 100) == (where != "start")


@pytest.mark.usefixtures("python_handler")
@pytest.mark.parametrize("where", ["read", "write", "stop"])
def test_a_second_ctrl_c_ends_a_call_but_no_stop(where):
    drive = Interrupted(where, times=3)
    with pytest.raises(KeyboardInterrupt):
        loop(drive).run(0.05)
    assert (drive.stops, drive.stopped) == (1, True)
    assert (len(drive.steps) < 10) == (where != "stop")


def test_exits_of_the_program_stop_the_drive():
    def leave(cycle):
        raise SystemExit

    drive = Drive()
    with pytest.raises(SystemExit):
        loop(drive, on_cycle=leave).run(1.0)
    assert drive.stops == 1


def test_wrong_arguments_are_refused():
    joints = "the drive must have the joints ..."
    assert_refused(
        (lambda: loop(Drive(joint_names=("a", "b"))), f"{joints}, got a, b"),
        (lambda: loop(Drive(joint_names=ELBOW.joint_names[:1], torque_rate=1.0)), joints),
        (lambda: Drive(joint_names=("a", "a")), "joint_names must be different names, got ('a', 'a')"),
        (lambda: Drive(period=0.0), "period must be positive, got 0"),
        (lambda: loop(Drive()).run(float("inf")), "duration must be positive..."),
        (lambda: loop(Drive(), limits=3), "limits must be a SafetyLimits, got int..."),
        *(
            (lambda how=how: how(loop(Drive())), "a DriveLoop cannot be copied or pickled: it holds...", TypeError)
            for how in (copy.copy, copy.deepcopy, pickle.dumps)
        ),
    )


def test_limits_are_those_of_the_drive_where_they_are_tighter():
    limits = SafetyLimits.of(ELBOW, torque=[50.0, 200.0], torque_rate=30_000.0)
    drive = Drive(torque_limits=[40.0, 90.0])  # of the second and the first joint
    used = loop(drive, limits=limits).limits
    assert np.array_equal(used.torque, [50.0, 40.0])
    assert np.array_equal(used.torque_rate, [30_000.0, 20_000.0])


def test_velocities_that_are_stuck_stop_the_drive_at_once():
    """There is nothing to brake with."""

    class Stuck(Drive):
        def read(self):
            return super().read()._replace(dq=np.zeros(2))

    drive = Stuck()
    run = loop(drive, reference=th.reference.Sinusoid([0.3, 0.3], 0.5, center=START)).run(5.0)
    assert (run.reason, run.kind, drive.stops) == (Reason.wrong_velocities, StopKind.immediate, 1)
    assert run.t < 1.0
