"""Regressors of J dq and J' w with respect to the lengths of a Denavit-Hartenberg arm.

A twist J dq is an affine function of the lengths a_i, d_i and of the tool's translation: axes depend on angles only,
lever arms are sums of lengths along axes. Its derivative by the lengths is therefore independent of them, and

    J(l) dq - J(l0) dq = reg_Jdq_lengths (l - l0),        J(l)' w - J(l0)' w = reg_JTw_lengths (l - l0)

are exact. The angular rows of reg_Jdq_lengths are zero.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ..symbolic import Function, SymbolicModel, jacobian, solve
from ..symbolic.mathematics import Expressions

_A, _D = 0, 2  # columns of a row a, alpha, d, theta


def record_reg_Jdq(model: SymbolicModel, symbols: dict[str, Expressions]) -> Expressions:
    """Differentiate J dq by the lengths, (6, 2 n + 3)."""
    return _record(model, symbols, "dq")


def record_reg_JTw(model: SymbolicModel, symbols: dict[str, Expressions]) -> Expressions:
    """Differentiate J' w by the lengths, (n, 2 n + 3), for a wrench w = [force; moment]."""
    return _record(model, symbols, "w")


def _record(model: SymbolicModel, symbols: dict[str, Expressions], vector: str) -> Expressions:
    """Differentiate in a model with symbolic lengths, then substitute the entries of `model`."""
    wide = _with_lengths(model)
    rows = wide.parameters["dh"].symbols.reshape(-1, 4)
    lengths = np.concatenate([rows[:, [_A, _D]].ravel(), wide.parameters["tool"].symbols[:3]])
    J = wide.quantity("jacobian")
    factor = wide.dq if vector == "dq" else wide.symbol("wrench", 6)
    value = J @ factor if vector == "dq" else J.T @ factor
    groups = [group for name, group in wide.parameters.items() if name in ("dh", "base", "tool")]
    arguments = {"q": wide.q, vector: factor} | {group.argument: group.symbols for group in groups}
    regressor = Function("regressor", arguments, {"out": jacobian(value, lengths)})
    entries: dict[str, Any] = {"q": model.q, vector: symbols[vector]}
    entries |= {group.argument: model.parameters[group.name].entries for group in groups}
    return np.asarray(regressor.substitute(**entries), dtype=object)


def _with_lengths(model: SymbolicModel) -> SymbolicModel:
    masks = {name: model.parameters[name].mask.copy() for name in ("dh", "base", "tool")}
    masks["dh"].reshape(-1, 4)[:, [_A, _D]] = True
    masks["tool"][:3] = True
    groups: dict[str, Any] = {name: masks.get(name, False) for name in model.parameters}
    return SymbolicModel(model.robot, inertial_as="REG", **groups)


def masked_kinematics(model: SymbolicModel) -> Expressions:
    """Return the symbols of the run-time entries of the DH table, the base and the tool, in this order."""
    groups = [model.parameters[name] for name in ("dh", "base", "tool") if name in model.parameters]
    return np.concatenate([group.symbols[group.mask] for group in groups])


def by_parameters(vector: str) -> Callable[[SymbolicModel, dict[str, Expressions]], Expressions]:
    """Differentiate J dq, or J' w, by `masked_kinematics`: exact derivatives, of lengths and of angles."""

    def record(model: SymbolicModel, symbols: dict[str, Expressions]) -> Expressions:
        J = model.quantity("jacobian")
        value = J @ symbols["dq"] if vector == "dq" else J.T @ symbols["w"]
        return jacobian(value, masked_kinematics(model))

    return record


def record_pinv(model: SymbolicModel, symbols: dict[str, Expressions]) -> Expressions:
    """Return J' (J J' + lambda^2 1)^-1, (n, 6), or the equal (J' J + lambda^2 1)^-1 J' below six joints.

    The smaller of the two products is inverted: arms with fewer than six joints have a pseudo-inverse also without
    damping (Nakamura and Hanafusa 1986).
    """
    J = model.quantity("jacobian")
    damping = symbols["damping"][()]
    if model.n < 6:
        return solve(J.T @ J + damping * damping * np.eye(model.n), J.T, assume_a="pos")
    return solve(J @ J.T + damping * damping * np.eye(6), J, assume_a="pos").T
