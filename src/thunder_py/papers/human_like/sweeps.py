"""D4.2, Tables 10 to 15, over quantities that the report does not print."""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache, partial
from pathlib import Path
from typing import Any

import numpy as np

from ...checks import Array
from ...errors import NoPathError
from ...geometry import Sphere
from ...motion import SplineBasis
from ...motion.fpca.fpca import FPCA
from ...motion.planning.obstacles import ViaSearch
from ...motion.planning.planner import HumanLikePlanner
from ...motion.primitives.dmp import DMP
from ...motion.primitives.dynamic_potential import DynamicPotential
from ...parallel import Workers
from ...recordings import MotionSet
from ...recordings.metrics import Motion, mean_jerk, rms_distance
from ...recordings.synthetic import daily_living
from ...recordings.trial import Trial
from ...robot import Robot
from ..judgment.judge import FreeParameter, Judgments, chosen, judge
from ..results import finite_median
from . import arm, planners, reaches, tasks
from .obstacles import POTENTIAL, TABLE_12, TABLE_13
from .planners import TRIALS, Learned
from .reaches import STATES, THRESHOLD, Functional, Reaches
from .real import DURATION, PAIRINGS, REST, TABLE_10, TABLE_11
from .scenarios import FAMILIES, MARGIN, REACH, Scenario, scenario

_SOURCE = "sigma-lognormal"
_MEAN_REACH = 0.5 * (REACH[0] + REACH[1])

#: of the primitives: in all tables
_K = FreeParameter("K", 150.0, (25.0, 50.0, 500.0, 1000.0), "K of the DMP", "tau = T; critically damped")
_SCALING = FreeParameter(
    "scaling", "(104)", ("rotodilatation",), "scaling of the DMP", "(104) is printed, the cited authors use the other"
)
_OVERLAP = FreeParameter("overlap", 1.0, (1.5, 2.0, 2.5), "overlap of the mollifiers", "width of (106)")

REACHES = (
    FreeParameter("source", _SOURCE, ("daily living",), "reaches", "the report's recordings are not public"),
    FreeParameter("cut", THRESHOLD, (0.005, 0.1, 0.2), "cut at [m/s]", '"manually segmented"'),
    FreeParameter(
        "learned",
        "others",
        ("the same", "whole activities", "quintics"),
        "components from",
        "reaches of other subjects or those compared with; daily activities, not cut (5.1.1); the span of the basis "
        "that the authors published",
    ),
    FreeParameter("splines", 15, (8, 10, 20, 30), "number of splines", "15 in the authors' code for joints"),
    FreeParameter("ends", REST, tuple(STATES)[1:], "known at the ends", "the report names positions only"),
    FreeParameter("pairing", "tau", PAIRINGS[1:], "points paired by", "RMS of paths, or of motions"),
    FreeParameter("duration", DURATION, (1.0, 2.0, 3.0, 8.0), "T of Table 11 [s]", "jerk is proportional to 1/T^3"),
    FreeParameter("shown", "typical", ("longest", "first"), "demonstration", "one of the reaches"),
    _SCALING,
    _K,
    _OVERLAP,
    FreeParameter("regression", "ls", ("lwr",), "fit of the DMP", "least squares or locally weighted"),
)
OBSTACLES = (
    FreeParameter("reach", _MEAN_REACH, (0.3, 0.6, 0.9), "length of the reach [m]", "spheres are scaled with it"),
    FreeParameter("size", 1.0, (0.5, 1.5), "size of the spheres", "relative to the families here"),
    FreeParameter("duration", DURATION, (2.0, 3.0, 8.0), "T [s]", "5 s in the authors' code"),
    FreeParameter("margin", MARGIN, (0.0, 0.02, 0.08), "margin [m]", "0.05 m in the authors' code"),
    FreeParameter("draw", 0, (1, 2), "set of recordings", "synthetic daily living"),
    FreeParameter("gain", POTENTIAL.gain, (0.02, 0.05, 0.5, 1.5), "lambda of (107)", "tried until none is hit"),
    FreeParameter("beta", POTENTIAL.beta, (3.0, 4.0), "beta of (107)", "from 2 on the force has no jump"),
    _SCALING,
    _K,
    _OVERLAP,
)
ARM = (
    FreeParameter("duration", tasks.DURATION, (3.0, 8.0), "T [s]", "5 s in the authors' code"),
    FreeParameter(
        "clearance", tasks.MARGIN, (0.1, 0.15), "margin and half the way round [m]", "0.2 m from surfaces is printed"
    ),
    FreeParameter("draw", 0, (1,), "set of recordings", "synthetic daily living"),
    FreeParameter("gain", planners.ARM_POTENTIAL.gain, (0.05, 0.15), "lambda of (107)", "as in Table 13, or more"),
    FreeParameter("stiffness", arm.K_0, (25.0, 400.0), "K_P of (108) [1/s^2]", "critically damped"),
    FreeParameter("posture", 1.0, (0.3, 3.0), "K_p of (111), factor", "against gravity, up to 10 N m"),
    _SCALING,
    _K,
)


def table_10(*, seeds: int, count: int, data: str | None, **given: Any) -> dict[str, Array]:
    """Return mean distances [m] and median jerks [m/s^3] of Tables 10 and 11, one for each set of reaches.

    Parameters
    ----------
    seeds, count : int
        Number of sets of synthetic reaches, and of reaches in each; recordings are one set, whose results repeat.
    data : str or None
        Folder of the recordings.
    source, cut, learned, splines, ends, pairing, duration, shown, scaling, K, overlap, fit
        See `REACHES`.
    """
    s = chosen(REACHES, given)
    found: list[list[float]] = []
    for seed in range(seeds if data is None or s.source in (_SOURCE, "daily living") else 1):
        cut = _reaches(s.source, seed, count, data)
        if s.cut != THRESHOLD:
            cut = cut.cut_at(s.cut)
        rows: list[tuple[float, ...]] = []
        for fold in cut.folds():
            training = MotionSet(reach.trial for reach in cut.items) if s.learned == "the same" else fold.training
            plan = Functional(_components(s.learned, s.splines, seed, training), "paper")
            dmp = _dmp(s.scaling, s.K, s.overlap, s.regression).fit(_demonstration(training, s.shown))
            for reach in (cut.items[k] for k in fold.held_out):
                known = reach.ends(s.ends)
                motion = dmp.rollout(known.x[0], known.x[1], known.duration, start_velocity=known.v[0])
                motions, slow = (plan(known), motion), (known.duration / s.duration) ** 3
                distances = (rms_distance(reach, each, s.pairing) for each in motions)
                rows.append((*distances, *(slow * mean_jerk(each) for each in (reach, *motions))))
        x = np.array(rows)
        found.append([*x[:, :2].mean(axis=0), *np.median(x[:, 2:], axis=0)])
    return {name: np.resize(values, seeds) for name, values in zip(_TABLE_10, np.transpose(found), strict=True)}


def _components(learned: str, splines: int, seed: int, training: MotionSet) -> FPCA:
    """Return the components of reaches, of whole activities, or those that span the quintics with constants."""
    if learned == "quintics":
        tau = np.linspace(-1.0, 1.0, 201)
        rows = [np.polynomial.legendre.Legendre.basis(k)(tau) for k in range(1, 6)]
        return FPCA.from_components(np.repeat(np.array(rows)[:, :, None], 3, axis=2))
    if learned == "whole activities":
        return _activities(splines, seed)
    return FPCA(basis=SplineBasis(splines, degree=4), smoothing=None, joint=False, alignment="none", shrinkage=0.0).fit(
        training
    )


@lru_cache(maxsize=32)
def _activities(splines: int, seed: int) -> FPCA:
    return _components("", splines, seed, _recordings(90, seed).map(lambda trial: trial.select(("x", "y", "z"))))


_TABLE_10 = {
    "fPC, distance [m]": TABLE_10["paper mode"][0],
    "DMP, distance [m]": TABLE_10["DMP mollifier"][0],
    "reach, jerk [m/s^3]": TABLE_11["reach"],
    "fPC, jerk [m/s^3]": TABLE_11["paper mode"],
    "DMP, jerk [m/s^3]": TABLE_11["DMP mollifier"],
}


@lru_cache(maxsize=16)
def _reaches(source: str, seed: int, count: int, data: str | None) -> Reaches:
    if source == _SOURCE:
        return reaches.synthetic_reaches(count, 3, seed)
    if source == "kinesis":
        return reaches.kinesis_reaches(Path(data or "") / "kinesis_rtg" / "rtgData.txt")
    daily = source == "daily living"
    found = reaches.daily_reaches(3, seed) if daily else reaches.culm_reaches(Path(data or "") / "culm")
    return found.thinned(3 if daily else 10, max(1, len(found) // count))


def _demonstration(motions: MotionSet, shown: str) -> Trial:
    if shown == "typical":
        return reaches.demonstration(motions)
    lengths = [np.linalg.norm(trial.x[-1] - trial.x[0]) for trial in motions]
    chosen: Trial = motions[int(np.argmax(lengths)) if shown == "longest" else 0]
    return chosen


def _dmp(scaling: str, K: float, overlap: float, regression: str = "ls") -> DMP:
    """Return a primitive of 21 mollifiers."""
    form = {"scaling": "paper"} if scaling == "(104)" else {"scaling": "hoffmann", "rotodilatation": True}
    options: dict[str, Any] = {**form, "K": K, "overlap": overlap, "alpha": 4.0, "regression": regression}
    return DMP(21, basis="mollifier", **options)


def table_12(*, trials: int, settings: int, **given: Any) -> dict[str, float]:
    """Return mean errors [m] of Table 12 and median jerks [m/s^3] of Table 13 in every scenario.

    Parameters
    ----------
    trials, settings : int
        Number of motions to learn from, and of random settings of every scenario.
    reach, size, duration, margin, draw, gain, beta, scaling, K, overlap
        See `OBSTACLES`.
    """
    s = chosen(OBSTACLES, given)
    learned = _learned(trials, s.draw)
    planner, via = learned.paper, ViaSearch.paper()
    dmp = _dmp(s.scaling, s.K, s.overlap).fit(learned.longest)
    potential = DynamicPotential(gain=s.gain, beta=s.beta)
    found: dict[str, float] = {}
    for family in FAMILIES:
        rows = []
        for number in range(settings):
            scene = _scaled(scenario(family, number), s.reach / _MEAN_REACH, s.size)
            inflated = [Sphere(sphere.center, sphere.radius + s.margin) for sphere in scene.spheres]
            motion = dmp.rollout(scene.start, scene.goal, s.duration, obstacles=inflated, potential=potential)
            jerk = _jerk_around(planner, via, scene, s.duration, s.margin)
            rows.append((motion.end_error, jerk, motion.mean_jerk()))
        error, fpc, primitive = np.array(rows).T
        found[f"DMP, error, scenario {family} [m]"] = float(np.mean(error))
        for name, jerk in (("fPC", fpc), ("DMP", primitive)):
            found[f"{name}, jerk, scenario {family} [m/s^3]"] = finite_median(jerk)
    return found


_TABLE_12 = {
    name: value
    for k, family in enumerate(FAMILIES)
    for name, value in (
        (f"DMP, error, scenario {family} [m]", TABLE_12["DMP mollifier"][k][0]),
        (f"fPC, jerk, scenario {family} [m/s^3]", TABLE_13["paper mode"][k]),
        (f"DMP, jerk, scenario {family} [m/s^3]", TABLE_13["DMP mollifier"][k]),
    )
}


@lru_cache(maxsize=8)
def _learned(trials: int, draw: int, names: tuple[str, ...] = planners.POSITIONS) -> Learned:
    return Learned(_recordings(trials, draw), names)


@lru_cache(maxsize=8)
def _recordings(trials: int, draw: int) -> MotionSet:
    """Return synthetic motions of daily living, of one subject for each thirty."""
    return daily_living(trials, draw, n_subjects=max(1, trials // 30))


def _scaled(scene: Scenario, scale: float, size: float) -> Scenario:
    """Return a setting of another size, with the radii of its spheres multiplied by `size` as well."""
    spheres = tuple(Sphere(scale * np.asarray(one.center), scale * size * one.radius) for one in scene.spheres)
    return replace(scene, start=scale * scene.start, goal=scale * scene.goal, spheres=spheres)


def _jerk_around(planner: HumanLikePlanner, via: ViaSearch, scene: Scenario, duration: float, margin: float) -> float:
    try:
        plan: Motion = planner.plan(scene.start, scene.goal, duration, obstacles=scene.spheres, margin=margin, via=via)
    except NoPathError:
        return float("nan")
    return mean_jerk(plan)


def table_14(*, trials: int, names: tuple[str, ...], kinds: tuple[str, ...], **given: Any) -> dict[str, float]:
    """Return the median jerks of Tables 14 and 15 and the final error of the primitive [m].

    Parameters
    ----------
    trials : int
        Number of motions to learn from.
    names, kinds : tuple of str
        Tasks and sets of obstacles.
    duration, clearance, draw, gain, stiffness, posture, scaling, K
        See `ARM`.
    """
    s = chosen(ARM, given)
    robot = _arm()
    learned, potential = _learned(trials, s.draw, planners.POSES), DynamicPotential(gain=s.gain, beta=2.0)
    makers = planners.report_planners(learned, _dmp(s.scaling, s.K, 1.0), potential)
    plans: dict[str, list[tuple[float, ...]]] = {name: [] for name in makers}
    errors = []
    for scene in _scenes(names, kinds):
        scene = replace(scene, duration=s.duration, margin=s.clearance)
        for name, maker in makers.items():
            try:
                plan = maker(scene)
            except NoPathError:
                continue
            controller = arm.arm_controller(robot, scene, s.stiffness, s.posture)
            run = arm.follow(robot, scene, plan, controller)
            plans[name].append((*plan.jerk, *run.jerk))
            if name == "DMP":
                errors.append(run.final_error[0])
    found = {"DMP, final error [m]": float(np.median(errors))}
    for name, rows in plans.items():
        medians = np.median(np.array(rows), axis=0)
        found |= {f"{name}, {what}": float(value) for what, value in zip(_KINDS, medians, strict=True)}
    return found


_KINDS = (
    "plan, translation [m/s^3]",
    "plan, orientation [rad/s^3]",
    "arm, translation [m/s^3]",
    "arm, orientation [rad/s^3]",
    "arm, joints [rad/s^3]",
)
_TABLE_14 = {"DMP, final error [m]": arm.DMP_FINAL_ERROR} | {
    f"{name}, {what}": value
    for name, row in (("fPC", "paper mode"), ("DMP", "DMP mollifier"))
    for what, value in zip(_KINDS, (*arm.TABLE_14[row], *arm.TABLE_15[row]), strict=True)
}


@lru_cache(maxsize=1)
def _arm() -> Robot:
    return Robot.load("human_arm")


@lru_cache(maxsize=4)
def _scenes(names: tuple[str, ...], kinds: tuple[str, ...]) -> list[tasks.Scene]:
    return tasks.scenes(_arm(), names, kinds)


def run(
    quick: bool = False,
    data: str | Path | None = None,
    *,
    seeds: int | None = None,
    workers: Workers = 1,
    search: bool = True,
) -> Judgments:
    """Run the experiment of the registry: Tables 10 and 11 ("reaches"), 12 and 13 ("obstacles"), 14 and 15 ("arm").

    Parameters
    ----------
    quick : bool
        Few reaches, settings and scenes, over one or two quantities of each table.
    data : path-like, optional
        Folder with recordings, as in `papers.human_like.real.run`: further reaches of Tables 10 and 11.
    seeds : int, optional
        Number of sets of synthetic reaches of Tables 10 and 11, and of settings of every scenario of Tables 12 and 13.
    workers : Workers
        Where the runs are made, see `run_tasks`.
    search : bool
        If False, only the nominal choice and each value alone are tried.
    """
    drawn, settings = ((1, 2) if quick else (4, 6)) if seeds is None else (seeds, seeds)
    trials, folder = 15 if quick else TRIALS, None if data is None else str(data)
    swept = (replace(REACHES[0], values=(*REACHES[0].values, *_recorded(folder))), *REACHES[1:])
    scenes: dict[str, Any] = {"names": ("hitchhiking", "stop gesture", "self-feeding"), "kinds": ("none", "both")}
    if quick:
        scenes = {"names": ("hitchhiking",), "kinds": ("none",)}
    near = partial(table_10, seeds=drawn, count=9 if quick else 30, data=folder)
    free = partial(table_12, trials=trials, settings=settings)
    real = partial(table_14, trials=trials, **scenes)
    # by part: numbers of the tables, function, quantities, printed values, orders, budget, quantities of the short form
    parts: dict[str, tuple[Any, ...]] = {
        "reaches": ("10 and 11", near, swept, _TABLE_10, _ORDERS_10, 100, ("source", "duration")),
        "obstacles": ("12 and 13", free, OBSTACLES, _TABLE_12, _ORDERS_12, 60, ("reach", "scaling")),
        "arm": ("14 and 15", real, ARM, _TABLE_14, _ORDERS_14, 40, ("scaling",)),
    }
    found = {}
    for name, (numbers, function, quantities, printed, orders, budget, few) in parts.items():
        some = [each for each in quantities if not quick or each.name in few]
        options: dict[str, Any] = {"orders": orders, "workers": workers, "progress": not quick}
        tries = budget if search and not quick else 0
        found[name] = judge(f"D4.2, Tables {numbers}", function, some, printed, budget=tries, **options)
    return Judgments(found, _SHOWN)


_DISTANCES, _JERKS = list(_TABLE_10)[:2], list(_TABLE_10)[2:]
_ORDERS_10 = [_DISTANCES, _JERKS]
_ORDERS_12 = [
    [f"DMP, error, scenario {family} [m]" for family in FAMILIES],
    *([f"{name}, jerk, scenario {family} [m/s^3]" for name in ("fPC", "DMP")] for family in FAMILIES),
]
_ORDERS_14 = [[f"{name}, {what}" for name in ("fPC", "DMP")] for what in _KINDS]


_SHOWN = (
    ("reaches", "fPC, distance [m]", "cut"),
    ("reaches", "DMP, distance [m]", "source"),
    ("reaches", "DMP, jerk [m/s^3]", "duration"),
    ("obstacles", "fPC, jerk, scenario 1 [m/s^3]", "reach"),
    ("obstacles", "DMP, jerk, scenario 1 [m/s^3]", "scaling"),
    ("arm", "DMP, plan, translation [m/s^3]", "K"),
)


def _recorded(data: str | None) -> tuple[str, ...]:
    files = {"CULM": "culm", "kinesis": "kinesis_rtg/rtgData.txt"}
    return () if data is None else tuple(name for name, file in files.items() if (Path(data) / file).exists())
