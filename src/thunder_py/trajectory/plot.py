"""Figures of timing laws and of planned paths."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from ..checks import Array, array
from ..errors import ThunderError
from ..plotting.panels import draw_curves, label_column, panels
from ..plotting.style import TRUTH, VERMILION

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from ..reference import JointReference, TaskReference
    from . import Plan, TimeOptimalTrajectory, TimingLaw

_SAMPLES = 801


def plot_timing_law(
    law: TimingLaw, *, axes: Mapping[str, Axes] | None = None, label: str | None = None
) -> dict[str, Axes]:
    """Draw value, velocity and acceleration over time; see `TimingLaw.plot`."""
    labels = {"s": "value", "ds": "velocity [1/s]", "dds": "acceleration [1/s²]"}
    drawn = panels(axes, list(labels), (8.0, 6.6), sharex=True)
    # both sides of every break: accelerations of trapezoidal laws jump there
    edges = np.concatenate([np.nextafter(law.breaks, -np.inf)[1:], law.breaks[:-1]])
    t = np.sort(np.concatenate([np.linspace(0.0, np.nextafter(law.duration, 0.0), _SAMPLES), edges]))
    state = law(t)._asdict()
    for name, axis in drawn.items():
        draw_curves(axis, t, state[name], labels[name], together=label)
    label_column(drawn)
    return drawn


def plot_plan(plan: Plan, *, axes: Mapping[str, Axes] | None = None) -> dict[str, Axes]:
    """Draw joint positions and clearance along a path; see `Plan.plot`."""
    drawn = panels(axes, ["q", "clearance"], (8.0, 4.4), sharex=True)
    fraction = plan.fraction
    if (axis := drawn.get("q")) is not None:
        draw_curves(axis, fraction, plan.path, "position [rad, m]", plan.field.robot.joint_names)
    if (axis := drawn.get("clearance")) is not None:
        axis.plot(fraction, plan.clearance, linewidth=1.2, label="clearance")
        axis.axhline(plan.margin, color=VERMILION, linestyle="--", label="margin")
        axis.legend(fontsize="small")
        axis.set_ylabel("clearance [m]")
        axis.grid(visible=True, alpha=0.3)
    label_column(drawn, f"part of the path ({plan.status})")
    return drawn


_AXES = ("x", "y", "z")
_PANELS = {"p": "position [m]", "v": "velocity [m/s]", "w": "angular velocity [rad/s]"}
_LABELS = ("position [rad, m]", "velocity [rad/s, m/s]", "acceleration [rad/s², m/s²]")


def plot_joint_reference(
    reference: Callable[[npt.ArrayLike], JointReference],
    duration: float | None = None,
    *,
    axes: Mapping[str, Axes] | None = None,
) -> dict[str, Axes]:
    """Draw q, dq and ddq of a reference over time; see `SetPoint.plot`."""
    t = _times(reference, duration)
    drawn = panels(axes, ["q", "dq", "ddq"], (8.0, 6.5), sharex=True)
    values = reference(t)._asdict()
    labels = dict(zip(values, _LABELS, strict=True))
    for name, axis in drawn.items():
        joints = [f"joint {i + 1}" for i in range(values[name].shape[1])]
        draw_curves(axis, t, values[name], labels[name], joints)
    label_column(drawn)
    return drawn


def plot_time_optimal(
    motion: TimeOptimalTrajectory, duration: float | None = None, *, axes: Mapping[str, Axes] | None = None
) -> dict[str, Axes]:
    """Draw motion, torques and usage of limits over time; see `TimeOptimalTrajectory.plot`."""
    t = _times(motion, duration)
    drawn = panels(axes, ["q", "dq", "ddq", "tau", "usage"], (8.0, 10.0), sharex=True)
    values: dict[str, Array] = {**motion(t)._asdict(), "tau": motion.torque(t)}
    labels = dict(zip(values, (*_LABELS, "torque, force [N m, N]"), strict=True))
    for name, axis in drawn.items():
        if name != "usage":
            draw_curves(axis, t, values[name], labels[name], motion.robot.joint_names)
            continue
        for kind, usage in motion.usage(t).items():
            if np.isfinite(motion.limits[kind]).any():
                axis.plot(t, usage.max(axis=1), linewidth=1.2, label=kind)
        axis.axhline(1.0, color=VERMILION, linestyle="--", linewidth=1.0)
        axis.set_ylabel("largest part of the limits")
        axis.grid(visible=True, alpha=0.3)
        axis.legend(fontsize="small")
    label_column(drawn)
    return drawn


def plot_task_reference(
    reference: Callable[[npt.ArrayLike], TaskReference],
    duration: float | None = None,
    *,
    axes: Mapping[str, Axes] | None = None,
) -> dict[str, Axes]:
    """Draw the path in space, and position, velocity and angular velocity over time; see `Lissajous.plot`.

    The `key_points` of a reference that has them are marked, hollow if `over_flown`.
    """
    t = _times(reference, duration)
    at = reference(t)
    layout = [["path", name] for name in _PANELS]
    drawn = panels(axes, layout, (11.0, 6.0), spatial=["path"], width_ratios=[1.2, 1.0])
    values = {"p": at.p, "v": at.xi[:, :3], "w": at.xi[:, 3:]}
    for name, axis in drawn.items():
        if name == "path":
            _draw_path(axis, reference, at.p)
        else:
            draw_curves(axis, t, values[name], _PANELS[name], _AXES)
            axis.set_xlabel("time [s]")
    return drawn


def _times(reference: object, duration: float | None) -> Array:
    length = getattr(reference, "duration", None) if duration is None else float(array(duration, (), "duration"))
    if length is None:
        raise ThunderError(f"duration must be given for a {type(reference).__name__}, which has none")
    if not length > 0.0:
        raise ThunderError(f"duration must be positive, got {length:g}")
    start = float(getattr(reference, "start_time", 0.0))
    return np.linspace(start, start + length, _SAMPLES)


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
