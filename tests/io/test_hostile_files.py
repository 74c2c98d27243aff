"""Files that are none, that are too large, too deep, or hold numbers without end."""

from __future__ import annotations

import os
import re
import time
from pathlib import Path

import numpy as np
import pytest

import thunder_py as th
from tests.refusals import assert_refused
from thunder_py import robots
from thunder_py.errors import FileFormatError
from thunder_py.files import as_file, read_archive, read_whole
from thunder_py.realtime import SimulatedRobot
from thunder_py.recordings.loaders.text import TextFile

BODY = '<inertial><mass value="{}"/><inertia ixx="1" ixy="0" ixz="0" iyy="1" iyz="0" izz="1"/></inertial>'
JOINT = '<joint name="{}" type="{}"><parent link="{}"/><child link="{}"/></joint>'


def urdf(encoding: str = "utf-8", mass: str = "1") -> str:
    return (
        f'<?xml version="1.0" encoding="{encoding}"?><robot name="a"><link name="b"/><link name="l">'
        + BODY.format(mass) + "</link>" + JOINT.format("j", "continuous", "b", "l") + "</robot>"
    )  # fmt: skip


def mjcf(pos: str = "0", mass: str = "1", rest: str = "") -> str:
    return (
        f'<mujoco><worldbody><body name="a" pos="{pos} 0 0"><joint name="j" type="hinge" axis="0 0 1"/>'
        f'<inertial pos="0 0 0" mass="{mass}" diaginertia="1 1 1"/></body></worldbody>{rest}</mujoco>'
    )


@pytest.mark.parametrize("encoding", ["big5", "shift_jis", "utf-32", "gb2312", "utf-7"])
@pytest.mark.parametrize("suffix", [".urdf", ".xml"])
def test_encodings_of_many_bytes(encoding: str, suffix: str, tmp_path: Path) -> None:
    if suffix == ".xml":
        pytest.importorskip("mujoco")
    path = tmp_path / f"arm{suffix}"
    path.write_text(urdf(encoding), encoding="ascii")
    with pytest.raises(FileFormatError, match=f"^{re.escape(str(path))}: not readable as text: multi-byte encodings"):
        th.Robot.load(path)


@pytest.mark.parametrize("suffix", [".yaml", ".urdf", ".xml", ".npz", ".csv", "node.yaml"])
def test_pipes_and_devices_are_not_read(suffix: str, tmp_path: Path) -> None:
    """Reading a pipe waits for ever, `/dev/zero` fills the memory."""
    if suffix == ".xml":
        pytest.importorskip("mujoco")
    pipe, zero = tmp_path / f"pipe{suffix}", tmp_path / f"zero{suffix}"
    os.mkfifo(pipe)
    zero.symlink_to("/dev/zero")
    read = {
        ".npz": lambda path: read_archive(path, "us"),
        ".csv": lambda path: TextFile(path).lines,
        "node.yaml": SimulatedRobot,
    }
    for path in (pipe, zero):
        message = f"^{re.escape(str(path))}: must be a regular file, got a device, pipe or socket$"
        with pytest.raises(FileFormatError, match=message):
            read.get(suffix, th.Robot.load)(path)


def test_files_that_are_too_large_are_not_read(tmp_path: Path) -> None:
    for name, most in (("arm.yaml", 1_000_000), ("arm.urdf", 1 << 26)):
        path = tmp_path / name
        with path.open("wb") as file:
            file.truncate(most + 1)  # no blocks on the disk
        with pytest.raises(FileFormatError, match=f"arm.*: must be at most {most} bytes, got {most + 1}$"):
            th.Robot.load(path)


def test_negative_moments_of_inertia_with_their_line(tmp_path: Path) -> None:
    path = tmp_path / "arm.yaml"
    text = robots.path("elbow").read_text(encoding="utf-8")
    wrong = re.sub(r"xx: [0-9.e-]+", "xx: -0.1", text, count=1)
    path.write_text(wrong, encoding="utf-8")
    line = next(k for k, row in enumerate(wrong.splitlines(), start=1) if "mass:" in row)
    message = f"arm.yaml:{line}: links[0].inertial: principal moments of link1 about its center of mass must not be"
    with pytest.raises(FileFormatError, match=re.escape(message)):
        th.Robot.load(path)
    path.write_text(wrong + "\nestimated: true\n", encoding="utf-8")
    assert th.Robot.load(path).n == 2


@pytest.mark.parametrize("mass", ["1e21", "1e300"])
@pytest.mark.parametrize("suffix", [".urdf", ".xml", ".yaml"])
def test_huge_numbers_name_the_file(mass: str, suffix: str, tmp_path: Path) -> None:
    if suffix == ".xml":
        pytest.importorskip("mujoco")
    path = tmp_path / f"arm{suffix}"
    texts = {".urdf": urdf(mass=mass), ".xml": mjcf(mass=mass)}
    elbow = robots.path("elbow").read_text(encoding="utf-8")
    path.write_text(texts.get(suffix) or re.sub(r"mass: [0-9.e-]+", f"mass: {float(mass)!r}", elbow), encoding="utf-8")
    message = rf"^{re.escape(str(path))}:.* inertial must be at most 1e\+20 in SI units, got "
    with pytest.raises(FileFormatError, match=message):
        th.Robot.load(path)


def test_the_largest_numbers_give_finite_dynamics() -> None:
    inertial = np.zeros((64, 10))
    inertial[:, [0, 4, 7, 9]] = 1e19
    dh = np.tile([1.0, 0.3, 0.1, 0.0], (64, 1))
    arm = th.Robot.from_dh(dh, inertial=inertial)
    q = np.linspace(-1.0, 1.0, 64)
    for values in (arm.mass_matrix(q), arm.forward_dynamics(q, q, q), arm.inverse_dynamics(q, q, q)):
        assert np.isfinite(values).all()


@pytest.mark.parametrize("nan", ["nan", "NaN(1)", "-nan(x)"])
def test_mujoco_writes_no_log(nan: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("mujoco")
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "arm.xml"
    for text in (mjcf(pos=nan), mjcf(rest=f'<actuator><motor joint="j" gear="{nan}"/></actuator>')):
        path.write_text(text, encoding="utf-8")
        with pytest.raises(FileFormatError, match=r"arm\.xml:1: <\w+>: '\w+' must be finite, got '.*(?i:nan)"):
            th.Robot.load(path)
    assert os.listdir(tmp_path) == ["arm.xml"]


def test_a_long_chain_of_fixed_links_takes_its_length(tmp_path: Path) -> None:
    """The tip is looked for once from the base on, not once from every link."""

    def seconds(count: int) -> float:
        links = [f'<link name="l{k}">{BODY.format(1)}</link>' for k in range(count)]
        joints = [JOINT.format(f"f{k}", "fixed", f"l{k - 1}", f"l{k}") for k in range(1, count)]
        first = '<link name="b"/>' + JOINT.format("j", "continuous", "b", "l0")
        path = tmp_path / f"{count}.urdf"
        path.write_text(f'<robot name="a">{first}{"".join(links + joints)}</robot>', encoding="utf-8")
        start = time.process_time()
        arm = th.Robot.load(path)
        assert (arm.n, arm.inertial[0, 0]) == (1, count)
        return time.process_time() - start

    seconds(100)
    assert seconds(2000) < 20.0 * max(seconds(250), 0.05)  # 8 times as long; 64 times where it is quadratic


def test_refusals(tmp_path) -> None:
    assert_refused(
        (lambda: as_file(3), "path must be a str or path-like, got int: 3"),
        (lambda: as_file("a\0b"), "path must be the name of a file, got 'a...b': embedded null..."),
        (lambda: read_whole(tmp_path / "nothing"), "...", FileNotFoundError),
        (lambda: read_whole(tmp_path), "...", IsADirectoryError),
    )
