"""Run the reference node: see docs/ros.md."""

from __future__ import annotations

from thunder_py.realtime.nodes import ReferenceNode

from . import node


def main() -> None:
    """Run the node."""
    node.main("reference", ReferenceNode)


if __name__ == "__main__":
    main()
