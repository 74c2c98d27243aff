"""A Panda with an elastic wrist as eighth joint throws, beside the same arm motion with the hand fixed."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from ..errors import ThunderError
from ..manipulation.wrist.arm_throw import ArmThrow, WristRelease, wrist_at_release
from ..manipulation.wrist.base_motion import BaseMotion, optimise_base_motion
from ..manipulation.wrist.model import ElasticWrist
from ..manipulation.wrist.motor_motion import WristRun
from ..manipulation.wrist.motor_plan import plan_motor
from ..manipulation.wrist.robots import with_rigid_hand
from ..manipulation.wrist.switching import free_switching, one_switch
from ..robot import Robot
from .parallel import map_seeds
from .text import markdown

__all__ = ["MOUNT", "TIP", "WRIST", "ArmCase", "run_arm"]

WRIST = ElasticWrist(I=0.012, k=5.0, m=0.7, r_c=0.09, c=0.03, theta_max=0.6)
#: from the wrist's axis to what is thrown [m]
TIP = 0.15
#: the hand points along the flange's axis, its palm along the flange's x axis
MOUNT = np.array([[0.0, 0.0, 1.0, 0.0], [0.0, -1.0, 0.0, 0.0], [1.0, 0.0, 0.0, 0.0], [0.0, 0.0, 0.0, 1.0]])
#: of the Panda, from the documentation of its control interface [rad/s^2]
ACCELERATION = np.array([15.0, 7.5, 10.0, 12.5, 15.0, 20.0, 20.0])
Q_START = np.array([0.0, -0.3, 0.0, -2.0, 0.0, 1.8, 0.8])
_T, _ANGLE, _FLOOR = 0.3, math.radians(45.0), 0.25
_RATES = (40.0, 20.0, 10.0)


@dataclass(frozen=True, kw_only=True, eq=False)
class ArmCase:
    """One arm motion with several motions of the wrist's motor.

    Attributes
    ----------
    turning : bool
        Whether the hand may turn at release.
    throw : ArmThrow
    releases : dict of str to WristRelease
        By what the motor does; ``"hand fixed"`` is the arm without wrist.
    rates : dict of str to float
        dq(T) of the wrist as the models have it [rad/s].
    run : WristRun
        Run-up, throw and brake with the planned motion of the motor.
    found : int
        Random starts of the release's optimisation that ended at a throw.
    spread : tuple of float
        Slowest and fastest of their releases, hand fixed [m/s].
    """

    turning: bool
    throw: ArmThrow
    releases: dict[str, WristRelease]
    rates: dict[str, float]
    run: WristRun
    found: int
    spread: tuple[float, float]

    @property
    def base(self) -> BaseMotion:
        """The arm's motion."""
        return self.throw.base

    @property
    def gain(self) -> float:
        """Speed that the planned motor adds to the arm with the fixed hand [m/s]."""
        return self.releases["planned for the arm's motion"].speed - self.releases["hand fixed"].speed

    @property
    def title(self) -> str:
        """What was thrown how."""
        how = "may turn" if self.turning else "does not turn"
        return f"Panda and elastic wrist, 45 degrees up, T = {_T:g} s, hand {how} at release"

    def table(self) -> str:
        """Return releases, and the wrist's speed from model to model."""
        fixed = self.releases["hand fixed"].speed
        rows: list[list[object]] = [
            [name, r.speed, r.speed - fixed, r.across, r.q, r.dq, TIP * r.dq, 1e3 * r.arm_error, 100.0 * r.effort]
            for name, r in self.releases.items()
        ]
        header = ["motor", "speed [m/s]", "gain [m/s]", "across [m/s]", "q(T) [rad]", "dq(T) [rad/s]", "tip dq [m/s]"]
        header += ["arm error [mrad]", "torque [% of limit]"]
        models = [[name, rate, TIP * rate] for name, rate in self.rates.items()]
        return "\n\n".join(
            [markdown(header, rows), markdown(["wrist", "dq(T) [rad/s]", "tip dq [m/s]"], models), self._summary()]
        )

    def to_dict(self) -> dict[str, Any]:
        """Return all numbers."""
        return {
            "turning": self.turning,
            "gain": self.gain,
            "q_release": self.base.q_release.tolist(),
            "dq_release": self.base.dq_release.tolist(),
            "run_up": self.base.run_up,
            "brake": self.base.brake,
            "releases": {name: dict(vars(r)) for name, r in self.releases.items()},
            "rates": self.rates,
            "found": self.found,
            "spread": list(self.spread),
        }

    def _summary(self) -> str:
        linear = TIP * self.rates["linear optimum (80), base at rest"]
        share = self.base.usage(ACCELERATION)
        return (
            f"Gain {self.gain:.2f} m/s, the linear model's optimum {linear:.2f} m/s. Arm motion, hand fixed: "
            f"{100 * share['velocity']:.0f} % of the limits of speed, {100 * share['acceleration']:.0f} % of "
            f"acceleration, {100 * share['effort']:.0f} % of torque; {self.found} random starts ended at a throw, of "
            f"{self.spread[0]:.2f} to {self.spread[1]:.2f} m/s."
        )


def run_arm(*, turning: bool, seeds: int | Sequence[int] = 24, jobs: int = 1, cells: int = 200) -> ArmCase:
    """Choose the arm's motion, plan the motor's, simulate.

    Parameters
    ----------
    turning : bool
        Whether the hand may turn at release.
    seeds : int or sequence of int
        Random starts of the release's optimisation: how many, or which ones.
    jobs : int
        Processes for them.
    cells : int
        Of the motor's plans.
    """
    panda = Robot.load("panda")
    rigid = with_rigid_hand(panda, WRIST, mount=MOUNT, tip=TIP)
    found = [one for one in map_seeds(partial(_release, rigid, turning), seeds, jobs=jobs) if one is not None]
    if not found:
        raise ThunderError(f"no throw of the arm was found with seeds {seeds}; take more or others")
    base = max(found, key=lambda one: one.speed)
    throw = ArmThrow(panda, WRIST, base, MOUNT, TIP)
    releases, rates = _throws(throw, wrist_at_release(WRIST, rigid, base.q_release), cells)
    best = throw.plan(cells=cells)
    speeds = [one.speed for one in found]
    return ArmCase(
        turning=turning, throw=throw, releases=releases, rates=rates, run=throw.whole(best.motor),
        found=len(found), spread=(min(speeds), max(speeds)),
    )  # fmt: skip


def _throws(throw: ArmThrow, still: ElasticWrist, cells: int) -> tuple[dict[str, WristRelease], dict[str, float]]:
    linear = free_switching(still, _T)
    once = one_switch(still, min(_T, linear.limit))
    best = throw.plan(cells=cells)
    nonlinear = plan_motor(lambda t, q, dq, theta: still.acceleration(q, dq, theta), _T, still.theta_max, cells=cells)
    motions = {
        "held still": throw.held(),
        f"one switch of (80) in the last {once.T:.3f} s": throw.of_throw(once),
        f"{linear.switches.size} switches of (80)": throw.of_throw(linear),
        "planned for the arm's motion": best.motor,
    }
    releases = {"hand fixed": throw.rigid()}
    releases |= {name: throw.release(throw.run(motor)) for name, motor in motions.items()}
    try:
        weaker = throw.plan_within_torques(cells)
        name = f"planned, theta within {np.abs(weaker.motor.start).max():.2f} rad: arm within its torques"
        releases[name] = throw.release(throw.run(weaker.motor))
    except ThunderError:
        pass  # the arm's own motion takes all torque there is, which the first row shows
    releases["planned, arm's torques clipped"] = throw.release(throw.run(best.motor, limited=True))
    releases["planned, arm knows no spring"] = throw.release(throw.run(best.motor, feedforward=False))
    for rate in _RATES:
        motor = throw.plan(rate, cells).motor
        releases[f"planned, motor at most {rate:g} rad/s"] = throw.release(throw.run(motor))
    rates = {
        "linear optimum (80), base at rest": linear.speed,
        "optimum of (79), base at rest": nonlinear.speed,
        "optimum of (78) on the moving arm": best.speed,
        "the same simulated": releases["planned for the arm's motion"].dq,
    }
    return releases, rates


def _release(arm: Robot, turning: bool, seed: int) -> BaseMotion | None:
    direction = [math.cos(_ANGLE), 0.0, math.sin(_ANGLE)]
    try:
        return optimise_base_motion(
            arm, direction, acceleration_limits=ACCELERATION, q_start=Q_START, T=_T, turning=turning, floor=_FLOOR,
            opening_delay=0.05, starts=1, seed=seed,
        )  # fmt: skip
    except ThunderError:
        return None
