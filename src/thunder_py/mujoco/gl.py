"""Where MuJoCo draws: a window system's OpenGL, EGL or OSMesa, whichever there is."""

from __future__ import annotations

import ctypes
import importlib
import os
import sys
from typing import Any

from ..errors import ThunderError
from ..optional import require

__all__ = ["BACKENDS", "backends", "has_display", "open_context"]

#: in the order in which they are tried for pictures; glfw needs a display
BACKENDS = ("egl", "osmesa", "glfw")
_ADVICE = (
    "install one (Debian, Ubuntu: apt-get install libegl1 libgl1-mesa-dri, or libosmesa6), and choose with the "
    "environment variable MUJOCO_GL=egl or MUJOCO_GL=osmesa"
)
#: what Python's OpenGL was loaded for; it cannot change in a process
_PLATFORM = "PYOPENGL_PLATFORM"


def has_display() -> bool:
    """Tell whether there is a screen that a window could open on."""
    if not sys.platform.startswith("linux"):
        return True
    return bool(os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY"))


def backends() -> tuple[str, ...]:
    """Return the backends that may work here, the best first.

    ``MUJOCO_GL`` leaves only the one that it names, and so does what OpenGL was loaded for in this process.
    """
    chosen = os.environ.get("MUJOCO_GL", "").strip().lower()
    if chosen in BACKENDS:
        return (chosen,)
    loaded = os.environ.get(_PLATFORM, "").strip().lower()
    there = {"egl": _egl_devices() > 0, "osmesa": _library("libOSMesa.so.8", "libOSMesa.so"), "glfw": has_display()}
    if not sys.platform.startswith("linux"):
        return ("glfw",)
    return tuple(name for name in BACKENDS if there[name] and loaded in ("", name))


def open_context(width: int, height: int) -> Any:
    """Return a context of OpenGL to draw pictures in, made current.

    Python's OpenGL is bound to one backend for as long as the process lives. So libraries are asked first, without
    it, and only what may work is loaded.

    Parameters
    ----------
    width, height : int
        Of the largest picture [pixels].

    Raises
    ------
    ThunderError
        None works; says what was tried and what to install.
    ModuleNotFoundError
        MuJoCo is not installed.
    """
    require("mujoco", "mujoco")
    possible, failed = backends(), []
    for name in possible:
        before = os.environ.get(_PLATFORM)
        try:
            context = importlib.import_module(f"mujoco.{name}").GLContext(width, height)
            context.make_current()
            return context
        except Exception as error:  # of ctypes, PyOpenGL or MuJoCo, of many kinds
            failed.append(f"{name}: {str(error) or type(error).__name__}")
            if before is None and "OpenGL.GL" not in sys.modules:
                os.environ.pop(_PLATFORM, None)
    tried = "; ".join(failed) or "neither EGL, OSMesa nor a display is there"
    raise ThunderError(f"MuJoCo cannot draw here ({tried}): {_ADVICE}")


def _egl_devices() -> int:
    """Return how many devices EGL draws with, 0 without EGL."""
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
        try:
            ctypes.CDLL(name)
        except OSError:
            continue
        return True
    return False
