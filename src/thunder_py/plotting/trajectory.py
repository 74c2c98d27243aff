"""Figures of timing laws and of planned paths."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from ..trajectory import Plan, TimingLaw

__all__ = ["plot_plan", "plot_timing_law"]

_SAMPLES = 801


def plot_timing_law(
    law: TimingLaw, *, axes: Mapping[str, Axes] | None = None, label: str | None = None
) -> dict[str, Axes]:
    """Draw value, velocity and acceleration over time; see `TimingLaw.plot`."""
    panels = {"s": "value", "ds": "velocity [1/s]", "dds": "acceleration [1/s²]"}
    drawn = _axes(axes, tuple(panels))
    # both sides of every break, where accelerations of trapezoids jump
    edges = np.concatenate([np.nextafter(law.breaks, -np.inf)[1:], law.breaks[:-1]])
    t = np.sort(np.concatenate([np.linspace(0.0, np.nextafter(law.duration, 0.0), _SAMPLES), edges]))
    state = law(t)._asdict()
    for name, axis in drawn.items():
        axis.plot(t, state[name], linewidth=1.2, label=label)
        axis.set_ylabel(panels[name])
        axis.set_xlabel("time [s]")
        axis.grid(visible=True, alpha=0.3)
    return drawn


def plot_plan(plan: Plan, *, axes: Mapping[str, Axes] | None = None) -> dict[str, Axes]:
    """Draw joint positions and clearance along a path; see `Plan.plot`."""
    drawn = _axes(axes, ("q", "clearance"))
    way = np.concatenate([[0.0], np.cumsum(np.linalg.norm(np.diff(plan.path, axis=0), axis=1))])
    part = way / way[-1] if way[-1] > 0.0 else way
    if (axis := drawn.get("q")) is not None:
        lines = axis.plot(part, plan.path, linewidth=1.2)
        axis.legend(lines, [f"joint {i + 1}" for i in range(len(lines))], ncols=2, fontsize="small")
        axis.set_ylabel("position [rad, m]")
    if (axis := drawn.get("clearance")) is not None:
        axis.plot(part, plan.clearance, linewidth=1.2, label="clearance")
        axis.axhline(plan.margin, color="#D55E00", linestyle="--", label="asked for")
        axis.legend(fontsize="small")
        axis.set_ylabel("clearance [m]")
    for axis in drawn.values():
        axis.set_xlabel(f"part of the path ({plan.status})")
        axis.grid(visible=True, alpha=0.3)
    return drawn


def _axes(axes: Mapping[str, Axes] | None, names: Sequence[str]) -> dict[str, Axes]:
    if axes is None:
        from matplotlib.pyplot import subplots

        _, column = subplots(len(names), sharex=True, figsize=(8.0, 2.2 * len(names)), layout="constrained")
        return dict(zip(names, column, strict=True))
    if unknown := set(axes) - set(names):
        raise ValueError(f"axes must be named {', '.join(names)}, got {', '.join(sorted(unknown))}")
    return dict(axes)
