"""Run a node of manipulation: ``python3 -m thunder_ros.task_node poses --ros-args ...``, see docs/ros.md."""

from __future__ import annotations

import sys

from thunder_py.manipulation.nodes import chosen_task

from . import node


def main() -> None:
    """Run the node."""
    node.main(*chosen_task(sys.argv[1:]))


if __name__ == "__main__":
    main()
