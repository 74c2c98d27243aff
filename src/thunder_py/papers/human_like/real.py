"""D4.2, Tables 10 and 11: planned reaches compared with recorded or synthetic ones of unseen subjects."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np

from ...checks import Array
from ...errors import ThunderWarning
from ...motion.planning.plan import HumanLikePlan
from ...parallel import Workers, map_items
from ...recordings.metrics import Motion, ldlj, mean_jerk, path_length, rms_distance
from ...recordings.metrics.sampling import even_times
from ...recordings.statistics import bootstrap_interval, friedmanchisquare, holm, rank_biserial, wilcoxon
from ..results import Varied, drawing, over_draws
from ..tables import markdown
from .planners import DIFFERENCES, METHODS, map_components
from .reaches import (
    STATES,
    THRESHOLD,
    VARIANTS,
    Fold,
    Functional,
    Planner,
    Reach,
    Reaches,
    least_jerk,
    planners,
    reaches_of,
    variants,
)

PAIRINGS = ("tau", "arc_length", "nearest")
#: other speeds at which recordings are cut [m/s]
OTHER_CUTS = (0.005, 0.1)
REST, FREE = "rest", "rest, acceleration free"
#: states of the ends, and methods against MAP, that are compared over people left out
COMPARED = (REST, FREE, "true velocity")
RIVALS = ("minimum jerk", "DMP Gaussian", "DMP of all", "ProMP")


def _peak_speed(motion: Motion) -> float:
    return float(np.linalg.norm(motion.position(even_times(motion, 501), 1), axis=1).max())


#: distance of a plan from what was recorded
ERRORS: dict[str, Callable[[Motion, Motion], float]] = {
    "RMS at equal tau [mm]": lambda reach, plan: 1e3 * rms_distance(reach, plan),
    "RMS of the paths [mm]": lambda reach, plan: 1e3 * rms_distance(reach, plan, "arc_length"),
    "peak speed [%]": lambda reach, plan: 100.0 * abs(_peak_speed(plan) / _peak_speed(reach) - 1.0),
    "path length [%]": lambda reach, plan: 100.0 * abs(path_length(plan) / path_length(reach) - 1.0),
    "LDLJ": lambda reach, plan: abs(ldlj(plan) - ldlj(reach)),
}


@dataclass(frozen=True, kw_only=True, eq=False)
class Comparison:
    """Results for the reaches of one source; distances in m, one for each of n reaches.

    Attributes
    ----------
    reaches : Reaches
        Reaches that are compared.
    rms : dict of (str, str) to (n,) array
        By state of the ends and method, paired by tau.
    paired : dict of (str, str) to (n,) array
        By pairing and method, ends at rest.
    jerk : dict of str to (n,) array
        Mean jerk over the duration of the reach [m/s^3], ends at rest, by method; and of the reach itself, ``"reach"``.
    end_error : dict of str to (n,) array
        Distance from the goal at the end, by method.
    ablation : dict of str to (n,) array
        RMS by variant of MAP, ends at rest.
    cuts : dict of float to dict of str to array
        RMS by the speed at which recordings are cut [m/s], then by method and state, ``"MAP, rest"``.
    condition : (folds, 2) array
        Condition number of (102) with given velocities, and with accelerations; rows and columns equilibrated.
    scores : (n,) array
        Largest score of (102) for ends at rest, in standard deviations of its component.
    shares : (folds,) array
        Share of minimum jerk in MAP, chosen without the subject left out.
    errors : dict of (str, str, str) to (n,) array
        By state of the ends, method and one of `ERRORS`: absolute differences between plans and reaches.
    examples : dict of int to dict of str to motion
        Plans of some reaches by method, ends at rest.
    """

    reaches: Reaches
    rms: dict[tuple[str, str], Array]
    paired: dict[tuple[str, str], Array]
    jerk: dict[str, Array]
    end_error: dict[str, Array]
    ablation: dict[str, Array]
    cuts: dict[float, dict[str, Array]]
    condition: Array
    scores: Array
    shares: Array
    errors: dict[tuple[str, str, str], Array]
    examples: dict[int, dict[str, Motion]]

    def difference(self, other: str, state: str = REST) -> Array:
        """Return the distance of MAP less that of another method, negative where MAP is nearer, (n,) [m]."""
        return self.rms[state, "MAP"] - self.rms[state, other]

    def by_group(self, values: Array) -> Array:
        """Return means over the groups that are left out together: the subjects."""
        groups = self.reaches.groups
        return np.array([values[groups == group].mean() for group in dict.fromkeys(groups.tolist())])

    def to_dict(self) -> dict[str, Any]:
        """Return the distances [m] and jerks [m/s^3] of all reaches, and the condition numbers."""
        pairs: dict[str, Mapping[Any, Array]] = {"rms_m": self.rms, "paired_m": self.paired, "errors": self.errors}
        return {
            "source": self.reaches.name,
            "kind": self.reaches.kind,
            "subjects": self.reaches.subjects,
            "jerk_m_s3": self.jerk,
            "end_error_m": self.end_error,
            "ablation_rms_m": self.ablation,
            "cuts_rms_m": {f"{threshold:g} m/s": rows for threshold, rows in self.cuts.items()},
            "condition_number": self.condition,
            "largest_score": self.scores,
            "minimum_jerk_share": self.shares,
        } | {name: {": ".join(key): values for key, values in found.items()} for name, found in pairs.items()}


#: values of single reaches: kind, keys and index of the reach -> value
_Values: TypeAlias = dict[tuple[Any, ...], float]


def _arrays(found: Iterable[_Values]) -> dict[str, dict[Any, Array]]:
    """Return the values of folds as arrays over the reaches, by kind, then by their keys."""
    rows: dict[str, dict[Any, list[float]]] = {}
    every = (x for part in found for x in part.items())
    for (kind, *key, _), value in sorted(every, key=lambda x: x[0][-1]):
        rows.setdefault(kind, {}).setdefault(tuple(key) if len(key) > 1 else key[0], []).append(value)
    return {kind: {key: np.array(x) for key, x in row.items()} for kind, row in rows.items()}


def compare(
    reaches: Reaches, cuts: Iterable[float] = OTHER_CUTS, *, workers: Workers = 1, progress: bool = False
) -> Comparison:
    """Plan every reach by every method, in every state of the ends.

    Parameters
    ----------
    reaches : Reaches
        Reaches of two subjects or more, or of one and at least two folds.
    cuts : iterable of float
        Other speeds at which recordings are cut [m/s].
    workers : Workers
        Where the runs are made, see `run_tasks`.
    progress : bool
        Show progress bars.
    """
    # three reaches of different length
    order = np.argsort([reach.distance for reach in reaches.items])
    chosen = {int(order[round(part * (len(order) - 1))]) for part in (0.25, 0.6, 0.95)}
    work, folds = partial(_compare_fold, reaches, chosen), list(reaches.folds())
    parts = map_items(work, folds, workers=workers, progress=progress, description="subjects left out")
    values, conditions, shares, shown = zip(*parts, strict=True)
    found = _arrays(values)
    found["ablation"] |= {name: found["rms"][REST, name] for name in ("MAP", "minimum jerk")}
    scores = found.pop("scores")["largest"]
    examples = {k: plans for part in shown for k, plans in part.items()}
    return Comparison(
        reaches=reaches,
        cuts=_cuts_of_subjects(reaches, cuts, found["rms"], float(np.median(shares)), workers),
        condition=np.array(conditions),
        scores=scores,
        shares=np.array(shares),
        examples=dict(sorted(examples.items())),
        **found,
    )


def _compare_fold(
    reaches: Reaches, chosen: set[int], fold: Fold
) -> tuple[_Values, list[float], float, dict[int, dict[str, Motion]]]:
    """Return distances, condition numbers of (102), the share of minimum jerk, and the plans of examples."""
    found: _Values = {}
    with warnings.catch_warnings():
        warnings.simplefilter(
            "ignore", ThunderWarning
        )  # of motions that are long or fast: the errors of all are measured
        fpca = map_components(fold.training)
        taught = [name for name in (*METHODS, "DMP of all") if name != "MAP"]
        makers = planners(fold.training, taught) | {"MAP": Functional(fpca)}
        paper = makers["paper mode"]
        assert isinstance(paper, Functional)
        others = variants(fold.training, fpca)
        examples = {}
        for k in fold.held_out:
            reach = reaches.items[k]
            motions = _plan(found, k, reach, makers)
            _measure(found, k, reach, motions)
            found["scores", "largest", k] = _largest_score(paper, motions["paper mode"])
            found |= {("ablation", name, k): rms_distance(reach, plan(reach.ends())) for name, plan in others.items()}
            if k in chosen:
                examples[k] = {name: motions[name] for name in METHODS}
    return found, [paper.planner(order).condition_number for order in (2, 3)], fpca.shrinkage_, examples


def _plan(found: _Values, k: int, reach: Reach, makers: dict[str, Planner]) -> dict[str, Motion]:
    """Plan a reach in all states, note the distances, and return the motions from rest to rest."""
    motions = {(state, name): planner(reach.ends(state)) for state in STATES for name, planner in makers.items()}
    for (state, name), motion in motions.items():
        found["rms", state, name, k] = rms_distance(reach, motion)
        if state in COMPARED and name in ("MAP", *RIVALS):
            found |= {("errors", state, name, what, k): error(reach, motion) for what, error in ERRORS.items()}
    return {name: motion for (state, name), motion in motions.items() if state == REST}


def _measure(found: _Values, k: int, reach: Reach, motions: dict[str, Motion]) -> None:
    goal = reach.position(reach.duration)
    for name, motion in motions.items():
        for pairing in PAIRINGS:
            found["paired", pairing, name, k] = rms_distance(reach, motion, pairing)
        found["jerk", name, k] = mean_jerk(motion)
        found["end_error", name, k] = float(np.linalg.norm(motion.position(motion.duration) - goal))
    # exact derivatives of the spline through the low-passed recording
    found["jerk", "reach", k] = mean_jerk(reach)


def _largest_score(paper: Functional, motion: Motion) -> float:
    """Return the largest score of a plan in paper mode, in standard deviations of its component."""
    assert isinstance(motion, HumanLikePlan)
    scores = motion.scores
    if scores is None:
        return math.nan
    used = 5  # of the fitted ones, as (102) does
    return float(np.max(np.abs(scores[:used]) / np.sqrt(paper.fpca.explained_variance_[:used])))


def _cuts_of_subjects(
    reaches: Reaches, thresholds: Iterable[float], rms: Mapping[Any, Array], share: float, workers: Workers
) -> dict[float, dict[str, Array]]:
    """Compare MAP and minimum jerk on the same recordings, cut at other speeds, with one share of minimum jerk."""
    rows = {f"{name}, {state}": rms[state, name] for state in (REST, FREE) for name in ("MAP", "minimum jerk")}
    cuts = {THRESHOLD: rows}
    for threshold in thresholds:
        other = reaches.cut_at(threshold)
        parts = map_items(partial(_cut_fold, other, share), list(other.folds()), workers=workers)
        cuts[threshold] = _arrays(parts)["rms"]
    return dict(sorted(cuts.items()))


def _cut_fold(reaches: Reaches, share: float, fold: Fold) -> _Values:
    components = map_components(fold.training, shrinkage=share)
    makers: dict[str, Planner] = {"MAP": Functional(components), "minimum jerk": least_jerk}
    return {
        ("rms", f"{name}, {state}", k): rms_distance(reaches.items[k], planner(reaches.items[k].ends(state)))
        for k in fold.held_out
        for state in (REST, FREE)
        for name, planner in makers.items()
    }


def _figures(rms: Mapping[str, Array]) -> dict[str, float]:
    """Return the mean distances of Table 10 by method [mm]."""
    return {f"{name} [mm]": 1e3 * float(np.mean(rms[name])) for name in METHODS}


def _figures_of_seed(quick: bool, seed: int) -> dict[str, float]:
    """Return `_figures` of other synthetic reaches, with ends at rest."""
    (reaches,) = reaches_of(None, quick, seed)
    found: _Values = {}
    for fold in reaches.folds():
        for name, planner in planners(fold.training).items():
            for k in fold.held_out:
                found["rms", name, k] = rms_distance(reaches.items[k], planner(reaches.items[k].ends()))
    return _figures(_arrays([found])["rms"])


#: RMS distance of the report, mean and standard deviation [m]; its primitives have the basis of "DMP mollifier" and
#: print the equation of "DMP (104)"
TABLE_10 = {"paper mode": (0.0306, 0.0194), "DMP mollifier": (0.0411, 0.0256), "DMP (104)": (0.0411, 0.0256)}
#: median of the mean jerk of the report [m/s^3]
TABLE_11 = {"reach": 0.1976, "paper mode": 0.0884, "DMP mollifier": 1.1503, "DMP (104)": 1.1503}
#: duration that the report's jerk suggests [s]
DURATION = 5.0


def tables(found: Comparison) -> str:
    """Return all tables of one source."""
    kind = found.reaches.kind
    titles: dict[str, Callable[[Comparison], str]] = {
        f"Table 10: RMS distance from the {kind} path at equal tau [mm], mean ± standard deviation (median), "
        "by the conditions at the ends": _distances,
        "Ends at rest, points paired in other ways [mm]": _pairings,
        "MAP less another method, RMS at equal tau: negative where MAP is nearer": _differences,
        **{f"Errors of plans with ends at {x}: MAP beside others": partial(_errors, state=x) for x in COMPARED},
        "": _paper_sentence,
        "Table 11: mean jerk [m/s^3], median; ends at rest": _jerk,
        "MAP without some of its parts: RMS at equal tau, ends at rest [mm]": _ablation,
    }
    if len(found.cuts) > 1:
        titles["Recordings cut at other speeds: RMS at equal tau [mm], mean (median)"] = _cuts
    parts = [f"{title}\n\n{part(found)}".lstrip("\n") for title, part in titles.items()]
    return "\n\n".join([f"# {found.reaches.name}\n\n{found.reaches.sentence()}", *parts])


def _spread(values: Array, scale: float = 1e3) -> str:
    x = scale * values
    return f"{np.mean(x):.1f} ± {np.std(x, ddof=1):.1f} ({np.median(x):.1f})"


def _center(values: Array) -> str:
    return f"{1e3 * np.mean(values):.1f} ({1e3 * np.median(values):.1f})"


def _distances(found: Comparison) -> str:
    printed = {name: f"{1e3 * mean:.1f} ± {1e3 * deviation:.1f}" for name, (mean, deviation) in TABLE_10.items()}
    rows: list[list[object]] = [["the report", *map(printed.get, METHODS)]]
    rows += [[state, *(_spread(found.rms[state, name]) for name in METHODS)] for state in STATES]
    return markdown(["", *METHODS], rows)


def _pairings(found: Comparison) -> str:
    rows = [[pairing, *(_spread(found.paired[pairing, name]) for name in METHODS)] for pairing in PAIRINGS]
    ends = (f"{1e3 * np.median(found.end_error[name]):.2g}" for name in METHODS)
    return markdown(["", *METHODS], [*rows, ["distance from the goal at the end", *ends]])


def _differences(found: Comparison) -> str:
    pairs = [(name, REST) for name in METHODS if name != "MAP"]
    pairs += [("minimum jerk", state) for state in STATES if state != REST] + [("DMP Gaussian", FREE)]
    rows = [[name, state, *_test(found, name, state)] for name, state in pairs]
    header = ["other", "ends", "mean [mm]", "95 %, reaches", "95 %, subjects", "MAP nearer", "signed rank p"]
    return markdown([*header, "p, subjects", "rank-biserial"], rows, 2)


def _test(found: Comparison, other: str, state: str) -> list[object]:
    d = 1e3 * found.difference(other, state)
    each, over, p = bootstrap_interval(d), None, None
    if found.reaches.by_subject:
        whole, p = bootstrap_interval(found.by_group(d)), wilcoxon(found.by_group(d)).pvalue
        over = f"{whole.low:.2f} to {whole.high:.2f}"
    cells = [f"{each.statistic:.2f}", f"{each.low:.2f} to {each.high:.2f}", over, f"{100.0 * np.mean(d < 0.0):.0f} %"]
    return [*cells, wilcoxon(d).pvalue, p, f"{rank_biserial(d):.2f}"]


def _errors(found: Comparison, state: str) -> str:
    """Compare MAP with its rivals by every error; units are people, or reaches where there is one person."""
    by = found.by_group if found.reaches.by_subject else np.asarray
    mean = {key[1:]: by(values) for key, values in found.errors.items() if key[0] == state}
    pairs = [(what, name) for what in ERRORS for name in RIVALS]
    differences = [mean["MAP", what] - mean[name, what] for what, name in pairs]
    corrected = holm([wilcoxon(d).pvalue for d in differences])
    rows: list[list[object]] = []
    for (what, name), d, p in zip(pairs, differences, corrected, strict=True):
        size, effect = bootstrap_interval(d), bootstrap_interval(d, rank_biserial)
        every = friedmanchisquare(*(mean[one, what] for one in ("MAP", *RIVALS))).pvalue
        means = [f"{np.mean(mean[one, what]):.2f}" for one in ("MAP", name)]
        row = [what, name, *means, f"{size.statistic:.2f} ({size.low:.2f} to {size.high:.2f})"]
        rows.append([*row, f"{effect.statistic:.2f} ({effect.low:.2f} to {effect.high:.2f})", p, every])
    header = ["error", "other", "MAP", "its mean", "MAP less other, 95 %", "rank-biserial, 95 %"]
    return markdown([*header, "signed rank p, Holm", "Friedman p"], rows, 2)


def _paper_sentence(found: Comparison) -> str:
    c = found.condition
    return (
        f"(102): condition {np.median(c[:, 0]):.2g} (worst {c[:, 0].max():.2g}) with velocities, "
        f"{np.median(c[:, 1]):.2g} ({c[:, 1].max():.2g}) with accelerations too, rows and columns equilibrated. It is "
        f"well conditioned, but the scores for ends at rest are large: the largest of a reach is "
        f"{np.median(found.scores):.2g} standard deviations of its component (median), up to {found.scores.max():.3g}. "
        f"MAP takes a share of {np.median(found.shares):.2g} of minimum jerk (median; {found.shares.min():.2g} to "
        f"{found.shares.max():.2g})."
    )


def _jerk(found: Comparison) -> str:
    slower = np.array([(reach.duration / DURATION) ** 3 for reach in found.reaches.items])
    rows: list[list[object]] = []
    for name in ("reach", *METHODS):
        medians = (float(np.median(found.jerk[name] * factor)) for factor in (1.0, slower))
        rows.append([f"{found.reaches.kind} reach" if name == "reach" else name, TABLE_11.get(name), *medians])
    return markdown(["", "report", "duration of the reach", f"as if in {DURATION:g} s"], rows)


def _ablation(found: Comparison) -> str:
    return markdown(["", "mean ± standard deviation (median)"], [[x, _spread(found.ablation[x])] for x in VARIANTS])


def _cuts(found: Comparison) -> str:
    names = list(next(iter(found.cuts.values())))
    rows = [
        [f"{v:g} m/s", len(row[names[0]]), *(_center(row[name]) for name in names)] for v, row in found.cuts.items()
    ]
    return markdown(["cut at", "reaches", *names], rows)


@dataclass(frozen=True, kw_only=True, eq=False)
class HumanLikeReal(Varied):
    """Results of the experiment.

    Attributes
    ----------
    sources : tuple of Comparison
        Results of every source of reaches.
    """

    sources: tuple[Comparison, ...]

    def table(self) -> str:
        """Return Tables 10 and 11 with the report's numbers and ours, and differences with intervals."""
        title = "Table 10 with ends at rest, other synthetic reaches\n\n"
        return "\n\n".join([self.join(*map(tables, self.sources), title=title), DIFFERENCES])

    plot = drawing("plot_human_like_real")

    def to_dict(self) -> dict[str, Any]:
        """Return Tables 10 (mean, standard deviation [m]) and 11 [m/s^3], and the results of every source."""
        sources = [source.to_dict() for source in self.sources]
        return {
            "table_10_m": TABLE_10,
            "table_11_m_s3": TABLE_11,
            "sources": sources,
            "draws": None,
        } | self.variations()


def run(
    quick: bool = False, data: str | Path | None = None, *, seeds: int | None = None, workers: Workers = 1
) -> HumanLikeReal:
    """Run the experiment of the registry.

    Parameters
    ----------
    quick : bool
        If True, use fewer reaches.
    data : path-like, optional
        Folder with recordings, ``culm/`` and ``kinesis_rtg/`` or one of them; without it, reaches are synthetic.
    seeds : int, optional
        Number of sets of synthetic reaches; default 4, or 2 if `quick`. Recordings have no random draws: with `data`
        there is a warning and no effect.
    workers : Workers
        Where the runs are made, see `run_tasks`.
    """
    cuts: tuple[float, ...] = () if quick else OTHER_CUTS
    sources = reaches_of(data, quick)
    compared = tuple(compare(reaches, cuts, workers=workers, progress=not quick) for reaches in sources)
    first = HumanLikeReal(sources=compared)
    if data is not None:
        if seeds is not None:
            warnings.warn("human-like-real is deterministic with recordings: seeds has no effect", stacklevel=2)
        return first
    count = (2 if quick else 4) if seeds is None else seeds
    rest = _figures({name: first.sources[0].rms[REST, name] for name in METHODS})
    drawn = "synthetic reaches of the sigma-lognormal model"
    return replace(first, draws=over_draws(drawn, rest, partial(_figures_of_seed, quick), count, workers))
