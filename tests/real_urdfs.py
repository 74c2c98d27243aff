"""Arms out of the URDFs of the `example-robot-data` wheel, and the Pinocchio models to compare them with."""

from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path
from typing import Any, NamedTuple
from xml.etree import ElementTree

import numpy as np
import numpy.typing as npt
import pinocchio
import pytest

from thunder_py.io import load_description
from thunder_py.model.description import RobotDescription

Array = npt.NDArray[np.float64]


class RealUrdf(NamedTuple):
    """An arm in a file: name, file in the wheel, base and tip link (None: the loader's default) and locked joints."""

    id: str
    file: str
    base: str | None
    tip: str | None
    locked: dict[str, float]

    @property
    def path(self) -> Path:
        """The file; without the wheel, the test that asks for it is skipped."""
        try:
            wheel = distribution("example-robot-data")
        except PackageNotFoundError:
            pytest.skip("could not import 'example_robot_data': the extra oracles is not installed")
        return Path(str(wheel.locate_file("cmeel.prefix/share/example-robot-data/robots"))) / self.file


class PinocchioArm(NamedTuple):
    """The same arm in Pinocchio.

    Attributes
    ----------
    model
        Its joints 1..n are ours in our order, so dq and tau need no permutation; q goes through `configuration`.
    base : (4, 4) array
        Pose of our base link in Pinocchio's world: constant, and the identity where our base is the root.
    """

    model: Any
    base: Array

    def configuration(self, q: Array) -> Array:
        """Pinocchio's configuration (nq,) for our q (n,): it holds continuous joints as cosine and sine."""
        return _configuration(self.model, {name: float(x) for name, x in zip(self.model.names[1:], q, strict=True)})


_FINGERS = {"panda_finger_joint1": 0.03, "panda_finger_joint2": 0.01}
_TALOS_GRIPPER = {
    "gripper_right_inner_single_joint": 0.2, "gripper_right_motor_single_joint": 0.1,
    "gripper_right_inner_double_joint": -0.3, "gripper_right_joint": -0.4, "gripper_right_fingertip_1_joint": 0.5,
    "gripper_right_fingertip_2_joint": -0.6, "gripper_right_fingertip_3_joint": 0.7,
}  # fmt: skip
_PR2_GRIPPER = {
    "r_gripper_r_parallel_root_joint": 0.02, "r_gripper_l_parallel_root_joint": 0.01, "r_gripper_r_finger_joint": 0.3,
    "r_gripper_l_finger_joint": 0.2, "r_gripper_l_finger_tip_joint": 0.1, "r_gripper_r_finger_tip_joint": 0.4,
}  # fmt: skip
_G1_RIGHT_ARM = {
    "right_shoulder_pitch_joint": 0.3, "right_shoulder_roll_joint": -0.4, "right_shoulder_yaw_joint": 0.5,
    "right_elbow_joint": 0.6, "right_wrist_roll_joint": 0.7, "right_wrist_pitch_joint": -0.8,
    "right_wrist_yaw_joint": 0.9,
}  # fmt: skip
_CASES: tuple[tuple[str, str, str | None, str | None, dict[str, float]], ...] = (
    ("panda", "panda_description/urdf/panda.urdf", None, "panda_hand_tcp", _FINGERS),
    ("panda_finger", "panda_description/urdf/panda.urdf", "panda_link0", "panda_leftfinger",
     {"panda_finger_joint2": 0.02}),
    ("kinova", "kinova_description/robots/kinova.urdf", None, "j2s6s200_end_effector", {}),
    ("xarm7", "xarm_description/urdf/xarm7.urdf", None, None, {}),
    ("z1", "z1_description/urdf/z1.urdf", None, "gripperMover", {}),
    ("so100", "so_arm_description/urdf/so100.urdf", None, "jaw", {}),
    ("so101", "so_arm_description/urdf/so101.urdf", None, "gripper_frame_link", {"gripper": 0.7}),
    ("ur3", "ur_description/urdf/ur3_robot.urdf", None, "tool0", {}),
    ("ur5", "ur_description/urdf/ur5_gripper.urdf", None, "tool0", {}),
    ("ur10", "ur_description/urdf/ur10_robot.urdf", "base_link", "ee_link", {"wrist_3_joint": -0.4}),
    ("talos_left", "talos_data/robots/talos_left_arm.urdf", None, "arm_left_7_link", {"gripper_left_joint": -0.5}),
    ("talos_right", "talos_data/robots/talos_full_v2.urdf", "torso_2_link", "gripper_right_base_link", _TALOS_GRIPPER),
    ("tiago", "tiago_description/robots/tiago_no_hand.urdf", None, "wrist_ft_tool_link",
     {"head_1_joint": 0.3, "head_2_joint": -0.2}),
    ("baxter", "baxter_description/urdf/baxter.urdf", None, "left_gripper",
     {"l_gripper_l_finger_joint": 0.01, "l_gripper_r_finger_joint": -0.01}),
    ("pr2", "pr2_description/urdf/pr2.urdf", "torso_lift_link", "r_gripper_tool_frame", _PR2_GRIPPER),
    ("centauro", "centauro_description/urdf/centauro.urdf", "torso_2", "arm1_8", {}),
    ("icub", "icub_description/robots/icub.urdf", "chest", "l_hand", {}),
    ("g1", "g1_description/urdf/g1_29dof_rev_1_0.urdf", "pelvis", "left_rubber_hand", _G1_RIGHT_ARM),
    ("allegro", "allegro_hand_description/urdf/allegro_left_hand.urdf", None, "link_3.0_tip", {}),
    ("double_pendulum", "double_pendulum_description/urdf/double_pendulum_continuous.urdf", None, None, {}),
)  # fmt: skip


def real_urdf_cases() -> list[RealUrdf]:
    """Return the arms: 2 to 10 joints, R and P, continuous joints, side branches, bases in mid-tree."""
    return [RealUrdf(*case) for case in _CASES]


def description(case: RealUrdf) -> RobotDescription:
    """Load a case with this package, with its base in the origin of the world."""
    return load_description(case.path, base_link=case.base, tip_link=case.tip, fix_joints=case.locked, name=case.id)


def pinocchio_arm(case: RealUrdf, joint_names: tuple[str, ...]) -> PinocchioArm:
    """Build the matching Pinocchio model: every joint but `joint_names` locked, where the case says or at zero.

    Gravity acts along -z of Pinocchio's world: compare with ``description.replace(base=arm.base)``.
    """
    whole = pinocchio.buildModelFromUrdf(str(case.path))
    others = [index for index, name in enumerate(whole.names) if index > 0 and name not in joint_names]
    locked = _configuration(whole, _followed(case))
    model = pinocchio.buildReducedModel(whole, others, locked) if others else whole
    assert tuple(model.names)[1:] == joint_names
    assert list(model.parents)[1:] == list(range(len(joint_names)))
    base = np.eye(4)
    if case.base is not None:
        data = model.createData()
        frame = model.getFrameId(case.base)
        assert model.frames[frame].parentJoint == 0
        pinocchio.framesForwardKinematics(model, data, pinocchio.neutral(model))
        base = np.array(data.oMf[frame].homogeneous)
    return PinocchioArm(model, base)


def _followed(case: RealUrdf) -> dict[str, float]:
    """Add the joints that mimic locked ones, of which Pinocchio's reader knows nothing."""
    positions = dict(case.locked)
    for joint in ElementTree.fromstring(case.path.read_bytes()).findall("joint"):
        mimic, name = joint.find("mimic"), joint.get("name", "")
        moves = joint.get("type") != "fixed"
        if moves and mimic is not None and mimic.get("joint") in case.locked:
            moved = float(mimic.get("multiplier", 1.0)) * case.locked[mimic.get("joint", "")]
            positions.setdefault(name, moved + float(mimic.get("offset", 0.0)))
    return positions


def _configuration(model: Any, positions: dict[str, float]) -> Array:
    q = pinocchio.neutral(model)
    for name, x in positions.items():
        joint = model.joints[model.getJointId(name)]
        q[joint.idx_q : joint.idx_q + joint.nq] = (np.cos(x), np.sin(x)) if joint.nq == 2 else (x,)
    return np.asarray(q)
