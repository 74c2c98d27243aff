import math
from functools import partial

import numpy as np

import thunder_py as th
from tests.refusals import assert_refused
from thunder_py import geometry, kinematics, trajectory
from thunder_py.control import DCMotor, arm_points, link_gains
from thunder_py.model import inertia
from thunder_py.motion.planning.obstacles import MovingObstacle
from thunder_py.realtime import SimulatedRobot
from thunder_py.recordings import MotionSet
from thunder_py.reference import SetPoint
from thunder_py.trajectory import MotionLimits

ELBOW = th.Robot.load("elbow")


def run(**options: object) -> th.SimulationResult:
    law = th.PDGravity(ELBOW, 10.0, 1.0)
    return th.simulate(ELBOW, law, SetPoint([0.0, 0.0]), **{"duration": 1.0, **options})  # type: ignore[arg-type]


def motor(**entries: object) -> DCMotor:
    return DCMotor(**{"inertia": 1e-4, "damping": 0.0, "torque_constant": 0.05, "resistance": 0.5, **entries})  # type: ignore[arg-type]


SPHERE = geometry.Sphere([0.0, 0.0, 0.0], 0.1)


def test_bad_arguments() -> None:
    assert_refused(
        # base parameters
        (lambda: ELBOW.base_parameters(tolerance=-1.0), "tolerance must be a number in [0, 1), got -1.0..."),
        (lambda: ELBOW.base_parameters(tolerance=math.nan), "tolerance must be a number in [0, 1), got nan..."),
        (lambda: ELBOW.base_parameters(tolerance="x"), "tolerance must be a number in [0, 1), got 'x'..."),
        (lambda: ELBOW.base_parameters(tolerance=1.0), "tolerance must be a number in [0, 1), got 1.0..."),
        (lambda: ELBOW.base_parameters(samples=0), "samples must be a whole number from 1 to 100000, got 0..."),
        (lambda: ELBOW.base_parameters(samples=1.5), "samples must be a whole number from 1 to 100000, got 1.5..."),
        (
            lambda: ELBOW.base_parameters(samples=10**12),
            "samples must be a whole number from 1 to 100000, got 1000...",
        ),
        # times of a run
        (lambda: run(duration=1.7e308), "duration must be at most 1e+12 control periods of 0.001 s, got 1.7e+308..."),
        (lambda: run(dt=5e-324), "duration must be at most 1e+12 control periods of 4.94066e-324 s, got 1..."),
        (lambda: run(control_period=1e10), "control_period must be at most 1e+09 steps of dt = 0.001, got 1e+10..."),
        (lambda: run(control_period=1e300), "control_period must be at most 1e+09 steps of dt = 0.001, got 1e+300..."),
        (
            lambda: run(dt=1e-11),
            "log_every must be at least 932 for a log of at most 8 GiB, got 1, with which it has...",
        ),
        # timing laws
        *(
            (
                lambda limits=limits: trajectory.trapezoidal(**limits),  # type: ignore[misc]
                "start, end and limits must give a duration of at most 1e+12 s and coefficients in the range...",
            )
            for limits in (
                {"end": 1.0, "v_max": 1e-300, "a_max": 1e300},
                {"end": 1e300, "v_max": 1e-300, "a_max": 1e-300},
            )
        ),
        (
            lambda: trajectory.trapezoidal(end=1.0, duration=1e200, a_max=1e-300),
            "duration must be at most 1e+12 s, got 1e+200...",
        ),
        # the wrong kind of object
        (lambda: arm_points("panda"), "robot must be a Robot, got str..."),
        (lambda: link_gains(None, [1.0]), "robot must be a Robot, got NoneType..."),
        (lambda: kinematics.joint_torque("panda", [0.0] * 7, [0.0] * 6), "robot must be a Robot, got str..."),
        (lambda: kinematics.wrench_from_torque(1, [0.0], [0.0]), "robot must be a Robot, got int..."),
        (lambda: MotionLimits.of("panda"), "robot must be a Robot, got str..."),
        (lambda: motor(damping=math.nan), "damping must be finite, got nan..."),
        (lambda: motor(resistance=[0.5, math.nan]), "resistance must be finite, got [0.5, nan]..."),
        (lambda: th.SimulationResult.load(3), "path must be a str or path-like, got int: 3..."),
        (lambda: MotionSet.load(3), "path must be a str or path-like, got int: 3..."),
        # complex numbers
        (
            lambda: inertia.reg_from_dyn(np.ones(10) * 1j),
            "dyn must be numbers of shape (..., 10), got array([0.+1.j...",
        ),
        (lambda: SPHERE.distance(np.array([1j, 0, 0])), "points must be real numbers, got array([0.+1.j..."),
        (lambda: SPHERE.nearest_point(np.array([1j, 0, 0])), "points must be real numbers, got array([0.+1.j..."),
        (lambda: SPHERE.distance([math.nan, 0.0, 0.0]), "points must be finite, got [nan, 0.0, 0.0]..."),
        (
            lambda: MovingObstacle(SPHERE, np.zeros(3)).distance([0.0, 0.0, 0.0], np.array(1j)),
            "t must be real numbers, got array(0.+1.j)...",
        ),
        (lambda: trajectory.quintic(1.0)(np.array([1j])), "t must be real numbers, got array([0.+1.j])..."),
        (lambda: trajectory.quintic(1.0)(math.nan), "t must be finite, got nan..."),
        (lambda: SetPoint([0.0])(np.array([1j])), "t must be a time or an array of times, got array([0.+1.j])..."),
    )


def test_a_log_of_fewer_rows_than_asked_for() -> None:
    assert run(log_every=2**70).t.tolist() == [0.0, 1.0]


def test_a_tiny_way_is_a_way() -> None:
    law = trajectory.trapezoidal(end=1e-300, v_max=1.0, a_max=1.0)
    assert (law.end, law.duration) == (1e-300, 2e-150)


def test_a_simulated_robot_advances_to_whole_nanoseconds() -> None:
    robot = SimulatedRobot({"robot": "panda"})
    message = "now must be a whole number from -9223372036854775807 to..."
    assert_refused(*((partial(robot.advance, now), message) for now in (math.inf, math.nan, 1e9, 10**30, "now")))
    assert robot.advance(0).stamp == 0
