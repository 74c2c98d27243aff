from collections.abc import Callable

import numpy as np
import pytest

import thunder_py as th
from tests.refusals import assert_refused
from thunder_py.control import AdaptiveJacobianBackstepping, ExactPosition
from thunder_py.reference import SetPose

from .task_terms import states
from .test_task_controllers import K_D, backstepping, computed_torque, impedance, mact, operational_space
from .test_task_terms import later

PANDA = th.Robot.load("panda")  # that of the truth files has no joint limits
POSTURE, LAMBDA_P = np.array([-0.5, -0.3, -0.2, -0.1, 0.2, 0.3, 0.5]), np.linspace(0.5, 1.5, 7)
MIDDLE = 0.5 * (PANDA.limits.lower + PANDA.limits.upper)


def adaptive_jacobian(robot: th.Robot, **options: object) -> AdaptiveJacobianBackstepping:
    gains = {"adaptation": None, "lengths": None, "measure": ExactPosition(robot)}
    return AdaptiveJacobianBackstepping(robot, 5.0, 100.0, K_D[: robot.n], **gains, **options)  # type: ignore[arg-type]


Law = Callable[..., th._core.TaskController]
BY_TORQUE, BY_VELOCITY = (operational_space, computed_torque, impedance), (mact, backstepping, adaptive_jacobian)
LAWS = [pytest.param(law, id=law.__name__) for law in BY_TORQUE + BY_VELOCITY]
STATE = states(3)[0]._replace(robot=PANDA)  # with errors of position and orientation


def gain_of(law: Law) -> dict[str, np.ndarray]:
    """The default of the gain, written out."""
    return {"K_posture": K_D} if law in BY_TORQUE else {"Lambda_posture": np.ones(7)}


def torque(law: th._core.TaskController) -> np.ndarray:
    return law.step(0.0, STATE.q, STATE.dq, STATE.reference)


@pytest.mark.parametrize("law", LAWS)
def test_default_is_the_middle_of_the_joints(law: Law) -> None:
    default = torque(law(PANDA))
    np.testing.assert_array_equal(default, torque(law(PANDA, posture=MIDDLE, **gain_of(law))))
    assert np.abs(default - torque(law(PANDA, posture=None))).max() > 0.1


@pytest.mark.parametrize("law", LAWS)
def test_joints_without_limits_are_free(law: Law) -> None:
    gen3 = th.Robot.load("gen3")
    q, dq = np.array([0.3, 0.5, -0.2, 1.6, 0.2, 0.8, 0.4]), np.linspace(-0.3, 0.3, 7)
    turn, reference = np.array([2 * np.pi, 0, -2 * np.pi, 0, 0, 0, 4 * np.pi]), SetPose(gen3.forward_kinematics(q))(0.0)
    torques = [
        law(gen3, **options).step(0.0, p, dq, reference) for options in ({}, {"posture": 0 * q}) for p in (q, q + turn)
    ]
    np.testing.assert_allclose(torques[1], torques[0], atol=1e-9)
    assert np.abs(torques[3] - torques[2]).max() > 0.1
    limited = np.isfinite(gen3.limits.lower)
    assert (
        np.abs(law(gen3).step(0.0, q, dq, reference) - law(gen3, posture=None).step(0.0, q, dq, reference)).max() > 1e-3
    )
    assert limited.tolist() == [False, True, False, True, False, True, False]


@pytest.mark.parametrize("law", LAWS)
def test_refusals(law: Law) -> None:
    (gain,) = gain_of(law)
    assert_refused(
        ({"posture": None, gain: 1.0}, f"{gain} must be None without a posture, got 1.0"),
        ({"posture": "center"}, "posture must be one of middle, got 'center'..."),
        ({"posture": np.ones(6)}, "posture must have shape (7,), got (6,)"),
        ({"posture": [np.nan] * 7}, "posture must be finite..."),
        ({"posture": [9.0] * 7}, "posture must be within the joint limits, -2.8973 to 2.8973 for joint1, got 9..."),
        ({"posture": np.zeros(7)}, "posture must be within the joint limits, -3.0718 to -0.0698 for joint4, got 0..."),
        ({gain: -1.0}, f"{gain} must be positive definite, its smallest eigenvalue is -1..."),
        call=lambda **options: law(PANDA, **options),
    )


def backstepping_terms(posture: object, rows: int = 6) -> tuple[th.Backstepping, th.control.BacksteppingTerms]:
    gain = None if posture is None else LAMBDA_P
    law = backstepping(PANDA, K_p=100.0, posture=posture, Lambda_posture=gain, task="pose" if rows == 6 else "position")
    return law, law.evaluate(STATE.q, STATE.dq, STATE.reference)


@pytest.mark.parametrize("rows", [6, 3])
def test_backstepping_projects_the_posture(rows: int) -> None:
    """dq_r = J^+ L^-1 (L' xi_d + Lambda e) + (I - J^+ J) Lambda_p (posture - q), and its exact derivative."""
    J = PANDA.jacobian(STATE.q)[:rows]
    law, terms = backstepping_terms(POSTURE, rows)
    _, plain = backstepping_terms(None, rows)
    N = np.eye(7) - np.linalg.pinv(J) @ J
    np.testing.assert_allclose(terms.dq_r, plain.dq_r + N @ (LAMBDA_P * (POSTURE - STATE.q)), atol=1e-12)
    np.testing.assert_array_equal(terms.e, plain.e)
    np.testing.assert_allclose(J @ terms.dq_r, J @ plain.dq_r, atol=1e-12)
    h, ddq = 1e-6, np.linspace(-2.0, 2.0, 7)
    ahead, behind = (later(STATE, k * h, ddq) for k in (1, -1))
    slope = (
        law.evaluate(ahead.q, ahead.dq, ahead.reference).dq_r - law.evaluate(behind.q, behind.dq, behind.reference).dq_r
    )
    np.testing.assert_allclose(slope / (2 * h), terms.ddq_r, atol=1e-6)
