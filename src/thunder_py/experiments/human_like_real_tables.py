"""Tables of the comparison with recorded reaches, as Markdown."""

from __future__ import annotations

import numpy as np

from ..checks import Array
from ..motion.statistics import bootstrap_interval, cliffs_delta, signed_rank
from .human_like_ablation import VARIANTS
from .human_like_comparison import FREE, PAIRINGS, REST, Comparison
from .human_like_planners import METHODS
from .human_like_reaches import CUTOFF, STATES, THRESHOLD
from .text import markdown

__all__ = ["REASONS", "TABLE_10", "TABLE_11", "tables"]

#: RMS distance of the report, mean and standard deviation [m]
TABLE_10 = {"paper mode": (0.0306, 0.0194), "DMP mollifier": (0.0411, 0.0256)}
#: median of the mean jerk of the report [m/s^3]
TABLE_11 = {"real": 0.1976, "paper mode": 0.0884, "DMP mollifier": 1.1503}
#: duration that the report's jerk suggests [s]
DURATION = 5.0

_WHY_NOT_THE_SAME = f"""\
Why these are not the report's numbers:

- Other people, other reaches. The report's planner may have learned from the motions it is compared with; here whoever
  is compared was left out. It does not say how points are paired.
- (102) has as many unknowns as conditions, so that nothing in it says what a person would do. Where people start and
  stop alike, five components have hardly a slope or curvature at the ends, and many standard deviations of them are
  needed to make ends at rest. That it is well conditioned does not help.
- Jerk goes with 1/T^3. The report's numbers are those of reaches that take {DURATION:g} s, and so is the last column,
  by arithmetic; people take one or two. Real jerk is that of the filter too: second-order Butterworth, {CUTOFF:g} Hz,
  forwards and backwards. What minimum jerk minimises is the square, and not the mean.
- The DMPs are the better ones of their kind: least squares, rotodilatation, and the most typical reach to learn from.
  Even so mollifiers have up to two and a half times the jerk of Gaussians. They are told of no acceleration, and keep
  the demonstration's: compare them with those that may choose it."""

_WHAT_IT_SAYS = f"""\
What the comparison says, of the recordings CULM and kinesis where it names them (`--data`):

- Recordings are cut where the hand passes {THRESHOLD:g} m/s. It is not at rest there, and it accelerates. Whoever is
  told of rest is told something false; MAP knows how people go on from there, and minimum jerk does not. The more so,
  the faster the hand is at the cut: where reaches are straight and symmetric (CULM) and cut at 0.005 m/s, MAP has next
  to nothing to win.
- It is timing: paired by arc length, or by the nearest point, minimum jerk is as near to CULM's reaches as MAP, and a
  straight line in the mean's time law is nearer than both where tau is paired.
- If accelerations are free, or known, a motion of least jerk is as near to such reaches (CULM) as anything that was
  learned. Reaches to grasp (kinesis), which are curved and slow down for long, are another matter: there MAP leaves a
  third of the distance.
- From rest to rest, what MAP knows is its mean. With a mean of minimum jerk it is minimum jerk; told of positions
  alone, in the frame from start to goal, it is the mean, and what stays is how people differ. Covariances decide how
  the mean is bent to meet conditions: where these are true, that helps; rest, which is not, costs MAP a tenth (CULM,
  kinesis)."""

REASONS = f"{_WHY_NOT_THE_SAME}\n\n{_WHAT_IT_SAYS}"


def tables(found: Comparison) -> str:
    """Return all tables of one source."""
    parts = [
        f"# {found.reaches.name}\n\n{found.reaches.sentence()}",
        "Table 10: RMS distance from the real path at equal tau [mm], mean ± standard deviation (median), by what "
        f"planners are told of the ends\n\n{_distances(found)}",
        f"Ends at rest, points paired in other ways [mm]\n\n{_pairings(found)}",
        f"MAP less another method, RMS at equal tau: negative where MAP is nearer\n\n{_differences(found)}",
        _paper_sentence(found),
        f"Table 11: mean jerk [m/s^3], median; ends at rest\n\n{_jerk(found)}",
        f"What of MAP does the work: RMS at equal tau, ends at rest [mm]\n\n{_ablation(found)}",
    ]
    if len(found.cuts) > 1:
        parts.append(f"Recordings cut at other speeds: RMS at equal tau [mm], mean (median)\n\n{_cuts(found)}")
    return "\n\n".join(parts)


def _spread(values: Array, scale: float = 1e3) -> str:
    x = scale * values
    return f"{np.mean(x):.1f} ± {np.std(x, ddof=1):.1f} ({np.median(x):.1f})"


def _centre(values: Array) -> str:
    return f"{1e3 * np.mean(values):.1f} ({1e3 * np.median(values):.1f})"


def _distances(found: Comparison) -> str:
    report = [
        f"{1e3 * TABLE_10[name][0]:.1f} ± {1e3 * TABLE_10[name][1]:.1f}" if name in TABLE_10 else None
        for name in METHODS
    ]
    rows: list[list[object]] = [["the report", *report]]
    rows += [[state, *(_spread(found.rms[state, name]) for name in METHODS)] for state in STATES]
    return markdown(["", *METHODS], rows)


def _pairings(found: Comparison) -> str:
    rows = [[pairing, *(_spread(found.paired[pairing, name]) for name in METHODS)] for pairing in PAIRINGS]
    rows.append(
        ["distance from the goal at the end", *(f"{1e3 * np.median(found.end_error[name]):.2g}" for name in METHODS)]
    )
    return markdown(["", *METHODS], rows)


def _differences(found: Comparison) -> str:
    pairs = [(name, REST) for name in METHODS if name != "MAP"]
    pairs += [("minimum jerk", state) for state in STATES if state != REST] + [("DMP Gaussian", FREE)]
    rows = [[name, state, *_test(found, name, state)] for name, state in pairs]
    header = ["other", "ends", "mean [mm]", "95 %, reaches", "95 %, subjects", "MAP nearer", "signed rank p"]
    return markdown([*header, "p, subjects", "Cliff's delta"], rows, 2)


def _test(found: Comparison, other: str, state: str) -> list[object]:
    d = 1e3 * found.difference(other, state)
    each = bootstrap_interval(d)
    cells: list[object] = [f"{each.statistic:.2f}", f"{each.low:.2f} to {each.high:.2f}"]
    subjects = found.by_group(d) if found.reaches.by_subject else None
    if subjects is None:
        cells.append(None)
    else:
        whole = bootstrap_interval(subjects)
        cells.append(f"{whole.low:.2f} to {whole.high:.2f}")
    delta = cliffs_delta(found.rms[state, "MAP"], found.rms[state, other], resamples=200)
    cells += [f"{100.0 * np.mean(d < 0.0):.0f} %", signed_rank(d).p_value]
    cells += [None if subjects is None else signed_rank(subjects).p_value, f"{delta.statistic:.2f}"]
    return cells


def _paper_sentence(found: Comparison) -> str:
    c = found.condition
    return (
        f"(102): condition {np.median(c[:, 0]):.2g} (worst {c[:, 0].max():.2g}) with velocities, "
        f"{np.median(c[:, 1]):.2g} ({c[:, 1].max():.2g}) with accelerations too, rows and columns equilibrated. So it "
        f"is solved well; but the scores that make ends at rest are large: the largest of a reach is "
        f"{np.median(found.scores):.2g} standard deviations of its component (median), up to {found.scores.max():.3g}. "
        f"MAP takes a share of {np.median(found.shares):.2g} of minimum jerk (median; {found.shares.min():.2g} to "
        f"{found.shares.max():.2g})."
    )


def _jerk(found: Comparison) -> str:
    durations = np.array([reach.duration for reach in found.reaches.items])
    rows: list[list[object]] = []
    for name in ("real", *METHODS):
        jerk = found.jerk[name]
        slow = jerk * (durations / DURATION) ** 3
        rows.append([name, TABLE_11.get(name), float(np.median(jerk)), float(np.median(slow))])
    return markdown(["", "report", "real duration", f"as if in {DURATION:g} s"], rows)


def _ablation(found: Comparison) -> str:
    rows: list[list[object]] = [[name, _spread(found.ablation[name])] for name in VARIANTS]
    return markdown(["", "mean ± standard deviation (median)"], rows)


def _cuts(found: Comparison) -> str:
    names = list(next(iter(found.cuts.values())))
    rows = [
        [f"{threshold:g} m/s", len(row[names[0]]), *(_centre(row[name]) for name in names)]
        for threshold, row in found.cuts.items()
    ]
    return markdown(["cut at", "reaches", *names], rows)
