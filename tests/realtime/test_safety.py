"""Every limit, and an attempt to get past it."""

import dataclasses

import numpy as np
import pytest

import thunder_py as th
from tests.refusals import assert_refused
from thunder_py.errors import ThunderError
from thunder_py.realtime import Reason, Safety, SafetyLimits

ELBOW = th.Robot.load("elbow")
WIDE = SafetyLimits([-2.0, -2.0], [2.0, 2.0], 3.0, 50.0, lookahead=0.05)
REST = np.zeros(2)
NAN = float("nan")


def safety(robot=ELBOW, limits=WIDE, **options):
    return Safety(robot, limits, **options)


@pytest.mark.parametrize("sign", [1.0, -1.0])
@pytest.mark.parametrize("joint", [0, 1])
def test_positions(joint, sign):
    """At the limit, beyond it while moving back, and too fast towards it."""
    unit = sign * np.eye(2)[joint]
    assert safety().check(0.0, 1.999 * unit, REST) is None
    assert safety().check(0.0, 2.001 * unit, REST) is Reason.position
    assert safety().check(0.0, 2.001 * unit, -2.9 * unit) is Reason.position
    assert safety().check(0.0, 1.9 * unit, 1.9 * unit) is None
    assert safety().check(0.0, 1.9 * unit, 2.1 * unit) is Reason.position


@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_velocities(sign):
    assert safety().check(0.0, REST, np.array([0.0, sign * 2.999])) is None
    assert safety().check(0.0, REST, np.array([0.0, sign * 3.001])) is Reason.velocity


@pytest.mark.parametrize("value", [NAN, np.inf, -np.inf])
def test_no_number_is_within_limits(value):
    for infinite in (False, True):
        limits = SafetyLimits([-np.inf] * 2, [np.inf] * 2, np.inf, 50.0) if infinite else WIDE
        for q, dq in ((np.array([0.0, value]), REST), (REST, np.array([0.0, value]))):
            if infinite and not np.isnan(value):
                continue  # an infinite limit is none
            assert safety(limits=limits).check(0.0, q, dq) in (Reason.position, Reason.velocity)


@pytest.mark.parametrize("value", [NAN, np.inf, -np.inf])
def test_no_time_is_a_violation(value):
    assert safety().check(value, REST, REST) is Reason.invalid_states
    one = safety()
    np.testing.assert_array_equal(one.limit(0.0, np.array([1.0, 2.0])), [1.0, 2.0])
    np.testing.assert_array_equal(one.limit(value, np.array([3.0, 4.0])), [1.0, 2.0])  # the last one
    assert one.reason is Reason.invalid_states


def test_the_first_violation_is_kept():
    one = safety()
    assert one.check(0.0, REST, np.array([9.0, 0.0])) is Reason.velocity
    assert one.check(0.1, np.array([9.0, 0.0]), REST) is Reason.velocity  # another one, later
    assert one.check(0.2, REST, REST) is Reason.velocity
    one.reset()
    assert one.check(0.3, REST, REST) is None


@pytest.mark.parametrize("tau", [[1e300, -1e300], [51.0, 0.0], [-51.0, 49.0], [np.finfo(float).max, 0.0]])
def test_torques(tau):
    command = safety().limit(0.0, np.array(tau))
    assert np.array_equal(command, np.clip(tau, -50.0, 50.0))


def test_torques_beyond_the_gravity_of_the_drive():
    """Neither the torque nor the command is beyond a limit, whatever the drive adds."""
    one = safety()
    assert one.limit(0.0, [50.0, -50.0], [30.0, 30.0]).tolist() == [20.0, -50.0]
    assert one.limit(0.1, [1e9, 0.0], [-20.0, 0.0]).tolist() == [50.0, 0.0]


@pytest.mark.parametrize("tau", [[NAN, 0.0], [np.inf, 0.0], [-np.inf, 0.0], [0.0], [[0.0, 0.0]], "no", [1e400, 0.0]])
def test_torques_that_are_no_numbers_leave_the_last_command(tau):
    for gravity in (None, [1.0, 1.0]):
        one = safety()
        before = one.limit(0.0, [3.0, 4.0], gravity)
        assert np.array_equal(one.limit(0.1, tau, gravity), before)
        assert one.reason is Reason.invalid_torque
    one = safety()
    assert one.limit(0.0, [3.0, 4.0], tau).tolist() == [0.0, 0.0]
    assert one.reason is Reason.invalid_torque


def test_torques_beyond_the_limit_for_long_are_a_violation():
    one = safety()
    for k in range(400):
        one.limit(1e-3 * k, [60.0 if k % 100 else 0.0, 0.0])  # within it now and then
    assert one.reason is None
    for k in range(400, 800):  # the last torque within the limit was at k = 300
        one.limit(1e-3 * k, [60.0, 0.0])
        if one.reason is not None:
            break
    assert one.reason is Reason.torque
    assert k in (550, 551)


def test_torque_steps_whatever_the_demand_and_the_time():
    rng = np.random.default_rng(1)
    one, last, t = safety(torque_step=[0.5, 0.25]), np.zeros(2), 0.0
    for _ in range(300):
        t += rng.choice([0.0, 1e-3, 10.0, -1.0])  # missed cycles, and a clock that goes back
        tau = rng.choice([NAN, 1e300, -60.0, 0.0, 60.0], 2)
        command = one.limit(t, tau, rng.normal(scale=5.0, size=2))
        assert (np.abs(command - last) <= np.array([0.5, 0.25]) * (1 + 1e-12)).all()
        command[:] = 1e9  # the caller's array is not the kept one
        last = one.limit(t, [NAN, NAN])


@pytest.mark.parametrize(
    "before",
    [[(1e-3 * k, [NAN, 0.0]) for k in range(2, 400)], [(1.0, [9.0, 9.0]), (0.0, [9.0, 9.0]), (0.999, [9.0, 9.0])]],
)
def test_torque_rates_after_nan_and_a_clock_that_went_back(before):
    one = safety(limits=SafetyLimits([-2.0, -2.0], [2.0, 2.0], 3.0, 50.0, 100.0))
    one.limit(1e-3, [0.0, 0.0])
    for t, tau in before:
        last = one.limit(t, tau)
    command = one.limit(max(t for t, _ in before) + 1e-3, [50.0, 50.0])
    assert np.abs(command - last).max() <= 0.1 * (1 + 1e-9)


def test_torque_rates_over_time():
    limits = SafetyLimits([-2.0, -2.0], [2.0, 2.0], 3.0, 50.0, [100.0, np.inf])
    one, commands = safety(limits=limits, torque_step=2.0), []
    for k in range(500):
        commands.append(one.limit(1e-3 * k, [40.0, 40.0]))
    steps = np.diff(commands, axis=0)
    assert steps[:, 0].max() <= 0.1 * (1 + 1e-9)
    assert steps[:, 1].max() <= 2.0 * (1 + 1e-9)
    assert one.reason is Reason.torque_rate
    assert commands[-1].tolist() == [40.0, 40.0]
    short = safety(limits=limits)
    for k in range(200):
        short.limit(1e-3 * k, [15.0, 40.0])
    assert short.reason is None


PANDA = th.Robot.load("panda")
Q = np.array([0.0, -0.3, 0.0, -2.0, 0.0, 1.8, 0.7])


def walled(obstacle, **changes):
    return safety(PANDA, SafetyLimits.of(PANDA, obstacles=[obstacle], **changes))


def test_workspace():
    """A wall, a clearance, a motion towards it, and an elbow that is behind it while the hand is not."""
    tip = PANDA.forward_kinematics(Q)[:3, 3]
    still = np.zeros(7)
    wall = th.geometry.HalfSpace(tip + np.array([0.02, 0.0, 0.0]), [-1.0, 0.0, 0.0])
    assert walled(wall).check(0.0, Q, still) is None
    assert walled(wall, clearance=0.03).check(0.0, Q, still) is Reason.workspace
    towards = np.linalg.pinv(PANDA.jacobian(Q)[:3]) @ [1.0, 0.0, 0.0]
    assert walled(wall).check(0.0, Q, 0.3 * towards) is None
    assert walled(wall).check(0.0, Q, 0.6 * towards) is Reason.workspace
    elbow = PANDA.forward_kinematics(Q, 4)[:3, 3]
    assert walled(th.geometry.Sphere(elbow + np.array([0.0, 0.0, 0.03]), 0.05)).check(0.0, Q, still) is Reason.workspace


def test_contact():
    detector = th.control.ContactDetector(2.0)
    one = safety(observer=th.control.MomentumObserver(ELBOW, 50.0, detector=detector))
    gravity = ELBOW.gravity_vector(REST)
    for k in range(200):
        assert one.check(1e-3 * k, REST, REST) is None or k == 0
        one.limit(1e-3 * k, gravity, 0.4 * gravity)  # the drive's part counts
        if k == 0:
            one.reason = None
    for k in range(200, 300):  # at rest with 5 N m more: something holds the arm
        one.limit(1e-3 * k, gravity + np.array([0.0, 5.0]), 0.4 * gravity)
        if one.check(1e-3 * k, REST, REST) is Reason.contact:
            break
    assert one.reason is Reason.contact
    assert k < 230


def test_own_limits_are_checked_after_the_changes():
    narrow = ELBOW.replace(limits=dataclasses.replace(ELBOW.limits, lower=[-0.04] * 2, upper=[0.04] * 2))
    limits = SafetyLimits.of(narrow, lower=[-0.03] * 2, upper=[0.03] * 2)
    assert np.array_equal([limits.lower, limits.upper], [[-0.03] * 2, [0.03] * 2])
    with pytest.raises(ThunderError, match=r"^lower must be below upper"):
        SafetyLimits.of(narrow)


def test_wrong_limits_are_refused():
    assert_refused(
        (([1.0], [1.0], 1.0, 1.0), "lower must be below upper, got [1.0] and [1.0]"),
        (([0.0], [1.0], -1.0, 1.0), "velocity must be positive, got [-1.0]"),
        (([0.0], [1.0], 1.0, [1.0, 2.0]), "torque must be a number or 1 numbers..."),
        (([NAN], [1.0], 1.0, 1.0), "lower must be without NaN..."),
        call=SafetyLimits,
    )
    assert_refused(
        (lambda: SafetyLimits([0.0], [1.0], 1.0, 1.0, obstacles=[3]), "obstacle must be an Obstacle, got int..."),
        (lambda: SafetyLimits([0.0], [1.0], 1.0, 1.0, most_missed=2**31), "most_missed must be..."),
        (lambda: SafetyLimits.of(ELBOW, speed=1.0), "SafetyLimits.of: ...'speed'..."),
        (lambda: safety(PANDA), "limits must be those of 7 joints, got 2"),
        (lambda: safety(observer=th.control.MomentumObserver(ELBOW, 50.0)), "observer must have a detector..."),
        (lambda: safety(torque_step=0.0), "torque_step must be positive, got [0.0, 0.0]"),
    )
