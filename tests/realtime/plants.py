"""A simulated arm as a drive written in Python."""

import numpy as np

import thunder_py as th
from thunder_py.integration import rk4_step
from thunder_py.realtime import DriveFacts, DriveState


class PythonDrive:
    """It integrates by Runge-Kutta, and tells the gravity torque that it adds, or adds none."""

    def __init__(self, facts: DriveFacts, plant: th.Robot, q: np.ndarray, tau: np.ndarray, adds: bool) -> None:
        self.facts, self.plant, self.begin, self.adds = facts, plant, (q, tau), adds

    def start(self) -> None:
        (self.q, self.tau), self.dq, self.stamp = self.begin, np.zeros(self.plant.n), 10**9

    def gravity(self) -> np.ndarray | None:
        return self.plant.gravity_vector(self.q) if self.adds else None

    def read(self) -> DriveState:
        gravity = self.gravity()
        tau = self.tau if gravity is None else self.tau + gravity

        def rate(_: float, x: np.ndarray) -> np.ndarray:
            return np.stack([x[1], self.plant.forward_dynamics(x[0], x[1], tau)])

        self.q, self.dq = rk4_step(rate, 0.0, np.stack([self.q, self.dq]), 1e-3)
        self.stamp += 10**6
        return DriveState(self.stamp, self.q, self.dq, self.gravity())

    def write(self, tau: np.ndarray, /) -> None:
        self.tau = tau

    def stop(self) -> None:
        pass
