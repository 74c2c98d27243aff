#!/usr/bin/env python3
"""Run the robot node: see docs/ros.md."""

import sys
from pathlib import Path

from thunder_py.realtime.nodes import RobotNode

# where there is no catkin workspace
sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "src"))

from thunder_ros.node import main

main("robot", RobotNode)
