"""Cartesian computed torque: the formula, what P promises, repulsion, and D4.2's misprints as negative tests."""

import numpy as np
import pytest

import thunder_py as th
from tests.refusals import assert_refused
from thunder_py.control import CartesianComputedTorque, Status, arm_points
from thunder_py.geometry import Box, Sphere

from .arms import panda
from .task_terms import (
    State,
    bias_torque,
    error_acceleration,
    gain,
    scara,
    states,
    task_inertia,
    task_terms,
    torque_projector,
)

CASES = [pytest.param(s, id=f"{s.robot.name}-{len(s.rows)}") for s in states(1)]
SPHERES = (Sphere([0.2, 0.3, 0.5], 0.1), Sphere([-0.2, 0.1, 0.7], 0.0))


def law_of(s: State, **changes: object) -> CartesianComputedTorque:
    n = s.robot.n
    arguments: dict[str, object] = {
        "K_0": gain(s.rows, 80.0, 120.0),
        "K_1": gain(s.rows, 15.0, 25.0),
        "K_d": np.linspace(1.0, 3.0, n),
        "posture": np.linspace(-0.5, 0.5, n),
        "K_posture": np.linspace(4.0, 8.0, n),
        "obstacles": SPHERES,
        "points": [2, (3, [0.1, 0.0, 0.05])],
        "rows": s.rows,
    }
    return CartesianComputedTorque(s.robot, **{**arguments, **changes})  # type: ignore[arg-type]


def point(robot: th.Robot, q: np.ndarray, link: int, offset: np.ndarray) -> np.ndarray:
    return (robot.forward_kinematics(q, link) @ [*offset, 1.0])[:3]


def repulsion(s: State, gain: float, influence: float, bound: float) -> np.ndarray:
    """Eqs. 109 and 110 with the bounds, the Jacobians of the points by differences."""
    tau, h = np.zeros(s.robot.n), 1e-6
    for link, offset in ((2, np.zeros(3)), (3, np.array([0.1, 0.0, 0.05]))):
        x = point(s.robot, s.q, link, offset)
        J = np.column_stack(
            [
                (point(s.robot, s.q + d, link, offset) - point(s.robot, s.q - d, link, offset)) / (2 * h)
                for d in h * np.eye(s.robot.n)
            ]
        )
        for obstacle in SPHERES:
            away = x - obstacle.center
            d = np.linalg.norm(away) - obstacle.radius
            if d < influence:
                size = min(gain * (1.0 / d - 1.0 / influence), bound)
                tau += J.T @ (size * away / np.linalg.norm(away))
    return tau


@pytest.mark.parametrize("s", CASES)
@pytest.mark.parametrize("shape", [(1.0, np.inf, 1e9), (3.0, 0.4, 4.0)], ids=["paper", "bounded"])
def test_equals_the_law_written_out(s: State, shape: tuple[float, float, float]) -> None:
    task, n = task_terms(s), s.robot.n
    free = np.linspace(4, 8, n) * (np.linspace(-0.5, 0.5, n) - s.q) - np.linspace(1, 3, n) * s.dq
    free += repulsion(s, *shape)
    wanted = task.f_dot + gain(s.rows, 15, 25) * task.e_dot + gain(s.rows, 80, 120) * task.e
    expected = task.J.T @ task_inertia(s) @ (wanted - task.J_dot @ s.dq) + bias_torque(s) + torque_projector(s) @ free
    law = law_of(s, gain=shape[0], influence=shape[1], largest_force=shape[2])
    np.testing.assert_allclose(law.step(0.0, s.q, s.dq, s.reference), expected, atol=1e-7)
    assert law.status is Status.ok


@pytest.mark.parametrize("s", CASES[:3])
def test_projector(s: State) -> None:
    """Errata D-25: the printed I - J J' does not fit torques, and I - J^+ J lets them through to the task."""
    task, n = task_terms(s), s.robot.n
    M = s.robot.mass_matrix(s.q)
    with_null_space, bare = (
        law_of(s, **changes).step(0.0, s.q, s.dq, s.reference)
        for changes in ({}, {"obstacles": (), "posture": None, "K_posture": None, "K_d": 1e-12})
    )
    tau_null = with_null_space - bare
    assert np.abs(tau_null).max() > 1.0
    np.testing.assert_allclose(task.J @ np.linalg.solve(M, tau_null), 0.0, atol=1e-10)

    printed = np.eye(len(s.rows)) - task.J @ task.J.T
    assert printed.shape != (n, n)
    kinematic = np.eye(n) - np.linalg.pinv(task.J) @ task.J
    np.testing.assert_allclose(kinematic @ kinematic, kinematic, atol=1e-12)
    free = np.linspace(4, 8, n) * (np.linspace(-0.5, 0.5, n) - s.q) - np.linspace(1, 3, n) * s.dq
    assert np.abs(task.J @ np.linalg.solve(M, kinematic @ free)).max() > 0.5


def printed_law(s: State, K_0: float, K_1: float) -> np.ndarray:
    """Eq. 108 with the printed errors, actual minus desired."""
    task = task_terms(s)
    wanted = task.f_dot + K_1 * -task.e_dot + K_0 * -task.e
    return task.J.T @ task_inertia(s) @ (wanted - task.J_dot @ s.dq) + bias_torque(s)


def test_sign_of_the_errors() -> None:
    """Errata D-24: with K_P = 100, K_V = 20 the printed signs put the poles at +24.1 and -4.1."""
    s = states(1)[0]
    task = task_terms(s)
    printed = error_acceleration(s, printed_law(s, 100.0, 20.0))
    np.testing.assert_allclose(printed, 20 * task.e_dot + 100 * task.e, atol=1e-9)
    np.testing.assert_allclose(np.sort(np.roots([1, -20, -100])), [-4.142, 24.142], atol=1e-3)
    tau = law_of(s, K_0=100.0, K_1=20.0).step(0.0, s.q, s.dq, s.reference)
    ours = error_acceleration(s, tau)
    np.testing.assert_allclose(ours, -20 * task.e_dot - 100 * task.e, atol=1e-9)
    assert np.roots([1, 20, 100]).real.max() < -9.0


def test_force_is_bounded_inside_an_obstacle_too() -> None:
    s = states(1)[0]
    x = point(s.robot, s.q, 4, np.zeros(3))
    settings = {"points": [4], "largest_force": 20.0, "posture": None, "K_posture": None}
    bare = law_of(s, obstacles=(), **settings).step(0.0, s.q, s.dq, s.reference)
    J, P = s.robot.jacobian(s.q, 4)[:3], torque_projector(s)
    for offset in (1e-2, 1e-7, 1e-12, 0.0):
        law = law_of(s, obstacles=[Sphere(x + np.array([offset, 0, 0]), 0.1)], **settings)
        tau = law.step(0.0, s.q, s.dq, s.reference)
        assert law.status is Status.ok
        force = np.linalg.lstsq(P @ J.T, tau - bare, rcond=1e-9)[0]
        np.testing.assert_allclose(P @ J.T @ force, tau - bare, atol=1e-9)
        if offset == 0.0:  # as far away as the position is rounded, in any direction, or nowhere
            assert np.linalg.norm(tau - bare) <= 20.0 * np.linalg.norm(P @ J.T, 2) * (1.0 + 1e-9)
            continue
        direction = 2e-15 / offset  # of the force, which a rounding of the position turns
        np.testing.assert_allclose(tau - bare, P @ J.T @ [-20.0, 0, 0], atol=1e-7 + 20.0 * direction)


def test_obstacles_can_move() -> None:
    s = states(1)[0]
    law = law_of(s, obstacles=())
    bare = law.step(0.0, s.q, s.dq, s.reference)
    law.obstacles = SPHERES
    moved = law.step(0.0, s.q, s.dq, s.reference)
    np.testing.assert_array_equal(moved, law_of(s).step(0.0, s.q, s.dq, s.reference))
    assert np.abs(moved - bare).max() > 0.01
    np.testing.assert_array_equal(law.obstacles[0].center, SPHERES[0].center)
    assert [o.radius for o in law.obstacles] == [0.1, 0.0]
    law.obstacles = Sphere([1.0, 2.0, 3.0], 0.1)  # one alone
    assert len(law.obstacles) == 1
    law.obstacles = ()
    np.testing.assert_array_equal(law.step(0.0, s.q, s.dq, s.reference), bare)


def test_points_of_the_arm() -> None:
    upper, elbow, forearm = (point(panda(), np.zeros(7), link, offset) for link, offset in arm_points(panda()))
    at = [panda().forward_kinematics(np.zeros(7), link)[:3, 3] for link in (2, 4, 6)]
    np.testing.assert_allclose(upper, 0.5 * (at[0] + at[1]), atol=1e-12)
    np.testing.assert_allclose(elbow, at[1], atol=1e-12)
    np.testing.assert_allclose(forearm, 0.5 * (at[1] + at[2]), atol=1e-12)
    assert [link for link, _ in arm_points(scara())] == [1, 2, 2]


def test_refusals() -> None:
    assert_refused(
        ({"gain": 0.0}, "gain must be positive, got 0"),
        ({"influence": -1.0}, "influence must be positive, got -1"),
        ({"largest_force": np.inf}, "largest_force must be positive and finite..."),
        ({"obstacles": [[0, 0, 0]]}, "each of obstacles must be a Sphere, got list: [0, 0, 0]"),
        ({"obstacles": [SPHERES[0], Box([0, 0, 0], [1, 1, 1])]}, "each of obstacles must be a Sphere, got Box..."),
        ({"points": [("hand", [0, 0, 0])]}, "frame must be a link index 0 to 7 or one of..."),
        ({"points": [(1, 2, 3)]}, "points must be frames or pairs of a frame and a point in its axes, got (1, 2, 3)"),
        ({"points": [(1, [0, 0])]}, "points offset must have shape (3,), got (2,)"),
        call=lambda **changes: law_of(states(1)[0], **changes),
    )
