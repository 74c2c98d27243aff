from collections.abc import Callable

import numpy as np
import pytest

import thunder_py as th
from thunder_py.control import ACT, MACT, SlotineLi, Status
from thunder_py.reference import JointReference, Sinusoid

from .arms import elbow

LIMITS = [45.0, 15.0]  # of the elbow [N m]: less than a jump asks for


class Jump:
    """A set point that jumps at half a second."""

    def __call__(self, t: float) -> JointReference:
        return JointReference(np.array([2.0, 0.5]) if t >= 0.5 else np.zeros(2), np.zeros(2), np.zeros(2))


LAWS: dict[str, Callable[[bool], th._core.JointController]] = {
    "SlotineLi": lambda on: SlotineLi(elbow(), 5.0, 20.0, adaptation=3.0 if on else None),
    "MACT": lambda on: MACT(elbow(), 100.0, 20.0, adaptation=3.0 if on else None, R_t=1.0),
    "ACT": lambda on: ACT(elbow(), 100.0, 20.0, adaptation=300.0 if on else None),
}


@pytest.mark.parametrize("name", list(LAWS))
def test_a_clipped_torque_teaches_nothing(name: str) -> None:
    """The model is right and the torque too small: adapting to that error would be winding up."""
    law = LAWS[name](True)
    law.torque_limits = LIMITS
    run = th.simulate(elbow(), law, Jump(), 10.0, q0=[0.0, 0.0])
    assert (run.status == Status.saturated).sum() > 100
    assert (np.abs(run.tau) <= np.array(LIMITS) + 1e-12).all()
    clipped = np.flatnonzero(run.status[:-1] == Status.saturated)
    if name != "MACT":  # whose prediction error sees the applied torque, and goes on
        np.testing.assert_array_equal(run.parameters[clipped + 1], run.parameters[clipped])
    assert run.steady_state_error() < 5e-3
    assert np.abs(run.parameters[-1] - elbow().parameters).max() < 1.0


@pytest.mark.parametrize("gamma", [1.0, 100.0, 1e4])
def test_a_prediction_too_fast_for_euler_is_slowed_down(gamma: float) -> None:
    """Geared arms have large regressor columns: 1e4 is thousands of times past the limit of Euler's rule."""
    scara = th.Robot.load("scara")
    motion = Sinusoid([0.3, 0.3, 0.05, 0.3], 0.5)
    law = MACT(scara.with_parameters(0.8 * scara.parameters), 100.0, 100.0, adaptation=10.0, gamma=gamma, R_t=1.0)
    run = th.simulate(scara, law, motion, 10.0, log_every=10)
    assert run.status.max() == Status.ok
    assert run.steady_state_error() < 0.02


def test_infinity_is_no_limit() -> None:
    law = LAWS["SlotineLi"](True)
    law.torque_limits = [np.inf, 1.0]
    tau = law.step(0.0, np.zeros(2), np.zeros(2), Jump()(1.0))
    assert law.status is Status.saturated
    assert abs(tau[0]) > 45.0
    assert tau[1] == 1.0
    law.torque_limits = None
    assert law.torque_limits is None
    for wrong in (np.nan, 0.0, [1.0, -1.0], [1.0], "much"):
        with pytest.raises((ValueError, TypeError), match="torque_limits"):
            law.torque_limits = wrong  # type: ignore[assignment]


def test_estimates_are_integrated_over_100_ms_at_most() -> None:
    moved = []
    for period in (0.05, 0.1, 1.0):
        law = SlotineLi(elbow(), 5.0, 20.0, adaptation=3.0)
        for t in (0.0, period):
            law.step(t, np.zeros(2), np.zeros(2), Jump()(1.0))
        moved.append(law.parameters - elbow().parameters)
    assert np.abs(moved[0]).max() > 0.0
    np.testing.assert_allclose(moved[1], 2.0 * moved[0], atol=1e-12)
    np.testing.assert_array_equal(moved[2], moved[1])
