"""Movement primitives of orientation."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.integrate import solve_ivp
from scipy.spatial.transform import Rotation

from tests.refusals import assert_refused
from thunder_py.errors import ThunderError
from thunder_py.motion.primitives.bases import DMPBasis
from thunder_py.motion.primitives.quaternion_dmp import QuaternionDMP
from thunder_py.recordings.trial import Trial


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


def test_any_frame_of_the_world_gives_the_same_motion() -> None:
    dmp = QuaternionDMP().fit(demonstration())
    t, rotations = demonstration()
    turn = Rotation.from_rotvec([0.4, 2.0, -1.0])
    again = QuaternionDMP().fit((t, turn * rotations)).rollout()
    np.testing.assert_allclose(again.rotations.as_matrix(), (turn * dmp.rollout().rotations).as_matrix(), atol=1e-9)


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


def test_shorter_way_whatever_the_sign_of_the_quaternion() -> None:
    still = QuaternionDMP().with_weights(np.zeros((21, 3)), np.eye(3), np.eye(3), 1.0)
    for angle in (0.9 * np.pi, 1.1 * np.pi):
        goal = Rotation.from_rotvec([0.0, 0.0, angle])
        motion = still.rollout(np.eye(3), goal, until=5.0)
        turned = np.linalg.norm(motion.w, axis=1).mean() * 5.0
        assert abs(turned - 0.9 * np.pi) < 0.02
        assert motion.end_error < 1e-4


def test_time_scales_and_tau_may_change() -> None:
    dmp = QuaternionDMP().fit(demonstration())
    slow, fast = dmp.rollout(duration=3.0, dt=0.006), dmp.rollout(duration=1.5, dt=0.003)
    np.testing.assert_allclose(slow.rotations.as_matrix(), fast.rotations.as_matrix(), atol=1e-12)
    np.testing.assert_allclose(slow.w, 0.5 * fast.w, atol=1e-12)
    dmp.reset()
    for _ in range(100):
        dmp.step(5e-3)
    w = dmp.state.w
    dmp.tau = 4.0
    np.testing.assert_allclose(dmp.state.w, w, rtol=1e-14)
    assert dmp.tau == 4.0


def test_trials_teach_as_their_rotations_do() -> None:
    t, rotations = demonstration()
    vectors = rotations.as_rotvec()
    trial = Trial(t, np.hstack([0.0 * vectors, vectors]), ("x", "y", "z", "rx", "ry", "rz"))
    given = QuaternionDMP().fit((t, rotations))
    np.testing.assert_allclose(QuaternionDMP().fit(trial).weights_, given.weights_, atol=1e-9)
    gap = np.where(np.arange(400)[:, None] == 30, np.nan, trial.x)
    assert_refused((lambda: QuaternionDMP().fit(Trial(t, gap, trial.dofs)), "...must have no gaps..."))


def test_several_demonstrations_and_flipped_quaternions() -> None:
    t, rotations = demonstration()
    flipped = Rotation.from_quat(rotations.as_quat() * np.where(np.arange(len(t)) % 7 < 3, -1.0, 1.0)[:, None])
    one = QuaternionDMP().fit((t, rotations))
    many = QuaternionDMP().fit([(t, flipped), (2.0 * t, rotations.as_matrix())])
    np.testing.assert_allclose(many.weights_, one.weights_, atol=2e-4)


def test_bad_input_is_refused() -> None:
    t, rotations = demonstration(n=100)
    about_z = Rotation.from_rotvec(np.outer(np.linspace(0.0, 1.0, 100), [0.0, 0.0, 4.0]))
    assert_refused(
        (lambda: QuaternionDMP().fit((t, about_z)), "...half a turn..."),
        (
            lambda: QuaternionDMP(scaling="paper").fit((t, Rotation.from_rotvec(0.2 * about_z.as_rotvec()))),
            "...must rotate about every axis...",
        ),
        (lambda: QuaternionDMP().fit((t[:-1], rotations)), "...as many rotations as times..."),
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


def test_forcing_is_that_of_the_basis() -> None:
    dmp = QuaternionDMP(5, alpha=2.0).with_weights(np.ones((5, 3)), np.eye(3), np.eye(3), 1.0)
    assert dmp.basis_.alpha == DMPBasis(5, alpha=2.0).alpha
    dmp.reset()
    np.testing.assert_allclose(dmp.state.dw, dmp.K * np.ones(3), rtol=1e-12)  # K f(1) = K w
