"""Adaptive backstepping against 50-digit truth and against what its proofs promise."""

import numpy as np
import pytest

import thunder_py as th
from tests.refusals import assert_refused
from thunder_py.control import GradientAdaptation, Status
from thunder_py.reference import SetPose, TaskReference

from .. import truth
from .arms import Q0, backstepping, lissajous, panda, wrong_panda

TRUTH = truth.load("backstepping_panda")
RENAMED = {"e_dot": "edot", "L_dot": "Ldot", "dq_r": "qd_r", "ddq_r": "qdd_r", "tau": "tau_star"}


def turned(T: np.ndarray, degrees: float, axis: tuple[float, float, float] = (1.0, 2.0, 3.0)) -> np.ndarray:
    from scipy.spatial.transform import Rotation

    result = np.array(T)
    rotation = Rotation.from_rotvec(np.radians(degrees) * np.array(axis) / np.linalg.norm(axis))
    result[:3, :3] = rotation.as_matrix() @ T[:3, :3]
    return result


@pytest.mark.parametrize("state", TRUTH["states"])
def test_terms_equal_truth(state: dict) -> None:
    law = th.Backstepping(panda(), TRUTH["Lambda"], TRUTH["K_p"], TRUTH["K_d"], adaptation=None)
    reference = TaskReference(state["p_d"], state["R_d"], state["xi_d"], state["xi_d_dot"])
    terms = law.evaluate(state["q"], state["qd"], reference)
    for name, values in terms._asdict().items():
        expected = np.array(state[RENAMED.get(name, name)])
        np.testing.assert_allclose(values, expected, rtol=0, atol=1e-12 * np.abs(expected).max(), err_msg=name)
    np.testing.assert_array_equal(law.step(0.0, state["q"], state["qd"], reference), terms.tau)
    assert law.status is Status.ok


def test_lyapunov_derivative_along_a_run() -> None:
    """Proposition 3: V' = -s' K_d s - e' K_p Lambda e, for non-commuting blocks of K_p and L too (errata D-1)."""
    Gamma = np.array([2.0] + [20.0] * 3 + [200.0] * 6)
    K_p, Lambda = np.diag([100.0, 80, 60, 20, 15, 10]), np.diag([5.0, 4, 3, 4, 3, 2])
    K_d = np.diag([20.0, 20, 20, 20, 5, 5, 5])
    law = backstepping(
        wrong_panda(), K_p=K_p, Lambda=Lambda, K_d=K_d, adaptation=GradientAdaptation(Gamma, unknown="link7")
    )
    T = turned(panda().forward_kinematics(Q0), 30.0)  # so that L matters
    reference = th.reference.Lissajous.starting_at(T, (0.10, 0.15, 0.10), (0.2, 0.1, 0.4))
    run = th.simulate(panda(), law, reference, duration=0.6, dt=2.5e-4, q0=Q0)
    assert (run.status == Status.ok).all()
    unknown, V, dissipated = law.unknown.mask, np.empty(len(run.t)), np.empty(len(run.t))
    for k, (q, dq) in enumerate(zip(run.q, run.dq, strict=True)):
        law.parameters = run.parameters[k]
        terms = law.evaluate(q, dq, reference(run.t[k]))
        e, s = terms.e, terms.s
        M, C = panda().mass_matrix(q), panda().coriolis_matrix(q, dq)
        s_dot = terms.ddq_r - panda().forward_dynamics(q, dq, terms.tau)
        error = (panda().parameters - law.parameters)[unknown]
        learnt = panda().slotine_li_regressor(q, dq, terms.dq_r, terms.ddq_r)[:, unknown].T @ s  # Gamma pihat'
        V[k] = 0.5 * (e @ K_p @ e + s @ M @ s + error @ (Gamma * error))
        V_dot = e @ K_p @ terms.e_dot + s @ M @ s_dot + 0.5 * s @ (C + C.T) @ s - error @ learnt
        dissipated[k] = -s @ K_d @ s - e @ K_p @ Lambda @ e
        assert V_dot == pytest.approx(dissipated[k], rel=1e-9, abs=1e-9 * max(1.0, abs(dissipated[k])))
    # and so the run itself loses what the proof says, up to the sampling of control and adaptation
    expected = V[0] + np.concatenate([[0.0], np.cumsum(0.5 * (dissipated[1:] + dissipated[:-1]) * np.diff(run.t))])
    np.testing.assert_allclose(V, expected, rtol=0, atol=0.01 * V[0])
    assert V[-1] < 0.97 * V[0]


def test_position_task_leaves_orientation_free() -> None:
    law = backstepping(panda(), Lambda=5.0, K_p=100.0, adaptation=None, task="position")
    T = turned(panda().forward_kinematics(Q0), 170.0)  # an orientation it must not care about
    T[:3, 3] += [0.05, -0.05, 0.05]
    run = th.simulate(panda(), law, SetPose(T), 4.0, q0=Q0)
    assert (run.status == Status.ok).all()
    assert run.error.shape[1] == 3
    np.testing.assert_allclose(panda().forward_kinematics(run.q[-1])[:3, 3], T[:3, 3], atol=1e-4)
    # dq_r is the least-norm velocity of the position rows
    terms = law.evaluate(Q0, np.zeros(7), SetPose(T)(0.0))
    np.testing.assert_allclose(terms.dq_r, np.linalg.pinv(panda().jacobian(Q0)[:3]) @ (5.0 * terms.e), atol=1e-12)


def test_position_terms_by_finite_differences() -> None:
    law = backstepping(panda(), Lambda=[5.0, 4.0, 3.0], K_p=100.0, adaptation=None, task="position")
    curve, dq, h = lissajous(), np.linspace(-0.4, 0.5, 7), 1e-6
    # along q(t) = q + dq t, so that only the derivative of dq_r is seen
    ahead, behind = (law.evaluate(Q0 + k * h * dq, dq, curve(1.0 + k * h)) for k in (1, -1))
    here = law.evaluate(Q0, dq, curve(1.0))
    np.testing.assert_allclose((ahead.dq_r - behind.dq_r) / (2 * h), here.ddq_r, rtol=0, atol=1e-6)
    np.testing.assert_allclose((ahead.e - behind.e) / (2 * h), here.e_dot, rtol=0, atol=1e-8)


def unknown(which: object) -> dict[str, object]:
    return {"adaptation": GradientAdaptation(1.0, unknown=which)}  # type: ignore[arg-type]


def test_refusals() -> None:
    mixed = np.eye(6)
    mixed[0, 1] = mixed[1, 0] = 0.9
    both = {"K_p": np.diag([1.0, 100, 1, 1, 1, 1]), "Lambda": mixed}
    assert_refused(
        ({"K_d": np.eye(7) + np.eye(7, k=1)}, "K_d must be symmetric: entry (0, 1) is 1, entry (1, 0) is 0..."),
        ({"K_d": np.full(7, np.nan)}, "K_d must be finite, got nan at index (0,)"),
        ({"K_p": np.zeros((2, 2, 2))}, "K_p must be a number, a vector or a matrix, got shape (2, 2, 2)"),
        ({"adaptation": 0.0}, "adaptation must be positive definite, its smallest eigenvalue is 0..."),
        ({"adaptation": np.ones(10)}, "adaptation must be a number, 70 numbers or a 70 x 70 matrix, got 10 numbers"),
        ({"adaptation": "link7"}, "adaptation must be a GradientAdaptation, a NaturalAdaptation, a number..."),
        ({"adaptation": True}, "adaptation must be a GradientAdaptation, a NaturalAdaptation, a number..."),
        ({"adaptation": [1.0, np.nan]}, "adaptation must be finite, got [1.0, nan]"),
        (both, "K_p Lambda + Lambda K_p must be positive definite, its smallest eigenvalue is -33.4..."),
        (unknown(np.zeros(70, dtype=bool)), "...unknown must select at least one parameter..."),
        (unknown(np.ones(69, dtype=bool)), "unknown must be names or a bool mask of shape (70,)..."),
        (unknown("link8"), "...did you mean 'link..."),
        ({"task": "orientation"}, "task must be one of pose, position, got 'orientation'..."),
        call=lambda **changes: backstepping(panda(), **changes),
    )
    law = backstepping(panda())
    stretched = lambda: law.evaluate(np.zeros(7), np.zeros(7), lissajous()(0.0))  # noqa: E731
    assert_refused(
        (lambda: backstepping("panda"), "robot must be a Robot, got str: 'panda'"),
        (stretched, "...the law is singular at this state..."),
    )
