#!/usr/bin/env python3
"""Run a node of manipulation: ``task_node.py poses _config:=...``, see docs/ros.md."""

import sys
from pathlib import Path

from thunder_py.manipulation.nodes import chosen_task

# where there is no catkin workspace
sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "src"))

from thunder_ros.node import main

main(*chosen_task(sys.argv[1:]))
