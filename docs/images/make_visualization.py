"""Draw docs/images/panda.png and visualization_*.png: ``python docs/images/make_visualization.py [folder]``.

Needs the extras ``mujoco`` and ``visual``, and the package example-robot-data, whose URDFs bring meshes.
"""

from __future__ import annotations

import sys
from importlib.metadata import distribution
from pathlib import Path

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np
from PIL import Image

import thunder_py as th
from thunder_py.io import Meshes
from thunder_py.mujoco import Renderer, Viewpoint, render
from thunder_py.papers.lissajous.run import START, run_lissajous_panda

ROBOTS = Path(str(distribution("example-robot-data").locate_file("cmeel.prefix/share/example-robot-data/robots")))
PANDA, UR5 = ROBOTS / "panda_description/urdf/panda.urdf", ROBOTS / "ur_description/urdf/ur5_gripper.urdf"
Q = {
    "panda": [0.3, -0.5, 0.0, -2.1, 0.0, 1.7, 0.8],
    "ur5": [0.4, -1.1, 1.3, -1.2, -1.0, 0.0],
    "scara": [0.4, 0.9, 0.2, 0.0],
    "iiwa14": [0.3, 0.6, 0.0, -1.4, 0.0, 0.9, 0.0],
}


def save(picture: np.ndarray, file: Path) -> None:
    """Write a picture with 256 colors, which halves the file."""
    Image.fromarray(picture).quantize(256, dither=Image.Dither.NONE).save(file, optimize=True)
    print(f"{file}: {file.stat().st_size / 1e3:.0f} kB")


def save_figure(figure: plt.Figure, file: Path) -> None:
    """Write a figure of matplotlib."""
    figure.canvas.draw()
    picture = np.asarray(figure.canvas.buffer_rgba())[..., :3]
    plt.close(figure)
    save(picture, file)


def panda_with_meshes(faces: int) -> tuple[th.Robot, Meshes]:
    """Return the Panda of the URDF up to its flange, as the bundled one, and its meshes without the hand."""
    fingers = {"panda_finger_joint1": 0.0, "panda_finger_joint2": 0.0}
    robot = th.Robot.load(PANDA, tip_link="panda_link8", fix_joints=fingers)
    meshes = Meshes.load(PANDA, faces=faces)
    arm = tuple(part for part in meshes.parts if "link" in part.link)
    return robot, Meshes(arm, meshes.path)


def lissajous(folder: Path) -> None:
    """Draw the article's experiment: the curve asked for in green, the way of the flange in blue."""
    robot, meshes = panda_with_meshes(20_000)
    bundled = th.Robot.load("panda")
    assert np.allclose(robot.forward_kinematics(START), bundled.forward_kinematics(START), atol=1e-6)
    run = run_lissajous_panda(10.0)
    q = run.adaptive.result.q
    curve = run.reference(np.linspace(0.0, 10.0, 400)).p
    way = bundled.forward_kinematics(q)[:, :3, 3]
    view = Viewpoint(azimuth=128.0, elevation=-13.0, distance=1.42, lookat=(0.17, -0.03, 0.36))
    with Renderer(robot, 880, 540, camera=view, meshes=meshes) as renderer:
        save(renderer.draw(q[-1], path=curve, trace=way), folder / "panda.png")


def drawings(folder: Path) -> None:
    """Draw what `Robot.plot` makes: an ellipsoid, a motion, all frames, meshes."""
    figure = plt.figure(figsize=(11.0, 8.6), dpi=80, layout="constrained")
    panda, scara = th.Robot.load("panda"), th.Robot.load("scara")
    motion = np.linspace([-1.3, 2.1, -0.1, 0.0], Q["scara"], 5)
    dressed, meshes = panda_with_meshes(1000)
    for k, (title, robot, options) in enumerate(
        (
            ('plot(q, ellipsoid="velocity")', panda, {"q": Q["panda"], "ellipsoid": "velocity"}),
            ("plot(motion)", scara, {"q": motion}),
            ('plot(q, frames="all")', th.Robot.load("ur5e"), {"q": Q["ur5"], "frames": "all"}),
            ("plot(q, meshes=meshes)", dressed, {"q": Q["panda"], "meshes": meshes}),
        )
    ):
        drawn = robot.plot(**options)
        axes = figure.add_subplot(2, 2, k + 1, projection="3d")
        robot.plot(ax=axes, **options)
        for name in "xyz":  # the box that fits
            getattr(axes, f"set_{name}lim")(getattr(drawn, f"get_{name}lim")())
            getattr(axes, f"set_{name}label")(f"{name} [m]")
            getattr(axes, f"{name}axis").set_major_locator(plt.MaxNLocator(4))
        axes.set_aspect("equal")
        axes.set_title(f"{robot.name}.{title}", family="monospace", fontsize="medium")
        plt.close(drawn.figure)
    save_figure(figure, folder / "visualization_plot.png")


def workspace(folder: Path) -> None:
    """Draw where the UR5e reaches."""
    axes = th.Robot.load("ur5e").plot_workspace()
    axes["space"].figure.set_dpi(72)
    save_figure(axes["space"].figure, folder / "visualization_workspace.png")


def rendered(folder: Path) -> None:
    """Draw three arms as MuJoCo shows them: two without meshes, one with."""
    ur5 = th.Robot.load(UR5, tip_link="tool0")
    pictures = [render(th.Robot.load(name), Q[name], 400, 360) for name in ("scara", "iiwa14")]
    pictures.append(render(ur5, Q["ur5"], 400, 360, meshes=Meshes.load(UR5, faces=8000)))
    save(np.concatenate(pictures, axis=1), folder / "visualization_mujoco.png")


if __name__ == "__main__":
    target = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).parent
    for draw in (lissajous, drawings, workspace, rendered):
        draw(target)
