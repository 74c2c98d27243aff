"""Pictures and films of robots, rendered by MuJoCo with or without a display."""

from __future__ import annotations

import atexit
import ctypes
import importlib
import logging
import os
import sys
import weakref
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

import numpy as np
import numpy.typing as npt

from ..checks import Array, array, whole
from ..errors import ThunderError, nearest_hint
from ..files import whole_file
from ..optional import LazyModule, require
from ..plotting.animation import film_times, interpolated, save_gif
from ..progress import percentage
from ..robot import Robot
from ..robot.frames import default_posture
from .scene import Stage, stage

if TYPE_CHECKING:
    from ..io.meshes import Meshes

mujoco: Any = LazyModule("mujoco", "mujoco")
_LOG = logging.getLogger(__name__)

_D = TypeVar("_D", bound="Drawer")
#: OpenGL backends in the order of trial; glfw needs a display
BACKENDS = ("egl", "osmesa", "glfw")
_ADVICE = (
    "install one (Debian, Ubuntu: apt-get install libegl1 libgl1-mesa-dri, or libosmesa6), and choose with the "
    "environment variable MUJOCO_GL=egl or MUJOCO_GL=osmesa"
)
#: variable with the platform for which PyOpenGL was loaded; it cannot change in a process
_PLATFORM = "PYOPENGL_PLATFORM"


def has_display() -> bool:
    """Return whether there is a display for windows."""
    if not sys.platform.startswith("linux"):
        return True
    return bool(os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY"))


def backends() -> tuple[str, ...]:
    """Return the backends that may work here, the best first.

    ``MUJOCO_GL`` restricts them to the one that it names, and so does the platform for which OpenGL is loaded.
    """
    chosen = os.environ.get("MUJOCO_GL", "").strip().lower()
    if chosen in BACKENDS:
        return (chosen,)
    loaded = os.environ.get(_PLATFORM, "").strip().lower()
    usable = {"egl": _egl_devices() > 0, "osmesa": _library("libOSMesa.so.8", "libOSMesa.so"), "glfw": has_display()}
    if not sys.platform.startswith("linux"):
        return ("glfw",)
    return tuple(name for name in BACKENDS if usable[name] and loaded in ("", name))


def open_context(width: int, height: int) -> Any:
    """Return a current OpenGL context for off-screen rendering.

    PyOpenGL is bound to one backend for the life of the process. So the libraries are examined first, without
    PyOpenGL, and only usable ones are loaded.

    Parameters
    ----------
    width, height : int
        Size of the largest picture [pixels].

    Raises
    ------
    ThunderError
        If no backend works; the message lists the attempts and the packages to install.
    ModuleNotFoundError
        If MuJoCo is not installed.
    """
    require("mujoco", "mujoco")
    possible = backends()
    failed: list[str] = []
    for name in possible:
        before = os.environ.get(_PLATFORM)
        try:
            context = importlib.import_module(f"mujoco.{name}").GLContext(width, height)
            context.make_current()
            _LOG.info("drawing with %s%s", name, f" after {'; '.join(failed)}" if failed else "")
            return context
        except Exception as error:  # of ctypes, PyOpenGL or MuJoCo, of many kinds
            failed.append(f"{name}: {str(error) or type(error).__name__}")
            if before is None and "OpenGL.GL" not in sys.modules:
                os.environ.pop(_PLATFORM, None)
    tried = "; ".join(failed) or "neither EGL, OSMesa nor a display is there"
    raise ThunderError(f"MuJoCo cannot draw here ({tried}): {_ADVICE}")


def _egl_devices() -> int:
    """Return the number of devices of EGL, 0 without EGL."""
    try:
        egl = ctypes.CDLL("libEGL.so.1")
        egl.eglGetProcAddress.restype = ctypes.c_void_p
        address = egl.eglGetProcAddress(b"eglQueryDevicesEXT")
        if not address:
            return 0
        count = ctypes.c_int(0)
        kind = ctypes.CFUNCTYPE(ctypes.c_uint, ctypes.c_int, ctypes.c_void_p, ctypes.POINTER(ctypes.c_int))
        return count.value if kind(address)(0, None, ctypes.byref(count)) else 0
    except (OSError, AttributeError):
        return 0


def _library(*names: str) -> bool:
    for name in names:
        with suppress(OSError):
            return bool(ctypes.CDLL(name))
    return False


class Offscreen:
    """OpenGL context, scene and memory for pictures of a model.

    Parameters
    ----------
    model : mujoco.MjModel
        Model to render.
    width, height : int
        Size of the pictures [pixels].
    maximum : int
        Largest number of shapes in a picture.

    Attributes
    ----------
    scene : mujoco.MjvScene
        Scene that each picture updates.
    """

    def __init__(self, model: Any, width: int, height: int, maximum: int) -> None:
        self._gl = open_context(width, height)
        self._model, self._view = model, mujoco.MjrRect(0, 0, width, height)
        self.scene = mujoco.MjvScene(model, maxgeom=maximum)
        self._options = mujoco.MjvOption()
        self._options.sitegroup[:] = 0
        try:
            self._context = mujoco.MjrContext(model, mujoco.mjtFontScale.mjFONTSCALE_100.value)
        except mujoco.FatalError as error:  # GLFW tells of no display by an empty context
            self._gl.free()
            raise ThunderError(f"MuJoCo cannot draw here ({error}): {_ADVICE}") from None
        self._free = weakref.finalize(self, _free, self._gl, self._context)
        self._free.atexit = False
        _USED.add(self)
        _close_at_exit()
        mujoco.mjr_setBuffer(mujoco.mjtFramebuffer.mjFB_OFFSCREEN.value, self._context)

    @property
    def closed(self) -> bool:
        """True after `close`."""
        return not self._free.alive

    def close(self) -> None:
        """Free the memory."""
        self._free()

    def update(self, data: Any, camera: Any) -> None:
        """Update the scene from the poses in `data`, seen by a mujoco.MjvCamera."""
        # lights depend on the scene's camera, which otherwise would be that of the picture before
        mujoco.mjv_updateCamera(self._model, data, camera, self.scene)
        mujoco.mjv_updateScene(
            self._model, data, self._options, None, camera, mujoco.mjtCatBit.mjCAT_ALL.value, self.scene
        )

    def read(self, depth: npt.NDArray[np.float32] | None = None) -> npt.NDArray[np.uint8]:
        """Draw the scene and return colors (height, width, 3); the z-buffer (height, width) is written to `depth`."""
        self._gl.make_current()
        color = np.empty((self._view.height, self._view.width, 3), dtype=np.uint8)
        mujoco.mjr_render(self._view, self.scene, self._context)
        mujoco.mjr_readPixels(color, depth, self._view, self._context)
        if depth is not None:
            depth[:] = depth[::-1].copy()
        return color[::-1].copy()  # OpenGL counts rows from below


class Drawer:
    """Something that draws with an `Offscreen`: close it, or use it in a ``with`` statement."""

    _screen: Offscreen

    def close(self) -> None:
        """Free the graphics memory."""
        self._screen.close()

    def __enter__(self: _D) -> _D:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


_USED: weakref.WeakSet[Offscreen] = weakref.WeakSet()


@cache
def _close_at_exit() -> None:
    """Register the end of what is in use: after MuJoCo has registered that of its display, so that it comes first."""
    atexit.register(_close_all)


def _close_all() -> None:
    for one in list(_USED):
        one.close()


def _free(gl: Any, context: Any) -> None:
    """Free a context of MuJoCo in its own OpenGL context, to leave objects of others alone."""
    gl.make_current()
    context.free()
    gl.free()


_PATH, _TRACE = (0.0, 0.62, 0.45, 1.0), (0.0, 0.45, 0.70, 1.0)
#: segments of a line; the number of bodies in a picture is limited
_PIECES = 500
#: segments of a trace for each picture of a film
_FINER = 6
_FOVY = 45.0
#: number of colors of a GIF
_COLORS = 128
#: largest width and height of a picture [pixels]
_LARGEST = 4096


class Viewpoint(NamedTuple):
    """Viewpoint of a picture.

    Attributes
    ----------
    azimuth, elevation : float
        Direction of the view [deg]: azimuth 90 looks along y, elevation -90 straight down.
    distance : float or None
        Distance to `lookat` [m]; None shows most of the workspace.
    lookat : (3,) sequence of float or None
        Point in the middle of the picture [m]; None for the middle of the workspace.

    Examples
    --------
    >>> from thunder_py.mujoco import Viewpoint
    >>> Viewpoint(azimuth=90.0, distance=1.5)
    Viewpoint(azimuth=90.0, elevation=-18.0, distance=1.5, lookat=None)
    """

    azimuth: float = 140.0
    elevation: float = -18.0
    distance: float | None = None
    lookat: tuple[float, float, float] | None = None


class Renderer(Drawer):
    """Renderer of one robot; close it, or use it in a ``with`` statement.

    Parameters
    ----------
    robot : Robot or path-like
        A robot, or an MJCF file with its own shapes.
    width, height : int
        Size of the pictures [pixels], at most 4096.
    camera : Viewpoint or str, optional
        Viewpoint, or the name of a camera in the MJCF file.
    meshes : Meshes, optional
        Meshes of the links, from the URDF from which the robot was loaded; default capsules and cylinders.

    Attributes
    ----------
    stage : Stage
        Model and data.

    Raises
    ------
    ThunderError
        If an argument is invalid, or no OpenGL backend works; the message lists the packages to install.
    ModuleNotFoundError
        If MuJoCo is not installed.

    Examples
    --------
    >>> import numpy as np
    >>> import thunder_py as th
    >>> from thunder_py.mujoco import Renderer
    >>> with Renderer(th.Robot.load("panda"), 64, 48) as renderer:
    ...     pictures = [renderer.draw(np.full(7, q)) for q in (0.0, 0.3)]
    >>> pictures[0].shape, pictures[0].dtype.name, bool((pictures[0] != pictures[1]).any())
    ((48, 64, 3), 'uint8', True)
    """

    def __init__(
        self,
        robot: Robot | str | Path,
        width: int = 640,
        height: int = 480,
        *,
        camera: Viewpoint | str | None = None,
        meshes: Meshes | None = None,
    ) -> None:
        self.size = (whole(width, "width", 1, _LARGEST), whole(height, "height", 1, _LARGEST))
        self.stage = stage(robot, meshes, size=self.size)
        self._camera = _camera(self.stage, camera, self.size)
        self._screen = Offscreen(self.stage.model, *self.size, self.stage.model.ngeom + 2 * _PIECES + 100)
        self._screen.scene.flags[mujoco.mjtRndFlag.mjRND_FOG] = True

    def draw(
        self, q: npt.ArrayLike, *, path: npt.ArrayLike | None = None, trace: npt.ArrayLike | None = None
    ) -> npt.NDArray[np.uint8]:
        """Return a picture of the robot.

        Parameters
        ----------
        q : (n,) array_like
            Joint positions [rad or m].
        path, trace : (K, 3) array_like, optional
            A green and a blue line in the world [m]; where they coincide, the blue one is visible.

        Returns
        -------
        (height, width, 3) array of uint8
        """
        if self._screen.closed:
            raise ThunderError("this Renderer is closed; create a new one")
        self.stage.move(array(q, (self.stage.n,), "q"))
        self._screen.update(self.stage.data, self._camera)
        for line, color, what in ((path, _PATH, "path"), (trace, _TRACE, "trace")):
            if line is not None:
                self._line(array(line, (None, 3), what), color, wide=what == "trace")
        return self._screen.read()

    def _line(self, points: Array, color: tuple[float, ...], wide: bool) -> None:
        capsule, scene = mujoco.mjtGeom.mjGEOM_CAPSULE.value, self._screen.scene
        if len(points) > _PIECES:
            points = points[np.linspace(0, len(points) - 1, _PIECES).round().astype(int)]
        rgba, width = np.array(color, dtype=np.float32), (0.006 if wide else 0.005) * self.stage.radius
        for start, end in pairwise(points):
            if np.array_equal(start, end):
                continue
            geom = scene.geoms[scene.ngeom]
            mujoco.mjv_initGeom(geom, capsule, np.zeros(3), np.zeros(3), np.eye(3).ravel(), rgba)
            mujoco.mjv_connector(geom, capsule, width, start, end)
            scene.ngeom += 1


def render(
    robot: Robot | str | Path,
    q: npt.ArrayLike | None = None,
    width: int = 640,
    height: int = 480,
    *,
    camera: Viewpoint | str | None = None,
    meshes: Meshes | None = None,
    path: npt.ArrayLike | None = None,
) -> npt.NDArray[np.uint8]:
    """Return a picture of a robot.

    Parameters
    ----------
    robot, width, height, camera, meshes
        As in `Renderer`, which is faster for many pictures.
    q : (n,) array_like, optional
        Joint positions [rad or m]; default the middle of the limits, zero where there are none.
    path : (K, 3) array_like, optional
        Green line in the world [m].

    Returns
    -------
    (height, width, 3) array of uint8

    Raises
    ------
    ThunderError
        If an argument is invalid, or no OpenGL backend works; the message lists the packages to install.
    ModuleNotFoundError
        If MuJoCo is not installed.

    Examples
    --------
    >>> import thunder_py as th
    >>> from thunder_py.mujoco import Viewpoint, render
    >>> render(th.Robot.load("panda"), width=64, height=48, camera=Viewpoint(azimuth=90.0)).shape
    (48, 64, 3)
    """
    with Renderer(robot, width, height, camera=camera, meshes=meshes) as renderer:
        return renderer.draw(posture(renderer.stage, q), path=path)


def render_video(
    robot: Robot | str | Path,
    t: npt.ArrayLike,
    q: npt.ArrayLike,
    path: str | Path,
    fps: float = 30.0,
    *,
    width: int = 640,
    height: int = 480,
    camera: Viewpoint | str | None = None,
    meshes: Meshes | None = None,
    reference: npt.ArrayLike | None = None,
    playback_speed: float = 1.0,
) -> int:
    """Write a film of a motion; the end effector of a robot leaves a blue trace.

    Parameters
    ----------
    robot, width, height, camera, meshes
        As in `Renderer`; width and height of an MP4 film must be even.
    t : (T,) array_like
        Ascending times [s], at least two; the motion is interpolated between them.
    q : (T, n) array_like
        Joint positions [rad or m].
    path : path-like
        Path that ends in ``.mp4`` or ``.gif``; no partial file is left.
    fps : float
        Pictures per second of the film.
    reference : (K, 3) array_like, optional
        Green line, constant in time [m].
    playback_speed : float
        Seconds of the motion in each second of the film.

    Returns
    -------
    int
        Number of pictures drawn; a GIF merges equal ones.

    Raises
    ------
    ThunderError
        If an argument is invalid, the film has more than 5000 pictures, or no OpenGL backend works.
    ModuleNotFoundError
        If MuJoCo or imageio is not installed.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> import numpy as np
    >>> import thunder_py as th
    >>> from thunder_py.mujoco import render_video
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder) / "panda.gif"
    ...     pictures = render_video(
    ...         th.Robot.load("panda"), [0.0, 0.2], [np.zeros(7), np.full(7, 0.3)], path, 10.0, width=64, height=48)
    ...     print(pictures, path.is_file())
    3 True
    """
    target = film_path(path)
    if target.suffix == ".mp4" and (width % 2 or height % 2):
        raise ThunderError(f"width and height of an MP4 film must be even, got {width} by {height}")
    times = array(t, (None,), "t")
    shown = film_times(times, playback_speed, fps)
    with Renderer(robot, width, height, camera=camera, meshes=meshes) as renderer:
        motion = array(q, (len(times), renderer.stage.n), "q")
        rows, tips = interpolated(times, motion, shown), None
        if isinstance(robot, Robot):
            pieces = np.arange(_FINER * (len(shown) - 1) + 1) / _FINER
            between = np.interp(pieces, np.arange(len(shown)), shown)
            tips = robot.forward_kinematics(interpolated(times, motion, between))[:, :3, 3]
        with film_writer(target, fps) as write, percentage(desc=target.name) as report:
            for k, row in enumerate(rows):
                report((k + 1) / len(rows))
                write(renderer.draw(row, path=reference, trace=None if tips is None else tips[: _FINER * k + 1]))
    return len(shown)


@contextmanager
def film_writer(path: str | Path, fps: float) -> Iterator[Callable[[npt.NDArray[np.uint8]], Any]]:
    """Yield a function that appends a picture (height, width, 3) to a film; no partial file is left.

    Parameters
    ----------
    path : path-like
        Path that ends in ``.mp4`` or ``.gif``; width and height of an MP4 film must be even.
    fps : float
        Pictures per second.

    Raises
    ------
    ThunderError
        If `path` has another suffix.
    """
    target = film_path(path)
    with whole_file(target) as temporary:
        if target.suffix == ".gif":
            with _gif(temporary, fps) as write:
                yield write
            return
        imageio = require("imageio.v2", "mujoco")
        with imageio.get_writer(temporary, fps=fps, codec="libx264", quality=7, macro_block_size=2) as writer:
            yield writer.append_data


def film_path(path: str | Path) -> Path:
    """Return the path of a film, or raise if it does not end in ``.mp4`` or ``.gif``."""
    target = Path(path)
    if target.suffix not in (".mp4", ".gif"):
        raise ThunderError(f"path must end in .mp4 or .gif, got {str(path)!r}")
    return target


@contextmanager
def _gif(path: Path, fps: float) -> Iterator[Any]:
    """Yield a function that appends a picture; all share the colors of the first one, which keeps files small."""
    from PIL import Image

    pictures: list[Any] = []
    shades = 255.0 * np.linspace(0.5, 1.0, 6)[:, None, None] * np.array([_PATH, _TRACE])[None, :, :3]

    def append(picture: npt.NDArray[np.uint8]) -> None:
        if not pictures:  # the first picture lacks the trace, but defines the colors
            lines = np.resize(shades.reshape(-1, 3), (picture.shape[1], 3))[None].repeat(8, axis=0).astype(np.uint8)
            first = Image.fromarray(np.concatenate([picture, lines])).quantize(_COLORS)
        palette = pictures[0] if pictures else first
        pictures.append(Image.fromarray(picture).quantize(palette=palette, dither=Image.Dither.NONE))

    yield append
    save_gif(path, pictures, fps, optimize=False)


def posture(where: Stage, q: npt.ArrayLike | None) -> Array:
    """Return joint positions (n,), by default those of the stage."""
    if q is not None:
        return array(q, (where.n,), "q")
    if where.robot is not None:
        return default_posture(where.robot)
    return np.array(where.model.qpos0[where.places])


def _camera(where: Stage, camera: Viewpoint | str | None, size: tuple[int, int]) -> Any:
    view = mujoco.MjvCamera()
    if isinstance(camera, str):
        names = [where.model.camera(k).name for k in range(where.model.ncam)]
        if camera not in names:
            hint = nearest_hint(camera, names) or f"; there are {', '.join(names) or 'none'}"
            raise ThunderError(f"camera must be a Viewpoint or a camera of the file, got {camera!r}{hint}")
        view.type, view.fixedcamid = mujoco.mjtCamera.mjCAMERA_FIXED, names.index(camera)
        return view
    chosen = Viewpoint() if camera is None else camera
    if not isinstance(chosen, Viewpoint):
        raise ThunderError(f"camera must be a Viewpoint or a name, got {camera!r}")
    view.type = mujoco.mjtCamera.mjCAMERA_FREE
    view.azimuth, view.elevation = (float(array(x, (), "camera")) for x in (chosen.azimuth, chosen.elevation))
    narrow = min(1.0, size[0] / size[1])
    fits = where.radius / np.sin(np.arctan(narrow * np.tan(np.radians(_FOVY / 2.0))))
    view.distance = fits if chosen.distance is None else float(array(chosen.distance, (), "camera.distance"))
    if view.distance <= 0.0:
        raise ThunderError(f"camera.distance must be positive [m], got {view.distance:g}")
    view.lookat[:] = where.center if chosen.lookat is None else array(chosen.lookat, (3,), "camera.lookat")
    return view
