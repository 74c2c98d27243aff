"""D4.2, section 5.3.1, Figure 30: effect of the number of candidate via points on time, failures and jerk."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import lru_cache, partial
from time import perf_counter_ns
from typing import Any

import numpy as np
import numpy.typing as npt

from ... import _core
from ...checks import Array
from ...motion.planning.obstacles import ViaSearch, obstacle_set
from ...parallel import Workers, map_seeds
from ...recordings import MotionSet
from ...recordings.statistics import friedmanchisquare, kruskal
from ..results import drawing
from ..tables import markdown
from .planners import VIA, Learned, default_recordings
from .scenarios import FAMILIES, families_table, scenario

COUNTS = (10, 30, 100, 300, 1000, 3000, 10_000)
#: number of samples -> mean time [s], failure rate over all scenarios, from the text of section 5.3.1
FIGURE_30: dict[int, tuple[float, float]] = {10: (0.848e-3, 0.8e-2), 1000: (6.88e-3, 0.2e-2), 10_000: (46e-3, 0.18e-2)}
SEARCHES = ("paper mode", "MAP")
#: number of seeds of the candidates, used in turn: otherwise ten candidates would always be the same ten
_SEEDS = 10
#: Gauss-Legendre quadrature of the norm of the jerk, of each polynomial
_NODES, _WEIGHTS = np.polynomial.legendre.leggauss(12)


@dataclass(frozen=True, kw_only=True, eq=False)
class Samples:
    """Results of one search in the settings of one family.

    Attributes
    ----------
    counts : tuple of int
        Numbers of candidates.
    seconds : (counts, n) array
        Wall time of a call [s].
    jerk : (counts, n) array
        Mean jerk [m/s^3], NaN without a path.
    tried : (counts, n) array of int
        Number of candidates checked.
    """

    counts: tuple[int, ...]
    seconds: Array
    jerk: Array
    tried: npt.NDArray[np.int64]

    @property
    def failures(self) -> Array:
        """Fraction of the settings without a path, by count."""
        return np.asarray(np.mean(np.isnan(self.jerk), axis=1))

    @property
    def solved(self) -> Array:
        """Mean jerk in the settings with a path for every count, (counts, k)."""
        return np.asarray(self.jerk[:, np.isfinite(self.jerk).all(axis=0)])


@dataclass(frozen=True, kw_only=True, eq=False)
class HumanLikeSampling:
    """Results of the experiment.

    Attributes
    ----------
    counts : tuple of int
        Numbers of candidates.
    samples : dict of (str, int) to Samples
        By search and family.
    """

    counts: tuple[int, ...]
    samples: dict[tuple[str, int], Samples]

    @property
    def searches(self) -> tuple[str, ...]:
        """Names of the searches."""
        return tuple(dict.fromkeys(name for name, _ in self.samples))

    @property
    def families(self) -> tuple[int, ...]:
        """Numbers of the scenarios."""
        return tuple(dict.fromkeys(family for _, family in self.samples))

    def table(self) -> str:
        """Return times, failures and jerk by number of samples, the report's and ours, and the tests."""
        n = next(iter(self.samples.values())).jerk.shape[1]
        parts = [f"{name}, {n} settings of every scenario\n\n{self._numbers(name)}" for name in self.searches]
        tests = f"Does the number change the mean jerk? p-values\n\n{self._tests()}"
        return "\n\n".join([families_table(), *parts, tests, _NOTES.format(bound=300.0 / n)])

    def to_dict(self) -> dict[str, Any]:
        """Return the report's numbers, and those of every search and scenario by number of candidates."""
        samples = [
            {"search": name, "scenario": family, "median_seconds": np.median(one.seconds, axis=1)}
            | {"failure_rate": one.failures, "median_checked": np.median(one.tried, axis=1), "mean_jerk_m_s3": one.jerk}
            for (name, family), one in self.samples.items()
        ]
        report = {count: {"seconds": x[0], "failure_rate": x[1]} for count, x in FIGURE_30.items()}
        return {"candidates": self.counts, "report": report, "samples": samples}

    plot = drawing("plot_human_like_sampling")

    def _numbers(self, name: str) -> str:
        every = [self.samples[name, family] for family in self.families]
        rows: list[list[object]] = []
        for k, count in enumerate(self.counts):
            report = [scale * x for scale, x in zip((1e3, 100.0), FIGURE_30.get(count, (np.nan, np.nan)), strict=True)]
            seconds = 1e3 * np.concatenate([one.seconds[k] for one in every])
            failures = [100.0 * float(one.failures[k]) for one in every]
            times = map(float, (seconds.mean(), np.median(seconds), np.quantile(seconds, 0.99)))
            checked = float(np.median(np.concatenate([one.tried[k] for one in every])))
            shares = "  ".join(f"{x:.3g}" for x in failures)
            jerks = "  ".join(f"{np.nanmedian(one.jerk[k]):.3f}" for one in every)
            rows.append([count, report[0], *times, checked, report[1], float(np.mean(failures)), shares, jerks])
        header = ["samples", "report [ms]", "mean [ms]", "median [ms]", "99 % [ms]", "checked, median"]
        header += ["report: no path [%]", "no path [%]", "by scenario [%]", "mean jerk by scenario, median [m/s^3]"]
        return markdown(header, rows)

    def _tests(self) -> str:
        rows: list[list[object]] = []
        for name, family in ((name, family) for name in self.searches for family in self.families):
            one = self.samples[name, family]
            every, solved = [row[np.isfinite(row)] for row in one.jerk], one.solved
            cells: list[object] = ["", "", ""]
            if min(map(len, every)) and solved.shape[1] > 1 and len(solved) > 2:
                p = (kruskal(*every).pvalue, friedmanchisquare(*solved).pvalue)
                texts = (f"{x:.2g}" if x > 0.0 else "< 1e-300" for x in p)
                cells = [*texts, float(np.median(solved[-1] / solved[0]))]
            rows.append([name, family, solved.shape[1], *cells])
        header = ["", "scenario", "solved with every number", "Kruskal-Wallis", "Friedman"]
        return markdown([*header, f"jerk, {self.counts[-1]} / {self.counts[0]} samples, median"], rows)


_NOTES = """\
- Times are wall times of single calls into C++ from Python, one thread, on a machine with other load: they are printed
  for comparison and nothing rests on them. The report's are of MATLAB R2020b on another machine.
- Ours tries candidates in the order of their length and stops at the first with a path proved free: its time depends
  on the number checked, which is all of them only without a path. "By scenario" is 1 to 4.
- No failure in all settings of a scenario means a rate below {bound:.2g} % there (95 % confidence). Candidates are
  drawn from ten seeds in turn. MAP may chain two via points, so few candidates are enough for it.
- The report finds no effect of the number on jerk. Here there is one: with few candidates even the shortest detour is
  wide, and paper mode, with a velocity at the via point that does not depend on the detour, has more jerk for it. The
  effect on MAP is smaller; its shortest detour is not that of least jerk either. Kruskal-Wallis is the report's test,
  of all motions found, as if every number had its own settings. The settings are the same, so the right test is
  Friedman's, on those that every number solved. The report's settings are not known, so the difference is not
  explained."""


def run_human_like_sampling(
    count: int = 1000,
    seed: int = 0,
    counts: Iterable[int] = COUNTS,
    searches: Iterable[str] = SEARCHES,
    recordings: MotionSet | None = None,
    *,
    workers: Workers = 1,
    progress: bool = False,
) -> HumanLikeSampling:
    """Search for via points with several numbers of candidates in random settings of every family.

    Parameters
    ----------
    count : int
        Number of settings of every family.
    seed : int
        Seed of the settings.
    counts : iterable of int
        Numbers of candidates.
    searches : iterable of str
        ``"paper mode"``, ``"MAP"`` or both: the searches `ViaSearch.paper` and `ViaSearch`, with their planners.
    recordings : MotionSet, optional
        Training data, as for `run_human_like_obstacles`.
    workers : Workers
        Where the runs are made, see `run_tasks`.
    progress : bool
        Show a progress bar.
    """
    learned = Learned(default_recordings() if recordings is None else recordings)
    tried, names = tuple(counts), tuple(searches)
    work = partial(_search_in_setting, learned, names, tried, seed)
    rows = map_seeds(work, count, workers=workers, progress=progress, description="sampling")
    samples = {}
    for key in ((name, family) for family in FAMILIES for name in names):
        seconds, jerk, checked = np.array([row[key] for row in rows]).transpose(1, 2, 0)
        samples[key] = Samples(counts=tried, seconds=seconds, jerk=jerk, tried=checked.astype(np.int64))
    return HumanLikeSampling(counts=tried, samples=samples)


@lru_cache(maxsize=256)
def _search(learned: Learned, name: str, count: int, seed: int) -> Any:
    if name == "paper mode":
        return ViaSearch.paper(count, seed).core(learned.paper._core)
    return replace(VIA, count=count, seed=seed).core(learned.map._core)


def _search_in_setting(
    learned: Learned, names: tuple[str, ...], counts: tuple[int, ...], seed: int, number: int
) -> dict[tuple[str, int], Array]:
    """Return wall times [s], mean jerks [m/s^3] and checked candidates, (3, counts), by search and family."""
    found: dict[tuple[str, int], list[tuple[float, float, int]]] = {}
    for family in FAMILIES:
        scene = scenario(family, number, seed)
        obstacles = obstacle_set(scene.spheres)
        for name in names:
            rows = found[name, family] = []
            for count in counts:
                search = _search(learned, name, count, number % _SEEDS)
                begin = perf_counter_ns()
                plan = search.plan(scene.start, scene.goal, scene.duration, obstacles, scene.margin)
                seconds = 1e-9 * (perf_counter_ns() - begin)
                rows.append((seconds, _mean_jerk(plan[1]) if plan[0] in ("direct", "via") else np.nan, plan[5]))
    return {key: np.array(rows).T for key, rows in found.items()}


def _mean_jerk(path: _core.BezierPath) -> float:
    half = 0.5 * np.diff(path.breaks)[:, None]
    t, weights = path.breaks[:-1, None] + half * (1.0 + _NODES), half * _WEIGHTS
    norms = np.linalg.norm(path.sample(t.ravel(), 3), axis=1)
    return float(weights.ravel() @ norms) / (path.end - path.start)


def run(quick: bool = False, *, seeds: int | None = None, workers: Workers = 1) -> HumanLikeSampling:
    """Run the experiment of the registry; `seeds` random settings of every family."""
    count, counts = (25, (10, 100, 1000)) if quick else (1000, COUNTS)
    options: dict[str, Any] = {"recordings": default_recordings(quick=quick), "progress": not quick}
    return run_human_like_sampling(count if seeds is None else seeds, counts=counts, workers=workers, **options)
