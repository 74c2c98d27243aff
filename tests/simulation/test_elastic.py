"""Arms with elastic joints in the simulator: energy, limits, independent integration, known trajectories."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import numpy as np
import pytest
from scipy.integrate import solve_ivp

import thunder_py as th
from thunder_py.model.description import Elastic
from thunder_py.reference import SetPoint
from thunder_py.simulation import Payload

from ..truth import FOLDER, load

Array = np.ndarray
Q0 = [0.4, 0.1, -0.3]


def sea3(**changes: object) -> th.Robot:
    return th.Robot.load(FOLDER.parent / "thunder" / "sea3.yaml").replace(**changes)


def lossless() -> th.Robot:
    robot = sea3(friction=None)
    return robot.with_elastic_parameters(D=np.zeros(2), Dm=np.zeros(4))


class Constant:
    """The same torque all the time."""

    def __init__(self, tau: Array) -> None:
        self.tau = np.asarray(tau, dtype=float)

    def step(self, t: float, q: Array, dq: Array, reference: object) -> Array:
        assert q.shape == dq.shape == self.tau.shape
        return self.tau


def run(
    robot: th.Robot, tau: Array | None = None, duration: float = 1.0, dt: float = 1e-3, **options: object
) -> th.SimulationResult:
    law = Constant(np.zeros(robot.n) if tau is None else tau)
    options.setdefault("q0", Q0[: robot.n])
    return th.simulate(robot, law, SetPoint(np.zeros(robot.n)), duration, dt, **options)


def energy(robot: th.Robot, result: th.SimulationResult) -> Array:
    """Of links, gravity, motors and springs."""
    total = robot.kinetic_energy(result.q, result.dq) + robot.potential_energy(result.q)
    for k, drive in enumerate(robot.elastic):
        d = result.x[:, k] - result.q[:, drive.joint - 1]
        total += 0.5 * drive.Mm * result.dx[:, k] ** 2
        total += sum(c * d ** (2 * i + 2) / (2 * i + 2) for i, c in enumerate(drive.K))
    return total


def test_energy_is_conserved() -> None:
    start = {"x0": [0.9, 0.2], "dx0": [1.0, -2.0], "dq0": [0.5, 0.1, -1.0]}
    drift = [np.ptp(energy(lossless(), run(lossless(), dt=dt, **start))) for dt in (2e-4, 1e-4)]
    assert drift[1] < 1e-5
    assert drift[0] / drift[1] > 12.0  # fourth order


def test_agrees_with_scipy() -> None:
    """Against the equations written anew, with M, C, G and friction only, and an adaptive integrator."""
    robot, tau = sea3(), np.array([3.0, 20.0, 0.5])
    K, D, Dm, Mm = (np.array([getattr(drive, group) for drive in robot.elastic]) for group in Elastic.GROUPS)

    def f(_: float, s: Array) -> Array:
        q, dq, x, dx = np.split(s, [3, 6, 8])
        d, v = x - q[[0, 2]], dx - dq[[0, 2]]
        coupling = K[:, 0] * d + K[:, 1] * d**3 + D[:, 0] * v
        link = np.array([coupling[0], tau[1], coupling[1]])
        bias = robot.coriolis_matrix(q, dq) @ dq + robot.gravity_vector(q) + robot.friction_torque(dq)
        ddq = np.linalg.solve(robot.mass_matrix(q), link - bias)
        ddx = (tau[[0, 2]] - coupling - Dm[:, 0] * dx - Dm[:, 1] * dx * np.abs(dx)) / Mm
        return np.concatenate([dq, ddq, dx, ddx])

    start = np.concatenate([Q0, [0.5, 0.0, -1.0], [0.6, -0.1], [0.2, 0.3]])
    result = run(robot, tau, 0.3, 1e-4, dq0=start[3:6], x0=start[6:8], dx0=start[8:])
    exact = solve_ivp(f, (0.0, 0.3), start, rtol=1e-11, atol=1e-12).y[:, -1]
    actual = np.concatenate([result.q[-1], result.dq[-1], result.x[-1], result.dx[-1]])
    np.testing.assert_allclose(actual, exact, atol=2e-7)


def test_starts_at_rest_and_stays_there() -> None:
    """By default the springs carry the arm, and what it holds from the start."""
    robot = sea3()
    grip = Payload(1.5, com=[0, 0.05, 0.1])
    loaded = robot.with_parameters(robot.parameters + np.pad(grip.parameters, (20, robot.p - 30)))
    for arm, payloads in [(robot, ()), (loaded, (grip,))]:
        result = run(robot, arm.gravity_vector(Q0), payloads=payloads)
        np.testing.assert_allclose(result.x[0], arm.elastic_equilibrium(Q0), rtol=1e-14)
        np.testing.assert_allclose(result.q, np.tile(Q0, (len(result.t), 1)), atol=1e-9)
        np.testing.assert_allclose(result.x, np.tile(result.x[0], (len(result.t), 1)), atol=1e-9)


def test_default_start_of_motors() -> None:
    slack = sea3().with_elastic_parameters(K=np.zeros(4))  # holds nothing, so x = q
    result = run(slack, duration=0.01, dq0=[1.0, 2.0, 3.0])
    np.testing.assert_array_equal(result.x[0], [Q0[0], Q0[2]])
    np.testing.assert_array_equal(result.dx[0], [1.0, 3.0])


def test_motors_are_saved_loaded_and_plotted(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib").use("Agg")
    from matplotlib import pyplot

    result = run(sea3(), duration=0.1)
    result.save(tmp_path / "run.npz")
    again = th.SimulationResult.load(tmp_path / "run.npz")
    assert again == result
    assert again.names["motors"] == ("joint1", "joint3")
    assert result.to_dict()["x"] is result.x
    axes = result.plot()
    assert axes["deflection"].get_ylabel() == "deflection [rad, m]"
    lines = axes["deflection"].get_lines()
    np.testing.assert_array_equal(lines[1].get_ydata(), result.x[:, 1] - result.q[:, 2])
    pyplot.close("all")


def test_refused() -> None:
    robot = sea3()
    for name in ("x0", "dx0"):
        with pytest.raises(ValueError, match=rf"^{name} must be None unless the plant has elastic joints$"):
            run(robot.replace(elastic=()), **{name: [0.0, 0.0]})
        with pytest.raises(ValueError, match=rf"^{name} must have shape \(2,\), got \(3,\)$"):
            run(robot, **{name: np.zeros(3)})
    light = robot.replace(elastic=[dataclasses.replace(drive, Mm=0.0) for drive in robot.elastic])
    with pytest.raises(ValueError, match=r"^motor inertia Mm of joint1 must be > 0 for forward dynamics, got 0.0$"):
        run(light)
    result = run(robot, duration=0.01)
    with pytest.raises(ValueError, match=r"^x and dx must have one shape, \(11, e\) with e <= 3"):
        dataclasses.replace(result, x=result.x[:, :1])


def wrist(omega: float, zeta: float) -> th.Robot:
    """A body of unit inertia about z on a spring, with viscous friction; its motor is too heavy to move by itself."""
    friction = th.robot.Friction(terms=("viscous",), coefficients=[[2 * zeta * omega]])
    return th.Robot.from_dh(
        [[0, 0, 0, 0]], inertial=[[1, 0, 0, 0, 0, 0, 0, 0, 0, 1]], friction=friction,
        elastic=[Elastic(joint=1, K=(omega**2,), Mm=1e15)],
    )  # fmt: skip


def throw(robot: th.Robot, case: dict[str, float], scale: float) -> tuple[Array, Array]:
    """Two set-points of the motor, one after the other; position and velocity at the end."""
    q, dq = np.zeros(1), np.zeros(1)
    for x, duration in [(case["u_lo"], case["t1_direct"]), (case["u_hi"], case["T"] - case["t1_direct"])]:
        end = run(robot, duration=duration, dt=duration / 1000, q0=q, dq0=dq, x0=[scale * x], dx0=[0.0])
        q, dq = end.q[-1], end.dq[-1]
    return q, dq


@pytest.mark.parametrize("k", range(9))
def test_known_throws(k: int) -> None:
    """The time-optimal swings of an elastic wrist between two positions of its motor."""
    case = load("elastic_wrist")["symmetric"][k]
    q, dq = throw(wrist(case["omega0"], case["zeta"]), case, case["gain_k_over_keff"])
    np.testing.assert_allclose(q, 0.0, atol=1e-9)
    np.testing.assert_allclose(dq, case["qdT_direct"], rtol=1e-9)


@pytest.mark.parametrize("k", range(4))
def test_known_throws_under_gravity(k: int) -> None:
    """The switching time is that of the linearized wrist, the motion the nonlinear one."""
    case = load("elastic_wrist")["physical"][k]
    m, r, alpha = (case[key] for key in ("m", "r_c", "alpha"))
    robot = th.Robot.from_dh(
        [[0, 0, 0, 0]], gravity=[0, -case["g"], 0],
        inertial=[[m, r * np.cos(alpha), -r * np.sin(alpha), 0, 0, 0, 0, 0, 0, case["I"] - m * r * r]],
        friction=th.robot.Friction(terms=("viscous",), coefficients=[[case["c"]]]),
        elastic=[Elastic(joint=1, K=(case["k"],), Mm=1e15)],
    )  # fmt: skip
    ends = {"u_lo": -case["theta_max"], "u_hi": case["theta_max"]}
    q, dq = throw(robot, {**case, **ends}, 1.0)
    np.testing.assert_allclose(q, case["nonlinear79_qT"], rtol=1e-8)
    np.testing.assert_allclose(dq, case["nonlinear79_qdT"], rtol=1e-8)
