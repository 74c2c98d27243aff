import math
from typing import Any

import numpy as np
import pytest
from scipy.integrate import solve_ivp

import thunder_py as th
from tests.refusals import assert_refused
from thunder_py.manipulation import throwing as tw
from thunder_py.manipulation.throwing import flight as drag

P, V = np.array([0.5, -0.2, 0.8]), np.array([1.1, 0.4, 0.9])


def test_range_equation_has_the_release_above_the_landing() -> None:
    """D4.2, eq. 77, with the sign of h that errata D-15 gives; the other one has no number here."""
    v, theta, h = 1.5, 0.3, 0.6
    up, ahead = v * math.sin(theta), v * math.cos(theta)
    flight = solve_ivp(
        lambda t, x: [x[1], -9.81], (0.0, 2.0), [h, up], events=lambda t, x: x[0], rtol=1e-12, atol=1e-12
    )
    assert tw.flight_range(v, theta, h) == pytest.approx(ahead * flight.t_events[0][0], abs=1e-10)
    with pytest.raises(th.errors.ReleaseError, match="does not rise"):
        tw.flight_range(v, theta, -h)


def test_range_equation_over_arrays_is_the_landing() -> None:
    rng = np.random.default_rng(0)
    v, theta, h = rng.uniform(0.5, 3.0, 20), rng.uniform(-1.0, 1.4, 20), rng.uniform(0.0, 1.0, 20)
    velocity = np.stack([v * np.cos(theta), 0.0 * v, v * np.sin(theta)], axis=-1)
    start = np.stack([0.0 * h, 0.0 * h, h], axis=-1)
    np.testing.assert_allclose(tw.flight_range(v, theta, h), tw.landing(start, velocity).p[:, 0], atol=1e-13)


@pytest.mark.parametrize("target", [(1.5, 0.3, 0.0), (1.0, -0.6, 1.1), (0.7, -0.2, -0.5)])
def test_release_velocity_hits_with_the_least_speed(target: tuple[float, float, float]) -> None:
    v = tw.release_velocity(P, target)
    np.testing.assert_allclose(tw.landing(P, v, target[2]).p, target, atol=1e-12)
    for angle in np.linspace(-0.4, 1.4, 40):
        try:
            other = tw.release_velocity(P, target, angle=angle)
        except th.errors.ReleaseError:
            continue
        np.testing.assert_allclose(tw.landing(P, other, target[2]).p, target, atol=1e-9)
        assert math.atan2(other[2], math.hypot(other[0], other[1])) == pytest.approx(angle)
        assert np.linalg.norm(other) >= np.linalg.norm(v) - 1e-12


def test_at_the_least_speed_the_angle_has_no_effect() -> None:
    target, h = np.array([1.5, 0.3, 0.0]), 1e-4
    v = tw.release_velocity(P, target)
    speed, flat = np.linalg.norm(v), math.hypot(v[0], v[1])
    angle, ahead = math.atan2(v[2], flat), np.array([v[0], v[1], 0.0]) / flat

    def lands(speed: float, angle: float) -> Any:
        velocity = speed * (math.cos(angle) * ahead + math.sin(angle) * np.array([0.0, 0.0, 1.0]))
        return tw.landing(P, velocity, 0.0).p[:2]

    def effect(d_speed: float, d_angle: float) -> float:
        ends = [lands(speed + s * h * d_speed, angle + s * h * d_angle) for s in (1, -1)]
        return float(np.linalg.norm(ends[0] - ends[1]) / (2 * h))

    assert effect(0.0, 1.0) < 1e-6
    assert effect(1.0, 0.0) > 0.3
    speed *= 1.2  # elsewhere it has one
    assert effect(0.0, 1.0) > 1e-2


def test_release_velocity_straight_up_and_down() -> None:
    np.testing.assert_allclose(tw.release_velocity(P, P - np.array([0.0, 0.0, 0.3])), 0.0, atol=1e-12)
    assert tw.release_velocity(P, P + np.array([0.0, 0.0, 0.3]))[2] == pytest.approx(math.sqrt(2 * 9.81 * 0.3))


def test_a_vanishing_drag_is_no_drag() -> None:
    closed = tw.landing(P, V, 0.1)
    errors = []
    for k in (0.0, 1e-6, 1e-3):
        flight = tw.simulate_flight(P, V, 0.1, drag=k)
        errors.append(np.linalg.norm(flight.landing.p - closed.p))
    assert errors[0] < 1e-10
    assert errors[1] < 1e-6
    assert errors[1] * 500 < errors[2] < errors[1] * 2000  # proportional to the drag
    np.testing.assert_allclose(tw.simulate_flight(P, V, 0.1).landing.v, closed.v, atol=1e-10)


def test_fall_through_air_in_closed_form() -> None:
    """From rest: height g t^2 turns into v_t^2 / g ln cosh(g t / v_t)."""
    k = 0.2
    v_t = math.sqrt(9.81 / k)
    flight = tw.simulate_flight([0, 0, 5.0], np.zeros(3), drag=k)
    t = float(flight.landing.time)
    assert v_t**2 / 9.81 * math.log(math.cosh(9.81 * t / v_t)) == pytest.approx(5.0, abs=1e-9)
    assert flight.landing.v[2] == pytest.approx(-v_t * math.tanh(9.81 * t / v_t), abs=1e-9)


def straight_up(h: float, k: float) -> Any:
    """Velocity that reaches a height through air: v^2 = g / k (e^(2 k h) - 1)."""
    return np.array([0.0, 0.0, math.sqrt(9.81 / k * math.expm1(2.0 * k * h))])


@pytest.mark.parametrize("rtol", [1e-11, 3e-9])
@pytest.mark.parametrize("depth", [1e-2, 1e-6, 1e-9, 0.0])
def test_a_landing_just_below_the_apex_is_found(depth: float, rtol: float, monkeypatch: pytest.MonkeyPatch) -> None:
    """No step passes over both crossings of the plane."""
    monkeypatch.setitem(drag._TOLERANCE, "rtol", rtol)
    rng = np.random.default_rng(7)
    for h, k in zip(rng.uniform(0.1, 3.0, 4), rng.uniform(0.05, 2.0, 4), strict=True):
        v = straight_up(h, k)
        plane = h * (1.0 - depth) - 2e-8
        flight = tw.simulate_flight(np.zeros(3), v, plane, drag=k)
        assert flight.landing.p[2] == pytest.approx(plane, abs=1e-8)
        assert flight.landing.v[2] <= 0.0
        np.testing.assert_allclose(flight.p[-1], flight.landing.p, atol=1e-9)


@pytest.mark.parametrize("h", [1e-3, 0.8, 40.0])
def test_the_apex_itself_is_reached(h: float) -> None:
    """The plane through the apex, to rounding: what `release_velocity` returns always lands."""
    for height in h * (1.0 + 0.01 * np.arange(7)):
        target = np.array([0.0, 0.0, height])
        np.testing.assert_allclose(tw.landing(np.zeros(3), tw.release_velocity(np.zeros(3), target), height).p, target)
        k = 0.3 / h
        v = straight_up(height, k)
        np.testing.assert_allclose(
            tw.simulate_flight(np.zeros(3), v, height, drag=k).landing.p, target, rtol=1e-9, atol=1e-9
        )


def test_the_path_joins_at_the_apex() -> None:
    flight = tw.simulate_flight(P, V, 0.1, drag=0.2, samples=400)
    t = np.diff(flight.t)[:, None]
    np.testing.assert_allclose(np.diff(flight.p, axis=0), 0.5 * t * (flight.v[1:] + flight.v[:-1]), atol=1e-6)
    assert (np.diff(flight.v[:, 2]) < 0.0).all()


def test_a_grazing_flight_has_no_sensitivity() -> None:
    up = tw.release_velocity(np.zeros(3), [0.0, 0.0, 0.5])
    with pytest.raises(th.errors.ReleaseError, match="apex touches the landing height"):
        tw.landing_sensitivity(np.zeros(3), up, 0.5)


def test_drag_coefficient_of_a_tennis_ball() -> None:
    k = tw.drag_coefficient(0.0577, math.pi * 0.0335**2, 0.55)
    assert k == pytest.approx(1.204 * 0.55 * math.pi * 0.0335**2 / (2 * 0.0577))
    assert 0.01 < k < 0.05


def test_sensitivity_is_the_derivative() -> None:
    a, plane, h = np.array([0.5, -2.0, 1.5]), 0.1, 1e-5
    found = tw.landing_sensitivity(P, V, plane, a=a)

    def lands(p: Any, v: Any) -> Any:
        return tw.landing(p, v, plane).p[:2]

    for column, step in enumerate(h * np.eye(3)):
        by_p = (lands(P + step, V) - lands(P - step, V)) / (2 * h)
        by_v = (lands(P, V + step) - lands(P, V - step)) / (2 * h)
        np.testing.assert_allclose(found.position[:, column], by_p, atol=1e-6)
        np.testing.assert_allclose(found.velocity[:, column], by_v, atol=1e-6)
    later, sooner = ((P + V * t + a * t**2 / 2, V + a * t) for t in (h, -h))
    np.testing.assert_allclose(found.time, (lands(*later) - lands(*sooner)) / (2 * h), atol=1e-6)


def test_a_falling_hand_makes_the_time_of_release_unimportant() -> None:
    falling = tw.landing_sensitivity(P, V, 0.0, a=(0.0, 0.0, -9.81))
    np.testing.assert_allclose(falling.time, 0.0, atol=1e-12)
    steady = tw.landing_sensitivity(P, V, 0.0)
    assert np.linalg.norm(steady.time) > 1.0


def test_covariance_is_that_of_many_throws() -> None:
    rng = np.random.default_rng(1)
    sigma_p, sigma_v, sigma_t, count = 2e-3, 5e-3, 2e-3, 20000
    A = rng.standard_normal((3, 3)) * sigma_v
    t = sigma_t * rng.standard_normal((count, 1))
    p = P + sigma_p * rng.standard_normal((count, 3)) + V * t
    v = V + rng.standard_normal((count, 3)) @ A.T
    many = np.cov(tw.landing(p, v).p[:, :2].T)
    found = tw.landing_sensitivity(P, V).covariance(sigma_p, A @ A.T, sigma_t)
    np.testing.assert_allclose(found, many, rtol=0.05, atol=0.05 * np.trace(many))


def test_nonsense_is_refused() -> None:
    assert_refused(
        (lambda: tw.landing(P, [np.nan, 0, 0]), "...v must be finite..."),
        (lambda: tw.landing(P, V, 3.0), "...does not rise to the landing height..."),
        (lambda: tw.landing([0, 0, -1.0], [1, 0, -9.0], 0.0), "...below the landing height and falls..."),
        (lambda: tw.simulate_flight(P, V, 3.0, drag=0.1), "...does not rise to the landing height..."),
        (lambda: tw.simulate_flight(P, V, drag=-0.1), "...drag must not be negative..."),
        (lambda: tw.simulate_flight(P, V, 1e300, drag=0.1), "...it reaches at most 0.841 m..."),
        (lambda: tw.simulate_flight([0.0, 0.0, 1.0], [1.0, 0.0, 0.0], drag=9e15), "...drag must be at most 1e+04 1..."),
        (lambda: tw.simulate_flight(P, [1.0, 0.0, 1e300], drag=0.1), "...the rate of the state is not finite at t ..."),
        (lambda: tw.simulate_flight(P, V, 0.1, drag=1e300), "...drag must be at most 1.43e+04 1/m for..."),
        (lambda: tw.simulate_flight(P, V, samples=1.5), "...samples must be a whole number of at least 2, got 1.5..."),
        (lambda: tw.landing_sensitivity(P, V, math.nan), "...plane must be finite..."),
        (lambda: tw.landing_sensitivity(P, V, "low"), "...plane must be numbers..."),
        (lambda: tw.flight_range(-1.0, 0.0), "...speed must be at least 0, got..."),
        (lambda: tw.release_velocity(P, [1, 1, 2.0], angle=0.1), "...no speed comes down on a target..."),
        (lambda: tw.release_velocity(P, [1, 1]), "...target must have shape..."),
        (lambda: tw.landing_sensitivity(P, V).covariance(time=-1.0), "...time must not be negative..."),
        (lambda: tw.landing_sensitivity(P, V).covariance(-np.eye(3)), "...must be a covariance..."),
        (lambda: tw.simulate_flight(P, V, drag=math.inf), "...drag must be finite, got inf..."),
        (lambda: tw.HandOpening(assumed=math.inf), "...hand assumed must be finite, got inf..."),
        (lambda: tw.ReleaseNoise(velocity=math.inf), "...noise velocity must be finite, got inf..."),
        (lambda: tw.drag_coefficient(0.0, 1.0, 1.0), "...mass must be positive..."),
        (lambda: tw.HandOpening(delay=-0.1), "...hand delay must not be negative..."),
        (lambda: tw.HandOpening(jitter=math.nan), "...hand jitter must not be negative..."),
    )
