"""The closed loops that are run on both plants: the article's, and those of D4.2 in joint and task space."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ..checks import Array
from ..control import Backstepping
from ..kinematics import CLIK
from ..reference import Lissajous
from ..result import Result
from ..robot import Robot
from ..simulation import Payload
from . import d42_cartesian, d42_setup
from . import lissajous_panda as article
from .article_softhand import HAND_COM, HAND_MASS

__all__ = ["ETA", "Case", "article_cases", "cartesian_cases", "joint_cases"]

#: adaptive gain of D4.2's controllers: the slow one, with which all of them stay bounded
ETA = 10.0
_SEED = 0  # of the parameter error


@dataclass(frozen=True, kw_only=True, eq=False)
class Case:
    """One closed loop, whatever its plant.

    Attributes
    ----------
    group, name : str
        Where it comes from, and the controller.
    robot : Robot
        The truth.
    controller : callable
        Makes a fresh one.
    reference : reference
        What it follows.
    q0, dq0 : (n,) array
        Start [rad, rad/s].
    error : callable
        Norm of the tracking error of a `Result` over time, (k,).
    unit : str
        Of the error.
    payloads : tuple of Payload
        Of the plant alone.
    torque_limits : (n,) array or None
        [N m].
    """

    group: str
    name: str
    robot: Robot
    controller: Callable[[], Any]
    reference: Any
    q0: Array
    dq0: Array = field(default_factory=lambda: np.zeros(7))
    error: Callable[[Result], Array]
    unit: str
    payloads: tuple[Payload, ...] = ()
    torque_limits: Array | None = None

    @property
    def adapts(self) -> bool:
        """Whether there is an estimate that moves."""
        return self.name not in ("CT", "fixed")


def article_cases() -> list[Case]:
    """Return the article's experiment: backstepping with a wrong last link, adaptive or not."""
    robot = Robot.load("panda")
    nominal = article.wrong_last_link(robot)
    reference = Lissajous.starting_at(robot.forward_kinematics(article.START), article.AMPLITUDE, article.FREQUENCY)
    Gamma = article.R_7 * np.repeat([article.R_M, article.R_C, article.R_I], [1, 3, 6])

    def make(adaptive: bool) -> Callable[[], Backstepping]:
        return lambda: Backstepping(
            nominal, article.LAMBDA, article.K_P, article.K_D, Gamma, unknown="link7", adaptive=adaptive
        )

    return [
        Case(
            group="article", name=name, robot=robot, controller=make(name == "adaptive"), reference=reference,
            q0=article.START, error=lambda result: result.error_norm(slice(0, 3)), unit="m",
            torque_limits=robot.limits.effort,
        )
        for name in ("adaptive", "fixed")
    ]  # fmt: skip


def joint_cases() -> list[Case]:
    """Return D4.2's four controllers in joint space, known to 15 %, with friction."""
    robot, curve = d42_setup.panda(), d42_setup.joint_curve()
    model = d42_setup.wrong_panda(robot, _SEED)

    def make(name: str) -> Callable[[], Any]:
        return lambda: d42_setup.joint_controllers(model, ETA)[name]

    return [
        Case(
            group="D4.2 joints", name=name, robot=robot, controller=make(name), reference=curve, q0=curve(0.0).q,
            error=lambda result: result.error_norm(), unit="rad",
        )
        for name in ("CT", "ACT", "AIRC", "MACT")
    ]  # fmt: skip


def cartesian_cases(duration: float) -> list[Case]:
    """Return D4.2's controllers on the slow curve, known to 15 %, and MACT with a hand that it is not told of."""
    robot = d42_setup.panda()
    curve = d42_cartesian.curves(robot, duration)["liss3D"]
    clik = CLIK(robot, 400.0, order=2, K_D=40.0)  # as in d42_cartesian
    joints = clik.joint_reference(curve, d42_setup.START, duration)
    hand = Payload(HAND_MASS, HAND_COM)

    def error(result: Result) -> Array:
        desired = curve(result.t).p
        return np.asarray(np.linalg.norm(desired - robot.forward_kinematics(result.q)[:, :3, 3], axis=1))

    def case(group: str, name: str, model: Robot, unknown: str | None, payloads: tuple[Payload, ...] = ()) -> Case:
        return Case(
            group=group, name=name, robot=robot, reference=joints if name == "AIRC" else curve, q0=d42_setup.START,
            controller=lambda: d42_setup.task_controllers(model, eta=ETA, unknown=unknown)[name],
            error=error, unit="m", payloads=payloads,
        )  # fmt: skip

    wrong = d42_setup.wrong_panda(robot, _SEED)
    cases = [case("D4.2 hand's pose", name, wrong, None) for name in ("CT", "AIRC", "MACT")]
    return [*cases, case("D4.2 payload", "MACT", robot, "link7", (hand,))]
