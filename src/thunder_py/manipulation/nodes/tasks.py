"""The nodes by name, as the programs of ROS 1 and ROS 2 start them."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Sequence
from typing import Any

from .arm import InterceptionNode, PickingNode, ThrowingNode
from .pictures import CameraNode, PoseNode

#: class of each node
TASKS: dict[str, Callable[..., Any]] = {
    "camera": CameraNode,
    "poses": PoseNode,
    "interception": InterceptionNode,
    "picking": PickingNode,
    "throwing": ThrowingNode,
}


def chosen_task(words: Sequence[str]) -> tuple[str, Callable[..., Any]]:
    """Return name and class of the node that a command line names; other words are those of ROS.

    Parameters
    ----------
    words : sequence of str
        Command line without the program; ``--help`` lists the nodes and ends the program.

    Examples
    --------
    >>> from thunder_py.manipulation.nodes import chosen_task
    >>> chosen_task(["poses", "--ros-args", "-p", "config:=poses.yaml"])[1].__name__
    'PoseNode'
    """
    summaries = [f"  {name:13} {str(kind.__doc__).splitlines()[0]}" for name, kind in TASKS.items()]
    parser = argparse.ArgumentParser(
        description="Run a node of manipulation:\n" + "\n".join(summaries),
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("node", choices=tuple(TASKS))
    name = parser.parse_known_args(words)[0].node
    return name, TASKS[name]
