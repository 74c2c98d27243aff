"""Read an arm from a URDF, move it, save it: ``python examples/urdf_quickstart.py``.

The gripper moves with the arm and is no part of a serial chain, so it is locked; the flange is a fixed joint away
from the last link, so it is lumped into it and stays as the end effector.
"""

from __future__ import annotations

import tempfile
from pathlib import Path

import numpy as np

import thunder_py as th

URDF = """
<robot name="two_link">
  <link name="base"/>
  <link name="upper">
    <inertial>
      <origin xyz="0.2 0 0"/> <mass value="2"/>
      <inertia ixx="0.001" iyy="0.03" izz="0.03" ixy="0" ixz="0" iyz="0"/>
    </inertial>
  </link>
  <link name="lower">
    <inertial>
      <origin xyz="0.15 0 0"/> <mass value="1"/>
      <inertia ixx="0.001" iyy="0.01" izz="0.01" ixy="0" ixz="0" iyz="0"/>
    </inertial>
  </link>
  <link name="flange"/>
  <link name="finger">
    <inertial>
      <mass value="0.1"/> <inertia ixx="1e-5" iyy="1e-5" izz="1e-5" ixy="0" ixz="0" iyz="0"/>
    </inertial>
  </link>
  <joint name="shoulder" type="revolute">
    <parent link="base"/> <child link="upper"/>
    <origin xyz="0 0 0.5"/> <axis xyz="0 1 0"/>
    <limit lower="-2" upper="2" effort="40" velocity="3"/> <dynamics damping="0.3"/>
  </joint>
  <joint name="elbow" type="revolute">
    <parent link="upper"/> <child link="lower"/>
    <origin xyz="0.4 0 0"/> <axis xyz="0 1 0"/>
    <limit lower="-2.5" upper="2.5" effort="20" velocity="4"/> <dynamics damping="0.1"/>
  </joint>
  <joint name="mount" type="fixed">
    <parent link="lower"/> <child link="flange"/> <origin xyz="0.3 0 0"/>
  </joint>
  <joint name="grip" type="prismatic">
    <parent link="flange"/> <child link="finger"/> <axis xyz="0 1 0"/>
    <limit lower="0" upper="0.05" effort="5" velocity="0.1"/>
  </joint>
</robot>
"""


def main() -> None:
    """Load, evaluate, save and load again."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "two_link.urdf"
        path.write_text(URDF, encoding="utf-8")
        robot = th.Robot.load(path, tip_link="flange", fix_joints={"grip": 0.02})
        print(robot)
        print("joints    ", ", ".join(robot.joint_names), " efforts", robot.limits.effort)
        print("frames    ", ", ".join(robot.frame_names))

        q, dq = np.array([0.3, -0.8]), np.array([0.5, 0.2])
        print("flange at ", robot.forward_kinematics(q)[:3, 3].round(4))
        print("velocity  ", (robot.jacobian(q) @ dq)[:3].round(4))
        print("holding   ", robot.gravity_vector(q).round(3), "N m")

        robot.save(Path(folder) / "two_link.yaml")
        again = th.Robot.load(Path(folder) / "two_link.yaml")
        print("round trip", np.array_equal(again.inverse_dynamics(q, dq, dq), robot.inverse_dynamics(q, dq, dq)))


if __name__ == "__main__":
    main()
