"""Figures of timing laws and of planned paths."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from ..checks import Array, array
from ..plotting.style import TRUTH, VERMILION

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from ..reference import JointReference, TaskReference
    from . import Plan, TimingLaw

__all__ = ["plot_joint_reference", "plot_plan", "plot_task_reference", "plot_timing_law"]

_SAMPLES = 801


def plot_timing_law(
    law: TimingLaw, *, axes: Mapping[str, Axes] | None = None, label: str | None = None
) -> dict[str, Axes]:
    """Draw value, velocity and acceleration over time; see `TimingLaw.plot`."""
    panels = {"s": "value", "ds": "velocity [1/s]", "dds": "acceleration [1/s²]"}
    drawn = _axes(axes, tuple(panels))
    # both sides of every break: accelerations of trapezoidal laws jump there
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
    length = np.concatenate([[0.0], np.cumsum(np.linalg.norm(np.diff(plan.path, axis=0), axis=1))])
    fraction = length / length[-1] if length[-1] > 0.0 else length
    if (axis := drawn.get("q")) is not None:
        lines = axis.plot(fraction, plan.path, linewidth=1.2)
        axis.legend(lines, [f"joint {i + 1}" for i in range(len(lines))], ncols=2, fontsize="small")
        axis.set_ylabel("position [rad, m]")
    if (axis := drawn.get("clearance")) is not None:
        axis.plot(fraction, plan.clearance, linewidth=1.2, label="clearance")
        axis.axhline(plan.margin, color=VERMILION, linestyle="--", label="margin")
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


_AXES = ("x", "y", "z")
_PANELS = {"p": "position [m]", "v": "velocity [m/s]", "w": "angular velocity [rad/s]"}


def plot_joint_reference(
    reference: Callable[[npt.ArrayLike], JointReference],
    duration: float | None = None,
    *,
    axes: Sequence[Axes] | None = None,
) -> npt.NDArray[np.object_]:
    """Draw q, dq and ddq over time.

    Parameters
    ----------
    reference : callable
        Called with an array of times.
    duration : float, optional
        [s]; default the reference's own.
    axes : sequence of three Axes, optional
        Default a new figure.

    Returns
    -------
    (3,) array of Axes
        For q, dq and ddq.
    """
    t = _times(reference, duration)
    if axes is None:
        from matplotlib.pyplot import subplots

        axes = subplots(3, sharex=True, figsize=(8.0, 6.5), layout="constrained")[1]
    drawn = np.ravel(np.asarray(axes, dtype=object))
    if len(drawn) != 3:
        raise ValueError(f"axes must be 3 (q, dq, ddq), got {len(drawn)}")
    labels = ("position [rad, m]", "velocity [rad/s, m/s]", "acceleration [rad/s², m/s²]")
    for axis, values, label in zip(drawn, reference(t), labels, strict=True):
        _draw(axis, t, values, label, [f"joint {i + 1}" for i in range(values.shape[1])])
    drawn[-1].set_xlabel("time [s]")
    return drawn


def plot_task_reference(
    reference: Callable[[npt.ArrayLike], TaskReference],
    duration: float | None = None,
    *,
    axes: Mapping[str, Axes] | None = None,
) -> dict[str, Axes]:
    """Draw the path in space, and position, velocity and angular velocity over time.

    Parameters
    ----------
    reference : callable
        Called with an array of times. Its `key_points`, if any, are marked, hollow if `over_flown`.
    duration : float, optional
        [s]; default the reference's own.
    axes : mapping of str to Axes, optional
        ``"path"`` (three-dimensional), ``"p"``, ``"v"``, ``"w"``; default a new figure.

    Returns
    -------
    dict of str to Axes
        One per panel.
    """
    t = _times(reference, duration)
    at = reference(t)
    drawn = _new_axes() if axes is None else dict(axes)
    if unknown := set(drawn) - {"path", *_PANELS}:
        raise ValueError(f"axes must be named path, p, v or w, got {', '.join(sorted(unknown))}")
    if "path" in drawn:
        _draw_path(drawn["path"], reference, at.p)
    values = {"p": at.p, "v": at.xi[:, :3], "w": at.xi[:, 3:]}
    for name in (name for name in _PANELS if name in drawn):
        _draw(drawn[name], t, values[name], _PANELS[name], _AXES)
        drawn[name].set_xlabel("time [s]")
    return drawn


def _times(reference: object, duration: float | None) -> Array:
    length = getattr(reference, "duration", None) if duration is None else float(array(duration, (), "duration"))
    if length is None:
        raise ValueError(f"duration must be given for a {type(reference).__name__}, which has none")
    if not length > 0.0:
        raise ValueError(f"duration must be positive, got {length:g}")
    start = float(getattr(reference, "start_time", 0.0))
    return np.linspace(start, start + length, _SAMPLES)


def _new_axes() -> dict[str, Axes]:
    from matplotlib.pyplot import figure

    layout: Any = [["path", name] for name in _PANELS]
    return dict(
        figure(figsize=(11.0, 6.0), layout="constrained").subplot_mosaic(
            layout, width_ratios=[1.2, 1.0], per_subplot_kw={"path": {"projection": "3d"}}
        )
    )


def _draw_path(axis: Any, reference: object, p: Array) -> None:
    axis.plot(*p.T, linewidth=1.5)
    points = np.asarray(getattr(reference, "key_points", p[[0, -1]]))
    passed = np.asarray(getattr(reference, "over_flown", np.zeros(len(points), dtype=bool)))
    axis.scatter(*points[~passed].T, s=18, color=TRUTH, depthshade=False)
    axis.scatter(*points[passed].T, s=22, facecolors="none", edgecolors=TRUTH, depthshade=False)
    spans = np.maximum(np.ptp(np.vstack([p, points]), axis=0), 0.05 * np.ptp(p, axis=0).max())
    if spans.max() > 0.0:
        axis.set_box_aspect(spans)
    axis.set(xlabel="x [m]", ylabel="y [m]", zlabel="z [m]")


def _draw(axis: Axes, t: Array, values: Array, label: str, names: Sequence[str]) -> None:
    lines = axis.plot(t, values, linewidth=1.2)
    axis.set_ylabel(label)
    axis.grid(visible=True, alpha=0.3)
    if len(names) <= 12:
        axis.legend(lines, names, ncols=2, fontsize="small")
