import numpy as np
import pytest

import thunder_py as th
from tests.refusals import assert_refused
from thunder_py.control import AdaptiveJacobianBackstepping, ExactPosition, LengthAdaptation, Status, tune
from thunder_py.control.length_gains import _EVERY, length_adaptation
from thunder_py.control.motion_states import typical_states
from thunder_py.reference import Lissajous
from thunder_py.robot.lengths import with_lengths

from .arms import Q0
from .test_adaptive_jacobian import displaced

PANDA = th.Robot.load("panda")
UR5E = th.Robot.load("ur5e").replace(armature=np.full(6, 0.1))
SIZE = (0.06, 0.08, 0.06), (0.5, 0.4, 0.7)
ARMS = {"panda": (PANDA, Q0), "ur5e": (UR5E, np.array([0.0, -1.2, 1.6, -1.9, -1.57, 0.3]))}


def test_fastest_combination_has_the_time_constant() -> None:
    """Of the matrix W' (Lambda K_p^-1 + J K_d^-1 J')^-1 W + gamma P' P, from differences of the kinematics."""
    K_d, K_p, Lambda, names = np.linspace(20.0, 5.0, 7), np.array([90.0, 80, 70, 5, 4, 3]), 10.0, ["d_5", "tool_x"]
    states = typical_states(PANDA, 1.0)
    gains = {"Lambda": Lambda, "K_p": K_p, "K_d": K_d}
    found = length_adaptation(PANDA, names, gains, states, states, 2.0)
    assert found.gamma == pytest.approx(800.0)
    longer = [with_lengths(PANDA, {"d_5": 0.384 + 0.1}), with_lengths(PANDA, {"tool_x": 0.1})]
    information = np.zeros((2, 2))
    rows = range(0, len(states.q), _EVERY)
    for q, dq in ((states.q[i], states.dq[i]) for i in rows):
        J = PANDA.jacobian(q)
        W = 10.0 * np.array([(arm.jacobian(q) - J) @ dq for arm in longer]).T
        P = 10.0 * np.array([(arm.forward_kinematics(q) - PANDA.forward_kinematics(q))[:3, 3] for arm in longer]).T
        compliance = np.diag(Lambda / K_p) + J @ np.diag(1.0 / K_d) @ J.T
        information += (W.T @ np.linalg.solve(compliance, W) + 800.0 * P.T @ P) / len(rows)
    rates = np.linalg.eigvals(np.diag(1.0 / np.asarray(found.Gamma)) @ information).real
    assert rates.max() == pytest.approx(0.5, rel=1e-6)
    np.testing.assert_allclose(np.divide(*np.asarray(found.Gamma)), np.divide(*np.diag(information)), rtol=1e-9)
    assert length_adaptation(PANDA, "tool_x", gains, states, states, 2.0).Gamma_torque is None


@pytest.mark.release
@pytest.mark.parametrize(
    ("name", "changes"), [("panda", {"d_3": 1.07, "d_5": 0.94}), ("ur5e", {"a_2": 1.05, "a_3": 0.93})]
)
def test_tuned_lengths_improve_the_tracking(name: str, changes: dict[str, float | None]) -> None:
    robot, q0 = ARMS[name]
    plant, period = displaced(robot, changes), 2e-3
    motion = Lissajous.starting_at(plant.forward_kinematics(q0), *SIZE)
    typical, measure = Lissajous.starting_at(robot.forward_kinematics(q0), *SIZE), ExactPosition(plant)
    tuning = tune(
        robot, AdaptiveJacobianBackstepping, typical, period=period, q0=q0, duration=2.0, time_constant=0.2,
        lengths=list(changes), measure=measure, unknown=robot.link_names[-1],
    )  # fmt: skip
    errors = []
    for arguments in ({**tuning.arguments, "lengths": None}, tuning.arguments):
        law = AdaptiveJacobianBackstepping(robot, **arguments)
        run = th.simulate(plant, law, motion, 1.2, period, q0=q0, payloads=[th.Payload(0.5)])
        assert (run.status == Status.ok).all()
        late = run.t > 0.8
        p_d = np.array([motion(t).p for t in run.t[late]])
        errors.append(np.linalg.norm(p_d - plant.forward_kinematics(run.q[late])[:, :3, 3], axis=1).mean())
    assert errors[1] < 0.8 * errors[0]
    assert "Gamma of lengths" in str(tuning)
    assert tuning.to_dict()["lengths"]["unknown"] == list(changes)


def test_refusals() -> None:
    assert_refused(
        ({"lengths": "a_9"}, "no length of panda is called 'a_9'..."),
        ({"lengths": "d_3", "adaptation": "natural"}, "adaptation must be a GradientAdaptation without bounds..."),
        ({"lengths": LengthAdaptation(1.0, unknown="d_3")}, "Gamma_torque must be given..."),
        call=lambda **options: tune(
            PANDA, AdaptiveJacobianBackstepping, period=1e-3, measure=ExactPosition(PANDA), **options
        ),
    )
