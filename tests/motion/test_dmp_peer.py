"""Movement primitives against the package movement_primitives, where both define the same equations.

Its form is tau^2 y'' = alpha_y (beta_y (g - y) - tau y' - beta_y (g - y0) x) + f(x), the last term of the bracket with
smooth scaling only. So K = alpha_y beta_y, D = alpha_y, and f is K times ours (Hoffmann's scaling) or g - y0 times
ours (the paper's, without). Its functions meet their neighbors at 0.8: an overlap of 1 / sqrt(-log 0.8).
"""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from thunder_py.errors import ThunderWarning
from thunder_py.motion.primitives.dmp import DMP
from thunder_py.motion.primitives.quaternion_dmp import QuaternionDMP

OVERLAP, ALPHA, N = 1.0 / np.sqrt(-np.log(0.8)), -np.log(0.01), 10
T = 1.6
START, GOAL = np.array([0.1, 0.4, -0.2]), np.array([0.5, 0.2, 0.3])
SCALINGS = [("hoffmann", True), ("paper", False)]


def peer(module: str = "dmp"):
    """A module of movement_primitives, imported late."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return pytest.importorskip(f"movement_primitives.{module}")


def _pair(scaling: str, smooth: bool) -> tuple[DMP, object]:
    theirs = peer().DMP(3, execution_time=T, n_weights_per_dim=N, smooth_scaling=smooth)
    weights = 300.0 * np.random.default_rng(0).normal(size=(3, N))
    theirs.forcing_term.weights_[:] = weights
    theirs.configure(start_y=START, goal_y=GOAL)
    K, D = float(theirs.alpha_y[0] * theirs.beta_y[0]), float(theirs.alpha_y[0])
    ours = DMP(N, scaling=scaling, rotodilatation=False, K=K, D=D, alpha=ALPHA, overlap=OVERLAP)
    scale = K if smooth else GOAL - START
    return ours.with_weights((weights.T / scale), START, GOAL, T), theirs


def test_functions_phase_and_forcing_agree() -> None:
    ours, theirs = _pair("hoffmann", True)
    np.testing.assert_allclose(ours.basis_.centers, theirs.forcing_term.centers, rtol=1e-14)
    np.testing.assert_allclose(ours.basis_.widths**2, theirs.forcing_term.widths, rtol=1e-10)
    t = np.linspace(0.0, T, 50)
    x = ours.basis_.phase(t, T)
    np.testing.assert_allclose(x, theirs.forcing_term.phase(t), rtol=1e-13)
    np.testing.assert_allclose(ours.K * ours.forcing(x), theirs.forcing_term(t).T, rtol=1e-10, atol=1e-10)
    np.testing.assert_allclose(ours.basis_.design(x).T, theirs.forcing_term.design_matrix(t), rtol=1e-10, atol=1e-13)


@pytest.mark.parametrize(("scaling", "smooth"), SCALINGS)
def test_accelerations_agree(scaling: str, smooth: bool) -> None:
    ours, theirs = _pair(scaling, smooth)
    rng = np.random.default_rng(1)
    for _ in range(20):
        y0, g, v = rng.normal(size=(3, 3))
        with warnings.catch_warnings():  # of goals far from the demonstrated one
            warnings.simplefilter("ignore", ThunderWarning)
            ours.reset(y0, g, start_velocity=v)
        f = theirs.forcing_term(0.0)[:, 0]
        scale = 1.0 if smooth else (g - y0) / (GOAL - START)
        expected = peer("dmp._dmp")._dmp_acc(
            y0, v, np.zeros(3), theirs.alpha_y, theirs.beta_y, g, np.zeros(3), np.zeros(3), y0, 1.0, T, scale * f, None,
            np.zeros(3), smooth,
        )  # fmt: skip
        np.testing.assert_allclose(ours.state.ddx, expected, rtol=1e-10)


@pytest.mark.parametrize(("scaling", "smooth"), SCALINGS)
def test_rollouts_agree(scaling: str, smooth: bool) -> None:
    ours, theirs = _pair(scaling, smooth)
    v0, n = np.array([0.3, -0.2, 0.1]), 800
    y, v, dt, zero = START.copy(), v0.copy(), T / 800, np.zeros(3)
    path = [y.copy()]
    for k in range(n):
        # its Runge-Kutta step looks at the forcing from the end of the step on, so it is called one step early
        peer("dmp._dmp").dmp_step_rk4(
            (k - 1) * dt, k * dt, y, v, GOAL, zero, zero, START, zero, zero, T, 0.0, theirs.alpha_y, theirs.beta_y,
            theirs.forcing_term, smooth_scaling=smooth,
        )  # fmt: skip
        path.append(y.copy())
    motion = ours.rollout(dt=dt, start_velocity=v0)
    np.testing.assert_allclose(motion.x, path, atol=2e-8)
    np.testing.assert_allclose(motion.dx[-1], v, atol=2e-7)


def test_weights_that_are_learned_agree() -> None:
    t = np.linspace(0.0, T, 2001)
    s = np.sin(0.5 * np.pi * t / T) ** 4
    x = START + s[:, None] * (GOAL - START) + 0.1 * np.sin(np.pi * t / T)[:, None] ** 3
    theirs = peer().DMP(3, execution_time=T, n_weights_per_dim=N, smooth_scaling=True)
    theirs.imitate(t, x)
    ours = DMP(N, K=25.0 * 6.25, D=25.0, alpha=ALPHA, overlap=OVERLAP).fit((t, x))
    # it differences with first order at the ends, and gives the last sample as much weight as the others
    span = np.abs(theirs.forcing_term.weights_).max()
    np.testing.assert_allclose(ours.K * ours.weights_.T, theirs.forcing_term.weights_, atol=0.01 * span)


@pytest.mark.parametrize(("scaling", "smooth"), SCALINGS)
def test_rotations_agree(scaling: str, smooth: bool) -> None:
    theirs = peer().CartesianDMP(execution_time=T, n_weights_per_dim=N, smooth_scaling=smooth)
    weights = 100.0 * np.random.default_rng(2).normal(size=(3, N))
    theirs.forcing_term_rot.weights_[:] = weights
    R0, R1 = Rotation.from_rotvec([0.2, -0.5, 0.3]), Rotation.from_rotvec([0.9, 0.4, -0.2])
    way = (R1 * R0.inv()).as_rotvec()
    K, D = 25.0 * 6.25, 25.0
    ours = QuaternionDMP(N, scaling=scaling, K=K, D=D, alpha=ALPHA, overlap=OVERLAP)
    ours.with_weights(weights.T / (K if smooth else way), R0.as_matrix(), R1.as_matrix(), T)
    steps = peer("dmp._cartesian_dmp")
    step = steps.CARTESIAN_DMP_STEP_FUNCTIONS[steps.DEFAULT_CARTESIAN_DMP_STEP_FUNCTION]
    q0, q1 = (np.roll(R.as_quat(), 1) for R in (R0, R1))
    motion, ends = ours.rollout(dt=T / 100), []
    for n in (1000, 2000):  # Euler steps, so extrapolated
        q, w = q0.copy(), np.zeros(3)
        step(
            0.0, T, q, w, q1, np.zeros(3), np.zeros(3), q0, np.zeros(3), np.zeros(3), T, 0.0, theirs.alpha_y[3:],
            theirs.beta_y[3:], theirs.forcing_term_rot, None, None, T / n, smooth,
        )  # fmt: skip
        turned = (Rotation.from_quat(np.roll(q, -1)) * motion.rotations[-1].inv()).as_rotvec()
        ends.append(np.append(turned, w - motion.w[-1]))
    assert np.abs(ends[1]).max() < 2e-2
    np.testing.assert_allclose(2.0 * ends[1] - ends[0], 0.0, atol=2e-4)
    ours.reset()  # and the slope exactly
    f = theirs.forcing_term_rot(0.0)[:, 0]
    expected = (25.0 * (6.25 * way - (6.25 * way if smooth else 0.0)) + f) / T**2
    np.testing.assert_allclose(ours.state.dw, expected, rtol=1e-9)
