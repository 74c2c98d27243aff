"""Gabiccini et al. (2009), section 4: test of its generalized transposes of tensors."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ...checks import Array
from ...robot import Robot
from ...symbolic import SymbolicModel
from ..tables import markdown

_FIRST_MOMENTS = slice(1, 4)  # as many as the arm has joints, so that wrong orders of axes have valid shapes


def transpose(tensor: Any, order: str, by_words: bool = False) -> Any:
    """Return the generalized transpose of a tensor.

    Parameters
    ----------
    tensor : array
        Tensor with as many axes as `order` has digits.
    order : str
        ``"231"`` is T_231.
    by_words : bool
        If True, the j-th axis of the result is the n_j-th of the tensor, as in the words before eq. 44; otherwise entry
        (i_1, i_2, ...) is the tensor's (i_n1, i_n2, ...), as in its formula. They agree if `order` is its own inverse.
    """
    axes = np.array([int(digit) - 1 for digit in order])
    return np.transpose(tensor, axes if by_words else np.argsort(axes))


def coriolis_by_words(model: SymbolicModel) -> Any:
    """Return the Coriolis matrix of eq. 43 with T_231 as in the words, (n, n) of Expression: M_dot / 2."""
    D = model.mass_matrix_derivative()
    return (0.5 * (D + transpose(D, "132") - transpose(D, "231", by_words=True))) @ model.dq


@dataclass(frozen=True)
class TransposeCheck:
    """Result for a transpose with an order of axes.

    Attributes
    ----------
    source : str
        Formula or erratum.
    axes, order : str
        Axes of the tensor, and digits of the transpose.
    error : float
        Largest difference from the recorded Coriolis terms.
    """

    source: str
    axes: str
    order: str
    error: float


def three_joints() -> Robot:
    """Return an arm of three joints with a DH table and bodies without zeros and symmetry."""
    rng = np.random.default_rng(2009)
    table = rng.uniform(-1.0, 1.0, (3, 4))
    inertia = np.tile([0.3, 0.0, 0.0, 0.4, 0.0, 0.5], (3, 1))
    bodies = np.hstack([np.full((3, 1), 2.0), rng.uniform(-0.2, 0.2, (3, 3)), inertia])
    return Robot.from_dh(table, convention="standard", inertial=bodies)


def check_transposes(robot: Robot, q: Array, dq: Array, dq_r: Array) -> list[TransposeCheck]:
    """Check the transposes of eqs. 43 and 51 in the orders of axes of the papers.

    Parameters
    ----------
    robot : Robot
        Robot of three joints, for which every order has a valid shape.
    q, dq, dq_r : (3,) array
        State.
    """
    D = robot.mass_matrix_derivative(q)
    torque = robot.coriolis_matrix(q, dq) @ dq
    checks = []
    for source, words in (("G (43), T_231 by formula (44)", False), ("G (43), T_231 by its words (G-3)", True)):
        C = 0.5 * (D + transpose(D, "132") - transpose(D, "231", words)) @ dq
        checks.append(TransposeCheck(source, "n n n", "231", float(np.abs(C @ dq - torque).max())))
    expected = (robot.coriolis_blocks(q, dq) @ dq_r)[-1, _FIRST_MOMENTS].T
    dX = _first_moment_tensor(robot, q)
    W = 0.5 * np.einsum("jkah,k,j->ha", dX, dq, dq_r)
    for source, axes, order in (
        ("G (51) as printed (G-4)", "n n p n", "1324"),
        ("G (51), corrected", "n n p n", "1432"),
        ("G (51) as printed", "n n n p", "1324"),
        ("T's order of axes (T-13)", "n p n n", "1243"),
        ("G's transpose in T's order", "n p n n", "1432"),
    ):
        permutation, contraction = _ORDERS[axes]
        tensor = np.transpose(dX, permutation)
        X = 0.5 * np.einsum(contraction, tensor + transpose(tensor, order), dq, dq_r)
        checks.append(TransposeCheck(source, axes, order, float(np.abs(X - W - expected).max())))
    return checks


#: permutation of the axes (row, column, parameter, variable of the derivative), and the sum over velocities
_ORDERS = {
    "n n p n": ((0, 1, 2, 3), "hjak,k,j->ha"),
    "n n n p": ((0, 1, 3, 2), "hjka,k,j->ha"),
    "n p n n": ((0, 2, 1, 3), "hajk,k,j->ha"),
}


def _first_moment_tensor(robot: Robot, q: Array) -> Array:
    """Return dX_1/dq of the last link, (n, n, 3, n)."""
    units = np.eye(10 * robot.n)[10 * (robot.n - 1) :][_FIRST_MOMENTS]
    return np.stack([robot.with_parameters(unit).mass_matrix_derivative(q) for unit in units], axis=2)


def transposes_table() -> str:
    """Return `check_transposes` for the arm of `three_joints` as Markdown."""
    rng = np.random.default_rng(51)
    rows = [
        [check.source, check.axes, f"T_{check.order}", "right" if check.error < 1e-12 else check.error]
        for check in check_transposes(three_joints(), *rng.uniform(-1.0, 1.0, (3, 3)))
    ]
    return markdown(["", "axes", "transpose", "largest error"], rows, digits=2)
