"""The task of the laws in task space written out in NumPy, and random states to compare at.

Error and L are sums over the axes of the frames (Thunder article, A1), as the core's are not.
"""

from functools import cache
from typing import NamedTuple

import numpy as np
from scipy.spatial.transform import Rotation

import thunder_py as th
from thunder_py.reference import TaskReference

from .arms import Q0, panda

ROWS = ("x", "y", "z", "rx", "ry", "rz")
SCARA_ROWS = ("x", "y", "z", "rz")
SCARA_Q0 = np.array([0.3, 1.2, 0.1, -0.4])


@cache
def scara() -> th.Robot:
    return th.Robot.load("scara")


class State(NamedTuple):
    """A robot somewhere, and what it is asked to do."""

    robot: th.Robot
    q: np.ndarray
    dq: np.ndarray
    reference: TaskReference
    rows: tuple[str, ...]


class Task(NamedTuple):
    """e' = f - J dq and e'' = f_dot - J_dot dq - J ddq, rows of the task only."""

    e: np.ndarray
    e_dot: np.ndarray
    J: np.ndarray
    J_dot: np.ndarray
    f_dot: np.ndarray
    L: np.ndarray  # 6 x 6


def skew(v: np.ndarray) -> np.ndarray:
    return np.array([[0, -v[2], v[1]], [v[2], 0, -v[0]], [-v[1], v[0], 0]])


def task_terms(s: State) -> Task:
    robot, q, dq, d = s.robot, s.q, s.dq, s.reference
    T, J, J_dot = robot.forward_kinematics(q), robot.jacobian(q), robot.jacobian_dot(q, dq)
    R, w, w_d = T[:3, :3], (J @ dq)[3:], d.xi[3:]
    L, L_dot, e = np.eye(6), np.zeros((6, 6)), np.zeros(6)
    e[:3] = d.p - T[:3, 3]
    e[3:] = 0.5 * sum(np.cross(R[:, i], d.R[:, i]) for i in range(3))
    if set(s.rows) & {"rx", "ry", "rz"}:
        L[3:, 3:] = -0.5 * sum(skew(d.R[:, i]) @ skew(R[:, i]) for i in range(3))
        L_dot[3:, 3:] = -0.5 * sum(
            skew(np.cross(w_d, d.R[:, i])) @ skew(R[:, i]) + skew(d.R[:, i]) @ skew(np.cross(w, R[:, i]))
            for i in range(3)
        )
    keep = [ROWS.index(row) for row in s.rows]
    return Task(
        e=e[keep],
        e_dot=(L.T @ d.xi - L @ J @ dq)[keep],
        J=(L @ J)[keep],
        J_dot=(L_dot @ J + L @ J_dot)[keep],
        f_dot=(L_dot.T @ d.xi + L.T @ d.xi_dot)[keep],
        L=L,
    )


def task_inertia(s: State) -> np.ndarray:
    """M_X = (J M^-1 J')^-1."""
    J = task_terms(s).J
    return np.linalg.inv(J @ np.linalg.solve(s.robot.mass_matrix(s.q), J.T))


def torque_projector(s: State) -> np.ndarray:
    """P = I - J' M_X J M^-1: torques that do not accelerate the task."""
    J = task_terms(s).J
    return np.eye(s.robot.n) - J.T @ task_inertia(s) @ J @ np.linalg.inv(s.robot.mass_matrix(s.q))


def error_acceleration(s: State, tau: np.ndarray) -> np.ndarray:
    """e'' of the robot under a torque."""
    task = task_terms(s)
    return task.f_dot - task.J_dot @ s.dq - task.J @ s.robot.forward_dynamics(s.q, s.dq, tau)


def bias_torque(s: State) -> np.ndarray:
    return s.robot.inverse_dynamics(s.q, s.dq, np.zeros(s.robot.n))


def braking_torque(robot: th.Robot, q: np.ndarray, dq: np.ndarray) -> np.ndarray:
    """The first torque of a hold: s = -dq, with neither an error nor a load yet."""
    torque: np.ndarray = robot.gravity_vector(q) - 90.0 * robot.mass_matrix(q) @ dq
    return torque


def states(seed: int = 0) -> list[State]:
    """Whole, partial and square tasks, of arms with and without redundancy."""
    rng = np.random.default_rng(seed)
    result = []
    for robot, start, rows in (
        (panda(), Q0, ROWS),
        (panda(), Q0, ("x", "y", "z")),
        (panda(), Q0, ("x", "z", "ry")),
        (scara(), SCARA_Q0, SCARA_ROWS),
        (scara(), SCARA_Q0, ("y", "z", "rz")),
    ):
        n = robot.n
        q = start + rng.uniform(-0.3, 0.3, n)
        T = robot.forward_kinematics(start)
        turn = rng.uniform(-0.4, 0.4, 3) * (1.0 if robot is panda() else np.array([0, 0, 1]))
        R = Rotation.from_rotvec(turn).as_matrix() @ T[:3, :3]
        xi, xi_dot = rng.uniform(-0.5, 0.5, (2, 6))
        if robot is scara():  # which cannot tilt
            xi[3:5] = xi_dot[3:5] = 0.0
        reference = TaskReference(T[:3, 3] + rng.uniform(-0.1, 0.1, 3), R, xi, xi_dot)
        result.append(State(robot, q, rng.uniform(-0.7, 0.7, n), reference, rows))
    return result


def gain(rows: tuple[str, ...], low: float, high: float) -> np.ndarray:
    """A different one for every row."""
    return np.linspace(low, high, len(rows))
