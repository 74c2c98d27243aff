"""The ament_python package of the nodes; thunder_py itself comes from pip."""

from glob import glob

from setuptools import setup

NAME = "thunder_ros"
COMMANDS = ("call", "controller_node", "reference_node", "robot_node", "task_node")

setup(
    name=NAME,
    version="0.2.0",
    packages=[NAME],
    data_files=[
        ("share/ament_index/resource_index/packages", [f"resource/{NAME}"]),
        (f"share/{NAME}", ["package.xml"]),
        (f"share/{NAME}/launch", glob("launch/*.launch.py")),
        (f"share/{NAME}/config", glob("../config/*.yaml")),
    ],
    install_requires=["setuptools"],
    zip_safe=True,
    description="Nodes of thunder_py",
    license="BSD-3-Clause",
    entry_points={"console_scripts": [f"{command} = {NAME}.{command}:main" for command in COMMANDS]},
)
