"""Films of arms and of runs."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

import thunder_py as th
from thunder_py.errors import ThunderError
from thunder_py.plotting.animation import animate, save_animation
from thunder_py.plotting.arm import arm_points

_Q = np.array([0.0, -0.5, 0.0, -2.0, 0.0, 1.6, 0.8])
_T = np.linspace(0.0, 0.4, 41)
_MOTION = _Q + 0.5 * np.sin(_T)[:, None]


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
    film = animate(th.Robot.load("scara"), [0.0, 0.1], np.zeros((2, 4)), playback_speed=0.5, fps=20)
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
        ({"playback_speed": 1e-5}, "must have at most 5000 frames, got"),
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
    with pytest.raises(ThunderError, match="dpi must be a positive number"):
        save_animation(None, tmp_path / "arm.gif", dpi=0)  # type: ignore[arg-type]
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(ThunderError, match=r"MP4 needs the program ffmpeg"):
        save_animation(None, tmp_path / "arm.mp4")  # type: ignore[arg-type]


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
    with pytest.raises(ThunderError, match="robot must be given"):
        foreign.animate()
    with pytest.raises(ThunderError, match="robot must have 4 joints"):
        foreign.animate(robot=th.Robot.load("panda"))
    with pytest.raises(ThunderError, match="reference must return an object with p or q, got float"):
        run.animate(reference=lambda t: t)
