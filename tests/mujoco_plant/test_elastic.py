import dataclasses

import numpy as np
import pytest

import thunder_py as th
from tests.dynamics.random_chains import KINDS, random_robot
from tests.mujoco_plant.arms import relative
from tests.refusals import assert_refused
from thunder_py.errors import FileFormatError, ThunderError, UnknownNameError
from thunder_py.mujoco import MujocoPlant, to_mjcf
from thunder_py.mujoco.scene import stage
from thunder_py.reference import Sinusoid
from thunder_py.robot import Elastic

SPRINGS = [Elastic(joint=joint, K=(300.0, 500.0), D=(2.0, 0.5), Dm=(0.2,), Mm=0.1) for joint in (1, 2)]


def chain(seed: int) -> th.Robot:
    """A random arm whose springs have powers that MuJoCo has, too."""
    options = {"friction": seed % 2 == 0, "armature": seed % 3 == 0}
    robot = random_robot(seed, 1 + seed % 7, KINDS[seed % 3], elastic=True, **options)
    return robot.replace(elastic=[dataclasses.replace(drive, K=drive.K[:2]) for drive in robot.elastic])


def soft_elbow(**changes: object) -> th.Robot:
    return th.Robot.load("elbow").replace(elastic=[dataclasses.replace(drive, **changes) for drive in SPRINGS])


@pytest.mark.parametrize("seed", range(14))
def test_accelerations_of_random_chains(seed):
    robot = chain(seed)
    plant = MujocoPlant(robot)
    assert plant.n == robot.n
    assert plant.motor_joints == tuple(drive.joint - 1 for drive in robot.elastic)
    assert plant.joint_names == robot.joint_names
    assert plant.link_names == robot.link_names
    rng = np.random.default_rng(seed)
    for _ in range(3):
        (q, dq, tau), (x, dx) = rng.normal(size=(3, robot.n)), rng.normal(size=(2, robot.e))
        expected = robot.elastic_forward_dynamics(q, dq, x, dx, tau)
        assert relative(np.concatenate(plant.forward_dynamics(q, dq, tau, x, dx)), expected) < 1e-9
    assert relative(plant.mass_matrix(q), robot.mass_matrix(q)) < 1e-9
    assert relative(plant.bias(q, dq), robot.inverse_dynamics(q, dq, 0.0 * q)) < 1e-9
    assert relative(plant.elastic_equilibrium(q), robot.elastic_equilibrium(q)) < 1e-9


@pytest.mark.parametrize("seed", range(0, 12, 4))
def test_files_are_read_back(seed, tmp_path):
    robot = chain(seed).replace(friction=None)
    robot.save(tmp_path / "arm.xml")
    again = th.Robot.load(tmp_path / "arm.xml")
    assert again.elastic == robot.elastic
    assert again.joint_names == robot.joint_names
    plant, rng = MujocoPlant(tmp_path / "arm.xml"), np.random.default_rng(0)
    (q, dq, tau), (x, dx) = rng.normal(size=(3, robot.n)), rng.normal(size=(2, robot.e))
    expected = robot.elastic_forward_dynamics(q, dq, x, dx, tau)
    assert relative(np.concatenate(plant.forward_dynamics(q, dq, tau, x, dx)), expected) < 1e-9


def test_joints_are_locked_with_their_motors(tmp_path):
    soft_elbow().save(tmp_path / "arm.xml")
    locked = th.Robot.load(tmp_path / "arm.xml", fix_joints={"joint1": 0.1})
    assert locked.elastic == (dataclasses.replace(SPRINGS[1], joint=1),)
    with pytest.raises(UnknownNameError, match="fix_joints: there is no joint 'joint1_motor'"):
        th.Robot.load(tmp_path / "arm.xml", fix_joints={"joint1_motor": 0.1})


def test_powers_that_mujoco_does_not_have_are_refused():
    robot = soft_elbow(K=(300.0, 0.0, 5.0), Dm=(0.1, 0.0, 0.0, 2.0))
    assert_refused(
        (lambda: MujocoPlant(robot), "...powers above the third of the spring of joint1 are lost; ... motor of joi...")
    )
    assert "not carried over: powers above the third of the damping of the motor of joint2" in to_mjcf(
        robot, lossy=True
    )
    assert_refused(
        (lambda: MujocoPlant(soft_elbow(Mm=0.0)), "motor inertia Mm of joint1 must be positive, got 0"),
        (
            lambda: MujocoPlant(soft_elbow().replace(joint_names=("joint1", "joint1_motor"))),
            "...must differ from that of a motor, got 'joint1_motor'...",
        ),
    )


def test_linear_springs_and_dampers_are_single_numbers():
    """As versions of MuJoCo without polynomials need them."""
    text = to_mjcf(soft_elbow(K=(300.0,), D=(2.0, 0.0), Dm=()))
    assert text.count('springlength="0" stiffness="300" damping="2"') == 2
    assert text.count('type="hinge" armature="0.1"') == 2


@pytest.mark.parametrize(
    ("old", "new"),
    [('coef="-1"', 'coef="-2"'), ('mass="1.2e-15"', 'mass="0.1"'), ('springlength="0"', 'springlength="0.1"'),
     ('stiffness="300 0 500"', 'stiffness="300 1 500"'), ("spring_of_joint1", "other")],
)  # fmt: skip
def test_other_tendons_are_still_refused(old, new, tmp_path):
    text = to_mjcf(soft_elbow())
    assert old in text
    (tmp_path / "arm.xml").write_text(text.replace(old, new))
    with pytest.raises(FileFormatError, match="tendons that act on the arm are not supported"):
        th.Robot.load(tmp_path / "arm.xml")


def test_the_state_of_the_motors_is_required_where_there_are_any():
    zero = np.zeros(2)
    with pytest.raises(ThunderError, match="x and dx must be the state of the 2 motors, got None"):
        MujocoPlant(soft_elbow()).forward_dynamics(zero, zero, zero)
    rigid = MujocoPlant(th.Robot.load("elbow"))
    assert_refused(
        (lambda: rigid.advance(0.0, zero, zero, zero, 1e-3, zero, zero), "...x and dx must be None for a plant wit..."),
        (lambda: rigid.elastic_equilibrium(zero), "...elastic_equilibrium needs elastic joints, and the plant has..."),
    )
    ddq, ddx = MujocoPlant(soft_elbow()).forward_dynamics(zero, zero, zero, np.full(2, np.nan), zero)
    assert np.isnan([*ddq, *ddx]).all()


def follow(plant, model: th.Robot, integrator: str = "rk4", **options):
    """PD of the motors by a law in Python, which sees them."""

    class Law:
        sees_motors = True

        def step(self, t, q, dq, reference, x, dx):
            return model.gravity_vector(reference.q) + 60.0 * (reference.q - x) - 5.0 * dx

    motion = Sinusoid([0.4, 0.3], [1.0, 2.0], center=[0.3, 0.2])
    return th.simulate(plant, Law(), motion, 0.2, 1e-3, integrator=integrator, **options)


def distance(a, b):
    return max(np.abs(a.q - b.q).max(), np.abs(a.x - b.x).max())


def test_closed_loops_agree():
    robot = soft_elbow()
    ours, plant = follow(robot, robot), MujocoPlant(robot)
    same = follow(plant, robot)
    assert distance(same, ours) < 1e-9
    assert same.names["motors"] == ours.names["motors"] == robot.joint_names
    assert distance(follow(MujocoPlant(robot, integrator="rk4"), robot, "plant"), ours) < 1e-9
    errors = [distance(follow(MujocoPlant(robot, timestep=h), robot, "plant"), ours) for h in (1e-3, 2.5e-4)]
    assert 3.0 < errors[0] / errors[1] < 5.0
    payload = th.Payload(0.5, (0.0, 0.1, 0.0), time=0.1)
    loaded = follow(robot, robot, payloads=payload)
    assert distance(follow(MujocoPlant(robot, payloads=payload), robot), loaded) < 1e-9


def test_pictures_of_files_have_the_joints_only(tmp_path):
    soft_elbow().save(tmp_path / "arm.xml")
    where = stage(tmp_path / "arm.xml", sliders=True)
    assert where.n == 2
    assert where.model.nu == 2  # sliders
