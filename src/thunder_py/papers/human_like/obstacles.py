"""D4.2, Tables 12 and 13, Figures 31 and 32: planners and movement primitives among spherical obstacles."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import lru_cache, partial
from time import perf_counter
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from ...checks import Array
from ...errors import NoPathError
from ...geometry import Sphere
from ...motion.constraint import KINDS, Constraint
from ...motion.planning.obstacles import ViaSearch, clearance
from ...motion.planning.plan import HumanLikePlan
from ...motion.primitives.dmp import DMP, DMPMotion
from ...motion.primitives.dynamic_potential import DynamicPotential
from ...motion.primitives.promp import ProMP
from ...parallel import Workers, map_seeds
from ...recordings import MotionSet
from ...recordings.metrics import Motion, mean_jerk, path_length
from ...recordings.statistics import cliffs_delta, mannwhitneyu, wilcoxon
from ...trajectory.hermite import minimum_jerk
from ..results import drawing, finite_median
from ..tables import markdown
from .planners import DIFFERENCES, VIA, Learned, around, as_path, default_recordings
from .scenarios import DURATION, FAMILIES, MARGIN, Scenario, families_table, scenario, scenarios

Method: TypeAlias = Callable[[Scenario], Motion]

#: method -> description
NOTES: dict[str, str] = {
    "paper mode": "the square system (102), 1000 uniform via points, passed with (goal - start)/T and no acceleration",
    "MAP": "the most likely motion, 1000 low-discrepancy via points, up to two, in the state of least jerk",
    "minimum jerk, via": "quintics through via points, searched as for MAP",
    "minimum jerk": "the straight quintic, which ignores obstacles",
    "DMP mollifier": "21 mollifiers, Hoffmann's scaling with rotodilatation, dynamic potential (107)",
    "DMP Gaussian": "the same with 21 Gaussians",
    "DMP (104)": "21 mollifiers and (104) as printed: every coordinate is scaled by its own g - y0",
    "ProMP": "conditioned on the ends, ignores obstacles",
    "ProMP, via": "also conditioned on the via point of MAP; its clearance is not checked",
    "(102), via as MAP": "paper mode's system with MAP's search",
    "MAP, via as paper": "MAP's motions with paper mode's search",
}
METHODS = tuple(NOTES)
#: methods that avoid obstacles; the others ignore them
AVOIDING = tuple(name for name in METHODS if name not in ("minimum jerk", "ProMP"))

#: The report prints no numbers. beta is the least without jumps of the force; the gain is the least one of `GAINS`, of
#: human_like_gains, with which neither basis comes within the margin in any of 80 other settings. Jerk was not asked.
POTENTIAL = DynamicPotential(gain=0.15, beta=2.0)


class Attempt(NamedTuple):
    """Result of one method in one setting; without a path all numbers except the time are NaN.

    Attributes
    ----------
    error : float
        Distance from the goal at T [m].
    jerk : float
        Mean of the norm of the jerk over time [m/s^3].
    clearance : float
        Least distance from the spheres' surfaces [m], proved for polynomials; other motions are approximated by
        quintics within 1e-7 m.
    length : float
        Length of the path [m].
    seconds : float
        Wall time of the call from Python, once; not a benchmark.
    """

    error: float
    jerk: float
    clearance: float
    length: float
    seconds: float

    @property
    def found(self) -> bool:
        """True if there is a path."""
        return bool(np.isfinite(self.jerk))


@lru_cache(maxsize=8)
def methods(learned: Learned) -> dict[str, Method]:
    """Return the trained methods by name."""
    best, paper = VIA, ViaSearch.paper()
    return {
        "paper mode": partial(around, learned.paper, paper),
        "MAP": partial(around, learned.map, best),
        "minimum jerk, via": partial(around, learned.minimum_jerk, best),
        "minimum jerk": lambda scene: minimum_jerk(scene.start, scene.goal, scene.duration),
        "DMP mollifier": partial(primitive, learned.dmp("mollifier"), POTENTIAL),
        "DMP Gaussian": partial(primitive, learned.dmp("gaussian"), POTENTIAL),
        "DMP (104)": partial(primitive, learned.dmp("mollifier", "paper"), POTENTIAL),
        "ProMP": lambda scene: learned.promp.plan(scene.start, scene.goal, scene.duration),
        "ProMP, via": partial(_through, learned.promp, partial(around, learned.map, best)),
        "(102), via as MAP": partial(around, learned.paper, best),
        "MAP, via as paper": partial(around, learned.map, paper),
    }


def attempt(method: Method, scene: Scenario) -> tuple[Attempt, Motion | None]:
    """Apply a method in a setting and measure the motion."""
    begin = perf_counter()
    try:
        motion = method(scene)
    except NoPathError:
        return Attempt(np.nan, np.nan, np.nan, np.nan, perf_counter() - begin), None
    seconds = perf_counter() - begin
    path = motion.path if isinstance(motion, HumanLikePlan) else as_path(motion)
    error, room = motion.position(scene.duration) - scene.goal, clearance(path, scene.spheres).lower_bound
    return Attempt(float(np.linalg.norm(error)), mean_jerk(motion), room, path_length(motion), seconds), motion


def primitive(dmp: DMP, potential: DynamicPotential, scene: Scenario) -> DMPMotion:
    """Roll out a movement primitive among spheres with the margin around them."""
    inflated = [Sphere(sphere.center, sphere.radius + scene.margin) for sphere in scene.spheres]
    return dmp.rollout(scene.start, scene.goal, scene.duration, obstacles=inflated, potential=potential)


def _through(promp: ProMP, guide: Callable[[Scenario], HumanLikePlan], scene: Scenario) -> Motion:
    """Condition on rest at both ends, and on the via points of another planner."""
    plan = guide(scene)
    known = [Constraint(0.0, "position", scene.start), Constraint(scene.duration, "position", scene.goal)]
    known += [Constraint(t, kind) for t in (0.0, scene.duration) for kind in KINDS[1:3]]
    known += [Constraint(t, "position", point) for t, point in zip(plan.via_times, plan.via_points, strict=True)]
    return promp.condition(known, scene.duration).rollout(scene.duration)


GAINS = (0.0, 0.02, 0.05, 0.15, 0.5, 1.5, 5.0)
#: seed of settings that are in no table
_SEED = 1
_BASES = {"DMP mollifier": "mollifier", "DMP Gaussian": "gaussian"}


def compare_gains(
    learned: Learned, count: int = 20, gains: tuple[float, ...] = GAINS, *, workers: Workers = 1
) -> dict[str, Array]:
    """Roll movement primitives out with several gains (0: without obstacles), in `count` settings of every family.

    Returns
    -------
    dict of str to (gains, 3) array
        By method: share of settings within the margin, mean error at T [m], median of the mean jerk [m/s^3].
    """
    work = partial(_at_gains, [learned.dmp(basis) for basis in _BASES.values()], gains)
    rows = np.concatenate(map_seeds(work, count, workers=workers, description="gains"), axis=1)
    error, jerk, room = np.moveaxis(rows, -1, 0)
    values = np.stack([(room < 0.0).mean(axis=1), error.mean(axis=1), np.median(jerk, axis=1)], axis=-1)
    return dict(zip(_BASES, values, strict=True))


def _at_gains(dmps: list[DMP], gains: tuple[float, ...], number: int) -> Array:
    """Return errors, jerks and room, (primitives, families, gains, 3)."""
    scenes = [scenario(family, number, _SEED) for family in FAMILIES]
    return np.array([[[_measured(dmp, gain, scene) for gain in gains] for scene in scenes] for dmp in dmps])


def _measured(dmp: DMP, gain: float, scene: Scenario) -> tuple[float, float, float]:
    if gain > 0.0:
        motion = primitive(dmp, DynamicPotential(gain=gain, beta=2.0), scene)
    else:
        motion = dmp.rollout(scene.start, scene.goal, scene.duration)
    return motion.end_error, motion.mean_jerk(), float(scene.distance(motion.x).min()) - scene.margin


#: mean and standard deviation of the error at T, scenarios 1 to 4 [m]
TABLE_12: dict[str, tuple[tuple[float, float], ...]] = {
    "paper mode": ((2.12e-14, 2.02e-14), (1.87e-14, 1.75e-14), (1.87e-14, 1.71e-14), (2.06e-14, 1.98e-14)),
    "DMP mollifier": ((3.24e-2, 5.42e-2), (0.80e-2, 1.25e-2), (1.84e-2, 3.24e-2), (2.30e-2, 4.56e-2)),
}
#: median of the mean jerk, scenarios 1 to 4 [m/s^3]
TABLE_13: dict[str, tuple[float, ...]] = {
    "paper mode": (0.22, 0.21, 0.22, 0.26),
    "DMP mollifier": (1.19, 1.59, 1.31, 1.28),
}
_COMPARED = (
    ("paper mode", "DMP mollifier"),
    ("paper mode", "DMP Gaussian"),
    ("MAP", "paper mode"),
    ("MAP", "minimum jerk, via"),
)
#: tolerance of the proofs [m]
_ROUNDING = 1e-8


@dataclass(frozen=True, kw_only=True, eq=False)
class HumanLikeObstacles:
    """Results of the experiment.

    Attributes
    ----------
    scenes : dict of int to list of Scenario
        Settings by family.
    attempts : dict of (str, int) to list of Attempt
        By method and family, in the order of the scenes.
    example : (Scenario, dict of str to motion)
        One setting of the last family, and the motions of the methods in it.
    gains : dict of str to (gains, 3) array or None
        Effect of the potential's gain, see `compare_gains`.
    """

    scenes: dict[int, list[Scenario]]
    attempts: dict[tuple[str, int], list[Attempt]]
    example: tuple[Scenario, dict[str, Motion]]
    gains: dict[str, Array] | None = None

    def values(self, method: str, family: int | None = None) -> Array:
        """Return error, jerk, clearance, length, seconds in each setting of a family or of all; NaN without a path."""
        families = self.scenes if family is None else (family,)
        rows = [one for each in families for one in self.attempts[method, each]]
        return np.array(rows, dtype=np.float64).reshape(-1, 5)

    def table(self) -> str:
        """Return Tables 12 and 13 with the report's numbers beside ours, who keeps clear, and tests."""
        n = len(next(iter(self.scenes.values())))
        notes = "\n".join(f"- {name}: {NOTES[name]}" for name in METHODS)
        parts = [
            families_table(),
            f"Methods, {n} settings of every scenario\n\n{notes}",
            "Table 12: distance from the goal at T [m], mean and standard deviation\n\n"
            + self._by_scenario({x: [_spread(*p) for p in pairs] for x, pairs in TABLE_12.items()}, 0, _mean_spread),
            f"Table 13: median of the mean jerk, T = {DURATION:g} s [m/s^3]\n\n"
            + self._by_scenario(TABLE_13, 1, finite_median),
            f"All scenarios together\n\n{self._avoidance()}",
            f"Mean jerk compared, setting by setting\n\n{self._tests()}",
        ]
        if self.gains is not None:
            label = f"Gain of the potential; {POTENTIAL.gain:g} is in use, beta = {POTENTIAL.beta:g}; other settings"
            header = ["gain"]
            for name in self.gains:
                header += [f"{name}: within the margin", "error, mean [m]", "jerk, median [m/s^3]"]
            numbers = np.hstack([np.array(GAINS)[:, None], *self.gains.values()])
            parts.append(f"{label}\n\n{markdown(header, numbers.tolist())}")
        return "\n\n".join([*parts, DIFFERENCES])

    def to_dict(self) -> dict[str, Any]:
        """Return Tables 12 and 13, and every attempt by method and scenario, in SI units."""
        attempts = [
            {"method": name, "scenario": family, "attempts": [one._asdict() for one in found]}
            for (name, family), found in self.attempts.items()
        ]
        gains = None if self.gains is None else {"gains": GAINS, "within_error_jerk": self.gains}
        return {"table_12_m": TABLE_12, "table_13_m_s3": TABLE_13, "attempts": attempts, "gains": gains}

    plot = drawing("plot_human_like_obstacles")

    def _by_scenario(
        self, printed: Mapping[str, Iterable[object]], column: int, cell: Callable[[Array], object]
    ) -> str:
        rows = [[f"report: {'fPC' if name == 'paper mode' else 'DMP'}", *values] for name, values in printed.items()]
        rows += [[name, *(cell(self.values(name, k)[:, column]) for k in self.scenes)] for name in METHODS]
        return markdown(["", *(f"scenario {k}" for k in FAMILIES)], rows)

    def _avoidance(self) -> str:
        straight = np.array([scene.length for scenes in self.scenes.values() for scene in scenes])
        rows: list[list[object]] = []
        for name in METHODS:
            _, jerk, room, length, seconds = self.values(name).T
            path, time, room = finite_median(length / straight), 1e3 * finite_median(seconds), room[np.isfinite(jerk)]
            shares = [_percent(flags) for flags in (np.isnan(jerk), room < MARGIN - _ROUNDING, room < 0.0)]
            goes = "yes" if name in AVOIDING else "no"
            rows.append([name, goes, *shares, float(room.min(initial=np.inf)), path, time])
        header = ["", "goes round", "no path [%]", "within the margin [%]", "in a sphere [%]", "least distance [m]"]
        return markdown([*header, "path / straight, median", "call from Python, median [ms]"], rows)

    def _tests(self) -> str:
        rows: list[list[object]] = []
        for one, other in _COMPARED:
            for family in self.scenes:
                pair = np.array([self.values(name, family)[:, 1] for name in (one, other)])
                a, b = pair[:, np.isfinite(pair).all(axis=0)]
                effect = cliffs_delta(a, b, n_resamples=500)
                interval = f"{effect.statistic:.2f} [{effect.low:.2f}, {effect.high:.2f}]"
                tests = (f"{test(a, b).pvalue:.1g}" for test in (mannwhitneyu, wilcoxon))
                rows.append([f"{one} / {other}", family, len(a), float(np.median(a / b)), *tests, interval])
        header = ["", "scenario", "n", "median ratio", "p, rank sum", "p, signed rank", "Cliff's delta, 95 %"]
        return markdown(header, rows)


def _spread(mean: float, deviation: float) -> str:
    return f"{mean:.3g} ± {deviation:.2g}"


def _mean_spread(values: Array) -> str:
    known = values[np.isfinite(values)]
    return _spread(known.mean(), known.std(ddof=1)) if len(known) > 1 else _spread(np.nan, np.nan)


def _percent(flags: Array) -> float:
    return 100.0 * float(np.mean(flags)) if flags.size else float("nan")


def run_human_like_obstacles(
    count: int, recordings: MotionSet, *, sweep: int = 0, workers: Workers = 1, progress: bool = False
) -> HumanLikeObstacles:
    """Apply the methods in random settings of every family.

    Parameters
    ----------
    count : int
        Number of settings of every family.
    recordings : MotionSet
        Training data: poses of hands, degrees of freedom x, y, z, rx, ry, rz.
    sweep : int
        Number of settings of every family in which gains of the potential are compared; 0 for none.
    workers : Workers
        Where the runs are made, see `run_tasks`.
    progress : bool
        Show a progress bar.
    """
    learned = Learned(recordings)
    work = partial(_attempts_in_setting, learned)
    rows = map_seeds(work, count, workers=workers, progress=progress, description="obstacles")
    scenes = {family: scenarios(family, count) for family in FAMILIES}
    attempts = {(name, family): [row[name, family] for row in rows] for name in METHODS for family in FAMILIES}
    example = scenes[max(scenes)][0]
    motions = {name: attempt(method, example)[1] for name, method in methods(learned).items()}
    return HumanLikeObstacles(
        scenes=scenes,
        attempts=attempts,
        example=(example, {name: motion for name, motion in motions.items() if motion is not None}),
        gains=compare_gains(learned, sweep, workers=workers) if sweep else None,
    )


def _attempts_in_setting(learned: Learned, number: int) -> dict[tuple[str, int], Attempt]:
    scenes = {family: scenario(family, number) for family in FAMILIES}
    every = methods(learned).items()
    return {(name, family): attempt(method, x)[0] for name, method in every for family, x in scenes.items()}


def run(quick: bool = False, *, seeds: int | None = None, workers: Workers = 1) -> HumanLikeObstacles:
    """Run the experiment of the registry; `seeds` random settings of every family."""
    count, sweep = (8, 0) if quick else (150, 20)
    options: dict[str, Any] = {"sweep": sweep, "workers": workers, "progress": not quick}
    return run_human_like_obstacles(count if seeds is None else seeds, default_recordings(quick), **options)
