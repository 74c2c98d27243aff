"""Plots of a detection in a point cloud."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from ...plotting.panels import panels
from ...plotting.space import draw_frame, frame_box
from ...plotting.style import AXIS_COLORS, BLUE, FAINT, GRAY, ORANGE, TRUTH, tidy

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from ...checks import Array
    from .detection import Detection

_TABLE, _OTHER, _CLUSTER, _SURFACE = FAINT, GRAY, BLUE, ORANGE


def plot_detection(detection: Detection, *, axes: Mapping[str, Axes] | None = None) -> dict[str, Axes]:
    """Plot the stages of a detection in space and from above, with the object's axes at its center."""
    # the empty panel is room for the labels of 3-D axes
    widths = [1.0, 0.06, 1.0]
    drawn = panels(axes, [["space", ".", "above"]], (10.5, 4.8), spatial=["space"], width_ratios=widths)
    nearby = _nearby(detection)
    if (space := drawn.get("space")) is not None:
        for _, color, rows in _stages(detection):
            space.scatter(*detection.points[rows & nearby].T, s=2.0, color=color, depthshade=False)
        frame_box(space, [detection.points[nearby]])
        if detection.pose is not None:
            draw_frame(space, detection.pose, _length(detection))
    if (above := drawn.get("above")) is not None:
        for label, color, rows in _stages(detection):
            points = detection.points[rows & nearby]
            above.scatter(points[:, 0], points[:, 1], s=3.0, color=color, label=f"{label} ({len(points)})")
        above.set(xlabel="x [m]", ylabel="y [m]", aspect="equal")
        above.set_title(detection.reason or _summary(detection), fontsize="medium")
        if detection.pose is not None:
            _draw_axes(above, detection, detection.pose)
        if len(detection.points):
            above.legend(fontsize="small", loc="upper left", bbox_to_anchor=(1.0, 1.0), markerscale=1.5)
        tidy(above)
    return drawn


def _stages(detection: Detection) -> list[tuple[str, str, Any]]:
    cluster = (
        np.zeros(len(detection.points), dtype=bool)
        if detection.chosen is None
        else detection.groups == detection.chosen
    )
    others = ~detection.on_table & ~cluster
    stages = [
        ("table", _TABLE, detection.on_table),
        ("other points", _OTHER, others),
        ("object", _CLUSTER, cluster & ~detection.surface),
        ("its upper surface" if detection.planar else "object, no plane", _SURFACE, detection.surface),
    ]
    return [stage for stage in stages if stage[2].any()]


def _summary(detection: Detection) -> str:
    assert detection.size is not None
    size = " x ".join(f"{100.0 * x:.1f}" for x in detection.size)
    return f"{size} cm, " + ("no yaw" if detection.yaw is None else f"yaw {np.degrees(detection.yaw):.1f}°")


def _draw_axes(axes: Axes, detection: Detection, pose: Array) -> None:
    assert detection.centroid is not None
    length = _length(detection)
    for column, color in zip(pose[:3, :2].T, AXIS_COLORS, strict=False):
        line = np.stack([pose[:3, 3] - length * column, pose[:3, 3] + length * column])
        axes.plot(*line[:, :2].T, color=color, linewidth=1.5)
    axes.plot(*pose[:2, 3], "o", color=TRUTH, markersize=5, label="center")
    axes.plot(*detection.centroid[:2], "x", color=TRUTH, markersize=5, label="centroid of the points")


def _nearby(detection: Detection) -> Any:
    """Return the points around the object, or all if there is none."""
    if detection.center is None:
        return np.ones(len(detection.points), dtype=bool)
    return np.linalg.norm(detection.points - detection.center, axis=1) <= 4.0 * _length(detection)


def _length(detection: Detection) -> float:
    assert detection.size is not None
    return 0.5 * float(max(detection.size))
