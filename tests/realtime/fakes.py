"""Substitutes of the published packages around a simulated arm, with their signatures (`signatures.py`)."""

import datetime
import sys
import types
from dataclasses import dataclass

import numpy as np

import thunder_py as th
from thunder_py.realtime import FrankyDrive, URDrive

#: flange in the frame of the last link of a Panda [m]
FLANGE = np.array([0.0, 0.0, 0.107])


class RobotError(RuntimeError):
    """Error of a package."""


@dataclass
class Arm:
    """A simulated arm and its drive."""

    robot: th.Robot  # without payload, as the drive knows it
    q: np.ndarray
    payload: th.Payload | None = None  # the true one
    cycle: float = 1e-3
    rate: float | np.ndarray = 1000.0
    told: th.Payload | None = None
    time: int = 10**10  # [ns]
    skipped: int = 0  # cycles that the next state comes too late
    frozen: bool = False
    broken: bool = False  # the connection
    error: str = ""
    blind: bool = False  # positions are NaN
    stuck: bool = False  # stops fail
    running: bool = False
    starts: int = 0
    stops: int = 0
    jump: float = 0.0  # largest change of a command in parts of the largest one
    answers: int = 0

    def __post_init__(self):
        self.dq, self.command = np.zeros(self.robot.n), np.zeros(self.robot.n)
        self.scale = 1.0 / (self.rate * self.cycle)
        self.plant = self.robot if self.payload is None else self.payload.added_to(self.robot)
        self.model = self.robot

    def tell(self, payload):
        assert not self.running, "the payload is told before the control starts"
        self.told, self.model = payload, payload.added_to(self.robot)

    def start(self):
        self.check()
        self.running, self.command = True, np.zeros(self.robot.n)
        self.starts += 1

    def check(self):
        if self.broken:
            raise RobotError("libfranka: UDP receive: Timeout")
        if self.error:
            raise RobotError(self.error)

    def stop(self):
        if self.stuck:
            raise RobotError("no answer")
        self.running, self.dq = False, np.zeros(self.robot.n)
        self.stops += 1

    def take(self, command):
        """Take a command as the robot does: a jump is a fault."""
        self.check()
        command = np.asarray(command, dtype=float)
        assert command.shape == (self.robot.n,)
        jump = float(np.abs((command - self.command) * self.scale).max())
        if not jump <= 1.0:  # nor is NaN
            self.error = "controller_torque_discontinuity"
        self.jump, self.command = max(jump, self.jump), command
        self.answers += 1

    def advance(self, cycles=1):
        """Integrate in steps of the drive's cycle; nothing may raise here."""
        if self.frozen:
            return
        cycles, self.skipped = cycles + self.skipped, 0
        self.time += round(1e9 * self.cycle) * cycles
        if not self.running:
            return
        for _ in range(cycles):
            tau = self.command + self.model.gravity_vector(self.q)
            self.dq = self.dq + self.cycle * self.plant.forward_dynamics(self.q, self.dq, tau)
            self.q = self.q + self.cycle * self.dq

    def gravity(self):
        return self.model.gravity_vector(self.q)

    def positions(self):
        return [float("nan")] * self.robot.n if self.blind else self.q.tolist()


# --- franky -----------------------------------------------------------------------------------------------------------


class Duration:
    def __init__(self, nanoseconds):
        self.nanoseconds = nanoseconds

    def to_sec(self):
        return 1e-9 * self.nanoseconds


class RobotState:
    dq = q = time = None

    def __init__(self, arm):
        self.q, self.dq, self.time, self.arm = arm.positions(), arm.dq.tolist(), Duration(arm.time), arm


def franka_payload(mass, com, inertia):
    about = np.array(inertia).reshape(3, 3, order="F")
    return th.Payload(mass, com=np.asarray(com) + FLANGE, inertia=about)


class FrankyConfig:
    Enforce, Ignore = 0, 1


def franky(arm):
    """The package franky: a thread repeats the last command, limits its change, and ends without new ones."""

    class Model:
        def gravity(self, state):
            return state.arm.gravity()

    class SimpleTorqueMotion:
        def __init__(
            self, initial_torque=None, signal_timeout=0.05, compensate_coriolis=False, max_delta_tau=1.0,
            lower_joint_limits=None, upper_joint_limits=None, joint_limit_activation_distance=0.1,
            joint_limit_stiffness=4.0, joint_limit_damping=1.0, joint_limit_max_torque=5.0, friction=None,
        ):  # fmt: skip
            self.timeout, self.kicked = round(1e9 * signal_timeout), None

        def set_torque(self, torque):
            self.kicked = arm.time
            arm.take(torque)

    class TorqueStopMotion:
        def __init__(
            self, damping=None, ramp_duration=0.2, velocity_epsilon=0.02, max_duration=2.0, compensate_coriolis=True,
            max_delta_tau=1.0,
        ):  # fmt: skip
            pass

    class Robot:
        model = None

        def __init__(
            self, fci_hostname, relative_dynamics_factor=1.0, default_torque_threshold=20.0,
            default_force_threshold=30.0, controller_mode=0, realtime_config=FrankyConfig.Enforce,
            kalman_q_process_var=0.0001, kalman_dq_process_var=0.001, kalman_ddq_process_var=0.1,
            kalman_control_process_var=1.0, kalman_q_obs_var=0.01, kalman_dq_obs_var=0.1, kalman_q_d_obs_var=0.0001,
            kalman_dq_d_obs_var=0.0001, kalman_ddq_d_obs_var=0.0001, kalman_control_adaptation_rate=0.1,
        ):  # fmt: skip
            self.motion, self.model = None, Model()

        @property
        def has_errors(self):
            return bool(arm.error)

        @property
        def is_in_control(self):
            return arm.running

        @property
        def state(self):
            return RobotState(arm)

        def set_load(self, load_mass, F_x_Cload, load_inertia):
            arm.tell(franka_payload(load_mass, F_x_Cload, load_inertia))

        def move(self, motion, asynchronous=False, limit_rate=False, cutoff_frequency=100.0):
            assert asynchronous
            if isinstance(motion, SimpleTorqueMotion):
                arm.start()
                motion.kicked = arm.time
            self.motion = motion

        def join_motion(self, timeout=None):
            arm.stop()
            return True

        def poll_motion(self):
            arm.check()
            motion = self.motion
            if isinstance(motion, SimpleTorqueMotion) and arm.time - motion.kicked > motion.timeout:
                arm.stop()
                raise RobotError("TorqueSignalTimeoutException")
            return arm.running

        def stop(self):
            arm.stop()

    names = {"Duration": Duration, "RobotState": RobotState, "RealtimeConfig": FrankyConfig}
    return {"franky": module(**names, **only(locals(), Model, SimpleTorqueMotion, TorqueStopMotion, Robot))}


class FakePacer:
    """Clock of a fake in place of the computer's."""

    def __init__(self, arm, period):
        self.arm, self.cycles = arm, round(period / arm.cycle)

    def wait(self):
        self.arm.advance(self.cycles)


# --- ur_rtde ----------------------------------------------------------------------------------------------------------


def ur_rtde(arm):
    """The modules rtde_control and rtde_receive: faults are flags, commands that are not taken return False."""

    class RTDEControlInterface:
        def __init__(self, hostname, frequency=-1.0, flags=1, ur_cap_port=50002, rt_priority=0):
            self.watchdog = None

        def directTorque(self, torque, viscous_scale=(0.9,) * 6, coulomb_scale=(0.8,) * 6):
            assert isinstance(torque, list)
            assert len(torque) == 6
            if arm.broken or arm.error:
                return False
            arm.take(torque)
            return True

        def isConnected(self):
            return not arm.broken

        def isProgramRunning(self):
            return arm.stops < max(arm.starts, 1)

        def setPayload(self, arg0, arg1, /):
            arm.tell(th.Payload(arg0, com=arg1 if any(arg1) else (0.1, 0.1, 0.1)))  # zeros stand for the present one
            return True

        def setWatchdog(self, min_frequency=10.0):
            assert min_frequency > 0.0
            arm.start()
            return True

        def stopScript(self):
            arm.stop()

    class RTDEReceiveInterface:
        def __init__(
            self, hostname, frequency=-1.0, variables=(), verbose=False, use_upper_range_registers=False, rt_priority=0
        ):
            pass

        def getActualQ(self):
            return arm.positions()

        def getActualQd(self):
            return arm.dq.tolist()

        def getTimestamp(self):
            return 1e-9 * arm.time

        def initPeriod(self):
            return datetime.timedelta(microseconds=arm.time // 1000)

        def isConnected(self):
            return not arm.broken

        def isEmergencyStopped(self):
            return False

        def isProtectiveStopped(self):
            return bool(arm.error)

        def waitPeriod(self, arg0, /):
            assert isinstance(arg0, datetime.timedelta)
            arm.advance()

    return {
        "rtde_control": module(RTDEControlInterface=RTDEControlInterface),
        "rtde_receive": module(RTDEReceiveInterface=RTDEReceiveInterface),
    }


def module(**members):
    made = types.ModuleType("fake")
    vars(made).update(members)
    return made


def only(names, *things):
    return {name: thing for name, thing in names.items() if any(thing is one for one in things)}


PANDA, UR = th.Robot.load("panda"), th.Robot.load("ur5e")
Q_PANDA = np.array([0.0, -0.3, 0.0, -2.0, 0.0, 1.8, 0.7])
Q_UR = np.array([0.0, -1.2, 1.6, -1.9, -1.5, 0.0])
#: adapter, package, model, posture, arguments
DRIVES = {
    "franky": (FrankyDrive, franky, PANDA, Q_PANDA, {"period": 2e-3}),
    "ur_rtde": (URDrive, ur_rtde, UR, Q_UR, {}),
}


#: the true load
TRUE = th.Payload(1.5, com=(0.01, 0.0, 0.16), inertia=np.diag([2e-3, 2e-3, 1e-3]))


def install(patch, name, **changes):
    """Put a fake package in place and return its arm, whose adapter `connect` returns."""
    _, package, robot, q, _ = DRIVES[name]
    own = {"cycle": 2e-3, "rate": robot.limits.effort * 10.0001} if name == "ur_rtde" else {}
    arm = Arm(robot, q.copy(), **{"payload": TRUE, **own, **changes})
    for key, fake in package(arm).items():
        patch.setitem(sys.modules, key, fake)
    return arm


def connect(arm, name, payload=None):
    """The adapter on the arm."""
    adapter, _, robot, _, arguments = DRIVES[name]
    pacer = {"pacer": FakePacer(arm, arguments["period"])} if name == "franky" else {}
    return adapter("192.0.2.1", robot, payload=payload, **arguments, **pacer)
