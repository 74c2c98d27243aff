"""Wrong data are pointed out: signs, units, no motion."""

from __future__ import annotations

import numpy as np
import pytest

import thunder_py as th
from tests.control.arms import elbow
from tests.identification.test_identify import T, motion
from thunder_py.errors import ThunderWarning
from thunder_py.identification import Log, identify
from thunder_py.identification.model import _warn_of_invisible


def log(sign=1.0, scale=1.0, still=False):
    q, dq, ddq = motion(2)
    if still:
        q, dq, ddq = np.full_like(q, 0.3), np.zeros_like(q), np.zeros_like(q)
    tau = sign * elbow().inverse_dynamics(q, dq, ddq) + np.random.default_rng(0).normal(scale=0.1, size=q.shape)
    return Log(t=T, q=scale * q, dq=scale * dq, ddq=scale * ddq, tau=tau)


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"sign": -1.0}, r"^the log asks for negative inertia at joint1, joint2: is the sign of tau or of q wrong, "),
        (
            {"scale": 180.0 / np.pi},
            r"^the fit leaves \d+ % of the torque or more at every joint: are q in rad or m, ",
        ),
        (
            {"still": True},
            r"^the motion determines only 0 of 6 base parameters, the others keep ",
        ),
    ],
)
def test_wrong_data_are_pointed_out(wrong, message):
    with pytest.warns(ThunderWarning, match=message):
        identify(elbow(), log(**wrong))


def test_negative_friction_is_pointed_out():
    robot = elbow().replace(friction=th.robot.Friction(terms=("viscous",), coefficients=np.zeros((2, 1))))
    driven = log()
    with pytest.warns(ThunderWarning, match=r"^the log asks for negative friction, joint2\.viscous \(-1\.?\d*\): "):
        identify(robot, Log(t=T, q=driven.q, dq=driven.dq, ddq=driven.ddq, tau=driven.tau - driven.dq * [0.0, 1.0]))


def test_a_resting_joint_has_no_stribeck_velocity():
    with pytest.warns(ThunderWarning) as caught:
        _warn_of_invisible([("joint2.stribeck_velocity",)])
    assert str(caught[0].message) == (
        "the logs do not distinguish joint2.stribeck_velocity at all: choose another friction for this joint, or move "
        "it slowly in both directions"
    )
