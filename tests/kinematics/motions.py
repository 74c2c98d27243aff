"""Arms, start postures and references with moving orientation for the tests of this folder."""

from functools import cache

import numpy as np

import thunder_py as th
from thunder_py.reference import TaskReference

PANDA_START = np.array([0.1, -0.4, 0.2, -2.1, 0.3, 1.7, 0.6])
SCARA_START = np.array([0.2, 1.6, 0.1, 0.3])
SCARA_ROWS = ("x", "y", "z", "rz")
#: of the SCARA project
REPORT_Q1 = np.array([0.0, np.pi / 2, 0.0, 0.0])
REPORT_Q2 = np.array([np.pi / 4, np.pi / 4, 0.1, np.pi / 18])


@cache
def robot(name: str) -> th.Robot:
    return th.Robot.load(name)


class Swing:
    """Position on a circle that is tilted, orientation swinging about an axis."""

    def __init__(self, T, axis=(0.0, 0.0, 1.0), angle=0.4, size=0.05, rate=1.5, offset=0.0):
        self.T, self.axis = np.asarray(T), np.asarray(axis) / np.linalg.norm(axis)
        self.skew = np.cross(self.axis, np.eye(3)).T
        self.angle, self.size, self.rate, self.offset = angle, size, rate, offset

    def __call__(self, t):
        r, s, c = self.rate, np.sin(self.rate * t), np.cos(self.rate * t)
        p = self.T[:3, 3] + self.size * np.array([s, 1.0 - c, 0.5 * s])
        v = self.size * r * np.array([c, s, 0.5 * c])
        v_dot = self.size * r**2 * np.array([-s, c, -0.5 * s])
        turn, S = self.offset + self.angle * s, self.skew
        R = (np.eye(3) + np.sin(turn) * S + (1.0 - np.cos(turn)) * S @ S) @ self.T[:3, :3]
        w, w_dot = self.angle * r * c * self.axis, -self.angle * r**2 * s * self.axis
        return TaskReference(p, R, np.r_[v, w], np.r_[v_dot, w_dot])


def at_rest(T):
    return TaskReference(T[:3, 3], T[:3, :3], np.zeros(6), np.zeros(6))


def pose(q, name="panda"):
    return robot(name).forward_kinematics(q)
