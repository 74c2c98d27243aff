"""D4.2, section 4: throwing with an elastic wrist; optimal switching, joint optimum of base and wrist, a Panda."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt

from ...checks import Array, whole
from ...errors import ThunderError
from ...manipulation.wrist.arm_throw import ArmThrow, WristRelease, wrist_at_release
from ...manipulation.wrist.base_motion import BaseMotion, optimize_base_motion
from ...manipulation.wrist.joint_plan import BaseLimits, JointThrow, base_alone, optimize_base_and_motor
from ...manipulation.wrist.model import ElasticWrist, WristOscillator
from ...manipulation.wrist.motor import MotorMotion, WristRun, run_with_motor
from ...manipulation.wrist.motor_plan import plan_motor
from ...manipulation.wrist.robots import inclined_wrist, with_rigid_hand
from ...manipulation.wrist.switching import closed_form, free_switching, one_switch, one_switch_limit
from ...manipulation.wrist.target import MOUNT
from ...manipulation.wrist.throw import WristThrow
from ...parallel import Workers, map_items, map_seeds
from ...progress import progress_bar, reporting
from ...robot import Robot
from ...simulation.divergence import outcome_recorded
from ..results import drawing
from ..tables import markdown
from .targets import ARMS, TARGETS, TargetCase, run_targets, targets_dict, targets_table

WRIST = ElasticWrist(I=0.012, k=5.0, m=0.7, r_c=0.09, c=0.03, theta_max=0.6)
#: distance of the object from the wrist's axis [m]
TIP = 0.15
#: acceleration limits of the Panda, from the documentation of its control interface [rad/s^2]
ACCELERATION = np.array([15.0, 7.5, 10.0, 12.5, 15.0, 20.0, 20.0])
Q_START = np.array([0.0, -0.3, 0.0, -2.0, 0.0, 1.8, 0.8])
_T, _ANGLE, _FLOOR = 0.3, math.radians(45.0), 0.25
_RATES = (40.0, 20.0, 10.0)


@dataclass(frozen=True, kw_only=True, eq=False)
class ArmCase:
    """Arm motion with several motions of the wrist's motor.

    Attributes
    ----------
    turning : bool
        True if the hand may rotate at release.
    throw : ArmThrow
        Throw of the arm.
    releases : dict of str to WristRelease
        By motion of the motor; ``"hand fixed"`` is the arm without wrist.
    rates : dict of str to float
        dq(T) of the wrist by model [rad/s].
    run : WristRun
        Run-up, throw and brake with the planned motion of the motor.
    found : int
        Number of random starts of the release's optimization that led to a throw.
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
        """Motion of the arm."""
        return self.throw.base

    @property
    def gain(self) -> float:
        """Speed that the planned motor adds to the arm with the fixed hand [m/s]."""
        return self.releases["planned for the arm's motion"].speed - self.releases["hand fixed"].speed

    @property
    def title(self) -> str:
        """Title of the case."""
        how = "free to rotate" if self.turning else "without rotation"
        return f"Panda and elastic wrist, 45 degrees up, T = {_T:g} s, hand {how} at release"

    def table(self) -> str:
        """Return the releases, and the wrist's speed by model, as Markdown."""
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
            f"acceleration, {100 * share['effort']:.0f} % of torque; it is the fastest of several random starts."
        )


@outcome_recorded()  # arms that lag behind their plan pass velocity limits
def run_arm(*, turning: bool, seeds: int | Sequence[int] = 24, workers: Workers = 1, cells: int = 200) -> ArmCase:
    """Optimize the motion of the arm, plan those of the motor, simulate.

    Parameters
    ----------
    turning : bool
        If True, the hand may rotate at release.
    seeds : int or sequence of int
        Number or list of the random starts of the release's optimization.
    workers : Workers
        Where the runs are made, see `run_tasks`.
    cells : int
        Number of cells of the motor's plans.
    """
    panda = Robot.load("panda")
    rigid = with_rigid_hand(panda, WRIST, mount=MOUNT, tip=TIP)
    motions = [one for one in map_seeds(partial(_release, rigid, turning), seeds, workers=workers) if one is not None]
    if not motions:
        raise ThunderError(f"no throw of the arm was found with seeds {seeds}; use more or others")
    base = max(motions, key=lambda one: one.speed)
    throw = ArmThrow(panda, WRIST, base, MOUNT, TIP)
    releases, rates = _throws(throw, wrist_at_release(WRIST, rigid, base.q_release), cells)
    best = throw.plan(cells=cells)
    speeds = [one.speed for one in motions]
    return ArmCase(
        turning=turning, throw=throw, releases=releases, rates=rates, run=throw.whole(best.motor),
        found=len(motions), spread=(min(speeds), max(speeds)),
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
        pass  # the arm's motion without the spring uses all torque, see the first row
    releases["planned, arm's torques clipped"] = throw.release(throw.run(best.motor, limited=True))
    releases["planned, controller without the spring"] = throw.release(throw.run(best.motor, feedforward=False))
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
        return optimize_base_motion(
            arm, direction, acceleration_limits=ACCELERATION, q_start=Q_START, T=_T, turning=turning, floor=_FLOOR,
            opening_delay=0.05, starts=1, seed=seed,
        )  # fmt: skip
    except ThunderError:
        return None


#: slope [deg] and damping [N m s/rad] of the cases of the table
_SLOPES = ((0.0, 0.0), (0.0, 0.03), (30.0, 0.03), (60.0, 0.03), (-60.0, 0.03))
_WRIST_TIME = 0.15
#: starts that lead to a throw, the first that are used
_FIRST = (12, 13)


@dataclass(frozen=True, kw_only=True, eq=False)
class Case:
    """Throw of one wrist with one switch.

    Attributes
    ----------
    name : str
        Name of the case.
    throw : WristThrow
        With the bounds of u due to gravity.
    printed : WristThrow
        With u within plus and minus theta_max, as in (85) to (88).
    simulated : tuple of float
        q(T), dq(T) of the model (79) under the control of `throw`, by the package's elastic dynamics.
    """

    name: str
    throw: WristThrow
    printed: WristThrow
    simulated: tuple[float, float]


@dataclass(frozen=True, kw_only=True, eq=False)
class Together:
    """Planar throws of base and wrist, T = 0.22 s.

    Attributes
    ----------
    speeds : dict of str to float
        Speed of the tip by method [m/s].
    linear, full : JointThrow
        Optima with (80) and (79).
    """

    speeds: dict[str, float]
    linear: JointThrow
    full: JointThrow


@dataclass(frozen=True, kw_only=True, eq=False)
class ElasticWristExperiment:
    """Results of the experiment.

    Attributes
    ----------
    cases : tuple of Case
        Cases of the report.
    times : (k,) array
        Times of release omega0 T of the sweep, lossless and level.
    one, free : (k,) array
        Speeds divided by omega0 theta_max with one switch (NaN beyond a period) and with any number.
    switches : (k,) array of int
        Number of switches in free switching.
    example, beyond : WristThrow
        Throws with gravity and damping, within the limit of one switch and beyond it.
    together : Together
        Motor and base planned together.
    arms : tuple of ArmCase
        Throws on arms.
    targets : tuple of TargetCase
        Throws at targets.
    """

    cases: tuple[Case, ...]
    times: Array
    one: Array
    free: Array
    switches: npt.NDArray[np.int64]
    example: WristThrow
    beyond: WristThrow
    together: Together
    arms: tuple[ArmCase, ...]
    targets: tuple[TargetCase, ...]

    def table(self) -> str:
        """Return the tables; the report prints no numbers in section 4."""
        parts = [
            f"One switch of the motor, T = {_WRIST_TIME:g} s, theta_max = {WRIST.theta_max:g} rad\n\n{self._cases()}",
            f"One switch and free switching, no losses, level, no gravity\n\n{self._sweep()}",
            f"Base and wrist together, tip {TIP:g} m from the axis\n\n{self._together()}",
        ]
        parts += [f"{arm.title}\n\n{arm.table()}" for arm in self.arms]
        if self.targets:
            parts.append(f"Throws at targets, wrist and object unknown\n\n{targets_table(self.targets)}")
        return "\n\n".join([*parts, _NOTES])

    plot = drawing("plot_elastic_wrist")
    plot_arms = drawing("plot_arms")

    def to_dict(self) -> dict[str, Any]:
        """Return all numbers."""
        return {
            "cases": [
                {
                    "name": case.name, "t1": float(case.throw.switches[0]), "speed": case.throw.speed,
                    "valid": case.throw.valid, "limit": case.throw.limit, "nu": case.throw.nu,
                    "t1_symmetric_bounds": float(case.printed.switches[0]),
                    "speed_symmetric_bounds": case.printed.speed,
                    "simulated_q": case.simulated[0], "simulated_dq": case.simulated[1],
                }
                for case in self.cases
            ],
            "sweep": {
                "omega0_T": self.times.tolist(), "free": self.free.tolist(), "switches": self.switches.tolist(),
                "one_switch": [None if math.isnan(x) else x for x in self.one.tolist()],
            },
            "together": {
                "speeds": self.together.speeds,
                "defect": [self.together.linear.defect, self.together.full.defect],
                "iterations": [self.together.linear.iterations, self.together.full.iterations],
            },
            "arm": [arm.to_dict() for arm in self.arms],
            "targets": targets_dict(self.targets),
        }  # fmt: skip

    def _cases(self) -> str:
        rows = [
            [
                case.name, float(case.throw.switches[0]), case.throw.speed, case.throw.limit,
                "yes" if case.throw.valid and case.throw.agrees() else "no",
                float(case.printed.switches[0]), case.printed.speed, case.simulated[1], case.simulated[0],
            ]
            for case in self.cases
        ]  # fmt: skip
        header = ["wrist", "t_1 [s]", "dq(T) [rad/s]", "one switch until T [s]", "optimal"]
        header += ["t_1, u in ±theta_max", "dq(T), u in ±theta_max", "simulated (79): dq(T)", "q(T) [rad]"]
        return markdown(header, rows, 4)

    def _sweep(self) -> str:
        picked = [int(np.argmin(np.abs(self.times - x))) for x in (1.6, 3.0, 4.3726, 4.8, 5.6, 8.0, 11.0)]
        rows = [[float(self.times[k]), float(self.one[k]), float(self.free[k]), int(self.switches[k])] for k in picked]
        header = ["omega0 T", "one switch: dq(T) / (omega0 theta_max)", "free", "switches"]
        return markdown(header, rows, 4)

    def _together(self) -> str:
        rows = [[name, speed] for name, speed in self.together.speeds.items()]
        both = (self.together.linear, self.together.full)
        distance = max(one.defect for one in both)
        cells = both[0].t.size - 1
        end = f"{cells} cells; q, dq at T differ by {distance:.1g} from DOP853 under the same controls."
        return markdown(["", "speed of the tip [m/s]"], rows) + "\n\n" + end


_NOTES = """\
- The report prints no parameters and no results for the wrist: the parameters of the wrist are ours (those of the truth
  vectors), and so are the limits of the base, 10 m/s^2, 1.5 m/s, 0.3 m.
- u in ±theta_max follows from (85) to (88) if |theta| <= theta_max is read as |u| <= theta_max: on a level base theta
  would exceed its range (errata D-21). The speeds are too high, or too low where theta_g helps.
- One switch is optimal up to t_1 = pi / omega_d (D-18). Beyond, free switching is faster; at omega0 T = 2 pi the speed
  with one switch is zero.
- Base and wrist: (79) has the term ddx q, a stiffness that the base's acceleration changes, so optima are local; the
  best of several starts is shown. (80) predicts more than (79) for large q: the moment of ddz is proportional to cos q,
  that of ddx to sin q.
- Arm: the gain is the part of the wrist, tip times dq, as long as the arm tracks its motion. The rows differ by:
  acceleration and rotation of the base, absent from the linear model (its switches leave q(T) far from zero, and the
  tip has a velocity across the throw) and included in the plans; the arm's torques, sampled every 0.5 ms; the motor's
  speed.
- The arm's motion keeps its torque limits with the hand fixed. The spring adds its torque, and the throw then exceeds
  the limits of a Panda's wrist joints. With clipped torques the wrist turns faster, the arm slower. To keep them, the
  motor may use a part of its range; where the fixed hand uses 95 % already, little is left."""


def run_elastic_wrist(
    *,
    seeds: int | Sequence[int] = 24,
    workers: Workers = 1,
    sweep: int = 121,
    cells: int = 80,
    starts: int = 4,
    plan_cells: int = 200,
    turning: Sequence[bool] = (False, True),
    targets: tuple[Sequence[str], int, int] = (ARMS, len(TARGETS), 4),
    progress: bool = False,
) -> ElasticWristExperiment:
    """Run all parts.

    Parameters
    ----------
    seeds : int or sequence of int
        Number or list of the random starts of the arm's release.
    workers : Workers
        Where the runs are made, see `run_tasks`.
    sweep : int
        Number of times of release in the sweep.
    cells, starts : int
        Numbers of cells and starts of the joint optimization of base and motor.
    plan_cells : int
        Number of cells of the motor's plans on the arm.
    turning : sequence of bool
        One arm motion each; True if the hand may rotate at release.
    targets : tuple
        Names of the arms that throw at targets, number of targets, number of truths; see `run_targets`.
    progress : bool
        Show a progress bar.
    """
    sweep = whole(sweep, "sweep", 2)
    with reporting(progress, progress_bar(4 + len(turning), desc="elastic wrist")) as report:
        cases = tuple(_case(slope, c) for slope, c in _SLOPES)
        curves = _sweep(sweep, workers)
        report(1 / (4 + len(turning)))
        level = WRIST.oscillator()
        example, beyond = one_switch(level, 0.2), free_switching(level, 0.4)
        together = _together(cells, starts, workers)
        report(3 / (4 + len(turning)))
        arms = []
        throws = run_targets(
            WRIST, TIP, arms=targets[0], targets=TARGETS[: targets[1]], seeds=targets[2], workers=workers,
            cells=min(plan_cells, 60),
        )  # fmt: skip
        report(4 / (4 + len(turning)))
        for turns in turning:
            arms.append(run_arm(turning=turns, seeds=seeds, workers=workers, cells=plan_cells))
            report((4 + len(arms)) / (4 + len(turning)))
    return ElasticWristExperiment(
        cases=cases, times=curves[0], one=curves[1], free=curves[2], switches=curves[3].astype(np.int64),
        example=example, beyond=beyond, together=together, arms=tuple(arms), targets=tuple(throws),
    )  # fmt: skip


def _case(slope: float, c: float) -> Case:
    wrist = replace(WRIST, c=c, alpha=math.radians(slope))
    o = wrist.oscillator()
    printed = replace(o, u_lo=-wrist.theta_max, u_hi=wrist.theta_max)
    throw = one_switch(o, _WRIST_TIME)
    run = run_with_motor(inclined_wrist(wrist), MotorMotion.of_throw(throw), q0=[0.0])
    return Case(
        name=f"slope {slope:g} deg, c = {c:g} N m s/rad",
        throw=throw,
        printed=one_switch(printed, _WRIST_TIME),
        simulated=(float(run.q[-1, 0]), float(run.dq[-1, 0])),
    )


def _sweep(count: int, workers: Workers) -> tuple[Any, Any, Any, Any]:
    o = WristOscillator(omega0=20.0, u_lo=-0.5, u_hi=0.5)
    times = np.unique(np.r_[np.linspace(0.2, 12.0, count), 20.0 * one_switch_limit(o)])
    unit = o.omega0 * o.u_hi
    one = [closed_form(20.0, 0.5, x / 20.0).speed / unit if x < 2.0 * math.pi else math.nan for x in times]
    speeds, counts = zip(*map_items(partial(_free, o), list(times / 20.0), workers=workers), strict=True)
    return times, np.array(one), np.array(speeds) / unit, np.array(counts)


def _free(oscillator: WristOscillator, T: float) -> tuple[float, int]:
    throw = free_switching(oscillator, T)
    return throw.speed, throw.switches.size


def _together(cells: int, starts: int, workers: Workers) -> Together:
    T, base = 0.22, BaseLimits()
    ddz = base.constant(T)
    wrist = free_switching(WRIST, T)
    plan = plan_motor(lambda t, q, dq, theta: WRIST.acceleration(q, dq, theta, 0.0, ddz), T, WRIST.theta_max)
    linear, full = (
        optimize_base_and_motor(WRIST, T, base=base, tip=TIP, cells=cells, starts=starts, linear=kind, workers=workers)
        for kind in (True, False)
    )
    speeds = {
        "base with constant acceleration, wrist fixed (4.4)": ddz * T,
        "base as fast as it can, wrist fixed": base_alone(base, T),
        "wrist, base at rest, linear optimum (4.3)": TIP * wrist.speed,
        "first and third, added": ddz * T + TIP * wrist.speed,
        "base as first, motor planned for it": ddz * T + TIP * plan.speed,
        "both, linear model (80)": linear.speed,
        "both, model (79)": full.speed,
    }
    return Together(speeds=speeds, linear=linear, full=full)


def run(quick: bool = False, *, seeds: int | None = None, workers: Workers = 1) -> ElasticWristExperiment:
    """Run the experiment of the registry; `seeds` random starts in the search for the arm's release."""
    count = (len(_FIRST) if quick else 24) if seeds is None else seeds
    starts = [*_FIRST, *(seed for seed in range(count) if seed not in _FIRST)][:count]
    if quick:
        return run_elastic_wrist(
            seeds=starts,
            workers=workers,
            sweep=25,
            cells=40,
            starts=1,
            plan_cells=100,
            turning=(False,),
            targets=(("ur5e",), 1, 1),
        )
    return run_elastic_wrist(seeds=starts, workers=workers, progress=True)
