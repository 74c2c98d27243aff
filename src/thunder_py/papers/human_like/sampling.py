"""D4.2, section 5.3.1 and Figure 30: how the number of via points tried tells on time, failures and jerk."""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import nullcontext
from dataclasses import dataclass
from time import perf_counter_ns
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt
from scipy import stats

from ... import _core
from ...checks import Array
from ...motion.planning.obstacles import ViaSearch, obstacle_set
from ...motion.planning.planner import HumanLikePlanner
from ...progress import progress_bar
from ...recordings import MotionSet
from ...recordings.statistics import kruskal_wallis
from ..tables import markdown
from .planners import Learned, default_recordings
from .scenarios import FAMILIES, Scenario, families_table, scenarios

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["COUNTS", "FIGURE_30", "HumanLikeSampling", "Samples", "run", "run_human_like_sampling"]

COUNTS = (10, 30, 100, 300, 1000, 3000, 10_000)
#: number of samples -> mean time [s], failure rate over all scenarios, as the text of section 5.3.1 has them
FIGURE_30: dict[int, tuple[float, float]] = {10: (0.848e-3, 0.8e-2), 1000: (6.88e-3, 0.2e-2), 10_000: (46e-3, 0.18e-2)}
SEARCHES = ("paper mode", "MAP")
#: candidates are drawn from so many seeds by turns, so that ten of them are not always the same ten
_SEEDS = 10
#: Gauss-Legendre quadrature of the norm of the jerk, of each polynomial
_NODES, _WEIGHTS = np.polynomial.legendre.leggauss(12)


@dataclass(frozen=True, kw_only=True, eq=False)
class Samples:
    """One search in the settings of one family.

    Attributes
    ----------
    counts : tuple of int
    seconds : (counts, n) array
        Of one call [s].
    jerk : (counts, n) array
        Mean jerk [m/s^3], NaN where there is no path.
    tried : (counts, n) array of int
        Candidates that were looked at.
    """

    counts: tuple[int, ...]
    seconds: Array
    jerk: Array
    tried: npt.NDArray[np.int64]

    @property
    def failures(self) -> Array:
        """Share of the settings without a path, by count."""
        return np.asarray(np.mean(np.isnan(self.jerk), axis=1))

    @property
    def solved(self) -> Array:
        """Mean jerk (counts, k) in the settings that every count has a path for."""
        return np.asarray(self.jerk[:, np.isfinite(self.jerk).all(axis=0)])


@dataclass(frozen=True, kw_only=True, eq=False)
class HumanLikeSampling:
    """What the experiment found.

    Attributes
    ----------
    counts : tuple of int
    samples : dict of (str, int) to Samples
        By search and family.
    """

    counts: tuple[int, ...]
    samples: dict[tuple[str, int], Samples]

    @property
    def searches(self) -> tuple[str, ...]:
        """Paper mode's and MAP's, as far as they were run."""
        return tuple(dict.fromkeys(name for name, _ in self.samples))

    @property
    def families(self) -> tuple[int, ...]:
        """Which scenarios there are."""
        return tuple(dict.fromkeys(family for _, family in self.samples))

    def table(self) -> str:
        """Return times, failures and jerk by number of samples, the report's beside ours, and the tests."""
        n = next(iter(self.samples.values())).jerk.shape[1]
        parts = [families_table()]
        for name in self.searches:
            parts.append(f"{name}, {n} settings of every scenario\n\n{self._numbers(name)}")
        parts.append(f"Does the number change the mean jerk? p-values\n\n{self._tests()}")
        return "\n\n".join([*parts, _NOTES.format(bound=300.0 / n)])

    def plot(self) -> Figure:
        """Draw Figure 30."""
        from .figure import plot_human_like_sampling

        return plot_human_like_sampling(self)

    def _numbers(self, name: str) -> str:
        every = [self.samples[name, family] for family in self.families]
        rows: list[list[object]] = []
        for k, count in enumerate(self.counts):
            printed = FIGURE_30.get(count, (float("nan"), float("nan")))
            seconds = np.concatenate([one.seconds[k] for one in every])
            failures = [100.0 * float(one.failures[k]) for one in every]
            rows.append(
                [
                    count,
                    1e3 * printed[0],
                    *(1e3 * float(x) for x in (seconds.mean(), np.median(seconds), np.quantile(seconds, 0.99))),
                    float(np.median(np.concatenate([one.tried[k] for one in every]))),
                    100.0 * printed[1],
                    float(np.mean(failures)),
                    "  ".join(f"{x:.3g}" for x in failures),
                    "  ".join(f"{np.nanmedian(one.jerk[k]):.3f}" for one in every),
                ]
            )
        header = ["samples", "report [ms]", "mean [ms]", "median [ms]", "99 % [ms]", "looked at, median"]
        header += ["report: no path [%]", "no path [%]", "by scenario [%]", "mean jerk by scenario, median [m/s^3]"]
        return markdown(header, rows)

    def _tests(self) -> str:
        rows: list[list[object]] = []
        for name in self.searches:
            for family in self.families:
                one = self.samples[name, family]
                every = [row[np.isfinite(row)] for row in one.jerk]
                solved = one.solved
                cells: list[object] = ["", "", ""]
                if min(map(len, every)) and solved.shape[1] > 1 and len(solved) > 2:
                    change = float(np.median(solved[-1] / solved[0]))
                    p = (kruskal_wallis(*every).p_value, float(stats.friedmanchisquare(*solved).pvalue))
                    cells = [*(f"{x:.2g}" if x > 0.0 else "< 1e-300" for x in p), change]
                rows.append([name, family, solved.shape[1], *cells])
        header = ["", "scenario", "solved with every number", "Kruskal-Wallis", "Friedman"]
        return markdown([*header, f"jerk, {self.counts[-1]} / {self.counts[0]} samples, median"], rows)


_NOTES = """\
- Times are of single calls into C++ from Python, one thread, by the wall clock of a machine that may do other things:
  they are printed for comparison and nothing rests on them. The report's are of MATLAB R2020b on another machine.
- Ours tries candidates in the order of their length and stops at the first whose path is proved free: its time depends
  on how many are looked at, and on all of them only where there is no path. "By scenario" is 1 to 4.
- No failure in all settings of a scenario means a rate below {bound:.2g} % there (95 % confidence). Candidates are
  drawn from ten seeds by turns. MAP may chain two via points, so that few candidates do for it.
- The report finds no effect of the number on jerk. Here there is one: of few candidates even the shortest detour is
  wide, and paper mode, whose velocity at the via point does not know the detour, pays for it. MAP does less so; its
  shortest detour is not that of least jerk either. Kruskal-Wallis is the report's test, of all motions found, as if
  every number had settings of its own; they are the same, so that Friedman's test, on those that every number solved,
  is the one that fits. Why the report sees none cannot be said without its settings."""


def run_human_like_sampling(
    count: int = 1000,
    seed: int = 0,
    counts: Iterable[int] = COUNTS,
    searches: Iterable[str] = SEARCHES,
    recordings: MotionSet | None = None,
    *,
    progress: bool = False,
) -> HumanLikeSampling:
    """Search for via points with several numbers of candidates in `count` settings of every family.

    Parameters
    ----------
    count, seed : int
        Of the settings.
    counts : iterable of int
        Numbers of candidates.
    searches : iterable of str
        ``"paper mode"``, ``"MAP"`` or both: what `ViaSearch.paper` and `ViaSearch` find, with their planners.
    recordings : MotionSet, optional
        As for `run_human_like_obstacles`.
    progress : bool
        Show a bar.
    """
    learned = Learned(default_recordings() if recordings is None else recordings)
    tried, samples = tuple(counts), {}
    names = tuple(searches)
    bar = progress_bar(len(names) * len(FAMILIES), desc="sampling") if progress else nullcontext(lambda _: None)
    with bar as report:
        for family in FAMILIES:
            settings = scenarios(family, count, seed)
            for name in names:
                samples[name, family] = _sample(*_planner(learned, name), settings, tried)
                report(len(samples) / (len(names) * len(FAMILIES)))
    return HumanLikeSampling(counts=tried, samples=samples)


def _planner(learned: Learned, name: str) -> tuple[HumanLikePlanner, type[ViaSearch] | None]:
    return (learned.paper, None) if name == "paper mode" else (learned.map, ViaSearch)


def _sample(
    planner: HumanLikePlanner, search: type[ViaSearch] | None, settings: list[Scenario], counts: tuple[int, ...]
) -> Samples:
    shape = (len(counts), len(settings))
    seconds, jerk, tried = np.empty(shape), np.full(shape, np.nan), np.zeros(shape, dtype=np.int64)
    obstacles = [obstacle_set(scene.spheres) for scene in settings]
    for k, count in enumerate(counts):
        made = [(search or ViaSearch.paper)(count, seed).core(planner._core) for seed in range(_SEEDS)]
        for j, scene in enumerate(settings):
            one = made[j % _SEEDS]
            begin = perf_counter_ns()
            found = one.plan(scene.start, scene.goal, scene.duration, obstacles[j], scene.margin)
            seconds[k, j] = 1e-9 * (perf_counter_ns() - begin)
            tried[k, j] = found[5]
            if found[0] in ("direct", "via"):
                jerk[k, j] = _mean_jerk(found[1])
    return Samples(counts=counts, seconds=seconds, jerk=jerk, tried=tried)


def _mean_jerk(path: _core.BezierPath) -> float:
    half = 0.5 * np.diff(path.breaks)[:, None]
    t, weights = path.breaks[:-1, None] + half * (1.0 + _NODES), half * _WEIGHTS
    norms = np.linalg.norm(path.sample(t.ravel(), 3), axis=1)
    return float(weights.ravel() @ norms) / (path.end - path.start)


def run(quick: bool = False) -> HumanLikeSampling:
    """Run the experiment."""
    if quick:
        return run_human_like_sampling(25, counts=(10, 100, 1000), recordings=default_recordings(quick=True))
    return run_human_like_sampling(progress=True)
