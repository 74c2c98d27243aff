"""The Panda and its controller, which follow an interception."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
import numpy.typing as npt

from ...checks import Array, array
from ...control import CartesianMACT, Gradient
from ...errors import ThunderError
from ...motion.scalars import positive
from ...perception.options import finite, not_negative
from ...robot import Robot
from ...simulation import Payload, simulate
from .interceptor import FollowedInterception

__all__ = ["FOLLOWER", "Follower"]


@dataclass(frozen=True)
class Follower:
    """`CartesianMACT` on the Panda, which carries a hand that the controller is not told of.

    Parameters
    ----------
    stiffness, turning : float
        K_xi of positions [N/m] and of orientation [N m].
    damping : tuple of 7 floats
        K_v [N m s/rad]. Sampled at 1 kHz it must stay well below a joint's inertia over a millisecond, 0.005 kg m² over
        it for the last one.
    eta : float
        How slowly the estimate of link 7 adapts: Gamma_i = eta / |pi_i|. 0: not at all.
    hand_mass : float
        Of the hand on the flange [kg]; a SoftHand weighs about half a kilogram.
    hand_height : float
        Of its centre of mass above the flange [m].
    """

    stiffness: float = 3000.0
    turning: float = 100.0
    damping: tuple[float, ...] = (30.0, 30.0, 30.0, 30.0, 5.0, 5.0, 1.0)
    eta: float = 0.03
    hand_mass: float = 0.5
    hand_height: float = 0.07

    def __post_init__(self) -> None:
        """Check everything."""
        for name in ("stiffness", "turning"):
            positive(getattr(self, name), name)
        if array(self.damping, (7,), "damping").min() <= 0.0:
            raise ThunderError(f"damping must be positive, got {self.damping}")
        for name in ("eta", "hand_mass"):
            not_negative(getattr(self, name), name)
        finite(self.hand_height, "hand_height")

    @property
    def velocity_limits(self) -> Array:
        """Of the joints [rad/s]."""
        return np.asarray(_panda().limits.velocity)

    def controller(self) -> CartesianMACT:
        """Return the controller, made once for each set of gains."""
        return _controller(self)

    def follow(
        self, source: FollowedInterception, duration: float, q0: npt.ArrayLike | Sequence[float], dt: float
    ) -> tuple[Array, ...]:
        """Simulate the arm.

        Returns
        -------
        t, q, dq, reference, hand, velocity, acceleration : arrays
            Of k samples; the last four (k, 3): where the hand was to be and was, its velocity, and the acceleration
            that it was to have.
        """
        robot = _panda()
        load = Payload(self.hand_mass, com=(0.0, 0.0, self.hand_height))
        result = simulate(
            robot, self.controller(), source, duration, dt, q0=q0, payloads=load, log=("error",),
            torque_limits=robot.limits.effort, integrator="semi_implicit_euler",
        )  # fmt: skip
        p = np.asarray(robot.forward_kinematics(result.q))[:, :3, 3]
        v = np.einsum("kij,kj->ki", np.asarray(robot.jacobian(result.q))[:, :3], result.dq)
        wanted = p + result.signals["error"][:, :3]
        return result.t, result.q, result.dq, wanted, p, v, _second(wanted, dt)


def _second(p: Array, dt: float) -> Array:
    """Return second differences (k, 3), the first and last ones repeated."""
    middle = np.diff(p, 2, axis=0) / dt**2
    return np.concatenate([middle[:1], middle, middle[-1:]])


@lru_cache(maxsize=1)
def _panda() -> Robot:
    return Robot.load("panda")


@lru_cache(maxsize=8)
def _controller(follower: Follower) -> CartesianMACT:
    robot = _panda()
    K_xi = [follower.stiffness] * 3 + [follower.turning] * 3
    K_v = follower.damping
    if follower.eta == 0.0:
        return CartesianMACT(robot, K_xi, K_v, adaptive=False)
    law = Gradient.proportional(robot, follower.eta, unknown="link7", floor=1e-2)
    return CartesianMACT(robot, K_xi, K_v, law=law, unknown="link7")


FOLLOWER = Follower()
