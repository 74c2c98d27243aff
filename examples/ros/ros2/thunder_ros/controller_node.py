"""Run the controller node: see docs/ros.md."""

from __future__ import annotations

from thunder_py.realtime.nodes import ControllerNode

from . import node


def main() -> None:
    """Run the node."""
    node.main("controller", ControllerNode)


if __name__ == "__main__":
    main()
