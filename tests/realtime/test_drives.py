"""One suite for every adapter: signatures, start, a minute of adaptive control, each fault, stop."""

import importlib.util
import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import thunder_py as th
from tests.realtime import signatures
from tests.realtime.fakes import DRIVES, connect, install
from thunder_py.optional import MissingExtraError
from thunder_py.realtime import DriveError, DriveLoop, Reason, StopKind

TOLD = th.Payload(0.6, com=(0.0, 0.02, 0.14))
GAINS = {
    7: {"Lambda": 15.0, "K_d": [8, 40, 8, 14, 1.2, 0.9, 0.3]},
    6: {"Lambda": 10.0, "K_d": [30, 40, 12, 1.5, 1.2, 0.15]},
}


@pytest.fixture(params=DRIVES)
def name(request):
    return request.param


def controller(robot, adaptation=True):
    unknown = th.control.GradientAdaptation(Gamma=2.0, unknown=robot.link_names[-1]) if adaptation else None
    return th.SlotineLi(robot, **GAINS[robot.n], adaptation=unknown)


def motion(robot, q):
    return th.reference.Sinusoid([0.15] * robot.n, [0.2 + 0.03 * k for k in range(robot.n)], center=q)


def looped(arm, drive, **options):
    robot = arm.robot
    options = {"controller": controller(robot), "reference": motion(robot, arm.q.copy()), **options}
    return DriveLoop(drive, robot, **options)


# --- signatures -------------------------------------------------------------------------------------------------------


PACKAGES = ("franky", "rtde_control", "rtde_receive")


@pytest.mark.parametrize("package", PACKAGES)
def test_signatures_of_the_fakes_are_those_of_the_installed_package(package, monkeypatch):
    if importlib.util.find_spec(package) is None:
        pytest.skip(f"{package} is not installed")
    install(monkeypatch, "ur_rtde" if package.startswith("rtde") else package)
    fakes = signatures.signatures(sys.modules[package])
    command = [sys.executable, str(Path(signatures.__file__)), package, *fakes]  # two do not load into one process
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    forms = json.loads(done.stdout)
    for what, fake in fakes.items():
        assert fake in forms[what], what


def test_a_missing_package_is_named_with_its_extra(name, monkeypatch):
    _, package, *_ = DRIVES[name]
    arm = install(monkeypatch, name)
    for module in package(arm):
        monkeypatch.setitem(sys.modules, module, None)
    extra = "ur" if name == "ur_rtde" else "franka"
    with pytest.raises(MissingExtraError, match=rf"thunder_py\[{extra}\]"):
        connect(arm, name)


# --- control ----------------------------------------------------------------------------------------------------------


@pytest.mark.release
def test_a_minute_of_adaptive_control(name, monkeypatch):
    """The drive compensates a part of a payload; the controller learns the whole."""
    arm = install(monkeypatch, name)
    drive = connect(arm, name, payload=TOLD)
    errors, wrong, period = [], [], round(0.01 / drive.facts.period)
    reference, law = motion(arm.robot, arm.q.copy()), controller(arm.robot)

    def log(cycle):
        if arm.answers % period:
            return
        errors.append((cycle.t, np.abs(law.signals["error"]).max()))
        if cycle.t > 1.0 and cycle.stop is None:  # the controller's torque is what the joints get
            wrong.append(np.abs(cycle.command + arm.gravity() - cycle.tau).max())

    run = looped(arm, drive, controller=law, reference=reference, on_cycle=log).run(60.0)
    assert run.reason is Reason.finished, run
    assert run.ok
    assert run.at_rest
    assert run.kind is StopKind.brake
    assert run.t > 60.0
    assert run.cycles == pytest.approx(run.t / drive.facts.period, abs=1.5)
    assert run.missed == 0
    assert arm.jump <= 1.0
    assert arm.stops == 1
    assert not arm.running
    assert np.allclose(arm.told.parameters[:4], TOLD.parameters[:4])
    assert max(wrong) < 1e-9
    t, e = np.array(errors).T
    first, last = e[(t > 1.0) & (t < 5.0)].max(), e[(t > 50.0) & (t < 60.0)].max()
    assert first > 5.0 * last


LAWS = {
    "PDGravity": {"K_p": 50.0, "K_d": GAINS[7]["K_d"]},
    "ComputedTorque": {"K_0": 100.0, "K_1": 20.0},
    "Backstepping": {**GAINS[7], "K_p": 50.0, "adaptation": None},
    "OperationalSpace": {"K_0": 100.0, "K_1": 20.0, "K_d": 1.0},
    "CartesianComputedTorque": {"K_0": 100.0, "K_1": 20.0, "K_d": 1.0},
    "Impedance": {"K": 300.0, "K_d": 1.0, "D": [30.0] * 3 + [4.0] * 3},
}


@pytest.mark.parametrize("law", LAWS)
def test_laws_in_joint_and_task_space_run(law, monkeypatch):
    arm = install(monkeypatch, "franky", payload=None)
    one, start = getattr(th.control, law)(arm.robot, **LAWS[law]), arm.q.copy()
    task = isinstance(one, th._core.TaskController)
    pose = arm.robot.forward_kinematics(start)
    reference = th.reference.SetPose(pose) if task else th.reference.SetPoint(start)
    run = looped(arm, connect(arm, "franky"), controller=one, reference=reference).run(0.1)
    assert run.ok, run
    assert np.abs(arm.robot.forward_kinematics(arm.q) - pose).max() < 2e-3


def test_a_controller_is_reset_before_a_run(monkeypatch):
    arm = install(monkeypatch, "ur_rtde")
    law = controller(arm.robot)
    before = law.parameters
    one = looped(arm, connect(arm, "ur_rtde"), controller=law)
    one.run(0.3)
    learned = law.parameters
    assert np.abs(learned - before).max() > 1e-4
    arm.q, arm.dq = DRIVES["ur_rtde"][3].copy(), np.zeros(6)
    arm.starts, arm.stops = 0, 0
    one.run(0.3)
    assert np.abs(law.parameters - learned).max() < 1e-3 * np.abs(learned - before).max()


def test_a_wrong_gravity_convention_does_not_pass(name, monkeypatch):
    """Gravity twice: an adapter that does not report what its drive adds."""
    arm = install(monkeypatch, name)
    drive = connect(arm, name)
    read = drive.read
    monkeypatch.setattr(drive, "read", lambda: read()._replace(gravity=None))
    start = arm.q.copy()
    looped(arm, drive, controller=controller(arm.robot, False), reference=th.reference.SetPoint(start)).run(0.5)
    assert np.abs(arm.q - start).max() > 0.02


def test_torque_rates_are_never_above_the_drives(name, monkeypatch):
    """A controller that jumps between the largest torques in every cycle."""

    class Wild:
        k = 0

        def step(self, t, q, dq, reference):
            self.k += 1
            return 1e6 * np.where(np.arange(q.size) % 2 == self.k % 2, 1.0, -1.0)

    arm = install(monkeypatch, name)
    run = looped(arm, connect(arm, name), controller=Wild()).run(2.0)
    assert run.reason in (Reason.torque, Reason.velocity, Reason.position)
    assert run.kind is StopKind.brake
    assert 0.9 < arm.jump <= 1.0
    assert arm.stops == 1


# --- faults -----------------------------------------------------------------------------------------------------------


def faulty(arm, drive, change, at=0.2):
    """Run with a change of the arm at a time."""

    def log(cycle):
        if cycle.t >= at and cycle.stop is None:
            change(arm)

    rigid = controller(arm.robot, adaptation=False)  # a load that is half learned moves the last joint while braking
    return looped(arm, drive, controller=rigid, on_cycle=log).run(1.0)


def set_(**values):
    def change(arm):
        for key, value in values.items():
            setattr(arm, key, value)

    return change


FAULTS = {
    "reflex": (set_(error="joint_reflex"), Reason.drive_fault),
    "connection": (set_(broken=True), Reason.drive_fault),
    "clock stands still": (set_(frozen=True), Reason.states_lost),
    # the gravity torque of the adapter of ur_rtde refuses them first
    "positions are NaN": (set_(blind=True), Reason.invalid_states),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_each_fault_stops_the_drive_at_once(name, fault, monkeypatch):
    arm = install(monkeypatch, name)
    change, reason = FAULTS[fault]
    run = faulty(arm, connect(arm, name), change)
    assert run.reason is reason or (fault, name, run.reason) == ("positions are NaN", "ur_rtde", Reason.drive_fault)
    assert run.kind is StopKind.immediate
    assert not run.ok
    assert 0.19 < run.t < 0.25
    assert arm.stops == 1
    assert not arm.running


def test_an_error_before_the_start_is_not_recovered_from(name, monkeypatch):
    arm = install(monkeypatch, name, error="joint_reflex")
    run = looped(arm, connect(arm, name)).run(1.0)
    assert (run.reason, run.kind, run.cycles) == (Reason.drive_fault, StopKind.immediate, 0)
    assert arm.starts == 0
    assert arm.error
    assert run.error is not None


def test_missed_cycles_are_counted(name, monkeypatch):
    arm = install(monkeypatch, name)
    drive = connect(arm, name)
    few = round(3 * drive.facts.period / arm.cycle)
    once = iter([few])
    run = faulty(arm, drive, lambda arm: setattr(arm, "skipped", next(once, 0)))
    assert run.reason is Reason.finished
    assert (run.missed, run.worst_missed) == (3, 3)
    assert arm.jump <= 1.0


def test_too_many_missed_cycles_stop_the_arm(name, monkeypatch):
    arm = install(monkeypatch, name)
    drive = connect(arm, name)
    many = round(11 * drive.facts.period / arm.cycle)
    run = faulty(arm, drive, lambda arm: setattr(arm, "skipped", many))
    assert run.reason is Reason.missed_cycles
    assert run.worst_missed >= 11
    assert arm.stops == 1


def test_a_stop_that_fails_is_reported(name, monkeypatch):
    arm = install(monkeypatch, name, stuck=True)
    run = looped(arm, connect(arm, name)).run(0.01)
    assert run.reason is Reason.finished
    assert not run.ok
    assert str(run.stop_error) == "no answer"


def test_nothing_works_before_the_start_and_stop_is_once(name, monkeypatch):
    arm = install(monkeypatch, name)
    drive = connect(arm, name)
    drive.stop()
    for call in (drive.read, lambda: drive.write(np.zeros(arm.robot.n))):
        with pytest.raises(DriveError, match=r"^torque control has not been started$"):
            call()
    drive.start()
    drive.read()
    drive.stop()
    drive.stop()
    assert arm.stops == 1


# --- single adapters --------------------------------------------------------------------------------------------------


def test_ur_takes_a_center_of_mass_of_zero(monkeypatch):
    arm = install(monkeypatch, "ur_rtde")
    connect(arm, "ur_rtde", payload=th.Payload(1.0)).start()
    assert np.abs(arm.told.com).max() < 1e-5


def test_ur_friction_scales_are_passed_on(monkeypatch):
    arm = install(monkeypatch, "ur_rtde")
    given = {}
    interface = sys.modules["rtde_control"].RTDEControlInterface
    monkeypatch.setattr(interface, "directTorque", lambda self, torque, **scales: given.update(scales) or True)
    drive = DRIVES["ur_rtde"][0]("192.0.2.1", arm.robot, viscous=[0.5] * 6, coulomb=[0.0] * 6)
    drive.start()
    drive.write(np.zeros(6))
    assert given == {"viscous_scale": [0.5] * 6, "coulomb_scale": [0.0] * 6}
    with pytest.raises(th.errors.ThunderError, match=r"^viscous_scale must be a number in \[0, 1\], got 2\.0$"):
        DRIVES["ur_rtde"][0]("192.0.2.1", arm.robot, viscous=[2.0] * 6)


@pytest.mark.parametrize("change", [{"payload": th.Payload(1.0, link=2)}, {"robot": th.Robot.load("elbow")}])
def test_wrong_arms_and_payloads_are_refused(name, change, monkeypatch):
    arm = install(monkeypatch, name)
    arguments = {"robot": arm.robot, **change}
    with pytest.raises(th.errors.ThunderError, match=r"last link, got link 2$|must have [67] joints, got 2$"):
        DRIVES[name][0]("192.0.2.1", **arguments)
