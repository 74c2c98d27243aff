"""Arms, states and gains that the tests of the fixed joint-space laws share."""

from functools import cache

import numpy as np

import thunder_py as th
from thunder_py.model.description import Friction
from thunder_py.reference import JointReference

from .. import truth

Array = np.ndarray

ARMS = ("panda", "rr_elbow_craig", "scara_with_motors")


@cache
def arm(name: str) -> th.Robot:
    """A chain of the truth files, with friction."""
    robot = truth.robot_of(name)
    coefficients = np.random.default_rng(robot.n).uniform(0.1, 0.5, (robot.n, 2))
    return robot.replace(friction=Friction(terms=("viscous", "coulomb"), coefficients=coefficients))


def spd(n: int, rng: np.random.Generator, scale: float = 1.0) -> Array:
    """A symmetric positive definite matrix with eigenvalues of 1 to 3 times `scale`."""
    U = np.linalg.qr(rng.normal(size=(n, n)))[0]
    A = scale * U @ np.diag(rng.uniform(1.0, 3.0, n)) @ U.T
    return 0.5 * (A + A.T)


def random_state(n: int, rng: np.random.Generator) -> tuple[Array, Array, JointReference]:
    """Position, velocity and a reference that is far from both."""
    return (
        rng.uniform(-2.0, 2.0, n),
        rng.uniform(-2.0, 2.0, n),
        JointReference(*rng.uniform(-2.0, 2.0, (3, n))),
    )


def rest(robot: th.Robot, q: Array, dq: Array) -> Array:
    """C dq + friction + G."""
    return robot.coriolis_matrix(q, dq) @ dq + robot.friction_torque(dq) + robot.gravity_vector(q)


def rate(function, q: Array, dq: Array, ddq: Array, step: float = 2e-5) -> float:
    """Derivative of function(q, dq, dt) along the motion that starts with ddq, by central differences, extrapolated."""

    def at(dt: float) -> float:
        return float(function(q + dt * dq + 0.5 * dt**2 * ddq, dq + dt * ddq, dt))

    def slope(dt: float) -> float:
        return (at(dt) - at(-dt)) / (2.0 * dt)

    return (4.0 * slope(0.5 * step) - slope(step)) / 3.0


def moved(desired: JointReference, dt: float) -> JointReference:
    """The reference dt later, its acceleration constant."""
    return JointReference(
        desired.q + dt * desired.dq + 0.5 * dt**2 * desired.ddq, desired.dq + dt * desired.ddq, desired.ddq
    )
