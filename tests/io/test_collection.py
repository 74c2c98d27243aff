"""Arms of a collection of robot files against Pinocchio and MuJoCo, at random states."""

from __future__ import annotations

import shutil
import warnings
from contextlib import suppress
from pathlib import Path

import mujoco
import numpy as np
import pytest
import trimesh

import thunder_py as th
from tests.mujoco_plant.arms import assert_equals_mujoco
from thunder_py.errors import FileFormatError

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
    shutil.copytree(COLLECTION / "mjcf", tmp_path / "mjcf")
    compared = 0
    for path in sorted((tmp_path / "mjcf").rglob("*.xml")):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            for arm in _arms(path):
                _add_meshes(mujoco.MjSpec.from_file(str(path)), path)
                with suppress(FileFormatError):
                    robot = th.Robot.load(path, base_link=arm.base, tip_link=arm.tip)
                    assert_equals_mujoco(robot, _reduced(path, robot.joint_names), arm.tip, count=20)
                    compared += 1
    assert compared > 100


def _arms(path: Path) -> list[th.io.Arm]:
    try:
        return th.io.arms(path)
    except FileFormatError:
        return []


def _add_meshes(spec, path: Path) -> None:
    """Write a box for every mesh that the collection leaves out, each of another size."""
    for k, mesh in enumerate(spec.meshes):
        box = trimesh.creation.box(bounds=[np.zeros(3), 0.02 + 0.01 * np.array([k % 5, k % 7, k % 3])])
        name = Path(mesh.file).relative_to(path.parent) if Path(mesh.file).is_absolute() else mesh.file
        for file in (path.parent / "assets" / name, path.parent / name):  # MjSpec has lost the folder of included ones
            file.parent.mkdir(parents=True, exist_ok=True)
            box.export(file, file_type=file.suffix[1:].lower())


def _reduced(path: Path, joints: tuple[str, ...]):
    """Compile a model with these joints only."""
    spec = mujoco.MjSpec.from_file(str(path))
    for group in (spec.sensors, spec.equalities, spec.tendons, spec.keys, spec.pairs, spec.excludes, spec.textures):
        for element in list(group):
            spec.delete(element)
    for actuator in list(spec.actuators):
        if actuator.target not in joints:
            spec.delete(actuator)
    for geom in spec.geoms:
        geom.material = ""
    for joint in list(spec.joints):
        if joint.name not in joints:
            assert joint.ref == 0.0
            spec.delete(joint)
    for material in list(spec.materials):
        spec.delete(material)
    return spec.compile()
