import numpy as np
import pytest

import thunder_py as th
from tests.refusals import assert_refused
from thunder_py.control import CartesianMACT, GradientAdaptation, Status

from .arms import Q0, lissajous, panda, wrong_panda
from .task_terms import State, gain, states, task_terms
from .test_task_terms import later

CASES = [pytest.param(s, id=f"{s.robot.name}-{len(s.rows)}") for s in states(3)]


def law_of(s: State, **changes: object) -> CartesianMACT:
    n = s.robot.n
    arguments: dict[str, object] = {
        "K_p": gain(s.rows, 100.0, 20.0),
        "K_d": np.linspace(8.0, 4.0, n),
        "adaptation": None,
        "posture": np.linspace(-0.5, 0.5, n),
        "Lambda_posture": np.linspace(0.5, 1.5, n),
        "rows": s.rows,
    }
    return CartesianMACT(s.robot, **{**arguments, **changes})  # type: ignore[arg-type]


def beta(s: State) -> np.ndarray:
    task, n = task_terms(s), s.robot.n
    inverse = np.linalg.pinv(task.J)
    free = np.linspace(0.5, 1.5, n) * (np.linspace(-0.5, 0.5, n) - s.q)
    return inverse @ (task.e_dot + task.J @ s.dq) + (np.eye(n) - inverse @ task.J) @ free


def alpha(s: State, ddq: np.ndarray | None = None) -> np.ndarray:
    """d beta/dt by differences; it does not depend on ddq."""
    h, ddq = 1e-6, np.zeros(s.robot.n) if ddq is None else ddq
    return (beta(later(s, h, ddq)) - beta(later(s, -h, ddq))) / (2 * h)


def torque(s: State, alpha: np.ndarray) -> np.ndarray:
    """Eq. 68."""
    task, slip = task_terms(s), beta(s) - s.dq
    tau = s.robot.slotine_li_regressor(s.q, s.dq, beta(s), alpha) @ s.robot.parameters
    return tau + np.linspace(8, 4, s.robot.n) * slip + task.J.T @ (gain(s.rows, 100, 20) * task.e)


@pytest.mark.parametrize("s", CASES)
def test_equals_the_law_written_out(s: State) -> None:
    law = law_of(s)
    tau = law.step(0.0, s.q, s.dq, s.reference)
    assert law.status is Status.ok
    np.testing.assert_allclose(law.signals["s"], beta(s) - s.dq, atol=1e-11)
    np.testing.assert_allclose(law.signals["error"], task_terms(s).e, atol=1e-14)
    np.testing.assert_allclose(tau, torque(s, alpha(s)), atol=1e-6)
    np.testing.assert_allclose(alpha(s, np.linspace(-3, 3, s.robot.n)), alpha(s), atol=1e-6)


def storage_rate(s: State, tau: np.ndarray) -> float:
    """V' of V = 1/2 e' K_p e + 1/2 s' M s along the motion of the true model under a torque."""
    task, slip = task_terms(s), beta(s) - s.dq
    M, C = s.robot.mass_matrix(s.q), s.robot.coriolis_matrix(s.q, s.dq)
    slip_dot = alpha(s) - s.robot.forward_dynamics(s.q, s.dq, tau)
    return float(task.e @ (gain(s.rows, 100, 20) * task.e_dot) + slip @ M @ slip_dot + 0.5 * slip @ (C + C.T) @ slip)


@pytest.mark.parametrize("s", CASES)
def test_storage_falls_by_the_damping(s: State) -> None:
    """V' = -(beta - dq)' K_d (beta - dq), exactly."""
    tau = law_of(s).step(0.0, s.q, s.dq, s.reference)
    slip = beta(s) - s.dq
    assert storage_rate(s, tau) == pytest.approx(-slip @ (np.linspace(8, 4, s.robot.n) * slip), rel=1e-6)


@pytest.mark.parametrize("s", CASES)
def test_beta_is_the_velocity_and_alpha_the_acceleration(s: State) -> None:
    """Errata D-11: D4.2's text calls alpha a velocity and beta an acceleration; exchanged the torque is another."""
    velocity, acceleration = beta(s), alpha(s)
    tau = law_of(s).step(0.0, s.q, s.dq, s.reference)
    names = s.robot.slotine_li_regressor(s.q, s.dq, velocity, acceleration) @ s.robot.parameters
    exchanged = s.robot.slotine_li_regressor(s.q, s.dq, acceleration, velocity) @ s.robot.parameters
    np.testing.assert_allclose(tau, torque(s, acceleration), atol=1e-6)
    assert np.abs(exchanged - names).max() > 0.1


def test_printed_alpha_lets_the_storage_grow() -> None:
    """Errata D-12, with little damping: V' > 0 at some states, where ours stays negative."""
    grows = {"printed": 0, "ours": 0}
    for seed in range(40):
        s = states(seed)[0]
        task, slip = task_terms(s), beta(s) - s.dq
        inverse = np.linalg.pinv(task.J)
        free_dot = -np.linspace(0.5, 1.5, 7) * s.dq
        printed = inverse @ (task.f_dot - task.J_dot @ s.dq) + (np.eye(7) - inverse @ task.J) @ free_dot
        less = -0.9 * np.linspace(8, 4, 7) * slip  # a tenth of K_d is left
        grows["printed"] += storage_rate(s, torque(s, printed) + less) > 0.0
        grows["ours"] += storage_rate(s, torque(s, alpha(s)) + less) > 0.0
    assert grows["ours"] == 0
    assert grows["printed"] > 0


def mact(**changes: object) -> CartesianMACT:
    arguments: dict[str, object] = {
        "K_p": [400, 400, 400, 60, 60, 60],
        "K_d": [20, 20, 20, 20, 5, 5, 5],
        "adaptation": GradientAdaptation([2] + [20] * 3 + [200] * 6, unknown="link7"),
    }
    return CartesianMACT(wrong_panda(), **{**arguments, **changes})  # type: ignore[arg-type]


@pytest.mark.parametrize("gamma", [0.0, 1.0])
@pytest.mark.parametrize("R_t", [1.0, np.diag([0.2, 0.2, 0.2, 0.2, 1.0, 1.0, 1.0])], ids=["number", "matrix"])
def test_lyapunov_function_of_a_run(gamma: float, R_t: float | np.ndarray) -> None:
    """V_dot = -s' K_d s - gamma (W pitilde)' R_t (W pitilde), up to the sampling of control and adaptation."""
    law = mact(gamma=gamma, R_t=R_t)
    run = th.simulate(panda(), law, lissajous(), 2.0, dt=2.5e-4, q0=Q0)
    analyzed = run.lyapunov(law)
    V, V_dot = analyzed.V, analyzed.V_dot
    assert analyzed.analytic
    assert (V_dot <= 0.0).all()
    lost = np.concatenate([[0.0], np.cumsum(0.5 * (V_dot[1:] + V_dot[:-1]) * np.diff(run.t))])
    np.testing.assert_allclose(V, V[0] + lost, atol=0.02 * (V[0] - V[-1]))
    assert V[-1] < 0.97 * V[0]
    assert law.lyapunov_dot(panda().with_parameters(1.01 * panda().parameters), run) is None


def test_adapts_along_the_regressor() -> None:
    """One step of pihat' = Gamma^-1 Y_u' s."""
    s = states(3)[0]
    law = law_of(s, adaptation=GradientAdaptation(2.0, unknown="link7"))
    before = law.parameters
    law.step(0.0, s.q, s.dq, s.reference)
    law.step(0.01, s.q, s.dq, s.reference)
    Y = s.robot.slotine_li_regressor(s.q, s.dq, beta(s), alpha(s))[:, law.unknown.mask]
    change = (law.parameters - before)[law.unknown.mask]
    np.testing.assert_allclose(change, 0.01 * Y.T @ (beta(s) - s.dq) / 2.0, atol=1e-8)


def test_refusals() -> None:
    assert_refused(
        ({"gamma": -1.0}, "gamma must not be negative, got -1"),
        ({"R_t": [1.0, 2.0]}, "R_t must be a number, 7 numbers or a 7 x 7 matrix, got 2 numbers"),
        ({"cutoff": 0.0}, "cutoff must be positive, got 0"),
        ({"adaptation": "link7"}, "adaptation must be a GradientAdaptation..."),
        ({"route": "measured"}, "route must be one of regressor, acceleration, got 'measured'"),
        call=mact,
    )
