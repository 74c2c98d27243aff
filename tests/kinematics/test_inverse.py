import numpy as np
import pytest

import thunder_py as th
from tests.kinematics.motions import PANDA_START, pose, robot
from tests.refusals import assert_refused
from thunder_py import spatial
from thunder_py.kinematics import InverseKinematics


def random_postures(arm, count, seed=5):
    lower, upper = arm.limits.lower, arm.limits.upper
    bounded = np.isfinite(upper - lower)
    return np.random.default_rng(seed).uniform(
        np.where(bounded, lower, -np.pi), np.where(bounded, upper, np.pi), (count, arm.n)
    )


def misses(arm, q, T):
    """Distance [m] and angle [rad] from poses, by another way than the solver's."""
    reached = arm.forward_kinematics(q)
    Rt = np.swapaxes(T[..., :3, :3], -1, -2) @ reached[..., :3, :3]
    chord = np.linalg.norm(Rt - np.eye(3), axis=(-2, -1)) / np.sqrt(8.0)
    return np.linalg.norm(T[..., :3, 3] - reached[..., :3, 3], axis=-1), 2 * np.arcsin(np.minimum(chord, 1.0))


@pytest.mark.parametrize("name", ["panda", "ur5e", "iiwa14", "gen3"])
def test_random_poses_are_reached(name):
    arm = robot(name)
    T = arm.forward_kinematics(random_postures(arm, 300))
    solution = InverseKinematics(arm).solve(T, threads=2)
    assert solution.success.mean() >= 0.99
    distance, angle = misses(arm, solution.q, T)
    assert distance[solution.success].max() <= 1e-8
    assert angle[solution.success].max() <= 1.1e-8
    assert (solution.q >= arm.limits.lower).all()
    assert (solution.q <= arm.limits.upper).all()
    failed = ~solution.success
    np.testing.assert_allclose(np.hypot(distance, angle)[failed], solution.error[failed], rtol=1e-6)


@pytest.mark.parametrize("method", ["levenberg_marquardt", "gradient_descent"])
def test_out_of_reach_is_no_exception(method):
    arm = robot("panda")
    T = np.stack([pose(PANDA_START), pose(PANDA_START)])
    T[1, :3, 3] = [3.0, 0.0, 0.3]
    solver = InverseKinematics(arm, rows=("x", "y", "z"), method=method, restarts=3, max_iterations=500)
    solution = solver.solve(T)
    assert solution.success.tolist() == [True, False]
    tip = arm.forward_kinematics(solution.q[1])[:3, 3]
    assert solution.error[1] == pytest.approx(np.linalg.norm(T[1, :3, 3] - tip), rel=1e-9)
    assert solution.restarts[1] == 3
    assert tip[0] / np.linalg.norm(tip[:2]) > 0.99  # it points there
    assert solution.error[1] < 2.35
    with pytest.raises(th.errors.ThunderError, match=r"failed for 1 of 2 targets: the largest error is 2\.\d+ "):
        solver.solve(T, raise_on_failure=True)
    solver.solve(T[0], raise_on_failure=True)


def test_limits_are_kept_or_not():
    arm = robot("panda")
    outside = PANDA_START.copy()
    outside[3] = 0.4  # the elbow ends at -0.07
    T = arm.forward_kinematics(outside)
    free = InverseKinematics(arm, limits=False).solve(T, outside + 0.01)
    assert free.success
    assert free.q[3] > 0.0
    bounded = InverseKinematics(arm).solve(T, outside + 0.01)
    assert (bounded.q >= arm.limits.lower).all()
    assert (bounded.q <= arm.limits.upper).all()
    # a target at a limit itself
    edge = PANDA_START.copy()
    edge[5] = arm.limits.upper[5]
    assert InverseKinematics(arm).solve(arm.forward_kinematics(edge), edge + 0.1).success


def test_batch_equals_single_and_threads_change_nothing():
    arm = robot("ur5e")
    T = arm.forward_kinematics(random_postures(arm, 24).reshape(4, 6, 6))
    solver = InverseKinematics(arm)
    batch = solver.solve(T)
    assert batch.q.shape == (4, 6, 6)
    assert batch.success.shape == (4, 6)
    for a, b in zip(batch, solver.solve(T, threads=3), strict=True):
        np.testing.assert_array_equal(a, b)
    for index in np.ndindex(4, 6):
        single = solver.solve(T[index])
        for a, b in zip(batch, single, strict=True):
            np.testing.assert_array_equal(a[index], b)
    assert single.q.shape == (6,)
    assert single.success.shape == ()
    starts = random_postures(arm, 24, 6).reshape(4, 6, 6)
    with_starts = solver.solve(T, starts)
    np.testing.assert_array_equal(with_starts.q[2, 3], solver.solve(T[2, 3], starts[2, 3]).q)
    assert solver.solve(np.zeros((0, 4, 4))).q.shape == (0, 6)


def test_seed_chooses_the_restarts():
    arm = robot("panda")
    T = arm.forward_kinematics(random_postures(arm, 200))
    first = InverseKinematics(arm).solve(T)
    again, other = InverseKinematics(arm).solve(T), InverseKinematics(arm, seed=1).solve(T)
    np.testing.assert_array_equal(first.q, again.q)
    same = (first.q == other.q).all(axis=1)
    np.testing.assert_array_equal(same, first.restarts == 0)
    assert 0 < same.sum() < 200
    assert not InverseKinematics(arm, restarts=0).solve(T).success.all()


def test_start_is_tried_first_and_turns_stay_near_it():
    arm = robot("gen3")
    q0 = np.array([9.0, 0.5, -7.0, 1.0, 0.4, -0.8, 0.2])
    solution = InverseKinematics(arm).solve(arm.forward_kinematics(q0 + 0.05), q0)
    assert solution.success
    assert solution.restarts == 0
    assert np.abs(solution.q - q0).max() < 0.5
    far = InverseKinematics(arm).solve(arm.forward_kinematics(q0))
    assert np.abs(far.q[[0, 2, 4, 6]]).max() <= np.pi


def test_rows_and_frames():
    scara = robot("scara")
    q = np.array([0.3, 1.0, 0.2, 0.5])
    T = scara.forward_kinematics(q)
    solution = InverseKinematics(scara, rows=("x", "y", "z", "rz")).solve(T, q + 0.2)
    np.testing.assert_allclose(solution.q, q, atol=1e-7)
    everything = InverseKinematics(scara).solve(T, q + 0.2)  # six rows of four joints: it is reachable all the same
    np.testing.assert_allclose(everything.q, q, atol=1e-7)
    T[:3, 3] += [0.0, 0.0, 0.1]
    relaxed = InverseKinematics(scara, rows=("x", "y")).solve(T, q + 0.1)
    assert relaxed.success
    panda, at = robot("panda"), 4
    T = panda.forward_kinematics(PANDA_START, at)
    elbow = InverseKinematics(panda, at, rows=("x", "y", "z")).solve(T, PANDA_START + 0.2)
    np.testing.assert_allclose(panda.forward_kinematics(elbow.q, at)[:3, 3], T[:3, 3], atol=1e-8)


def test_gradient_descent_of_the_lecture():
    """q += gamma J'(O_d - O): with a constant rate it is the lecture's iteration, step by step."""
    arm, gamma = robot("panda"), 0.5
    T, q = pose(PANDA_START + 0.1), PANDA_START.copy()
    options = {"rows": ("x", "y", "z"), "method": "gradient_descent", "learning_rate": gamma, "restarts": 0}
    three = InverseKinematics(arm, max_iterations=3, tolerance=1e-12, **options).solve(T, q)
    for _ in range(3):
        q = q + gamma * arm.jacobian(q)[:3].T @ (T[:3, 3] - arm.forward_kinematics(q)[:3, 3])
    # the solver goes on from the middle of the limits after that and keeps the better one
    reached = InverseKinematics(arm, max_iterations=400, tolerance=1e-6, **options).solve(T, PANDA_START)
    np.testing.assert_allclose(three.error, np.linalg.norm(T[:3, 3] - arm.forward_kinematics(q)[:3, 3]), rtol=1e-9)
    assert reached.success
    best = InverseKinematics(arm, method="gradient_descent").solve(T, PANDA_START)
    assert best.success
    newton = InverseKinematics(arm).solve(T, PANDA_START)
    assert newton.iterations * 10 < best.iterations


def test_bad_targets():
    solver, T = InverseKinematics(robot("panda")), pose(PANDA_START)
    batch = np.stack([T, T, T])
    batch[1, 0, 3] = np.nan
    with pytest.raises(ValueError, match=r"^T\[1\] must be a pose, a rotation and the last row"):
        solver.solve(batch)
    mirrored = T.copy()
    mirrored[:3, 0] *= -1
    with pytest.raises(ValueError, match=r"^T must be a pose"):
        solver.solve(mirrored)
    rounded = T.round(3)
    off = np.abs(rounded[:3, :3].T @ rounded[:3, :3] - np.eye(3)).max()
    assert_refused(
        (
            lambda: solver.solve(np.stack([T, rounded])),
            f"...(to 1e-06)... deviates from the identity by {off:.2g}; ...nearest_rotation...",
        )
    )
    rounded[:3, :3] = spatial.nearest_rotation(rounded[:3, :3])
    assert solver.solve(rounded).success
    assert_refused(
        (lambda: solver.solve(T[:3]), "T must have shape (..., 4, 4), got (3, 4)"),
        (lambda: solver.solve(T, np.zeros(6)), "q0 must be finite, of shape (7,) or (..., 7), got shape (6,)"),
        (lambda: solver.solve(np.stack([T, T, T]), np.zeros((2, 7))), "q0 must have shape (7,) or (3, 7) as the ta..."),
        (lambda: solver.solve(T, threads=-1), "threads must be a whole number..."),
    )


def test_refusals():
    assert_refused(
        ({"method": "newton"}, "method must be one of levenberg_marquardt, gradient_descent, got 'newton'"),
        ({"restarts": -1}, "restarts must be a whole number of at least 0, got -1"),
        ({"max_iterations": 0}, "max_iterations must be a whole number of at least 1, got 0"),
        ({"tolerance": 0.0}, "tolerance must be positive, got 0"),
        ({"learning_rate": 0.1}, "learning_rate must be None for method 'levenberg_marquardt': only 'gradient_desc..."),
        ({"seed": 1.5}, "seed must be a whole number of at least 0, got 1.5"),
        ({"rows": "xyz"}, "rows must be some of x, y, z..."),
        call=lambda **arguments: InverseKinematics(robot("panda"), **arguments),
    )
