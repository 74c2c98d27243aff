"""Backstepping with unknown lengths: exact models, the derivative of its Lyapunov function, tracking, statuses."""

from __future__ import annotations

import re
from functools import cache
from typing import Any

import numpy as np
import pytest

import thunder_py as th
from thunder_py.control import AdaptiveJacobianBackstepping, ExactPosition, GradientAdaptation, LengthAdaptation, Status
from thunder_py.control.length_adaptation import LengthModel
from thunder_py.reference import SetPose
from thunder_py.robot.lengths import length_names, lengths_of, with_lengths

from .arms import Q0, backstepping, lissajous, panda, wrong_panda
from .test_backstepping import turned

CHANGES = {"d_3": 1.07, "a_7": 0.9, "tool_z": None}  # factors; the tool's length is 0 in the model and 6 cm in truth


def displaced(robot: th.Robot, changes: dict[str, float | None]) -> th.Robot:
    values = dict(zip(length_names(robot.n), lengths_of(robot), strict=True))
    return with_lengths(robot, {k: 0.06 if f is None else f * values[k] for k, f in changes.items()})


@cache
def longer_panda() -> th.Robot:
    return displaced(panda(), CHANGES)


LENGTHS = LengthAdaptation(300.0, unknown=list(CHANGES), gamma=200.0, Gamma_torque=2.0, scale=[0.02, 0.03, 0.1])


def law_of(robot: th.Robot, plant: th.Robot, **changes: Any) -> AdaptiveJacobianBackstepping:
    arguments: dict[str, Any] = {
        "Lambda": [5, 5, 5, 4, 4, 4],
        "K_p": [100, 80, 60, 20, 15, 10],
        "K_d": [20, 20, 20, 20, 5, 5, 5][: robot.n],
        "adaptation": GradientAdaptation([2] + [20] * 3 + [200] * 6, unknown=robot.link_names[-1]),
        "lengths": LENGTHS,
        "measure": ExactPosition(plant),
    }
    return AdaptiveJacobianBackstepping(robot, **{**arguments, **changes})


def curve(plant: th.Robot) -> th.reference.Lissajous:
    """From a pose that is turned by 30 degrees, so that L matters."""
    return th.reference.Lissajous.starting_at(
        turned(plant.forward_kinematics(Q0), 30.0), (0.1, 0.15, 0.1), (0.2, 0.1, 0.4)
    )


def test_known_lengths_give_backstepping() -> None:
    for task, m in (("pose", 6), ("position", 3)):
        own: dict[str, Any] = {"Lambda": 5.0, "K_p": [100, 80, 60, 20, 15, 10][:m], "task": task}
        law = law_of(wrong_panda(), panda(), lengths=None, **own)
        other = backstepping(wrong_panda(), **own)
        for k in range(10):
            t, q, dq = 0.03 * k, Q0 + 0.05 * np.sin(0.3 * k + np.arange(7)), 0.3 * np.cos(0.2 * k + np.arange(7))
            terms, expected = law.evaluate(q, dq, curve(panda())(t)), other.evaluate(q, dq, curve(panda())(t))
            for name, values in expected._asdict().items():
                np.testing.assert_allclose(getattr(terms, name), values, rtol=0, atol=1e-10, err_msg=name)
            tau = law.step(t, q, dq, curve(panda())(t))
            np.testing.assert_allclose(tau, other.step(t, q, dq, curve(panda())(t)), rtol=0, atol=1e-10)
            np.testing.assert_allclose(law.parameters, other.parameters, rtol=0, atol=1e-12)
            assert law.status is other.status is Status.ok
        assert np.abs(law.parameters - wrong_panda().parameters).max() > 1e-3


@pytest.mark.parametrize(
    ("name", "changes"),
    [
        ("panda", CHANGES),
        ("ur5e", {"a_2": 1.1, "d_4": 0.9, "d_1": 1.05, "tool_x": None}),
        ("scara", {"a_1": 0.9, "d_3": 1.1}),  # the third joint is prismatic
    ],
)
def test_kinematics_and_torques_are_exact_in_the_lengths(name: str, changes: dict[str, float | None]) -> None:
    robot = th.Robot.load(name)
    plant, rng = displaced(robot, changes), np.random.default_rng(robot.n)
    mask = robot.unknown(robot.link_names[-1]).mask
    model = LengthModel(robot, LengthAdaptation(1.0, unknown=list(changes), Gamma_torque=1.0), mask)
    true = lengths_of(plant)[model.indices]
    q, dq, dq_r, ddq_r = rng.normal(size=(4, robot.n))
    kinematics = model.kinematics(q, dq, true)
    np.testing.assert_allclose(kinematics.p, plant.forward_kinematics(q)[:3, 3], atol=1e-13)
    np.testing.assert_allclose(kinematics.J, plant.jacobian(q), atol=1e-13)
    np.testing.assert_allclose(kinematics.J_dot, plant.jacobian_dot(q, dq), atol=1e-12)
    np.testing.assert_allclose(kinematics.dJ[:, 3:], 0.0, atol=1e-12)  # lengths do not turn anything
    heavier = plant.with_parameters(np.where(mask, 1.5, 1.0) * plant.parameters)
    torque = np.tensordot(model.regressor(q, dq, dq_r, ddq_r), model.products(true, heavier.parameters), 2)
    expected = heavier.slotine_li_regressor(q, dq, dq_r, ddq_r) @ heavier.parameters
    np.testing.assert_allclose(torque, expected, atol=1e-11 * np.abs(expected).max())


def steps(law: AdaptiveJacobianBackstepping, plant: th.Robot, count: int) -> None:
    """Let the estimates leave their initial values, at states apart from the reference."""
    for k in range(count):
        q, dq = Q0 + 0.05 * np.sin(0.2 * k + np.arange(7)), 0.4 * np.cos(0.3 * k + np.arange(7))
        law.step(0.01 * k, q, dq, curve(plant)(0.01 * k))
    assert law.status is Status.ok


def test_reference_acceleration_is_the_derivative_of_the_reference_velocity() -> None:
    """That of the estimated lengths is part of it."""
    plant, h = longer_panda(), 1e-6
    law = law_of(panda(), plant)
    steps(law, plant, 20)
    q, dq = Q0 + 0.1, np.linspace(-0.4, 0.5, 7)
    here, start = law.evaluate(q, dq, curve(plant)(0.2)), law.lengths
    sides = []
    for step in (h, -h):
        law._estimate.lengths = start + step * (here.tracking + here.prediction)
        sides.append(law.evaluate(q + step * dq, dq, curve(plant)(0.2 + step)))
    for name, rate, tolerance in (("dq_r", here.ddq_r, 1e-6), ("e", here.e_dot, 1e-8), ("J", here.J_dot, 1e-7)):
        slope = (getattr(sides[0], name) - getattr(sides[1], name)) / (2 * h)
        np.testing.assert_allclose(slope, rate, rtol=0, atol=tolerance, err_msg=name)
    fixed = law_of(panda(), plant, lengths=None).evaluate(q, dq, curve(plant)(0.2))
    assert np.abs(fixed.ddq_r - here.ddq_r).max() > 0.01


def test_lyapunov_derivative_is_the_proved_one() -> None:
    """From the equations of motion of the arm, at states where every unknown is wrong."""
    plant, Gamma = longer_panda(), np.array([2.0] + [20.0] * 3 + [200.0] * 6)
    law = law_of(wrong_panda(), plant)
    steps(law, plant, 40)
    model, true = law._model, lengths_of(plant)[law._model.indices]
    K_p, K_d, Lambda = (np.array(gain, dtype=float) for gain in (law.K_p, law.K_d, law.Lambda))
    sign = 0.0
    for k in range(10):
        q, dq = Q0 + 0.1 * np.sin(k + np.arange(7)), 0.5 * np.cos(k + np.arange(7))
        terms = law.evaluate(q, dq, curve(plant)(0.1 * k))
        e, s = terms.e, terms.s
        M, C = plant.mass_matrix(q), plant.coriolis_matrix(q, dq)
        s_dot = terms.ddq_r - plant.forward_dynamics(q, dq, terms.tau)
        wrong = true - law.lengths
        gradient = np.einsum("iab,i->ab", terms.Y, s)  # Gamma times the derivatives of the products
        gradient[0, 0] = 0.0
        V_dot = e @ (K_p * terms.e_dot) + s @ M @ s_dot + 0.5 * s @ (C + C.T) @ s
        V_dot -= np.sum((model.products(true, plant.parameters) - law._estimate.products) * gradient)
        V_dot -= 300.0 * wrong @ (terms.tracking + terms.prediction)
        proved = -s @ (K_d * s) - e @ (K_p * Lambda * e) - 200.0 * np.sum((terms.P @ wrong) ** 2)
        assert V_dot == pytest.approx(proved, rel=1e-9)
        sign = max(sign, abs(wrong @ terms.W.T @ (K_p * e) / proved))
    assert sign > 1e-3  # the other sign of the adaptation is not within the tolerance
    law._estimate.adapt(terms.tracking, terms.prediction, terms.P, gradient)
    np.testing.assert_allclose(law._estimate._products_dot[:, 1:] * Gamma, gradient[:, 1:])
    np.testing.assert_allclose(law._estimate._products_dot[:, 0] * 2.0, gradient[:, 0])


def test_a_run_loses_what_the_proof_says() -> None:
    plant = longer_panda()
    law = law_of(wrong_panda(), plant)
    run = th.simulate(plant, law, curve(plant), 0.2, q0=Q0)
    V = run.lyapunov(law)
    lost = np.concatenate([[0.0], np.cumsum(0.5 * (V.V_dot[1:] + V.V_dot[:-1]) * np.diff(V.t))])
    assert V.analytic
    np.testing.assert_allclose(V.V, V.V[0] + lost, rtol=0, atol=0.02 * (V.V[0] - V.V[-1]))
    assert V.V[-1] < 0.98 * V.V[0]
    other = with_lengths(plant, {"d_5": 0.4})  # a length that is wrong and does not adapt
    assert law.lyapunov_dot(other, run) is None


def tracking_errors(robot: th.Robot, q0: np.ndarray, changes: dict[str, float | None], **options: Any) -> list[float]:
    """RMS errors [m] of the last second with lengths that adapt, measured only, and neither; a payload is unknown."""
    plant = displaced(robot, changes)
    motion = th.reference.Lissajous.starting_at(plant.forward_kinematics(q0), (0.06, 0.08, 0.06), (0.5, 0.4, 0.7))
    lengths = LengthAdaptation(unknown=list(changes), **options)
    gains: dict[str, Any] = {"Lambda": 5.0, "K_p": [400] * 3 + [40] * 3, "K_d": [20] * (robot.n - 3) + [5, 5, 3]}
    gains["adaptation"] = GradientAdaptation([2] + [20] * 3 + [200] * 6, unknown=robot.link_names[-1])
    laws = [law_of(robot, plant, **gains, lengths=adapting) for adapting in (lengths, None)]
    errors = []
    for law in (*laws, th.Backstepping(robot, **gains)):
        run = th.simulate(plant, law, motion, 2.0, 2e-3, q0=q0, payloads=[th.Payload(0.5)])
        assert (run.status == Status.ok).all()
        late = run.t > 1.0
        p_d = np.array([motion(t).p for t in run.t[late]])
        errors.append(np.sqrt(np.mean(np.sum((p_d - plant.forward_kinematics(run.q[late])[:, :3, 3]) ** 2, axis=1))))
    return errors
