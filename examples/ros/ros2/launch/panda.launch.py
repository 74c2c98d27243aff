"""A simulated Panda, its controller, and a reference; each argument is a file, by default of examples/ros/config."""

from launch import LaunchDescription
from launch.actions import DeclareLaunchArgument
from launch.substitutions import LaunchConfiguration, PathJoinSubstitution
from launch_ros.actions import Node
from launch_ros.substitutions import FindPackageShare

FILES = {"robot": "panda_robot.yaml", "controller": "panda_controller.yaml", "reference": "panda_sinusoid.yaml"}


def generate_launch_description() -> LaunchDescription:
    """Return what is started."""
    actions = []
    for name, file in FILES.items():
        default = PathJoinSubstitution([FindPackageShare("thunder_ros"), "config", file])
        parameters = [{"config": LaunchConfiguration(name)}]
        actions += [
            DeclareLaunchArgument(name, default_value=default),
            Node(package="thunder_ros", executable=f"{name}_node", name=name, output="screen", parameters=parameters),
        ]
    return LaunchDescription(actions)
