import numpy as np
import pytest
from hypothesis import given

import thunder_py as th
from tests.dynamics.numerics import assert_close
from tests.dynamics.random_chains import cases, few
from tests.refusals import assert_refused
from tests.truth import FOLDER
from thunder_py.errors import ThunderError, UnknownNameError
from thunder_py.model.description import Elastic


def sea3() -> th.Robot:
    return th.Robot.load(FOLDER.parent / "thunder" / "sea3.yaml")


def joints(robot: th.Robot) -> list[int]:
    return [drive.joint - 1 for drive in robot.elastic]


def damping(coefficients: tuple[float, ...], v: float) -> float:
    """Thunder's polynomial, as its documentation has it."""
    return sum(c * (v ** (k + 1) if k % 2 == 0 else abs(v) * v**k) for k, c in enumerate(coefficients))


@few
@given(case=cases(elastic=True))
def test_torques(case):
    robot, q, dq, x, dx, _ = case
    x, dx = x[: robot.e], dx[: robot.e]
    at = joints(robot)
    spring = [
        sum(K * d ** (2 * k + 1) for k, K in enumerate(j.K)) for j, d in zip(robot.elastic, x - q[at], strict=True)
    ]
    assert_close(robot.elastic_torque(q, x), spring, 1e-12)
    damper = [damping(j.D, v) for j, v in zip(robot.elastic, dx - dq[at], strict=True)]
    assert_close(robot.elastic_damping_torque(dq, dx), damper, 1e-12)
    assert_close(
        robot.motor_damping_torque(dx), [damping(j.Dm, v) for j, v in zip(robot.elastic, dx, strict=True)], 1e-12
    )
    assert_close(robot.motor_inertia_torque(dx), [j.Mm * v for j, v in zip(robot.elastic, dx, strict=True)], 1e-12)


@few
@given(case=cases(elastic=True))
def test_regressors(case):
    robot, q, dq, x, dx, _ = case
    x, dx = x[: robot.e], dx[: robot.e]
    parameters = robot.elastic_parameters
    assert_close(robot.elastic_regressor(q, x) @ parameters["K"], robot.elastic_torque(q, x), 1e-12)
    assert_close(robot.elastic_damping_regressor(dq, dx) @ parameters["D"], robot.elastic_damping_torque(dq, dx), 1e-12)
    assert_close(robot.motor_damping_regressor(dx) @ parameters["Dm"], robot.motor_damping_torque(dx), 1e-12)
    assert_close(robot.motor_inertia_regressor(dx) @ parameters["Mm"], robot.motor_inertia_torque(dx), 1e-12)


@few
@given(case=cases(elastic=True))
def test_forward_dynamics_solves_both_equations(case):
    robot, q, dq, tau, x, dx = case
    x, dx = x[: robot.e], dx[: robot.e]
    ddq, ddx = np.split(robot.elastic_forward_dynamics(q, dq, x, dx, tau), [robot.n])
    coupling = robot.elastic_torque(q, x) + robot.elastic_damping_torque(dq, dx)
    at = joints(robot)
    link_torque = tau.copy()
    link_torque[at] = coupling
    assert_close(robot.inverse_dynamics(q, dq, ddq), link_torque, 1e-9)
    assert_close(robot.motor_inertia_torque(ddx) + robot.motor_damping_torque(dx) + coupling, tau[at], 1e-10)


def test_parameters_and_their_names():
    robot = sea3()
    parameters, names = robot.elastic_parameters, robot.elastic_parameter_names
    np.testing.assert_array_equal(parameters["K"], [250, 400, 40, 90])
    np.testing.assert_array_equal(parameters["Dm"], [0.3, 0.05, 0.08, 0.01])
    assert names["K"] == ("joint1.K0", "joint1.K1", "joint3.K0", "joint3.K1")
    assert names["D"] == ("joint1.D0", "joint3.D0")
    assert names["Mm"] == ("joint1.Mm", "joint3.Mm")
    assert all(len(names[group]) == len(parameters[group]) for group in Elastic.GROUPS)
    with pytest.raises(ValueError, match="read-only"):
        parameters["K"][0] = 1.0
    stiffer = robot.with_elastic_parameters(K=2 * parameters["K"], Mm=[1, 2])
    assert stiffer.elastic[1] == Elastic(joint=3, K=(80, 180), D=(0.1,), Dm=(0.08, 0.01), Mm=2)
    assert robot.with_elastic_parameters(**parameters).description == robot.description


def test_equilibrium():
    robot = sea3()
    q = np.random.default_rng(2).uniform(-1.5, 1.5, (4, 5, 3))
    x = robot.elastic_equilibrium(q)
    assert x.shape == (4, 5, 2)
    assert_close(robot.elastic_torque(q, x), robot.gravity_vector(q)[..., [0, 2]], 1e-12)
    tau = robot.gravity_vector(q)
    at_rest = robot.elastic_forward_dynamics(q, np.zeros(3), x, np.zeros(2), tau)
    assert_close(at_rest, np.zeros((4, 5, 5)), 1e-9)


def test_equilibrium_of_a_softening_spring_is_the_first():
    arm = th.Robot.from_dh(
        [[0, 0, 0, 0]], inertial=[[1, 1, 0, 0, 0, 0, 0, 0, 0, 0]], gravity=[0, -1, 0],
        elastic=[Elastic(joint=1, K=(3.0, -2.0), Mm=1.0)],
    )  # fmt: skip
    assert arm.gravity_vector([0.0])[0] == 1.0
    d = arm.elastic_equilibrium([0.0])[0]  # 2 d^3 - 3 d + 1 = 0: 1, (-1 +- sqrt 3) / 2
    assert d == pytest.approx((np.sqrt(3) - 1) / 2, rel=1e-14)


BAD = {
    "joint": ({"joint": 0}, r"^elastic joint must be a whole number of at least 1, got 0$"),
    "whole": ({"joint": 1.5}, r"^elastic joint must be a whole number of at least 1, got 1.5$"),
    "K": ({"K": ()}, r"^elastic joint 1: K must have at least one coefficient, got none$"),
    "nan": ({"D": (np.nan,)}, r"^elastic joint 1: D must be finite"),
    "number": ({"Dm": 3.0}, r"^elastic joint 1: Dm must have shape \(n,\), got \(\)$"),
    "Mm": ({"Mm": [1.0]}, r"^elastic joint 1: Mm must have shape \(\), got \(1,\)$"),
}


@pytest.mark.parametrize("case", BAD)
def test_bad_drives(case):
    change, message = BAD[case]
    with pytest.raises(ValueError, match=message):
        Elastic(**{"joint": 1, "K": (1.0,), "Mm": 1.0, **change})


def drive(joint: int, **fields: object) -> Elastic:
    return Elastic(**{"joint": joint, "K": (1.0,), "Mm": 1.0, **fields})


def test_bad_arms():
    assert_refused(
        ([drive(4)], "elastic joint must be from 1 to 3, got 4"),
        ([drive(1), drive(1)], "elastic must have one entry per joint at most, got two for joint 1"),
        ([drive(1), drive(2, K=(1, 2))], "elastic joint 2: K must be as long as that of the others, 1, got 2"),
        ([{"joint": 1}], "each of elastic must be an Elastic, got dict: {'joint': 1}"),
        call=lambda drives: th.Robot.from_dh(np.zeros((3, 4)), elastic=drives),
    )
    with pytest.raises(ThunderError, match=r"^motor inertia Mm of joint2 must not be negative, got -1$"):
        th.Robot.from_dh(np.zeros((3, 4)), elastic=[drive(2, Mm=-1)])
    assert th.Robot.from_dh(np.zeros((3, 4)), elastic=[drive(3), drive(1)]).elastic == (drive(1), drive(3))


def test_refusals():
    robot = sea3().with_elastic_parameters(K=np.zeros(4))
    assert_refused(
        (lambda: robot.elastic_equilibrium([0.5, 0.1, 0.3]), "spring of joint1 cannot balance a torque of ..."),
        (lambda: th.Robot.load("panda").elastic_equilibrium(np.zeros(7)), "elastic_equilibrium needs elastic joint..."),
        (lambda: sea3().with_elastic_parameters(k=[1.0]), "elastic group must be one of K, D, Dm...", UnknownNameError),
        (lambda: sea3().with_elastic_parameters(K=[1.0, 2.0]), "elastic parameters K must have shape (4,), got (2,)"),
    )
