import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import thunder_py as th
from tests.refusals import assert_refused
from thunder_py.errors import FileFormatError, ThunderError
from thunder_py.robot.frames import default_posture

pytest.importorskip("mujoco", reason="the extra mujoco is not installed")

from thunder_py.io import Meshes
from thunder_py.mujoco import Renderer, Viewpoint, render, render_video, to_mjcf, view
from thunder_py.mujoco import rendering as gl
from thunder_py.mujoco.scene import stage

_Q = np.array([0.3, -0.5, 0.2, -2.0, 0.1, 1.6, 0.8])
_SMALL = (96, 72)


@pytest.fixture(scope="module", autouse=True)
def _drawing() -> None:
    """Skip where nothing can draw, and say why."""
    try:
        context = gl.open_context(8, 8)
    except ThunderError as error:
        pytest.skip(str(error))
    context.free()


@pytest.fixture(scope="module")
def panda() -> th.Robot:
    return th.Robot.load("panda")


@pytest.mark.parametrize("name", ["panda", "ur5e", "scara", "cart_pendulum", "human_arm"])
def test_bodies_stand_at_forward_kinematics(name: str) -> None:
    robot = th.Robot.load(name)
    where = stage(robot)
    q = np.random.default_rng(4).uniform(-1.0, 1.0, robot.n)
    where.move(q)
    for link in robot.link_names:
        T, body = robot.forward_kinematics(q, link), where.data.body(link)
        np.testing.assert_allclose(body.xpos, T[:3, 3], atol=1e-12)
        np.testing.assert_allclose(body.xmat.reshape(3, 3), T[:3, :3], atol=1e-12)
    np.testing.assert_allclose(where.data.site("tool").xpos, robot.forward_kinematics(q)[:3, 3], atol=1e-12)


def test_pictures_depend_on_the_posture_alone(panda: th.Robot) -> None:
    with Renderer(panda, *_SMALL) as one, Renderer(panda, *_SMALL) as other:
        first, moved = one.draw(_Q), other.draw(_Q + 0.3)
        assert first.shape == (72, 96, 3)
        assert first.dtype == np.uint8
        assert first.std() > 10.0
        assert np.array_equal(one.draw(_Q), first)
        assert np.array_equal(other.draw(_Q), first)
        assert (np.abs(moved.astype(int) - first).max(axis=2) > 20).mean() > 0.01
    assert np.array_equal(render(panda, _Q, *_SMALL), first)
    with pytest.raises(ThunderError, match="this Renderer is closed"):
        one.draw(_Q)


def test_the_default_is_the_middle_of_limits_and_all_of_it_is_in_the_picture(panda: th.Robot) -> None:
    for robot in (panda, th.Robot.load("iiwa14"), th.Robot.load("human_arm")):
        where = stage(robot)
        reach = [robot.forward_kinematics(default_posture(robot), k)[:3, 3] for k in range(robot.n + 1)]
        assert np.linalg.norm(np.array(reach) - where.center, axis=1).max() < where.radius
    assert np.array_equal(render(panda, None, *_SMALL), render(panda, default_posture(panda), *_SMALL))


def _above(where: Any, distance: float) -> Viewpoint:
    """A camera that looks straight down: x of the world is to the right, y up."""
    return Viewpoint(azimuth=90.0, elevation=-90.0, distance=distance, lookat=(0.0, 0.0, 0.0))


@pytest.mark.parametrize("q", [0.4, -1.9])
def test_the_hand_is_seen_where_forward_kinematics_projects_it(tmp_path: Path, q: float) -> None:
    file = _urdf(tmp_path, hand='<sphere radius="0.08"/>', axis="0 0 1")
    robot, size, distance = th.Robot.load(file, tip_link="rod"), (200, 160), 4.0
    picture = render(robot, [q], *size, camera=_above(robot, distance), meshes=Meshes.load(file)).astype(int)
    rows, columns = np.nonzero((picture[..., 0] > 2 * picture[..., 2]) & (picture[..., 0] > 60))
    x, y, z = robot.forward_kinematics([q], "hand")[:3, 3]
    assert np.hypot(x, y) == pytest.approx(0.5)
    focal = 0.5 * size[1] / np.tan(np.radians(22.5)) / (distance - z)
    assert len(rows) == pytest.approx(np.pi * (0.08 * focal) ** 2, rel=0.2)
    assert columns.mean() == pytest.approx(0.5 * size[0] - 0.5 + focal * x, abs=0.7)
    assert rows.mean() == pytest.approx(0.5 * size[1] - 0.5 - focal * y, abs=0.7)


def test_lines_are_drawn_where_they_are(panda: th.Robot) -> None:
    line = np.array([[-0.4, -0.4, 0.01], [-0.4, 0.4, 0.01], [-0.4, 0.4, 0.01]])
    camera = _above(panda, 1.6)
    with Renderer(panda, 200, 160, camera=camera) as renderer:
        plain, drawn = renderer.draw(_Q).astype(int), renderer.draw(_Q, path=line).astype(int)
    rows, columns = np.nonzero(np.abs(drawn - plain).max(axis=2) > 40)
    focal = 80.0 / np.tan(np.radians(22.5)) / 1.59
    assert columns.mean() == pytest.approx(99.5 - 0.4 * focal, abs=1.5)
    assert np.ptp(rows) == pytest.approx(0.8 * focal, abs=4.0)
    seen = drawn[rows, columns]
    assert (seen[:, 1] > 1.2 * seen[:, 0]).mean() > 0.6  # green, but for its shadow


def _urdf(folder: Path, hand: str = '<box size=".1 .2 .3"/>', axis: str = "0 1 0") -> Path:
    """Write an arm of a red box in a frame of its own and a gray pyramid."""
    (folder / "pyramid.obj").write_text("v 0 0 0\nv .2 0 0\nv 0 .2 0\nv 0 0 .4\nf 1 3 2\nf 1 2 4\nf 2 3 4\nf 1 4 3\n")
    inertial = '<inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial>'
    file = folder / "arm.urdf"
    file.write_text(
        f"""<robot name="arm"><link name="ground"><visual><geometry><box size=".3 .3 .1"/></geometry></visual></link>
        <link name="rod">{inertial}<visual><origin xyz="0.1 0 0.2" rpy="0.3 0 0"/>
        <geometry><mesh filename="pyramid.obj"/></geometry></visual></link>
        <link name="hand"><visual><geometry>{hand}</geometry>
        <material name="red"><color rgba="1 0 0 1"/></material></visual></link>
        <joint name="hinge" type="continuous"><parent link="ground"/><child link="rod"/><axis xyz="{axis}"/>
        <origin xyz="0 0 1"/></joint>
        <joint name="grip" type="fixed"><parent link="rod"/><child link="hand"/><origin xyz="0 0.5 0" rpy="0 0.4 0"/>
        </joint></robot>"""
    )
    return file


def test_meshes_stand_at_forward_kinematics_of_their_link(tmp_path: Path) -> None:
    file = _urdf(tmp_path)
    robot, meshes = th.Robot.load(file, tip_link="rod"), Meshes.load(file)
    where = stage(robot, meshes)
    where.move(np.array([0.7]))
    model, data = where.model, where.data
    found = []
    for g in range(model.ngeom):
        if model.geom_dataid[g] >= 0:
            start, count = model.mesh_vertadr[model.geom_dataid[g]], model.mesh_vertnum[model.geom_dataid[g]]
            vertices = model.mesh_vert[start : start + count]
            found.append(vertices @ data.geom_xmat[g].reshape(3, 3).T + data.geom_xpos[g])
    assert len(found) == 3
    theirs, ours = np.concatenate(found), meshes.placed(robot, [0.7])[0].vertices
    gaps = np.linalg.norm(theirs[:, None] - ours[None], axis=2)
    assert gaps.min(axis=0).max() < 1e-6
    assert gaps.min(axis=1).max() < 1e-6
    colors = {tuple(np.round(rgba[:3], 2)) for rgba in model.geom_rgba[model.geom_dataid >= 0]}
    assert (1.0, 0.0, 0.0) in colors
    assert not np.array_equal(render(robot, [0.7], *_SMALL, meshes=meshes), render(robot, [0.7], *_SMALL))
    with pytest.raises(ThunderError, match="the robot 'panda' has no frame with the name of a link"):
        render(th.Robot.load("panda"), meshes=meshes)


def _pictures(file: Path) -> Any:
    """Pictures of a film, read by others than those who wrote it."""
    if file.suffix == ".gif":
        from PIL import Image, ImageSequence

        with Image.open(file) as film:
            return np.array([np.asarray(picture.convert("RGB")) for picture in ImageSequence.Iterator(film)])
    cv2 = pytest.importorskip("cv2", reason="OpenCV reads the film")
    film, pictures = cv2.VideoCapture(str(file)), []
    while (found := film.read())[0]:
        pictures.append(found[1][..., ::-1])
    return np.array(pictures)


@pytest.mark.release
@pytest.mark.parametrize("suffix", [".gif", ".mp4"])
def test_a_film_has_its_pictures(tmp_path: Path, suffix: str) -> None:
    robot = th.Robot.load("scara")
    t, q = np.array([0.0, 0.2, 0.5]), np.array([np.zeros(4), np.full(4, 0.1), np.full(4, 0.4)])
    file = tmp_path / f"motion{suffix}"
    assert render_video(robot, t, q, file, fps=10, width=96, height=72) == 6
    pictures = _pictures(file)
    assert pictures.shape == (6, 72, 96, 3)
    assert [path.name for path in tmp_path.iterdir()] == [file.name]
    plain = render(robot, q[0], *_SMALL).astype(int)
    assert np.abs(pictures[0] - plain).mean() < 6.0  # but for compression
    assert np.abs(pictures[-1] - plain).mean() > 2.0 * np.abs(pictures[0] - plain).mean()
    assert file.stat().st_size < 60_000


def test_a_film_that_fails_leaves_nothing(tmp_path: Path, panda: th.Robot) -> None:
    arguments: Any
    for arguments, message in (
        (([0.0, 1.0], np.full((2, 7), np.nan), tmp_path / "a.gif"), "q must be finite"),
        (([0.0, 0.0], np.zeros((2, 7)), tmp_path / "a.gif"), "t must be at least two ascending times"),
        (([0.0, 1.0], np.zeros((2, 6)), tmp_path / "a.gif"), r"q must have shape \(2, 7\)"),
        (([0.0, 1.0], np.zeros((2, 7)), tmp_path / "a.avi"), r"path must end in \.mp4 or \.gif"),
        (([0.0, 1e6], np.zeros((2, 7)), tmp_path / "a.gif"), "must have at most 5000 frames"),
    ):
        with pytest.raises(ThunderError, match=message):
            render_video(panda, *arguments, width=96, height=72)
    with pytest.raises(ThunderError, match="must be even, got 95 by 72"):
        render_video(panda, [0.0, 1.0], np.zeros((2, 7)), tmp_path / "a.mp4", width=95, height=72)
    with pytest.raises(FileNotFoundError):
        render_video(panda, [0.0, 0.1], np.zeros((2, 7)), tmp_path / "none" / "a.gif", width=96, height=72)
    assert not list(tmp_path.iterdir())


@pytest.mark.release
def test_files_are_drawn_as_they_are(tmp_path: Path, panda: th.Robot) -> None:
    file = tmp_path / "arm.xml"
    text = to_mjcf(panda).replace("</worldbody>", '<camera name="front" pos="3 0 1" xyaxes="0 1 0 0 0 1"/></worldbody>')
    file.write_text(text)
    one = render(file, _Q, *_SMALL, camera="front")
    assert np.array_equal(one, render(str(file), _Q, *_SMALL, camera="front"))
    assert not np.array_equal(one, render(file, _Q, *_SMALL))
    with pytest.raises(
        ThunderError, match="camera must be a Viewpoint or a camera of the file, got 'frnt'; did you mean 'front'"
    ):
        render(file, _Q, camera="frnt")
    with pytest.raises(ThunderError, match="meshes must be None for an MJCF file"):
        render(file, _Q, meshes=Meshes((), file))
    with pytest.raises(FileNotFoundError):
        render(tmp_path / "none.xml")
    (tmp_path / "broken.xml").write_text("<mujoco><worldbody><geom/></mujoco>")
    with pytest.raises(FileFormatError, match=r"broken\.xml: MuJoCo refuses it"):
        render(tmp_path / "broken.xml")
    (tmp_path / "free.xml").write_text(
        '<mujoco><worldbody><body><freejoint/><geom size="1"/></body></worldbody></mujoco>'
    )
    with pytest.raises(FileFormatError, match="joints must be revolute or prismatic"):
        render(tmp_path / "free.xml")


def test_nonsense_is_refused(panda: th.Robot) -> None:
    assert_refused(
        ({"q": np.zeros(6)}, "...q must have shape (7,)..."),
        ({"q": np.full(7, np.inf)}, "...q must be finite..."),
        ({"width": 0}, "...width must be a whole number from 1 to 4096, got 0..."),
        ({"height": 5000}, "...height must be..."),
        ({"camera": 3}, "...camera must be a Viewpoint or a name..."),
        ({"camera": Viewpoint(distance=np.nan)}, "...camera.distance must be finite..."),
        ({"camera": Viewpoint(distance=-1.0)}, "...camera.distance must be positive..."),
        ({"robot": None}, "...robot must be a Robot or an MJCF file, got NoneType..."),
        ({"path": np.zeros((3, 2))}, "...path must have shape (n, 3)..."),
        call=lambda **changes: render(**({"robot": panda, "width": 8, "height": 8} | changes)),
    )


@pytest.mark.release
def test_robots_that_no_engine_takes_are_drawn_all_the_same(panda: th.Robot) -> None:
    massless = panda.replace(inertial=np.zeros((7, 10)))
    assert np.array_equal(render(massless, _Q, *_SMALL), render(panda, _Q, *_SMALL))


def test_the_environment_chooses_what_draws(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MUJOCO_GL", "osmesa")
    assert gl.backends() == ("osmesa",)
    monkeypatch.delenv("MUJOCO_GL")
    monkeypatch.setenv("PYOPENGL_PLATFORM", "egl")
    monkeypatch.setattr(gl, "_egl_devices", lambda: 1)
    monkeypatch.setattr(gl, "_library", lambda *names: True)
    assert gl.backends() == ("egl",)  # OpenGL is loaded for it
    monkeypatch.delenv("PYOPENGL_PLATFORM")
    assert gl.backends()[:2] == ("egl", "osmesa")
    monkeypatch.setattr(gl, "_egl_devices", lambda: 0)
    assert gl.backends()[0] == "osmesa"


def test_where_nothing_draws_it_says_what_to_install(monkeypatch: pytest.MonkeyPatch, panda: th.Robot) -> None:
    for name in ("DISPLAY", "WAYLAND_DISPLAY", "MUJOCO_GL"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(gl, "_egl_devices", lambda: 0)
    monkeypatch.setattr(gl, "_library", lambda *names: False)
    with pytest.raises(ThunderError, match=r"neither EGL, OSMesa nor a display .*libegl1 .*libosmesa6.*MUJOCO_GL"):
        render(panda)
    with pytest.raises(ThunderError, match="there is no display to open a window on"):
        view(panda)


def _program(text: str, **environment: str) -> str:
    """Run a program and return what it says on standard error."""
    done = subprocess.run(
        [sys.executable, "-c", text], env={**os.environ, **environment}, capture_output=True, text=True
    )
    return done.stderr


@pytest.mark.release
def test_a_display_that_is_not_there_is_told() -> None:
    program = (
        "import thunder_py as th; from thunder_py.mujoco import render; render(th.Robot.load('elbow'), None, 16, 16)"
    )
    told = _program(program, MUJOCO_GL="glfw", DISPLAY=":4711", WAYLAND_DISPLAY="")
    assert "ThunderError: MuJoCo cannot draw here (" in told
    assert "libegl1" in told


@pytest.mark.release
def test_what_is_not_closed_ends_quietly_with_the_process() -> None:
    program = """
import tempfile  # whose finalizer is registered before the display is opened
folder = tempfile.TemporaryDirectory()
import thunder_py as th
from thunder_py.mujoco import Renderer
renderer = Renderer(th.Robot.load("elbow"), 16, 16)
renderer.draw([0.1, 0.2])
"""
    assert _program(program) == ""
