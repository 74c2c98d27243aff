"""The potential of Park et al. and its gradient."""

import numpy as np
import pytest

from tests.refusals import assert_refused
from thunder_py.geometry import Box, Sphere
from thunder_py.motion.planning.obstacles import MovingObstacle
from thunder_py.motion.primitives.dynamic_potential import DynamicPotential

LAMBDA, BETA = 0.7, 2.5


def _states(n: int = 400, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    return rng.normal(size=(n, 3)), rng.normal(size=(n, 3))


def _differences(potential: DynamicPotential, y: np.ndarray, z: np.ndarray, obstacles: list, h: float = 1e-5):
    """Fourth-order central differences of -U."""
    steps = h * np.eye(y.shape[1])
    speeds = np.broadcast_to(z[:, None], (*z.shape, z.shape[1]))

    def U(shift: np.ndarray) -> np.ndarray:
        return potential.potential(y[:, None] + shift, speeds, obstacles)

    return -(8.0 * (U(steps) - U(-steps)) - (U(2 * steps) - U(-2 * steps))) / (12.0 * h)


def test_potential_is_equation_107() -> None:
    y, z = _states()
    center = np.array([0.1, -0.2, 0.3])
    plain = DynamicPotential(LAMBDA, BETA, tie_break=0.0)
    r = y - center
    cosine = np.sum(r * z, axis=1) / np.linalg.norm(r, axis=1) / np.linalg.norm(z, axis=1)
    for obstacle, radius in ((center, 0.0), (Sphere(center, 0.05), 0.05)):
        p = np.linalg.norm(r, axis=1) - radius
        expected = LAMBDA * np.maximum(-cosine, 0.0) ** BETA * np.linalg.norm(z, axis=1) / p
        assert p.min() > 0.01
        np.testing.assert_allclose(plain.potential(y, z, [obstacle]), expected, rtol=1e-12)


@pytest.mark.parametrize(("tie_break", "beta"), [(0.0, 2.5), (0.02, 2.0), (0.02, 4.0)])
def test_force_is_the_gradient(beta: float, tie_break: float) -> None:
    y, z = _states()
    obstacles = [Sphere([0.0, 0.0, 0.0], 0.2), [0.5, 0.5, -0.5]]
    clear = (np.linalg.norm(y, axis=1) > 0.3) & (np.linalg.norm(y - obstacles[1], axis=1) > 0.1)
    y, z = y[clear], z[clear]
    potential = DynamicPotential(LAMBDA, beta, tie_break=tie_break)
    force = potential.force(y, z, obstacles)
    scale = np.maximum(np.linalg.norm(force, axis=1), 1e-3)
    error = np.linalg.norm(_differences(potential, y, z, obstacles) - force, axis=1) / scale
    assert np.median(error) < 1e-9
    # at 90 degrees the second derivative jumps for beta = 2, and differences do not see it
    assert np.quantile(error, 0.99) < 1e-6


def test_what_moves_away_feels_nothing() -> None:
    y, z = _states()
    away = np.sum(y * z, axis=1) >= 0.0
    potential = DynamicPotential(tie_break=0.0)
    assert away.sum() > 100
    np.testing.assert_array_equal(potential.force(y, z, [[0, 0, 0]])[away], 0.0)
    np.testing.assert_array_equal(potential.potential(y, z, [[0, 0, 0]])[away], 0.0)
    assert (np.linalg.norm(potential.force(y, z, [[0, 0, 0]])[~away], axis=1) > 0.0).all()


def test_moving_obstacles_are_met_with_the_relative_velocity() -> None:
    y, z = _states()
    velocity, sphere = np.array([0.3, -0.2, 0.1]), Sphere([0.1, 0.2, 0.3], 0.1)
    moving = MovingObstacle(sphere, velocity)
    potential = DynamicPotential()
    later = Sphere(sphere.center + 1.5 * velocity, 0.1)
    np.testing.assert_allclose(
        potential.force(y, z, [moving], t=1.5), potential.force(y, z - velocity, [later]), rtol=1e-9, atol=1e-12
    )
    approached = potential.force([1.0, 0.0, 0.0], [0.0, 0.0, 0.0], [MovingObstacle(sphere, [1, 0, 0])])
    assert approached[0] > 0.0  # who stands still is pushed out of its way


def test_force_stays_finite_and_a_gradient_inside() -> None:
    _, z = _states(200)
    y = 0.19 * np.random.default_rng(3).uniform(-0.5, 0.5, (200, 3))
    potential, inside = DynamicPotential(least_distance=0.02), [Sphere([0, 0, 0], 0.2)]
    force = potential.force(y, z, inside)
    assert np.isfinite(force).all()
    scale = np.maximum(np.linalg.norm(force, axis=1), 1.0)
    error = np.linalg.norm(_differences(potential, y, z, inside, 1e-6) - force, axis=1) / scale
    assert np.quantile(error, 0.98) < 1e-6
    np.testing.assert_array_equal(potential.force([0.0, 0.0, 0.0], [1.0, 0.0, 0.0], inside), 0.0)


def test_a_tie_is_broken_sideways() -> None:
    y, z, point = [-1.0, 0.0, 0.0], [1.0, 0.0, 0.0], [[0.0, 0.0, 0.0]]
    head_on = DynamicPotential(tie_break=0.0).force(y, z, point)
    np.testing.assert_allclose(head_on[1:], 0.0, atol=1e-15)
    assert head_on[0] < 0.0
    broken = DynamicPotential(tie_break=0.02, side=[0, 0, 1]).force(y, z, point)
    assert broken[2] > 0.0
    assert abs(broken[1]) < 1e-15
    flat = DynamicPotential(tie_break=0.02).force([-1.0, 0.0], [1.0, 0.0], [[0.0, 0.0]])
    assert flat.shape == (2,)
    assert flat[1] > 0.0


def test_bad_input_is_refused() -> None:
    assert_refused(
        (lambda: DynamicPotential(beta=1.5), "...beta must be at least 2..."),
        (lambda: DynamicPotential(gain=0.0), "...gain must be positive..."),
        (lambda: DynamicPotential(least_distance=-1.0), "...least_distance must be positive..."),
        (lambda: DynamicPotential(tie_break=1.0), "...tie_break must be an angle..."),
        (lambda: DynamicPotential(side=[0.0, 0.0, 0.0]), "...side must be a direction..."),
        (lambda: DynamicPotential().force([0, 0, 0], [1, 0, 0], [Box([1, 0, 0], [1, 1, 1])]), "...must be a Sphere..."),
        (lambda: DynamicPotential().force([0, 0], [1, 0], [Sphere([1, 0, 0], 0.1)]), "...sphere in space..."),
        (lambda: DynamicPotential().force([0, 0, 0], [1, 0, 0], [[1.0, 0.0]]), "...obstacles[0]..."),
        (lambda: DynamicPotential().force([0, 0, 0, 0], [1, 0, 0, 0], []), "...m = 1, 2 or 3..."),
        (lambda: DynamicPotential().force([0, 0, np.nan], [1, 0, 0], []), "...y..."),
    )


def _relative(a: np.ndarray, b: np.ndarray) -> float:
    size = np.linalg.norm(b, axis=1)
    moved = size > 1e-9
    assert moved.sum() > 100
    return float((np.linalg.norm(a - b, axis=1)[moved] / size[moved]).max())


def test_the_form_in_circulation_is_no_gradient() -> None:
    """lambda where beta belongs and the exponent one too high: what published code has is far from -dU/dy."""
    y, z = _states()
    lam, beta = 0.1, 2.0
    potential = DynamicPotential(lam, beta, tie_break=0.0)
    r = np.linalg.norm(y, axis=1, keepdims=True)
    speed = np.linalg.norm(z, axis=1, keepdims=True)
    n = y / r
    c = np.sum(n * z, axis=1, keepdims=True) / speed
    for first, exponent in ((lam, beta - 1.0), (beta, beta), (lam, beta)):
        wrong = lam * speed * np.maximum(-c, 0.0) ** exponent / r * (first * (z / speed - c * n) / r - c * n / r)
        assert _relative(wrong, _differences(potential, y, z, [[0.0, 0.0, 0.0]])) > 0.5
    right = lam * speed * np.maximum(-c, 0.0) ** (beta - 1.0) / r * (beta * (z / speed - c * n) / r - c * n / r)
    np.testing.assert_allclose(potential.force(y, z, [[0.0, 0.0, 0.0]]), right, rtol=1e-9, atol=1e-12)


def test_obstacles_add_and_at_rest_there_is_no_force() -> None:
    y, z = _states()
    potential, a, b = DynamicPotential(), Sphere([1, 0, 0], 0.2), np.array([0.0, 1.0, 0.0])
    np.testing.assert_allclose(
        potential.force(y, z, [a, b]), potential.force(y, z, [a]) + potential.force(y, z, [b]), rtol=1e-12, atol=1e-14
    )
    np.testing.assert_allclose(potential.force(y, 0.0 * z, [a, b]), 0.0, atol=1e-90)
    np.testing.assert_array_equal(potential.force(y, z, []), 0.0)
