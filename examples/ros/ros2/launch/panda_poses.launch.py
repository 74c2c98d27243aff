"""The hand of a simulated Panda along a Lissajous curve."""

from launch import LaunchDescription
from launch.actions import IncludeLaunchDescription
from launch.substitutions import PathJoinSubstitution
from launch_ros.substitutions import FindPackageShare

FILES = {"controller": "panda_pose_controller.yaml", "reference": "panda_lissajous.yaml"}


def generate_launch_description() -> LaunchDescription:
    """Return what is started."""
    share = FindPackageShare("thunder_ros")
    arguments = [(name, PathJoinSubstitution([share, "config", file])) for name, file in FILES.items()]
    panda = PathJoinSubstitution([share, "launch", "panda.launch.py"])
    return LaunchDescription([IncludeLaunchDescription(panda, launch_arguments=arguments)])
