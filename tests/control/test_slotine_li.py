"""Slotine-Li control: the formula, the Lyapunov identity, and the misprints of the article as negative tests."""

import numpy as np
import pytest

import thunder_py as th
from tests.refusals import assert_refused
from thunder_py.control import GradientAdaptation, Status

from .arms import elbow, elbow_motion

LAMBDA, K_D, GAMMA = 5.0, 8.0, 0.5


def wrong_elbow() -> th.Robot:
    return elbow().with_parameters(0.5 * elbow().parameters)


def slotine_li(**changes: object) -> th.SlotineLi:
    return th.SlotineLi(wrong_elbow(), **{"Lambda": LAMBDA, "K_d": K_D, "adaptation": GAMMA, **changes})  # type: ignore[arg-type]


class WrittenOut:
    """The law in NumPy, with the sign of the adaptation as an argument."""

    def __init__(self, robot: th.Robot, dt: float, sign: float = 1.0) -> None:
        self.robot, self.dt, self.sign = robot, dt, sign
        self.signals = {"error": np.zeros(2), "parameters": robot.parameters.copy()}

    def step(self, t: float, q: np.ndarray, dq: np.ndarray, desired: th.reference.JointReference) -> np.ndarray:
        e = desired.q - q
        dq_r = desired.dq + LAMBDA * e
        ddq_r = desired.ddq + LAMBDA * (desired.dq - dq)
        s = dq_r - dq
        Y = self.robot.slotine_li_regressor(q, dq, dq_r, ddq_r)
        tau = Y @ self.signals["parameters"] + K_D * s
        step = self.sign * self.dt * Y.T @ s / GAMMA
        self.signals = {"error": e, "parameters": self.signals["parameters"] + step}
        return tau


def test_equals_the_law_written_out() -> None:
    ours = th.simulate(elbow(), slotine_li(), elbow_motion(), 2.0)
    theirs = th.simulate(elbow(), WrittenOut(wrong_elbow(), 1e-3), elbow_motion(), 2.0)
    np.testing.assert_allclose(ours.q, theirs.q, atol=1e-10)
    np.testing.assert_allclose(ours.tau, theirs.tau, atol=1e-8)
    # the written-out law already holds the next estimate when it is logged
    np.testing.assert_allclose(ours.parameters[1:], theirs.parameters[:-1], atol=1e-9)


@pytest.mark.filterwarnings("ignore:the run diverged:RuntimeWarning")
def test_adaptation_converges_and_the_printed_sign_does_not() -> None:
    """Errata T-2: the article's Appendix C prints a minus."""
    start = elbow_motion()(0.0).q + np.array([0.4, 0.0])
    right = th.simulate(elbow(), WrittenOut(wrong_elbow(), 1e-3), elbow_motion(), 10.0, q0=start)
    with np.errstate(all="ignore"):
        printed = th.simulate(elbow(), WrittenOut(wrong_elbow(), 1e-3, sign=-1.0), elbow_motion(), 10.0, q0=start)
    assert right.error_norm()[-1000:].max() < 5e-3
    assert printed.status[-1] == Status.diverged or printed.error_norm().max() > 10.0


def test_full_gamma() -> None:
    p = elbow().p
    Gamma = np.eye(p) + 0.3 * (np.eye(p, k=1) + np.eye(p, k=-1))
    law = slotine_li(adaptation=Gamma)
    q, dq, d = np.array([0.1, 0.2]), np.array([0.3, -0.1]), elbow_motion()(0.0)
    start = law.parameters
    law.step(0.0, q, dq, d)
    law.step(0.01, q, dq, d)
    dq_r, ddq_r = d.dq + LAMBDA * (d.q - q), d.ddq + LAMBDA * (d.dq - dq)
    Y = elbow().slotine_li_regressor(q, dq, dq_r, ddq_r)
    np.testing.assert_allclose(law.parameters - start, 0.01 * np.linalg.solve(Gamma, Y.T @ (dq_r - dq)), atol=1e-12)


def test_only_unknown_parameters_move() -> None:
    law = slotine_li(adaptation=GradientAdaptation(GAMMA, unknown="link2"))
    run = th.simulate(elbow(), law, elbow_motion(), 1.0)
    known = ~law.unknown.mask
    assert law.unknown.names[0] == "link2.m"
    np.testing.assert_array_equal(run.parameters[:, known], np.tile(wrong_elbow().parameters[known], (len(run.t), 1)))
    assert np.abs(run.parameters[-1] - run.parameters[0])[~known].max() > 1e-3


def test_parameters_can_be_set_and_reset() -> None:
    law = slotine_li()
    law.parameters = elbow().parameters
    d = elbow_motion()(0.0)
    law.step(0.0, d.q + 0.3, d.dq, d)
    law.step(0.05, d.q + 0.3, d.dq, d)
    assert not np.array_equal(law.parameters, elbow().parameters)
    law.reset()
    np.testing.assert_array_equal(law.parameters, elbow().parameters)
    with pytest.raises(ValueError, match=r"parameters must have shape \(20,\), got \(3,\)"):
        law.parameters = np.zeros(3)


def test_refusals() -> None:
    law = slotine_li()
    T = elbow().forward_kinematics([0.1, 0.2])
    assert_refused(
        (lambda: law.step(0.0, [0, 0], [0, 0], th.reference.SetPose(T)(0.0)), "...follows joint-space references;...")
    )
