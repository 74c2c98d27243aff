"""The table and the numbers of docs/movement_primitives.md are right."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from thunder_py.motion.primitives.dmp import DMP
from thunder_py.trajectory.hermite import minimum_jerk

PAGE = (Path(__file__).parents[2] / "docs" / "movement_primitives.md").read_text(encoding="utf-8")
NAMES = {"Gaussians": "gaussian", "mollifiers": "mollifier", "Wendland C2": "wendland_c2", "Wendland C4": "wendland_c4"}


def _factor(**options: object) -> float:
    reach = minimum_jerk([0.0, 0.0, 0.0], [0.4, 0.3, 0.25], 5.0)
    demonstrated = 23.094 * 0.25 * 5.0**0.5 / 5.0**3
    return DMP(**options).fit(reach).rollout().mean_jerk() / demonstrated


@pytest.mark.parametrize("name", list(NAMES))
def test_table_of_jerk_is_right(name: str) -> None:
    row = re.search(rf"^\| {name} \|(.*)\|$", PAGE, flags=re.MULTILINE)
    assert row is not None
    for printed, overlap in zip(row[1].split("|"), (1.0, 2.0, 2.5), strict=True):
        digits = len(printed.strip().partition(".")[2])
        assert abs(_factor(basis=NAMES[name], overlap=overlap) - float(printed)) <= 0.51 * 10.0**-digits


def test_stiffness_multiplies_the_jerk() -> None:
    printed = re.search(r"the factor of mollifiers is (\d+), and that of\sGaussians ([\d.]+)\.", PAGE)
    assert printed is not None
    assert abs(_factor(basis="mollifier", K=1050.0) - float(printed[1])) <= 0.51
    assert abs(_factor(K=1050.0) - float(printed[2])) <= 0.051
