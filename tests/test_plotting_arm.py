"""Pictures and films of arms."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import matplotlib as mpl
import numpy as np
import pytest
from PIL import Image

import thunder_py as th
from thunder_py.errors import ThunderError
from thunder_py.plotting.animation import animate, save_animation
from thunder_py.plotting.arm import arm_frames, arm_points, draw_arm

_Q = np.array([0.0, -0.5, 0.0, -2.0, 0.0, 1.6, 0.8])
_T = np.linspace(0.0, 0.4, 41)
_MOTION = _Q + 0.5 * np.sin(_T)[:, None]


@pytest.fixture(autouse=True)
def _no_windows() -> Iterator[None]:
    mpl.use("agg")
    yield
    mpl.pyplot.close("all")  # type: ignore[attr-defined]


@pytest.mark.parametrize("name", ["panda", "scara", "human_arm"])
def test_sticks_join_the_link_frames(name: str) -> None:
    robot = th.Robot.load(name)
    q = 0.3 * np.ones(robot.n)
    (sticks, *_) = draw_arm(robot, q).lines
    drawn = np.stack(sticks.get_data_3d(), axis=-1)
    assert np.array_equal(drawn, arm_points(robot, q))
    assert np.array_equal(drawn[-1], robot.forward_kinematics(q)[:3, 3])
    assert np.array_equal(drawn[0], robot.description.base[:3, 3])
    assert arm_frames(robot, np.zeros((5, robot.n))).shape == (5, robot.n + 2, 4, 4)


def test_frames_point_along_the_axes_of_the_end_effector() -> None:
    robot = th.Robot.load("panda")
    lines = draw_arm(robot, _Q).lines
    T = robot.forward_kinematics(_Q)
    for k, line in enumerate(lines[-3:]):
        ends = np.stack(line.get_data_3d(), axis=-1)
        axis = (ends[1] - ends[0]) / np.linalg.norm(ends[1] - ends[0])
        np.testing.assert_allclose(axis, T[:3, k], atol=1e-12)
    assert len(draw_arm(robot, _Q, frames=False).lines) == 1


def test_several_postures_get_darker_on_given_axes() -> None:
    robot = th.Robot.load("panda")
    axes = draw_arm(robot, _Q, color="#123456")
    assert draw_arm(robot, _MOTION[::20], axes, frames=False) is axes
    assert axes.lines[0].get_color() == "#123456"
    shades = [line.get_alpha() for line in axes.lines[-3:]]
    assert shades == sorted(shades)
    assert shades[-1] == 1.0


def test_a_film_moves_arm_trace_and_points(tmp_path: Path) -> None:
    robot = th.Robot.load("panda")
    ball = np.stack([0.5 + 0.0 * _T, _T, 0.1 + 0.0 * _T], axis=1)
    ball[:5] = np.nan  # not there yet
    film = animate(robot, _T, _MOTION, path=arm_points(robot, _MOTION)[:, -1], points={"ball": ball}, fps=10)
    save_animation(film, tmp_path / "arm.gif", dpi=40)
    with Image.open(tmp_path / "arm.gif") as gif:
        assert gif.n_frames == 5
        assert gif.info["duration"] == 100
    assert (tmp_path / "arm.gif").stat().st_size < 100_000
    _, sticks, *_, trace, mark = film._fig.axes[0].lines  # type: ignore[attr-defined]
    assert np.array_equal(np.stack(sticks.get_data_3d(), axis=-1), arm_points(robot, _MOTION[-1]))
    tips = robot.forward_kinematics(_MOTION)[::10, :3, 3]
    np.testing.assert_allclose(np.stack(trace.get_data_3d(), axis=-1), tips, atol=1e-12)
    assert np.array_equal(np.ravel(mark.get_data_3d()), ball[-1])


def test_half_the_speed_takes_twice_the_pictures(tmp_path: Path) -> None:
    film = animate(th.Robot.load("scara"), [0.0, 0.1], np.zeros((2, 4)), seconds_per_second=0.5, fps=20)
    save_animation(film, tmp_path / "slow.gif", dpi=20)
    with Image.open(tmp_path / "slow.gif") as gif:
        assert gif.n_frames == 5


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"t": _T[::-1]}, "t must be at least two ascending times"),
        ({"q": _MOTION[:, :6]}, r"q must have shape \(41, 7\)"),
        ({"q": np.full((41, 7), np.nan)}, "q must be finite"),
        ({"path": np.zeros((4, 2))}, r"path must have shape \(n, 3\)"),
        ({"points": {"ball": np.zeros((4, 3))}}, "must have a row for each of the 41 times"),
        ({"fps": 0}, "fps must be a positive number"),
        ({"seconds_per_second": 1e-5}, "too long"),
    ],
)
def test_films_of_nonsense_are_refused(change: dict[str, Any], message: str) -> None:
    arguments = {"t": _T, "q": _MOTION} | change
    with pytest.raises(ThunderError, match=message):
        animate(th.Robot.load("panda"), arguments.pop("t"), arguments.pop("q"), **arguments)


def test_files_that_cannot_be_written_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(ThunderError, match=r"file must end in \.gif or \.mp4"):
        save_animation(None, tmp_path / "arm.png")  # type: ignore[arg-type]
    with pytest.raises(ThunderError, match="there is no folder"):
        save_animation(None, tmp_path / "none" / "arm.gif")  # type: ignore[arg-type]
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(ThunderError, match=r"MP4 needs the program ffmpeg"):
        save_animation(None, tmp_path / "arm.mp4")  # type: ignore[arg-type]
