"""What a CLIK reports, and what it refuses: singular starts, NaN, targets out of reach, limits, bad arguments."""

import numpy as np
import pytest

import thunder_py as th
from tests.kinematics.motions import PANDA_START, SCARA_ROWS, Swing, at_rest, pose, robot
from tests.refusals import assert_refused
from thunder_py.kinematics import CLIK, JointCentering, Manipulability, Posture

Status = th._core.Status
STRETCHED = np.array([0.3, 0.0, 0.1, 0.2])
OPTIONS = {"rows": SCARA_ROWS, "orientation": "rotation_vector"}


def beside(q):
    """A target beside where the SCARA's tip is at q."""
    T = pose(q, "scara").copy()
    T[:3, 3] += [0.02, 0.01, 0.0]
    return at_rest(T)


@pytest.mark.parametrize(("method", "order"), [("inverse", 1), ("pseudoinverse", 1), ("inverse", 2)])
def test_singular_start_stands_still(method, order):
    gains = {"K_0": 20.0, "K_1": 10.0} if order == 2 else {"Lambda": 20.0}
    clik = CLIK(robot("scara"), method=method, **OPTIONS, **gains)
    dq = np.array([0.1, 0.2, -0.3, 0.4])
    out = clik.step(0.0, STRETCHED, beside(STRETCHED), dq)
    assert clik.status == Status.singular
    np.testing.assert_array_equal(out, -10.0 * dq if order == 2 else np.zeros(4))
    result = clik.follow(lambda t: beside(STRETCHED), STRETCHED, 0.01)
    assert not result.ok
    assert (result.q == STRETCHED).all()


@pytest.mark.parametrize(
    ("broken", "order"), [*((what, 1) for what in ("q", "p", "xi", "R", "null")), ("dq", 2), ("q", 2), ("p", 2)]
)
def test_nan_is_a_status(broken, order):
    gains = {"K_0": 5.0, "K_1": 5.0} if order == 2 else {"Lambda": 5.0}
    q, dq, reference = PANDA_START.copy(), np.full(7, 0.1), Swing(pose(PANDA_START))(0.1)
    reference = reference._replace(**{k: np.array(getattr(reference, k)) for k in reference._fields})
    null = np.zeros(7)
    clik = CLIK(robot("panda"), null_space=lambda t, q: null, **gains)
    if broken == "R":
        reference.R[0, 0] += 0.1  # no rotation any more
    else:
        {"q": q, "dq": dq, "null": null}.get(broken, getattr(reference, broken, None))[1] = np.nan
    out = clik.step(0.0, q, reference, dq)
    assert clik.status == Status.invalid_input
    assert np.isfinite(out).all()
    if order == 1:
        assert not out.any()
    null[:] = 0.0
    clik.step(0.0, PANDA_START, Swing(pose(PANDA_START))(0.1), np.zeros(7))
    assert clik.status == Status.ok


def test_l_inverse_at_89_degrees_is_no_singularity_of_the_arm():
    T = pose(PANDA_START)
    for degrees, expected in ((88.0, Status.ok), (89.5, Status.singular)):
        clik = CLIK(robot("panda"), 2.0, orientation="axis_angle", limits=False)
        clik.step(0.0, PANDA_START, Swing(T, offset=np.radians(degrees), angle=0.0)(0.0))
        assert clik.status == expected


def test_joint_reference_says_how_far_off_it_is():
    """A damped CLIK points at what is out of reach, limits hold it back: nothing in its status."""
    panda = robot("panda")
    far = pose(PANDA_START).copy()
    far[0, 3] = 5.0
    damped = CLIK(panda, 5.0, method="damped", damping=0.1)
    assert_refused(
        (lambda: damped.joint_reference(th.reference.SetPose(far), PANDA_START, 0.1), "...its task error is 4...")
    )
    curve = th.reference.Lissajous.starting_at(pose(PANDA_START), (0.2, 0.2, 0.1), (0.5, 0.4, 0.3))
    arguments = (curve, PANDA_START, 0.5, 2e-3)
    slow = CLIK(panda, K_0=400.0, K_1=40.0, velocity_limits=0.05)
    missed = slow.follow(*arguments, integrator="rk4").error_norm()
    assert missed.max() > 0.1
    message = rf"its task error is {missed.max():.3g} at t = {2e-3 * missed.argmax():g} s, tolerance 0\.05"
    with pytest.raises(ValueError, match=message):
        slow.joint_reference(*arguments, tolerance=0.05)
    assert slow.joint_reference(*arguments, tolerance=None)(0.5).q.shape == (7,)
    with pytest.raises(ValueError, match=r"^tolerance must be positive, got -1$"):
        slow.joint_reference(*arguments, tolerance=-1.0)


@pytest.mark.parametrize("order", [1, 2])
def test_null_space_that_returns_nothing(order):
    gains = {"K_0": 5.0, "K_1": 5.0} if order == 2 else {"Lambda": 5.0}
    clik = CLIK(robot("panda"), null_space=lambda t, q: None, **gains)
    with pytest.raises(ValueError, match=r"^null_space must return joint velocities \(7,\), got None at t = 0\.5 s$"):
        clik.step(0.5, PANDA_START, at_rest(pose(PANDA_START)), np.zeros(7))
    with pytest.raises(ValueError, match=r"^null_space must return joint velocities \(7,\), got None at t = 0 s$"):
        clik.follow(th.reference.SetPose(pose(PANDA_START)), PANDA_START, 0.01)


def test_other_refusals():
    assert_refused(
        (lambda: CLIK(robot("scara"), 1.0), "method 'pseudoinverse' needs at least as many joints as rows, got 6 ..."),
        (lambda: CLIK("panda", 1.0), "robot must be a Robot, got str: 'panda'"),
    )
    clik = CLIK(robot("panda"), K_0=1.0, K_1=1.0)
    reference = at_rest(pose(PANDA_START))
    assert_refused(
        (lambda: clik.step(0.0, PANDA_START, reference), "dq must be an array for a CLIK of order 2, got None"),
        (lambda: clik.step(0.0, PANDA_START, 3.0, PANDA_START), "...has no p, R, xi, xi_dot"),
        (lambda: clik.follow(reference, PANDA_START, 1.0), "reference must be callable with a time, got TaskReference"),
        (lambda: clik.follow(lambda t: reference, PANDA_START, -1.0), "duration must be positive, got -1"),
        (lambda: clik.follow(lambda t: reference, PANDA_START, 1e9), "duration must be at most 5000000 steps of 0..."),
        (lambda: clik.follow(lambda t: reference, PANDA_START, 0.01, dt=1.0), "duration must be at least dt, 1 s,..."),
        (
            lambda: clik.follow(lambda t: reference, PANDA_START, 1.0, integrator="rk45"),
            "integrator must be one of euler, rk4, got 'rk45'; did you mean 'rk4'?",
        ),
        (
            lambda: CLIK(robot("panda"), 1.0).follow(lambda t: reference, PANDA_START, 1.0, dq0=np.zeros(7)),
            "dq0 must be None for order 1",
        ),
    )
    with pytest.raises(ZeroDivisionError):  # what a user's callable raises comes through
        clik.follow(lambda t: 1 / 0, PANDA_START, 1.0)
    with pytest.raises(ValueError, match=r"^Lambda_o must be a number, \(3,\) or \(3, 3\), got shape \(2,\)$"):
        CLIK.visual_servoing(robot("panda"), 1.0, [1.0, 2.0])


def test_bad_arguments():
    clik = CLIK(robot("scara"), 5.0, method="inverse", **OPTIONS)
    assert_refused(
        (lambda: clik.joint_reference(lambda t: beside(STRETCHED), STRETCHED, 0.1), "the CLIK cannot follow this r...")
    )


def test_more_refusals():
    assert_refused(
        ({"Lambda": -1.0}, "Lambda must be positive definite..."),
        ({"Lambda": [1.0, 2.0]}, "Lambda must be a number, 6 numbers or a 6 x 6 matrix..."),
        ({"method": "pseudo"}, "method must be one of inverse, transpose, ... did you mean 'pseudoinverse'?"),
        ({"orientation": "euler"}, "orientation must be one of axis_angle, axis_angle_plain, ..."),
        ({"method": "inverse"}, "method 'inverse' needs as many rows as joints, got 6 rows and 7 joints; choose..."),
        ({"Lambda": None}, "gains must be Lambda, or K_0 and K_1, got none"),
        ({"Lambda": None, "K_0": 1.0}, "gains must be Lambda, or K_0 and K_1, got K_0"),
        ({"K_1": 1.0}, "gains must be Lambda, or K_0 and K_1, got Lambda and K_1"),
        ({"Lambda": None, "K_0": -1.0, "K_1": 1.0}, "K_0 must be positive definite..."),
        ({"Lambda": None, "K_0": 1.0, "K_1": [[1, 2], [0, 1]]}, "K_1 must be..."),
        ({"Lambda": None, "K_0": 1.0, "K_1": 1.0, "method": "transpose"}, "method 'transpose' is of order 1, got o..."),
        ({"method": "damped"}, "damping must be given for method 'damped'"),
        ({"damping": 0.1}, "damping and threshold must be None for method 'pseudoinverse': only 'damped' uses them"),
        ({"method": "damped", "damping": 0.0}, "damping must be positive, got 0"),
        ({"method": "damped", "damping": 0.1, "measure": "det"}, "measure must be one of singular_value, manip..."),
        ({"rows": ["y", "x"]}, "rows must be some of x, y, z, rx, ry, rz, or of 0 to 5, in this order, got [..."),
        ({"rows": []}, "rows must be..."),
        ({"frame": "hand"}, "frame..."),
        ({"velocity_limits": [1.0, 2.0]}, "velocity_limits must be a number or 7 numbers, one per joint, got 2"),
        ({"velocity_limits": 0.0}, "velocity_limits must be positive, got [..."),
        ({"null_space": [1.0, 2.0]}, "null_space must have shape (7,), got (2,)"),
        ({"null_space": Manipulability(-1.0)}, "gain must be positive, got -1"),
        ({"null_space": Posture([0.0], 1.0)}, "q must have shape (7,), got (1,)"),
        ({"null_space": JointCentering(1.0, lower=np.ones(7), upper=-np.ones(7))}, "lower must not exceed upper..."),
        ({"method": "transpose", "null_space": np.zeros(7)}, "null_space must be None for method 'transpose': only..."),
        ({"largest_condition": 0.0}, "largest_condition must be positive, got 0"),
        call=lambda **arguments: CLIK(robot("panda"), **{"Lambda": 1.0, **arguments}),
    )
