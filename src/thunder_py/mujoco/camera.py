"""A color and depth camera in a world of MuJoCo."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from ..checks import Array, nonnegative, of_kind, positive, whole
from ..errors import ThunderError
from ..optional import LazyModule
from ..perception.clouds.scenes import DepthCamera
from .rendering import Drawer, Offscreen

mujoco: Any = LazyModule("mujoco", "mujoco")
#: shadows, mirrors and haze take most of the time of a picture and do not change depths
_OFF = ("SHADOW", "REFLECTION", "SKYBOX", "HAZE", "FOG")
#: shapes in a picture besides those of the model
_MORE = 100


class Picture(NamedTuple):
    """A picture with colors and depths.

    Attributes
    ----------
    color : (height, width, 3) array of uint8
        Red, green and blue of every pixel.
    depth : (height, width) array
        Depth along the optical axis [m], NaN where nothing was measured.

    Examples
    --------
    >>> import numpy as np
    >>> from thunder_py.mujoco import Picture
    >>> Picture(np.zeros((4, 6, 3), np.uint8), np.full((4, 6), np.nan)).depth.shape
    (4, 6)
    """

    color: npt.NDArray[np.uint8]
    depth: Array


class RenderedCamera(Drawer):
    """Color and depth camera that renders a world of MuJoCo; close it, or use it in a ``with`` statement.

    What is in front hides what is behind it, the robot's own hand included. Depths have the noise, quantization and
    holes of a `DepthCamera`; colors have a brightness that changes between pictures, and noise.

    Parameters
    ----------
    model : mujoco.MjModel
        The world.
    camera : DepthCamera
        Lens without distortion, pose in the world, and errors of depth.
    exposure : float
        Factor on the rendered brightness; bright parts saturate.
    exposure_deviation : float
        Standard deviation of its logarithm, from picture to picture.
    color_noise : float
        Standard deviation of the noise of colors, in gray values from 0 to 255.
    seed : int
        Seed of all errors.

    Raises
    ------
    ThunderError
        If an argument is invalid, or no OpenGL backend works.
    ModuleNotFoundError
        If MuJoCo is not installed.

    Notes
    -----
    The rasterizer's view frustum is that of the lens: a pixel (u, v) covers u - 1/2 to u + 1/2. Depths come from its
    z-buffer.

    Examples
    --------
    >>> import mujoco
    >>> from thunder_py.mujoco import RenderedCamera
    >>> from thunder_py.perception import PinholeCamera
    >>> from thunder_py.perception.clouds import DepthCamera, look_at
    >>> box = '<mujoco><worldbody><geom type="box" size=".1 .1 .1" pos="0 0 .1"/></worldbody></mujoco>'
    >>> model = mujoco.MjModel.from_xml_string(box)
    >>> data = mujoco.MjData(model)
    >>> mujoco.mj_forward(model, data)
    >>> lens = PinholeCamera.from_field_of_view(64, 48, 0.8)
    >>> with RenderedCamera(model, DepthCamera(lens, look_at((0.0, -1.0, 0.1), (0.0, 0.0, 0.1)))) as camera:
    ...     picture = camera.see(data)
    >>> picture.color.shape, round(float(picture.depth[24, 32]), 3)
    ((48, 64, 3), 0.9)
    """

    def __init__(
        self,
        model: Any,
        camera: DepthCamera,
        *,
        exposure: float = 1.0,
        exposure_deviation: float = 0.0,
        color_noise: float = 0.0,
        seed: int = 0,
    ) -> None:
        self._model = of_kind(model, mujoco.MjModel, "model")
        if np.any(of_kind(camera, DepthCamera, "camera").camera.distortion):
            raise ThunderError("camera must have no distortion: its pictures are rendered with straight rays")
        self.camera = camera
        self._exposure = positive(exposure, "exposure")
        self._deviation = nonnegative(exposure_deviation, "exposure_deviation")
        self._noise = nonnegative(color_noise, "color_noise")
        self._seed, self._lens = whole(seed, "seed", 0), camera.camera
        size = (self._lens.width, self._lens.height)
        _make_room(model, size)
        self._screen = Offscreen(model, *size, model.ngeom + _MORE)
        for name in _OFF:
            self._screen.scene.flags[getattr(mujoco.mjtRndFlag, f"mjRND_{name}")] = False
        self._view = mujoco.MjvCamera()
        self._nonlinear = np.empty((size[1], size[0]), dtype=np.float32)
        self.reset()

    def reset(self) -> None:
        """Start again, with the same noise."""
        # colors have draws of their own, so that depths do not depend on their settings
        self._depth_rng, self._color_rng = np.random.default_rng(self._seed).spawn(2)

    def see(self, data: Any) -> Picture:
        """Return a picture of the world as it is.

        Parameters
        ----------
        data : mujoco.MjData
            Of the model, with the poses of all bodies, as after ``mj_step`` or ``mj_forward``.

        Raises
        ------
        ThunderError
            If the data are not those of the model or a copy of it, or the camera is closed.
        """
        color, depth = self.see_exactly(data)
        return Picture(self._exposed(color), self.camera.measure(depth, self._depth_rng))

    def see_exactly(self, data: Any) -> Picture:
        """Return a picture without errors; the depth is infinite where there is nothing."""
        if self._screen.closed:
            raise ThunderError("this RenderedCamera is closed; create a new one")
        model = of_kind(data, mujoco.MjData, "data").model
        if model is not self._model and _sizes(model) != _sizes(self._model):
            raise ThunderError("data must be of the model of this RenderedCamera, got data of another model")
        self._place()  # lights of the scene depend on the camera, and updating replaces it
        self._screen.update(data, self._view)
        self._place()
        color = self._screen.read(self._nonlinear)
        near, far = self.camera.near, self.camera.far
        z = self._nonlinear.astype(np.float64)
        depth = near * far / (far - z * (far - near))
        return Picture(color, np.where(z < 1.0, depth, np.inf))

    def _place(self) -> None:
        """Set pose and frustum of the scene's camera; it has one for each eye, whose mean is used."""
        lens, T, near = self._lens, np.asarray(self.camera.pose), self.camera.near
        left, right = (near * (u - lens.cx) / lens.fx for u in (-0.5, lens.width - 0.5))
        top, bottom = (-near * (v - lens.cy) / lens.fy for v in (-0.5, lens.height - 0.5))
        for eye in self._screen.scene.camera:
            eye.pos, eye.forward, eye.up = T[:3, 3], T[:3, 2], -T[:3, 1]
            eye.frustum_near, eye.frustum_far = near, self.camera.far
            eye.frustum_center, eye.frustum_width = (left + right) / 2.0, (right - left) / 2.0
            eye.frustum_top, eye.frustum_bottom = top, bottom

    def _exposed(self, color: npt.NDArray[np.uint8]) -> npt.NDArray[np.uint8]:
        if self._exposure == 1.0 and self._deviation == self._noise == 0.0:
            return color
        light = color * (self._exposure * np.exp(self._deviation * self._color_rng.normal()))
        if self._noise > 0.0:
            light += self._noise * self._color_rng.normal(size=color.shape)
        exposed: npt.NDArray[np.uint8] = np.clip(np.round(light), 0.0, 255.0).astype(np.uint8)
        return exposed


def _sizes(model: Any) -> dict[str, int]:
    """Return all numbers of elements by name: those of copies are equal, which MuJoCo's signature does not promise."""
    return {name: size for name in dir(model) if name[0] == "n" and isinstance(size := getattr(model, name), int)}


def _make_room(model: Any, size: tuple[int, int]) -> None:
    """Make the model's off-screen buffer large enough; one sample per pixel, as depths cannot be averaged."""
    screen = model.vis.global_
    screen.offwidth, screen.offheight = max(screen.offwidth, size[0]), max(screen.offheight, size[1])
    model.vis.quality.offsamples = 0
