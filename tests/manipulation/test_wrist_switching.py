import numpy as np
import pytest
from scipy.integrate import solve_ivp
from scipy.optimize import linprog
from scipy.signal import cont2discrete

from tests import truth
from tests.refusals import assert_refused
from thunder_py.errors import ThunderError
from thunder_py.manipulation.wrist import ElasticWrist, WristOscillator, closed_form, free_switching, one_switch
from thunder_py.manipulation.wrist.switching import one_switch_limit

TRUTH = truth.load("elastic_wrist")
LOSSLESS_LIMIT = np.pi + np.arccos(1.0 / 3.0)


def grid_optimum(o, T, cells):
    """Return the best control that is constant on cells, and its dq(T): a linear program, in units of the bounds."""
    left, unit = T - np.linspace(0.0, T, cells + 1), o.u_hi - o.u_lo
    angle, rate = -np.diff(o.step(left)), -np.diff(o.step_rate(left))
    by_angle, by_rate = np.abs(angle).max() or 1.0, np.abs(rate).max() or 1.0
    found = linprog(
        -rate / by_rate, A_eq=angle[None] / by_angle, b_eq=[0.0], bounds=(o.u_lo / unit, o.u_hi / unit),
        options={"primal_feasibility_tolerance": 1e-10, "dual_feasibility_tolerance": 1e-10},
    )  # fmt: skip
    return unit * found.x, -found.fun * by_rate * unit


def symmetric(entry):
    fields = {name: entry[name] for name in ("omega0", "zeta", "u_lo", "u_hi")}
    return WristOscillator(**fields, gain=entry["gain_k_over_keff"])


def physical(entry):
    return ElasticWrist(**{name: entry[name] for name in ("I", "k", "m", "r_c", "theta_max", "g", "alpha", "c")})


def every():
    for k, entry in enumerate(TRUTH["symmetric"]):
        yield pytest.param(entry, symmetric(entry), id=f"symmetric{k}")
    for k, entry in enumerate(TRUTH["physical"]):
        yield pytest.param(entry, physical(entry).oscillator(), id=f"physical{k}")


@pytest.mark.parametrize(("entry", "wrist"), list(every()))
def test_one_switch_equals_truth(entry, wrist):
    found = one_switch(wrist, entry["T"])
    for name in ("step_response_root", "direct"):
        assert abs(found.switches[0] - entry[f"t1_{name}"]) < 1e-6
    for name in ("step_response", "direct"):
        assert abs(found.speed - entry[f"qdT_{name}"]) < 1e-6
    assert abs(float(found.state(entry["T"])[0])) < 1e-14


@pytest.mark.parametrize(("entry", "wrist"), list(every()))
def test_free_switching_equals_truth(entry, wrist):
    """On the grid of the truth the LP is the same; without a grid the optimum is above it by the grid's accuracy."""
    found = free_switching(wrist, entry["T"])
    assert abs(grid_optimum(wrist, entry["T"], 3000)[1] - entry["qdT_LP_free_switches"]) < 1e-6
    assert 0.0 <= found.speed - entry["qdT_LP_free_switches"] < 1e-6 * found.speed
    assert np.sign(found.values[0]) == entry.get("LP_initial_sign", -1.0)
    for t in entry["LP_switch_times"]:
        assert np.abs(found.switches - t).min() < 2.0 * entry["T"] / 3000
    assert abs(float(found.state(entry["T"])[0])) < 1e-14


@pytest.mark.parametrize("entry", [e for e in TRUTH["symmetric"] if e["t1_closed_form_text"] is not None])
def test_closed_form_equals_truth(entry):
    found = closed_form(entry["omega0"], entry["u_hi"], entry["T"])
    assert abs(found.t1 - entry["t1_closed_form_text"]) < 1e-12
    assert abs(found.speed - entry["qdT_closed_form_text"]) < 1e-12
    assert found.nu == pytest.approx(one_switch(symmetric(entry), entry["T"]).nu, rel=1e-9)


@pytest.mark.parametrize("entry", TRUTH["physical"])
def test_parameters_of_the_linear_model_equal_truth(entry):
    wrist = physical(entry)
    o = wrist.oscillator()
    got = (wrist.k_eff, wrist.theta_g, o.omega0, o.zeta, o.gain, o.u_lo, o.u_hi)
    names = ("k_eff", "theta_g", "omega0", "zeta", "gain_k_over_keff", "u_lo", "u_hi")
    np.testing.assert_allclose(got, [entry[name] for name in names], rtol=1e-14, atol=1e-16)


@pytest.mark.parametrize("entry", TRUTH["physical"])
def test_bounds_of_gravity_are_not_symmetric(entry):
    """D-21: u in plus and minus theta_max gives other switches, speeds that cannot be had, angles out of reach."""
    o = physical(entry).oscillator()
    wrong = WristOscillator(
        omega0=o.omega0, zeta=o.zeta, gain=o.gain, u_lo=-entry["theta_max"], u_hi=entry["theta_max"], offset=o.offset
    )
    found = one_switch(wrong, entry["T"])
    assert abs(found.switches[0] - entry["symmetric_u_t1"]) < 1e-6
    assert abs(found.speed - entry["symmetric_u_qdT"]) < 1e-6
    assert np.abs(found.theta([0.0, entry["T"]])).max() > entry["theta_max"] + 0.05
    right = one_switch(o, entry["T"])
    np.testing.assert_allclose(right.theta([0.0, entry["T"]]), [-entry["theta_max"], entry["theta_max"]], rtol=1e-14)


def test_example_of_errata_d21():
    found = one_switch(physical(TRUTH["physical"][0]), 0.15)
    assert (round(float(found.switches[0]), 4), round(found.speed, 2)) == (0.0630, 22.80)


def oscillators():
    rng = np.random.default_rng(4)
    for _ in range(6):
        yield WristOscillator(
            omega0=rng.uniform(5.0, 30.0), zeta=rng.uniform(0.0, 0.9), gain=rng.uniform(0.8, 1.2),
            u_lo=-rng.uniform(0.3, 1.0), u_hi=rng.uniform(0.3, 1.0),
        )  # fmt: skip


@pytest.mark.parametrize("o", list(oscillators()))
@pytest.mark.parametrize("share", [0.3, 1.3, 2.6, 5.2])
def test_pontryagin(o, share):
    """The control agrees with the switching function, which obeys the adjoint equation (92)."""
    T = share * o.half_period
    found = free_switching(o, T)
    assert found.agrees()
    assert abs(float(found.state(T)[0])) < 1e-13
    assert 0.98 * found.speed < grid_optimum(o, T, 200)[1] <= found.speed * (1.0 + 1e-12)
    minus_At = np.array([[0.0, o.omega0**2], [-1.0, 2.0 * o.zeta * o.omega0]])
    solved = solve_ivp(
        lambda _, y: minus_At @ y, (T, 0.0), found.costates(T), rtol=1e-11, atol=1e-12, dense_output=True
    )
    t = np.linspace(0.0, T, 17)
    np.testing.assert_allclose(found.costates(t).T, solved.sol(t), rtol=1e-8, atol=1e-8)
    np.testing.assert_allclose(found.costates(T), [found.nu, 1.0])
    np.testing.assert_allclose(found.costates(found.switches)[:, 1], 0.0, atol=1e-9)


@pytest.mark.parametrize("o", list(oscillators()))
def test_one_switch_is_optimal_up_to_its_limit(o):
    limit = one_switch_limit(o)
    assert one_switch(o, limit).switches[0] == pytest.approx(o.half_period, rel=1e-10)
    within, beyond = one_switch(o, 0.97 * limit), one_switch(o, 1.05 * limit)
    assert (within.valid, within.agrees()) == (True, True)
    assert (beyond.valid, beyond.agrees()) == (False, False)
    assert free_switching(o, 0.97 * limit).speed == pytest.approx(within.speed, rel=1e-12)
    assert free_switching(o, 1.05 * limit).speed > beyond.speed * (1.0 + 1e-5)
    assert free_switching(o, 1.05 * limit).switches.size == 2


def test_limit_without_losses():
    """D-18: omega0 T = pi + arccos(1/3), where the speed peaks at 2 sqrt(2) omega0 theta_max; 28.98 beats 26.75."""
    o = WristOscillator(omega0=20.0, u_lo=-0.5, u_hi=0.5)
    limit = one_switch_limit(o)
    assert 20.0 * limit == pytest.approx(LOSSLESS_LIMIT, rel=1e-14)
    assert one_switch(o, limit).speed == pytest.approx(2.0 * np.sqrt(2.0) * 10.0, rel=1e-12)
    assert max(one_switch(o, limit + d).speed for d in (-1e-3, 1e-3)) < one_switch(o, limit).speed
    assert round(one_switch(o, 0.24).speed, 2) == 26.75
    assert round(free_switching(o, 0.24).speed, 2) == 28.98


def test_number_of_switches_grows_with_time():
    o = WristOscillator(omega0=20.0, u_lo=-0.5, u_hi=0.5)
    counts = [free_switching(o, share * o.half_period).switches.size for share in np.arange(0.25, 9.0, 0.5)]
    assert counts[0] == 1
    assert counts[-1] >= 8
    assert set(np.diff(counts)) <= {0, 1}


def test_linear_program_is_exact_on_its_grid():
    """Its last state equals that of the zero-order hold, step by step, of scipy.signal."""
    o = WristOscillator(omega0=14.0, zeta=0.2, gain=0.9, u_lo=-0.7, u_hi=0.4)
    control, speed = grid_optimum(o, 0.4, 40)
    A = np.array([[0.0, 1.0], [-(o.omega0**2), -2.0 * o.zeta * o.omega0]])
    system = (A, np.array([[0.0], [o.gain * o.omega0**2]]), np.eye(2), np.zeros((2, 1)))
    Ad, Bd, *_ = cont2discrete(system, 0.01)
    x = np.zeros(2)
    for u in control:
        x = Ad @ x + Bd[:, 0] * u
    np.testing.assert_allclose(x, [0.0, speed], atol=1e-9)


def test_printed_costates_do_not_obey_their_equation():
    """D-17, D-19, D-20: neither the printed matrix, nor (93), nor (94)."""
    o = WristOscillator(omega0=20.0, zeta=0.1, u_lo=-0.5, u_hi=0.5)
    T, found = 0.2, one_switch(o, 0.2)
    w, wd, z = o.omega0, o.omega_d, o.zeta

    def misses(switching):
        h, t = 1e-4, np.linspace(0.01, 0.19, 9)
        second = (switching(t + h) - 2.0 * switching(t) + switching(t - h)) / h**2
        first = (switching(t + h) - switching(t - h)) / (2.0 * h)
        return np.abs(second - 2.0 * z * w * first + w**2 * switching(t)).max() / w**2

    def printed(t):
        nu = found.nu
        wave = np.cos(wd * (T - t)) + (nu + z) / np.sqrt(1.0 - z**2) * np.sin(wd * (T - t))
        return np.exp(z * w * (T - t)) * wave

    assert misses(lambda t: found.costates(t)[:, 1]) < 1e-4
    assert misses(printed) > 1.0
    printed_nu = -(z + np.sqrt(1.0 - z**2) / np.tan(wd * (T - found.switches[0])))
    assert abs(printed_nu - found.nu) > 0.5 * abs(found.nu)
    # without damping: the printed matrix turns the other way, (90) agrees with ours
    free = one_switch(WristOscillator(omega0=w, u_lo=-0.5, u_hi=0.5), T)
    t = np.linspace(0.0, T, 9)
    rate = (free.costates(t + 1e-6) - free.costates(t - 1e-6)) / 2e-6
    scale = np.abs(rate).max(axis=0)
    right, wrong = np.array([[0.0, w**2], [-1.0, 0.0]]), np.array([[0.0, -1.0], [w**2, 0.0]])
    assert (np.abs(rate - free.costates(t) @ right.T) / scale).max() < 1e-6
    assert (np.abs(rate - free.costates(t) @ wrong.T) / scale).max() > 1.0
    left = w * (T - t)
    np.testing.assert_allclose(free.costates(t)[:, 1], np.cos(left) + free.nu / w * np.sin(left), atol=1e-12)


@pytest.mark.parametrize("seed", range(3))
def test_free_switching_everywhere(seed):
    """From a thousandth of a half period to thirty, from no damping to nearly critical, bounds of very unlike size."""
    rng = np.random.default_rng(seed)
    for zeta in (0.0, 0.4, 0.999, 1.0 - 1e-9):
        for share in (1e-3, 0.1, 1.0, 30.0):
            bounds = {"u_lo": -(10.0 ** rng.uniform(-4, 1)), "u_hi": 10.0 ** rng.uniform(-4, 1)}
            o = WristOscillator(omega0=10.0 ** rng.uniform(-1, 3), zeta=zeta, gain=rng.uniform(0.3, 3.0), **bounds)
            T = share * o.half_period
            found, once = free_switching(o, T), one_switch(o, T)
            assert found.agrees()
            assert abs(float(found.state(T)[0])) < 1e-10 * o.gain * (o.u_hi - o.u_lo)
            assert found.speed >= max(once.speed * (1.0 - 1e-9), grid_optimum(o, T, 100)[1] * (1.0 - 1e-5))
            assert once.valid == once.agrees()


@pytest.mark.parametrize("zeta", [0.0, 0.5])
@pytest.mark.parametrize("T", [1e-4, 1e-6, 1e-9])
def test_throws_of_no_time(zeta, T):
    """Shorter than any oscillation the wrist is a mass: constant acceleration, t_1 = (1 - 1 / sqrt 2) T."""
    o = WristOscillator(omega0=20.0, zeta=zeta, u_lo=-0.5, u_hi=0.5)
    speed = 20.0**2 * 0.5 * T * (np.sqrt(2.0) - 1.0)
    slack = 1e-6 + 30.0 * T
    for found in (one_switch(o, T), free_switching(o, T)):
        assert found.speed == pytest.approx(speed, rel=slack)
        assert found.switches[0] == pytest.approx(T * (1.0 - np.sqrt(0.5)), rel=slack)
    assert closed_form(20.0, 0.5, T)[:2] == pytest.approx((T * (1.0 - np.sqrt(0.5)), speed), rel=slack)


def test_step_response_is_that_of_many_digits():
    mpmath = pytest.importorskip("mpmath")
    o = WristOscillator(omega0=20.0, zeta=0.3, gain=1.1, u_lo=-0.5, u_hi=0.5)
    with mpmath.workdps(40):
        w, z = mpmath.mpf(20), mpmath.mpf(0.3)
        wd = w * mpmath.sqrt(1 - z**2)
        for t in (1e-6, 1e-3, 0.1, 2.0):
            s = mpmath.mpf(t)
            wave = mpmath.cos(wd * s) + z * w / wd * mpmath.sin(wd * s)
            exact = mpmath.mpf(1.1) * (1 - mpmath.exp(-z * w * s) * wave)
            assert abs(float((mpmath.mpf(float(o.step(t))) - exact) / exact)) < 1e-10


def test_times_too_long_are_refused():
    o = WristOscillator(omega0=20.0, u_lo=-0.5, u_hi=0.5)
    for solve in (one_switch, free_switching):
        with pytest.raises(ThunderError, match=r"T must be at most 1e\+06 half periods"):
            solve(o, 1e300)


def test_whole_period_has_no_costate():
    o = WristOscillator(omega0=2.0 * np.pi, u_lo=-0.5, u_hi=0.5)
    found = one_switch(o, 1.0)
    assert not found.valid
    assert not found.agrees()
    assert abs(found.speed) < 1e-6


BAD = {
    "I": (0.0, -1.0, np.nan, "3"),
    "k": (0.0, -5.0, np.nan, np.inf),
    "m": (-0.1, np.nan),
    "r_c": (-0.1, np.inf),
    "c": (-1e-3, np.nan),
    "theta_max": (0.0, -0.6, np.nan),
    "alpha": (np.nan, np.inf, True),
    "g": (-9.81, np.nan),
}


def test_bad_wrists_say_what_came():
    assert_refused(
        *(({name: value}, f"...wrist {name} ...got...") for name, values in BAD.items() for value in values),
        call=lambda **changes: ElasticWrist(**({"I": 0.012, "k": 5.0, "m": 0.7, "r_c": 0.09} | changes)),
    )


def test_wrists_without_a_throw_say_why():
    assert_refused(
        ({"I": 0.005}, "...wrist I must be at least m r_c..."),
        ({"c": 1.0}, "...zeta must be at least 0 and below 1 (underdamped), got 2..."),
        ({"theta_max": 0.12}, "...theta_max must exceed |theta_g| = 0.123606 rad..."),
        ({"k": 0.5, "alpha": -np.pi / 2}, "...wrist k must outweigh gravity..."),
        call=lambda **changes: one_switch(
            ElasticWrist(**({"I": 0.012, "k": 5.0, "m": 0.7, "r_c": 0.09} | changes)), 0.15
        ),
    )


def test_other_bad_input():
    o = WristOscillator(omega0=20.0, u_lo=-0.5, u_hi=0.5)
    for solve in (one_switch, free_switching):
        times = (0.0, -0.1, np.nan, np.inf, None)
        assert_refused(*(((o, T), "...T must be positive...") for T in times), call=solve)
    assert_refused(
        (lambda: WristOscillator(omega0=20.0, u_lo=0.1, u_hi=0.5), "...u_lo must be negative, got 0.1..."),
        (lambda: WristOscillator(omega0=20.0, zeta=1.0, u_lo=-0.5, u_hi=0.5), "...zeta must be at least 0 and belo..."),
        (lambda: one_switch(20.0, 0.1), "...wrist must be an ElasticWrist or a WristOscillator, got float..."),
        (lambda: closed_form(20.0, 0.5, 0.4), "...T must be at most one period..."),
    )
