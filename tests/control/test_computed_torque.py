"""Computed torque: the formulae, the linear error dynamics of Craig's form, and D4.2's form (53), which may diverge."""

import numpy as np
import pytest

import thunder_py as th
from thunder_py.control import ComputedTorque
from thunder_py.reference import Sinusoid

from .arms import elbow
from .laws import ARMS, arm, random_state, rest, spd


@pytest.mark.parametrize("name", ARMS)
def test_equals_the_laws_written_out(name: str) -> None:
    robot, rng = arm(name), np.random.default_rng(1)
    K_p, K_d = spd(robot.n, rng, 50.0), spd(robot.n, rng, 5.0)
    craig, impedance = ComputedTorque(robot, K_p, K_d), ComputedTorque(robot, K_p=K_p, K_d=K_d)
    for _ in range(5):
        q, dq, d = random_state(robot.n, rng)
        feedback, M = K_d @ (d.dq - dq) + K_p @ (d.q - q), robot.mass_matrix(q)
        np.testing.assert_allclose(
            craig.step(0.0, q, dq, d), M @ (d.ddq + feedback) + rest(robot, q, dq), rtol=1e-10, atol=1e-9
        )
        np.testing.assert_allclose(
            impedance.step(0.0, q, dq, d), M @ d.ddq + rest(robot, q, dq) + feedback, rtol=1e-10, atol=1e-9
        )


# errata D-5: an elbow that swings at 10 rad/s with little damping
SWING = Sinusoid([0.0, 1.4], [10.0 / (2 * np.pi)] * 2, center=[0.0, np.pi / 2], phase=[0.0, np.pi / 2])
K_P, K_V = 16.0, 0.05


class CoriolisOfReference:
    """M ddq_d + C(q, dq) dq_d + G + K_d de + K_p e: D4.2's (63) with a known model."""

    def __init__(self, robot: th.Robot) -> None:
        self.robot, self.signals = robot, {"error": np.zeros(2)}

    def step(self, t: float, q: np.ndarray, dq: np.ndarray, d: th.reference.JointReference) -> np.ndarray:
        self.signals["error"] = e = d.q - q
        M, C, G = self.robot.mass_matrix(q), self.robot.coriolis_matrix(q, dq), self.robot.gravity_vector(q)
        return np.asarray(M @ d.ddq + C @ d.dq + G + K_V * (d.dq - dq) + K_P * e)


def test_printed_form_diverges() -> None:
    """Errata D-5, in simulation: from an error of 1e-3 to radians, where the two other forms stay."""
    start, runs = SWING(0.0), {}
    laws = {
        "printed": ComputedTorque(elbow(), K_p=K_P, K_d=K_V),
        "craig": ComputedTorque(elbow(), K_P, K_V),
        "reference": CoriolisOfReference(elbow()),
    }
    for name, law in laws.items():
        dt = 5e-4 if name == "reference" else 2e-4
        runs[name] = th.simulate(elbow(), law, SWING, 10.0, dt, q0=start.q + 1e-3, dq0=start.dq, log_every=20)
    assert runs["printed"].error_norm().max() > 1.0
    assert runs["craig"].error_norm().max() < 0.05
    assert runs["reference"].error_norm().max() < 0.15
