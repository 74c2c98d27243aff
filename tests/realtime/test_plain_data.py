"""Configurations in files."""

from pathlib import Path

import numpy as np
import pytest

import thunder_py as th
from tests.damage import answers, in_time
from tests.refusals import assert_refused
from thunder_py.errors import FileFormatError, ThunderError
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


def test_a_configuration_is_read_as_robots_are(tmp_path: Path) -> None:
    """Numbers that YAML 1.1 changes stay what they look like, or stay texts, which the loop then refuses."""
    path = tmp_path / "robot.yaml"
    path.write_text(
        "robot: panda\nperiod: 1e-3\nq0: [010, pi/2, .5, -1_0, 0x1F, 1:30, '2']\nwatchdog: .inf\nsince: 2001-01-01\n"
        "base: &b {gain: 2, hold: yes}\nother: *b\nnothing: ~\n"
    )
    assert read_plain(path) == {
        "robot": "panda",
        "period": 1e-3,
        "q0": [10, np.pi / 2, 0.5, "-1_0", "0x1F", "1:30", 2],
        "watchdog": np.inf,
        "since": "2001-01-01",
        "base": {"gain": 2, "hold": True},
        "other": {"gain": 2, "hold": True},
        "nothing": None,
    }
    path.write_text("robot: elbow\nwatchdog: 1:30\n")
    with pytest.raises(ThunderError, match=r"watchdog must be .*, got '1:30'"):
        SimulatedRobot(path)


def test_a_configuration_that_means_something_else_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "robot.yaml"
    bomb = "".join(f"a{k}: &a{k} [{', '.join([f'*a{k - 1}'] * 10)}]\n" for k in range(1, 12))
    once = "must occur once"
    for text, message in (
        ("- 1\n", "robot.yaml"),
        ("robot: [", "robot.yaml"),
        ("robot: panda\n" + "#" * 2_000_000, "robot.yaml"),
        ("torque_rate: 1\ntorque_rate: 10\n", f"robot.yaml:2: key 'torque_rate' {once}, first in line 1"),
        ("controller: {K_d: 1, name: ACT, K_d: 9}\n", f"controller: key 'K_d' {once}"),
        ("a0: &a0 [1, 1, 1, 1, 1, 1, 1, 1, 1, 1]\n" + bomb, "a4: must hold at most 100000 values"),
        ("a: &a [*a]\n", "must hold at most 100000 values, 24 deep"),
        ("a: !!python/object/apply:os.system ['true']\n", "robot.yaml"),
        ("a: !!binary aGVsbG8=\n", "tag 'tag:yaml.org,2002:binary' is not read"),
        ("base: &b {K_d: 1}\nlaw: {<<: *b}\n", "merge keys"),
        ("a: " + "[" * 3000, "nested more than 24 deep"),
    ):
        path.write_text(text)
        with in_time():
            assert_refused((lambda: read_plain(path), f"...{message}...", FileFormatError))


def test_damage_is_an_error_of_ours(tmp_path: Path) -> None:
    path = tmp_path / "robot.yaml"
    path.write_text("robot: elbow\nq0: [0.1, -1e-1]\nperiod: 0.002\ndamping: &d [1, 2]\ntorque_limits: *d\n# ende\n")
    read, refused = answers(path, lambda: SimulatedRobot(path), range(100))
    assert min(read, refused) > 0
