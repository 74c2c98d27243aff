"""D4.2, section 7.3: picking with the hand and with a suction tool in it, by visual servoing, in random scenes."""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from ..checks import Array
from ..errors import ThunderError
from ..motion.scalars import whole
from .parallel import map_seeds
from .picking_run import CAMERAS, VARIANTS, Pick, pick
from .picking_scene import CAMERA, GRASP, TASKS
from .text import markdown

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["FIRST_SEED", "REPORTED_RATE", "Picking", "run", "run_picking", "wilson"]

#: "an overall 95 % of success rate", hand and tool together, the number of trials unsaid
REPORTED_RATE = 0.95
_SEEDS, _QUICK_SEEDS = 40, 4
#: the scenes of seeds 0 to 39 were looked at while the loop was made, and choices rest on them: they are not used here
FIRST_SEED = 1000
#: tasks and variants; a hand is known by kinematics, there is no estimate to leave out, and it forgives the camera
_CASES = [(t, v) for t in TASKS for v in VARIANTS if TASKS[t].held or v not in ("no tool estimate", *CAMERAS)]


def wilson(hits: int, n: int, z: float = 1.959964) -> tuple[float, float]:
    """Wilson's interval of a rate, 95 % by default."""
    if not 0 <= hits <= n or n < 1:
        raise ThunderError(f"hits must be from 0 to n, n at least 1, got {hits} of {n}")
    p, square = hits / n, z * z
    middle = (p + square / (2 * n)) / (1 + square / n)
    half = z / (1 + square / n) * math.sqrt(p * (1 - p) / n + square / (4 * n * n))
    return max(0.0, middle - half), min(1.0, middle + half)


@dataclass(frozen=True, eq=False)
class Picking:
    """What the experiment found.

    Attributes
    ----------
    seeds : int
        Number of scenes of each task.
    picks : dict of (str, str) to list of Pick
        By task and variant, in the order of the scenes.
    """

    seeds: int
    picks: dict[tuple[str, str], list[Pick]]

    def rate(self, task: str, variant: str) -> tuple[float, float, float]:
        """Return the share of successful picks and Wilson's 95 % interval."""
        found = self.picks[task, variant]
        hits = sum(one.picked for one in found)
        return (hits / len(found), *wilson(hits, len(found)))

    def reasons(self, task: str, variant: str) -> dict[str, int]:
        """Return how many failed for which reason, most frequent first."""
        return dict(Counter(one.reason for one in self.picks[task, variant] if not one.picked).most_common())

    def errors(self, task: str, variant: str) -> Array:
        """Return across, along [m], tilt and turn [rad] at contact, (k, 4), of the picks that came to one."""
        every = [(p.across, p.along, p.tilt, p.turn) for p in self.picks[task, variant]]
        found = np.array(every, dtype=np.float64).reshape(-1, 4)
        return np.asarray(found[np.isfinite(found[:, 0])])

    def table(self) -> str:
        """Return success rates beside the report's, errors at contact, and reasons of failures."""
        return "\n\n".join([self._rates(), "Reasons of failures\n\n" + self._failures(), _notes()])

    def plot(self) -> Figure:
        """Draw rates, errors at contact and failures by reason."""
        from ..plotting.picking import plot_picking

        return plot_picking(self)

    def to_dict(self) -> dict[str, Any]:
        """Return everything as numbers, texts, lists and dictionaries."""
        results = [
            {
                "task": task,
                "variant": variant,
                "rate": self.rate(task, variant)[0],
                "interval": list(self.rate(task, variant)[1:]),
                "reasons": self.reasons(task, variant),
                "picks": [_plain(one) for one in found],
            }
            for (task, variant), found in self.picks.items()
        ]
        settings = {"camera": asdict(CAMERA), "grasp": asdict(GRASP), "tasks": {k: asdict(v) for k, v in TASKS.items()}}
        told = {"seeds": self.seeds, "first_seed": FIRST_SEED, "reported_rate": REPORTED_RATE}
        return {**told, "settings": settings, "results": results}

    def _rates(self) -> str:
        rows: list[list[object]] = []
        for (task, variant), found in self.picks.items():
            rate, low, high = self.rate(task, variant)
            reported = f"{100 * REPORTED_RATE:g}" if variant == "eq. 124" else ""
            cells: list[object] = [task, variant, reported, f"{100 * rate:.0f}", f"{100 * low:.0f} to {100 * high:.0f}"]
            errors = self.errors(task, variant)
            scale = np.array([1e3, 1e3, np.degrees(1.0)])
            middle = np.median(errors[:, :3], axis=0) * scale if len(errors) else np.full(3, np.nan)
            times = [one.duration for one in found if one.picked]
            rows.append([*cells, *map(float, middle), float(np.median(times)) if times else None])
        header = ["task", "", "report [%]", "picked [%]", "95 % interval", "across [mm]", "along [mm]", "tilt [deg]"]
        return markdown([*header, "time [s]"], rows)

    def _failures(self) -> str:
        rows = [
            [task, variant, ", ".join(f"{count} x {reason}" for reason, count in self.reasons(task, variant).items())]
            for task, variant in self.picks
        ]
        return markdown(["task", "", f"of {self.seeds} scenes"], rows)


def _plain(one: Pick) -> dict[str, Any]:
    """Return a pick with None in place of NaN, which JSON does not know."""
    return {k: None if isinstance(v, float) and math.isnan(v) else v for k, v in asdict(one).items()}


def _notes() -> str:
    hand, tool = TASKS["hand"], TASKS["tool"]
    return f"""\
- Errors are medians at contact, of the true poses. Picked with the hand: within {1e3 * hand.across:g} mm and
  {np.degrees(hand.tilt):.0f} degrees; with the tool: {1e3 * tool.across:g} mm across, {1e3 * tool.along:g} mm along,
  {np.degrees(tool.tilt):.0f} degrees. These and all errors of camera and grasp were written down before the first run.
  Settings of filters and sequence were not, and that the main row has the logarithm was chosen after eight picks with
  eq. 124: in other scenes, of seeds 0 to 39. These are of seeds from {FIRST_SEED} on, run when all was settled.
- The report says neither how many trials its 95 % come from, nor how hard the scenes were; its arm, hand and camera
  are real, these are simulated. The numbers can stand beside each other, no more.
- "eq. 124" is the report's law; it refuses objects that are turned by 89 degrees or more from where the hand is.
  "servoing" is the same loop with the logarithm of the rotation. Scenes and noise are the same for all rows of a
  task. "look, then move": the camera is not looked at any more once the arm moves. "unbiased camera": without the
  errors that all pictures share, calibration included; "exact camera": without those of single pictures too."""


def _picks_of(seed: int) -> dict[tuple[str, str], Pick]:
    """Pick in the scenes of one seed."""
    return {(task, variant): pick(task, variant, seed) for task, variant in _CASES}


def run_picking(seeds: int = _SEEDS, *, jobs: int = 1, progress: bool = False) -> Picking:
    """Pick in random scenes, with the hand and with the tool, in all variants.

    Parameters
    ----------
    seeds : int
        Number of scenes of each task, those of the seeds from `FIRST_SEED` on.
    jobs : int
        Processes.
    progress : bool
        Show bars.
    """
    scenes = range(FIRST_SEED, FIRST_SEED + whole(seeds, "seeds", 1))
    found = map_seeds(_picks_of, scenes, jobs=jobs, progress=progress, description="picking")
    return Picking(len(found), {key: [one[key] for one in found] for key in _CASES})


def run(quick: bool = False, *, seeds: int | None = None, jobs: int = 1) -> Picking:
    """Run the experiment.

    Parameters
    ----------
    quick : bool
        Few scenes.
    seeds : int, optional
        Number of scenes of each task.
    jobs : int
        Processes.
    """
    default = _QUICK_SEEDS if quick else _SEEDS
    return run_picking(default if seeds is None else seeds, jobs=jobs, progress=not quick)
