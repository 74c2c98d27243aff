import numpy as np
import pytest

import thunder_py as th
from tests.refusals import assert_refused
from thunder_py.control import GradientAdaptation, NaturalAdaptation, SlotineLi, link_gains
from thunder_py.model.inertia import is_physical, pseudo_inertia
from thunder_py.model.joint_data import Friction
from thunder_py.reference import JointReference

from .arms import Q0, elbow, elbow_motion, panda, wrong_panda

DT = 1e-6


def physical_guess() -> th.Robot:
    """Panda with every link's body half as heavy: wrong, but possible."""
    return panda().with_parameters(0.5 * panda().parameters)


def with_friction(robot: th.Robot, viscous: float) -> th.Robot:
    return robot.replace(friction=Friction(terms=("viscous",), coefficients=np.full((robot.n, 1), viscous)))


def state(seed: int = 0) -> tuple[np.ndarray, np.ndarray, JointReference]:
    rng = np.random.default_rng(seed)
    q, dq = Q0 + 0.1 * rng.normal(size=7), 0.3 * rng.normal(size=7)
    return q, dq, JointReference(*(x + 0.2 * rng.normal(size=7) for x in (q, dq, np.zeros(7))))


def gradient_and_rate(law: SlotineLi, seed: int = 0) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Y_r' s in NumPy, and how the controller's estimate moved under it."""
    q, dq, desired = state(seed)
    e, e_dot = desired.q - q, desired.dq - dq
    s = e_dot + 5.0 * e
    Y = law.unknown.robot.slotine_li_regressor(q, dq, desired.dq + 5.0 * e, desired.ddq + 5.0 * e_dot)
    law.reset()
    before = law.parameters
    for k in range(2):
        law.step(k * DT, q, dq, desired)
    return Y.T @ s, (law.parameters - before) / DT, s


def divergence(P: np.ndarray, Phat: np.ndarray) -> float:
    """Bregman divergence of -log det."""
    X = np.linalg.solve(Phat, P)
    return float(-np.linalg.slogdet(X)[1] + np.trace(X) - 4.0)


def test_natural_law_lets_the_divergence_fall() -> None:
    """sum gamma_i D(P_i, Phat_i)' = -(Y_r' s)' pitilde, so that V' = -s' K_d s as for the gradient law."""
    robot, gamma = physical_guess(), np.linspace(0.5, 2.0, 7)
    g, rate, _ = gradient_and_rate(SlotineLi(robot, 5.0, 5.0, adaptation=NaturalAdaptation(gamma)))
    true, start = panda().inertial, robot.inertial
    moved = start + 1e-6 * rate[:70].reshape(7, 10)

    def total(reg: np.ndarray) -> float:
        pairs = zip(gamma, pseudo_inertia(true), pseudo_inertia(reg), strict=True)
        return sum(k * divergence(P, Phat) for k, P, Phat in pairs)

    fall = (total(moved) - total(start)) / 1e-6
    assert fall == pytest.approx(-g[:70] @ (true - start).ravel(), rel=1e-4)


@pytest.mark.parametrize("gamma", [1e-12, 1e-4, 1e4, 1e12])
def test_natural_law_stays_physical_at_any_gain(gamma: float) -> None:
    rng, law = np.random.default_rng(1), SlotineLi(physical_guess(), 5.0, 5.0, adaptation=NaturalAdaptation(gamma))
    for k in range(60):
        q, dq, desired = state(int(rng.integers(1 << 30)))
        law.step(1e-3 * k, q, dq, desired)
        assert is_physical(law.parameters[:70].reshape(7, 10)).all()


def test_friction_beside_the_natural_law_stays_positive() -> None:
    """A wrong sign of the coefficients' gradient takes them to zero, and no further."""
    robot = with_friction(panda(), 0.3)
    with pytest.raises(ValueError, match="rest must be given: 7"):
        NaturalAdaptation(1.0).build(robot.unknown())
    law = SlotineLi(robot, 5.0, 5.0, adaptation=NaturalAdaptation(5.0, rest=1e-2))
    motion = th.reference.Sinusoid(np.full(7, 0.3), np.linspace(0.2, 0.5, 7), center=Q0)
    run = th.simulate(with_friction(panda(), 0.01), law, motion, 5.0)
    friction = run.parameters[:, 70:]
    assert (friction >= 0.0).all()
    assert friction.min() < 0.02
    assert is_physical(run.parameters[-1, :70].reshape(7, 10)).all()


def test_bounds_hold_and_do_no_harm() -> None:
    robot = elbow().with_parameters(0.5 * elbow().parameters)
    true = elbow().parameters
    law = GradientAdaptation(0.5, lower=np.minimum(0.4 * true, true - 0.1), upper=np.maximum(1.1 * true, true + 0.1))
    free, bound = (
        th.simulate(elbow(), SlotineLi(robot, 5.0, 8.0, adaptation=each), elbow_motion(), 10.0, q0=[0.9, 0.3])
        for each in (GradientAdaptation(0.5), law)
    )
    assert (bound.parameters >= np.asarray(law.lower) - 1e-12).all()
    assert (bound.parameters <= np.asarray(law.upper)).all()
    assert (free.parameters > np.asarray(law.upper) + 1e-3).any() or (
        free.parameters < np.asarray(law.lower) - 1e-3
    ).any()
    assert bound.steady_state_error() < 2e-2

    def V(run: th.SimulationResult) -> np.ndarray:
        M = elbow().mass_matrix(run.q)
        error = true - run.parameters
        return 0.5 * np.einsum("ki,kij,kj->k", run.s, M, run.s) + 0.25 * (error**2).sum(axis=1)

    assert (np.diff(V(bound)) < 1e-4).all()


def test_dead_zone_ignores_small_errors() -> None:
    robot, width = panda(), 0.4
    g, rate, s = gradient_and_rate(SlotineLi(robot, 5.0, 5.0, adaptation=GradientAdaptation(1.0, dead_zone=width)))
    q, dq, desired = state()
    Y = robot.slotine_li_regressor(q, dq, desired.dq + 5.0 * (desired.q - q), desired.ddq + 5.0 * (desired.dq - dq))
    assert (np.abs(s) < width).any()
    assert (np.abs(s) > width).any()
    np.testing.assert_allclose(rate, Y.T @ np.where(np.abs(s) > width, s - np.sign(s) * width, 0.0), atol=1e-6)
    assert not np.allclose(rate, g)


def test_gains_by_link_and_by_size() -> None:
    robot = panda()
    Gamma = link_gains(robot, np.arange(1.0, 8.0))
    assert Gamma.shape == (70,)
    assert (Gamma[60:] == 7.0).all()
    g, rate, _ = gradient_and_rate(SlotineLi(robot, 5.0, 5.0, adaptation=Gamma))
    np.testing.assert_allclose(rate, g / Gamma, atol=1e-6)
    law = GradientAdaptation.proportional(robot, 3.0, unknown="link7", floor=0.01)
    np.testing.assert_allclose(np.asarray(law.Gamma) * np.maximum(np.abs(robot.parameters[60:]), 0.01), 3.0)


def test_refusals() -> None:
    assert_refused(
        (GradientAdaptation(-1.0), "...positive definite..."),
        (GradientAdaptation([1.0, 2.0]), "Gamma must be..."),
        (GradientAdaptation(1.0, lower=1.0, upper=0.0), "lower must be less..."),
        (GradientAdaptation(np.eye(70) + 0.1, lower=0.0), "...diagonal Gamma"),
        (GradientAdaptation(1.0, dead_zone=-1.0), "dead_zone..."),
        (GradientAdaptation(1.0, dead_zone=[1.0, 2.0]), "dead_zone..."),
        (NaturalAdaptation(0.0), "gamma must be positive"),
        (NaturalAdaptation([1.0, 2.0]), "gamma..."),
        (NaturalAdaptation(1.0, unknown="link7.m"), "unknown must select whole links..."),
        ("gradient", "adaptation must be a GradientAdaptation, a NaturalAdaptation, a number... got 'gradient'"),
        *((value, "adaptation must...") for value in (0.0, -1.0, [1.0, 2.0])),
        call=lambda law: SlotineLi(panda(), 5.0, 5.0, adaptation=law),
    )
    drives = panda().replace(armature=[0.1] * 7)
    assert_refused(
        (lambda: SlotineLi(wrong_panda(), 5.0, 5.0, adaptation=NaturalAdaptation(1.0, unknown="link7")), "...link7..."),
        *(
            (lambda rest=rest: link_gains(drives, [1.0] * 7, rest=rest), "rest must be positive...")
            for rest in (0.0, -3.0)
        ),
    )


RNG = np.random.default_rng(7)


def wrong_elbow() -> th.Robot:
    return elbow().with_parameters(0.7 * elbow().parameters)


def steps(law: SlotineLi, start: float, count: int) -> None:
    """With an error that does not go away."""
    for t in start + 1e-3 * np.arange(count):
        r = elbow_motion()(t)
        law.step(t, r.q - 0.1, r.dq - 0.2, r)


@pytest.mark.parametrize("kind", ["diagonal", "full", "natural"])
def test_what_stands_still_keeps_its_estimate_and_the_rest_moves(kind: str) -> None:
    robot, A = wrong_elbow(), RNG.normal(size=(20, 20))
    laws = {
        "diagonal": GradientAdaptation(2.0),
        "full": GradientAdaptation(A @ A.T + 20 * np.eye(20)),
        "natural": NaturalAdaptation(5.0),
    }
    law, first = SlotineLi(robot, 5.0, 8.0, adaptation=laws[kind]), robot.unknown("link1").mask
    estimates = []
    for k, moving in enumerate((np.ones(20, bool), first, np.zeros(20, bool), np.ones(20, bool))):
        law.adapting = moving
        np.testing.assert_array_equal(law.adapting, moving)
        steps(law, 0.05 * k, 50)
        estimates.append(law.parameters)
    all_moved, first_moved, none_moved, again = estimates
    np.testing.assert_array_equal(first_moved[~first], all_moved[~first])
    assert (first_moved[first] != all_moved[first]).any()
    np.testing.assert_array_equal(none_moved, first_moved)
    assert (again[~first] != none_moved[~first]).any()
    law.adapting = first
    law.reset()
    np.testing.assert_array_equal(law.adapting, first)
    np.testing.assert_array_equal(law.parameters, robot.parameters)


def test_a_moving_part_follows_the_gradient_law_of_its_block() -> None:
    """With G = Gamma^-1 the moving entries move as under the gain (G_mm)^-1."""
    robot, A = wrong_elbow(), RNG.normal(size=(20, 20))
    Gamma = A @ A.T + 20 * np.eye(20)
    whole, moving = SlotineLi(robot, 5.0, 8.0, adaptation=Gamma), robot.unknown("link2").mask
    block = np.linalg.inv(np.linalg.inv(Gamma)[np.ix_(moving, moving)])
    part = SlotineLi(robot, 5.0, 8.0, adaptation=GradientAdaptation(block, unknown="link2"))
    assert whole.adapting.all()
    np.testing.assert_array_equal(part.adapting, moving)
    whole.adapting = moving
    for law in (whole, part):
        steps(law, 0.0, 100)
    np.testing.assert_allclose(whole.parameters, part.parameters, rtol=1e-9)


def test_what_cannot_move_is_refused_and_changes_nothing() -> None:
    law, fixed = (
        SlotineLi(panda(), 5.0, 8.0, adaptation=adaptation)
        for adaptation in (NaturalAdaptation(5.0, unknown="link7"), None)
    )
    kept = law.adapting
    assert_refused(
        (np.ones(70, bool), "...link1.m, which is not an unknown parameter..."),
        (panda().unknown("link7.m").mask, "...all parameters of a link or none..."),
        (np.ones(3, bool), "...one entry for each of the 70..."),
        call=lambda mask: setattr(law, "adapting", mask),
    )
    np.testing.assert_array_equal(law.adapting, kept)
    assert_refused((np.ones(70, bool), "...this one has none..."), call=lambda mask: setattr(fixed, "adapting", mask))
    fixed.adapting = np.zeros(70, bool)
    assert not fixed.adapting.any()
