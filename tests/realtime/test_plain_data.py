"""Configurations in files."""

from __future__ import annotations

from pathlib import Path

import pytest

import thunder_py as th
from thunder_py.errors import FileFormatError
from thunder_py.realtime import ReferenceGenerator, SimulatedRobot
from thunder_py.realtime.plain_data import read_plain


def test_files_stand_beside_the_configuration(tmp_path: Path) -> None:
    """A node's working folder is anything, so a relative name means beside the file that has it."""
    th.Robot.load("elbow").save(tmp_path / "my_arm.yaml")
    (tmp_path / "way.csv").write_text("t,joint1,joint2\n0,0,0\n1,0.1,0.2\n2,0.1,0.1\n3,0,0\n")
    (tmp_path / "robot.yaml").write_text("robot: my_arm.yaml\n")
    (tmp_path / "reference.yaml").write_text("robot: my_arm.yaml\nreference: {kind: file, path: way.csv}\n")
    assert SimulatedRobot(tmp_path / "robot.yaml").robot.n == 2
    assert ReferenceGenerator(tmp_path / "reference.yaml").robot.n == 2
    read = read_plain(tmp_path / "reference.yaml")
    assert read["robot"] == str(tmp_path / "my_arm.yaml")
    assert read["reference"]["path"] == str(tmp_path / "way.csv")


def test_bundled_robots_absolute_names_and_mappings_stay(tmp_path: Path) -> None:
    path = tmp_path / "robot.yaml"
    path.write_text("robot: panda\n")
    assert read_plain(path) == {"robot": "panda"}
    path.write_text("robot: /somewhere/arm.yaml\nreference: {kind: file, path: /other/way.npz}\n")
    assert read_plain(path) == {
        "robot": "/somewhere/arm.yaml",
        "reference": {"kind": "file", "path": "/other/way.npz"},
    }
    assert read_plain({"robot": "arm.yaml"}) == {"robot": "arm.yaml"}


@pytest.mark.parametrize("text", ["- 1\n", "robot: [", "robot: panda\n" + "#" * 2_000_000])
def test_what_is_no_configuration_is_refused(tmp_path: Path, text: str) -> None:
    path = tmp_path / "robot.yaml"
    path.write_text(text)
    with pytest.raises(FileFormatError, match=r"robot\.yaml"):
        read_plain(path)
