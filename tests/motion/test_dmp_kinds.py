"""Movement primitives of orientation."""

from functools import partial

import numpy as np
import pytest
from scipy.integrate import solve_ivp
from scipy.interpolate import PchipInterpolator
from scipy.spatial.transform import Rotation

from tests.refusals import assert_refused
from thunder_py.errors import FileFormatError, NotFittedError, ThunderError, ThunderWarning
from thunder_py.motion import DMP, FPCA, DynamicPotential, ProMP, QuaternionDMP, RhythmicDMP
from thunder_py.motion.primitives.rhythm import find_phase
from thunder_py.recordings.synthetic import minimum_jerk_reaches
from thunder_py.recordings.trial import Trial
from thunder_py.trajectory import minimum_jerk


def demonstration(T: float = 1.5, n: int = 400) -> tuple[np.ndarray, Rotation]:
    """A turn about two changing axes, from rest to rest."""
    t = np.linspace(0.0, T, n)
    s = (t / T) ** 3 * (10.0 - 15.0 * t / T + 6.0 * (t / T) ** 2)
    first = Rotation.from_rotvec(np.outer(s, [1.1, -0.4, 0.3]))
    return t, Rotation.from_rotvec(np.outer(s**2 - 0.5 * s, [0.2, 0.9, -0.7])) * first


def test_demonstration_is_reproduced() -> None:
    t, rotations = demonstration()
    for scaling in ("hoffmann", "paper"):
        motion = QuaternionDMP(scaling=scaling).fit((t, rotations)).rollout(dt=t[1])
        error = (rotations * motion.rotations.inv()).magnitude()
        assert error.max() < 1e-3
        np.testing.assert_allclose(np.linalg.norm(motion.rotations.as_quat(), axis=1), 1.0, atol=1e-14)
        assert motion.end_error < 1e-3
        motion = QuaternionDMP(scaling=scaling).fit((t, rotations)).rollout(dt=0.25 * t[1])
        w = (motion.rotations[2:] * motion.rotations[:-2].inv()).as_rotvec() / (2.0 * motion.t[1])
        np.testing.assert_allclose(motion.w[1:-1], w, atol=2e-5)
        np.testing.assert_allclose(motion.dw[1:-1], (motion.w[2:] - motion.w[:-2]) / (2.0 * motion.t[1]), atol=1e-3)


def _reference(dmp: QuaternionDMP, R0: Rotation, goal: Rotation, tau: float, scaling: str, end: float) -> np.ndarray:
    """Ude's equations in the four numbers of the quaternion, by another integrator."""
    e0 = (goal * R0.inv()).as_rotvec()

    def slope(t: float, state: np.ndarray) -> np.ndarray:
        q, eta = state[:4], state[4:]
        x = np.exp(-dmp.basis_.alpha * t / tau)
        f = dmp.basis_.forcing(dmp.weights_, [x])[0]
        error = (goal * Rotation.from_quat(q).inv()).as_rotvec()
        force = e0 * f if scaling == "paper" else dmp.K * (f - x * e0)
        dq = 0.5 * np.append(eta * q[3] + np.cross(eta, q[:3]), -eta @ q[:3])
        return np.append(dq, dmp.K * error - dmp.D_ * eta + force) / tau

    begin = np.append(R0.as_quat(), np.zeros(3))
    return solve_ivp(slope, (0.0, end), begin, rtol=1e-8, atol=1e-10).y[:, -1]


@pytest.mark.parametrize("scaling", ["hoffmann", "paper"])
def test_equations_are_those_of_ude(scaling: str) -> None:
    t, rotations = demonstration()
    dmp = QuaternionDMP(8, scaling=scaling, overlap=1.5).fit((t, rotations))
    R0, goal = Rotation.from_rotvec([0.3, -0.2, 0.5]), Rotation.from_rotvec([-0.8, 1.0, 0.4])
    motion = dmp.rollout(R0, goal, 2.0, dt=0.01)
    expected = _reference(dmp, R0, goal, 2.0, scaling, 2.0)
    assert (Rotation.from_quat(expected[:4]) * motion.rotations[-1].inv()).magnitude() < 1e-6
    np.testing.assert_allclose(motion.w[-1], expected[4:] / 2.0, atol=1e-6)


def test_goal_may_change_and_the_way_is_the_shorter_one() -> None:
    dmp = QuaternionDMP().fit(demonstration())
    dmp.reset()
    for _ in range(300):
        dmp.step(2e-3)
    before = dmp.state
    goal = Rotation.from_rotvec([-0.5, 0.2, 1.0])
    dmp.goal = goal
    np.testing.assert_array_equal(dmp.state.R, before.R)
    np.testing.assert_array_equal(dmp.state.w, before.w)
    traveled = 0.0
    for _ in range(3000):
        state = dmp.step(2e-3)
        traveled += 2e-3 * float(np.linalg.norm(state.w))
        assert abs(np.linalg.det(state.R) - 1.0) < 1e-12
    assert (goal * Rotation.from_matrix(dmp.state.R).inv()).magnitude() < 1e-3
    assert traveled < 2.0 * np.pi


def test_trials_teach_as_their_rotations_do() -> None:
    t, rotations = demonstration()
    vectors = rotations.as_rotvec()
    trial = Trial(t, np.hstack([0.0 * vectors, vectors]), ("x", "y", "z", "rx", "ry", "rz"))
    given = QuaternionDMP().fit((t, rotations))
    np.testing.assert_allclose(QuaternionDMP().fit(trial).weights_, given.weights_, atol=1e-9)
    gap = np.where(np.arange(400)[:, None] == 30, np.nan, trial.x)
    assert_refused((lambda: QuaternionDMP().fit(Trial(t, gap, trial.dofs)), "...must have no gaps..."))


def test_bad_input_is_refused() -> None:
    t, rotations = demonstration(n=100)
    about_z = Rotation.from_rotvec(np.outer(np.linspace(0.0, 1.0, 100), [0.0, 0.0, 4.0]))
    assert_refused(
        (lambda: QuaternionDMP().fit((t, about_z)), "...half a turn..."),
        (
            lambda: QuaternionDMP(scaling="paper").fit((t, Rotation.from_rotvec(0.2 * about_z.as_rotvec()))),
            "coordinate 0 must not end where it starts...",
        ),
        (lambda: QuaternionDMP().fit((t[:-1], rotations)), "...must have shape (99, n), got (100, 3)..."),
        (lambda: QuaternionDMP().fit((t[:10], rotations[:10])), "...at least n_basis..."),
        (lambda: QuaternionDMP().fit([rotations]), "...must be a Trial with rotations..."),
    )
    flat = Trial(t, np.zeros((len(t), 2)), ("x", "y"))
    for demonstrations in (flat, [(t, rotations), flat]):
        with pytest.raises(
            ThunderError, match=r"demonstration . must have rotation vectors rx, ry, rz, got .* of x, y"
        ):
            QuaternionDMP().fit(demonstrations)
    assert_refused(
        (lambda: QuaternionDMP().fit([]), "...at least one..."),
        (lambda: QuaternionDMP().rollout(), "...call fit..."),
    )
    learned = QuaternionDMP().fit((t, rotations))
    assert_refused(
        (lambda: learned.step(0.01), "...call reset..."),
        (lambda: learned.rollout(goal=np.diag([1.0, 1.0, -1.0])), "...goal..."),
        (lambda: learned.rollout(duration=0.0), "...duration..."),
    )


# --- Rhythmic movement primitives: their equations, the period, what they learn, changes on the way ---
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


def test_a_rhythm_is_reproduced() -> None:
    dmp = learned()
    assert abs(dmp.period_ / T - 1.0) < 1e-7
    np.testing.assert_allclose(dmp.goal_, BASELINE, atol=1e-5)
    motion = dmp.rollout(duration=4.0 * T)
    assert np.abs(motion.x - wave(motion.t)).max() < 1e-4
    local = learned(regression="lwr").rollout()
    assert 1e-4 < np.abs(local.x - wave(local.t)).max() < 0.05


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


@pytest.mark.parametrize(("cycles", "noise"), [(2.0, 0.02), (3.7, 0.0), (12.2, 0.02)])
def test_period_is_found(cycles: float, noise: float) -> None:
    rng = np.random.default_rng(0)
    t = np.sort(rng.uniform(0.0, cycles * T, 400))
    t -= t[0]
    t *= cycles * T / t[-1]
    found, _ = find_phase(t, wave(t) + noise * rng.normal(size=(400, 2)))
    # a noise of a tenth of the signal, over 400 samples: 2 pi (f T - 1) has a standard deviation of about 0.02 / cycles
    assert abs(found / T - 1.0) < (1e-7 if noise == 0.0 else 0.02 / cycles)


def _drifting(case: str, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Times [s] and phases of a rhythm of about 0.7 s."""
    t = np.linspace(0.0, 12.0, 900)
    if case == "jitter":
        starts = np.insert(np.cumsum(0.7 * (1.0 + 0.06 * rng.normal(size=30))), 0, 0.0)
        return t, PchipInterpolator(starts, 2.0 * np.pi * np.arange(31))(t)
    if case == "wandering":
        return t, 2.0 * np.pi / 0.7 * (t + 0.1 * np.sin(0.9 * t + rng.uniform(0.0, 6.0)))
    return t, 2.0 * np.pi / 0.7 * t * (1.0 + float(case) * (1.0 - t / 12.0))


@pytest.mark.parametrize("seed", [0, 1])
@pytest.mark.parametrize("case", ["0.05", "0.1", "-0.1", "0.5", "jitter", "wandering"])
@pytest.mark.parametrize("noise", [0.0, 0.01])
def test_drifting_periods_are_followed(case: str, noise: float, seed: int) -> None:
    rng = np.random.default_rng(seed)
    t, phase = _drifting(case, rng)
    first, second, third = rng.uniform(0.0, 6.0, size=3)
    waves = [0.2 * np.cos(phase + first) + 0.05 * np.cos(3.0 * phase), 0.35 * np.sin(phase + second)]
    x = np.column_stack([*waves, 0.1 + 0.04 * np.cos(2.0 * phase + third)])
    period, found = find_phase(t, x + noise * rng.normal(size=x.shape))
    assert abs(period * (phase[-1] - phase[0]) / (2.0 * np.pi * 12.0) - 1.0) < 0.02
    error = found[0] - phase
    assert np.std(error) < (0.15 if case == "jitter" else 0.05)
    np.testing.assert_allclose(np.gradient(found[0], t)[1:-1], found[1][1:-1], rtol=0.02)
    dmp = RhythmicDMP().fit((t, x))
    np.testing.assert_allclose(np.ptp(dmp.cycle(np.linspace(0.0, 6.3, 500)), axis=0), np.ptp(x, axis=0), rtol=0.05)
    assert (dmp.residuals_ < 0.1 * np.std(x, axis=0)).all()


def test_rhythms_that_are_not_followed_warn() -> None:
    t, phase = _drifting("0.1", np.random.default_rng(0))
    x, growing = 0.3 * np.cos(phase), 0.3 * np.exp(0.15 * t) * np.cos(2.0 * np.pi / 0.7 * t)
    cases = ((x, {"period": 0.7}), (growing, {}), (np.where(t < 9.0, 0.3 * np.cos(9.0 * t), 0.3), {}))
    for values, options in cases:
        with pytest.warns(
            ThunderWarning, match=r"coordinate 1 .* RMS distance of .*, \d\d% of its amplitude"
        ) as caught:
            dmp = RhythmicDMP().fit((t, np.column_stack([1e-3 * np.sin(77.0 * t), values])), **options)
        assert len(caught) == 1
        assert caught[0].filename == __file__
        rest = values - (dmp.goal_ + dmp.cycle(2.0 * np.pi / dmp.period_ * t))[:, 1]
        assert dmp.residuals_[1] < 1.1 * np.sqrt(np.mean(rest**2))
    with pytest.warns(ThunderWarning, match="since 'lwr' smooths"):
        RhythmicDMP(9, overlap=1.2, regression="lwr").fit((t, np.sin(4.0 * t)))


@pytest.mark.filterwarnings("ignore::thunder_py.recordings.RecordingWarning")
def test_reproductions_far_from_the_demonstration_warn() -> None:
    clumped = np.sort(np.append(np.linspace(0.0, 1.0, 30), 0.5 + 1e-7 * np.arange(1, 30)))
    noise = 1e-4 * np.random.default_rng(0).normal(size=(59, 3))
    reach = (clumped**2 * (3.0 - 2.0 * clumped))[:, None] * [0.4, 0.1, 0.2] + noise
    fits = (
        lambda: DMP().fit((clumped, reach)),
        lambda: QuaternionDMP().fit((clumped, Rotation.from_rotvec(reach))),
        lambda: DMP(2).fit((clumped, reach[:, :1] + 0.1 * np.sin(6.0 * np.pi * clumped)[:, None])),
    )
    for fit in fits:
        with pytest.warns(ThunderWarning, match=r"RMS distance of .* from demonstration 0, .*% of its extent"):
            fit()


def test_period_of_few_samples_a_cycle() -> None:
    t = np.linspace(0.0, 5.0, 21)
    assert abs(find_phase(t, np.sin(6.0 * t)[:, None])[0] / (np.pi / 3.0) - 1.0) < 1e-6


SECONDS = np.linspace(0.0, 4.9, 50)


def test_refusals() -> None:
    assert_refused(
        (lambda: RhythmicDMP().rollout(), "...RhythmicDMP must be fitted before it moves: call fit first..."),
        (lambda: learned().step(0.01), "...RhythmicDMP must be started before it steps: call reset first..."),
        (lambda: RhythmicDMP(n_basis=1).fit(([0, 1], [0, 1])), "...n_basis must be a whole number from 2..."),
        (lambda: RhythmicDMP(overlap=0.0).with_weights([[1.0]] * 25, [0.0], 1.0), "...overlap must be positive..."),
        (lambda: RhythmicDMP().fit((SECONDS, SECONDS)), "...must repeat within half its duration..."),
        (lambda: RhythmicDMP().fit((SECONDS, np.zeros(50))), "...must repeat within half its duration..."),
        (lambda: RhythmicDMP().fit((SECONDS, np.sin(10.0 * SECONDS)), period=5.0), "...must last at least a ..."),
        (lambda: learned().rollout(amplitude=[1.0, 2.0, 3.0]), "...amplitude must be a number or 2 numbers..."),
        (lambda: learned().rollout(frequency=0.0), "...frequency must be positive..."),
        (lambda: learned().rollout(phase=np.nan), "...phase must be..."),
        (lambda: learned().rollout(goal=[1.0]), "...goal must have shape (2,)..."),
        (lambda: RhythmicDMP().with_weights(np.zeros((25, 17)), np.zeros(17), 1.0), "...1 to 16 coordinates, got ..."),
    )


# --- Files of movement primitives ---
REACH = minimum_jerk([0.0, 0.1, 0.0], [0.4, 0.3, 0.2], 2.0)
T2 = np.linspace(0.0, 2.0, 120)


def turning() -> QuaternionDMP:
    return QuaternionDMP(15, D=30.0).fit((T2, Rotation.from_rotvec(np.outer((T2 / 2.0) ** 2, [0.3, 1.2, -0.4]))))


MADE = {
    "DMP": lambda: DMP(15, basis="mollifier", K=np.float64(120.0), regression="lwr").fit(REACH),
    "DMP, not turned": lambda: DMP(rotodilatation=False).fit(REACH),
    "DMP of the paper": lambda: DMP.paper().fit(REACH),
    "DMP of a closed motion": lambda: DMP().fit((T2, np.sin(np.outer(T2, [np.pi, 2.0 * np.pi])))),
    "RhythmicDMP": lambda: RhythmicDMP(9, overlap=1.5, K=90.0).fit((T2, np.sin(7.0 * T2))),
    "QuaternionDMP": turning,
    "ProMP": lambda: ProMP(7, overlap=0.6, variance_floor=1e-5).fit(minimum_jerk_reaches(8, seed=1)),
    "ProMP of an array": lambda: ProMP(5).fit(np.random.default_rng(0).normal(size=(4, 5, 2))),
}


@pytest.mark.parametrize("name", MADE)
def test_loaded_primitives_are_equal(name: str, tmp_path) -> None:
    one = MADE[name]()
    one.save(tmp_path / "a.npz")
    two = type(one).load(tmp_path / "a.npz")
    assert two.get_params() == one.get_params()
    assert repr(two) == repr(one).replace("np.float64(120.0)", "120.0")
    for key, value in vars(one).items():
        if key.endswith("_") and key not in ("basis_",):
            np.testing.assert_array_equal(getattr(two, key), value)
    if isinstance(one, ProMP):
        assert two.dofs == one.dofs
        np.testing.assert_array_equal(two.sample(2, seed=1), one.sample(2, seed=1))
    elif isinstance(one, QuaternionDMP):
        np.testing.assert_array_equal(two.rollout(dt=0.1).w, one.rollout(dt=0.1).w)
    else:
        np.testing.assert_array_equal(two.rollout(dt=0.1).x, one.rollout(dt=0.1).x)
    with np.load(tmp_path / "a.npz", allow_pickle=False) as file:
        assert all(file[array].dtype.kind in "fibU" for array in file.files)


@pytest.mark.parametrize("kind", [DMP, RhythmicDMP, QuaternionDMP, ProMP, FPCA])
def test_unfitted_and_foreign_files(kind: type, tmp_path) -> None:
    assert_refused((lambda: kind().save(tmp_path / "a.npz"), "...must be fitted before..."), error=NotFittedError)
    (tmp_path / "b.npz").write_bytes(b"no archive")
    with pytest.raises(FileFormatError, match=f"not a file of {kind.__name__}.save: no archive of plain arrays"):
        kind.load(tmp_path / "b.npz")
    other = MADE["ProMP" if kind is DMP else "DMP"]()
    other.save(tmp_path / "c.npz")
    with pytest.raises(FileFormatError, match=f"not a file of {kind.__name__}.save: thunder_.* missing") as error:
        kind.load(tmp_path / "c.npz")
    assert str(tmp_path / "c.npz") in str(error.value)


def test_damaged_files(tmp_path) -> None:
    path = tmp_path / "a.npz"

    def load(name, changes):
        one = MADE[name]()
        one.save(path)
        with np.load(path) as file:
            arrays = {key: file[key] for key in file.files} | changes
        np.savez(path, **{key: value for key, value in arrays.items() if value is not None})
        return type(one).load(path)

    cases = (
        ("DMP", {"thunder_dmp": np.array(1)}, "version 1 of DMP.save, this package reads 2"),
        ("DMP", {"weights_": None}, "weights_ missing"),
        ("DMP", {"weights_": np.zeros((3, 3))}, "weights must have shape"),
        ("DMP", {"weights_": np.full((15, 3), np.nan)}, "weights must be finite"),
        ("DMP", {"basis": np.array('"gausian"')}, "basis must be one of"),
        ("DMP", {"K": np.array("import os")}, "Expecting value"),
        ("DMP", {"duration_": np.zeros(3)}, "duration must be positive"),
        ("DMP", {"rotodilatation_": np.array("yes")}, "rotodilatation must be True or False"),
        (
            "DMP, not turned",
            {"rotodilatation_": np.array(True)},
            "rotodilatation must be True or False as in",
        ),
        ("RhythmicDMP", {"period_": np.array(-1.0)}, "duration must be positive"),
        ("RhythmicDMP", {"goal_": np.zeros(2)}, "goal must have shape (1,)"),
        ("QuaternionDMP", {"start_": np.zeros((3, 3))}, "start must hold an orthonormal rotation matrix"),
        ("ProMP", {"covariance_": np.zeros((3, 3))}, "covariance must have shape"),
        ("ProMP", {"covariance_": np.diag(-np.ones(21))}, "covariance must be symmetric, and not negative"),
        ("ProMP", {"dofs": np.array(["x"])}, "dofs must name 3 coordinates"),
        ("ProMP", {"dofs": np.zeros(3)}, "dofs must be texts"),
    )
    refused = ((partial(load, name, changes), f"...{message}...") for name, changes, message in cases)
    assert_refused(*refused, error=FileFormatError)


def test_any_frame_of_the_world_gives_the_same_motion() -> None:
    dmp = QuaternionDMP().fit(demonstration())
    t, rotations = demonstration()
    turn = Rotation.from_rotvec([0.4, 2.0, -1.0])
    again = QuaternionDMP().fit((t, turn * rotations)).rollout()
    np.testing.assert_allclose(again.rotations.as_matrix(), (turn * dmp.rollout().rotations).as_matrix(), atol=1e-9)


def test_shorter_way_whatever_the_sign_of_the_quaternion() -> None:
    still = QuaternionDMP().with_weights(np.zeros((21, 3)), np.eye(3), np.eye(3), 1.0)
    for angle in (0.9 * np.pi, 1.1 * np.pi):
        goal = Rotation.from_rotvec([0.0, 0.0, angle])
        motion = still.rollout(np.eye(3), goal, until=5.0)
        turned = np.linalg.norm(motion.w, axis=1).mean() * 5.0
        assert abs(turned - 0.9 * np.pi) < 0.02
        assert motion.end_error < 1e-4
