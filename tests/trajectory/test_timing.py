import math

import numpy as np
import pytest
from scipy.interpolate import PPoly

from tests.refusals import assert_refused
from thunder_py.trajectory import (
    Line,
    Path,
    TimingLaw,
    cubic,
    parabolic_blends,
    point_to_point,
    quintic,
    s_curve,
    trapezoidal,
)

LAWS = {
    "cubic": cubic(2.0, 1.0, -0.5, start_velocity=0.3, end_velocity=-0.2),
    "quintic": quintic(1.5, -1.0, 2.0, start_velocity=1, end_velocity=0.5, start_acceleration=-2, end_acceleration=1),
    "minimum jerk": quintic(0.7, 0.2, 0.9),
    "trapezoid": trapezoidal(0.0, 2.0, v_max=1.0, a_max=4.0),
    "triangle": trapezoidal(3.0, 2.0, v_max=5.0, a_max=4.0),
    "blend": trapezoidal(duration=2.0, blend=0.2),
    "double S": s_curve(0.0, 3.0, v_max=1.0, a_max=2.0, j_max=8.0),
    "double S without a_max": s_curve(1.0, 0.0, v_max=0.5, a_max=9.0, j_max=8.0),
    "double S without v_max": s_curve(0.0, 2.0, v_max=9.0, a_max=1.0, j_max=8.0),
    "double S without both": s_curve(0.0, 0.1, v_max=9.0, a_max=9.0, j_max=8.0),
}


@pytest.mark.parametrize("law", LAWS.values(), ids=LAWS)
def test_derivatives_and_ends(law: TimingLaw) -> None:
    edges = np.concatenate([[0.0], law.breaks, [law.duration]])
    t, h = np.setdiff1d(np.linspace(-0.1, law.duration + 0.1, 47), edges), 1e-6
    t = t[np.abs(t[:, None] - edges).min(axis=1) > 10 * h]
    before, here, after = law(t - h), law(t), law(t + h)
    np.testing.assert_allclose((after.s - before.s) / (2 * h), here.ds, atol=1e-7)
    np.testing.assert_allclose((after.ds - before.ds) / (2 * h), here.dds, atol=1e-6)
    for t_out, value in ((-1.0, law.start), (law.duration + 1.0, law.end)):
        assert tuple(map(float, law(t_out))) == (value, 0.0, 0.0)


@pytest.mark.parametrize("make", [cubic, quintic, lambda T: trapezoidal(duration=T), cubic(1.0).stretched])
def test_durations_of_nothing(make) -> None:
    for duration in (1e-300, 1e-100, 1e-10):
        with pytest.raises(ValueError, match=rf"^duration must be at least 1e-09 s, got {duration:g}$"):
            make(duration)
    assert make(1e-9).duration == pytest.approx(1e-9)


def test_boundary_conditions() -> None:
    law = LAWS["cubic"]
    np.testing.assert_allclose([law(0.0)[:2], law(2.0)[:2]], [[1.0, 0.3], [-0.5, -0.2]], atol=1e-14)
    law = LAWS["quintic"]
    np.testing.assert_allclose([law(0.0), law(1.5)], [[-1.0, 1.0, -2.0], [2.0, 0.5, 1.0]], atol=1e-12)
    np.testing.assert_allclose([quintic(2.0)(0.0), quintic(2.0)(2.0)], [[0, 0, 0], [1, 0, 0]], atol=1e-12)
    np.testing.assert_allclose(quintic(2.0)(0.5).s, 10 / 64 - 15 / 256 + 6 / 1024, atol=1e-14)


def test_trapezoid_is_feasible_and_as_fast_as_limits_allow() -> None:
    for seed in range(20):
        rng = np.random.default_rng(seed)
        start, end, v, a = *rng.normal(size=2), *np.exp(rng.normal(size=2))
        law = trapezoidal(start, end, v_max=v, a_max=a)
        s, ds, dds = law(np.linspace(0.0, law.duration, 501))
        assert np.abs(ds).max() <= v * (1 + 1e-9)
        np.testing.assert_allclose(np.abs(dds).max(), a, rtol=1e-9)
        np.testing.assert_allclose([s[0], s[-1]], [start, end], atol=1e-12)
        np.testing.assert_allclose([ds[0], ds[-1]], 0.0, atol=1e-12)
        way = abs(end - start)
        triangle = v * v >= a * way
        assert len(law.breaks) == (3 if triangle else 4)
        np.testing.assert_allclose(law.duration, 2 * np.sqrt(way / a) if triangle else way / v + v / a)


@pytest.mark.parametrize("name", [name for name in LAWS if name.startswith("double")])
def test_s_curve_meets_its_limits(name: str) -> None:
    law = LAWS[name]
    v, a = (0.5, 9.0) if "a_max" in name else (9.0, 1.0) if "v_max" in name else (9.0, 9.0)
    v, a = (1.0, 2.0) if name == "double S" else (v, a)
    t = np.linspace(0.0, law.duration, 2001)
    _, ds, dds = law(t)
    assert np.abs(ds).max() <= v * (1 + 1e-9)
    assert np.abs(dds).max() <= a * (1 + 1e-9)
    assert np.abs(np.diff(dds) / np.diff(t)).max() <= 8.0 * (1 + 1e-6)
    np.testing.assert_allclose([ds[0], ds[-1], dds[0], dds[-1]], 0.0, atol=1e-9)
    reached = np.array([np.abs(ds).max() > v * (1 - 1e-3), np.abs(dds).max() > a * (1 - 1e-3)])
    expected = {"double S": (True, True), "double S without a_max": (True, False)}
    expected |= {"double S without v_max": (False, True), "double S without both": (False, False)}
    assert tuple(reached) == expected[name]


def test_s_curve_without_a_bound_on_jerk_is_the_trapezoid() -> None:
    sharp, trapezoid = s_curve(0, 2, v_max=1.0, a_max=4.0, j_max=1e7), trapezoidal(0, 2, v_max=1.0, a_max=4.0)
    t = np.linspace(0.0, trapezoid.duration, 31)
    np.testing.assert_allclose(sharp(t).s, trapezoid(t).s, atol=1e-5)


def drawn(seed: int) -> tuple[TimingLaw, float, float, list[float]]:
    """A law of random limits from 1e-6 to 1e300 or none, with its ends and its limits."""
    rng = np.random.default_rng(seed)
    ends = rng.normal(size=2) * 10.0 ** rng.uniform(-3.0, 3.0)
    limits = [math.inf if rng.random() < 0.2 else float(10.0 ** rng.uniform(-6.0, high)) for high in (20, 300, 300)]
    if not any(map(math.isfinite, limits[: 2 if seed % 2 else 3])):
        limits[1] = 5.0
    if seed % 2:
        return trapezoidal(*ends, v_max=limits[0], a_max=limits[1]), *ends, [*limits[:2], math.inf]
    return s_curve(*ends, v_max=limits[0], a_max=limits[1], j_max=limits[2]), *ends, limits


def test_a_law_of_any_limits_ends_at_its_end_without_a_jump() -> None:
    for seed in range(150):
        law, start, end, (v, a, j) = drawn(seed)
        size = max(abs(start), abs(end))
        by_scipy = PPoly(law.coefficients, law.breaks)
        np.testing.assert_allclose([law.start, law.end], [start, end], rtol=0.0, atol=4e-14 * size)
        np.testing.assert_allclose(by_scipy(law.breaks), law(law.breaks).s, rtol=0.0, atol=4e-14 * size)
        ends_of_pieces = [np.polyval(c, h) for c, h in zip(law.coefficients.T, np.diff(law.breaks), strict=True)]
        np.testing.assert_allclose(ends_of_pieces[:-1], law.coefficients[-1, 1:], rtol=0.0, atol=4e-14 * size)
        _, ds, dds = law(
            np.concatenate([law.breaks, np.nextafter(law.breaks[1:], 0.0), np.linspace(0, law.duration, 20)])
        )
        assert np.abs(ds).max() <= v * (1.0 + 1e-3)
        assert np.abs(dds).max() <= a * (1.0 + 1e-3)
        assert np.abs(6.0 * law.coefficients[0]).max() <= j * (1.0 + 1e-3)
        assert law.duration >= abs(end - start) / v * (1.0 - 1e-12)
        if max(limit for limit in (v, a, j) if math.isfinite(limit)) < 1e90:  # 1e300 is far above the others
            same = s_curve(start, end, v_max=min(v, 1e300), a_max=min(a, 1e300), j_max=min(j, 1e300))
            assert same.duration == pytest.approx(law.duration, rel=1e-9)
            places = [of.stretched(2.0)([0.0, 0.7, 2.0]).s for of in (law, same)]
            np.testing.assert_allclose(*places, rtol=0.0, atol=1e-9 * size)


@pytest.mark.parametrize("a", [1e8, 1e13, 1e60, 1e300, math.inf])
@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_without_a_limit_of_acceleration_the_velocity_jumps(a: float, sign: float) -> None:
    """The law is the straight line, at v_max or within the duration."""
    for law in (
        trapezoidal(0.3, 0.3 + 2.1 * sign, v_max=0.7, a_max=a),
        s_curve(0.3, 0.3 + 2.1 * sign, v_max=0.7, a_max=a, j_max=math.inf),
        s_curve(0.3, 0.3 + 2.1 * sign, v_max=0.7, a_max=math.inf, j_max=max(a, 1e16)),
        trapezoidal(0.3, 0.3 + 2.1 * sign, duration=3.0, a_max=a),
        trapezoidal(0.3, 0.3 + 2.1 * sign, duration=3.0, v_max=math.inf, a_max=a),
    ):
        t = np.linspace(0.01, 2.99, 7)
        np.testing.assert_allclose(law(t).s, 0.3 + 0.7 * sign * t, atol=2e-8)
        np.testing.assert_allclose(law(t).ds, 0.7 * sign, rtol=1e-7)
        assert law.duration == pytest.approx(3.0, rel=1e-7)


def test_short_parts_of_parabolic_blends_keep_their_displacement() -> None:
    motion = parabolic_blends([0.0, 1e-10, 1e3], [[0.0], [1.0], [1.0]], blend=[1e-12, 1e-12, 1e-12])
    np.testing.assert_allclose(motion(1e3 + 1.0).q, [1.0], atol=1e-6)
    jump = parabolic_blends([0.0, 1.0, 2.0], [[0.0], [1.0], [0.0]], blend=1e-17)
    np.testing.assert_allclose([jump(t).q[0] for t in (0.5, 1.0, 1.5, 2.0)], [0.5, 1.0, 0.5, 0.0], atol=1e-12)


def test_trapezoid_of_given_duration() -> None:
    cruise = trapezoidal(0.0, 1.0, duration=2.0, v_max=0.75)
    np.testing.assert_allclose(cruise(1.0).ds, 0.75)
    np.testing.assert_allclose(trapezoidal(0.0, 1.0, duration=2.0, v_max=7.0).duration, 2.0)
    np.testing.assert_allclose(trapezoidal(0.0, 1.0, duration=2.0, v_max=7.0)(1.0).ds, 1.0)
    np.testing.assert_allclose(trapezoidal(0.0, 1.0, duration=2.0, a_max=1.5)(0.1).dds, 1.5)
    both = trapezoidal(0.0, 1.0, duration=2.0, a_max=1.5, v_max=0.8)
    assert float(both(1.0).ds) <= 0.8
    np.testing.assert_allclose(trapezoidal(0.0, 1.0, duration=2.0, blend=0.5)(1.0).ds, 1.0)
    assert float(trapezoidal(0.3, 0.3, duration=2.0)(1.0).s) == 0.3
    assert float(trapezoidal(0.3, 0.3, duration=2.0, a_max=1.0)(1.0).s) == 0.3


def test_rescaled_and_stretched() -> None:
    law = quintic(1.5, -1.0, 2.0, start_velocity=1.0)
    moved = law.rescaled(5.0, 11.0)
    np.testing.assert_allclose(
        [*moved(0.6)], [5.0 + 2.0 * (law(0.6).s + 1.0), *(2.0 * np.array(law(0.6)[1:]))], atol=1e-13
    )
    slow = law.rescaled(0.0, 1.0).stretched(3.0)
    np.testing.assert_allclose(slow(1.0).s, (law(0.5).s + 1.0) / 3.0, atol=1e-14)
    np.testing.assert_allclose(slow(1.0).ds, law(0.5).ds / 6.0, atol=1e-14)
    np.testing.assert_allclose(slow(1.0).dds, law(0.5).dds / 12.0, atol=1e-14)


def test_refusals() -> None:
    assert_refused(
        (lambda: cubic(0.0), "duration must be positive, got 0"),
        (lambda: quintic(-1.0), "duration must be positive, got -1"),
        (lambda: quintic(1.0, np.nan), "start must be finite..."),
        (lambda: trapezoidal(), "v_max and a_max must be given, or a duration..."),
        (lambda: trapezoidal(v_max=1.0), "v_max and a_max must be given, or a duration..."),
        (lambda: trapezoidal(1.0, 1.0, v_max=1, a_max=1), "start and end must differ..."),
        (lambda: trapezoidal(v_max=-1.0, a_max=1.0), "v_max must be positive, got -1"),
        (lambda: trapezoidal(v_max=np.nan, a_max=1.0), "v_max must be positive, got nan"),
        (lambda: trapezoidal(v_max=np.inf, a_max=np.inf), "v_max and a_max must not all be infinite..."),
        (lambda: trapezoidal(v_max=1e-13, a_max=1.0), "...must give a duration of at most 1e+12 s..."),
        (lambda: quintic(1e13), "duration must be at most 1e+12 s, got 1e+13"),
        (lambda: quintic(1.0).stretched(1e80), "duration must be at most 1e+12 s, got 1e+80"),
        (lambda: s_curve(v_max=np.inf, a_max=np.inf, j_max=np.inf), "...must not all be infinite: the law would ta..."),
        (lambda: trapezoidal(duration=2.0, v_max=0.5), "v_max must be above 0.5 for 1 in 2 s, got 0.5"),
        (lambda: trapezoidal(duration=2.0, a_max=0.9), "a_max must be at least 1 for 1 in 2 s, got 0.9"),
        (lambda: trapezoidal(duration=2.0, a_max=1 - 1e-8), "...must be at least 1 for 1 in 2 s, got 0.99999999"),
        (lambda: trapezoidal(duration=1.0, a_max=4.0, v_max=1.0), "duration must be at least 1.25 s..."),
        (lambda: trapezoidal(duration=1.0, blend=0.6), "blend must be above 0 and at most 0.5, got 0.6"),
        (lambda: trapezoidal(duration=1.0, blend=0.2, a_max=1.0), "v_max and a_max must be None if blend is given"),
        (lambda: s_curve(v_max=1, a_max=1, j_max=0), "j_max must be positive, got 0"),
        (lambda: s_curve(1, 1, v_max=1, a_max=1, j_max=1), "start and end must differ, got 1 twice"),
        (lambda: TimingLaw([0.0, 1.0, 1.0], [[0.0, 1.0]]), "breaks must increase, got 1..."),
        (lambda: TimingLaw([0.5, 1.0], [[0.0]]), "...start at 0, got [0.5, 1.0]"),
        (lambda: TimingLaw([0.0, 1.0], [[0.0, 1.0]]), "coefficients must have shape (n, 1), got (1, 2)"),
        (lambda: cubic(1.0, 2.0, 2.0).rescaled(0.0, 1.0), "a rescaled law must have an end that differs from its s..."),
    )


def test_joints_and_paths_without_limits_of_acceleration_arrive() -> None:
    for a in (1e14, math.inf):
        motion = point_to_point([0.1, -0.2], [0.9, 0.4], v_max=[0.5, math.inf], a_max=[a, math.inf])
        assert motion.duration == pytest.approx(1.6)
        np.testing.assert_allclose(motion(0.8).q, [0.5, 0.1], atol=1e-12)
    law = trapezoidal(v_max=0.5, a_max=1e11)  # its rise is shorter than the rounding of the start of the second segment
    ways = [Line([0, 0, 0], [1, 0, 0], quintic(1e6)), Line([1, 0, 0], [1, 2, 0], law)]
    np.testing.assert_allclose(Path(ways)(1e6 + 1.0).p, [1.0, 1.0, 0.0], atol=1e-9)


@pytest.mark.parametrize("scale", [1e-100, 1e-9, 1e9])
def test_a_law_of_any_duration_is_stretched_without_a_loss(scale: float) -> None:
    law = s_curve(0.0, 1.0, v_max=1.0 / scale, a_max=4.0 / scale / scale, j_max=40.0 / scale / scale / scale)
    like = s_curve(0.0, 1.0, v_max=1.0, a_max=4.0, j_max=40.0)
    np.testing.assert_allclose(law.stretched(1e12)([2e11, 1e12]).s, like.stretched(1e12)([2e11, 1e12]).s, rtol=1e-12)
