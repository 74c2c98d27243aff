"""Run the robot node: see docs/ros.md."""

from __future__ import annotations

from thunder_py.realtime.nodes import RobotNode

from . import node


def main() -> None:
    """Run the node."""
    node.main("robot", RobotNode)


if __name__ == "__main__":
    main()
