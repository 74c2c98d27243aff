"""D4.2, section 5.2: movement primitives of 10 to 50 functions, their tracking and jerk."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from ...checks import Array
from ...motion.primitives.dmp import DMP
from ...parallel import Workers, map_items
from ...recordings.metrics import mean_jerk, rms_distance
from ..judgment.judge import FreeParameter, Judgment, chosen, judge
from ..results import drawing, titled
from .reaches import Reach, daily_reaches, synthetic_reaches

#: numbers of functions: the report names 50, 10 and the one that it chose
COUNTS = (10, 15, 21, 30, 40, 50)
CHOSEN = 21
#: variant -> settings of a primitive that the report leaves open, except the basis
VARIANTS: dict[str, dict[str, Any]] = {
    "mollifier": {"basis": "mollifier"},
    "mollifier, overlap 2": {"basis": "mollifier", "overlap": 2.0},
    "mollifier, locally weighted": {"basis": "mollifier", "regression": "lwr"},
    "Gaussian": {"basis": "gaussian"},
}
UNPRINTED = (
    FreeParameter("source", "sigma-lognormal", ("daily living",), "demonstrations", "the report's are not public"),
    FreeParameter("noise", 0.0, (0.0002, 0.0005, 0.001), "noise [m]", "of the demonstration, low-passed at 10 Hz"),
    FreeParameter("K", 150.0, (25.0, 50.0, 500.0, 1000.0), "K of the DMP", "tau = T; critically damped"),
    FreeParameter("overlap", 1.0, (1.5, 2.0, 2.5), "overlap", "width of the functions"),
    FreeParameter("alpha", 4.0, (2.0, 6.0), "alpha", "decay of the phase"),
    FreeParameter("regression", "ls", ("lwr",), "fit", "least squares or locally weighted"),
    FreeParameter("basis", "mollifier", ("gaussian", "wendland_c4"), "basis", "(106) is a mollifier"),
)
_PRINTED = {"functions with the least jerk": float(CHOSEN)}


def reproductions(demonstrations: list[Reach], options: dict[str, Any], counts: tuple[int, ...] = COUNTS) -> Array:
    """Return how primitives reproduce reaches, each learned from that reach alone.

    Parameters
    ----------
    demonstrations : list of Reach
        Reaches to reproduce.
    options : dict
        Settings of `DMP`, with (104) as printed.
    counts : tuple of int
        Numbers of functions.

    Returns
    -------
    ndarray, shape (counts, demonstrations, 2)
        RMS distance from the demonstration [m], mean jerk divided by the demonstration's.
    """
    found = np.empty((len(counts), len(demonstrations), 2))
    for k, shown in enumerate(demonstrations):
        jerk = mean_jerk(shown)
        for j, count in enumerate(counts):
            motion = DMP(count, scaling="paper", **options).fit(shown).rollout()
            found[j, k] = rms_distance(shown, motion), mean_jerk(motion) / jerk
    return found


def _demonstrations(source: str, count: int, noise: float = 0.0) -> list[Reach]:
    one = source == "sigma-lognormal"
    items = (synthetic_reaches(count, 3, 0, noise) if one else daily_reaches(3, 0, noise)).items
    return list(items[:: max(1, len(items) // count)][:count])


def _summary(*, count: int, counts: tuple[int, ...], **given: Any) -> dict[str, float]:
    options = vars(chosen(UNPRINTED, given))
    shown = _demonstrations(options.pop("source"), count, options.pop("noise"))
    medians = np.median(reproductions(shown, options, counts), axis=1)
    distance, jerk = medians.T
    ours = jerk[counts.index(CHOSEN)]
    return {
        "functions with the least jerk": float(counts[int(np.argmin(jerk))]),
        "jerk, most / least number": float(jerk.max() / jerk.min()),
        f"jerk of {CHOSEN} / least": float(ours / jerk.min()),
        f"jerk of {CHOSEN} / demonstration": float(ours),
        "largest distance [mm]": float(1e3 * distance.max()),
    }


@dataclass(frozen=True, kw_only=True, eq=False)
class DMPStudy:
    """Results of the experiment.

    Attributes
    ----------
    counts : tuple of int
        Numbers of functions.
    found : dict of str to (counts, demonstrations, 2) array
        By variant, see `reproductions`.
    judgment : Judgment
        The number of functions with the least jerk over unprinted quantities.
    """

    counts: tuple[int, ...]
    found: dict[str, Array]
    judgment: Judgment

    def table(self) -> str:
        """Return tracking and jerk by number of functions, and the judgment."""
        best = self.judgment.medians("functions with the least jerk")
        counted = ", ".join(f"{count} at {int(np.sum(best == count))}" for count in self.counts)
        medians = np.hstack([np.median(values, axis=1) * (1e3, 1.0) for values in self.found.values()]).tolist()
        header = [words for name in self.found for words in (f"{name}: distance [mm]", "jerk / demonstration")]
        rows = ([count, *row] for count, row in zip(self.counts, medians, strict=True))
        n = next(iter(self.found.values())).shape[1]
        title = f"D4.2, section 5.2: primitives of {n} reaches that reproduce their own demonstration, medians"
        last = f"The number of functions with the least jerk, over {len(self.judgment.points)} points: {counted}."
        return "\n\n".join([titled(title, ["functions", *header], rows), self.judgment.table(), last])

    def to_dict(self) -> dict[str, Any]:
        """Return all distances [m] and ratios of jerk, and the judgment."""
        return {"counts": self.counts, "distance_m_and_jerk_ratio": self.found, "judgment": self.judgment.to_dict()}

    plot = drawing("plot_dmp_study")


def run(quick: bool = False, *, seeds: int | None = None, workers: Workers = 1) -> DMPStudy:
    """Run the experiment of the registry; `seeds` demonstrations, by default 24."""
    count = (3 if quick else 24) if seeds is None else seeds
    counts = (COUNTS[0], CHOSEN, COUNTS[-1]) if quick else COUNTS
    shown = _demonstrations("sigma-lognormal", count)
    work = partial(reproductions, shown, counts=counts)
    rows = map_items(work, list(VARIANTS.values()), workers=workers, description="number of functions")
    judgment = judge(
        "D4.2, section 5.2: number of functions",
        partial(_summary, count=min(count, 12), counts=counts),
        [each for each in UNPRINTED if not quick or each.name == "noise"],
        _PRINTED,
        budget=0 if quick else 10,
        workers=workers,
    )
    return DMPStudy(counts=counts, found=dict(zip(VARIANTS, rows, strict=True)), judgment=judgment)
