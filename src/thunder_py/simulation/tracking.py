"""Tracking errors of controllers written in Python, from the references that they were given."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from typing import Any

import numpy as np

from ..errors import ThunderError
from ..kinematics.task_rows import ROW_NAMES
from ..robot import Robot
from ..spatial import log

#: label of the entries of a reference, which the core logs as the error of a controller without one
_REFERENCE = "reference"


def replace_references(
    logs: dict[str, Any], labels: dict[str, Any], joints: Sequence[str], robot: Robot | None
) -> None:
    """Replace logged references by the tracking errors: q_d - q, or p_d - p and the rotation vector of R_d R'.

    Parameters
    ----------
    logs : dict
        Signals of a run; of references that are not known, or of poses of an unknown robot, none is left.
    labels : dict
        Names of their entries.
    joints : sequence of str
        Names of the joints.
    robot : Robot, optional
        The plant.
    """
    if labels.get("error", ("",))[0] != _REFERENCE:
        return
    del labels["error"]
    q, reference = logs.get("q_measured", logs["q"]), logs.pop("error")
    n = q.shape[1]
    q_d, p, R = reference[:, :n], reference[:, n : n + 3], reference[:, n + 3 :].reshape(-1, 3, 3)
    if not np.isnan(q_d).any():
        logs["error"], labels["error"] = q_d - q, tuple(joints)
    elif robot is not None and not np.isnan(p).any():
        T = robot.forward_kinematics(q)
        error = p - T[:, :3, 3]
        with suppress(ThunderError):  # no rotations
            if not np.isnan(R).any():
                error = np.hstack([error, log(R @ T[:, :3, :3].swapaxes(1, 2))])
        logs["error"], labels["error"] = error, ROW_NAMES[: error.shape[1]]
