"""Figures of movement primitives hold what they say."""

from __future__ import annotations

import matplotlib

matplotlib.use("Agg")

import matplotlib.pyplot as plt
import numpy as np
import pytest

from thunder_py.motion.primitives.dmp import DMP
from thunder_py.trajectory.hermite import minimum_jerk


def test_motion_and_basis_are_drawn() -> None:
    dmp = DMP(7, basis="mollifier").fit(minimum_jerk([0.0, 0.0], [0.4, 0.3], 1.0))
    motion = dmp.rollout()
    panels = motion.plot(label="reach")
    assert list(panels) == ["x", "speed", "jerk"]
    assert len(panels["x"].lines) == 2
    np.testing.assert_allclose(panels["speed"].lines[0].get_ydata(), np.linalg.norm(motion.dx, axis=1))
    np.testing.assert_allclose(panels["jerk"].lines[0].get_ydata(), np.linalg.norm(motion.dddx, axis=1))
    shares = np.array([line.get_ydata() for line in dmp.plot_basis().lines])
    assert shares.shape[0] == 7
    np.testing.assert_allclose(shares.sum(axis=0), 1.0)
    with pytest.raises(ValueError, match="axes must be named x, speed, jerk, got 'force'"):
        motion.plot(axes={"force": panels["x"]})
    plt.close("all")
