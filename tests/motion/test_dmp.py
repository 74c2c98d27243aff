"""Discrete movement primitives: their equations, what they learn, what they do with other goals and times."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.integrate import solve_ivp

from tests.refusals import assert_refused
from thunder_py.geometry import Sphere
from thunder_py.motion.planning.obstacles import MovingObstacle
from thunder_py.motion.primitives.dmp import DMP
from thunder_py.motion.primitives.dynamic_potential import DynamicPotential
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


def test_phase_is_exact() -> None:
    dmp = DMP(alpha=3.7).fit(Curved())
    dmp.reset(duration=1.7)
    for _ in range(1000):
        dmp.step(1e-3)
    assert abs(dmp.phase - np.exp(-3.7 / 1.7)) < 1e-14


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


def test_motion_is_held_outside() -> None:
    motion = DMP().fit(Curved()).rollout()
    np.testing.assert_allclose(motion.position([-1.0, T + 1.0]), motion.x[[0, -1]], rtol=1e-14)
    np.testing.assert_array_equal(motion.position([-1.0, T + 1.0], 3), 0.0)
    assert motion.position(1.0).shape == (3,)
    assert motion.position(np.ones((2, 5)), 1).shape == (2, 5, 3)


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


def test_time_scales() -> None:
    dmp = DMP().fit(Curved())
    slow, fast = dmp.rollout(duration=3.0), dmp.rollout(duration=1.0)
    np.testing.assert_allclose(slow.x, fast.x, atol=1e-12)
    for k, (a, b) in enumerate(zip((slow.dx, slow.ddx, slow.dddx), (fast.dx, fast.ddx, fast.dddx), strict=True)):
        np.testing.assert_allclose(a * 3.0 ** (k + 1), b, rtol=1e-9, atol=1e-9)


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


def test_rotodilatation_learns_from_other_directions() -> None:
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


def test_goal_may_change_on_the_way() -> None:
    dmp = DMP().fit(Curved())
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


def test_tau_may_change_on_the_way() -> None:
    dmp = DMP().fit(Curved())
    dmp.reset()
    for _ in range(500):
        before = dmp.step(2e-3)
    dmp.tau = 2.0 * T
    np.testing.assert_allclose(dmp.state.x, before.x)
    np.testing.assert_allclose(dmp.state.dx, before.dx, rtol=1e-14)
    x = dmp.phase
    dmp.step(0.1)
    assert abs(dmp.phase - x * np.exp(-dmp.basis_.alpha * 0.1 / (2.0 * T))) < 1e-15


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


def test_what_settles_when() -> None:
    dmp = DMP().fit(Curved())
    motion = dmp.rollout()
    late = dmp.rollout(until=3.0 * T, dt=T / 100)
    assert late.duration == 3.0 * T
    np.testing.assert_allclose(np.linalg.norm(late.x[-1] - late.goal), motion.settled_error, rtol=1e-6)
    far = np.linalg.norm(late.x - late.goal, axis=1)
    assert (far[late.t > motion.settling_time + 0.03] <= 1e-3).all()
    assert dmp.rollout(tolerance=1e-12).settling_time == np.inf
    assert dmp.rollout(tolerance=1e3).settling_time == 0.0


def test_many_coordinates() -> None:
    t = np.linspace(0.0, 1.0, 200)
    x = np.sin(np.outer(t, np.arange(1.0, 17.0)) * 0.5)
    dmp = DMP(30).fit((t, x))
    start_velocity = np.arange(1.0, 17.0) * 0.5
    assert np.abs(dmp.rollout(dt=t[1], start_velocity=start_velocity).x - x).max() < 0.02
    assert_refused((lambda: DMP().fit((t, np.zeros((200, 17)) + t[:, None])), "...1 to 16 coordinates, got 17..."))
