"""Symbolic models: quantities of a robot as expressions, derivatives, and functions that evaluate and compile."""

from __future__ import annotations

from .._core import Expression
from ..public import publish
from .function import Function
from .mathematics import (
    arccos,
    arcsin,
    arctan2,
    cos,
    cross,
    det,
    exp,
    gradient,
    hessian,
    inverse,
    jacobian,
    less,
    less_equal,
    log,
    maximum,
    minimum,
    sign,
    sin,
    solve,
    sqrt,
    tan,
    tanh,
    where,
)
from .model import SymbolicModel

__all__ = [
    "Expression",
    "Function",
    "SymbolicModel",
    "arccos",
    "arcsin",
    "arctan2",
    "cos",
    "cross",
    "det",
    "exp",
    "gradient",
    "hessian",
    "inverse",
    "jacobian",
    "less",
    "less_equal",
    "log",
    "maximum",
    "minimum",
    "sign",
    "sin",
    "solve",
    "sqrt",
    "tan",
    "tanh",
    "where",
]

publish(__name__)
