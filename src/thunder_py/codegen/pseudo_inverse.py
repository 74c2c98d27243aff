"""The damped pseudo-inverse of the end effector's Jacobian, as expressions."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from ..symbolic import SymbolicModel, solve

__all__ = ["record_pinv"]

Expressions = npt.NDArray[np.object_]


def record_pinv(model: SymbolicModel, symbols: dict[str, Expressions]) -> Expressions:
    """J' (J J' + lambda^2 1)^-1, (n, 6); with fewer than six joints (J' J + lambda^2 1)^-1 J', the same matrix.

    The smaller of the two products is inverted, so that arms with fewer than six joints have a pseudo-inverse
    without damping too (Nakamura and Hanafusa 1986).
    """
    J = model.quantity("jacobian")
    damping = symbols["damping"][()]
    if model.n < 6:
        return solve(J.T @ J + damping * damping * np.eye(model.n), J.T, assume_a="pos")
    return solve(J @ J.T + damping * damping * np.eye(6), J, assume_a="pos").T
