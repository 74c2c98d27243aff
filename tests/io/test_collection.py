"""Arms of a collection of robot files against Pinocchio and MuJoCo, at random states."""

from __future__ import annotations

import shutil
import warnings
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import thunder_py as th
from thunder_py.errors import FileFormatError
from thunder_py.spatial.single import make_pose

COLLECTION = Path(__file__).parents[2].parent / "shared" / "data" / "robots"

pytestmark = [
    pytest.mark.release,
    pytest.mark.skipif(not COLLECTION.is_dir(), reason="needs ../shared/data"),
]


def test_arms_of_a_collection_equal_those_of_pinocchio():
    pinocchio = pytest.importorskip("pinocchio")
    compared = 0
    for path in sorted(p for folder in ("urdf", "vendor") for p in (COLLECTION / folder).iterdir()):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                arms = th.io.arms(path)
                whole = pinocchio.buildModelFromUrdf(str(path))
            except (FileFormatError, ValueError):
                continue
            robots = [th.Robot.load(path, base_link=arm.base, tip_link=arm.tip) for arm in arms]
        for robot, arm in zip(robots, arms, strict=True):
            compared += _compare(pinocchio, whole, robot, arm.tip)
    assert compared > 300


def _compare(pinocchio, whole, robot: th.Robot, tip: str) -> bool:
    others = [k for k, name in enumerate(whole.names) if k > 0 and name not in robot.joint_names]
    try:
        model = pinocchio.buildReducedModel(whole, others, pinocchio.neutral(whole)) if others else whole
    except ValueError:  # two frames have one name
        return False
    data, rng = model.createData(), np.random.default_rng(0)
    pinocchio.framesForwardKinematics(model, data, pinocchio.neutral(model))
    first = model.jointPlacements[1].homogeneous
    base = first @ np.linalg.inv(robot.description.placements[0])
    robot, frame = robot.replace(base=base, friction=None), model.getFrameId(tip, pinocchio.FrameType.BODY)
    for _ in range(20):
        q, dq, ddq = rng.normal(size=(3, robot.n))
        full = pinocchio.integrate(model, pinocchio.neutral(model), q)
        J = pinocchio.computeFrameJacobian(model, data, full, frame, pinocchio.LOCAL_WORLD_ALIGNED)
        np.testing.assert_allclose(robot.jacobian(q), J.reshape(6, -1), rtol=0, atol=1e-10)
        pinocchio.updateFramePlacement(model, data, frame)
        np.testing.assert_allclose(robot.forward_kinematics(q), data.oMf[frame].homogeneous, rtol=0, atol=1e-10)
        if not robot.inertial.any():
            continue
        tau = pinocchio.rnea(model, data, full, dq, ddq)
        scale = 1.0 + np.abs(tau).max()
        M = pinocchio.crba(model, data, full)
        M = np.triu(M) + np.triu(M, 1).T
        G = pinocchio.computeGeneralizedGravity(model, data, full)
        np.testing.assert_allclose(robot.inverse_dynamics(q, dq, ddq), tau, rtol=0, atol=1e-10 * scale)
        np.testing.assert_allclose(robot.mass_matrix(q), M, rtol=0, atol=1e-10 * (1.0 + np.abs(M).max()))
        np.testing.assert_allclose(robot.gravity_vector(q), G, rtol=0, atol=1e-10 * scale)
        bias = pinocchio.nonLinearEffects(model, data, full, dq) - G
        np.testing.assert_allclose(robot.coriolis_matrix(q, dq) @ dq, bias, rtol=0, atol=1e-9 * scale)
        pi = robot.parameters
        np.testing.assert_allclose(robot.regressor(q, dq, ddq) @ pi, tau, rtol=0, atol=1e-9 * scale)
        if np.linalg.cond(M) < 1e8:
            back = robot.forward_dynamics(q, dq, tau)
            np.testing.assert_allclose(back, ddq, rtol=0, atol=1e-5 * (1.0 + np.abs(ddq).max()))
    return True


def test_arms_of_a_collection_equal_those_of_mujoco(tmp_path):
    mujoco = pytest.importorskip("mujoco")
    shutil.copytree(COLLECTION / "mjcf", tmp_path / "mjcf")
    compared = 0
    for path in sorted((tmp_path / "mjcf").rglob("*.xml")):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            for arm in _arms(path):
                _add_meshes(mujoco.MjSpec.from_file(str(path)), path)
                with suppress(FileFormatError):
                    robot = th.Robot.load(path, base_link=arm.base, tip_link=arm.tip)
                    _compare_with_mujoco(mujoco, path, robot, arm.tip)
                    compared += 1
    assert compared > 100


def _arms(path: Path) -> list[th.io.Arm]:
    try:
        return th.io.arms(path)
    except FileFormatError:
        return []


def _add_meshes(spec, path: Path) -> None:
    """Write a box for every mesh that the collection leaves out, each of another size."""
    corners = np.array([[x, y, z] for x in (0, 1) for y in (0, 1) for z in (0, 1)])
    faces = [[0, 1, 2], [1, 3, 2], [4, 6, 5], [5, 6, 7], [0, 4, 1], [1, 4, 5]]
    faces += [[2, 3, 6], [3, 7, 6], [0, 2, 4], [2, 6, 4], [1, 5, 3], [3, 5, 7]]
    for k, mesh in enumerate(spec.meshes):
        placed = corners * (0.02 + 0.01 * np.array([k % 5, k % 7, k % 3]))
        if mesh.file.lower().endswith(".obj"):
            lines = [("v", *corner) for corner in placed] + [("f", *(c + 1 for c in face)) for face in faces]
            data = "\n".join(" ".join(map(str, line)) for line in lines).encode()
        else:
            rows = np.zeros(12, [("normal", "<f4", 3), ("corners", "<f4", 9), ("color", "<u2")])
            rows["corners"] = placed[faces].reshape(-1, 9)
            data = bytes(80) + np.uint32(12).tobytes() + rows.tobytes()
        name = Path(mesh.file).relative_to(path.parent) if Path(mesh.file).is_absolute() else mesh.file
        for file in (path.parent / "assets" / name, path.parent / name):  # MjSpec has lost the folder of included ones
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_bytes(data)


def _reduced(mujoco, path: Path, joints: tuple[str, ...]):
    """Compile a model with these joints only, without actuators' forces, constraints, contacts and Coulomb friction."""
    spec, off = mujoco.MjSpec.from_file(str(path)), mujoco.mjtDisableBit
    for group in (spec.sensors, spec.equalities, spec.tendons, spec.keys, spec.pairs, spec.excludes, spec.textures):
        for element in list(group):
            spec.delete(element)
    for actuator in list(spec.actuators):
        actuator.gainprm[:] = actuator.biasprm[:] = 0.0
        if actuator.target not in joints:
            spec.delete(actuator)
    for geom in spec.geoms:
        geom.material = ""
    for joint in list(spec.joints):
        joint.frictionloss = 0.0
        if joint.name not in joints:
            assert joint.ref == 0.0
            spec.delete(joint)
    for material in list(spec.materials):
        spec.delete(material)
    spec.option.disableflags |= off.mjDSBL_CONTACT | off.mjDSBL_LIMIT
    return spec.compile()


def _compare_with_mujoco(mujoco, path: Path, robot: th.Robot, tip: str) -> None:
    model = _reduced(mujoco, path, robot.joint_names)
    data, rng, n = mujoco.MjData(model), np.random.default_rng(0), robot.n
    assert [model.joint(k).name for k in range(model.njnt)] == list(robot.joint_names)
    friction = robot.description.friction
    if friction is not None:  # damping is viscous friction, frictionloss is a constraint in MuJoCo
        table = friction.coefficients * (np.array(friction.terms) != "coulomb")
        robot = robot.replace(friction=replace(friction, coefficients=table))
    body = mujoco.mj_name2id(model, mujoco.mjtObj.mjOBJ_BODY, tip)  # it comes before a site of its name
    place = data.site(tip) if body < 0 else data.body(tip)
    for _ in range(20):
        q, dq, ddq = rng.normal(size=(3, n))
        data.qpos[:], data.qvel[:] = q, 0.0
        mujoco.mj_forward(model, data)
        G, M, J = np.array(data.qfrc_bias), np.zeros((n, n)), np.zeros((6, n))
        for row, unit in zip(M, np.eye(n), strict=True):
            mujoco.mj_mulM(model, data, row, unit)
        if body < 0:
            mujoco.mj_jacSite(model, data, J[:3], J[3:], model.site(tip).id)
        else:
            mujoco.mj_jacBody(model, data, J[:3], J[3:], body)
        T = make_pose(place.xmat.reshape(3, 3), place.xpos)
        data.qvel[:] = dq
        mujoco.mj_forward(model, data)
        bias = data.qfrc_bias - G
        data.qacc[:] = ddq
        mujoco.mj_inverse(model, data)
        data.qfrc_applied[:] = tau = np.array(data.qfrc_inverse)
        mujoco.mj_forward(model, data)
        scale = 1.0 + np.abs(tau).max()
        for found, expected, most in (
            (robot.forward_kinematics(q), T, 1e-12),
            (robot.jacobian(q), J, 1e-12),
            (robot.mass_matrix(q), M, 1e-12 * (1.0 + np.abs(M).max())),
            (robot.coriolis_matrix(q, dq) @ dq, bias, 1e-11 * scale),
            (robot.gravity_vector(q), G, 1e-11 * scale),
            (robot.inverse_dynamics(q, dq, ddq), tau, 1e-11 * scale),
            (robot.regressor(q, dq, ddq) @ robot.parameters, tau, 1e-11 * scale),
            (robot.forward_dynamics(q, dq, tau), data.qacc, 1e-8 * (1.0 + np.abs(ddq).max())),
        ):
            np.testing.assert_allclose(found, expected, rtol=0, atol=most)
        data.qfrc_applied[:] = 0.0
