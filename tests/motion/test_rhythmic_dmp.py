"""Rhythmic movement primitives: their equations, the period, what they learn, changes on the way."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.integrate import solve_ivp

from tests.refusals import assert_refused
from thunder_py.motion import DynamicPotential, RhythmicDMP
from thunder_py.motion.primitives.bases import PeriodicBasis
from thunder_py.motion.primitives.period import find_period

T = 1.3
BASELINE = np.array([1.0, -0.5])


def wave(t: np.ndarray) -> np.ndarray:
    w = 2.0 * np.pi / T * t
    return BASELINE + np.column_stack(
        [0.3 * np.sin(w) + 0.1 * np.cos(2.0 * w + 0.3), 0.2 * np.cos(w) - 0.05 * np.sin(3.0 * w)]
    )


def learned(**options: object) -> RhythmicDMP:
    t = np.linspace(0.0, 3.1 * T, 400)
    return RhythmicDMP(**options).fit((t, wave(t)))


def test_demonstration_is_reproduced() -> None:
    dmp = learned()
    assert abs(dmp.period_ / T - 1.0) < 1e-7
    np.testing.assert_allclose(dmp.goal_, BASELINE, atol=1e-5)
    motion = dmp.rollout(duration=4.0 * T)
    assert np.abs(motion.x - wave(motion.t)).max() < 1e-4
    local = learned(fit="lwr").rollout()
    assert 1e-4 < np.abs(local.x - wave(local.t)).max() < 0.05


def test_several_demonstrations_and_functions() -> None:
    class Motion:
        duration = 2.0 * T

        def position(self, t: np.ndarray, derivative: int = 0) -> np.ndarray:
            return (2.0 * np.pi / T) ** derivative * np.sin(2.0 * np.pi * t / T + 0.5 * np.pi * derivative)[:, None]

    t = np.linspace(0.0, 2.0 * T, 500)
    other = (1.7 * t, 3.0 * Motion().position(t))  # slower and larger, from the same phase on
    dmp = RhythmicDMP().fit([Motion(), other])
    phases = np.linspace(0.0, 6.0, 20)
    np.testing.assert_allclose(dmp.cycle(phases)[:, 0], 2.0 * np.sin(phases), atol=1e-4)
    one = RhythmicDMP().fit((t, np.sin(2.0 * np.pi * t / T)), period=2.0 * T)
    assert one.period_ == 2.0 * T


@pytest.mark.parametrize("among_obstacles", [False, True])
def test_equations_are_ijspeerts(among_obstacles: bool) -> None:
    dmp = learned(n_basis=9, overlap=1.5, K=120.0, D=18.0)
    y0, v0, g, r, period = np.array([0.9, -0.3]), np.array([0.2, -0.1]), np.array([0.8, 0.1]), np.array([1.5, 0.6]), 1.9
    angle, n, spheres = 0.7, 9, [[0.95, 0.0]] if among_obstacles else []
    tau, potential = period / (2.0 * np.pi), DynamicPotential(0.3, 2.0)
    centers = 2.0 * np.pi * np.arange(n) / n
    width = 1.0 / (1.5**2 * (1.0 - np.cos(2.0 * np.pi / n)))

    def slope(t: float, state: np.ndarray) -> np.ndarray:
        y, z, x = state[:2], state[2:4], state[4]
        functions = np.exp(width * (np.cos(x - centers) - 1.0))
        f = functions @ dmp.weights_ / functions.sum()
        force = 120.0 * r * f + (potential.force(y, z, spheres) if spheres else 0.0)
        return np.concatenate([z, 120.0 * (g - y) - 18.0 * z + force, [1.0]]) / tau

    end = 1.3 * period
    begin = np.concatenate([y0, tau * v0, [angle]])
    solved = solve_ivp(slope, (0.0, end), begin, rtol=1e-9, atol=1e-11, method="DOP853").y[:, -1]
    motion = dmp.rollout(
        y0, g, r, 1.0 / period, end, phase=angle, start_velocity=v0, obstacles=spheres, potential=potential
    )
    np.testing.assert_allclose(motion.x[-1], solved[:2], atol=2e-7)
    np.testing.assert_allclose(tau * motion.dx[-1], solved[2:4], atol=2e-6)


def test_functions_and_acceleration_are_those_of_pydmps() -> None:
    peer = pytest.importorskip("pydmps")
    n, rng = 12, np.random.default_rng(0)
    theirs = peer.DMPs_rhythmic(n_dmps=2, n_bfs=n, dt=1e-3, w=rng.normal(size=(2, n)))
    K, D = 25.0 * 6.25, 25.0
    ours = RhythmicDMP(n, overlap=1.0 / np.sqrt(n * (1.0 - np.cos(2.0 * np.pi / n))), K=K, D=D)
    ours.with_weights(theirs.w.T / K, [0.3, -0.2], 2.0 * np.pi)  # tau = 1
    x = rng.uniform(0.0, 2.0 * np.pi, 5)
    np.testing.assert_allclose(ours.basis_.evaluate(x), theirs.gen_psi(x), rtol=1e-11)
    for angle in x:
        y, v, g = rng.normal(size=(3, 2))
        theirs.y, theirs.dy, theirs.goal = y.copy(), v.copy(), g
        theirs.cs.x = angle - theirs.dt  # its step advances the phase first
        expected = theirs.step()[2]
        np.testing.assert_allclose(ours.reset(y, g, phase=angle, start_velocity=v).ddx, expected, rtol=1e-10)


def test_derivatives_belong_together_and_cycles_close() -> None:
    dmp = learned()
    motion = dmp.rollout(goal=[0.3, 0.2], amplitude=[2.0, 0.5], frequency=0.5)
    assert motion.duration == 2.0
    for values in (motion.x, motion.dx, motion.ddx, motion.dddx):
        np.testing.assert_allclose(values[-1], values[0], atol=1e-5 * np.abs(values).max())
    fine = dmp.rollout(goal=[0.3, 0.2], amplitude=[2.0, 0.5], frequency=0.5, dt=2e-4)
    slope = np.gradient(fine.ddx, fine.t, axis=0, edge_order=2)
    np.testing.assert_allclose(slope[2:-2], fine.dddx[2:-2], atol=1e-3 * np.abs(fine.dddx).max())
    x = np.pi * motion.t
    np.testing.assert_allclose(motion.x, [0.3, 0.2] + dmp.cycle(x) * [2.0, 0.5], atol=1e-6)
    np.testing.assert_allclose(motion.dx, np.pi * dmp.cycle(x, 1) * [2.0, 0.5], atol=1e-5)
    np.testing.assert_allclose(dmp.cycle([0.0], 4), dmp.cycle([2.0 * np.pi], 4), rtol=1e-9)


@pytest.mark.parametrize("time_constant", [0.0, 0.1])
def test_goal_amplitude_and_frequency_may_change_on_the_way(time_constant: float) -> None:
    dmp = learned()
    dmp.reset(goal_filter=time_constant)
    for _ in range(300):
        before = dmp.step(2e-3)
    x = dmp.phase
    assert abs(x - 2.0 * np.pi * 0.6 / dmp.period_) < 1e-12
    dmp.goal, dmp.amplitude, dmp.frequency = [0.2, 0.1], 1.7, 1.5
    after = dmp.state
    np.testing.assert_array_equal(after.x, before.x)
    np.testing.assert_allclose(after.dx, before.dx, rtol=1e-14)
    assert dmp.phase == x
    assert abs(dmp.frequency - 1.5) < 1e-14
    dmp.step(0.05)
    assert abs(dmp.phase - (x + 2.0 * np.pi * 0.075) % (2.0 * np.pi)) < 1e-12
    share = np.exp(-0.05 / time_constant) if time_constant else 0.0
    np.testing.assert_allclose(dmp.amplitude, 1.7 - 0.7 * share, rtol=1e-12)
    np.testing.assert_allclose(dmp.goal, [0.2, 0.1] + share * (dmp.goal_ - [0.2, 0.1]), rtol=1e-12)
    for _ in range(1500):
        state = dmp.step(2e-3)
    np.testing.assert_allclose(state.x, [0.2, 0.1] + 1.7 * dmp.cycle([dmp.phase])[0], atol=1e-7)


@pytest.mark.parametrize("noise", [0.0, 0.02])
@pytest.mark.parametrize("cycles", [2.0, 3.7, 12.2])
def test_period_is_found(cycles: float, noise: float) -> None:
    rng = np.random.default_rng(0)
    t = np.sort(rng.uniform(0.0, cycles * T, 400))
    t -= t[0]
    t *= cycles * T / t[-1]
    found = find_period(t, wave(t) + noise * rng.normal(size=(400, 2)))
    # a noise of a tenth of the signal, over 400 samples: 2 pi (f T - 1) has a standard deviation of about 0.02 / cycles
    assert abs(found / T - 1.0) < (1e-7 if noise == 0.0 else 0.02 / cycles)


def test_functions_cover_the_circle_evenly() -> None:
    basis = PeriodicBasis(8, overlap=1.2)
    x = np.linspace(0.0, 2.0 * np.pi, 50)
    np.testing.assert_allclose(basis.design(x).sum(axis=1), 1.0, rtol=1e-14)
    np.testing.assert_allclose(basis.evaluate(x + basis.centers[1])[:, 1], basis.evaluate(x)[:, 0], rtol=1e-12)
    np.testing.assert_allclose(basis.evaluate(basis.centers[1:2])[0, 0], np.exp(-1.0 / 1.2**2), rtol=1e-13)


SECONDS = np.linspace(0.0, 4.9, 50)


def test_refusals() -> None:
    assert_refused(
        (lambda: RhythmicDMP().rollout(), "...RhythmicDMP must be fitted before it moves: call fit first..."),
        (lambda: learned().step(0.01), "...RhythmicDMP must be started before it steps: call reset first..."),
        (lambda: RhythmicDMP(n_basis=1).fit(([0, 1], [0, 1])), "...n_basis must be a whole number from 2..."),
        (lambda: RhythmicDMP(overlap=0.0).with_weights([[1.0]] * 25, [0.0], 1.0), "...overlap must be a positive ..."),
        (lambda: RhythmicDMP().fit((SECONDS, SECONDS)), "...must repeat within half its duration..."),
        (lambda: RhythmicDMP().fit((SECONDS, np.zeros(50))), "...must repeat within half its duration..."),
        (lambda: RhythmicDMP().fit((SECONDS, np.sin(10.0 * SECONDS)), period=5.0), "...must last at least a ..."),
        (lambda: learned().rollout(amplitude=[1.0, 2.0, 3.0]), "...amplitude must be a number or 2 numbers..."),
        (lambda: learned().rollout(frequency=0.0), "...frequency must be a positive number..."),
        (lambda: learned().rollout(phase=np.nan), "...phase must be..."),
        (lambda: learned().rollout(goal=[1.0]), "...goal must have shape (2,)..."),
        (lambda: RhythmicDMP().with_weights(np.zeros((25, 17)), np.zeros(17), 1.0), "...1 to 16 coordinates, got ..."),
    )
