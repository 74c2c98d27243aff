"""Planners against the reaches of one source: each reach is planned by what was learned without its subject."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

import numpy as np

from ..checks import Array
from ..motion.metrics import Motion, mean_jerk, rms_distance
from ..motion.plan import HumanLikePlan
from .human_like_ablation import variants
from .human_like_planners import METHODS
from .human_like_reach_planners import Functional, Planner, least_jerk, map_components, planners
from .human_like_reaches import STATES, THRESHOLD, Fold, Reach, Reaches

__all__ = ["OTHER_CUTS", "PAIRINGS", "Comparison", "compare", "steps"]

PAIRINGS = ("tau", "arc_length", "nearest")
#: other speeds at which recordings are cut [m/s]
OTHER_CUTS = (0.005, 0.1)
REST, FREE = "rest", "rest, acceleration free"
_THRESHOLD_METHODS = ("MAP", "minimum jerk")


@dataclass(frozen=True, kw_only=True, eq=False)
class Comparison:
    """What was found on the reaches of one source; distances in m, one for each of n reaches.

    Attributes
    ----------
    reaches : Reaches
    rms : dict of (str, str) to (n,) array
        By state of the ends and method, paired by tau.
    paired : dict of (str, str) to (n,) array
        By pairing and method, ends at rest.
    jerk : dict of str to (n,) array
        Mean jerk over the real duration [m/s^3], ends at rest, by method; and of the recording, "real".
    end_error : dict of str to (n,) array
        Distance from the goal at the end, by method.
    ablation : dict of str to (n,) array
        RMS by variant of MAP, ends at rest.
    cuts : dict of float to dict of str to array
        RMS by the speed at which recordings are cut [m/s], then "MAP, rest" and so on.
    condition : (folds, 2) array
        Condition number of (102), with velocities given, and with accelerations; rows and columns equilibrated.
    scores : (n,) array
        The largest score that (102) takes to meet rest, in standard deviations of its component.
    shares : (folds,) array
        Share of minimum jerk in MAP, chosen without the subject left out.
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
    examples: dict[int, dict[str, Motion]]

    def difference(self, other: str, state: str = REST) -> Array:
        """Return by how much MAP is nearer to each reach than another method, negative where it is [m]."""
        return self.rms[state, "MAP"] - self.rms[state, other]

    def by_group(self, values: Array) -> Array:
        """Return means over what was left out together: the subjects."""
        groups = self.reaches.groups
        return np.array([values[groups == group].mean() for group in dict.fromkeys(groups.tolist())])


@dataclass
class _Found:
    """Tables that fill up, fold by fold."""

    n: int
    rows: dict[tuple[str, ...], Array] = field(default_factory=dict)

    def put(self, key: tuple[str, ...], k: int, value: float) -> None:
        self.rows.setdefault(key, np.full(self.n, np.nan))[k] = value

    def table(self, kind: str) -> dict[tuple[str, ...], Array]:
        return {key[1:]: values for key, values in self.rows.items() if key[0] == kind}

    def column(self, kind: str) -> dict[str, Array]:
        return {key[0]: values for key, values in self.table(kind).items()}


def steps(reaches: Reaches, cuts: Iterable[float] = OTHER_CUTS) -> int:
    """Return how often `compare` reports progress."""
    return len(set(reaches.groups.tolist())) + len(tuple(cuts))


def compare(
    reaches: Reaches, cuts: Iterable[float] = OTHER_CUTS, report: Callable[[], object] = lambda: None
) -> Comparison:
    """Plan every reach by every method, in every state of the ends.

    Parameters
    ----------
    reaches : Reaches
        Of two subjects or more, or of one and at least two folds.
    cuts : iterable of float
        Other speeds at which recordings are cut [m/s].
    report : callable
        Called after every fold.
    """
    found = _Found(len(reaches))
    chosen = _examples(reaches)
    examples: dict[int, dict[str, Motion]] = {}
    conditions, shares = [], []
    for fold in reaches.folds():
        fpca = map_components(fold.training)
        makers = planners(fold.training, [name for name in METHODS if name != "MAP"]) | {"MAP": Functional(fpca)}
        paper = makers["paper mode"]
        assert isinstance(paper, Functional)
        conditions.append([paper.planner(order).condition_number for order in (2, 3)])
        shares.append(fpca.shrinkage_)
        others = variants(fold.training, fpca)
        for k in fold.held_out:
            reach = reaches.items[k]
            motions = _plan(found, k, reach, makers)
            _measure(found, k, reach, motions)
            found.put(("scores",), k, _largest_score(paper, motions["paper mode"]))
            for name, planner in others.items():
                found.put(("ablation", name), k, rms_distance(reach, planner(reach.ends())))
            if k in chosen:
                examples[k] = motions
        report()
    ablation = found.column("ablation")
    ablation |= {name: found.rows["rms", REST, name] for name in ("MAP", "minimum jerk")}
    return Comparison(
        reaches=reaches,
        rms={(key[0], key[1]): values for key, values in found.table("rms").items()},
        paired={(key[0], key[1]): values for key, values in found.table("paired").items()},
        jerk=found.column("jerk"),
        end_error=found.column("end"),
        ablation=ablation,
        cuts=_cuts(reaches, cuts, found, float(np.median(shares)), report),
        condition=np.array(conditions),
        scores=found.rows["scores",],
        shares=np.array(shares),
        examples=dict(sorted(examples.items())),
    )


def _examples(reaches: Reaches) -> set[int]:
    """Return three reaches of different length."""
    order = np.argsort([reach.distance for reach in reaches.items])
    return {int(order[round(part * (len(order) - 1))]) for part in (0.25, 0.6, 0.95)}


def _plan(found: _Found, k: int, reach: Reach, makers: dict[str, Planner]) -> dict[str, Motion]:
    """Plan a reach in all states, note the distances, and return the motions from rest to rest."""
    rest = {}
    for state in STATES:
        ends = reach.ends(state)
        for name, planner in makers.items():
            motion = planner(ends)
            found.put(("rms", state, name), k, rms_distance(reach, motion))
            if state == REST:
                rest[name] = motion
    return rest


def _measure(found: _Found, k: int, reach: Reach, motions: dict[str, Motion]) -> None:
    for name, motion in motions.items():
        found.put(("paired", "tau", name), k, found.rows["rms", REST, name][k])
        for pairing in PAIRINGS[1:]:
            found.put(("paired", pairing, name), k, rms_distance(reach, motion, pairing))
        found.put(("jerk", name), k, mean_jerk(motion))
        goal = reach.position(reach.duration)
        found.put(("end", name), k, float(np.linalg.norm(motion.position(motion.duration) - goal)))
    # exact derivatives of the spline through the low-passed recording
    found.put(("jerk", "real"), k, mean_jerk(reach))


def _largest_score(paper: Functional, motion: Motion) -> float:
    """Return the largest score of a plan in paper mode, in standard deviations of its component."""
    assert isinstance(motion, HumanLikePlan)
    scores = motion.scores
    if scores is None:
        return math.nan
    used = 5  # of the fitted ones, as (102) does
    return float(np.max(np.abs(scores[:used]) / np.sqrt(paper.fpca.variances_[:used])))


def _cuts(
    reaches: Reaches, thresholds: Iterable[float], found: _Found, share: float, report: Callable[[], object]
) -> dict[float, dict[str, Array]]:
    """Compare MAP and minimum jerk on the same recordings, cut at other speeds; with one share of minimum jerk."""
    rows = {f"{name}, {state}": found.rows["rms", state, name] for state in (REST, FREE) for name in _THRESHOLD_METHODS}
    cuts = {THRESHOLD: rows}
    for threshold in thresholds:
        other = reaches.cut_at(threshold)
        again = _Found(len(other))
        for fold in other.folds():
            _cut_fold(again, other, fold, share)
        cuts[threshold] = again.column("rms")
        report()
    return dict(sorted(cuts.items()))


def _cut_fold(found: _Found, reaches: Reaches, fold: Fold, share: float) -> None:
    makers: dict[str, Planner] = {
        "MAP": Functional(map_components(fold.training, shrinkage=share)),
        "minimum jerk": least_jerk,
    }
    for k in fold.held_out:
        for state in (REST, FREE):
            for name, planner in makers.items():
                distance = rms_distance(reaches.items[k], planner(reaches.items[k].ends(state)))
                found.put(("rms", f"{name}, {state}"), k, distance)
