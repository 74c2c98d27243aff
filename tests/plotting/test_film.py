import base64
import io
import re
from pathlib import Path
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
import pytest
from PIL import Image

import thunder_py as th
from tests.refusals import assert_refused
from thunder_py.errors import ThunderError
from thunder_py.plotting.animation import save_gif
from thunder_py.robot.frames import arm_points

_Q = np.array([0.0, -0.5, 0.0, -2.0, 0.0, 1.6, 0.8])
_T = np.linspace(0.0, 0.4, 41)
_MOTION = _Q + 0.5 * np.sin(_T)[:, None]


def test_a_film_moves_arm_trace_and_points(tmp_path: Path) -> None:
    robot = th.Robot.load("panda")
    ball = np.stack([0.5 + 0.0 * _T, _T, 0.1 + 0.0 * _T], axis=1)
    ball[:5] = np.nan  # not there yet
    line, file = arm_points(robot, _MOTION)[:, -1], tmp_path / "arm.gif"
    film = robot.animate(_T, _MOTION, file, reference=line, points={"ball": ball}, fps=10, dpi=40)
    with Image.open(tmp_path / "arm.gif") as gif:
        assert gif.n_frames == 5
        assert gif.info["duration"] == 100
    assert (tmp_path / "arm.gif").stat().st_size < 100_000
    _, sticks, *_, trace, mark = film._fig.axes[0].lines  # type: ignore[attr-defined]
    assert np.array_equal(np.stack(sticks.get_data_3d(), axis=-1), arm_points(robot, _MOTION[-1]))
    tips = robot.forward_kinematics(_MOTION)[::10, :3, 3]
    np.testing.assert_allclose(np.stack(trace.get_data_3d(), axis=-1), tips, atol=1e-12)
    assert np.array_equal(np.ravel(mark.get_data_3d()), ball[-1])


@pytest.mark.parametrize("fps", [7.0, 15.0, 24.0, 30.0, 48.0, 60.0, 75.0, 120.0])
def test_a_gif_lasts_as_long_as_its_frames(fps: float, tmp_path: Path) -> None:
    """Durations as decoded by Pillow; a browser shows frames of less than 20 ms for 100 ms."""
    count, file = 41, tmp_path / "film.gif"
    gray = [Image.new("L", (8, 8), 6 * k) for k in range(count)]
    save_gif(file, gray, fps)
    shown = []
    with Image.open(file) as gif:
        for k in range(gif.n_frames):
            gif.seek(k)
            shown.append((gif.convert("L").getpixel((0, 0)) // 6, gif.info["duration"]))
    numbers, durations = np.array(shown).T
    assert durations.min() >= 20
    assert durations.sum() == pytest.approx(1000.0 * count / fps, abs=5.0)
    starts = np.cumsum(durations) - durations
    np.testing.assert_allclose(starts, 1000.0 * numbers / fps, atol=20.0 if fps > 50.0 else 5.001)
    assert numbers[0] == 0
    assert numbers[-1] == count - 1
    assert len(numbers) == count or fps > 50.0


def test_half_the_speed_takes_twice_the_pictures(tmp_path: Path) -> None:
    robot, file = th.Robot.load("scara"), tmp_path / "slow.gif"
    robot.animate([0.0, 0.1], np.zeros((2, 4)), file, playback_speed=0.5, fps=20, dpi=20)
    with Image.open(tmp_path / "slow.gif") as gif:
        assert gif.n_frames == 5


def test_films_of_nonsense_are_refused() -> None:
    assert_refused(
        ({"t": _T[::-1]}, "...t must be at least two ascending times..."),
        ({"q": _MOTION[:, :6]}, "...q must have shape (41, 7)..."),
        ({"q": np.full((41, 7), np.nan)}, "...q must be finite..."),
        ({"reference": np.zeros((4, 2))}, "...reference must have shape (n, 3)..."),
        ({"points": {"ball": np.zeros((4, 3))}}, "...must have a row for each of the 41 times..."),
        ({"fps": 0}, "...fps must be positive..."),
        ({"playback_speed": 1e-5}, "...must have at most 5000 frames, got..."),
        call=lambda **change: th.Robot.load("panda").animate(**({"t": _T, "q": _MOTION} | change)),
    )


def test_files_that_cannot_be_written_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def save(name: str, **options: Any) -> None:
        th.Robot.load("scara").animate([0.0, 0.1], np.zeros((2, 4)), tmp_path / name, **options)

    assert_refused(
        (lambda: save("arm.png"), "...path must end in .gif, .mp4 or .html..."),
        (lambda: save("none/arm.gif"), "...there is no folder..."),
        (lambda: save("arm.gif", dpi=0), "...dpi must be positive..."),
    )
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(ThunderError, match=r"MP4 needs the program ffmpeg"):
        save("arm.mp4")
    assert not list(tmp_path.iterdir())


def test_a_page_contains_its_frames_and_needs_no_network(tmp_path: Path) -> None:
    file = tmp_path / "arm.html"
    th.Robot.load("scara").animate([0.0, 0.1], [np.zeros(4), np.ones(4)], file, fps=20, dpi=20)
    page = file.read_text(encoding="utf-8")
    frames = re.findall(r'frames\[(\d)\] = "data:image/png;base64,([^"]*)"', page)
    assert [number for number, _ in frames] == ["0", "1", "2"]
    pictures = [Image.open(io.BytesIO(base64.b64decode(text.replace("\\\n", "")))) for _, text in frames]
    assert len({picture.tobytes() for picture in pictures}) == 3
    assert not re.search(r"https?://|<link", page)
    icons = {name for names in re.findall(r'<i class="fa ([^"]*)"', page) for name in names.split()}
    assert len(icons) == 9
    assert all(f".{icon}::before" in page for icon in icons)


@pytest.mark.release
@pytest.mark.parametrize("suffix", ["gif", "html"])
def test_the_view_of_a_workspace_turns(tmp_path: Path, suffix: str) -> None:
    file = tmp_path / f"space.{suffix}"
    film = th.Robot.load("ur5e").animate_workspace(file, 200, duration=2.0, fps=2, dpi=20)
    film._func(3)  # type: ignore[attr-defined]
    (space, *_) = film._fig.axes  # type: ignore[attr-defined]
    assert space.azim == -60.0 + 270.0
    assert file.stat().st_size > 1000
    with pytest.raises(ThunderError, match="ax must be 3-D axes"):
        th.plotting.animate_view(plt.figure().add_subplot())


@pytest.fixture(scope="module")
def run() -> th.SimulationResult:
    robot = th.Robot.load("scara")
    controller = th.ComputedTorque(robot, K_0=100.0, K_1=20.0)
    return th.simulate(robot, controller, _reference(robot), 0.5, 1e-3)


def _reference(robot: th.Robot) -> th.reference.Sinusoid:
    return th.reference.Sinusoid(0.2 * np.ones(robot.n), 1.0, center=0.3)


def test_a_run_is_shown_with_its_reference(run: th.SimulationResult, tmp_path: Path) -> None:
    robot = run.plant
    assert robot is not None
    film = run.animate(tmp_path / "run.gif", reference=_reference(robot), fps=10, dpi=40)
    with Image.open(tmp_path / "run.gif") as gif:
        assert gif.n_frames == 6
    assert (tmp_path / "run.gif").stat().st_size < 100_000
    path, sticks, *_ = film._fig.axes[0].lines  # type: ignore[attr-defined]
    drawn = np.stack(path.get_data_3d(), -1)
    times = np.linspace(0.0, 0.5, len(drawn))
    np.testing.assert_allclose(drawn, robot.forward_kinematics(_reference(robot)(times).q)[:, :3, 3], atol=1e-12)
    np.testing.assert_allclose(np.stack(sticks.get_data_3d(), -1), arm_points(robot, run.q[-1]), atol=1e-12)


def test_a_reference_of_poses_is_a_path_as_it_is(run: th.SimulationResult) -> None:
    curve = th.reference.Lissajous([0.1, 0.1, 0.0], [1.0, 2.0, 0.0], center=[0.5, 0.0, 0.5])
    film = run.animate(reference=curve, fps=5)
    film._draw_was_started = True  # type: ignore[attr-defined]  # it is only looked at
    drawn = np.stack(film._fig.axes[0].lines[0].get_data_3d(), -1)  # type: ignore[attr-defined]
    np.testing.assert_allclose(drawn, curve(np.linspace(0.0, 0.5, len(drawn))).p, atol=1e-12)


def test_a_run_without_a_robot_needs_one(run: th.SimulationResult) -> None:
    data = {name: getattr(run, name) for name in ("t", "q", "dq", "tau", "status")}
    foreign = th.SimulationResult(**data)
    assert_refused(
        (lambda: foreign.animate(), "...robot must be given..."),
        (lambda: foreign.animate(robot=th.Robot.load("panda")), "...robot must have 4 joints..."),
        (lambda: run.animate(reference=lambda t: t), "...reference must return an object with p or q, got float..."),
    )
