import dataclasses
from contextlib import nullcontext
from functools import cache
from typing import Any

import numpy as np
import pytest
from scipy.linalg import solve_continuous_lyapunov

import thunder_py as th
from tests.refusals import assert_refused
from thunder_py.control import tune
from thunder_py.control.adaptation_gains import (
    Drive,
    _natural_metric,
    gradient_adaptation,
    least_gain,
    natural_adaptation,
)
from thunder_py.control.feedback_gains import FEEDBACK, Feedback, coupled_damping
from thunder_py.control.motion_states import joint_inertias, states_along, task_inertia, typical_states
from thunder_py.model.inertia import pseudo_inertia, reg_from_pseudo_inertia
from thunder_py.realtime.configuration import LawSpec, build_law
from thunder_py.reference import Lissajous, Sinusoid
from tools.tuning_errors import ARMS, errors
from tools.tuning_table import LAWS, joint_motion

from .arms import Q0, elbow

T = 1e-3


@cache
def panda() -> th.Robot:
    return th.Robot.load("panda")


@cache
def gen3() -> th.Robot:
    return th.Robot.load("gen3")


def lissajous() -> Lissajous:
    return Lissajous.starting_at(panda().forward_kinematics(Q0), (0.10, 0.15, 0.10), (0.2, 0.1, 0.4))


def motion(robot: th.Robot) -> Sinusoid:
    center = np.array([0.0, 0.4, 0.3, -1.2, 0.2, 0.8, 0.1])[: robot.n]
    return Sinusoid([0.4] * robot.n, np.linspace(0.15, 0.3, robot.n), center=center)


def reference_of(law: Any) -> dict[str, Any]:
    task = issubclass(law, th._core.TaskController)
    return {"reference": lissajous(), "q0": Q0} if task else {"reference": motion(panda())}


@pytest.mark.parametrize("law", list(FEEDBACK), ids=lambda law: law.__name__)
def test_gains_of_every_law(law: Any) -> None:
    """They make a controller, as objects and as plain data, whose damping is well below the bound."""
    tuning = tune(panda(), law, period=T, **reference_of(law))
    assert 0.01 < tuning.damping_share <= 0.5
    controller = tuning.controller()
    np.testing.assert_array_equal(controller.torque_limits, panda().limits.effort)
    plain = tuning.to_dict()
    again = build_law(panda(), LawSpec(plain.pop("name"), plain))
    assert type(again) is law
    assert "bandwidth" in str(tuning)
    if isinstance(controller, th.control.adaptation.AdaptiveController):
        assert controller.unknown.mask.all()
        np.testing.assert_array_equal(again.unknown.mask, controller.unknown.mask)  # type: ignore[attr-defined]
        fixed = tune(panda(), law, period=T, adaptation="none", **reference_of(law))
        assert fixed.arguments["adaptation"] is None


def test_feedback_of_a_joint_has_the_assumed_poles() -> None:
    """A single joint: the poles of the law's linearization are w and k / m."""
    f = Feedback(np.array([20.0]), np.array([0.5]), np.array([15.0]), np.ones(0))
    for law in (th.PDGravity, th.MACT):
        gains = FEEDBACK[law](f)
        np.testing.assert_allclose(np.sort(np.roots([0.5, gains["K_d"][0], gains["K_p"][0]])), [-30.0, -20.0])
    gains = FEEDBACK[th.ComputedTorque](f)
    np.testing.assert_allclose(np.sort(np.roots([1.0, gains["K_1"][0], gains["K_0"][0]])), [-30.0, -20.0])


def test_weights_of_act_drive_the_estimate_by_an_inertia_times_s() -> None:
    f = Feedback(np.array([20.0, 30.0]), np.array([0.5, 0.1]), np.array([15.0, 2.0]), np.ones(0))
    gains = FEEDBACK[th.ACT](f)
    A = np.block([[np.zeros((2, 2)), np.eye(2)], [-np.diag(gains["K_0"]), -np.diag(gains["K_1"])]])
    P = solve_continuous_lyapunov(A.T, -np.diag(gains["Q"]))
    np.testing.assert_allclose(P[2:], np.hstack([np.diag(f.m * f.w), np.diag(f.m)]), atol=1e-12)


def test_coupled_damping_holds_in_nearly_all_postures() -> None:
    M = panda().mass_matrix(typical_states(panda(), 0.0).q)
    wanted = np.full(7, 30.0)
    k = coupled_damping(np.linalg.inv(M), wanted, 300.0)
    rates = np.linalg.eigvals(np.linalg.solve(M, np.broadcast_to(np.diag(k), M.shape))).real.max(axis=1)
    assert np.quantile(rates, 0.95) <= 300.0
    assert np.quantile(rates, 0.95) > 250.0  # no smaller than necessary
    assert k[1] > 0.9 * wanted[1]  # a heavy joint keeps its damping
    assert k[6] < 0.1 * wanted[6]


def test_coupled_damping_is_reduced_by_the_shares_in_the_fastest_mode() -> None:
    alone = coupled_damping(np.tile(np.diag([1.0, 10.0]), (20, 1, 1)), np.ones(2), 5.0)
    np.testing.assert_allclose(alone, [1.0, 0.99 * 5.0 / 10.0], rtol=1e-12)  # only the fast one, once
    mobility, k = np.array([[2.0, 1.0], [1.0, 1.0]]), np.ones(2)
    for _ in range(2):
        rates, modes = np.linalg.eigh(mobility * np.sqrt(np.outer(k, k)))
        k *= (0.99 * 2.5 / rates[1]) ** (modes[:, 1] ** 2)
    np.testing.assert_allclose(coupled_damping(np.tile(mobility, (20, 1, 1)), np.ones(2), 2.5), k, rtol=1e-12)


def test_inertias_are_those_of_a_free_joint_and_a_free_row() -> None:
    q = np.array([Q0])
    torque, force = np.eye(7)[4], panda().jacobian(Q0).T @ np.eye(6)[2]
    rest = panda().gravity_vector(Q0)
    ddq = panda().forward_dynamics(Q0, np.zeros(7), rest + torque)
    assert np.isclose(joint_inertias(panda(), q)[0, 4], 1.0 / ddq[4])
    acceleration = panda().jacobian(Q0) @ panda().forward_dynamics(Q0, np.zeros(7), rest + force)
    assert np.isclose(task_inertia(panda(), q, None, range(6))[2], 1.0 / acceleration[2])


def test_states_along_poses_follow_them() -> None:
    states = states_along(panda(), lissajous(), 10.0, Q0)
    times = np.linspace(0.0, 10.0, 201)
    np.testing.assert_allclose(panda().forward_kinematics(states.q)[:, :3, 3], lissajous()(times).p, atol=2e-3)
    xi = np.einsum("kij,kj->ki", panda().jacobian(states.q), states.dq)
    np.testing.assert_allclose(xi[1:], lissajous()(times).xi[1:], atol=2e-2)


def test_natural_metric_is_the_rate_of_the_law() -> None:
    """tr(B P(phi)) = g' phi for every phi, and the rate is P B P."""
    pi, g = panda().inertial[6], np.random.default_rng(2).normal(size=10)
    P, rate = pseudo_inertia(pi), _natural_metric(pi) @ g
    B = np.linalg.solve(P, np.linalg.solve(P, pseudo_inertia(rate)).T)
    np.testing.assert_allclose([np.trace(B @ pseudo_inertia(phi)) for phi in np.eye(10)], g, rtol=1e-6)
    np.testing.assert_allclose(reg_from_pseudo_inertia(P @ (B + B.T) / 2 @ P), rate, rtol=1e-6)


@pytest.mark.parametrize("kind", ["gradient", "natural"])
def test_time_constant_of_the_fastest_combination(kind: str) -> None:
    along = 0.05 * np.random.default_rng(0).normal(size=(50, 7, 10))
    unknown = panda().unknown("link7")
    make = gradient_adaptation if kind == "gradient" else natural_adaptation
    drive = Drive(along, along, np.zeros(10, dtype=bool))
    law: Any = make(unknown, drive, 0.5, 1e6)
    mean = np.einsum("kia,kib->ab", along, along) / 50
    metric = np.diag(1.0 / law.Gamma) if kind == "gradient" else _natural_metric(2 * panda().inertial[6]) / law.gamma
    assert np.isclose(np.linalg.eigvals(metric @ mean).real.max(), 1.0 / 0.5)
    slow: Any = make(unknown, drive, 0.5, 1e-3)  # a feedback that is slower than the adaptation
    ratio = slow.Gamma / law.Gamma if kind == "gradient" else slow.gamma / law.gamma
    assert (ratio > 100.0).all()


def test_gains_do_not_depend_on_units() -> None:
    """Parameters in other units have other columns; the adaptation of the torques, Z Gamma^-1 Z', stays the same."""
    unknown, random = panda().unknown("link7"), np.random.default_rng(0)
    along, typical = 0.05 * random.normal(size=(2, 50, 7, 10))
    along[:, :, 4:] *= 0.01  # below the least information
    units, corrected = 10.0 ** random.uniform(-3.0, 3.0, 10), np.arange(10) < 3
    for bandwidth in (1e6, 0.5):
        Gamma, other = (
            np.asarray(gradient_adaptation(unknown, Drive(along / u, typical / u, corrected), 0.5, bandwidth).Gamma)
            for u in (1.0, units)
        )
        np.testing.assert_allclose(other * units**2, Gamma, rtol=1e-9)


@pytest.mark.parametrize(
    ("law", "period"),
    [
        pytest.param(law, period, id=f"{law.__name__}-{period:g}")
        for law, period in ((th.SlotineLi, 1e-3), (th.MACT, 1e-3), (th.MACT, 2e-3), (th.ACT, 2e-3))
    ],
)
@pytest.mark.parametrize(("unknown", "share"), [(gen3().link_names[-1], 0.6), (None, 0.65)], ids=["load", "all"])
def test_an_arm_that_the_rules_were_not_made_with(law: Any, period: float, unknown: Any, share: float) -> None:
    """A Kinova Gen3 with motors, friction that the model lacks and noise picks up 1.5 kg."""
    robot = gen3().replace(armature=[0.02] * 7)
    path = motion(robot)
    friction = th.robot.Friction(terms=("viscous", "coulomb"), coefficients=np.full((7, 2), 0.2), delta=0.05)
    start, found = path(0.0), []
    for adaptation in ("none", None):
        tuning = tune(robot, law, path, period=period, adaptation=adaptation, unknown=unknown)  # type: ignore[arg-type]
        controller = tuning.controller()
        result = th.simulate(
            robot.replace(friction=friction), controller, path, 8.0, 1e-3, control_period=period, q0=start.q,
            dq0=start.dq, payloads=th.Payload(1.5, (0.0, 0.02, -0.1), time=1.0), log_every=20,
            sensors=th.Sensors(position_noise=1e-5, velocity_noise=2e-3, seed=3),
        )  # fmt: skip
        assert result.status.max() == 0
        found.append(result.error_norm()[result.t > 6.0].mean())
    assert found[1] < share * found[0]
    assert found[1] < 0.02


@pytest.mark.release
@pytest.mark.parametrize("law", LAWS.values(), ids=LAWS)
@pytest.mark.parametrize("name", ARMS)
def test_adaptation_is_no_worse_than_a_fixed_model(name: str, law: Any) -> None:
    if issubclass(law, th._core.TaskController) and th.Robot.load(name).n < 6:
        pytest.skip("the arm cannot move its frame along all rows")
    fixed, adaptive = errors(name, law, seed=1, period=T)
    assert adaptive < 1.1 * fixed < np.inf


def test_a_motion_through_postures_without_inertia_is_told() -> None:
    """Few postures, and no loop of 20 ms can hold them: the upper arm hardly resists a turn about itself."""
    arm, motion = th.Robot.load("human_arm"), joint_motion(th.Robot.load("human_arm"), 1)
    with pytest.warns(RuntimeWarning, match=r"hardly any inertia, see Robot.replace\(armature=\)"):
        tune(arm, th.ComputedTorque, motion, period=0.02)
    tune(arm.replace(armature=[0.02] * 7), th.ComputedTorque, motion, period=T)


def test_default_weight_of_the_prediction_error() -> None:
    for K_d in (4.0, np.array([4.0, 2.0]), np.array([[4.0, 1.0], [1.0, 2.0]])):
        law = th.MACT(elbow(), 20.0, K_d, adaptation=1.0, gamma=3.0)
        matrix = K_d if np.ndim(K_d) == 2 else np.diag(np.broadcast_to(K_d, 2))
        weight = law.prediction_weight
        assert weight is not None
        weights = weight if weight.ndim == 2 else np.diag(np.broadcast_to(weight, 2))
        np.testing.assert_allclose(weights @ matrix, 3.0 * np.eye(2), atol=1e-12)


@pytest.mark.parametrize("kind", ["gradient", "natural"])
@pytest.mark.parametrize(("name", "link"), [("cart_pendulum", "cart"), ("panda", "link1"), ("panda", "link2")])
def test_parameters_that_hardly_act_along_the_reference(name: str, link: str, kind: Any) -> None:
    """At rest no torque depends on the cart's mass nor on the inertia about an upright axis; others never act."""
    robot = th.Robot.load(name)
    for law in (th.SlotineLi, th.ACT):
        still = th.reference.SetPoint(np.full(robot.n, 0.3))
        chosen: Any = tune(robot, law, still, period=T, unknown=link, adaptation=kind).arguments["adaptation"]
        gains = np.ravel(chosen.Gamma if kind == "gradient" else chosen.gamma)
        assert np.isfinite(gains).all()
        assert (gains > 1e-7 * gains.max()).all()  # rounding gives 1e-30


def test_least_gain_bounds_an_entry_by_the_energy_of_an_error() -> None:
    """The largest entry that this energy allows changes w M + K_d by at most itself, and by just that somewhere."""
    robot, w, K_d, error = panda(), np.full(7, 20.0), np.diag(np.linspace(3.0, 1.0, 7)), 0.05
    unknown, q = robot.unknown("link7"), typical_states(robot, 0.0).q[:1]
    least = least_gain(unknown, q, K_d, w, error)
    M = robot.mass_matrix(q[0])
    energy = (error * w) @ np.abs(M) @ (error * w)
    for k, entry in zip(np.flatnonzero(unknown.mask), np.sqrt(energy / least), strict=True):
        change = entry * np.eye(robot.p)[k]
        other = robot.with_parameters(robot.parameters + change).mass_matrix(q[0]) - M
        rates = np.linalg.eigvals(np.linalg.solve(20.0 * M + K_d, 20.0 * other)).real
        assert np.isclose(np.abs(rates).max(), 1.0)


def test_damping_share_is_that_of_the_final_gains() -> None:
    """M^-1 K_d of MACT, with the computed gain and with others."""
    path, stable = motion(panda()), th.control.stable_rate(T)
    M = panda().mass_matrix(states_along(panda(), path, 10.0).q[::10])
    for options in ({}, {"K_d": 4.0}, {"K_d": np.full(7, 40.0)}):
        high = "K_d" in options and np.size(options["K_d"]) > 1
        with pytest.warns(RuntimeWarning, match="^K_d of MACT is too high") if high else nullcontext():
            tuning = tune(panda(), th.MACT, path, period=T, adaptation="none", **options)
        K_d = np.diag(np.broadcast_to(tuning.arguments["K_d"], (7,)))
        rates = np.linalg.eigvals(np.linalg.solve(M, np.broadcast_to(K_d, M.shape))).real.max()
        assert np.isclose(tuning.damping_share, rates / stable, rtol=1e-4)


def test_damping_is_reduced_to_its_share_along_rare_postures() -> None:
    straight = th.reference.SetPoint(np.zeros(2))
    for law in (th.SlotineLi, th.MACT):
        assert tune(elbow(), law, straight, period=T, adaptation="none").damping_share < 0.501


def test_bandwidth_is_limited_by_delay_torque_and_velocity() -> None:
    fast = tune(panda(), th.SlotineLi, period=T)
    assert (fast.bandwidth == 50.0).all()
    assert fast.limit == "period and delay"
    slow = tune(panda(), th.SlotineLi, period=T, delay=4e-3)
    assert np.isclose(slow.bandwidth[0], 0.025 * th.control.stable_rate(T, 4e-3))
    limits = dataclasses.replace(panda().limits, effort=0.3 * panda().limits.effort)
    weak = tune(panda().replace(limits=limits), th.SlotineLi, period=T)
    assert weak.limit == "the torque limit of joint2"


def test_refusals() -> None:
    task, far = th.Backstepping, Lissajous.starting_at(panda().forward_kinematics(Q0), (2.0, 0.1, 0.1), (0.2, 0.1, 0.4))
    assert_refused(
        (("panda", {"law": th.RobustUnitVector}), "law must be one of ACT, ..., got 'RobustUnitVector'..."),
        (("panda", {"bandwidth": 600.0}), "bandwidth must be at most 500 for this period and delay, got 600..."),
        (("panda", {"period": 0.0}), "period must be..."),
        (
            ("panda", {"law": th.PDGravity, "unknown": "link7"}),
            "adaptation and unknown must be left out for PDGravity...",
        ),
        (("panda", {"adaptation": "fast"}), "adaptation must be one of..."),
        (
            ("panda", {"law": task, "reference": lissajous()}),
            "q0 must be given unless the reference is a joint-space...",
        ),
        (("panda", {"law": task, "reference": far, "q0": Q0}), "reference must be a path that the arm can..."),
        (("elbow", {"law": th.OperationalSpace}), "robot must move its frame along x, y, z, rx, ry, rz independent..."),
        (("cart_pendulum", {"law": th.OperationalSpace, "rows": ("x", "y")}), "...along x, y independently, got 1..."),
        (("scara", {"law": th.ACT}), "...that is not positive definite for [...'link4']; the gradient law adapts them"),
        (("panda", {"unknown": "link1.m"}), "unknown must select parameters on which torques..."),
        call=lambda name, options: tune(th.Robot.load(name), **{"law": th.SlotineLi, "period": T, **options}),
    )


def test_friction_and_links_adapt_together() -> None:
    friction = th.robot.Friction(terms=("viscous",), coefficients=np.full((2, 1), 0.1))
    robot = elbow().replace(friction=friction)
    for kind in ("gradient", "natural"):
        tuning = tune(robot, th.SlotineLi, period=T, unknown=["link2", "friction"], adaptation=kind)  # type: ignore[arg-type]
        assert tuning.controller().unknown.names[-2:] == ("joint1.viscous", "joint2.viscous")
