"""D4.2, section 4: throwing with an elastic wrist: optimal switching, base and wrist together, a Panda that throws."""

from __future__ import annotations

import math
from collections.abc import Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from ..checks import Array
from ..manipulation.wrist.collocation import BaseLimits, JointThrow, base_alone, throw_together
from ..manipulation.wrist.model import ElasticWrist
from ..manipulation.wrist.motor_motion import MotorMotion, run_with_motor
from ..manipulation.wrist.motor_plan import plan_motor
from ..manipulation.wrist.oscillator import WristOscillator
from ..manipulation.wrist.robots import on_a_slope
from ..manipulation.wrist.switching import closed_form, free_switching, one_switch, one_switch_limit
from ..manipulation.wrist.throw import WristThrow
from ..motion.scalars import whole
from ..progress import progress_bar
from .elastic_wrist_arm import TIP, WRIST, ArmCase, run_arm
from .text import markdown

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["Case", "ElasticWristExperiment", "Together", "run", "run_elastic_wrist"]

#: slope [deg] and damping [N m s/rad] of the cases of the table
_SLOPES = ((0.0, 0.0), (0.0, 0.03), (30.0, 0.03), (60.0, 0.03), (-60.0, 0.03))
_T = 0.15
#: starts that end at a throw
_QUICK = (12, 13)


@dataclass(frozen=True, kw_only=True, eq=False)
class Case:
    """One wrist, thrown with one switch.

    Attributes
    ----------
    name : str
    throw : WristThrow
        With the bounds that gravity leaves.
    printed : WristThrow
        With u within plus and minus theta_max, as (85) to (88) have it.
    simulated : tuple of float
        q(T), dq(T) of the model (79) under the control of `throw`, by the package's elastic dynamics.
    """

    name: str
    throw: WristThrow
    printed: WristThrow
    simulated: tuple[float, float]


@dataclass(frozen=True, kw_only=True, eq=False)
class Together:
    """Base and wrist, planar, T = 0.22 s.

    Attributes
    ----------
    speeds : dict of str to float
        Of the tip [m/s], by way.
    linear, full : JointThrow
        Optima with (80) and (79).
    """

    speeds: dict[str, float]
    linear: JointThrow
    full: JointThrow


@dataclass(frozen=True, kw_only=True, eq=False)
class ElasticWristExperiment:
    """What the experiment found.

    Attributes
    ----------
    cases : tuple of Case
    times : (k,) array
        Times of release omega0 T of the sweep, lossless and level.
    one, free : (k,) array
        Speeds over omega0 theta_max with one switch (NaN past a period) and with any number.
    switches : (k,) array of int
        Their number where it is free.
    example, beyond : WristThrow
        With gravity and damping: within the limit of one switch, and beyond it.
    together : Together
    arms : tuple of ArmCase
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

    def table(self) -> str:
        """Return the tables; the report prints no numbers in section 4."""
        parts = [
            f"One switch of the motor, T = {_T:g} s, theta_max = {WRIST.theta_max:g} rad\n\n{self._cases()}",
            f"One switch and free switching, no losses, level, no gravity\n\n{self._sweep()}",
            f"Base and wrist together, tip {TIP:g} m from the axis\n\n{self._together()}",
        ]
        parts += [f"{arm.title}\n\n{arm.table()}" for arm in self.arms]
        return "\n\n".join([*parts, _NOTES])

    def plot(self) -> Figure:
        """Draw phase portrait, switching function, speeds over T, the case with gravity, the throw of the arm."""
        from ..plotting.elastic_wrist import plot_elastic_wrist

        return plot_elastic_wrist(self)

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
        end = f"Collocation: {cells} cells; q, dq at T differ by {distance:.1g} from DOP853 under the same controls."
        return markdown(["", "speed of the tip [m/s]"], rows) + "\n\n" + end


_NOTES = """\
- The report prints no parameters and no results for the wrist: the numbers of the wrist are ours (those of the truth
  vectors), and so are the limits of the base, 10 m/s^2, 1.5 m/s, 0.3 m.
- u in ±theta_max is what (85) to (88) give if |theta| <= theta_max is read as |u| <= theta_max: on a level base theta
  would have to leave its range (errata D-21). Speeds come out too high, or too low where theta_g helps.
- One switch is optimal until t_1 = pi / omega_d (D-18). Past it free switching gains; at omega0 T = 2 pi one switch
  gives nothing.
- Base and wrist: (79) has the term ddx q, a stiffness that the base's acceleration changes, so optima are local; of
  several starts the best is shown. (80) promises more than (79) where q is large: the moment of ddz goes with cos q,
  that of ddx with sin q.
- Arm: the gain is the wrist's share, tip times dq, as long as the arm keeps to its motion. What the rows differ by:
  the base's acceleration and turning, which the linear model does not know (its switches leave q(T) far from zero, the
  tip flies aside) and planned motions of the motor do; the arm's torques, sampled every 0.5 ms; the motor's speed.
- The arm's motion keeps within its torques with the hand fixed. The spring adds its own, and the throw then asks for
  more than the wrist joints of a Panda have. Clipped, these give way: the wrist turns faster, the arm slower. Within
  them the motor may use a part of its range; where the fixed hand takes 95 % already, none is left."""


def run_elastic_wrist(
    *,
    seeds: int | Sequence[int] = 24,
    jobs: int = 1,
    sweep: int = 121,
    cells: int = 80,
    starts: int = 4,
    plan_cells: int = 200,
    turning: Sequence[bool] = (False, True),
    progress: bool = False,
) -> ElasticWristExperiment:
    """Run all parts.

    Parameters
    ----------
    seeds : int or sequence of int
        Random starts of the arm's release: how many, or which ones.
    jobs : int
        Processes for these.
    sweep : int
        Times of release in the sweep.
    cells, starts : int
        Of the collocation.
    plan_cells : int
        Of the motor's plans on the arm.
    turning : sequence of bool
        Arm motions: whether the hand may turn at release.
    progress : bool
        Show a bar.
    """
    sweep = whole(sweep, "sweep", 2)
    bar = progress_bar(3 + len(turning), desc="elastic wrist") if progress else nullcontext(lambda _: None)
    with bar as report:
        cases = tuple(_case(slope, c) for slope, c in _SLOPES)
        curves = _sweep(sweep)
        report(1 / (3 + len(turning)))
        level = WRIST.oscillator()
        example, beyond = one_switch(level, 0.2), free_switching(level, 0.4)
        together = _together(cells, starts)
        report(3 / (3 + len(turning)))
        arms = []
        for turns in turning:
            arms.append(run_arm(turning=turns, seeds=seeds, jobs=jobs, cells=plan_cells))
            report((3 + len(arms)) / (3 + len(turning)))
    return ElasticWristExperiment(
        cases=cases, times=curves[0], one=curves[1], free=curves[2], switches=curves[3].astype(np.int64),
        example=example, beyond=beyond, together=together, arms=tuple(arms),
    )  # fmt: skip


def _case(slope: float, c: float) -> Case:
    wrist = ElasticWrist(
        I=WRIST.I, k=WRIST.k, m=WRIST.m, r_c=WRIST.r_c, theta_max=WRIST.theta_max, c=c, alpha=math.radians(slope)
    )
    o = wrist.oscillator()
    printed = WristOscillator(
        omega0=o.omega0, zeta=o.zeta, gain=o.gain, u_lo=-wrist.theta_max, u_hi=wrist.theta_max, offset=o.offset
    )
    throw = one_switch(o, _T)
    run = run_with_motor(on_a_slope(wrist), MotorMotion.of_throw(throw), q0=[0.0])
    return Case(
        name=f"slope {slope:g} deg, c = {c:g} N m s/rad",
        throw=throw,
        printed=one_switch(printed, _T),
        simulated=(float(run.q[-1, 0]), float(run.dq[-1, 0])),
    )


def _sweep(count: int) -> tuple[Any, Any, Any, Any]:
    o = WristOscillator(omega0=20.0, u_lo=-0.5, u_hi=0.5)
    times = np.unique(np.r_[np.linspace(0.2, 12.0, count), 20.0 * one_switch_limit(o)])
    unit = o.omega0 * o.u_hi
    one = [closed_form(20.0, 0.5, x / 20.0).speed / unit if x < 2.0 * math.pi else math.nan for x in times]
    throws = [free_switching(o, x / 20.0, 300) for x in times]
    speeds, counts = [throw.speed / unit for throw in throws], [throw.switches.size for throw in throws]
    return times, np.array(one), np.array(speeds), np.array(counts)


def _together(cells: int, starts: int) -> Together:
    T, base = 0.22, BaseLimits()
    even = base.constant(T)
    wrist = free_switching(WRIST, T)
    planned = plan_motor(lambda t, q, dq, theta: WRIST.acceleration(q, dq, theta, 0.0, even), T, WRIST.theta_max)
    linear, full = (
        throw_together(WRIST, T, base=base, tip=TIP, cells=cells, starts=starts, linear=kind) for kind in (True, False)
    )
    speeds = {
        "base with constant acceleration, wrist fixed (4.4)": even * T,
        "base as fast as it can, wrist fixed": base_alone(base, T),
        "wrist, base at rest, linear optimum (4.3)": TIP * wrist.speed,
        "first and third, added": even * T + TIP * wrist.speed,
        "base as first, motor planned for it": even * T + TIP * planned.speed,
        "both, linear model (80)": linear.speed,
        "both, model (79)": full.speed,
    }
    return Together(speeds=speeds, linear=linear, full=full)


def run(quick: bool = False, *, seeds: int | None = None, jobs: int = 1) -> ElasticWristExperiment:
    """Run the experiment."""
    if quick:
        return run_elastic_wrist(
            seeds=_QUICK if seeds is None else seeds,
            jobs=jobs,
            sweep=25,
            cells=40,
            starts=1,
            plan_cells=100,
            turning=(False,),
        )
    return run_elastic_wrist(seeds=24 if seeds is None else seeds, jobs=jobs, progress=True)
