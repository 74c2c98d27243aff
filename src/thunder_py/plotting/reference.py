"""Figures of references and trajectories."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from ..checks import Array, array

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from ..reference import JointReference, TaskReference

__all__ = ["plot_joint_reference", "plot_task_reference"]

_SAMPLES = 801
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
        Called with an array of times. If it has `key_points`, these are marked, hollow where they are `over_flown`.
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
    given = getattr(reference, "duration", None) if duration is None else float(array(duration, (), "duration"))
    if given is None:
        raise ValueError(f"{type(reference).__name__} has no end: give a duration to draw")
    if not given > 0.0:
        raise ValueError(f"duration must be positive, got {given:g}")
    start = float(getattr(reference, "start_time", 0.0))
    return np.linspace(start, start + given, _SAMPLES)


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
    axis.scatter(*points[~passed].T, s=18, color="black", depthshade=False)
    axis.scatter(*points[passed].T, s=22, facecolors="none", edgecolors="black", depthshade=False)
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
