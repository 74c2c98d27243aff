"""``thunder view``: a robot in a window, a picture or a film."""

from __future__ import annotations

import argparse
import importlib.util
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ..checks import array, whole
from ..errors import ThunderError
from ..files import whole_file
from ..optional import MissingExtraError
from ..robot import Robot
from .robot_options import add_robot_options, load_robot
from .text import argument, check_target

if TYPE_CHECKING:
    from ..checks import Array
    from ..io.meshes import Meshes

HELP = "a robot in a window, a picture or a film"
DESCRIPTION = """\
Show a robot: in a window with a slider for every joint, or without a display as a picture or a film. With --result a
simulated run is played; a film without one moves joint after joint through its range.
"""

EPILOG = """\
examples:
  thunder view panda
  thunder view panda --q 0,-0.5,0,-2,0,1.6,0.8 --output panda.png
  thunder view arm.urdf --tip-link flange --package-dir ~/robots --output arm.gif
  thunder view panda --result run.npz --output run.mp4
  thunder view panda --result run.npz --output run.html
  thunder view scara --backend matplotlib --output scara.pdf

The renderer is MuJoCo if it is installed (pip install "thunder_py[mujoco]"), else matplotlib. Meshes of a URDF need
pip install "thunder_py[visual]". Without a display MuJoCo draws with EGL or OSMesa (Debian: libegl1, libosmesa6);
MUJOCO_GL=egl or osmesa chooses.
"""

_FILMS = {"mujoco": (".mp4", ".gif"), "matplotlib": (".mp4", ".gif", ".html")}
_PICTURES = {"mujoco": (".png",), "matplotlib": (".png", ".pdf", ".svg")}
_SECONDS_PER_JOINT, _STEPS = 2.0, 120


_numbers = argument(
    lambda text: array(text.split(","), (None,), "numbers"), "expected finite numbers such as 0,0.3,-1.2"
)


def _read_size(text: str) -> tuple[int, int]:
    width, height = map(int, text.lower().split("x"))
    return whole(width, "width", 0), whole(height, "height", 0)


_size = argument(_read_size, "expected a size such as 640x480")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of the subcommand."""
    parser.add_argument("robot", help="name of a bundled robot, or path of a .yaml, .urdf, .xacro, .xml or .mjcf file")
    parser.add_argument(
        "--q", type=_numbers, metavar="Q1,Q2,...", help="joint positions [rad or m], default the middle of limits"
    )
    parser.add_argument(
        "--output",
        type=Path,
        metavar="FILE",
        help="write a picture (.png), a film (.mp4, .gif) or a page with controls (.html)",
    )
    parser.add_argument(
        "--backend", choices=("mujoco", "matplotlib"), help="renderer, default MuJoCo if it is installed"
    )
    parser.add_argument("--result", type=Path, metavar="FILE.npz", help="run saved by SimulationResult.save")
    parser.add_argument(
        "--size",
        type=_size,
        default=(640, 480),
        metavar="WxH",
        help="size of MuJoCo's pictures [pixels]",
    )
    parser.add_argument("--fps", type=float, default=20.0, help="pictures per second of a film, default 20")
    parser.add_argument(
        "--package-dir",
        type=Path,
        action="append",
        default=[],
        metavar="DIR",
        help="for URDF: folder of ROS packages; may be repeated",
    )
    parser.add_argument(
        "--frames", action="store_true", help="draw the axes of every link's frame, in a picture by matplotlib"
    )
    parser.add_argument("--no-meshes", action="store_true", help="for URDF: sticks instead of meshes")
    add_robot_options(parser)


def run(arguments: argparse.Namespace) -> None:
    """Show, or write a file and say which."""
    from ..mujoco.rendering import has_display

    target: Path | None = arguments.output
    if arguments.frames and (arguments.backend == "mujoco" or target is None or target.suffix in _FILMS["matplotlib"]):
        raise ThunderError("--frames needs a picture by matplotlib: --output frames.png")
    # only matplotlib writes pages and frames
    drawn = arguments.frames or (target is not None and target.suffix == ".html")
    backend = "matplotlib" if drawn and arguments.backend is None else _backend(arguments.backend)
    if target is not None:
        check_target(target, "--output", (*_PICTURES[backend], *_FILMS[backend]))
    elif not has_display():
        raise ThunderError("there is no display to open a window on; write a file: --output robot.png (or .mp4, .gif)")
    if arguments.q is not None and arguments.result is not None:
        raise ThunderError("--q and --result exclude each other")
    robot = load_robot(arguments.robot, arguments)
    if arguments.q is not None and len(arguments.q) != robot.n:
        raise ThunderError(f"--q must be {robot.n} numbers ({', '.join(robot.joint_names)}), got {len(arguments.q)}")
    motion = None if arguments.result is None else _result(arguments.result, robot)
    meshes = _meshes(arguments)
    show = _with_mujoco if backend == "mujoco" else _with_matplotlib
    show(arguments, robot, motion, meshes)
    if target is not None:
        print(target)


def _with_mujoco(
    arguments: argparse.Namespace, robot: Robot, motion: tuple[Array, Array] | None, meshes: Meshes | None
) -> None:
    from ..mujoco import render, render_video, view

    target: Path | None = arguments.output
    # its own shapes, unless only a part of the file is the arm
    own = arguments.robot.endswith((".xml", ".mjcf")) and not (arguments.tip_link or arguments.fix_joint)
    source: Robot | str = arguments.robot if own else robot
    width, height = arguments.size
    if target is None:
        t, q = (None, arguments.q) if motion is None else motion
        view(source, q, t=t, meshes=meshes)
    elif target.suffix in _FILMS["mujoco"]:
        t, q = _tour(robot, arguments.q) if motion is None else motion
        render_video(source, t, q, target, arguments.fps, width=width, height=height, meshes=meshes)
    else:
        from PIL import Image

        path = None if motion is None else robot.forward_kinematics(motion[1])[:, :3, 3]
        q = arguments.q if motion is None else motion[1][-1]
        picture = render(source, q, width, height, meshes=meshes, path=path)
        with whole_file(target) as temporary:
            Image.fromarray(picture).save(temporary)


def _with_matplotlib(
    arguments: argparse.Namespace, robot: Robot, motion: tuple[Array, Array] | None, meshes: Meshes | None
) -> None:
    import matplotlib as mpl

    target: Path | None = arguments.output
    if target is None:
        _matplotlib_window(robot, arguments.q, motion, meshes)
        return
    mpl.use("agg")  # no window, whatever the screen
    if target.suffix in _FILMS["matplotlib"]:
        t, q = _tour(robot, arguments.q) if motion is None else motion
        robot.animate(t, q, target, meshes=meshes, fps=arguments.fps)
        return
    frames: Any = "all" if arguments.frames else True
    axes = robot.plot(arguments.q if motion is None else motion[1], meshes=meshes, frames=frames)
    with whole_file(target) as temporary:
        axes.figure.figure.savefig(temporary, dpi=130)


def _matplotlib_window(
    robot: Robot, q: Array | None, motion: tuple[Array, Array] | None, meshes: Meshes | None
) -> None:
    from matplotlib import pyplot

    if pyplot.get_backend().lower() == "agg":
        raise ThunderError(
            "matplotlib has nothing here to open windows with (Debian: apt-get install python3-tk); "
            "write a file with --output"
        )
    if motion is None:
        from .window import slider_window

        kept: Any = slider_window(robot, q, meshes=meshes)
    else:
        kept = robot.animate(*motion, meshes=meshes)
    pyplot.show()
    del kept


def _backend(chosen: str | None) -> str:
    if chosen is not None:
        return chosen
    if importlib.util.find_spec("mujoco") is not None:
        return "mujoco"
    print('MuJoCo is not installed (pip install "thunder_py[mujoco]"): drawn with matplotlib', file=sys.stderr)
    return "matplotlib"


def _result(file: Path, robot: Robot) -> tuple[Array, Array]:
    from ..simulation import SimulationResult
    from ..simulation.figure import robot_of

    result = SimulationResult.load(file)
    robot_of(result, robot)  # it says whether they fit
    return result.t, result.q


def _meshes(arguments: argparse.Namespace) -> Meshes | None:
    """Return meshes of a URDF; if they are missing, warn and draw the arm without them."""
    if arguments.no_meshes or not arguments.robot.endswith(".urdf"):
        return None
    from ..io.meshes import Meshes

    faces = 1000 if arguments.backend == "matplotlib" else 6000
    try:
        return Meshes.load(arguments.robot, arguments.package_dir, faces=faces)
    except (ThunderError, MissingExtraError) as error:
        print(f"drawn without meshes: {error}", file=sys.stderr)
        return None


def _tour(robot: Robot, q: Array | None) -> tuple[Array, Array]:
    """Return a motion, t (T,) and q (T, n), of each joint through its range, one after another."""
    from ..robot.frames import default_posture

    start = default_posture(robot) if q is None else np.asarray(q)
    wide = np.where([kind == "R" for kind in robot.joint_types], 0.5 * np.pi, 0.2)
    lower = np.where(np.isfinite(robot.limits.lower), robot.limits.lower, start - wide)
    upper = np.where(np.isfinite(robot.limits.upper), robot.limits.upper, start + wide)
    s = np.linspace(0.0, 1.0, _STEPS + 1)
    swing = np.sin(2.0 * np.pi * s)
    rows = np.tile(start, (robot.n * _STEPS + 1, 1))
    for k in range(robot.n):
        way = np.where(swing > 0.0, upper[k] - start[k], start[k] - lower[k])
        rows[_STEPS * k : _STEPS * (k + 1) + 1, k] = start[k] + way * swing
    return np.linspace(0.0, _SECONDS_PER_JOINT * robot.n, len(rows)), rows
