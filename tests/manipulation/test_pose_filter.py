import numpy as np
import pytest
from scipy import linalg, stats
from scipy.spatial.transform import Rotation

from tests.refusals import assert_refused
from thunder_py.errors import ThunderError
from thunder_py.manipulation.servoing.pose_filter import LatestPose, PoseFilter, Verdict, _State
from thunder_py.spatial.single import exp, log, make_pose

NOISE = (0.003, 0.035)


def moving(t, twist=(0.05, -0.02, 0.01, 0.3, -0.2, 0.5)):
    """A pose that moves with a constant twist."""
    xi = np.asarray(twist)
    R = Rotation.from_rotvec(t * xi[3:]) * Rotation.from_rotvec([0.3, 0.2, -0.8])
    return make_pose(R.as_matrix(), np.array([0.5, 0.1, 0.3]) + t * xi[:3])


def seen(T, rng, noise=NOISE):
    R = Rotation.from_rotvec(rng.normal(0.0, noise[1], 3)).as_matrix() @ T[:3, :3]
    return make_pose(R, T[:3, 3] + rng.normal(0.0, noise[0], 3))


def error_of(estimate, T, twist):
    pose = np.r_[T[:3, 3] - estimate.pose[:3, 3], log(T[:3, :3] @ estimate.pose[:3, :3].T)]
    return np.r_[pose, np.asarray(twist) - estimate.twist]


def white(density, dt, rng):
    """Changes of a pose coordinate and of its speed by white acceleration over dt."""
    Q = np.array([[dt**3 / 3.0, dt**2 / 2.0], [dt**2 / 2.0, dt]])
    return density * (np.linalg.cholesky(Q) @ rng.normal(size=(2, 3)))


def nees(seed, seconds=4.0, latency=0.25):
    """Truth of the filter's own model, irregular pictures with drop-outs; predicted over a latency."""
    rng = np.random.default_rng(seed)
    densities, speeds = (0.1, 0.3), (0.05, 0.1)
    filt = PoseFilter(*NOISE, acceleration=densities[0], angular_acceleration=densities[1], gate=1.0 - 1e-12)
    T, xi, t = moving(0.0), np.r_[rng.normal(0.0, speeds[0], 3), rng.normal(0.0, speeds[1], 3)], 0.0
    filt.add(t, seen(T, rng))
    while True:
        last = t > seconds
        dt = latency if last else rng.uniform(0.05, 0.3)
        (dp, dv), (dr, dw) = white(densities[0], dt, rng), white(densities[1], dt, rng)
        T = make_pose(exp(dr + dt * xi[3:]) @ T[:3, :3], T[:3, 3] + dt * xi[:3] + dp)
        xi, t = xi + np.r_[dv, dw], t + dt
        if last:
            break
        assert filt.add(t, seen(T, rng)) is Verdict.used
    estimate = filt.estimate(t)
    e = error_of(estimate, T, xi)
    return e @ np.linalg.solve(estimate.covariance, e)


def test_normalized_estimation_error_is_consistent():
    """NEES of 30 independent runs: its mean lies inside the 99.9 % bounds of chi-square with 12 degrees of freedom."""
    values = [nees(seed) for seed in range(30)]
    low, high = stats.chi2.ppf([0.0005, 0.9995], 12 * len(values)) / len(values)
    assert low < np.mean(values) < high
    assert stats.kstest(values, stats.chi2(12).cdf).pvalue > 1e-3


@pytest.mark.parametrize("persistence", [np.inf, 0.5])
def test_transition_is_the_derivative_of_the_motion(persistence):
    """Errors of all twelve coordinates carried over a step, by central differences."""
    filt = PoseFilter(*NOISE, acceleration=0.0, angular_acceleration=0.0, persistence=persistence)
    xi, dt, h = np.array([0.1, -0.3, 0.2, 0.9, -1.4, 0.6]), 0.4, 1e-6
    left = np.exp(-dt / persistence)
    span = dt if left == 1.0 else persistence * (1.0 - left)
    T = moving(0.0)

    def carried(error):
        R = exp(error[3:6]) @ T[:3, :3]
        w = xi + error[6:]
        return make_pose(exp(span * w[3:]) @ R, T[:3, 3] + error[:3] + span * w[:3]), left * w

    A = np.random.default_rng(0).normal(size=(12, 12))
    P = A @ A.T
    found = filt._predict(_State(0.0, T[:3, 3], T[:3, :3], xi, P), dt)
    mean, _ = carried(np.zeros(12))
    np.testing.assert_allclose(make_pose(found.R, found.p), mean, atol=1e-14)
    F = np.empty((12, 12))
    for k in range(12):
        (up, w_up), (down, w_down) = (carried(s * h * np.eye(12)[k]) for s in (1, -1))
        turn = log(up[:3, :3] @ mean[:3, :3].T) - log(down[:3, :3] @ mean[:3, :3].T)
        F[:, k] = np.r_[up[:3, 3] - down[:3, 3], turn, w_up - w_down] / (2.0 * h)
    np.testing.assert_allclose(found.P, F @ P @ F.T, rtol=1e-6, atol=1e-7)


@pytest.mark.parametrize("persistence", [np.inf, 1e6, 2.0, 0.1])
def test_process_noise_is_that_of_van_loan(persistence):
    filt = PoseFilter(*NOISE, acceleration=0.2, angular_acceleration=0.5, persistence=persistence)
    found = filt._predict(_State(0.0, np.zeros(3), np.eye(3), np.zeros(6), np.zeros((12, 12))), 0.3).P
    A, Q = np.zeros((12, 12)), np.diag(np.repeat([0.0, 0.0, 0.04, 0.25], 3))
    A[:6, 6:], A[6:, 6:] = np.eye(6), -np.eye(6) / persistence
    block = linalg.expm(0.3 * np.block([[-A, Q], [np.zeros((12, 12)), A.T]]))
    np.testing.assert_allclose(found, block[12:, 12:].T @ block[:12, 12:], rtol=1e-6, atol=1e-12)


def test_without_rotation_it_is_the_plain_kalman_filter():
    """Position and velocity against a linear filter written out."""
    rng = np.random.default_rng(5)
    filt = PoseFilter(0.01, 0.02, acceleration=0.4, speed=0.2, gate=1.0 - 1e-12)
    x, P = None, np.diag([0.01**2, 0.2**2])
    for k in range(12):
        z = 0.3 + 0.1 * k + rng.normal(0.0, 0.01)
        T = make_pose(np.eye(3), [z, 0.0, 0.0])
        filt.add(0.2 * k, T)
        if x is None:
            x = np.array([z, 0.0])
            continue
        F = np.array([[1.0, 0.2], [0.0, 1.0]])
        x, P = F @ x, F @ P @ F.T + 0.16 * np.array([[0.2**3 / 3, 0.02], [0.02, 0.2]])
        K = P[:, 0] / (P[0, 0] + 0.01**2)
        x, P = x + K * (z - x[0]), P - np.outer(K, P[0])
    found = filt.estimate(2.2)
    assert [found.pose[0, 3], found.twist[0]] == pytest.approx(x.tolist(), rel=1e-12)
    np.testing.assert_allclose(found.covariance[np.ix_([0, 6], [0, 6])], P, rtol=1e-9)


def test_order_of_arrival_does_not_matter():
    rng = np.random.default_rng(1)
    times = np.arange(0.0, 2.0, 0.1)
    poses = [seen(moving(t), rng) for t in times]
    poses[7] = moving(30.0)  # an outlier among them
    in_order, mixed = PoseFilter(*NOISE), PoseFilter(*NOISE)
    verdicts = [in_order.add(t, T) for t, T in zip(times, poses, strict=True)]
    assert verdicts[7] is Verdict.outlier
    for k in range(0, len(times), 5):  # groups of five arrive backwards
        for j in reversed(range(k, k + 5)):
            mixed.add(times[j], poses[j])
    one, other = in_order.estimate(2.1), mixed.estimate(2.1)
    np.testing.assert_allclose(one.pose, other.pose, atol=1e-13)
    np.testing.assert_allclose(one.covariance, other.covariance, atol=1e-13)


def test_what_is_older_than_the_memory_is_told():
    filt = PoseFilter(*NOISE, memory=3)
    for t in range(6):
        filt.add(float(t), moving(0.0))
    before = filt.estimate(6.0)
    assert filt.add(0.5, moving(0.0)) is Verdict.late
    np.testing.assert_array_equal(filt.estimate(6.0).pose, before.pose)
    assert filt.add(3.5, moving(0.0)) is Verdict.used


def test_outliers_are_kept_out_and_a_lasting_jump_is_believed():
    rng = np.random.default_rng(2)
    filt = PoseFilter(*NOISE, acceleration=0.01, angular_acceleration=0.01, readmit=4)
    for k in range(20):
        filt.add(0.1 * k, seen(moving(0.0), rng))
    before = filt.estimate(2.0).pose
    far = moving(0.0) + np.pad([[0.3], [0.0], [0.0]], ((0, 1), (3, 0)))
    for k, aside in enumerate((0.1, -0.2, 0.4, -0.5)):  # outliers that do not agree start nothing
        wild = make_pose(far[:3, :3], far[:3, 3] + [0.0, aside, 0.0])
        assert filt.add(2.0 + 0.01 * k, wild) is Verdict.outlier
    np.testing.assert_allclose(filt.estimate(2.04).pose, before, atol=5e-3)
    verdicts = [filt.add(2.1 + 0.1 * k, seen(far, rng)) for k in range(6)]
    assert verdicts[:3] == [Verdict.outlier] * 3
    assert Verdict.restarted in verdicts
    np.testing.assert_allclose(filt.estimate(2.7).pose[:3, 3], far[:3, 3], atol=0.02)


@pytest.mark.parametrize("bad", [None, np.full((4, 4), np.nan), 2.0 * np.eye(4), np.eye(3), -np.eye(4)])
@pytest.mark.parametrize("kind", [PoseFilter, LatestPose])
def test_what_is_no_pose_changes_nothing(kind, bad):
    filt = kind(*NOISE)
    assert filt.add(0.0, bad) is Verdict.invalid
    assert not filt.ready
    with pytest.raises(ThunderError, match="nothing was seen"):
        filt.estimate(0.0)
    filt.add(0.0, moving(0.0))
    before = filt.estimate(1.0)
    assert filt.add(0.5, bad) is Verdict.invalid
    np.testing.assert_array_equal(filt.estimate(1.0).pose, before.pose)


def test_gate_passes_the_share_that_it_says():
    """Innovations of a consistent filter are chi-square: one in ten does not pass a gate of 0.9."""
    rng = np.random.default_rng(3)
    rejected = 0
    for _ in range(400):
        filt = PoseFilter(*NOISE, gate=0.9, speed=0.0, angular_speed=0.0, acceleration=0.0, angular_acceleration=0.0)
        filt.add(0.0, seen(moving(0.0), rng))
        rejected += filt.add(0.1, seen(moving(0.0), rng)) is Verdict.outlier
    low, high = stats.binom.ppf([0.0005, 0.9995], 400, 0.1)
    assert low <= rejected <= high


def test_latest_pose_takes_the_latest_picture():
    latest = LatestPose(*NOISE)
    assert latest.add(1.0, moving(1.0)) is Verdict.first
    assert latest.add(0.5, moving(0.5)) is Verdict.late
    np.testing.assert_array_equal(latest.estimate(3.0).pose, moving(1.0))


def test_bad_options_are_refused():
    assert_refused(
        ({"position_noise": 0.0}, "...position_noise..."),
        ({"rotation_noise": np.nan}, "...rotation_noise..."),
        ({"acceleration": -1.0}, "...acceleration..."),
        ({"speed": np.inf}, "...speed..."),
        ({"persistence": 0.0}, "...persistence..."),
        ({"gate": 1.0}, "...gate..."),
        ({"readmit": 1}, "...readmit..."),
        ({"memory": 0}, "...memory..."),
        call=lambda **options: PoseFilter(**{"position_noise": 0.01, "rotation_noise": 0.01, **options}),
    )


def test_bad_times_are_refused():
    filt = PoseFilter(*NOISE)
    with pytest.raises(ThunderError, match="time"):
        filt.add(np.nan, moving(0.0))
