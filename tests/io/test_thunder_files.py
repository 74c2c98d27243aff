"""The Thunder 0.8 files in tests/data/thunder: written by their script, loaded as the arms they say."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import thunder_py as th
from thunder_py.model.description import Elastic, check_physical_input

FILES = Path(__file__).parent.parent / "data" / "thunder"
JOINTS = (3, 5, 7, 9, 15, 30)


@pytest.mark.parametrize("n", JOINTS)
def test_arms_load(n):
    robot = th.Robot.load(FILES / f"arm{n}.yaml")
    assert (robot.name, robot.joint_types, robot.e) == (f"arm{n}", "R" * n, 0)
    assert robot.inertial_is_physical().all()
    check_physical_input(robot.description)
    masks = robot.description.masks
    assert masks["inertial"] == ((1,) * 10,) * n
    assert not any(np.any(mask) for key, mask in masks.items() if key != "inertial")
    assert robot.description.friction.terms == ("viscous", "quadratic")
    assert (robot.description.friction.coefficients > 0.0).all()
    M = robot.mass_matrix(np.linspace(-1, 1, n))
    assert np.linalg.eigvalsh(M)[0] > 0.0


def test_elastic_arm_loads():
    robot = th.Robot.load(FILES / "sea3.yaml")
    assert (robot.joint_types, robot.e) == ("RPR", 2)
    assert robot.elastic == (
        Elastic(joint=1, K=(250, 400), D=(0.6,), Dm=(0.3, 0.05), Mm=0.4),
        Elastic(joint=3, K=(40, 90), D=(0.1,), Dm=(0.08, 0.01), Mm=0.06),
    )
    assert robot.inertial_is_physical().all()
    masks = robot.description.masks
    assert {key: masks[f"elastic_{key}"] for key in Elastic.GROUPS} == {
        "K": ((1, 1), (1, 0)), "D": ((0,), (1,)), "Dm": ((0, 0), (0, 1)), "Mm": (1, 0),
    }  # fmt: skip
