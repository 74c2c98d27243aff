import math

import numpy as np
import pytest
from scipy.signal import lfilter

import thunder_py as th
from thunder_py.control import ContactDetector, EnergyObserver, MomentumObserver

pytest.importorskip("mujoco")

import mujoco

from thunder_py.mujoco import MujocoPlant

Q = np.array([0.0, -0.3, 0.0, -2.0, 0.0, 1.8, 0.7])
DT, W = 2e-4, 60.0
BALL = '<geom type="sphere" size="0.04" pos="0 0 0.1" mass="0" contype="1" conaffinity="1"/>'


class TouchingPlant(MujocoPlant):
    """A Panda with a ball at its flange above a floor; `torques` are those of the contacts, which MuJoCo computes.

    Parameters
    ----------
    robot : Robot
        The arm.
    floor : float
        Height of the floor [m].
    """

    def __init__(self, robot: th.Robot, floor: float) -> None:
        self.floor, self.torques = floor, []
        super().__init__(robot)

    def _set_up(self, text, path):
        link = text.rindex("<inertial")
        text = text[:link] + BALL + text[link:]
        floor = f'<geom type="plane" size="2 2 1" pos="0 0 {self.floor}" contype="1" conaffinity="1"/>'
        super()._set_up(text.replace("<worldbody>", f"<worldbody>{floor}", 1), path)

    def _ready(self, model):
        model = super()._ready(model)
        model.opt.disableflags &= ~int(mujoco.mjtDisableBit.mjDSBL_CONTACT)
        return model

    def advance(self, t, q, dq, tau, dt):
        result = super().advance(t, q, dq, tau, dt)
        self.torques.append(self.data.qfrc_constraint.copy())
        return result


@pytest.fixture(scope="module")
def touching():
    """A run that presses the ball against the floor and drags it, and the true torques over each period."""
    robot = th.Robot.load("panda")
    height = robot.forward_kinematics(Q)[2, 3] - 0.2
    plant = TouchingPlant(robot, height)
    observers = {
        "first": MomentumObserver(robot, W, detector=ContactDetector(1.0)),
        "second": MomentumObserver(robot, W, order=2),
        "power": EnergyObserver(robot, W),
    }
    law = th.PDGravity(robot, [200] * 4 + [50] * 3, [20] * 4 + [0.5] * 3)
    goal = Q + np.array([0.5, 0.45, 0, 0, 0, 0, 0])
    motion = th.trajectory.point_to_point(Q, goal, th.trajectory.quintic(0.8))
    run = th.simulate(plant, law, motion, 1.0, DT, q0=Q, integrator="plant", observers=observers)
    return robot, run, np.array(plant.torques[: len(run.t) - 1])


def test_estimate_is_the_low_pass_of_the_contact_torques(touching):
    """Each estimate is that filter of the torques that MuJoCo reports, to errors of its integrator, of first order."""
    _, run, torques = touching
    a = math.exp(-W * DT)
    first = lfilter([1.0 - a], [1.0, -a], torques, axis=0)
    second = lfilter([1.0 - a], [1.0, -a], first, axis=0)  # critical damping, with an input that changes little in DT
    largest = np.abs(torques).max()
    assert largest > 5.0
    assert np.abs(run.signals["first"][1:] - first).max() < 1e-3 * np.abs(first).max()
    assert np.abs(run.signals["second"][1:] - second).max() < 0.01 * np.abs(first).max()


def test_power_of_the_contact(touching):
    _, run, torques = touching
    a = math.exp(-W * DT)
    power = np.sum(torques * 0.5 * (run.dq[:-1] + run.dq[1:]), axis=1)
    expected = lfilter([1.0 - a], [1.0, -a], power)
    assert np.abs(run.signals["power"][1:, 0] - expected).max() < 0.01 * np.abs(expected).max()


def test_contact_is_detected_soon_and_not_before(touching):
    _, run, torques = touching
    begins = run.t[np.flatnonzero(np.abs(torques).max(axis=1) > 0.0)[0]]
    found = run.t[np.flatnonzero(run.signals["first_contact"].any(axis=1))[0]]
    assert 0.0 < found - begins < 0.03


def test_force_of_the_contact(touching):
    """A ball has no moment about the point that touches: the estimated force presses it upwards, within its cone."""
    robot, run, torques = touching
    late = slice(-200, None)
    center = np.eye(4)
    center[:3, 3] = [0.0, 0.0, 0.1]
    arm = robot.replace(tool=center)  # the ball's center; friction there has the moment of its radius
    estimate = th.kinematics.estimate_wrench(arm, run.q[late], run.signals["first"][late])
    true = th.kinematics.estimate_wrench(arm, run.q[late], torques[late][-len(estimate.wrench) :])
    assert (estimate.wrench[:, 2] > 5.0).all()
    np.testing.assert_allclose(estimate.wrench[:, :3], true.wrench[:, :3], atol=0.05 * np.abs(true.wrench[:, 2]).max())
    assert np.abs(estimate.wrench[:, 3:]).max() < 0.04 * 0.6 * estimate.wrench[:, 2].max()
