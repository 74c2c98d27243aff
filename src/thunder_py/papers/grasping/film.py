"""Films of grasps: the scene, and in a corner the camera's picture."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from ...mujoco.camera import Picture
from ...mujoco.rendering import Drawer, Offscreen, film_writer
from ...mujoco.world.drive import Watcher
from ...mujoco.world.grasp_world import GraspWorld
from ...optional import require

_SIZE, _FPS = (640, 480), 30.0
#: direction of the view [deg] and distance [m], point in the middle [m]
_VIEW, _LOOKAT = (145.0, -22.0, 1.7), (0.45, -0.15, 0.25)
#: depths of black and white in the picture of depths [m]
_NEAR, _FAR = 0.5, 1.6


class WorldView(Drawer):
    """View of a world for films; close it, or use it in a ``with`` statement.

    Parameters
    ----------
    world : GraspWorld
        World to film.
    """

    def __init__(self, world: GraspWorld) -> None:
        mujoco = require("mujoco", "mujoco")
        self._world, model = world, world.model
        screen = model.vis.global_
        screen.offwidth, screen.offheight = max(screen.offwidth, _SIZE[0]), max(screen.offheight, _SIZE[1])
        self._screen = Offscreen(model, *_SIZE, model.ngeom + 100)
        self._camera = mujoco.MjvCamera()
        self._camera.azimuth, self._camera.elevation, self._camera.distance = _VIEW
        self._camera.lookat[:] = _LOOKAT

    def draw(self, picture: Picture) -> npt.NDArray[np.uint8]:
        """Return the scene, with colors and depths of a camera's picture in the upper corners."""
        self._screen.update(self._world.data, self._camera)
        whole = self._screen.read()
        gray = np.clip(255.0 * (_FAR - np.nan_to_num(picture.depth, nan=_FAR)) / (_FAR - _NEAR), 0.0, 255.0)
        depth = np.repeat(gray.astype(np.uint8)[..., None], 3, axis=2)
        height, width = picture.depth.shape
        whole[:height, :width] = picture.color
        whole[:height, -width:] = depth
        return whole


def film_world(path: str | Path, trials: Sequence[Callable[[Watcher], object]]) -> int:
    """Run trials and write a film of them.

    Parameters
    ----------
    path : path-like
        Path that ends in ``.mp4`` or ``.gif``.
    trials : sequence of callable
        Each runs a trial and calls its argument with the world and every picture; they follow each other in real time.

    Returns
    -------
    int
        Number of pictures.
    """
    with film_writer(path, _FPS) as write:
        return sum(_film(trial, write) for trial in trials)


def _film(trial: Callable[[Watcher], object], write: Callable[[npt.NDArray[np.uint8]], Any]) -> int:
    views: list[WorldView] = []
    count = 0

    def watch(world: GraspWorld, picture: Picture) -> None:
        nonlocal count
        if not views:
            views.append(WorldView(world))
        write(views[0].draw(picture))
        count += 1

    try:
        trial(watch)
    finally:
        for view in views:
            view.close()
    return count
