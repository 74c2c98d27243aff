"""Grippers that became joints of an arm, by the names of the joints."""

from __future__ import annotations

import re
import warnings
from collections.abc import Sequence
from pathlib import Path

from ..errors import outer_level

_WORDS = re.compile(r"grip|finger|jaw|claw|thumb", re.IGNORECASE)


def gripper_joints(joints: Sequence[str]) -> list[str]:
    """Return the last joints of an arm that are named like those of a gripper; none if all joints are.

    Parameters
    ----------
    joints : sequence of str
        Names of the joints, from the base to the tip.

    Returns
    -------
    list of str
        Names at the end of `joints`.

    Examples
    --------
    >>> from thunder_py.io.gripper import gripper_joints
    >>> gripper_joints(["shoulder", "elbow", "jointGripper"])
    ['jointGripper']
    """
    first = len(joints)
    while first > 0 and _WORDS.search(joints[first - 1]):
        first -= 1
    return list(joints[first:]) if first > 0 else []


def warn_of_gripper(joints: Sequence[str], tip: str, path: str | Path | None) -> None:
    """Warn of the gripper in an arm whose tip was not chosen by the caller."""
    names = gripper_joints(joints)
    if names:
        locked = ", ".join(f"{name!r}: 0.0" for name in names)
        warnings.warn(
            f"{'' if path is None else f'{path}: '}the gripper is part of the arm: {', '.join(map(repr, names))} of "
            f"{len(joints)} joints; lock it with fix_joints={{{locked}}}, or keep it with tip_link={tip!r}",
            stacklevel=outer_level(),
        )
