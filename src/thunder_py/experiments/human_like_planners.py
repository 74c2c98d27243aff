"""The planners that the human arm follows, each brought to the same form: a scene in, a sampled motion out."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TypeAlias

from ..motion import MotionSet
from ..trajectory import Line, Orientation, min_jerk
from .human_like_samples import HandMotion
from .human_like_tasks import Scene

__all__ = ["AVOIDING", "METHODS", "Planner", "planners"]

Planner: TypeAlias = Callable[[Scene], HandMotion]

METHODS = ("minimum jerk",)
#: those that go round obstacles; the others do as if there were none
AVOIDING = ("paper mode", "MAP", "DMP mollifier", "DMP Gaussian")


def planners(names: Iterable[str] = METHODS, motions: MotionSet | None = None) -> dict[str, Planner]:
    """Return planners by name."""
    return {name: minimum_jerk for name in names}


def minimum_jerk(scene: Scene) -> HandMotion:
    """Straight to the goal, turning about one axis, both with the minimum-jerk law; obstacles are not looked at."""
    a, b = scene.start, scene.goal
    turning = Orientation.through([a[:3, :3], b[:3, :3]], scene.duration)
    line = Line(a[:3, 3], b[:3, 3], min_jerk(scene.duration), orientation=turning)
    return HandMotion.of(line, scene.duration)
