from functools import cache
from typing import Any

import numpy as np
import pytest

import thunder_py as th
from tests.refusals import assert_refused
from thunder_py.control import AdaptiveJacobianBackstepping, ExactPosition, GradientAdaptation, LengthAdaptation, Status
from thunder_py.control.length_adaptation import LengthModel
from thunder_py.reference import SetPose
from thunder_py.robot.lengths import length_names, lengths_of, with_lengths

from .arms import Q0, backstepping, panda, wrong_panda
from .test_backstepping import turned

CHANGES = {"d_3": 1.07, "a_7": 0.9, "tool_z": None}  # factors; the tool's length is 0 in the model and 6 cm in truth


def displaced(robot: th.Robot, changes: dict[str, float | None]) -> th.Robot:
    values = dict(zip(length_names(robot.n), lengths_of(robot), strict=True))
    return with_lengths(robot, {k: 0.06 if f is None else f * values[k] for k, f in changes.items()})


@cache
def longer_panda() -> th.Robot:
    return displaced(panda(), CHANGES)


POSTURE: dict[str, Any] = {"posture": Q0 + 0.3 * np.cos(np.arange(7)), "Lambda_posture": np.linspace(1.0, 3.0, 7)}
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


@pytest.mark.parametrize(
    "posture", [{}, {"posture": None}, {"posture": 0.9 * Q0, "Lambda_posture": np.linspace(0.5, 2.0, 7)}]
)
def test_known_lengths_give_backstepping(posture: dict[str, Any]) -> None:
    for task, m in (("pose", 6), ("position", 3)):
        own: dict[str, Any] = {"Lambda": 5.0, "K_p": [100, 80, 60, 20, 15, 10][:m], "task": task, **posture}
        robot = wrong_panda().replace(limits=th.Robot.load("panda").limits)
        law = law_of(robot, panda(), lengths=None, **own)
        other = backstepping(robot, **own)
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
    np.testing.assert_allclose(kinematics["p"], plant.forward_kinematics(q)[:3, 3], atol=1e-13)
    moved = robot.forward_kinematics(q)[:3, 3] + model.offsets(q, true - model.nominal)
    np.testing.assert_allclose(kinematics["p"], moved, atol=1e-13)
    np.testing.assert_allclose(kinematics["J"], plant.jacobian(q), atol=1e-13)
    np.testing.assert_allclose(kinematics["J_dot"], plant.jacobian_dot(q, dq), atol=1e-12)
    np.testing.assert_allclose(kinematics["dJ"][:, 3:], 0.0, atol=1e-12)  # lengths do not turn anything
    heavier = plant.with_parameters(np.where(mask, 1.5, 1.0) * plant.parameters)
    torque = np.tensordot(model.regressor(q, dq, dq_r, ddq_r), model.products(true, heavier.parameters), 2)
    expected = heavier.slotine_li_regressor(q, dq, dq_r, ddq_r) @ heavier.parameters
    np.testing.assert_allclose(torque, expected, atol=1e-11 * np.abs(expected).max())


@pytest.mark.parametrize("gravity", [True, False])
def test_no_inertial_parameters_fit_wrong_lengths(gravity: bool) -> None:
    """Errata T-18. Without gravity the parameters of a planar arm absorb a wrong length, under gravity they cannot."""
    robot = th.Robot.load("elbow").replace(**({} if gravity else {"gravity": (0.0, 0.0, 0.0)}))
    plant = with_lengths(robot, {"a_1": 0.55})
    model = LengthModel(robot, LengthAdaptation(1.0, unknown="a_1", Gamma_torque=1.0), np.ones(robot.p, dtype=bool))
    states = np.random.default_rng(1).normal(size=(40, 4, 2))
    torque = np.concatenate([plant.slotine_li_regressor(*x) @ plant.parameters for x in states])
    nominal = np.vstack([robot.slotine_li_regressor(*x) for x in states])
    products = np.vstack([model.regressor(*x).reshape(2, -1) for x in states])
    left = [
        np.linalg.norm(torque - Y @ np.linalg.lstsq(Y, torque)[0]) / np.linalg.norm(torque) for Y in (nominal, products)
    ]
    assert (left[0] > 1e-3) == gravity
    assert max(left[1], 0.0 if gravity else left[0]) < 1e-10


def steps(law: AdaptiveJacobianBackstepping, plant: th.Robot, count: int) -> None:
    """Let the estimates leave their initial values, at states apart from the reference."""
    for k in range(count):
        q, dq = Q0 + 0.05 * np.sin(0.2 * k + np.arange(7)), 0.4 * np.cos(0.3 * k + np.arange(7))
        law.step(0.01 * k, q, dq, curve(plant)(0.01 * k))
    assert law.status is Status.ok


def test_reference_acceleration_is_a_derivative() -> None:
    """That of the estimated lengths is part of it."""
    plant, h = longer_panda(), 1e-6
    law = law_of(panda(), plant, **POSTURE)
    steps(law, plant, 20)
    q, dq = Q0 + 0.1, np.linspace(-0.4, 0.5, 7)
    here, start = law.evaluate(q, dq, curve(plant)(0.2)), law.lengths
    sides = []
    for step in (h, -h):
        law.lengths = start + step * (here.tracking + here.prediction)
        sides.append(law.evaluate(q + step * dq, dq, curve(plant)(0.2 + step)))
    for name, rate, tolerance in (("dq_r", here.ddq_r, 1e-6), ("e", here.e_dot, 1e-8), ("J", here.J_dot, 1e-7)):
        slope = (getattr(sides[0], name) - getattr(sides[1], name)) / (2 * h)
        np.testing.assert_allclose(slope, rate, rtol=0, atol=tolerance, err_msg=name)
    fixed = law_of(panda(), plant, lengths=None, **POSTURE).evaluate(q, dq, curve(plant)(0.2))
    assert np.abs(fixed.ddq_r - here.ddq_r).max() > 0.01


def test_posture_acts_in_the_estimated_null_space() -> None:
    law, plain = (law_of(panda(), longer_panda(), **options) for options in (POSTURE, {"posture": None}))
    for each in (law, plain):
        steps(each, longer_panda(), 20)
        each.lengths = np.array([0.3, -0.1, 0.05])
    q, dq = Q0 + 0.1, np.linspace(-0.4, 0.5, 7)
    terms, others = (each.evaluate(q, dq, curve(longer_panda())(0.2)) for each in (law, plain))
    N = np.eye(7) - np.linalg.pinv(terms.J) @ terms.J
    attraction = N @ (POSTURE["Lambda_posture"] * (POSTURE["posture"] - q))
    np.testing.assert_allclose(terms.dq_r - others.dq_r, attraction, atol=1e-12)
    np.testing.assert_allclose(terms.J @ attraction, 0.0, atol=1e-12)
    assert np.abs(longer_panda().jacobian(q) @ attraction).max() > 0.01  # not in that of the true one


def products_of(law: AdaptiveJacobianBackstepping) -> np.ndarray:
    """The estimated products (a, 1 + u) of the last step."""
    return np.concatenate([[1.0], law.signals["products"]]).reshape(-1, 1 + law.unknown.mask.sum())


def test_lyapunov_derivative_is_the_proved_one() -> None:
    """From the equations of motion of the arm, at states where every unknown is wrong."""
    plant, Gamma = longer_panda(), np.array([2.0] + [20.0] * 3 + [200.0] * 6)
    law = law_of(wrong_panda(), plant, **POSTURE)
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
        V_dot -= np.sum((model.products(true, plant.parameters) - products_of(law)) * gradient)
        V_dot -= 300.0 * wrong @ (terms.tracking + terms.prediction)
        proved = -s @ (K_d * s) - e @ (K_p * Lambda * e) - 200.0 * np.sum((terms.P @ wrong) ** 2)
        assert V_dot == pytest.approx(proved, rel=1e-9)
        sign = max(sign, abs(wrong @ terms.W.T @ (K_p * e) / proved))
    assert sign > 1e-4  # the other sign of the adaptation is not within the tolerance
    law.step(1.0, q, dq, curve(plant)(1.0))
    terms, before, lengths = law.evaluate(q, dq, curve(plant)(1.0)), products_of(law), law.lengths
    law.step(1.0 + 1e-4, q, dq, curve(plant)(1.0))
    rates = (products_of(law) - before) / 1e-4
    gradient = np.einsum("iab,i->ab", terms.Y, terms.s)
    gradient[0, 0] = 0.0
    np.testing.assert_allclose(rates[:, 1:] * Gamma, gradient[:, 1:], atol=1e-9 * np.abs(gradient).max())
    np.testing.assert_allclose(rates[:, 0] * 2.0, gradient[:, 0], atol=1e-9 * np.abs(gradient).max())
    np.testing.assert_allclose((law.lengths - lengths) / 1e-4, terms.tracking + terms.prediction, rtol=1e-9)


def tracking_errors(robot: th.Robot, q0: np.ndarray, changes: dict[str, float | None], **options: Any) -> list[float]:
    """RMS errors [m] of the second half with lengths that adapt, measured only, and neither; a payload is unknown."""
    plant = displaced(robot, changes)
    motion = th.reference.Lissajous.starting_at(plant.forward_kinematics(q0), (0.06, 0.08, 0.06), (0.5, 0.4, 0.7))
    lengths = LengthAdaptation(unknown=list(changes), **options)
    gains: dict[str, Any] = {"Lambda": 5.0, "K_p": [400] * 3 + [40] * 3, "K_d": [20] * (robot.n - 3) + [5, 5, 3]}
    gains["adaptation"] = GradientAdaptation([2] + [20] * 3 + [200] * 6, unknown=robot.link_names[-1])
    laws = [law_of(robot, plant, **gains, lengths=adapting) for adapting in (lengths, None)]
    errors = []
    for law in (*laws, th.Backstepping(robot, **gains)):
        run = th.simulate(plant, law, motion, 1.4, 2e-3, q0=q0, payloads=[th.Payload(0.5)])
        assert (run.status == Status.ok).all()
        late = run.t > 0.7
        p_d = np.array([motion(t).p for t in run.t[late]])
        errors.append(np.sqrt(np.mean(np.sum((p_d - plant.forward_kinematics(run.q[late])[:, :3, 3]) ** 2, axis=1))))
    return errors


@pytest.mark.parametrize(
    ("name", "q0", "changes"),
    [
        ("panda", Q0, {"d_3": 1.07, "d_5": 0.94}),
        pytest.param(
            "ur5e", np.array([0.0, -1.2, 1.6, -1.9, -1.57, 0.3]), {"a_2": 1.05, "a_3": 0.93}, marks=pytest.mark.release
        ),
    ],
)
def test_tracking_with_unknown_lengths_and_payload(name: str, q0: np.ndarray, changes: dict[str, float | None]) -> None:
    robot = th.Robot.load(name)
    robot = robot.replace(armature=np.full(robot.n, 0.1)) if name == "ur5e" else robot
    adapting, measured, plain = tracking_errors(robot, q0, changes, Gamma=2000.0, gamma=4000.0, Gamma_torque=1.0)
    assert adapting < 0.9 * measured
    assert measured < 0.5 * plain


def test_a_long_period_does_not_overshoot_the_measured_position() -> None:
    """At 10 Hz Euler's rule with this gamma would diverge."""
    plant = with_lengths(panda(), {"tool_z": 0.1})
    lengths = LengthAdaptation(1.0, unknown="tool_z", gamma=100.0)
    law, q = law_of(panda(), plant, adaptation=None, lengths=lengths), np.array(Q0)
    here = SetPose(plant.forward_kinematics(q))(0.0)
    for k in range(5):
        law.step(0.1 * k, q, np.zeros(7), here)
    np.testing.assert_allclose(law.lengths, 0.1, atol=1e-9)


class Camera:
    """A measurement that can be lost."""

    lost = False

    def __call__(self, q: np.ndarray, dq: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        p, v = ExactPosition(longer_panda())(q, dq)
        return (np.full(3, np.nan), v) if self.lost else (p, v)


def test_statuses_hold_and_safe_torque() -> None:
    camera, plant, dq = Camera(), longer_panda(), np.full(7, 0.1)
    law = law_of(panda(), plant, measure=camera)
    here = curve(plant)(0.0)
    law.step(0.0, Q0, dq, here)
    camera.lost = True
    tau = law.step(1e-3, Q0, dq, here)
    assert law.status is Status.invalid_input
    coasting = panda().slotine_li_regressor(Q0, dq, dq, 0.0 * dq) @ panda().parameters
    np.testing.assert_allclose(tau, coasting, atol=1e-9)
    camera.lost = False
    silent = law_of(panda(), plant, measure=lambda q, dq: None)
    np.testing.assert_allclose(silent.step(0.0, Q0, np.zeros(7), here), panda().gravity_vector(Q0), atol=1e-9)
    assert silent.status is Status.invalid_input
    for q, velocity, reference in (
        (np.full(7, np.nan), np.zeros(7), here),
        (Q0, np.full(7, np.nan), here),
        (Q0, np.zeros(7), here._replace(R=2.0 * np.eye(3))),
        (Q0, np.zeros(7), here._replace(p=np.full(3, np.nan))),
    ):
        law.reset()
        law.step(0.0, Q0, np.zeros(7), here._replace(p=np.full(3, np.nan)))
        np.testing.assert_allclose(law.step(2e-3, q, velocity, reference), panda().gravity_vector(Q0), atol=1e-9)
        assert law.status is Status.invalid_input
    estimate = law.lengths
    turned_away = SetPose(turned(plant.forward_kinematics(Q0), 95.0))(0.0)
    stretched = np.zeros(7), SetPose(plant.forward_kinematics(np.zeros(7)))(0.0)
    for t, (q, reference) in ((1.0, stretched), (2.0, (Q0, turned_away))):
        tau = law.step(t, q, np.zeros(7), reference)
        assert law.status is Status.singular
        np.testing.assert_allclose(tau, panda().gravity_vector(q), atol=1e-9)
        with pytest.raises(ValueError, match="the law is singular at this state"):
            law.evaluate(q, np.zeros(7), reference)
    np.testing.assert_array_equal(law.lengths, estimate)
    law.step(2.001, Q0, 0 * dq, here)
    assert law.status is Status.ok


def test_an_error_of_the_measurement_is_raised() -> None:
    def broken(q: np.ndarray, dq: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        raise KeyError("camera")

    here = SetPose(longer_panda().forward_kinematics(Q0))
    for measure, message in ((broken, "camera"), (lambda q, dq: (q, dq), r"result of measure must have shape \(3,\)")):
        law = law_of(panda(), panda(), measure=measure)
        with pytest.raises((KeyError, ValueError), match=message):
            law.step(0.0, Q0, np.zeros(7), here(0.0))
        assert law.status is Status.invalid_input
        with pytest.raises((KeyError, ValueError), match=message):
            th.simulate(panda(), law, here, 0.1, q0=Q0)


def test_clipped_torques_teach_only_predicted_lengths() -> None:
    plant, here = longer_panda(), curve(longer_panda())(0.0)
    law = law_of(wrong_panda(), plant)
    law.torque_limits = 5.0
    assert np.abs(law.step(0.0, Q0, np.full(7, 0.1), here)).max() == 5.0
    assert law.status is Status.saturated
    before, lengths = law.parameters, law.lengths
    law.step(0.01, Q0, np.full(7, 0.1), here)
    np.testing.assert_array_equal(law.parameters, before)
    assert np.abs(law.lengths - lengths).max() > 1e-6


def test_refusals() -> None:
    assert_refused(
        ({"lengths": LengthAdaptation(1.0, unknown="a_9")}, "no length of robot is called 'a_9'; did you mean 'a_..."),
        ({"lengths": LengthAdaptation(1.0, unknown=["a_4", "a_4"])}, "unknown must name at least one length, each..."),
        ({"lengths": LengthAdaptation(1.0, unknown=[])}, "unknown must name at least one length, each once, got []"),
        ({"lengths": LengthAdaptation(1.0, unknown="a_4")}, "Gamma_torque must be given: torques depend on a_4"),
        ({"lengths": LengthAdaptation(-1.0, unknown="tool_x")}, "Gamma must be positive definite..."),
        ({"lengths": LengthAdaptation(1.0, unknown="tool_x", gamma=-1.0)}, "gamma must not be negative, got -1"),
        ({"lengths": LengthAdaptation(1.0, unknown="tool_x", scale=0.0)}, "scale must be positive, got [0.0]"),
        ({"lengths": 2.0}, "lengths must be..."),
        ({"measure": None}, "measure must be callable with q and dq, got NoneType"),
        ({"adaptation": GradientAdaptation(1.0, lower=0.0)}, "adaptation must be a GradientAdaptation without boun..."),
        ({"adaptation": GradientAdaptation(1.0, dead_zone=0.1)}, "adaptation must have no dead zone..."),
        ({"adaptation": th.control.NaturalAdaptation(1.0)}, "adaptation must be a GradientAdaptation without bound..."),
        ({"K_p": -1.0}, "K_p must be positive definite..."),
        ({"task": "orientation"}, "task must be one of pose, position, got 'orientation'..."),
        call=lambda **changes: law_of(panda(), panda(), **changes),
    )
    law = law_of(panda(), panda())
    assert_refused(
        (lambda: law.step(0.0, np.zeros(6), np.zeros(7), curve(panda())(0.0)), "q must have shape (7,), got (6,)"),
        (lambda: law.step(0.0, Q0, np.zeros(7), th.reference.SetPoint(Q0)(0.0)), "...follows task-space references..."),
        (lambda: lengths_of(th.Robot.load("gen3")), "robot must have a Denavit-Hartenberg table, gen3 has none"),
    )


def test_a_run_loses_what_the_proof_says() -> None:
    plant = longer_panda()
    law = law_of(wrong_panda(), plant, **POSTURE)
    run = th.simulate(plant, law, curve(plant), 0.2, q0=Q0)
    V = run.lyapunov(law)
    lost = np.concatenate([[0.0], np.cumsum(0.5 * (V.V_dot[1:] + V.V_dot[:-1]) * np.diff(V.t))])
    assert V.analytic
    np.testing.assert_allclose(V.V, V.V[0] + lost, rtol=0, atol=0.02 * (V.V[0] - V.V[-1]))
    assert V.V[-1] < 0.98 * V.V[0]
    other = with_lengths(plant, {"d_5": 0.4})  # a length that is wrong and does not adapt
    assert law.lyapunov_dot(other, run) is None
