"""Arms for MuJoCo: bundled, random, planar with rotors, and a Panda's wrist as people write MJCF by hand."""

from dataclasses import replace

import mujoco
import numpy as np

import thunder_py as th
from tests.dynamics.random_chains import KINDS, Array, random_body, random_robot
from thunder_py.model.description import Limits, Rotor
from thunder_py.model.inertia import dyn_from_reg
from thunder_py.spatial.single import make_pose


def relative(found: Array, expected: Array) -> float:
    return float(np.abs(found - expected).max() / max(np.abs(expected).max(), 1e-300))


def chain(seed: int) -> th.Robot:
    """One of thirty random arms: 1 to 9 joints, all conventions, armature, friction of any kind, limits."""
    n = 1 + seed % 9
    robot = random_robot(seed, n, KINDS[seed % 3], armature=seed % 2 == 0, friction=seed % 5 != 0)
    rng = np.random.default_rng([seed, 7])
    lower = np.where(rng.random(n) < 0.3, -np.inf, rng.uniform(-2.0, 0.0, n))
    velocity, effort = rng.uniform(1.0, 3.0, (2, n))
    limits = Limits(lower=lower, upper=lower + 3.0, velocity=velocity, effort=effort)
    upper = np.where(np.isfinite(lower), limits.upper, 2.0)
    return robot.replace(limits=Limits(lower=lower, upper=upper, velocity=velocity, effort=effort))


def planar(seed: int, n: int = 4) -> th.Robot:
    """An arm in a plane, all joints turning, with rotors on the base and on links: their factors are constant."""
    rng = np.random.default_rng(seed)
    rotors = tuple(
        Rotor(
            joint=j, inertia=rng.uniform(1e-3, 1e-2), gear_ratio=rng.uniform(-50.0, 50.0), carrier=int(rng.integers(j))
        )
        for j in range(1, n + 1)
    )
    dh = np.column_stack([rng.uniform(0.2, 0.5, n), np.zeros(n), rng.uniform(-0.1, 0.1, n), rng.uniform(-1.0, 1.0, n)])
    bodies = dyn_from_reg(np.array([random_body(rng) for _ in range(n)]))
    return th.Robot.from_dh(dh, convention="standard", inertial=bodies, gravity=[0.0, -9.81, 1.0], rotors=rotors)


def states(robot: th.Robot, count: int, seed: int = 0) -> tuple[Array, Array, Array]:
    rng = np.random.default_rng([seed, 3])
    q = rng.uniform(-np.pi, np.pi, (count, robot.n))
    return q, rng.normal(size=(count, robot.n)), rng.normal(scale=5.0, size=(count, robot.n))


def assert_equals_mujoco(robot: th.Robot, model, tip: str, *, count: int = 3, **still: float) -> None:
    """Compare a robot with MuJoCo's model at random states; other joints are still, at zero or at given positions.

    Damping is viscous friction. Actuators and constraints, Coulomb friction among them, are switched off. `tip` is a
    body or site at the end effector.
    """
    off, data, rng = mujoco.mjtDisableBit, mujoco.MjData(model), np.random.default_rng(0)
    model.opt.disableflags |= int(off.mjDSBL_CONSTRAINT | off.mjDSBL_ACTUATION)
    joints = [model.joint(name).id for name in robot.joint_names]
    places, dofs = model.jnt_qposadr[joints], model.jnt_dofadr[joints]
    if (friction := robot.description.friction) is not None:
        table = friction.coefficients * (np.array(friction.terms) == "viscous")
        robot = robot.replace(friction=replace(friction, coefficients=table))
    body = mujoco.mj_name2id(model, mujoco.mjtObj.mjOBJ_BODY, tip)  # it comes before a site of its name
    place = data.site(tip) if body < 0 else data.body(tip)
    for q, dq, ddq in rng.normal(size=(count, 3, robot.n)):
        data.qpos[:], data.qvel[:], data.qacc[:], data.qfrc_applied[:] = 0.0, 0.0, 0.0, 0.0
        for name, value in still.items():
            data.joint(name).qpos[:] = value
        data.qpos[places] = q
        mujoco.mj_forward(model, data)
        G, M, J = np.array(data.qfrc_bias), np.zeros((model.nv, model.nv)), np.zeros((6, model.nv))
        for row, unit in zip(M, np.eye(model.nv), strict=True):
            mujoco.mj_mulM(model, data, row, unit)
        jacobian, index = (mujoco.mj_jacSite, place.id) if body < 0 else (mujoco.mj_jacBody, body)
        jacobian(model, data, J[:3], J[3:], index)
        T = make_pose(place.xmat.reshape(3, 3), place.xpos)
        data.qvel[dofs] = dq
        mujoco.mj_forward(model, data)
        bias = data.qfrc_bias - G
        data.qacc[:] = 0.0
        data.qacc[dofs] = ddq
        mujoco.mj_inverse(model, data)
        tau = np.array(data.qfrc_inverse)[dofs]
        size = 1.0 + np.abs(tau).max()
        compared = [
            (robot.forward_kinematics(q), T, 1.0),
            (robot.jacobian(q), J[:, dofs], 1.0),
            (robot.mass_matrix(q), M[np.ix_(dofs, dofs)], np.abs(M).max()),
            (robot.coriolis_matrix(q, dq) @ dq, bias[dofs], size),
            (robot.gravity_vector(q), G[dofs], size),
            (robot.inverse_dynamics(q, dq, ddq), tau, size),
            (robot.regressor(q, dq, ddq) @ robot.parameters, tau, size),
        ]
        if model.nv == robot.n:
            data.qfrc_applied[dofs] = tau
            mujoco.mj_forward(model, data)
            compared += [(robot.forward_dynamics(q, dq, tau), data.qacc[dofs], 1e3 * (1.0 + np.abs(ddq).max()))]
        for found, expected, scale in compared:
            np.testing.assert_allclose(found, expected, rtol=0, atol=1e-11 * scale)


#: as in collections of models written by hand: defaults by class, degrees, Euler angles, meshes, fingers that mirror
HAND_WRITTEN = """
<mujoco model="wrist">
  <compiler angle="degree" meshdir="assets" autolimits="true"/>
  <option integrator="implicitfast"/>
  <default>
    <default class="arm">
      <joint armature="0.1" damping="1" axis="0 0 1" range="-166 166"/>
      <general dyntype="none" biastype="affine" ctrlrange="-2.8 2.8" forcerange="-87 87"/>
      <default class="visual">
        <geom type="mesh" contype="0" conaffinity="0" group="2"/>
      </default>
      <default class="finger">
        <joint axis="0 1 0" type="slide" range="0 0.04"/>
      </default>
    </default>
  </default>
  <asset>
    <material class="arm" name="white" rgba="1 1 1 1"/>
    <mesh name="link0_c" file="link0.stl"/>
  </asset>
  <worldbody>
    <light name="top" pos="0 0 2" mode="trackcom"/>
    <body name="link0" childclass="arm" pos="0.1 0 0.2" euler="0 0 90">
      <inertial mass="0.63" pos="-0.041 -0.0001 0.05" fullinertia="0.0031 0.0038 0.0038 8e-7 8e-7 1e-8"/>
      <geom mesh="link0_c" material="white" class="visual"/>
      <body name="link1" pos="0 0 0.333">
        <inertial mass="4.97" pos="0.0038 0.002 -0.047" fullinertia="0.7 0.7 0.0091 -0.0001 0.0067 0.019"/>
        <joint name="joint1"/>
        <geom mesh="link0_c" material="white" class="visual"/>
        <body name="link2" quat="1 -1 0 0">
          <inertial mass="0.646926" pos="-0.0031 -0.0287 0.0035" fullinertia="0.008 0.0281 0.0259 -0.0039 0.01 0.0007"/>
          <joint name="joint2" range="-101 101"/>
          <body name="hand" pos="0 -0.3 0.1" xyaxes="1 0 0 0 0 -1">
            <inertial mass="0.73" pos="-0.01 0 0.03" diaginertia="0.001 0.0025 0.0017"/>
            <site name="grip" pos="0 0 0.1"/>
            <body name="left_finger" pos="0 0 0.0584">
              <inertial mass="0.015" pos="0 0 0" diaginertia="2.375e-6 2.375e-6 7.5e-7"/>
              <joint name="finger_joint1" class="finger"/>
            </body>
            <body name="right_finger" pos="0 0 0.0584" quat="0 0 0 1">
              <inertial mass="0.015" pos="0 0 0" diaginertia="2.375e-6 2.375e-6 7.5e-7"/>
              <joint name="finger_joint2" class="finger"/>
            </body>
          </body>
        </body>
      </body>
    </body>
  </worldbody>
  <tendon>
    <fixed name="split">
      <joint joint="finger_joint1" coef="0.5"/>
      <joint joint="finger_joint2" coef="0.5"/>
    </fixed>
  </tendon>
  <equality>
    <joint joint1="finger_joint1" joint2="finger_joint2" solimp="0.95 0.99 0.001" solref="0.005 1"/>
  </equality>
  <actuator>
    <general class="arm" name="actuator1" joint="joint1" gainprm="4500" biasprm="0 -4500 -450"/>
    <general class="arm" name="actuator2" joint="joint2" gainprm="4500" forcerange="-60 60"/>
    <general class="arm" name="actuator8" tendon="split" forcerange="-100 100" ctrlrange="0 255"/>
  </actuator>
  <keyframe><key name="home" qpos="0 0 0.04 0.04"/></keyframe>
</mujoco>
"""
FINGERS = {"finger_joint1": 0.03, "finger_joint2": 0.01}
