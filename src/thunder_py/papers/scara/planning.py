"""SCARA project, chapter 2: counts and profiles of the path."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ...checks import Array
from ...trajectory import Line, Path
from ..drawing import drawing
from ..tables import markdown
from .kinematics import scara_path

#: counts in the report; its task requires 11 points, 1 straight, 1 circular portion and 4 via points
PRINTED_COUNTS = {"key points": 16, "straight portions": 12, "circular portions": 3, "via points": 5}


@dataclass(frozen=True, kw_only=True, eq=False)
class ScaraPlanning:
    """The path and its parts.

    Attributes
    ----------
    path : Path
        Outline of a ghost.
    """

    path: Path

    def counts(self) -> dict[str, int]:
        """Return the counts of `PRINTED_COUNTS` for our path."""
        straight = sum(isinstance(segment, Line) for segment in self.path.segments)
        numbers = (len(self.path.key_points), straight, len(self.path.segments) - straight, self.path.over_flown.sum())
        return dict(zip(PRINTED_COUNTS, map(int, numbers), strict=True))

    def angle(self, t: Array) -> Array:
        """Return the report's angle of the end effector, that of its y axis, over time, unwrapped, (k,) [rad]."""
        R = self.path(t).R
        return np.asarray(np.unwrap(np.arctan2(R[:, 1, 1], R[:, 0, 1])))

    def table(self) -> str:
        """Return the counts, distances from the first axis, times of the angle, largest speeds, as Markdown."""
        counts: list[list[object]] = [[name, PRINTED_COUNTS[name], number] for name, number in self.counts().items()]
        t = np.linspace(0.0, self.path.duration, 4001)
        states, angle = self.path(t), self.angle(t)
        reach = np.linalg.norm(states.p[:, :2], axis=1)
        turns = "0, pi, pi/2 at 0, 10, 20 s"
        ours = ", ".join(f"{angle[k] / np.pi:.2f} pi" for k in (0, 2000, 4000))
        rows: list[list[object]] = [
            *counts,
            ["angle", turns, ours],
            ["distance from the first axis [m]", "less than 1", f"{reach.min():.2f} to {reach.max():.2f}"],
            ["largest speed [m/s]", None, float(np.linalg.norm(states.xi[:, :3], axis=1).max())],
            ["largest acceleration [m/s2]", None, float(np.linalg.norm(states.xi_dot[:, :3], axis=1).max())],
        ]
        return markdown(["", "report", "ours"], rows)

    def to_dict(self) -> dict[str, Any]:
        """Return the report's counts and ours, and the duration and length of the path."""
        length = float(sum(segment.length for segment in self.path.segments))
        return {
            "report": PRINTED_COUNTS, "ours": self.counts(), "duration_s": self.path.duration, "length_m": length
        }  # fmt: skip

    plot = drawing("plot_path")
    plot_profiles = drawing("plot_profiles")


def run_planning() -> ScaraPlanning:
    """Return the path of `scara_path` with its counts."""
    return ScaraPlanning(path=scara_path())
