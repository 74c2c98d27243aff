import importlib.util
import sys
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

import thunder_py as th
from thunder_py.cli import main
from thunder_py.cli.window import slider_window
from thunder_py.robot.frames import arm_points
from thunder_py.robot.plot import ArmPicture

_SIZE = ["--size", "96x72"]


@pytest.fixture(autouse=True)
def _no_display(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("DISPLAY", "WAYLAND_DISPLAY"):
        monkeypatch.delenv(name, raising=False)


@pytest.fixture
def drawing() -> None:
    """Skip where MuJoCo cannot draw, and say why."""
    pytest.importorskip("mujoco", reason="the extra mujoco is not installed")
    from thunder_py.mujoco import rendering as gl

    try:
        gl.open_context(8, 8).free()
    except th.errors.ThunderError as error:
        pytest.skip(str(error))


@pytest.fixture
def run_file(tmp_path: Path) -> Path:
    t = np.linspace(0.0, 0.4, 41)
    q = 0.5 * np.sin(t)[:, None] * np.ones(4)
    zeros = np.zeros_like(q)
    th.SimulationResult(t=t, q=q, dq=zeros, tau=zeros, status=np.zeros(41, dtype=np.int64)).save(tmp_path / "run.npz")
    return tmp_path / "run.npz"


def _pixels(file: Path) -> np.ndarray:
    with Image.open(file) as image:
        return np.asarray(image.convert("RGB")).astype(int)


@pytest.mark.usefixtures("drawing")
def test_pictures_by_mujoco_show_the_posture(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    from thunder_py.mujoco import render

    file = tmp_path / "scara.png"
    assert main(["view", "scara", "--q=0.3,-1,0.1,0", "--output", str(file), *_SIZE]) == 0
    assert capsys.readouterr().out == f"{file}\n"
    assert np.array_equal(_pixels(file), render(th.Robot.load("scara"), [0.3, -1.0, 0.1, 0.0], 96, 72))


@pytest.mark.release
@pytest.mark.usefixtures("drawing")
def test_a_film_of_a_run_and_one_of_every_joint(tmp_path: Path, run_file: Path) -> None:
    film, tour = tmp_path / "run.gif", tmp_path / "tour.gif"
    arguments = ["view", "scara", "--size", "48x36"]
    assert main([*arguments, "--fps", "5", "--result", str(run_file), "--output", str(film)]) == 0
    assert main([*arguments, "--fps", "1", "--output", str(tour)]) == 0
    assert _duration(film) == 3 * 200  # 0.4 s
    assert _duration(tour) == 9 * 1000  # 2 s for each of four joints


def _duration(file: Path) -> float:
    """Time of all pictures [ms]; of equal ones Pillow makes a longer one."""
    with Image.open(file) as gif:
        total = 0.0
        for k in range(gif.n_frames):
            gif.seek(k)
            total += gif.info["duration"]
    return total


@pytest.mark.release
def test_pictures_and_films_by_matplotlib(tmp_path: Path, run_file: Path) -> None:
    one, other = tmp_path / "one.png", tmp_path / "other.png"
    base = ["view", "scara", "--backend", "matplotlib"]
    for file, q in ((one, "0,0,0,0"), (other, "1,1,0,0")):
        assert main([*base, "--q", q, "--output", str(file)]) == 0
    assert not np.array_equal(_pixels(one), _pixels(other))
    film = tmp_path / "run.gif"
    assert main([*base, "--result", str(run_file), "--fps", "5", "--output", str(film)]) == 0
    assert _duration(film) == 3 * 200
    page = tmp_path / "run.html"
    assert main(["view", "scara", "--result", str(run_file), "--fps", "5", "--output", str(page)]) == 0
    assert "frames[2]" in page.read_text(encoding="utf-8")
    assert main([*base, "--result", str(run_file), "--output", str(tmp_path / "run.pdf")]) == 0
    assert (tmp_path / "run.pdf").read_bytes().startswith(b"%PDF")


def test_without_mujoco_matplotlib_draws_and_a_note_is_given(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    found = importlib.util.find_spec
    monkeypatch.setattr(
        importlib.util, "find_spec", lambda name, *rest: None if name == "mujoco" else found(name, *rest)
    )
    monkeypatch.setitem(sys.modules, "mujoco", None)
    file = tmp_path / "scara.png"
    assert main(["view", "scara", "--output", str(file)]) == 0
    assert 'MuJoCo is not installed (pip install "thunder_py[mujoco]")' in capsys.readouterr().err
    assert file.is_file()
    assert main(["view", "scara", "--backend", "mujoco", "--output", str(file)]) == 2
    assert 'pip install "thunder_py[mujoco]"' in capsys.readouterr().err


def test_without_a_display_it_says_what_to_do(capsys: pytest.CaptureFixture[str]) -> None:
    for backend in ([], ["--backend", "matplotlib"]):
        assert main(["view", "panda", *backend]) == 2
        assert "there is no display to open a window on; write a file: --output" in capsys.readouterr().err


@pytest.mark.usefixtures("run_file")
def test_wrong_input_has_exit_status_2(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    for arguments, message in (
        ("panda --q 0,1 --output x.png", "--q must be 7 numbers (joint1, "),
        ("panda --output x.bmp", "--output must end in .png"),
        ("panda --backend mujoco --output x.html", "--output must end in .png or .mp4"),
        ("panda --backend matplotlib --output none/x.png", "there is no folder 'none'"),
        ("pando --output x.png", "did you mean 'panda'"),
        ("panda --result run.npz --output x.png", "robot must have 4 joints as in the run, got 7"),
        ("scara --result run.npz --q 0,0,0,0 --output x.png", "--q and --result exclude each other"),
        ("scara --result none.npz --output x.png", "none.npz: No such file"),
        ("scara --fps 0 --backend matplotlib --output x.gif", "fps must be positive"),
    ):
        assert main(["view", *arguments.split()]) == 2
        assert message in capsys.readouterr().err
        assert [file.name for file in tmp_path.iterdir()] == ["run.npz"]
    for option in ("--q=0,x", "--q=0,nan", "--size=640", "--backend=vtk"):
        with pytest.raises(SystemExit, match="2"):
            main(["view", "scara", option])


def test_missing_meshes_are_told_and_sticks_drawn(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "arm.urdf"
    file.write_text(
        """<robot name="arm"><link name="ground"/><link name="rod"><inertial><mass value="1"/><inertia ixx="1"
        iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial><visual><geometry>
        <mesh filename="package://nowhere/rod.stl"/></geometry></visual></link>
        <joint name="hinge" type="continuous"><parent link="ground"/><child link="rod"/></joint></robot>"""
    )
    picture = tmp_path / "arm.png"
    assert main(["view", str(file), "--backend", "matplotlib", "--output", str(picture)]) == 0
    assert "drawn without meshes: " in (said := capsys.readouterr().err)
    assert "package 'nowhere'" in said
    assert main(["view", str(file), "--backend", "matplotlib", "--no-meshes", "--output", str(picture)]) == 0
    assert capsys.readouterr().err == ""


def test_sliders_move_the_arm(monkeypatch: pytest.MonkeyPatch) -> None:
    robot = th.Robot.load("panda")
    made: list[ArmPicture] = []
    before = ArmPicture.__init__

    def remember(self: ArmPicture, *arguments: object, **options: object) -> None:
        before(self, *arguments, **options)  # type: ignore[arg-type]
        made.append(self)

    monkeypatch.setattr(ArmPicture, "__init__", remember)
    q = np.array([0.1, -0.5, 0.0, -2.0, 0.0, 1.6, 0.8])
    sliders = slider_window(robot, q)
    assert [slider.label.get_text() for slider in sliders] == list(robot.joint_names)
    assert [(slider.valmin, slider.valmax) for slider in sliders] == list(
        zip(robot.limits.lower, robot.limits.upper, strict=True)
    )
    sliders[3].set_val(-1.0)
    q[3] = -1.0
    drawn = np.stack(made[0]._sticks.get_data_3d(), axis=-1)
    np.testing.assert_allclose(drawn, arm_points(robot, q), atol=1e-12)
