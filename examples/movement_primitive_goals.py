"""Movement primitives at goals of other subjects: ``python examples/movement_primitive_goals.py [DATA]``.

A primitive is learned from one reach and executed to the goals of reaches of subjects that were left out; each motion
is compared with the recorded reach to that goal. The demonstrations are the most typical reach of the other subjects
and five at random. DATA is a folder with ``culm/`` and ``kinesis_rtg/`` as for ``thunder experiment human-like-real
--data``; default synthetic reaches. Distances are the RMS over time, means and in parentheses medians [mm].
"""

from __future__ import annotations

import sys
from collections.abc import Iterator

import numpy as np

from thunder_py.motion import DMP
from thunder_py.papers.human_like.reaches import Reaches, demonstration, reaches_of
from thunder_py.recordings.metrics import rms_distance

FORMS = {"as learned": False, "rotated and scaled": True}
#: name -> limits of the angle between the displacements [degrees], and of the ratio of their lengths
GROUPS = {
    "all": (0, 181, 0.0, np.inf),
    "angle < 15°": (0, 15, 0.0, np.inf),
    "angle 15° to 135°": (15, 135, 0.0, np.inf),
    "angle > 135°": (135, 181, 0.0, np.inf),
    "less than 2/3 of the distance": (0, 181, 0.0, 2 / 3),
    "more than 3/2 of the distance": (0, 181, 3 / 2, np.inf),
    "angle < 15°, 0.8 to 1.25 of the distance": (0, 15, 0.8, 1.25),
}


def comparisons(reaches: Reaches, shown: int = 6, most: int = 12) -> Iterator[list[float]]:
    """Yield angle, ratio of lengths, and the distance of every form, for some reaches of every subject left out."""
    rng = np.random.default_rng(0)
    for fold in reaches.folds():
        random = rng.choice(len(fold.training), shown - 1, replace=False)
        held_out = rng.choice(fold.held_out, min(most, len(fold.held_out)), replace=False)
        for trial in [demonstration(fold.training), *(fold.training[k] for k in random)]:
            primitives = [DMP(rotodilatation=form).fit(trial) for form in FORMS.values()]
            learned = primitives[0].goal_ - primitives[0].start_
            for reach in (reaches.items[k] for k in held_out):
                start, goal = reach.ends().x
                way = goal - start
                angle = np.degrees(np.arctan2(np.linalg.norm(np.cross(learned, way)), learned @ way))
                motions = (primitive.rollout(start, goal, reach.duration) for primitive in primitives)
                yield [
                    angle,
                    np.linalg.norm(way) / np.linalg.norm(learned),
                    *(rms_distance(reach, motion) for motion in motions),
                ]


def table(reaches: Reaches, rows: np.ndarray) -> str:
    """Return the distances by group as Markdown."""
    angle, ratio, plain, turned = rows.T
    lines = [
        f"{reaches.name}: {reaches.sentence()}",
        "",
        f"| goals | n | {' | '.join(FORMS)} | nearer |",
        "|---|---|---|---|---|",
    ]
    for name, (least, most, shortest, longest) in GROUPS.items():
        one = (angle >= least) & (angle < most) & (ratio >= shortest) & (ratio < longest)
        if one.any():
            cells = (f"{1e3 * d[one].mean():.1f} ({1e3 * np.median(d[one]):.1f})" for d in (plain, turned))
            lines.append(
                f"| {name} | {one.sum()} | {' | '.join(cells)} | {100 * np.mean(turned[one] < plain[one]):.0f} % |"
            )
    return "\n".join(lines)


def main(data: str | None = None, quick: bool = False) -> list[np.ndarray]:
    """Print a table for every source; return its rows, see `comparisons`."""
    results = []
    for reaches in reaches_of(data, quick):
        results.append(np.array(list(comparisons(reaches, 2 if quick else 6))))
        print(table(reaches, results[-1]), end="\n\n")
    return results


if __name__ == "__main__":
    main(*sys.argv[1:2])
