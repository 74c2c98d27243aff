"""Plants without mass behind a joint."""

import warnings

import numpy as np
import pytest

import thunder_py as th


@pytest.mark.parametrize("amplitude", [0.0, 0.3])
@pytest.mark.parametrize("name", ["panda", "scara"])
def test_a_last_link_without_mass_is_told_with_its_joint(name, amplitude):
    robot = th.Robot.load(name)
    reg = robot.inertial.copy()
    reg[-1] = 0.0
    massless = robot.replace(inertial=reg, armature=None, rotors=())
    law = th.control.PDGravity(massless, 10.0, 1.0)
    center = np.minimum(0.0, robot.limits.upper - 0.3)
    motion = th.reference.Sinusoid(np.full(robot.n, amplitude), np.full(robot.n, 0.5), center=center)
    with pytest.warns(RuntimeWarning) as told:
        th.simulate(massless, law, motion, duration=0.01, dt=1e-3)
    assert len(told) == 1
    message = str(told[0].message)
    assert "the mass matrix is singular" in message
    assert f"{robot.link_names[-1]} has no mass" in message
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        th.simulate(massless.replace(armature=np.full(robot.n, 0.01)), law, motion, duration=0.01, dt=1e-3)
