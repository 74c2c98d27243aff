"""Discrete movement primitives: their equations, what they learn, what they do with other goals and times."""

import re
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
import pytest
from scipy.integrate import solve_ivp

from tests.refusals import assert_refused
from thunder_py.errors import UnknownNameError
from thunder_py.geometry import Sphere
from thunder_py.motion.planning.obstacles import MovingObstacle
from thunder_py.motion.primitives.bases import BASES, DMPBasis, fit_weights
from thunder_py.motion.primitives.dmp import DMP
from thunder_py.motion.primitives.dynamic_potential import DynamicPotential
from thunder_py.recordings.motion_set import MotionSet
from thunder_py.recordings.trial import Trial
from thunder_py.trajectory.hermite import minimum_jerk

T = 2.0


class Curved:
    """A motion with curvature, from rest to rest."""

    duration = T

    def position(self, t: np.ndarray, derivative: int = 0) -> np.ndarray:
        s, bow = minimum_jerk([0.0], [1.0], T), minimum_jerk([0.0], [np.pi], T)
        x0, dx0 = s.position(t), s.position(t, 1)
        angle, rate, bend = (bow.position(t, k) for k in range(3))
        way, side = np.array([0.4, 0.3, -0.2]), np.array([0.02, 0.05, 0.1])
        if derivative == 0:
            return 0.5 + x0 * way + np.sin(angle) * side
        if derivative == 1:
            return dx0 * way + np.cos(angle) * rate * side
        return s.position(t, 2) * way + (np.cos(angle) * bend - np.sin(angle) * rate**2) * side


def _rotation(seed: int = 3) -> np.ndarray:
    Q, _ = np.linalg.qr(np.random.default_rng(seed).normal(size=(3, 3)))
    return Q * np.sign(np.linalg.det(Q))


@pytest.mark.parametrize("scaling", ["hoffmann", "paper"])
@pytest.mark.parametrize("basis", ["gaussian", "mollifier"])
def test_demonstration_is_reproduced(basis: str, scaling: str) -> None:
    demo = Curved()
    motion = DMP(basis=basis, scaling=scaling).fit(demo).rollout()
    assert np.abs(motion.x - demo.position(motion.t)).max() < 1e-3
    assert motion.end_error < 2e-4
    assert motion.settled_error < 1e-4


def _solved(dmp: DMP, y0: np.ndarray, g: np.ndarray, tau: float, spheres: list, velocity: np.ndarray, v0: np.ndarray):
    """(104), term by term, by another integrator."""
    potential = DynamicPotential(0.3, 2.0)

    def slope(t: float, state: np.ndarray) -> np.ndarray:
        y, z, x = state[:3], state[3:6], state[6]
        f = dmp.forcing([x])[0]
        force = dmp.K * f - dmp.K * (g - y0) * x if dmp.scaling == "hoffmann" else (g - y0) * f
        for sphere in spheres:
            moved = Sphere(sphere.center + t * velocity, sphere.radius)
            force = force + potential.force(y, z - tau * velocity, [moved])
        return np.concatenate([z, dmp.K * (g - y) - dmp.D_ * z + force, [-dmp.basis_.alpha * x]]) / tau

    begin = np.concatenate([y0, tau * v0, [1.0]])
    return solve_ivp(slope, (0.0, tau), begin, rtol=1e-8, atol=1e-10, method="DOP853").y[:, -1], potential


@pytest.mark.parametrize("scaling", ["hoffmann", "paper"])
@pytest.mark.parametrize("among_obstacles", [False, True])
def test_equations_are_those_of_the_paper(scaling: str, among_obstacles: bool) -> None:
    dmp = DMP(9, scaling=scaling, rotodilatation=False, overlap=1.5, K=120.0, D=18.0, alpha=3.0).fit(Curved())
    y0, g, v0 = np.array([0.1, 0.2, 0.3]), np.array([0.7, 0.5, -0.1]), np.array([0.05, -0.1, 0.02])
    velocity = np.array([0.02, -0.03, 0.01])
    spheres = [Sphere([0.45, 0.4, 0.1], 0.05), Sphere([0.3, 0.1, 0.25], 0.02)] if among_obstacles else []
    end, potential = _solved(dmp, y0, g, 1.3, spheres, velocity, v0)
    obstacles = [MovingObstacle(sphere, velocity) for sphere in spheres]
    motion = dmp.rollout(y0, g, 1.3, start_velocity=v0, obstacles=obstacles, potential=potential)
    np.testing.assert_allclose(motion.x[-1], end[:3], atol=2e-7)
    np.testing.assert_allclose(1.3 * motion.dx[-1], end[3:6], atol=2e-6)
    if among_obstacles:
        assert np.abs(motion.x - dmp.rollout(y0, g, 1.3, start_velocity=v0).x).max() > 1e-3


@pytest.mark.parametrize("obstacles", [(), ([0.72, 0.68, 0.45], Sphere([0.6, 0.55, 0.5], 0.02))])
def test_derivatives_belong_together(obstacles: tuple) -> None:
    # with beta = 2 the jerk jumps where an obstacle is passed at 90 degrees
    options = {"goal": [1.0, 0.7, 0.5], "obstacles": obstacles, "potential": DynamicPotential(beta=4.0)}
    dmp = DMP(rotodilatation=True).fit(Curved())
    motion = dmp.rollout(**options)
    t, h = np.linspace(0.05, T - 0.05, 57), 1e-4
    for derivative, bound in zip(range(3), (1e-6, 1e-5, 1e-3), strict=True):
        slope = (motion.position(t + h, derivative) - motion.position(t - h, derivative)) / (2.0 * h)
        np.testing.assert_allclose(
            slope, motion.position(t, derivative + 1), atol=bound * (100.0 if obstacles else 1.0)
        )
    # at samples the polynomials are what the equations say
    for derivative, values in enumerate((motion.x, motion.dx, motion.ddx, motion.dddx)):
        np.testing.assert_allclose(motion.position(motion.t[:-1], derivative), values[:-1], rtol=1e-6, atol=1e-6)
    fine = dmp.rollout(**options, dt=1e-4)
    jerk = np.gradient(fine.ddx, fine.t, axis=0, edge_order=2)
    np.testing.assert_allclose(jerk[20:-20], fine.dddx[20:-20], atol=2e-3 * np.abs(fine.dddx).max())


def test_steps_are_the_rollout() -> None:
    dmp = DMP(basis="mollifier", overlap=1.7).fit(Curved())
    sphere = Sphere([0.75, 0.65, 0.45], 0.03)
    motion = dmp.rollout(dt=2e-3, obstacles=[sphere])
    states = [dmp.reset(obstacles=[sphere])] + [dmp.step(2e-3) for _ in range(1000)]
    np.testing.assert_allclose([state.x for state in states], motion.x, atol=1e-10)
    np.testing.assert_allclose([state.dx for state in states], motion.dx, atol=1e-9)
    np.testing.assert_allclose([state.ddx for state in states], motion.ddx, atol=1e-7)


def test_long_steps_are_stable_and_short_ones_converge() -> None:
    dmp = DMP(K=1e4).fit(Curved())
    dmp.reset()
    for _ in range(10):
        dmp.step(1.0)  # h sqrt(K) = 50
    np.testing.assert_allclose(dmp.state.x, dmp.goal_, atol=1e-6)
    dmp = DMP(7).fit(Curved())
    ends = []
    for n in (25, 50, 100, 800):
        dmp.reset()
        for _ in range(n):
            dmp.step(T / n)
        ends.append(dmp.state.x)
    errors = [np.abs(end - ends[-1]).max() for end in ends[:-1]]
    assert errors[0] / errors[1] > 12.0
    assert errors[1] / errors[2] > 12.0


def test_rotodilatation_turns_and_stretches_the_motion() -> None:
    demo = Curved()
    dmp = DMP(rotodilatation=True).fit(demo)
    base = dmp.rollout()
    way = dmp.goal_ - dmp.start_
    turned = 1.7 * _rotation() @ way
    motion = dmp.rollout(start=[1.0, -2.0, 0.5], goal=np.array([1.0, -2.0, 0.5]) + turned)
    own, other = base.x - base.x[0], motion.x - motion.x[0]
    np.testing.assert_allclose(np.linalg.norm(other, axis=1), 1.7 * np.linalg.norm(own, axis=1), atol=1e-10)
    np.testing.assert_allclose(other @ turned, 1.7**2 * own @ way, atol=1e-10)
    np.testing.assert_allclose(other @ other.T, 1.7**2 * own @ own.T, atol=1e-10)  # one similarity for all points
    back = dmp.rollout(goal=dmp.start_ - way)  # half a turn, about an axis that is chosen
    mirrored = back.x - back.x[0]
    np.testing.assert_allclose(mirrored @ mirrored.T, own @ own.T, atol=1e-10)
    np.testing.assert_allclose(mirrored @ way, -own @ way, atol=1e-10)
    one = DMP(rotodilatation=True).fit((base.t, base.x[:, :1]))
    np.testing.assert_allclose(
        one.rollout(goal=2.0 * one.start_ - one.goal_).x - one.start_, one.start_ - one.rollout().x, atol=1e-12
    )


def test_goal_and_tau_may_change_on_the_way() -> None:
    dmp = DMP().fit(Curved())
    dmp.reset()
    for _ in range(500):
        before = dmp.step(2e-3)
    dmp.tau, x = 2.0 * T, dmp.phase
    np.testing.assert_allclose(dmp.state.dx, before.dx, rtol=1e-14)
    dmp.step(0.1)
    assert abs(dmp.phase - x * np.exp(-dmp.basis_.alpha * 0.1 / (2.0 * T))) < 1e-15
    goal = np.array([0.7, 0.9, 0.1])
    jumps = {}
    for time_constant in (0.0, 0.1):
        dmp.reset(goal_filter=time_constant)
        for _ in range(400):
            before = dmp.step(2e-3)
        dmp.goal = goal
        after = dmp.state
        np.testing.assert_array_equal(after.x, before.x)
        np.testing.assert_array_equal(after.dx, before.dx)
        jumps[time_constant] = np.abs(after.ddx - before.ddx).max()
        for _ in range(100):
            dmp.step(2e-3)
        expected = goal if time_constant == 0.0 else goal + np.exp(-2.0) * (dmp.goal_ - goal)
        np.testing.assert_allclose(dmp.goal, expected, rtol=1e-12)
        for _ in range(2000):
            dmp.step(2e-3)
        np.testing.assert_allclose(dmp.state.x, goal, atol=1e-4)
    assert jumps[0.1] == 0.0
    assert jumps[0.0] > 1.0


# --- Basis functions, forcing terms and their fits, against their formulae ---
COMPACT = [name for name in BASES if name != "gaussian"]


def test_centers_and_widths_are_those_of_the_paper() -> None:
    basis = DMPBasis(21, "mollifier", alpha=4.0)
    i = np.arange(21)
    np.testing.assert_allclose(basis.centers, np.exp(-4.0 * i / 20), rtol=1e-14)
    np.testing.assert_allclose(basis.widths[:-1], 1.0 / np.abs(np.diff(basis.centers)), rtol=1e-12)
    assert basis.widths[-1] == basis.widths[-2]
    np.testing.assert_allclose(DMPBasis(21, "mollifier", overlap=2.0).widths, 0.5 * basis.widths, rtol=1e-12)


def test_functions_are_their_formulae() -> None:
    x = np.linspace(0.01, 1.0, 400)
    for name in BASES:
        basis = DMPBasis(7, name, alpha=3.0, overlap=1.5)
        r = np.abs(basis.widths * (x[:, None] - basis.centers))
        inside = np.where(r < 1.0, r, 0.0)
        expected = {
            "gaussian": np.exp(-(r**2)),
            "mollifier": np.exp(-1.0 / (1.0 - inside**2)) * (r < 1.0),
            "wendland_c2": (1.0 - inside) ** 4 * (4.0 * inside + 1.0) * (r < 1.0),
            "wendland_c4": (1.0 - inside) ** 6 * (35.0 * inside**2 + 18.0 * inside + 3.0) / 3.0 * (r < 1.0),
        }[name]
        np.testing.assert_allclose(basis.evaluate(x), expected, rtol=1e-12, atol=1e-300)


@pytest.mark.parametrize("name", list(BASES))
def test_forcing_is_the_design_times_the_weights(name: str) -> None:
    basis = DMPBasis(9, name, overlap=1.3)
    weights = np.random.default_rng(1).normal(size=(9, 4))
    x = np.linspace(0.02, 1.0, 200)
    np.testing.assert_allclose(basis.forcing(weights, x), basis.design(x) @ weights, atol=1e-13)
    constant = np.full((9, 1), 2.5)  # normalized functions add up to one
    np.testing.assert_allclose(basis.forcing(constant, x)[:, 0], 2.5 * x, atol=1e-13)


@pytest.mark.parametrize("name", COMPACT)
def test_forcing_is_zero_where_no_function_is(name: str) -> None:
    basis = DMPBasis(21, name)
    edge = basis.centers[-1] - 1.0 / basis.widths[-1]
    for x in ([edge, 0.5 * edge, 1e-9, 0.0], [1.0 + 1.0 / basis.widths[0], 3.0, 1e8]):
        np.testing.assert_array_equal(basis.forcing(np.ones((21, 2)), x), 0.0)
        np.testing.assert_array_equal(basis.design(x), 0.0)


def _samples(n: int = 300) -> tuple[np.ndarray, np.ndarray]:
    t = np.linspace(0.0, 1.0, n) ** 1.3
    step = np.diff(t)
    return np.exp(-4.0 * t), 0.5 * (np.append(step, 0.0) + np.insert(step, 0, 0.0))


def test_least_squares_are_weighted_by_time() -> None:
    x, share = _samples()
    basis = DMPBasis(12, "gaussian")
    target = np.sin(9.0 * x)[:, None] * [1.0, -2.0]
    factor = np.array([1.0, 0.3]) * np.ones_like(target)
    weights, condition = fit_weights(basis, x, share, target, factor, "ls")
    for k in range(2):
        A = np.sqrt(share)[:, None] * factor[:, k : k + 1] * basis.design(x)
        np.testing.assert_allclose(
            weights[:, k], np.linalg.lstsq(A, np.sqrt(share) * target[:, k], rcond=None)[0], rtol=1e-8
        )
    assert 1.0 < condition < 1e4


def test_local_regression_is_its_formula() -> None:
    x, share = _samples()
    basis = DMPBasis(12, "mollifier", overlap=1.5)
    target = np.cos(5.0 * x)[:, None]
    weights, _ = fit_weights(basis, x, share, target, np.full_like(target, 0.7), "lwr")
    psi, s = basis.evaluate(x) * share[:, None], 0.7 * x
    expected = [(psi[:, i] * s * target[:, 0]).sum() / (psi[:, i] * s * s).sum() for i in range(12)]
    np.testing.assert_allclose(weights[:, 0], expected, rtol=1e-12)


def test_bases_and_fits_that_cannot_be_are_refused() -> None:
    (few, share), (x, shares) = _samples(10), _samples(60)
    wide, narrow = DMPBasis(50, "gaussian", overlap=40.0), DMPBasis(10, "mollifier", overlap=0.1)

    def fitted(basis, x=few, share=share, regression="ls"):
        return fit_weights(basis, x, share, np.ones((len(x), 1)), np.ones((len(x), 1)), regression)

    assert_refused(
        (lambda: fitted(DMPBasis(21)), "...at least n_basis = 21 samples, got 10..."),
        (lambda: fitted(narrow), "...got none for number..."),
        (lambda: fitted(wide, x, shares), "...got a singular design matrix..."),
        (lambda: fitted(DMPBasis(5), x, shares, "lwrr"), "...did you mean 'lwr'...", UnknownNameError),
        (lambda: DMPBasis(kind="mollifer"), "...did you mean 'mollifier'..."),
        (lambda: DMPBasis(n_basis=1), "...n_basis must be a whole number from 2 to 10000, got 1..."),
        (lambda: DMPBasis(n_basis=2.5), "...n_basis..."),
        (lambda: DMPBasis(alpha=0.0), "...alpha must be positive..."),
        (lambda: DMPBasis(overlap=float("nan")), "...overlap must be positive..."),
    )


# --- What movement primitives learn from: recordings, functions, several of them; and what they refuse ---
REACH = minimum_jerk([0.0, 0.0, 0.0], [0.4, 0.3, 0.25], 5.0)


def _recorded(n: int = 501) -> tuple[np.ndarray, np.ndarray]:
    t = np.linspace(0.0, 5.0, n)
    return t, REACH.position(t)


def test_functions_samples_and_trials_teach_the_same() -> None:
    t, x = _recorded()
    exact = DMP().fit(REACH).weights_
    given = (t + 7.0, x, REACH.position(t, 1), REACH.position(t, 2))
    trial = Trial(t, x, ("x", "y", "z"), name="reach")
    for demo in ((t, x), given, trial, [trial, (2.0 * t, x)], MotionSet([trial, trial])):
        dmp = DMP().fit(demo)
        np.testing.assert_allclose(dmp.weights_, exact, atol=3e-4)
        assert abs(dmp.duration_ - 5.0) < 1e-12


T9, X9 = _recorded(9)
T99, X99 = _recorded(99)
GAP = np.where(np.arange(99)[:, None] == 50, np.nan, X99)


def test_bad_demonstrations_are_refused() -> None:
    def given(demonstration):
        return DMP().fit(demonstration)

    assert_refused(
        (lambda: given((0.5 * T9, X9)), "...at least n_basis = 21 samples, got 9..."),
        (lambda: given((T9[:4], X9[:4])), "...at least 6 samples to be differentiated..."),
        (lambda: given((T99, GAP)), "...must have no gaps ...NaN..."),
        (lambda: given(Trial(T99, GAP, ("x", "y", "z"), name="left")), "...demonstration 0 (left) must have no ..."),
        (lambda: given((0.0 * T99, X99)), "...must last longer than 0 s..."),
        (lambda: given((T99[::-1], X99)), "...must last longer than 0 s..."),
        (lambda: given((np.where(np.arange(99) == 7, 0.0, T99), X99)), "...times must increase..."),
        (lambda: given((T99, X99[:50])), "...must have shape (99, n), got (50, 3)..."),
        (lambda: given((T99, X99, X99)), "...got 3 entries..."),
        (lambda: given((T99, X99, X99, X99[:, :2])), "...one shape..."),
        (lambda: given([(T99, X99), (T99, X99[:, :2])]), "...same number of coordinates, got [2, 3]..."),
        (lambda: given([]), "...at least one..."),
        (lambda: given(X99), "...must be a Trial, ... got ndarray..."),
    )


def test_bad_arguments_are_refused() -> None:
    DMP().fit(REACH, cutoff=0.0).rollout()  # nothing to differentiate, nothing to filter
    assert_refused(
        (lambda: DMP(basis="gausian").fit(REACH), "...did you mean 'gaussian'..."),
        (lambda: DMP(scaling="hofmann").fit(REACH), "...did you mean 'hoffmann'..."),
        (lambda: DMP(regression="lws").fit(REACH), "...did you mean..."),
        (lambda: DMP(K=0.0).fit(REACH), "...K must be positive, got 0..."),
        (lambda: DMP(K=-1.0).fit(REACH), "...K must be..."),
        (lambda: DMP(D=-1.0).fit(REACH), "...D must be positive..."),
        (lambda: DMP(scaling="paper", rotodilatation=True).fit(REACH), "...rotodilatation must go with..."),
        (lambda: DMP(scaling="paper").fit((T99, X99 * [1.0, 0.0, 1.0])), "...coordinate 1 must not end where it ..."),
        (lambda: DMP().rollout(), "...call fit..."),
        (lambda: DMP().fit(REACH).step(0.01), "...call reset..."),
        (lambda: DMP().fit((T99, X99), cutoff=0.0), "...cutoff must be a positive frequency..."),
        (lambda: DMP().fit((T99, X99), cutoff=20.0), "...cutoff must be below half the rate..."),
        (lambda: DMP(rotodilatation=True).fit((T99, np.sin(2 * np.pi * T99 / 5.0))), "...must not end where they ..."),
        (lambda: DMP().fit(REACH).rollout(goal=[1.0, 2.0]), "...goal must have shape (3,)..."),
        (lambda: DMP().fit(REACH).rollout(start=[1.0, 2.0, np.nan]), "...start must be finite..."),
        (lambda: DMP().fit(REACH).rollout(duration=0.0), "...duration must be positive..."),
        (lambda: DMP().fit(REACH).rollout(dt=-0.1), "...dt must be positive..."),
        (lambda: DMP().fit(REACH).rollout(dt=1e-9), "...dt must give at most 1e7 samples..."),
        (lambda: DMP().fit(REACH).rollout(obstacles=[3.0]), "...obstacles[0] must be a Sphere..."),
        (lambda: DMP().fit(REACH).rollout(potential=2.0), "...potential must be a DynamicPotential..."),
        (lambda: DMP().fit(REACH).rollout().position(0.0, 4), "...derivative must be 0, 1, 2 or 3..."),
        (lambda: DMP().with_weights(np.zeros((20, 3)), [0, 0, 0], [1, 1, 1], 1.0), "...weights must have shape..."),
    )


def test_motion_and_basis_are_drawn() -> None:
    dmp = DMP(7, basis="mollifier").fit(minimum_jerk([0.0, 0.0], [0.4, 0.3], 1.0))
    motion = dmp.rollout()
    panels = motion.plot(label="reach")
    assert list(panels) == ["x", "speed", "jerk"]
    np.testing.assert_allclose(panels["speed"].lines[0].get_ydata(), np.linalg.norm(motion.dx, axis=1))
    np.testing.assert_allclose(panels["jerk"].lines[0].get_ydata(), np.linalg.norm(motion.dddx, axis=1))
    shares = np.array([line.get_ydata() for line in dmp.plot_basis().lines])
    np.testing.assert_allclose(shares.sum(axis=0), 1.0)
    assert_refused((lambda: motion.plot(axes={"force": panels["x"]}), "axes must be named x, speed, jerk, got 'force'"))
    plt.close("all")


def test_rotodilatation_learns_demonstrations_in_other_directions() -> None:
    demo, R = Curved(), 0.6 * _rotation()
    start = demo.position(np.zeros(1))[0]
    way = demo.position(np.array([T]))[0] - start
    u, w = way / np.linalg.norm(way), R @ way / np.linalg.norm(R @ way)
    t = np.linspace(0.0, T, 500)
    # the similarity of the primitive: in the plane of both ways
    least = np.eye(3) - np.outer(u + w, u + w) / (1.0 + u @ w) + 2.0 * np.outer(w, u)
    other = (t, (demo.position(t) - start) @ (0.6 * least).T)
    both, one = (DMP(rotodilatation=True).fit(demos) for demos in ([demo, other], demo))
    np.testing.assert_allclose(both.weights_, one.weights_, atol=2e-4)


def test_obstacles_are_avoided_and_the_goal_is_reached() -> None:
    demo = minimum_jerk([0.0, 0.0, 0.0], [0.4, 0.3, 0.25], 2.0)
    dmp = DMP().fit(demo)
    sphere = Sphere([0.2, 0.15, 0.125], 0.05)  # on the straight way
    assert sphere.distance(dmp.rollout().x).min() < 0.0
    motion = dmp.rollout(obstacles=[sphere])
    assert sphere.distance(motion.x).min() > 0.02
    assert motion.settled_error < 1e-4
    assert 0.0 < motion.settling_time < 6.0
    assert motion.end_error > dmp.rollout().end_error


PAGE = (Path(__file__).parents[2] / "docs" / "movement_primitives.md").read_text(encoding="utf-8")


NAMES = {"Gaussians": "gaussian", "mollifiers": "mollifier", "Wendland C2": "wendland_c2", "Wendland C4": "wendland_c4"}


def _factor(**options: object) -> float:
    reach = minimum_jerk([0.0, 0.0, 0.0], [0.4, 0.3, 0.25], 5.0)
    demonstrated = 23.094 * 0.25 * 5.0**0.5 / 5.0**3
    return DMP(**options).fit(reach).rollout().mean_jerk() / demonstrated


@pytest.mark.parametrize("name", list(NAMES))
def test_table_of_jerk_is_right(name: str) -> None:
    row = re.search(rf"^\| {name} \|(.*)\|$", PAGE, flags=re.MULTILINE)
    assert row is not None
    for printed, overlap in zip(row[1].split("|"), (1.0, 2.0, 2.5), strict=True):
        digits = len(printed.strip().partition(".")[2])
        assert abs(_factor(basis=NAMES[name], overlap=overlap) - float(printed)) <= 0.51 * 10.0**-digits
