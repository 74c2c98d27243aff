import functools
from typing import Any, NamedTuple

import numpy as np
import pinocchio as pin
import pytest

import thunder_py as th
from tests.dynamics.numerics import Array, assert_close
from tests.dynamics.test_pinocchio import PIN_ORDER, WORLD_AXES
from tests.real_urdfs import RealUrdf, pinocchio_arm, real_urdf_cases


class Arms(NamedTuple):
    """One arm twice, in one state; `x` is Pinocchio's configuration for q."""

    robot: th.Robot
    model: Any
    data: Any
    x: Array
    q: Array
    dq: Array
    ddq: Array


@functools.cache
def arms(name: str) -> Arms:
    case = next(case for case in real_urdf_cases() if case.id == name)
    robot = load(case)
    arm = pinocchio_arm(case, robot.joint_names)
    robot = robot.replace(base=arm.base)
    q, dq, ddq = np.random.default_rng(1).uniform(-1.5, 1.5, (3, robot.n))
    return Arms(robot, arm.model, arm.model.createData(), arm.configuration(q), q, dq, ddq)


def load(case: RealUrdf) -> th.Robot:
    return th.Robot.load(case.path, base_link=case.base, tip_link=case.tip, fix_joints=case.locked, name=case.id)


@pytest.fixture(params=[case.id for case in real_urdf_cases()])
def both(request: pytest.FixtureRequest) -> Arms:
    return arms(request.param)


def test_jacobian(both):
    robot, model, data, x, q, *_ = both
    pin.computeJointJacobians(model, data, x)
    for link in range(1, robot.n + 1):
        assert_close(robot.forward_kinematics(q, link), data.oMi[link].homogeneous, 1e-9)
        assert_close(robot.jacobian(q, link), pin.getJointJacobian(model, data, link, WORLD_AXES), 1e-9)


def test_dynamics(both):
    robot, model, data, x, q, dq, ddq = both
    M = np.triu(pin.crba(model, data, x))
    assert_close(robot.mass_matrix(q), M + np.triu(M, 1).T, 1e-9)
    assert_close(robot.coriolis_matrix(q, dq), pin.computeCoriolisMatrix(model, data, x, dq), 1e-9)
    assert_close(robot.gravity_vector(q), pin.computeGeneralizedGravity(model, data, x), 1e-9)
    tau = np.array(pin.rnea(model, data, x, dq, ddq))
    assert_close(robot.inverse_dynamics(q, dq, ddq), tau + robot.friction_torque(dq), 1e-9)
    Y = pin.computeJointTorqueRegressor(model, data, x, dq, ddq).reshape(robot.n, robot.n, 10)[..., PIN_ORDER]
    assert_close(robot.regressor(q, dq, ddq)[:, : 10 * robot.n], Y.reshape(robot.n, -1), 1e-9)
    actual = robot.forward_dynamics(q, dq, tau + robot.friction_torque(dq))
    assert_close(pin.rnea(model, data, x, dq, actual), tau, 1e-9)
    # Loading takes pi / 2 written to eleven digits for a quarter turn, a change of 1e-12 rad that the condition number
    # of M, 5e6 for tiago, magnifies.
    assert_close(actual, pin.aba(model, data, x, dq, tau), max(1e-9, 1e-14 * np.linalg.cond(robot.mass_matrix(q))))


def test_dynamics_derivatives(both):
    robot, model, data, x, q, dq, ddq = both
    robot = robot.replace(friction=None)
    by_q, by_dq, _ = pin.computeRNEADerivatives(model, data, x, dq, ddq)
    assert_close(robot.inverse_dynamics_derivatives(q, dq, ddq)[:2], [by_q, by_dq], 1e-9)
    tau = pin.rnea(model, data, x, dq, ddq)
    tolerance = max(1e-9, 1e-14 * np.linalg.cond(robot.mass_matrix(q)))  # as of the forward dynamics
    by_q, by_dq, by_tau = pin.computeABADerivatives(model, data, x, dq, tau)
    actual = robot.forward_dynamics_derivatives(q, dq, tau)
    for ours, theirs in zip(actual, [by_q, by_dq, np.triu(by_tau) + np.triu(by_tau, 1).T], strict=True):
        assert_close(ours, theirs, tolerance)
