"""Matplotlib window of an arm with a slider for every joint."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from ..checks import array
from ..plotting.space import frame_box
from ..robot.frames import arm_points, default_posture

if TYPE_CHECKING:
    from ..io.meshes import Meshes
    from ..robot import Robot

_SAMPLES = 300


def slider_window(robot: Robot, q: npt.ArrayLike | None = None, *, meshes: Meshes | None = None) -> list[Any]:
    """Create a figure with an arm and sliders that move it; ``matplotlib.pyplot.show()`` opens it.

    Parameters
    ----------
    robot : Robot
        Any arm.
    q : (n,) array_like, optional
        Initial joint positions [rad or m]; default the middle of the joint limits.
    meshes : Meshes, optional
        Meshes of the links.

    Returns
    -------
    list of matplotlib.widgets.Slider
        One for each joint; they stop responding when they are garbage collected.
    """
    from matplotlib.pyplot import figure as new_figure
    from matplotlib.widgets import Slider

    from ..robot.plot import ArmPicture

    start = default_posture(robot) if q is None else array(q, (robot.n,), "q")
    lower, upper = robot.limits.lower, robot.limits.upper
    wide = np.where([kind == "R" for kind in robot.joint_types], np.pi, 1.0)
    lower = np.where(np.isfinite(lower), lower, np.minimum(-wide, np.where(np.isfinite(upper), upper - wide, 0.0)))
    upper = np.where(np.isfinite(upper), upper, np.maximum(wide, lower + wide))
    figure = new_figure(figsize=(9.0, 5.5))
    axes: Any = figure.add_axes((0.0, 0.02, 0.62, 0.96), projection="3d")
    picture = ArmPicture(axes, robot, start, meshes=meshes)
    reach = arm_points(robot, np.random.default_rng(0).uniform(lower, upper, (_SAMPLES, robot.n)))
    frame_box(axes, [reach, *picture.extent()])
    height = min(0.08, 0.9 / robot.n)
    sliders = [
        Slider(
            figure.add_axes((0.72, 0.95 - (k + 1) * height, 0.18, 0.6 * height)),
            robot.joint_names[k],
            float(min(lower[k], start[k])),
            float(max(upper[k], start[k])),
            valinit=float(start[k]),
        )
        for k in range(robot.n)
    ]

    def move(_: float) -> None:
        picture.move(np.array([slider.val for slider in sliders]))
        figure.canvas.draw_idle()

    for slider in sliders:
        slider.on_changed(move)
    return sliders
