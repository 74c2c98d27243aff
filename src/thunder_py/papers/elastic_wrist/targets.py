"""Throws of arms with the elastic wrist at targets: wrist and object unknown, identified before or not."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np

from ...checks import Array, positive
from ...manipulation.wrist.base_motion import BaseMotion
from ...manipulation.wrist.identify import IdentifiedWrist, SwingLog, identify_wrist
from ...manipulation.wrist.model import ElasticWrist
from ...manipulation.wrist.robots import with_wrist
from ...manipulation.wrist.target import MOUNT, LandedThrow, TargetThrow, plan_target_throw, swing_run, throwing_bases
from ...parallel import Workers, map_items
from ...robot import Robot
from ...simulation import Sensors
from ...simulation.divergence import outcome_recorded
from ..results import rms
from ..tables import markdown
from ..wrong_arms import with_friction

#: arms, and points on which the objects are to land, in the axes of the arm's base [m]
ARMS = ("panda", "ur5e", "iiwa14")
TARGETS = ((1.2, 0.3, 0.0), (1.5, -0.6, 0.1), (1.0, 1.0, 0.0), (1.8, 0.5, 0.2), (2.0, -0.3, 0.0))
#: standard deviations: of positions [rad] and velocities [rad/s] of the joints, and of the time of release [s]
_NOISE, _VELOCITY_NOISE, _JITTER = 2e-4, 2e-3, 1e-3
#: friction of the arm's joints, unknown to model and controller: viscous [s/rad], Coulomb, as parts of the torque limit
FRICTION = (0.01, 0.015)
#: ranges of the truth: stiffness and damping as factors, offset of the spring [rad], mass of the object [kg]
_STIFFNESS, _DAMPING, _OFFSET, _MASS = (0.85, 1.15), (0.7, 1.3), (-0.03, 0.03), (0.0, 0.15)
_ELEVATIONS, _SPEEDS = (40.0, 50.0), (0.3, 0.6)


@dataclass(frozen=True, kw_only=True, eq=False)
class Truth:
    """Wrist, object and arm as they are.

    Attributes
    ----------
    empty, loaded : ElasticWrist
        Wrist without and with the object.
    offset : float
        Angle of the relaxed spring at motor angle zero [rad].
    mass : float
        Mass of the object [kg].
    late : (k,) array
        Delays of the releases beyond the compensated one [s].
    """

    empty: ElasticWrist
    loaded: ElasticWrist
    offset: float
    mass: float
    late: Array

    @classmethod
    def draw(cls, nominal: ElasticWrist, tip: float, seed: int) -> Truth:
        """Draw a truth; the object is a ball with its center `tip` away from the wrist's axis."""
        rng = np.random.default_rng(seed)
        k, c, offset, mass = (rng.uniform(*limits) for limits in (_STIFFNESS, _DAMPING, _OFFSET, _MASS))
        empty = replace(nominal, k=nominal.k * k, c=nominal.c * c)
        m = nominal.m + mass
        I = nominal.I + mass * (tip**2 + 0.4 * 0.03**2)
        loaded = replace(empty, m=m, r_c=(nominal.m * nominal.r_c + mass * tip) / m, I=I)
        return cls(
            empty=empty, loaded=loaded, offset=offset, mass=mass, late=_JITTER * rng.standard_normal(len(TARGETS))
        )


@dataclass(frozen=True, kw_only=True, eq=False)
class TargetCase:
    """Throws of one arm with one truth at all targets.

    Attributes
    ----------
    arm : str
        Name of the arm.
    truth : Truth
        Wrist and object as they are.
    identified : IdentifiedWrist
        Result of the identification.
    misses, misses_nominal : (k,) array
        Distances of the landings from the targets with identification and with the nominal wrist [m].
    efforts, velocities : (k,) array
        Largest torques and speeds of the arm with identification as fractions of the limits.
    efforts_nominal : (k,) array
        Largest torques without identification as fractions of the limits.
    """

    arm: str
    truth: Truth
    identified: IdentifiedWrist
    misses: Array
    misses_nominal: Array
    efforts: Array
    velocities: Array
    efforts_nominal: Array


def run_targets(
    nominal: ElasticWrist,
    tip: float,
    *,
    arms: Sequence[str] = ARMS,
    targets: Sequence[tuple[float, float, float]] = TARGETS,
    seeds: int = 4,
    friction: tuple[float, float] = FRICTION,
    workers: Workers = 1,
    cells: int = 60,
) -> list[TargetCase]:
    """Throw with each arm and each seed of the truth at each target.

    Parameters
    ----------
    nominal : ElasticWrist
        Nominal wrist without object.
    tip : float
        Distance of the object from the wrist's axis [m].
    arms : sequence of str
        Names of bundled arms.
    targets : sequence of tuple
        Landing points, at most as many as `TARGETS` [m].
    seeds : int
        Number of truths.
    friction : (float, float)
        As `FRICTION`.
    workers : Workers
        Where the runs are made, see `run_tasks`.
    cells : int
        Number of cells of the motor's plans.
    """
    own = map_items(partial(_bases, nominal, tip), list(arms), workers=workers)
    aims = [(arm, bases, target) for arm, bases in zip(arms, own, strict=True) for target in targets]
    plans = map_items(partial(_plan, nominal, positive(tip, "tip"), cells), aims, workers=workers)
    n = len(targets)
    tasks = [(arm, plans[k * n : (k + 1) * n], seed) for k, arm in enumerate(arms) for seed in range(seeds)]
    return map_items(partial(_case, nominal, tip, cells, friction), tasks, workers=workers)


def _bases(nominal: ElasticWrist, tip: float, arm: str) -> list[BaseMotion]:
    return throwing_bases(Robot.load(arm), nominal, tip=tip, elevations=_ELEVATIONS, speeds=_SPEEDS)


def _plan(
    nominal: ElasticWrist, tip: float, cells: int, aim: tuple[str, list[BaseMotion], tuple[float, float, float]]
) -> TargetThrow:
    arm, bases, target = aim
    return plan_target_throw(Robot.load(arm), nominal, target, bases, tip=tip, jitter=_JITTER, cells=cells)


@outcome_recorded()  # without identification an arm may pass its velocity limits
def _case(
    nominal: ElasticWrist,
    tip: float,
    cells: int,
    friction: tuple[float, float],
    task: tuple[str, list[TargetThrow], int],
) -> TargetCase:
    name, plans, seed = task
    arm, truth = Robot.load(name), Truth.draw(nominal, tip, seed)
    sensors = Sensors(position_noise=_NOISE, velocity_noise=_VELOCITY_NOISE, seed=seed)
    rough = with_friction(arm, *(share * arm.limits.effort for share in friction))
    plants = [with_wrist(rough, one, mount=MOUNT, tip=tip) for one in (truth.empty, truth.loaded)]
    logs = [
        SwingLog.of_run(
            swing_run(plans[0], plant, spring_error=truth.offset, sensors=sensors),
            noise=_NOISE, offset=truth.offset, seed=seed,
        )
        for plant in plants
    ]  # fmt: skip
    found = identify_wrist(arm, nominal, *logs, mount=MOUNT, tip=tip)

    def landed(throw: TargetThrow, late: float, error: float) -> LandedThrow:
        return throw.execute(plants[1], late=late, spring_error=error, sensors=sensors)

    known, unknown = [], []
    for throw, late in zip(plans, truth.late, strict=False):
        again = plan_target_throw(arm, found.wrist, throw.target, [throw.base], tip=tip, jitter=_JITTER, cells=cells)
        known.append(landed(again, late, truth.offset - found.offset))
        unknown.append(landed(throw, late, truth.offset))
    return TargetCase(
        arm=name, truth=truth, identified=found,
        misses=np.array([one.miss for one in known]), misses_nominal=np.array([one.miss for one in unknown]),
        efforts=np.array([one.effort for one in known]), velocities=np.array([one.velocity for one in known]),
        efforts_nominal=np.array([one.effort for one in unknown]),
    )  # fmt: skip


def targets_table(cases: Sequence[TargetCase]) -> str:
    """Return landing errors and used limits by arm, and the errors of the identification, as Markdown."""
    rows: list[list[object]] = []
    for arm in dict.fromkeys(case.arm for case in cases):
        own = [case for case in cases if case.arm == arm]
        known, unknown = (
            100.0 * np.concatenate([getattr(case, name) for case in own]) for name in ("misses", "misses_nominal")
        )
        shares = [
            100.0 * max(float(getattr(case, name).max()) for case in own)
            for name in ("efforts", "efforts_nominal", "velocities")
        ]
        rows.append([arm, known.size, rms(known), known.max(), rms(unknown), unknown.max(), *shares])
    header = ["arm", "throws", "identified: RMS [cm]", "largest [cm]", "nominal wrist: RMS [cm]", "largest [cm] "]
    header += ["identified: torque [% of limit]", "nominal: torque [% of limit]", "speed [% of limit]"]
    off = np.array([_identification_errors(case) for case in cases])
    worst = np.abs(off).max(axis=0)
    end = (
        f"Largest errors of the identification: stiffness {100 * worst[0]:.2g} %, damping "
        f"{100 * worst[1]:.2g} %, offset "
        f"of the spring {1e3 * worst[2]:.2g} mrad, mass of the object {1e3 * worst[3]:.2g} g."
    )
    return markdown(header, rows) + "\n\n" + end


def _identification_errors(case: TargetCase) -> tuple[float, float, float, float]:
    found, truth = case.identified, case.truth
    return (
        found.wrist.k / truth.loaded.k - 1.0, found.wrist.c / truth.loaded.c - 1.0,
        found.offset - truth.offset, found.object_mass - truth.mass,
    )  # fmt: skip


def targets_dict(cases: Sequence[TargetCase]) -> list[dict[str, Any]]:
    """Return all numbers."""
    return [
        {
            "arm": case.arm, "stiffness": case.truth.loaded.k, "mass": case.truth.mass,
            "identification_errors": _identification_errors(case),
            "misses": case.misses.tolist(), "misses_nominal": case.misses_nominal.tolist(),
            "torque_shares": case.efforts.tolist(), "torque_shares_nominal": case.efforts_nominal.tolist(),
            "velocity_shares": case.velocities.tolist(),
        }
        for case in cases
    ]  # fmt: skip
