import mujoco
import numpy as np
import pytest

import thunder_py as th
from tests.mujoco_plant.arms import assert_equals_mujoco, chain, planar, relative, states
from tests.refusals import assert_refused
from thunder_py.errors import ThunderError
from thunder_py.mujoco import MujocoPlant, to_mjcf


def compare(robot: th.Robot, plant: MujocoPlant, count: int = 10) -> None:
    for q, dq, tau in zip(*states(robot, count), strict=True):
        zero = np.zeros(robot.n)
        assert relative(plant.mass_matrix(q), robot.mass_matrix(q)) < 1e-9
        assert relative(plant.bias(q, dq), robot.inverse_dynamics(q, dq, zero)) < 1e-9
        assert relative(plant.forward_dynamics(q, dq, tau), robot.forward_dynamics(q, dq, tau)) < 1e-9


@pytest.mark.parametrize("name", th.robots.names())
def test_bundled(name):
    robot = th.Robot.load(name)
    compare(robot, MujocoPlant(robot))


@pytest.mark.parametrize("seed", range(12))
def test_random_chains(seed):
    robot = chain(seed)
    compare(robot, MujocoPlant(robot))


@pytest.mark.parametrize("seed", range(3))
def test_planar_arms_with_rotors(seed):
    robot = planar(seed)
    assert "tendon" in to_mjcf(robot) or all(rotor.carrier == 0 for rotor in robot.description.rotors)
    compare(robot, MujocoPlant(robot))


def test_rotors_in_space_are_refused_or_lose_their_coupling():
    robot = th.Robot.load("panda")
    rotor = th.model.description.Rotor(joint=5, inertia=0.001, gear_ratio=100.0)
    geared = robot.replace(rotors=(rotor,))
    with pytest.raises(ThunderError, match=r"MJCF cannot hold .* rotor of joint5 becomes an armature"):
        to_mjcf(geared)
    text = to_mjcf(geared, lossy=True)
    assert "not carried over: the rotor of joint5" in text
    assert 'armature="10"' in text
    assert np.abs(geared.mass_matrix(np.ones(7)) - robot.mass_matrix(np.ones(7))).max() > 9.9


def test_mujoco_is_asked_itself():
    """The text alone, through MuJoCo's own calls: no code of the plant between."""
    robot = th.Robot.load("panda")
    assert_equals_mujoco(robot, mujoco.MjModel.from_xml_string(to_mjcf(robot)), "tool")


def test_names_frames_and_limits_are_the_robots():
    robot = th.Robot.load("panda")
    model = mujoco.MjModel.from_xml_string(to_mjcf(robot))
    assert [model.joint(j).name for j in range(model.njnt)] == list(robot.joint_names)
    assert [model.body(b).name for b in range(1, model.nbody)] == ["base", *robot.link_names]
    assert [model.actuator(k).name for k in range(model.nu)] == list(robot.joint_names)
    np.testing.assert_array_equal(model.actuator_ctrlrange[:, 1], robot.limits.effort)
    np.testing.assert_array_equal(model.jnt_range, np.column_stack([robot.limits.lower, robot.limits.upper]))
    assert not model.geom_contype.any()
    assert not model.geom_conaffinity.any()
    assert model.ngeom > 7


def test_refusals():
    inertial = [[1.0, 0.1, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 0.0, 5.0]]
    robot = th.Robot.from_dh([[0, np.pi / 2, 0, 0], [0.3, np.pi / 2, 0.1, 0], [0.3, 0.5, 0, 0]], inertial=inertial * 3)
    assert_refused((lambda: to_mjcf(robot), "MuJoCo refuses link2: its moments of inertia are not physical..."))
    massless = robot.with_parameters(np.where(np.arange(robot.p) == 10, 0.0, robot.parameters))
    assert_refused((lambda: to_mjcf(massless), "link2 must be a body, got mass 0 with first moment..."))
    robot = th.Robot.load("elbow").replace(link_names=("world", "b"))
    assert_refused((lambda: to_mjcf(robot), "link name must not be 'world'..."))
