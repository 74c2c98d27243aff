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

    from .detection import Detection


def plot_detection(detection: Detection, *, axes: Mapping[str, Axes] | None = None) -> dict[str, Axes]:
    """Plot the stages of a detection in space and from above, with the object's axes at its center."""
    # the empty panel is room for the labels of 3-D axes
    drawn = panels(axes, [["space", ".", "above"]], (10.5, 4.8), spatial=["space"], width_ratios=[1.0, 0.06, 1.0])
    points, pose = detection.points, detection.pose
    length = 0.5 * float(max(detection.size)) if detection.size is not None else np.inf
    middle = np.zeros(3) if detection.center is None else detection.center
    nearby = np.linalg.norm(points - middle, axis=1) <= 4.0 * length  # all points without an object
    stages = [(label, color, points[rows & nearby]) for label, color, rows in _stages(detection) if rows.any()]
    if (space := drawn.get("space")) is not None:
        for _, color, shown in stages:
            space.scatter(*shown.T, s=2.0, color=color, depthshade=False)
        frame_box(space, [points[nearby]])
        if pose is not None:
            draw_frame(space, pose, length)
    if (above := drawn.get("above")) is not None:
        for label, color, shown in stages:
            above.scatter(*shown[:, :2].T, s=3.0, color=color, label=f"{label} ({len(shown)})")
        above.set(xlabel="x [m]", ylabel="y [m]", aspect="equal")
        above.set_title(detection.reason or _summary(detection), fontsize="medium")
        if pose is not None and detection.centroid is not None:
            for column, color in zip(pose[:3, :2].T, AXIS_COLORS, strict=False):
                above.plot(*(pose[:3, 3] + length * np.outer([-1.0, 1.0], column))[:, :2].T, color=color, linewidth=1.5)
            above.plot(*pose[:2, 3], "o", color=TRUTH, markersize=5, label="center")
            above.plot(*detection.centroid[:2], "x", color=TRUTH, markersize=5, label="centroid of the points")
        if len(points):
            above.legend(fontsize="small", loc="upper left", bbox_to_anchor=(1.0, 1.0), markerscale=1.5)
        tidy(above)
    return drawn


def _stages(detection: Detection) -> list[tuple[str, str, Any]]:
    cluster = (detection.groups == detection.chosen) & (detection.chosen is not None)
    return [
        ("table", FAINT, detection.on_table),
        ("other points", GRAY, ~detection.on_table & ~cluster),
        ("object", BLUE, cluster & ~detection.surface),
        ("its upper surface" if detection.planar else "object, no plane", ORANGE, detection.surface),
    ]


def _summary(detection: Detection) -> str:
    assert detection.size is not None
    size = " x ".join(f"{100.0 * x:.1f}" for x in detection.size)
    yaw = "no yaw" if detection.yaw is None else f"yaw {np.degrees(detection.yaw):.1f}°"
    return f"{size} cm, {yaw}" + (", may be several objects" if detection.touching else "")
